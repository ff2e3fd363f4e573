"""Graphs of Python's objects: arrays are shared if they already are the rows of a graph.

Arrays may be of NumPy, or of any library that speaks DLPack or ``__cuda_array_interface__``, as PyTorch and CuPy do.
"""

import os
import tempfile
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import InputError, expect
from gpugraph.devices.base import Array, Device
from gpugraph.devices.cuda_runtime import translated
from gpugraph.devices.discovery import select_device
from gpugraph.devices.kernel_file import MAX_NARROW_ARCS
from gpugraph.ext.python.arrays import on_host
from gpugraph.ext.python.from_python import arcs_of_object, refuse_options
from gpugraph.ext.python.matrices import as_scipy
from gpugraph.ext.python.terms import in_python_terms
from gpugraph.graph.build import ArcList, arc_tails, asymmetric, build
from gpugraph.graph.canonical import canonical_order, order_keys
from gpugraph.graph.check import check_structure, is_symmetric, note_rows
from gpugraph.graph.csr import WEIGHT_DTYPES, CSRGraph
from gpugraph.graph.device_rows import DeviceRows, narrow_offsets
from gpugraph.graph.read_options import AS_GIVEN, ReadOptions
from gpugraph.graph.sort_arcs import sort_arcs

_DLPACK_CUDA = 2  # kDLCUDA

_SMALL = 1 << 16
"""Arcs of a graph that is copied to the host even if it lies on a device."""


def open_object(source: object, options: ReadOptions = AS_GIVEN, device: Device | None = None) -> CSRGraph:
    """Return the graph of an object of Python, or raise InputError; arrays that are rows already are shared.

    A device that will work on it shares what lies there.
    """
    name = type(source).__name__
    if hasattr(source, "read"):
        return _of_stream(source, options)
    rows = _rows_of(source)
    if rows is not None:
        refuse_options(source, options, "directed" if isinstance(source, tuple) else "")
        there = None if device is None or device.kind == "cpu" else _lying_there(rows, device, name)
        shared = there or _shared(on_host(rows[0]), on_host(rows[1]), on_host(rows[2]), name)
        if shared is not None:
            return _as_directed(shared, options.directed)
    return build(arcs_of_object(source, options), name=name, source="python")


def opened(source: object, device: Device | None = None) -> tuple[CSRGraph, Callable[[], ArcList]]:
    """Return the graph behind ``source``, and what gives its arcs in the order of the input, or raise InputError.

    ``source`` is anything ``gpugraph.load`` takes, or an ``ArcList``.
    """
    name = type(source).__name__
    if isinstance(source, str | bytes | os.PathLike | CSRGraph):
        from gpugraph.graph.open import open_graph

        graph = open_graph(source)
        return graph, lambda: _arcs_of(graph)
    if hasattr(source, "__arrow_c_stream__"):
        source = arcs_of_object(source)  # a stream can be read once
    if isinstance(source, ArcList):
        return build(source, name=name, source="python"), lambda: source
    graph = note_rows(open_object(source, device=device))
    return graph, lambda: _arcs_of(graph) if hasattr(source, "read") else arcs_of_object(source)


