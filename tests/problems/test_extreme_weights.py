"""The greatest and the least weight of every type are weights like any other, to every algorithm and certificate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpugraph.problems.mst.gpu_filter_boruvka as filter_boruvka
import gpugraph.problems.sssp.gpu_delta_stepping as delta_stepping
from gpugraph.base.errors import InputError
from gpugraph.devices.discovery import select_device
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.registry import algorithms, load_problem
from gpugraph.problems.sssp.arcs import unreached
from tests.emulator.compiler import needs_compiler
from tests.problems.extreme_weights import (
    TYPES,
    crowd_and_islands,
    distances_by_the_book,
    forest_by_the_book,
    hub_behind_the_greatest,
    longest,
    shrunk,
    spokes,
    zoo_in_one,
)
from tests.problems.gpu_cases import run_on
from tests.problems.sssp.delta_stepping_graphs import search
from tests.tiers import also, extended, first
from tests.zoo import UNDIRECTED

by_type = pytest.mark.parametrize("dtype", TYPES)

TIGHT = {"HUB_ROW": 24, "MEDIUM_ROW": 16, "SHORT_ROW": 8, "MOST_DENSE": 16, "SPARSE": 1.5, "CHASE": 10}
"""Constants of filter-boruvka with which small graphs have hubs, long chains, and rounds on lists."""


def assert_forest(graph: CSRGraph, name: str = "filter-boruvka", device: Any = None, **options: Any) -> None:
    """Check a forest against Kruskal's, and that the certificate takes it."""
    found, _ = run_on(device or EmulatedDevice(), "mst", name, graph, **options)
    np.testing.assert_array_equal(found.edges, forest_by_the_book(graph), err_msg=f"{name}: {graph.name}")
    assert load_problem("mst").certificate(graph, (), found).passed


# ------------------------------------------------------------------ forests


@needs_compiler
@by_type
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("index_bits", first(1, [32, 64]))
def test_a_filter_keeps_edges_of_the_greatest_weight(
    dtype: str, seed: int, index_bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Into the giant component, and between components that have no other way out."""
    monkeypatch.setattr(filter_boruvka, "FILTER_ARCS", 1300)
    assert_forest(crowd_and_islands(dtype, seed), device=EmulatedDevice(seed=seed), index_bits=index_bits)


@needs_compiler
@pytest.mark.parametrize(
    "dtype", ["uint32", also("int64"), *(pytest.param(t, marks=pytest.mark.thorough) for t in TYPES)]
)
def test_lists_and_hubs_keep_them_too(dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filter_boruvka, "FILTER_ARCS", 1300)
    monkeypatch.setattr(filter_boruvka, "ALL_LISTED", 1)
    shrunk(monkeypatch, tmp_path, filter_boruvka, **TIGHT)
    for seed in range(3):
        for graph in (zoo_in_one(dtype, seed), crowd_and_islands(dtype, seed)):
            assert_forest(graph, device=EmulatedDevice(seed=seed))


def in_tiers(pairs: list[tuple[str, str]], chosen: str) -> list[Any]:
    """Return (algorithm, kind of device, types): all types for the chosen one on a GPU, for others two and the rest."""
    rest = [t for t in TYPES if t not in ("uint32", "float64")]
    common = [(*pair, TYPES if pair == (chosen, "emulated") else ("uint32", "float64")) for pair in pairs]
    return [*common, *(also(*pair, rest) for pair in pairs)]


FORESTS = [(one.name, kind) for one in algorithms("mst") for kind in ("cpu", "emulated") if kind in one.devices]


@needs_compiler
@pytest.mark.parametrize(("name", "kind", "types"), in_tiers(FORESTS, "filter-boruvka"))
def test_every_forest_takes_both_ends_of_a_type_as_weights(name: str, kind: str, types: Sequence[str]) -> None:
    """Prim's algorithm launches kernels for every vertex: it gets a part of the zoo."""
    parts = UNDIRECTED[3:18] if name.startswith("prim") and kind == "emulated" else UNDIRECTED
    for dtype in types:
        seed = TYPES.index(dtype)
        device = EmulatedDevice(seed=seed) if kind == "emulated" else select_device(kind)[0]
        assert_forest(zoo_in_one(dtype, seed, parts), name, device)


# ------------------------------------------------------------------ paths


@needs_compiler
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint32", "int64"])
def test_a_hub_behind_an_arc_of_the_greatest_weight_is_gone_through(dtype: str) -> None:
    for seed in range(3):
        graph = hub_behind_the_greatest(dtype)
        assert search(graph, seed=seed).found.reached.all()


WRONG_ON_PURPOSE = ("f-gpu-no-atomic", "matrix-f-gpu-no-atomic", "harish-narayanan")
PATHS = [
    (one.name, kind)
    for one in algorithms("sssp")
    for kind in ("cpu", "emulated")
    if kind in one.devices and one.name not in (*WRONG_ON_PURPOSE, "dijkstra-fibonacci")
]


@needs_compiler
@pytest.mark.parametrize(("name", "kind", "types"), in_tiers(PATHS, "delta-stepping"))
def test_every_search_finds_the_longest_distance_and_refuses_a_longer_one(
    name: str, kind: str, types: Sequence[str]
) -> None:
    """Reals are never too far: what no sum reaches is not reached."""
    (algorithm,) = [one for one in algorithms("sssp") if one.name == name and kind in one.devices]
    for dtype in types:
        seed = TYPES.index(dtype)
        for too_far in (False, True):
            graph = longest(dtype, too_far=too_far)
            device = EmulatedDevice(seed=seed) if kind == "emulated" else select_device(kind)[0]
            query = ((0,),) if algorithm.batched else (0,)
            if too_far and dtype in ("uint64", "int64"):
                with pytest.raises(InputError, match="64 bits"):
                    run_on(device, "sssp", name, graph, query=query)
                continue
            found, _ = run_on(device, "sssp", name, graph, query=query)
            found = found[0] if algorithm.batched else found
            right = distances_by_the_book(graph, 0, found.raw.dtype)
            none = unreached(found.raw.dtype)
            assert found.raw.tolist() == [none if d is None else d for d in right], graph.name
            assert load_problem("sssp").certificate(graph, (0,), found).passed


NARROW_SEARCH = {
    "HUB_ROW": 24,
    "LOCAL_ROW": 12,
    "LOCAL_STEPS": 5,
    "LARGE": 64,
    "FAR_BUFFER": 33,
    "IDLE": 4,
    "BUSY": 16,
    "LATE_SHARE": 40,
}
"""Constants of delta-stepping with which small graphs have hubs, surveys, late horizons and many rounds."""


@needs_compiler
@pytest.mark.parametrize("dtype", ["uint32", "float32", *(pytest.param(t, marks=pytest.mark.thorough) for t in TYPES)])
@extended
def test_small_constants_lead_such_weights_through_hubs_surveys_and_many_rounds(
    dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delta_stepping, "LOCAL_SHARE", 6)
    shrunk(monkeypatch, tmp_path, delta_stepping, **NARROW_SEARCH)
    for seed in range(2):
        for graph in (hub_behind_the_greatest(dtype), longest(dtype), spokes(dtype, seed)):
            for source in (0, graph.vertices - 1):
                try:
                    search(graph, source, seed=seed)
                except (
                    InputError
                ):  # what lies beyond the greatest weight of uint64 is refused where 64 bits do not hold it
                    assert max(filter(None, distances_by_the_book(graph, source, graph.weight_dtype))) >= 2**64 - 1
