"""``Chart``, a figure with its words, ``Ink``, the colours that it is drawn in, and the engine that draws it.

Vega-Lite is drawn through vl-convert, which needs no browser and carries the page's script.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np

from gpugraph.base import code_cache
from gpugraph.base.errors import InputError, used_up
from gpugraph.base.files import ending_of
from gpugraph.ext.charts.assets import template
from gpugraph.ext.charts.engine import called
from gpugraph.ext.charts.plain_svg import plain_svg
from gpugraph.ext.comparing.cells import ordered
from gpugraph.records.columns import Labelled
from gpugraph.records.json_text import encodable, jsonable

Spec = dict[str, Any]

SERIES = 8
"""Colours chosen by hand; more series take computed ones, so that no two on a page are alike."""

HEIGHT = 280
"""Pixels that a plot on a page is high, if it has no rows of its own."""


def channel(field: str, kind: str = "quantitative", **more: Any) -> Spec:
    """Return how a channel of a layer (x, y, color, …) shows a field of its data; ``more`` as Vega-Lite names it."""
    return {"field": field, "type": kind, **more}


def layer(
    mark: str, values: Sequence[Mapping[str, object]] | None = None, look: Spec | None = None, **channels: Any
) -> Spec:
    """Return a layer of a figure: a mark with its ``look``, over ``values`` or else the data of the whole figure.

    ``channels`` are what its channels show; those that are None are left out.
    """
    shown = {name: content for name, content in channels.items() if content is not None}
    data = {} if values is None else {"data": {"values": list(values)}}
    return {**data, "mark": {"type": mark, **(look or {})}, "encoding": shown}


def tooltip(titles: Mapping[str, str]) -> list[Spec]:
    """Return the channel of what hovering shows: field → title."""
    return [channel(field, "nominal", title=title) for field, title in titles.items()]


def row_height(rows: int, each: int = 22) -> int:
    """Return the pixels of a plot that has a row for each name, and an axis."""
    return max(110, each * rows + 50)


@dataclass(frozen=True)
class Chart:
    """A figure: its ``key`` in a page's addresses, how to read it, a text for screen readers, and Vega-Lite.

    ``header`` and ``rows`` are the same as a table of texts.  A ``small`` one is one of several side by side;
    ``height`` is that of the plot on a page, in pixels.
    """

    key: str
    title: str
    caption: str
    description: str
    spec: Spec
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    small: bool = False
    height: int = HEIGHT


@dataclass(frozen=True)
class Ink:
    """Colours of a figure: text, faint text, grid lines, background and series.

    Attributes:
        lightness: of computed colours; none for a page, whose style sheet has them.
    """

    text: str
    faint: str
    grid: str
    paper: str
    series: tuple[str, ...]
    font: str
    lightness: tuple[float, ...] = (0.38, 0.48, 0.58)

    def colour(self, number: int) -> str:
        """Return the colour of a series: one chosen by hand, then computed ones; of a page the name of its variable."""
        if not self.lightness:
            return f"var(--series-{number})"
        palette = _palette(self.series, self.lightness)
        return palette[number % len(palette)]


@cache
def _palette(chosen: tuple[str, ...], lightness: tuple[float, ...]) -> list[str]:
    """Return some 250 colours, first those chosen, then one after another the farthest from all before it in Oklab."""
    hues = range(0, 360, 9)
    places = {(x, c, math.radians(h)) for x in lightness for c in (0.07, 0.14) for h in hues}
    left = sorted({_shown((x, c * math.cos(h), c * math.sin(h))) for x, c, h in places} - set(chosen))
    found, labs = list(chosen), {colour: _oklab(colour) for colour in (*left, *chosen)}
    near = {colour: min(math.dist(labs[colour], labs[other]) for other in chosen) for colour in left}
    while near:
        best = max(near, key=lambda colour: near[colour])
        found.append(best)
        del near[best]
        near = {colour: min(far, math.dist(labs[colour], labs[best])) for colour, far in near.items()}
    return found


_CONES = ((0.41222, 0.53633, 0.05145), (0.21190, 0.68070, 0.10740), (0.08830, 0.28172, 0.62998))
_LAB = ((0.21045, 0.79362, -0.00407), (1.97800, -2.42859, 0.45059), (0.02590, 0.78277, -0.80868))
"""Linear sRGB to the eye's cones, and their cube roots to lightness, green–red and blue–yellow.

