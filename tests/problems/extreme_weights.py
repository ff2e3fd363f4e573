"""Graphs whose weights are the greatest and the least of their type, and kernels whose constants are made small.

A greatest weight is everybody's "no road"; its key is the word that a kernel writes where it has found no edge yet.
"""

from __future__ import annotations

import copy
import heapq
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpugraph.devices.kernel_file import KernelFile
from gpugraph.devices.kernel_source import load_source
from gpugraph.graph.build import ArcList, build
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.mst.cpu_kruskal import find_root
from tests.zoo import UNDIRECTED, zoo

TYPES = ("uint32", "int32", "uint64", "int64", "float32", "float64")


def ends_of_type(dtype: str) -> tuple[Any, Any]:
    """Return the least and the greatest weight of a type."""
    limits: Any = np.finfo(dtype) if dtype.startswith("float") else np.iinfo(dtype)
    return limits.min, limits.max


def shrunk(monkeypatch: pytest.MonkeyPatch, folder: Path, driver: Any, **constants: int | float) -> None:
    """Let a driver's kernels have other constants, as the driver reads them too."""
    file: KernelFile = driver.FILE
    text = load_source(file.name).text
    for name, value in constants.items():
        text, found = re.subn(rf"(constexpr \w+ {name} = )[^;]+;", rf"\g<1>{value};", text)
        assert found, name
    own = copy.copy(file)
    for kept in ("_source", "_defaults", "_enums", "_constants", "_prefix"):
        own.__dict__.pop(kept, None)
    own.name, own._found = str(folder / file.name), {}
    Path(own.name).write_text(text)
    monkeypatch.setattr(driver, "FILE", own)


def made(n: int, ends: NDArray[Any], weights: NDArray[Any], name: str) -> CSRGraph:
    """Return an undirected graph; of parallel edges the lightest stays."""
    return build(ArcList(ends[:, 0], ends[:, 1], weights, n, False, one_sided=True), name=name)


def zoo_edges(names: Sequence[str]) -> tuple[NDArray[Any], list[int]]:
    """Return the edges of graphs of the zoo, one behind the other, and where each begins, and the end."""
    rows, begins = [], [0]
    for graph in map(zoo, names):
        tails = np.repeat(np.arange(graph.vertices), graph.degrees)
        rows += [np.stack([tails, graph.targets], 1)[tails < graph.targets] + begins[-1]]
        begins.append(begins[-1] + graph.vertices)
    return np.concatenate(rows), begins


def zoo_in_one(dtype: str, seed: int, names: Sequence[str] = UNDIRECTED) -> CSRGraph:
    """Return graphs of the zoo as parts of one, whose weights are mostly the ends of their type."""
    rng = np.random.default_rng(seed)
    rows, (*_, n) = zoo_edges(names)
    ends = np.concatenate([rows, np.stack([rng.integers(0, n, 30), rng.integers(0, n, 30)], 1)])
    least, most = ends_of_type(dtype)
    drawn = rng.choice(np.array([least, 0, 1, most], dtype), len(ends), p=[0.2, 0.1, 0.2, 0.5])
    return made(n, ends, drawn, f"zoo in one, {dtype}")


def spokes(dtype: str, seed: int) -> CSRGraph:
    """Return the zoo's graphs around a first vertex, each behind an arc near the greatest weight; within they are 0 and
    now and then as heavy."""
    ends, begins = zoo_edges(UNDIRECTED)
    most = ends_of_type(dtype)[1]
    far = most // 2 if dtype == "uint64" else most
    drawn = np.random.default_rng(seed).choice(np.array([0, far], dtype), len(ends), p=[0.98, 0.02])
    rim = np.array([(0, begin + 1) for begin in sorted({*begins[:-1]})])
    weights = np.concatenate([np.full(len(rim), far, dtype), drawn])
    return made(begins[-1] + 1, np.concatenate([rim, ends + 1]), weights, f"spokes, {dtype}")


