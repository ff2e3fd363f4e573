"""Cells that share a graph, and therefore compete."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gpugraph.bench.expand import Planned

TOGETHER = 12
"""Most cells that compete at once: each holds its arrays until it ends."""


def groups_of(cells: Sequence[Planned]) -> Iterator[list[Planned]]:
    """Yield the cells that share a graph, at most ``TOGETHER`` at a time."""
    group: list[Planned] = []
    for planned in cells:
        if group and (len(group) == TOGETHER or input_of_planned(planned) != input_of_planned(group[0])):
            yield group
            group = []
        group.append(planned)
    if group:
        yield group


def input_of_planned(planned: Planned) -> tuple[Any, ...]:
    """Return what tells the graph of a planned cell from others."""
    cell = planned.cell
    seed = cell.seed if cell.weights.startswith("uniform") else None
    return (cell.problem, str(cell.graph), cell.weights, cell.input_format, cell.symmetrize, cell.keep_ids, seed)
