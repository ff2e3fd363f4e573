"""Arcs collected part by part, and joined by all cores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpugraph.compiled import threads
from gpugraph.errors import GraphFormatError
from gpugraph.graph.build import narrowest
from gpugraph.graph.chunks import in_threads
from gpugraph.graph.formats.number_lines import Piece


@dataclass
class Columns:
    """Arcs collected part by part; ids as the file has them."""

    tails: list[NDArray[Any]] = field(default_factory=list)
    heads: list[NDArray[Any]] = field(default_factory=list)
    weights: list[NDArray[Any]] = field(default_factory=list)
    count: int = 0
    low: int = 2**63
    high: int = -1
    least: int = 2**64
    most: int = -(2**64)

    def add(self, tails: NDArray[Any], heads: NDArray[Any], weights: NDArray[Any] | None) -> None:
        """Append arcs; ids that fit are kept in 32 bits."""
        if not len(tails):
            return
        low, high = min(int(tails.min()), int(heads.min())), max(int(tails.max()), int(heads.max()))
        ids = np.int32 if high < 2**31 else np.int64
        whole = weights is not None and weights.dtype.kind != "f"
        bounds = (int(weights.min()), int(weights.max())) if whole and weights is not None else (0, 0)
        self.take(Piece(tails.astype(ids), heads.astype(ids), weights, low, high, *bounds))

    def take(self, piece: Piece) -> None:
        """Append what a part of the text lists."""
        if not len(piece.tails):
            return
        self.tails.append(piece.tails)
        self.heads.append(piece.heads)
        if piece.weights is not None:
            self.weights.append(piece.weights)
            if piece.weights.dtype.kind != "f":
                self.least, self.most = min(self.least, piece.least), max(self.most, piece.most)
        self.count += len(piece.tails)
        self.low, self.high = min(self.low, piece.low), max(self.high, piece.high)

    def ids(self, base: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return tails and heads, less ``base``; they are the caller's own, and not kept here."""
        dtype = np.result_type(np.int32, *{ids.dtype for ids in self.tails + self.heads})
        return _joined(self.tails, dtype, base), _joined(self.heads, dtype, base)

    def all_weights(self, path: str) -> NDArray[Any]:
        """Return the weights, which are not kept here: float64 if any is real, else the narrowest integers.

        Raises:
            GraphFormatError: negative integers and some beyond int64, or integers that the reals beside them round.
        """
        kinds = {w.dtype.kind for w in self.weights}
        if "f" in kinds:
            for w in (w for w in self.weights if w.dtype.kind != "f"):
                large = w[(w > 2**53) | (w < -(2**53))] if w.dtype.kind == "i" else w[w > 2**53]
                if any(int(float(x)) != x for x in large.tolist()):
                    raise rounded_weights(path)
            return _joined(self.weights, np.float64)
        if not self.weights:
            return np.zeros(0, np.uint32)
        if self.least < 0 and self.most >= 2**63:
            raise wide_weights(path)
        return _joined(self.weights, narrowest(self.least, self.most))


def _joined(parts: list[NDArray[Any]], dtype: DTypeLike, less: int = 0) -> NDArray[Any]:
    """Return the (k,) numbers of all parts, in order, less ``less``, in a type that holds them; the parts go."""
    starts = np.cumsum([0, *map(len, parts)])
    joint = np.empty(int(starts[-1]), dtype)
    nothing = joint[:0]

    def copy(first: int, last: int) -> None:
        for i, start, stop in zip(
            range(first, min(last, len(parts))), starts[first:], starts[first + 1 :], strict=False
        ):
            if less:
                np.subtract(parts[i], less, out=joint[start:stop], dtype=joint.dtype, casting="unsafe")
            else:
                np.copyto(joint[start:stop], parts[i], casting="unsafe")
            parts[i] = nothing

    step = -(-len(parts) // (4 * threads()))
    if parts:
        in_threads(copy, [(first, first + step) for first in range(0, len(parts), step)])
    parts.clear()
    return joint


def wide_weights(path: str, line: int | None = None) -> GraphFormatError:
    """Return the error for integer weights that no 64-bit type holds together."""
    return GraphFormatError(
        "integer weights from below 0 to beyond 2^63 need more than 64 bits",
        path=path,
        line=line,
        remedy="scale them, or write them as reals",
    )


def rounded_weights(path: str, line: int | None = None) -> GraphFormatError:
    """Return the error for whole weights that stand beside reals and that a double would round."""
    return GraphFormatError(
        "whole weights beyond 2^53 beside reals, which would round them",
        path=path,
        line=line,
        remedy="write all of them as whole numbers, or these with a point",
    )
