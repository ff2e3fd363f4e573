"""In-arcs of a rank's vertices (1-D partition by destination), stored as CSR by source, light arcs first in each row.

A part of a graph has the arcs that start at its own vertices.  In an undirected graph these are, reversed, the arcs to
its vertices, and nothing is sent; in a directed graph every arc goes to the rank that owns its head.  On a device
kernels do the first (``cuda_kernels/delta_stepping_distributed.cu``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpugraph.compiled import njit
from gpugraph.devices.base import Device
from gpugraph.ranks.part import GraphPart, sent_to_owners


class InArcs(NamedTuple):
    """In-arcs by tail, on the host or a device.

    Attributes:
        offsets: (n + 1,) int64, by tails of the whole graph.
        light: (n,) uint32, how many arcs in front of each row are light: all that are shorter than the horizon.
        heads: (arcs,) int32, as the owner counts its vertices, from 0.
        weights: (arcs,), unsigned where they are integers.
    """

    offsets: Any
    light: Any
    heads: Any
    weights: Any

    def on(self, device: Device) -> InArcs:
        """Return the same on a device."""
        return InArcs(*(device.upload(array) for array in (self.offsets, self.light, self.heads, self.weights)))


def in_arcs_of(part: GraphPart, horizon: float) -> InArcs:
    """Return the in-arcs of a part's vertices, those shorter than the horizon being light; a collective."""
    weights = part.weights.view(f"u{part.weights.itemsize}") if part.weights.dtype.kind == "i" else part.weights
    own = np.repeat(np.arange(part.rows, dtype=np.int32), part.degrees)
    if part.directed:
        columns = own + np.int64(part.first), part.targets, weights
        tails, heads, weights = sent_to_owners(part.comm, part.cuts, part.targets, *columns)
        heads = (heads - part.first).astype(np.int32)
    else:
        tails, heads = part.targets, own
    offsets = np.zeros(part.vertices + 1, np.int64)
    np.cumsum(np.bincount(tails, minlength=part.vertices), out=offsets[1:])
    light = np.zeros(part.vertices, np.uint32)
    into = InArcs(offsets, light, np.empty(len(heads), np.int32), np.empty(len(heads), weights.dtype))
    _place((tails, heads, weights), float(horizon), into)
    return into


@njit
def _place(arcs: tuple[Any, ...], horizon: float, into: InArcs) -> None:
    """Put every arc into the row of its tail: light ones from its front on, others from its end."""
    (tails, heads, weights), (offsets, light, out, out_weights) = arcs, into
    left = offsets[1:].copy()
    for i in range(len(tails)):
        u = tails[i]
        if weights[i] <= horizon:  # an integer may have been rounded up to it
            at = offsets[u] + light[u]
            light[u] += np.uint32(1)
        else:
            left[u] -= 1
            at = left[u]
        out[at] = heads[i]
        out_weights[at] = weights[i]
