"""``scipy.sparse.csgraph`` by gpugraph: same names, arguments and results.

>>> import scipy.sparse
>>> from gpugraph.csgraph import dijkstra, minimum_spanning_tree
>>> matrix = scipy.sparse.csr_array([[0, 4, 7], [4, 0, 8], [7, 8, 0]])
>>> float(minimum_spanning_tree(matrix).sum())
11.0
>>> dijkstra(matrix, indices=0).tolist()
[0.0, 4.0, 7.0]

All other calls, such as those with negative weights or for strongly connected components, are passed on to SciPy.
Among equally good results the first in the matrix is returned; on a GPU the canonical predecessors.
"""

import math
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gpugraph.base.compiled import njit, plain_njit
from gpugraph.base.errors import VerificationFailed
from gpugraph.ext.graph_files.properties import label_components
from gpugraph.ext.python import call_profile
from gpugraph.ext.python.certified import Firsts, check_way
from gpugraph.ext.python.inputs import by_weight, device_kind
from gpugraph.ext.python.matrices import sound
from gpugraph.ext.python.resident_graph import ResidentGraph
from gpugraph.ext.python.searches import Rows, are_lengths, search
from gpugraph.graph.build import ArcList
from gpugraph.graph.canonical import canonical_order, order_keys
from gpugraph.graph.chunks import in_threads
from gpugraph.problems.mst.cpu_kruskal import find_root

scipys: Any = import_module("scipy.sparse.csgraph")  # what callers pass is theirs to answer for, not the type checker's

__all__ = ["connected_components", "dijkstra", "minimum_spanning_tree", "shortest_path"]

NO_PREDECESSOR = -9999
DEVICE = "auto"
"""Where it is computed; assign ``"cpu"`` or ``"cuda:1"`` to have it there."""
VERIFY = "first"
"""Which answers are compared with SciPy's: the first of each function on each matrix, ``"all"`` or ``"none"``."""


def minimum_spanning_tree(csgraph: Any, overwrite: bool = False) -> Any:
    """Return a minimum spanning tree of an undirected graph; see ``scipy.sparse.csgraph.minimum_spanning_tree``.

    Args:
        csgraph: (n, n) matrix; where both (i, j) and (j, i) are there the lighter counts.
        overwrite: taken for SciPy's sake; the input stays as it is.

    Returns:
        (n, n) CSR array or matrix of the edges chosen, each at its place in the input; edges of weight 0 are left
        out, as SciPy leaves them.
    """
    firsts, csgraph = _firsts_of(csgraph), _without_padding(csgraph)
    with call_profile.call("csgraph.minimum_spanning_tree"):
        with call_profile.phase("convert"):
            matrix = _matrix(csgraph)
        chosen = np.sort((_forest_on_cpu if device_kind(DEVICE) == "cpu" else _forest_on_gpu)(matrix))
        with call_profile.phase("back"):
            kept = chosen[matrix.data[chosen] != 0]
            rows = np.searchsorted(kept, matrix.indptr).astype(matrix.indptr.dtype)
            tree = type(matrix)((matrix.data[kept], matrix.indices[kept], rows), matrix.shape)
    with _due(firsts, "forest") as due:
        if due:
            _check_forest(matrix, chosen, tree)
    return tree


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
    firsts, csgraph = _firsts_of(csgraph), _without_padding(csgraph)
    with call_profile.call("csgraph.dijkstra"):
        with call_profile.phase("convert"):
            matrix = _matrix(csgraph)
            ours = are_lengths(matrix.data) and not min_only and limit >= 0
        if not ours:
            return scipys.dijkstra(csgraph, directed, indices, return_predecessors, unweighted, limit, min_only)
        return _distances(matrix, directed, indices, return_predecessors, unweighted, limit, firsts)


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
    firsts, csgraph = _firsts_of(csgraph), _without_padding(csgraph)
    with call_profile.call("csgraph.shortest_path"):
        with call_profile.phase("convert"):
            matrix = _matrix(csgraph)
            ours = (
                are_lengths(matrix.data)
                and method in ("auto", "FW", "D", "BF", "J")
                and not (method == "FW" and indices is not None)
            )
        if not ours:
            return scipys.shortest_path(csgraph, method, directed, return_predecessors, unweighted, overwrite, indices)
        return _distances(matrix, directed, indices, return_predecessors, unweighted, np.inf, firsts)


