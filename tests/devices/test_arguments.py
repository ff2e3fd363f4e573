from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpugraph.devices.base import KernelArgumentError
from gpugraph.devices.kernels import check_arguments

ARRAY = np.zeros((4, 4), np.float32)
SIZES = (8, 4, 8, 1)
GOOD: tuple[Any, ...] = (ARRAY, np.int32(1), np.float64(1), np.bool_(True))


def test_arrays_and_typed_scalars_of_the_right_width_pass() -> None:
    check_arguments("k", GOOD, np.ndarray, SIZES)
    check_arguments("k", (ARRAY, np.int32(1)), np.ndarray, None)


@pytest.mark.parametrize("value", [1, 1.0, True, None, "x", [1], 1j])
def test_a_value_without_a_width_is_refused(value: Any) -> None:
    with pytest.raises(KernelArgumentError, match=r"k, argument 1: a \w+ has no width .*np\.int32"):
        check_arguments("k", (ARRAY, value, *GOOD[2:]), np.ndarray, SIZES)


@pytest.mark.parametrize(
    ("position", "value", "said"),
    [
        (1, np.int64(1), "int64 is 8 bytes, the kernel takes 4"),
        (2, np.float32(1), "float32 is 4 bytes, the kernel takes 8"),
        (1, ARRAY, "an array is 8 bytes, the kernel takes 4"),
        (0, np.int32(1), "int32 is 4 bytes, the kernel takes 8"),
    ],
)
def test_a_wrong_width_is_refused_with_both_widths(position: int, value: Any, said: str) -> None:
    args = list(GOOD)
    args[position] = value
    with pytest.raises(KernelArgumentError, match=f"k, argument {position}: {said}"):
        check_arguments("k", tuple(args), np.ndarray, SIZES)


def test_a_wrong_number_of_arguments_is_refused() -> None:
    with pytest.raises(KernelArgumentError, match="3 arguments are given, the kernel takes 4"):
        check_arguments("k", GOOD[:3], np.ndarray, SIZES)


def test_an_array_with_gaps_is_refused() -> None:
    with pytest.raises(KernelArgumentError, match="not contiguous"):
        check_arguments("k", (ARRAY[:, 0], *GOOD[1:]), np.ndarray, SIZES)
