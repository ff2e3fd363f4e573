"""One figure of one's own choice, ``gpugraph plot``: any value over any axis, by any names; in a file or in letters."""

import math
import re
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import translate
from itertools import pairwise
from typing import Any

from gpugraph.base.errors import InputError, check_name
from gpugraph.base.quantities import percent, rate
from gpugraph.ext.charts.chart import Ink, Spec, config, entries, paint, row_height
from gpugraph.ext.charts.curves import Look, Mark, Point, best_first, curves
from gpugraph.ext.charts.plain_svg import short_number, ticks
from gpugraph.ext.charts.rates import stated_marks
from gpugraph.ext.comparing.cells import label, mteps_interval, ordered, speedups, work
from gpugraph.ext.comparing.versions import explanation
from gpugraph.ext.reports.panels import LOG_BEYOND, SCALE, problem_name
from gpugraph.records.columns import Labelled
from gpugraph.records.fields import FIELDS, GAINS, VALUES
from gpugraph.records.record import Record
from gpugraph.report.terminal import Line, bar, can_draw, indented

_AXES = ("scale", "vertices", "edges", "graph", "family", "problem", "algorithm", "device", "threads", "file")
_NAMED = {name: FIELDS[name].read for name in _AXES}
WIDE = ("vertices", "edges")
"""Abscissas that are read by their powers."""

_TITLES = {"scale": SCALE, "vertices": "vertices", "edges": "edges", "algorithm": "algorithm"}


@dataclass(frozen=True)
class Choice:
    """What a figure is to show.

    Attributes:
        x: ``scale``, ``vertices``, ``edges``, ``graph``, …, an axis of the sweep or a parameter. None: the scale where
            graphs of one kind differ in it, else the graph, or of a single graph the algorithm.
        by: names whose values make a series each; empty: algorithm and device, and whatever else differs.
        where: ``NAME=VALUE``; a row must meet one of those of each name.  A value may have ``*``; ``NAME=~VALUE`` is a
            regular expression.
        title: above the figure, ``""`` for none; None: what all that is drawn has in common, the graph first.
        log: whether the ordinate is logarithmic; None decides by the values.
    """

    x: str | None = None
    y: str = "mteps"
    by: Sequence[str] = ()
    where: Sequence[str] = ()
    title: str | None = None
    log: bool | None = None


