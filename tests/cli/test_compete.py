"""Several algorithms at the same work, from one line of options."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from gpugraph.records.record_file import read_records
from tests.cli.runner import refuse, run, succeed
from tests.measure.test_ranking import row
from tests.report.canned import mst_record
from tests.report.sweep import write
from tests.tiers import extended

FEW = ("--device", "cpu", "--repeat", 3)


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_several_algorithms_and_peers_on_one_graph_are_ranked_and_all_of_them_exported_and_saved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ("--algo", "boruvka,kruskal@cpu", "--algo", "prim", "--peer", "scipy")
    files = [word for name in ("r.json", "r.csv", "r.md") for word in ("--export", name)]
    shown = succeed("mst", "grid:6x6", *names, *FEW, *files, "--save", "r.jsonl")
    assert lines(shown.out)[0] == "mst on grid:6x6: 36 vertices, 60 edges, uint32 weights"
    ranked = {line.split()[0] for line in lines(shown.out)[3:7]}
    assert ranked == {"boruvka", "kruskal", "prim", "scipy"}
    said = [line for line in lines(shown.out) if " is not clearly faster than " in line or " times as fast as " in line]
    assert len(said) >= 3
    records, _ = read_records(["r.jsonl"])
    assert {one.algorithm.removeprefix("peer:") for one in records} == ranked
    assert all(len(one.samples) == 3 and one.status == "passed" for one in records)
    exported = json.loads((tmp_path / "r.json").read_text())
    assert sorted(exported["rankings"][0]["order"]) == ["boruvka", "kruskal", "prim", "scipy"]
    with open("r.csv", newline="") as stream:
        assert len(list(csv.DictReader(stream))) == 4
    assert (
        "is not clearly faster" in (tmp_path / "r.md").read_text() or "times as fast" in (tmp_path / "r.md").read_text()
    )
    assert {path.name for path in tmp_path.iterdir()} == {"r.json", "r.csv", "r.md", "r.jsonl"}


def test_a_run_of_one_algorithm_is_exported_too(tmp_path):
    succeed("mst", "grid:4x4", "--algo", "kruskal@cpu", "--repeat", 4, "--export", tmp_path / "one.json")
    content = json.loads((tmp_path / "one.json").read_text())
    (record,) = content["records"]
    assert (record["algorithm"], len(record["samples_s"]["kernel"])) == ("kruskal", 4)


def test_a_comparison_and_a_bench_say_how_a_file_was_read_and_what_was_dropped_as_a_single_run_does(tmp_path):
    file = tmp_path / "e.wel"
    file.write_text("1 2 5\n2 3 4\n3 3 9\n1 2 3\n7 9 2\n")
    for words in (
        ("sssp", file, "--algo", "dijkstra,delta-stepping", "--source", 2, *FEW),
        ("bench", file, "--algo", "dijkstra,delta-stepping", "--axis", "source=2", "--max-seconds", "0.1", "--save",
         tmp_path / "r.jsonl"),
    ):  # fmt: skip
        said = succeed(*words).err
        assert said.count("gpugraph: e: read as edge list: 5 lines; directed: ") == 1
        assert said.count("; dropped 1 self loop; merged 1 parallel arc\n") == 1
        assert said.count("taken as arcs; --undirected takes them as edges") == 1
        assert said.count("gpugraph: source 2 is what the file calls 3; what it calls 2 is name:2") == 1
    assert "read as" not in succeed(*words[:-1], tmp_path / "s.jsonl", "-q").err


def test_sources_and_options_reach_every_algorithm_that_has_them():
    words = ("sssp", "grid:6x6", "--algo", "dijkstra,delta-stepping", "--source", "3", "--set", "delta=7", *FEW)
    found = json.loads(succeed(*words, "--format", "json").out)
    by_name = {record["algorithm"]: record for record in found["records"]}
    assert by_name["delta-stepping"]["parameters"]["delta"] == 7
    assert "delta" not in by_name["dijkstra"]["parameters"]
    assert {record["result"]["source"] for record in found["records"]} == {3}


def test_an_option_of_one_algorithm_may_take_several_values_which_compete():
    words = ("sssp", "grid:6x6", "--algo", "dijkstra,delta-stepping", "--set", "delta-stepping.delta=4,16", *FEW)
    shown = lines(succeed(*words).out)
    assert any(line.startswith("delta-stepping, delta=4.0 ") for line in shown)
    assert any(line.startswith("delta-stepping, delta=16.0 ") for line in shown)


def test_a_row_of_reference_takes_the_place_of_the_fastest_in_every_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("--algo", "boruvka,kruskal,prim@cpu", "--reference", "prim")
    shown = succeed("mst", "grid:6x6", *words, *FEW, "--save", "r.jsonl").out
    assert "times prim's" in shown
    said = [line for line in lines(shown) if " faster than " in line or " times as fast as " in line]
    assert len(said) == 2
    assert all("prim" in line for line in said)
    stored = succeed("compare", "r.jsonl", "--by", "algorithm", "--reference", "kruskal").out
    assert "times kruskal's" in stored
    bench = ("bench", "--sweep", "selftest", "grid:6x6", "--algo", "kruskal@cpu,prim@cpu", "--max-seconds", "0.1")
    assert "times prim's" in succeed(*bench, "--reference", "prim", "--save", "b.jsonl").out


def test_programs_of_the_command_line_compete_without_being_named_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = "command = 'echo took {n} weight 15 {graph.egr}', time = 'took ([0-9])', weight = 'weight ([0-9]+)'"
    table = f"{{{command}, options = {{n = '1..2'}}}}"
    words = ("--device", "cpu", "--peer-command", f"a = {table}", "--reference", "a")
    for before in (("mst", "grid:4x4,w=unit", "--repeat", 3), ("bench", "grid:4x4,w=unit", "--max-seconds", "0.1")):
        shown = succeed(*before, "--algo", "kruskal", *words).out
        assert all(any(line.startswith(name) for line in lines(shown)) for name in ("a, n=1 ", "a, n=2 ", "kruskal "))
        assert "times a, n=1's" in shown


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("mst", "grid:4x4", "--algo", "boruvka,kruskal", "--reference", "krus"), "did you mean 'kruskal'?"),
        (("mst", "grid:4x4", "--reference", "kruskal"), "--reference is for several that are compared"),
        (("bench", "grid:4x4", "--algo", "boruvka", "--reference", "prim"), "unknown row for --reference 'prim'"),
        (("compare", "a.jsonl", "b.jsonl", "--reference", "prim"), "--reference is for records that are ranked"),
    ],
)
def test_a_reference_that_no_row_can_be_is_refused_before_anything_runs(tmp_path, monkeypatch, words, reason):
    monkeypatch.chdir(tmp_path)
    assert reason in refuse(2, *words)
    assert not list(tmp_path.iterdir())


def test_a_users_own_algorithm_competes_and_one_that_is_wrong_has_no_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("def driver(view, clock):\n    return [(0, 1)]\n")
    outcome = run("mst", "grid:4x4", "--algo", "./mine.py:driver,kruskal", *FEW)
    assert outcome.code == 1
    told = " ".join(outcome.out.split())
    assert "mine:driver is not ranked: wrong: " in told
    assert "kruskal alone has a time that counts" in told


def test_files_of_one_name_in_two_folders_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("v1", "me@work"):
        Path(folder).mkdir()
        succeed("new", "algorithm", f"{folder}/mine.py")
    shown = succeed("mst", "grid:4x4", "--algo", "v1/mine.py:driver,me@work/mine.py:driver@cpu", *FEW).out
    assert "mine:driver, file=v1/mine.py" in shown
    assert "mine:driver, file=me@work/mine.py" in shown


@extended
def test_a_users_own_algorithm_that_throws_ends_the_command_with_2(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("def driver(view, clock):\n    raise KeyError('x')\n")
    outcome = run("mst", "grid:6x6", "--algo", "kruskal,./mine.py:driver", *FEW)
    assert (outcome.code, "kruskal alone has a time that counts" in " ".join(outcome.out.split())) == (2, True), outcome
    assert "KeyError: 'x' — this is an error of the user's own algorithm" in outcome.err


def test_components_compete_as_well_and_a_peer_takes_options():
    shown = succeed("components", "grid:6x6", "--peer", "scipy", *FEW).out
    assert "components on grid:6x6" in shown
    words = ("mst", "grid:6x6", "--peer", "networkx", "--set", "peer:networkx.method=kruskal,prim", *FEW)
    shown = lines(succeed(*words).out)
    assert any(line.startswith("networkx, method=prim ") for line in shown)


def test_nothing_is_said_of_times_on_the_emulated_device():
    shown = succeed("mst", "grid:4x4", "--algo", "boruvka,kruskal@cpu", "--device", "emulated", "--repeat", 3)
    told = " ".join(shown.out.split())
    assert "boruvka on" in told.split("is not ranked")[0]
    assert "times on the emulated device are not performance" in told
    assert "kruskal on CPU alone has a time that counts" in told
    assert " times as fast as " not in told
    shown = succeed("mst", "grid:4x4", "--algo", "boruvka@emulated,prim@emulated", "--counters", "--repeat", 1).out
    assert "boruvka    emulated        1" in shown
    assert [word in shown for word in ("sectors  atomics", "kernel", "MTEPS  ")] == [True, False, False]
    assert "boruvka and prim are not ranked" in shown or "prim and boruvka are not ranked" in shown


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--algo", "boruvka,kruskall"), "--algo: unknown algorithm 'kruskall' — did you mean 'kruskal'?"),
        (("--algo", "boruvka", "--peer", "scipie"), "did you mean 'scipy'"),
        (("--algo", "boruvka,kruskal", "-o", "f.npz"), "-o writes the result of one algorithm"),
        (("--algo", "boruvka,kruskal", "--profile"), "--profile runs one"),
        (("--algo", "boruvka,kruskal", "--set", "delta=3"), "unknown option of boruvka, kruskal 'delta'"),
        (("--algo", "boruvka,kruskal", "--export", "r.txt"), "unknown ending of an export '.txt'"),
        (("--algo", "boruvka,kruskal", "--export", "nowhere/r.md"), "nowhere/r.md"),
        (("--algo", "boruvka,kruskal", "--target", "much"), "--target 'much' is no share"),
        (("--algo", "boruvka,kruskal@gpu"), "unknown device 'gpu'"),
        (("-o", "r.jsonl"), "--save writes records, --export tables and pages"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(tmp_path, monkeypatch, words, reason):
    monkeypatch.chdir(tmp_path)
    assert reason in refuse(2, "mst", "grid:4x4", *words, *FEW)
    assert not list(tmp_path.iterdir())


def test_a_bench_of_graphs_needs_no_file_and_works_the_problem_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    few = ("--axis", "sampling.max_samples=3", "--axis", "sampling.min_samples=3", "--axis", "device=cpu")
    shown = lines(
        succeed("bench", "grid:4x4", "path:9", "--algo", "dijkstra,delta-stepping", *few, "--save", "r.jsonl").out
    )
    titles = [line for line in shown if line.startswith("sssp on ")]
    assert [title.split()[2] for title in titles] == ["path:9:", "grid:4x4:"]
    assert shown[-1].startswith("r.jsonl: 4 records")
    mixed = succeed(
        "bench", "grid:4x4", "--algo", "dijkstra,kruskal", *few, "--save", "m.jsonl", "--export", "m.csv"
    ).out
    assert "sssp" in mixed
    assert "mst" in mixed
    with open("m.csv", newline="") as stream:
        assert len(list(csv.DictReader(stream))) == 2


def test_a_bench_of_a_sweep_takes_graphs_and_algorithms_in_the_place_of_its_own():
    words = ("bench", "--sweep", "smoke", "path:9", "--algo", "kruskal", "--axis", "device=cpu", "--list")
    listed = succeed(*words).out
    assert "1 cell" in listed
    assert "path:9" in listed
    assert "did you mean 'kruskal'" in refuse(2, "bench", "path:9", "--algo", "kruskall")


def test_verbose_tells_why_this_algorithm_this_device_and_this_check():
    told = succeed("mst", "grid:4x4", "--device", "cpu", "--repeat", 2, "-v").err
    assert "device cpu (" in told
    assert "requested" in told
    assert "algorithm boruvka: chosen by auto" in told
    assert "verification by certificate: chosen by auto" in told
    assert "loading grid:4x4" in told
    assert told.count("sample 1 of 2") == 1
    compared = succeed("mst", "grid:4x4", "--algo", "boruvka,kruskal", *FEW, "-v").err
    assert "algorithm kruskal: requested by name" in compared
    assert "kruskal: stopped after 3 samples, as many as requested" in compared


def test_stored_records_are_compared_within_one_file_and_across_files(tmp_path):
    gpu = {"kind": "cuda", "name": "NVIDIA H200"}
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    write([row("a", 1).data, row("b", 2, seed=2).data], one)
    write([row("c", 3, seed=3).data, row("a", 0.1, device=gpu).data], two)
    within = " ".join(succeed("compare", one, "--by", "algorithm").out.split())
    assert "a † is 1.99 (1.97 to 2.03) times as fast as b †" in within
    assert "‡" not in within
    across = " ".join(succeed("compare", one, two, "--by", "algorithm", "--export", tmp_path / "x.json").out.split())
    assert "times as fast as c †" in across
    assert "not at once they were measured in separate runs" in across
    assert "left out mst rmat:16 by a † on NVIDIA H200: another device: cuda, NVIDIA H200 and cpu" in across
    assert len(json.loads((tmp_path / "x.json").read_text())["records"]) == 4
    devices = " ".join(succeed("compare", one, two, "--by", "device").out.split())
    assert "a † on NVIDIA H200 is 10" in devices


def test_stored_records_that_cannot_be_compared_are_refused_with_the_reason(tmp_path):
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    write([row("a", 1).data], one)
    write([row("b", 2, graph={**mst_record()["graph"], "digest": "22" * 16}).data], two)
    assert "another graph of that name: digest" in refuse(2, "compare", one, two, "--by", "algorithm")
    assert "two runs are compared, BASE and NEW, not 1" in refuse(2, "compare", one)
    assert "no peer ran on the same work" in refuse(2, "compare", one, "--by", "peer")
    assert "did you mean 'device'" in refuse(2, "compare", one, "--by", "devices")
    assert "add --by" in refuse(2, "compare", one, two, "--export", tmp_path / "x.md")


def test_several_algorithms_on_several_ranks_are_refused(capfd):
    outcome = run("mst", "grid:4x4", "--algo", "boruvka,kruskal", "--device", "cpu*2")
    assert outcome.code == 2
    assert capfd.readouterr().err.count("several algorithms cannot compete on several ranks") == 1


def test_a_peer_that_does_not_solve_the_problem_is_left_out_aloud():
    outcome = succeed("scan", "--size", "4KiB", "--algo", "cpu", "--peer", "scipy", *FEW)
    assert "left out, 1: peer:scipy does not solve scan\n" in outcome.err, "another device would not help"
