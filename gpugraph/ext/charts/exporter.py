"""HTML: the page of records, with figures."""

from collections.abc import Callable

from gpugraph.report.exporters import Exporter, Results


def _load() -> Callable[[Results], str]:
    from gpugraph.ext.charts.page import page

    return lambda results: page(results.records, title=results.title, notices=results.notices)


EXPORTER = Exporter((".html", ".htm"), "a page", _load)
