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

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit
from gpugraph.base.errors import InputError
from gpugraph.graph.chunks import CHUNK, Runner
from gpugraph.graph.counter_random import hash64, hash64_of, high_product, shuffle, shuffle_keys, uncompiled
from gpugraph.graph.generators.family import SCALE, Drawn, Family, Parameter, Size, Values, edges, probability

if TYPE_CHECKING:
    from gpugraph.ext.device_graphs.launches import Launches


DEGREE = 32
"""``deg`` by default."""


def _largest_clique(values: Values) -> int:
    """Return M: sizes are uniform in 1..M, the average degree is 2(M − 1)/3."""
    if values["clique"] is not None and values["deg"] != DEGREE:
        raise InputError("'ssca2' takes either deg= or clique=", remedy="e.g. ssca2:18,clique=64")
    return int(values["clique"] if values["clique"] is not None else 3 * values["deg"] // 2 + 1)


def _size(values: Values) -> Size:
    n, clique = 1 << values["scale"], _largest_clique(values)
    # Sizes uniform in 1..M: a vertex meets (2M + 1)/3 − 1 others in its clique, and about 2p edges leave it.
    count = int(n * (Fraction(clique - 1, 3) + 2 * values["inter"])) + clique * clique
    return edges(n, count, scratch_bytes=n * 24)


def _cliques(values: Values, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the (cliques+1,) first vertex of every clique, and n; and the first edge inside every clique."""
    vertices, largest = 1 << values["scale"], _largest_clique(values)
    base = np.uint64(hash64_of(seed + 11))
    pieces, total, count = [np.zeros(1, np.int64)], 0, 0
    while total < vertices:
        step = max(1024, 5 * (vertices - total) // (2 * (largest + 1)))
        h = hash64_of(base + np.arange(count, count + step, dtype=np.uint64))
        sizes = uncompiled(high_product)(h, np.uint64(largest)).astype(np.int64) + 1
        ends = total + np.cumsum(sizes)
        pieces.append(ends)
        total, count = int(ends[-1]), count + step
    starts = np.concatenate(pieces)
    last = int(np.searchsorted(starts, vertices))
    starts[last] = vertices
    starts = starts[: last + 1]
    sizes = np.diff(starts)
    return starts, np.concatenate(([0], np.cumsum(sizes * (sizes - 1) // 2)))


@njit
def _inside(first: int, last: int, starts: Any, edges: Any, scale: int, seed: Any, tails: Any, heads: Any) -> None:
    """Write the edges of the cliques [first, last); those of clique c begin at ``edges[c]``."""
    keys = shuffle_keys(seed)
    for c in range(first, last):
        out = edges[c]
        for i in range(starts[c], starts[c + 1]):
            u = shuffle(np.uint64(i), keys, scale)
            for j in range(i + 1, starts[c + 1]):
                tails[out] = u
                heads[out] = shuffle(np.uint64(j), keys, scale)
                out += 1


@njit
def _between(first: int, last: int, cliques: Any, rule: Any, at: int, ends: Any) -> int:
    """Count edges that leave the cliques of the vertices [first, last); with room for ends, write them from ``at``."""
    (clique, starts), (scale, limit, seed), (tails, heads) = cliques, rule, ends
    keys, base = shuffle_keys(seed), hash64(seed + np.uint64(12))
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
            j = (i + (1 << t) + np.int64(spread)) & ((1 << scale) - 1)
            if starts[clique] <= j < starts[clique + 1]:
                continue
            if len(tails):
                tails[at + count] = shuffle(np.uint64(i), keys, scale)
                heads[at + count] = shuffle(np.uint64(j), keys, scale)
            count += 1
    return count


def _arcs(values: Values, seed: int, run: Runner) -> Drawn:
    scale, key = values["scale"], np.uint64(seed)
    n, limit = 1 << scale, np.uint64(int(values["inter"] * 2**32))
    starts, inside = _cliques(values, seed)
    cliques = len(starts) - 1

    def between(first: int, last: int, at: int, ends: tuple[NDArray[Any], NDArray[Any]]) -> int:
        clique = int(np.searchsorted(starts, first, side="right")) - 1
        return _between(first, last, (clique, starts), (scale, limit, key), at, ends)

    nothing = run.empty(0)
    counts = run(lambda lo, hi: between(lo, hi, 0, nothing), n, "counting edges")
    (begin, _), (clique, end) = run.range_of(n), run.range_of(cliques)
    inside = inside[: end + 1] - inside[clique]
    ends = np.cumsum([int(inside[-1]), *counts])
    tails, heads = run.empty(int(ends[-1]))
    run(
        lambda lo, hi: _inside(lo, hi, starts, inside, scale, key, tails, heads),
        cliques,
        "writing cliques",
        chunk=max(1, int(CHUNK * cliques // max(1, inside[-1]))),
    )
    if len(tails) > inside[-1]:
        run(lambda lo, hi: between(lo, hi, int(ends[(lo - begin) // CHUNK]), (tails, heads)), n, "joining cliques")
    return tails, heads, None


def _launch(on: Launches) -> None:
    scale = on.values["scale"]
    starts, inside = _cliques(on.values, int(on.seed))
    common = (np.int32(scale), on.seed, np.int64(len(starts) - 1), on.device.upload(starts))
    on.add("cliques", int(inside[-1]), *common, on.device.upload(inside))
    limit = np.uint64(int(on.values["inter"] * 2**32))
    on.add("bridges", (1 << scale) * max(scale - 1, 0) if limit else 0, *common, limit)
    on.exact = False


FAMILIES = (
    Family(
        "ssca2",
        "cliques of bounded size joined by a few edges, ids shuffled",
        "ssca2:18",
        (
            SCALE,
            Parameter("deg", "average degree inside the cliques", default=DEGREE),
            Parameter("clique", "greatest clique, instead of deg", high=2**20),
            probability("inter", "0.1"),
        ),
        _size,
        _arcs,
        _launch,
        places=1,
    ),
)
