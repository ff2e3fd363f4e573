"""Uniformly drawn graphs: ``random`` (edges between any two vertices) and ``regular`` (a degree for all).

random
    Edge i, with r = hash64(hash64(seed) + i), joins high_product(r, n) and
    high_product(hash64(r ^ 0x1234567), n).  Loops and repeats are left to the builder.  With ``among=`` that takes
    the place of n; with ``hub=yes`` the edges from vertex 0 to all others come behind.
    This is the G(n, m) of GTgraph.

regular
    The j-th neighbour of v, j = 0..degree−1, is x = nth_distinct(key, j, n − 1) with
    key = hash64(hash64(seed + 31) + v), skipping v itself: x + 1 where x ≥ v.  With ``in=`` the arcs lead from
    the neighbours to v, with ``out=`` from v to them: the degree is exact.

Source: Bader & Madduri 2006, GTgraph: a synthetic graph generator suite (random); Martín, Torres & Gavilanes
2009, CUDA solutions for the SSSP problem, section 4 (graphs of in-degree 7).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gpugraph.base.compiled import njit
from gpugraph.base.errors import InputError
from gpugraph.graph.chunks import CHUNK, Runner
from gpugraph.graph.counter_random import hash64, high_product, nth_distinct, shuffle_keys
from gpugraph.graph.generators.family import Drawn, Family, N, Parameter, Size, Values, edges

if TYPE_CHECKING:
    from gpugraph.ext.device_graphs.launches import Launches


def _samples(values: Values) -> int:
    """Return how many edges ``random`` draws; exactly one of m, deg and ef says so."""
    given = [key for key in ("m", "deg", "ef") if values[key] is not None]
    if len(given) != 1:
        what = f"'random' takes one of m=, deg= and ef=, not {' and '.join(given) or 'none'}"
        raise InputError(what, remedy="e.g. random:n=16384,deg=10")
    n = values["n"]
    m, degree, per_vertex = values["m"], values["deg"], values["ef"]
    return int(m if m is not None else per_vertex * n if per_vertex is not None else degree * n / 2)


def _random_size(values: Values) -> Size:
    n, m = values["n"], _samples(values) + (values["n"] - 1 if values["hub"] else 0)
    if (values["among"] or n) > n:
        raise InputError(f"edges cannot be among {values['among']} of {n} vertices", remedy=f"among={n} or less")
    return edges(n, m)


@njit
def bit_width(x: Any) -> Any:
    """Return the number of bits of a uint64, 0 for 0."""
    bits = 0
    while x:
        x >>= np.uint64(1)
        bits += 1
    return bits


@njit
def _random(start: int, stop: int, begin: int, n: Any, seed: Any, tails: Any, heads: Any) -> None:
    """Draw the edges of [start, stop) into arrays that begin with edge ``begin``."""
    base = hash64(seed)
    for i in range(start, stop):
        r = hash64(base + np.uint64(i))
        tails[i - begin] = high_product(r, n)
        heads[i - begin] = high_product(hash64(r ^ np.uint64(0x1234567)), n)


def _random_arcs(values: Values, seed: int, run: Runner) -> Drawn:
    m, spokes = _samples(values), values["n"] - 1 if values["hub"] else 0
    (begin, end), (first, last) = run.range_of(m), run.range_of(spokes)
    tails, heads = run.empty(end - begin + last - first)
    n = np.uint64(values["among"] or values["n"])
    run(lambda lo, hi: _random(lo, hi, begin, n, np.uint64(seed), tails, heads), m, "drawing edges")
    tails[end - begin :], heads[end - begin :] = 0, np.arange(first + 1, last + 1)
    return tails, heads, None


def _random_launch(on: Launches) -> None:
    n = on.values["n"]
    on.add("random", _samples(on.values), on.rule, np.int64(on.values["among"] or n), on.seed)
    if on.values["hub"]:
        on.add("tree", n - 1, np.int32(on.file["STAR"]), np.int64(n), np.int64(0), on.seed)


def _degree(values: Values) -> tuple[int, bool]:
    """Return the degree of ``regular``, and whether it is the in-degree."""
    if (values["in"] is None) == (values["out"] is None):
        raise InputError("'regular' takes either in= or out=", remedy="e.g. regular:n=1048576,in=7")
    degree = values["out"] if values["in"] is None else values["in"]
    if degree >= values["n"]:
        what = f"a vertex cannot have {degree} neighbours among {values['n']} vertices"
        raise InputError(what, remedy="ask for a smaller degree or for more vertices")
    return int(degree), values["in"] is not None


def _regular_size(values: Values) -> Size:
    arcs = values["n"] * _degree(values)[0]
    return Size(values["n"], arcs, arcs)


@njit
def _regular(first: int, last: int, begin: int, n: int, degree: int, seed: Any, own: Any, others: Any) -> None:
    """Draw the neighbours of the vertices [first, last) into arrays that begin with those of ``begin``."""
    base = hash64(seed + np.uint64(31))
    size = np.uint64(n - 1)
    bits = bit_width(np.uint64(max(n - 2, 0)))
    for v in range(first, last):
        keys = shuffle_keys(hash64(base + np.uint64(v)))
        for j in range(degree):
            x = np.int64(nth_distinct(keys, np.uint64(j), size, bits))
            own[(v - begin) * degree + j] = v
            others[(v - begin) * degree + j] = x + 1 if x >= v else x


def _regular_arcs(values: Values, seed: int, run: Runner) -> Drawn:
    degree, into = _degree(values)
    begin, end = run.range_of(values["n"])
    own, others = run.empty((end - begin) * degree)
    n, chunk = values["n"], max(1, CHUNK // degree)
    run(lambda lo, hi: _regular(lo, hi, begin, n, degree, np.uint64(seed), own, others), n, "drawing arcs", chunk)
    return (others, own, None) if into else (own, others, None)


def _regular_launch(on: Launches) -> None:
    (degree, into), n = _degree(on.values), on.values["n"]
    on.add("regular", n * degree, np.int64(n), np.int64(degree), np.int32(into), on.seed)


FAMILIES = (
    Family(
        "random",
        "m edges between uniformly drawn vertices",
        "random:n=16384,deg=10",
        (
            N,
            Parameter("m", "edges drawn"),
            Parameter("deg", "average degree: m = n * deg / 2", "decimal", low=Fraction(0)),
            Parameter("ef", "edges drawn per vertex: m = n * ef", "decimal", low=Fraction(0)),
            Parameter("among", "vertices that edges are drawn between, the first so many"),
            Parameter("hub", "vertex 0 is joined to all others besides", "flag", default=False),
        ),
        _random_size,
        _random_arcs,
        _random_launch,
    ),
    Family(
        "regular",
        "directed, every vertex with the same in- or out-degree",
        "regular:n=1048576,in=7",
        (N, Parameter("in", "in-degree"), Parameter("out", "out-degree")),
        _regular_size,
        _regular_arcs,
        _regular_launch,
        directed=True,
    ),
)
