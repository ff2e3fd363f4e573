"""Lattices: ``grid``, and ``road``, a grid with most of its vertical edges gone.

Vertex y * width + x is joined to its right and to its lower neighbour.  In ``road`` the edge downwards from
vertex i stays where x = 0 or the two low bits of hash64(hash64(seed + 5) + i) are zero: connected, of average
degree about 2.5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpugraph.compiled import njit
from gpugraph.graph.families import Values
from gpugraph.graph.generators.hashing import hash64
from gpugraph.graph.generators.runner import CHUNK, Runner


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
