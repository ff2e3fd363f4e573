"""``scipy.sparse.csgraph`` by gpugraph: the same names, the same arguments, the same results.

>>> import scipy.sparse
>>> from gpugraph.csgraph import dijkstra, minimum_spanning_tree
>>> matrix = scipy.sparse.csr_array([[0, 4, 7], [4, 0, 8], [7, 8, 0]])
>>> float(minimum_spanning_tree(matrix).sum())
11.0
>>> dijkstra(matrix, indices=0).tolist()
[0.0, 4.0, 7.0]

What is not here, negative weights and strongly connected components above all, SciPy does itself.  Of several right
results the one is told that comes first in the matrix; on a GPU the canonical predecessors.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gpugraph.adapters import calls
from gpugraph.adapters.inputs import by_weight
from gpugraph.adapters.on import OnDevice
from gpugraph.adapters.searches import Rows, search
from gpugraph.devices.discovery import select_device
from gpugraph.graph.build import ArcList
from gpugraph.graph.chunks import in_threads

scipys: Any = import_module("scipy.sparse.csgraph")  # what callers pass is theirs to answer for, not the type checker's

__all__ = ["connected_components", "dijkstra", "minimum_spanning_tree", "shortest_path"]

NO_PREDECESSOR = -9999
DEVICE = "auto"
"""Where it is computed; assign ``"cpu"`` or ``"cuda:1"`` to have it there."""


def minimum_spanning_tree(csgraph: Any, overwrite: bool = False) -> Any:
    """Return a minimum spanning tree of an undirected graph; see ``scipy.sparse.csgraph.minimum_spanning_tree``.

    Args:
        csgraph: (n, n) matrix; where both (i, j) and (j, i) are there the lighter counts.
        overwrite: taken for SciPy's sake; the input stays as it is.

    Returns:
        (n, n) CSR array or matrix of the edges chosen, each where it stands in the input; edges of weight 0 are left
        out, as SciPy leaves them.
    """
    with calls.call("csgraph.minimum_spanning_tree"):
        with calls.phase("convert"):
            matrix = _matrix(csgraph)
            tails, heads = _coordinates(matrix)
            order, ranks = by_weight(ArcList(tails, heads, matrix.data, matrix.shape[0]))
            graph = ArcList(tails, heads, ranks, matrix.shape[0], directed=True)
        with OnDevice(graph, DEVICE) as held:
            forest = held.mst()
        with calls.phase("back"):
            chosen = np.sort(order[forest.graph.weights[forest.edges]])
            kept = chosen[matrix.data[chosen] != 0]
            rows = np.searchsorted(kept, matrix.indptr).astype(matrix.indptr.dtype)
            return type(matrix)((matrix.data[kept], matrix.indices[kept], rows), matrix.shape)


def dijkstra(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    limit: float = np.inf,
    min_only: bool = False,
) -> Any:
    """Return shortest distances; see ``scipy.sparse.csgraph.dijkstra``."""
    with calls.call("csgraph.dijkstra"):
        with calls.phase("convert"):
            matrix = _matrix(csgraph)
            ours = not (matrix.data < 0).any() and not np.isnan(matrix.data).any() and not min_only and limit >= 0
        if not ours:
            return scipys.dijkstra(csgraph, directed, indices, return_predecessors, unweighted, limit, min_only)
        return _distances(matrix, directed, indices, return_predecessors, unweighted, limit)


def shortest_path(
    csgraph: Any,
    method: str = "auto",
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
    indices: Any = None,
) -> Any:
    """Return shortest distances by whatever method; see ``scipy.sparse.csgraph.shortest_path``.

    Without negative weights every method gives the same distances, and it is gpugraph that finds them.
    """
    with calls.call("csgraph.shortest_path"):
        with calls.phase("convert"):
            matrix = _matrix(csgraph)
            ours = not (matrix.data < 0).any() and not np.isnan(matrix.data).any()
            ours = ours and method in ("auto", "FW", "D", "BF", "J") and not (method == "FW" and indices is not None)
        if not ours:
            return scipys.shortest_path(csgraph, method, directed, return_predecessors, unweighted, overwrite, indices)
        return _distances(matrix, directed, indices, return_predecessors, unweighted, np.inf)


def connected_components(
    csgraph: Any, directed: bool = True, connection: str = "weak", return_labels: bool = True
) -> Any:
    """Return the number of components and their labels; see ``scipy.sparse.csgraph.connected_components``."""
    if connection.lower() != "weak" and directed:
        return scipys.connected_components(csgraph, directed, connection, return_labels)
    with calls.call("csgraph.connected_components"):
        with calls.phase("convert"):
            matrix = _matrix(csgraph)
            tails, heads = _coordinates(matrix)
            graph = ArcList(tails, heads, None, matrix.shape[0], directed=True)
        with OnDevice(graph, DEVICE) as held:
            found = held.components()
        with calls.phase("back"):
            if not return_labels:
                return found.components
            return found.components, np.searchsorted(found.roots, found.labels).astype(np.int32)


def _matrix(csgraph: Any) -> Any:
    """Return a graph as SciPy reads it: a CSR array or matrix of float64.

    Raises:
        ValueError: it is not square, or not two-dimensional.
    """
    if hasattr(csgraph, "todense") and not sparse.issparse(csgraph):  # pydata's
        csgraph = csgraph.to_scipy_sparse()
    matrix: Any = csgraph
    if sparse.issparse(csgraph):
        matrix = matrix.tocsr().astype(np.float64, copy=False)
    elif np.ma.isMaskedArray(csgraph):
        matrix = scipys.csgraph_from_masked(csgraph)
    else:
        matrix = scipys.csgraph_from_dense(csgraph, null_value=0, nan_null=True, infinity_null=True)
    if matrix.ndim != 2:
        raise ValueError("compressed-sparse graph must be 2-D")
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError("compressed-sparse graph must be shape (N, N)")
    return matrix


def _coordinates(matrix: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the row and the column of every entry."""
    return np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr)), matrix.indices


