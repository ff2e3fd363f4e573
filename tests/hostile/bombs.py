"""Small files that unpack to a gigabyte, of any kind and codec: one line, and a bounded memory."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import subprocess
import sys
from pathlib import Path

from tests.hostile.commands import COMMAND, Ended, check, environment
from tests.hostile.trials import Part, Trial

UNITS = (
    b"\0",
    b" ",
    b"\n",
    b"a",
    b"7",
    b"[",
    b'"',
    b"1 2\n",
    b"0 0 0\n",
    b"{}\n",
    b'{"schema": 1, ',
    b"<graphml>",
    b"9 ",
)
HEADS = (b"", b"p sp 3 4\n", b"%%MatrixMarket matrix coordinate integer general\n3 3 4\n", b"3 4\n", b"PK\3\4")
NAMES = ("z.txt", "z.gr", "z.wel", "z.mtx", "z.graph", "z.graphml", "z.gml", "z.dot", "z.csv", "z.csr", "z.npz", "z")
PACKERS = {
    ".gz": lambda data: gzip.compress(data, 1),
    ".bz2": bz2.compress,
    ".xz": lambda data: lzma.compress(data, preset=0),
}
PARTS, PIECE = 64, 1 << 24
"""Streams of a file, one after another, and what each unpacks to."""
MOST = 1 << 30
"""Bytes of memory that a command may take."""


def try_bomb(trial: Trial) -> str:
    """Let a command read a file that unpacks to a gigabyte."""
    draw = trial.draw
    command = draw.choice(("info", "mst", "verify", "report", "check-record", "compare"))
    name = {"info": draw.choice(NAMES), "mst": draw.choice(NAMES), "verify": "r.csv"}.get(command, "r.jsonl")
    ending, unit, head = draw.choice((".gz", ".gz", ".bz2", ".xz")), draw.choice(UNITS), draw.choice(HEADS)
    path, pack = trial.folder / f"{name}{ending}", PACKERS[ending]
    path.write_bytes(pack(head) + pack((unit * PIECE)[:PIECE]) * PARTS)
    words = [command, *(("grid:3x3",) if command == "verify" else ()), path.name]
    words += ["--by", "algorithm"] if command == "compare" else []
    end, used = _ended([*COMMAND, *words], trial.folder)
    check(end, (0, 1, 2, 3))
    assert used < MOST, f"{path.stat().st_size:,} bytes took {used >> 20} MB"
    return "refused" if end.code else "read"


STARTER = """
import json, os, resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_CPU, (100, 100))
process = subprocess.Popen(sys.argv[2:])
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
with open(sys.argv[1], "w") as file:
    json.dump([process.returncode, usage.ru_maxrss << 10], file)
"""
"""A small process between: the system counts for a new one what the process that starts it holds, and that is much."""


def _ended(words: list[str], folder: Path) -> tuple[Ended, int]:
    """Run a command of at most a hundred seconds; return what it gave, and the most memory that it had."""
    known = folder / "ended"
    with open(folder / "out", "w+b") as out, open(folder / "err", "w+b") as err:
        starter = [sys.executable, "-I", "-S", "-c", STARTER, str(known), *words]
        streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err}
        subprocess.run(starter, cwd=folder, env=environment(), check=True, **streams)
    code, used = json.loads(known.read_text())
    texts = [(folder / name).read_text("utf-8", "replace") for name in ("out", "err")]
    return Ended(code, *texts), used


PART = Part("bombs", "small files that unpack to a gigabyte, in three codecs, into six commands", 120, try_bomb)
