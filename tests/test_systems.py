"""Other systems than Linux are refused in one line: nothing of the package has been tried there."""

from __future__ import annotations

import subprocess
import sys

import pytest


def on(system: str, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    text = f"import sys; sys.platform = {system!r}; sys.argv = {list(words)!r}; {program}"
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("system", ["darwin", "win32"])
@pytest.mark.parametrize("name", ["/usr/local/bin/gpugraph", "C:\\Scripts\\gpugraph.exe", "-m"])
def test_a_command_on_another_system_ends_with_one_line(system: str, name: str) -> None:
    done = on(system, "import gpugraph", name, "mst", "rmat:4")
    assert done.returncode == 3
    assert done.stderr == (
        f"gpugraph: error: gpugraph runs on Linux, not on {system}; use a virtual machine, a container or WSL 2\n"
    )


def test_a_program_on_another_system_gets_an_exception() -> None:
    done = on("darwin", "import gpugraph", "mine.py")
    assert done.stderr.splitlines()[-1].startswith("ImportError: gpugraph runs on Linux, not on darwin")


def test_linux_is_not_refused() -> None:
    assert on("linux", "import gpugraph", "mine.py").returncode == 0
