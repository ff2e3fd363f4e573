"""What printed digits prove: the whole truth passes, a part of it proves nothing, and anything else is wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpugraph.base.exact import exact_sum
from gpugraph.ext.peers.adapter import Figure
from gpugraph.ext.peers.peer import judge, truth_of
from gpugraph.problems.mst.verify import reference_forest
from tests.zoo import zoo

STATUS = {"right": "passed", "unclear": "skipped", "wrong": "failed"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("626560506", "right"),
        ("626560506.000000", "right"),
        ("6.26560506e8", "right"),
        ("626560507", "wrong"),
        ("626560505.9", "wrong"),
        ("6.2656e+08", "unclear"),
        ("6.26e8", "unclear"),
        ("6.2658e+08", "wrong"),
        ("6.27e+09", "wrong"),
        ("-626560506", "wrong"),
        ("inf", "wrong"),
        ("nan", "wrong"),
        ("1e999999999", "wrong"),
        ("626,560,506", "right"),
        ("626'560'506", "right"),
        ("626,560,507", "wrong"),
        ("heavy", "unclear"),
        ("62,65", "unclear"),
        ("0,626", "unclear"),
        ("sNaN", "unclear"),
        ("", "unclear"),
    ],
)
def test_a_printed_integer(text: str, expected: str) -> None:
    assert judge(Figure(626560506, 0.0, "the reference"), text, "total weight").status == STATUS[expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.30000000000000004", "right"),
        ("0.3000000000000001", "unclear"),
        ("0.3", "unclear"),
        ("0.30", "unclear"),
        ("0.31", "unclear"),
        ("0.32", "wrong"),
        ("3.0e-1", "unclear"),
        ("0.3000002", "wrong"),
    ],
)
def test_a_printed_float(text: str, expected: str) -> None:
    assert judge(Figure(0.1 + 0.2, 1e-15, "the reference"), text, "total weight").status == STATUS[expected]


def test_infinite_totals_prove_nothing() -> None:
    assert judge(Figure(math.inf, 0.0, "the reference"), "inf", "total weight").status == "skipped"
    assert judge(Figure(math.inf, 0.0, "the reference"), "12", "total weight").status == "failed"


def test_by_certificate_no_oracle_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = zoo("random-dense").renamed(name="large")
    figure = exact_sum(graph.weights[reference_forest(graph)])
    sums = truth_of(graph, "sssp", (0,)).value
    graph = graph.renamed(name="larger")

    def never(*_: object) -> None:
        raise AssertionError("the oracle was asked")

    monkeypatch.setattr("gpugraph.problems.mst.verify.reference_forest", never)
    monkeypatch.setattr("gpugraph.problems.sssp.verify.reference_distances", never)
    truth = truth_of(graph, "mst", (), "certificate")
    assert (truth.value, truth.by) == (figure, "a certified forest")
    assert truth_of(graph, "mst", (), "certificate") is truth
    paths = truth_of(graph, "sssp", (0,), "certificate")
    assert (paths.value, paths.by) == (sums, "certified distances")


def test_the_truth_of_paths_counts_the_reached_alone() -> None:
    truth = truth_of(zoo("two-components"), "sssp", (5,))
    assert truth.reached is not None
    assert np.flatnonzero(truth.reached).tolist() == [5, 6, 7]
    assert truth.value == 1 + 2
