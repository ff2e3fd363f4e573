"""The types of distances on the host, and what stands for a vertex that is not reached."""

from __future__ import annotations

from typing import Any

import numpy as np


def distance_dtype(weight_dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of distances on the host: uint64 for integer weights, else the weights' own float."""
    return np.dtype(np.uint64) if weight_dtype.kind in "iu" else weight_dtype


def unreached(dtype: np.dtype[Any]) -> Any:
    """Return the value that marks a vertex as not reached: 2^64−1 for integers, infinity for floats."""
    return dtype.type(np.iinfo(dtype).max if dtype.kind == "u" else np.inf)
