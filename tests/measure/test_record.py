from __future__ import annotations

from csv import DictReader

import pytest

from gpugraph.ext.charts.page import page
from gpugraph.ext.comparing.cells import by_process, label, speedups
from gpugraph.ext.comparing.compare import compare
from gpugraph.ext.comparing.comparison import comparison_sheet
from gpugraph.ext.comparing.ranking import as_one_source
from gpugraph.ext.findings import half_range
from gpugraph.records.record import Record, family_of
from gpugraph.report.markdown_csv import csv, markdown
from gpugraph.report.sweep import result_lines
from gpugraph.report.table import table
from gpugraph.report.terminal import plain
from tests.report.canned import emulated, failed, mst_record, records, sssp_record
from tests.report.sweep import cell, unfinished


def test_a_record_older_than_outcomes_tells_its_own_by_the_verdict():
    assert (Record.of(mst_record()).outcome, Record.of(mst_record()).verdict) == ("ok", "verified")
    row = Record.of(failed())
    assert (row.outcome, row.message, row.kernel_s, row.samples) == ("failed", "edge 3-9 is missing", None, ())
    unchecked = mst_record(verification={"status": "skipped", "method": "none", "detail": "not asked for"})
    assert (Record.of(unchecked).verdict, Record.of(unchecked).mteps) == ("not verified", None)


def test_a_cell_that_never_ran_is_a_row_all_the_same():
    row = Record.of(unfinished("mst", "boruvka", "cuda", 25, "out of memory", "too\nlarge"))
    assert (row.graph_name, row.family, row.scale, row.device_kind) == ("rmat:25", "rmat", 25.0, "cuda")
    assert (row.outcome, row.message, row.mteps, row.shape.graph.vertices) == ("out of memory", "too large", None, None)
    assert Record.of({"problem": "mst", "algorithm": "a"}).graph_name == "unknown graph"


def test_the_emulated_device_has_no_rate():
    assert Record.of(emulated()).mteps is None


@pytest.mark.parametrize(
    ("samples", "sampling", "few"),
    [
        ([1e-3], {}, "1 sample"),
        ([1e-3] * 2, {}, "2 samples"),
        ([1e-3] * 5, {}, "5 samples"),
        ([1e-3] * 6, {}, ""),
        ([1e-3] * 6, {"min_samples": 10}, "6 samples"),
        ([], {}, ""),
    ],
)
def test_a_time_of_few_samples_says_so_wherever_it_is(samples, sampling, few):
    record = mst_record(samples_s={"kernel": samples}, sampling=sampling)
    assert Record.of(record).few == few
    shown = (
        markdown(records(record)),
        page([Record.of(record)]),
        plain(table(Record.of(record))),
        plain(result_lines([Record.of(record)])),
    )
    if few:
        assert f"({few})" in shown[0]
        assert f"({few})" in shown[1]
        assert f"{few} of the kernel: too few to prove much" in " ".join(shown[2].split())
        assert f"({few})" in shown[3]
        assert next(DictReader(csv(records(record)).splitlines()))["few_samples"] == "yes"
        (cell,) = compare([Record.of(record)], [Record.of(record)]).cells
        assert cell.verdict == ("same" if len(samples) > 5 else "unclear")
        assert cell.reason.startswith("" if len(samples) > 5 else "too few samples: ")
        assert f"({few})" in comparison_sheet(compare([Record.of(record)], [Record.of(record)])).markdown()
    else:
        assert not any("few to" in text or "sample)" in text for text in shown[:1] + shown[2:])


def test_samples_stand_source_by_source_and_within_by_process():
    record = sssp_record(sources=2) | {"samples_s": {"kernel": [1, 2, 3, 4, 5, 6]}, "sampling": {"processes": [1, 2]}}
    row = Record.of(record)
    assert by_process(row, row.samples) == [[1, 4], [2, 3, 5, 6]]
    wrong = Record.of(record | {"sampling": {"processes": [1, 1]}})
    assert by_process(wrong, wrong.samples) == [[1, 2, 3, 4, 5, 6]]


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("rmat:20", "rmat"),
        ("rmat:20,ef=8,w=unit", "rmat, ef=8, w=unit"),
        ("random:n=16384,deg=10", "random, deg=10"),
        ("grid:1024x1024", "grid"),
        ("roads.gr", "roads.gr"),
        ("C:\\data\\g.gr", "C:\\data\\g.gr"),
    ],
)
def test_a_family_is_the_spec_without_its_size(name, family):
    assert family_of(name) == family


def test_series_are_named_by_what_sets_them_apart_and_by_nothing_else():
    def names(*records, files=()):
        rows = [Record.of(r, file=f) for r, f in zip(records, files or [None] * len(records), strict=True)]
        return [cell.series for cell in label(rows)]

    one = mst_record()
    assert names(one, sssp_record()) == ["boruvka, NVIDIA H200", "dijkstra, NVIDIA H200"]
    wide = mst_record(parameters={**one["parameters"], "share": 0.5})
    assert names(one, wide) == ["boruvka, share=0.25, NVIDIA H200", "boruvka, share=0.5, NVIDIA H200"]
    assert names(one, one, files=("a/x.jsonl", "b/y.jsonl")) == ["boruvka, x, NVIDIA H200", "boruvka, y, NVIDIA H200"]
    assert names(cell("mst", "kruskal", "cpu", 16))[0] == "kruskal, CPU"
    lost = unfinished("mst", "boruvka", "cuda", 25, "timeout", "")
    assert set(names(one, lost)) == {"boruvka, NVIDIA H200"}


def test_the_speed_up_is_over_the_fastest_verified_cpu_run_of_the_same_work():
    gpu, slow = (Record.of(cell("mst", a, k, 16)) for a, k in (("boruvka", "cuda"), ("kruskal", "cpu")))
    fast = Record.of({**slow.data, "algorithm": "prim", "mteps": {**slow.data["mteps"], "kernel": 400.0}})
    wrong = Record.of({**slow.data, "outcome": "wrong", "mteps": {**slow.data["mteps"], "kernel": 9e9}})
    other = Record.of({**gpu.data, "graph": {**gpu.data["graph"], "digest": "else"}})
    ((who, found),) = speedups([gpu, slow, fast, wrong, other]).items()
    assert (who, found.base) == (id(gpu), fast)
    assert found.kernel == pytest.approx(gpu.mteps / 400)


def test_half_the_range_of_samples_is_that_between_the_least_and_the_greatest():
    made = mst_record(samples_s={"kernel": [1.0, 2.0, 2.0, 2.0, 5.0]}, phases_s={"kernel": 2.0})
    assert half_range(Record.of(made)) == (5.0 - 1.0) / 2 / 2.0
    assert half_range(Record.of(made | {"samples_s": {"kernel": [2.0]}})) is None
    assert half_range(Record.of(sssp_record(3))) is None  # samples of several sources differ


def test_a_batch_as_one_source_has_its_share_of_the_way_back():
    made = sssp_record(3) | {"result": {"source": 0, "sources": 4}, "phases_s": {"kernel": 9.0, "d2h": 2.0}}
    one = as_one_source(Record.of(made), [1.0, 2.0, 6.0], [1.0, 6.0])
    assert (one.kernel_s, one.phases["d2h"], one.samples) == (2.0, 0.5, (1.0, 2.0, 6.0))
    assert one.shape.result["sources"] == Record.of(made).sources * 4
