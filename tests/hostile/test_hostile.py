"""A small part of the hostile test, and the means by which it notices what goes wrong.

What takes long by nature is tried inside the process elsewhere: damaged caches in tests/test_code_cache.py, plugins in
tests/problems/test_hostile_plugins.py.
"""

from __future__ import annotations

import os
import signal
import time
import warnings
from pathlib import Path

import pytest

from tests.hostile.__main__ import table
from tests.hostile.parts import PARTS
from tests.hostile.trials import Part, Tally, Trial, run_here, run_in_workers, work_folder
from tests.tiers import also, extended

SMALL = {
    "graphs": range(600),
    "programs": range(200),
    "results": range(200),
    "records": range(12),
    "peers": range(2),
    "sweeps": range(40),
    "lengths": range(120),
    "handles": range(40),
    "sentinels": range(12),
    "modules": range(3),
    "signals": range(6, 7),
    "disks": range(10, 11),
    "limits": range(2),
    "bombs": range(1),
    "streams": range(51, 52),
    "locales": range(39, 40),
    "exits": range(1),
    "threads": range(6),
    "forks": range(4),
    "config": range(2),
    "environment": range(2),
}


SHARE = 12
"""One of so many trials of a small part is made in ``make test``."""
OF_PROCESSES = (
    "signals",
    "bombs",
    "streams",
    "locales",
    "disks",
    "exits",
    "limits",
    "environment",
    "config",
    "modules",
)


@pytest.mark.parametrize(
    ("name", "share"),
    [(name, SHARE) for name in SMALL if name not in OF_PROCESSES] + [also(name, 1) for name in SMALL],
)
def test_a_small_part_of_the_hostile_test_holds(name: str, share: int) -> None:
    tally, trials = Tally(), SMALL[name][::share]
    with work_folder() as folder:
        run_here(PARTS[name], 1, trials, folder, tally)
        assert not list(folder.iterdir())
    assert not tally.failures
    assert tally.tried == len(trials)


def _fail(trial: Trial) -> str:
    """Fail in all the ways there are, by the number."""
    (trial.folder / "input").write_text(str(trial.number))
    if trial.number == 3:
        os.kill(os.getpid(), signal.SIGSEGV)
    if trial.number == 5:
        os._exit(0)
    if trial.number == 8:
        time.sleep(1000)
    if trial.number == 11:
        raise ValueError("eleven")
    if trial.number == 12:
        warnings.warn("twelve", stacklevel=1)
    return "even" if trial.draw.random() < 0.5 else "odd"


@extended
def test_what_dies_hangs_throws_or_warns_is_reported_by_its_number_and_its_files_are_kept(tmp_path: Path) -> None:
    tally = run_in_workers(Part("odd", "", 0, _fail, batch=7, seconds=5.0), 1, range(21), 2, tmp_path)
    assert [failure.number for failure in tally.failures] == [3, 5, 8, 11, 12]
    whys = (
        "signal SIGSEGV",
        "code 0",
        "still running after 5 s",
        "ValueError: eleven",
        "warning comes through: twelve",
    )
    assert [why for why, failure in zip(whys, tally.failures, strict=True) if why not in failure.why] == []
    kept = [failure.kept or tmp_path for failure in tally.failures]
    assert [(folder / "input").read_text() for folder in kept] == ["3", "5", "8", "11", "12"]
    assert (tally.tried, tally.ended["even"] + tally.ended["odd"]) == (21, 16)


@extended
def test_a_seed_gives_the_same_trials_whatever_they_are_run_by(tmp_path: Path) -> None:
    here = Tally()
    part = Part("graphs", "", 0, PARTS["graphs"].trial, batch=40)
    with work_folder() as folder:
        run_here(part, 2, range(100), folder, here)
    assert run_in_workers(part, 2, range(100), 1, tmp_path).ended == here.ended


def test_the_table_has_a_row_for_each_part() -> None:
    tally = Tally(seconds=2.4)
    tally.ended.update({"refused": 1200, "graphs": 34})
    head, row = table({"graphs": tally}, 7)
    assert "(seed 7)" in head
    assert row.split("  ")[0] == "graphs"
    assert row.endswith("1,234       0        2  1,200 refused, 34 graphs")
