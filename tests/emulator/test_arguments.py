"""Launches that a GPU would refuse, or would take and turn to garbage, are refused in words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpugraph.base.errors import InputError
from gpugraph.devices.base import KernelArgumentError
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.emulator.module import Parameter, check_limits, pack
from tests.emulator.compiler import needs_compiler

FILE = str(Path(__file__).parent / "broken" / "wrong_width.cu")
VALUES, SCALED = np.ones(8, np.float32), np.zeros(8, np.float32)
GOOD = (VALUES, np.float32(2), np.int32(8), SCALED)


def _call(position: int, value: Any) -> str:
    args = [*GOOD[:position], value, *GOOD[position + 1 :]]
    with pytest.raises(KernelArgumentError) as caught:
        EmulatedDevice().kernel(FILE, "wrong_width")(1, 32, tuple(args))
    assert caught.value.exit_code == 2
    return str(caught.value)


@needs_compiler
def test_the_right_arguments_pass() -> None:
    scaled = np.zeros(8, np.float32)
    EmulatedDevice().kernel(FILE, "wrong_width")(1, 32, (*GOOD[:3], scaled))
    assert scaled.tolist() == [2.0] * 8


@needs_compiler
@pytest.mark.parametrize(
    ("position", "value", "message"),
    [
        (
            2,
            8,
            "wrong_width: argument 2 is 8 bytes, the kernel takes 4 (int) — pass a typed scalar such as np.int32(…)",
        ),
        (2, np.int64(8), "wrong_width: argument 2 is 8 bytes, the kernel takes 4 (int) — pass np.int32(…)"),
        (1, 2.0, "argument 1 is 8 bytes, the kernel takes 4 (float)"),
        (1, np.float64(2), "argument 1 is 8 bytes, the kernel takes 4 (float) — pass np.float32(…)"),
        (2, np.float32(8), "argument 2 is float32, the kernel takes an integer (int)"),
        (1, np.int32(8), "argument 1 is int32, the kernel takes a real number (float)"),
        (2, VALUES, "argument 2 is an array, the kernel takes 4 bytes (int)"),
        (0, np.float32(1), "argument 0 is a scalar of float32, the kernel takes const float*"),
        (0, [1.0], "argument 0 is a list, the kernel takes 8 (const float*) — pass an array of the device"),
        (0, None, "argument 0 is a NoneType, the kernel takes 8 (const float*)"),
        (0, np.ones(8), "argument 0 is an array of float64 (8 bytes each), the kernel takes const float*"),
        (0, np.ones(16, np.float32)[::2], "argument 0 is not contiguous — pass a contiguous slice"),
    ],
)
def test_an_argument_that_does_not_fit_is_refused(position: int, value: Any, message: str) -> None:
    assert message in _call(position, value)


@needs_compiler
def test_the_wrong_number_of_arguments_is_refused() -> None:
    message = "wrong_width: takes 4 arguments (const float*, float, int, float*), 3 given"
    with pytest.raises(KernelArgumentError, match=re.escape(message)):
        EmulatedDevice().kernel(FILE, "wrong_width")(1, 32, GOOD[:3])


@pytest.mark.parametrize(
    ("grid", "block", "shared", "bound", "message"),
    [
        ((0,), (32,), 0, 0, "grid extent 0 is not in 1..2147483647"),
        ((1, 65536), (32,), 0, 0, "grid extent 65536 is not in 1..65535"),
        ((1,), (0,), 0, 0, "block extent 0 is not in 1..1024"),
        ((1,), (1025,), 0, 0, "block extent 1025 is not in 1..1024"),
        ((1,), (64, 32), 0, 0, "a block of 2048 threads exceeds the limit of 1024"),
        ((1,), (1, 1, 65), 0, 0, "block extent 65 is not in 1..64"),
        ((1,), (96,), 0, 64, "a block of 96 threads exceeds its __launch_bounds__ of 64"),
        ((1,), (32,), 232449, 0, "232449 bytes of shared memory exceed the limit of 232448"),
        ((1,), (32,), -1, 0, "-1 bytes of shared memory"),
        ((), (32,), 0, 0, "a grid has one to three extents, not 0"),
    ],
)
def test_a_launch_beyond_the_limits_is_refused(
    grid: tuple[int, ...], block: tuple[int, ...], shared: int, bound: int, message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(f"k: {message}")):
        check_limits("k", grid, block, shared, bound)


def test_launches_within_the_limits_pass() -> None:
    check_limits("k", (2**31 - 1, 1, 65535), (1024,), 232448, 1024)


def test_the_bounds_of_a_launch_are_its_arrays_and_its_arguments() -> None:
    parameters = [Parameter(8, "p", 4, "float*"), Parameter(4, "i", 0, "int")]
    extents = pack("k", parameters, (VALUES, np.int32(3)), bounds=True).extents
    arrays = [(e.low, e.high - e.low) for e in extents if e.argument == 0]
    assert arrays == [(VALUES.ctypes.data, 32)]
    assert len([e for e in extents if e.argument == -1]) == 2


def test_bounds_are_unknown_when_a_structure_may_carry_pointers() -> None:
    assert pack("k", [Parameter(16, "s", 0, "View")], (np.void(b"\0" * 16),), bounds=True).extents is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("constexpr const char* simt::type_text() [with T = const int*]", "const int*"),
        ("const char *simt::type_text() [T = const int *]", "const int*"),
        ("constexpr const char* simt::type_text() [with T = long long unsigned int]", "long long unsigned int"),
    ],
)
def test_the_name_of_a_type_is_cut_from_what_the_compiler_says(text: str, name: str) -> None:
    assert Parameter.of(8, "p", 4, text).type == name