def connected_components(
    csgraph: Any, directed: bool = True, connection: str = "weak", return_labels: bool = True
) -> Any:
    """Return the number of components and their labels; see ``scipy.sparse.csgraph.connected_components``."""
    firsts, csgraph = _firsts_of(csgraph), _without_padding(csgraph)
    if connection.lower() != "weak" and (directed or connection.lower() != "strong"):
        return scipys.connected_components(csgraph, directed, connection, return_labels)
    with call_profile.call("csgraph.connected_components"):
        with call_profile.phase("convert"):
            matrix = _matrix(csgraph)
        if device_kind(DEVICE) == "cpu":
            with call_profile.phase("kernel"):
                labels = np.arange(matrix.shape[0], dtype=np.int32)
                number = int(label_components(matrix.indptr, matrix.indices, labels))
            return _components(matrix, number, labels, return_labels, firsts)
        with call_profile.phase("convert"):
            tails, heads = _coordinates(matrix)
            graph = ArcList(tails, heads, None, matrix.shape[0], directed=True)
        with ResidentGraph(graph, DEVICE, "none") as held:
            found = held.components()
        with call_profile.phase("back"):
            labels = np.searchsorted(found.roots, found.labels).astype(np.int32)
        return _components(matrix, found.components, labels, return_labels, firsts)


def _components(matrix: Any, number: int, labels: NDArray[np.int32], return_labels: bool, firsts: Firsts) -> Any:
    """Return the number of components, and their labels, once they have been compared with SciPy's."""
    with _due(firsts, "components") as due:
        if due:
            right, theirs = scipys.connected_components(matrix, directed=False)
            _compare("the number of components", np.array([number]), np.array([right]))
            _compare("the labels of components", labels, theirs)
    return (number, labels) if return_labels else number


_firsts: dict[int, tuple[weakref.ref[Any], Firsts]] = {}
"""By the identity of a matrix: which of its answers have been compared."""


def _firsts_of(csgraph: Any) -> Firsts:
    """Return which answers about a matrix have been compared; none about a list, for nobody knows it again."""
    number = id(csgraph)
    if number not in _firsts or _firsts[number][0]() is not csgraph:
        try:
            _firsts[number] = weakref.ref(csgraph, lambda _: _firsts.pop(number, None)), Firsts()
        except TypeError:
            return Firsts()
    return _firsts[number][1]


@contextmanager
def _due(firsts: Firsts, *kind: object) -> Iterator[bool]:
    """Tell whether an answer of a kind, on the device of today, is to be checked, and note that it has passed.

    An answer of SciPy's, and a call that ended in an error, do not count.
    """
    kind = (device_kind(DEVICE), *kind)
    due = firsts.method(check_way(VERIFY), kind) != "none"
    yield due
    if due:
        firsts.passed(kind)


def _check_forest(matrix: Any, chosen: NDArray[np.int64], tree: Any) -> None:
    """Raise VerificationFailed unless chosen entries span the graph without a cycle, and weigh what SciPy's do."""
    tails = _coordinates(matrix)[0]
    joined = sparse.csr_array((np.ones(len(chosen)), (tails[chosen], matrix.indices[chosen])), matrix.shape)
    ours, right = (scipys.connected_components(one, directed=False, return_labels=False) for one in (joined, matrix))
    edges = matrix.shape[0] - right
    _compare("the number of trees", np.array([ours]), np.array([right]))
    _compare("the number of edges of the forest", np.array([len(chosen)]), np.array([edges]))
    _compare("the sorted weights", np.sort(tree.data), np.sort(scipys.minimum_spanning_tree(matrix).data))


def _check_distances(query: "_Query", distance: NDArray[np.float64], before: NDArray[np.int32] | None) -> None:
    """Raise VerificationFailed unless (n,) distances from the first source are SciPy's, and predecessors fit them.

    The arcs from predecessors are tight, and lead from the source to all vertices that are reached, and to no other.
    """
    matrix, directed, unweighted, (source, *_), cutoff = query
    limit = np.inf if cutoff is None else cutoff
    right = scipys.dijkstra(matrix, directed, source, unweighted=unweighted, limit=limit)
    _compare(f"distances from {source}", distance, right)
    if before is None:
        return
    tails, heads = _coordinates(matrix)
    lengths = np.ones(len(tails)) if unweighted else matrix.data
    if not directed:
        tails, heads, lengths = np.append(tails, heads), np.append(heads, tails), np.append(lengths, lengths)
    named = np.flatnonzero(before[heads] == tails)
    tight = named[np.isclose(distance[tails[named]] + lengths[named], distance[heads[named]], rtol=1e-9, atol=0.0)]
    arcs = sparse.csr_array((np.ones(len(tight)), (tails[tight], heads[tight])), matrix.shape)
    led = np.sort(scipys.breadth_first_order(arcs, source, return_predecessors=False))
    _compare("vertices that have a predecessor", np.flatnonzero(before >= 0), led[led != source])
    _compare("vertices that predecessors lead to", led, np.flatnonzero(np.isfinite(distance)))


