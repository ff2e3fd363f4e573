"""External programs that misbehave: each ends in one line about itself, and the next program gets a right verdict."""

from __future__ import annotations

import re
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gpugraph.base.errors import GpuGraphError
from gpugraph.base.host import available_memory
from gpugraph.ext.peers import command_peer, register_commands
from gpugraph.graph.generate import generate
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import run_cell
from gpugraph.problems.mst.verify import reference_forest
from tests.hostile.trials import Part, Trial

GRAPH = generate("grid:9x9,w=1..9")
WEIGHT = int(GRAPH.weights[reference_forest(GRAPH)].sum())
GOOD = "print('took 0.001')\nprint('sum', SUM)\n"
ALTER = "os.chmod(file, 0o600)\nopen(file, 'a').write('0 1 1\\n')\n"
REMOVE = "os.chmod(os.path.dirname(file), 0o700)\nos.unlink(file)\n"
HIDE = "os.truncate(file, s.st_size)\nos.utime(file, ns=(s.st_atime_ns, s.st_mtime_ns))\n"

BEHAVIOURS: dict[str, tuple[str, str]] = {
    "is honest": ("", ""),
    "alters its graph": (ALTER, "has changed graph.wel"),
    "removes its graph": (REMOVE, "has changed graph.wel"),
    "puts a folder there": (f"{REMOVE}os.mkdir(file)\n", "has changed graph.wel"),
    "alters it and hides the time": (f"s = os.stat(file)\n{ALTER}{HIDE}", "has changed graph.wel"),
    "links its result to what never ends": ("os.symlink('/dev/zero', result)\n", "is a link"),
    "makes its result a pipe": ("os.mkfifo(result)\n", "no regular file"),
    "makes its result a folder": ("os.mkdir(result)\n", "no regular file|is a directory"),
    "writes a hole of a gigabyte": ("open(result, 'w').truncate(1 << 30)\n", "its result file has|ended"),
    "writes one endless line": ("open(result, 'w').write('1 ' * 100_000)\n", "more than 8 columns"),
    "writes what is no number": ("open(result, 'wb').write(b'\\xff' + os.urandom(999))\n", "result"),
    "prints an endless sum": ("SUM = '1' * 1_000_000\n", "more than 100 characters"),
    "prints no number": ("SUM = 'nan'\n", "nan"),
    "prints a number beyond all": ("SUM = '1e999999999'\n", "1e999999999"),
    "leaves a child behind": ("if os.fork() == 0:\n    time.sleep(60)\n    os._exit(0)\n", ""),
    "exits with 130": ("sys.exit(130)\n", "with exit code 130"),
    "exits with 137": ("sys.exit(137)\n", "with exit code 137"),
    "dies of a signal": ("os.kill(os.getpid(), 11)\n", "by SIGSEGV"),
    "kills its group": ("os.killpg(0, 15)\n", "by SIGTERM"),
    "kills who watches it": ("os.kill(os.getppid(), 9)\ntime.sleep(9)\n", "by SIGKILL"),
    "prints for ever": ("while True:\n    os.write(1, b'x' * 65536)\n", "ended"),
    "takes all memory": ("held = [bytearray(1 << 26) for _ in range(1 << 20)]\n", "memory, of which it may take"),
    "lets a child take all memory": (
        "pid = os.fork()\nif pid == 0:\n    held = [bytearray(1 << 26) for _ in range(1 << 20)]\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n",
        "memory, of which it may take",
    ),
    "closes all": ("os.closerange(0, 100)\nos._exit(0)\n", "printed nothing"),
    "prints an escape": ("os.write(2, b'\\x1b[31m\\x9b bad')\nsys.exit(3)\n", "with exit code 3"),
}
"""What a program does before it prints the right answer, and what is said of it; nothing where it may."""


@contextmanager
def limits() -> Iterator[None]:
    """Bound what a program may print and this process may hold, so that a failure harms no machine."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command_peer, "MOST_WRITTEN", 1 << 24)
        patch.setattr(command_peer, "MOST_MEMORY", min(0.9, (1 << 30) / available_memory()))
        held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()  # by tests before, too
        resource.setrlimit(resource.RLIMIT_AS, (held + (16 << 30), before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)


def ended(folder: Path, name: str) -> str:
    """Let a program behave so on the graph that all share; return the error that it ends in, or its verdict."""
    body, _ = BEHAVIOURS[name]
    head = f"import os, sys, time\nfile, result = sys.argv[1], sys.argv[2]\nSUM = {WEIGHT}\n"
    (folder / "program.py").write_text(head + body + GOOD)
    command = f"'{sys.executable}' '{folder / 'program.py'}' {{graph.wel}}"
    table = {"time": "took (.+)", "timeout": "120s", "problem": "mst"}
    if "result" in body:
        table["command"] = f"{command} {{result}}"
    else:
        table |= {"command": f"{command} none", "weight": "sum (.+)"}
    register_commands({"x": table})
    try:
        record = run_cell(Cell("mst", GRAPH, "peer:x", device="cpu", repeat=2, warmup=0, phases=False))
    except GpuGraphError as error:
        return str(error)
    finally:
        register_commands({})
    return f"{record.status}: {record.shape.verification.detail}"


def check(folder: Path, name: str) -> None:
    """Let a program behave so, then an honest one: raises AssertionError unless each gets what it deserves."""
    with limits():
        end = ended(folder, name)
        wanted = BEHAVIOURS[name][1] or "^passed"
        assert re.search(wanted, end), f"{name}: {end}"
        assert "\n" not in end
        honest = ended(folder, "is honest")
        assert honest.startswith("passed"), honest


def try_peer(trial: Trial) -> str:
    """Run one program that misbehaves, and an honest one behind it."""
    name = list(BEHAVIOURS)[trial.number % len(BEHAVIOURS)]
    check(trial.folder, name)
    return "named" if BEHAVIOURS[name][1] else "fine"


PART = Part("peers", "external programs that misbehave, each followed by an honest one", 100, try_peer, 4)
