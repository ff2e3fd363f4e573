"""Limits of a process, as a shell or a queue sets them: few open files, little address space, no long file."""

from __future__ import annotations

import resource
import shutil
import signal
import subprocess
from pathlib import Path

from tests.hostile.commands import COMMAND, Ended, check, environment, parts_left
from tests.hostile.disks import GRAPH, RUN, SWEEP, WRITERS, give
from tests.hostile.trials import Part, Trial

OTHERS: dict[str, tuple[str, ...]] = {
    "info": ("info", GRAPH),
    "mst of threads": ("mst", "rmat:12", *RUN),
    "mst on ranks": ("mst", GRAPH, "--device", "cpu*2", "--repeat", "1", "--quiet"),
    "mst emulated": ("mst", "grid:9x9", "--algo", "boruvka", "--device", "emulated", "--repeat", "1", "--quiet"),
    "sssp": ("sssp", "rmat:12", *RUN),
    "components": ("components", "rmat:12", *RUN),
    "several algorithms": ("mst", "rmat:8", "--algo", "kruskal,boruvka", "--device", "cpu", "--quiet"),
    "bench": ("bench", "--sweep", "sweep.toml", "--save", "store.jsonl"),
    "graph500": ("graph500", "--device", "cpu", "--quiet", "--scale", "6", "--roots", "1"),
    "compare": ("compare", "given.jsonl", "--by", "algorithm"),
    "report": ("report", "given.jsonl", "-o", "out.html"),
    "plot": ("plot", "given.jsonl", "--x", "algorithm", "-o", "out.svg"),
    "algos": ("algos",),
    "devices": ("devices",),
}
COMMANDS = {**OTHERS, **{name: words for name, words in WRITERS.items() if not name.startswith("cache")}}
LIMITS = {
    "open files": (resource.RLIMIT_NOFILE, 5, 40),
    "address space": (resource.RLIMIT_AS, 200 << 20, 4 << 30),
    "a file": (resource.RLIMIT_FSIZE, 1, 1 << 17),
}
SECONDS = 300.0


def try_limit(trial: Trial) -> str:
    """Run a command under one limit: it does its work, or says in one line which resource is short."""
    draw = trial.draw
    name = list(COMMANDS)[trial.number % len(COMMANDS)]
    kind = draw.choice(tuple(LIMITS))
    which, low, high = LIMITS[kind]
    limit = int(low * (high / low) ** draw.random())
    folder = trial.folder / "work"
    shutil.copytree(trial.once("given", _give), folder)

    def before() -> None:
        resource.setrlimit(which, (limit, limit))

    end = _ended([*COMMAND, *COMMANDS[name]], folder, before)
    if _is_too_little(end, kind):
        return f"{kind}: not enough for the interpreter and its libraries"
    check(end, (0, 2, 3))
    assert not parts_left(folder), f"leaves {parts_left(folder)}"
    return f"{kind}: {'enough' if end.code == 0 else 'too little'}"


def _is_too_little(end: Ended, kind: str) -> bool:
    """Tell whether Python could not begin, or one of its libraries has ended the process for want of address space."""
    if kind == "address space" and -end.code in (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS):
        return True
    return end.code > 0 and "gpugraph" not in end.err


def _ended(words: list[str], folder: Path, before) -> Ended:  # type: ignore[no-untyped-def]
    env = environment({"PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"})
    process = subprocess.Popen(
        words,
        cwd=folder,
        env=env,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        errors="replace",
        preexec_fn=before,
    )
    try:
        out, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"hangs: {words}: {err[-500:]}") from None
    return Ended(process.returncode, out, err)


def _give(folder: Path) -> None:
    give(folder)
    (folder / "sweep.toml").write_text(SWEEP)


PART = Part("limits", "few open files, little address space and no long file, under all commands", 300, try_limit)
