from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpugraph.ext.reports import cite
from gpugraph.ext.reports.cite import explanation, papers
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import run_cell
from gpugraph.problems.registry import algorithms
from tests.cli.runner import refuse, succeed
from tests.emulator.compiler import needs_compiler
from tests.report.sweep import cell, write

BIB = Path(cite.__file__).with_name("papers.bib").read_text("utf-8").splitlines()


def test_every_paper_has_a_key_of_its_own_authors_a_year_and_a_title_and_its_braces_match():
    keys = [re.match(r"@\w+\{(\w+), ", entry)[1] for entry in BIB]
    assert len(keys) == len(set(keys))
    for key, entry in zip(keys, BIB, strict=True):
        assert entry.count("{") == entry.count("}")
        assert f"year = {{{key[-4:]}}}" in entry
        assert re.search(r"author = \{.+?\}, year = \{\d{4}\}, title = \{.+\}\}$|, \w+ = \{.+\}\}$", entry)


def test_every_algorithm_of_ours_has_a_paper_of_its_authors_and_no_namesakes():
    for one in algorithms():
        assert papers(one.authors), one
    assert [entry[:20] for entry in papers("Dong, Gu, Sun, Zhang")] == ["@inproceedings{dong2"]
    assert [entry[:19] for entry in papers("Sun, Skadron; CLPP, Thrust")] == ["@techreport{sun2013"]
    assert papers("external command") == []


def test_records_are_cited_once_each_with_their_programs_and_data_sets(tmp_path):
    record = cell("mst", "kruskal", "cpu", 16) | {"algorithm_source": {"authors": "V. Osipov, P. Sanders, J. Singler"}}
    record["graph"] = {**record["graph"], "source": "dimacs9:USA-road-d.NY"}
    record["cell"] = {}
    command = {"authors": "external command", "year": 0, "section": "~/run_{it} 5 % & more ^2"}
    peers = [{**record, "algorithm": "peer:mine_1", "algorithm_source": {**command, "section": text}} for text in "ab"]
    peers.append({**record, "algorithm": "peer:other", "algorithm_source": command})
    text = succeed("cite", write([record, record, *peers], tmp_path / "r.jsonl")).out
    keys = re.findall(r"^@\w+\{([^,]+),", text, re.M)
    assert keys == ["gpugraph", "osipov2009", "dimacs9", "peer-mine_1", "peer-other"]
    assert r"\textasciitilde{}/run\_it 5 \% \& more \textasciicircum{}2" in text
    assert text.count("{") == text.count("}")


def test_programs_whose_names_differ_in_signs_or_case_alone_have_keys_of_their_own(tmp_path):
    record = cell("mst", "kruskal", "cpu", 16) | {"algorithm_source": {"authors": "external command"}, "cell": {}}
    names = [f"peer:{name}" for name in ("a-b", "a.b", "a+b", "a b", "A-b", "a_b")]
    text = succeed("cite", write([{**record, "algorithm": name} for name in names], tmp_path / "r.jsonl")).out
    keys = [key.lower() for key in re.findall(r"^@\w+\{([\w-]+),", text, re.M)]
    assert len(set(keys)) == len(keys) == 1 + len(names)


def test_a_known_program_is_cited_by_its_paper_and_its_command(tmp_path):
    record = cell("mst", "kruskal", "cpu", 16) | {"algorithm_source": {"authors": "external command"}, "cell": {}}
    for begins, key in cite.PROGRAMS.items():
        text = succeed("cite", write([{**record, "algorithm": f"peer:{begins}-x"}], tmp_path / "r.jsonl")).out
        assert re.findall(r"^@\w+\{([\w-]+),", text, re.M) == ["gpugraph", key, f"peer-{begins}-x"]


@pytest.mark.parametrize("source", ["snap:no such name", "snap:", "konect:gone", "suitesparse:one"])
def test_a_graph_that_no_list_of_data_sets_has_is_cited_by_its_collection(tmp_path, source):
    record = cell("mst", "kruskal", "cpu", 16)
    record["graph"] = {**record["graph"], "source": source}
    text = succeed("cite", write([record], tmp_path / "r.jsonl")).out
    assert f"@misc{{{source.partition(':')[0]}, title = {{" in text


def test_an_algorithm_is_explained_with_its_phases_its_source_and_its_papers():
    text = " ".join(succeed("explain", "boruvka").out.split())
    assert "find_min" in text
    folder = Path(cite.__file__).parents[3]
    assert f"gpugraph/ext/papers/mst/gpu_boruvka.py, cuda_kernels/boruvka.cu, in {folder}/ " in text
    assert "Kolganov, 2015" in text
    assert "\nphases " not in succeed("explain", "prim-persistent").out
    assert all(not explanation(one).get("how", "").endswith(":") for one in algorithms())
    assert "did you mean 'boruvka'?" in refuse(2, "explain", "boruvkaa")
    assert succeed("explain", "conflicts").out.startswith("conflicts   atomics of a warp on one address")
    assert "did you mean 'conflicts'?" in refuse(2, "explain", "conflict")


@pytest.mark.parametrize(
    ("problem", "name", "device"),
    [
        ("mst", "boruvka", "cpu"),
        ("mst", "kruskal", "cpu"),
        ("sssp", "delta-stepping", "cpu"),
        ("components", "afforest", "cpu"),
        *(
            pytest.param(*one, "emulated", marks=needs_compiler)
            for one in (("mst", "filter-boruvka"), ("sssp", "delta-stepping"))
        ),
    ],
)
def test_the_phases_that_a_run_times_are_those_that_are_explained(problem, name, device):
    one = next(one for one in algorithms() if (one.problem, one.name) == (problem, name) and device in one.devices)
    record = run_cell(Cell(problem, "grid:12x12", name, device=device, repeat=1, warmup=0))
    explained = explanation(one)["phases"].split(", ")
    assert set(record.data["kernel_phases_s"]) <= {*explained}


@pytest.mark.parametrize("one", algorithms(), ids=lambda one: f"{one.problem}-{one.name}-{one.devices[0]}")
def test_every_algorithm_has_an_idea_and_source_that_is_there(one):
    parts = explanation(one)
    assert len(parts["how"]) > 20
    for path in parts["source"].split(", "):
        assert Path(path).is_file()
