"""What foreign code does to the process is restored, what it does to the graph is found and affects nobody else."""

from __future__ import annotations

import contextlib
import gc
import os
import random
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpugraph
from gpugraph.base.compiled import set_threads, threads
from gpugraph.base.errors import InputError
from gpugraph.ext.plugins.isolation import ForeignCodeGuard, kept
from gpugraph.ext.scan.array import open_array
from gpugraph.graph.generate import generate
from gpugraph.graph.view import GraphView
from gpugraph.measure.cell import Cell
from gpugraph.measure.instruments import SpoiledGraph, WroteIntoInput
from gpugraph.measure.run_cell import Session
from gpugraph.measure.sampling import Sampling
from tests.cli.runner import refuse
from tests.emulator.compiler import needs_compiler
from tests.measure.runs import Notes

# ------------------------------------------------------------------ read-only input


def test_graphs_views_and_arrays_hand_out_read_only_arrays_and_leave_the_callers_alone() -> None:
    graph = generate("grid:4x4")
    view = GraphView.of(graph, ("sort-adjacency", "renumber", "compress"))
    scanned = open_array("array:n=9,segments=3")
    arrays = [graph.offsets, graph.targets, graph.weights, graph.degrees, view.offsets, view.targets, view.weights]
    arrays += [view.arc_origin, view.vertex_origin, view.edge_ids, *view.compressed.arrays]  # type: ignore[union-attr]
    arrays += [scanned.values, scanned.heads]
    assert not any(array.flags.writeable for array in arrays if array is not None)
    mine = np.arange(5, dtype=np.uint32)
    assert not open_array(mine).values.flags.writeable
    assert mine.flags.writeable


# ------------------------------------------------------------------ the process


def change_everything(folder: Path) -> None:
    os.chdir(folder)
    os.umask(0o777)
    np.seterr(all="raise")
    np.random.seed(7)
    random.seed(7)
    set_threads(1)
    gc.disable()
    gc.set_threshold(0)
    warnings.simplefilter("error")
    sys.setrecursionlimit(500)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    signal.setitimer(signal.ITIMER_REAL, 1000)
    sys.stdin = None


def state() -> list[Any]:
    os.umask(mask := os.umask(0))
    return [
        os.getcwd(),
        mask,
        np.geterr(),
        np.random.get_state()[1].tolist(),  # type: ignore[call-overload, index, union-attr, unused-ignore]
        random.getstate(),
        threads(),
        gc.isenabled(),
        gc.get_threshold(),
        list(warnings.filters),
        sys.getrecursionlimit(),
        signal.getsignal(signal.SIGTERM),
        signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        signal.getitimer(signal.ITIMER_REAL),
        sys.stdin,
    ]


@pytest.mark.timeout(600, method="thread")  # the usual method sets the timer that is looked at here
@pytest.mark.parametrize("raises", [False, True])
def test_what_foreign_code_changes_for_the_whole_process_is_put_back(tmp_path: Path, raises: bool) -> None:
    before = state()
    try:
        with kept():
            change_everything(tmp_path)
            if raises:
                raise ValueError
    except ValueError:
        pass
    assert state() == before


def test_a_closed_standard_stream_is_opened_again() -> None:
    before = os.fstat(1)
    with kept():
        os.close(1)
    assert os.path.samestat(os.fstat(1), before)


# ------------------------------------------------------------------ the graph


@pytest.mark.parametrize("name", ["offsets", "targets", "weights"])
@pytest.mark.parametrize("where", ["graph", "view"])
def test_a_changed_array_is_found_even_where_the_code_raises(name: str, where: str) -> None:
    view = GraphView.of(generate("grid:4x4"))
    hosting = ForeignCodeGuard("mine", view.graph, view)
    with hosting:
        pass
    array = getattr(view if where == "view" else view.graph, name)

    def write_and_raise() -> None:
        with hosting:
            array.base[0] += 1
            raise ValueError("look over there")

    with pytest.raises(SpoiledGraph, match="mine: it wrote into its input") as told:
        write_and_raise()
    assert isinstance(told.value.__cause__, ValueError)


