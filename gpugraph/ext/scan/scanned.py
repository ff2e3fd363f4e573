"""Scanned: the result of the scan problem, and its files.

Without segments, element i of the result is the sum of elements 0 to i (or to i − 1: exclusive); sums of integers wrap
modulo 2^bits.  With segments it is the least element from the head of its segment to i, with its position; of equal
ones the first.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.ext.scan.array import ArrayInput, ordered_digest
from gpugraph.graph.convertible import Shown


@dataclass(frozen=True, eq=False, repr=False)
class Scanned(Shown):
    """The scan of an ArrayInput.

    Attributes:
        graph: the scanned array; every result has its input under this name.
        array: (n,) the scan, in the input's type; (segments,) minima where ``per_segment``.
        index: (n,) or (segments,) position of each minimum, for a segmented scan; else None.
        per_segment: with segments, there is one minimum for each segment instead of one for each element.
        depth: the longest chain of additions, which bounds the rounding error of reals.
    """

    graph: ArrayInput
    array: NDArray[Any]
    index: NDArray[Any] | None = None
    depth: int = 0
    per_segment: bool = False

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits of the scan, element by element."""
        return digest_of((self.array,) if self.index is None else (self.array, self.index))

    def _title(self) -> str:
        return f"Scan of {self.graph.name}"

    def _facts(self) -> list[tuple[str, Any]]:
        last = [("last", self.array[-1].item())] if len(self.array) else []
        return [("elements", len(self.array)), ("dtype", self.array.dtype.name), *last]

    def summary(self) -> dict[str, Any]:
        """Return the ``result`` object of a record."""
        last = self.array[-1].item() if len(self.array) else None
        return {"elements": len(self.array), "last": last, "digest": self.digest}

    def fingerprint(self) -> str:
        """Return a digest that equals another result's exactly if the results are equal."""
        return self.digest


def digest_of(arrays: tuple[NDArray[Any], ...]) -> str:
    """Return the digest of a raw result: the scan, and for segments the positions."""
    kind = ordered_digest(arrays[1].astype(np.int64, copy=False)) if len(arrays) > 1 else ""
    return ordered_digest(arrays[0], kind)
