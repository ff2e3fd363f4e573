"""Charts of throughput, speed-ups over CPUs, bandwidth and roofline, energy, and scaling over ranks."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

from gpugraph.base.quantities import in_units, percent, rate
from gpugraph.ext.charts.chart import PAGE, Chart, Spec, channel, layer, row_height, tooltip
from gpugraph.ext.charts.curves import Look, Mark, Point, curves, describe, log_axis, log_domain
from gpugraph.ext.charts.panels import charts, failures, point, rate_title, times
from gpugraph.ext.comparing.cells import mteps_interval
from gpugraph.ext.reports.panels import Panel, panels, problem_name
from gpugraph.ext.reports.published import Stated, stated
from gpugraph.ext.reports.versus import Gain, machine, times_as_fast
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.registry import load_problem
from gpugraph.records.columns import Labelled, kernel_time
from gpugraph.records.record import Record


def throughput(cells: Sequence[Labelled]) -> list[Chart]:
    """Return throughput over scale or graph, with failed cells and what papers state."""

    def drawn(panel: Panel) -> tuple[list[Point], Look]:
        points = []
        for cell in panel.members:
            row = cell.record
            if row.mteps is not None:
                tip = {"MTEPS": rate(row.mteps)}
                if row.transfers and row.end_to_end is not None:
                    tip["end to end"] = f"{rate(row.end_to_end)} MTEPS"
                low, high = mteps_interval(row)
                points.append(point(panel, cell, row.mteps, {**tip, **times(row)}, low=low, high=high))
        papers, failed = _papers(panel, _stated_rate), failures(panel)
        caption = "Higher is better. Marks are medians, bars their 95 % confidence intervals."
        caption += " × marks a cell that gave no number." if failed else ""
        caption += f" {_hardware(papers, panel.members)}" if papers else ""
        return points, Look(rate_title(panel.problem), caption=caption, unit="MTEPS", papers=papers, failed=failed)

    return charts("throughput", cells, drawn)


def stated_marks(cells: Sequence[Labelled], what: str = "mteps") -> list[Mark]:
    """Return what papers state over scale: ``what`` is ``"mteps"`` or ``"speedup"``."""
    of: Callable[[Stated, Record], float | None] = _stated_rate
    if what == "speedup":
        of = lambda value, row: value.point.speedup  # noqa: E731
    return [mark for panel in panels(cells) if not panel.names for mark in _papers(panel, of)]


def _papers(panel: Panel, of: Callable[[Stated, Record], float | None]) -> list[Mark]:
    marks: dict[tuple[str, str, object, float], Mark] = {}
    for member in panel.members:
        for value in stated(member.record):
            y = of(value, member.record)
            own = value.is_of(member.record.scale)
            if y is None or (panel.names and not own):
                continue
            x = panel.x(member) if own or value.scale is None else value.scale
            name = ", ".join(part for part in (value.name, value.label) if part)
            tip = {"stated by": name, "where": value.where or "-", "hardware": value.hardware}
            speedup = {"speed-up": f"{y:g} times", "over": value.point.over or "-"}
            tip |= speedup if value.point.speedup else {"MTEPS": rate(y)}
            marks[name, value.hardware, x, y] = Mark(x, y, f"{name}, {value.hardware}", tip)
    return list(marks.values())


def _stated_rate(value: Stated, row: Record) -> float | None:
    """Return a stated value in MTEPS; a time is turned into one where it is of this very cell's work."""
    if value.point.mteps is not None:
        return value.point.mteps
    if value.point.kernel_s is None or not value.is_of(row.scale) or len(row.counts) != 1:
        return None
    return row.counts[0] / value.point.kernel_s / 1e6


def _hardware(papers: Sequence[Mark], members: Sequence[Labelled]) -> str:
    stated = "; ".join(dict.fromkeys(mark.text for mark in papers))
    ours = ", ".join(dict.fromkeys(m.record.device for m in members)) or "-"
    return f"Open diamonds are a paper's own numbers ({stated}), as it states them; ours are of {ours}."


