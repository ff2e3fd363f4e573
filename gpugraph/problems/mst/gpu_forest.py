"""What the GPU algorithms share: how they hand over their forest, and the least memory traffic of one.

A forest is edge ids on the device, in any order, and how many they are.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from gpugraph.devices.base import Array, Device
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import InputSizes
from gpugraph.problems.mst.forest import Forest


class ForestState(Protocol):
    """What ``fetch_forest`` and ``finish_forest`` need of a driver's state."""

    view: ResidentView
    device: Device
    forest_edges: Array
    """(1,) uint32: how many ids the forest has."""


def merge_launches(trees: int, jumps: int) -> int:
    """Return how many launches of pointer jumping, each of ``jumps`` jumps, bring every tree to its root."""
    return math.ceil(math.log(max(trees, 2), jumps)) + 1


def fetch_forest(state: ForestState, forest: Array) -> np.ndarray[Any, Any]:
    """Copy the forest's ids to the host."""
    return state.device.download(forest[: int(state.device.read(state.forest_edges))])


def finish_forest(state: ForestState, edges: np.ndarray[Any, Any]) -> Forest:
    """Return the forest of canonical edge ids."""
    return Forest.of(state.view.host.graph, edges)


def forest_bytes(sizes: InputSizes) -> int:
    """Return the least bytes of a minimum spanning forest: the graph once, and one edge id for every vertex but one.

    A forest of many trees has fewer edges, so there the figure is too high, by 4 or 8 bytes a tree.
    """
    return sizes.nbytes + sizes.index_bits // 8 * max(min(sizes.vertices - 1, sizes.arcs // 2), 0)
