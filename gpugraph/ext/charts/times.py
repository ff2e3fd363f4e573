"""Where the time goes: shares of the phases, kernel against transfers, and how far each sample lies from its median."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gpugraph.base.quantities import duration, percent
from gpugraph.ext.charts.chart import HEIGHT, Chart, Spec, channel, layer, row_height, tooltip
from gpugraph.ext.charts.curves import SOLID, Look, Point, best_first, turned
from gpugraph.ext.charts.panels import charts, point
from gpugraph.ext.comparing.cells import ordered
from gpugraph.ext.reports.panels import Panel, panels
from gpugraph.records.columns import Labelled
from gpugraph.records.record import WAY_THERE, Record
from gpugraph.records.statistics import median

MOST_PANELS = 12
"""More small figures than this tire a reader; the table has every phase of every cell."""

_ON_DEVICE = {"transfer": WAY_THERE, "prepare": ("prepare",), "kernel": ("kernel",), "d2h": ("d2h",)}
"""Phases whose shares are shown: what a device has to do with; loading and checking are the host's."""

_TO_ANSWER = {
    "start": ("start", "compile"),
    "input": ("fetch", "load", "build", "check"),
    **_ON_DEVICE,
    "result": ("finish", "verify"),
    "close": ("close",),
}
"""All that lies between the command and its answer."""

PARTS = tuple(dict.fromkeys((*_ON_DEVICE, *_TO_ANSWER)))
"""All parts that both kinds of figures have."""

NOTHING_ELSE = 0.03
"""Where no second part ever has this share, a figure of shares has one colour and says nothing."""


def answers(cells: Sequence[Labelled]) -> list[Chart]:
    """Return the seconds from the command to the answer, a bar for each cell; older records do not know them."""
    known = [cell for cell in cells if cell.record.answer_s is not None]
    return _stacked("answer", known, lambda row: _seconds(row, _TO_ANSWER), stack="zero")


def shares(cells: Sequence[Labelled]) -> list[Chart]:
    """Return the shares of the phases on the device, a small figure for each algorithm and device."""
    return _stacked("phases", cells, lambda row: _seconds(row, _ON_DEVICE))


def inner_shares(cells: Sequence[Labelled]) -> list[Chart]:
    """Return the shares of the phases inside the kernel, a small figure for each algorithm and device."""
    return _stacked("inside", cells, lambda row: row.inner)


def _seconds(row: Record, parts: Mapping[str, Sequence[str]]) -> dict[str, float]:
    phases = {name: s for name, s in row.phases.items() if name not in row.once}
    return {part: sum(phases.get(name, 0.0) for name in names) for part, names in parts.items()}


def _stacked(
    kind: str, cells: Sequence[Labelled], parts_of: Callable[[Record], Mapping[str, float]], stack: str = "normalize"
) -> list[Chart]:
    """Return a figure of bars for each algorithm and device, made up of parts; none where one part is all there is."""
    charts = []
    for panel, series, members in _by_series(cells):
        parts = [parts_of(member.record) for member in members]
        order = list(dict.fromkeys(name for one in parts for name in one))
        values = [
            {**_part(panel, member, name, seconds, sum(one.values())), "order": order.index(name)}
            for member, one in zip(members, parts, strict=True)
            for name, seconds in one.items()
            if seconds
        ]
        most = {value["part"]: value["of"] for value in sorted(values, key=lambda value: value["of"])}
        several = sum(share >= NOTHING_ELSE for share in most.values()) > 1
        if values and (stack == "zero" or several):
            charts.append(_small(kind, panel, series, values, _stack(panel, values, stack)))
    return charts


def transfers(cells: Sequence[Labelled]) -> list[Chart]:
    """Return the time of the kernel and of the transfers, where there are transfers."""
    alone = len({cell.device for cell in cells if cell.record.device_kind not in ("cpu", "emulated")}) == 1
    caption = "Lower is better. The transfer is transfer + d2h: the graph to the device, the result back."
    titles = ("algorithm" if alone else "algorithm, device", "time of")
    look = Look("milliseconds", caption=caption, show=lambda ms: duration(ms / 1e3), unit="takes", titles=titles)

    def drawn(panel: Panel) -> tuple[list[Point], Look]:
        points = []
        for cell in panel.members:
            row = cell.record
            if row.device_kind not in ("cpu", "emulated") and row.kernel_s is not None and row.transfer_s:
                for kind, seconds in (("kernel", row.kernel_s), ("transfer", row.transfer_s)):
                    one = point(panel, cell, seconds * 1e3, {kind: duration(seconds), "device": row.device})
                    points.append(replace(one, variant=cell.variant if alone else cell.series, device=kind))
        return points, look

    return charts("transfer", cells, drawn)


