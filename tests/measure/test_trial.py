from __future__ import annotations

from typing import Any

import pytest

from gpugraph.measure.trial import check
from gpugraph.problems.contract import Verdict
from tests.zoo import zoo


class Unable:
    """A problem whose oracle may be unable to hold the graph."""

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


def test_the_oracle_is_told_whose_result_it_checks():
    problem: Any = Unable("passed", "passed")
    assert check(problem, zoo("path"), (), None, "reference", by="prim").detail == "reference prim"
