"""The adjacency matrix: its elements, what it needs, and where it does not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpugraph.base.clock import NullClock
from gpugraph.base.errors import OutOfMemory
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.papers.sssp.frontier_dijkstra_cpu import Cells, matrix_of
from gpugraph.graph.view import GraphView
from gpugraph.problems.registry import find_algorithm
from gpugraph.problems.sssp.arcs import Arcs
from gpugraph.problems.sssp.verify import reference_distances
from tests.cli.runner import refuse, succeed
from tests.emulator.compiler import needs_compiler
from tests.problems.gpu_cases import run_on
from tests.tiers import first
from tests.zoo import directed, undirected, zoo

ON_CPU, ON_GPU = ("matrix-f-cpu", "matrix-u-cpu"), ("matrix-f-gpu", "matrix-u-gpu")


def test_an_element_is_the_weight_or_no_arc() -> None:
    graph = directed(3, [(0, 1, 5), (2, 0, 0)], "int32")
    cells = Cells.of(graph)
    none = 2**32 - 1
    assert cells.dtype == np.uint32
    assert matrix_of(Arcs.of(graph), cells).tolist() == [[none, 5, none], [none, none, none], [0, none, none]]
    assert cells.nbytes == 36


@pytest.mark.parametrize(
    ("dtype", "weight", "cell", "beyond"),
    [
        ("uint32", 2**32 - 2, "uint32", False),
        ("uint32", 2**32 - 1, "uint64", False),
        ("int32", 2**31 - 1, "uint32", False),
        ("uint64", 2**63, "uint64", False),
        ("int64", 2**62, "uint64", False),
        ("float32", np.inf, "float32", False),
        ("float64", 1.5, "float64", False),
    ],
)
def test_elements_are_widened_where_a_weight_looks_like_no_arc(
    dtype: str, weight: float, cell: str, beyond: bool
) -> None:
    cells = Cells.of(directed(2, [(0, 1, weight)], dtype))
    assert (cells.dtype, cells.beyond) == (np.dtype(cell), beyond)


def test_the_greatest_weight_of_64_bits_is_reported() -> None:
    graph = directed(2, [(0, 1, 1)], "uint64")
    graph.weights.flags.writeable = True
    graph.weights[0] = 2**64 - 1
    assert Cells.of(graph).beyond


@needs_compiler
@pytest.mark.parametrize("name", ON_GPU)
@pytest.mark.parametrize("n", first(2, [129, 257, 127, 128, 256, 600]))
def test_matrices_of_any_size_are_cut_into_blocks_and_tiles(name: str, n: int) -> None:
    rng = np.random.default_rng(n)
    edges = [(int(u), int(v), int(w)) for u, v, w in rng.integers(0, n, (n * n // 20, 3))]
    for make in (directed, undirected):
        graph = make(n, edges)
        found, _ = run_on(EmulatedDevice(seed=n), "sssp", name, graph, query=(n // 2,))
        np.testing.assert_array_equal(found.raw, reference_distances(graph, n // 2)[0])


@pytest.mark.parametrize("name", ON_CPU)
def test_the_cpu_solves_a_dense_graph(name: str) -> None:
    assert (
        '"status": "passed"'
        in succeed(
            "sssp",
            "dense:n=300,density=0.4,w=1..9",
            "--algo",
            name,
            "--device",
            "cpu",
            "--format",
            "json",
            "--repeat",
            1,
        ).out
    )


@pytest.mark.parametrize("name", ON_CPU)
def test_a_matrix_that_the_host_cannot_hold_exits_3_with_both_figures(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpugraph.base.host.available_memory", lambda: 1 << 20)
    told = refuse(3, "sssp", "path:1000", "--algo", name, "--device", "cpu")
    assert "cpu: needs about 3.81 MiB of memory and 1 MiB are available — " in told
    assert "device" not in told
    algorithm = find_algorithm("sssp", name, "cpu")
    with pytest.raises(OutOfMemory, match=r"3\.81 MiB"):
        algorithm.prepare(GraphView.of(undirected(1000, [(0, 1, 1)])), None)


@needs_compiler
@pytest.mark.parametrize("name", ON_GPU)
def test_a_matrix_that_the_device_cannot_hold_exits_3_with_both_figures(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpugraph.base.host.available_memory", lambda: 1 << 20)
    monkeypatch.setattr("gpugraph.ext.emulator.device._NEVER_SHORT", 1 << 20)
    told = refuse(3, "sssp", "path:1000", "--algo", name, "--device", "emulated")
    assert "emulated device: needs about 3.82 MiB of memory and 1 MiB are available" in told


def test_the_prepared_matrix_is_used_again_for_every_source() -> None:
    for name in ON_CPU:
        algorithm = find_algorithm("sssp", name, "cpu")
        state: Any = algorithm.prepare(GraphView.of(zoo("directed-random")), None)
        for source in (0, 7, 79):
            raw = algorithm.fetch(state, algorithm.run(state, NullClock(), source))
            right = reference_distances(zoo("directed-random"), source)[0]
            np.testing.assert_array_equal(algorithm.finish(state, raw, source).raw, right)
