"""Edges between named vertices whose weight is one of several named attributes, given as text.

GraphML, GML, DOT and NetworkX's lists are such.  The attribute that weighs is ``--weight NAME``, else ``weight``.  An
edge without it weighs 1 as long as that is at most half of them, and a notice says so.
"""

import math
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import shown
from gpugraph.base.quantities import counted
from gpugraph.ext.formats.checks import check_vertices
from gpugraph.ext.formats.text.columns import Columns, rounded_weights, wide_weights
from gpugraph.ext.formats.text.rows import weight_of
from gpugraph.graph.build import ARC_BYTES, ArcList
from gpugraph.graph.input_file import Source

_HEX = re.compile(r"-?0x[0-9a-f]+(?:\.[0-9a-f]*)?p[+-]?[0-9]{1,4}", re.ASCII)
"""A real as graph-tool writes it, without rounding."""
_WHOLE = re.compile(r"0|[1-9]\d{0,17}", re.ASCII)
UNIT = "accept 1 for each edge with --reweight unit"
_OWN = ("id", "key")
"""What tells parallel edges apart, as NetworkX numbers those of a multigraph."""
_VERTEX_BYTES = 200
"""About the memory that a name takes besides its letters."""
_MIXED = "taken as two arcs each, since other edges are directed"


