"""A counter-example drawn: the graph of a wrong result as SVG, and as a sketch of letters for a terminal.

Source: E. Gansner, Y. Koren, S. North, Graph Drawing by Stress Majorization, 2004, on the few vertices there are.
"""

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from gpugraph.base.quantities import counted
from gpugraph.ext.charts.assets import template
from gpugraph.ext.charts.chart import LIGHT, Ink
from gpugraph.problems.contract import Verdict
from gpugraph.records.json_text import encodable
from gpugraph.records.record import Record
from gpugraph.records.record_shape import CounterExampleShape, EdgeShape
from gpugraph.report.terminal import Line

WIDTH, HEIGHT, MARGIN = 440, 310, 40
MOST = 64
"""More vertices than this are no small graph, whatever a file says."""

COLUMNS, ROWS, NOTES = 60, 13, 6
"""Letters of a sketch across and down, and notes below it."""

_STEPS = 200
_MEANING = {
    "wrong": "in the answer, and wrong",
    "missing": "missing from the answer",
    "right": "in the answer, rightly",
    "path": "a path of so many edges",
    "other": "not in the answer",
}
_LETTERS = {"wrong": "×", "missing": "∘", "path": "~", "other": "·"}
_PLAIN = str.maketrans("×∘·─│╱╲∞", "xo.-|/\\i")
_STYLES = {"wrong": "bold red", "missing": "green", "right": "", "path": "dim", "other": "dim"}
_PAGE = {"wrong": "var(--bad)", "missing": "var(--good)"}
_PENS = {"wrong": (4, ""), "missing": (3, "7 5"), "right": (2.2, ""), "path": (1, "1 5"), "other": (1, "2 3")}
"""Of each kind of edge in a drawing the width of its line and its dashes."""

_LIGHT = {"wrong": "#a32a1f", "missing": "#14694c"}
_DARK = {"wrong": "#ff9d90", "missing": "#7fdcb6"}


def shape_of_verdict(verdict: Verdict) -> CounterExampleShape | None:
    """Return the counter-example of a verdict as a record would have it."""
    if verdict.counter_example is None or not (drawn := verdict.counter_example.to_json())["vertices"]:
        return None
    return msgspec.convert(drawn, CounterExampleShape)


def shape_to_draw(record: Record) -> CounterExampleShape | None:
    """Return the counter-example of a record, if there is one that can be drawn."""
    shape = record.shape.verification.counter_example
    return shape if shape is not None and 0 < len(shape.vertices) <= MOST else None


def listed(shape: CounterExampleShape) -> list[tuple[str, str, str]]:
    """Return a counter-example as rows: a vertex or an edge, its note or weight, and what it is."""
    names, arrow = [vertex.name for vertex in shape.vertices], "→" if shape.directed else "–"
    rows = [(v.name, v.note, "wrong" if v.wrong else "right") for v in shape.vertices if v.note]
    edges = sorted(_edges(shape), key=lambda edge: list(_MEANING).index(_kind(edge)))
    return rows + [(f"{names[e.tail]} {arrow} {names[e.head]}", e.text, _MEANING[_kind(e)]) for e in edges]


def svg(shape: CounterExampleShape, ink: Ink = LIGHT) -> str:
    """Return a counter-example as SVG, in the colours of ``ink``."""
    places = _places(shape)
    places[:, 1] -= places[:, 1].min() - MARGIN
    legend = [(name, said) for name, said in _MEANING.items() if any(_kind(edge) == name for edge in shape.edges)]
    tones = _PAGE if not ink.lightness else _LIGHT if ink == LIGHT else _DARK
    edges = [(encodable(e.text), _kind(e), *places[e.tail].tolist(), *places[e.head].tolist()) for e in _edges(shape)]
    return template("counter_example.svg").render(
        ink=ink,
        ground=ink.paper if ink.lightness else "var(--paper)",
        tones=tones,
        pens={kind: (tones.get(kind, ink.text if kind == "right" else ink.faint), *pen) for kind, pen in _PENS.items()},
        edges=edges,
        vertices=[
            (encodable(vertex.name), encodable(vertex.note), vertex.wrong, x, y)
            for (x, y), vertex in zip(places.tolist(), shape.vertices, strict=True)
        ],
        legend=legend,
        directed=shape.directed,
        said=encodable(_words(shape)),
        width=WIDTH,
        height=round(float(places[:, 1].max()) + MARGIN + 20 * len(legend) + 8),
    )


