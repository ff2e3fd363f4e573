"""What a cell is said to need before its input is there."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from gpugraph.bench import estimate, expand
from gpugraph.bench.estimate import Budget, Prices, making_bytes
from gpugraph.bench.local_workers import Limits
from gpugraph.bench.plan import Declared, Planned
from gpugraph.ext.formats.files import save_file
from gpugraph.ext.scan.array import open_array
from gpugraph.graph.generate import generate
from gpugraph.graph.read_options import ReadOptions
from gpugraph.graph.view import GraphView
from gpugraph.measure.cell import Cell
from gpugraph.measure.sampling import Sampling
from gpugraph.problems.on_graphs import series_of, size_of
from gpugraph.problems.registry import find_algorithm, load_problem
from gpugraph.records.record import Record
from tests.report.canned import mst_record


@pytest.mark.parametrize("preparations", [(), ("sort-adjacency",), ("renumber", "rank-weights"), ("rank-weights",)])
@pytest.mark.parametrize(("graph", "index_bits"), [("grid:9x5", None), ("grid:9x5,dtype=float64", 64)])
def test_the_sizes_that_are_foreseen_are_those_of_the_view(graph, index_bits, preparations):
    view = GraphView.of(generate(graph), preparations, index_bits)
    before = load_problem("mst").view_size(size_of(graph), preparations, index_bits)
    assert asdict(before) == {name: getattr(view, name) for name in asdict(before)}


@pytest.mark.parametrize("spec", ["array:n=100", "array:n=77,dtype=float64,segments=3"])
def test_the_sizes_that_are_foreseen_are_those_of_the_array(spec):
    array, size = open_array(spec), load_problem("scan").size(spec, "file")
    before = load_problem("scan").view_size(size, (), None)
    assert asdict(before) == {name: getattr(array, name) for name in asdict(before)}
    assert size.nbytes == array.nbytes + (0 if array.heads is None else array.heads.nbytes)


def test_a_gpu_leaves_the_host_little_of_a_graph_to_hold(tmp_path):
    def told(graph, kind, **more):
        return making_bytes(Planned(Cell("mst", graph, "boruvka", kind, **more), kind, size_of(graph), Limits()))

    graph = generate("grid:90x90,w=100000..999999")
    files = [str(tmp_path / f"a.{ending}") for ending in ("csr", "wel", "mtx")]
    for file in files:
        save_file(graph, file)
    assert told("rmat:30", "cuda") == told(files[0], "cuda") == 0
    assert told("rmat:30", "cpu") == told("rmat:30", "cuda", verify="both")
    assert told("rmat:30", "cpu") == told("rmat:30", "cuda", read=ReadOptions(weights="unit"))
    assert told("rmat:30", "cpu") > 2**39
    for file, lines in ((files[1], graph.arcs), (files[2], graph.edges)):
        assert told(file, "cuda") == pytest.approx(16 * lines, rel=0.1)
        assert told(file, "cpu") == pytest.approx(32 * graph.arcs, rel=0.1)


def test_a_mistake_in_what_an_algorithm_declares_is_not_passed_over(monkeypatch):
    cell = Planned(Cell("mst", "grid:9x9", "prim", "cuda"), "cuda", size_of("grid:9x9"), Limits())
    wrong = replace(find_algorithm("mst", "prim", "cuda"), state_bytes=lambda sizes: sizes.degrees)
    monkeypatch.setattr(expand, "resolve_algorithm", lambda *a: wrong)
    with pytest.raises(AttributeError, match="degrees"):
        Prices(Sampling()).need(cell)


def test_what_a_graph_of_one_edge_takes_is_not_scaled_up_by_the_arcs():
    def planned(graph):
        return Planned(Cell("mst", graph, "boruvka", "cpu"), "cpu", size_of(graph), Limits())

    record = mst_record(algorithm="boruvka", outcome="ok", device={"kind": "cpu"}, phases_s={"kernel": 7e-4})
    record["graph"] = {"name": "random:n=65536,m=1", "vertices": 65536, "arcs": 2, "edges": 1}
    prices = Prices(Sampling(), [Record.of(record)])
    assert prices.need(planned("rmat:12")).basis == "results"
    assert prices.need(planned("rmat:16")).seconds < 10
    assert prices.need(planned("rmat:18")).seconds > prices.need(planned("rmat:16")).seconds


def test_a_program_that_nothing_is_known_of_is_not_started_for_warm_ups_and_phases_and_uses_its_gpu():
    needs = {}
    for device in ("cpu", "cuda"):
        cell = Cell("mst", "rmat:22", "peer:theirs", device)
        planned = Planned(cell, device, size_of("rmat:22"), Limits(), declared=Declared(0, 0, None, True, True))
        needs[device] = [Prices(Sampling(time_limit_s=0.5, warmup=w)).need(planned).least_s for w in (0, 5)]
    assert needs["cuda"][0] == needs["cuda"][1] < 10  # it starts three times, and reads 1 GB each time
    assert needs["cpu"][0] == needs["cpu"][1] > 100


def test_what_other_options_take_is_not_taken_for_what_a_cell_takes():
    def planned(options: str, graph: str) -> Planned:
        cell = Cell("mst", graph, "boruvka", "cpu", series=f"mst · boruvka{options} · cpu · {series_of(graph)}")
        return Planned(cell, "cpu", size_of(graph), Limits())

    records = []
    for options, seconds in (("(others=cpu)", 9.0), ("", 0.1)):
        series = planned(options, "complete:64").cell.series
        record = mst_record(outcome="ok", device={"kind": "cpu"}, phases_s={"kernel": seconds}, cell={"series": series})
        records.append(Record.of({**record, "graph": {"name": "complete:64", "arcs": 4032}}))
    prices, other = Prices(Sampling(min_samples=3), records), "random:n=64,m=2016"
    assert prices.need(planned("", other)).least_s < 2 < 9 < prices.need(planned("(others=cpu)", other)).least_s
    assert prices.need(planned("(others=none)", other)).basis == "results"  # there is nothing better


@pytest.mark.parametrize(("algorithm", "sample_s"), [("boruvka", 0.7), ("peer:theirs", 1.4)])
def test_the_warm_up_before_a_single_sample_is_not_taken_for_a_part_of_it(algorithm, sample_s):
    sampling = {"spent_s": 1.4, "warmup": 1}
    record = mst_record(algorithm=algorithm, outcome="ok", phases_s={"kernel": 0.1}, sampling=sampling)
    prices = Prices(Sampling(), [Record.of({**record, "samples_s": {"kernel": [0.1]}})])
    assert [one[1] for one in prices._known["mst", algorithm, "cuda"]] == [sample_s]


@pytest.mark.parametrize("by_clock", [True, False])
def test_a_budget_by_the_clock_is_one_for_all_devices_and_runs_on_while_graphs_are_made(monkeypatch, by_clock):
    now = [100.0]
    monkeypatch.setattr(estimate.time, "perf_counter", lambda: now[0])
    budget = Budget(60.0, Prices(Sampling()), 1, workers=2, by_clock=by_clock)
    one, other = (Planned(Cell("mst", "grid:9x9", "kruskal", d), "cpu", size_of("grid:9x9"), Limits()) for d in "ab")
    assert budget.obstacle(one, 0, first=False) is None
    now[0] += 61.0
    budget.charge([one], [0.5], 1.0, None)
    for planned in (one, other):
        spent = budget.obstacle(planned, 0, first=False)
        assert spent == ("the budget of 60 s is spent" if by_clock else None)
    budget.charge([one], [120.0], 120.0, None)
    assert (budget.obstacle(other, 0, first=False) is None) == (not by_clock)
    assert "spent" in str(budget.obstacle(one, 0, first=False))


@pytest.mark.parametrize("by_clock", [True, False])
def test_the_fewest_samples_of_all_other_cells_that_fit_are_set_aside_before_a_cell_is_refined(monkeypatch, by_clock):
    monkeypatch.setattr(estimate.time, "perf_counter", lambda: 100.0)
    prices = Prices(Sampling(min_samples=10))
    cells = [
        Planned(Cell("mst", graph, "kruskal", "cpu"), "cpu", size_of(graph), Limits())
        for graph in ("rmat:12", "rmat:16", "rmat:17", "rmat:30")
    ]
    first, *others, huge = cells
    fewest_s = [need.least_s + need.opening_s for need in map(prices.need, others)]
    assert prices.need(huge).least_s > 1000 > sum(fewest_s)
    assert all(prices.need(one).least_s < prices.need(one).seconds for one in others)
    for workers in (1, 2):
        budget = Budget(100.0, prices, 1, workers, by_clock=by_clock)
        budget.expect(cells)
        left = budget.seconds_for([first])
        assert left["refine_s"] == pytest.approx(100.0 - sum(fewest_s) / workers)
        assert left.get("left_s") == (100.0 if by_clock else None)
        assert budget.seconds_for(cells[:3])["refine_s"] == 100.0


def test_a_cell_runs_if_the_budget_has_room_for_its_fewest_samples():
    planned = Planned(Cell("mst", "rmat:16", "kruskal", "cpu"), "cpu", size_of("rmat:16"), Limits())
    need = Prices(Sampling(min_samples=3)).need(planned)
    for share, runs in ((1.01, True), (0.99, False)):
        budget = Budget(share * (need.least_s + need.opening_s), Prices(Sampling(min_samples=3)), 1)
        assert (budget.obstacle(planned, 0, first=False) is None) == runs


def test_a_budget_by_the_clock_counts_what_the_command_did_before_its_cells_and_lets_one_cell_run_all_the_same():
    began = estimate.time.perf_counter() - 9.0
    budget = Budget(5.0, Prices(Sampling()), 1, by_clock=True, began=began)
    planned = Planned(Cell("mst", "grid:9x9", "kruskal", "cpu"), "cpu", size_of("grid:9x9"), Limits())
    assert budget.obstacle(planned, 0, first=True) is None
    assert budget.obstacle(planned, 0, first=False) == "the budget of 5.0 s is spent"