def figure(rows: Sequence[Record], ink: Ink, choice: Choice, *, width: int = 640, height: int | None = None) -> Spec:
    """Return a whole figure as Vega-Lite: lines over numbers, bars over names.

    ``width`` is that of the whole figure and ``height`` that of the plot, in pixels; a height of None is as its rows or
    its width ask for.

    Raises:
        InputError: a name that no row knows, or nothing is left to draw.
    """
    drawn, y = chosen_points(rows, choice), choice.y
    x = drawn.x
    papers = stated_marks(drawn.cells, y) if x == "scale" and y in ("mteps", "speedup") else []
    look = Look(
        VALUES[y].title, _TITLES.get(x, x.replace("_", " ")), titles=(", ".join(drawn.names), "device"),
        names=drawn.words, bars=True, least_first=VALUES[y].cost, failed=drawn.failed, papers=papers, log=choice.log,
        level=(1.0, "as fast as the CPU") if y == "speedup" else None, log_x=x in WIDE and not drawn.words,
        percent=VALUES[y].percent,
    )  # fmt: skip
    spec = curves(drawn.points, ink, look)
    variants = ordered(entries(spec, "variant"))
    colours = {name: ink.colour(i) for i, name in enumerate(variants)}
    if drawn.words:  # the legend is read beside the bars
        variants = best_first([(point.variant, point.y) for point in drawn.points], least=VALUES[y].cost)
    spec = paint(spec, {name: colours[name] for name in variants})
    words, below = drawn.common
    shared = config(ink)
    shared["legend"]["columns"] = max(1, (width - 50) // (34 + 7 * max(map(len, variants), default=1)))
    if height is None:
        places = len(entries(spec, "series")) or len({point.x for point in drawn.points})  # bars beside each other
        height = row_height(places) if drawn.words else round(width * 9 / 16)
    fit = {"type": "fit-x", "contains": "padding"}
    own = {"text": words, "subtitle": below} if words else None
    title: object = own if choice.title is None else choice.title or None
    if stale := explanation([cell.record for cell in drawn.cells]):
        text, below = (words, below) if choice.title is None else (choice.title, "")
        title = {"text": text, "subtitle": [*filter(None, [below]), stale]}
    return {"title": title, **spec, "width": width, "height": height, "autosize": fit, "config": shared}


@dataclass(frozen=True)
class Drawn:
    """What is to be seen over ``x``: cells, what makes their series, points, failures; ``words``: ``x`` has names."""

    x: str
    cells: Sequence[Labelled]
    names: Sequence[str]
    points: Sequence[Point]
    failed: Sequence[Mark]
    words: bool

    @property
    def common(self) -> tuple[str, str]:
        """What all cells have in common: the title, the graph or else the problem; and the rest of it."""
        graphs = {text_of(_at(cell, "graph")) for cell in self.cells}
        titles = {cell.record.title for cell in self.cells}
        facts = [
            {title for title in titles if title and not any(graph in title for graph in graphs)},
            graphs,
            {problem_name(cell.record.problem) for cell in self.cells},
            {cell.record.family for cell in self.cells if self.x != "graph" and len(graphs) > 1},
            {cell.device for cell in self.cells if self.x != "device"},
            {cell.variant for cell in self.cells if self.x != "algorithm"},
        ]
        known = list(dict.fromkeys(name for found in facts if len(found) == 1 for name in found))
        return "".join(known[:1]), ", ".join(known[1:])


def _abscissa(cells: Sequence[Labelled]) -> str:
    """Return what figures of cells go over if nothing else is asked for."""
    scales: dict[str, set[float | None]] = {}
    for cell in cells:
        scales.setdefault(cell.record.family, set()).add(cell.record.scale)
    if all(len(found) > 1 for found in scales.values()):
        return "scale"
    return "graph" if len({cell.record.graph_name for cell in cells}) > 1 else "algorithm"


def chosen_points(rows: Sequence[Record], choice: Choice) -> Drawn:
    """Return what a figure shows; the errors are those of ``figure``."""
    y = choice.y
    check_name("value to draw", y, VALUES)
    cells = label(_chosen(rows, choice.where))
    known, x = _names(rows), choice.x or _abscissa(cells)
    for name in (x, *choice.by):
        check_name("axis", name, known)
    differ = {name for name in ("problem", "family", "device") if len({text_of(_at(cell, name)) for cell in cells}) > 1}
    telling = {*differ, "algorithm"} - {x, *(("family",) if x == "graph" else ())}
    names = list(choice.by) or [name for name in ("problem", "family", "algorithm", "device") if name in telling]
    over = _gains([cell.record for cell in cells], y)
    points, failed = [], []
    for cell in cells:
        place = _at(cell, x)
        if place is None:
            continue
        variant = ", ".join(text_of(_at(cell, name)) for name in names if name != "device")
        device = cell.device if "device" in names else ""
        value = over.get(id(cell.record)) if y in GAINS else VALUES[y].of(cell.record)
        if value is not None:
            low, high = _interval(cell.record, y)
            points.append(Point(place, value, variant, device, low=low, high=high))
        elif not cell.record.ok and y in ("mteps", "end-to-end", "kernel"):
            failed.append(Mark(place, None, cell.record.outcome, {}))
    if not points:
        emulated = all(cell.record.device_kind == "emulated" for cell in cells)
        remedy = "measure with --counters: the emulated device has no rate" if emulated else "see --y, --x and --where"
        raise InputError(f"no record has a value for '{y}' over '{x}'", remedy=remedy)
    words = not all(isinstance(point.x, int | float) for point in points)
    if words:
        failed = [Mark(text_of(m.x), None, m.text, m.tip) for m in failed]
        points = [replace(point, x=text_of(point.x)) for point in points]
    else:
        points.sort(key=lambda point: point.x)
    if words or not any(point.variant for point in points):  # a bar has a colour, no shape that tells its device
        points = [replace(p, variant=", ".join(filter(None, (p.variant, p.device))), device="") for p in points]
    else:
        names = [name for name in names if name != "device"]
    return Drawn(x, cells, names, points, failed, words)


def _gains(rows: Sequence[Record], y: str) -> dict[int, float]:
    """Return by a record's identity how many times as fast as the CPU, or as its fewest threads, it is."""
    if y == "speedup":
        return {who: one.kernel for who, one in speedups(rows).items()}
    timed = [(row, row.kernel_s or 0.0, _field(row, "threads")) for row in rows if row.ok and y == "scaling"]
    timed = [one for one in timed if one[1] and one[2]]
    fewest: dict[Any, tuple[int, float]] = {}
    for row, seconds, threads in timed:
        fewest[_run(row)] = min(fewest.get(_run(row), (threads, seconds)), (threads, seconds))
    return {id(row): math.prod(fewest[_run(row)]) / seconds for row, seconds, _ in timed}


def _run(row: Record) -> tuple[str, ...]:
    """Return what runs on more and fewer threads have in common."""
    return (*work(row), row.algorithm, text_of(row.parameters))


def _chosen(rows: Sequence[Record], where: Sequence[str]) -> list[Record]:
    known, wanted = _names(rows), dict[str, list[str]]()
    for condition in where:
        name, equals, value = condition.partition("=")
        if not equals or not name:
            raise InputError(f"--where '{condition}' is not NAME=VALUE", remedy="for example --where problem=mst")
        check_name("axis", name, known)
        wanted.setdefault(name, []).append(_pattern(name, value))
    kept = list(rows)
    for name, found in wanted.items():
        values = list(dict.fromkeys(text for row in kept for text in _texts(row, name)))
        kept = [row for row in kept if any(re.fullmatch(one, text) for one in found for text in _texts(row, name))]
        if not kept:
            remedy = f"{name} is {', '.join(sorted(values))}; a repeated --where adds values" if values else ""
            raise InputError(f"no record meets {' and '.join(where)}", remedy=remedy)
    if not kept:
        raise InputError("there is no record")
    return kept


def _texts(row: Record, name: str) -> list[str]:
    """Return the values of a field that ``--where`` knows; a device has its name and its kind."""
    return [text_of(_field(row, name)), *([row.device_kind] if name == "device" else [])]


def _pattern(name: str, value: str) -> str:
    """Return a condition's value as a regular expression; ``~`` begins what is one already."""
    if value[:1] != "~":
        return translate(value)
    try:
        return re.compile(value[1:]).pattern
    except re.error as error:
        raise InputError(
            f"--where {name}={value} is no regular expression: {error}", remedy="see docs/report.md"
        ) from None


def one_axis(rows: Sequence[Record], choice: Choice) -> list[Choice]:
    """Return the choice for every axis that the rows need: rates and times of two problems share none."""
    problems = list(dict.fromkeys(row.problem for row in _chosen(rows, choice.where)))
    if choice.y in GAINS or len(problems) < 2 or "problem" in (choice.x, *choice.by):
        return [choice]
    return [replace(choice, where=[*choice.where, f"problem={name}"]) for name in problems]


def _names(rows: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys([*_NAMED, *(name for row in rows for name in (*row.axes, *row.parameters))]))


def _at(cell: Labelled, name: str) -> object:
    if name == "algorithm":
        return cell.variant
    return cell.device if name == "device" else _field(cell.record, name)


def _field(row: Record, name: str) -> Any:
    if name in _NAMED:
        return _NAMED[name](row)
    return row.axes.get(name, row.parameters.get(name))


def text_of(value: object) -> str:
    """Return a value of an axis as it is written."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _interval(row: Record, y: str) -> tuple[float | None, float | None]:
    """Return the ends of a value's interval, where it comes from the kernel time alone."""
    if y == "mteps":
        return mteps_interval(row)
    if y != "kernel" or row.interval_s is None or not row.kernel_s or row.interval_s[0] <= 0:
        return None, None
    return row.interval_s[0] * 1e3, row.interval_s[1] * 1e3


_LETTERS = string.ascii_lowercase + string.ascii_uppercase
_COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "red")
_MARGIN = 9
"""Letters of the ordinate's labels, its line included."""


