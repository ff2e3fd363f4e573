"""JSON: a record that stands alone as it is stored; several with every sample, and how they rank."""

from collections.abc import Callable

from gpugraph.report.exporters import Exporter, Results, rankings


def _load() -> Callable[[Results], str]:
    from gpugraph.records.json_text import json_text
    from gpugraph.records.record_shape import SCHEMA

    def write(results: Results) -> str:
        if results.rankings is None and len(results.records) == 1:
            return results.records[0].to_json()
        records, ranked = [one.data for one in results.records], map(rankings().ranking_json, results.ranked())
        return json_text({"schema": SCHEMA, "records": records, "rankings": [*ranked]}, indent=1)

    return write


EXPORTER = Exporter((".json",), "all samples", _load)
