"""Building a CSRGraph from a list of arcs.

Readers and generators hand an ``ArcList`` to ``build``; it drops self loops, merges parallel arcs (the
lightest stays), sorts rows, adds reverse arcs where edges were listed once, and *says* what it did.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import GpuGraphError, InputError
from gpugraph.base.host import require_memory
from gpugraph.base.quantities import counted
from gpugraph.graph.check import asymmetry, is_symmetric, note_rows
from gpugraph.graph.csr import ASSUMED, Answer, CSRGraph, target_dtype

if TYPE_CHECKING:
    from gpugraph.graph.sort_arcs import SortedArcs

VERTEX_BYTES = 64
"""About the memory that a vertex takes, arcs or none, while a graph is loaded and then worked on."""

ARC_BYTES = 32
"""About the memory that an arc takes on its way from a list into a graph, the list not counted."""


@dataclass(frozen=True, eq=False)
class RowTails:
    """The tails of arcs listed row by row, not written down: those of v are at [offsets[v], offsets[v + 1])."""

    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def on_host(self) -> NDArray[Any]:
        """Return the (arcs,) tails."""
        vertices = len(self.offsets) - 1
        return np.repeat(np.arange(vertices, dtype=target_dtype(vertices)), np.diff(self.offsets))


@dataclass(frozen=True, eq=False)
class ArcList:
    """Arcs as a reader or a generator delivers them: any order, loops and repeats allowed.

    Attributes:
        tails, heads: (k,) integer vertex numbers in [0, vertices); the caller has checked the range.
        weights: (k,) of a dtype in ``WEIGHT_DTYPES`` without NaN, or None for unit weights (uint32 ones).
        vertices: n.
        directed: True — arcs as listed; False — the source declares the graph undirected;
            None — unknown: the graph is undirected if every arc has its reverse with equal weight.
        one_sided: the undirected edges are listed once each; the builder adds the reverse arcs, and the graph
            is undirected.
        vertex_names: as in ``CSRGraph``.
        notes: sentences to carry over into ``CSRGraph.notes``.
        answers: as in ``CSRGraph``.
        listed: what the file has of lines, rows or edges, ``"5 lines"``; "" leaves it out of the line on the reading.
        why: what in the file says that the graph is directed or not; "" where the format does.
        weighs: which column or attribute weighs, and how many edges lack it; "" where the format leaves no choice.

    The three columns are arrays, or each a ``DeviceColumn`` on the device that will build the rows; tails may be
    ``RowTails``, with heads of the dtype that the graph will have.
    """

    tails: Any
    heads: Any
    weights: Any
    vertices: int
    directed: bool | None = None
    one_sided: bool = False
    vertex_names: NDArray[Any] | None = None
    notes: tuple[str, ...] = ()
    answers: Mapping[str, Answer] = field(default_factory=dict)
    listed: str = ""
    why: str = ""
    weighs: str = ""

    @property
    def weights_or_ones(self) -> NDArray[Any]:
        """The (k,) weights, written down where all are 1; not for columns on a device."""
        return np.ones(len(self.tails), np.uint32) if self.weights is None else self.weights

    def on_host(self) -> ArcList:
        """Return the same list with columns that are arrays on the host."""
        columns = (self.tails, self.heads, self.weights)
        tails, heads, weights = (c if c is None or isinstance(c, np.ndarray) else c.on_host() for c in columns)
        return replace(self, tails=tails, heads=heads, weights=weights)


def build(
    arcs: ArcList, *, name: str = "graph", source: str = "", report: Callable[[float], None] = lambda fraction: None
) -> CSRGraph:
    """Return the graph of an arc list, in O(n + arcs); notes say how many loops were dropped and arcs merged.

    ``source`` is a path or the full spec, by default the name; ``report`` is called with the fraction done, in 0..1.

    Raises:
        InputError: declared undirected and an edge's two arcs have unequal weights, or one is missing.
        OutOfMemory: there is less memory than it takes; raised before any is allocated.
    """
    from gpugraph.graph.sort_arcs import sort_arcs

    rows = _rows_as_listed(arcs)
    if rows is None:
        # Besides the list building takes the keys that are sorted, with their weights, and the rows.
        stored = len(arcs.tails) * (2 if arcs.one_sided else 1)
        word = 4 if arcs.weights is None else arcs.weights.dtype.itemsize
        needed = stored * (8 + word + target_dtype(arcs.vertices).itemsize + word) + 16 * arcs.vertices
        require_memory(needed, f"{source or name}: {len(arcs.tails)} arcs")
        arcs = arcs.on_host()
        weights = arcs.weights_or_ones
        rows = sort_arcs(arcs.tails, arcs.heads, weights, arcs.vertices, mirrored=arcs.one_sided, report=report)
    negative = np.zeros(0, np.int64)
    signed = arcs.weights is not None and arcs.weights.dtype.kind != "u"
    if rows.loops and signed and arcs.weights.min() < 0:
        negative = np.flatnonzero((arcs.tails == arcs.heads) & (arcs.weights < 0))
    check_kept(arcs, len(rows.targets), rows.loops, rows.merged)
    graph = CSRGraph(
        offsets=rows.offsets,
        targets=rows.targets,
        weights=rows.weights,
        directed=bool(arcs.directed),
        name=name,
        source=source or name,
        vertex_names=arcs.vertex_names,
        notes=(*arcs.notes, *notes_of(rows.loops, len(negative), rows.merged, arcs.one_sided)),
        negative_loop=int(arcs.tails[negative[0]]) if len(negative) else None,
        answers=arcs.answers,
    )
    if arcs.one_sided or arcs.directed or is_symmetric(graph):
        return note_rows(graph)
    if arcs.directed is None:
        return note_rows(replace(graph, directed=True))
    raise asymmetric(graph)


def _rows_as_listed(arcs: ArcList) -> SortedArcs | None:
    """Return the rows of a list that holds them already, sorted, without self loops and parallel arcs; else None."""
    from gpugraph.graph.sort_arcs import SortedArcs, rows_ascend

    tails = arcs.tails
    if not isinstance(tails, RowTails) or arcs.one_sided or not rows_ascend(tails.offsets, arcs.heads):
        return None
    weights = arcs.weights_or_ones
    if weights.dtype.kind == "f":
        weights = weights + weights.dtype.type(0)  # no −0.0
    return SortedArcs(tails.offsets, arcs.heads, weights, 0, 0, 0)


def check_kept(arcs: ArcList, kept: int, loops: int, merged: int) -> None:
    """Raise GpuGraphError, a defect of ours, unless every arc listed was kept, dropped as a loop or merged."""
    ways = 2 if arcs.one_sided else 1
    if kept + merged + ways * loops != ways * len(arcs.tails):
        listed = f"{len(arcs.tails)} arcs were listed{', each both ways' if arcs.one_sided else ''}"
        what = f"{listed}: {kept} arcs kept, {loops} loops dropped and {merged} arcs merged do not make these"
        raise GpuGraphError(what, remedy="report it to gpugraph: arcs were lost")


def notes_of(loops: int, negative: int, merged: int, mirrored: bool) -> list[str]:
    """Return a sentence each on ``loops`` dropped, ``negative`` among them, and arcs (``mirrored``: edges) merged."""
    notes = []
    if loops:
        of_these = f", {negative} of negative weight" if negative else ""
        notes.append(f"dropped {counted(loops, 'self loop')}{of_these}")
    if merged:
        what = counted(merged // 2, "parallel edge") if mirrored else counted(merged, "parallel arc")
        notes.append(f"merged {what}")
    return notes


def symmetrized_notes(notes: tuple[str, ...], single: int, unequal: int) -> tuple[str, ...]:
    """Return a directed graph's notes once it is undirected: ``single`` edges had one arc only."""
    said = f"{counted(single, 'edge')} had one arc only, {unequal} had unequal arcs (the lighter won)"
    return (*(note for note in notes if note != ASSUMED), f"symmetrised: {said}")


def asymmetric(graph: CSRGraph) -> InputError:
    """Return the error that names the first edge whose two arcs differ."""
    what = f"declared undirected, {asymmetry(graph)}"
    return InputError(what, where=graph.source, remedy="list both arcs of each edge, with equal weights")


def arc_tails(graph: CSRGraph) -> NDArray[Any]:
    """Return the (arcs,) tail of every arc, of the targets' dtype."""
    return np.repeat(np.arange(graph.vertices, dtype=graph.targets.dtype), graph.degrees)


def narrow_weights(weights: NDArray[Any]) -> NDArray[Any]:
    """Return integer weights in the narrowest of uint32, int32, int64, uint64 that holds them all."""
    low, high = (int(weights.min()), int(weights.max())) if len(weights) else (0, 0)
    return weights.astype(narrowest(low, high))


def narrowest(low: int, high: int) -> np.dtype[Any]:
    """Return the narrowest of uint32, int32, int64, uint64 that holds all whole numbers from ``low`` to ``high``."""
    for dtype in (np.uint32, np.int32, np.int64, np.uint64):
        info = np.iinfo(dtype)
        if info.min <= low and high <= info.max:
            return np.dtype(dtype)
    raise InputError("an integer weight needs more than 64 bits")
