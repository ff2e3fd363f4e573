"""Records for Python: tables and figures in a notebook, data frames, files and reports."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from html import escape
from pathlib import Path
from typing import Any, overload

from gpugraph.base.errors import InputError, check_name, shown
from gpugraph.base.files import atomic_write, ending_of
from gpugraph.base.quantities import counted, duration, rate
from gpugraph.bench.store import append_record
from gpugraph.cli.output import check_destination
from gpugraph.ext.charts import times
from gpugraph.ext.charts.chart import DARK, LIGHT, Chart, Spec, check_engine, check_figure, colors, config, draw, paint
from gpugraph.ext.charts.figure import Choice, figure
from gpugraph.ext.comparing.cells import label
from gpugraph.ext.comparing.ranked import Named, sentences
from gpugraph.ext.comparing.ranking import rank
from gpugraph.ext.comparing.versions import explanation
from gpugraph.ext.comparing.versions import read_records as read_stored
from gpugraph.ext.python.html import bar, card, table
from gpugraph.ext.python.terms import in_python_terms
from gpugraph.ext.reports import render, styles
from gpugraph.problems import CSV
from gpugraph.records.columns import Labelled, columns_of, precise_time
from gpugraph.records.fields import VALUES
from gpugraph.records.record import PHASES, Record
from gpugraph.report.table import NOISY, describe_graph

SPOKEN_OF = 24
"""Of more records than this only ``sentences`` says what their samples say: it takes a while."""

_OF_TIMES: dict[str, Callable[[Sequence[Labelled]], list[Chart]]] = {
    "samples": times.samples,
    "phases": times.answers,
    "inner-phases": times.inner_shares,
}


class Plot:
    """A figure: a notebook shows it, and it can be saved.

    Attributes:
        spec: the figure as Vega-Lite, which you can edit; ``altair.Chart.from_dict(plot.spec)`` reads it.
    """

    def __init__(self, spec: Spec):
        self.spec = spec

    @in_python_terms
    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it as ``.svg``, ``.pdf``, ``.png`` or, as Vega-Lite, ``.json``; return the path.

        Raises:
            InputError: another ending, a file that cannot be written, or ``gpugraph[report]`` is not installed.
        """
        content = draw(self.spec, check_figure(os.fspath(path)))
        with atomic_write(path) as stream:
            stream.write(content)
        return Path(path)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """Return the picture where it can be drawn, and Vega-Lite for notebooks that draw that themselves."""
        bundle: dict[str, Any] = {"text/plain": repr(self), "application/vnd.vegalite.v5+json": self.spec}
        with contextlib.suppress(InputError):
            check_engine()
            bundle["image/svg+xml"] = draw(self.spec, ".svg").decode()
        return bundle

    def __repr__(self) -> str:
        return "<Plot: .save('figure.svg') writes it, .spec is it as Vega-Lite>"


class Measured(Record):
    """A record with its values as properties; notebooks display it."""

    @classmethod
    def of_record(cls, record: Record) -> "Measured":
        """Return a record as one that shows itself."""
        return cls(**{one.name: getattr(record, one.name) for one in fields(record)})

    def plot(self, y: str | None = None, **how: Any) -> Plot:
        """Return a figure, as ``Records.plot`` does; of one record its samples, or else its phases."""
        return Records([self]).plot(y or ("samples" if len(self.samples) > 1 else "phases"), **how)

    def _repr_html_(self) -> str:
        """Return the record as a notebook shows it: what was run, the times, the verdict, a bar for each phase."""
        cell, graph = Labelled.alone(self), describe_graph(self.graph_facts)
        facts = [("graph", graph), ("device", self.device)]
        if self.kernel_s is not None:
            facts.append(("kernel", f"{precise_time(self)}, {counted(len(self.samples), 'sample')}"))
        facts.append(("MTEPS", self.why_no_rates or ("-" if self.mteps is None else rate(self.mteps))))
        if self.answer_s is not None:
            facts.append(("time to answer", duration(self.answer_s)))
        shown = {name: value for name, value in self.shape.result.items() if "sha256" not in name}
        facts += [(name.replace("_", " "), str(value)) for name, value in shown.items()]
        facts.append(("verdict", _verdict(self)))
        if self.half_width is not None and self.half_width > NOISY:
            facts.append(("noisy", "the times scatter; close other programs, or let gpugraph.bench take more samples"))
        if stale := explanation([self]):
            facts.append(("version", stale))
        parts = {name: seconds for name in PHASES if (seconds := self.phases.get(name))}
        most = max(parts.values(), default=0.0)
        rows = [[name, duration(seconds), bar(seconds / most)] for name, seconds in parts.items()]
        below = table(["phase", "time", ""], rows, right=[1], bars=2) if rows else ""
        return card(f"{self.problem} by {cell.variant}", facts, below)


