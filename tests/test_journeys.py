"""Newcomers on the way to what they came for: a figure, a kernel that is right, two machines compared, a data frame."""

from __future__ import annotations

import json
import re
from pathlib import Path

import networkx
import pytest

import gpugraph
from gpugraph.base.errors import InputError
from gpugraph.records.record_file import read_records
from tests.cli.runner import run, succeed
from tests.emulator.compiler import needs_compiler
from tests.tiers import extended

SHORT = ("--device", "cpu", "--max-seconds", "0.1")
FLIGHTS = [("Oslo", "Rome", 2007.5), ("Rome", "Cairo", 2132.0), ("Oslo", "Cairo", 3560.25), ("Cairo", "Lima", 12400.0)]


def test_a_researcher_gets_from_an_own_graph_to_a_table_and_a_figure_for_a_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    flights = networkx.Graph()
    flights.add_weighted_edges_from(FLIGHTS, weight="km")
    networkx.write_graphml(flights, "flights.graphml")
    rows = ["from;to;km", *(f"{a};{b};{str(km).replace('.', ',')}" for a, b, km in FLIGHTS)]
    Path("flights.csv").write_text("\n".join(rows).replace(",", ".") + "\n")
    total = sum(km for _, _, km in FLIGHTS) - 3560.25
    assert gpugraph.mst(gpugraph.load(flights, weight="km"), device="cpu").total_weight == total
    for words in (("flights.csv", "--columns", "from,to,km", "--undirected"), ("flights.graphml", "--weight", "km")):
        record = json.loads(succeed("mst", *words, *SHORT, "--format", "json").out)
        assert (record["result"]["total_weight"], record["verification"]["status"]) == (total, "passed")

    exports = [word for name in ("table.md", "table.tex") for word in ("--export", name)]
    rivals = ("--algo", "boruvka,kruskal", "--peer", "scipy", "--save", "forests.jsonl")
    succeed("mst", "flights.graphml", "--weight", "km", *rivals, *SHORT, *exports)
    records, _ = read_records(["forests.jsonl"])
    fastest_first = [row.program for row in sorted(records, key=lambda row: row.kernel_s or 0.0)]
    table = [line for line in Path("table.md").read_text().splitlines() if line.startswith("| ")]
    named = [line.split("|")[1].strip().split(",")[0] for line in table if " µs" in line or " ms" in line]
    assert named == fastest_first
    assert Path("table.tex").read_text().count(r"\begin{tabular}") == 1

    succeed("plot", "forests.jsonl", "-o", "figure.pdf", "--width", "column")
    (width,) = re.findall(rb"MediaBox \[0 0 ([0-9.]+)", Path("figure.pdf").read_bytes())
    assert abs(float(width) / 72 * 25.4 - 84) < 1
    drawn = succeed("plot", "forests.jsonl").out.splitlines()
    assert drawn[0].startswith("flights.graphml") or drawn[0].startswith("flights")
    assert next(line.split()[0] for line in drawn[2:]) == fastest_first[0]


def test_a_student_without_a_gpu_runs_the_sweep_of_a_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("--device", "cpu", "--axis", "n=128", "--max-seconds", "0.05", "--save", "wang.jsonl")
    shown = " ".join(succeed("bench", "--sweep", "papers/wang2011", *words).out.split())
    (claims,) = re.findall(r"(\d+) claims not judged: needs a GPU", shown)
    assert int(claims) > 5
    assert "not measured: no such cell" not in shown
    assert "gpugraph bench --sweep papers/wang2011 --laptop" in shown
    later = succeed("report", "wang.jsonl", "--sweep", "papers/wang2011", "--format", "markdown").out
    assert later.count("not judged") == 1


