"""The types of the public functions, as a type checker sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stub import STUB, formatted

CACHE = Path(__file__).parents[1] / ".mypy_cache"
PROGRAM = """
from typing import Any, assert_type

import gpugraph
from gpugraph.ext.python.records import Measured, Records
from gpugraph.graph.csr import CSRGraph
from gpugraph.ext.components.labels import Components
from gpugraph.problems.contract import Verdict
from gpugraph.problems.mst.forest import Forest
from gpugraph.ext.scan.scanned import Scanned
from gpugraph.problems.sssp.distances import DistanceMatrix, Distances

graph = gpugraph.load("roads.gr", weight="length")
assert_type(graph, CSRGraph)
assert_type(gpugraph.generate("rmat:8"), CSRGraph)
assert_type(gpugraph.mst(graph, algo="boruvka", delta=3), Forest)
assert_type(gpugraph.mst(graph, time=True), Measured)
assert_type(gpugraph.sssp(graph, 3, predecessors=True), Distances | list[Distances])
assert_type(gpugraph.sssp(graph, sources=[1, 2]), DistanceMatrix)
assert_type(gpugraph.sssp(graph, sources="all", time=True), Measured)
assert_type(gpugraph.components(graph), Components)
assert_type(gpugraph.components(graph, time=True), Measured)
assert_type(gpugraph.scan([1, 2], exclusive=True), Scanned)
assert_type(gpugraph.scan([1, 2], time=True), Measured)
assert_type(gpugraph.verify(graph, "forest.csv"), Verdict)
assert_type(gpugraph.bench(graph), Records)
assert_type(gpugraph.bench(graph)[0], Measured)
gpugraph.mst(graph, algo=3)  # type: ignore[call-overload]
gpugraph.load("roads.gr", weight=3)  # type: ignore[arg-type]
"""


def test_the_stub_is_the_one_that_the_functions_call_for() -> None:
    pytest.importorskip("ruff")
    assert STUB.read_text("utf-8") == formatted(), "run: python -m tests.stub"


@pytest.mark.thorough  # half a minute where no cache of mypy's is warm
def test_every_public_function_returns_the_type_that_its_arguments_ask_for(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    (tmp_path / "program.py").write_text(PROGRAM)
    said, errors, status = api.run(
        ["--strict", "--follow-imports=silent", "--cache-dir", str(CACHE), str(tmp_path / "program.py")]
    )
    assert (status, errors) == (0, ""), said
