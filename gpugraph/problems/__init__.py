"""The problems: a folder for each, and what each says of its command and its columns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
"""What ``click.option`` and ``click.argument`` return."""


@dataclass(frozen=True)
class Command:
    """What a problem says of itself: its command, beside the options that all share, and the columns of its records.

    It is ``gpugraph.problems.<name>.COMMAND``, in a file that imports nothing heavy, so that help is instant.

    Attributes:
        title: the problem for people.
        help: a docstring: one line, what is to be known, and an example.
        on_graph: its input is GRAPH, with the options that say how a graph is read.
        options: parameters of its own, above those that say how to run.
        settings: name → (metavar, help) of parameters of algorithms that are worth an option: ``--name VALUE`` is
            ``--set name=VALUE``.
        arrange: from the values of all options by name to those that ``gpugraph.cli.measure`` takes: fields of
            ``Cell``, ``graph`` the text of the input.
        columns: what its results have in addition to the common columns; each is left out of a table where no record
            has it.
    """

    title: str
    help: str
    on_graph: bool = True
    options: tuple[Decorator, ...] = ()
    settings: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    arrange: Callable[[dict[str, Any]], dict[str, Any]] = lambda options: options
    columns: "tuple[Column, ...]" = ()

    def accepts(self, source: str) -> bool:
        """Tell whether a text may name its input, a graph or an array; whether it does, only opening it tells."""
        return self.on_graph != (source.startswith("array:") or source.endswith(".npy"))


class SourceList(tuple[Any, ...]):
    """A list of sources, each as the user gave it; its own class, because a node of a graph may be a tuple."""

    __slots__ = ()


# ------------------------------------------------------------------ columns
# What one column of a table of records shows; the list of all is ``gpugraph.records.columns``.

Cell = Any
"""A record with its names in a report: ``gpugraph.records.columns.Labelled``."""

CSV, MARKDOWN, PAGE, BENCH, TABLE, RANKING = "csv", "markdown", "page", "bench", "table", "ranking"
"""What shows columns: files, the page of HTML, the table a bench ends with, the page of one record, and rankings."""


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        name: of the field it shows, with dots; the header of a CSV.
        title: the header where people read it.
        read: its value, None where there is none; if not given, the field ``name`` of the record.
        text: how people are shown the value.
        words: what they are shown, where it takes more than the value.
        number: it is set flush right and sorted by size.
        shown: by whom.
        filter: the page offers its values as a choice.
        each: there is a column for every name in the object at ``name``.
        optional: it is left out where no record has it.
        identifies: equal work gives equal values, and a comparison says where they are not.
    """

    name: str
    title: str = ""
    read: Callable[[Cell], Any] | None = None
    text: Callable[[Any], str] = str
    words: Callable[[Cell], str] | None = None
    number: bool = False
    shown: tuple[str, ...] = (CSV, MARKDOWN, PAGE)
    filter: bool = False
    each: bool = False
    optional: bool = False
    identifies: bool = False

    def value(self, cell: Cell) -> Any:
        """Return the value of a cell, None where it has none."""
        return cell.record.field(self.name) if self.read is None else self.read(cell)

    def show(self, cell: Cell, absent: str = "-") -> str:
        """Return what people are shown of a cell."""
        value = self.value(cell)
        if value is None:
            return absent
        return self.text(value) if self.words is None else self.words(cell)


def file_column(name: str, **more: Any) -> Column:
    """Return a column of a field as it is, for files."""
    return Column(name, name, shown=(CSV,), **more)


def result_column(name: str, *, identifies: bool = False) -> Column:
    """Return a column of a field of ``result``; of a digest people are shown the beginning."""
    text = (lambda value: f"{value[:16]}…") if name.endswith("sha256") else str
    return file_column(f"result.{name}", text=text, identifies=identifies)
