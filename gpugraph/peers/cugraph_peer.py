"""cuGraph, by its lower Python layer pylibcugraph: CuPy arrays in, CuPy arrays out.

Weights of float32 and float64 stay; integers become float64.  Both functions return after the whole device has come
to rest, so that no work is left out of the timed region whatever stream it runs on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.graph.csr import CSRGraph
from gpugraph.peers.arrays import float_weights
from gpugraph.peers.errors import PeerRefused
from gpugraph.peers.peer import Adapter, Peer


class _Prepared:
    """The graph on the GPU, and what has to live as long as it."""

    def __init__(self, graph: CSRGraph, threads: int, method: str) -> None:
        import cupy
        import pylibcugraph

        if graph.vertices >= 2**31:
            raise PeerRefused("fewer than 2^31 vertices fit in its 32-bit ids")
        weights = graph.weights if graph.weights.dtype.kind == "f" else float_weights(graph.weights)
        # One dtype for offsets and ids: mixed ones are not taken by every version.
        index = np.int32 if graph.arcs < 2**31 else np.int64
        self.vertices = graph.vertices
        self.handle = pylibcugraph.ResourceHandle()
        properties = pylibcugraph.GraphProperties(is_symmetric=not graph.directed, is_multigraph=False)
        self.arrays = (
            cupy.asarray(graph.offsets.astype(index)),
            cupy.asarray(graph.targets.astype(index)),
            cupy.asarray(weights),
        )
        self.graph = pylibcugraph.SGGraph(
            self.handle,
            properties,
            *self.arrays,
            store_transposed=False,
            renumber=False,
            do_expensive_check=False,
            input_array_format="CSR",
        )


def _prepare_forest(graph: CSRGraph, threads: int, method: str) -> _Prepared:
    import pylibcugraph

    if not hasattr(pylibcugraph, "minimum_spanning_tree"):
        raise PeerRefused("this version of pylibcugraph has no minimum_spanning_tree", remedy="install a newer one")
    return _Prepared(graph, threads, method)


def _forest(prepared: _Prepared) -> Any:
    import cupy
    import pylibcugraph

    found = pylibcugraph.minimum_spanning_tree(prepared.handle, prepared.graph, False)
    cupy.cuda.runtime.deviceSynchronize()
    return found[:2]


def _paths(prepared: _Prepared, source: int) -> Any:
    import cupy
    import pylibcugraph

    # Predecessors are asked for because not every version does without them.
    found = pylibcugraph.sssp(prepared.handle, prepared.graph, source, np.inf, True, False)
    cupy.cuda.runtime.deviceSynchronize()
    return found[:2]


def _to_host(prepared: _Prepared, arrays: Any) -> tuple[NDArray[Any], ...]:
    import cupy

    return tuple(cupy.asnumpy(cupy.asarray(array)) for array in arrays)


def _distances(prepared: _Prepared, raw: tuple[NDArray[Any], NDArray[Any]]) -> NDArray[Any]:
    vertices, lengths = raw
    distance = np.full(prepared.vertices, np.inf, lengths.dtype)
    distance[vertices] = lengths
    distance[distance == np.finfo(lengths.dtype).max] = np.inf
    return distance


PEER = Peer(
    name="cugraph",
    title="cuGraph",
    module="pylibcugraph",
    distributions=("pylibcugraph-cu13", "pylibcugraph-cu12", "pylibcugraph"),
    install="pip install pylibcugraph-cu13 (or -cu12), or conda install -c rapidsai pylibcugraph",
    authors="A. Fender, B. Rees, J. Eaton",
    year=2022,
    device="cuda",
    adapters={
        "mst": Adapter(
            "minimum_spanning_tree",
            _prepare_forest,
            _forest,
            lambda prepared, raw: raw,
            fetch=_to_host,
            both_ways=True,
        ),
        "sssp": Adapter("sssp", _Prepared, _paths, _distances, fetch=_to_host),
    },
)
