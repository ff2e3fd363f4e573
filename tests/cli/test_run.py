from __future__ import annotations

import csv
import io
import json
import sys

import numpy as np
import pytest

from gpugraph.base.clock import PhaseTimer
from gpugraph.cli.options import defaults
from gpugraph.problems import registry
from gpugraph.records.record import PHASES
from tests.cli.runner import refuse, run, succeed

RECORD_NAMES = {
    "schema", "problem", "algorithm", "algorithm_source", "device", "graph", "parameters", "phases_s", "samples_s",
    "kernel_phases_s", "rounds", "peak_device_bytes", "mteps", "result", "verification", "environment", "time",
}  # fmt: skip
GRAPH_NAMES = {"name", "source", "vertices", "arcs", "edges", "weight_dtype", "digest"}
RESULT_NAMES = {
    "mst": {"total_weight", "tree_edges", "components", "edges_sha256"},
    "sssp": {"source", "reached", "distance_sum", "distance_max", "distances_sha256"},
}
CPU = ("--device", "cpu")


@pytest.mark.parametrize("problem", ["mst", "sssp"])
def test_json_is_exactly_one_record_with_the_names_of_the_contract(problem):
    record = json.loads(succeed(problem, "rmat:8", *CPU, "--format", "json", "--repeat", 2).out)
    assert record.keys() >= RECORD_NAMES
    assert record["graph"].keys() >= GRAPH_NAMES
    assert set(record["phases_s"]) == {*PHASES, "total"} - {"fetch", "stage", "h2d"}
    assert len(record["samples_s"]["kernel"]) == 2
    assert record["result"].keys() >= RESULT_NAMES[problem]
    assert record["mteps"].keys() >= {"kernel", "end_to_end", "counted", "count"}
    assert record["verification"]["status"] == "passed"
    assert record["graph"]["name"] == "rmat:8"


def test_a_record_names_the_source_of_its_algorithm_and_the_vertex_as_the_file_does(tmp_path):
    (tmp_path / "a.wel").write_text("70 30 2\n30 90 1\n")
    words = ("sssp", tmp_path / "a.wel", "--source", "name:70", *CPU, "--algo", "dijkstra", "--format", "json")
    record = json.loads(succeed(*words).out)
    assert record["algorithm_source"] == {"authors": "Dijkstra", "year": 1959, "section": "problem 2"}
    assert (record["result"]["source"], record["result"]["source_name"]) == (1, 70)
    assert "source_name" not in json.loads(succeed("sssp", "path:3", *CPU, "--format", "json").out)["result"]


def test_scipy_is_not_checked_by_itself():
    for algorithm, oracle in (("dijkstra-fibonacci", "a binary heap in uint64"), ("dijkstra", "SciPy's Dijkstra")):
        words = ("sssp", "grid:9x9", *CPU, "--algo", algorithm, "--verify", "reference", "--format", "json")
        assert json.loads(succeed(*words).out)["verification"]["detail"].endswith(oracle)


def test_an_algorithm_that_cannot_hold_the_weights_names_the_graph():
    graph = "path:9,w=9007199254740992..9007199254740993"
    line = refuse(2, "sssp", graph, *CPU, "--algo", "dijkstra-fibonacci")
    assert line.startswith(f"gpugraph: error: {graph}: ")


@pytest.mark.parametrize("problem", ["mst", "sssp"])
def test_the_first_screen_has_20_lines_and_more_is_shown_if_asked_for(problem):
    words = (problem, "grid:9x9", *CPU, "--repeat", 1)  # samples that scatter much would have no rate
    shown = succeed(*words).out
    for text in (
        "graph       grid:9x9: 81 vertices",
        "load graph",
        "kernel",
        "MTEPS",
        "per second",
        "verdict     passed",
    ):
        assert text in shown
    assert len(shown.splitlines()) <= 20
    assert "finish" not in shown
    whole = succeed(*words, "-v").out
    for text in ("algorithm", " — ", "finish", "sampling", "/ kernel time", "sha256"):
        assert text in whole
    assert all(len(line) <= 80 and line == line.rstrip() for line in shown.splitlines())


def test_notices_go_to_standard_error_and_quiet_silences_them(tmp_path):
    (tmp_path / "g.wel").write_text("0 1 5\n1 1 7\n")
    outcome = succeed("mst", tmp_path / "g.wel", *CPU, "--format", "json")
    assert "dropped 1 self loop" in outcome.err
    assert "gpugraph: " not in outcome.out
    assert succeed("mst", tmp_path / "g.wel", *CPU, "--quiet").err == ""


def test_loops_and_repeats_of_our_own_generator_are_no_news():
    assert "dropped" not in succeed("mst", "rmat:8", *CPU, "--repeat", 1).err


