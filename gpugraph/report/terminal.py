"""Styled lines: one layout for the terminal and for pipes.

A renderer makes lines of spans, each a text with a style; a terminal shows the styles, a pipe gets the text.
"""

import re
import shutil
import sys
import textwrap
from collections.abc import Sequence

from gpugraph.base.errors import printable

Line = list[tuple[str, str]]

LABEL_WIDTH = 12
"""Columns of the label in front of a field."""

BAR_WIDTH = 30
"""Columns of the longest bar."""

BARS = "▁▂▃▄▅▆▇█"
"""Blocks of which one shows a value, lowest first."""

_EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(length: float, blocks: bool) -> str:
    """Return a bar of so many letters and eighths of one, at least the thinnest; without ``blocks`` of whole ones."""
    if not blocks:
        return "#" * max(1, round(length))
    whole, eighths = divmod(round(length * 8), 8)
    return "█" * whole + (_EIGHTHS[eighths] if eighths else "") or _EIGHTHS[1]


def page_width() -> int:
    """Return the columns to lay a page out for: those of $COLUMNS or the terminal, from 40 to 100; in a pipe 80."""
    return max(40, min(shutil.get_terminal_size((80, 24)).columns, 100))


def can_draw() -> bool:
    """Tell whether standard output can show blocks and lines that are no letters."""
    try:
        "▁█×╱".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def plain(lines: Sequence[Line]) -> str:
    """Return the lines as text, without styles and without trailing spaces."""
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)


