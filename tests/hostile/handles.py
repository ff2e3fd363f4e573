"""Library handles, csgraph and the NetworkX backend with a broken algorithm planted: the first answer is certified.

The same wrong answer has to come through where nothing is verified, so that a plant that changes nothing is noticed.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any
from unittest import mock

import networkx as nx
import numpy as np
from scipy import sparse

import gpugraph
from gpugraph import csgraph
from gpugraph.base.errors import VerificationFailed
from gpugraph.ext.networkx import paths
from gpugraph.ext.python import mst_many, resident_graph
from gpugraph.ext.python.resident_graph import ResidentGraph
from gpugraph.problems.mst.forest import Forest
from tests.hostile.trials import Part, Trial


def drawn(draw: random.Random) -> Any:
    """Return the matrix of a connected graph in which no two edges weigh the same."""
    n = draw.choice((3, 8, 40))
    dense = np.zeros((n, n))
    ends = [(draw.randrange(v), v) for v in range(1, n)] + [
        (u, v) for u in range(n) for v in range(u) if draw.random() < 0.1
    ]
    for (u, v), weight in zip(ends, draw.sample(range(1, 10 * len(ends)), len(ends)), strict=True):
        dense[u, v] = dense[v, u] = weight
    return sparse.csr_array(dense)


def spoiled(result: Any) -> Any:
    """Return a forest that lacks an edge, a label or a distance changed."""
    if isinstance(result, Forest):
        return Forest.of(result.graph, result.edges[1:])
    if hasattr(result, "labels"):
        labels = result.labels.copy()
        labels[-1] = len(labels) - 1
        return type(result).of(result.graph, labels)
    if hasattr(result, "place"):  # a search's; of its last vertex, which it is sure to have reached
        distance = result.distance.copy()
        distance[result.order[-1]] += 1
        return replace(result, distance=distance)
    raw = result.raw.copy()
    raw[..., -1] += 1
    return replace(result, raw=raw)


def spoils(owner: Any, name: str) -> Callable[[], AbstractContextManager[Any]]:
    """Return what plants a function whose answers are spoiled."""
    whole = getattr(owner, name)
    return lambda: mock.patch.object(owner, name, lambda *given, **more: spoiled(whole(*given, **more)))


def _plant_many() -> AbstractContextManager[Any]:
    whole = mst_many._on_cpu

    def broken(batch: Any) -> Any:
        found = whole(batch)
        starts = np.concatenate((found.starts[:1], found.starts[1:] - 1))
        return mst_many.Forests(found.batch, starts, found.edges[1:])

    return mock.patch.object(mst_many, "_on_cpu", broken)


def _plant_forest() -> AbstractContextManager[Any]:
    whole = csgraph._forest_on_cpu
    return mock.patch.object(csgraph, "_forest_on_cpu", lambda matrix: whole(matrix)[1:])


def _plant_labels() -> AbstractContextManager[Any]:
    return mock.patch.object(csgraph, "label_components", return_value=2)


def _on(call: Callable[[ResidentGraph], Any]) -> Callable[[Any, str], Any]:
    def door(matrix: Any, verify: str) -> Any:
        with gpugraph.on(matrix, device="cpu", verify=verify) as held:
            return call(held)

    return door


def _csgraph(call: Callable[[Any], Any]) -> Callable[[Any, str], Any]:
    def door(matrix: Any, verify: str) -> Any:
        with mock.patch.object(csgraph, "VERIFY", verify), mock.patch.object(csgraph, "DEVICE", "cpu"):
            return call(matrix)

    return door


def _networkx(name: str, *arguments: object, **more: object) -> Callable[[Any, str], Any]:
    def door(matrix: Any, verify: str) -> Any:
        settings = nx.config.backends.gpugraph
        with settings(device="cpu", verify=verify):
            found = getattr(nx, name)(nx.from_scipy_sparse_array(matrix), *arguments, backend="gpugraph", **more)
            return list(found) if hasattr(found, "__next__") else found

    return door


ANSWER = spoils(ResidentGraph, "_answer")
DOORS: dict[str, tuple[Callable[[Any, str], Any], Callable[[], AbstractContextManager[Any]]]] = {
    "on, mst": (_on(lambda held: held.mst()), ANSWER),
    "on, components": (_on(lambda held: held.components()), ANSWER),
    "on, sssp": (_on(lambda held: held.sssp(0)), ANSWER),
    "on, several sources": (_on(lambda held: held.sssp(sources=[0, 1])), ANSWER),
    "on, cutoff": (_on(lambda held: held.sssp(0, cutoff=10**6)), spoils(resident_graph, "search")),
    "on, path": (_on(lambda held: held.path(0, held.graph.vertices - 1)), spoils(resident_graph, "search")),
    "mst_many": (lambda matrix, verify: gpugraph.mst_many([matrix], device="cpu", verify=verify), _plant_many),
    "csgraph, forest": (_csgraph(csgraph.minimum_spanning_tree), _plant_forest),
    "csgraph, components": (_csgraph(csgraph.connected_components), _plant_labels),
    "csgraph, distances": (_csgraph(lambda matrix: csgraph.dijkstra(matrix, indices=0)), spoils(csgraph, "search")),
    "networkx, tree": (_networkx("minimum_spanning_tree"), ANSWER),
    "networkx, components": (_networkx("number_connected_components"), ANSWER),
    "networkx, lengths": (_networkx("single_source_dijkstra_path_length", 0), spoils(paths, "search")),
    "networkx, cutoff": (_networkx("single_source_dijkstra", 0, cutoff=10**6), spoils(paths, "search")),
}


def try_handle(trial: Trial) -> str:
    """Ask a handle with its algorithm whole, broken and unseen; raises unless a wrong first answer is refused."""
    matrix, name = drawn(trial.draw), trial.draw.choice(sorted(DOORS))
    ask, plant = DOORS[name]
    verify = trial.draw.choice(("first", "all"))
    ask(matrix.copy(), verify)
    with plant():
        ask(matrix.copy(), "none")
        for _ in range(2):  # what has failed has not been certified
            try:
                ask(matrix, verify)
            except VerificationFailed:
                continue
            raise AssertionError(f"{name} gives the answer of a broken algorithm with verify={verify!r}")
    return "refused"


PART = Part("handles", "library handles with a broken algorithm: the first answer is certified", 2_000, try_handle, 100)
