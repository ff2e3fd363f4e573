"""The columns of a table of records: the one list that CSV, Markdown, the page and the terminal's tables are made of.

To add a column, add it to ``COLUMNS``; one of a single problem goes to that problem's ``COMMAND``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from gpugraph.base.quantities import count, duration, in_units, percent, rate
from gpugraph.problems import BENCH, CSV, MARKDOWN, PAGE, RANKING, TABLE, Column, file_column
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.registry import command_of
from gpugraph.records.fields import FIELDS
from gpugraph.records.json_text import jsonable
from gpugraph.records.record import PHASES, STALE, WAY_THERE, Record


@dataclass(frozen=True, eq=False)
class Labelled:
    """A record with the names it goes by among the others that are shown, as short as they can be.

    ``over_cpu`` and ``answers_over_cpu``: how many times as fast as the fastest CPU run of the same work it is, if
    known.
    """

    record: Record
    name: str
    device: str
    over_cpu: float | None = None
    answers_over_cpu: float | None = None

    @classmethod
    def alone(cls, record: Record) -> "Labelled":
        """Return a record under its own names."""
        return cls(record, record.algorithm, record.device)

    @property
    def variant(self) -> str:
        """The name in a row that is shown: † after one of earlier code."""
        return self.name + (STALE if self.record.version else "")

    @property
    def series(self) -> str:
        """Variant and device in one."""
        return f"{self.variant}, {self.device}"


def kernel_time(record: Record, known: str = "") -> str:
    """Return the median kernel time, what is known of its precision, and the samples if they are too few."""
    return duration(record.kernel_s or 0.0) + known + (f" ({record.few})" if record.few else "")


def precise_time(record: Record) -> str:
    """Return the median kernel time with half the width of its interval, or with the range of samples that scatter."""
    return kernel_time(record, _known(record, " ± "))


def short_time(record: Record) -> str:
    """Return the same, the precision to a hundredth of a per cent."""
    return kernel_time(record, _known(record, " ±", 4))


def _known(record: Record, sign: str, digits: int = 9) -> str:
    half = record.half_width
    if record.scattered and (half is not None or not record.few):
        return f", {record.scattered}"
    return "" if half is None else f"{sign}{percent(round(half, digits))}"


def _checked(cell: Labelled) -> str:
    """Return what verification said and by which method, or why there are no numbers."""
    record = cell.record
    if not record.ok:
        return f"{record.outcome}: {record.message}".rstrip(": ")
    return record.status + (f" ({record.shape.verification.method})" if record.status == "passed" else "")


def _factor(times: float) -> str:
    return f"{times:,.0f}" if times >= 100 else f"{times:.3g}"


def _of(name: str) -> Callable[[Labelled], Any]:
    """Return what reads a value of ``FIELDS``."""
    return lambda cell: FIELDS[name].value(cell.record)


def _with_transfers(cell: Labelled) -> float | None:
    row = cell.record
    timed = row.transfers and row.finished and row.device_kind != "emulated"
    return (row.kernel_s or 0.0) + row.transfer_s if timed else None


def _end_to_end(cell: Labelled) -> float | None:
    return cell.record.end_to_end if cell.record.transfers else None


def _price(cell: Labelled) -> str:
    price = cell.record.shape.price
    edges = "" if price.per_billion_edges is None else f", {price.per_billion_edges:.3g} for 10⁹ edges"
    return f"{price.per_million_answers:.3g} for 10⁶ answers{edges}, at {price.per_hour or 0:g} an hour of a device"


def energy_words(record: Record) -> str:
    """Return the energy of a run in words: joules, by edge, and the power."""
    energy = record.shape.energy
    an_edge = "" if energy.nanojoules_per_edge is None else f" ({energy.nanojoules_per_edge:.3g} nJ an edge)"
    known = {"on average": energy.mean_w, "idle": energy.idle_w}
    power = "".join(f", {watts:.0f} W {when}" for when, watts in known.items() if watts is not None)
    return f"{energy.joules_per_run:.3g} J a run{an_edge}{power}"


SHOWN_ALL, COST = (MARKDOWN, PAGE, BENCH, RANKING), "per 10⁶ answers"

_figure = partial(Column, number=True)

COLUMNS: tuple[Column, ...] = (
    Column("problem", "problem", _of("problem"), shown=(CSV, MARKDOWN, PAGE, BENCH), filter=True),
    Column("graph", "graph", _of("graph"), shown=(MARKDOWN, PAGE, BENCH)),
    file_column("graph.name"),
    Column("graph.vertices", "vertices", text=count, number=True, shown=(CSV, MARKDOWN)),
    file_column("graph.arcs"),
    Column("graph.edges", "edges", text=count, number=True),
    file_column("graph.weight_dtype"),
    file_column("graph.digest"),
    Column("algorithm", "algorithm", lambda c: c.name, words=lambda c: c.variant, shown=(CSV, *SHOWN_ALL), filter=True),
    file_column("device.kind"),
    file_column("device.name"),
    Column("device", "device", lambda c: c.device, shown=SHOWN_ALL, filter=True),
    Column("verdict", "verdict", _of("verdict"), shown=(PAGE,), filter=True),
    file_column("cell.axes", each=True),
    file_column("parameters", each=True),
    file_column("result", each=True),
    *(file_column(f"phases_s.{name}", optional=name in WAY_THERE) for name in (*PHASES, "total")),
    file_column("predecessors_s", optional=True),
    _figure("kernel", "kernel", _of("kernel"), words=lambda c: precise_time(c.record), shown=(MARKDOWN, RANKING)),
    _figure("kernel_short", "kernel", _of("kernel"), words=lambda c: short_time(c.record), shown=(BENCH,)),
    _figure("kernel_s", "kernel", _of("kernel"), words=lambda c: kernel_time(c.record), shown=(PAGE,)),
    _figure("half_width", "±", _of("precision"), percent, shown=(PAGE,)),
    file_column("confidence_s.kernel.low", read=lambda c: (c.record.interval_s or (None, None))[0]),
    file_column("confidence_s.kernel.high", read=lambda c: (c.record.interval_s or (None, None))[1]),
    _figure("with_transfers", "with transfers", _with_transfers, duration, optional=True, shown=(RANKING,)),
    _figure("samples", "samples", lambda c: len(c.record.samples) or None, count, shown=(CSV, RANKING)),
    file_column("few_samples", read=lambda c: "yes" if c.record.few else None),
    _figure("mteps.kernel", "MTEPS", _of("mteps"), rate, shown=(CSV, MARKDOWN, PAGE, BENCH, RANKING)),
    file_column("mteps.end_to_end", read=_of("end_to_end")),
    _figure("end_to_end", "end to end", _end_to_end, rate, shown=(MARKDOWN, PAGE)),
    _figure("answer", "time to answer", lambda c: c.record.answer_s, duration, optional=True, shown=(MARKDOWN, PAGE)),
    _figure("over_cpu", "× best CPU, kernel", lambda c: c.over_cpu, _factor, shown=(PAGE,)),
    _figure("answers_over_cpu", "× best CPU, answer", lambda c: c.answers_over_cpu, _factor, shown=(PAGE,)),
    _figure("share", "Roof", _of("roof"), percent, shown=(PAGE,)),
    *(
        _figure(name, title, _of(field), "{:.3g}".format, optional=True, shown=SHOWN_ALL)
        for name, title, field in (("nanojoules", "nJ/edge", "energy"), ("watts", "W", "watts"), ("cost", COST, "cost"))
    ),
    Column("energy", "energy", lambda c: c.record.joules, words=lambda c: energy_words(c.record), shown=(TABLE,)),
    Column("price", "cost", _of("cost"), words=_price, shown=(TABLE,)),
    *(_figure(name, name, _of(name), count, optional=True, shown=SHOWN_ALL) for name in ("sectors", "atomics")),
    _figure("memory", "memory", _of("memory"), in_units, shown=(PAGE,)),
    Column("memory_most", "memory", _of("memory"), lambda most: f"{in_units(most)} at most", shown=(TABLE,)),
    file_column("energy.joules_per_run"),
    file_column("energy.nanojoules_per_edge"),
    *(file_column(f"energy.{name}", optional=True) for name in ("net_joules_per_run", "mean_w", "idle_w")),
    file_column("price", each=True),
    file_column("traffic.minimum_bytes"),
    file_column("traffic.copy_bytes_per_s"),
    file_column("traffic.share"),
    file_column("work.total", each=True),
    file_column("peak_device_bytes"),
    file_column("version", read=lambda c: c.record.version or None, optional=True),
    file_column("outcome", read=lambda c: c.record.outcome),
    file_column("message", read=lambda c: c.record.message or None),
    file_column("verification.status"),
    file_column("verification.method"),
    file_column("time"),
    Column("checked", "verdict", _checked, shown=(MARKDOWN,)),
    Column("ended", "outcome", lambda c: c.record.verdict if c.record.ok else _checked(c), shown=(BENCH,)),
    Column("verdict_short", "verdict", _of("verdict"), shown=(RANKING,)),
)

_FIRST = ("problem", "algorithm", "device.kind", "device.name", "device")
"""What files and the bench's table begin with: what ran; where people compare, the graph comes first."""