def crowd_and_islands(dtype: str, seed: int, n: int = 700, islands: int = 120) -> CSRGraph:
    """Return a random graph, pairs that hang on it by greatest weights, and a chain of pairs joined by greatest weights
    that hangs on it by one edge: what is left when a giant component has been found."""
    rng = np.random.default_rng(seed)
    crowd = rng.integers(0, n, (8 * n, 2))
    pairs = n + 2 * np.arange(islands)
    order = rng.permutation(islands)[: islands // 2]
    chain = np.stack([pairs[order[:-1]] + 1, pairs[order[1:]]], 1)
    more = rng.integers(0, islands // 2, (islands, 2))
    more = np.stack([pairs[order[more[:, 0]]], pairs[order[more[:, 1]]] + 1], 1)
    rest = np.setdiff1d(pairs, pairs[order])
    hung = np.stack([rest, rng.integers(0, n, len(rest))], 1)
    light = np.concatenate([crowd, np.stack([pairs, pairs + 1], 1), [(0, pairs[order[0]])]])
    ends = np.concatenate([light, chain, more, hung])
    drawn = np.full(len(ends), ends_of_type(dtype)[1], dtype)
    drawn[: len(light)] = rng.integers(1, 1000, len(light))
    return made(n + 2 * islands, ends, drawn, f"crowd and islands, {dtype}")


def hub_behind_the_greatest(dtype: str, leaves: int = 600) -> CSRGraph:
    """Return a way to a hub whose last arc has the greatest weight."""
    ends = np.array([(2, 3), (0, 1), (1, 2), *((3, 4 + leaf) for leaf in range(leaves))])
    weights = np.ones(len(ends), dtype)
    weights[0] = ends_of_type(dtype)[1]
    return made(4 + leaves, ends, weights, f"hub behind the greatest, {dtype}")


def longest(dtype: str, *, too_far: bool = False, leaves: int = 300) -> CSRGraph:
    """Return a way of two arcs as long as a distance can be, to a hub whose leaves weigh nothing, with a detour.

    ``too_far``: one more than that, so that the hub cannot be reached by an integer, and not at all by a real.
    """
    least, most = np.dtype(dtype).type(0), ends_of_type(dtype)[1]
    if dtype.startswith("float"):
        first, second = (most, most) if too_far else (least, most)
    elif dtype == "uint64":
        first, second = 2**63, 2**63 - 2 + too_far
    else:
        first, second = most, most
    ends = [(0, 1), (1, 2), *((2, 4 + leaf) for leaf in range(leaves)), (0, 3), (3, 2)]
    weights = np.zeros(len(ends), dtype)
    weights[:2] = first, second
    weights[-2:] = most - (dtype == "uint64"), most
    if too_far and dtype == "int64":
        weights[2 : leaves + 2] = 1
    return made(4 + leaves, np.array(ends), weights, f"longest, {dtype}")


def forest_by_the_book(graph: CSRGraph) -> NDArray[Any]:
    """Return the forest's edges, ascending, by Kruskal's algorithm."""
    tails = np.repeat(np.arange(graph.vertices), graph.degrees)
    edges = np.flatnonzero(tails < graph.targets)
    up, chosen = np.arange(graph.vertices), []
    for edge in edges[np.argsort(graph.weights[edges], kind="stable")]:
        u, v = find_root(up, tails[edge]), find_root(up, graph.targets[edge])
        if u != v:
            up[u] = v
            chosen.append(edge)
    return np.sort(np.array(chosen, np.int64))


def distances_by_the_book(graph: CSRGraph, source: int, dtype: np.dtype[Any]) -> list[Any]:
    """Return the distances by Dijkstra's algorithm: Python's integers, or sums of reals of ``dtype``; None if none."""
    real = dtype.kind == "f"
    weights = list(graph.weights.astype(dtype)) if real else graph.weights.tolist()
    found: list[Any] = [None] * graph.vertices
    heap = [(dtype.type(0) if real else 0, source)]
    while heap:
        distance, u = heapq.heappop(heap)
        if found[u] is not None:
            continue
        found[u] = distance
        for arc in range(graph.offsets[u], graph.offsets[u + 1]):
            with np.errstate(over="ignore"):
                far = distance + weights[arc]
            if found[graph.targets[arc]] is None and not (real and np.isinf(far)):
                heapq.heappush(heap, (far, int(graph.targets[arc])))
    return found
