"""The bench as text: the cells of a plan and their needs, and their results with small charts."""

from collections import Counter
from collections.abc import Sequence

from gpugraph.base.quantities import count, counted, in_seconds, in_units, rate
from gpugraph.bench.axes import AXES, described_record
from gpugraph.bench.estimate import Prices
from gpugraph.bench.plan import Plan, Planned, described_algorithm
from gpugraph.bench.sweep import Sweep
from gpugraph.problems import BENCH
from gpugraph.records.columns import Labelled, columns_of
from gpugraph.records.record import Record, with_distinct_names
from gpugraph.report.terminal import BARS, Line, columns, field

_VARIED = AXES.keys() - {"problem", "graph", "algorithm", "device", "prepare"}
MOST_ROWS = 60
"""More cells than this are summed up by series; those that did not go well are still shown each."""

MOST_SKIPPED = 3
"""More cells that were skipped for one reason are one line."""

OVER_BUDGET = "the budget was too small, --resume --budget TIME goes on"

_ALIKE = {"budget": OVER_BUDGET, "iB": "it needs more memory than there is"}
"""Part of the reason of a skipped cell → the reason of all whose numbers alone differ."""


def plan_lines(plan: Plan, prices: Prices, *, width: int | None = None) -> list[Line]:
    """Return the cells with what each will need of memory."""
    rows = []
    for planned in plan.cells:
        need, size = prices.need(planned), planned.size
        about = "" if size.exact else "~"
        device = in_units(need.device_bytes) if need.device_bytes else "-"
        sizes = [f"{about}{count(size.vertices)}", f"{about}{count(size.arcs)}"]
        rows.append([*_named(planned), *sizes, in_units(need.host_bytes), device])
    header = ["problem", "algorithm", "device", "graph", "vertices", "arcs", "host", "on device"]
    return [*columns(header, rows, right=(4, 5, 6, 7), width=width), [], *_footer(plan)]


def price_lines(plan: Plan, prices: Prices, sweep: Sweep, *, width: int | None = None) -> list[Line]:
    """Return the cells with what each will take of time, and what of them the budget has room for."""
    rows, spent, least = [], dict[str, float](), dict[str, float]()
    sharing = Counter(planned.cell.input for planned in plan.cells)
    for planned in plan.cells:
        need = prices.need(planned)
        seconds = need.seconds + need.opening_s / sharing[planned.cell.input]
        whose = "all cells" if sweep.budget_by_clock else planned.cell.device
        least_s = least.get(whose, 0.0) + need.least_s + seconds - need.seconds
        fits = least_s <= sweep.budget_s or not spent
        if fits:
            spent[whose], least[whose] = min(spent.get(whose, 0.0) + seconds, max(sweep.budget_s, least_s)), least_s
        fate = in_seconds(spent[whose]) if fits else "skipped: budget"
        rows.append([*_named(planned), in_seconds(seconds), fate, need.basis])
    header = ["problem", "algorithm", "device", "graph", "takes", "by then", "by"]
    lines: list[Line] = [*columns(header, rows, right=(4, 5), width=width), []]
    for whose, seconds in sorted(spent.items()):
        lines.append([(f"{whose}: about {in_seconds(seconds)} of the budget of {in_seconds(sweep.budget_s)}", "")])
    return [*lines, *_footer(plan)]


def _named(planned: Planned) -> list[str]:
    cell = planned.cell
    weights = "" if cell.read.weights == "file" else f" {cell.read.weights}"
    source = "" if cell.source is None else f" from {cell.source}"
    return [cell.problem, described_algorithm(cell), cell.device, f"{cell.graph}{weights}{source}"]


def _footer(plan: Plan) -> list[Line]:
    lines: list[Line] = [[(counted(len(plan.cells), "cell"), "bold")]]
    return lines + [[(f"left out, {number}: {reason}", "dim")] for reason, number in plan.left_out.most_common()]


def result_lines(records: Sequence[Record], *, width: int | None = None) -> list[Line]:
    """Return the table of a bench's records, a small chart of each series, and how many cells ended how."""
    rows = with_distinct_names(records)
    alike = skipped_alike(rows)
    together = {id(row) for of in alike.values() for row in of}
    shown = [row for row in rows if not (id(row) in together or (row.ok and len(rows) > MOST_ROWS))]
    lines: list[Line] = [*_table(shown, width), []] if shown else []
    for why, of in alike.items():
        which = Counter(f"{row.problem} {described_record(row)}" for row in of).most_common()
        text = f"{why}: {', '.join(f'{number} of {name}' for name, number in which)}"
        lines += field("skipped", text, width=width or 80)
    lines += _charts(rows, width)
    ended = Counter(row.verdict for row in rows)
    ways = ", ".join(f"{number} {how}" for how, number in sorted(ended.items(), key=lambda one: (-one[1], one[0])))
    return [*lines, [(f"{counted(len(rows), 'cell')}: {ways}", "bold")]]


def skipped_alike(rows: Sequence[Record]) -> dict[str, list[Record]]:
    """Return skipped records by their reason, where it is that of more than ``MOST_SKIPPED``."""
    alike: dict[str, list[Record]] = {}
    for row in rows:
        if row.outcome == "skipped":
            why = next((reason for part, reason in _ALIKE.items() if part in row.message), row.message)
            alike.setdefault(why, []).append(row)
    return {why: of for why, of in alike.items() if len(of) > MOST_SKIPPED}


def _table(rows: Sequence[Record], width: int | None) -> list[Line]:
    cells = []
    for row in sorted(rows, key=_order):
        varied = [f"{name}={value}" for name, value in row.axes.items() if name in _VARIED]
        cells.append(Labelled(row, ", ".join([described_record(row).removeprefix("peer:"), *varied]), row.device_kind))
    shown = columns_of(BENCH, cells)
    lines = [[column.show(cell) for column in shown] for cell in cells]
    return columns([c.title for c in shown], lines, right=[i for i, c in enumerate(shown) if c.number], width=width)


def _order(row: Record) -> tuple[object, ...]:
    return row.problem, row.shape.graph.arcs or 2**62, row.graph_name, row.algorithm


def _charts(rows: Sequence[Record], width: int | None) -> list[Line]:
    """Return a bar of throughput for each series of at least two graphs, the tallest bar of a problem alike."""
    series: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        if row.mteps is not None and row.shape.cell.series:
            series.setdefault(row.shape.cell.series, []).append((row.shape.graph.arcs or 0, row.mteps))
    drawn = {name: sorted(points) for name, points in series.items() if len(points) >= 2}
    if not drawn:
        return []
    lines = []
    for name, points in sorted(drawn.items()):
        top = max(figure for other in drawn.values() for _, figure in other)
        bars = "".join(BARS[min(int(figure / top * len(BARS)), len(BARS) - 1)] for _, figure in points)
        lines.append([name, bars, f"{rate(points[0][1])} … {rate(points[-1][1])}", rate(max(f for _, f in points))])
    return [*columns(["series, small graphs first", "MTEPS", "from … to", "best"], lines, right=(3,), width=width), []]