@dataclass
class Edges:
    """Edges of a file, collected in parts; the reader appends to the lists itself and calls ``flush`` now and then.

    Attributes:
        source: the file.
        numbers: the number of each vertex, by its id in the file, in the order in which they were met.
        unknown: ids that an edge names and no vertex has yet, with the place of that edge.
        tails, heads: of the edges that wait, by number.
        texts: of the same, the attribute that weighs; None where an edge lacks it.
        line: of an edge that waits, by its position.
        real: the file says that the attribute is a real, even where it is written without a point.
        against: positions, among all edges, of those that are not directed as ``directed`` says.
        numeric: attributes that are numbers, other than the one that weighs.
        lacking: edges taken that lack the attribute.
    """

    source: Source
    line: Callable[[int], int | None]
    numbers: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, Any] = field(default_factory=dict)
    tails: list[int] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    texts: list[str | None] = field(default_factory=list)
    real: bool = False
    directed: bool | None = None
    against: list[int] = field(default_factory=list)
    numeric: dict[str, None] = field(default_factory=dict)
    lacking: int = 0

    def __post_init__(self) -> None:
        self.attribute = "weight" if self.source.weight is None else self.source.weight
        self.columns = Columns(self.source.path, weighted=bool(self.attribute))

    @property
    def count(self) -> int:
        """The edges so far."""
        return self.columns.count + len(self.tails)

    def number(self, name: str, place: Any) -> int:
        """Return the number of a vertex that an edge names; one that no vertex has yet is remembered as unknown."""
        if name not in self.numbers:
            self.unknown[name] = place
            self.numbers[name] = len(self.numbers)
        return self.numbers[name]

    def declare(self, name: str) -> str:
        """Number a vertex; return what is wrong with its id, or nothing."""
        if not name:
            return "a vertex has an empty id"
        if name not in self.numbers:
            self.numbers[name] = len(self.numbers)
        elif self.unknown.pop(name, None) is None:
            return f"two vertices have the id {shown(name)}"
        return ""

    def flush(self, kept: int = 0) -> int:
        """Take the edges that wait, but for the last ``kept``, and return how many those are."""
        number = len(self.tails) - kept
        if number < 1:
            return 0
        ends = np.array(self.tails[:number], np.int64), np.array(self.heads[:number], np.int64)
        weights = None
        if self.attribute:
            texts = self.texts[:number]
            self.lacking += texts.count(None)
            weights = self._weights(["1" if text is None else text for text in texts])
        self.columns.add(*ends, weights)
        for waiting in (self.tails, self.heads, self.texts):
            del waiting[:number]
        self.source.require(ARC_BYTES * self.columns.count + _VERTEX_BYTES * len(self.numbers))
        return number

    def _weights(self, texts: list[str]) -> NDArray[Any]:
        """Return the weights that texts spell, integers where all are."""
        together = "\n".join(texts)
        if together.isascii() and "_" not in together:
            for kind, dtype in ((int, np.int64), (float, np.float64))[self.real :]:
                try:
                    weights = np.array([*map(kind, texts)], dtype)
                except (ValueError, OverflowError):
                    continue
                if dtype is np.int64 or (np.isfinite(weights).all() and (np.abs(weights) < 2.0**53).all()):
                    return weights
        return self._weights_one_by_one(texts)

    def _weights_one_by_one(self, texts: list[str]) -> NDArray[Any]:
        """Return the weights that texts spell, or raise the error of the first that is none."""
        weights: list[int | float] = []
        for i, text in enumerate(texts):
            try:
                bare = text.strip()
                is_hex = _HEX.fullmatch(bare) is not None
                weights.append(float.fromhex(bare) if is_hex else weight_of(bare.encode(), self.real))
            except OverflowError:
                what = f"the weight {shown(text)} is beyond what a double holds"
                raise self.source.error(what, "mend it", self.line(i)) from None
            except ValueError as error:
                raise self.source.error(str(error), "mend it, or name another with --weight", self.line(i)) from None
        if all(isinstance(weight, int) for weight in weights):
            if min(weights) < 0 and max(weights) >= 2**63:
                raise wide_weights(self.source.path, self.line(0))
            return np.array(weights, np.uint64 if max(weights) >= 2**63 else np.int64)
        for i, weight in enumerate(weights):
            if isinstance(weight, int) and int(float(weight)) != weight:
                raise rounded_weights(self.source.path, self.line(i))
        return np.array(weights, np.float64)

    def arcs(self, names: Iterable[str], notes: Iterable[str] = (), why: str = "") -> ArcList:
        """Return all edges; ``names``, of the vertices in the order of their numbers, are all different.

        Vertices are numbered in the ascending order of their names: as numbers where all are whole, else as text.
        """
        self.flush()
        called = list(names)
        check_vertices(self.source, len(called), remedy="use a machine with more")
        order, own = self._order(called)
        lacking, weighs = self._weighs()
        if self.lacking == self.count:
            self.columns.weighted = False
        weights = self.columns.all_weights()
        tails, heads = (order[ids] for ids in self.columns.ids())
        notes = [*notes]
        directed = self.directed
        if self.against and len(self.against) == len(tails):
            directed = not directed
        elif self.against:
            tails, heads, weights = self._both_ways(tails, heads, weights)
            number = len(self.against) if directed else self.columns.count - len(self.against)
            notes.append(f"{counted(number, 'edge')} of {self.columns.count} undirected: {_MIXED}")
            directed = True
        return ArcList(
            tails,
            heads,
            weights,
            len(called),
            directed=directed,
            one_sided=directed is False,
            vertex_names=own,
            notes=(*notes, *lacking),
            listed=f"{counted(len(called), 'vertex')} and {counted(self.count, 'edge')}",
            why=why,
            weighs=weighs,
        )

    def _both_ways(self, tails: Any, heads: Any, weights: Any) -> tuple[Any, Any, Any]:
        """Return the arcs of edges of which some are directed."""
        both = np.full(len(tails), not self.directed)
        both[self.against] = bool(self.directed)
        both &= tails != heads
        ends = np.concatenate([tails, heads[both]]), np.concatenate([heads, tails[both]])
        return *ends, None if weights is None else np.concatenate([weights, weights[both]])

    def _order(self, names: list[str]) -> tuple[NDArray[np.int64], NDArray[Any] | None]:
        """Return the (n,) final number of each vertex, and the (n,) names in that order, None if they are 0…n−1."""
        whole = all(map(_WHOLE.fullmatch, names))
        if not whole:
            self.source.require(4 * max(map(len, names), default=0) * len(names))
        called: NDArray[Any] = np.array([*map(int, names)], np.int64) if whole else np.array(names, str)
        ascending = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
        if whole:
            ascending = np.argsort(called, kind="stable")
        order = np.empty(len(names), np.int64)
        order[ascending] = np.arange(len(names))
        called = called[ascending]
        return order, None if whole and np.array_equal(called, np.arange(len(called))) else called

    def _weighs(self) -> tuple[list[str], str]:
        """Return a notice on edges without the attribute that weighs, and a sentence on what does.

        Raises GraphFormatError if more than half lack it, or all and there are other numbers.
        """
        name, count = self.attribute, self.count
        if not name or not count:
            return [], ""
        if not self.lacking:
            return [], f"attribute {shown(name)} weighs"
        if self.lacking < count:
            have, weigh = ("has", "weighs") if self.lacking == 1 else ("have", "weigh")
            what = f"{self.lacking:,} of {counted(count, 'edge')} {have} no {shown(name)}"
            if 2 * self.lacking > count:
                raise self.source.error(what, f"give it to each, or {UNIT}")
            return [f"{what} and {weigh} 1"], f"attribute {shown(name)} weighs"
        others = [name for name in self.numeric if name not in _OWN]
        if self.source.weight is not None or others:
            listed = ", ".join(map(shown, others[:8]))
            which = f"; attributes that are numbers: {listed}" if listed else ""
            say = f"name one of them with --weight (weight= in Python), or {UNIT}"
            raise self.source.error(f"no edge has {shown(name)}{which}", say)
        return [], f"no edge has {shown(name)}: every edge weighs 1"


def text_of(source: Source) -> tuple[str, list[str]]:
    """Return the content as text, and a sentence if it is not UTF-8."""
    source.require(6 * len(source.data))
    data = source.data.tobytes().removeprefix(BOM_UTF8)
    try:
        text, notes = data.decode(), []
    except UnicodeDecodeError:
        text, notes = data.decode("latin-1"), ["is not UTF-8 text: read as Latin-1"]
    if "\0" in text:
        raise source.error("holds a zero byte, as no text does")
    return text, notes


def is_number(text: str) -> bool:
    """Tell whether a text spells a number."""
    try:
        return not math.isnan(weight_of(text.strip().encode()))
    except ValueError:
        return False
