"""External commands that misbehave are named themselves, and no other program suffers for it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from gpugraph.base.errors import GpuGraphWarning
from gpugraph.base.host import total_memory
from gpugraph.ext.peers import PeerThrew, command_peer, matching, register_commands
from gpugraph.ext.peers.command_peer import run_command
from gpugraph.ext.peers.graph_files import altered_files, graph_file, result_path
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


def test_a_program_that_removes_all_files_is_named_and_the_next_has_them_again(tmp_path: Path) -> None:
    assert ended(tmp_path, "is honest").startswith("passed")
    folder = graph_file(SHARED, "wel", "peer:x").parent
    folder.chmod(0o755)
    shutil.rmtree(folder)
    with pytest.warns(GpuGraphWarning, match=r"peer:x has changed graph\.wel"):
        assert ended(tmp_path, "is honest").startswith("passed")
    assert result_path(SHARED, 1).parent.is_dir()


def test_a_change_by_the_command_before_is_put_down_to_its_own_program(tmp_path: Path) -> None:
    changing = script(tmp_path, "import os, sys; os.chmod(sys.argv[1], 0o644); open(sys.argv[1], 'a').write('0 1 1')")
    command = f"{sys.executable} -c pass {{graph.wel}}"
    register_commands({"mine": {"command": command, "before": f"{changing} {{graph.wel}}", "time": "whole"}})
    with pytest.raises(PeerThrew, match=r"peer:mine: it has changed graph\.wel"):
        measured(zoo("random"), "peer:mine")


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


def test_a_pattern_that_matches_everywhere_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command_peer, "MOST_FOUND", 1000)
    command = f"{script(tmp_path, 'print(1001 * chr(55))')} {{graph.egr}}"
    register_commands({"mine": {"command": command, "time": "(7)"}})
    with pytest.raises(PeerThrew, match=r"'\(7\)' matches more than 1,000 times"):
        measured(zoo("random"), "peer:mine")


def test_a_match_that_never_ends_does_not_outlive_a_measurement_that_is_killed(tmp_path: Path) -> None:
    source = Path(matching.__file__).read_text().replace("_LONGEST_S = 60", "_LONGEST_S = 1")
    assert "_LONGEST_S = 1\n" in source
    (tmp_path / "matching.py").write_text(source)
    asked = json.dumps([["(?:a+)+(c)"], 40 * "a" + "b", 101, 9])
    ended = subprocess.run([sys.executable, tmp_path / "matching.py"], input=asked, text=True, timeout=300)
    assert ended.returncode == -signal.SIGALRM


def test_a_program_that_dies_of_a_small_share_of_the_memory_is_not_said_to_have_run_out(tmp_path: Path) -> None:
    with pytest.raises(PeerThrew, match=r"^peer:mine: it ended with exit code 3, and printed nothing$"):
        run_command([sys.executable, "-c", "import sys; sys.exit(3)"], 60, "peer:mine")


def test_what_a_program_may_take_of_the_memory_is_less_than_what_is_free() -> None:
    body = "import resource; print(resource.getrlimit(resource.RLIMIT_DATA)[0])"
    limit = int(run_command([sys.executable, "-c", body], 60, "peer:mine").output)
    assert 0 < limit < total_memory()
