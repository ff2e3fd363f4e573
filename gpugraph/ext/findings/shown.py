"""The tables and expectations of a sweep as text: for a terminal, and in Markdown."""

from collections.abc import Callable, Sequence
from itertools import chain

from gpugraph.base.quantities import counted
from gpugraph.bench.sweep import Finding, Sweep, Table
from gpugraph.ext.comparing.versions import explanation
from gpugraph.records.record import STALE, Record
from gpugraph.report.markdown_csv import grid
from gpugraph.report.terminal import Line, columns, field, indented


def finding_lines(
    sweep: Sweep, records: Sequence[Record], *, width: int = 100, table_width: int | None = None
) -> list[Line]:
    """Return the tables of a sweep, at most ``table_width`` wide, and what came of its expectations."""
    lines: list[Line] = []
    for table in sweep.tables:
        if rows := _marked(table, records, _stale):
            right = flush_right(rows)
            lines += [[], [(table.title, "bold")], *columns(list(table.columns), rows, right=right, width=table_width)]
    for finding in _findings(sweep, records):
        beside = ", ".join(filter(None, (finding.where, _kind(finding), finding.stated)))
        beside = f" ({beside})" if beside else ""
        style = "dim" if finding.verdict == "–" else "bold red" if finding.failed else "bold green"
        lines += [] if lines and lines[-1] else [[]]
        lines += field(finding.verdict, finding.text + beside, width=width, style=style)
        lines += field("", finding.ours, width=width, style="dim")
    every = [finding for expectation in sweep.expectations for finding in expectation.findings(records)]
    lines += [[(counted_, "bold")]] if (counted_ := count(every)) else []
    return [*lines, [], *indented(stale, width=width)] if (stale := explanation(records)) else lines


def _findings(sweep: Sweep, records: Sequence[Record]) -> list[Finding]:
    """Return what came of the expectations; without a record of a GPU those without a verdict are named in one."""
    findings = [finding for expectation in sweep.expectations for finding in expectation.findings(records)]
    if sweep.paper is None or any(record.device_kind == "cuda" for record in records):
        return findings
    left = [finding for finding in findings if finding.where and finding.verdict == "–"]
    if not left:
        return findings
    ours = "; ".join(finding.text for finding in left)
    if "laptop" in sweep.document.tables:
        others = "on a machine with one: --claims" if sweep.laptop else "what needs none, in a minute: --laptop"
        ours += f". {others[0].upper()}{others[1:].replace('--', f'gpugraph bench --sweep {sweep.name} --')}"
    late = " or more time" if any(record.outcome == "skipped" for record in records) else ""
    text = f"{counted(len(left), 'claim')} not judged: needs a GPU{late}"
    return [*(finding for finding in findings if finding not in left), Finding(text, "", "", ours, "–")]


def count(findings: Sequence[Finding]) -> str:
    """Return how many claims of a paper are judged, and how many of them hold; nothing where there are none."""
    claims = [finding for finding in findings if finding.kind == "paper"]
    judged = [finding for finding in claims if finding.verdict not in ("–", "too few samples")]
    held = sum(finding.verdict.startswith("yes") for finding in judged)
    of = f"{len(judged)} of {counted(len(claims), 'claim')} of the paper judged"
    return f"{of}, {held} of them as stated" if claims else ""


def finding_markdown(sweep: Sweep, records: Sequence[Record]) -> str:
    """Return the same in Markdown."""
    tables = [(table, table_markdown(table, records)) for table in sweep.tables]
    parts = [f"**{table.title}**\n\n{text}" for table, text in tables if text]
    findings = _findings(sweep, records)
    parts += [verdicts_markdown(findings)] if findings else []
    return "\n\n".join([*parts, stale] if parts and (stale := explanation(records)) else parts)


def _stale(rows: Sequence[Record]) -> str:
    return STALE if any(row.version for row in rows) else ""


def _marked(table: Table, records: Sequence[Record], marks: Callable[[Sequence[Record]], str]) -> list[list[str]]:
    """Return the rows of a table with what ``marks`` gives after the first column."""
    beside = [[one, *chain(*groups.values())] for one, groups in table.cells(records)]
    return [[row[0] + marks(used), *row[1:]] for row, used in zip(table.rows(records), beside, strict=True)]


def table_markdown(table: Table, records: Sequence[Record], marks: Callable[[Sequence[Record]], str] = _stale) -> str:
    """Return a table of a sweep in Markdown, without columns that no record fills; nothing where none belongs there.

    ``marks`` returns what follows the first column of a row made of some records.
    """
    rows = _marked(table, records, marks)
    shown = [place for place in range(len(table.columns)) if any(row[place] != "–" for row in rows)]
    titles, rows = [list(table.columns)[place] for place in shown], [[row[place] for place in shown] for row in rows]
    return "\n".join(grid(titles, rows, flush_right(rows))) if rows else ""


def verdicts_markdown(findings: Sequence[Finding]) -> str:
    """Return what came of expectations as a table in Markdown."""
    places = [f" ({', '.join(filter(None, (one.where, _kind(one))))})" if one.where else "" for one in findings]
    rows = [(one.text + place, one.stated, one.ours, one.verdict) for one, place in zip(findings, places, strict=True)]
    table = "\n".join(grid(("claim, its place", "stated", "ours", "holds?"), rows))
    return f"{table}\n\n{counted_}." if (counted_ := count(findings)) else table


def _kind(finding: Finding) -> str:
    """Return what a row is that is no claim of the paper, but for a device that its verdict names."""
    names = {"open": "open question", "computed": "computed", "ours": "ours"}
    return names.get(finding.kind, "")


def flush_right(rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the columns that hold nothing but numbers, or dashes in their place."""
    several = range(len(rows[0]) if rows else 0)
    return [i for i in several if all(row[i] == "–" or row[i][:1].isdigit() or row[i][:1] == "-" for row in rows)]
