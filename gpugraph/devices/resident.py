"""ResidentView: a GraphView whose arrays lie on a device."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpugraph.devices.base import Array, Device

if TYPE_CHECKING:
    from gpugraph.graph.view import GraphView


@dataclass(frozen=True, eq=False)
class ResidentView:
    """What a GPU algorithm gets: the view, and its arrays on the device.

    Attributes:
        host: the GraphView the arrays were copied from.
        offsets: (n+1,) int32 or int64.
        targets: (arcs,) int32 or int64.
        weights: (arcs,).
        edge_ids: (arcs,) canonical edge ids in the width of ``offsets``, or None (see GraphView).
        compressed: base, short, k, kept and kept_shift of ``graph/compress.py``; None where the view is not
            compressed.  Where it is, ``targets`` is ``kept``.
    """

    host: GraphView
    offsets: Array
    targets: Array
    weights: Array
    edge_ids: Array | None
    compressed: tuple[Array, ...] | None = None

    @property
    def vertices(self) -> int:
        """Number of vertices, n."""
        return self.host.vertices

    @property
    def arcs(self) -> int:
        """Number of arcs."""
        return self.host.arcs

    @property
    def index_bits(self) -> int:
        """Width of an arc index in device code: 32 or 64."""
        return self.host.index_bits

    @property
    def weight_bytes(self) -> int:
        """Bytes of one weight."""
        return self.host.weight_bytes

    @property
    def index_dtype(self) -> np.dtype[np.signedinteger]:
        """The dtype of an arc index in device code."""
        return self.host.offsets.dtype

    @property
    def nbytes(self) -> int:
        """Bytes the view takes on the device."""
        return self.host.nbytes


def make_resident(view: GraphView, device: Device) -> tuple[ResidentView, float, float]:
    """Copy a view to a device.

    Returns:
        The resident view, the seconds of staging (the copy into pinned memory) and of the transfer.

    Raises:
        OutOfMemory: it does not fit; nothing was allocated.
    """
    device.require(view.nbytes)
    start = time.perf_counter()
    ids = [] if view.edge_ids is None else [view.edge_ids]
    targets = [view.targets] if view.compressed is None else list(view.compressed.arrays)
    arrays = [view.offsets, view.weights, *ids, *targets]
    staged = [device.stage(array) for array in arrays]
    stage_s = time.perf_counter() - start
    watch = device.stopwatch()
    watch.start()
    offsets, weights, *others = [device.upload(array) for array in staged]
    watch.stop()
    transfer_s = watch.seconds
    edge_ids = others.pop(0) if ids else None
    if view.compressed is None:
        return ResidentView(view, offsets, others[0], weights, edge_ids), stage_s, transfer_s
    return ResidentView(view, offsets, others[3], weights, edge_ids, tuple(others)), stage_s, transfer_s
