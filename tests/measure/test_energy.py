from __future__ import annotations

import pytest

from gpugraph.base.errors import DeviceUnavailable
from gpugraph.ext.instruments import energy
from gpugraph.ext.instruments.energy import measure_energy


class Meter:
    """A GPU of constant power whose counter moves every 100 ms, on a clock of its own."""

    def __init__(self, watts: float, run_s: float, step_s: float = 0.1):
        self.watts, self.run_s, self.step_s, self.now = watts, run_s, step_s, 0.03

    def perf_counter(self) -> float:
        return self.now

    def run(self) -> None:
        self.now += self.run_s

    def read(self) -> float:
        return self.watts * self.step_s * int(self.now / self.step_s)


@pytest.mark.parametrize("run_s", [1e-4, 3e-3, 0.07, 0.9])
def test_joules_a_run_are_power_times_time_however_coarse_the_counter(monkeypatch, run_s):
    meter = Meter(500, run_s)
    monkeypatch.setattr(energy, "time", meter)
    found = measure_energy(meter.run, meter.read, edges=10**6)
    assert found["joules_per_run"] == pytest.approx(500 * run_s, rel=0.03 if run_s < 0.05 else 0.12)
    assert found["nanojoules_per_edge"] == pytest.approx(found["joules_per_run"] * 1e3)
    assert found["window_s"] >= 1.0
    assert found["window_s"] == pytest.approx(found["runs"] * run_s, rel=1e-6)


def test_no_edges_give_no_energy_per_edge(monkeypatch):
    meter = Meter(500, 0.01)
    monkeypatch.setattr(energy, "time", meter)
    assert measure_energy(meter.run, meter.read, edges=0)["nanojoules_per_edge"] is None


def test_a_counter_that_stands_still_or_is_missing_gives_the_reason(monkeypatch):
    meter = Meter(0, 0.01)
    monkeypatch.setattr(energy, "time", meter)
    assert measure_energy(meter.run, meter.read, edges=1) == {"absent": "the energy counter did not move within 1 s"}

    def missing() -> float:
        raise DeviceUnavailable("this GPU does not tell it")

    assert measure_energy(meter.run, missing, edges=1) == {"absent": "this GPU does not tell it"}
