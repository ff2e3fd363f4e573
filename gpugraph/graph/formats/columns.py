"""Arcs collected block by block."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.errors import GraphFormatError
from gpugraph.graph.build import narrowest
from gpugraph.graph.formats.number_lines import Piece


@dataclass
class Columns:
    """Arcs collected block by block; ids as the file has them."""

    tails: list[NDArray[Any]] = field(default_factory=list)
    heads: list[NDArray[Any]] = field(default_factory=list)
    weights: list[NDArray[Any]] = field(default_factory=list)
    count: int = 0
    low: int = 2**63
    high: int = -1

    def add(self, tails: NDArray[Any], heads: NDArray[Any], weights: NDArray[Any] | None) -> None:
        """Append a block; ids that fit are kept in 32 bits."""
        if not len(tails):
            return
        low, high = min(int(tails.min()), int(heads.min())), max(int(tails.max()), int(heads.max()))
        ids = np.int32 if high < 2**31 else np.int64
        self.tails.append(tails.astype(ids))
        self.heads.append(heads.astype(ids))
        if weights is not None:
            self.weights.append(weights)
        self.count += len(tails)
        self.low, self.high = min(self.low, low), max(self.high, high)

    def take(self, piece: Piece) -> None:
        """Append what a piece of a block lists."""
        self.tails.append(piece.tails)
        self.heads.append(piece.heads)
        if piece.weights is not None:
            self.weights.append(piece.weights)
        self.count += len(piece.tails)
        self.low, self.high = min(self.low, piece.low), max(self.high, piece.high)

    def ids(self, base: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return tails and heads, less ``base``."""
        tails, heads = (np.concatenate(c) if c else np.zeros(0, np.int32) for c in (self.tails, self.heads))
        self.tails, self.heads = [], []
        if base:
            tails -= tails.dtype.type(base)
            heads -= heads.dtype.type(base)
        return tails, heads

    def all_weights(self, path: str) -> NDArray[Any]:
        """Return the weights: float64 if any is real, else the narrowest integers.

        Raises:
            GraphFormatError: negative integers and some beyond int64, or integers that the reals beside them round.
        """
        kinds = {w.dtype.kind for w in self.weights}
        if "f" in kinds:
            for w in (w for w in self.weights if w.dtype.kind != "f"):
                large = w[(w > 2**53) | (w < -(2**53))] if w.dtype.kind == "i" else w[w > 2**53]
                if any(int(float(x)) != x for x in large.tolist()):
                    raise rounded_weights(path)
            return np.concatenate([w.astype(np.float64) for w in self.weights])
        if not self.weights:
            return np.zeros(0, np.uint32)
        low, high = min(int(w.min()) for w in self.weights), max(int(w.max()) for w in self.weights)
        if low < 0 and high >= 2**63:
            raise wide_weights(path)
        return np.concatenate(self.weights, dtype=narrowest(low, high), casting="unsafe")


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