def _distances(
    matrix: Any, directed: bool, indices: Any, return_predecessors: bool, unweighted: bool, limit: float
) -> Any:
    """Return the distances, and predecessors, from the vertices of ``indices``, shaped as it is."""
    n = matrix.shape[0]
    asked = np.arange(n) if indices is None else np.asarray(indices, np.int32)
    sources = np.where(asked < 0, asked + n, asked).reshape(-1)
    if ((sources < 0) | (sources >= n)).any():
        raise ValueError("indices out of range 0...N")
    distance = np.full((len(sources), n), np.inf)
    before = np.full((len(sources) if return_predecessors else 0, n), NO_PREDECESSOR, np.int32)
    if len(sources):
        device = select_device(DEVICE)[0]
        device.close()
        fill = _on_cpu if device.kind == "cpu" else _on_gpu
        fill(matrix, directed, unweighted, sources.tolist(), limit, distance, before)
    distance = distance.reshape(*asked.shape, n)
    return (distance, before.reshape(distance.shape)) if return_predecessors else distance


def _on_cpu(
    matrix: Any,
    directed: bool,
    unweighted: bool,
    sources: list[int],
    limit: float,
    distance: NDArray[np.float64],
    before: NDArray[np.int32],
) -> None:
    """Search from each source, on all threads; of several shortest paths the one whose arcs come first is told."""
    with calls.phase("convert"):
        if directed:
            offsets, targets, weights = matrix.indptr, matrix.indices, matrix.data
        else:  # the arcs of a row, and after them those of its column
            tails, heads = _coordinates(matrix)
            ends = np.concatenate((tails, heads))
            order = np.argsort(ends, kind="stable")
            targets, weights = np.concatenate((heads, tails))[order], np.concatenate((matrix.data, matrix.data))[order]
            offsets = np.searchsorted(ends[order], np.arange(matrix.shape[0] + 1))
        rows = Rows(offsets.astype(np.int64), targets.astype(np.int32), None if unweighted else weights)
    cutoff = None if math.isinf(limit) else float(limit)

    def run(row: int, _: int) -> None:
        found = search(rows, [sources[row]], None, cutoff)
        distance[row][found.order] = found.distance[found.order]
        if len(before):
            hangs = found.order[found.before[found.order] >= 0]
            before[row][hangs] = found.before[hangs]

    with calls.phase("kernel"):
        in_threads(run, [(row, row + 1) for row in range(len(sources))])


def _on_gpu(
    matrix: Any,
    directed: bool,
    unweighted: bool,
    sources: list[int],
    limit: float,
    distance: NDArray[np.float64],
    before: NDArray[np.int32],
) -> None:
    """Search from each source on the device; of several predecessors the canonical one is told."""
    tails, heads = _coordinates(matrix)
    weights = None if unweighted else matrix.data
    graph = ArcList(tails, heads, weights, matrix.shape[0], directed=directed, one_sided=not directed)
    cutoff = None if math.isinf(limit) else float(limit)
    with OnDevice(graph, DEVICE) as held:
        for row, source in enumerate(sources):
            found = held.sssp(source, cutoff=cutoff, predecessors=len(before) > 0)
            with calls.phase("back"):
                distance[row] = np.where(found.reached, found.raw, np.inf)
                if found.predecessor is not None:
                    before[row] = np.where(found.predecessor < 0, NO_PREDECESSOR, found.predecessor)
