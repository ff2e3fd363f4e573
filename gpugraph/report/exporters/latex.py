"""LaTeX: a sorted table of each ranking, by booktabs."""

from __future__ import annotations

from collections.abc import Callable

from gpugraph.report.exporters import Exporter, Results, rankings


def _load() -> Callable[[Results], str]:
    sheet = rankings().exported_sheet
    return lambda results: "\n\n".join(sheet(one).latex() for one in results.ranked())


EXPORTER = Exporter((".tex",), "a sorted table", _load)
