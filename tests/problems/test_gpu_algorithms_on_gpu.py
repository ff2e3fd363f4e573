"""The GPU algorithms on a GPU: the zoo bit for bit, and graphs large enough to fill the device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gpugraph
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import run_cell
from tests.problems.gpu_cases import VARIANTS, assert_right, cases, layout_fits, variant_id
from tests.zoo import zoo

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def device() -> Iterator[Any]:
    from gpugraph.devices.cuda import CudaDevice

    made = CudaDevice(0)
    yield made
    made.close()


@pytest.mark.parametrize("index_bits", [32, 64])
@pytest.mark.parametrize("variant", VARIANTS, ids=variant_id)
def test_it_gives_the_result_of_the_cpu_on_every_graph_of_the_zoo(device: Any, variant: Any, index_bits: int) -> None:
    for name, query in cases(variant[0]):
        if layout_fits(variant, zoo(name), index_bits):
            assert_right(device, variant, name, query, index_bits)


@pytest.mark.parametrize("variant", [v for v in VARIANTS if not v[2] and not v[3]], ids=variant_id)
def test_it_works_on_its_own_stream_while_that_of_another_device_is_busy(device: Any, variant: Any) -> None:
    from gpugraph.devices.cuda import CudaDevice

    other = CudaDevice(0)  # its stream is CuPy's current one from now on
    words = other.full(1 << 26, 1, np.uint64)
    try:
        for _ in range(20):
            other.cupy.cumsum(words, out=words)
        assert_right(device, variant, "wheel", (0,) if variant[0] == "sssp" else (), 32)
    finally:
        other.close()


@pytest.mark.parametrize("spec", ["rmat:14,w=1..4", "rmat:14,dtype=float32", "grid:200x200", "random:n=20000,deg=3"])
@pytest.mark.parametrize(("problem", "name"), [("mst", "boruvka"), ("sssp", "dijkstra")])
def test_it_is_verified_both_ways_on_larger_graphs(problem: str, name: str, spec: str) -> None:
    record = run_cell(Cell(problem, spec, name, "cuda", repeat=3, verify="both"))
    assert record.status == "passed"
    assert record.data["peak_device_bytes"] > 0


def test_prim_is_verified_both_ways_on_the_papers_graph() -> None:
    record = run_cell(Cell("mst", "random:n=2048,deg=10", "prim", "cuda", repeat=2, verify="both"))
    assert record.status == "passed"


def test_every_array_is_freed_after_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from cupy.cuda import runtime

    malloc, free = runtime.malloc, runtime.free
    taken: list[int] = []  # the driver's own figure would count what other processes take on this GPU
    alive: set[int] = set()

    def noted(size: int) -> int:
        pointer = malloc(size)
        taken.append(size)
        alive.add(pointer)
        return int(pointer)

    def dropped(pointer: int) -> None:
        alive.discard(pointer)
        free(pointer)

    monkeypatch.setattr(runtime, "malloc", noted)
    monkeypatch.setattr(runtime, "free", dropped)
    graph = gpugraph.load("rmat:16")
    run_cell(Cell("mst", graph, "boruvka", "cuda", repeat=1))
    kept = len(alive)
    for _ in range(3):
        run_cell(Cell("mst", graph, "boruvka", "cuda", repeat=1))
    assert sum(taken) > 4 * graph.offsets.nbytes
    assert len(alive) <= kept
