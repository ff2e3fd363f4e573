"""Full disks: what is written is whole or not there, what was there before stays, and one line says why."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from gpugraph.ext.formats.files import save_file
from gpugraph.ext.results.files import check_result
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.load import load_file
from gpugraph.graph.open import open_graph
from tests.hostile.commands import COMMAND, Ended, check, environment, parts_left
from tests.hostile.signals import SWEEP
from tests.hostile.trials import Part, Trial

SUFFIXES = ("", "", ".gz", ".bz2", ".xz", ".zst")
RUN = ("--device", "cpu", "--repeat", "1", "--quiet")
GRAPH = "grid:40x40"
LIST = ("--device", "cpu", "--quiet", "--scale", "9", "--roots", "1")
WRITERS: dict[str, tuple[str, ...]] = {
    **{
        f"generate {ending}": ("generate", GRAPH, "-o", f"out{ending}")
        for ending in (".csr", ".npz", ".gr", ".mtx", ".wel")
    },
    **{f"convert {ending}": ("convert", "given.gr", f"out{ending}") for ending in (".csr", ".npz", ".mtx", ".egr")},
    **{f"mst {ending}": ("mst", GRAPH, *RUN, "-o", f"out{ending}") for ending in (".npz", ".csv", ".mtx")},
    **{f"sssp {ending}": ("sssp", GRAPH, *RUN, "-o", f"out{ending}") for ending in (".npz", ".csv")},
    "mst --save": ("mst", GRAPH, *RUN, "--save", "store.jsonl"),
    "bench --save": ("bench", "--sweep", "sweep.toml", "--save", "store.jsonl"),
    "report .html": ("report", "given.jsonl", "-o", "out.html"),
    "report .csv": ("report", "given.jsonl", "-o", "out.csv", "--format", "csv"),
    **{f"report {ending}": ("report", "given.jsonl", "-o", f"out{ending}") for ending in (".md", ".tex", ".txt")},
    "compare --export": ("compare", "given.jsonl", "--by", "algorithm", "--export", "out.json"),
    "plot .json": ("plot", "given.jsonl", "--x", "algorithm", "-o", "out.json"),
    "plot .svg": ("plot", "given.jsonl", "--x", "algorithm", "-o", "out.svg"),
    **{f"scan {ending}": ("scan", "array:size=4KiB", *RUN, "-o", f"out{ending}") for ending in (".npy", ".npz")},
    "components .csv": ("components", GRAPH, *RUN, "-o", "out.csv"),
    "graph500 --keep": ("graph500", *LIST, "--keep", "out"),
    "graph500 --results": ("graph500", *LIST, "--results", "."),
    "graph500 --save": ("graph500", *LIST, "--save", "store.jsonl"),
    "cache": ("mst", "grid:9x9", *RUN, "--device", "emulated"),
    "cache of Numba": ("mst", "grid:9x9", *RUN, "--algo", "kruskal"),
}
"""Commands that write, most to ``out.ENDING``; those of a cache to an empty cache of compiled code."""
OLD = b"what was there before\n"


def try_disk(trial: Trial) -> str:
    """Let a command write to where there is little room."""
    draw = trial.draw
    name = list(WRITERS)[trial.number % len(WRITERS)]
    words = list(WRITERS[name])
    if name.startswith(("generate", "convert", "mst .", "sssp .")):
        words[-1] += draw.choice(SUFFIXES)
    output = words[-1] if words[-1].startswith("out") else ""
    given = trial.once("given", give)
    disk = trial.folder / "disk"
    shutil.copytree(given, disk)
    if output and draw.random() < 0.5:
        (disk / output).write_bytes(OLD)
    before = {path.name: path.read_bytes() for path in disk.iterdir()}
    room = int(2 ** (draw.random() * 9)) * 1024
    env = {"GPUGRAPH_CACHE_DIR": str(disk / "cache")} if name.startswith("cache") else {}
    how = draw.choice(("limit", "small disk", "small disk") if _has_namespaces() else ("limit",))
    end = (_on_small_disk if how == "small disk" else _limited)(words, disk, room, env)
    check(end, (0, 2, 3))
    assert not parts_left(disk), f"leaves {parts_left(disk)}"
    assert name != "cache of Numba" or end.code == 0, f"a cache is no need: {end.err}"
    for path in disk.iterdir():
        if path.name in before and path.name not in (output, "store.jsonl"):
            assert path.read_bytes() == before[path.name], f"{path.name} was changed"
    if output:
        _check_output(name, disk / output, before.get(output), end)
    for found in (*disk.glob("*.parents"), *disk.glob("*.distances")):
        assert found.stat().st_size >= 4 * 400, f"{found.name} is cut short"
    _check_store(disk / "store.jsonl")
    return f"{how}: {'enough' if end.code == 0 else 'too little'}"


def give(folder: Path) -> None:
    """Put there what the commands are given."""
    folder.mkdir()
    (folder / "sweep.toml").write_text(SWEEP)
    save_file(_graph(), folder / "given.gr")
    shutil.copy(Path(__file__).parents[1] / "report" / "real.jsonl", folder / "given.jsonl")


def _ended(words: list[str], folder: Path, env: dict[str, str], before: Callable[[], None] | None = None) -> Ended:
    done = subprocess.run(
        words,
        cwd=folder,
        env=environment(env),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        preexec_fn=before,
        timeout=300,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def _limited(words: list[str], folder: Path, room: int, env: dict[str, str]) -> Ended:
    """Run a command that may make no file longer than ``room`` bytes."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    env = {**env, "PYTHONDONTWRITEBYTECODE": "1"}  # the interpreter would cut its own files off, and use them
    return _ended([*COMMAND, *words], folder, env, limit)


