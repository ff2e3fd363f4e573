"""Markdown: a sorted table of each ranking under its sentences; of records that are not compared one table."""

from collections.abc import Callable

from gpugraph.report.exporters import Exporter, Results, rankings


def _load() -> Callable[[Results], str]:
    from gpugraph.report.markdown_csv import markdown

    def write(results: Results) -> str:
        if results.rankings is None:
            return markdown(results.records)
        ranked = {id(record) for ranking in results.rankings for record in ranking.records}
        others = [record for record in results.records if id(record) not in ranked]
        sheets = [rankings().exported_sheet(ranking).markdown() for ranking in results.rankings]
        return "\n\n".join([*sheets, *([markdown(others)] if others else [])])

    return write


EXPORTER = Exporter((".md",), "a sorted table", _load)
