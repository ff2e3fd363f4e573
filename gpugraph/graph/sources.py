"""Where a graph may come from: a file, a spec, a CSRGraph, or what Python users hold.

``open_graph("roads.gr.gz")``, ``open_graph("rmat:20")``, ``open_graph(matrix)`` and
``open_graph((offsets, targets, weights))`` all give a checked CSRGraph.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from gpugraph.clock import HostClock
from gpugraph.errors import InputError
from gpugraph.graph.build import ArcList, build
from gpugraph.graph.build import symmetrize as symmetrized
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.dtypes import WEIGHT_DTYPES


def open_graph(
    source: Any,
    *,
    input_format: str | None = None,
    weights: str = "file",
    seed: int = 1,
    symmetrize: bool = False,
    keep_ids: bool = False,
    phases: dict[str, float] | None = None,
    progress: Callable[[str], None] = lambda what: None,
) -> CSRGraph:
    """Return the graph behind ``source``, checked, after the changes asked for.

    Args:
        source: a path, a graph spec, a CSRGraph, a SciPy sparse matrix or array, a NetworkX graph, or a tuple
            (offsets, targets, weights) of arrays.
        input_format: overrides the recognition of a file's format.
        weights: other weights for it, see ``transform_weights``.
        seed: of ``uniform`` weights.
        symmetrize: make a directed graph undirected; the lighter arc of a pair wins.
        keep_ids: a file that only lists ids has the vertices 0 to the largest, whether or not all occur.
        phases: the seconds of ``load`` and ``build`` are added here.
        progress: called with a few words whenever something new begins.

    Raises:
        InputError: nothing of that kind, or damaged.
    """
    clock = HostClock()
    graph = _opened(source, input_format, keep_ids, clock, progress)
    with clock.phase("build"):
        if weights != "file":
            from gpugraph.graph.weights import transform_weights

            progress("changing the weights")
            graph = transform_weights(graph, weights, seed)
        if symmetrize and graph.directed:
            progress("making the graph undirected")
            graph = symmetrized(graph)
    if phases is not None:
        for name, seconds in clock.seconds.items():
            phases[name] = phases.get(name, 0.0) + seconds
    return graph


def _opened(
    source: Any, input_format: str | None, keep_ids: bool, clock: HostClock, progress: Callable[[str], None]
) -> CSRGraph:
    """Return the graph as its source has it."""
    if isinstance(source, CSRGraph):
        return source
    if isinstance(source, str | os.PathLike):
        return _open_text(os.fspath(source), input_format, keep_ids, clock, progress)
    with clock.phase("build"):
        return build(_arcs_of_object(source), name=type(source).__name__, source="python")


def _open_text(
    text: str, input_format: str | None, keep_ids: bool, clock: HostClock, progress: Callable[[str], None]
) -> CSRGraph:
    from gpugraph.graph.spec import is_spec

    if input_format is None and not os.path.exists(text) and is_spec(text):
        from gpugraph.graph.generate import generate

        with clock.phase("build"):
            return generate(text, progress=lambda fraction, what: progress(f"{what} {fraction:.0%}"))
    from gpugraph.graph.load import load_file

    def reading(done: int, whole: int) -> None:
        progress(f"reading {text} {done / max(whole, 1):.0%}")

    return load_file(text, input_format=input_format, keep_ids=keep_ids, phases=clock.seconds, progress=reading)


def _arcs_of_object(source: Any) -> ArcList:
    if hasattr(source, "tocoo"):
        return _arcs_of_matrix(source)
    if hasattr(source, "adjacency") and hasattr(source, "is_directed"):
        return _arcs_of_networkx(source)
    if isinstance(source, tuple) and len(source) == 3:
        return _arcs_of_arrays(*source)
    raise InputError(
        f"a {type(source).__name__} is not a graph",
        remedy="give a path, a spec, a SciPy sparse matrix, a NetworkX graph or (offsets, targets, weights)",
    )


def _plain_weights(weights: Any) -> np.ndarray[Any, Any]:
    """Return weights in a dtype that graphs hold, refusing NaN."""
    array = np.ascontiguousarray(weights)
    if array.dtype.kind in "bu" and array.dtype.itemsize < 4:
        array = array.astype(np.uint32)
    elif array.dtype.kind == "i" and array.dtype.itemsize < 4:
        array = array.astype(np.int32)
    elif array.dtype == np.float16:
        array = array.astype(np.float32)
    if array.dtype.name not in WEIGHT_DTYPES:
        raise InputError(f"weights of type {array.dtype} are not supported", remedy=f"use {', '.join(WEIGHT_DTYPES)}")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InputError(f"the weight at position {int(np.isnan(array).argmax())} is NaN")
    return array


def _arcs_of_matrix(matrix: Any) -> ArcList:
    rows, columns = matrix.shape
    if rows != columns:
        raise InputError(f"an adjacency matrix is square, this one is {rows} x {columns}")
    coo = matrix.tocoo()
    return ArcList(coo.row.astype(np.int64), coo.col.astype(np.int64), _plain_weights(coo.data), rows)


def _arcs_of_networkx(graph: Any) -> ArcList:
    nodes = list(graph.nodes)
    try:
        nodes.sort()
    except TypeError:
        nodes.sort(key=str)
    number = {node: i for i, node in enumerate(nodes)}
    edges = list(graph.edges(data="weight", default=1))
    tails = np.array([number[u] for u, _, _ in edges], np.int64)
    heads = np.array([number[v] for _, v, _ in edges], np.int64)
    weights = np.array([w for _, _, w in edges]) if edges else np.zeros(0, np.uint32)
    dense = nodes == list(range(len(nodes)))
    integral = all(isinstance(node, int) for node in nodes)
    names = (
        None
        if dense
        else np.array(nodes, np.int64 if integral else None)
        if integral
        else np.array([str(node) for node in nodes])
    )
    if weights.dtype.kind == "i":
        from gpugraph.graph.build import narrow_weights

        weights = narrow_weights(weights)
    is_directed = bool(graph.is_directed())
    return ArcList(
        tails,
        heads,
        _plain_weights(weights),
        len(nodes),
        directed=is_directed,
        one_sided=not is_directed,
        vertex_names=names,
    )


def _arcs_of_arrays(offsets: Any, targets: Any, weights: Any) -> ArcList:
    offsets, targets = np.asarray(offsets), np.asarray(targets)
    if offsets.ndim != 1 or targets.ndim != 1 or offsets.dtype.kind not in "iu" or targets.dtype.kind not in "iu":
        raise InputError("offsets and targets must be one-dimensional arrays of integers")
    if len(offsets) == 0 or offsets[0] != 0 or int(offsets[-1]) != len(targets):
        raise InputError(f"offsets must run from 0 to the number of targets, {len(targets)}")
    vertices = len(offsets) - 1
    offsets = offsets.astype(np.int64)
    falls = offsets[1:] < offsets[:-1]  # compared, not subtracted: a difference may wrap round
    if falls.any():
        raise InputError(f"offsets fall at vertex {int(falls.argmax())}")
    if len(targets) and (int(targets.min()) < 0 or int(targets.max()) >= vertices):
        raise InputError(f"a target lies outside [0, {vertices})")
    plain = None if weights is None else _plain_weights(weights)
    if plain is not None and len(plain) != len(targets):
        raise InputError(f"{len(plain)} weights for {len(targets)} targets")
    tails = np.repeat(np.arange(vertices, dtype=np.int64), np.diff(offsets))
    return ArcList(tails, targets.astype(np.int64), plain, vertices)