INSIDE = """
mount -t tmpfs -o size=$1 tmpfs mnt || exit 99
cp -a disk/. mnt/ && cd mnt && shift && "$@"
code=$?
cd .. && rm -r disk && mkdir disk && cp -a mnt/. disk/ && exit $code
"""


def _on_small_disk(words: list[str], folder: Path, room: int, env: dict[str, str]) -> Ended:
    """Run a command on a disk of its own that has ``room`` bytes left, and bring back what is on it then."""
    used = sum(-(-path.stat().st_size // 4096) * 4096 for path in folder.iterdir())
    (folder.parent / "mnt").mkdir()
    env = {name: value.replace(str(folder), str(folder.parent / "mnt")) for name, value in env.items()}
    inside = ["unshare", "-rm", "sh", "-c", INSIDE, "sh", str(used + max(room, 4096)), *COMMAND, *words]
    return _ended(inside, folder.parent, env)


@cache
def _has_namespaces() -> bool:
    """Tell whether an ordinary user may mount a small disk here."""
    if shutil.which("unshare") is None:
        return False
    tried = "mkdir -p /tmp/. && mount -t tmpfs -o size=4096 tmpfs /tmp"
    return subprocess.run(["unshare", "-rm", "sh", "-c", tried], capture_output=True, check=False).returncode == 0


def _check_output(name: str, path: Path, before: bytes | None, end: Ended) -> None:
    """Raise unless a file is whole, or what it was where the command says that it could not write."""
    if end.code != 0:
        assert (path.read_bytes() if path.exists() else None) == before, f"{path.name} is neither whole nor as it was"
        return
    graph = _graph()
    if name.startswith(("generate", "convert")):
        assert load_file(path).arcs == graph.arcs
    elif name == "scan .npy":
        assert np.load(path).size == 1024
    elif name == "graph500 --keep":
        assert (path.stat().st_size, path.with_name("out.weights").stat().st_size) == (12 * 16 << 9, 4 * 16 << 9)
    elif name.startswith(("mst", "sssp")):
        assert check_result(graph, path).passed
    elif name == "plot .json":
        json.loads(path.read_bytes())
    elif name == "report .html":
        assert path.read_text().rstrip().endswith("</html>")


@cache
def _graph() -> CSRGraph:
    return open_graph(GRAPH)


def _check_store(path: Path) -> None:
    """Raise unless a store holds whole records."""
    if path.exists():
        *lines, last = path.read_text().split("\n")
        assert not last, f"half a record is left: {last[:100]}"
        assert all(json.loads(line) for line in lines)


PART = Part("disks", "full disks and files that may not grow, under all that writes", 250, try_disk, 1, 600.0)
