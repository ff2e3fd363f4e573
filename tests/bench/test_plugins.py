"""Users' own algorithms in a bench: the parent never imports them, and none can harm the others or the sweep."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gpugraph.base.errors import InputError
from gpugraph.bench.expand import expand_sweep
from gpugraph.bench.local_workers import WorkerProcess
from gpugraph.bench.sweep_file import read_sweep
from gpugraph.ext.plugins import described
from gpugraph.ext.plugins.described import Described
from tests.cli.runner import refuse, run, succeed
from tests.problems.hostile_plugins import IMPORTS_FOREVER, PLUGINS, PRELUDE
from tests.stored import read_records
from tests.tiers import extended

BY_NAME = {plugin.name: plugin for plugin in PLUGINS}

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Return a function that writes a plugin's file into the working directory and returns its name."""
    monkeypatch.chdir(tmp_path)

    def put(text: str, name: str = "mine.py") -> str:
        Path(name).write_text(text)
        return name

    return put


def sweep(*algorithms: str, time_s: float = 60) -> str:
    names = ", ".join(f'"{name}"' for name in algorithms)
    text = f'[axes]\ngraph = "grid:5x5"\ndevice = "cpu"\nalgorithm = [{names}]\n[limits]\ntime = "{time_s}s"\n'
    Path("s.toml").write_text(f"{text}[sampling]\nmin_samples = 2\nmax_samples = 2\n")
    return "s.toml"


def outcomes(path: str = "r.jsonl") -> dict[str, str]:
    return {r["cell"]["axes"]["algorithm"]: r["outcome"] for r in read_records(path)}


@extended
def test_the_parent_never_imports_a_plugin_not_to_list_nor_to_run_nor_to_resume(write: Write) -> None:
    name = write(PRELUDE + f"assert os.getpid() != {os.getpid()}\n")
    path = sweep("kruskal", name)
    told = succeed("bench", "--sweep", path, "--list", "-q").out
    assert name in told
    succeed("bench", "--sweep", path, "--dry-run", "-q")
    succeed("bench", "--sweep", path, "--save", "r.jsonl", "-q")
    assert set(outcomes().values()) == {"ok"}
    assert "finished before: 2 cells" in run("bench", "--sweep", path, "--save", "r.jsonl", "--resume").err


@extended
def test_a_resumed_sweep_measures_a_plugin_whose_file_has_changed_again(write: Write) -> None:
    path = sweep("kruskal", write(PRELUDE))
    succeed("bench", "--sweep", path, "--save", "r.jsonl", "-q")
    write(PRELUDE + "# better\n")
    assert "finished before: 1 cell\n" in run("bench", "--sweep", path, "--save", "r.jsonl", "--resume").err


def test_a_plugin_that_hangs_while_it_is_imported_is_refused_when_time_is_up(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(described, "LEAST_LIMIT_S", 0.3)
    path = sweep(write(IMPORTS_FOREVER.text), time_s=0.3)
    start = time.monotonic()
    with pytest.raises(InputError, match=r"importing it took more than 0\.3 s"):
        expand_sweep(read_sweep(path), {"cpu": "cpu"})
    assert time.monotonic() - start < 300


def test_a_plugin_that_ends_its_process_while_it_is_imported_is_refused_in_words(write: Write) -> None:
    path = sweep(write(BY_NAME["leaves while it is imported"].text))
    assert "its process ended by itself with code 7" in refuse(2, "bench", "--sweep", path, "--list")


def test_a_plugin_is_asked_once_and_its_errors_are_reported_as_its_own(write: Write) -> None:
    started: list[WorkerProcess] = []

    def start() -> WorkerProcess:
        started.append(WorkerProcess())
        return started[-1]

    plugins = Described(start=start)
    name = write("def driver(view, clock): pass\ndriver.problem = 'mst'\n1 / 0\n")
    for problem in ("mst", "sssp"):
        with pytest.raises(InputError, match=r"mine.py line 3: ZeroDivisionError"):
            plugins.find(name, problem)
    assert len(started) == 1


@extended
def test_plugins_that_misbehave_leave_the_other_cells_of_their_graph_alone(write: Write) -> None:
    named = ["writes by address", "a false Ctrl-C", "GeneratorExit", "reads address 0", "goes elsewhere", "prints"]
    files = {write(BY_NAME[name].text, f"g{i}.py"): BY_NAME[name].outcome for i, name in enumerate(named)}
    run("bench", "--sweep", sweep("kruskal", *files, "prim"), "--save", "r.jsonl", "-q")
    assert outcomes() == {"kruskal": "ok", "prim": "ok", **files}
    totals = {r["result"]["total_weight"] for r in read_records("r.jsonl") if r["outcome"] == "ok"}
    assert len(totals) == 1
