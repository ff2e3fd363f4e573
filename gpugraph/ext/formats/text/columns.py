"""Columns of arcs, collected in parts; where a device will build the rows they go there meanwhile.

The host then holds those of the parts in hand and of one block, and no list of all arcs.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpugraph.base.compiled import threads
from gpugraph.base.errors import GraphFormatError, OutOfMemory
from gpugraph.devices.base import Device
from gpugraph.ext.device_graphs.device_columns import DeviceColumn
from gpugraph.ext.formats.checks import numbered_from_one
from gpugraph.ext.formats.text.number_lines import Piece
from gpugraph.graph.build import ArcList, narrowest
from gpugraph.graph.chunks import in_threads

_BLOCK = 1 << 20
"""Arcs that go to a device together: much to send, and little to hold."""


@dataclass
class Columns:
    """Arcs collected part by part; ids as the file has them.

    Attributes:
        path: of the text, for messages.
        weighted: it lists weights.
        device: where they go, block by block, as long as all have 32-bit ids and weights of one type; or None.
        first: the ends of the first arc; (0, −1) before there is one.
        other_low, other_high: the least and the greatest id of the arcs behind it.
        upper: an arc that has gone to the device leads to a larger id.
    """

    path: str
    weighted: bool
    device: Device | None = None
    tails: list[NDArray[Any]] = field(default_factory=list)
    heads: list[NDArray[Any]] = field(default_factory=list)
    weights: list[NDArray[Any]] = field(default_factory=list)
    count: int = 0
    low: int = 2**63
    high: int = -1
    least: int = 2**64
    most: int = -(2**64)
    first: tuple[int, int] = (0, -1)
    other_low: int = 2**63
    other_high: int = -1
    upper: bool = False
    _waiting: int = 0
    _sent: list[tuple[Any, ...]] = field(default_factory=list)

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
        others = (piece.low, piece.high) if self.count else self._first(piece.tails, piece.heads)
        self.other_low, self.other_high = min(self.other_low, others[0]), max(self.other_high, others[1])
        self.tails.append(piece.tails)
        self.heads.append(piece.heads)
        if piece.weights is not None:
            self.weights.append(piece.weights)
            if piece.weights.dtype.kind != "f":
                self.least, self.most = min(self.least, piece.least), max(self.most, piece.most)
        self.count += len(piece.tails)
        self.low, self.high = min(self.low, piece.low), max(self.high, piece.high)
        self._waiting += len(piece.tails)
        if self.device is not None and self._waiting >= _BLOCK:
            self._send(self.device)

    def _first(self, tails: NDArray[Any], heads: NDArray[Any]) -> tuple[int, int]:
        """Keep the first arc apart; return the least and the greatest id of the others of its part."""
        self.first = int(tails[0]), int(heads[0])
        if len(tails) == 1:
            return 2**63, -1
        return min(int(ids[1:].min()) for ids in (tails, heads)), max(int(ids[1:].max()) for ids in (tails, heads))

    def _send(self, device: Device) -> None:
        """Send what waits to the device, or have everything here from now on."""
        self.upper = self.upper or any(bool((v > u).any()) for u, v in zip(self.tails, self.heads, strict=True))
        columns = [column for column in (self.tails, self.heads, self.weights) if column]
        kinds = [{part.dtype for part in column} for column in columns]
        alike = all(len(kind) == 1 for kind in kinds) and {np.dtype(np.int32)} == kinds[0] == kinds[1]
        if not alike or (self._sent and [np.dtype(part.dtype) for part in self._sent[0]] != [*map(min, kinds)]):
            self._bring_home()
            return
        block: list[Any] = []
        try:
            for column in columns:
                column[:] = [np.concatenate(column)]  # by this thread: the others are parsing
                block.append(device.upload(column[0]))
        except OutOfMemory:
            self._bring_home()
            return
        self._sent.append(tuple(block))
        for column in columns:
            column.clear()
        self._waiting = 0

    def _bring_home(self) -> None:
        """Fetch back what is on the device, where nothing goes any more."""
        device, sent = self.device, self._sent
        self.device, self._sent = None, []
        if device is not None and sent:
            for column, parts in zip((self.tails, self.heads, self.weights), zip(*sent, strict=True), strict=False):
                column[:0] = [device.download(part) for part in parts]

    def _settle(self) -> Device | None:
        """Return the device if all arcs lie there as they will be."""
        if self.device is None or not self.count:
            return None
        if self._waiting:
            self._send(self.device)
        if self.device is not None and len(self._sent[0]) == 3:
            kind = np.dtype(self._sent[0][2].dtype)
            if kind.kind != "f" and kind != narrowest(self.least, self.most):
                self._bring_home()
        return self.device

    def ids(self, base: int = 0) -> tuple[Any, Any]:
        """Return tails and heads, less ``base``, the caller's own; on a device each is a ``DeviceColumn``."""
        device = self._settle()
        if device is not None:
            tails, heads = (DeviceColumn(device, [block[side] for block in self._sent]) for side in (0, 1))
            for ids in (tails, heads) if base else ():
                ids.subtract(base)
            return tails, heads
        dtype = np.result_type(np.int32, *{ids.dtype for ids in self.tails + self.heads})
        return _joined(self.tails, dtype, base), _joined(self.heads, dtype, base)

    def arcs(self, vertices: int, base: int = 0, **facts: Any) -> ArcList:
        """Return all arcs between the vertices ``base`` to ``vertices`` + ``base`` − 1, with what else is known."""
        tails, heads = self.ids(base)
        names = numbered_from_one(vertices) if base else None
        return ArcList(tails, heads, self.all_weights(), vertices, vertex_names=names, **facts)

    def all_weights(self) -> Any:
        """Return the weights, not kept here: float64 if any is real, else the narrowest integers; None without weights.

        On a device they are a ``DeviceColumn``.  Raises GraphFormatError if no type of 64 bits holds them all exactly.
        """
        if not self.weighted:
            return None
        device = self._settle()
        if device is not None:
            return DeviceColumn(device, [block[2] for block in self._sent])
        kinds = {w.dtype.kind for w in self.weights}
        if "f" in kinds:
            for w in (w for w in self.weights if w.dtype.kind != "f"):
                large = w[(w > 2**53) | (w < -(2**53))] if w.dtype.kind == "i" else w[w > 2**53]
                if any(int(float(x)) != x for x in large.tolist()):
                    raise rounded_weights(self.path)
            return _joined(self.weights, np.float64)
        if not self.weights:
            return np.zeros(0, np.uint32)
        if self.least < 0 and self.most >= 2**63:
            raise wide_weights(self.path)
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
    what = "integer weights from below 0 to beyond 2^63 need more than 64 bits"
    return GraphFormatError(what, path=path, line=line, remedy="scale them, or write them as reals")


def rounded_weights(path: str, line: int | None = None) -> GraphFormatError:
    """Return the error for whole weights beside reals that a double would round."""
    what = "whole weights beyond 2^53 beside reals, which would round them"
    remedy = "write all of them as whole numbers, or these with a point"
    return GraphFormatError(what, path=path, line=line, remedy=remedy)
