"""The figure of ``gpugraph plot`` in letters, for a terminal."""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Sequence
from itertools import pairwise

from gpugraph.measure.record import Record
from gpugraph.quantities import percent, rate
from gpugraph.report.cells import ordered
from gpugraph.report.charts.curves import LOG_BEYOND, Mark, Point
from gpugraph.report.figure import VALUES, WIDE, chosen_points, text_of
from gpugraph.report.summary import bar
from gpugraph.report.terminal import Line, can_draw, indented

_LETTERS = string.ascii_lowercase + string.ascii_uppercase
_COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "red")
_MARGIN = 9
"""Letters of the ordinate's labels, its line included."""


def sketch(
    rows: Sequence[Record],
    *,
    x: str = "scale",
    y: str = "mteps",
    by: Sequence[str] = (),
    where: Sequence[str] = (),
    title: str | None = None,
    log: bool | None = None,
    width: int = 80,
    height: int = 16,
    unicode: bool | None = None,
) -> list[Line]:
    """Return the figure in letters: every series a letter and a line of dots, over names a bar for each value.

    Args:
        rows: what to draw; it and the next five are those of ``figure``, with its errors.
        x: the abscissa.
        y: the ordinate.
        by: what makes a series.
        where: which rows.
        title: above the figure.
        log: whether the ordinate is logarithmic; None decides by the values.
        width: columns.
        height: lines of the plot itself.
        unicode: draw with block characters; None asks what standard output can show.
    """
    blocks = can_draw() if unicode is None else unicode
    drawn = chosen_points(rows, x, y, by, where)
    series: dict[str, list[Point]] = {}
    for point in drawn.points:
        series.setdefault(", ".join(filter(None, (point.variant, point.device))), []).append(point)
    values = [point.y for point in drawn.points]
    positive = [value for value in values if value > 0]
    if log is None:
        log = len(positive) > 1 and max(positive) > LOG_BEYOND * min(positive)
    bars = drawn.words or len({point.x for point in drawn.points}) == 1
    log = log and bool(positive) and not bars
    over = f"{VALUES[y].title} over {x.replace('_', ' ')}{', logarithmic' if log else ''}"
    head = [*(indented(title, width=width, style="bold") if title else []), *indented(over, width=width, style="bold")]
    if bars:
        return head + _value_bars(series, drawn.failed, y, width, blocks)
    names = ordered(series)
    marks = {name: (_LETTERS[i % len(_LETTERS)], _COLOURS[i % len(_COLOURS)]) for i, name in enumerate(names)}
    low, high = (min(positive), max(positive)) if log else (min(0.0, *values), max(values))
    ends = [point.x for point in drawn.points] + [mark.x for mark in drawn.failed]
    columns, lines = width - _MARGIN - 1, max(4, height)
    across = _scale(min(ends), max(ends), columns - 1, log=x in WIDE and min(ends) > 0)
    upward = _scale(low, high, lines - 1, log=log)
    canvas = [[(" ", "")] * columns for _ in range(lines)]
    places = {
        name: [(across(p.x), lines - 1 - upward(p.y)) for p in series[name] if p.y > 0 or not log] for name in names
    }
    for name in names:  # lines first, so that no letter is hidden by the line of another series
        for (x1, y1), (x2, y2) in pairwise(places[name]):
            steps = max(abs(x2 - x1), abs(y2 - y1), 1)
            for i in range(1, steps):
                column, line = x1 + round((x2 - x1) * i / steps), y1 + round((y2 - y1) * i / steps)
                canvas[line][column] = ("·" if blocks else ".", marks[name][1])
    for mark in drawn.failed:
        canvas[-1][across(mark.x)] = ("×" if blocks else "x", "red")
    for name in names:
        for column, line in places[name]:
            taken = canvas[line][column][0] in _LETTERS + "+" and canvas[line][column][0] != marks[name][0]
            canvas[line][column] = ("+", "bold") if taken else (marks[name][0], f"bold {marks[name][1]}")
    ticks = {lines - 1 - upward(tick): _short(tick, y) for tick in _ticks(low, high, log=log)}
    rule, corner, dash = "│└─" if blocks else "|+-"
    head += [[(f"{ticks.get(i, ''):>{_MARGIN - 2}} {rule}", "dim"), *row] for i, row in enumerate(canvas)]
    head.append([(f"{'':>{_MARGIN - 1}}{corner}{dash * columns}", "dim")])
    head.append([(f"{'':>{_MARGIN}}{_under(sorted(set(ends)), across, columns)}".rstrip(), "dim")])
    for name in names:
        ys = [point.y for point in series[name]]
        told = f"{_value(min(ys), y)} to {_value(max(ys), y)}" if len(ys) > 1 else _value(ys[0], y)
        letter, colour = marks[name]
        legend = indented(f"{name}: {told}", 5, width=width)
        legend[0] = [("  ", ""), (letter, f"bold {colour}"), ("  ", ""), *legend[0][1:]]
        head += legend
    if any(letter == "+" for row in canvas for letter, _ in row):
        head.append([("  ", ""), ("+", "bold"), ("  several in one place", "dim")])
    for text in dict.fromkeys(mark.text for mark in drawn.failed):
        head.append([("  ", ""), ("×" if blocks else "x", "red"), (f"  {text}", "dim")])
    return head


