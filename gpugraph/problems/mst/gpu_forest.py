"""The common part of GPU algorithms for forests: weights as words, forests as edge ids, the least memory traffic.

Kernels take weights as unsigned words, so that one build serves all types of a width, and an argument says which kind
they are.  A forest is edge ids on the device, in any order, and how many they are.
"""

import math
from typing import Any, Protocol

import numpy as np

from gpugraph.devices.base import Array, Device
from gpugraph.devices.kernel_file import product
from gpugraph.graph.digest import set_digest
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import Algorithm, InputSizes
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.registry import add_algorithm

KEY_TYPES = product(INDEX_BITS=(32, 64), WEIGHT=("uint32", "uint64"))
"""The define sets of kernels to which weights come as words."""


def key_types(sizes: InputSizes) -> dict[str, str | int]:
    """Return the defines among ``KEY_TYPES`` that an input needs."""
    return {"INDEX_BITS": sizes.index_bits, "WEIGHT": key_dtype(sizes).name}


def key_dtype(sizes: InputSizes) -> np.dtype[Any]:
    """Return the dtype of a weight's order-preserving key: unsigned, as wide as the weight."""
    return np.dtype(f"u{sizes.weight_bytes}")


def is_wide(sizes: InputSizes) -> bool:
    """True where weight and id do not fit one word of 64 bits."""
    return sizes.index_bits == 64 or sizes.weight_bytes == 8


class ForestState(Protocol):
    """A driver's state whose run leaves ``forest_edges``, (1,) uint32: how many ids the forest has."""

    view: ResidentView
    device: Device
    forest_edges: Array


def merge_launches(trees: int, jumps: int) -> int:
    """Return how many launches of pointer jumping, each of ``jumps`` jumps, bring every tree to its root."""
    return math.ceil(math.log(max(trees, 2), jumps)) + 1


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