def speedups(cells: Sequence[Labelled], found: Sequence[Sequence[Gain]]) -> list[Chart]:
    """Return how much faster the best GPU algorithm is than the best of a CPU, and the speed-ups that papers state."""
    by_row = {id(group[0].gpu): group for group in found}

    def drawn(panel: Panel) -> tuple[list[Point], Look]:
        points = []
        for cell in panel.members:
            for one in by_row.get(id(cell.record), ()):
                tip = {one.by: times_as_fast(one.factor), "GPU": _who(one.gpu), "CPU": _who(one.cpu)}
                points.append(Point(panel.x(cell), one.factor, one.by, "", {"graph": one.gpu.graph_name, **tip}))
        papers = _papers(panel, lambda value, row: value.point.speedup)
        over = "; ".join(dict.fromkeys(mark.tip["over"] for mark in papers))
        caption = (
            "The fastest GPU algorithm over the fastest CPU algorithm on each graph, other people's programs in "
            "the records included; above 1 the GPU wins. Each time has its own fastest two; the pointer names them."
        )
        caption += f" {_hardware(papers, panel.members)} Theirs are over {over}." if papers else ""
        titles, level = ("time", "device"), (1.0, "as fast as the CPU")
        title = "times as fast as the CPU"
        return points, Look(title, caption=caption, show=times_as_fast, titles=titles, papers=papers, level=level)

    return charts("speedup", cells, drawn)


def _who(row: Record) -> str:
    return f"{row.marked}, {machine(row)}"


def bandwidth(cells: Sequence[Labelled]) -> list[Chart]:
    """Return how near to the roof each cell comes: its least traffic at the measured copy bandwidth."""

    def drawn(panel: Panel) -> tuple[list[Point], Look]:
        points = []
        for cell in panel.members:
            row, traffic = cell.record, cell.record.shape.traffic
            if row.share is not None and row.mteps is not None:
                tip = {"share of the roof": percent(row.share)}
                if traffic.minimum_bytes:
                    tip["least traffic"] = in_units(int(traffic.minimum_bytes))
                if traffic.copy_bytes_per_s:
                    tip["copy bandwidth"] = f"{traffic.copy_bytes_per_s / 1e9:,.0f} GB/s, measured"
                if row.share > 0:
                    tip["at the roof"] = f"{rate(row.mteps / row.share)} MTEPS"
                points.append(point(panel, cell, row.share, {**tip, **times(row)}))
        caption = (
            "How much of the measured copy bandwidth the kernel would use if it moved only the bytes that its "
            "algorithm must move; 100 % is the roof that the memory sets."
        )
        high = any(p.y > 0.5 for p in points)
        level = (1.0, "the roof: least traffic at copy bandwidth") if high else None
        title = "share of the bandwidth roof"
        return points, Look(title, caption=caption, show=percent, log=False, percent=True, level=level)

    return charts("roof", cells, drawn)


def energy(cells: Sequence[Labelled]) -> list[Chart]:
    """Return the energy that an edge takes."""
    caption = "Lower is better. The device's own meter, read over windows long enough for its counter."
    look = Look("nanojoules per edge", caption=caption, show="{:.4g} nJ".format, least_first=True)

    def drawn(panel: Panel) -> tuple[list[Point], Look]:
        points = []
        for cell in panel.members:
            row = cell.record
            if row.nanojoules is not None and row.ok:
                joules = {} if row.joules is None else {"a run": f"{row.joules:.4g} J"}
                tip = {"an edge": f"{row.nanojoules:.4g} nJ", **joules}
                points.append(point(panel, cell, row.nanojoules, tip))
        return points, look

    return charts("energy", cells, drawn)