def _compare(noun: str, ours: NDArray[Any], right: NDArray[Any]) -> None:
    """Raise VerificationFailed unless an answer is SciPy's."""
    if len(ours) == len(right) and np.allclose(ours, right, rtol=1e-9, atol=0.0, equal_nan=True):
        return
    _firsts.clear()  # the next answer is compared again
    if len(ours) != len(right):
        raise VerificationFailed(f"{noun}: {len(ours)}, by SciPy {len(right)}", where="gpugraph.csgraph")
    for at in np.flatnonzero(~np.isclose(ours, right, rtol=1e-9, atol=0.0, equal_nan=True))[:1].tolist():
        what = f"{noun}: number {at} is {ours[at]}, by SciPy {right[at]}"
        raise VerificationFailed(what, where="gpugraph.csgraph")


def _without_padding(csgraph: Any) -> Any:
    """Return a BSR array as CSR without the zeros that fill its blocks, as SciPy 1.18 reads it; others as they are.

    Raises:
        ValueError: an array of the matrix is too short, or an index or offset of it is none.
    """
    known: bool = sparse.issparse(csgraph)
    if known and csgraph.ndim == 2:
        is_lil = csgraph.format == "lil"
        csgraph = sound(csgraph)
        if is_lil:  # of COO, as it is now, SciPy finds no distances of all pairs
            csgraph = csgraph.tocsr()
    if getattr(csgraph, "format", None) != "bsr":
        return csgraph
    rows = csgraph.tocsr()
    rows.eliminate_zeros()
    return rows


def _matrix(csgraph: Any) -> Any:
    """Return a graph as SciPy reads it: a CSR array or matrix of float64.

    Raises:
        ValueError: it is not square, or not two-dimensional.
    """
    if hasattr(csgraph, "todense") and not sparse.issparse(csgraph):  # pydata's
        csgraph = csgraph.to_scipy_sparse()
    matrix: Any = csgraph
    if sparse.issparse(csgraph):
        matrix = matrix.tocsr()
        if matrix.dtype != np.float64:
            matrix = matrix.astype(np.float64)
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
    matrix: Any, directed: bool, indices: Any, return_predecessors: bool, unweighted: bool, limit: float, firsts: Firsts
) -> Any:
    """Return the distances, and predecessors, from the vertices of ``indices``, shaped as it is."""
    n = matrix.shape[0]
    asked = np.arange(n) if indices is None else np.asarray(indices)
    if asked.dtype.kind not in "iu":  # as SciPy reads them, which wraps integers round, too
        asked = np.asarray(indices, np.int32)
    sources = [v + n if v < 0 else v for v in asked.reshape(-1).tolist()]
    if sources and not 0 <= min(sources) <= max(sources) < n:
        raise ValueError("indices out of range 0...N")
    distance = np.full((len(sources), n), np.inf)
    before = np.full((len(sources) if return_predecessors else 0, n), NO_PREDECESSOR, np.int32)
    if len(sources):
        asked_for = _Query(matrix, directed, unweighted, sources, None if math.isinf(limit) else float(limit))
        (_on_cpu if device_kind(DEVICE) == "cpu" else _on_gpu)(asked_for, distance, before)
        with _due(firsts, "distances", directed, unweighted, math.isinf(limit), return_predecessors) as due:
            if due:
                _check_distances(asked_for, distance[0], before[0] if return_predecessors else None)
    distance = distance.reshape(*asked.shape, n)
    return (distance, before.reshape(distance.shape)) if return_predecessors else distance


class _Query(NamedTuple):
    """Which distances are asked for: (n, n) ``matrix``, the vertices that they are from, how far a search goes."""

    matrix: Any
    directed: bool
    unweighted: bool
    sources: list[int]
    cutoff: float | None


