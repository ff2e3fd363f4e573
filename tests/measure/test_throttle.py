from __future__ import annotations

import pytest

from gpugraph.devices import nvml
from gpugraph.devices.nvml import Nvml
from gpugraph.measure.instruments import throttle
from gpugraph.measure.instruments.throttle import MAX_REPEATED, Throttle
from tests.measure.fakes import FakeNvml


@pytest.fixture
def watch(monkeypatch):
    def make(**told: object) -> Throttle:
        monkeypatch.setattr(nvml, "_nvml", FakeNvml(**told).load)
        return Throttle(Nvml("0000:1B:00.0"))

    return make


def test_a_clock_more_than_three_per_cent_below_the_highest_is_taken_again(watch):
    clock = watch(clocks=[1980, 1930, 1920, 1910, 1979])
    assert [clock.probe() for _ in range(5)] == [
        (1980, False),
        (1930, False),
        (1920, True),
        (1910, True),
        (1979, False),
    ]
    assert clock.repeated == 2


@pytest.mark.parametrize("reason", [4, 32])
def test_power_and_temperature_hold_a_sample_down_whatever_its_clock(watch, reason):
    clock = watch(reasons=[reason, 1, 0])  # 1: the GPU idles, which is no harm
    assert [again for _, again in (clock.probe() for _ in range(3))] == [True, False, False]


def test_a_gpu_that_is_always_held_down_is_measured_in_the_end(watch):
    clock = watch(reasons=[4])
    assert [clock.probe()[1] for _ in range(MAX_REPEATED + 5)] == [True] * MAX_REPEATED + [False] * 5
    assert clock.repeated == MAX_REPEATED


def test_the_pauses_grow_up_to_a_limit_and_begin_anew(watch, monkeypatch):
    slept: list[float] = []
    monkeypatch.setattr(throttle.time, "sleep", slept.append)
    clock = watch(clocks=[2000])
    for _ in range(8):
        clock.rest()
    assert slept == sorted(slept)
    assert slept[0] == 0.05
    assert slept[-1] == 0.5
    clock.probe()
    clock.rest()
    assert slept[-1] == 0.05


def test_without_a_clock_nothing_is_repeated_and_the_reason_stays(watch):
    clock = Throttle("no such counter")
    assert clock.probe() == (None, False)
    assert clock.absent == "no such counter"
    silent = watch(silent=("nvmlDeviceGetClockInfo",))
    assert silent.probe() == (None, False)
    assert "does not tell it" in silent.absent