def sketch(
    rows: Sequence[Record], choice: Choice, *, width: int = 80, height: int = 16, unicode: bool | None = None
) -> list[Line]:
    """Return the figure in letters: every series a letter and a line of dots, over names a bar for each value.

    Errors are those of ``figure``; ``width`` and ``height`` are of the plot in letters.  ``unicode``: draw with block
    characters; None asks what standard output can show.
    """
    blocks = can_draw() if unicode is None else unicode
    drawn = chosen_points(rows, choice)
    title = ", ".join(filter(None, drawn.common)) if choice.title is None else choice.title
    series: dict[str, list[Point]] = {}
    for point in drawn.points:
        series.setdefault(", ".join(filter(None, (point.variant, point.device))), []).append(point)
    values = [point.y for point in drawn.points]
    positive = [value for value in values if value > 0]
    bars, log = drawn.words or len({point.x for point in drawn.points}) == 1, choice.log
    if log is None:
        log = len(positive) > 1 and max(positive) > LOG_BEYOND * min(positive)
    log = log and bool(positive) and not bars
    over = f"{VALUES[choice.y].title} over {drawn.x.replace('_', ' ')}{', logarithmic' if log else ''}"
    head = [*(indented(title, width=width, style="bold") if title else []), *indented(over, width=width, style="bold")]
    if stale := explanation([cell.record for cell in drawn.cells]):
        head += indented(stale, width=width)
    if bars:
        return head + _value_bars(series, drawn, choice.y, width, blocks)
    names = ordered(series)
    marks = {name: (_LETTERS[i % len(_LETTERS)], _COLOURS[i % len(_COLOURS)]) for i, name in enumerate(names)}
    low, high = (min(positive), max(positive)) if log else (min(0.0, *values), max(values))
    ends = [point.x for point in drawn.points] + [mark.x for mark in drawn.failed]
    columns, lines = width - _MARGIN - 1, max(4, height)
    across = _scale(min(ends), max(ends), columns - 1, log=drawn.x in WIDE and min(ends) > 0)
    upward = _scale(low, high, lines - 1, log=log)
    traced = []
    for name in names:
        own = [(across(p.x), lines - 1 - upward(p.y)) for p in series[name] if p.y > 0 or not log]
        traced.append((*marks[name], own))
    cross, dot = ("×", "·") if blocks else ("x", ".")
    canvas = _canvas(columns, lines, traced, dot)
    for mark in drawn.failed:
        if canvas[-1][across(mark.x)][0] in (" ", dot):  # no letter
            canvas[-1][across(mark.x)] = (cross, "red")
    percents = VALUES[choice.y].percent
    labels = {lines - 1 - upward(tick): short_number(tick, as_percent=percents) for tick in ticks(low, high, log=log)}
    rule, corner, dash = "│└─" if blocks else "|+-"
    head += [[(f"{labels.get(i, ''):>{_MARGIN - 2}} {rule}", "dim"), *row] for i, row in enumerate(canvas)]
    head.append([(f"{'':>{_MARGIN - 1}}{corner}{dash * columns}", "dim")])
    head.append([(f"{'':>{_MARGIN}}{_under(sorted(set(ends)), across, columns)}".rstrip(), "dim")])
    for name in names:
        ys = [point.y for point in series[name]]
        span = f"{_value(min(ys), choice.y)} to {_value(max(ys), choice.y)}" if len(ys) > 1 else _value(ys[0], choice.y)
        letter, colour = marks[name]
        legend = indented(f"{name}: {span}", 5, width=width)
        legend[0] = [("  ", ""), (letter, f"bold {colour}"), ("  ", ""), *legend[0][1:]]
        head += legend
    if any(letter == "+" for row in canvas for letter, _ in row):
        head.append([("  ", ""), ("+", "bold"), ("  several in one place", "dim")])
    failures = dict.fromkeys(mark.text for mark in drawn.failed)
    return head + [[("  ", ""), (cross, "red"), (f"  {text}", "dim")] for text in failures]


