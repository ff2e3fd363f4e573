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

from typing import Any

import numpy as np

from gpugraph.compiled import njit
from gpugraph.graph.chunks import CHUNK, Runner
from gpugraph.graph.families import Values, degree_of_regular, samples_of_random
from gpugraph.graph.generators import bit_width, hash64, high_product, nth_distinct, shuffle_keys


@njit
def _random(start: int, stop: int, begin: int, n: Any, seed: Any, tails: Any, heads: Any) -> None:
    """Draw the edges of [start, stop) into arrays that begin with edge ``begin``."""
    base = hash64(seed)
    for i in range(start, stop):
        r = hash64(base + np.uint64(i))
        tails[i - begin] = high_product(r, n)
        heads[i - begin] = high_product(hash64(r ^ np.uint64(0x1234567)), n)


def arcs_of_random(values: Values, seed: int, run: Runner) -> Any:
    """Return the edges of ``random``, one-sided: m of them."""
    m, spokes = samples_of_random(values), values["n"] - 1 if values["hub"] else 0
    (begin, end), (first, last) = run.range_of(m), run.range_of(spokes)
    tails, heads = run.empty(end - begin + last - first)
    n = np.uint64(values["among"] or values["n"])
    run(lambda lo, hi: _random(lo, hi, begin, n, np.uint64(seed), tails, heads), m, "drawing edges")
    tails[end - begin :], heads[end - begin :] = 0, np.arange(first + 1, last + 1)
    return tails, heads, None


@njit
def _regular(first: int, last: int, begin: int, n: int, degree: int, seed: Any, own: Any, others: Any) -> None:
    """Draw the neighbours of the vertices [first, last) into arrays that begin with those of ``begin``."""
    base = hash64(seed + np.uint64(31))
    size = np.uint64(n - 1)
    bits = bit_width(np.uint64(max(n - 2, 0)))
    for v in range(first, last):
        k1, k2 = shuffle_keys(hash64(base + np.uint64(v)))
        for j in range(degree):
            x = np.int64(nth_distinct(k1, k2, np.uint64(j), size, bits))
            own[(v - begin) * degree + j] = v
            others[(v - begin) * degree + j] = x + 1 if x >= v else x


def arcs_of_regular(values: Values, seed: int, run: Runner) -> Any:
    """Return the arcs of ``regular``: n * degree of them."""
    degree, into = degree_of_regular(values)
    begin, end = run.range_of(values["n"])
    own, others = run.empty((end - begin) * degree)
    run(
        lambda lo, hi: _regular(lo, hi, begin, values["n"], degree, np.uint64(seed), own, others),
        values["n"],
        "drawing arcs",
        chunk=max(1, CHUNK // degree),
    )
    return (others, own, None) if into else (own, others, None)
