"""The sweeps that come with gpugraph: what they name, state and expect, and each of them run small."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpugraph.bench.axes import parse_settings
from gpugraph.bench.estimate import Prices
from gpugraph.bench.expand import expand_sweep
from gpugraph.bench.plan import Plan, Planned, described_algorithm
from gpugraph.bench.sweep_file import read_sweep, shipped
from gpugraph.ext.findings.claims import Claims
from gpugraph.ext.findings.paper import paper_of
from gpugraph.ext.peers import register_commands
from gpugraph.ext.reports.published import stated
from gpugraph.measure.cell import parse_options
from gpugraph.measure.run_cell import Session
from gpugraph.measure.sampling import Sampling
from gpugraph.problems.registry import algorithms, find_algorithm
from gpugraph.records.record import Record
from gpugraph.report.sweep import plan_lines, price_lines
from gpugraph.report.terminal import plain
from tests.report.canned import mst_record
from tests.tiers import only

PAPERS = [name for name in shipped() if name.startswith("papers/")]
KINDS = {"auto": "cuda", "cpu": "cpu"} | dict.fromkeys(
    ("cuda", "cuda:0", "cuda:0/66", "cuda:0/33", "cuda:0/16"), "cuda"
)
HARD = ("n=32", "last=31", "scale=5", "side=4", "few=8", "most=7", "half=16", "rows=4")
SMALL = {
    "cliffs/mst": HARD[:6],
    "cliffs/sssp": (*HARD[:3], *HARD[4:], "whisker=9", "core=4", "clique=5"),
    "families": ("graph=grid:4x4",),
    "figures/batch": ("graph=rmat:5", "source=random:2"),
    "figures/beside": ("graph=rmat:5,seed={draw}", "draw=1"),
    "figures/commands": ("graph=rmat:5",),
    "figures/commands-binary": ("graph=rmat:5",),
    "figures/commands-gpu": ("graph=rmat:5",),
    "figures/components": ("graph=rmat:5",),
    "figures/cpu": ("graph=rmat:6",),
    "figures/cpu-libraries": ("graph=rmat:6",),
    "figures/cpu-sources": ("graph=rmat:6", "source=random:2"),
    "figures/cpu-threads": ("graph=rmat:6",),
    "figures/drawn": ("graph=drawn:{draw},least=2^6,most=2^8", "draw=1..2"),
    "figures/edge-cases": ("graph=rmat:5", "source=max-degree"),
    "figures/hybrid": ("scale=6",),
    "figures/mst": ("graph=rmat:6",),
    "figures/multiprocessors": ("graph=rmat:6", "source=random:2"),
    "figures/prim": ("graph=dense:n=16,density=0.5", "prim-persistent.blocks=2", "prim-persistent.threads=32"),
    "figures/scan": ("size=2KiB", "length=16", "n=16", "sparse=32", "edges=120", "scale=5", "side=4"),
    "figures/side-by-side": ("graph=rmat:5", "source=random:3"),
    "figures/sssp": ("graph=rmat:5,w=1..255", "source=max-degree"),
    "papers/kolganov2015": ("scale=6", "share=0.25", "memory=1MB", "size=2KiB"),
    "papers/martin2009": ("n=48", "degree=9"),
    "papers/sun2013": ("size=2KiB", "length=16", "n=16", "sparse=32", "edges=120"),
    "papers/wang2011": ("n=16", "ef=2"),
    "scales": ("scale=5",),
    "selftest": ("graph=grid:4x4",),
    "smoke": ("graph=grid:4x4",),
    "sources": ("scale=5", "source=random:2", "graph=rmat:{scale}"),
    "weights": ("scale=5",),
}
"""What makes a sweep small enough for the emulated device."""

SYSTEMS = {
    "papers/kolganov2015": "boruvka boruvka-hybrid boruvka-streamed boruvka-lists",
    "papers/sun2013": """
        reduce-then-scan reduce-then-scan-multilevel scan-then-propagate brent-kung sklansky kogge-stone look-back cub
        cpu segmented-min boruvka-scan boruvka-prim boruvka-lists""",
    "papers/wang2011": "prim prim-naive prim-persistent",
    "papers/martin2009": """
        u-cpu u-hybrid-1 u-hybrid-2 u-hybrid-3 u-gpu u-gpu-2min u-gpu-plus f-cpu f-gpu f-gpu-no-atomic
        dijkstra harish-narayanan dijkstra-fibonacci
        matrix-u-cpu matrix-f-cpu matrix-u-gpu matrix-f-gpu matrix-f-gpu-no-atomic""",
}
ON_PURPOSE = ("f-gpu-no-atomic", "harish-narayanan", "matrix-f-gpu-no-atomic")


def plan_of(name: str, *settings: str) -> Plan:
    sweep = read_sweep(name, parse_settings(settings))
    register_commands(sweep.peers, sweep.path)
    return expand_sweep(sweep, KINDS)


def test_every_sweep_that_is_shipped_is_tried_small():
    assert set(shipped()) == set(SMALL)


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
def test_every_stated_figure_has_its_place_its_size_and_cells_that_it_is_beside(name):
    sweep = read_sweep(name)
    assert sweep.paper is not None
    cells = plan_of(name).cells
    for point in sweep.paper.get("point", ()):
        assert point["where"]
        assert "scale" in point or "vertices" in point
        assert ("speedup" in point) == ("over" in point)
        alone = {**sweep.paper, "point": [point]}
        assert any(paper_of(alone, planned.cell)[0]["points"] for planned in cells), point


def test_a_stated_rate_reaches_the_row_of_a_report_with_its_own_hardware():
    paper = read_sweep("papers/kolganov2015").paper
    assert paper is not None
    cells = plan_of("papers/kolganov2015", "scale=25").cells
    ssca2 = next(p for p in cells if p.cell.algorithm == "boruvka" and str(p.cell.graph).startswith("ssca2"))
    row = Record.of({**mst_record(), "paper": paper_of(paper, ssca2.cell)})
    found = {(value.scale, value.point.mteps, value.hardware.partition(" (")[0]) for value in stated(row)}
    assert (25.0, 3000.0, "Tesla K40") in found
    assert (23.0, 3200.0, "GeForce GTX Titan") in found


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


def small_records(name: str) -> list[Record]:
    """Run a small form of a sweep, a cell of each algorithm or, of a few algorithms, all of them."""
    records: list[Record] = []

    def finished(index: int, record: Record) -> None:
        records.append(placed(record.data, chosen[index]))

    def failed(index: int, error: Exception) -> Any:
        raise error

    places = {"cuda": "emulated", "cpu": "cpu"}
    planned = [p for p in plan_of(name, *SMALL[name]).cells if not p.cell.algorithm.startswith("peer:")]
    chosen = planned if len(planned) <= 27 else one_of_each(planned)
    cells = [replace(p.cell, device=places[p.kind]) for p in chosen]
    with Session() as session:
        session.measure(cells, Sampling.fixed(1, 0), lambda what: None, finished, failed)
    assert len(records) == len(chosen)
    return records


def placed(data: Mapping[str, Any], planned: Planned) -> Record:
    """Return a record as the bench stores it, of the device that its sweep names."""
    cell = {"axes": dict(planned.cell.axes), "input": planned.cell.input.describe(), "sweep": planned.cell.sweep}
    return Record.of({**data, "cell": cell, "device": {**data["device"], "kind": planned.kind}})


PEERS_ALONE = {"figures/commands", "figures/commands-binary", "figures/commands-gpu"}
"""Whose algorithms are commands: tests/peers tries them."""


OF_PROGRAMS = sorted({*shipped()} - PEERS_ALONE)


@pytest.mark.parametrize("name", only(OF_PROGRAMS[::4], OF_PROGRAMS))
def test_a_small_form_of_every_sweep_runs_is_verified_and_fills_its_tables(name):
    records = small_records(name)
    if name in SYSTEMS:
        assert len({record.algorithm for record in records}) >= len(SYSTEMS[name].split()) - 1
    for record in records:
        assert record.status == ("passed" if record.algorithm not in ON_PURPOSE else "skipped"), record.algorithm
    for table in read_sweep(name).tables:
        rows = table.rows(records)
        assert rows or "array" in table.title, table.title
        empty = {title for title, *cells in zip(table.columns, *rows, strict=True) if set(cells) == {"–"}}
        assert empty <= MAY_BE_EMPTY, table.title


MAY_BE_EMPTY = {
    "times as long",  # than on 132 multiprocessors
    "share explains",
    "times as fast",
    "one by one, MTEPS",
    "best peer ms",
    "best other, ms",
    "SciPy, ms",
    "igraph, ms",
    "logtwothirds, ms",
    "networkit, ms",
    "rustworkx, ms",
    "of the bandwidth, %",
    "PBBS, ms",
    "PASGAL, ms",
    "GAPBS, ms",
    "GAPBS, best Δ, ms",
    "Wasp, best Δ, ms",
    "ECL-MST, ms",
    "cuGraph, ms",
    "RAFT PR 3118, ms",
    "with RMM's pool, ms",
    "Gunrock, ms",
    "doubleGraph, ms",
    "ADDS, ms",
    "near-far, ms",
    "near-far, Δ × 0.25, ms",
    *(f"Δ × {width}, ms" for width in (1, 4, 16, 64)),
    "ECL-CC, ms",
    "Afforest, ms",
    "best other/ours",
    "PBBS/ours",
    "GAPBS/ours",
    "ours/other",
    "ratio",
    "of the roof, %",
    "of the rate of a copy, %",
    "MTEPS",
    "MTEPS end to end",
    "± %",
    "spread",
    "heavy edges",
    "heavy rounds",
}
"""Columns of what a small graph, or the emulated device, has not."""


EXPECTING = [name for name in shipped() if read_sweep(name).expectations]


@pytest.mark.parametrize("name", only(EXPECTING[::3], EXPECTING))
def test_every_expectation_finds_the_cells_that_it_is_about(name):
    records = [made_up(planned) for planned in plan_of(name).cells]
    for finding in (finding for one in read_sweep(name).expectations for finding in one.findings(records)):
        assert finding.verdict not in ("–", "too few samples"), f"{finding.text}: {finding.ours}"


COUNTERS = (
    *("prim_steps", "cpu_percent", "launches", "most_reductions", "minima_read", "written_bytes"),
    *("trees_after_first_round", "longest_cycle"),
)


def made_up(planned: Planned) -> Record:
    """Return the record that a cell of a plan would have, with made-up figures."""
    cell, size = planned.cell, planned.size
    algorithm = find_algorithm(cell.problem, cell.algorithm, planned.kind)
    parts = dict.fromkeys(("find_min", "find_min_edge", "renumber"), 0.001)
    parameters = {**parse_options(algorithm, cell.options), "preparations": list(cell.preparations), "index_bits": 32}
    data = mst_record(problem=cell.problem, algorithm=algorithm.name, parameters=parameters, kernel_phases_s=parts)
    data |= {
        "outcome": "ok",
        "device": {"kind": planned.kind, "name": planned.kind, "threads": 1},
        "graph": {"name": str(cell.graph), "vertices": size.vertices, "arcs": size.arcs, "edges": size.arcs // 2},
        "traffic": {"share": 0.9},
        "throughput": {"total_s": 0.1, "transfers_share": 0.9, "h2d_gb_s": 10.0, "d2h_gb_s": 10.0},
        "counters": dict.fromkeys(COUNTERS, 2) | {"compression_percent": 290},
        "samples_s": {"kernel": [0.01] * 6},
        "verification": {"status": "passed", "method": "certificate", "results": 2},
        "rounds": 7,
    }
    sweep = read_sweep(str(cell.sweep))
    return placed(data | ({"paper": paper_of(sweep.paper, cell)} if sweep.paper else {}), planned)


@pytest.mark.parametrize("name", shipped())
def test_every_sweep_can_be_listed_and_priced(name):
    sweep = read_sweep(name)
    plan, prices = plan_of(name), Prices(Sampling(**sweep.sampling))
    listed, priced = plain(plan_lines(plan, prices)), plain(price_lines(plan, prices, sweep))
    assert f"\n{len(plan.cells):,} cells" in listed
    assert f"\n{len(plan.cells):,} cells" in priced
    assert re.search(r"(cuda|cpu)\S*: about", priced)


ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "docs" / "reference"  # written whenever the site is built, also beside the tests
PAGES = [page for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")] if GENERATED not in page.parents]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_sweep_that_a_page_names_is_shipped(page):
    named = set(re.findall(r"--sweep ([a-z]+(?:/[a-z0-9-]+)?)(?![\w/.-])", page.read_text("utf-8")))
    assert named <= {*shipped(), "papers"}, page.name
    assert not re.findall(r"docs/measure\S*", page.read_text("utf-8"))


LAPTOP = {"cpu": "cpu", "emulated": "emulated", "auto": "cpu"}


@pytest.mark.parametrize("name", PAPERS)
def test_on_a_laptop_a_papers_sweep_has_small_cells_without_a_gpu_and_judges_claims(name):
    cells = expand_sweep(read_sweep(name, laptop=True), LAPTOP).cells
    assert {planned.kind for planned in cells} <= {"cpu", "emulated"}
    assert max(planned.size.arcs for planned in cells if planned.kind == "emulated") <= 1 << 20
    assert len(cells) <= 16
    assert judged_on_a_laptop(name)


def test_laptops_judge_eighteen_claims_without_a_time_of_the_emulated_device():
    assert sum(len(judged_on_a_laptop(name)) for name in PAPERS) >= 18


def judged_on_a_laptop(name: str) -> list[str]:
    """Return the claims that records of a laptop's cells decide, those computed among them."""
    sweep = read_sweep(name, laptop=True)
    records = [made_up(planned) for planned in expand_sweep(sweep, LAPTOP).cells]
    findings = [finding for one in sweep.expectations for finding in one.findings(records)]
    return [one.text for one in findings if one.verdict not in ("–", "too few samples", "no such device")]


