"""Check a result against its graph: one at hand, or one that a file holds.

What a file claims is first brought onto the graph, edge by edge and vertex by vertex; where that fails the
verdict says so, and the oracle or the certificate never sees it.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.errors import InputError, unknown_name
from gpugraph.graph.csr import CSRGraph
from gpugraph.measure.stored import Stored, StoredDistances, StoredForest, parse_numbers, read_stored
from gpugraph.measure.trial import check
from gpugraph.problems.contract import METHODS, Verdict
from gpugraph.problems.mst.edges import edge_ids
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.registry import load_problem
from gpugraph.problems.scan.array import open_array
from gpugraph.problems.scan.scanned import Scanned
from gpugraph.problems.sssp.arcs import distance_dtype, unreached
from gpugraph.problems.sssp.distances import Distances


def check_result(graph: CSRGraph, result: Forest | Distances | str | os.PathLike[str], method: str = "auto") -> Verdict:
    """Return the verdict on a result.

    Args:
        graph: the graph it is said to belong to.
        result: a Forest, Distances, or the path of a file that ``-o`` wrote.
        method: ``"auto"``, ``"reference"``, ``"certificate"`` or ``"both"``.

    Raises:
        InputError: the file cannot be read, there is no such method, or the graph does not suit the problem.
    """
    if method not in METHODS:
        raise unknown_name("verification method", method, METHODS)
    if isinstance(result, Forest | Distances):
        problem = load_problem("mst" if isinstance(result, Forest) else "sssp")
        graph = problem.admit(graph)
        if result.graph is graph or result.graph.digest == graph.digest:
            return check(problem, graph, _query(result), result, method)
        given, path = _stored(result), ""
    else:
        if not isinstance(result, str | os.PathLike):
            remedy = "give what mst, sssp or scan returned, one at a time, or the path of a file that -o wrote"
            raise InputError(f"a {type(result).__name__} is not a result", remedy=remedy)
        path = os.fsdecode(result)
        given = read_stored(path)
        problem = load_problem("mst" if isinstance(given, StoredForest) else "sssp")
        graph = problem.admit(graph)
    try:
        if given.vertices not in (None, graph.vertices):
            raise _MismatchError(f"the result is one of {given.vertices} vertices, the graph has {graph.vertices}")
        claimed = _forest(graph, given, path) if isinstance(given, StoredForest) else _distances(graph, given, path)
        _check_names(graph, given)
    except _MismatchError as mismatch:
        return Verdict("failed", method, str(mismatch))
    verdict = check(problem, graph, _query(claimed), claimed, method)
    if verdict.passed and given.digest not in (None, graph.digest):
        other = f"it holds, but the file gives another graph's digest: {given.digest}, not {graph.digest}"
        return Verdict("failed", verdict.method, other)
    return verdict


def check_scan(source: Any, result: Scanned, method: str = "auto") -> Verdict:
    """Return the verdict on a scan.

    Args:
        source: the array it is said to belong to: an array, a spec or a .npy file.  Whether the scan is exclusive or
            segmented is the result's own affair.
        result: the scan.
        method: as for ``check_result``.

    Raises:
        InputError: the array cannot be opened, or there is no such method.
    """
    if method not in METHODS:
        raise unknown_name("verification method", method, METHODS)
    own, array = result.graph, open_array(source)
    if array.elements != own.elements:
        return Verdict("failed", method, f"the scan is one of {own.elements} elements, the array has {array.elements}")
    array = replace(array, exclusive=own.exclusive, heads=own.heads)
    return check(load_problem("scan"), array, (), replace(result, graph=array), method)


def _query(result: Forest | Distances) -> tuple[int, ...]:
    """Return the query that a result answers."""
    return (result.source,) if isinstance(result, Distances) else ()


def _stored(result: Forest | Distances) -> Stored:
    """Return a result of another graph as if a file had held it."""
    if isinstance(result, Distances):
        return StoredDistances(None, result.distance, result.predecessor, result.source, vertices=result.graph.vertices)
    u, v = result.endpoints()
    weights, total = result.graph.weights[result.edges], str(result.total_weight)
    return StoredForest(u, v, weights, total, result.components, vertices=result.graph.vertices)


class _MismatchError(Exception):
    """The result cannot be one of this graph; the message names the first counter-example."""


def _check_names(graph: CSRGraph, given: Stored) -> None:
    """Raise for the first vertex that a file calls otherwise than the graph does, where that has names."""
    printed = graph.printed_names
    if printed is None:
        return
    for vertices, names in given.named:
        expected = printed[vertices]
        found = names if isinstance(names, np.ndarray) else np.array(names.to_pylist(), object)
        same = found == (expected if isinstance(names, np.ndarray) else expected.astype(str).astype(object))
        for k in np.flatnonzero(~np.asarray(same, bool))[:1]:
            raise _MismatchError(f"vertex {vertices[k]} is called {expected[k]} in the graph, not {found[k]}")


def _forest(graph: CSRGraph, given: StoredForest, path: str) -> Forest:
    """Return the forest of the graph that a file describes."""
    n = graph.vertices
    inside = (given.u >= 0) & (given.v >= 0) & (given.u < n) & (given.v < n)
    _all(inside, given, "names a vertex that the graph does not have")
    ids = edge_ids(graph, given.u, given.v)
    _all(ids >= 0, given, "is not in the graph")
    expected = graph.weights[ids]
    weight = given.weight
    if not isinstance(weight, np.ndarray):
        weight = parse_numbers(weight, graph.weights.dtype, path, given.first_line)
    for k in np.flatnonzero(weight != expected)[:1]:
        raise _MismatchError(f"edge {given.u[k]}-{given.v[k]} weighs {expected[k]} in the graph, not {weight[k]}")
    if weight.dtype != expected.dtype:  # equal numbers of another type may have been rounded to it
        raise _MismatchError(f"the weights are of type {weight.dtype}, those of the graph are {expected.dtype}")
    once = np.unique(ids, return_index=True)[1]
    _all(np.isin(np.arange(len(ids)), once), given, "is there twice")
    forest = Forest.of(graph, ids)
    if given.total_weight not in (None, str(forest.total_weight)):
        raise _MismatchError(
            f"the total weight is given as {given.total_weight}, the edges weigh {forest.total_weight}"
        )
    if given.components not in (None, forest.components):
        raise _MismatchError(f"{given.components} components are given, the edges leave {forest.components}")
    return forest


def _all(holds: NDArray[np.bool_], given: StoredForest, otherwise: str) -> None:
    """Raise for the first edge for which something does not hold."""
    if not holds.all():
        k = int(np.argmin(holds))
        raise _MismatchError(f"edge {given.u[k]}-{given.v[k]} {otherwise}")


def _distances(graph: CSRGraph, given: StoredDistances, path: str) -> Distances:
    """Return the distances of the graph that a file describes."""
    n, dtype = graph.vertices, distance_dtype(graph.weights.dtype)
    if len(given.distance) != n or (given.predecessor is not None and len(given.predecessor) != n):
        raise _MismatchError(f"the file has {len(given.distance)} vertices, the graph has {n}")
    distance = given.distance
    if not isinstance(distance, np.ndarray):
        import pyarrow.compute as pc

        distance = pc.if_else(pc.equal(distance, "inf"), str(unreached(dtype)), distance)
        distance = parse_numbers(distance, dtype, path, given.first_line)
    elif distance.dtype != dtype:
        raise _MismatchError(f"the distances are of type {distance.dtype}, those of the graph are {dtype}")
    predecessor = given.predecessor
    if given.vertex is not None:
        if not np.array_equal(np.sort(given.vertex), np.arange(n)):
            raise _MismatchError(f"the file does not hold each of the vertices 0 to {n - 1} once")
        order = np.argsort(given.vertex)
        distance, predecessor = distance[order], None if predecessor is None else predecessor[order]
    source = _source(graph, distance, predecessor, path) if given.source is None else given.source
    if not 0 <= source < n:
        raise _MismatchError(f"the source {source} is not a vertex of the graph")
    return Distances(graph, source, distance, predecessor)


def _source(graph: CSRGraph, distance: NDArray[Any], predecessor: NDArray[np.int64] | None, path: str) -> int:
    """Return the source that a file of text leaves to be told from the distances."""
    starts = distance == 0 if predecessor is None else (distance == 0) & (predecessor < 0)
    candidates = np.flatnonzero(starts)
    if len(candidates) == 0:
        raise _MismatchError("no vertex has the distance 0, so there is no source")
    # In an undirected graph vertices at distance 0 of each other have all distances in common.
    if len(candidates) > 1 and graph.directed:
        raise InputError(
            f"{len(candidates)} vertices have the distance 0, so the file does not tell its source",
            where=path,
            remedy="write the result as .npz, or with --predecessors",
        )
    return int(candidates[0])
