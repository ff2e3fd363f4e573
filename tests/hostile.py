"""Hostile graph files, and ends of the process under load: what no test has time for.

    python -m tests.hostile files --seconds 60 --seed 1     damaged files of all formats, packed and not
    python -m tests.hostile exits --seconds 60              runs that end while the cores are busy

A damaged file has to be refused in one line or give a sound graph; a run has to end with its exit code and no signal.
Prints counts, and of every failure how to have it again; exits with 1 if there is any.
"""

from __future__ import annotations

import argparse
import bz2
import collections
import gzip
import lzma
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pyarrow as pa

from gpugraph import host
from gpugraph.errors import InputError, OutOfMemory
from gpugraph.graph.check import check_structure
from gpugraph.graph.formats import text
from gpugraph.graph.load import load_file
from tests.graph.formats.test_binary_formats import SAMPLES

TEXTS = {
    "sp.gr": b"c by hand\np sp 4 4\na 1 2 5\na 1 3 7\na 2 1 5\na 3 1 7\n",
    "tw.gr": b"p tw 4 2\n1 2\n1 3\n",
    "bare.gr": b"a 1 2 5\na 2 3 7\n",
    "real.mtx": b"%%MatrixMarket matrix coordinate real symmetric\n% c\n4 4 3\n2 1 0.5\n3 1 7e2\n4 3 inf\n",
    "plain.mtx": b"%%MatrixMarket matrix coordinate pattern general\n4 4 2\n1 2\n3 1\n",
    "a.graph": b"% c\n4 2 001\n2 5 3 7\n1 5\n1 7\n\n",
    "b.graph": b"4 2 110 2\n7 8 9 2 3\n7 8 9 1\n7 8 9 1\n7 8 9\n",
    "a.el": b"0 1\n0 2\n1 0\n2 0\n",
    "a.wel": b"# Nodes: 4 Edges: 2\n0 1 5\n0 2 18446744073709551615\n",
    "a.csv": b"source,target,weight\n0,1,5\n0,2,0.7\n",
    "a.tsv": b"4\n0\t1\t-5\n0\t2\t7\n",
    "a.txt": b"4 2\n0 1 5\n0 2 7\n",
}
PLAIN_WORDS = """
0 1 2 4 -1 5 99 2147483648 4294967296 9223372036854775807 9223372036854775808 18446744073709551615 9007199254740993
-0.0 0.5 1e400 nan inf 9007199254740993.5 1_0 +3 0x1 e . .5 5. 1E5 p sp tw a c % # , ,, é
000000000000000000000000000000000000000000001
"""
WORDS = [*PLAIN_WORDS.split(), "", "\t", "\r", "\n", "\r\n", "\0", "\v", "\f"]
NUMBERS = (0, 1, -1, 3, 4, 5, 6, 255, 2**31 - 1, -(2**31), 2**32, 2**40, 2**62, 2**63 - 1, -(2**62), -(2**63))
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": lambda data: gzip.compress(data, 1),
    ".bz2": bz2.compress,
    ".xz": lambda data: lzma.compress(data, preset=0),
    ".zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
}
SOUND = ("loaded", "refused", "too large")
LONGEST_S = 20
"""More than this for one small file is a failure too."""


def damaged(random_: random.Random) -> tuple[str, bytes]:
    """Return the name and the bytes of a damaged file."""
    name, data = random_.choice([*SAMPLES.items(), *TEXTS.items()])
    suffix = random_.choice(["", "", "", "", *PACKERS])
    # Damage to what is packed, to the pack, or to one of several packs in a row.
    if random_.random() < 0.7 or not suffix:
        data = changed(random_, data, lines=name in TEXTS)
    if suffix and random_.random() < 0.5:
        cut = random_.randrange(len(data) + 1)
        parts = [PACKERS[suffix](data[:cut]), PACKERS[suffix](data[cut:])]
        spoilt = random_.randrange(4)
        data = b"".join(changed(random_, part, lines=False) if i == spoilt else part for i, part in enumerate(parts))
    else:
        data = PACKERS[suffix](data)
    return f"{name}{suffix}", data


def changed(random_: random.Random, data: bytes, *, lines: bool) -> bytes:
    """Return the bytes with one to four changes."""
    made = bytearray(data)
    for _ in range(random_.randint(1, 4)):
        at = random_.randrange(len(made) + 1)
        kind = random_.randrange(8)
        if lines and kind < 4:
            word = random_.choice(WORDS).encode()
            made[at : at + random_.randrange(4)] = random_.choice([word, b" " + word + b" ", word + b"\n"])
        elif kind < 3:
            width = random_.choice((4, 8))
            at -= random_.choice((0, at % width))
            made[at : at + width] = (random_.choice(NUMBERS) % 2 ** (8 * width)).to_bytes(width, "little")
        elif kind == 3 and at < len(made):
            made[at] ^= 1 << random_.randrange(8)
        elif kind == 4:
            del made[at:]
        elif kind == 5:
            made[at:at] = random_.randbytes(random_.randrange(9))
        elif kind == 6:
            del made[at : at + random_.randrange(9)]
        else:
            made[at:at] = made[at : at + random_.randrange(99)]
    return bytes(made)


