"""Graphs for ``gpugraph.on``: arrays are shared if they already are the rows of a graph.

Arrays may be of NumPy, or of any library that speaks DLPack or ``__cuda_array_interface__``, as PyTorch and CuPy do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import InputError
from gpugraph.devices.base import Device
from gpugraph.devices.discovery import select_device
from gpugraph.ext.python.from_python import arcs_of_object
from gpugraph.graph.build import ArcList, arc_tails, build
from gpugraph.graph.canonical import canonical_order, order_keys
from gpugraph.graph.check import check_structure, is_symmetric
from gpugraph.graph.csr import WEIGHT_DTYPES, CSRGraph
from gpugraph.graph.device_rows import DeviceRows, narrow_offsets
from gpugraph.graph.sort_arcs import sort_arcs
from gpugraph.graph.view import MAX_NARROW_ARCS

_SMALL = 1 << 16
"""Arcs of a graph that is copied to the host even if it lies on a device."""


def opened(source: object, device: Device | None = None) -> tuple[CSRGraph, Callable[[], ArcList]]:
    """Return the graph behind ``source``, and what gives its arcs in the order of the input, or raise InputError.

    ``source`` is anything ``gpugraph.load`` takes, or an ``ArcList``; arrays may be of other libraries, and those that
    lie on ``device`` are shared there.
    """
    if isinstance(source, ArcList):
        return build(source, name="arcs", source="python"), lambda: source
    if isinstance(source, tuple) and len(source) == 3:
        there = None if device is None or device.kind == "cpu" else _lying_there(source, device)
        if there is not None:
            return there, lambda: _arcs_of(there)
        source = tuple(None if part is None else on_host(part) for part in source)
        shared = _shared(*source)
    else:
        shared = _shared_with_scipy(source)
    if shared is not None:
        return shared, lambda: _arcs_of(shared)
    from gpugraph.graph.open import open_graph

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


def on_host(array: object) -> Any:
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
    arrays = matrix.indptr, matrix.indices, matrix.data
    if not all(isinstance(array, np.ndarray) and array.ndim == 1 for array in arrays):
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


def _lying_there(rows: tuple[object, object, object], device: Device) -> CSRGraph | None:
    """Return a graph that shares arrays on a device, or None where they lie elsewhere or would have to be changed.

    A small one is sooner copied: what is asked of it is then answered without asking the device.
    """
    offsets, targets, weights = (None if part is None else device.adopt(part) for part in rows)
    if offsets is None or targets is None or weights is None or targets.size < _SMALL:
        return None
    if any(array.ndim != 1 for array in (offsets, targets, weights)):
        return None
    vertices, arcs = int(offsets.size) - 1, int(targets.size)
    indexed = offsets.dtype == np.int64 or (offsets.dtype == np.int32 and arcs < MAX_NARROW_ARCS)
    weighted = np.dtype(weights.dtype).name in WEIGHT_DTYPES and int(weights.size) == arcs
    if not (indexed and weighted and targets.dtype == np.int32 and 0 < vertices < 2**31):
        return None
    if offsets.dtype == np.int64 and arcs < MAX_NARROW_ARCS:
        offsets = narrow_offsets(device, offsets, arcs)

    def remake() -> CSRGraph | None:
        return _shared(*map(on_host, rows))

    there = DeviceRows(device, offsets, targets, weights, remake)
    graph = CSRGraph.lying_on(there, directed=True, name="arrays", source="python")
    if there.digest(graph.digest_code) is None:
        return None  # loading says what is wrong, or mends it
    graph.__dict__["directed"] = not there.is_symmetric()
    return graph


def _arcs_of(graph: CSRGraph) -> ArcList:
    """Return the arcs of a graph as they lie there."""
    return ArcList(arc_tails(graph), graph.targets, graph.weights, graph.vertices, graph.directed)


def input_positions(arcs: ArcList, graph: CSRGraph) -> NDArray[np.int64]:
    """Return (arcs,) int64: of each arc of ``graph``, or of the undirected graph of it, its position in a list of arcs.

    Of parallel arcs the lightest counts, of equal ones the first.
    """
    order, ranks = by_weight(arcs)
    rows = sort_arcs(arcs.tails, arcs.heads, ranks, arcs.vertices, mirrored=not graph.directed)
    return np.asarray(order[rows.weights])


def by_weight(arcs: ArcList) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return (k,) int64 positions of arcs by weight, equal ones by position, and each arc's rank, all unequal."""
    weights = arcs.weights_or_ones
    order = canonical_order(order_keys(weights + weights.dtype.type(0) if weights.dtype.kind == "f" else weights))
    ranks = np.empty(len(order), np.uint32 if len(order) < 2**32 else np.uint64)
    ranks[order] = np.arange(len(order), dtype=ranks.dtype)
    return order, ranks
