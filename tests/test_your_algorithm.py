"""docs/your_algorithm.md, line by line, and the algorithms that ``gpugraph new`` writes."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from gpugraph.ext.plugins.cli import KINDS
from gpugraph.problems.contract import PROBLEMS
from tests.cli.runner import refuse, run, succeed
from tests.emulator.compiler import needs_compiler

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = (DOCS / "your_algorithm.md").read_text("utf-8")
BLOCKS = re.findall(r"```(\w+) ?([^\n]*)\n(.*?)```", PAGE, re.DOTALL)
STEMS = (f"{problem}_{kind}" for problem in PROBLEMS for kind in KINDS)
WRITTEN = [stem for stem in STEMS if (DOCS / "examples" / f"{stem}.py").exists()]


@needs_compiler
def test_every_line_of_the_page_does_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = ""
    for language, how, text in BLOCKS:
        if language == "text":
            for shown in text.split("…"):
                assert shown.strip() in said
        elif language == "sh":
            for line in text.splitlines():
                words = shlex.split(line)
                if words[0] != "gpugraph":
                    subprocess.run(words, check=True)
                    continue
                outcome = run(*words[1:])
                assert outcome.code == (1 if how == "exit=1" else 0), outcome.err
                said = outcome.out + outcome.err
    assert len((tmp_path / "mine.jsonl").read_text().splitlines()) == 4
    assert "fast:driver" in (tmp_path / "mine.html").read_text()
    assert "Graph of 16 vertices. wrong: " in (tmp_path / "wrong.svg").read_text()


def test_the_page_shows_the_file_that_the_command_writes() -> None:
    ((_, name, text),) = [block for block in BLOCKS if block[0] == "python"]
    assert text == (DOCS / "examples" / name).read_text("utf-8")


@pytest.mark.parametrize(
    "stem", [pytest.param(stem, marks=needs_compiler) if stem.endswith("_cuda") else stem for stem in WRITTEN]
)
def test_what_is_written_works_and_tells_how_it_is_tried(
    stem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, kind = stem.split("_")
    monkeypatch.chdir(tmp_path)
    made = succeed("new", "algorithm", "own.py", "--problem", problem, "--kind", kind)
    assert made.out.splitlines() == ["own.py"] + ["own.cu"] * (kind == "cuda")
    usage = shlex.split(made.err.split("try it: gpugraph ")[1])
    assert "own.py:driver" in usage
    (record,) = map(json.loads, succeed(*usage, "--format", "json").out.splitlines())
    assert (record["algorithm"], record["verification"]["status"]) == ("own:driver", "passed")
    again = refuse(2, "new", "algorithm", "own.py", "--problem", problem, "--kind", kind)
    assert "is there already, and is not overwritten" in again


@needs_compiler
@pytest.mark.parametrize(
    ("problem", "graph", "code", "says"),
    [
        ("mst", "path:9,w=0.0..1.0", 2, "add --prepare rank-weights"),
        ("mst", "path:9,w=-5..5", 2, "add --prepare rank-weights"),
        ("sssp", "path:9,w=0.0..1.0", 2, "whole weights of 32 bits, not float64"),
        ("sssp", "path:9,w=4294967295..4294967295", 1, "can be relaxed"),
    ],
)
def test_the_kernels_that_are_written_end_where_weights_are_not_for_them(
    problem: str, graph: str, code: int, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    succeed("new", "algorithm", "own.py", "--problem", problem, "--kind", "cuda")
    outcome = run(problem, graph, "--algo", "own.py:driver", "--device", "emulated", "--repeat", "1")
    assert (outcome.code, says in outcome.err) == (code, True), outcome.err


@pytest.mark.parametrize("name", ["my own.py", "me@work.py", r"my\data\own.py", '"""own".py'])
def test_the_command_that_tries_it_works_for_a_name_with_blanks_and_signs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    usage = shlex.split(succeed("new", "algorithm", name).err.split("try it: gpugraph ")[1])
    assert f"{name}:driver" in usage
    compile(Path(name).read_text("utf-8"), name, "exec")  # a warning is an error here
    assert "verdict     passed" in succeed(*usage).out


def test_there_is_one_in_plain_python_for_every_problem() -> None:
    assert {f"{problem}_python" for problem in PROBLEMS} <= set(WRITTEN)
    assert {stem.split("_")[1] for stem in WRITTEN} == set(KINDS)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("graph", "a.py"), "unknown thing to make 'graph'"),
        (("algorithm", "a.py", "--problem", "mts"), "did you mean 'mst'?"),
        (("algorithm", "a.py", "--kind", "nunba"), "did you mean 'numba'?"),
        (("algorithm", "a.txt"), "end its name in .py"),
        (("algorithm", ".py"), "end its name in .py"),
        (("algorithm", "a.py", "--problem", "scan", "--kind", "cuda"), "take --kind python"),
        (("algorithm", "no/folder/a.py"), "make the folder first"),
    ],
)
def test_what_cannot_be_written_is_reported(
    words: tuple[str, ...], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert says in refuse(2, "new", *words)
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------ what may be returned


@pytest.mark.parametrize(
    ("problem", "body", "says"),
    [
        ("mst", "return [(0, 1), (2, 1)]", None),
        ("mst", "return [[1, 0], [1, 2]]", None),
        ("mst", "return [0, 2]", None),
        ("mst", "return [(0, 2), (1, 2)]", "the pair (0, 2), which is no edge"),
        ("mst", "return [(0, 1), (1, 7)]", "the pair (1, 7), which is no edge"),
        ("mst", "return []", "joins two trees"),
        ("mst", "return ['a']", "run returned a list, not the edges of a forest"),
        ("sssp", "return [0, 1, 2]", None),
        ("sssp", "return [0.0, 1.0, 2.0]", None),
        ("sssp", "import numpy as np; return np.array([0, 1, 2], np.int32)", None),
        ("sssp", "return [0, 1, float('inf')]", "vertex 2 is unreached"),
        ("sssp", "return [0, 1, 2.5]", "the distance 2.5 of vertex 2, which no uint64 is exactly"),
        ("sssp", "return [0, -1, 2]", "the distance -1 of vertex 1"),
        ("sssp", "return [0, float('nan'), 2]", "the distance nan of vertex 1"),
        ("sssp", "return [0, 1, 1e17]", "the distance 1e+17 of vertex 2"),
        ("sssp", "return [0, 1]", "not the 3 distances"),
        ("components", "return [0, 0, 0]", None),
        ("components", "return [0, 1, 1]", "labelled"),
    ],
)
def test_answers_are_taken_in_natural_terms(problem: str, body: str, says: str | None, tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(f"def driver(view, clock, *query):\n    {body}\n")
    more = ("--source", "0") if problem == "sssp" else ()
    outcome = run(problem, "path:3,w=unit", *more, "--algo", f"{file}:driver", "--device", "cpu")
    assert outcome.code == (0 if says is None else 1 if "returned" not in outcome.err else 2), outcome.err
    if says is not None:
        assert says in outcome.err
