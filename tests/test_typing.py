"""The types of the public functions, as a type checker sees them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.stub import STUB, formatted

CACHE = Path(__file__).parents[1] / ".mypy_cache"
PROGRAM = """
from typing import Any, assert_type

import gpugraph
from gpugraph import Components, CSRGraph, DistanceMatrix, Distances, Forest, Measured, Records, Scanned, Verdict

graph = gpugraph.load("roads.gr", weight="length")
assert_type(graph, CSRGraph)
assert_type(gpugraph.generate("rmat:8"), CSRGraph)
assert_type(gpugraph.mst(graph, algo="boruvka", delta=3), Forest)
assert_type(gpugraph.mst(graph, time=True), Measured)
timed = bool(graph.edges)
assert_type(gpugraph.mst(graph, time=timed), Forest | Measured)
assert_type(gpugraph.sssp(graph, time=timed), Distances | list[Distances] | DistanceMatrix | Measured)
assert_type(gpugraph.sssp(graph, 3, predecessors=True), Distances)
assert_type(gpugraph.sssp(graph), Distances)
assert_type(gpugraph.sssp(graph, "random:3"), Distances | list[Distances])
assert_type(gpugraph.from_edges([0], [1]), CSRGraph)
assert_type(gpugraph.mst_many([graph])[0], Forest)
assert_type(gpugraph.sssp(graph, sources=[1, 2]), DistanceMatrix)
assert_type(gpugraph.sssp(graph, sources="all", time=True), Measured)
assert_type(gpugraph.components(graph), Components)
assert_type(gpugraph.components(graph, time=True), Measured)
assert_type(gpugraph.scan([1, 2], exclusive=True), Scanned)
assert_type(gpugraph.scan([1, 2], time=True), Measured)
assert_type(gpugraph.verify(graph, "forest.csv"), Verdict)
assert_type(gpugraph.bench(graph), Records)
assert_type(gpugraph.bench(graph)[0], Measured)
with gpugraph.on(graph, device="cpu") as held:
    assert_type(held, gpugraph.ResidentGraph)
    assert_type(held.mst(), Forest)
    assert_type(held.mst(on_device=True), Any)
    assert_type(held.sssp(3, cutoff=5.0), Distances)
    assert_type(held.sssp([1, 2], predecessors=True), list[Distances])
    assert_type(held.sssp(sources="all"), DistanceMatrix)
    assert_type(held.components(), Components)
    assert_type(held.path(0, 1), tuple[int | float, list[Any]])
try:
    gpugraph.load("roads.gr")
except gpugraph.InputError as error:
    assert_type(error.what, str)
gpugraph.mst(graph, algo=3)  # type: ignore[call-overload]
gpugraph.load("roads.gr", weight=3)  # type: ignore[arg-type]
"""


DOCS = Path(__file__).parents[1]
PAGES = [
    program
    for page in ("docs/tutorial.md", "docs/python.md")
    for program in re.findall(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)
]
"""The programs of the pages."""


def test_the_stub_is_the_one_that_the_functions_call_for() -> None:
    pytest.importorskip("ruff")
    assert STUB.read_text("utf-8") == formatted(), "run: python -m tests.stub"


@pytest.mark.thorough  # half a minute where no cache of mypy's is warm
def test_every_public_function_returns_the_type_that_its_arguments_ask_for(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    programs = {"program.py": PROGRAM, **{f"page{i}.py": text for i, text in enumerate(PAGES)}}
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
    options = ["--strict", "--follow-imports=silent", "--disable-error-code=import-untyped", "--cache-dir", str(CACHE)]
    said, errors, status = api.run([*options, *(str(tmp_path / name) for name in programs)])
    assert (status, errors) == (0, ""), said
