"""The table of all cells: sortable and filterable by the page's script, complete without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

from gpugraph.measure.columns import COLUMNS, PAGE, Column, Labelled, columns_of
from gpugraph.measure.record import PHASES, Record, jsonable
from gpugraph.quantities import duration, percent, size, value
from gpugraph.report.speedup import Speedup


def filters() -> list[str]:
    """Return the titles of the columns whose values the page offers as choices."""
    return [_title(column) for column in COLUMNS if column.filter and PAGE in column.shown]


def table(cells: Sequence[Labelled], speedups: Sequence[Speedup]) -> str:
    """Return the table; a column of numbers that no cell has anything for is left out."""
    over = {id(one.record): one.kernel for one in speedups}
    cells = [replace(cell, over_cpu=over.get(id(cell.record))) for cell in cells]
    columns = columns_of(PAGE, cells)
    columns = [c for c in columns if not c.number or any(c.value(cell) is not None for cell in cells)]
    head = "".join(_header(column) for column in columns)
    body = "".join(_line(number, cell, columns) for number, cell in enumerate(cells))
    return (
        '<table id="cells"><caption class="unseen">All cells. Headers sort; the first button of a row shows '
        f"everything known of its cell.</caption><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _title(column: Column) -> str:
    return column.title.capitalize() if column.title.islower() else column.title


def _header(column: Column) -> str:
    kind = ' class="number"' if column.number else ""
    title = escape(_title(column))
    return f'<th scope="col" aria-sort="none"{kind}><button type="button" class="sort">{title}</button></th>'


def _line(number: int, cell: Labelled, columns: Sequence[Column]) -> str:
    parts = []
    for column in columns:
        text, label = escape(column.show(cell, "–")), f' data-title="{escape(_title(column))}"'
        if column.number:
            value = column.value(cell)
            key = "" if value is None else repr(float(value))
            parts.append(f'<td class="number"{label} data-key="{key}">{text}</td>')
        elif column.name == "verdict":
            why = f' <span class="why">{escape(cell.record.message)}</span>' if cell.record.message else ""
            mark = f'<span class="verdict {_tone(cell.record)}">{text}</span>{why}'
            parts.append(f'<td{label} data-key="{text}">{mark}</td>')
        else:
            parts.append(f"<td{label}>{text}</td>")
    subject = escape(f"{cell.record.problem} {cell.record.graph_name} by {cell.series}")
    button = (
        f'<td><button type="button" class="more" data-cell="{number}" aria-expanded="false" '
        f'aria-label="Details of {subject}">+</button></td>'
    )
    return f'<tr class="cell {"" if cell.record.ok else "missing"}">{button}{"".join(parts)}</tr>'


def _tone(record: Record) -> str:
    if not record.ok:
        return "bad" if record.outcome != "skipped" else "dull"
    return "good" if record.status == "passed" else "dull"


def details(cell: Labelled) -> list[list[Any]]:
    """Return everything known of a cell as blocks of (title, [(name, text), …]), for the page to unfold."""
    row = cell.record
    data = row.data
    verdict = data.get("verification") or {}
    source = ", ".join(str(part) for part in (data.get("algorithm_source") or {}).values() if part)
    facts = {
        "outcome": f"{row.outcome}: {row.message}" if row.message else row.outcome,
        "algorithm": f"{row.algorithm} — {source}" if source else row.algorithm,
        "device": row.device,
        "verification": f"{verdict.get('status', 'skipped')} by {verdict.get('method', 'none')}: "
        f"{verdict.get('detail', '')}",
        "measured": str(data.get("time", "–")),
        "file": f"{row.file}, line {row.line}" if row.file else "",
    }
    blocks: list[list[Any]] = [["Cell", _pairs(facts)]]
    blocks.append(["Graph", _pairs({k: value(v) for k, v in (data.get("graph") or {}).items() if v is not None})])
    blocks.append(["Parameters", _pairs({k: value(v) for k, v in (data.get("parameters") or {}).items()})])
    blocks.append(["Phases, medians", [[n, duration(row.phases[n])] for n in PHASES if row.phases.get(n)]])
    blocks.append(
        ["Inside the kernel, scaled to its median", [[name, duration(seconds)] for name, seconds in row.inner.items()]]
    )
    for title, name in (("Result", "result"), ("Counters", "counters"), ("Sampling", "sampling")):
        blocks.append([title, _pairs({k: value(jsonable(v)) for k, v in (data.get(name) or {}).items()})])
    blocks.append(["Energy and traffic", _pairs(_hardware(row))])
    times = " · ".join(duration(s) for s in row.samples)
    blocks.append([f"Every sample of the kernel ({len(row.samples)})", [["", times]] if times else []])
    return [block for block in blocks if block[1]]


def _hardware(row: Record) -> dict[str, str]:
    traffic = row.shape.traffic
    return {
        "energy": row.absent.get("energy", "")
        if row.joules is None
        else f"{row.joules:.4g} J a run" + (f", {row.nanojoules:.4g} nJ an edge" if row.nanojoules is not None else ""),
        "least traffic": "" if traffic.minimum_bytes is None else size(int(traffic.minimum_bytes)),
        "copy bandwidth": ""
        if not traffic.copy_bytes_per_s
        else f"{traffic.copy_bytes_per_s / 1e9:,.0f} GB/s, measured",
        "share of the roof": row.absent.get("traffic", "") if row.share is None else percent(row.share),
    }


def _pairs(facts: dict[str, str]) -> list[list[str]]:
    return [[name.replace("_", " "), text] for name, text in facts.items() if text]
