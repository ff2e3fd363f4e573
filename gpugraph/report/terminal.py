"""Styled lines: one layout for the terminal and for pipes.

A renderer makes lines of spans, each a text with a style; a terminal shows the styles, a pipe gets the text.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence

Span = tuple[str, str]
Line = list[Span]

LABEL_WIDTH = 12
"""Columns of the label in front of a field."""


def page_width(most: int = 100) -> int:
    """Return the columns to lay a page out for: those of the terminal, up to ``most``; 80 in a pipe."""
    width = min(shutil.get_terminal_size().columns, most) if sys.stdout.isatty() else 80
    return max(width, 40)


def plain(lines: Sequence[Line]) -> str:
    """Return the lines as text, without styles and without trailing spaces."""
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)


def print_rich(lines: Sequence[Line]) -> None:
    """Print the lines on the terminal, in colour unless NO_COLOR asks for none."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for line in lines:
        console.print(Text.assemble(*line), soft_wrap=True)


def field(label: str, value: str, *, width: int = 80, style: str = "") -> list[Line]:
    """Return a labelled value, wrapped to ``width`` with its later lines under the first."""
    rows = textwrap.wrap(value, width - LABEL_WIDTH, break_on_hyphens=False) or [""]
    heads = [label] + [""] * (len(rows) - 1)
    return [[(f"{head:<{LABEL_WIDTH - 1}} ", "bold"), (row, style)] for head, row in zip(heads, rows, strict=True)]


def indented(text: str, indent: int = 0, *, width: int = 80, style: str = "") -> list[Line]:
    """Return a text wrapped to ``width``, every line of it set in by ``indent`` columns."""
    front = [(" " * indent, "")] if indent else []
    return [[*front, *line[1:]] for line in field("", text, width=width + LABEL_WIDTH - indent, style=style)]


def columns(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> list[Line]:
    """Return a table with a header, each column as wide as its widest cell, those in ``right`` set flush right."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]

    def line(cells: Sequence[str], style: str) -> Line:
        padded = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return [("  ".join(padded), style)]

    return [line(header, "bold"), *(line(row, "") for row in rows)]
