from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpugraph.base.errors import InputError
from gpugraph.ext.results.files import check_result, write_result
from gpugraph.measure.check import check
from gpugraph.problems.contract import Verdict
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.sssp.distances import Distances
from tests.measure.test_results import distances_of, forest_of, named_graph
from tests.zoo import undirected, zoo

TRIANGLE = "u,v,weight\n0,1,1\n1,2,2\n"

WRONG_FORESTS = {
    "u,v,weight\n0,1,1\n0,2,3\n": "",
    "u,v,weight\n0,1,1\n": "",
    "u,v,weight\n0,1,1\n1,2,2\n0,2,3\n": "",
    "u,v,weight\n0,1,1\n1,5,2\n": "edge 1-5 names a vertex that the graph does not have",
    "u,v,weight\n0,1,1\n-1,2,2\n": "edge -1-2 names a vertex",
    "u,v,weight\n0,1,1\n1,1,2\n": "edge 1-1 is not in the graph",
    "u,v,weight\n0,1,1\n1,2,7\n": "edge 1-2 weighs 2 in the graph, not 7",
    "u,v,weight\n0,1,1\n1,2,2\n1,0,1\n": "edge 1-0 is there twice",
}


@pytest.mark.parametrize("method", ["reference", "certificate", "both"])
def test_a_right_forest_passes_in_either_direction_and_order(tmp_path, method):
    for text in (TRIANGLE, "u,v,weight\n2,1,2\n1,0,1\n"):
        (tmp_path / "f.csv").write_text(text)
        assert check_result(zoo("triangle"), tmp_path / "f.csv", method).passed


@pytest.mark.parametrize("method", ["reference", "certificate"])
@pytest.mark.parametrize("text", WRONG_FORESTS)
def test_a_wrong_forest_fails_and_the_counter_example_is_named(tmp_path, text, method):
    (tmp_path / "f.csv").write_text(text)
    verdict = check_result(zoo("triangle"), tmp_path / "f.csv", method)
    assert verdict.status == "failed"
    assert WRONG_FORESTS[text] in verdict.detail
    assert verdict.detail


@pytest.mark.parametrize("changed", ["total_weight", "components", "vertices", "graph_digest"])
def test_a_wrong_total_in_the_file_fails(tmp_path, changed):
    write_result(forest_of(zoo("random")), tmp_path / "f.npz")
    with np.load(tmp_path / "f.npz") as file:
        arrays = dict(file)
    arrays[changed] = "1" if changed in ("total_weight", "graph_digest") else 99
    np.savez(tmp_path / "f.npz", **arrays)
    assert check_result(zoo("random"), tmp_path / "f.npz").status == "failed"


def test_a_wrong_total_in_a_matrix_market_file_fails(tmp_path):
    write_result(forest_of(zoo("random")), tmp_path / "f.mtx")
    text = (tmp_path / "f.mtx").read_text()
    (tmp_path / "f.mtx").write_text(text.replace("total weight ", "total weight 1"))
    assert "the total weight is given as 1" in check_result(zoo("random"), tmp_path / "f.mtx").detail


@pytest.mark.parametrize("ending", [".npz", ".csv"])
@pytest.mark.parametrize("make", [forest_of, distances_of])
def test_a_wrong_name_in_the_file_fails(tmp_path, ending, make):
    graph = named_graph()
    write_result(make(graph), tmp_path / f"r{ending}")
    assert check_result(graph, tmp_path / f"r{ending}").passed
    other = graph.renamed(vertex_names=np.array(["Ann", "Bob", "C, comma", "D"]))
    verdict = check_result(other, tmp_path / f"r{ending}")
    assert "vertex 1 is called Bob in the graph, not B " in verdict.detail


def test_weights_that_are_equal_once_rounded_are_not_the_same(tmp_path):
    graph = undirected(2, [(0, 1, 2**60)], "uint64")
    write_result(forest_of(graph), tmp_path / "f.npz")
    with np.load(tmp_path / "f.npz") as file:
        arrays = dict(file)
    np.savez(tmp_path / "f.npz", **arrays | {"weight": arrays["weight"].astype(np.float64)})
    assert "the weights are of type float64" in check_result(graph, tmp_path / "f.npz").detail