def test_without_a_graph_the_default_is_taken_and_named():
    outcome = succeed("sssp", "--source", 0, *CPU, "--repeat", 1, "--no-phases")
    assert f"no graph given: taking {defaults().graph}, the default of configs/default.toml" in outcome.err
    assert f"graph       {defaults().graph}: " in outcome.out


def test_a_directed_graph_is_made_undirected_for_a_forest_and_that_is_said(tmp_path):
    (tmp_path / "d.gr").write_text("p sp 3 3\na 1 2 5\na 2 1 3\na 2 3 4\n")
    outcome = succeed("mst", tmp_path / "d.gr", *CPU, "--format", "json")
    assert json.loads(outcome.out)["result"]["total_weight"] == 7
    assert "the lighter won" in outcome.err


def test_csv_and_markdown_are_tables_of_one_record():
    (row,) = csv.DictReader(io.StringIO(succeed("mst", "grid:4x4", *CPU, "--format", "csv").out))
    assert row["graph.vertices"] == "16"
    assert succeed("mst", "grid:4x4", *CPU, "--format", "markdown").out.startswith("| problem | graph |")


def test_save_appends_a_record_a_line(tmp_path):
    path = tmp_path / "records.jsonl"
    succeed("mst", "grid:4x4", *CPU, "--save", path)
    succeed("sssp", "grid:4x4", *CPU, "--save", path)
    assert [json.loads(line)["problem"] for line in path.read_text().splitlines()] == ["mst", "sssp"]


def test_settings_reach_the_algorithm_and_the_record():
    words = ("sssp", "grid:9x9", *CPU, "--algo", "delta-stepping", "--set", "delta=5000", "--index-bits", 64)
    parameters = json.loads(succeed(*words, "--format", "json").out)["parameters"]
    assert (parameters["delta"], parameters["index_bits"]) == (5000.0, 64)
    assert "delta-stepping (delta=5000.0) — Meyer" in succeed(*words, "-v").out


def test_random_sources_are_seeded_and_reported_each(tmp_path):
    words = ("sssp", "rmat:8", *CPU, "--source", "random:3", "--repeat", 1, "--format", "json")
    sources = [
        [run["source"] for run in json.loads(succeed(*words, *more).out)["per_source"]]
        for more in ((), ("--seed", 2), ())
    ]
    assert sources[0] == sources[2] != sources[1]
    assert len(sources[0]) == 3
    outcome = succeed(*words[:-2], "-o", tmp_path / "d.npz")
    assert "harmonic mean over 3 sources" in outcome.out
    assert f"holds the result of the first source, {sources[0][0]}" in outcome.err
    with np.load(tmp_path / "d.npz") as file:
        assert int(file["source"]) == sources[0][0]


@pytest.mark.parametrize("ending", [".npz", ".csv", ".mtx"])
def test_a_written_forest_verifies_and_a_changed_one_does_not(tmp_path, ending):
    path = tmp_path / f"forest{ending}"
    succeed("mst", "grid:6x6", *CPU, "-o", path)
    for method in ("auto", "reference", "certificate", "both"):
        assert " passed by " in succeed("verify", "grid:6x6", path, "--method", method).out
    assert "weighs" in refuse(1, "verify", "grid:6x6,seed=2", path)


def test_written_distances_verify_and_changed_ones_do_not(tmp_path):
    path = tmp_path / "d.csv"
    succeed("sssp", "grid:6x6", *CPU, "-o", path, "--predecessors", "--source", 7)
    succeed("verify", "grid:6x6", path, "--method", "both")
    lines = path.read_text().splitlines()
    vertex, distance, predecessor = lines[20].split(",")
    lines[20] = f"{vertex},{int(distance) - 1},{predecessor}"
    path.write_text("\n".join(lines))
    assert "d.csv" in refuse(1, "verify", "grid:6x6", path)


@pytest.fixture
def wrong_kruskal(monkeypatch):
    """Let kruskal lose an edge."""
    from dataclasses import replace

    from gpugraph.problems.mst.forest import Forest

    right = registry.find_algorithm("mst", "kruskal", "cpu")

    def finish(state, raw, *query):
        forest = right.finish(state, raw, *query)
        return Forest.of(forest.graph, forest.edges[1:])

    monkeypatch.setitem(registry.REGISTERED, ("mst", "kruskal", "cpu"), replace(right, finish=finish))


