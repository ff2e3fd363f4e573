"""The libraries known as peers: what each is, and how it is given a graph; none is imported before it is called.

How a library solves a problem is in ``peers.py`` of the problem's folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.ext.peers.peer import Peer, PeerRefused
from gpugraph.graph.csr import CSRGraph

if TYPE_CHECKING:
    import networkit
    import networkx
    import rmm
    import rustworkx
    from scipy.sparse import csr_array

_ALL = (
    Peer("scipy", "SciPy", "P. Virtanen et al.", 2020, module="scipy.sparse.csgraph"),
    Peer("networkx", "NetworkX", "A. Hagberg, D. Schult, P. Swart", 2008),
    Peer("igraph", "igraph", "G. Csárdi, T. Nepusz", 2006, distributions=("igraph", "python-igraph")),
    Peer("networkit", "NetworKit", "C. Staudt, A. Sazonovs, H. Meyerhenke", 2016),
    Peer("rustworkx", "rustworkx", "M. Treinish, I. Carvalho, G. Tsilimigkounakis, N. Sá", 2022),
    Peer("logtwothirds", "logtwothirds", "N. Khobotov", 2026),
    Peer(
        "cugraph",
        "cuGraph",
        "A. Fender, B. Rees, J. Eaton",
        2022,
        module="pylibcugraph",
        distributions=("pylibcugraph-cu13", "pylibcugraph-cu12", "pylibcugraph"),
        installed_by="pip install pylibcugraph-cu13 (or -cu12), or conda install -c rapidsai pylibcugraph",
        device="cuda",
    ),
)
LIBRARIES = {peer.name: peer for peer in _ALL}


def scipy_matrix(graph: CSRGraph, *, upper: bool) -> csr_array[Any]:
    """Return the graph as a CSR matrix of float64; ``upper`` holds every edge once."""
    from scipy.sparse import csr_array

    if max(graph.arcs, graph.vertices) >= 2**31:
        raise PeerRefused("SciPy's graph routines count in 32 bits", remedy="leave SciPy out for graphs of this size")
    shape = (graph.vertices, graph.vertices)
    if not upper:
        parts = (float_weights(graph.weights), graph.targets.astype(np.int32), graph.offsets.astype(np.int32))
        return csr_array(parts, shape=shape)
    tails, heads, weights = edge_columns(graph)
    return csr_array((float_weights(weights), (tails.astype(np.int32), heads.astype(np.int32))), shape=shape)


def networkx_graph(graph: CSRGraph) -> networkx.Graph:
    """Return the graph as NetworkX's, pure Python, whose integers are exact whatever their size."""
    import networkx

    made = networkx.DiGraph() if graph.directed else networkx.Graph()
    made.add_nodes_from(range(graph.vertices))
    tails, heads, weights = edge_columns(graph)
    made.add_weighted_edges_from(zip(tails.tolist(), heads.tolist(), weights.tolist(), strict=True))
    return made


def csr_arrays(graph: CSRGraph, method: str) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Return the graph's offsets, targets and weights in the types that logtwothirds reads without a copy."""
    if method != "dijkstra" and not np.isfinite(graph.weights).all():
        raise PeerRefused(f"logtwothirds' {method} refuses infinite weights", remedy="choose --set method=dijkstra")
    if graph.vertices >= 2**31:
        raise PeerRefused("logtwothirds numbers vertices in 32 bits", remedy="leave it out for graphs of this size")
    return graph.offsets, graph.targets.astype(np.int32, copy=False), float_weights(graph.weights)


class IgraphGraph:
    """An igraph graph, its weights (doubles, a list with every call), and the ends of its edges by number."""

    def __init__(self, graph: CSRGraph, threads: int, method: str) -> None:
        import igraph

        self.tails, self.heads, weights = edge_columns(graph)
        self.weights: list[float] = float_weights(weights).tolist()
        pairs = np.stack([self.tails, self.heads], axis=1)
        self.graph: Any = igraph.Graph(n=graph.vertices, edges=pairs, directed=graph.directed)
        self.method = method


def networkit_graph(graph: CSRGraph, threads: int) -> networkit.Graph:
    """Return the graph as NetworKit's, C++ with threads; weights are doubles."""
    import networkit

    networkit.setNumberOfThreads(threads)
    tails, heads, weights = edge_columns(graph)
    triples = (float_weights(weights), (tails.astype(np.uint64), heads.astype(np.uint64)))
    return networkit.GraphFromCoo(triples, n=graph.vertices, weighted=True, directed=graph.directed)


def rustworkx_graph(graph: CSRGraph) -> rustworkx.PyGraph | rustworkx.PyDiGraph:
    """Return the graph as rustworkx's: Rust, which asks a Python function for the weight of every edge as a double."""
    import rustworkx

    made = rustworkx.PyDiGraph(multigraph=False) if graph.directed else rustworkx.PyGraph(multigraph=False)
    made.add_nodes_from(range(graph.vertices))
    tails, heads, weights = edge_columns(graph)
    made.add_edges_from(list(zip(tails.tolist(), heads.tolist(), float_weights(weights).tolist(), strict=True)))
    return made


CUGRAPH_METHODS = ("float64", "float32")
"""What cuGraph may hold integers in, weights and distances: it computes with floats only."""


