"""Records as a picture in the terminal: bars of each panel, what stands out, published figures and failures."""

import math
from collections.abc import Sequence
from typing import Any

from gpugraph.base.quantities import counted, rate
from gpugraph.ext.comparing.cells import label, ordered
from gpugraph.ext.comparing.versions import explanation
from gpugraph.ext.reports.headlines import headlines, lead
from gpugraph.ext.reports.panels import LOG_BEYOND, Panel, panels
from gpugraph.ext.reports.published import Published, published
from gpugraph.ext.reports.versus import gains
from gpugraph.records.columns import Labelled
from gpugraph.records.record import Record
from gpugraph.report.sweep import skipped_alike
from gpugraph.report.terminal import BARS, Line, bar, can_draw, indented

SHOWN_FAILURES = 12

_LETTERS = "_.-=+*#@"


def summary(rows: Sequence[Record], width: int = 80, *, unicode: bool | None = None) -> list[Line]:
    """Return the summary of records; ``unicode``: with block characters, None: if the output can show them."""
    blocks = can_draw() if unicode is None else unicode
    if not rows:
        return [[("no cell was measured", "yellow")]]
    cells = label(rows)
    lines = indented(lead(cells), width=width)
    for panel in panels(cells):
        lines += _panel(panel, width, blocks)
    lines += [[("", "")]] if any(row.mteps for row in rows) else []
    for one in headlines(cells, gains(cells)):
        figures = "; ".join(f"{figure} {what}" for figure, what in one.figures)
        lines += _entry(one.subject, [(figures, "bold green"), (f"  {one.detail}", "dim")], width)
    for paper in published(cells):
        lines += _paper(paper, width)
    lines += _failures(cells, width)
    return [*lines, [], *indented(stale, width=width)] if (stale := explanation(rows)) else lines


def _paper(paper: Published, width: int) -> list[Line]:
    """Return what a paper states, beside ours, and what it claims."""
    lines: list[Line] = [[("", "")], *indented(f"{paper.title}: {paper.about}", width=width, style="bold")]
    for system, size, place, hardware, theirs, ours in paper.figures:
        text = f"{system}, {size}: {theirs} on {hardware} ({place}); ours: {ours}"
        lines += indented(text, 2, width=width)
    for claim in paper.claims:
        lines += indented(f"- {claim}", 2, width=width, style="dim")
    return lines


def _panel(panel: Panel, width: int, blocks: bool) -> list[Line]:
    rates = [m.record.mteps for m in panel.members if m.record.mteps]
    if not rates:
        return []
    groups: dict[str, list[Labelled]] = {}
    for member in panel.members:
        groups.setdefault(member.record.graph_name if panel.names else member.series, []).append(member)
    if panel.names:
        return _bars(panel, groups, max(rates), width, blocks)
    scales = sorted({m.record.scale or 0.0 for m in panel.members})
    low, high = min(rates), max(rates)
    log = high > LOG_BEYOND * low
    how = ", logarithmic" if log else ""
    title = f"{panel.title}: MTEPS over scale {scales[0]:g} to {scales[-1]:g}{how}"
    lines: list[Line] = [[("", "")], *indented(title, width=width, style="bold")]
    names = _name_width(groups, width, len(scales) + 26)
    for name in ordered(groups):
        members = groups[name]
        at = {m.record.scale or 0.0: m.record for m in members}
        chart = "".join(_mark(at[scale], low, high, log, blocks) if scale in at else " " for scale in scales)
        values = [m.record.mteps for m in members if m.record.mteps]
        text = f"{rate(values[0])} to {rate(values[-1])}" if len(values) > 1 else rate(values[0]) if values else "-"
        text += " (few samples)" if any(m.record.few for m in members) else ""
        lines.append([(f"  {_cut(name, names):<{names}}  ", ""), (chart, "cyan"), (f"  {text}", "")])
    return lines


def _mark(row: Record, low: float, high: float, log: bool, blocks: bool) -> str:
    """Return the character of a value between the least and the greatest of its figure."""
    if not row.mteps:
        return ("×" if blocks else "x") if not row.ok else " "
    share = math.log(row.mteps / low) / math.log(high / low) if log else row.mteps / high
    ramp = BARS if blocks else _LETTERS
    return ramp[min(len(ramp) - 1, max(0, round(share * (len(ramp) - 1))))]


def _bars(panel: Panel, groups: dict[str, list[Labelled]], most: float, width: int, blocks: bool) -> list[Line]:
    lines: list[Line] = [[("", "")], *indented(f"{panel.title}: MTEPS", width=width, style="bold")]
    names = _name_width([m.series for m in panel.members], width, 36)
    room = max(4, width - names - 18)
    for graph, members in groups.items():
        lines.append([(f"  {_cut(graph, width - 2)}", "bold")])
        for member in sorted(members, key=lambda m: (-(m.record.mteps or 0.0), m.series)):
            head = (f"    {_cut(member.series, names):<{names}}  ", "")
            if member.record.mteps:
                drawn = bar(member.record.mteps / most * room, blocks)
                few = f" ({member.record.few})" if member.record.few else ""
                lines.append([head, (drawn, "cyan"), (f" {rate(member.record.mteps)}{few}", "")])
            else:
                lines.append([head, (member.record.verdict, "yellow")])
    return lines


def _failures(cells: Sequence[Labelled], width: int) -> list[Line]:
    failed = [cell for cell in cells if not cell.record.ok]
    lines: list[Line] = [[("", "")], [(f"{counted(len(failed), 'cell')} without numbers", "bold")]] if failed else []
    alike = skipped_alike([cell.record for cell in failed])
    together = {id(row) for of in alike.values() for row in of}
    for why, of in alike.items():
        lines += indented(f"{len(of)} skipped: {why}", 2, width=width, style="yellow")
    failed = [cell for cell in failed if id(cell.record) not in together]
    for cell in failed[:SHOWN_FAILURES]:
        row = cell.record
        said = f"{row.outcome}: {row.message}" if row.message else row.outcome
        text = f"{row.problem} {row.graph_name} by {cell.series}: {said}"
        lines += indented(text, 2, width=width, style="yellow")
    if len(failed) > SHOWN_FAILURES:
        lines.append([(f"  and {len(failed) - SHOWN_FAILURES} more", "dim")])
    return lines


def _entry(subject: str, spans: Line, width: int) -> list[Line]:
    """Return a headline on one line where it fits, else its detail on lines of their own."""
    head = [(f"{subject}  ", "bold")]
    if len(subject) + 2 + sum(len(text) for text, _ in spans) <= width:
        return [head + spans]
    detail = indented(spans[1][0].strip(), 2, width=width, style="dim")
    if len(subject) + 2 + len(spans[0][0]) <= width:
        return [[*head, spans[0]], *detail]
    return [head, *indented(spans[0][0], 2, width=width, style=spans[0][1]), *detail]


def _name_width(names: Sequence[str] | dict[str, Any], width: int, rest: int) -> int:
    return max(8, min(max(len(name) for name in names), width - rest))


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
