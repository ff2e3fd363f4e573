"""What a peer returns that can be no distances is wrong, and so is what is off by one bit."""

from __future__ import annotations

import numpy as np
import pytest

from gpugraph.ext.peers.sssp import distances_of
from gpugraph.measure.check import check
from gpugraph.problems.sssp.problem import PROBLEM as SSSP
from tests.zoo import undirected


@pytest.mark.parametrize("values", [[0.0, np.nan, 1.0], [0.0, -1.0, 2.0], [0.0, 1.5, 3.0], [0.0, 1.0]])
def test_what_cannot_be_a_distance_is_wrong(values: list[float]) -> None:
    graph = undirected(3, [(0, 1, 1), (1, 2, 2)])
    verdict = check(SSSP, graph, (0,), distances_of(graph, 0, np.array(values), "peer:fake"), "both")
    assert verdict.status == "failed"
    assert "distance" in verdict.detail


def test_a_distance_off_by_one_bit_is_wrong_and_one_beyond_all_truth_too() -> None:
    graph = undirected(3, [(0, 1, 1.25), (1, 2, 2.5)], "float64")
    near = np.array([0.0, 1.25, np.nextafter(3.75, 4)])
    assert check(SSSP, graph, (0,), distances_of(graph, 0, near, "peer:fake"), "both").status == "failed"
    whole = undirected(3, [(0, 1, 1), (1, 2, 2)])
    beyond = distances_of(whole, 0, np.array([0.0, 1.0, 2.0**60]), "peer:fake")
    verdict = check(SSSP, whole, (0,), beyond, "both")
    assert verdict.status == "failed"
    assert "none is beyond 3" in verdict.detail
