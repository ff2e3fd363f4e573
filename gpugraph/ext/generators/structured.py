"""Graphs of a plain structure.

``grid``, ``road``, ``complete``, ``dense``, ``path``, ``ramp``, ``caterpillar``, ``star`` and ``counterexample``.

grid, road
    Vertex y * width + x is joined to its right and to its lower neighbour.  ``road`` is a grid with most of its
    vertical edges gone: the edge downwards from vertex i stays where x = 0 or the two low bits of
    hash64(hash64(seed + 5) + i) are zero.  Connected, of average degree about 2.5.

dense
    m = max(n − 1, ⌊density * n(n − 1)/2⌋) edges: the path 0, 1, …, n − 1, and of the (n − 1)(n − 2)/2 other pairs
    those numbered nth_distinct(hash64(seed + 21), k, (n − 1)(n − 2)/2), k = 0, 1, …; pair number
    p = r(r + 1)/2 + c, 0 ≤ c ≤ r, joins c and r + 2.  Connected, and exact in its number of edges.

path, ramp
    Shuffled, vertex 0 comes first, and 1 + nth_distinct(hash64(seed + 41), i, n − 1), i = 0, 1, …, behind it.

counterexample
    Vertex 0 → every i of 1..n−2 with weight 1 → n − 1 with weight i: in one round all of them offer the last
    vertex different sums, of which 2 is the least, and a relaxation without atomics keeps any of them.

Source: Martín, Torres & Gavilanes 2009, CUDA solutions for the SSSP problem, section 4 and figure 5 (right).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gpugraph.base.compiled import njit
from gpugraph.base.errors import InputError
from gpugraph.ext.generators.uniform import bit_width
from gpugraph.graph.chunks import CHUNK, Runner
from gpugraph.graph.counter_random import hash64, nth_distinct, shuffle_keys
from gpugraph.graph.generators.family import Drawn, Family, N, Parameter, Size, Values, edges

if TYPE_CHECKING:
    from gpugraph.ext.device_graphs.launches import Launches


@njit
def _complete(first: int, last: int, begin: int, n: int, tails: Any, heads: Any) -> None:
    """Write the edges from the vertices [first, last) to greater ones; the arrays begin with those of ``begin``."""
    for u in range(first, last):
        out = u * (2 * n - u - 1) // 2 - begin * (2 * n - begin - 1) // 2
        for v in range(u + 1, n):
            tails[out] = u
            heads[out] = v
            out += 1


def _complete_arcs(values: Values, seed: int, run: Runner) -> Drawn:
    n = values["n"]
    begin, end = run.range_of(n)
    tails, heads = run.empty(end * (2 * n - end - 1) // 2 - begin * (2 * n - begin - 1) // 2)
    run(lambda lo, hi: _complete(lo, hi, begin, n, tails, heads), n, "writing edges", chunk=max(1, CHUNK // n))
    return tails, heads, None


def _dense_size(values: Values) -> Size:
    n = values["n"]
    return edges(n, int(max(n - 1, values["density"] * n * (n - 1) // 2)))


@njit
def _pairs(start: int, stop: int, to: int, n: int, seed: Any, tails: Any, heads: Any) -> None:
    """Write the edges of [start, stop) that are no part of the path, edge i to ``i + to``."""
    keys = shuffle_keys(hash64(seed + np.uint64(21)))
    size = np.uint64((n - 1) * (n - 2) // 2)
    bits = bit_width(size - np.uint64(1))
    for i in range(start, stop):
        p = np.int64(nth_distinct(keys, np.uint64(i), size, bits))
        # The square root only has to land near: the two loops make it exact.
        r = np.int64((np.sqrt(8.0 * p + 1.0) - 1.0) / 2.0)
        while r * (r + 1) // 2 > p:
            r -= 1
        while (r + 1) * (r + 2) // 2 <= p:
            r += 1
        tails[i + to] = p - r * (r + 1) // 2
        heads[i + to] = r + 2


def _dense_arcs(values: Values, seed: int, run: Runner) -> Drawn:
    n, m = values["n"], _dense_size(values).samples
    path, pairs = run.range_of(n - 1), run.range_of(m - (n - 1))
    length = path[1] - path[0]
    tails, heads = run.empty(length + pairs[1] - pairs[0])
    tails[:length] = np.arange(*path)
    heads[:length] = np.arange(path[0] + 1, path[1] + 1)
    run(
        lambda lo, hi: _pairs(lo, hi, length - pairs[0], n, np.uint64(seed), tails, heads), m - (n - 1), "drawing edges"
    )
    return tails, heads, None


def _tree_size(values: Values) -> Size:
    return edges(values["n"], values["n"] - 1)


@njit
def _shuffle(start: int, stop: int, n: int, seed: Any, order: Any) -> None:
    """Write the vertices at the places [start, stop) behind vertex 0."""
    keys = shuffle_keys(hash64(seed + np.uint64(41)))
    bits = bit_width(np.uint64(max(n - 2, 0)))
    for i in range(start, stop):
        order[i + 1] = 1 + np.int64(nth_distinct(keys, np.uint64(i), np.uint64(n - 1), bits))


def _path_arcs(values: Values, seed: int, run: Runner) -> Drawn:
    n = values["n"]
    order = np.arange(n, dtype=run.index)
    if values["shuffled"]:
        run(lambda lo, hi: _shuffle(lo, hi, n, np.uint64(seed), order), n - 1, "shuffling vertices", whole=True)
    first, last = run.range_of(n - 1)
    return order[first:last], order[first + 1 : last + 1], None


def _ramp_arcs(values: Values, seed: int, run: Runner) -> Drawn:
    tails, heads, _ = _path_arcs(values, seed, run)
    first, last = run.range_of(values["n"] - 1)
    places = np.arange(first + 1, last + 1)
    return tails, heads, values["n"] - places if values["falling"] else places


def _caterpillar_arcs(values: Values, seed: int, run: Runner) -> Drawn:
    n = values["n"]
    spine = np.arange((n + 1) // 2, dtype=run.index)
    legs = np.arange(len(spine), n, dtype=run.index)
    part = slice(*run.range_of(n - 1))
    tails, heads = np.concatenate([spine[:-1], spine[: len(legs)]]), np.concatenate([spine[1:], legs])
    return tails[part], heads[part], None


def _star_size(values: Values) -> Size:
    if values["hub"] >= values["n"]:
        remedy = f"number vertices from 0 to {values['n'] - 1}"
        raise InputError(f"there is no vertex {values['hub']} among {values['n']}", remedy=remedy)
    return _tree_size(values)


def _star_arcs(values: Values, seed: int, run: Runner) -> Drawn:
    leaves = np.delete(np.arange(values["n"], dtype=run.index), values["hub"])[slice(*run.range_of(values["n"] - 1))]
    return np.full_like(leaves, values["hub"]), leaves, None


def _counterexample_arcs(values: Values, seed: int, run: Runner) -> Drawn:
    n = values["n"]
    first, last = run.range_of(n - 2)
    middle = np.arange(first + 1, last + 1, dtype=run.index)
    tails = np.concatenate([np.zeros_like(middle), middle])
    heads = np.concatenate([middle, np.full_like(middle, n - 1)])
    weights = np.concatenate([np.ones(len(middle), np.uint32), middle.astype(np.uint32)])
    return tails, heads, weights


def _lattice_size(values: Values, road: bool) -> Size:
    width, height = values["width"], values["height"]
    # Of a road's vertical edges a quarter stay, and some more by chance.
    vertical = 1 + -(-5 * (width - 1) // 16) if road else width
    return edges(width * height, (width - 1) * height + (height - 1) * vertical)


@njit
def _rows(first: int, last: int, shape: Any, starts: Any, ends: Any) -> None:
    """Count the edges of the rows [first, last) into ``starts[row + 1]``; with room for the ends, write them."""
    (width, height, seed, road), (tails, heads) = shape, ends
    base = hash64(seed + np.uint64(5))
    for y in range(first, last):
        out = starts[y]
        count = 0
        for x in range(width):
            i = y * width + x
            if x + 1 < width:
                if len(tails):
                    tails[out + count], heads[out + count] = i, i + 1
                count += 1
            if y + 1 < height and (not road or x == 0 or hash64(base + np.uint64(i)) & np.uint64(3) == 0):
                if len(tails):
                    tails[out + count], heads[out + count] = i, i + width
                count += 1
        if not len(tails):
            starts[y + 1] = count


def _lattice_arcs(values: Values, seed: int, run: Runner, road: bool) -> Drawn:
    width, height = values["width"], values["height"]
    starts = np.zeros(height + 1, np.int64)
    shape, chunk = (width, height, np.uint64(seed), road), max(1, CHUNK // width)
    nothing = run.empty(0)
    run(lambda lo, hi: _rows(lo, hi, shape, starts, nothing), height, "counting edges", chunk=chunk)
    np.cumsum(starts, out=starts)
    ends = run.empty(int(starts[-1]))
    if len(ends[0]):
        run(lambda lo, hi: _rows(lo, hi, shape, starts, ends), height, "writing edges", chunk=chunk)
    return *ends, None


_SHUFFLED = Parameter("shuffled", "vertices in random order, the first stays vertex 0", "flag", default=False)
_FALLING = Parameter("falling", "the first edge weighs most", "flag", default=False)


def _lattice(name: str, summary: str, example: str, road: bool) -> Family:
    sides = Parameter("width", "columns", required=True), Parameter("height", "rows", required=True)
    size, arcs = partial(_lattice_size, road=road), partial(_lattice_arcs, road=road)

    def launch(on: Launches) -> None:
        width, height = on.values["width"], on.values["height"]
        on.add("lattice", 2 * width * height, np.int64(width), np.int64(height), np.int32(road), on.seed)

    return Family(name, summary, example, sides, size, arcs, launch, places=2)


def _tree(
    name: str,
    summary: str,
    arcs: Callable[[Values, int, Runner], Drawn],
    *more: Parameter,
    size: Callable[[Values], Size] = _tree_size,
) -> Family:
    def launch(on: Launches) -> None:
        n, shape = on.values["n"], "SHUFFLED_PATH" if on.values.get("shuffled") else name.upper()
        on.add("tree", n - 1, np.int32(on.file[shape]), np.int64(n), np.int64(on.values.get("hub", 0)), on.seed)

    return Family(name, summary, f"{name}:500", (N, *more), size, arcs, launch, places=1)


FAMILIES = (
    _lattice("grid", "grid of WIDTHxHEIGHT, four neighbours", "grid:1024x1024", road=False),
    _lattice("road", "grid without three quarters of its vertical edges, connected", "road:1024x1024", road=True),
    Family(
        "complete",
        "every pair of n vertices",
        "complete:4096",
        (N,),
        lambda values: edges(values["n"], values["n"] * (values["n"] - 1) // 2),
        _complete_arcs,
        lambda on: on.add("complete", on.values["n"] * (on.values["n"] - 1) // 2),
        places=1,
    ),
    Family(
        "dense",
        "connected, with the given share of all pairs",
        "dense:n=4096,density=0.5",
        (N, Parameter("density", "share of all pairs", "decimal", required=True, low=Fraction(0), high=Fraction(1))),
        _dense_size,
        _dense_arcs,
        lambda on: on.add("dense", _dense_size(on.values).samples, np.int64(on.values["n"]), on.seed),
    ),
    _tree("path", "a path of n vertices", _path_arcs, _SHUFFLED),
    Family(
        "ramp",
        "a path whose i-th edge weighs i",
        "ramp:500",
        (N, _FALLING, _SHUFFLED),
        _tree_size,
        _ramp_arcs,
        places=1,
        weighted=False,
    ),
    _tree("caterpillar", "a path of half the vertices, each with a leaf", _caterpillar_arcs),
    _tree(
        "star",
        "one vertex joined to all others",
        _star_arcs,
        Parameter("hub", "which", default=0, low=0),
        size=_star_size,
    ),
    Family(
        "counterexample",
        "the graph on which atomics-free relaxation goes wrong",
        "counterexample:1024",
        (
            Parameter("n", "vertices", default=1024, low=3, high=2**32 - 1),
            Parameter("directed", "whether arcs point away from the source", "flag", default=True),
        ),
        lambda values: edges(values["n"], 2 * (values["n"] - 2)),
        _counterexample_arcs,
        places=1,
        directed=True,
        weighted=False,
    ),
)