class CugraphGraph:
    """The graph on the GPU for cuGraph's lower Python layer pylibcugraph, and what has to live as long as it.

    Weights of float32 and float64 stay; integers become what ``method`` names, where that holds each exactly.  Memory
    comes from the driver's pool: without one, which is how cuGraph starts, a search takes 1.6 times as long (rmat:20).
    Whoever calls a function of it waits until the whole device has come to rest, so that no work is left out of the
    timed region whatever stream it runs on.

    Attributes:
        whole: the graph's weights are integers.
        handle, graph: cuGraph's own.
    """

    def __init__(self, graph: CSRGraph, threads: int, method: str, *, renumber: bool = True) -> None:
        """Copy the graph, vertices numbered by degree if ``renumber``; raise PeerRefused if it cannot hold it
        exactly.
        """
        import cupy
        import pylibcugraph
        import rmm

        if graph.vertices >= 2**31:
            remedy = "leave it out for graphs of this size"
            raise PeerRefused("fewer than 2^31 vertices fit in its 32-bit ids", remedy=remedy)
        self.vertices = graph.vertices
        self.whole = graph.weights.dtype.kind in "iu"
        weights = float_weights(graph.weights, np.dtype(method)) if self.whole else graph.weights
        # One dtype for offsets and ids: mixed ones are not taken by every version.
        index = np.int32 if graph.arcs < 2**31 else np.int64
        rmm.mr.set_current_device_resource(drivers_pool())
        self.handle = pylibcugraph.ResourceHandle()
        properties = pylibcugraph.GraphProperties(is_symmetric=not graph.directed, is_multigraph=False)
        self.arrays = (
            cupy.asarray(graph.offsets.astype(index)),
            cupy.asarray(graph.targets.astype(index)),
            cupy.asarray(weights),
        )
        # cuGraph reads them on a stream of its own, which waits for CuPy's default one, but not for ours.
        cupy.cuda.runtime.deviceSynchronize()
        self.graph = pylibcugraph.SGGraph(
            self.handle,
            properties,
            *self.arrays,
            store_transposed=False,
            renumber=renumber,
            do_expensive_check=False,
            input_array_format="CSR",
        )


@cache
def drivers_pool() -> rmm.mr.CudaAsyncMemoryResource:
    """Return the pool that cuGraph's arrays come from, the same for all graphs of a process."""
    import rmm

    return rmm.mr.CudaAsyncMemoryResource()


def call_cugraph(prepared: Any, function: str, *args: object) -> Sequence[Any]:
    """Return the arrays that a function of pylibcugraph gives of the ``graph`` that is prepared, the device at rest.

    It makes arrays of its arguments by CuPy, whose current stream, one of ours, its own would not wait for.
    """
    import cupy
    import pylibcugraph

    with cupy.cuda.Stream.null:
        found: Sequence[Any] = getattr(pylibcugraph, function)(prepared.handle, prepared.graph, *args)
    cupy.cuda.runtime.deviceSynchronize()
    return found


def cugraph_to_host(prepared: CugraphGraph, arrays: Sequence[Any]) -> tuple[NDArray[Any], ...]:
    """Return the first two arrays that a function of cuGraph returned, CuPy's, as NumPy's."""
    import cupy

    return tuple(cupy.asnumpy(cupy.asarray(array)) for array in arrays[:2])


# ------------------------------------------------------------------ the graph as libraries take it

EXACT = 2.0**53
"""Up to here float64 holds every integer."""

FLOAT64 = np.dtype(np.float64)


def edge_columns(graph: CSRGraph) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Return (k,) int64 tails and heads, and weights: edges of an undirected graph once (tail < head), else all
    arcs.
    """
    tails = np.repeat(np.arange(graph.vertices, dtype=np.int64), graph.degrees)
    heads = graph.targets.astype(np.int64)
    if graph.directed:
        return tails, heads, graph.weights
    once = tails < heads
    return tails[once], heads[once], graph.weights[once]


def float_weights(weights: NDArray[Any], dtype: np.dtype[Any] = FLOAT64) -> NDArray[Any]:
    """Return weights as floats of ``dtype``, exactly; raise PeerRefused if it cannot hold one of them."""
    exact = holds_exactly(weights, dtype)
    if not exact.all():
        heavy = weights[np.argmin(exact)].item()
        remedy = "choose other weights (--reweight), or leave it out"
        raise PeerRefused(f"it computes in {dtype}, which does not hold the weight {heavy} exactly", remedy=remedy)
    return weights.astype(dtype)


def holds_exactly(values: NDArray[Any], dtype: np.dtype[Any] = FLOAT64) -> NDArray[np.bool_]:
    """Return (k,) bool: whether a float of ``dtype`` holds each integer exactly."""
    digits = np.finfo(dtype).nmant + 1
    if values.dtype.kind == "f" or 8 * values.dtype.itemsize <= digits:
        return np.ones(len(values), bool)
    if not len(values) or -(2**digits) <= int(values.min()) <= int(values.max()) <= 2**digits:
        return np.ones(len(values), bool)
    magnitude = values.astype(np.uint64)
    if values.dtype.kind == "i":
        magnitude = np.where(values < 0, ~magnitude + np.uint64(1), magnitude)
    lowest_bit = np.maximum(magnitude & (~magnitude + np.uint64(1)), np.uint64(1))
    exact: NDArray[np.bool_] = magnitude // lowest_bit <= np.uint64(2**digits)
    return exact


def refuse_infinite(graph: CSRGraph, who: str) -> None:
    """Raise PeerRefused if an edge is infinite, which ``who`` takes for no edge at all."""
    if graph.weights.dtype.kind == "f" and np.isinf(graph.weights).any():
        remedy = "choose other weights (--reweight), or leave it out"
        raise PeerRefused(f"{who} takes an edge of infinite weight for none", remedy=remedy)
