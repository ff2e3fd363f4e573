"""Exporters: how results are written in a format.  Each is a file of this folder, or a line of ``ELSEWHERE``.

A file ``NAME.py`` has an ``EXPORTER``.  It is imported when its format is used or a help text lists it, and what takes
time is imported by its ``load`` alone.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from gpugraph.base.files import ending_of
from gpugraph.base.plugged import offered, plugged

if TYPE_CHECKING:
    from gpugraph.records.columns import Labelled
    from gpugraph.records.record import Record
    from gpugraph.records.record_shape import CounterExampleShape
    from gpugraph.report.terminal import Line


class Ranking(Protocol):
    """Records of the same work, the fastest first."""

    @property
    def records(self) -> list[Record]:
        """All of them."""


@dataclass(frozen=True)
class Results:
    """Records to export.

    Attributes:
        rankings: how they rank; None where they are shown as they are, not compared.
        title, notices: of a page, and what a reader should know of the files of records.
        template: the file of a text that they are filled into, or nothing.
    """

    records: Sequence[Record]
    rankings: Sequence[Ranking] | None = None
    title: str | None = None
    notices: Sequence[str] = ()
    template: str = ""

    def ranked(self) -> Sequence[Ranking]:
        """Return how the records rank."""
        return rankings().rank(self.records)[0] if self.rankings is None else self.rankings


@dataclass(frozen=True)
class Exporter:
    """A format of results.

    Attributes:
        endings: of its files, the usual one first.
        content: what such a file holds, for help texts.
        load: imports what the format needs, and returns the function that makes a text of results, without a last line
            break.
        check: raises InputError where something that it needs is not installed.
    """

    endings: tuple[str, ...]
    content: str
    load: Callable[[], Callable[[Results], str]]
    check: Callable[[], object] = bool


ELSEWHERE = {"html": "gpugraph.ext.charts.exporter", "latex": "gpugraph.ext.comparing.latex"}
"""Format → module, of exporters in other folders."""

EXPORTERS = {one.name: f"{__name__}.{one.name}" for one in pkgutil.iter_modules(__path__)} | ELSEWHERE
"""Name of a format → its module."""

BESIDE = {
    "template": "gpugraph.ext.charts.template",
    "drawing": "gpugraph.ext.charts.counter_example",
    "rankings": "gpugraph.ext.comparing.ranked",
}
"""Modules of what is no format: ``--template``, ``--draw``, and how records rank."""


def exporter(name: str) -> Exporter:
    """Return the exporter of a format."""
    known = EXPORTERS | BESIDE
    found: Exporter = import_module(known[name]).EXPORTER if name in known else plugged("exporters", name, Exporter)
    return found


def endings() -> dict[str, str]:
    """Return the ending of a file → the name of the format that it is written in."""
    return {ending: name for name in (*offered("exporters"), *EXPORTERS) for ending in exporter(name).endings}


def exporter_of(path: str) -> Exporter:
    """Return the exporter by the ending of a file; raise InputError where there is none."""
    known = endings()
    return exporter(known[ending_of(path, "an export", known)])


def contents() -> str:
    """Return in words which files hold what: ``"cells to .csv, a sorted table to .md"``."""
    found: dict[str, list[str]] = {}
    for one in map(exporter, EXPORTERS):
        found.setdefault(one.content, []).append(one.endings[0])
    return ", ".join(f"{content} to {' or '.join(names)}" for content, names in found.items())


class Drawing(Protocol):
    """The module that draws counter-examples."""

    def shape_to_draw(self, record: Record) -> CounterExampleShape | None:
        """Return the counter-example of a record, if there is one that can be drawn."""

    def sketch(self, shape: CounterExampleShape, *, width: int = 80, unicode: bool = True) -> list[Line]:
        """Return it in letters."""

    def svg(self, shape: CounterExampleShape) -> str:
        """Return it as SVG."""


def drawing() -> Drawing:
    """Return the module that draws counter-examples."""
    return cast(Drawing, import_module(BESIDE["drawing"]))


class Sheet(Protocol):
    """Headings, tables and notes."""

    def lines(self, width: int, table_width: int | None = None) -> list[Line]:
        """Return it for a terminal."""

    def markdown(self) -> str:
        """Return it as Markdown."""


class Rankings(Protocol):
    """The module that says which of several records is the fastest."""

    def label(self, rows: Sequence[Record]) -> Sequence[Labelled]:
        """Return the records with names that tell them apart."""

    def rank(self, records: Sequence[Record], *, reference: str = "") -> tuple[Sequence[Ranking], Sequence[Any]]:
        """Return rankings of records of the same work, compared with ``reference``, and records that are alone."""

    def ranking_sheet(self, ranking: Any, *, width: int = 80) -> Sheet:
        """Return a ranking for a terminal: its table, its chart, its claims and cautions."""

    def exported_sheet(self, ranking: Any) -> Sheet:
        """Return a ranking as a README or a paper takes it."""

    def ranking_json(self, ranking: Any) -> dict[str, object]:
        """Return a ranking as a JSON object."""


def rankings() -> Rankings:
    """Return the module that ranks records."""
    return cast(Rankings, import_module(BESIDE["rankings"]))
