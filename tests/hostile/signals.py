"""Signals at random moments of ``bench``, ``convert``, ``generate``, ``mst``: nothing is lost, repeated or half done.

The moment is a share of the time that the command takes when nobody disturbs it, so that a trial with the same seed
strikes at about the same place.
"""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

from gpugraph.ext.formats.files import save_file
from gpugraph.graph.open import open_graph
from tests.hostile.commands import Ended, check, ended, parts_left, run, start
from tests.hostile.trials import Part, Trial

SWEEP = """
[axes]
graph = ["path:{n}", "grid:{n}x9"]
n = [20, 400]
algorithm = ["kruskal", "prim", "boruvka"]
device = "cpu"

[sampling]
min_samples = 3
max_samples = 5
"""
CELLS = 12
CPU = ("--device", "cpu", "--repeat", "3", "--quiet")
COMMANDS: dict[str, tuple[tuple[str, ...], str]] = {
    "generate .csr": (("generate", "rmat:15", "-o", "out.csr"), "out.csr"),
    "generate .gr.gz": (("generate", "rmat:12", "-o", "out.gr.gz"), "out.gr.gz"),
    "convert .csr": (("convert", "given.gr", "out.csr"), "out.csr"),
    "convert .mtx.xz": (("convert", "given.gr", "out.mtx.xz"), "out.mtx.xz"),
    "convert in place": (("convert", "given.gr", "given.gr"), "given.gr"),
    "mst": (("mst", "given.gr", *CPU, "-o", "out.csv", "--save", "store.jsonl"), "out.csv"),
    "mst emulated": (
        ("mst", "grid:9x9", *CPU, "--device", "emulated", "-o", "out.npz", "--save", "store.jsonl"),
        "out.npz",
    ),
    "bench": (("bench", "--sweep", "sweep.toml", "--save", "store.jsonl"), ""),
}
"""Commands, with the file that each writes.  Of a bench all is in the store."""
TURNS = (
    "bench",
    "mst",
    "generate .csr",
    "convert .csr",
    "bench",
    "mst emulated",
    "generate .gr.gz",
    "convert .mtx.xz",
    "bench",
    "mst",
    "generate .csr",
    "convert in place",
)
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
OLD = b"what was there before\n"


def try_signal(trial: Trial) -> str:
    """Let a signal strike, look at what is left, and go on."""
    draw, name = trial.draw, TURNS[trial.number % len(TURNS)]
    whole = trial.once(f"whole-{name}", lambda folder: _undisturbed(folder, name, trial))
    seconds = float((whole / "seconds").read_text())
    words, output = COMMANDS[name]
    _give(trial.folder, trial)
    if output and output != "given.gr" and draw.random() < 0.5:
        (trial.folder / output).write_bytes(OLD)
    before = (trial.folder / output).read_bytes() if output and (trial.folder / output).exists() else None
    number, everywhere = draw.choice(SIGNALS), draw.random() < 0.4
    token = f"{os.getpid()}-{trial.seed}-{trial.number}"
    process = start(words, trial.folder, {"GPUGRAPH_HOSTILE": token})
    time.sleep(draw.random() * 1.05 * seconds)
    early = not _catches(process.pid, signal.SIGTERM)
    running = process.poll() is None
    if running and everywhere:
        os.killpg(process.pid, number)  # as a terminal does
    elif running:
        process.send_signal(number)
    end = ended(process)
    _check_end(end, number, early=early and running)
    _check_nobody_is_left(token)
    stored = _records(trial.folder / "store.jsonl", torn=number == signal.SIGKILL)
    known = {"sweep.toml", "given.gr", "store.jsonl", output}
    left = sorted(path.name for path in trial.folder.iterdir() if path.name not in known)
    halves = parts_left(trial.folder)
    assert left == sorted(halves), f"leaves {left}"
    assert not halves or number == signal.SIGKILL, f"leaves {left}"
    if output:
        path = trial.folder / output
        now = path.read_bytes() if path.exists() else None
        made = (whole / output).read_bytes()
        assert now == made or (end.code != 0 and now == before), f"{output} is neither the old file nor the new one"
    _go_on(trial.folder, name, whole, stored)
    assert parts_left(trial.folder) == halves
    state = "finished before" if end.code == 0 else "struck at the start" if early else "struck"
    return f"{signal.Signals(number).name} {state}" + ", half a file left and ignored" * bool(halves)


def _give(folder: Path, trial: Trial) -> None:
    """Put there what the commands are given."""
    given = trial.once("given.gr", lambda path: save_file(open_graph("rmat:11"), path))
    (folder / "given.gr").write_bytes(given.read_bytes())
    (folder / "sweep.toml").write_text(SWEEP)


def _undisturbed(folder: Path, name: str, trial: Trial) -> None:
    """Run a command as a whole, and note what it writes and the seconds that it takes."""
    folder.mkdir()
    for _ in range(2):  # the first may have to compile
        _give(folder, trial)
        (folder / "store.jsonl").unlink(missing_ok=True)
        begun = time.monotonic()
        check(run(COMMANDS[name][0], folder), (0,))
        (folder / "seconds").write_text(str(time.monotonic() - begun))


def _catches(pid: int, number: int) -> bool:
    """Tell whether a process has taken a signal into its own hands: before, the interpreter is still starting."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (OSError, ValueError):
        return True
    caught = next((int(line.split()[1], 16) for line in lines if line.startswith("SigCgt:")), 0)
    return bool(caught >> (number - 1) & 1)


def _check_end(end: Ended, number: int, *, early: bool) -> None:
    """Raise unless a command ended as one that was sent that signal."""
    if early and end.code in (-number, 1):
        return  # of the interpreter's own, which had not yet come to gpugraph
    if number == signal.SIGKILL:
        assert end.code in (0, -number), f"{end.code}: {end.err[-1500:]}"
    else:
        check(end, (0, 130))


def _check_nobody_is_left(token: str) -> None:
    """Raise unless all processes that a command started come to their end."""
    until = time.monotonic() + 120
    while left := _processes(token):
        assert time.monotonic() < until, f"processes are left: {left}"
        time.sleep(0.02)


def _processes(token: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"GPUGRAPH_HOSTILE={token}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


def _records(path: Path, *, torn: bool) -> list[dict[str, Any]]:
    """Return the records of a store; only a kill may have torn the last line."""
    if not path.exists():
        return []
    *lines, last = path.read_text().split("\n")
    assert not last or torn, f"half a line is left: {last[:100]}"
    return [json.loads(line) for line in lines]


def _go_on(folder: Path, name: str, whole: Path, stored: list[dict[str, Any]]) -> None:
    """Run the command again, a bench from where it was, and raise unless all is there that should be, once."""
    words, output = COMMANDS[name]
    check(run((*words, "--resume") if name == "bench" else words, folder), (0,))
    if output:
        assert (folder / output).read_bytes() == (whole / output).read_bytes(), f"{output} differs"
    if "store.jsonl" not in words:
        return
    now = _records(folder / "store.jsonl", torn=False)
    assert all(record in now for record in stored), "a record was lost"
    if name == "bench":
        cells = [record["cell"]["id"] for record in now]
        assert len(set(cells)) == len(cells) == CELLS, f"{len(cells)} records of {len(set(cells))} cells"
        assert {record["outcome"] for record in now} == {"ok"}
    else:
        assert len(now) == len(stored) + 1


PART = Part(
    "signals", "INT, TERM, HUP and KILL at any moment of bench, convert, generate and mst", 200, try_signal, 1, 600.0
)