@pytest.mark.usefixtures("wrong_kruskal")
def test_a_wrong_result_exits_1_shows_no_rate_and_writes_no_result(tmp_path):
    words = ("mst", "grid:5x5", *CPU, "--algo", "kruskal", "-o", tmp_path / "f.npz", "--save", tmp_path / "r.jsonl")
    line = refuse(1, *words)
    assert line.startswith("gpugraph: error: mst by kruskal on grid:5x5: ")
    outcome = run(*words)
    assert "no MTEPS is given" in outcome.out
    assert "end to end" not in outcome.out
    assert not (tmp_path / "f.npz").exists()
    assert "f.npz is not written" in outcome.err
    saved = [json.loads(text) for text in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert [record["verification"]["status"] for record in saved] == ["failed", "failed"]
    assert all(record["mteps"]["kernel"] is None for record in saved)


@pytest.mark.usefixtures("wrong_kruskal")
@pytest.mark.parametrize("style", ["json", "csv", "markdown"])
def test_a_wrong_result_shows_no_rate_in_any_format(style):
    outcome = run("mst", "grid:5x5", *CPU, "--algo", "kruskal", "--format", style)
    assert outcome.code == 1
    assert ("wrong: " if style == "markdown" else "failed") in outcome.out
    if style == "json":
        assert json.loads(outcome.out)["mteps"]["kernel"] is None


def test_verify_none_is_skipped_and_gives_no_rate():
    shown = succeed("mst", "grid:5x5", *CPU, "--verify", "none").out
    assert "skipped: not asked for" in shown
    assert "no MTEPS is given" in shown


def test_an_external_command_is_an_algorithm_too(tmp_path):
    program = tmp_path / "solver.py"
    program.write_text("import sys; print('took', sys.argv[2]); print('sum 6')")
    table = (
        f"command = '{sys.executable} {program} {{graph.wel}} {{delta}}', time = 'took (.+)', options = {{delta = 2}}"
    )
    data = json.loads(
        succeed(
            "mst", "path:4,w=2..2", "--peer-command", f"mine = {{{table}, weight = 'sum (.+)'}}", "--format", "json"
        ).out
    )
    assert (data["algorithm"], data["verification"]["status"]) == ("peer:mine", "passed")
    assert set(data["samples_s"]["kernel"]) == {2.0}
    file = tmp_path / "peers.toml"
    file.write_text("[peer.mine]\nproblem = 'sssp'\ndistances = 'sum (.+)'\n" + table.replace(", ", "\n"))
    words = ("sssp", "path:4,w=1..1", "--source", "0", "--peer-command", str(file), "--algo", "peer:mine")
    data = json.loads(succeed(*words, "--set", "delta=5", "--format", "json").out)
    assert data["verification"]["status"] == "passed"
    assert data["parameters"]["delta"] == 5
    assert "unknown peer 'mien'" in run(*words[:-1], "peer:mien").err


def test_an_option_of_an_algorithm_says_what_set_says():
    words = ("mst", "grid:4x4", "--algo", "boruvka-prim", "--device", "emulated", "--repeat", 1, "--format", "json")
    given = [json.loads(succeed(*words, *how).out) for how in (("--switch-after", 2), ("--set", "switch-after=2"))]
    assert given[0]["parameters"] == given[1]["parameters"]
    assert given[0]["parameters"]["switch-after"] == 2
    named = json.loads(succeed(*words, "--set", "boruvka-prim.switch-after=2").out)  # as a comparison takes it
    assert named["parameters"] == given[0]["parameters"]


def test_a_result_that_was_not_verified_has_no_rate_in_the_record_either():
    record = json.loads(succeed("mst", "grid:5x5", "--device", "cpu", "--verify", "none", "--format", "json").out)
    assert record["verification"]["status"] == "skipped"
    assert (record["mteps"]["kernel"], record["mteps"]["end_to_end"]) == (None, None)


def test_later_samples_are_not_charged_to_the_time_to_answer(monkeypatch):
    begun, phase = [], PhaseTimer.phase
    monkeypatch.setattr(PhaseTimer, "phase", lambda self, name: begun.append(name) or phase(self, name))
    counts = []
    for repeat in (1, 7):
        begun.clear()
        succeed("mst", "grid:9x9", "--algo", "boruvka", "--device", "cpu", "--repeat", repeat, "--format", "json")
        counts.append((begun.count("finish"), begun.count("verify")))
    assert counts[0] == counts[1]


def test_a_kind_of_weights_that_is_none_names_the_option_for_attributes():
    assert "an attribute of a file's edges is named by --weight km" in refuse(2, "mst", "grid:3x3", "--reweight", "km")


def test_reweight_has_an_older_spelling_that_still_works():
    for option in ("--reweight", "--weights"):
        record = json.loads(
            succeed("mst", "grid:3x3,w=5..9", option, "unit", "--device", "cpu", "--format", "json").out
        )
        assert record["result"]["total_weight"] == 8


def test_a_negative_seed_of_weights_is_a_seed(tmp_path):
    words = ("path:4", "--seed", "-5", "--reweight", "uniform:1..9", "--device", "cpu", "--repeat", "1")
    record = json.loads(succeed("mst", *words, "--format", "json", "--save", tmp_path / "r.jsonl").out)
    assert record["cell"]["input"]["seed"] == -5
    assert "path:4" in succeed("report", tmp_path / "r.jsonl").out
    assert "has more than 64 bits" in refuse(2, "mst", *words, "--seed", 2**64)
