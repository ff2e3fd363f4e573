"""Binary search inside compiled code."""

from __future__ import annotations

from typing import Any

from gpugraph.compiled import njit


@njit
def lower_bound(values: Any, low: Any, high: Any, key: Any) -> Any:
    """Return the first position in [low, high) of an ascending stretch with a value not below ``key``, or ``high``."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low