class Records:
    """Records in their order: a table with its verdicts in a notebook, rows for libraries of tables, a figure, a file.

    Attributes:
        notices: remarks about the records.
    """

    def __init__(self, records: Iterable[Record], notices: Sequence[str] = ()):
        self._records = [one if isinstance(one, Measured) else Measured.of_record(one) for one in records]
        self.notices = list(notices)

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Measured]:
        return iter(self._records)

    @overload
    def __getitem__(self, i: int) -> Measured: ...

    @overload
    def __getitem__(self, i: slice) -> "Records": ...

    def __getitem__(self, i: Any) -> Any:
        return Records(self._records[i]) if isinstance(i, slice) else self._records[i]

    def where(self, **wanted: Any) -> "Records":
        """Return the records with these properties: ``records.where(algorithm="kruskal", ok=True)``."""
        if isinstance(wanted.get("graph"), str):  # a record's own is the graph itself
            wanted["graph_name"] = wanted.pop("graph")
        return Records(r for r in self if all(getattr(r, name) == value for name, value in wanted.items()))

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each record, named as the columns of the CSV are: ``pandas.DataFrame(records.rows())``."""
        cells = [Labelled.alone(record) for record in self]
        columns = columns_of(CSV, cells)
        return [{column.name: column.value(cell) for column in columns} for cell in cells]

    def to_pandas(self) -> Any:
        """Return the rows as a ``pandas.DataFrame``.

        Raises:
            InputError: pandas is not installed.
        """
        try:
            import pandas  # type: ignore[import-untyped]
        except ImportError:
            raise InputError("pandas is not installed", remedy="pip install pandas, or use rows()") from None
        return pandas.DataFrame(self.rows())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows as a stream of Arrow's: ``polars.DataFrame(records)``, ``pyarrow.table(records)``."""
        from gpugraph.ext.python.conversions import rows_as_arrow

        return rows_as_arrow(self.rows()).__arrow_c_stream__(requested_schema)

    @in_python_terms
    def save(self, path: str | os.PathLike[str]) -> Path:
        """Append the records to a file, a line each, as ``--save`` does; ``read_records`` reads them back."""
        check_destination(os.fspath(path), append=True)
        for record in self:
            append_record(record, os.fspath(path))
        return Path(path)

    def sentences(self) -> list[str]:
        """Return sentences on records of the same work: which is how many times as fast, if the samples prove it."""
        rankings = [one for one in rank(list(self))[0] if len(one.records) > 1]
        several = len(rankings) > 1
        return [
            f"{ranking.records[0].problem} on {ranking.records[0].graph_name}: {said}" if several else said
            for ranking in rankings
            for said in sentences(Named(ranking))
        ]

    def _said(self) -> list[str]:
        said = self.sentences() if len(self) <= SPOKEN_OF else []
        return [*said, stale] if (stale := explanation(self)) else said

    def plot(
        self,
        y: str = "mteps",
        *,
        x: str | None = None,
        by: Sequence[str] = (),
        where: Sequence[str] = (),
        title: str | None = None,
        width: int = 480,
        height: int | None = None,
        log: bool | None = None,
        dark: bool = False,
    ) -> Plot:
        """Return a figure of the records, as ``gpugraph plot`` draws it.

        Args:
            y: ``"mteps"``, ``"kernel"``, ``"answer"``, ``"speedup"``, … as ``--y``; or ``"samples"``, ``"phases"`` or
                ``"inner-phases"``.
            x: as ``--x``.
            by: names whose values make a series each; none: algorithm and device, and whatever else differs.
            where: ``NAME=VALUE``, each of which a record must meet; a value may have ``*``.
            title: above the figure.
            width: of the figure, pixels, 96 to an inch.
            height: of the plot, pixels.
            log: whether the ordinate is logarithmic; None decides by the values.
            dark: light lines on a dark ground.

        Raises:
            InputError: a name that is none, or nothing is left to draw.
        """
        ink = DARK if dark else LIGHT
        if y in _OF_TIMES:
            cells = label(list(self))
            if not (found := _OF_TIMES[y](cells)):
                remedy = "one sample has no spread, a failed cell no phases"
                raise InputError(f"no record has a value for '{y}'", remedy=remedy)
            palette = colors(cells, ink)
            parts: list[Spec] = [
                {**paint(one.spec, palette), "title": one.title, "width": width, "height": height or one.height}
                for one in found
            ]
            spec = parts[0] if len(parts) == 1 else {"vconcat": parts}  # one beneath the other
            return Plot({**spec, "config": config(ink), **({} if title is None else {"title": title})})
        check_name("value to draw", y, [*VALUES, *_OF_TIMES])
        choice = Choice(x, y, by, where, title, log)
        return Plot(figure(list(self), ink, choice, width=width, height=height))

    def __repr__(self) -> str:
        lines = [f"<Records: {counted(len(self), 'record')}>", *(f"  {record!r}" for record in self[:20])]
        lines += [f"  and {len(self) - 20} more"] if len(self) > 20 else []
        return "\n".join([*lines, *(f"  {text}" for text in self._said())])

    def _repr_html_(self) -> str:
        """Return a table, the fastest of each graph first, with a bar for each time, and what can be said of them."""
        cells = label(list(self))
        groups = list(dict.fromkeys((cell.record.problem, cell.record.graph_name) for cell in cells))
        longest = {
            group: max((c.record.kernel_s or 0.0 for c in cells if _work(c) == group), default=0.0) for group in groups
        }
        cells.sort(key=lambda c: (groups.index(_work(c)), c.record.kernel_s is None, c.record.kernel_s or 0.0))
        named = [[c.record.problem, c.record.graph_name, c.variant, c.device] for c in cells]
        alike = [i for i in range(4) if i != 2 and len({row[i] for row in named}) == 1]
        rows = []
        for cell in cells:
            record = cell.record
            time = "-" if record.kernel_s is None else precise_time(record)
            share = (record.kernel_s or 0.0) / (longest[_work(cell)] or 1.0)
            speed = "-" if record.mteps is None else rate(record.mteps)
            said = record.verdict if record.ok else f"{record.verdict}: {record.message}"
            row = [record.problem, record.graph_name, cell.variant, cell.device, time]
            row += [bar(share) if share else "", speed, said]
            rows.append([text for i, text in enumerate(row) if i not in alike])
        header = ["problem", "graph", "algorithm", "device", "kernel", "", "MTEPS", "verdict"]
        header = [text for i, text in enumerate(header) if i not in alike]
        title = ", ".join([counted(len(self), "record"), *(named[0][i] for i in alike)])
        drawn = header.index("")
        notes = [("note", text) for text in self.notices]
        shown = table(header, rows, right=[drawn - 1, drawn + 1], bars=drawn)
        return card(title, notes, shown + "".join(f"<div>{escape(text)}</div>" for text in self._said()))


