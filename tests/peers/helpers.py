"""Run peers as a measurement does, and peers made up for the test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpugraph.ext.peers import LIBRARIES
from gpugraph.ext.peers.adapter import Adapter, load_peered
from gpugraph.ext.peers.peer import Peer
from gpugraph.graph.csr import CSRGraph
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import run_cell
from gpugraph.problems.mst.verify import reference_forest
from gpugraph.records.record import Record

INSTALLED = tuple(name for name in LIBRARIES if name != "cugraph" and LIBRARIES[name].version())


def measured(graph: CSRGraph, algorithm: str, problem: str = "mst", **same: Any) -> Record:
    """Run one cell of a peer on the CPU, two samples."""
    return run_cell(
        Cell(problem, graph, algorithm, device="cpu", **{"repeat": 2, "warmup": 0, "phases": False, **same})
    )


def forest_edges(graph: CSRGraph) -> list[tuple[int, int]]:
    """Return the edges of the minimum spanning forest, each as the two vertices that it joins."""
    ids = reference_forest(graph)
    tails = np.searchsorted(graph.offsets, ids, side="right") - 1
    return list(zip(tails.tolist(), graph.targets[ids].tolist(), strict=True))


def needs(name: str) -> Any:
    """Return the mark that skips a test, by name, where a library is not installed."""
    return pytest.param(name, marks=pytest.mark.skipif(name not in INSTALLED, reason=f"{name} is not installed"))


def made_up(monkeypatch: pytest.MonkeyPatch, *, name: str = "fake", module: str = "json", **adapters: Adapter) -> None:
    """Make a peer of its own known as ``peer:fake``."""
    monkeypatch.setitem(LIBRARIES, name, Peer(name, "Fake", "nobody", 2026, module))
    for problem, adapter in adapters.items():
        monkeypatch.setitem(load_peered(problem).peers, name, adapter)


def script(folder: Path, body: str) -> str:
    """Write a Python program and return the words that run it, for a table's ``command``."""
    import sys

    path = folder / "program.py"
    path.write_text(body, "utf-8")
    return f"'{sys.executable}' '{path}'"
