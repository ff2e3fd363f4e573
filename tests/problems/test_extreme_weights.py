"""The greatest and the least weight of every type are weights like any other, to every algorithm and certificate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpugraph.problems.mst.gpu_filter_boruvka as filter_boruvka
from gpugraph.emulator.device import EmulatedDevice
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.registry import load_problem
from tests.emulator.compiler import needs_compiler
from tests.problems.extreme_weights import (
    TYPES,
    crowd_and_islands,
    forest_by_the_book,
    hub_behind_the_greatest,
    shrunk,
    zoo_in_one,
)
from tests.problems.gpu_cases import run_on
from tests.problems.sssp.delta_stepping_graphs import search

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
def test_a_filter_keeps_edges_of_the_greatest_weight(dtype: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Into the giant component, and between components that have no other way out."""
    monkeypatch.setattr(filter_boruvka, "FILTER_ARCS", 1300)
    for index_bits in (32, 64):
        assert_forest(crowd_and_islands(dtype, seed), device=EmulatedDevice(seed=seed), index_bits=index_bits)


@needs_compiler
@pytest.mark.parametrize("dtype", ["uint32", "int64", *(pytest.param(t, marks=pytest.mark.thorough) for t in TYPES)])
def test_lists_and_hubs_keep_them_too(dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filter_boruvka, "FILTER_ARCS", 1300)
    monkeypatch.setattr(filter_boruvka, "ALL_LISTED", 1)
    shrunk(monkeypatch, tmp_path, filter_boruvka, **TIGHT)
    for seed in range(3):
        for graph in (zoo_in_one(dtype, seed), crowd_and_islands(dtype, seed)):
            assert_forest(graph, device=EmulatedDevice(seed=seed))


# ------------------------------------------------------------------ paths


@needs_compiler
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint32", "int64"])
def test_a_hub_behind_an_arc_of_the_greatest_weight_is_gone_through(dtype: str) -> None:
    for seed in range(3):
        graph = hub_behind_the_greatest(dtype)
        assert search(graph, seed=seed).found.reached.all()
