"""LaTeX: a table of graphs and algorithms for each problem, by booktabs and siunitx."""

from collections.abc import Callable

from gpugraph.report.exporters import Exporter, Results


def _load() -> Callable[[Results], str]:
    from gpugraph.ext.comparing.paper_table import latex

    return lambda results: latex(results.ranked())  # type: ignore[arg-type]


EXPORTER = Exporter((".tex",), "a table of graphs and algorithms", _load)
