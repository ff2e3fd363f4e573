"""The measuring loop, and the instruments around it: found by name, few attributes, one short file."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from gpugraph.base.clock import PhaseTimer
from gpugraph.devices.cpu import CpuDevice
from gpugraph.measure import measurement
from gpugraph.measure.assemble import record_of
from gpugraph.measure.cell import Cell
from gpugraph.measure.inputs import CellSetup, InputCache
from gpugraph.measure.instruments import INSTRUMENTS, Instrument, Run, Trial, imported
from gpugraph.measure.instruments.load import Load
from gpugraph.measure.open_device import OpenDevice
from gpugraph.measure.run_cell import run_cell
from gpugraph.measure.sampling import Sampling


@pytest.mark.parametrize("name", INSTRUMENTS)
def test_every_name_of_the_table_is_an_instrument_or_a_guard(name: str) -> None:
    kind = imported(name)
    assert callable(kind.of)
    assert issubclass(kind, Instrument) or name == "isolation"


def test_every_file_of_an_instrument_is_in_the_table() -> None:
    files = {file.stem for file in (Path(measurement.__file__).parent / "instruments").glob("*.py")}
    assert files - {"__init__"} <= INSTRUMENTS.keys()


def begun() -> measurement.Measurement:
    setup = CellSetup(
        Cell("mst", "grid:4x4", "kruskal", "cpu"), OpenDevice(CpuDevice(), None), PhaseTimer(), lambda what: None
    )
    run = measurement.Measurement(setup, Sampling.fixed(2, 1), InputCache())
    run.prepare()
    return run


def test_a_measurement_has_at_most_ten_attributes_and_its_file_250_lines() -> None:
    assert len(vars(begun())) <= 10
    assert len(Path(measurement.__file__).read_text("utf-8").splitlines()) <= 250


def test_instruments_act_before_and_after_every_run_warm_up_included(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    monkeypatch.setattr(Load, "before", lambda self, run: events.append(f"before {run.is_sample} {run.samples_s}"))

    def after(self: Load, run: Run) -> None:
        events.append(f"after {run.is_sample} {len(run.samples_s)}")

    monkeypatch.setattr(Load, "after", after)
    run = begun()
    run.sample()
    run.sample()
    assert events == [
        "before False ()",
        "after False 1",
        *["before True ()", "after True 1"] * 2,
    ]


def test_fields_of_instruments_stand_among_the_others_in_the_order_of_stored_records() -> None:
    file = Path(__file__).resolve().parents[2] / "docs" / "records" / "figures-mst-h200.jsonl"
    stored = json.loads(file.read_text("utf-8").splitlines()[0])
    run = begun()
    run.sample()
    run.sample()
    names = list(record_of(run, "count").data["sampling"])
    measured = ["wall_s", "cpu_s", "switches", "loads"]
    assert names[:-5] == list(stored["sampling"])[:-5]
    assert names[-4:] == measured == list(stored["sampling"])[-5:-1]  # a GPU's clock is known when its samples are


def test_every_sample_has_its_wall_clock_and_the_processor_time_of_all_threads() -> None:
    record = run_cell(Cell("mst", "grid:9x9", "kruskal", "cpu", repeat=7, warmup=2))
    sampling = record.shape.sampling
    of = [sampling.wall_s, sampling.cpu_s, sampling.switches, sampling.loads]
    assert [len(one or ()) for one in of] == [7] * 4
    assert all(wall >= 0.99 * kernel for wall, kernel in zip(sampling.wall_s or (), record.samples, strict=True))


def test_a_run_that_sleeps_has_less_processor_time_than_it_takes() -> None:
    watched, trial = Load(), Trial(())
    run = Run(None, trial, is_sample=True, watch=None, samples_s=(0.05,))
    watched.before(run)
    time.sleep(0.05)
    watched.after(run)
    (of,) = watched._of_samples.values()
    assert of["wall_s"][0] >= 0.05
    assert of["cpu_s"][0] < of["wall_s"][0]
