"""A plug-in of pytest: the fixture ``gpugraph_bench``, which measures, and compares with an earlier run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from gpugraph.ext.python.records import Records
    from gpugraph.records.record import Record


class Bench:
    """Measures as ``gpugraph.bench`` does, and compares what it measured with a file of records."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def __call__(self, graphs: object, problem: str = "mst", **how: Any) -> Records:
        """Return the records of ``gpugraph.bench``, and keep them for ``assert_no_regression``."""
        from gpugraph.ext.python.bench import bench

        records = bench(graphs, problem, **how)
        self.records += records
        return records

    def assert_no_regression(self, base: str | os.PathLike[str], *, threshold: float | str = 0.05) -> None:
        """Fail the test if a cell is slower than in a file of records, by the rules of ``gpugraph compare``.

        ``threshold`` is a share, 0.05 or ``"5%"``; 5 is 5 %.

        If there is no such file, what was measured becomes it, and the test is skipped.  Fails, too, where a cell of
        the file was not measured now.
        """
        from gpugraph.base.errors import InputError
        from gpugraph.base.quantities import parse_target
        from gpugraph.bench.store import append_record
        from gpugraph.ext.comparing.compare import compare
        from gpugraph.ext.comparing.comparison import describe_cell
        from gpugraph.records.record_file import read_records

        if not self.records:
            raise InputError("nothing was measured", remedy="call gpugraph_bench(GRAPH) first")
        share = parse_target("threshold", str(threshold))
        if not Path(base).is_file():
            for record in self.records:
                append_record(record, base)
            pytest.skip(f"{os.fspath(base)} is the base of later runs")
        found = compare(read_records([os.fspath(base)])[0], self.records, threshold=share)
        lost = [f"{describe_cell(one.record)}: {one.reason}" for one in found.unpaired]
        bad = [
            f"{describe_cell(one.new)}: {one.verdict}, {one.claim.ratio or 0:.3f} times the time"
            for one in found.regressions
        ]
        if bad or lost:
            pytest.fail("\n".join([*bad, *lost]), pytrace=False)


@pytest.fixture
def gpugraph_bench() -> Bench:
    """Return what measures, and compares with an earlier run."""
    return Bench()
