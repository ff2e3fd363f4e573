"""The table of all cells: sortable and filterable by the page's script, complete without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from gpugraph.measure.record import PHASES, Record, jsonable
from gpugraph.quantities import count, duration, percent, rate, size, value
from gpugraph.report.charts.series import Labelled
from gpugraph.report.speedup import Speedup

Cell = tuple[str, float | None]
"""What a cell of the table shows, and what it is sorted by where that is a number."""

_PROBLEM, _ALGORITHM, _DEVICE, _VERDICT = "Problem", "Algorithm", "Device", "Verdict"
FILTERS = (_PROBLEM, _ALGORITHM, _DEVICE, _VERDICT)


@dataclass(frozen=True)
class Column:
    """A column: its header, what it shows of a cell, and whether it holds numbers."""

    title: str
    show: Callable[[Labelled], Cell]
    number: bool = True


def _shown(number: float | None, text: Callable[[Any], str]) -> Cell:
    return ("–", None) if number is None else (text(number), float(number))


def table(cells: Sequence[Labelled], speedups: Sequence[Speedup]) -> str:
    """Return the table; a column that no cell has anything for is left out."""
    over = {id(one.record): one.kernel for one in speedups}
    columns = [
        Column(_PROBLEM, lambda c: (c.record.problem, None), number=False),
        Column("Graph", lambda c: (c.record.graph_name, None), number=False),
        Column("Edges", lambda c: _shown(c.record.shape.graph.edges, count)),
        Column(_ALGORITHM, lambda c: (c.variant, None), number=False),
        Column(_DEVICE, lambda c: (c.device, None), number=False),
        Column(_VERDICT, lambda c: (c.record.verdict, None), number=False),
        Column("Kernel", lambda c: _shown(_performance(c.record), lambda x: _time(c.record, x))),
        Column("±", lambda c: _shown(c.record.half_width, percent)),
        Column("MTEPS", lambda c: _shown(c.record.mteps, rate)),
        Column("End to end", lambda c: _shown(c.record.end_to_end if c.record.transfers else None, rate)),
        Column("× CPU, kernel", lambda c: _shown(over.get(id(c.record)), lambda x: f"{x:.3g}")),
        Column("Roof", lambda c: _shown(c.record.share, percent)),
        Column("nJ/edge", lambda c: _shown(c.record.nanojoules, lambda x: f"{x:.3g}")),
        Column("Memory", lambda c: _shown(c.record.shape.peak_device_bytes or None, size)),
    ]
    rendered = [[column.show(cell) for column in columns] for cell in cells]
    kept = [i for i, c in enumerate(columns) if not c.number or any(line[i][1] is not None for line in rendered)]
    head = "".join(_header(columns[i]) for i in kept)
    body = "".join(
        _line(number, cell, [(columns[i], rendered[number][i]) for i in kept]) for number, cell in enumerate(cells)
    )
    return (
        '<table id="cells"><caption class="unseen">All cells. Headers sort; the first button of a row shows '
        f"everything known of its cell.</caption><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _header(column: Column) -> str:
    kind = ' class="number"' if column.number else ""
    title = escape(column.title)
    return f'<th scope="col" aria-sort="none"{kind}><button type="button" class="sort">{title}</button></th>'


def _line(number: int, cell: Labelled, shown: Sequence[tuple[Column, Cell]]) -> str:
    parts = []
    for column, (text, key) in shown:
        label = f' data-title="{escape(column.title)}"'
        if column.number:
            parts.append(f'<td class="number"{label} data-key="{"" if key is None else repr(key)}">{escape(text)}</td>')
        elif column.title == _VERDICT:
            why = f' <span class="why">{escape(cell.record.message)}</span>' if cell.record.message else ""
            mark = f'<span class="verdict {_tone(cell.record)}">{escape(text)}</span>{why}'
            parts.append(f'<td{label} data-key="{escape(text)}">{mark}</td>')
        else:
            parts.append(f"<td{label}>{escape(text)}</td>")
    subject = escape(f"{cell.record.problem} {cell.record.graph_name} by {cell.series}")
    button = (
        f'<td><button type="button" class="more" data-cell="{number}" aria-expanded="false" '
        f'aria-label="Details of {subject}">+</button></td>'
    )
    return f'<tr class="cell {"" if cell.record.ok else "missing"}">{button}{"".join(parts)}</tr>'


def _tone(row: Record) -> str:
    if not row.ok:
        return "bad" if row.outcome != "skipped" else "dull"
    return "good" if row.status == "passed" else "dull"


def _time(row: Record, seconds: float) -> str:
    return duration(seconds) + (f" ({row.few})" if row.few else "")


def _performance(row: Record) -> float | None:
    return None if row.device_kind == "emulated" else row.kernel_s


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
