"""Graphs that share a name are told apart wherever records are shown together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpugraph.ext.comparing.cells import label
from gpugraph.ext.comparing.ranking import rank
from gpugraph.ext.reports import render, styles
from gpugraph.records.record import Record, with_distinct_names
from tests.cli.runner import run, succeed
from tests.report.canned import mst_record
from tests.tiers import extended, first


def record(source: str, digest: str | None, **changes: Any) -> Record:
    name = Path(source).stem if digest else source
    graph = {**mst_record()["graph"], "name": name, "source": source, "digest": digest}
    return Record.of(mst_record(graph=graph, **changes))


def test_cells_that_differ_in_threads_or_in_who_chose_their_algorithm_are_told_apart() -> None:
    asked: list[dict[str, str]] = [{"device": "cpu"}, {"device": "cpu/1"}, {"device": "cpu", "algorithm": "auto"}]
    rows = [Record.of(mst_record(cell={"axes": {"algorithm": "boruvka", **one}})) for one in asked]
    plain, one_thread, chosen = [row.name.partition(", ")[2] for row in label(rows)]
    assert (plain, one_thread, chosen) == ("", "device=cpu/1", "algorithm=auto")


@pytest.mark.parametrize(
    ("graphs", "names"),
    [
        ([("net.gr", "11"), ("net.mtx", "22")], ["net.gr", "net.mtx"]),
        ([("a/road.gr", "11"), ("b/road.gr", "22")], ["a/road.gr", "b/road.gr"]),
        ([("x/a/road.gr", "11"), ("y/a/road.gr", "22"), ("z.gr", "33")], ["x/a/road.gr", "y/a/road.gr", "z"]),
        ([("a/road.gr", "11"), ("b/road.mtx", "11")], ["road", "road"]),
        ([("a/road.gr", "11"), ("b/road.gr", "22"), ("b/road.gr", None)], ["a/road.gr", "b/road.gr", "b/road.gr"]),
        ([("road.gr", "11"), ("road.gr", "22")], ["road", "road"]),  # with other weights
        ([("rmat:8", "11"), ("rmat:8", "22")], ["rmat:8", "rmat:8"]),
        ([("Graph", "1" * 32), ("Graph", "2" * 32)], ["Graph (11111111)", "Graph (22222222)"]),
    ],
)
def test_names_that_collide_get_what_tells_the_graphs_apart(
    graphs: list[tuple[str, str | None]], names: list[str]
) -> None:
    records = [record(source, digest) for source, digest in graphs]
    apart = with_distinct_names(records)
    assert [one.data["graph"]["name"] for one in apart] == names
    assert with_distinct_names(apart) == apart
    assert [one is other for one, other in zip(records, apart, strict=True)] == [
        one.data["graph"]["name"] == name for one, name in zip(records, names, strict=True)
    ]


@extended
def test_every_report_and_ranking_keeps_two_graphs_of_one_name_apart() -> None:
    records = [record("a/road.gr", "11"), record("b/road.gr", "22", time="2026-01-01T00:00:01+00:00")]
    for style in styles().values():
        if style != "csv":  # which has a column for the digest
            text = render(records, style)
            assert "a/road.gr" in text, style
            assert "b/road.gr" in text, style
    assert [ranking.records[0].graph_name for ranking in rank(records)[0]] == ["a/road.gr", "b/road.gr"]


@pytest.mark.parametrize("source", first(1, ["b\u2028\u2029/c.gr", "./grid:mine.gr", "./rmat:.gr"]))
@extended
def test_a_file_may_have_any_name(source: str, tmp_path: Path) -> None:
    named = {**mst_record()["graph"], "name": Path(source).stem, "source": source}
    records = tmp_path / "r.jsonl"
    for ascii_only in (True, False):
        records.write_text(json.dumps(mst_record(graph=named, algorithm=f"by {source}"), ensure_ascii=ascii_only))
        succeed("report", records, "-o", tmp_path / "page.html")
        succeed("plot", records, "--x", "algorithm", "--y", "kernel", "-o", tmp_path / "plot.svg")


def test_one_graph_from_two_files_gives_two_variants() -> None:
    cells = label([record("net.gr", "11"), record("net.mtx", "11")])
    assert [cell.variant.rpartition(", ")[2] for cell in cells] == ["net.gr", "net.mtx"]


@extended
def test_a_graph_is_not_skipped_for_another_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, spec in (("a", "path:3"), ("b", "path:4")):
        Path(folder).mkdir()
        succeed("generate", spec, "-o", f"{folder}/road.gr", "-q")
    Path("own.py").write_text(
        "class Driver:\n    problem, devices = 'mst', ('cpu',)\n    def prepare(self, view, device): return view\n"
        "    def run(self, state, clock):\n        raise MemoryError if state.vertices == 3 else ValueError\n"
        "driver = Driver()\n"
    )
    words = ("bench", "a/road.gr", "b/road.gr", "--algo", "own.py:driver@cpu,kruskal@cpu", "--budget", "300s")
    outcome = run(*words, "--save", "two.jsonl")
    assert outcome.code == 2
    assert "out of memory" in outcome.err
    assert ": skipped" not in outcome.err
