from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.runner import refuse, run, succeed
from tests.emulator.compiler import needs_compiler

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "sssp_cuda.py"


@needs_compiler
def test_the_algorithm_that_loses_updates_is_caught_and_the_line_is_named() -> None:
    words = ("races", "sssp", "counterexample:64", "--source", "0", "--schedules", "2", "--format", "json")
    caught = run(*words, "--algo", "harish-narayanan")
    shown = json.loads(caught.out)
    assert caught.code == 1
    assert shown["races"]
    assert re.search(r"harish_narayanan.cu:\d+", caught.err)
    ours = json.loads(succeed(*words, "--algo", "dijkstra").out)
    assert (ours["races"], ours["wrong"], ours["runs"]) == ([], [], 2)


@needs_compiler
def test_a_race_in_an_algorithm_of_the_users_own_is_named_unless_it_says_why(tmp_path: Path) -> None:
    driver, kernel = tmp_path / "own.py", tmp_path / "own.cu"
    driver.write_text(EXAMPLE.read_text())
    text = EXAMPLE.with_suffix(".cu").read_text()
    kernel.write_text(text)
    words = ("races", "sssp", "rmat:5", "--algo", f"{driver}:driver", "--schedules", "2")
    assert "own:driver: 0 races, 0 wrong results in 2 schedules" in succeed(*words).out
    kernel.write_text(text.replace("atomicExch(changed, 1u)", "*changed = 1"))
    caught = run(*words)
    assert caught.code == 1
    assert re.search(r"write at own.cu:\d+ .* races with .*, 'changed', global memory", caught.out)
    line = "if (sum < atomicMin(&distance[targets[arc]], sum)) *changed = 1;"
    assert f" | {line}\n" in caught.out
    assert re.search(rf"^ +\| {' ' * line.index('changed')}\^$", caught.out, re.MULTILINE)


@needs_compiler
def test_an_access_out_of_bounds_of_the_users_own_kernel_is_an_error_that_shows_the_line(tmp_path: Path) -> None:
    driver = tmp_path / "own.py"
    driver.write_text(EXAMPLE.read_text())
    text = EXAMPLE.with_suffix(".cu").read_text()
    driver.with_suffix(".cu").write_text(text.replace("atomicExch(changed, 1u)", "changed[5] = 1"))
    caught = run("sssp", "rmat:5", "--algo", f"{driver}:driver", "--device", "emulated", "-q")
    assert caught.code == 2
    line, shown, caret = caught.err.splitlines()
    assert "out of bounds: write of 4 bytes at own.cu:21, " in line
    assert "20 bytes past the end of 'changed', an array of 4 bytes" in line
    assert shown.index("changed[5]") == caret.index("^")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("mst", "grid:3x3", "--source", "3"), "mst has no source"),
        (("scan", "array:n=9", "--directed"), "none of the options of graphs"),
        (("scan", "array:n=9", "--seed", "7"), "none of the options of graphs"),
    ],
)
def test_an_option_that_the_problem_does_not_have_is_refused(words: tuple[str, ...], said: str) -> None:
    assert said in refuse(2, "races", *words)


@needs_compiler
def test_a_wrong_result_is_reported_with_its_schedule(tmp_path: Path) -> None:
    driver = tmp_path / "own.py"
    driver.write_text(
        EXAMPLE.read_text().replace("return distance", "device.fill(distance, 7)\n                return distance")
    )
    (tmp_path / "own.cu").write_text(EXAMPLE.with_suffix(".cu").read_text())
    drawn = tmp_path / "wrong.svg"
    caught = run("races", "sssp", "path:4", "--algo", f"{driver}:driver", "--schedules", "1", "--draw", str(drawn))
    assert caught.code == 1
    assert "schedule 1: " in caught.out
    assert "let an atomic" not in caught.err
    assert re.search(r"^ +\d  7, not \d+$", caught.out, re.MULTILINE)
    assert "Graph of 4 vertices. " in drawn.read_text()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("sspp", "path:3"), "did you mean 'sssp'?"),
        (("mst", "path:3", "--algo", "kruskal"), "name one that runs on 'emulated' in: gpugraph algos --problem mst"),
        (("mst", "path:3", "--algo", "peer:scipy"), "a peer has no kernels of ours"),
        (("mst", "path:3", "--schedules", "0"), "0 is not in the range"),
    ],
)
def test_what_has_no_kernels_is_refused(words: tuple[str, ...], says: str) -> None:
    assert says in refuse(2, "races", *words)


@needs_compiler
def test_a_race_that_a_comment_excuses_is_listed_with_its_reason(tmp_path: Path) -> None:
    driver = tmp_path / "own.py"
    driver.write_text(EXAMPLE.read_text())
    text = EXAMPLE.with_suffix(".cu").read_text()
    excused = "*changed = 1;  // race-allowed: all write 1"
    driver.with_suffix(".cu").write_text(text.replace("atomicExch(changed, 1u);", excused))
    words = ("races", "sssp", "rmat:5", "--algo", f"{driver}:driver", "--schedules", "2")
    assert re.search(r"excused in bellman_ford_relax, own.cu:21: all write 1", succeed(*words).out)
    (reason,) = json.loads(succeed(*words, "--format", "json").out)["excused"]
    assert reason.endswith("all write 1")


@pytest.mark.parametrize("name", ["sssp_cuda.cu", "mst_cuda.cu"])
def test_a_template_excuses_no_race_on_a_line_that_a_user_edits(name: str) -> None:
    text = (EXAMPLE.parent / name).read_text()
    kernels = text[text.index('extern "C"') :]
    assert "race-allowed" not in kernels
