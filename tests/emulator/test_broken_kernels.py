"""The emulator catches every deliberately broken kernel, and finds no fault with its corrected twin."""

from __future__ import annotations

import pytest

from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.emulator.module import KernelFault
from tests.emulator.broken_kernels import RUNS
from tests.emulator.compiler import needs_compiler
from tests.tiers import extended

pytestmark = needs_compiler

REPORTED = {
    "wrong_mask": r"bad mask: .* lane 1\d, calls __shfl_sync with mask 0x0000ffff.*\(wrong_mask.cu:8\)",
    "divergent_barrier": r"divergent barrier: .*divergent_barrier.cu:(9|11) while \d+ threads? .*divergent_barrier.cu:",
    "deadlock": r"deadlock in block \(0,0,0\): 16 threads wait in __shfl_xor_sync mask 0xffffffff \(deadlock.cu:7\), "
    r"first \(16,0,0\); 16 threads wait in __syncthreads \(deadlock.cu:6\), first \(0,0,0\); 0 have ended",
    "endless_wait": r"endless wait: .*64 threads wait in __nanosleep \(endless_wait.cu:5\)",
}
"""Faults that end the launch under every schedule, and what the report says."""

WRONG_UNDER_SOME_SEED = {
    "missing_barrier": 1,
    "lost_update": 60,
    "source_outside_mask": 1,
    "shared_off_by_one": 1,
    "uninitialised_shared": 1,
    "missing_warp_sync": 1,
    "missing_grid_barrier": 1,
    "block_order": 5,
}
"""Faults that show as wrong results or endless waits, and within how many seeds from 0 on."""

RACES = {
    "missing_barrier": ("missing_barrier.cu", {9}, "shared"),
    "missing_atomic": ("missing_atomic.cu", {7}, "global"),
    "missing_fence": ("missing_fence.cu", {13, 15}, "global"),
    "missing_warp_sync": ("missing_warp_sync.cu", {6, 8}, "shared"),
    "missing_grid_barrier": ("missing_grid_barrier.cu", {9, 11}, "global"),
}
"""Faults that the race detector names by file and lines, in order and under a seed alike."""


@pytest.mark.parametrize("name", REPORTED)
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("races", [False, True])
def test_a_kernel_that_cannot_go_on_is_reported(name: str, seed: int, races: bool) -> None:
    with pytest.raises(KernelFault, match=f"^kernel {name}_broken: {REPORTED[name]}"):
        RUNS[name](EmulatedDevice(seed=seed, races=races), "broken")


def _goes_wrong(name: str, seed: int) -> bool:
    try:
        return not RUNS[name](EmulatedDevice(seed=seed), "broken")
    except KernelFault:
        return True


@pytest.mark.parametrize("name", WRONG_UNDER_SOME_SEED)
def test_a_wrong_kernel_gives_a_wrong_result_within_its_seeds(name: str) -> None:
    assert any(_goes_wrong(name, seed) for seed in range(WRONG_UNDER_SOME_SEED[name]))


@pytest.mark.parametrize("name", RACES)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_race_is_reported_with_both_lines(name: str, seed: int) -> None:
    device = EmulatedDevice(seed=seed, races=True)
    RUNS[name](device, "broken")
    file, lines, memory = RACES[name]
    races = device.races()
    assert races
    for race in races:
        assert race.kernel == f"{name}_broken"
        assert race.memory == memory
        assert {line for _, line in race.lines} <= lines
        assert all(path.endswith(file) for path, _ in race.lines)


def test_an_access_out_of_bounds_is_reported_by_line_before_it_happens() -> None:
    report = (
        r"out of bounds: write of 4 bytes at off_by_one.cu:5, block \(1,0,0\) thread \(36,0,0\), "
        r"4 bytes past the end of 'values', an array of 400 bytes"
    )
    for races in (True, False):  # a user's own kernels are always checked
        with pytest.raises(KernelFault, match=report) as fault:
            RUNS["off_by_one"](EmulatedDevice(races=races), "broken")
        assert fault.value.excerpt == (
            "  off_by_one.cu:5 | if (broken ? i <= n : i < n) values[i] = i;",
            "                  |                              ^",
        )


@pytest.mark.parametrize("name", RUNS)
def test_the_corrected_twin_passes_every_seed(name: str) -> None:
    assert all(RUNS[name](EmulatedDevice(seed=seed), "fixed") for seed in range(20))


@pytest.mark.parametrize("name", RUNS)
def test_the_corrected_twin_has_no_race(name: str) -> None:
    for seed in range(6):
        device = EmulatedDevice(seed=seed, races=True)
        assert RUNS[name](device, "fixed")
        assert device.races() == []


@pytest.mark.parametrize("name", ["missing_grid_barrier", "missing_barrier", "lost_update"])
@extended
def test_the_corrected_twin_passes_on_several_threads_of_the_host(name: str) -> None:
    assert RUNS[name](EmulatedDevice(threads=2), "fixed")
