"""Each intrinsic of the shim against plain Python."""

from __future__ import annotations

import math
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpugraph.ext.emulator.device import EmulatedDevice
from tests.emulator.compiler import needs_compiler

pytestmark = needs_compiler

FILE = str(Path(__file__).parent / "intrinsics.cu")
M32, M64 = 2**32 - 1, 2**64 - 1
_RANDOM = np.random.default_rng(11)


def _words(bits: int) -> list[int]:
    special = [0, 1, 2, 2 ** (bits - 1), 2**bits - 1, 2 ** (bits - 1) - 1, 12345]
    return special + [int(x) for x in _RANDOM.integers(0, 2**bits - 1, 57, dtype=np.uint64)]


def _signed(x: int, bits: int) -> int:
    return x - 2**bits if x >> (bits - 1) else x


def _reverse(x: int, bits: int) -> int:
    return int(f"{x:0{bits}b}"[::-1], 2)


def _first(x: int) -> int:
    return (x & -x).bit_length()


def _columns(kernel: str, dtype: Any, a: list[int], b: list[int], rows: int) -> list[list[int]]:
    device = EmulatedDevice()
    out = device.full((rows, len(a)), 0, np.uint64)
    args = (device.upload(np.array(a, dtype)), device.upload(np.array(b, dtype)), np.int32(len(a)), out)
    device.kernel(FILE, kernel)(-(-len(a) // 32), 32, args)
    return [[int(x) for x in row] for row in device.download(out)]


def test_the_32_bit_intrinsics_compute_what_cuda_says() -> None:
    a, b = _words(32), _words(32)[::-1]
    got = _columns("bits_32", np.uint32, a, b, 14)
    both = [(y << 32) | x for x, y in zip(a, b, strict=True)]
    bytes_ = [v.to_bytes(8, "little") for v in both]
    want = [
        [x.bit_count() for x in a],
        [32 - x.bit_length() for x in a],
        [_first(x) for x in a],
        [_reverse(x, 32) for x in a],
        [x * y >> 32 for x, y in zip(a, b, strict=True)],
        [(_signed(x, 32) * _signed(y, 32) >> 32) & M32 for x, y in zip(a, b, strict=True)],
        [(v << (i & 31) >> 32) & M32 for i, v in enumerate(both)],
        [(v >> (i & 31)) & M32 for i, v in enumerate(both)],
        [int.from_bytes(bytes([v[0], v[5], v[1], v[7]]), "little") for v in bytes_],
        [min(x, y) for x, y in zip(a, b, strict=True)],
        [max(x, y) for x, y in zip(a, b, strict=True)],
        [min(_signed(x, 32), _signed(y, 32)) & M32 for x, y in zip(a, b, strict=True)],
        [min(x, y) for x, y in zip(a, b, strict=True)],
        [1] * len(a),
    ]
    assert got == want


def test_the_64_bit_intrinsics_compute_what_cuda_says() -> None:
    a, b = _words(64), _words(64)[::-1]
    got = _columns("bits_64", np.uint64, a, b, 8)
    want = [
        [x.bit_count() for x in a],
        [64 - x.bit_length() for x in a],
        [_first(x) for x in a],
        [_reverse(x, 64) for x in a],
        [x * y >> 64 for x, y in zip(a, b, strict=True)],
        [(_signed(x, 64) * _signed(y, 64) >> 64) & M64 for x, y in zip(a, b, strict=True)],
        [max(x, y) for x, y in zip(a, b, strict=True)],
        [x & 0xFFEFFFFFFFFFFFFF for x in a],
    ]
    assert got == want


def test_reals_become_integers_by_the_rounding_asked_for_and_saturate() -> None:
    a = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 3e9, -3e9, 1e19, -1e19, np.nan, 2**31, 0.0], np.float32)
    device = EmulatedDevice()
    out = device.full((8, a.size), 0, np.int64)
    device.kernel(FILE, "from_float")(1, 32, (device.upload(a), np.int32(a.size), out))

    def into(low: int, high: int, rounding: Any) -> list[int]:
        return [0 if math.isnan(x) else min(max(int(rounding(float(x))), low), high) for x in a]

    int32, int64 = (-(2**31), 2**31 - 1), (-(2**63), 2**63 - 1)
    want = [
        into(*int32, round),
        into(*int32, math.trunc),
        into(*int32, math.ceil),
        into(*int32, math.floor),
        into(0, M32, math.trunc),
        into(*int64, round),
        into(*int64, math.floor),
        into(*int32, math.ceil),
    ]
    assert device.download(out).tolist() == want


