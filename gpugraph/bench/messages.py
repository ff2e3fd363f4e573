"""Cells, devices and plans in the words that a bench and its workers exchange."""

import base64
import pickle
from collections.abc import Mapping
from typing import Any, TypedDict

from gpugraph.graph.read_options import ReadOptions
from gpugraph.measure.cell import Cell
from gpugraph.records.json_text import jsonable


class DescribedDevice(TypedDict, total=False):
    """What is known of a device: the object of a record; or why it is not available."""

    kind: str
    description: dict[str, object]
    notice: str | None
    unavailable: str


def cell_to_words(cell: Cell) -> dict[str, object]:
    """Return a cell as JSON's own types."""
    words: dict[str, Any] = jsonable({**vars(cell), "read": vars(cell.read)})
    return words


def cell_from(words: Mapping[str, Any]) -> Cell:
    """Return the cell that ``cell_to_words`` wrote."""
    return Cell(**{**words, "preparations": tuple(words["preparations"]), "read": ReadOptions(**words["read"])})


def packed(thing: object) -> str:
    """Return a sweep, a plan or an error as a text for a process of the same gpugraph."""
    return base64.b64encode(pickle.dumps(thing)).decode()


def unpacked(text: str) -> Any:
    """Return what ``packed`` wrote."""
    return pickle.loads(base64.b64decode(text))
