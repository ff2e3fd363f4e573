"""Scans on the emulated device: the very same kernels and drivers, without a GPU."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpugraph.base.clock import HostClock
from gpugraph.base.errors import InputError
from gpugraph.base.files import resource_dir
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.emulator.toolchain import find_compiler
from gpugraph.ext.scan.array import open_array
from gpugraph.ext.scan.gpu_scan import WAKING_READS
from gpugraph.ext.scan.problem import PROBLEM
from gpugraph.problems.registry import algorithms, find_algorithm
from tests.cli.runner import succeed
from tests.emulator.compiler import needs_compiler
from tests.problems.scan.scan_cases import SUMS, TYPES, scan_on, scanned_by
from tests.tiers import extended, first

pytestmark = needs_compiler

SIZES = (0, 1, 3, 4, 129, 4095, 4096, 4097, 20_000)
by_name = pytest.mark.parametrize("name", SUMS)


@pytest.fixture(scope="module")
def device() -> EmulatedDevice:
    return EmulatedDevice()


@by_name
@pytest.mark.parametrize("types", first(1, [TYPES[::3], TYPES[1:3] + TYPES[4:]]))
def test_every_length_and_type_is_scanned_right_inclusive_and_exclusive(
    device: EmulatedDevice, name: str, types: tuple[str, ...]
) -> None:
    for i, n in enumerate(SIZES):
        for j, dtype in enumerate(types):
            if (i + j) % 3 == 0 or n == 4097:
                spec = f"array:n={n},dtype={dtype},exclusive={('no', 'yes')[(i + j) % 2]}"
                verdict = scan_on(device, name, spec, buffers=1 + i % 2)
                assert verdict.passed, (spec, verdict)


@by_name
@pytest.mark.parametrize("buffers", [1, 2])
def test_a_second_run_on_the_same_array_gives_the_same(device: EmulatedDevice, name: str, buffers: int) -> None:
    assert scan_on(device, name, "array:n=9000", runs=3, buffers=buffers).passed


@by_name
def test_ten_schedules_give_one_result(name: str) -> None:
    for seed in range(1, 11):
        assert scan_on(EmulatedDevice(seed=seed), name, f"array:n=13000,seed={seed},dtype={TYPES[seed % 2 * 3]}").passed


@pytest.mark.parametrize("name", ["reduce-then-scan", "scan-then-propagate"])
def test_the_bytes_that_a_scan_counts_as_written_are_those_that_the_device_counts(name: str) -> None:
    words = ("array:n=70000,exclusive=yes", "--algo", name, "--device", "emulated", "--counters", "--repeat", 1)
    record = json.loads(succeed("scan", *words, "--set", "threads=128", "--set", "vectors=1", "--format", "json").out)
    sums = record["work"]["kernels"]["scan_sums"]
    woken = WAKING_READS * sums["store_bytes"] // sums["launches"]
    assert record["counters"]["written_bytes"] == record["work"]["total"]["store_bytes"] - woken


@pytest.mark.parametrize(("network", "additions"), [(1, 8178), (2, 24576), (3, 2 * 24576)])
def test_a_network_does_as_many_additions_as_the_sweep_of_its_paper_computes_with(
    network: int, additions: int, tmp_path: Path
) -> None:
    built = tmp_path / "network"
    source, kernels = Path(__file__).with_name("networks.cpp"), resource_dir("cuda_kernels")
    flags = ("-std=c++17", "-w", f"-DNETWORK={network}", f"-I{kernels}", "-o", built)
    subprocess.run([*find_compiler().command, *flags, source], check=True)
    assert int(subprocess.run([built], capture_output=True, check=True).stdout) == additions
    sweep = (resource_dir("configs") / "papers" / "sun2013.toml").read_text()
    assert network == 3 or f'value = "{additions} / 4096"' in sweep


def test_every_algorithm_for_sums_is_tried_here() -> None:
    every = {one.name for one in algorithms("scan") if "emulated" in one.devices}
    assert every == {*SUMS, "segmented-min"}


@by_name
def test_it_has_no_race_beyond_those_explained_in_the_kernels(name: str) -> None:
    device = EmulatedDevice(seed=7, races=True)
    for spec in ("array:n=9001", "array:n=9001,dtype=float64,exclusive=yes"):
        assert scan_on(device, name, spec, runs=2).passed
    assert device.races() == []


@extended
@pytest.mark.parametrize(("threads", "vectors"), [(128, 1), (256, 8)])
@pytest.mark.parametrize("name", ["reduce-then-scan", "reduce-then-scan-multilevel", "look-back"])
def test_every_size_of_tile_gives_the_same(device: EmulatedDevice, name: str, threads: int, vectors: int) -> None:
    assert scan_on(device, name, "array:n=9001,dtype=uint64", threads=threads, vectors=vectors).passed


def test_look_back_takes_what_tiles_have_told_in_any_order() -> None:
    """64 blocks of 32 threads are at work at once, on 360 tiles, more than are looked at together."""
    for seed in range(4):
        assert scan_on(EmulatedDevice(seed), "look-back", "array:n=46000", threads=32, vectors=1, runs=2).passed


@pytest.mark.parametrize("limit", [100_000, 20_000])
def test_look_back_needs_room_for_one_tile(device: EmulatedDevice, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "shared_bytes_per_block", limit, raising=False)
    if limit > 2**15:
        assert scan_on(device, "look-back", "array:n=100000").passed
    else:
        with pytest.raises(InputError, match="a tile of 32,768 bytes does not fit"):
            scan_on(device, "look-back", "array:n=100000")


@pytest.mark.parametrize("name", ["reduce-then-scan-multilevel", "scan-then-propagate"])
def test_three_levels_of_sums_are_scanned(device: EmulatedDevice, name: str) -> None:
    """Tiles of 256 elements of 64 bits: 70,000 take 274, whose sums take 2, whose sums take 1."""
    assert scan_on(device, name, "array:n=70000,dtype=int64", threads=128, vectors=1, runs=2).passed


def counted_launches(monkeypatch: pytest.MonkeyPatch, name: str, n: int) -> int:
    """Return how many kernels one run launches between the marks of its stopwatch."""
    device = EmulatedDevice()
    array = PROBLEM.to_device(open_array(f"array:n={n}"), device)[0]
    algorithm = find_algorithm("scan", name, "emulated")
    state = algorithm.prepare(array, device, **{o.name: o.default for o in algorithm.options})
    launches: list[str] = []
    launch = type(state).launch
    monkeypatch.setattr(type(state), "launch", lambda self, *a, **k: launches.append(a[0]) or launch(self, *a, **k))
    clock = HostClock()
    state.scheme(state, clock)
    return len(launches)


@pytest.mark.parametrize("n", [1, 5000, 60_000])
def test_reduce_then_scan_takes_three_launches_and_look_back_one(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    assert counted_launches(monkeypatch, "reduce-then-scan", n) == 3
    assert counted_launches(monkeypatch, "look-back", n) == 1


def test_a_scan_in_place_takes_no_second_array() -> None:
    for buffers, arrays in ((1, 1), (2, 2)):
        device = EmulatedDevice()
        scan_on(device, "reduce-then-scan", "array:n=300000", buffers=buffers)
        assert arrays * 1_200_000 <= device.peak_bytes() <= arrays * 1_200_000 + 4096


def test_integers_wrap(device: EmulatedDevice) -> None:
    values = np.full(10, 2**31 - 1, np.int32)
    result = scanned_by(device, "reduce-then-scan", values)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(result.array, np.cumsum(values, dtype=np.int32))


def test_rounded_reals_are_scanned_within_the_bound_and_the_same_each_time(device: EmulatedDevice) -> None:
    values = np.random.default_rng(1).standard_normal(30_000)
    for name in set(SUMS) - {"look-back"}:
        first, second = (scanned_by(device, name, values, runs=runs) for runs in (1, 2))
        assert scan_on(device, name, values).passed
        np.testing.assert_array_equal(first.array, second.array)


def test_look_back_refuses_reals_whose_sums_depend_on_the_order(device: EmulatedDevice) -> None:
    with pytest.raises(InputError, match="changes from run to run"):
        scan_on(device, "look-back", np.array([0.1, 0.2, 0.3]))


def test_a_network_refuses_a_tile_beyond_its_shared_memory(device: EmulatedDevice) -> None:
    with pytest.raises(InputError, match="65536 bytes, a network has 49152"):
        scan_on(device, "sklansky", "array:n=10", threads=512, vectors=8)


def test_sums_are_refused_for_an_input_with_segments(device: EmulatedDevice) -> None:
    with pytest.raises(InputError, match="--algo segmented-min"):
        scan_on(device, "look-back", "array:n=10,segments=3")


# ------------------------------------------------------------------ segments


@pytest.mark.parametrize("types", first(1, [TYPES[:1], TYPES[1:]]))
@pytest.mark.parametrize("length", [1, 2, 40, 3000, 10**9])
def test_segments_of_every_length_are_scanned_right(
    device: EmulatedDevice, length: int, types: tuple[str, ...]
) -> None:
    for i, n in enumerate((0, 1, 2047, 2049, 30_000)):
        for j, dtype in enumerate(types):
            if (i + j) % 2 or n == 2049:
                spec = f"array:n={n},dtype={dtype},segments={length}"
                assert scan_on(device, "segmented-min", spec, vectors=(1, 2, 4)[j % 3]).passed, spec


def test_equal_elements_leave_the_first_as_the_minimum(device: EmulatedDevice) -> None:
    for seed in range(4):
        assert scan_on(EmulatedDevice(seed), "segmented-min", "array:n=9000,bits=1,segments=200").passed


@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
def test_flags_in_the_top_bit_give_what_flags_of_a_byte_give(device: EmulatedDevice, dtype: str) -> None:
    spec = f"array:n=9001,dtype={dtype},segments=30"
    byte, bit = (scanned_by(device, "segmented-min", spec, flags=flags) for flags in ("bytes", "top-bit"))
    assert byte.fingerprint() == bit.fingerprint()
    assert scan_on(device, "segmented-min", spec, flags="top-bit", runs=2).passed


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("array:n=100,bits=32,segments=3", "takes all 32 bits; a flag in the top bit leaves keys of 31"),
        ("array:n=100,dtype=int64,segments=3", "its sign"),
        ("array:n=100,dtype=float32,segments=3", "its sign"),
        ("array:n=100", "has none"),
    ],
)
def test_flags_in_the_top_bit_are_refused_where_keys_need_it(device: EmulatedDevice, spec: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        scan_on(device, "segmented-min", spec, flags="top-bit")


def test_segments_have_no_race_and_no_schedule_matters() -> None:
    device: Any = EmulatedDevice(seed=2, races=True)
    for flags in ("bytes", "top-bit"):
        for length in (3, 5000):
            assert scan_on(device, "segmented-min", f"array:n=20001,segments={length}", flags=flags).passed
    assert device.races() == []
    for seed in range(1, 8):
        assert scan_on(EmulatedDevice(seed), "segmented-min", f"array:n=20001,segments=900,seed={seed}").passed