def _by_series(cells: Sequence[Labelled]) -> list[tuple[Panel, str, list[Labelled]]]:
    """Return the cells of each small figure; the fullest come through where there are too many."""
    found = []
    for panel in panels(cells):
        groups: dict[str, list[Labelled]] = {}
        for member in panel.members:
            if member.record.ok and member.record.device_kind != "emulated":
                groups.setdefault(panel.alone or member.series, []).append(member)
        found += [(panel, series, groups[series]) for series in ordered(groups)]
    kept = sorted(range(len(found)), key=lambda i: -len(found[i][2]))[:MOST_PANELS]
    return [found[i] for i in sorted(kept)]


def _part(panel: Panel, cell: Labelled, name: str, seconds: float, total: float) -> Spec:
    x, of = panel.x(cell), seconds / total if total else 0.0
    shown = x if isinstance(x, str) else f"{x:g}" if float(x).is_integer() else f"{x:.1f}"
    named = {"graph": cell.record.graph_name, "time": duration(seconds), "share": percent(of)}
    return {"x": shown, "part": name, "y": seconds, "of": of, **named}


def _stack(panel: Panel, values: list[Spec], stack: str) -> Spec:
    """Return bars (over names on their side); ``stack`` is ``"normalize"`` for shares, ``"zero"`` for seconds."""
    ordinate: Spec = {"title": None, "axis": {"format": "%", "tickCount": 3, "grid": True}}
    if stack == "zero":
        ordinate = {"title": "seconds", "axis": {"tickCount": 4, "grid": True}}
    y = channel("y", stack=stack, **ordinate)
    x = channel("x", "ordinal", title="scale", scale={"paddingInner": 0.15})
    if panel.names:
        totals: dict[str, float] = {}
        for value in values:
            totals[value["x"]] = totals.get(value["x"], 0.0) + value["y"]
        x |= {"title": None, "sort": best_first(totals.items(), least=True), "axis": {"labelLimit": 150}}
    else:
        x |= {"sort": None, "axis": {"labelAngle": 0, "labelOverlap": True}}
    color = channel("part", "nominal", title=None, legend={"symbolType": "square"})
    tip = tooltip({"graph": "graph", "part": "phase", "time": "time", "share": "share"})
    spec = layer("bar", values, {"cornerRadius": 1}, x=x, y=y, color=color, order=channel("order"), tooltip=tip)
    return turned(spec) if panel.names else spec


def _small(kind: str, panel: Panel, series: str, values: list[Spec], spec: Spec) -> Chart:
    last = values[-1]["x"] if panel.alone else values[-1]["graph"]
    parts = ", ".join(f"{value['part']} {value['share']}" for value in values if last in (value["x"], value["graph"]))
    key = f"{kind}-{panel.key}-{''.join(c if c.isalnum() else '-' for c in series.lower())}"
    first = "x" if panel.alone else "graph"
    rows = [(str(v[first]), str(v["part"]), str(v["time"]), str(v["share"])) for v in values]
    height = row_height(len({v["x"] for v in values}), 18) if panel.names else SMALL_HEIGHT
    return Chart(
        key, series, panel.title, f"{series}, {panel.title}; on {last}: {parts}.", spec,
        (panel.x_title if panel.alone else "graph", "phase", "time", "share"), rows, small=not panel.alone,
        height=height,
    )  # fmt: skip


SMALL_HEIGHT = 130

MOST = 6000
"""More samples than this on one figure are thinned evenly, extremes kept; the table's rows still have them all."""

WIDE = 0.5
"""Deviations beyond this share of the median make the ordinate grow by the logarithm away from 0."""


