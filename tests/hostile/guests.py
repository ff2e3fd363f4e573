"""Guests that misbehave, each in a command and in a bench: both come to their end, and tell whose fault it is."""

from __future__ import annotations

import json

from tests.hostile.commands import check, run
from tests.hostile.trials import Part, Trial
from tests.problems.hostile_guests import GRAPHS, GUESTS, IMPORTS_FOREVER, HostileGuest
from tests.problems.test_hostile_guests import check as check_guest
from tests.problems.test_hostile_guests import words

SWEEP = """
[axes]
problem = "{problem}"
graph = "{graph}"
device = "cpu"
algorithm = ["{ours}", "./mine.py"]

[limits]
time = "{seconds}s"

[sampling]
min_samples = 3
max_samples = 5
"""
OURS = {"mst": "kruskal", "sssp": "dijkstra", "scan": "cpu"}
ALL = (*GUESTS, IMPORTS_FOREVER)


def try_guest(trial: Trial) -> str:
    """Run a guest, then a bench in which it stands beside an algorithm of ours."""
    guest = ALL[trial.number % len(ALL)]
    if guest is not IMPORTS_FOREVER:
        end = run(words(guest, trial.folder), trial.folder)
        check_guest(guest, end.code, end.out, end.err)
    _bench(trial, guest)
    return guest.outcome


def _bench(trial: Trial, guest: HostileGuest) -> None:
    ours, seconds = OURS[guest.problem], 5 if guest is IMPORTS_FOREVER else 60
    text = SWEEP.format(problem=guest.problem, graph=GRAPHS[guest.problem], ours=ours, seconds=seconds)
    (trial.folder / "sweep.toml").write_text(text)
    (trial.folder / "mine.py").write_text(guest.text)
    end = run(("bench", "--sweep", "sweep.toml", "--save", "store.jsonl", "--quiet"), trial.folder)
    if end.code == 2 and guest.code == 2:  # one that cannot be imported: told before anything begins
        check(end, (2,))
        assert "sweep.toml line 6, axes.algorithm: " in end.err, end.err
        return
    check(end, (1,) if guest.outcome == "wrong" else (0,))
    records = [json.loads(line) for line in (trial.folder / "store.jsonl").read_text().splitlines()]
    outcomes = {record["cell"]["axes"]["algorithm"]: record["outcome"] for record in records}
    assert outcomes.pop(ours) == "ok", f"it took our own algorithm along: {end.err}"
    assert list(outcomes.values()) == [guest.outcome], f"{outcomes}: {end.err}"


PART = Part(
    "guests", "guests that misbehave, in mst, sssp and scan and beside ours in a bench", len(ALL), try_guest, 1, 300.0
)
