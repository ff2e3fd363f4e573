"""The families of graphs that a spec can name: their parameters, and how large a graph they give.

Nothing here is compiled or large to import; the generators themselves are in ``generators/``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gpugraph.errors import InputError

Values = Mapping[str, Any]

MOST = 2**40
"""More vertices or arcs than this are refused whatever the machine."""


ORDERS = ("made", "shuffled", "degree")
"""How vertices are numbered: as the family makes them, at random, or by degree, the greatest first."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a family.

    Attributes:
        kind: ``"int"``, ``"decimal"`` (exact, a Fraction) or ``"flag"``.
        default: the value when it is left out; None: it has none.
        required: it must be given.
        low, high: the least and the greatest value allowed.
    """

    key: str
    help: str
    kind: str = "int"
    default: Any = None
    required: bool = False
    low: Any = 1
    high: Any = MOST


@dataclass(frozen=True)
class Size:
    """How large a graph is before it is made.

    Attributes:
        vertices: n, exact.
        samples: edges or arcs drawn before loops and repeats go.
        arcs: arcs stored at most, or about as many where the number is random.
        scratch_bytes: what the generator holds besides the arcs.
    """

    vertices: int
    samples: int
    arcs: int
    scratch_bytes: int = 0


@dataclass(frozen=True)
class Family:
    """A family of graphs.

    Attributes:
        positional: keys of the first argument: one, or two written ``WIDTHxHEIGHT``.
        example: a spec of the family.
        size: from the parameters to the size; raises InputError where they contradict each other.
        module: the module of ``gpugraph.graph.generators`` whose function ``arcs_of_<name>`` makes the arcs.
        weighted: the option ``w`` applies.
    """

    name: str
    summary: str
    example: str
    positional: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    size: Callable[[Values], Size]
    module: str
    directed: bool = False
    weighted: bool = True


def samples_of_random(values: Values) -> int:
    """Return how many edges ``random`` draws; exactly one of m, deg and ef says so."""
    given = [key for key in ("m", "deg", "ef") if values[key] is not None]
    if len(given) != 1:
        raise InputError(
            f"'random' takes one of m=, deg= and ef=, not {' and '.join(given) or 'none'}",
            remedy="e.g. random:n=16384,deg=10",
        )
    n = values["n"]
    m, degree, per_vertex = values["m"], values["deg"], values["ef"]
    return int(m if m is not None else per_vertex * n if per_vertex is not None else degree * n / 2)


def degree_of_regular(values: Values) -> tuple[int, bool]:
    """Return the degree of ``regular``, and whether it is the in-degree."""
    if (values["in"] is None) == (values["out"] is None):
        raise InputError("'regular' takes either in= or out=", remedy="e.g. regular:n=1048576,in=7")
    degree = values["out"] if values["in"] is None else values["in"]
    if degree >= values["n"]:
        raise InputError(
            f"a vertex cannot have {degree} neighbours among {values['n']} vertices",
            remedy="ask for a smaller degree or for more vertices",
        )
    return int(degree), values["in"] is not None


def edges_of_dense(values: Values) -> int:
    """Return the number of edges of ``dense``: the density's share of all pairs, at least n − 1."""
    n = values["n"]
    return int(max(n - 1, values["density"] * n * (n - 1) // 2))


def largest_clique(values: Values) -> int:
    """Return the greatest clique of ``ssca2``: sizes are uniform in 1..M, the average degree is 2(M−1)/3."""
    return int(values["clique"] if values["clique"] is not None else 3 * values["deg"] // 2 + 1)


def _rmat(values: Values) -> Size:
    a, b, c = (values[key] for key in "abc")
    if a + b + c > 1:
        raise InputError(f"a + b + c is {float(a + b + c):g}, more than 1", remedy="give shares that leave room for d")
    n = 2 ** values["scale"]
    samples = n * values["ef"]
    return Size(n, samples, 2 * samples)


def _random(values: Values) -> Size:
    n, m = values["n"], samples_of_random(values) + (values["n"] - 1 if values["hub"] else 0)
    if (values["among"] or n) > n:
        raise InputError(f"edges cannot be among {values['among']} of {n} vertices", remedy=f"among={n} or less")
    return Size(n, m, 2 * m)


def _ssca2(values: Values) -> Size:
    n, clique = 2 ** values["scale"], largest_clique(values)
    # Sizes uniform in 1..M: a vertex meets (2M + 1)/3 − 1 others in its clique, and about 2p edges leave it.
    edges = int(n * (Fraction(clique - 1, 3) + 2 * values["inter"])) + clique * clique
    return Size(n, edges, 2 * edges, scratch_bytes=n * 24)


def _regular(values: Values) -> Size:
    arcs = values["n"] * degree_of_regular(values)[0]
    return Size(values["n"], arcs, arcs)


def _grid(values: Values) -> Size:
    width, height = values["width"], values["height"]
    edges = (width - 1) * height + width * (height - 1)
    return Size(width * height, edges, 2 * edges)


def _road(values: Values) -> Size:
    width, height = values["width"], values["height"]
    # A quarter of the vertical edges stay, and some more by chance.
    edges = (width - 1) * height + (height - 1) * (1 + -(-5 * (width - 1) // 16))
    return Size(width * height, edges, 2 * edges)


def _knn(values: Values) -> Size:
    n, k = values["n"], min(values["k"], values["n"] - 1)
    return Size(n, n * k, 2 * n * k, scratch_bytes=40 * n)


def _complete(values: Values) -> Size:
    edges = values["n"] * (values["n"] - 1) // 2
    return Size(values["n"], edges, 2 * edges)


def _dense(values: Values) -> Size:
    edges = edges_of_dense(values)
    return Size(values["n"], edges, 2 * edges)


def _tree(values: Values) -> Size:
    return Size(values["n"], values["n"] - 1, 2 * (values["n"] - 1))


def _star(values: Values) -> Size:
    if values["hub"] >= values["n"]:
        remedy = f"number vertices from 0 to {values['n'] - 1}"
        raise InputError(f"there is no vertex {values['hub']} among {values['n']}", remedy=remedy)
    return _tree(values)


def _counterexample(values: Values) -> Size:
    arcs = 2 * (values["n"] - 2)
    return Size(values["n"], arcs, 2 * arcs)


_N = Parameter("n", "vertices", required=True)
_SHUFFLED = Parameter("shuffled", "vertices in random order, the first stays vertex 0", "flag", default=False)
_SCALE = Parameter("scale", "log2 of the vertices", required=True, low=0, high=40)
_WIDTH, _HEIGHT = Parameter("width", "columns", required=True), Parameter("height", "rows", required=True)


def _probability(key: str, default: str) -> Parameter:
    return Parameter(key, "probability", "decimal", Fraction(default), low=Fraction(0), high=Fraction(1))


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(
            "rmat",
            "recursive matrix graph, ids shuffled (the Graph500 parameters)",
            "rmat:20,ef=16",
            ("scale",),
            (
                _SCALE,
                Parameter("ef", "edges drawn per vertex", default=16),
                _probability("a", "0.57"),
                _probability("b", "0.19"),
                _probability("c", "0.19"),
            ),
            _rmat,
            "rmat",
        ),
        Family(
            "ssca2",
            "cliques of bounded size joined by a few edges, ids shuffled",
            "ssca2:18",
            ("scale",),
            (
                _SCALE,
                Parameter("deg", "average degree inside the cliques", default=32),
                Parameter("clique", "greatest clique, instead of deg", high=2**20),
                _probability("inter", "0.1"),
            ),
            _ssca2,
            "ssca2",
        ),
        Family(
            "random",
            "m edges between uniformly drawn vertices",
            "random:n=16384,deg=10",
            (),
            (
                _N,
                Parameter("m", "edges drawn"),
                Parameter("deg", "average degree: m = n * deg / 2", "decimal", low=Fraction(0)),
                Parameter("ef", "edges drawn per vertex: m = n * ef", "decimal", low=Fraction(0)),
                Parameter("among", "vertices that edges are drawn between, the first so many"),
                Parameter("hub", "vertex 0 is joined to all others besides", "flag", default=False),
            ),
            _random,
            "uniform",
        ),
        Family(
            "regular",
            "directed, every vertex with the same in- or out-degree",
            "regular:n=1048576,in=7",
            (),
            (_N, Parameter("in", "in-degree"), Parameter("out", "out-degree")),
            _regular,
            "uniform",
            directed=True,
        ),
        Family(
            "grid",
            "grid of WIDTHxHEIGHT, four neighbours",
            "grid:1024x1024",
            ("width", "height"),
            (_WIDTH, _HEIGHT),
            _grid,
            "structured",
        ),
        Family(
            "road",
            "grid without three quarters of its vertical edges, connected",
            "road:1024x1024",
            ("width", "height"),
            (_WIDTH, _HEIGHT),
            _road,
            "structured",
        ),
        Family(
            "knn",
            "random points in the unit square, each with its k nearest; weights are distances",
            "knn:n=65536,k=8",
            (),
            (Parameter("n", "points", required=True, low=2, high=2**31 - 1), Parameter("k", "neighbours", default=8)),
            _knn,
            "knn",
            weighted=False,
        ),
        Family("complete", "every pair of n vertices", "complete:4096", ("n",), (_N,), _complete, "structured"),
        Family(
            "dense",
            "connected, with the given share of all pairs",
            "dense:n=4096,density=0.5",
            (),
            (
                _N,
                Parameter("density", "share of all pairs", "decimal", required=True, low=Fraction(0), high=Fraction(1)),
            ),
            _dense,
            "structured",
        ),
        Family("path", "a path of n vertices", "path:500", ("n",), (_N, _SHUFFLED), _tree, "structured"),
        Family(
            "ramp",
            "a path whose i-th edge weighs i",
            "ramp:500",
            ("n",),
            (_N, Parameter("falling", "the first edge weighs most", "flag", default=False), _SHUFFLED),
            _tree,
            "structured",
            weighted=False,
        ),
        Family(
            "caterpillar",
            "a path of half the vertices, each with a leaf",
            "caterpillar:500",
            ("n",),
            (_N,),
            _tree,
            "structured",
        ),
        Family(
            "star",
            "one vertex joined to all others",
            "star:500",
            ("n",),
            (_N, Parameter("hub", "which", default=0, low=0)),
            _star,
            "structured",
        ),
        Family(
            "counterexample",
            "the graph on which atomics-free relaxation goes wrong",
            "counterexample:1024",
            ("n",),
            (
                Parameter("n", "vertices", default=1024, low=3, high=2**32 - 1),
                Parameter("directed", "whether arcs point away from the source", "flag", default=True),
            ),
            _counterexample,
            "structured",
            directed=True,
            weighted=False,
        ),
    )
}
