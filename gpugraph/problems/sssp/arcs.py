"""The arrays of a graph in the few types that compiled code is made for, and the types of distances.

Non-negative integers of any dtype are read as unsigned ones of the same width, without a copy, and every
array is handed over read-only, so that a graph mapped from a file and one built in memory run the same
compiled code: offsets int64 × targets int32 or int64 × weights uint32, uint64, float32 or float64.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gpugraph.problems.algorithm import Option
from gpugraph.problems.contract import TYPES_OF_SUMS

FLOAT64, FLOAT32 = TYPES_OF_SUMS
SUMS = Option("sums", str, FLOAT64, "type in which float32 weights are summed; float32 rounds every sum", TYPES_OF_SUMS)
"""The option of all algorithms for shortest paths; weights of other types are summed in one way only."""


class Rows(Protocol):
    """The arrays of a graph, of a view, or of a rank's part of a graph."""

    @property
    def offsets(self) -> NDArray[Any]: ...  # noqa: D102
    @property
    def targets(self) -> NDArray[Any]: ...  # noqa: D102
    @property
    def weights(self) -> NDArray[Any]: ...  # noqa: D102


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
    def of(cls, graph: Rows) -> "Arcs":
        """Return the arcs of a graph, of a view without preparations, or of a rank's rows."""
        weights = graph.weights
        if weights.dtype.kind == "i":
            weights = weights.view(f"u{weights.dtype.itemsize}")
        return cls(_frozen(graph.offsets.astype(np.int64, copy=False)), _frozen(graph.targets), _frozen(weights))

    @property
    def vertices(self) -> int:
        """Number of vertices, n."""
        return len(self.offsets) - 1

    def unreached(self, sums: str = FLOAT64) -> NDArray[Any]:
        """Return (n,) distances in the type of sums, none of them reached."""
        dtype = distance_dtype(self.weights.dtype, sums)
        return np.full(self.vertices, unreached(dtype), dtype)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view of ``array``."""
    view = array.view()
    view.flags.writeable = False
    return view


def distance_dtype(weight_dtype: np.dtype[Any], sums: str = FLOAT64) -> np.dtype[Any]:
    """Return the dtype of distances on the host: uint64 for integer weights, else float64.

    Weights of float32 alone may be summed in float32, where ``sums`` says so.
    """
    if weight_dtype.kind in "iu":
        return np.dtype(np.uint64)
    return np.dtype(np.float32 if weight_dtype == np.float32 and sums == FLOAT32 else np.float64)


def sums_of(dtype: np.dtype[Any]) -> str:
    """Return the name of the type that distances of a dtype were summed in, as ``distance_dtype`` takes it."""
    return FLOAT32 if dtype == np.float32 else FLOAT64


def word_bits(weight_dtype: np.dtype[Any], sums: str = FLOAT64) -> int:
    """Return the bits of the words in which a search begins: a whole weight's own, or those of a sum of reals."""
    return 8 * (weight_dtype if weight_dtype.kind != "f" else distance_dtype(weight_dtype, sums)).itemsize


def unreached(dtype: np.dtype[Any]) -> Any:
    """Return the value that marks a vertex as not reached: 2^64−1 for integers, infinity for floats."""
    return dtype.type(np.iinfo(dtype).max if dtype.kind == "u" else np.inf)
