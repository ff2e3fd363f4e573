"""A record that an earlier version of our code has measured is marked wherever it is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gpugraph
from gpugraph.ext.comparing.versions import digests_of, version
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import run_cell
from tests.cli.runner import run, succeed

MARKED, EXPLAINED = "kruskal †", "† Measured with an earlier version of kruskal."


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with records of today's code, and ``old.jsonl``, in which kruskal's is of other sources."""
    folder = tmp_path_factory.mktemp("records")
    made = [
        run_cell(Cell("mst", graph, name, "cpu", repeat=6, phases=False)).data
        for graph in ("path:9", "path:99")
        for name in ("kruskal", "prim")
    ]
    for name, digest in (("today", ""), ("old", "0" * 64)):
        changed = [
            {**one, "provenance": {**one["provenance"], "sources_sha256": digest}}
            if digest and one["algorithm"] == "kruskal"
            else one
            for one in made
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in changed))
    return folder


SHOWN = {
    "summary": ("report", "{}"),
    "markdown": ("report", "{}", "--format", "markdown"),
    "ranking": ("compare", "{}", "--by", "algorithm"),
    "plot": ("plot", "{}"),
    "page": ("report", "{}", "-o", "out.html"),
    "svg": ("plot", "{}", "-o", "out.svg"),
    "ranking, Markdown": ("compare", "{}", "--by", "algorithm", "--export", "out.md"),
}


@pytest.mark.parametrize("words", SHOWN.values(), ids=SHOWN)
def test_an_earlier_versions_record_is_marked_and_the_mark_explained_once_and_todays_is_not(
    records: Path, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("old", "today"):
        shown = succeed(*(word.format(records / f"{name}.jsonl") for word in words)).out
        written = [path.read_text("utf-8") for path in tmp_path.glob("out.*")]
        text = " ".join((written[0] if written else shown).split())
        assert (MARKED in text, "prim †" in text) == (name == "old", False)
        if ".svg" in words[-1]:  # each point has it among the words for screen readers
            assert (EXPLAINED in text) == (name == "old")
        else:
            assert text.count(EXPLAINED) == (name == "old") * (2 if "--export" in words else 1)  # each table by itself


def test_latex_csv_and_the_records_of_python_mark_it_too(
    records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    old = str(records / "old.jsonl")
    succeed("compare", old, "--by", "algorithm", "--export", "out.tex")
    assert r"{kruskal \textdagger{}}" in (tmp_path / "out.tex").read_text("utf-8")
    assert f">{EXPLAINED}</p>" in succeed("report", old, "--format", "html").out
    header, *lines = succeed("report", old, "--format", "csv").out.splitlines()
    place = header.split(",").index("version")
    assert sorted(line.split(",")[place] for line in lines) == ["", "", "earlier", "earlier"]
    assert "version" not in succeed("report", records / "today.jsonl", "--format", "csv").out.split("\n")[0].split(",")
    shown = gpugraph.read_records(old)
    assert MARKED in repr(shown)
    assert EXPLAINED in repr(shown)
    assert MARKED in shown._repr_html_()


def test_a_bench_that_goes_on_marks_what_its_file_has_of_earlier_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("--algo", "kruskal@cpu", "--max-seconds", "0.1", "--save", "r.jsonl")
    succeed("bench", "path:9", *words)
    today = Path("r.jsonl").read_text("utf-8")
    digest = json.loads(today)["provenance"]["sources_sha256"]
    for text, marks in ((today, 0), (today.replace(digest, "0" * 64), 1)):
        Path("r.jsonl").write_text(text, "utf-8")
        shown = succeed("bench", "path:9", "path:12", *words, "--resume").out
        assert (shown.count(MARKED), shown.count(EXPLAINED), "2 cells: 2 verified" in shown) == (marks, marks, True)


def test_a_cell_that_ended_before_its_code_was_known_is_of_no_earlier_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.mtx").write_text("no graph", "utf-8")
    words = ("bench", "bad.mtx", "path:9", "--algo", "auto@cpu", "--max-seconds", "0.1", "--save", "r.jsonl")
    for more in ((), ("--resume",)):
        shown = run(*words, *more).out
        assert ("refused" in shown, "†" in shown) == (True, False)


def test_names_for_programs_have_no_mark(records: Path) -> None:
    old = str(records / "old.jsonl")
    ranked = json.loads(succeed("compare", old, "--by", "algorithm", "--format", "json").out)
    assert "†" not in json.dumps([one["order"] for one in ranked["rankings"]], ensure_ascii=False)
    succeed("compare", old, "--by", "algorithm", "--reference", "kruskal")


def test_a_history_marks_the_last_time_if_the_code_has_changed_since(records: Path) -> None:
    shown = succeed("history", str(records)).out
    assert shown.count(" †\n") in (0, 2)
    for row in gpugraph.read_records(str(records / "old.jsonl")):
        assert version(row) == ("earlier" if row.algorithm == "kruskal" else "")
        assert digests_of(row)