def _of_stream(stream: Any, options: ReadOptions) -> CSRGraph:
    """Return the graph of what is left of a file object, binary or text; its name, if it has one, helps to tell how."""
    from gpugraph.graph.load import load_file

    named = getattr(stream, "name", None)
    name = os.path.basename(named) if isinstance(named, str) else "stream"
    try:
        content = stream.read()
    except (OSError, ValueError) as error:  # closed, not to be read, or no text in the encoding of the stream
        raise InputError(f"cannot be read: {error}", where=name, remedy="open it by open(path, 'rb')") from error
    with tempfile.TemporaryDirectory(prefix="gpugraph-") as folder:
        path = os.path.join(folder, name or "stream")
        with open(path, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        try:
            return load_file(path, options).renamed(source=name)
        except InputError as error:
            place = (error.where or name).replace(path, name)
            raise InputError(error.what.replace(path, name), where=place, remedy=error.remedy) from error


def _as_directed(graph: CSRGraph, directed: bool | None) -> CSRGraph:
    """Return a graph as its arcs are stated to be.  Raises InputError for edges whose two arcs differ."""
    if directed is False and graph.directed:
        raise asymmetric(graph)
    if directed and not graph.directed:
        graph.__dict__["directed"] = True
    return graph


@cache
@in_python_terms
def device_kind(name: str) -> str:
    """Return the kind of the device that a name opens."""
    expect(str, device=name)
    opened, _ = select_device(name)
    opened.close()
    return str(opened.kind)


def _rows_of(source: Any) -> tuple[Any, Any, Any] | None:
    """Return what may be the rows of a graph: offsets, targets and weights; None of an object that has none."""
    if isinstance(source, tuple):
        return source if len(source) == 3 and all(part is not None for part in source) else None
    matrix = as_scipy(source) if "sparse_csr" in str(getattr(source, "layout", "")) else source
    if getattr(matrix, "format", None) != "csr" or len(getattr(matrix, "shape", ())) != 2:
        return None
    arrays = matrix.indptr, matrix.indices, matrix.data
    if not all(isinstance(array, np.ndarray) and array.ndim == 1 for array in arrays):
        return None
    if matrix.shape[0] != matrix.shape[1] or len(matrix.indptr) != matrix.shape[0] + 1:
        return None
    if matrix.indptr.dtype.kind not in "iu" or not 0 <= (stored := int(matrix.indptr[-1])) <= len(matrix.indices):
        return None
    return matrix.indptr, matrix.indices[:stored], matrix.data[:stored]


def _shared(offsets: Any, targets: Any, weights: Any, name: str) -> CSRGraph | None:
    """Return a graph that shares arrays, or None where they would have to be changed.

    They are rows of targets, ascending without repeats or self loops, with weights of a type that graphs have.  Targets
    of 64 bits are copied as ones of 32.
    """
    arrays = (offsets, targets, weights)
    if not all(type(array) is np.ndarray and array.ndim == 1 and array.flags.c_contiguous for array in arrays):
        return None
    if len(offsets) == 0 or offsets.dtype.kind not in "iu":
        return None
    if targets.dtype == np.int64 and len(targets) and targets.min() >= 0 and targets.max() < len(offsets) - 1 < 2**31:
        targets = targets.astype(np.int32)
    if targets.dtype != np.int32:
        return None
    if weights.dtype.name not in WEIGHT_DTYPES or not weights.dtype.isnative or len(weights) != len(targets):
        return None
    wide = offsets.astype(np.int64, copy=False)
    if wide[0] != 0 or int(wide[-1]) != len(targets):
        return None
    graph = CSRGraph(wide, targets, weights, True, name, "python")
    try:
        check_structure(graph)
    except InputError:
        return None  # loading says what is wrong, or mends it
    return CSRGraph(wide, targets, weights, not is_symmetric(graph), name, "python")


def adopted(device: Any, array: Any) -> Array | None:
    """Return an array of CuPy, PyTorch or others on a GPU as one of CuPy's that shares its memory; else None.

    What was to be written to it, on whatever stream, has been when this returns.
    """
    if device.kind != "cuda":
        return None
    cupy, where = device.cupy, getattr(array, "__dlpack_device__", None)
    try:
        if hasattr(array, "__cuda_array_interface__"):
            taken = cupy.asarray(array)
        elif where is not None and int(where()[0]) == _DLPACK_CUDA:
            taken = cupy.from_dlpack(array)
        else:
            return None
    except (BufferError, RuntimeError, TypeError, ValueError):  # theirs to say what it is: it is copied then
        return None
    if taken.device.id != device.index or not taken.flags.c_contiguous:
        return None
    with translated(device.label, "taking an array"):
        cupy.cuda.runtime.setDevice(device.index)
        cupy.cuda.runtime.deviceSynchronize()
    return taken


def _lying_there(rows: tuple[object, object, object], device: Device, name: str) -> CSRGraph | None:
    """Return a graph that shares arrays on a device, or None where they lie elsewhere or would have to be changed.

    A small one is sooner copied: what is asked of it is then answered without asking the device.
    """
    offsets, targets, weights = (None if part is None else adopted(device, part) for part in rows)
    if offsets is None or targets is None or weights is None or targets.size < _SMALL:
        return None
    if any(array.ndim != 1 for array in (offsets, targets, weights)):
        return None
    vertices, arcs = int(offsets.size) - 1, int(targets.size)
    indexed = offsets.dtype == np.int64 or (offsets.dtype == np.int32 and arcs < MAX_NARROW_ARCS)
    weighted = np.dtype(weights.dtype).name in WEIGHT_DTYPES and int(weights.size) == arcs
    if not (indexed and weighted and targets.dtype == np.int32 and 0 < vertices < 2**31):
        return None
    if offsets.dtype == np.int64:
        offsets = narrow_offsets(device, offsets, arcs)

    def remake() -> CSRGraph | None:
        return _shared(on_host(rows[0]), on_host(rows[1]), on_host(rows[2]), name)

    there = DeviceRows(device, offsets, targets, weights, remake)
    graph = CSRGraph.lying_on(there, directed=True, name=name, source="python")
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