Source: B. Ottosson, A perceptual color space for image processing, 2020 (Oklab), rounded.
"""


def _oklab(colour: str) -> tuple[float, ...]:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    cones = [math.cbrt(sum(a * x for a, x in zip(row, linear, strict=True))) for row in _CONES]
    return tuple(sum(a * x for a, x in zip(row, cones, strict=True)) for row in _LAB)


def _shown(lab: Sequence[float]) -> str:
    """Return a colour as ``#rrggbb``; what sRGB cannot show is cut off."""
    cones = np.linalg.solve(np.array(_LAB), np.array(lab)) ** 3
    linear = np.clip(np.linalg.solve(np.array(_CONES), cones), 0, 1)
    parts = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255 * x):02x}" for x in parts.tolist())


_BRIGHT = ("#7ea8ff", "#ff9a66", "#5ed2a7", "#ea90d0", "#dcc05a", "#b0a5ff", "#5fc9ec", "#b4bac6")
_DEEP = ("#2f63c9", "#c8501c", "#1c8a66", "#a83a88", "#7d6300", "#6a58c4", "#0b7ea3", "#646b78")
_OF_PAGE = tuple(f"var(--series-{i})" for i in range(SERIES))
_SANS = "Helvetica, Arial, sans-serif"
_SYSTEM = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

LIGHT = Ink("#1c2330", "#5a6375", "#e3e6ec", "#ffffff", _DEEP, _SANS)
DARK = Ink("#e6e9ef", "#a2abbb", "#2d3441", "#14181f", _BRIGHT, _SANS, (0.66, 0.76, 0.88))
PAGE = Ink("var(--text)", "var(--faint)", "var(--grid)", "transparent", _OF_PAGE, _SYSTEM, ())
"""The page's own colours: its style sheet gives them, so that they follow light, dark and print."""


def config(ink: Ink) -> Spec:
    """Return the Vega-Lite configuration that all figures share."""
    shared: Spec = json.loads(template("vega.json").render(ink=ink))
    return shared


def paint(spec: Spec, colors: Mapping[str, str], field: str = "variant") -> Spec:
    """Return a figure in which every name of a field has its own colour, the same on all figures of a page.

    Variants are listed in the order of the colours; parts, which are stacked, in that in which the figure has them.
    """
    names = list(dict.fromkeys(entries(spec, field)))
    names = sorted(names, key=[*colors, *names].index) if field == "variant" else names
    scale = {"domain": names, "range": [colors[name] for name in names if name in colors]}
    return spec if not names or len(scale["range"]) < len(names) else _with_scale(spec, scale, field)


def entries(spec: object, field: str) -> list[str]:
    """Return the values of a field of a figure's data, in order, repeats and all."""
    if isinstance(spec, list):
        return [name for part in spec for name in entries(part, field)]
    if not isinstance(spec, dict):
        return []
    if "values" in spec:
        return [value[field] for value in spec["values"] if isinstance(value, dict) and field in value]
    return [name for part in spec.values() for name in entries(part, field)]


def _with_scale(spec: object, scale: Spec, field: str) -> Any:
    if isinstance(spec, list):
        return [_with_scale(part, scale, field) for part in spec]
    if not isinstance(spec, dict):
        return spec
    painted = {key: part if key == "data" else _with_scale(part, scale, field) for key, part in spec.items()}
    if painted.get("field") == field and "legend" in painted:
        painted["scale"] = scale
    return painted


def colors(cells: Sequence[Labelled], ink: Ink, others: Sequence[str] = ()) -> dict[str, str]:
    """Return the colour of every variant, each its own, whatever order the cells were run in; then those of others."""
    names = [*ordered(cell.variant for cell in cells), *others]
    return {name: ink.colour(i) for i, name in enumerate(dict.fromkeys(names))}


