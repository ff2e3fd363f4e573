"""delta-stepping on a GPU: larger graphs against the CPU, and every path many times over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gpugraph
import gpugraph.problems.sssp.gpu_delta_stepping as delta_stepping
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.digest import array_digest
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import run_cell
from tests.problems.sssp.delta_stepping_graphs import PATHS, fan, hub_at_the_end_of_a_chain, layers, search, wide_range

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def gpu() -> Iterator[Any]:
    from gpugraph.devices.cuda import CudaDevice

    made = CudaDevice(0)
    yield made
    made.close()


LARGEST_WORD = 2**32 - 2
"""Of distances in 32 bits; near it sums may overflow that turn out not to be needed."""
FAR_BELOW = 2**30

LARGE: dict[str, Callable[[], CSRGraph]] = {
    **{
        spec: lambda spec=spec: gpugraph.load(spec)
        for spec in (
            "rmat:16",
            "rmat:16,w=1..255",
            "rmat:16,dtype=float32",
            "rmat:16,w=1..1",
            "road:300x300",
            "grid:300x300,w=0..9",
            "random:n=200000,deg=4",
            "random:n=30000,deg=40,dtype=float64",
            "path:100000",
            "star:100000",
            "complete:2000",
            "complete:2000,w=3000000000..4000000000",
        )
    },
    "fan": lambda: fan(100, 3000, 6000),
    "hub at the end of a chain": lambda: hub_at_the_end_of_a_chain(1000, 900),
}


@pytest.mark.parametrize("index_bits", [32, 64])
@pytest.mark.parametrize("name", LARGE)
def test_larger_graphs_are_solved_as_on_the_cpu(gpu: Any, name: str, index_bits: int) -> None:
    graph = LARGE[name]()
    for source in (int(np.argmax(graph.degrees)), graph.vertices // 2):
        told = search(graph, source, device=gpu, index_bits=index_bits)
        restarts, longest = told.counters.get("restarts", 0), told.found.raw[told.found.reached].max()
        if graph.weights.dtype.kind == "f" or longest < FAR_BELOW:
            assert restarts == 0, name
        elif longest > LARGEST_WORD:
            assert restarts == 1, name


@pytest.mark.parametrize("name", PATHS)
def test_every_path_is_solved_a_hundred_times_alike(gpu: Any, name: str) -> None:
    graph = PATHS[name][0]()
    search(graph, device=gpu)
    view, _, _ = make_resident(GraphView.of(graph), gpu)
    state = delta_stepping.State(view, gpu)
    clock = gpu.phase_clock()
    runs = (state.device.download(delta_stepping.run(state, clock, 0)) for _ in range(100))
    assert len({array_digest(raw) for raw in runs}) == 1


@pytest.mark.parametrize("name", LARGE)
def test_a_search_with_an_end_knows_all_up_to_it(gpu: Any, name: str) -> None:
    graph = LARGE[name]()
    whole = gpugraph.sssp(graph, 0, device="cpu")
    near = np.argsort(whole.raw)[: int(whole.reached.sum())]
    with gpugraph.on(graph, "cuda") as g:
        for goal in near[[1, len(near) // 9, len(near) // 2, -1]].tolist():
            within = whole.reached & (whole.raw <= whole.raw[goal])
            for found in (g.sssp(0, target=goal), g.sssp(0, cutoff=whole.raw[goal].item())):
                np.testing.assert_array_equal(found.reached, within)
                np.testing.assert_array_equal(found.raw[within], whole.raw[within])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_distances_at_the_very_threshold_are_right_three_hundred_times(gpu: Any, dtype: str) -> None:
    """The blocks must agree on every threshold to the last bit."""
    for graph in (layers(dtype), wide_range(dtype, 60, 50_000)):
        right = search(graph, device=gpu).found
        view, _, _ = make_resident(GraphView.of(graph), gpu)
        state, clock = delta_stepping.State(view, gpu), gpu.phase_clock()
        for _ in range(300):
            raw = state.device.download(delta_stepping.run(state, clock, 0))
            assert delta_stepping.finish(state, raw, 0).fingerprint() == right.fingerprint()


@pytest.mark.parametrize("spec", ["rmat:16,w=1..255", "road:300x300", "random:n=100000,deg=8,dtype=float32"])
def test_a_measured_cell_is_verified_both_ways(spec: str) -> None:
    record = run_cell(Cell("sssp", spec, "delta-stepping", "cuda", source="random:4", repeat=3, verify="both"))
    assert record.status == "passed"
    assert set(delta_stepping.FILE.phases) <= record.data["kernel_phases_s"].keys()
