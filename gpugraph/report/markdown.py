"""Records as a Markdown table, with the definition of MTEPS beneath it."""

from __future__ import annotations

from collections.abc import Sequence

from gpugraph.measure.columns import Labelled, columns_of
from gpugraph.measure.record import EMULATED, Record
from gpugraph.problems.column import MARKDOWN
from gpugraph.report.cells import label, speedups
from gpugraph.report.papers import COLUMNS, Published, published

FEW = "A time with its number of samples in brackets has fewer than were asked for, or than three: it proves little"


def markdown(rows: Sequence[Record]) -> str:
    """Return the records as a table, a line each; MTEPS only where the result is verified."""
    shown = [Labelled.alone(one) for one in rows]
    columns = columns_of(MARKDOWN, shown)
    lines = [row([column.title for column in columns])]
    lines.append(row(["---:" if column.number else "---" for column in columns]))
    lines += [row([column.show(one) for column in columns]) for one in shown]
    definitions = {(one.shape.mteps.definition or "") for one in rows} - {""}
    notes = sorted(definitions)
    if notes and any(one.transfers for one in rows):
        notes.append("End to end: the same count / (transfer + kernel + d2h)")
    if any(one.answer_s for one in rows):
        notes.append("Time to answer: from the command to its end, without the runs that only repeat")
    if any(one.interval_s for one in rows):
        notes.append("Kernel: median ± half the width of its 95 % confidence interval")
    if any(one.few for one in rows):
        notes.append(FEW)
    if any(one.device_kind == "emulated" for one in rows):
        notes.append(EMULATED[0].upper() + EMULATED[1:])
    lines += [f"\n{note}." for note in notes]
    for paper in published(label(rows), speedups(rows)):
        lines += ["", *_paper(paper)]
    return "\n".join(lines)


def _paper(paper: Published) -> list[str]:
    """Return what a paper states, beside ours, and what it claims."""
    lines = [f"**{escaped(paper.title)}.** {escaped(paper.about)}"]
    if paper.figures:
        lines += ["", row(COLUMNS), row(["---"] * len(COLUMNS)), *(row(figure) for figure in paper.figures)]
    return lines + (["", *(f"- {escaped(claim)}" for claim in paper.claims)] if paper.claims else [])


def row(cells: Sequence[str]) -> str:
    """Return cells as one row of a Markdown table, whatever they contain."""
    return "| " + " | ".join(escaped(cell) for cell in cells) + " |"


def escaped(text: str) -> str:
    """Return a text on one line, with what Markdown would take for a table or for HTML escaped."""
    return " ".join(text.replace("|", "\\|").replace("<", "\\<").split())
