"""Pages of documentation made of records: a Markdown text in which tables and verdicts of sweeps are filled in.

The text is a Jinja2 template, which knows eleven functions; docs/report.md describes them.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from math import inf
from pathlib import Path
from statistics import geometric_mean, median

from gpugraph.base.errors import InputError, check_name, placed
from gpugraph.base.files import read_text
from gpugraph.base.quantities import duration, in_units
from gpugraph.bench.sweep import Question, Sweep
from gpugraph.bench.sweep_file import read_sweep
from gpugraph.ext.findings.shown import table_markdown, verdicts_markdown
from gpugraph.ext.machine.data_sheets import NAMES, RATES, parse_gpus, shares_of_estimate
from gpugraph.measure.provenance import sources_digest
from gpugraph.problems.foreign import is_foreign
from gpugraph.problems.registry import find_algorithm
from gpugraph.records.record import Record
from gpugraph.report.exporters import Exporter
from gpugraph.report.markdown_csv import grid


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
    except TypeError as error:
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
        text = table_markdown(tables[title], found)
        if not text:
            raise InputError(f"no record is in the table '{title}' of '{sweep}'", remedy="name the file that has them")
        apart = any(of_several_runs([one, *chain(*beside.values())]) for one, beside in tables[title].cells(found))
        return text + _note(_asked(tables[title], found)) + (f"\n\n*{APART}*" if apart else "")

    def verdicts(self, sweep: str, records: str | None = None) -> str:
        """Return what comes of the expectations of a sweep, by the records of a file or all that are of the sweep."""
        found, expectations = self._of(sweep, records), self._sweep(sweep).expectations
        rows = [row for one in expectations for row in _asked(one, found)]
        return verdicts_markdown([finding for one in expectations for finding in one.findings(found)]) + _note(rows)

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
        return f"{len(rows)} cells, {' and '.join(devices)}, {' to '.join(dict.fromkeys(days[:1] + days[-1:]))}"

    def command(self, records: str) -> str:
        """Return the commands that measured a file's records, a line each."""
        words = [row.shape.environment.get("command") or () for row in self._of("", records)]
        lines = [shlex.join(["gpugraph", *one[one.index("bench") :]]) for one in words if "bench" in one]
        return "\n".join(dict.fromkeys(lines))

    def lead(self, records: str, problem: str, algorithm: str, graphs: str = "*") -> dict[str, object]:
        """Compare an algorithm of ours with the fastest verified peer on each graph of a file that a pattern matches.

        Returns:
            ``mean`` (geometric), ``least`` and ``most`` of the fastest peer's kernel time over ours, the ``count`` of
            graphs, whether a ratio is ``apart``, of several runs, the ``worst`` graph, the ``peers`` that were fastest
            somewhere, and the ``day`` of the last record,
            with a † if our algorithm has changed since, and a ‡ if a ratio is apart: no headline.

        Raises:
            InputError: no graph was solved by both.
        """
        cells: dict[tuple[str, str], dict[str, Record]] = {}
        rows = self._of("", records)
        for row in rows:
            if row.problem == problem and row.ok and row.kernel_s and fnmatchcase(row.graph_source, graphs):
                cell = cells.setdefault((row.graph_source, str(row.asked_source)), {})
                cell[row.algorithm] = min(row, cell.get(row.algorithm, row), key=_kernel_s)
        ratios: dict[str, float] = {}
        peers: set[str] = set()
        apart = False
        for (graph, _), cell in cells.items():
            others = [row for name, row in cell.items() if name.startswith("peer:")]
            if algorithm in cell and others:
                fastest = min(others, key=_kernel_s)
                ratios[graph] = _kernel_s(fastest) / _kernel_s(cell[algorithm])
                peers.add(fastest.program)
                apart = apart or of_several_runs([cell[algorithm], *others])
        if not ratios:
            raise InputError(f"'{records}' has no graph that both '{algorithm}' and a peer have solved")
        worst = min(ratios, key=ratios.__getitem__)
        mark = " †" if _note([row for row in rows if row.problem == problem and row.algorithm == algorithm]) else ""
        mark += " ‡" if apart else ""
        return {
            "mean": geometric_mean(ratios.values()), "least": ratios[worst], "most": max(ratios.values()),
            "count": len(ratios), "apart": apart, "worst": worst, "peers": sorted(peers),
            "day": self.origin(records)[-10:] + mark,
        }  # fmt: skip

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
                rows.append([problem, graph, *shown, in_units(held)])
        return "\n".join(grid(["problem", "graph", *devices, "GPU memory"], rows, [len(devices) + 2])) + _note(used)

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
        """Return the records of a file as they are stored, each with ``stale``: a † if its algorithm has changed."""
        return [{**row.data, "stale": " †" if _note([row]) else ""} for row in self._of("", records)]

    def note(self, records: str) -> str:
        """Return the line below what ``cells`` gave: the algorithms of ours that have changed since."""
        return _note(self._of("", records)).strip()

    def sources(self, records: str) -> str:
        """Return a table of searches from several sources: median, fastest, slowest; InputError if there is none."""
        rows, used = [], list[Record]()
        for row in self._of("", records):
            times = sorted(float(one["kernel_s"]) for one in row.shape.per_source if one.get("kernel_s"))
            if len(times) > 1:
                ms = [f"{1e3 * seconds:.3f}" for seconds in (median(times), times[0], times[-1])]
                rows.append([row.graph_source, row.algorithm, str(len(times)), *ms])
                used.append(row)
        if not rows:
            raise InputError(f"'{records}' has no record of several sources")
        titles = ["graph", "algorithm", "sources", "median", "fastest", "slowest"]
        return "\n".join(grid(titles, rows, [2, 3, 4, 5])) + _note(used)

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


APART = "‡ The programs of a row were not measured by one command of one commit on one device."


def of_several_runs(rows: Iterable[Record]) -> bool:
    """Tell whether records are of more than one command, commit or device; GPUs are told apart by their UUID."""
    return len({_run_of(row) for row in rows if row.ok}) > 1


def _run_of(row: Record) -> tuple[object, ...]:
    environment, device = row.shape.environment, row.shape.device
    return str(environment.get("command")), environment.get("git_commit"), device.uuid or device.name


def _kernel_s(row: Record) -> float:
    return row.kernel_s or inf


def _note(rows: Iterable[Record]) -> str:
    """Return a line that names the algorithms of ours which have changed since they were measured; none, nothing."""
    earlier, unknown = set[str](), set[str]()
    for row in rows:
        if row.outcome == "skipped":  # no code ran
            continue
        measured, today = row.shape.provenance.sources_sha256, _digest_of(row)
        if today is not None and measured != today:
            (earlier if measured else unknown).add(f"`{row.algorithm}`")
    parts = [
        f"{article} version of {', '.join(sorted(names))}"
        for article, names in (("an earlier", earlier), ("an unrecorded", unknown - earlier))
        if names
    ]
    return f"\n\n*Measured with {' and '.join(parts)}.*" if parts else ""


def _digest_of(row: Record) -> str | None:
    """Return the digest of today's sources of a record's algorithm, None where it is not one of ours."""
    if is_foreign(row.algorithm):
        return None
    try:
        return sources_digest(find_algorithm(row.problem, row.algorithm, row.device_kind))
    except InputError:  # it has another name today, or is no longer there
        return "gone"


EXPORTER = Exporter((), "", lambda: lambda results: fill(results.template, results.records))