WRONG_DISTANCES = {
    "vertex,distance\n0,0\n1,1\n2,2\n": "",
    "vertex,distance\n0,0\n1,1\n2,inf\n": "",
    "vertex,distance\n0,0\n1,1\n": "the file has 2 vertices, the graph has 3",
    "vertex,distance\n0,0\n1,1\n1,3\n": "does not hold each of the vertices 0 to 2 once",
    "vertex,distance\n0,4\n1,1\n2,3\n": "there is no source",
    "vertex,distance,predecessor\n0,0,-1\n1,1,0\n2,3,2\n": "",
}


@pytest.mark.parametrize("method", ["reference", "certificate"])
@pytest.mark.parametrize("text", WRONG_DISTANCES)
def test_wrong_distances_fail_and_the_reason_is_given(tmp_path, text, method):
    (tmp_path / "d.csv").write_text(text)
    verdict = check_result(zoo("triangle"), tmp_path / "d.csv", method)
    assert verdict.status == "failed"
    assert WRONG_DISTANCES[text] in verdict.detail


def test_rows_of_distances_may_come_in_any_order(tmp_path):
    (tmp_path / "d.csv").write_text("vertex,distance,predecessor\n2,3,0\n0,0,-1\n1,1,0\n")
    assert check_result(zoo("triangle"), tmp_path / "d.csv", "both").passed


def test_distances_of_another_weight_type_fail(tmp_path):
    write_result(distances_of(zoo("float64")), tmp_path / "d.npz")
    assert "float64" in check_result(zoo("random-dense"), tmp_path / "d.npz").detail


def test_a_result_at_hand_is_checked_as_it_is():
    forest, distances = forest_of(zoo("random")), distances_of(zoo("random"))
    assert check_result(zoo("random"), forest, "both").passed
    assert check_result(zoo("random"), distances, "both").passed
    lower = distances.raw.copy()
    lower[7] -= 1
    assert not check_result(zoo("random"), Distances(zoo("random"), 0, lower), "certificate").passed
    assert not check_result(zoo("random"), Forest.of(forest.graph, forest.edges[1:]), "certificate").passed


def test_a_result_of_another_graph_is_brought_onto_this_one():
    heavier = undirected(3, [(0, 1, 1), (1, 2, 2), (0, 2, 1)])
    assert check_result(heavier, forest_of(zoo("triangle")), "certificate").status == "failed"
    larger = undirected(4, [(0, 1, 1), (1, 2, 2), (0, 2, 3)])
    assert "3 vertices" in check_result(larger, forest_of(zoo("triangle"))).detail
    assert "the graph has 4" in check_result(larger, distances_of(zoo("triangle"))).detail


def test_a_forest_of_a_directed_graph_is_checked_on_the_undirected_one(tmp_path):
    write_result(forest_of(zoo("directed-unequal")), tmp_path / "f.npz")
    assert check_result(zoo("directed-unequal"), tmp_path / "f.npz", "both").passed


def test_an_unknown_method_suggests_the_nearest():
    with pytest.raises(InputError, match="did you mean 'certificate'"):
        check_result(zoo("path"), forest_of(zoo("path")), "certifcate")


class Unable:
    """A problem whose oracle may be unable to hold the graph."""

    counter_examples = ""

    def __init__(self, reference: str, certificate: str):
        self.verdicts = {"reference": reference, "certificate": certificate}

    def reference(self, graph: Any, query: Any, result: Any, by: str = "") -> Verdict:
        return Verdict(self.verdicts["reference"], "reference", f"reference {by}".strip())

    def certificate(self, graph: Any, query: Any, result: Any) -> Verdict:
        return Verdict(self.verdicts["certificate"], "certificate", "certificate")


@pytest.mark.parametrize(
    ("reference", "certificate", "method", "expected"),
    [
        ("passed", "passed", "both", ("passed", "both", "certificate; reference")),
        ("skipped", "passed", "both", ("passed", "certificate", "certificate; reference")),
        ("skipped", "failed", "both", ("failed", "both", "certificate")),
        ("failed", "passed", "both", ("failed", "both", "reference")),
        ("skipped", "passed", "reference", ("skipped", "reference", "reference")),
    ],
)
def test_an_oracle_that_cannot_hold_the_graph_proves_and_refutes_nothing(reference, certificate, method, expected):
    problem: Any = Unable(reference, certificate)
    verdict = check(problem, zoo("path"), (), None, method)
    assert (verdict.status, verdict.method, verdict.detail) == expected


def test_the_oracle_knows_whose_result_it_checks():
    problem: Any = Unable("passed", "passed")
    assert check(problem, zoo("path"), (), None, "reference", by="prim").detail == "reference prim"