@pytest.mark.parametrize("name", PAPERS)
def test_the_cells_of_claims_are_few_and_decide_every_claim(name):
    sweep, plan = read_sweep(name), plan_of(name)
    claims = Claims(sweep.expectations, plan.cells)
    assert len(claims.cells) < len(plan.cells)
    every = [made_up(planned) for planned in claims.cells]
    first = [planned for planned in claims.cells if claims.need(planned, every)]
    records = [one for one, planned in zip(every, claims.cells, strict=True) if planned in first]
    assert 0 < len(first) < len(claims.cells)
    sizes = [planned.size.arcs for planned in first]
    assert sizes == sorted(sizes, reverse=True)
    for finding in (finding for one in sweep.expectations for finding in one.findings(records)):
        assert finding.verdict not in ("–", "too few samples"), f"{finding.text}: {finding.ours}"


def test_smaller_graphs_serve_a_claim_only_until_it_is_judged():
    sweep, plan = read_sweep("papers/martin2009"), plan_of("papers/martin2009")
    (claim,) = [one for one in sweep.expectations if one.text == "about 45 rounds on the largest lists"]
    claims = Claims([claim], plan.cells)
    assert [planned.cell.axes["n"] for planned in claims.cells][:2] == [11534336, 8388608]
    largest, next_ = claims.cells[:2]
    assert claims.need(largest, [])
    assert claims.need(next_, [])
    assert not claims.need(next_, [made_up(largest)])
