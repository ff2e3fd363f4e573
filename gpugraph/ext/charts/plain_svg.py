"""Figures as SVG without a drawing library: the bars, lines, points and intervals of our own Vega-Lite."""

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from gpugraph.base.quantities import percent

Spec = dict[str, Any]
_Layer = tuple[Spec, Spec, Sequence[Spec]]
"""The mark of a layer, its channels, and the rows of its data."""

_LETTER = 6.6  # pixels of a letter of 12, about
_LONGEST = 34  # letters of a label
_POINTS = ("M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0", "M-4,-4h8v8h-8z", "M0,-5L5,4H-5z", "M0,-6L6,0L0,6L-6,0z")


def ticks(low: float, high: float, *, log: bool) -> list[float]:
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


def short_number(number: float, *, as_percent: bool = False) -> str:
    """Return the label of a tick: ``"1.5M"``, ``"20 %"``."""
    if as_percent:
        return percent(number)
    for unit, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(number) >= 0.9995 * factor:
            return f"{number / factor:.3g}{unit}"
    return f"{number:.3g}"


class _Axis:
    """One direction of a figure, ``start`` to ``end`` in pixels."""

    def __init__(self, name: str, layers: Sequence[_Layer]):
        found = [(c[n], rows) for _, c, rows in layers for n in (name, f"{name}2") if "field" in c.get(n, ())]
        self.channel: Spec = found[0][0]
        self.named = self.channel["type"] in ("nominal", "ordinal")
        self.title = escape(self.channel.get("title") or "")
        values = list(dict.fromkeys(row[channel["field"]] for channel, rows in found for row in rows))
        order = self.channel.get("sort")
        self.names = [
            one for one in dict.fromkeys([*(order if isinstance(order, list) else ()), *values]) if one in values
        ]
        scale, self.stack = self.channel.get("scale") or {}, self.channel.get("stack")
        self.log, axis = scale.get("type") == "log", self.channel.get("axis") or {}
        self.ticks = axis.get("values") if scale.get("type") != "symlog" else None  # here such a scale is linear
        self.as_percent = "%" in str(axis.get("format"))
        numbers = [] if self.named else [float(value) for value in values]
        if self.stack:
            numbers = [1.0] if self.stack == "normalize" else [*map(sum, _piles(found[0][1]).values())]
        numbers += [0.0] if scale.get("zero", not self.log) or not numbers else []
        low, high = scale.get("domain") or (min(numbers), max(numbers))
        self.low, self.high = (low, high) if high > low else (low, low + 1)
        self.start = self.end = 0.0

    @property
    def band(self) -> float:
        """The pixels of a name."""
        return abs(self.end - self.start) / max(1, len(self.names))

    def at(self, value: Any) -> float:
        """Return the pixel of a value; names run from the left or the top."""
        if self.named:
            return min(self.start, self.end) + (self.names.index(value) + 0.5) * self.band
        low, high, here = (math.log(n) if self.log else n for n in (self.low, self.high, max(self.low, float(value))))
        return self.start + (self.end - self.start) * (here - low) / (high - low)

    @property
    def marks(self) -> list[tuple[float, str]]:
        """The pixel and the label of what is marked."""
        if self.named:
            return [(self.at(name), _cut(str(name))) for name in self.names]
        places = self.ticks or ticks(self.low, self.high, log=self.log)
        return [(self.at(p), short_number(p, as_percent=self.as_percent)) for p in places if self.low <= p <= self.high]


def plain_svg(spec: Spec, look: Spec, *, width: int, height: int) -> str:
    """Return a figure, or nothing if it has no bars, lines or points.

    ``look`` is its Vega-Lite configuration, ``height`` that of the plot; both sizes are in pixels.
    """
    shared = spec.get("data", {}).get("values", [])
    layers: list[_Layer] = [
        (one["mark"], one["encoding"], rows)
        for one in spec.get("layer", [spec])
        if (rows := one.get("data", {}).get("values", shared)) and {"x", "y"} <= {*one["encoding"]}
        if one["mark"]["type"] in ("bar", "line", "point", "rule")
    ]
    if not layers:
        return ""
    x, y = (_Axis(name, layers) for name in "xy")
    text, faint, grid = (look["axis"][name] for name in ("titleColor", "labelColor", "gridColor"))
    title = spec.get("title") or {}
    parts = [title] if isinstance(title, str) else [title[name] for name in ("text", "subtitle") if title.get(name)]
    words = [word for part in parts for word in ([part] if isinstance(part, str) else part)]
    out = [_text(8, 18 + 18 * i, line, text if i == 0 else faint) for i, line in enumerate(words)]
    colours = _colours(layers, look["range"]["category"])
    devices = list(dict.fromkeys(row.get("device", "") for _, _, rows in layers for row in rows))
    devices = devices if len(devices) > 1 and not (x.named or y.named) else []  # bars have no shapes
    left, top = 8.0, 12.0 + 18 * len(words)
    entries = [*((name, colour, _POINTS[1]) for name, colour in colours.items())]
    for name, colour, shape in entries + [(name, faint, _POINTS[i % 4]) for i, name in enumerate(devices)]:
        if left > 8 and left + 24 + _LETTER * len(_cut(name)) > width:
            left, top = 8.0, top + 18
        out.append(f'<path d="{shape}" transform="translate({left + 6:.1f} {top:.1f})" fill="{colour}"/>')
        out.append(_text(left + 16, top + 4, _cut(name), text))
        left += 34 + _LETTER * len(_cut(name))
    left, top = 30 + _LETTER * max(len(label) for _, label in y.marks), top + 14
    x.start, x.end, y.start, y.end = left, width - 14, top + height, top
    for at, label in x.marks:
        out += [] if x.named else [_line(at, top, at, top + height, grid)]
        out.append(_text(at, top + height + 16, label, faint, "middle"))
    for at, label in y.marks:
        out += [] if y.named else [_line(left, at, width - 14, at, grid)]
        out.append(_text(left - 6, at + 4, label, faint, "end"))
    out.append(_text((left + width) / 2, top + height + 34, x.title, text, "middle"))
    turn = f'transform="rotate(-90 14 {top + height / 2:.0f})"'
    out.append(_text(14, top + height / 2, y.title, text, "middle", turn))
    for layer in layers:
        out += _marks(layer, x, y, colours, devices, look["rule"]["color"])
    size, back = f'width="{width}" height="{top + height + 42:.0f}"', look["background"]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top + height + 42:.0f}" {size} font-size="12" '
        f'font-family="{escape(look["font"])}"><rect width="100%" height="100%" fill="{back}"/>'
        + "\n".join(out) + "</svg>"
    )  # fmt: skip


