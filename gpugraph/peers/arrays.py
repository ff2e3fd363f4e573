"""Columns of a graph as peers take them, and the question whether float64 holds them exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.graph.csr import CSRGraph
from gpugraph.peers.errors import PeerRefused

EXACT = 2.0**53
"""Up to here float64 holds every integer."""


def edge_columns(graph: CSRGraph) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Return tails, heads and weights: every edge of an undirected graph once (tail < head), else every arc.

    Returns:
        (k,) int64, (k,) int64 and (k,) of the weights' own dtype.
    """
    tails = np.repeat(np.arange(graph.vertices, dtype=np.int64), graph.degrees)
    heads = graph.targets.astype(np.int64)
    if graph.directed:
        return tails, heads, graph.weights
    once = tails < heads
    return tails[once], heads[once], graph.weights[once]


def float_weights(weights: NDArray[Any]) -> NDArray[np.float64]:
    """Return weights as float64, exactly.

    Raises:
        PeerRefused: float64 cannot hold one of them.
    """
    exact = holds_exactly(weights)
    if not exact.all():
        heavy = weights[np.argmin(exact)].item()
        raise PeerRefused(f"it computes in float64, which does not hold the weight {heavy} exactly")
    return weights.astype(np.float64)


def holds_exactly(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return (k,) bool: whether float64 holds each number exactly."""
    if values.dtype.kind == "f" or values.dtype.itemsize < 8:
        return np.ones(len(values), bool)
    magnitude = values.astype(np.uint64)
    if values.dtype.kind == "i":
        magnitude = np.where(values < 0, ~magnitude + np.uint64(1), magnitude)
    lowest_bit = np.maximum(magnitude & (~magnitude + np.uint64(1)), np.uint64(1))
    exact: NDArray[np.bool_] = magnitude // lowest_bit <= np.uint64(2**53)
    return exact


def refuse_infinite(graph: CSRGraph, who: str) -> None:
    """Raise PeerRefused if an edge is infinite, which ``who`` takes for no edge at all."""
    if graph.weights.dtype.kind == "f" and np.isinf(graph.weights).any():
        raise PeerRefused(f"{who} takes an edge of infinite weight for none")
