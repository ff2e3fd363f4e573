"""The arrays of a graph in the few types that compiled code is made for, and the types of distances.

Non-negative integers of any dtype are read as unsigned ones of the same width, without a copy, and every
array is handed over read-only, so that a graph mapped from a file and one built in memory run the same
compiled code: offsets int64 × targets int32 or int64 × weights uint32, uint64, float32 or float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView

if TYPE_CHECKING:
    from gpugraph.ranks.part import GraphPart


class Arcs(NamedTuple):
    """The arcs of a graph without negative weights, an argument of compiled code.

    Attributes:
        offsets: (n+1,) int64, read-only.
        targets: (arcs,) int32 or int64, read-only.
        weights: (arcs,) uint32, uint64, float32 or float64, read-only.
    """

    offsets: NDArray[np.int64]
    targets: NDArray[Any]
    weights: NDArray[Any]

    @classmethod
    def of(cls, graph: CSRGraph | GraphView | GraphPart) -> Arcs:
        """Return the arcs of a graph, of a view without preparations, or of a rank's rows."""
        weights = graph.weights
        if weights.dtype.kind == "i":
            weights = weights.view(f"u{weights.dtype.itemsize}")
        return cls(_frozen(graph.offsets.astype(np.int64, copy=False)), _frozen(graph.targets), _frozen(weights))

    @property
    def vertices(self) -> int:
        """Number of vertices, n."""
        return len(self.offsets) - 1

    def unreached(self) -> NDArray[Any]:
        """Return (n,) distances in the graph's own type, none of them reached."""
        dtype = distance_dtype(self.weights.dtype)
        return np.full(self.vertices, unreached(dtype), dtype)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view of ``array``."""
    view = array.view()
    view.flags.writeable = False
    return view


def distance_dtype(weight_dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of distances on the host: uint64 for integer weights, else the weights' own float."""
    return np.dtype(np.uint64) if weight_dtype.kind in "iu" else weight_dtype


def unreached(dtype: np.dtype[Any]) -> Any:
    """Return the value that marks a vertex as not reached: 2^64−1 for integers, infinity for floats."""
    return dtype.type(np.iinfo(dtype).max if dtype.kind == "u" else np.inf)