def _colours(layers: Sequence[_Layer], category: Sequence[str]) -> dict[str, str]:
    """Return the colour of every variant or part, as it is painted, or one after another."""
    for _, channels, rows in layers:
        if "field" in (channel := channels.get("color") or {}):
            names = list(dict.fromkeys(row[channel["field"]] for row in rows))
            painted = channel.get("scale") or {"domain": names, "range": [category[i % 8] for i in range(len(names))]}
            return {
                name: colour for name, colour in zip(painted["domain"], painted["range"], strict=True) if name in names
            }
    return {}


def _marks(
    layer: _Layer, x: _Axis, y: _Axis, colours: dict[str, str], devices: Sequence[str], rule: str
) -> Iterator[str]:
    """Yield the marks of a layer."""
    mark, channels, rows = layer
    names, numbers, letter = (y, x, "y") if y.named else (x, y, "x")
    offset, field = channels.get(f"{letter}Offset"), (channels.get("color") or {}).get("field")
    thick = 0.75 / (len(offset["sort"]) if offset else 1)
    totals, below, curve = _piles(rows) if numbers.stack else {}, dict[str, float](), dict[tuple[str, ...], list[str]]()
    for row in sorted(rows, key=lambda row: row.get("order", 0)):
        colour = colours.get(row.get(field, ""), rule) if field else rule
        tip = "\n".join(
            f"{one['title']}: {row[one['field']]}" for one in channels.get("tooltip", ()) if one["field"] in row
        )
        place, device = [x.at(row[channels["x"]["field"]]), y.at(row[channels["y"]["field"]])], row.get("device", "")
        kind = devices.index(device) if device in devices else 0
        if offset:
            shift = (offset["sort"].index(row[offset["field"]]) + 0.5) / len(offset["sort"]) - 0.5
            place[names is y] += shift * 0.75 * names.band
        if mark["type"] == "bar":
            low, high = 0.0, row[channels["x" if names is y else "y"]["field"]]
            if numbers.stack:
                low, part = (
                    below.get(row["x"], 0.0),
                    high / sum(totals[row["x"]]) if numbers.stack == "normalize" else high,
                )
                high = below[row["x"]] = low + part
            start, end = sorted((numbers.at(low), numbers.at(high)))
            box = [start, place[names is y] - thick * names.band / 2, end - start, thick * names.band]
            box = box if names is y else [box[1], box[0], box[3], box[2]]
            size = 'x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"'.format(*box)
            yield f'<rect {size} fill="{colour}"><title>{escape(tip)}</title></rect>'
        elif mark["type"] == "point":
            at = f'd="{_POINTS[kind % 4]}" transform="translate({place[0]:.1f} {place[1]:.1f})"'
            yield f'<path {at} fill="{colour}"><title>{escape(tip)}</title></path>'
        elif mark["type"] == "rule":
            x2, y2 = (
                axis.at(row[channels[k]["field"]]) if k in channels else None for axis, k in ((x, "x2"), (y, "y2"))
            )
            yield _line(place[0], place[1], place[0] if x2 is None else x2, place[1] if y2 is None else y2, colour)
        else:
            curve.setdefault((colour, f"{3 * kind}"), []).append(f"{place[0]:.1f},{place[1]:.1f}")
    for (colour, dash), path in curve.items():
        look = f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"'
        yield f'<polyline points="{" ".join(path)}" {look}/>'


def _piles(rows: Sequence[Spec]) -> dict[str, list[float]]:
    """Return by name the values of stacked bars."""
    found = dict[str, list[float]]()
    for row in rows:
        found.setdefault(row["x"], []).append(float(row["y"]))
    return found


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def _text(x: float, y: float, words: str, colour: str, anchor: str = "start", more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" {more}>{escape(words)}</text>'


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