def print_rich(lines: Sequence[Line]) -> None:
    """Print the lines as on a terminal, in colour unless NO_COLOR asks for none."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, force_terminal=True)
    for line in lines:
        console.print(Text.assemble(*((printable(text), style) for text, style in line)), soft_wrap=True)


def field(label: str, value: str, *, width: int = 80, style: str = "") -> list[Line]:
    """Return a labelled value, wrapped to ``width`` with its later lines under the first."""
    rows = textwrap.wrap(value, width - LABEL_WIDTH, break_on_hyphens=False) or [""]
    heads = [label] + [""] * (len(rows) - 1)
    return [[(f"{head:<{LABEL_WIDTH - 1}} ", "bold"), (row, style)] for head, row in zip(heads, rows, strict=True)]


def indented(text: str, indent: int = 0, *, width: int = 80, style: str = "") -> list[Line]:
    """Return a text wrapped to ``width``, every line of it set in by ``indent`` columns."""
    front = [(" " * indent, "")] if indent else []
    return [[*front, *line[1:]] for line in field("", text, width=width + LABEL_WIDTH - indent, style=style)]


def table_width() -> int | None:
    """Return the columns that a table may take, of $COLUMNS or the terminal; None in a pipe, where rows stay whole."""
    return max(wide, 40) if (wide := shutil.get_terminal_size((0, 0)).columns) else None


LEAST_WORDS = 8
"""Letters that a column of words keeps where a table is too wide."""

_PIECES = re.compile(r"\(?(?:[^\s:;+/·(,]|,(?=\d)|(?<=\d)\s(?=[A-Za-zµ%])|(?<=±)\s)*[\s:;+/·,]?")
"""Parts of a text; a number has its commas and its unit."""


def columns(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = (), width: int | None = None
) -> list[Line]:
    """Return the lines of a table with a header; see ``row_lines``."""
    return [line for lines in row_lines(header, rows, right=right, width=width) for line in lines]


def row_lines(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int] = (),
    width: int | None = None,
    firm: bool = True,
) -> list[list[Line]]:
    """Return the lines of the header, and of each row; each column is as wide as its widest cell.

    Where that is more than ``width`` (None: never), what all rows have in common goes to a line above, columns of words
    are made narrower and their cells go on in further lines, never broken inside a word or a number.  If even that is
    too wide, what several rows in turn have in common at their beginning becomes a heading above these.  Only then are
    columns narrowed that are flush ``right`` (not ``firm``), and at last each row becomes lines of a title and a value.
    """
    columns = list(zip(header, *rows, strict=True))
    alike = [i for i, column in enumerate(columns) if i not in right and len(rows) > 1 and len(set(column[1:])) == 1]
    if width is not None and alike and sum(max(map(len, column)) + 2 for column in columns) - 2 > width:
        kept = [i for i in range(len(columns)) if i not in alike]
        said = ", ".join(f"{header[i]} {rows[0][i]}" for i in alike)
        narrower = [[cells[i] for i in kept] for cells in (header, *rows)]
        flush = [place for place, i in enumerate(kept) if i in right]
        first, *others = row_lines(narrower[0], narrower[1:], right=flush, width=width)
        return [[*([(part, "dim")] for part in _wrapped(said, width)), *first], *others]
    widths = [max(map(len, column)) for column in columns]
    least = [max([LEAST_WORDS, *(len(piece) for cell in column for piece in _pieces(cell))]) for column in columns]
    least = [wide if i in right and firm else min(wide, least[i]) for i, wide in enumerate(widths)]
    while width is not None and sum(widths) + 2 * (len(widths) - 1) > width:
        widest = max(range(len(widths)), key=lambda i: widths[i] - least[i])
        if widths[widest] == least[widest]:
            if not firm:
                return _stacked(header, rows, width)
            headed = _under_headings(header, rows, right, width)
            return headed or row_lines(header, rows, right=right, width=width, firm=False)
        widths[widest] -= 1

    def lines(cells: Sequence[str], style: str) -> list[Line]:
        parts = [_wrapped(cell, wide) for cell, wide in zip(cells, widths, strict=True)]
        made: list[Line] = []
        for turn in range(max(map(len, parts), default=1)):
            texts = [part[turn] if turn < len(part) else "" for part in parts]
            pads = [text.rjust if i in right else text.ljust for i, text in enumerate(texts)]
            made.append([("  ".join(pad(wide) for pad, wide in zip(pads, widths, strict=True)), style)])
        return made

    return [lines(header, "bold"), *(lines(row, "") for row in rows)]


def _pieces(text: str) -> list[str]:
    """Return the parts of a text between which a line may end."""
    return [piece for piece in _PIECES.findall(text) if piece]


def _wrapped(text: str, width: int) -> list[str]:
    """Return a text in lines of at most ``width`` letters, or as long as its longest piece."""
    lines = [""]
    for piece in _pieces(text):
        if len(lines[-1]) + len(piece.rstrip()) > width and lines[-1]:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def _under_headings(
    header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int], width: int
) -> list[list[Line]] | None:
    """Return the lines of a table without its first column, whose values become headings above their rows.

    None if there are as many values as rows, or what is left is too wide all the same.
    """
    values = [row[0] for row in rows]
    begins = [i for i, value in enumerate(values) if i == 0 or value != values[i - 1]]
    if 0 in right or len(header) < 3 or 2 * len(begins) > len(rows):
        return None
    first, *others = row_lines(header[1:], [row[1:] for row in rows], right=[i - 1 for i in right], width=width)
    if not first:
        return None
    for i in begins:
        heading: list[Line] = [[(part, "bold")] for part in _wrapped(values[i], width)]
        others[i] = [*([[]] if i else []), *heading, *(others[i] if others[i][0] else others[i][1:])]
    return [first, *others]


def _stacked(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[list[Line]]:
    """Return each row as lines of a title and a value, with an empty line between two; there is no header."""
    label = max(map(len, header)) + 2
    made: list[list[Line]] = [[]]
    for number, row in enumerate(rows):
        lines: list[Line] = [[]] if number else []
        for title, cell in zip(header, row, strict=True):
            for turn, part in enumerate(_wrapped(cell, max(width - label, LEAST_WORDS))):
                lines.append([(f"{'' if turn else title:<{label}}", "bold"), (part, "")])
        made.append(lines)
    return made
