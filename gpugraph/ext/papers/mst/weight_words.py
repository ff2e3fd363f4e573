"""Weights as kernels of Borůvka's and Prim's algorithms take them: words without a sign.

So one build serves all types of a width, and an argument says which kind they are.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpugraph.devices.kernel_file import product
from gpugraph.problems.algorithm import InputSizes

KEY_TYPES = product(INDEX_BITS=(32, 64), WEIGHT=("uint32", "uint64"))
"""The define sets of kernels to which weights come as words."""


def key_types(sizes: InputSizes) -> dict[str, str | int]:
    """Return the defines among ``KEY_TYPES`` that an input needs."""
    return {"INDEX_BITS": sizes.index_bits, "WEIGHT": key_dtype(sizes).name}


def key_dtype(sizes: InputSizes) -> np.dtype[Any]:
    """Return the dtype of a weight's order-preserving key: unsigned, as wide as the weight."""
    return np.dtype(f"u{sizes.weight_bytes}")


def merge_launches(trees: int, jumps: int) -> int:
    """Return how many launches of pointer jumping, each of ``jumps`` jumps, bring every tree to its root."""
    return math.ceil(math.log(max(trees, 2), jumps)) + 1