def test_integers_become_reals_on_the_side_asked_for() -> None:
    a = np.array([0, 1, 2**24 + 1, -(2**24) - 1, 2**53 + 1, 2**62 - 1, -(2**62) + 1, 16777219], np.int64)
    device = EmulatedDevice()
    out = device.full((4, a.size), 0, np.float32)
    device.kernel(FILE, "to_float")(1, 32, (device.upload(a), np.int32(a.size), out))
    near, zero, up, down = device.download(out)
    assert near.tolist() == a.astype(np.float32).tolist()
    for exact, z, u, d in zip(a.tolist(), zero, up, down, strict=True):
        assert int(d) <= exact <= int(u)
        assert int(u) == exact or int(np.nextafter(u, np.float32(-np.inf))) < exact
        assert int(d) == exact or int(np.nextafter(d, np.float32(np.inf))) > exact
        assert z == (d if exact > 0 else u)


@pytest.mark.parametrize(("width", "amount"), [(32, 1), (32, 5), (16, 3), (8, 9), (4, 1), (2, 1), (1, 0), (32, 31)])
def test_shuffles_read_the_lane_cuda_says(width: int, amount: int) -> None:
    a = [int(x) for x in _RANDOM.integers(0, M64, 32, dtype=np.uint64)]
    device = EmulatedDevice(seed=width)
    out = device.full((6, 32), 0, np.uint64)
    args = (device.upload(np.array(a, np.uint64)), np.int32(width), np.int32(amount), out)
    device.kernel(FILE, "shuffles")(1, 32, args)
    first = [lane - lane % width for lane in range(32)]
    index = [f + amount % width for f in first]
    up = [lane - amount if lane - amount >= f else lane for lane, f in enumerate(first)]
    down = [lane + amount if lane + amount < f + width else lane for lane, f in enumerate(first)]
    flip = [lane ^ amount if lane ^ amount < f + width else lane for lane, f in enumerate(first)]
    want = [
        [a[s] for s in index],
        [a[s] for s in up],
        [a[s] for s in down],
        [a[s] for s in flip],
        [a[s] & M32 for s in flip],
        [a[s] >> 40 for s in down],
    ]
    assert device.download(out).tolist() == want


@pytest.mark.parametrize("mask", [M32, 0x0F0F0F0F, 0x80000001, 1 << 7])
def test_votes_and_reductions_see_the_lanes_of_the_mask(mask: int) -> None:
    a = _RANDOM.integers(0, 8, 32, dtype=np.uint32)
    device = EmulatedDevice(seed=3)
    out = device.full((15, 32), 99, np.uint64)
    device.kernel(FILE, "votes")(1, 32, (device.upload(a), np.uint32(mask), out))
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    values = [int(a[lane]) for lane in lanes]

    def bits(chosen: Any) -> int:
        return sum(1 << lane for lane in lanes if chosen(int(a[lane])))

    joint = {
        0: bits(lambda v: v & 1),
        1: int(5 in values),
        2: 1,
        4: sum(values),
        5: min(values),
        6: max(values),
        7: (3 - max(values)) & M64,
        8: (3 - min(values)) & M64,
        9: reduce(lambda x, y: x & y, values) | 8,
        10: reduce(lambda x, y: x | y, values),
        11: reduce(lambda x, y: x ^ y, values),
        12: mask,
        13: 1,
        14: 1,
    }
    got = device.download(out)
    for lane in range(32):
        if lane not in lanes:
            assert (got[:, lane] == 99).all()
            continue
        assert {row: int(got[row, lane]) for row in joint} == joint
        assert int(got[3, lane]) == bits(lambda v, mine=int(a[lane]): v == mine)


