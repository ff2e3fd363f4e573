"""The sweeps of the four papers: what they name, what they state, and each of them run small."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpugraph.bench.overrides import parse_settings
from gpugraph.bench.plan import Plan, Planned, described_algorithm, expand_sweep, paper_of
from gpugraph.bench.sweep_file import read_sweep, shipped
from gpugraph.measure.record import Record
from gpugraph.measure.sampling import Sampling
from gpugraph.measure.session import Session
from gpugraph.problems.registry import algorithms
from gpugraph.report.papers import stated
from tests.report.canned import mst_record

PAPERS = [name for name in shipped() if name.startswith("papers/")]
KINDS = {"auto": "cuda", "cuda": "cuda", "cpu": "cpu"}
SMALL = {
    "papers/kolganov2015": ("scale=6", "share=0.25", "memory=1MB"),
    "papers/sun2013": ("size=2KiB", "length=16", "n=16", "sparse=32", "edges=120"),
    "papers/wang2011": ("n=16", "ef=2"),
    "papers/martin2009": ("n=48", "degree=9"),
}
"""What makes a sweep small enough for the emulated device."""

SYSTEMS = {
    "papers/kolganov2015": "boruvka boruvka-hybrid boruvka-streamed",
    "papers/sun2013": """
        reduce-then-scan reduce-then-scan-multilevel scan-then-propagate brent-kung sklansky kogge-stone look-back cub
        cpu segmented-min boruvka-scan boruvka-prim""",
    "papers/wang2011": "prim prim-naive prim-persistent",
    "papers/martin2009": """
        u-cpu u-hybrid-1 u-hybrid-2 u-hybrid-3 u-gpu u-gpu-2min u-gpu-plus f-cpu f-gpu-no-atomic dijkstra
        dijkstra-fibonacci matrix-u-cpu matrix-f-cpu matrix-u-gpu matrix-f-gpu matrix-f-gpu-no-atomic""",
}
ON_PURPOSE = ("f-gpu-no-atomic", "matrix-f-gpu-no-atomic")


def plan_of(name: str, *settings: str) -> Plan:
    return expand_sweep(read_sweep(name, parse_settings(settings)), KINDS)


def test_every_paper_has_its_sweep():
    assert set(PAPERS) == set(SMALL)


@pytest.mark.parametrize("name", PAPERS)
def test_a_sweep_runs_every_system_of_its_paper_by_registered_names(name):
    named = {planned.cell.algorithm for planned in plan_of(name).cells}
    assert set(SYSTEMS[name].split()) <= named
    assert named <= {algorithm.name for algorithm in algorithms()} | {"auto"}


@pytest.mark.parametrize("name", PAPERS)
def test_a_sweep_names_the_paper_its_hardware_and_its_claims(name):
    paper = read_sweep(name).paper
    assert paper is not None
    assert paper["claim"]
    assert {"title", "authors", "year", "hardware", "note"} <= paper.keys()


@pytest.mark.parametrize("name", PAPERS)
def test_every_stated_figure_has_its_place_its_size_and_cells_that_it_stands_beside(name):
    sweep = read_sweep(name)
    assert sweep.paper is not None
    cells = plan_of(name).cells
    for point in sweep.paper.get("point", ()):
        assert point["where"]
        assert "scale" in point or "vertices" in point
        assert ("speedup" in point) == ("over" in point)
        alone = {**sweep.paper, "point": [point]}
        assert any(paper_of(alone, planned)[0]["points"] for planned in cells), point


def test_a_stated_rate_reaches_the_row_of_a_report_with_its_own_hardware():
    paper = read_sweep("papers/kolganov2015").paper
    assert paper is not None
    cells = plan_of("papers/kolganov2015", "scale=25").cells
    ssca2 = next(p for p in cells if p.cell.algorithm == "boruvka" and str(p.cell.graph).startswith("ssca2"))
    row = Record.of({**mst_record(), "paper": paper_of(paper, ssca2)})
    told = {(value.scale, value.mteps, value.hardware.partition(" (")[0]) for value in stated(row)}
    assert (25.0, 3000.0, "Tesla K40") in told
    assert (23.0, 3200.0, "GeForce GTX Titan") in told


def test_sizes_of_the_hybrid_sweep_are_those_of_the_papers_table():
    doubles = [p for p in plan_of("papers/kolganov2015", "scale=16").cells if str(p.cell.graph).startswith("rmat")]
    assert {p.size.arcs for p in doubles} == {2_097_152}
    assert {p.size.weight_bytes for p in doubles} == {8}


def one_of_each(cells: list[Planned]) -> list[Planned]:
    """Return a cell of each algorithm on each kind of device, the one with the most options and preparations."""
    chosen: dict[tuple[str, str, str], Planned] = {}
    for planned in sorted(cells, key=lambda p: len(described_algorithm(p.cell))):
        if planned.cell.algorithm != "cub":  # CuPy's own, on a GPU alone
            chosen[planned.cell.problem, planned.cell.algorithm, planned.kind] = planned
    return list(chosen.values())


@pytest.mark.parametrize("name", PAPERS)
def test_a_small_form_of_every_sweep_runs_and_is_verified(name):
    ended: dict[str, str] = {}

    def finished(index: int, record: Record) -> None:
        ended[described_algorithm(cells[index])] = record.status

    def failed(index: int, error: Exception) -> Any:
        raise error

    places = {"cuda": "emulated", "cpu": "cpu"}
    chosen = one_of_each(plan_of(name, *SMALL[name]).cells)
    cells = [replace(p.cell, device=places[p.kind], phases=False) for p in chosen]
    with Session() as session:
        session.measure(cells, Sampling.fixed(1, 0), lambda what: None, finished, failed)
    assert len(ended) >= len(SYSTEMS[name].split()) - 1
    for algorithm, status in ended.items():
        assert status == ("passed" if algorithm not in ON_PURPOSE else "skipped"), algorithm
