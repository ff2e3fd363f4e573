"""The measuring loop, and the instruments around it: found by name, few attributes, one short file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpugraph.base.clock import PhaseTimer
from gpugraph.devices.cpu import CpuDevice
from gpugraph.measure import measurement
from gpugraph.measure.assemble import record_of
from gpugraph.measure.cell import Cell
from gpugraph.measure.inputs import CellSetup, InputCache
from gpugraph.measure.instruments import INSTRUMENTS, Instrument, Run, imported
from gpugraph.measure.instruments.load import Load
from gpugraph.measure.open_device import OpenDevice
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
    assert list(record_of(run, "count").data["sampling"]) == list(stored["sampling"])
