"""What ``gpugraph.on`` takes, as a CSRGraph: arrays are shared where they already are rows of a graph.

Arrays may be of NumPy, or of any library that speaks DLPack or ``__cuda_array_interface__``, as PyTorch and CuPy do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.devices.discovery import select_device
from gpugraph.errors import InputError
from gpugraph.graph.build import ArcList, arc_tails, build
from gpugraph.graph.canonical import canonical_order, order_keys
from gpugraph.graph.check import check_structure, is_symmetric
from gpugraph.graph.csr import WEIGHT_DTYPES, CSRGraph
from gpugraph.graph.sort_arcs import sort_arcs


def opened(source: Any) -> tuple[CSRGraph, Callable[[], ArcList]]:
    """Return the graph behind ``source``, and what gives its arcs in the order of the input.

    Args:
        source: anything ``gpugraph.load`` takes, or an ``ArcList``; the arrays of a tuple may be of other libraries.

    Raises:
        InputError: it is none, or damaged.
    """
    if isinstance(source, ArcList):
        return build(source, name="arcs", source="python"), lambda: source
    if isinstance(source, tuple) and len(source) == 3:
        source = tuple(None if part is None else on_host(part) for part in source)
        shared = _shared(*source)
    else:
        shared = _shared_with_scipy(source)
    if shared is not None:
        return shared, lambda: _arcs_of(shared)
    from gpugraph.graph.from_python import arcs_of_object
    from gpugraph.graph.load import open_graph

    graph = open_graph(source)
    if graph.source != "python":
        return graph, lambda: _arcs_of(graph)
    return graph, lambda: arcs_of_object(source)


@cache
def device_kind(name: str) -> str:
    """Return the kind of the device that a name opens."""
    opened, _ = select_device(name)
    opened.close()
    return str(opened.kind)


def on_host(array: Any) -> Any:
    """Return an array of another library as NumPy's: shared where it lies in the host's memory, else copied there."""
    if isinstance(array, np.ndarray | list | tuple):
        return array
    if hasattr(array, "__cuda_array_interface__"):
        if hasattr(array, "get"):
            return array.get()  # CuPy's
        import cupy

        return cupy.asarray(array).get()
    if hasattr(array, "__dlpack__"):
        try:
            return np.from_dlpack(array)
        except (BufferError, RuntimeError, TypeError) as error:
            raise InputError(f"an array of {type(array).__name__} cannot be shared: {error}") from error
    return array


def _shared_with_scipy(matrix: Any) -> CSRGraph | None:
    """Return a SciPy CSR matrix as a graph that shares its arrays, or None where it is not laid out as one."""
    if getattr(matrix, "format", None) != "csr" or len(getattr(matrix, "shape", ())) != 2:
        return None
    if matrix.shape[0] != matrix.shape[1] or len(matrix.indptr) != matrix.shape[0] + 1:
        return None
    stored = int(matrix.indptr[-1])
    return _shared(matrix.indptr, matrix.indices[:stored], matrix.data[:stored])


def _shared(offsets: Any, targets: Any, weights: Any) -> CSRGraph | None:
    """Return a graph that shares arrays, or None where they would have to be changed.

    They are rows of 32-bit targets, ascending without repeats or self loops, with weights of a type that graphs have.
    """
    arrays = (offsets, targets, weights)
    if not all(isinstance(array, np.ndarray) and array.ndim == 1 and array.flags.c_contiguous for array in arrays):
        return None
    if len(offsets) == 0 or offsets.dtype.kind not in "iu" or targets.dtype != np.int32:
        return None
    if weights.dtype.name not in WEIGHT_DTYPES or not weights.dtype.isnative or len(weights) != len(targets):
        return None
    wide = offsets.astype(np.int64, copy=False)
    if wide[0] != 0 or int(wide[-1]) != len(targets):
        return None
    graph = CSRGraph(wide, targets, weights, True, "arrays", "python")
    try:
        check_structure(graph)
    except InputError:
        return None  # loading says what is wrong, or mends it
    return CSRGraph(wide, targets, weights, not is_symmetric(graph), "arrays", "python")


def _arcs_of(graph: CSRGraph) -> ArcList:
    """Return the arcs of a graph as they lie there."""
    return ArcList(arc_tails(graph), graph.targets, graph.weights, graph.vertices, graph.directed)


def input_positions(arcs: ArcList, graph: CSRGraph) -> NDArray[np.int64]:
    """Return (arcs,) int64: of each arc of ``graph`` its position in a list of arcs.

    Args:
        arcs: the list that the graph was made of; of parallel arcs the lightest counts, of equal ones the first.
        graph: it, or the undirected graph of it, in which the arc of an edge may be the other way round.
    """
    order, ranks = by_weight(arcs)
    rows = sort_arcs(arcs.tails, arcs.heads, ranks, arcs.vertices, mirrored=not graph.directed)
    return np.asarray(order[rows.weights])


def by_weight(arcs: ArcList) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the positions of arcs by ascending weight, equal ones by position, and the rank of each arc in that order.

    Returns:
        order: (k,) int64.
        ranks: (k,) uint32, or uint64 from 2^32 arcs on; no two are equal.
    """
    weights = np.ones(len(arcs.tails), np.uint32) if arcs.weights is None else arcs.weights
    order = canonical_order(order_keys(weights + weights.dtype.type(0) if weights.dtype.kind == "f" else weights))
    ranks = np.empty(len(order), np.uint32 if len(order) < 2**32 else np.uint64)
    ranks[order] = np.arange(len(order), dtype=ranks.dtype)
    return order, ranks
