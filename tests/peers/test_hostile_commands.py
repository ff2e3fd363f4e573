"""External commands that misbehave are named themselves, and no other program suffers for it."""

from __future__ import annotations

import os
import stat
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from gpugraph.base.errors import GpuGraphWarning
from gpugraph.base.host import total_memory
from gpugraph.ext.peers import PeerThrew, command_peer, register_commands
from gpugraph.ext.peers.command_peer import run_command
from gpugraph.ext.peers.graph_files import altered_files, graph_file
from gpugraph.graph.generate import generate
from tests.hostile.peers import BEHAVIOURS, check, ended
from tests.hostile.peers import GRAPH as SHARED
from tests.peers.helpers import measured, script
from tests.tiers import only
from tests.zoo import zoo


@pytest.mark.parametrize("name", only([*BEHAVIOURS][::4], BEHAVIOURS))
def test_a_program_that_misbehaves_is_named_and_the_next_is_right(tmp_path: Path, name: str) -> None:
    check(tmp_path, name)


def test_the_files_of_a_graph_are_for_reading() -> None:
    graph = generate("path:9")
    file = graph_file(graph, "wel", "peer:mine")
    assert stat.S_IMODE(file.stat().st_mode) == 0o444
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o555
    content = file.read_bytes()
    os.chmod(file, 0o600)
    file.write_bytes(b"other")
    assert altered_files(graph) == ["graph.wel"]
    assert file.read_bytes() == content
    assert altered_files(graph) == []


def test_a_change_between_two_runs_is_put_down_to_the_program_that_ran_last(tmp_path: Path) -> None:
    assert ended(tmp_path, "is honest").startswith("passed")
    file = graph_file(SHARED, "wel", "peer:x")
    file.parent.chmod(0o755)
    file.unlink()
    file.write_text("0 1 1\n")
    with pytest.warns(GpuGraphWarning, match=r"peer:x has changed graph\.wel"):
        assert ended(tmp_path, "is honest").startswith("passed")


@pytest.mark.parametrize("leaves", ["", "os.setsid()", "os.setsid(); signal.signal(15, signal.SIG_IGN); os.fork()"])
@pytest.mark.parametrize("end", ["", "time.sleep(1000)", "os.kill(os.getppid(), 9)"])
def test_what_a_program_leaves_behind_ends_with_it(tmp_path: Path, leaves: str, end: str) -> None:
    if leaves and "kill" in end:
        pytest.skip("who kills its supervisor and leaves its group is out of reach")
    body = (
        f"import os, signal, sys, time\npid = os.fork()\nif pid == 0:\n    {leaves or 'pass'}\n    time.sleep(1000)\n"
        f"open(sys.argv[1], 'w').write(str(pid))\ntime.sleep(0.2)\n{end}\n"
    )
    (tmp_path / "p.py").write_text(body)
    for limit_s in (3, 60) if "sleep" in end else (300,):
        with nullcontext() if not end else pytest.raises(PeerThrew):
            run_command([sys.executable, str(tmp_path / "p.py"), str(tmp_path / "pid")], limit_s, "peer:mine")
        if (tmp_path / "pid").exists():  # else it was ended while Python started
            break
    stat_of, until = Path(f"/proc/{(tmp_path / 'pid').read_text()}/stat"), time.monotonic() + 300
    while stat_of.exists() and " Z " not in stat_of.read_text():
        assert time.monotonic() < until, "it still runs"
        time.sleep(0.01)


@pytest.mark.parametrize("hanging", ["time", "weight"])
def test_of_two_patterns_the_one_that_never_ends_is_named_and_given_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, hanging: str
) -> None:
    monkeypatch.setattr(command_peer, "MATCHING_S", 2.0)
    command = f"{script(tmp_path, 'print(1.5); print(chr(97) * 40 + chr(98))')} {{graph.egr}}"
    patterns = {"time": "([0-9.]+)", "weight": "([0-9.]+)", hanging: "(?:a+)+(c)"}
    register_commands({"mine": {"command": command, **patterns}})
    with pytest.raises(PeerThrew, match=r"the pattern '\(\?:a\+\)\+\(c\)' did not get through its output in 2 s"):
        measured(zoo("random"), "peer:mine")


def test_a_program_that_dies_of_a_small_share_of_the_memory_is_not_said_to_have_run_out(tmp_path: Path) -> None:
    with pytest.raises(PeerThrew, match=r"^peer:mine: it ended with exit code 3, and printed nothing$"):
        run_command([sys.executable, "-c", "import sys; sys.exit(3)"], 60, "peer:mine")


def test_what_a_program_may_take_of_the_memory_is_less_than_what_is_free() -> None:
    body = "import resource; print(resource.getrlimit(resource.RLIMIT_DATA)[0])"
    limit = int(run_command([sys.executable, "-c", body], 60, "peer:mine").output)
    assert 0 < limit < total_memory()