def samples(cells: Sequence[Labelled]) -> list[Chart]:
    """Return the spread of the kernel's samples over scale or graph."""
    charts = []
    for panel in panels(cells):
        members = [
            m for m in panel.members if m.record.ok and m.record.device_kind != "emulated" and len(m.record.samples) > 1
        ]
        total = sum(len(m.record.samples) for m in members)
        if not members:
            continue
        most = max(2, MOST // len(members)) if total > MOST else total
        values = [value for member in members for value in _values(panel, member, most)]
        caption = f"{total:,} samples, each beside the median of its cell; of several sources each beside its own."
        if len(values) < total:
            caption += f" {len(values):,} are drawn, the extremes among them; the table below has all of each cell."
        words, rows = [], []
        for cell in members:
            times = sorted(cell.record.samples)
            low, middle, high = duration(times[0]), duration(cell.record.kernel_s or 0.0), duration(times[-1])
            words.append(f"{cell.series} on {cell.record.graph_name}: {low} to {high}")
            rows.append((cell.record.graph_name, cell.variant, cell.device, f"{len(times):,}", low, middle, high))
        said = f"Deviation of every kernel sample from its median. {'; '.join(words)}."
        height = row_height(len({panel.x(member) for member in members}), 26) if panel.names else HEIGHT
        key, spec = f"samples-{panel.key}", _spec(panel, values)
        charts.append(Chart(key, panel.title, caption, said, spec, _SPREAD, rows, height=height))
    return charts


_SPREAD = ("graph", "algorithm", "device", "samples", "least", "median", "most")


def deviations(row: Record) -> list[float]:
    """Return every sample over the median of its source's, less 1; samples are listed source by source."""
    each = len(row.samples) // row.sources
    groups = [row.samples[i * each : (i + 1) * each] for i in range(row.sources)]
    middles = [median(group) if group else 0.0 for group in groups]
    return [s / m - 1 if m > 0 else 0.0 for group, m in zip(groups, middles, strict=True) for s in group]


def _values(panel: Panel, cell: Labelled, most: int) -> list[Spec]:
    row = cell.record
    numbered = list(zip(deviations(row), row.samples, range(1, len(row.samples) + 1), strict=True))
    if len(numbered) > most:
        ordered = sorted(numbered)
        numbered = [ordered[round(i * (len(ordered) - 1) / (most - 1))] for i in range(most)]
    outliers = set(row.shape.sampling.outliers or ())
    x = panel.x(cell)
    return [
        {
            "x": x if isinstance(x, str) else f"{x:g}",
            "y": round(y, 6),
            "series": cell.series,
            "variant": cell.variant,
            "device": cell.device,
            "sample": f"{i} of {len(row.samples)}: {duration(seconds)}" + (", an outlier" if i - 1 in outliers else ""),
            "graph": row.graph_name,
        }
        for y, seconds, i in numbered
    ]


def _spec(panel: Panel, values: list[Spec]) -> Spec:
    low, high = min(value["y"] for value in values), max(value["y"] for value in values)
    wide = max(-low, high) > WIDE
    ticks = [tick for tick in _TICKS if low <= tick <= high]
    look = {"filled": True, "size": 22, "opacity": 0.55}
    x = channel("x", "ordinal", sort=ordered(value["x"] for value in values))
    if panel.names:
        x |= {"title": None, "axis": {"grid": True}}
    else:
        x |= {"title": panel.x_title, "axis": {"labelAngle": 0, "labelOverlap": True}}
    y = channel("y", title="from the median", scale={"type": "symlog", "constant": 0.1} if wide else {"zero": True})
    y["axis"] = {"format": "+.3~%", "grid": True, **({"values": ticks} if wide else {"tickCount": 6})}
    several = None if panel.alone else ordered(value["series"] for value in values)
    offset = several and channel("series", "nominal", sort=several)
    names = ordered(value["variant"] for value in values)
    color = channel("variant", "nominal", title="algorithm", sort=names, legend=SOLID)
    tip = tooltip({"graph": "graph", "variant": "algorithm", "device": "device", "sample": "sample"})
    spec = layer("point", values, look, x=x, xOffset=offset, y=y, color=color, tooltip=tip)
    return turned(spec) if panel.names else spec


_TICKS = (-0.9, -0.5, -0.2, -0.05, 0.0, 0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0)
"""Where an ordinate that grows by the logarithm is marked, on both sides of 0."""
