from __future__ import annotations

import pytest

from gpugraph.base.errors import InputError
from gpugraph.ext.python.pytest_plugin import Bench, gpugraph_bench
from gpugraph.records.record import Record
from tests.report.sweep import cell


def measured(factor):
    record = cell("mst", "kruskal", "cpu", 16)
    samples = [factor * (0.01 + 0.0001 * (i % 3)) for i in range(40)]
    record["phases_s"] = {**record["phases_s"], "kernel": sorted(samples)[20]}
    bench = Bench()
    bench.records.append(Record.of(record | {"samples_s": {"kernel": samples}}))
    return bench


def test_the_first_run_becomes_the_base_a_slower_one_fails_and_an_equal_one_passes(tmp_path):
    base = tmp_path / "base.jsonl"
    with pytest.raises(pytest.skip.Exception, match="base of later runs"):
        measured(1.0).assert_no_regression(base)
    measured(1.0).assert_no_regression(base)
    with pytest.raises(pytest.fail.Exception, match=r"slower, 1\.500 times the time"):
        measured(1.5).assert_no_regression(base)
    measured(1.5).assert_no_regression(base, threshold=0.9)
    for threshold in (5, "5%", 0.05):
        with pytest.raises(pytest.fail.Exception, match=r"slower, 1\.500 times the time"):
            measured(1.5).assert_no_regression(base, threshold=threshold)


def test_where_nothing_was_measured_nothing_is_the_base_of_later_runs(tmp_path):
    with pytest.raises(InputError, match=r"nothing was measured — call gpugraph_bench\(GRAPH\) first"):
        Bench().assert_no_regression(tmp_path / "base.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_the_fixture_measures_and_keeps_its_records():
    bench = Bench()
    records = bench("path:9", algo="kruskal", device="cpu", repeat=3, max_seconds=0.1, progress=False)
    assert [one.algorithm for one in bench.records] == [one.algorithm for one in records] == ["kruskal"]
    assert records[0].ok
    assert gpugraph_bench is not None
