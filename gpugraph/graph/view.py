"""GraphView: what an algorithm gets, and the one home of preparations.

A view holds the arrays after the chosen preparations, and the way back: ``arc_origin`` and
``vertex_origin`` lead from the view's arcs and vertices to those of the CSRGraph.  Ties are broken by the
original edge id whatever the preparations did, and results come back in original ids.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.errors import unknown_name
from gpugraph.graph.csr import CSRGraph

PREPARATIONS = ("sort-adjacency", "renumber", "rank-weights")


@dataclass(frozen=True, eq=False)
class GraphView:
    """The arrays an algorithm works on.

    Attributes:
        graph: the CSRGraph behind the view.
        offsets: (n+1,) int32 or int64 — the arc index type of the device code.
        targets: (arcs,) int32 or int64, in the view's vertex numbers.
        weights: (arcs,) the graph's dtype, or uint32 ranks after ``rank-weights``.
        preparations: the preparations applied, in order.
        arc_origin: (arcs,) position in the CSRGraph of each arc of the view, or None for the identity.
        vertex_origin: (n,) original vertex of each vertex of the view, or None for the identity.
        edge_ids: (arcs,) canonical edge id of each arc, or None where row order *is* canonical order and a
            reverse arc finds its id by binary search in the sorted row.
    """

    graph: CSRGraph
    offsets: NDArray[Any]
    targets: NDArray[Any]
    weights: NDArray[Any]
    preparations: tuple[str, ...] = ()
    arc_origin: NDArray[Any] | None = None
    vertex_origin: NDArray[Any] | None = None
    edge_ids: NDArray[Any] | None = None

    @property
    def vertices(self) -> int:
        """Number of vertices, n."""
        return len(self.offsets) - 1

    @property
    def arcs(self) -> int:
        """Number of arcs."""
        return len(self.targets)

    @property
    def index_bits(self) -> int:
        """Width of an arc index in device code: 32 or 64."""
        return self.offsets.dtype.itemsize * 8

    @classmethod
    def of(cls, graph: CSRGraph, preparations: tuple[str, ...] = (), index_bits: int | None = None) -> GraphView:
        """Return the view of ``graph`` after ``preparations``.

        Args:
            preparations: names from ``PREPARATIONS``.
            index_bits: 32 or 64; None takes 32 where the arcs fit in int32.

        Raises:
            InputError: an unknown preparation, or 32 bits asked for more than 2^31−1 arcs.
        """
        for name in preparations:
            if name not in PREPARATIONS:
                raise unknown_name("preparation", name, PREPARATIONS)
        bits = index_bits or (32 if graph.arcs < 2**31 else 64)
        offsets = graph.offsets.astype(np.int32) if bits == 32 else graph.offsets
        return cls(graph, offsets, graph.targets, graph.weights)
