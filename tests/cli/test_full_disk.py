"""Options that write, where the disk is full or no file may grow: exit 2, one line, and the old file as it was."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.runner import refuse, succeed
from tests.tiers import extended, only

RECORDS = Path(__file__).parents[1] / "report" / "real.jsonl"
RUN = ("--device", "cpu", "--repeat", "1", "--quiet")
REPORTS = ("o.html", "o.md", "o.csv", "o.tex", "o.txt")
LIST = ("graph500", "--device", "cpu", "--scale", "9", "--roots", "1", "--quiet")
WRITERS: dict[str, tuple[str, ...]] = {
    **{f"generate {name}": ("generate", "grid:40x40", "-o", name) for name in ("o.csr", "o.npz", "o.gr.gz")},
    **{f"convert {name}": ("convert", "given.gr", name) for name in ("o.csr", "o.wel", "o.egr", "o.npz.bz2")},
    **{f"mst {name}": ("mst", "given.gr", *RUN, "-o", name) for name in ("o.npz", "o.mtx", "o.csv")},
    **{f"sssp {name}": ("sssp", "given.gr", *RUN, "-o", name) for name in ("o.npz", "o.csv")},
    "components": ("components", "given.gr", *RUN, "-o", "o.csv"),
    "scan o.npy": ("scan", "array:size=1KiB", *RUN, "-o", "o.npy"),
    "scan o.npz": ("scan", "array:size=16KiB,segments=64", *RUN, "-o", "o.npz"),
    "mst --save": ("mst", "given.gr", *RUN, "--save", "o.jsonl"),
    "mst --export": ("mst", "given.gr", *RUN, "--algo", "kruskal,boruvka", "--export", "o.json"),
    "graph500 --save": (*LIST, "--save", "o.jsonl"),
    "graph500 --keep": (*LIST, "--keep", "o"),
    "graph500 --results": (*LIST, "--results", "."),
    **{f"report {name}": ("report", "given.jsonl", "-o", name) for name in REPORTS},
    "compare --export": ("compare", "given.jsonl", "--by", "algorithm", "--export", "o.md"),
    **{f"plot {name}": ("plot", "given.jsonl", "-o", name, "--x", "algorithm") for name in ("o.json", "o.svg")},
    "new": ("new", "algorithm", "o.py", "--problem", "sssp", "--kind", "cuda"),
}
"""Commands and what they write: ``o`` and what begins so, but for the folder of results."""


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a graph and records, where the command runs; at least 8 KB of each output are to come."""
    monkeypatch.chdir(tmp_path)
    succeed("generate", "grid:40x40", "-o", "given.gr")
    shutil.copy(RECORDS, "given.jsonl")
    return tmp_path


@pytest.mark.parametrize("words", only([*WRITERS.values()][::4], WRITERS.values()), ids=WRITERS)
def test_where_no_file_may_grow_one_line_says_so_and_the_old_file_stays(given: Path, words: tuple[str, ...]) -> None:
    before = _with_old_files(given, words)
    with _limited(200):
        line = refuse(2, *words)
    assert "file too large" in line
    assert {path.name: path.read_bytes() for path in given.iterdir()} == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a small disk")
@extended
def test_on_a_full_disk_one_line_says_so_and_the_old_file_stays(given: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = given / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk], capture_output=True).returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        for words in WRITERS.values():
            (disk / "full").unlink(missing_ok=True)
            words = tuple(f"../{word}" if word.startswith("given") else word for word in words)
            monkeypatch.chdir(disk)
            before = _with_old_files(disk, words)
            with contextlib.suppress(OSError), open("full", "wb", buffering=0) as filler:
                while filler.write(bytes(4096)):
                    pass
            assert "no space left" in refuse(2, *words), words
            assert {path.name: path.read_bytes() for path in disk.iterdir() if path.name != "full"} == before
            for path in disk.iterdir():
                path.unlink()
    finally:
        monkeypatch.chdir(given)
        subprocess.run(["umount", disk], check=True)


def _with_old_files(folder: Path, words: tuple[str, ...]) -> dict[str, bytes]:
    """Put an old file where one will be written that may be there, and return the files of the folder."""
    name = words[-1] if words[0] != "plot" else words[3]
    if name.startswith("o") and words[0] != "new" and "--save" not in words:
        (folder / name).write_bytes(b"old\n")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@contextlib.contextmanager
def _limited(most: int) -> Iterator[None]:
    """Let no file grow beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(sys, "dont_write_bytecode", True)  # Python 3.11 would keep what the limit leaves of it
        changed.setenv("PYTHONDONTWRITEBYTECODE", "1")  # of the process that draws
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