def roofline(cells: Sequence[Labelled]) -> list[Chart]:
    """Return one figure of all cells whose least traffic and whose device's copy bandwidth are known.

    A roofline has the edges per byte of least traffic for its abscissa.  These are nearly the same for all cells of an
    algorithm, so here each algorithm and kind of graph has a row instead, with its own roof at the end of it.

    Source: S. Williams, A. Waterman, D. Patterson, Roofline: An Insightful Visual Performance Model, 2009.
    """
    rows: dict[str, list[Labelled]] = {}
    several = len({cell.device for cell in cells if cell.record.mteps and cell.record.share}) > 1
    for panel in panels(cells):
        for cell in panel.members:
            if cell.record.mteps and cell.record.share:
                graph = cell.record.graph_name if panel.names else panel.family
                rows.setdefault(f"{cell.series if several else cell.variant}: {graph}", []).append(cell)
    if not rows:
        return []
    values, roofs, table = list[Spec](), list[Spec](), list[tuple[str, ...]]()
    for name, members in rows.items():
        best = max(members, key=lambda cell: cell.record.share or 0.0)
        share, mteps = best.record.share or 1.0, best.record.mteps or 0.0
        reached = {"best": mteps, "roof": mteps / share, "text": f"at {percent(share)}"}
        roofs.append({"row": name, **reached, "variant": best.variant})
        for cell in members:
            row = cell.record
            share, mteps = row.share or 1.0, row.mteps or 0.0
            shown = (row.graph_name, cell.variant, cell.device, rate(mteps), rate(mteps / share), percent(share))
            named = dict(zip(_ROOF_FIELDS, shown, strict=True))
            values.append({**named, "row": name, "x": mteps, "size": row.scale or 0.0})
            table.append(shown)
    ends = [float(value["x"]) for value in values] + [max(roof["roof"] for roof in roofs)]
    scale = {"type": "log", "nice": False, "domain": log_domain(ends)}
    x: Spec = {"title": "MTEPS (log scale)", "scale": scale, "axis": {**log_axis(ends), "grid": True}}
    by_share = sorted(roofs, key=lambda roof: roof["best"] / roof["roof"], reverse=True)
    axis = {"grid": True, "labelExpr": "split(datum.value, ': ')"}
    y = channel("row", "nominal", title=None, axis=axis, sort=[roof["row"] for roof in by_share])
    legend = {"title": "scale", "orient": "top", "tickCount": 3, "format": "d", "symbolFillColor": PAGE.faint}
    size = channel("size", scale={"range": [24, 160], "zero": False}, legend=legend)
    color = channel("variant", "nominal", title="algorithm", legend=None)
    tip = tooltip(dict(zip(_ROOF_FIELDS, _ROOF_TITLES, strict=True)))
    at_roof = channel("roof", **x)
    text = {"align": "right", "dx": -9, "dy": -8, "color": PAGE.text}
    look = {"filled": True, "opacity": 0.7}
    layers = [
        layer("rule", roofs, {"strokeDash": [2, 3]}, x=channel("best", **x), x2={"field": "roof"}, y=y),
        layer("tick", roofs, {"thickness": 3, "size": 16, "color": PAGE.text}, x=at_roof, y=y),
        layer("text", roofs, text, x=at_roof, y=y, text={"field": "text"}),
        layer("point", values, look, x=channel("x", **x), y=y, color=color, size=size, tooltip=tip),
    ]
    caption = (
        "Each mark is a cell, the larger the larger its graph. The bar at the end of a row is its roof: the most that "
        "the device's measured copy bandwidth allows a kernel that moves no byte more than its algorithm must. The "
        "text above the line is how much of it the best cell reaches; what lies between is left to gain."
    )
    said = "; ".join(
        f"{variant} on {graph}, {device}: {share} of the roof" for graph, variant, device, _, _, share in table
    )
    height = row_height(len(roofs), 36)
    words = f"MTEPS of every cell below its roof. {said}."
    return [Chart("roofline", "Roofline", caption, words, {"layer": layers}, _ROOF_TITLES, table, height=height)]


_ROOF_FIELDS = ("graph", "variant", "device", "mteps", "at_roof", "share")
_ROOF_TITLES = ("graph", "algorithm", "device", "MTEPS", "at the roof", "share of it")


IDEAL = "ideal"

_Times = dict[int, Record]
"""The fastest verified run on so many ranks."""