def _work(cell: Labelled) -> tuple[str, str]:
    return cell.record.problem, cell.record.graph_name


def _verdict(record: Record) -> str:
    check = record.shape.verification
    if not record.ok and check.status != "failed":
        return f"{record.outcome}: {record.message}"
    by = f" by {check.method}" if check.method and check.method != "none" else ""
    return f"{record.status}{by}: {check.detail or ''}".rstrip(": ")


@in_python_terms
def read_records(*paths: str | os.PathLike[str]) -> Records:
    """Return the records of files that ``--save``, ``gpugraph bench`` or ``Records.save`` wrote, compressed or not.

    >>> import gpugraph
    >>> gpugraph.bench("path:20", device="cpu", max_seconds=0.1, save="records.jsonl")[0].ok
    True
    >>> gpugraph.read_records("records.jsonl")[0].graph_name
    'path:20'

    Raises:
        InputError: a file cannot be read, is empty, or a line of it is no record.
    """
    for path in paths:
        if not isinstance(path, str | os.PathLike):
            raise InputError(f"path is {shown(path)}", remedy="give the path of a file of records")
    return Records(*read_stored(paths))


@in_python_terms
def report(records: object, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
    """Write a report: one page of HTML with all figures, a table in Markdown or CSV, or a summary; return its path.

    >>> import gpugraph
    >>> records = gpugraph.bench("path:20", device="cpu", max_seconds=0.1)
    >>> gpugraph.report(records, "report.md").read_text().count("path:20")
    1

    Args:
        records: records, one or many, or the path of a file of them, or a list of paths.
        path: by its ending ``.html``, ``.md``, ``.csv`` or ``.txt``.
        title: title of the page.

    Raises:
        InputError: another ending, or nothing to report.
    """
    style = styles()[ending_of(path, "a report", styles())]
    if isinstance(records, str | os.PathLike):
        records = [records]
    given: list[Any] = list(records) if isinstance(records, Iterable) else [records]
    rows, notices = given, list(getattr(records, "notices", ()))
    if given and all(isinstance(one, str | os.PathLike) for one in given):
        rows, notices = read_stored(given)
    if not rows or not all(isinstance(one, Record) for one in rows):
        remedy = "give what gpugraph.bench returned, or files of records"
        raise InputError("there is no record to report", remedy=remedy)
    text = render(rows, style, title=title, notices=notices)
    with atomic_write(path, "w") as stream:
        stream.write(text + "\n")
    return Path(path)
