"""From a list of arcs to a CSRGraph.

Readers and generators hand an ``ArcList`` to ``build``; it drops self loops, merges parallel arcs (the
lightest stays), sorts rows, adds reverse arcs where edges were listed once, and *says* what it did.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.errors import InputError
from gpugraph.graph.csr import CSRGraph, target_dtype


@dataclass(frozen=True, eq=False)
class ArcList:
    """Arcs as a reader or a generator delivers them: any order, loops and repeats allowed.

    Attributes:
        tails, heads: (k,) integer vertex numbers in [0, vertices); the caller has checked the range.
        weights: (k,) of a dtype in ``WEIGHT_DTYPES`` without NaN, or None for unit weights (uint32 ones).
        vertices: n.
        directed: True — arcs as they stand; False — the source declares the graph undirected;
            None — unknown: the graph is undirected if every arc has its reverse with equal weight.
        one_sided: the undirected edges are listed once each; the builder adds the reverse arcs.
        vertex_names: (n,) the file's own ids, ascending, or None.
        notes: sentences to carry over into ``CSRGraph.notes``.
    """

    tails: NDArray[Any]
    heads: NDArray[Any]
    weights: NDArray[Any] | None
    vertices: int
    directed: bool | None = None
    one_sided: bool = False
    vertex_names: NDArray[Any] | None = None
    notes: tuple[str, ...] = ()


def build(arcs: ArcList, *, name: str = "graph", source: str = "") -> CSRGraph:
    """Return the graph of an arc list.

    Raises:
        InputError: declared undirected and an edge's two arcs have unequal weights, or one is missing.
    """
    # Plain NumPy; to be replaced by the compiled builder.
    u = np.asarray(arcs.tails, np.int64)
    v = np.asarray(arcs.heads, np.int64)
    w = np.ones(len(u), np.uint32) if arcs.weights is None else arcs.weights
    notes = list(arcs.notes)
    keep = u != v
    if not keep.all():
        notes.append(f"dropped {int((~keep).sum())} self loops")
        u, v, w = u[keep], v[keep], w[keep]
    if arcs.one_sided:
        u, v, w = np.concatenate([u, v]), np.concatenate([v, u]), np.concatenate([w, w])
    order = np.lexsort((w, v, u))
    u, v, w = u[order], v[order], w[order]
    first = np.ones(len(u), bool)
    first[1:] = (u[1:] != u[:-1]) | (v[1:] != v[:-1])
    if not first.all():
        notes.append(f"merged {int((~first).sum())} parallel arcs")
    u, v, w = u[first], v[first], w[first]
    if w.dtype.kind == "f":
        w = w + w.dtype.type(0)
    offsets = np.zeros(arcs.vertices + 1, np.int64)
    np.cumsum(np.bincount(u, minlength=arcs.vertices), out=offsets[1:])
    back = np.lexsort((u, v))
    symmetric = bool(np.array_equal(v[back], u) and np.array_equal(u[back], v) and np.array_equal(w[back], w))
    if arcs.directed is False and not symmetric:
        raise InputError("declared undirected, but the two arcs of an edge differ", where=source or name)
    return CSRGraph(
        offsets=offsets,
        targets=v.astype(target_dtype(arcs.vertices)),
        weights=w,
        directed=not symmetric if arcs.directed is None else arcs.directed,
        name=name,
        source=source or name,
        vertex_names=arcs.vertex_names,
        notes=tuple(notes),
    )


def symmetrize(graph: CSRGraph) -> CSRGraph:
    """Return the undirected graph of a directed one: the lighter arc of a pair wins; says so in a note.

    An undirected graph is returned as it is.
    """
    if not graph.directed:
        return graph
    tails = np.repeat(np.arange(graph.vertices), graph.degrees)
    arcs = ArcList(tails, graph.targets, graph.weights, graph.vertices, directed=False, one_sided=True)
    return build(arcs, name=graph.name, source=graph.source).renamed(vertex_names=graph.vertex_names)


def narrow_weights(weights: NDArray[Any]) -> NDArray[Any]:
    """Return integer weights in the narrowest of uint32, int32, int64, uint64 that holds them all."""
    low, high = (int(weights.min()), int(weights.max())) if len(weights) else (0, 0)
    for dtype in (np.uint32, np.int32, np.int64, np.uint64):
        info = np.iinfo(dtype)
        if info.min <= low and high <= info.max:
            return weights.astype(dtype)
    raise InputError("an integer weight needs more than 64 bits")