def strong(cells: Sequence[Labelled]) -> list[Chart]:
    """Return for each problem how many times as fast as one device several are, on the same graph.

    A graph that one device has no run of begins on the ideal with the fewest ranks that it has.
    """
    caption = "The fastest verified algorithm on each number of ranks, against the fastest on one device."
    look = Look("times as fast as one", "ranks", caption, unit="times as fast", titles=("graph", "device"), log=False)
    fastest = _fastest(cells, lambda row: row.graph_name)
    return _over_ranks("strong", "the same graph on more ranks", fastest, look, ideal=True)


def weak(cells: Sequence[Labelled]) -> list[Chart]:
    """Return for each problem what is left of one device's speed where graphs grow as ranks do."""
    caption = "Graphs with twice the vertices on twice the ranks: the time on the fewest over the time on so many."
    titles, level = ("graph of each rank", "device"), (1.0, IDEAL)
    look = Look("efficiency", "ranks", caption, titles=titles, log=False, percent=True, level=level)
    fastest = _fastest([cell for cell in cells if cell.record.scale is not None], _share)
    return _over_ranks("weak", "graphs that grow with the ranks", fastest, look)


def _over_ranks(
    name: str, title: str, fastest: dict[str, dict[tuple[str, str], _Times]], look: Look, *, ideal: bool = False
) -> list[Chart]:
    """Return a figure over the number of ranks for each problem: the gain over the fewest of them.

    With an ``ideal``, n ranks are to be n times as fast as one; else as fast as the fewest.
    """
    found: list[Chart] = []
    for problem, series in fastest.items():
        points = []
        for key, runs in series.items():
            least = min(runs)
            base, first = runs[least], least if ideal else 1
            for n, row in runs.items():
                gain = (base.kernel_s or 0.0) / (row.kernel_s or math.inf) * first
                tip = {"graph": row.graph_name, "ranks": str(n), "algorithm": row.marked, "kernel": kernel_time(row)}
                points.append(Point(n, gain, *key, {**tip, "against": f"{base.graph_name}, {kernel_time(base)}"}))
        drawn = list(points)
        if ideal:
            drawn += [Point(n, float(n), IDEAL, points[0].device) for n in sorted({int(p.x) for p in points} | {1})]
        rows = [(p.variant, p.device, f"{p.x:g}", f"{p.y:.3g}", p.tip["kernel"], p.tip["against"]) for p in points]
        header = (*look.titles, "ranks", look.unit or look.y_title, "kernel", "against")
        words, spec = describe(drawn, look), curves(drawn, PAGE, look)
        heading = f"{problem_name(problem)}, {title}"
        found.append(Chart(f"{name}-{problem}", heading, look.caption, words, spec, header, rows))
    return found


def _share(row: Record) -> str:
    """Return the graph that one rank has a share of the size of: equal where graphs grow as ranks do."""
    series = load_problem(row.problem).series(row.graph_name) if row.problem in PROBLEMS else row.family
    return f"{series}, {(row.scale or 0.0) - math.log2(_ranks(row)):.3g} each"


def _ranks(row: Record) -> int:
    return row.shape.device.ranks or 1


def _fastest(cells: Sequence[Labelled], of: Callable[[Record], str]) -> dict[str, dict[tuple[str, str], _Times]]:
    """Return by problem, and by what ``of`` says of a record and the kind of device, those that ran on several."""
    found: dict[str, dict[tuple[str, str], _Times]] = defaultdict(lambda: defaultdict(dict))
    for row in (cell.record for cell in cells):
        if row.mteps is None or not row.kernel_s or row.device_kind == "emulated":
            continue
        runs = found[row.problem][of(row), row.device.removeprefix(f"{_ranks(row)} × ")]
        before = runs.get(_ranks(row))
        if before is None or row.kernel_s < (before.kernel_s or math.inf):
            runs[_ranks(row)] = row
    kept = {
        problem: {key: dict(sorted(runs.items())) for key, runs in series.items() if len(runs) > 1}
        for problem, series in found.items()
    }
    return {problem: series for problem, series in kept.items() if series}
