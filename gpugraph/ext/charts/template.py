"""Pages of documentation made of records: a Markdown text in which tables and verdicts of sweeps are filled in.

The text is a Jinja2 template, which knows the functions of ``_Page``; docs/report.md describes them.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import chain
from math import inf
from pathlib import Path
from statistics import geometric_mean, median
from typing import TYPE_CHECKING, cast

from msgspec import structs

from gpugraph.base.errors import InputError, check_name, placed
from gpugraph.base.files import read_text
from gpugraph.base.quantities import counted, duration, in_units
from gpugraph.bench.sweep import Question, Sweep
from gpugraph.bench.sweep_file import read_sweep
from gpugraph.ext.comparing.cells import APART
from gpugraph.ext.findings.shown import table_markdown, verdicts_markdown
from gpugraph.ext.machine.break_even import ASSUMED, break_even, edges_text
from gpugraph.ext.machine.data_sheets import NAMES, RATES, parse_gpus, shares_of_estimate
from gpugraph.ext.reports.against_others import CLOCKS, failures, lead, marks, note, ratio
from gpugraph.problems.foreign import is_foreign
from gpugraph.records.record import Record
from gpugraph.report.exporters import Exporter
from gpugraph.report.markdown_csv import grid

if TYPE_CHECKING:
    from gpugraph.ext.findings import Expectation, Table


def fill(path: str, records: Sequence[Record]) -> str:
    """Return the page that a template makes of records.

    Raises:
        InputError: the template cannot be read, or asks for what is not there; the message names the line where it can.
    """
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    page = _Page(records)
    known = ImmutableSandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    functions = {name: getattr(page, name) for name in vars(_Page) if not name.startswith("_")}
    try:
        rendered: str = known.from_string(read_text(path)).render(functions)
    except InputError as error:
        raise placed(error, path) from None
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        where = f"{path} line {line}" if line else path
        remedy = "correct the template; docs/report.md has what it knows"
        raise InputError(f"{error.message}", where=where, remedy=remedy) from None
    except (ArithmeticError, AttributeError, LookupError, NameError, RecursionError, TypeError, ValueError) as error:
        raise InputError(str(error), where=path, remedy="see docs/report.md") from None
    return rendered.rstrip("\n")


class _Page:
    """What a template can ask for of the records that the page is made of."""

    def __init__(self, records: Sequence[Record]):
        self._records = records
        self._sweeps: dict[str, Sweep] = {}

    def table(self, sweep: str, title: str, records: str | None = None) -> str:
        """Return a ``[[table]]`` of a sweep."""
        tables = {one.title: one for one in self._sweep(sweep).tables}
        check_name(f"table of '{sweep}'", title, tables)
        found = self._of(sweep, records)
        asked = cast("Table", tables[title])
        if asked.intervals:
            asked = structs.replace(asked, intervals="processes")
        text = table_markdown(asked, found, marks)
        if not text:
            raise InputError(f"no record is in the table '{title}' of '{sweep}'", remedy="name the file that has them")
        return text + note(_asked(tables[title], found)) + _explained(text)

    def verdicts(self, sweep: str, records: str | None = None) -> str:
        """Return what comes of the expectations of a sweep, by the records of a file or all that are of the sweep."""
        found, expectations = self._of(sweep, records), self._sweep(sweep).expectations
        parts = [part for one in cast("Sequence[Expectation]", expectations) for part in one.parts()]
        used = [_asked(part, found) for part in parts]
        findings = [
            replace(finding := part.find(found), ours=finding.ours + marks(rows))
            for part, rows in zip(parts, used, strict=True)
        ]
        text = verdicts_markdown(findings)
        return text + note(chain(*used)) + _explained(text)

    def measured(self, sweep: str, kind: str = "") -> bool:
        """Tell whether there are records of a sweep, on a kind of device if one is named."""
        return any(kind in ("", row.device_kind) for row in self._of(sweep, None))

    def origin(self, records: str) -> str:
        """Return how many cells a file has, on what they were measured, and when."""
        rows = self._of("", records)
        threads: dict[str, dict[str, None]] = {}
        for row in (row for row in rows if row.shape.device.name):
            counts = threads.setdefault(row.device, {})
            if row.device_kind == "cpu":
                counts[str(row.shape.device.threads)] = None
        devices = [
            name + (f", {'/'.join(counts)} {'thread' if list(counts) == ['1'] else 'threads'}" if counts else "")
            for name, counts in threads.items()
        ]
        days = sorted({row.shape.time[:10] for row in rows} - {""})
        when = " to ".join(dict.fromkeys(days[:1] + days[-1:]))
        return f"{counted(len(rows), 'cell')}, {' and '.join(devices)}, {when}"

    def command(self, records: str) -> str:
        """Return the commands that measured a file's records, a line each."""
        words = [row.shape.environment.get("command") or () for row in self._of("", records)]
        lines = [shlex.join(["gpugraph", *one[one.index("bench") :]]) for one in words if "bench" in one]
        return "\n".join(dict.fromkeys(lines))

    def lead(
        self, records: str | Sequence[str], problem: str | Mapping[str, str], algorithm: str = "", graphs: str = "*"
    ) -> dict[str, object]:
        """Compare an algorithm of ours, or one for each problem, with the fastest verified peer on each graph.

        Returns ``lead`` of ``ext/reports/against_others.py`` for one file or several, and the ``day`` of the last
        record with its marks.
        """
        files = [records] if isinstance(records, str) else records
        rows = [row for file in files for row in self._of("", file)]
        ours = {problem: algorithm} if isinstance(problem, str) else problem
        found = lead(rows, ours, graphs, self._records)
        days = [day for row in rows if row.algorithm in ours.values() if (day := row.shape.time[:10])]
        return {**found, "day": max(days, default="") + found["marks"]}

    def ratio(self, found: Mapping[str, object]) -> str:
        """Return what ``lead`` gave as text: mean and range, and the mean without the graphs on which one failed."""
        return ratio(found)

    def failures(self, *files: str) -> str:
        """Return a table of the programs that failed in some files, and a list of the graphs below it."""
        rows = failures(row for file in files for row in self._of("", file))
        table = grid(["program", "problem", "failure", "graphs"], [row[:4] for row in rows], [3])
        return "\n".join([*table, "", *(f"- {', '.join(row[:3])}: {row[4]}" for row in rows)])

    def hardware(self, devices: Mapping[str, Sequence[str]]) -> str:
        """Return a table of the fastest verified code of each device, which has files, on graphs that all have."""
        fastest: dict[tuple[str, str], dict[str, Record]] = {}
        for title, files in devices.items():
            for row in [row for file in files for row in self._of("", file) if row.ok and row.kernel_s]:
                best = fastest.setdefault((row.problem, row.graph_source), {})
                if title not in best or (row.kernel_s or inf) < (best[title].kernel_s or inf):
                    best[title] = row
        rows, used = [], list[Record]()
        for (problem, graph), best in sorted(fastest.items()):
            if best.keys() == devices.keys():
                used += best.values()
                shown = [
                    f"{'–' if one.answer_s is None else duration(one.answer_s)} ({duration(one.kernel_s or inf)}), "
                    f"{one.program}"
                    for one in (best[title] for title in devices)
                ]
                held = max(one.shape.peak_device_bytes or 0 for one in best.values())
                rows.append([problem, graph + marks(best.values(), one_run=False), *shown, in_units(held)])
        return "\n".join(grid(["problem", "graph", *devices, "GPU memory"], rows, [len(devices) + 2])) + note(used)

    def break_even(self, cpus: Mapping[str, str], gpu: Sequence[str], graphs: Sequence[str]) -> str:
        """Return a table of the edges from which a GPU is faster than CPUs, by our fastest records of some graphs."""
        known = []
        for files in (*([file] for file in cpus.values()), gpu):
            rows = [row for file in files for row in self._of("", file) if row.ok and not is_foreign(row.algorithm)]
            rows.sort(key=lambda row: -(row.kernel_s or inf))
            known.append({(row.problem, row.graph_source): row for row in rows})
        *own, there = known
        table, used = [], list[Record]()
        for problem, graph in sorted(set.intersection(*map(set, known))):
            if any(fnmatchcase(graph, pattern) for pattern in graphs):
                records = [of[problem, graph] for of in known]
                used += records
                edges = [break_even(of[problem, graph], there[problem, graph]) for of in own]
                texts = [edges_text(one[at]) for at in (0, 1) for one in edges]
                table.append([problem, graph + marks(records, one_run=False), *texts])
        titles = ["problem", "graph", *(f"{kind}, {name}" for kind in ("command", "call") for name in cpus)]
        return "\n".join(grid(titles, table, range(2, len(titles)))) + note(used) + f"\n\n{ASSUMED}"

    def estimates(self, arcs: int) -> str:
        """Return a table of GPUs by data sheet, and of the times estimated for so many arcs, as ``info --gpu`` does."""
        rows = []
        for gpu in parse_gpus(NAMES, 0.0):
            times = [" to ".join(map(duration, gpu.seconds(problem, arcs) or ())) for problem in RATES]
            rows.append(
                [gpu.name, f"{gpu.sheet.memory_bytes / 1e9:.0f}", f"{gpu.sheet.bytes_per_s / 1e12:.3g}", *times]
            )
        return "\n".join(grid(["GPU", "GB", "TB/s", *RATES], rows, range(1, 6)))

    def estimate_check(self, gpu: str) -> str:
        """Return by problem the measured times of a GPU as shares of those that are estimated for the same graphs."""
        shares = {problem: of for problem, of in shares_of_estimate(self._records, gpu).items() if of}
        ends = {problem: (geometric_mean(of), of[0], of[-1]) for problem, of in shares.items()}
        rows = [[problem, str(len(of)), *(f"{one:.2f}" for one in ends[problem])] for problem, of in shares.items()]
        return "\n".join(grid(["problem", "graphs", "geometric mean", "least", "most"], rows, range(1, 5)))

    def cells(self, records: str) -> list[Mapping[str, object]]:
        """Return the records of a file as they are stored, each with what ``marks`` and ``note`` of a row look at."""
        return [{**row.data, "record": row} for row in self._of("", records)]

    def marks(self, *cells: Mapping[str, Record], one_run: bool = True) -> str:
        """Return the marks of a row made of cells: † of changed code, and ‡ of several runs."""
        return marks([cell["record"] for cell in cells], one_run=one_run)

    def note(self, records: str, apart: bool = False) -> str:
        """Return the lines below rows made of a file's cells: what has changed since, and where asked the ‡."""
        return (note(self._of("", records)) + (_explained(" ‡ § |") if apart else "")).strip()

    def sources(self, records: str) -> str:
        """Return a table of searches from several sources: median, fastest, slowest; InputError if there is none."""
        rows, used = [], list[Record]()
        for row in self._of("", records):
            times = sorted(float(one["kernel_s"]) for one in row.shape.per_source if one.get("kernel_s"))
            if len(times) > 1:
                ms = [f"{1e3 * seconds:.3f}" for seconds in (median(times), times[0], times[-1])]
                rows.append([row.graph_source, row.algorithm + marks([row]), str(len(times)), *ms])
                used.append(row)
        if not rows:
            raise InputError(f"'{records}' has no record of several sources")
        titles = ["graph", "algorithm", "sources", "median", "fastest", "slowest"]
        return "\n".join(grid(titles, rows, [2, 3, 4, 5])) + note(used)

    def _sweep(self, name: str) -> Sweep:
        if name not in self._sweeps:
            self._sweeps[name] = read_sweep(name)
        return self._sweeps[name]

    def _of(self, sweep: str, records: str | None) -> list[Record]:
        """Return the records of a file, or those of a sweep."""
        if records is None:
            return [row for row in self._records if row.shape.cell.sweep == sweep]
        files = {Path(row.file).name.partition(".")[0] for row in self._records if row.file}
        check_name("file of records", records, files)
        return [row for row in self._records if row.file and Path(row.file).name.partition(".")[0] == records]


def _asked(question: Question, records: Sequence[Record]) -> list[Record]:
    """Return the records that a table or an expectation takes values of."""
    cells = question.cells(records)
    return [row for one, beside in cells for row in (one, *(other for group in beside.values() for other in group))]


def _explained(table: str) -> str:
    """Return lines below a table that explain the marks in it."""
    return "".join(f"\n\n*{line}*" for line in (APART, CLOCKS) if re.search(rf" {line[0]}( §)? \|", table))


EXPORTER = Exporter((), "", lambda: lambda results: fill(results.template, results.records))
