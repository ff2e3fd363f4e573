"""Graphs that lie on a device: kept while there is room, and never handed to foreign code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpugraph
from gpugraph.base.clock import PhaseTimer
from gpugraph.devices.cpu import CpuDevice
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.graph.device_rows import DeviceRows
from gpugraph.measure.cell import Cell
from gpugraph.measure.inputs import CellSetup, InputCache
from gpugraph.measure.open_device import OpenDevice
from tests.emulator.compiler import needs_compiler

pytestmark = needs_compiler


def setup_of(cell: Cell, device: Any) -> CellSetup:
    """Return what sets up a cell on a device, and tells nobody."""
    return CellSetup(cell, OpenDevice(device, None), PhaseTimer(), lambda what: None)


@pytest.mark.parametrize(("free", "kept"), [(1 << 40, True), (100_000, False)])
def test_a_graph_makes_room_for_the_next_where_the_device_is_short_of_memory(
    free: int, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    device, inputs = EmulatedDevice(), InputCache()
    cells = [Cell("mst", f"rmat:{scale}", device="emulated") for scale in (8, 7)]
    inputs.load(setup_of(cells[0], device))
    monkeypatch.setattr(EmulatedDevice, "memory", lambda self: (free, free))
    inputs.load(setup_of(cells[1], device))
    assert (inputs.peek(cells[0]) is not None) is kept
    assert inputs.peek(cells[1]) is not None


def test_foreign_code_gets_arrays_of_its_own_and_the_others_those_of_the_graph() -> None:
    device, inputs = EmulatedDevice(), InputCache()
    cell = Cell("mst", "rmat:6", device="emulated")
    opened = inputs.load(setup_of(cell, device))
    graph = opened.graph
    ours, theirs = (inputs.place(opened, setup_of(cell, device), resident=True, shared=s) for s in (True, False))
    assert ours.algorithm_input.targets is graph.on_device.targets
    for name in ("offsets", "targets", "weights"):
        mine, own = getattr(ours.algorithm_input, name), getattr(theirs.algorithm_input, name)
        assert np.array_equal(mine, own)
        assert not np.shares_memory(mine, own)
    assert ours.device_bytes == graph.on_device.nbytes
    assert "targets" not in graph.__dict__


def test_a_graph_made_on_a_device_is_on_the_host_before_a_cpu_is_timed() -> None:
    inputs = InputCache()
    cell = Cell("mst", "rmat:6", device="emulated")
    graph = inputs.load(setup_of(cell, EmulatedDevice())).graph
    opened = inputs.load(setup_of(Cell("mst", "rmat:6", device="cpu"), CpuDevice()))
    assert opened.graph is graph
    inputs.place(opened, setup_of(cell, CpuDevice()), resident=True)
    assert {"offsets", "targets", "weights"} <= set(graph.__dict__)


def test_an_algorithm_that_streams_the_graph_has_the_device_to_itself() -> None:
    device, inputs = EmulatedDevice(), InputCache()
    cell = Cell("mst", "rmat:8", device="emulated")
    opened = inputs.load(setup_of(cell, device))
    graph = opened.graph
    digest = graph.digest
    placed = inputs.place(opened, setup_of(cell, device), resident=False)
    assert placed.algorithm_input.graph is graph
    assert graph.on_device is None
    assert device.peak_bytes() > 0
    device.reset_peak()
    assert device.peak_bytes() == 0
    assert (graph.digest, graph.vertices, graph.weight_dtype) == (digest, 256, np.uint32)


@pytest.mark.parametrize(
    ("solve", "algorithm"),
    [("mst", "filter-boruvka"), ("mst", "prim-persistent"), ("sssp", "delta-stepping"), ("sssp", "dijkstra")],
)
@pytest.mark.parametrize("weights", ["w=1..9", "w=0.0..1.0"])
def test_no_arc_comes_to_the_host_where_nothing_there_asks(
    solve: str, algorithm: str, weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[str] = []
    whole = DeviceRows.on_host

    def noted(self: DeviceRows, name: str) -> np.ndarray:
        copied.append(name)
        return whole(self, name)

    monkeypatch.setattr(DeviceRows, "on_host", noted)
    graph = f"regular:n=200,out=5,{weights}" if solve == "sssp" else f"rmat:7,{weights}"
    more = {"source": 3} if solve == "sssp" else {}
    getattr(gpugraph, solve)(graph, algo=algorithm, device="emulated", verify="none", **more)
    assert set(copied) <= {"offsets"}  # of which degrees are made
