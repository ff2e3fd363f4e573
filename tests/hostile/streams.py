"""Closed, full and broken streams, and locales: a command does its work all the same, or says in one line why not."""

from __future__ import annotations

import itertools
import os
import subprocess
from pathlib import Path

from tests.hostile.commands import COMMAND, Ended, check, environment, parts_left
from tests.hostile.signals import SWEEP
from tests.hostile.trials import Part, Trial

RUN = ("--device", "cpu", "--repeat", "1")
NOWHERE = "nowhere-ü.gr"
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("algos",),
    ("--help",),
    ("info", "gegeben-ü.gr"),
    ("generate", "grid:9x9", "-o", "aus-ü.csr"),
    ("convert", "gegeben-ü.gr", "aus-ü.mtx"),
    ("mst", "gegeben-ü.gr", *RUN, "-o", "aus-ü.csv"),
    ("mst", "-", *RUN),
    ("mst", NOWHERE, *RUN),
    ("sssp", "grid:9x9", *RUN, "--format", "json"),
    ("mst", "gegeben-ü.gr", *RUN, "--save", "store-ü.jsonl"),
    ("bench", "--sweep", "sweep.toml", "--save", "store-ü.jsonl", "--axis", "n=20"),
    ("report", "records-ü.jsonl"),
    ("report", "records-ü.jsonl", "-o", "aus-ü.html"),
    ("compare", "records-ü.jsonl", "records-ü.jsonl"),
)
GRAPH = "p sp 3 4\na 1 2 5\na 2 1 5\na 1 3 7\na 3 1 7\n"
STREAMS = (
    *("<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"),
    *(">/dev/full", "2>/dev/full", ">/dev/full 2>&1", "| true", "2>&1 | true", "2>&1 >/dev/null | true"),
    *(">/dev/null <given", "<given >&2"),
)
"""What a shell does to the streams of a command."""
LOCALES: tuple[dict[str, str], ...] = (
    {"LC_ALL": "C"},
    {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    {"LC_ALL": "C.UTF-8"},
    {"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "latin-1"},
    {"LC_ALL": "C", "PYTHONIOENCODING": "ascii:strict"},
    {"LC_ALL": "de_DE.ISO-8859-1", "LANG": "de_DE.ISO-8859-1"},
    {"LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "tr"},
    {"LC_ALL": "ja_JP.SJIS", "PYTHONIOENCODING": "shift_jis"},
    {"LC_ALL": "zh_CN.GB18030", "PYTHONIOENCODING": "gb18030"},
    {"LC_ALL": "no such locale", "LANG": "", "PYTHONIOENCODING": "utf-16"},
    {"LC_ALL": "C.UTF-8", "TZ": "Nowhere/Land", "TERM": "dumb", "COLUMNS": "1"},
    {"LC_ALL": "en_US.UTF-8", "PYTHONIOENCODING": "cp037", "LC_NUMERIC": "de_DE.UTF-8"},
)
TURNS = list(itertools.product(range(len(COMMANDS)), STREAMS))
PLACES = list(itertools.product(range(len(COMMANDS)), range(len(LOCALES))))


def try_stream(trial: Trial) -> str:
    """Run a command with streams that a shell closed, filled or broke; what it writes is the same."""
    command, streams = TURNS[trial.number % len(TURNS)]
    words = COMMANDS[command]
    _give(trial.folder)
    end = _in_shell(words, streams, trial.folder)
    fails = 2 if NOWHERE in words else 0
    if "|" in streams:
        assert end.code in (fails, 0), f"{end.code}: {end.err}"
        assert "Traceback" not in end.err + end.out
    elif "2>" in streams:
        assert end.code in (fails, 2, 0), f"{end.code}: {end.out}"
        assert "Traceback" not in end.out
    else:
        check(end, (fails, 2))
    assert end.code == 0 or fails or "-" in words or "full" in streams, f"{end.code}: {end.err}"
    if "full" not in streams and "-" not in words:
        _check_same(trial, command, {})
    assert not parts_left(trial.folder)
    return f"code {end.code}"


def try_locale(trial: Trial) -> str:
    """Run a command in a locale; what it writes is the same in all of them."""
    command, place = PLACES[trial.number % len(PLACES)]
    words, env = COMMANDS[command], LOCALES[place]
    _give(trial.folder)
    encoding = env.get("PYTHONIOENCODING", "utf-8").partition(":")[0]
    done = subprocess.run(
        [*COMMAND, *words],
        cwd=trial.folder,
        env=environment(env),
        capture_output=True,
        input=GRAPH.encode(),
        timeout=300,
    )
    out, err = (text.decode(encoding, "replace") for text in (done.stdout, done.stderr))
    check(Ended(done.returncode, out, err), (2 if NOWHERE in words else 0,))
    _check_same(trial, command, env)
    return f"code {done.returncode}"


def _give(folder: Path) -> None:
    (folder / "gegeben-ü.gr").write_text(GRAPH)
    (folder / "given").write_text(GRAPH)
    (folder / "sweep.toml").write_text(SWEEP)
    (folder / "records-ü.jsonl").write_text((Path(__file__).parents[1] / "report" / "real.jsonl").read_text())


def _in_shell(words: tuple[str, ...], streams: str, folder: Path) -> Ended:
    script = f'"$@" {streams}' + '; code=("${PIPESTATUS[@]}"); exit "${code[0]}"' * ("|" in streams)
    done = subprocess.run(
        ["bash", "-c", script, "bash", *COMMAND, *words],
        cwd=folder,
        env=environment(),
        capture_output=True,
        input=GRAPH.encode(),
        timeout=300,
    )
    return Ended(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def _check_same(trial: Trial, command: int, env: dict[str, str]) -> None:
    """Raise unless the command wrote what it writes when all is well; of a store, as many records."""
    whole = trial.once(f"whole-{command}", lambda folder: _whole(folder, command))
    assert sorted(os.listdir(trial.folder)) == sorted(os.listdir(whole)), os.listdir(trial.folder)
    for path in whole.iterdir():
        now, due = (trial.folder / path.name).read_bytes(), path.read_bytes()
        if path.name.startswith("store"):
            assert now.count(b"\n") == due.count(b"\n")
        elif not path.name.endswith(".html"):
            assert now == due, f"{path.name} differs"


def _whole(folder: Path, command: int) -> None:
    folder.mkdir()
    _give(folder)
    words = COMMANDS[command]
    check(_in_shell(words, "", folder), (2 if NOWHERE in words else 0,))


PARTS = (
    Part("streams", "closed, full and broken streams", len(TURNS), try_stream, 1, 400.0),
    Part(
        "locales",
        "locales, time zones and terminals, with names that few of them can write",
        len(PLACES),
        try_locale,
        1,
        400.0,
    ),
)
