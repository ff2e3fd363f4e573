"""``bench --claims`` and ``bench --laptop``: which cells are measured, and what is said at the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpugraph.bench.bench import Bench
from gpugraph.bench.plan import groups_of
from gpugraph.bench.sweep_file import read_sweep
from gpugraph.records.record_file import read_record_file
from tests.cli.runner import refuse, succeed

PAPER = """
title = "A paper"
budget = "1m"
[axes]
problem = "scan"
device = "cpu"
graph = "array:n={n},segments=16"
n = [64, 256, 1024]
algorithm = [{ name = "segmented-min", options = { per = "segment" } }, "segmented-min"]
[sampling]
min_samples = 3
max_samples = 3
[laptop]
budget = "10s"
[[laptop.block]]
axes.n = 32
[paper]
title = "P"
hardware = "a machine"
[[expect]]
text = "arrays are scanned"
where = "1"
each = { per = "segment" }
at = "largest"
value = "kernel"
least = 0
[[expect]]
text = "a GPU is faster"
where = "2"
each = { algorithm = "segmented-min", device = "cuda" }
value = "kernel"
least = 0
"""

EVERY_SIZE = """[[expect]]
text = "a minimum per segment is faster"
where = "0"
each = { per = "segment" }
with.plain = { per = "element" }
value = "plain.kernel / kernel"
least = 1
[[expect]]"""


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("p.toml").write_text(PAPER)
    return "p.toml"


def measured(path: str) -> list[Any]:
    """Return (length, minima per, outcome) of each cell, in the order in which they ended."""
    records = read_record_file(path).records
    return [(row.axes["n"], row.parameters["per"], row.outcome) for row in records]


def test_only_the_cells_that_claims_need_are_measured_and_smaller_graphs_only_without_a_verdict(paper: str) -> None:
    done = succeed("bench", "--sweep", paper, "--claims", "--save", "r.jsonl")
    assert measured("r.jsonl") == [(1024, "segment", "ok")]
    assert "1 of 2 claims of the paper judged, 1 of them as stated" in done.out
    assert "no expectation needs it" in done.err


def test_on_each_graph_one_claim_after_another_gets_its_cells_so_that_a_budget_cuts_one_short(paper: str) -> None:
    each = 'each = { per = "element", n = "256.." }'
    more = PAPER.replace('each = { algorithm = "segmented-min", device = "cuda" }', f'{each}\nat = "largest"')
    Path(paper).write_text(more.replace("[[expect]]", EVERY_SIZE, 1))
    with Bench(read_sweep(paper), dry=True, claims=True) as bench:
        groups = [[(one.cell.axes["n"], one.claim) for one in group] for group in groups_of(bench.plan.cells)]
    assert groups == [[(1024, 0), (1024, 0)], [(256, 0), (256, 0)], [(64, 0), (64, 0)]]
    assert 0 not in bench.plan.left_out.values()  # each cell is needed
    Path(paper).write_text(more)
    with Bench(read_sweep(paper), dry=True, claims=True) as bench:
        groups = [[(one.cell.axes["n"], one.claim) for one in group] for group in groups_of(bench.plan.cells)]
    assert groups == [[(1024, 0)], [(1024, 1)], [(256, 0)], [(256, 1)], [(64, 0)]]


def test_a_cell_that_several_claims_are_about_competes_with_all_that_they_compare_it_with(paper: str) -> None:
    about = 'each = { algorithm = "segmented-min", device = "cuda" }'
    Path(paper).write_text(PAPER.replace(about, 'each = { per = "segment" }\nwith.plain = { per = "element" }'))
    with Bench(read_sweep(paper), dry=True, claims=True) as bench:
        groups = [[one.cell.options.get("per", "element") for one in group] for group in groups_of(bench.plan.cells)]
    assert groups == [["segment", "element"]] * 3


def test_after_a_claims_run_the_others_are_measured_by_the_same_command_without_it(paper: str) -> None:
    succeed("bench", "--sweep", paper, "--claims", "--save", "r.jsonl", "-q")
    succeed("bench", "--sweep", paper, "--save", "r.jsonl", "--resume", "-q")
    assert len(measured("r.jsonl")) == 6


def test_a_cell_that_is_skipped_keeps_the_options_that_it_would_have_had(paper: str) -> None:
    succeed("bench", "--sweep", paper, "--budget", "0.001s", "--save", "r.jsonl", "-q")
    found = measured("r.jsonl")
    assert [outcome for *_, outcome in found] == ["ok", *["skipped"] * 5]
    assert {per for _, per, outcome in found if outcome == "skipped"} == {"segment", "element"}


def test_a_laptop_has_cells_of_its_own_and_the_end_names_what_needs_a_gpu_and_another_command(paper: str) -> None:
    done = succeed("bench", "--sweep", paper, "--laptop", "--save", "r.jsonl")
    assert {n for n, *_ in measured("r.jsonl")} == {32}
    assert "1 claim not judged: needs a GPU" in done.out
    assert "a GPU is faster" in done.out
    assert "gpugraph bench --sweep p.toml --claims" in " ".join(done.out.split())
    assert "--laptop" not in done.out
    whole = succeed("bench", "--sweep", paper, "--save", "w.jsonl")
    assert "gpugraph bench --sweep p.toml --laptop" in " ".join(whole.out.split())


def test_a_sweep_without_claims_or_without_a_laptop_is_refused(paper: str) -> None:
    Path(paper).write_text(PAPER[: PAPER.index("[laptop]")])
    assert "has no expectations" in refuse(2, "bench", "--sweep", paper, "--claims")
    assert "has nothing for a laptop" in refuse(2, "bench", "--sweep", paper, "--laptop")
    assert "--laptop takes a sweep" in refuse(2, "bench", "grid:4x4", "--laptop")