@needs_compiler
def test_a_student_finds_the_bug_and_the_race_of_an_own_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    succeed("new", "algorithm", "own.py", "--problem", "sssp", "--kind", "cuda")
    kernel = Path("own.cu")
    right = kernel.read_text()
    words = ("sssp", "rmat:5", "--algo", "own.py:driver")
    kernel.write_text(right.replace("arc < offsets[u + 1]", "arc <= offsets[u + 1]"))
    caught = run(*words, "--device", "emulated", "-q")
    assert caught.code == 2
    error, line, caret = caught.err.splitlines()
    assert "own.cu:" in error
    assert re.search("past the end of '(targets|weights|offsets)'", error)
    assert line[caret.index("^")].isalpha()
    kernel.write_text(right.replace("atomicExch(changed, 1u)", "*changed = 1"))
    caught = run("races", *words, "--schedules", "1")
    assert caught.code == 1
    assert "*changed = 1;" in caught.out
    assert "races with" in caught.out
    kernel.write_text(right)
    assert "verified" in succeed("races", *words, "--schedules", "1").out or "0 races" in succeed("races", *words).out


@extended
def test_an_engineer_compares_two_machines_on_one_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("rmat:7", "grid:16x16", "--algo", "boruvka,kruskal", *SHORT, "--title", "Which machine?")
    succeed("bench", *words, "--save", "here.jsonl")
    records = [json.loads(line) for line in Path("here.jsonl").read_text().splitlines()]
    for record in records:  # as another machine, half as fast, would have stored them
        record["device"]["name"] = "Another CPU"
        record["phases_s"]["kernel"] *= 2
        record["samples_s"]["kernel"] = [2 * seconds for seconds in record["samples_s"]["kernel"]]
        record["mteps"]["kernel"] /= 2
        record["confidence_s"] = {}
    Path("there.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))

    shown = succeed("compare", "here.jsonl", "there.jsonl", "--by", "device").out
    assert "Another CPU" in shown
    succeed("report", "here.jsonl", "there.jsonl", "-o", "machines.html")
    page = Path("machines.html").read_text("utf-8")
    assert "<title>Which machine?</title>" in page
    wins = page.split('<section id="wins"')[1].split("</section>")[0]
    heads = re.findall(r"<th scope=\"col\">([\w-]+)<small>([^<]+)</small>", wins)
    assert len(set(heads)) == 4
    assert {place for _, place in heads} >= {"Another CPU"}

    advice = json.loads(succeed("info", "--advise", "rmat:10", "--format", "json").out)
    assert advice["problems"].keys() == {"mst", "sssp", "components"}
    for one in advice["problems"].values():
        assert one["host_bytes"] > 0
        assert one["device_bytes"] > 0
        assert one["cpu_s"] > 0
    succeed("plot", "here.jsonl", "there.jsonl", "-o", "machines.svg")
    assert "Which machine?" in Path("machines.svg").read_text()


def test_a_data_scientist_gets_from_a_data_frame_to_a_data_frame(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    flights = pandas.DataFrame(FLIGHTS, columns=["from", "to", "km"])
    graph = gpugraph.load(flights, directed=False)
    forest = gpugraph.mst(graph, device="cpu")
    total = sum(km for _, _, km in FLIGHTS) - 3560.25
    tree = forest.to_pandas()[["u_name", "v_name", "weight"]]
    assert tree.weight.sum() == forest.total_weight == total
    assert set(map(frozenset, tree[["u_name", "v_name"]].values.tolist())) <= {frozenset(row[:2]) for row in FLIGHTS}
    edges = gpugraph.from_edges(flights["from"], flights["to"], flights["km"])
    assert gpugraph.mst(edges, device="cpu").total_weight == total
    paths = gpugraph.sssp(graph, "name:Oslo", device="cpu").to_pandas().set_index("name").distance
    assert paths["Lima"] == 3560.25 + 12400.0
    with pytest.raises(InputError, match=r"unknown column 'miles' — known: from, km, to"):
        gpugraph.load(flights, columns="from,to,miles")
    saved = gpugraph.save(forest, tmp_path / "tree.csv")
    assert pandas.read_csv(saved)[["u_name", "v_name", "weight"]].equals(tree)
    assert gpugraph.verify(graph, saved).passed
