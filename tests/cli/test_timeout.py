"""``--timeout`` ends what hangs: with one line and code 3, whoever holds the interpreter."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gpugraph.ext.plugins.supervised import limit_in
from tests.cli.runner import refuse
from tests.emulator.compiler import needs_compiler
from tests.tiers import extended

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "sssp_cuda.py"

HOLDS_THE_INTERPRETER = """
class Driver:
    problem = "mst"
    devices = ("cpu",)
    def prepare(self, view, device): return view
    def run(self, state, clock):
        import re
        re.match("(a+)+$", "a" * 200 + "b")  # takes for ever, and no other thread or signal has a turn
driver = Driver()
"""


def command(*words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "gpugraph", *words]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)


def hanging_kernel(folder: Path) -> str:
    """Return a driver whose kernel never ends."""
    driver = folder / "own.py"
    driver.write_text(EXAMPLE.read_text())
    text = EXAMPLE.with_suffix(".cu").read_text()
    text = text.replace("if (length == 0xffffffffu) continue;", "while (length == length) {}")
    driver.with_suffix(".cu").write_text(text)
    return f"{driver}:driver"


def check_line(ended: subprocess.CompletedProcess[str], begins: str) -> None:
    assert ended.returncode == 3, ended
    assert ended.stdout == ""
    assert ended.stderr.splitlines() == [
        f"gpugraph: error: {begins}did not end within 2 s and was killed — raise --timeout, or take a smaller graph"
    ]


@needs_compiler
@pytest.mark.parametrize("words", [("sssp",), ("races", "sssp")])
def test_a_kernel_that_hangs_is_killed_in_time(tmp_path: Path, words: tuple[str, ...]) -> None:
    driver = hanging_kernel(tmp_path)
    where = ("--device", "emulated") if words == ("sssp",) else ()
    check_line(command(*words, "path:3", "--algo", driver, *where, "--timeout", "2", "-q"), f"{driver}: ")


def test_code_that_holds_the_interpreter_is_killed_in_time(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(HOLDS_THE_INTERPRETER)
    words = ("mst", "path:3", "--algo", f"{path}:driver", "--timeout=2", "-q", "--device", "cpu")
    check_line(command(*words), f"{path}:driver: ")


@pytest.mark.parametrize("device", ["cpu", "cpu*2"])
def test_an_algorithm_of_the_package_is_killed_in_time_with_all_its_ranks(device: str) -> None:
    check_line(command("mst", "rmat:16", "--device", device, "--repeat", "1000000", "--timeout", "2", "-q"), "")


@pytest.mark.parametrize("limit", ["2s", "2000ms", "0.03333333333333333m"])
def test_a_limit_with_a_unit_is_kept_like_a_number_of_seconds(limit: str) -> None:
    check_line(command("mst", "rmat:10", "--device", "cpu", "--repeat", "1000000", f"--timeout={limit}", "-q"), "")


PEER = "p = {command = 'true {graph.gr}', time = 'whole'}"


@pytest.mark.parametrize(
    ("words", "limit_s"),
    [
        ("--algo kruskal, --timeout 2", 2.0),
        ("--algo kruskal --algo kruskal,kruskal --timeout 2", 2.0),
        ("--peer , --timeout 2", 2.0),
        ("--peer-command PEER --timeout 2", 2.0),
        ("--peer-command PEER --algo peer:p --timeout 2", 2.0),
        ("--algo kruskal,boruvka --timeout 2", None),
        ("--peer-command PEER --algo kruskal --timeout 2", None),
        ("--peer-command PEER --peer-command PEER --timeout 2", None),
        ("--peer-command nonsense --timeout 2", 2.0),
    ],
)
def test_a_limit_is_of_the_command_unless_several_compete_in_it(words: str, limit_s: float | None) -> None:
    assert limit_in(["mst", "path:3", *(PEER if word == "PEER" else word for word in words.split())]) == limit_s


@extended
def test_of_several_algorithms_only_the_one_that_hangs_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(HOLDS_THE_INTERPRETER)
    words = ("mst", "path:3", "--algo", f"kruskal,{path}:driver", "--device", "cpu", "--repeat", "3", "-q")
    for limit_s in ("5", "100"):
        saved = tmp_path / f"{limit_s}.jsonl"
        ended = command(*words, "--format", "csv", "--timeout", limit_s, "--save", str(saved))
        records = map(json.loads, saved.read_text().splitlines())
        outcomes = {record["algorithm"]: record["outcome"] for record in records}
        if outcomes["kruskal"] == "ok":  # else even starting it took longer
            break
    assert ended.returncode == 0, ended
    assert outcomes == {"kruskal": "ok", f"{path}:driver": "timeout"}


def test_a_command_that_ends_in_time_is_left_alone() -> None:
    ended = command("mst", "path:3", "--timeout", "1e9", "--device", "cpu", "-q", "--format", "json")
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("wrong", ["0", "-1", "soon"])
def test_a_time_limit_is_a_number_of_seconds(wrong: str) -> None:
    assert "--timeout" in refuse(2, "mst", "path:3", "--timeout", wrong)
