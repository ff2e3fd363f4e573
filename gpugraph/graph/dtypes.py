"""The types in which a graph is held."""

from __future__ import annotations

from typing import Any

import numpy as np

WEIGHT_DTYPES = ("uint32", "int32", "uint64", "int64", "float32", "float64")


def target_dtype(vertices: int) -> np.dtype[Any]:
    """Return the dtype of vertex ids: int32, or int64 from 2^31 vertices on."""
    return np.dtype(np.int32 if vertices < 2**31 else np.int64)
