"""The figure that most charts are: a value over an abscissa, a line for each algorithm and device.

Over names, which have no order of their own, it lies on its side: a row for each name, the best value on top.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpugraph.base.quantities import rate
from gpugraph.ext.charts.chart import Ink, Spec, channel, layer, tooltip
from gpugraph.ext.comparing.cells import ordered
from gpugraph.ext.reports.panels import LOG_BEYOND

MOST_TICKS = 12

SOLID = {"symbolOpacity": 1}
"""A legend whose symbols do not fade with the series."""

_SHAPES = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross"]
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [1, 3], [10, 2]]


@dataclass(frozen=True)
class Point:
    """A value of a series on a figure, with the ends of its interval; ``x`` is a text on an axis of names.

    ``tip`` is what hovering shows, title → text.
    """

    x: Any
    y: float
    variant: str
    device: str
    tip: dict[str, str] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Mark:
    """Something on a figure that is no measured value of ours: a failed cell, or a value that a paper states."""

    x: Any
    y: float | None
    text: str
    tip: dict[str, str]


@dataclass(frozen=True)
class Look:
    """How values are drawn, and what is drawn beside them.

    Attributes:
        caption, show: how to read the figure, and what makes a text of a value.
        failed, papers: cells without a value, and what papers state.
        unit: the head of the values in a table, where it is not the ordinate's title.
        titles: of the legends of variant and device.
        names: the abscissa is a text, the best value first: the greatest, or with ``least_first`` the least.
        bars: each value is a bar, unless the ordinate is logarithmic.
        level: a horizontal line and its meaning.
        log: whether the ordinate is logarithmic; None decides by the values.
    """

    y_title: str
    x_title: str = ""
    caption: str = ""
    show: Callable[[float], str] = rate
    unit: str = ""
    titles: tuple[str, str] = ("algorithm", "device")
    names: bool = False
    bars: bool = False
    least_first: bool = False
    failed: Sequence[Mark] = ()
    papers: Sequence[Mark] = ()
    level: tuple[float, str] | None = None
    log: bool | None = None
    log_x: bool = False
    percent: bool = False


def curves(points: Sequence[Point], ink: Ink, look: Look) -> Spec:
    """Return a line for each series and its points with their intervals; over names a row for each."""
    names, papers = look.names, look.papers
    positive = [p.y for p in points if p.y > 0] + [m.y for m in papers if m.y]
    log = look.log if positive else False
    if log is None:
        log = len(positive) > 1 and max(positive) > LOG_BEYOND * min(positive)
    positive += [look.level[0]] if look.level else []
    shown = [p for p in points if p.y > 0 or not log]
    several_devices = len({p.device for p in shown}) > 1
    x, places = _abscissa(shown, look)
    y = channel("y", title=look.y_title + (" (log scale)" if log else ""))
    y["scale"] = {"type": "log", "nice": False, "domain": log_domain(positive)} if log else {"zero": True}
    y["axis"] = log_axis(positive) if log else {"format": "%" if look.percent else ",.6~r", "tickCount": 6}
    y["axis"] |= {"grid": True}
    names_of = ordered(p.variant for p in shown)
    bars = look.bars and names and not log
    several = len({p.x for p in shown}) < len(shown)
    legend = SOLID if any(names_of) and not (bars and not several) else None  # else the rows have the same names
    picked = {"condition": {"param": "picked", "value": 1}, "value": 0.12}
    series: Spec = {
        "x": x,
        "y": y,
        "color": channel("variant", "nominal", title=look.titles[0], sort=names_of, legend=legend),
        "detail": [{"field": "variant"}, {"field": "device"}],
        "opacity": picked if legend else None,
    }
    kind = channel("device", "nominal", title=look.titles[1], sort=None)
    dash = {**kind, "legend": None, "scale": {"range": _DASHES}} if several_devices else None
    shape = {**kind, "legend": SOLID, "scale": {"range": _SHAPES}} if several_devices else None
    of = [{"x": p.x, "variant": p.variant, "device": p.device} for p in shown]
    values, tip = _with_tips([{**one, "y": p.y} for one, p in zip(of, shown, strict=True)], [p.tip for p in shown])
    ends = [
        {**one, "y": p.low, "y2": p.high}
        for one, p in zip(of, shown, strict=True)
        if p.low is not None and p.high is not None and (p.low > 0 or not log)
    ]
    layers = _level(look.level) if look.level else []
    whisker = series
    if bars:
        order = best_first([(f"{p.variant}, {p.device}", p.y) for p in shown], least=look.least_first)
        series["xOffset"] = channel("series", "nominal", sort=order) if several else None
        series["x"] = x = {**x, "axis": {"grid": False, "ticks": False}, "scale": {"paddingInner": 0.25}}
        for one in (*values, *ends):
            one["series"] = f"{one['variant']}, {one['device']}"
        whisker = {**series, "color": {"value": ink.text}}
    if not names:
        layers.append(layer("line", None, {"strokeWidth": 2}, **series, strokeDash=dash))
    if ends:
        wide = {"strokeWidth": 1 if bars else 2, "clip": True}
        layers.append(layer("rule", ends, wide, **whisker, y2={"field": "y2"}))
    if bars:
        marks = layer("bar", None, {"cornerRadiusEnd": 2}, **series, tooltip=tip)
    else:
        marks = layer("point", None, {"filled": True, "size": 64}, **series, shape=shape, tooltip=tip)
    if legend:
        chosen = {"name": "picked", "select": {"type": "point", "fields": ["variant"]}, "bind": "legend"}
        marks = {"params": [chosen], **marks}
    layers.insert(0 if bars else len(layers), marks)
    layers += _stated(papers, x, y, ink, (min(places) + max(places)) / 2 if places else 0.0)
    layers += _failed(look.failed, x, ink, names=names)
    spec: Spec = {"data": {"values": values}, "layer": layers}
    return turned(spec) if names else spec


def _abscissa(shown: Sequence[Point], look: Look) -> tuple[Spec, list[float]]:
    """Return the channel of the abscissa, and the places on one of numbers."""
    x = channel("x", "nominal" if look.names else "quantitative", title=look.x_title)
    if look.names:
        order = best_first([(str(p.x), p.y) for p in shown], least=look.least_first)
        return x | {"sort": order, "title": None, "axis": {"grid": True}}, []
    places = [float(x) for x in (*(p.x for p in shown), *(m.x for m in (*look.papers, *look.failed)))]
    log = look.log_x and min(places, default=0.0) > 0
    x["scale"] = {"zero": False, "nice": False, "padding": 16, "type": "log" if log else "linear"}
    if not log:
        whole = all(place.is_integer() for place in places)
        x["axis"] = {"values": _whole_ticks([int(place) for place in places]), "format": "d"} if whole else {}
    return x, places


_OTHER = {"x": "y", "y": "x", "x2": "y2", "y2": "x2", "xOffset": "yOffset"}


def turned(spec: object) -> Any:
    """Return a figure with abscissa and ordinate exchanged."""
    if isinstance(spec, list):
        return [turned(part) for part in spec]
    if not isinstance(spec, dict):
        return spec
    return {
        key: {_OTHER.get(name, name): content for name, content in part.items()} if key == "encoding" else turned(part)
        for key, part in spec.items()
        if key != "data"
    } | ({"data": spec["data"]} if "data" in spec else {})


def best_first(values: Iterable[tuple[str, float]], *, least: bool = False) -> list[str]:
    """Return names by the greatest of their values, descending, or by the least, ascending; equal ones by name."""
    best: dict[str, float] = {}
    for name, value in values:
        best[name] = max(-value if least else value, best.get(name, -math.inf))
    return sorted(ordered(best), key=lambda name: -best[name])


def _whole_ticks(places: Sequence[int]) -> list[int]:
    """Return whole numbers to mark on an axis: each that occurs, or as many at even steps as can be read."""
    distinct = sorted(set(places))
    if len(distinct) <= MOST_TICKS:
        return distinct
    step = -(-(distinct[-1] - distinct[0]) // MOST_TICKS)
    return list(range(distinct[0], distinct[-1] + 1, step))


def _with_tips(values: list[Spec], tips: Sequence[dict[str, str]]) -> tuple[list[Spec], list[Spec]]:
    """Return the values with the texts that hovering shows of each, and the channel that shows them."""
    titles = list(dict.fromkeys(title for tip in tips for title in tip))
    for value, tip in zip(values, tips, strict=True):
        value |= {f"t{titles.index(title)}": text for title, text in tip.items()}
    return values, tooltip({f"t{i}": title for i, title in enumerate(titles)})


def log_domain(values: Sequence[float]) -> list[float]:
    """Return the ends of a logarithmic axis: the nearest of 1, 2, 5, 10, … outside the values."""
    return [_step(min(values) * 0.98, up=False), _step(max(values) * 1.02, up=True)]


def log_axis(values: Sequence[float]) -> Spec:
    """Return a logarithmic axis with few grid lines: powers of ten, and their double and fivefold where that is few."""
    low, high = log_domain(values)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1, 2, 5) if high <= 1000 * low else (1,)
    ticks = [float(f"{factor}e{decade}") for decade in decades for factor in factors]
    shown = "format(datum.value, datum.value < 1000 ? '.6~r' : '~s')"
    return {"values": [t for t in ticks if low <= t <= high], "labelExpr": shown}


def _step(value: float, *, up: bool) -> float:
    decade = math.floor(math.log10(value))
    steps = [float(f"{factor}e{d}") for d in (decade, decade + 1) for factor in (1, 2, 5)]
    return min(s for s in steps if s >= value) if up else max(s for s in steps if s <= value)


def _level(level: tuple[float, str]) -> list[Spec]:
    value, text = level
    data, y = [{"y": value, "text": text}], channel("y")
    above = {"align": "left", "baseline": "bottom", "dx": 4, "dy": -3}
    return [
        layer("rule", data, {"strokeDash": [4, 4]}, y=y),
        layer("text", data, above, y=y, x={"value": 0}, text={"field": "text"}),
    ]


def _stated(marks: Sequence[Mark], x: Spec, y: Spec, ink: Ink, middle: float) -> list[Spec]:
    """Return the layers of values that papers state, the last of each named beside it."""
    if not marks:
        return []
    values, tip = _with_tips([{"x": m.x, "y": m.y} for m in marks], [m.tip for m in marks])
    diamond = {"shape": "diamond", "size": 110, "strokeWidth": 1.5, "stroke": ink.text, "fill": ink.paper}
    layers = [layer("point", values, diamond, x=x, y=y, tooltip=tip)]
    last = {m.text: m for m in sorted(marks, key=lambda m: str(m.x) if isinstance(m.x, str) else m.x)}
    for text, m in last.items():
        right = x["type"] == "quantitative" and m.x > middle
        beside = {"align": "right" if right else "left", "dx": 6 if right else -6}
        named = [{"x": m.x, "y": m.y, "text": m.tip.get("stated by", text)}]
        look = {"limit": 170, "dy": 16, "color": ink.text, **beside}
        layers.append(layer("text", named, look, x=x, y=y, text={"field": "text"}))
    return layers


def _failed(marks: Sequence[Mark], x: Spec, ink: Ink, *, names: bool) -> list[Spec]:
    """Return the layer of cells without a value, at the foot of the figure; over ``names`` it lies on its side."""
    if not marks:
        return []
    values, tip = _with_tips([{"x": m.x, "text": m.text} for m in marks], [m.tip for m in marks])
    look = {"fontSize": 15, "color": ink.text, "baseline": "middle" if names else "bottom"}
    foot = {"value": 0 if names else {"expr": "height"}}
    return [layer("text", values, look, x=x, y=foot, text={"value": "×"}, tooltip=tip)]


def listed(points: Sequence[Point], look: Look) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return a figure as a table: its header, and a row for each mark; devices only where one has a name."""
    show = look.show
    titles = ("graph" if look.names else "scale", *look.titles, look.unit or look.y_title)
    rows = [(_at(p.x), p.variant, p.device, show(p.y) + _interval(p, show)) for p in points]
    rows += [(_at(m.x), m.tip.get("algorithm", "-"), m.tip.get("device", ""), m.text) for m in look.failed]
    rows += [(_at(m.x), m.text, "", show(m.y)) for m in look.papers if m.y is not None]
    place = {x: i for i, x in enumerate(ordered(row[0] for row in rows))}
    rows.sort(key=lambda row: place[row[0]])
    kept = [0, 1, 2, 3] if any(point.device for point in points) else [0, 1, 3]
    return tuple(titles[i] for i in kept), [tuple(row[i] for i in kept) for row in rows]


def _interval(point: Point, show: Callable[[float], str]) -> str:
    return f" ({show(point.low)} to {show(point.high)})" if point.low is not None and point.high is not None else ""


def describe(points: Sequence[Point], look: Look) -> str:
    """Return the figure in words: what it shows, and of each series its ends."""
    series: dict[tuple[str, str], list[Point]] = {}
    for point in points:
        series.setdefault((point.variant, point.device), []).append(point)
    parts = []
    for (variant, device), members in series.items():
        first, last = members[0], members[-1]
        text = f"{variant} on {device}: {rate(first.y)} at {_at(first.x)}"
        parts.append(text + (f", {rate(last.y)} at {_at(last.x)}" if len(members) > 1 else ""))
    return f"{look.unit or look.y_title} over {look.x_title}. " + "; ".join(parts) + "."


def _at(x: object) -> str:
    return f"{x:g}" if isinstance(x, float) else str(x)