def load_damaged(seed: int, count: int, told: multiprocessing.connection.Connection) -> None:
    """Load files of one seed; tell every outcome, and which is next, so that a sudden end has a name."""

    def late(*_: object) -> None:
        raise TimeoutError(f"more than {LONGEST_S} s")

    signal.signal(signal.SIGALRM, late)
    host.available_memory = lambda: 2**30  # so that a promise is refused before it hurts
    random_ = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        for i in range(count):
            name, data = damaged(random_)
            keep_ids = random_.random() < 0.1
            told.send(("next", i, name, data))
            signal.alarm(LONGEST_S)
            outcome = outcome_of(Path(folder), name, data, keep_ids=keep_ids)
            signal.alarm(0)
            told.send(("was", i, name, outcome))


def outcome_of(folder: Path, name: str, data: bytes, *, keep_ids: bool = False) -> str:
    """Return one of ``SOUND``, or what is wrong with what came of loading a file."""
    path = folder / name
    path.write_bytes(data)
    outcome, found = loaded(path, keep_ids)
    if name in TEXTS:
        # Arrow and Python have to read the same.
        with mock.patch.object(text, "_fast", return_value=None):
            other = loaded(path, keep_ids)
        if other != (outcome, found):
            return f"read in two ways: {outcome}, {found} and {other}"
    return outcome


def loaded(path: Path, keep_ids: bool) -> tuple[str, object]:
    """Return what came of loading a file, and the graph or what was said."""
    try:
        graph = load_file(path, keep_ids=keep_ids)
        check_structure(graph)
        names = None if graph.vertex_names is None else graph.vertex_names.tolist()
        return "loaded", (graph.digest, names, graph.notes)
    except InputError as error:
        if str(path) not in str(error):
            return f"refused without its name: {error}", None
        return "refused", str(error)
    except OutOfMemory:
        return "too large", None
    except BaseException as error:
        return f"{type(error).__name__}: {error}", None


def files(seconds: float, seed: int) -> int:
    """Load damaged files until the time is over; return the number of failures."""
    counts: collections.Counter[str] = collections.Counter()
    failures = 0
    end = time.monotonic() + seconds
    spawn = multiprocessing.get_context("fork")
    while time.monotonic() < end:
        here, there = spawn.Pipe()
        process = spawn.Process(target=load_damaged, args=(seed, 2000, there))
        process.start()
        there.close()
        last: tuple[int, str, bytes] = (0, "", b"")
        while True:
            try:
                what, i, name, more = here.recv()
            except EOFError:
                break
            if what == "next":
                last = (i, name, more)
                continue
            counts[more if more in SOUND else "failed"] += 1
            if more not in SOUND:
                failures += 1
                print(f"seed {seed}, file {i}, {name}: {more}\n    {last[2]!r}"[:1500], flush=True)
            if time.monotonic() > end:
                process.terminate()
                break
        process.join()
        if process.exitcode not in (0, -signal.SIGTERM):
            failures += 1
            print(f"seed {seed}, file {last[0]}, {last[1]}: ended by {process.exitcode}\n    {last[2]!r}", flush=True)
        seed += 1
    print(", ".join(f"{number:,} {what}" for what, number in sorted(counts.items())), f"— next seed {seed}")
    return failures


ENDS = {
    "bad.gr": (b"p sp 3 1\na 1 9 3\n", 2),
    "bad.wel": (b"0 1 5\n1 x 3\n", 2),
    "bad.graph": (b"2 1\n2\n9\n", 2),
    "good.gr": (b"p sp 3 1\na 1 2 3\n", 0),
}
"""Files, and the exit code of a run that reads them."""


def exits(seconds: float) -> int:
    """End processes while the cores are busy; return the number that did not end as they should."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            for name, (content, _) in ENDS.items():
                (Path(folder) / name).write_bytes(content)
            paths = [os.path.join(folder, name) for name in ENDS]
            command = [sys.executable, "-c", FORKS, str(seconds), *paths]
            told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    finally:
        for process in busy:
            process.kill()
            process.wait()
    codes = collections.Counter(told)
    print(", ".join(f"{what} ({number} times)" for what, number in sorted(codes.items())))
    return sum(number for what, number in codes.items() if what not in {f"{n} {c}" for n, (_, c) in ENDS.items()})


FORKS = """
import itertools, os, sys, time
import numpy, pyarrow.csv
from gpugraph.errors import InputError
from gpugraph.graph.formats import recognise
from gpugraph.graph.formats.input_file import Source

seconds, *paths = sys.argv[1:]
end = time.monotonic() + float(seconds)
for path in itertools.takewhile(lambda _: time.monotonic() < end, itertools.cycle(paths)):
    if (child := os.fork()) == 0:
        try:
            with Source(path) as source:
                recognise(source).read(source)
        except InputError as error:
            sys.exit(error.exit_code)
        sys.exit(0)
    print(os.path.basename(path), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Forks a process for each run, which reads a file and ends at once.

A fork ends as any process does, the interpreter's end included, but needs no second to begin.
"""


def main() -> int:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for_files = commands.add_parser("files")
    for_files.add_argument("--seconds", type=float, default=60)
    for_files.add_argument("--seed", type=int, default=1)
    for_exits = commands.add_parser("exits")
    for_exits.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    failures = files(given.seconds, given.seed) if given.command == "files" else exits(given.seconds)
    print(f"{failures} failures")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