WRITES = """
import ctypes
import numpy as np
class Driver:
    problem = "mst"
    devices = ("emulated",)
    when = "prepare"
    def prepare(self, view, device):
        if self.when == "prepare":
            view.weights[...] = 0
        return view
    def run(self, state, clock):
        if self.when == "run":
            state.targets[...] = 0
        return np.zeros(0, np.int32)
class InRun(Driver):
    when = "run"
def on_cpu(view, clock):
    ctypes.memset(view.weights.ctypes.data, 0, view.weights.nbytes)
    return np.zeros(0, np.int64)
"""


def measure_all(session: Session, cells: list[Cell], notes: Notes) -> None:
    session.measure(cells, Sampling.fixed(2, 0), lambda what: None, notes.finished, notes.failed)


@pytest.fixture
def measured(tmp_path: Path) -> Callable[..., Notes]:
    """Return a function that measures kruskal or boruvka beside plugins of ``WRITES`` in one session."""
    path = tmp_path / "mine.py"
    path.write_text(WRITES)

    def measure(device: str, *names: str) -> Notes:
        algorithms = [f"{path}:{name}" if name[0].isupper() or name == "on_cpu" else name for name in names]
        notes = Notes()
        with Session() as session:
            with contextlib.suppress(SpoiledGraph):
                cells = [Cell("mst", "rmat:5", algorithm, device, verify="both") for algorithm in algorithms]
                measure_all(session, cells, notes)
            again = Notes()
            measure_all(session, [Cell("mst", "rmat:5", names[0], device, verify="both")], again)
            assert again.records[0].status == "passed"
        return notes

    return measure


@needs_compiler
@pytest.mark.parametrize("name", ["Driver", "InRun"])
def test_a_plugin_writes_into_a_device_view_of_its_own_and_is_found(measured: Callable[..., Notes], name: str) -> None:
    notes = measured("emulated", "boruvka", name, "prim")
    assert "it wrote into its input" in str(notes.errors[1])
    assert [record.status for record in notes.records.values()] == ["passed", "passed"]


def test_a_graph_that_was_written_into_is_loaded_anew_and_the_others_are_not_measured_on_it(
    measured: Callable[..., Notes],
) -> None:
    notes = measured("cpu", "kruskal", "on_cpu", "prim")
    assert "it wrote into its input" in str(notes.errors[1])
    assert all(record.status == "passed" for record in notes.records.values())


# ------------------------------------------------------------------ a graph that is held

DISTANCES = """
import ctypes
import numpy as np
class Driver:
    problem = "sssp"
    devices = ("emulated",)
    def prepare(self, view, device):
        return view
    def run(self, state, clock, source):
        state.weights[...] = 1
        return np.zeros(state.vertices, np.uint32)
def on_cpu(view, clock, source):
    ctypes.memset(view.weights.ctypes.data, 0, view.weights.nbytes)
    return np.zeros(view.vertices)
"""


@needs_compiler
@pytest.mark.parametrize("verify", ["first", "none"])
def test_a_plugin_that_writes_into_a_held_graph_changes_no_answer_but_its_own(tmp_path: Path, verify: str) -> None:
    (path := tmp_path / "mine.py").write_text(DISTANCES)
    with gpugraph.on("rmat:5", device="emulated", verify=verify) as held:
        right = held.sssp(0, algo="dijkstra")
        for _ in range(2):
            with contextlib.nullcontext() if verify == "none" else pytest.raises(WroteIntoInput, match="its input"):
                held.sssp(0, algo=f"{path}:Driver")
        with pytest.raises(WroteIntoInput, match="its input"):
            held.sssp(0, cutoff=9, algo=f"{path}:Driver", verify="all")
        assert held.sssp(0, algo="dijkstra", verify="all") == right


def test_a_held_graph_that_a_plugin_wrote_into_on_the_host_is_given_back(tmp_path: Path) -> None:
    (path := tmp_path / "mine.py").write_text(DISTANCES)
    with gpugraph.on("rmat:5", device="cpu") as held:
        held.sssp(0)
        with pytest.raises(SpoiledGraph, match="it wrote into its input"):
            held.sssp(0, algo=f"{path}:on_cpu")
        with pytest.raises(InputError, match="the graph was given back"):
            held.sssp(0)


@needs_compiler
def test_the_hunt_for_races_finds_a_plugin_that_writes_into_its_input(tmp_path: Path) -> None:
    (path := tmp_path / "mine.py").write_text(DISTANCES)
    says = refuse(2, "races", "sssp", "path:2", "--algo", f"{path}:Driver", "--schedules", "1")
    assert "it wrote into its input" in says
