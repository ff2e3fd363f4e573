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

from typing import Any

import numpy as np

from gpugraph.compiled import njit
from gpugraph.graph.chunks import CHUNK, Runner
from gpugraph.graph.families import Values, edges_of_dense
from gpugraph.graph.generators import bit_width, hash64, nth_distinct, shuffle_keys


@njit
def _complete(first: int, last: int, begin: int, n: int, tails: Any, heads: Any) -> None:
    """Write the edges from the vertices [first, last) to greater ones; the arrays begin with those of ``begin``."""
    for u in range(first, last):
        out = u * (2 * n - u - 1) // 2 - begin * (2 * n - begin - 1) // 2
        for v in range(u + 1, n):
            tails[out] = u
            heads[out] = v
            out += 1


def arcs_of_complete(values: Values, seed: int, run: Runner) -> Any:
    """Return the edges of ``complete``, one-sided."""
    n = values["n"]
    begin, end = run.range_of(n)
    tails, heads = run.empty(end * (2 * n - end - 1) // 2 - begin * (2 * n - begin - 1) // 2)
    run(lambda lo, hi: _complete(lo, hi, begin, n, tails, heads), n, "writing edges", chunk=max(1, CHUNK // n))
    return tails, heads, None


@njit
def _pairs(start: int, stop: int, to: int, n: int, seed: Any, tails: Any, heads: Any) -> None:
    """Write the edges of [start, stop) that are no part of the path, edge i to ``i + to``."""
    k1, k2 = shuffle_keys(hash64(seed + np.uint64(21)))
    size = np.uint64((n - 1) * (n - 2) // 2)
    bits = bit_width(size - np.uint64(1))
    for i in range(start, stop):
        p = np.int64(nth_distinct(k1, k2, np.uint64(i), size, bits))
        # The square root only has to land near: the two loops make it exact.
        r = np.int64((np.sqrt(8.0 * p + 1.0) - 1.0) / 2.0)
        while r * (r + 1) // 2 > p:
            r -= 1
        while (r + 1) * (r + 2) // 2 <= p:
            r += 1
        tails[i + to] = p - r * (r + 1) // 2
        heads[i + to] = r + 2


def arcs_of_dense(values: Values, seed: int, run: Runner) -> Any:
    """Return the edges of ``dense``, one-sided."""
    n, m = values["n"], edges_of_dense(values)
    path, pairs = run.range_of(n - 1), run.range_of(m - (n - 1))
    length = path[1] - path[0]
    tails, heads = run.empty(length + pairs[1] - pairs[0])
    tails[:length] = np.arange(*path)
    heads[:length] = np.arange(path[0] + 1, path[1] + 1)
    run(
        lambda lo, hi: _pairs(lo, hi, length - pairs[0], n, np.uint64(seed), tails, heads), m - (n - 1), "drawing edges"
    )
    return tails, heads, None


@njit
def _shuffle(start: int, stop: int, n: int, seed: Any, order: Any) -> None:
    """Write which vertices stand at the places [start, stop) behind vertex 0."""
    k1, k2 = shuffle_keys(hash64(seed + np.uint64(41)))
    bits = bit_width(np.uint64(max(n - 2, 0)))
    for i in range(start, stop):
        order[i + 1] = 1 + np.int64(nth_distinct(k1, k2, np.uint64(i), np.uint64(n - 1), bits))


def arcs_of_path(values: Values, seed: int, run: Runner) -> Any:
    """Return the edges of ``path``, one-sided."""
    n = values["n"]
    order = np.arange(n, dtype=run.index)
    if values["shuffled"]:
        run(lambda lo, hi: _shuffle(lo, hi, n, np.uint64(seed), order), n - 1, "shuffling vertices", whole=True)
    first, last = run.range_of(n - 1)
    return order[first:last], order[first + 1 : last + 1], None


def arcs_of_ramp(values: Values, seed: int, run: Runner) -> Any:
    """Return the edges of ``ramp``, one-sided."""
    tails, heads, _ = arcs_of_path(values, seed, run)
    n = values["n"]
    first, last = run.range_of(n - 1)
    return (
        tails,
        heads,
        np.arange(n - 1 - first, n - 1 - last, -1) if values["falling"] else np.arange(first + 1, last + 1),
    )


def arcs_of_caterpillar(values: Values, seed: int, run: Runner) -> Any:
    """Return the edges of ``caterpillar``, one-sided."""
    n = values["n"]
    spine = np.arange((n + 1) // 2, dtype=run.index)
    legs = np.arange(len(spine), n, dtype=run.index)
    part = slice(*run.range_of(n - 1))
    tails, heads = np.concatenate([spine[:-1], spine[: len(legs)]]), np.concatenate([spine[1:], legs])
    return tails[part], heads[part], None


def arcs_of_star(values: Values, seed: int, run: Runner) -> Any:
    """Return the edges of ``star``, one-sided."""
    leaves = np.delete(np.arange(values["n"], dtype=run.index), values["hub"])[slice(*run.range_of(values["n"] - 1))]
    return np.full_like(leaves, values["hub"]), leaves, None


def arcs_of_counterexample(values: Values, seed: int, run: Runner) -> Any:
    """Return the arcs, or one-sided the edges, of ``counterexample``."""
    n = values["n"]
    first, last = run.range_of(n - 2)
    middle = np.arange(first + 1, last + 1, dtype=run.index)
    tails = np.concatenate([np.zeros_like(middle), middle])
    heads = np.concatenate([middle, np.full_like(middle, n - 1)])
    weights = np.concatenate([np.ones(len(middle), np.uint32), middle.astype(np.uint32)])
    return tails, heads, weights


@njit
def _rows(
    first: int, last: int, width: int, height: int, seed: Any, road: bool, starts: Any, tails: Any, heads: Any
) -> None:
    """Count the edges of the rows [first, last) into ``starts[row + 1]``; with tails given, write them."""
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


def _lattice(values: Values, seed: int, run: Runner, road: bool) -> Any:
    width, height = values["width"], values["height"]
    starts = np.zeros(height + 1, np.int64)
    chunk = max(1, CHUNK // width)

    def pass_over(what: str, tails: Any, heads: Any) -> None:
        run(
            lambda lo, hi: _rows(lo, hi, width, height, np.uint64(seed), road, starts, tails, heads),
            height,
            what,
            chunk=chunk,
        )

    pass_over("counting edges", *run.empty(0))
    np.cumsum(starts, out=starts)
    tails, heads = run.empty(int(starts[-1]))
    if len(tails):
        pass_over("writing edges", tails, heads)
    return tails, heads, None


def arcs_of_grid(values: Values, seed: int, run: Runner) -> Any:
    """Return the edges of ``grid``, one-sided."""
    return _lattice(values, seed, run, road=False)


def arcs_of_road(values: Values, seed: int, run: Runner) -> Any:
    """Return the edges of ``road``, one-sided."""
    return _lattice(values, seed, run, road=True)
