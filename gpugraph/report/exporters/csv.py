"""CSV: a row for each cell."""

from collections.abc import Callable

from gpugraph.report.exporters import Exporter, Results


def _load() -> Callable[[Results], str]:
    from gpugraph.report.markdown_csv import csv

    return lambda results: csv(results.records)


EXPORTER = Exporter((".csv",), "cells", _load)
