"""Compressed adjacency: one byte and two bits for each arc, four bytes for each vertex.

A neighbour's number is ``base + 256 * k + short``: ``base`` is the least neighbour of the row, ``short`` one byte of
the arc, ``k`` two bits of it.  A row whose neighbours spread over more than 1023 numbers is kept beside as it is.
The form works in any order of the row, and gives every neighbour by its position alone.

    base (n) int32           the row's least neighbour, or ~r of the r-th row that is kept as it is
    short (arcs) uint8       the low eight bits of each arc's distance from the base
    k (arcs/4) uint8         the two bits above, four arcs a byte, the first arc lowest
    kept (…) int32           the neighbours of the rows kept, one row after the other
    kept_shift (…) index     what to add to an arc's position to find it in ``kept``, for each of those rows

Source: Kolganov 2015, Hybrid implementation of the MST search on CPU and GPU, section "Input Conversion", 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import njit
from gpugraph.errors import InputError
from gpugraph.graph.chunks import balanced_ranges, in_threads
from gpugraph.graph.csr import freeze

WIDEST_SPREAD = 1023
"""What one byte and two bits can tell apart, less one."""


@dataclass(frozen=True, eq=False)
class CompressedTargets:
    """The targets of a graph in compressed form; the arrays are those of the module's docstring, read-only."""

    base: NDArray[np.int32]
    short: NDArray[np.uint8]
    k: NDArray[np.uint8]
    kept: NDArray[np.int32]
    kept_shift: NDArray[Any]

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The arrays a device needs."""
        return (self.base, self.short, self.k, self.kept, self.kept_shift)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self.arrays)

    @property
    def arcs(self) -> int:
        """Number of arcs."""
        return len(self.short)

    @property
    def factor(self) -> float:
        """How many times fewer bytes than four for each arc."""
        return 4 * self.arcs / self.nbytes if self.nbytes else 1.0

    def first_rows(self, offsets: NDArray[Any], rows: int) -> CompressedTargets:
        """Return the part that holds the first ``rows`` rows: views, no copies.

        Args:
            offsets: (n+1,) the first arc of each row.
            rows: how many.
        """
        arcs = int(offsets[rows])
        whole = np.flatnonzero(self.base[:rows] < 0)
        kept = int(self.kept_shift[len(whole) - 1]) + int(offsets[whole[-1] + 1]) if len(whole) else 0
        return CompressedTargets(
            self.base[:rows],
            self.short[:arcs],
            self.k[: -(-arcs // 4)],
            self.kept[:kept],
            self.kept_shift[: len(whole)],
        )

    def expand(self, offsets: NDArray[Any]) -> NDArray[np.int32]:
        """Return the (arcs,) targets.

        Args:
            offsets: (n+1,) the first arc of each row.
        """
        position = np.arange(self.arcs, dtype=np.int64)
        base = np.repeat(self.base, np.diff(offsets))
        k = (self.k[position >> 2] >> ((position & 3) * 2).astype(np.uint8)) & 3
        targets = base + 256 * k.astype(np.int32) + self.short
        kept = base < 0
        targets[kept] = self.kept[self.kept_shift[~base[kept]] + position[kept]]
        whole: NDArray[np.int32] = targets.astype(np.int32)
        return whole


def compress(offsets: NDArray[Any], targets: NDArray[Any], index: np.dtype[Any]) -> CompressedTargets:
    """Return the compressed form of a graph's targets.

    Args:
        offsets: (n+1,) the first arc of each row.
        targets: (arcs,) int32.
        index: the dtype of an arc index in device code.

    Raises:
        InputError: vertex numbers of 64 bits.
    """
    if targets.dtype.itemsize != 4:
        raise InputError("vertex numbers of 64 bits cannot be compressed", remedy="leave out the preparation compress")
    arcs = len(targets)
    base = np.empty(len(offsets) - 1, np.int32)
    short, k = np.empty(arcs, np.uint8), np.zeros(-(-arcs // 4) * 4, np.uint8)
    rows = balanced_ranges(offsets)
    in_threads(lambda start, stop: _bases(offsets, targets, start, stop, base), rows)
    whole = np.flatnonzero(base < 0)
    base[whole] = ~np.arange(len(whole), dtype=np.int32)
    starts = np.zeros(len(whole) + 1, np.int64)
    np.cumsum(offsets[whole + 1] - offsets[whole], out=starts[1:])
    kept, shift = np.empty(int(starts[-1]), np.int32), starts[:-1] - offsets[whole]
    in_threads(lambda start, stop: _write_rows(offsets, targets, base, shift, start, stop, short, k, kept), rows)
    packed = k[0::4] | k[1::4] << np.uint8(2) | k[2::4] << np.uint8(4) | k[3::4] << np.uint8(6)
    return CompressedTargets(base, short, packed, kept, shift.astype(index))


@njit
def _bases(offsets: Any, targets: Any, start: int, stop: int, base: Any) -> None:
    """Write each row's least neighbour, or -1 where the row spreads too far; 0 for a row without neighbours."""
    for row in range(start, stop):
        first, end = offsets[row], offsets[row + 1]
        if first == end:
            base[row] = 0
            continue
        least = most = targets[first]
        for arc in range(first + 1, end):
            least = min(least, targets[arc])
            most = max(most, targets[arc])
        base[row] = least if most - least <= WIDEST_SPREAD else -1


@njit
def _write_rows(
    offsets: Any, targets: Any, base: Any, shift: Any, start: int, stop: int, short: Any, k: Any, kept: Any
) -> None:
    """Write the arcs of the rows [start, stop): a byte and two bits each, or, of rows that are kept, the target."""
    for row in range(start, stop):
        least = base[row]
        for arc in range(offsets[row], offsets[row + 1]):
            if least < 0:
                kept[shift[~least] + arc] = targets[arc]
                short[arc] = 0
            else:
                distance = targets[arc] - least
                short[arc] = distance & 255
                k[arc] = distance >> 8