def _canvas(columns: int, lines: int, traced: Sequence[tuple[str, str, list[tuple[int, int]]]], dot: str) -> list[Line]:
    """Return the plot: of each curve the letter in its colour at every place, and lines of dots between these."""
    canvas = [[(" ", "")] * columns for _ in range(lines)]
    for _, colour, places in traced:  # lines first, so that no letter is hidden by the line of another series
        for (x1, y1), (x2, y2) in pairwise(places):
            steps = max(abs(x2 - x1), abs(y2 - y1), 1)
            for i in range(1, steps):
                canvas[y1 + round((y2 - y1) * i / steps)][x1 + round((x2 - x1) * i / steps)] = (dot, colour)
    for letter, colour, places in traced:
        for column, line in places:
            taken = canvas[line][column][0] in _LETTERS + "+" and canvas[line][column][0] != letter
            canvas[line][column] = ("+", "bold") if taken else (letter, f"bold {colour}")
    return canvas


def _value_bars(series: dict[str, list[Point]], drawn: Drawn, y: str, width: int, blocks: bool) -> list[Line]:
    """Return for each name of the abscissa a bar of each series, the best on top."""
    least, alone = VALUES[y].cost, len(series) == 1
    texts = [text_of(point.x) for point in drawn.points] if alone else list(series)
    names, most = max(map(len, texts)), max(point.y for point in drawn.points)
    room = max(4, width - names - 18)
    lines: list[Line] = []
    for place in best_first([(text_of(point.x), point.y) for point in drawn.points], least=least):
        if not alone:
            lines.append([(f"  {place}", "bold")])
        here = [(p.y, place if alone else name) for name in series for p in series[name] if text_of(p.x) == place]
        for value, name in sorted(here, key=lambda one: (one[0] if least else -one[0], one[1])):
            shown = bar(max(value, 0.0) / most * room, blocks) if most > 0 else ""
            lines.append([(f"    {name:<{names}}  ", ""), (shown, "cyan"), (f" {_value(value, y)}", "")])
        lines += [[(f"    {mark.text}", "yellow")] for mark in drawn.failed if text_of(mark.x) == place]
    return lines


def _scale(low: float, high: float, most: int, *, log: bool) -> Callable[[float], int]:
    """Return what gives a value's place among ``most`` + 1."""

    def place(value: float) -> int:
        if high <= low:
            return most // 2
        share = math.log(value / low) / math.log(high / low) if log else (value - low) / (high - low)
        return min(most, max(0, round(share * most)))

    return place


def _under(places: Sequence[float], across: Callable[[float], int], columns: int) -> str:
    """Return the line of the abscissa's labels, as many as there is room for."""
    line = ""
    for place in places:
        text = short_number(place)
        start = min(max(across(place) - len(text) // 2, 0), columns - len(text))
        if not line or start >= len(line) + 2:
            line = line.ljust(start) + text
    return line


def _value(number: float, y: str) -> str:
    return percent(number) if VALUES[y].percent else rate(number)
