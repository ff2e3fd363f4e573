"""Which cell of one run belongs to which of another."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gpugraph.measure.record import Record


@dataclass(frozen=True)
class Unpaired:
    """A cell without a partner, and why."""

    side: str
    record: Record
    reason: str


def pair(base: Sequence[Record], new: Sequence[Record]) -> tuple[list[tuple[Record, Record]], list[Unpaired]]:
    """Return the pairs, in the order of ``base``, and the cells that have none.

    Cells are the same if their ids are.  An id also names the version of the algorithm and the device at hand, so
    what is left is paired by its place in the sweep, then by what was run: problem, graph, algorithm, kind of
    device, parameters and source.
    """
    left, right = list(base), list(new)
    pairs: list[tuple[Record, Record]] = []
    keys: tuple[Callable[[Record], Any], ...] = (_by_id, _by_place, _by_content)
    for key in keys:
        partners = _unique(right, key)
        ours = _unique(left, key)
        found = [(row, partners[k]) for k, row in ours.items() if k in partners]
        pairs += found
        taken = {id(row) for both in found for row in both}
        left = [row for row in left if id(row) not in taken]
        right = [row for row in right if id(row) not in taken]
    unpaired = [Unpaired("base", row, _alone(row, left, "NEW")) for row in left]
    unpaired += [Unpaired("new", row, _alone(row, right, "BASE")) for row in right]
    order = {id(row): i for i, row in enumerate(base)}
    pairs.sort(key=lambda both: order[id(both[0])])
    same = [both for both in pairs if not _other_graph(*both)]
    unpaired += [Unpaired("both", both[1], _other_graph(*both)) for both in pairs if _other_graph(*both)]
    return same, unpaired


def _unique(rows: Sequence[Record], key: Callable[[Record], Any]) -> dict[Any, Record]:
    """Return the rows by key; a key that several rows share tells nothing and is left out."""
    keys = [key(row) for row in rows]
    counts = Counter(keys)
    return {k: row for k, row in zip(keys, rows, strict=True) if k is not None and counts[k] == 1}


def _by_id(row: Record) -> str | None:
    return row.shape.cell.id


def _by_place(row: Record) -> tuple[str, ...] | None:
    if not row.axes:
        return None
    sweep = row.shape.cell.sweep
    return row.problem, str(sweep), _text(row.axes)


def _by_content(row: Record) -> tuple[str, ...]:
    return row.problem, row.graph_name, row.algorithm, row.device_kind, _text(row.parameters), _text(row.asked_source)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _alone(row: Record, rows: Sequence[Record], other: str) -> str:
    if sum(_by_content(row) == _by_content(one) for one in rows) > 1:
        return "several cells are alike, so that none can be told from the others"
    return f"not in {other}"


def _other_graph(base: Record, new: Record) -> str:
    """Return why two cells of one name are not the same work, or nothing."""
    digests = [row.shape.graph.digest for row in (base, new)]
    if all(digests) and digests[0] != digests[1]:
        return f"the graphs differ: digest {str(digests[0])[:12]} in BASE, {str(digests[1])[:12]} in NEW"
    return ""
