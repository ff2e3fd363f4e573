"""SSCA#2: cliques of bounded size, joined by edges whose number falls with the distance; ids shuffled.

Clique c holds 1 + high_product(hash64(hash64(seed + 11) + c), M) vertices, cliques taking consecutive vertices
until n = 2^scale are used up (the last is cut).  All pairs in a clique are joined.  From each vertex i, for
t = 1, 2, …, scale − 1, with x = hash64(hash64(seed + 12) + 64 * i + t): where the upper half of x is less than
⌊p * 2^32⌋ >> (t − 1), i is joined to j = (i + 2^t + ((x mod 2^32) * 2^(t−1) >> 32)) mod n, unless i's own clique holds
j.  Both ids are shuffled.

M follows from the average degree inside the cliques, 2(M − 1)/3: ``deg=32``, the degree of Kolganov's graphs,
gives M = 49; ``clique=`` sets M itself (SSCA#2 and GTgraph: ⌊2^(scale/3)⌋).  p is ``inter=``: 0.1 unless given,
0.5 in SSCA#2; it adds up to 4p to the average degree.  Every edge is drawn once: neither the repeats nor the
one-way arcs of SSCA#2 matter to an undirected graph.

Source: Bader, Madduri et al. 2006, HPCS SSCA#2 graph analysis benchmark specifications 1.1, scalable data
generator; Kolganov 2015, section on the graphs tested.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compiled import njit
from gpugraph.graph.chunks import CHUNK, Runner
from gpugraph.graph.families import Values, largest_clique
from gpugraph.graph.generators import hash64, high_product, shuffle, shuffle_keys


@njit
def _clique_starts(n: int, largest: Any, seed: Any) -> Any:
    """Return the (cliques+1,) first vertex of every clique, and n."""
    base = hash64(seed + np.uint64(11))
    starts = np.empty(1024, np.int64)
    starts[0] = 0
    count = 0
    while starts[count] < n:
        size = np.int64(high_product(hash64(base + np.uint64(count)), largest)) + 1
        if count + 2 > len(starts):
            grown = np.empty(2 * len(starts), np.int64)
            for i in range(len(starts)):
                grown[i] = starts[i]
            starts = grown
        starts[count + 1] = min(n, starts[count] + size)
        count += 1
    return starts[: count + 1]


@njit
def _inside(first: int, last: int, starts: Any, edges: Any, scale: int, seed: Any, tails: Any, heads: Any) -> None:
    """Write the edges of the cliques [first, last); those of clique c begin at ``edges[c]``."""
    k1, k2 = shuffle_keys(seed)
    mask, half = (np.uint64(1) << np.uint64(scale)) - np.uint64(1), np.uint64((scale + 1) // 2)
    for c in range(first, last):
        out = edges[c]
        for i in range(starts[c], starts[c + 1]):
            u = shuffle(np.uint64(i), k1, k2, mask, half)
            for j in range(i + 1, starts[c + 1]):
                tails[out] = u
                heads[out] = shuffle(np.uint64(j), k1, k2, mask, half)
                out += 1


@njit
def _between(
    first: int, last: int, clique: int, starts: Any, scale: int, limit: Any, seed: Any, at: int, tails: Any, heads: Any
) -> int:
    """Return the number of edges that leave the cliques of the vertices [first, last).

    ``clique`` is the one that holds ``first``.  With tails given, also write the edges, from ``at`` on.
    """
    k1, k2 = shuffle_keys(seed)
    mask, half = (np.uint64(1) << np.uint64(scale)) - np.uint64(1), np.uint64((scale + 1) // 2)
    base = hash64(seed + np.uint64(12))
    count = 0
    for i in range(first, last):
        while i >= starts[clique + 1]:
            clique += 1
        for t in range(1, scale):
            x = hash64(base + np.uint64(64 * i + t))
            if (x >> np.uint64(32)) >= (limit >> np.uint64(t - 1)):
                continue
            # The low half scaled to [0, 2^(t-1)), t - 1 < 32 or not: the product fits while t <= 32.
            spread = ((x & np.uint64(0xFFFFFFFF)) << np.uint64(t - 1)) >> np.uint64(32)
            j = (i + (1 << t) + np.int64(spread)) & np.int64(mask)
            if starts[clique] <= j < starts[clique + 1]:
                continue
            if len(tails):
                tails[at + count] = shuffle(np.uint64(i), k1, k2, mask, half)
                heads[at + count] = shuffle(np.uint64(j), k1, k2, mask, half)
            count += 1
    return count


def arcs_of_ssca2(values: Values, seed: int, run: Runner) -> Any:
    """Return the edges of ``ssca2``, one-sided."""
    scale, key = values["scale"], np.uint64(seed)
    n, limit = 1 << scale, np.uint64(int(values["inter"] * 2**32))
    starts: NDArray[np.int64] = _clique_starts(n, np.uint64(largest_clique(values)), key)
    sizes = np.diff(starts)
    inside = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes * (sizes - 1) // 2, out=inside[1:])

    def between(first: int, last: int, at: int, tails: Any, heads: Any) -> int:
        clique = int(np.searchsorted(starts, first, side="right")) - 1
        return _between(first, last, clique, starts, scale, limit, key, at, tails, heads)

    nothing = run.empty(0)
    counts = run(lambda lo, hi: between(lo, hi, 0, *nothing), n, "counting edges")
    (begin, _), (clique, end) = run.range_of(n), run.range_of(len(sizes))
    inside = inside[: end + 1] - inside[clique]
    ends = np.cumsum([int(inside[-1]), *counts])
    tails, heads = run.empty(int(ends[-1]))
    run(
        lambda lo, hi: _inside(lo, hi, starts, inside, scale, key, tails, heads),
        len(sizes),
        "writing cliques",
        chunk=max(1, int(CHUNK * len(sizes) // max(1, inside[-1]))),
    )
    if len(tails) > inside[-1]:
        run(lambda lo, hi: between(lo, hi, int(ends[(lo - begin) // CHUNK]), tails, heads), n, "joining cliques")
    return tails, heads, None
