"""The common part of GPU algorithms for forests: edge ids on the device, in any order, and how many they are."""

from typing import Any, Protocol

import numpy as np

from gpugraph.devices.base import Array, Device
from gpugraph.graph.digest import set_digest
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import Algorithm, InputSizes
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.registry import add_algorithm


def is_wide(sizes: InputSizes) -> bool:
    """True where weight and id do not fit one word of 64 bits."""
    return sizes.index_bits == 64 or sizes.weight_bytes == 8


class ForestState(Protocol):
    """A driver's state whose run leaves ``forest_edges``, (1,) uint32: how many ids the forest has."""

    view: ResidentView
    device: Device
    forest_edges: Array


def fetch_forest(state: ForestState, forest: Array) -> np.ndarray[Any, Any]:
    """Copy the forest's ids to the host."""
    return state.device.download_counted(forest, state.forest_edges)


def finish_forest(state: ForestState, edges: np.ndarray[Any, Any]) -> Forest:
    """Return the forest of canonical edge ids."""
    return Forest.of(state.view.host.graph, edges)


def forest_algorithm(name: str, **fields: object) -> Algorithm:
    """Register an algorithm for GPUs that leaves a forest as described above; ``fields`` as for ``add_algorithm``."""
    shared = {"fetch": fetch_forest, "finish": finish_forest, "digest": set_digest}
    return add_algorithm("mst", name, **(shared | fields))
