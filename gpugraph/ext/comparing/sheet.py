"""``Sheet``: headings, tables and notes, put together once, and shown in a terminal or as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass

from gpugraph.report.markdown_csv import escaped, grid
from gpugraph.report.terminal import Line, indented, row_lines
from gpugraph.report.terminal import field as labelled

ALARM = "bold red"
"""The style of a row that is to alarm."""


@dataclass(frozen=True)
class Table:
    """A table of texts: which columns are flush right, styles of rows, and remarks beneath them or nothing."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[int] = ()
    styles: Sequence[str] = ()
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class Note:
    """A text after a label in a terminal, a point of a list in Markdown; without a label a sentence."""

    label: str
    text: str
    style: str = ""


@dataclass
class Sheet:
    """Parts in their order: a text is the heading of what follows, a list of lines is for a terminal alone."""

    parts: list[str | Table | Note | list[Line]]

    def lines(self, width: int, table_width: int | None = None) -> list[Line]:
        """Return the lines for a terminal: tables at most ``table_width`` wide, all else wrapped to ``width``."""
        made: list[Line] = []
        before: object = None
        for part in self.parts:
            if before is not None and not (isinstance(part, Note) and isinstance(before, Note)):
                made.append([])
            if isinstance(part, str):
                made += indented(part, width=width, style="bold")
            elif isinstance(part, list):
                made += part
            elif isinstance(part, Note):
                alike = isinstance(before, Note) and before.label == part.label
                label = "" if alike else part.label
                lines = labelled(label, part.text, width=width, style=part.style)
                made += lines if part.label else indented(part.text, width=width, style=part.style)
            else:
                made += _rows(part, width, table_width)
            before = part
        return made

    def markdown(self) -> str:
        """Return the same as Markdown."""
        made: list[str] = []
        for part in self.parts:
            if isinstance(part, Note):
                title = f"*{part.label}*: " if part.label else ""
                made.append(f"- {title}{escaped(part.text)}")
                continue
            made += [""] if made else []
            if isinstance(part, str):
                made.append(f"**{escaped(part)}**")
            elif isinstance(part, Table):
                made += grid(part.header, [_with_remark(part, turn) for turn in range(len(part.rows))], part.right)
            made += [""] if isinstance(part, Table | str) else []
        return "\n".join(made).replace("\n\n\n", "\n\n").strip("\n")


def _with_remark(table: Table, turn: int) -> list[str]:
    """Return a row for Markdown: its last cell bold where the row is to alarm, and the remark after it."""
    *cells, last = table.rows[turn]
    alarming = bool(table.styles) and table.styles[turn] == ALARM
    remark = table.remarks[turn] if table.remarks else ""
    return [*cells, (f"**{last}**" if alarming else last) + (f": {remark}" if remark else "")]


def _rows(table: Table, width: int, table_width: int | None) -> list[Line]:
    header, *rows = row_lines(table.header, table.rows, right=table.right, width=table_width)
    made = list(header)
    for turn, row in enumerate(rows):
        style = table.styles[turn] if table.styles else ""
        made += [[(text, own or style) for text, own in line] for line in row]
        if table.remarks and table.remarks[turn]:
            made += indented(table.remarks[turn], 4, width=width, style="dim")
    return made
