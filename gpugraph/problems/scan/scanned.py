"""Scanned: the result of the scan problem, and what its times mean in bytes.

Without segments, element i of the result is the sum of elements 0 to i (or to i − 1: exclusive); sums of integers wrap
modulo 2^bits.  With segments it is the least element from the head of its segment to i, with its position; of equal
ones the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.problems.scan.array import ArrayInput, ordered_digest


@dataclass(frozen=True, eq=False)
class Scanned:
    """The scan of an ArrayInput.

    Attributes:
        graph: the array that was scanned, by the name that the input has in every problem's result.
        array: (n,) the scan, in the input's type.
        index: (n,) position of each minimum, for a segmented scan; else None.
        depth: additions on the way of any element into any sum, at most: what bounds the rounding error of reals.
    """

    graph: ArrayInput
    array: NDArray[Any]
    index: NDArray[Any] | None = None
    depth: int = 0

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits of the scan, element by element."""
        return digest_of((self.array,) if self.index is None else (self.array, self.index))

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


def throughput(bytes_: int, phases: Mapping[str, float]) -> dict[str, Any]:
    """Return the ``throughput`` object of a record; a gigabyte is 10^9 bytes.

    The total is that of the paper: allocation and transfer to the device, what else is allocated (``prepare``), kernel,
    and transfer back; the copy into pinned memory (``stage``) stands beside it.

    Args:
        bytes_: of the array.
        phases: seconds of every phase.
    """
    h2d, kernel, d2h = (phases.get(name, 0.0) for name in ("h2d", "kernel", "d2h"))
    total = h2d + phases.get("prepare", 0.0) + kernel + d2h
    return {
        "array_bytes": bytes_,
        "h2d_gb_s": _rate(bytes_, h2d),
        "kernel_gb_s": _rate(bytes_, kernel),
        "d2h_gb_s": _rate(bytes_, d2h),
        "total_s": total,
        "total_with_stage_s": total + phases.get("stage", 0.0),
        "transfers_share": (h2d + d2h) / total if total else None,
    }


def _rate(bytes_: int, seconds: float) -> float | None:
    return bytes_ / seconds / 1e9 if seconds else None
