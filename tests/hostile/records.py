"""Hostile records into ``report``, ``compare``, ``plot`` and ``bench --resume``: taken, or refused with their line."""

from __future__ import annotations

from functools import cache

from tests.hostile.trials import Part, Trial
from tests.hostile_records import COMMANDS, ended, feed, hostile_lines


@cache
def _lines(seed: int) -> list[tuple[str, bytes]]:
    return hostile_lines(300, seed)


def try_record(trial: Trial) -> str:
    """Feed one line to all that reads records; raises unless each took it or refused it with its number."""
    lines = _lines(trial.seed + trial.number // 300)
    _, line = lines[trial.number % len(lines)]
    said = set()
    for command in COMMANDS:
        said.add(ended(feed(line, trial.folder, command, alone=trial.draw.random() < 0.2), "line "))
    return " or ".join(sorted(said))


PART = Part("records", "hostile records into report, compare, plot and bench --resume", 300, try_record, 10, 120.0)
