"""Run cells in a session and note what it tells."""

from __future__ import annotations

from typing import Any

import pytest

from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import Session
from gpugraph.measure.sampling import Sampling
from gpugraph.records.record import Record
from tests.measure.fakes import Puppet, enlist

GRID = "grid:5x5"
SIX = Sampling.fixed(6, 0)


class Notes:
    """What a session told of each cell."""

    def __init__(self) -> None:
        self.records: dict[int, Record] = {}
        self.errors: dict[int, Exception] = {}
        self.current: list[int] = []
        self.ended: list[int] = []

    def finished(self, index: int, record: Record) -> None:
        self.ended.append(index)
        self.records[index] = record

    def failed(self, index: int, error: Exception) -> None:
        self.ended.append(index)
        self.errors[index] = error


def measure(cells: list[Cell], sampling: Sampling, used: Session | None = None, **until: float) -> Notes:
    notes = Notes()
    with Session() if used is None else used as open_session:
        open_session.measure(
            cells, sampling, lambda what: None, notes.finished, notes.failed, notes.current.append, **until
        )
    return notes


def puppets(patch: pytest.MonkeyPatch, *names: str) -> tuple[list[Puppet], list[str]]:
    log: list[str] = []
    made = [Puppet(name, log) for name in names]
    enlist(patch, *(puppet.algorithm() for puppet in made))
    return made, log


def cell(name: str, **more: Any) -> Cell:
    return Cell("mst", GRID, name, "cpu", phases=False, **more)
