"""Plugins that misbehave, each in a command and in a bench: both come to their end, and tell whose fault it is."""

from __future__ import annotations

import json

from tests.hostile.commands import check, run
from tests.hostile.trials import Part, Trial
from tests.problems.hostile_plugins import GRAPHS, IMPORTS_FOREVER, PLUGINS, HostilePlugin
from tests.problems.test_hostile_plugins import check as check_plugin
from tests.problems.test_hostile_plugins import words

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
ALL = (*PLUGINS, IMPORTS_FOREVER)


def try_plugin(trial: Trial) -> str:
    """Run a plugin, then a bench in which it stands beside an algorithm of ours."""
    plugin = ALL[trial.number % len(ALL)]
    if plugin is not IMPORTS_FOREVER:
        end = run(words(plugin, trial.folder), trial.folder)
        check_plugin(plugin, end.code, end.out, end.err)
    _bench(trial, plugin)
    return plugin.outcome


def _bench(trial: Trial, plugin: HostilePlugin) -> None:
    ours, seconds = OURS[plugin.problem], 5 if plugin is IMPORTS_FOREVER else 60
    text = SWEEP.format(problem=plugin.problem, graph=GRAPHS[plugin.problem], ours=ours, seconds=seconds)
    (trial.folder / "sweep.toml").write_text(text)
    (trial.folder / "mine.py").write_text(plugin.text)
    end = run(("bench", "--sweep", "sweep.toml", "--save", "store.jsonl", "--quiet"), trial.folder)
    if "sweep.toml line 6, axes.algorithm: " in end.err:  # one that cannot be imported: told before anything begins
        check(end, (2,))
        assert plugin.code == 2, end.err
        return
    check(end, ({"wrong": 1, "threw": 2}.get(plugin.outcome, 0),))
    records = [json.loads(line) for line in (trial.folder / "store.jsonl").read_text().splitlines()]
    outcomes = {record["cell"]["axes"]["algorithm"]: record["outcome"] for record in records}
    assert outcomes.pop(ours) == "ok", f"it took our own algorithm along: {end.err}"
    assert list(outcomes.values()) == [plugin.outcome], f"{outcomes}: {end.err}"


PART = Part(
    "plugins",
    "plugins that misbehave, in mst, sssp and scan and beside ours in bench",
    len(ALL),
    try_plugin,
    1,
    300.0,
)