def columns_of(renderer: str, cells: Sequence[Labelled]) -> list[Column]:
    """Return the columns that a renderer shows of some cells, in order; the page and rankings leave out empty ones."""
    shown = [column for column in COLUMNS if renderer in column.shown]
    if renderer in (CSV, BENCH):
        shown.sort(key=lambda column: _FIRST.index(column.name) if column.name in _FIRST else len(_FIRST))
    own = [column for column in problem_columns(cells) if renderer in column.shown]
    found: dict[str, Column] = {}
    for column in shown:
        if column.name == "result" or column is shown[-1]:
            found |= {one.name: one for one in own}
        for one in _each(column, cells) if column.each else [column]:
            found.setdefault(one.name, one)
    dispensable = [c for c in found.values() if c.optional or (renderer in (PAGE, RANKING) and c.number)]
    empty = [c for c in dispensable if all(c.value(cell) is None for cell in cells)]
    return [c for c in found.values() if c not in empty]


def problem_columns(cells: Sequence[Labelled]) -> list[Column]:
    """Return the own columns of the problems that cells are of, each left out where no cell has it."""
    known = [name for name in dict.fromkeys(cell.record.problem for cell in cells) if name in PROBLEMS]
    return [replace(column, optional=True) for name in known for column in command_of(name).columns]


def _each(column: Column, cells: Sequence[Labelled]) -> list[Column]:
    """Return a column for every name in the object that a column is of, in the order in which they come."""
    tables = [cell.record.field(column.name) or {} for cell in cells]
    names = dict.fromkeys(name for table in tables for name in table)
    return [replace(column, name=f"{column.name}.{name}", each=False) for name in names]


def plain(value: object) -> object:
    """Return a value as a file holds it: a list as words."""
    value = jsonable(value)
    return " ".join(str(item) for item in value) if isinstance(value, list) else value
