"""The intervals and the claims of simulated samples are right as often as docs/method.md says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from gpugraph.ext.comparing.claims import has_drift
from gpugraph.ext.comparing.compare import compare
from gpugraph.ext.comparing.ranking import rank
from tests.measure.simulated import (
    NOISES,
    REGIMES,
    SIZES,
    autoregressive,
    called_changed,
    coverage,
    record,
    regimes,
    tables,
    told_different,
)

METHOD = Path(__file__).parents[2] / "docs" / "method.md"
TRIALS = 1000
STEADY = autoregressive(0, 0.01)


@pytest.mark.thorough
@pytest.mark.parametrize("size", [*SIZES, None])
@pytest.mark.parametrize("noise", NOISES)
def test_intervals_hold_the_true_median_as_often_as_they_must(noise, size):
    draw, least = NOISES[noise]
    assert coverage(draw, size, TRIALS if size else TRIALS // 2) >= least


@pytest.mark.thorough
@pytest.mark.parametrize("size", [4, 8, 10, 20, 60])
@pytest.mark.parametrize("noise", NOISES)
def test_equal_algorithms_of_one_run_are_called_different_in_one_of_twenty_at_most(noise, size):
    assert told_different(NOISES[noise][0], size, TRIALS) <= 0.055  # five per cent, and what a count of 1000 may be off


@pytest.mark.thorough
@pytest.mark.parametrize("processes", [1, 5])
def test_processes_that_differ_by_five_per_cent_are_no_change_of_one_cell(processes):
    assert called_changed(STEADY, 20 // processes, TRIALS, process=0.05, processes=processes) <= 0.06


@pytest.mark.parametrize("noise", ["independent, 10 %", "AR(0.9), 3 %"])
def test_in_short_the_intervals_hold_and_equal_algorithms_stay_equal(noise):
    draw, least = NOISES[noise]
    assert coverage(draw, 20, 200) >= least
    assert told_different(draw, 4, 60) <= 0.1
    assert told_different(draw, 20, 60) <= 0.1


def test_a_change_of_one_cell_is_found_where_processes_are_steady_and_not_where_they_differ():
    assert called_changed(STEADY, 20, 40, slower=1.5) == 1
    assert called_changed(STEADY, 20, 60, process=0.05) <= 0.12
    assert called_changed(STEADY, 4, 40, slower=1.1, process=0.005, processes=5) >= 0.95


def test_times_that_drift_are_called_unstable_unless_they_drift_together() -> None:
    steady, wave = np.random.default_rng(3).normal(1, 0.01, (2, 60)), 1 + np.linspace(0, 0.4, 60)
    drifting = wave * steady[0]
    assert has_drift(drifting)
    assert not has_drift(steady[0])
    (cell,) = compare([record("a", 2 * steady[0])], [record("a", drifting)]).cells
    assert (cell.verdict, cell.claim.few[:26]) == ("unclear", "unstable: the times drift,")
    ends = min(drifting) / max(2 * steady[0]), max(drifting) / min(2 * steady[0])
    assert cell.claim.interval == pytest.approx(ends)  # of all samples
    (ranking,), _ = rank([record("a", drifting), record("b", 1.2 * wave * steady[1])])
    assert ranking.against_best[0].proven


def test_processes_that_differ_by_a_tenth_are_seldom_called_a_change_of_one_cell() -> None:
    assert called_changed(STEADY, 20, 60, process=0.1) <= 0.12


@pytest.mark.thorough
def test_the_page_shows_the_tables_that_the_simulation_makes() -> None:
    text = METHOD.read_text("utf-8")
    for table in [*tables().split("\n\n"), regimes()]:  # takes minutes
        assert table in text


def test_the_page_shows_the_table_of_every_noise_and_no_share_below_what_is_promised():
    text = METHOD.read_text("utf-8")
    for noise, (_, least) in NOISES.items():
        rows = re.findall(rf"^\| {re.escape(noise)} \|(.*)\|$", text, re.MULTILINE)
        assert len(rows) == 2, noise
        covered = [float(cell) for cell in rows[0].split("|")]
        assert len(covered) == len(SIZES) + 1
        assert min(covered) >= least
        assert max(float(cell.strip(" %")) for cell in rows[1].split("|")) <= 5
    assert all(f"\n| {name} | " in text for name in REGIMES)