_REMEDY = "pip install 'gpugraph[report]'"


def check_engine() -> Any:
    """Return the library that draws; an InputError says how to install it where it is missing."""
    try:
        import vl_convert
    except ImportError as error:
        missing = InputError(f"drawing needs vl-convert, which is not usable ({error})", remedy=_REMEDY)
        raise used_up(error) or missing from None
    return vl_convert


def can_draw_all() -> bool:
    """Tell whether the library that draws is installed; without it there are plain SVGs."""
    try:
        check_engine()
    except InputError:
        return False
    return True


def vega_bundle() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script, kept in the cache: putting it together takes two seconds."""
    engine = check_engine()
    name = f"vega-{engine.__version__}.js"
    kept = code_cache.look_up("scripts", name)
    if kept is not None:
        return kept.content.decode()
    script = called("javascript_bundle")
    code_cache.keep_if_possible("scripts", name, script)
    return script.decode()


def vega_license() -> str:
    """Return whose the script is, and the terms (BSD 3-Clause License) on which it may be handed on."""
    owner = "Vega, Vega-Lite and vega-embed: copyright (c) 2015-2025, University of Washington Interactive Data Lab."
    try:
        files = metadata.files("vl-convert-python") or []
        texts = [file.read_text("utf-8") for file in files if file.name == "LICENSE"]
    except (metadata.PackageNotFoundError, OSError):
        texts = []
    return "\n\n".join([owner + " BSD 3-Clause License.", *texts])


LONGEST = 1000
"""Letters of a text in a figure: the library measures each again and again to make it fit."""


def _drawable(text: str) -> str:
    """Return a text that the library can draw: a control character would abort the process, a huge one hang it."""
    clean = encodable(text)
    return clean if len(clean) <= LONGEST else f"{clean[: LONGEST - 1]}…"


ENDINGS = (".svg", ".pdf", ".png", ".json")
"""Of files that a figure is written to."""

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
"""Names the language of a ``.json``, for editors."""

INCH = 96
"""Pixels of a figure to an inch, as browsers count them; a text of 12 pixels has 9 points."""

_POINTS, _DOTS = 72, 300
"""Points and, in a ``.png``, dots to an inch."""


def check_figure(path: str) -> str:
    """Return the ending of a figure's file, .svg for standard output (``"-"``).

    Raises InputError if it is none of ``ENDINGS``, or nothing can draw it.
    """
    ending = ".svg" if path == "-" else ending_of(path, "a figure", ENDINGS)
    if ending not in (".json", ".svg"):
        check_engine()
    return ending


def draw(spec: dict[str, object], ending: str) -> bytes:
    """Return a Vega-Lite figure as the content of a file with one of ``ENDINGS``, in all of them of the same size.

    Raises:
        InputError: the library is not installed, or cannot draw this.
        DeviceUnavailable: the library does not get the memory that it needs.
    """
    if ending == ".json":
        return json.dumps({"$schema": SCHEMA, **spec}, ensure_ascii=False, indent=1).encode()
    clean = jsonable(spec, _drawable)
    if ending == ".svg" and not can_draw_all():
        return plain_svg(clean, clean["config"], width=clean["width"], height=clean["height"]).encode()
    check_engine()
    try:
        if ending == ".png":
            return called("vegalite_to_png", clean, scale=_POINTS / INCH, ppi=_DOTS)
        drawing = called("vegalite_to_svg", clean)
        if ending == ".svg":
            return drawing
        size = re.compile(r' (width|height)="([0-9.]+)"')  # a PDF takes the numbers for points
        scaled = (lambda found: f' {found[1]}="{float(found[2]) * _POINTS / INCH:g}"', drawing.decode())
        return called("svg_to_pdf", size.sub(*scaled, count=2))
    except ValueError as error:
        raise InputError(f"the figure cannot be drawn: {error}", remedy="write it as .json and look at it") from error