def _on_cpu(asked: _Query, distance: NDArray[np.float64], before: NDArray[np.int32]) -> None:
    """Search from each source, on all threads; of several shortest paths the one whose arcs come first."""
    matrix, directed, unweighted, sources, cutoff = asked
    with call_profile.phase("convert"):
        n = matrix.shape[0]
        if not directed:  # the arcs of a row, and after them those of its column
            matrix = sparse.hstack([matrix, matrix.T.tocsr()], "csr")
        heads = matrix.indices if directed else np.where(matrix.indices < n, matrix.indices, matrix.indices - n)
        targets = heads.astype(np.int32, copy=False)
        weights = np.ones_like(matrix.data) if unweighted else matrix.data
        rows = Rows(matrix.indptr.astype(np.int64), targets, weights)

    def run(first: int, last: int) -> None:
        for row in range(first, last):
            found = search(rows, [sources[row]], None, cutoff)
            if len(found.order) < rows.vertices:
                distance[row][found.order] = found.distance[found.order]
            else:
                distance[row] = found.distance
            if len(before):
                known = (found.before >= 0) & np.isfinite(found.distance)
                np.copyto(before[row], found.before, where=known, casting="same_kind")

    with call_profile.phase("kernel"):
        work = len(sources) * (rows.vertices + len(targets))
        parts = max(1, min(len(sources), work // _WORTH_A_THREAD))
        cuts = [len(sources) * part // parts for part in range(parts + 1)]
        in_threads(run, list(pairwise(cuts)))


_WORTH_A_THREAD = 1 << 16
"""Vertices and arcs to search: fewer take less time than to hand them to a thread."""


def _on_gpu(asked: _Query, distance: NDArray[np.float64], before: NDArray[np.int32]) -> None:
    """Search from each source on the device; of several predecessors the canonical one."""
    matrix, directed, unweighted, sources, cutoff = asked
    tails, heads = _coordinates(matrix)
    weights = None if unweighted else matrix.data
    graph = ArcList(tails, heads, weights, matrix.shape[0], directed=directed, one_sided=not directed)
    with ResidentGraph(graph, DEVICE, "none") as held:
        for row, source in enumerate(sources):
            found = held.sssp(source, cutoff=cutoff, predecessors=len(before) > 0)
            with call_profile.phase("back"):
                distance[row] = np.where(found.reached, found.raw, np.inf)
                if found.predecessor is not None:
                    before[row] = np.where(found.predecessor < 0, NO_PREDECESSOR, found.predecessor)


# ------------------------------------------------------------------ forests and components
# Trees are joined as entries come, by their smallest vertices; Tarjan and van Leeuwen 1984, with paths halved.


def _forest_on_gpu(matrix: Any) -> NDArray[np.int64]:
    """Return the positions of the entries that make a minimum spanning forest."""
    with call_profile.phase("convert"):
        tails, heads = _coordinates(matrix)
        order, ranks = by_weight(ArcList(tails, heads, matrix.data, matrix.shape[0]))
        graph = ArcList(tails, heads, ranks, matrix.shape[0], directed=True)
    with ResidentGraph(graph, DEVICE, "none") as held:  # the answer is compared with SciPy's
        forest = held.mst()
    return np.asarray(order[forest.graph.weights[forest.edges]])


_LIGHT = 3
"""Entries a vertex that are put in order first; of the others those are left out that join no trees by then."""
_FEW = 2000
"""Fewer weights NumPy puts in order sooner."""


def _forest_on_cpu(matrix: Any) -> NDArray[np.int64]:
    """Return the positions of the entries that make a minimum spanning forest.

    Source: Kruskal 1956, and Osipov, Sanders and Singler 2009, The filter-Kruskal minimum spanning tree algorithm.
    """
    with call_profile.phase("kernel"):
        tails, heads, weights = _coordinates(matrix)[0], matrix.indices, matrix.data
        parent = np.arange(matrix.shape[0], dtype=np.int32)
        chosen, few = np.empty(len(parent), np.int64), _LIGHT * len(parent)
        if len(weights) <= 2 * few:
            return chosen[: _join_in_order(tails, heads, _by_weight(weights), parent, chosen, 0)]
        light = weights <= np.partition(weights, few)[few]
        entries = np.flatnonzero(light)
        count = _join_in_order(tails, heads, entries[_by_weight(weights[entries])], parent, chosen, 0)
        entries = _joining(tails, heads, light, parent)
        return chosen[: _join_in_order(tails, heads, entries[_by_weight(weights[entries])], parent, chosen, count)]


def _by_weight(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the positions of weights in ascending order, of equal ones the first first."""
    if len(weights) < _FEW:
        return np.argsort(weights, kind="stable")
    return np.asarray(canonical_order(order_keys(weights + 0.0)))  # −0.0 becomes 0.0


@njit
def _joining(tails: Any, heads: Any, left_out: Any, parent: Any) -> Any:
    """Return the entries that join two trees, but for those that are left out."""
    found, count = np.empty(len(left_out), np.int64), 0
    for entry in range(len(left_out)):
        if not left_out[entry] and find_root(parent, tails[entry]) != find_root(parent, heads[entry]):
            found[count] = entry
            count += 1
    return found[:count].copy()


@plain_njit
def _join_in_order(tails: Any, heads: Any, entries: Any, parent: Any, chosen: Any, count: Any) -> Any:
    """Join the trees of entries, one after the other, and write down those that do; return how many there are now."""
    for i in range(len(entries)):
        a, b = find_root(parent, tails[entries[i]]), find_root(parent, heads[entries[i]])
        if a != b:
            parent[max(a, b)] = min(a, b)
            chosen[count] = entries[i]
            count += 1
    return count