def _value_bars(series: dict[str, list[Point]], failed: Sequence[Mark], y: str, width: int, blocks: bool) -> list[Line]:
    """Return for each name of the abscissa a bar of each series, the greatest on top."""
    names = max(map(len, series))
    room, most = max(4, width - names - 18), max((p.y for points in series.values() for p in points), default=1.0)
    lines: list[Line] = []
    places = {text_of(point.x): point.x for points in series.values() for point in points}
    for place in map(places.__getitem__, ordered(places)):
        lines.append([(f"  {text_of(place)}", "bold")])
        here = [(point.y, name) for name, points in series.items() for point in points if point.x == place]
        for value, name in sorted(here, key=lambda one: (-one[0], one[1])):
            drawn = bar(max(value, 0.0) / most * room, blocks) if most > 0 else ""
            lines.append([(f"    {name:<{names}}  ", ""), (drawn, "cyan"), (f" {_value(value, y)}", "")])
        lines += [[(f"    {mark.text}", "yellow")] for mark in failed if mark.x == place]
    return lines


def _scale(low: float, high: float, most: int, *, log: bool) -> Callable[[float], int]:
    """Return what gives a value's place among ``most`` + 1."""

    def place(value: float) -> int:
        if high <= low:
            return most // 2
        share = math.log(value / low) / math.log(high / low) if log else (value - low) / (high - low)
        return min(most, max(0, round(share * most)))

    return place


def _ticks(low: float, high: float, *, log: bool) -> list[float]:
    """Return round values between two, a handful of them."""
    if log:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for steps in ((1,), (1, 3), (1, 2, 5)):
            found = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
            if len(found) > 3:
                break
        return found or [low, high]
    if high <= low:
        return [low]
    step = 10.0 ** math.floor(math.log10(max((high - low) / 2, 1e-300)))
    step = next(step * times for times in (1, 2, 2.5, 5, 10) if (high - low) / (step * times) <= 5)
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _under(places: Sequence[float], across: Callable[[float], int], columns: int) -> str:
    """Return the line of the abscissa's labels, as many as there is room for."""
    line = ""
    for place in places:
        text = _short(place, "")
        start = min(max(across(place) - len(text) // 2, 0), columns - len(text))
        if not line or start >= len(line) + 2:
            line = line.ljust(start) + text
    return line


def _short(number: float, y: str) -> str:
    """Return the label of a tick."""
    if y in VALUES and VALUES[y].percent:
        return percent(number)
    for unit, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(number) >= 0.9995 * factor:
            return f"{number / factor:.3g}{unit}"
    return f"{number:.3g}"


def _value(number: float, y: str) -> str:
    return percent(number) if VALUES[y].percent else rate(number)
