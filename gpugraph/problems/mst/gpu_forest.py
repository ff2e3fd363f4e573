"""How the GPU algorithms hand over their forest: edge ids on the device, in any order, and how many they are."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from gpugraph.devices.base import Array, Device
from gpugraph.devices.resident import ResidentView
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