@pytest.mark.parametrize("threads", [1, 31, 33, 64, 1000])
def test_block_votes_count_every_thread_of_any_block(threads: int) -> None:
    a = (np.arange(threads) % 3 != 0).astype(np.int32)
    device = EmulatedDevice(seed=1)
    out = device.full((4, threads), 0, np.int32)
    device.kernel(FILE, "block_votes")(1, threads, (device.upload(a), out))
    assert device.download(out).tolist() == [
        [int(a.sum())] * threads,
        [int(a.all())] * threads,
        [int(a.any())] * threads,
        [132] * threads,
    ]


def test_a_three_dimensional_block_numbers_its_threads_as_cuda_does() -> None:
    a, out = np.ones(60, np.int32), np.zeros((4, 60), np.int32)
    EmulatedDevice().kernel(FILE, "block_votes").launch((a, out), (2, 1, 1), (5, 4, 3))
    assert out[:3].tolist() == [[60] * 60, [1] * 60, [1] * 60]


@pytest.mark.parametrize("options", [{}, {"seed": 5}, {"threads": 2}, {"races": True, "seed": 2}], ids=str)
def test_atomics_lose_nothing_in_any_build(options: dict[str, Any]) -> None:
    grid = 128 if "threads" in options else 2
    a = (np.arange(grid * 256) * 7919 % 1001 - 3).astype(np.int32)
    device = EmulatedDevice(**options)
    i32, u32 = device.full(4, 0, np.int32), device.full(6, 0, np.uint32)
    i64, u64 = device.full(2, 0, np.int64), device.full(5, 0, np.uint64)
    f32, f64 = device.full(1, 0, np.float32), device.full(1, 0, np.float64)
    device.fill(u32[3:4], 0xFFFF)
    device.fill(u64[1:2], M64)
    device.kernel(FILE, "atomics")(grid, 256, (device.upload(a), i32, u32, i64, u64, f32, f64))
    total, low, high = int(a.sum()), int(a.min()), int(a.max())
    touched = np.bincount(a & 15, minlength=16)
    set_bits = sum(1 << i for i in range(16) if touched[i])
    odd_bits = sum(1 << i for i in range(16) if touched[i] % 2)
    assert i32.tolist() == [total, -total, min(low, 0), max(high, 0)]
    wrap = a.size % 10
    assert u32.tolist() == [a.size, wrap, (10 - wrap) % 10, 0xFFFF & ~set_bits, set_bits, odd_bits]
    assert i64.tolist() == [low << 32, high << 32]
    smallest = min(int(x) & M64 for x in a)
    assert u64.tolist() == [(total << 32) & M64, smallest, 7, 1, 3]
    assert (f32[0], f64[0]) == (a.size / 2, a.size / 4)
    if device.build == "races":
        assert device.races() == []


def test_parameters_of_every_kind_arrive() -> None:
    device = EmulatedDevice()
    point = np.zeros((), np.dtype([("x", np.int32), ("y", np.float64)], align=True))
    point["x"], point["y"] = 5, 0.5
    pairs, out = device.empty((1, 2), np.int32), device.empty(1, np.float64)
    args = (np.int8(-3), np.uint16(60000), np.float32(0.25), np.float64(1e9), point[()], pairs, out)
    device.kernel(FILE, "parameters")(1, 1, args)
    assert pairs.tolist() == [[-3, 60000]]
    assert out[0] == -3 + 60000 + 0.25 + 1e9 + 5 + 0.5 + 4 - 3


def test_dynamic_shared_memory_is_each_blocks_own() -> None:
    device = EmulatedDevice(seed=9)
    a, out = device.upload(np.arange(256, dtype=np.int32)), device.empty(256, np.int32)
    device.kernel(FILE, "dynamic_shared")(4, 64, (a, out), 64 * 4)
    assert out.reshape(4, 64).tolist() == a.reshape(4, 64)[:, ::-1].tolist()
