"""Other systems than Linux: records are read, compared, drawn and checked there, and nothing is measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

REAL = Path(__file__).parent / "report" / "real.jsonl"

WITHOUT = '''
import asyncio, importlib.metadata, json, os, signal, sys
import click._compat, click.testing, jinja2, msgspec, numpy, rich.console, rich.text, scipy.sparse.csgraph
import multiprocessing, subprocess  # all of these ask for the system themselves

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("cupy", "fcntl", "grp", "numba", "pwd", "resource", "termios"):
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)

sys.meta_path.insert(0, Missing())
assert "numba" not in sys.modules
for module in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules.pop(module, None)
for home, names in (
    (os, "O_CLOEXEC O_DIRECTORY O_NOFOLLOW fchmod fork geteuid getloadavg getuid killpg posix_fadvise preadv"
         " sched_getaffinity sched_setaffinity setsid sysconf"),
    (signal, "ITIMER_REAL SIGALRM SIGCHLD SIGHUP SIGKILL SIGQUIT SIGUSR1 SIG_BLOCK SIG_SETMASK"
             " pthread_sigmask setitimer"),
):
    for name in names.split():
        delattr(home, name)
sys.platform = sys.argv[1]

from gpugraph.cli.process import ignore_signals, take_signals
take_signals()
from gpugraph.cli.group import cli
found = [click.testing.CliRunner().invoke(cli, words) for words in json.loads(sys.argv[2])]
print(json.dumps([[one.exit_code, one.stdout, one.stderr] for one in found]))
ignore_signals()
'''  # fmt: skip
"""Runs commands without what Windows and macOS lack: modules, and names of ``os`` and ``signal``."""


def on(system: str, *words: str) -> subprocess.CompletedProcess[str]:
    text = "import asyncio, shutil, sys, click._termui_impl, click.shell_completion\n"  # these ask themselves
    text += f"sys.platform = {system!r}; sys.argv = {['gpugraph', *words]!r}\n"
    text += "from gpugraph.__main__ import main; main()"
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300)


def commands_on(system: str, *commands: list[object]) -> list[list[object]]:
    words = json.dumps([[str(word) for word in one] for one in commands])
    done = subprocess.run([sys.executable, "-c", WITHOUT, system, words], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_what_needs_records_alone_runs_without_linux_numba_and_cupy(system: str, tmp_path: Path) -> None:
    outcomes = commands_on(
        system,
        ["report", REAL],
        ["report", REAL, "-o", tmp_path / "r.md"],
        ["compare", REAL, REAL],
        ["compare", REAL, "--by", "algorithm", "--export", tmp_path / "e.json"],
        ["plot", REAL],
        ["check-record", REAL],
        ["mst", "grid:4x4"],
    )
    report, written, compared, ranked, drawn, checked, refused = outcomes
    assert [one[0] for one in outcomes] == [0, 0, 0, 0, 0, 1, 3], outcomes
    assert "Every result is verified." in report[1]
    assert (tmp_path / "r.md").read_text().count("\n| ") > 10
    assert "same" in compared[1] or "unclear" in compared[1]
    assert len(json.loads((tmp_path / "e.json").read_text())["records"]) == 10, ranked
    assert "MTEPS" in drawn[1]
    assert "10 records checked, 10 with findings" in checked[1]
    assert " answer: " not in checked[1]
    assert f"answers are not compared with ones computed here: gpugraph runs on Linux, not on {system}" in checked[2]
    assert refused[2].startswith(f"gpugraph: error: gpugraph runs on Linux, not on {system}"), written


@pytest.mark.parametrize("system", ["darwin", "win32"])
@pytest.mark.parametrize("words", [("mst", "rmat:4"), ("bench", "rmat:4"), ("sssp", "rmat:4", "--timeout", "9")])
def test_a_command_that_measures_ends_with_one_line_on_another_system(system: str, words: tuple[str, ...]) -> None:
    done = on(system, *words)
    assert done.returncode == 3
    assert done.stderr == (
        f"gpugraph: error: gpugraph runs on Linux, not on {system} — use a virtual machine, a container or WSL 2\n"
    )


def test_a_program_on_another_system_gets_an_exception_where_it_measures() -> None:
    text = "import sys; sys.platform = 'darwin'; import gpugraph; gpugraph.read_records; gpugraph.mst"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300)
    assert done.stderr.splitlines()[-1] == "ImportError: gpugraph.mst: gpugraph runs on Linux, not on darwin"


def test_linux_is_not_refused() -> None:
    assert on("linux", "mst", "path:4", "--device", "cpu", "--repeat", "1", "-q").returncode == 0
