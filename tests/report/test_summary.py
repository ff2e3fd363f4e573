from __future__ import annotations

import pytest

from gpugraph.ext.reports.summary import SHOWN_FAILURES, summary
from gpugraph.report.terminal import plain
from tests.report.canned import emulated, mst_record, records
from tests.report.sweep import sweep, unfinished


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_asked(width):
    assert max(len(line) for line in plain(summary(records(*sweep()), width, unicode=True)).splitlines()) <= width


def test_small_charts_rise_with_the_throughput_and_mark_what_failed():
    text = plain(summary(records(*sweep()), 100, unicode=True))
    line = next(line for line in text.splitlines() if line.startswith("  boruvka, NVIDIA H200"))
    chart = line.split()[3]
    assert chart[-2:] == "××"
    assert list(chart[:-2]) == sorted(chart[:-2])
    assert "mst rmat:23 by boruvka, NVIDIA H200: out of memory: needs 151 GB" in text
    assert "verified" in text


def test_a_paper_is_reported_with_its_figures_beside_ours_and_its_claims():
    point = {"vertices": 65536, "mteps": 31.0}
    paper = {"name": "P", "hardware": "GTX", "where": "figure 5", "points": [point], "claims": ["it is fast"]}
    text = plain(summary(records(mst_record(paper=paper), mst_record(algorithm="prim", paper=paper)), 200))
    assert "P: GTX" in text
    assert "  boruvka, rmat:16: 31.00 MTEPS on GTX (figure 5); ours: 1,419.6 MTEPS, boruvka on NVIDIA H200" in text
    assert text.count("it is fast") == 1


def test_letters_stand_in_where_blocks_cannot_be_shown():
    text = plain(summary(records(*sweep()), 80, unicode=False))
    assert not set("▁▂▃▄▅▆▇█▏") & set(text)
    assert "####" in text


def test_a_graph_by_itself_has_a_bar():
    text = plain(
        summary(records(mst_record(), mst_record(algorithm="prim", mteps={"kernel": 700.0})), 80, unicode=True)
    )
    assert text.count("█") > 20
    assert "1,419.6" in text


def test_failures_beyond_a_page_are_counted():
    many = [unfinished("mst", "boruvka", "cuda", 20 + i, "timeout", "") for i in range(SHOWN_FAILURES + 3)]
    assert "and 3 more" in plain(summary(records(*many), 80))


def test_cells_that_were_skipped_for_one_reason_are_one_line():
    many = [unfinished("mst", "boruvka", "cuda", 20 + i, "skipped", f"{i} s of the budget are left") for i in range(9)]
    text = plain(summary(records(*many), 80))
    assert "9 skipped: the budget was too small" in text
    assert "are left" not in text


def test_one_of_several_results_is_verified():
    text = plain(summary(records(*sweep()[:1], unfinished("mst", "boruvka", "cuda", 20, "timeout", "")), 120))
    assert "1 of the results is verified; the others: 1 timeout." in " ".join(text.split())


def test_nothing_and_the_emulated_device_are_said_without_a_rate():
    assert plain(summary(records(), 80)) == "no cell was measured"
    assert "MTEPS" not in plain(summary(records(emulated()), 80))