def sketch(shape: CounterExampleShape, *, width: int = 80, unicode: bool = True) -> list[Line]:
    """Return a counter-example in letters, what they mean, and the edges that are wrong or missing."""
    columns, rows = min(COLUMNS, width - 16), ROWS
    room = np.array([columns - 1, rows - 1]) / (np.array([WIDTH, HEIGHT]) - 2 * MARGIN)
    places = [(x, y) for x, y in np.rint((_places(shape) - MARGIN) * room).astype(int).tolist()]
    canvas: list[list[tuple[str, str]]] = [[(" ", "")] * (columns + 14) for _ in range(rows)]
    for edge in sorted(_edges(shape), key=lambda edge: -list(_MEANING).index(_kind(edge))):
        _line(canvas, places[edge.tail], places[edge.head], _kind(edge))
    for edge in _edges(shape):
        if _kind(edge) in ("wrong", "missing", "path"):
            (x1, y1), (x2, y2) = places[edge.tail], places[edge.head]
            _put(canvas, (x1 + x2) // 2 - len(edge.text) // 2, (y1 + y2) // 2, edge.text, _STYLES[_kind(edge)])
    for (x, y), vertex in zip(places, shape.vertices, strict=True):
        _put(canvas, x, y, vertex.name, "bold red" if vertex.wrong else "bold")
    lines: list[Line] = [_joined(row) for row in canvas]
    if shape.vertices[0].note:
        noted = sorted(shape.vertices, key=lambda vertex: not vertex.wrong)[:NOTES]
        lines += [[(f"{v.name:>7}  ", "bold"), (v.note, "bold red" if v.wrong else "")] for v in noted]
    for name in _MEANING:
        if any(_kind(edge) == name for edge in shape.edges):
            letter = _LETTERS.get(name, "─")
            lines.append([(f"{'':>4}{letter * 3}  ", _STYLES[name]), (_MEANING[name], "dim")])
    if not shape.whole:
        lines.append([(f"{'':>9}the part of the graph that shows it", "dim")])
    return lines if unicode else [[(text.translate(_PLAIN), style) for text, style in line] for line in lines]


def _kind(edge: EdgeShape) -> str:
    return edge.mark if edge.mark in _MEANING else "other"


def _edges(shape: CounterExampleShape) -> list[EdgeShape]:
    """Return the edges whose ends are there."""
    last = len(shape.vertices)
    return [edge for edge in shape.edges if edge.tail < last and edge.head < last and edge.tail != edge.head]


def _words(shape: CounterExampleShape) -> str:
    """Return the picture for those who listen."""
    names = [vertex.name for vertex in shape.vertices]
    said = [f"{v.name}: {v.note}" for v in shape.vertices if v.wrong]
    for kind in ("wrong", "missing"):
        ends = [f"{names[e.tail]}–{names[e.head]} of weight {e.text}" for e in _edges(shape) if _kind(e) == kind]
        said += [f"{kind}: {', '.join(ends)}"] if ends else []
    return f"Graph of {counted(len(names), 'vertex')}. {'; '.join(said)}."


def _line(canvas: list[list[tuple[str, str]]], start: tuple[int, int], end: tuple[int, int], kind: str) -> None:
    """Draw an edge from one place to another, column and row."""
    (x1, y1), (x2, y2) = start, end
    steps = max(abs(x2 - x1), abs(y2 - y1), 1)
    slope = abs(y2 - y1) / max(abs(x2 - x1), 1)
    leaning = "╲" if (x2 - x1) * (y2 - y1) > 0 else "╱"
    own = _LETTERS.get(kind, "─" if slope < 0.25 else "│" if slope > 3 else leaning)
    for i in range(steps + 1):
        x, y = x1 + round((x2 - x1) * i / steps), y1 + round((y2 - y1) * i / steps)
        canvas[y][x] = (own, _STYLES[kind])


def _put(canvas: list[list[tuple[str, str]]], x: int, y: int, text: str, style: str) -> None:
    row = canvas[y]
    start = max(0, min(x, len(row) - len(text)))
    for i, letter in enumerate(text[: len(row)]):
        row[start + i] = (letter, style)


def _joined(row: list[tuple[str, str]]) -> Line:
    """Return a row of letters as spans of one style each."""
    line: Line = [("    ", "")]
    for letter, style in row:
        if line[-1][1] == style:
            line[-1] = (line[-1][0] + letter, style)
        else:
            line.append((letter, style))
    return line


def _places(shape: CounterExampleShape) -> NDArray[Any]:
    """Return (n, 2) places in pixels: as far apart as their paths are long, the two that are farthest level."""
    n = len(shape.vertices)
    far = _distances(n, _edges(shape))
    angle = 2 * np.pi * np.arange(n) / n
    place = np.stack([np.cos(angle), np.sin(angle)], axis=1) * far.max() / 2
    weight = 1 / np.where(far > 0, far, 1) ** 2 * (far > 0)
    total = np.diag(weight.sum(axis=1)) - weight
    back = np.linalg.pinv(total)
    for _ in range(_STEPS):  # each step moves all vertices to where the stress is least for the places as they were
        apart = place[:, None, :] - place[None, :, :]
        norm = np.maximum(np.linalg.norm(apart, axis=2), 1e-9)
        pull = weight * far / norm
        place = back @ ((np.diag(pull.sum(axis=1)) - pull) @ place)
    first, last = np.unravel_index(np.argmax(far), far.shape)
    across = place[last] - place[first]
    across = across / max(float(np.hypot(*across)), 1e-9)
    place = (place - place[first]) @ np.array([[across[0], -across[1]], [across[1], across[0]]])
    beside = place[np.abs(place[:, 1]) > 1e-3 * far.max(), 1]
    place[:, 1] *= -1 if len(beside) and beside[0] > 0 else 1  # the first that is not on the line lies above it
    low, high = place.min(axis=0), place.max(axis=0)
    spread = np.maximum(high - low, 1e-9)
    room = np.array([WIDTH, HEIGHT]) - 2.0 * MARGIN
    used = room * np.minimum(1, 2.5 * spread / spread.max())  # what is nearly a line stays one
    found: NDArray[Any] = MARGIN + (room - used) / 2 + (place - low) / spread * used
    return found


def _distances(n: int, edges: list[EdgeShape]) -> NDArray[np.float64]:
    """Return (n, n) numbers of edges between vertices; parts that nothing joins lie further apart than any others."""
    from scipy.sparse.csgraph import shortest_path  # only where something is wrong

    steps = np.zeros((n, n))
    for edge in sorted(edges, key=lambda edge: edge.mark != "path"):  # of two between the same vertices the shorter
        steps[edge.tail, edge.head] = steps[edge.head, edge.tail] = 2.0 if edge.mark == "path" else 1.0
    far: NDArray[np.float64] = shortest_path(steps, method="FW")
    return np.where(np.isfinite(far), far, far[np.isfinite(far)].max() + 1)
