"""Delta-stepping: vertices settle a bucket of distances at a time, all threads together.

A bucket is emptied in rounds: the arcs of all its vertices are relaxed, and those that fall back into it make
the next round.  Small rounds run on one thread.  A large one runs in two phases without atomics: every thread
lists the improvements that its share of the arcs offers, then every thread takes those for the vertices that
it owns.  Unlike in the paper, light and heavy arcs are relaxed together: with buckets as narrow as chosen here
few vertices come twice, and the arcs need not be sorted first.

Source: Meyer & Sanders, Δ-stepping: a parallelizable shortest path algorithm (2003), §2.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.clock import Clock
from gpugraph.compiled import threads
from gpugraph.errors import InputError
from gpugraph.graph.view import GraphView
from gpugraph.problems.algorithm import Option
from gpugraph.problems.registry import cpu_algorithm
from gpugraph.problems.sssp.arcs import Arcs
from gpugraph.problems.sssp.buckets import advance, gather, move, part_of, scatter
from gpugraph.problems.sssp.distances import Distances
from gpugraph.problems.sssp.tight_arcs import refuse_wrapped

BINS = 256
SHARE = 1 << 17
"""Arcs a thread relaxes before the improvements are taken: its lists stay in cache."""
PARALLEL_FROM = 1 << 14
"""A round of fewer arcs is done sooner than the threads are called."""
_SAMPLE = 1 << 16


@cpu_algorithm(
    "sssp",
    "delta-stepping",
    summary="parallel buckets of tentative distances, their width chosen from the graph",
    authors="Meyer, Sanders",
    year=2003,
    section="§2",
    options=(Option("delta", float, 0.0, "width of a bucket; 0 chooses it from the mean weight and degree"),),
)
def delta_stepping(view: GraphView, clock: Clock, source: int, *, delta: float = 0.0) -> Distances:
    """Return the distances from ``source``.

    Raises:
        InputError: a distance needs more than 64 bits, or ``delta`` is negative or not finite.
    """
    if not (math.isfinite(delta) and delta >= 0):
        raise InputError(f"option 'delta' is {delta}", remedy="give a positive width, or 0 to have it chosen")
    arcs = Arcs.of(view)
    # At a quarter of all arcs a round is large for its graph, however small that is.
    limit = min(PARALLEL_FROM, len(arcs.targets) // 4)
    distance = BucketSearch(arcs, delta or chosen_delta(arcs), threads(), limit).run(clock, source)
    refuse_wrapped(view.graph, source, distance)
    return Distances(view.graph, source, distance)


def chosen_delta(arcs: Arcs) -> float:
    """Return a bucket width for the graph: an eighth of mean finite weight over mean degree.

    With random weights that settles a vertex about once (the paper's Θ(1/d)); tried on R-MAT graphs and grids,
    wider buckets relax arcs again and narrower ones make rounds too small to share.
    """
    sample = arcs.weights[:: max(1, len(arcs.weights) // _SAMPLE)].astype(np.float64)
    sample = sample[np.isfinite(sample)]
    top = float(sample.max(initial=0.0))
    mean = top * float(np.mean(sample / top)) if top > 0 else 1.0  # the sum of large weights would overflow
    return mean / max(1.0, len(arcs.targets) / max(1, arcs.vertices)) / 8


class BucketSearch:
    """The state of one run; ``buckets.py`` describes the arrays.

    Args:
        delta: width of a bucket, above 0.
        parts: threads to use.
        limit: a round of more arcs than this is run by all of them.
    """

    def __init__(self, arcs: Arcs, delta: float, parts: int, limit: int):
        self.arcs = arcs
        self.parts = parts
        self.limit = limit if parts > 1 else np.iinfo(np.int64).max
        n = arcs.vertices
        index = arcs.targets.dtype
        self.distance = arcs.unreached()
        self.heads = np.full((parts, BINS + 1), -1, np.int64)
        self.links = np.full((n, 2), -1, index)
        self.base = np.zeros(1, self.distance.dtype)
        # Kept off the ends of float64, so that the product with any distance is a number.
        self.scale = np.array([1 / min(max(delta, 1e-300), 1e300), 1.0])
        self.frontier = np.empty(n, index)
        self.starts = np.zeros(n + 1, np.int64)
        self.share = min(SHARE, max(1, len(arcs.targets)))
        self.found = np.empty((2, parts, self.share), index)
        self.found_distance = np.empty((2, parts, self.share), self.distance.dtype)
        self.cuts = np.zeros((parts, parts + 1), np.int64)

    def run(self, clock: Clock, source: int) -> NDArray[Any]:
        """Return the distances from ``source``."""
        self.distance[source] = 0
        part = part_of(source, self.parts)
        move(source, self.distance, self.base, self.scale, part, self.heads, self.links)
        counts = np.zeros(2, np.int64)
        bucket = 0
        with ThreadPoolExecutor(self.parts) as pool:
            while True:
                with clock.phase("small_rounds"):
                    bucket, size = self._advance(bucket, counts)
                if size == 0:
                    break
                self._relax_in_threads(pool, clock, size)
        clock.count("rounds", int(counts[0]))
        clock.count("relaxations", int(counts[1]))
        return self.distance

    def _advance(self, bucket: int, counts: NDArray[Any]) -> tuple[int, int]:
        """Run small rounds until a large one is due; return the bucket and the size of that frontier."""
        a = self.arcs
        return advance(
            a.offsets, a.targets, a.weights, self.distance, self.base, self.scale, self.heads, self.links,
            self.frontier, self.starts, bucket, self.limit, counts,
        )  # fmt: skip

    def _relax_in_threads(self, pool: ThreadPoolExecutor, clock: Clock, size: int) -> None:
        """Relax the arcs of the first ``size`` vertices of the frontier, a share per thread at a time."""
        total = int(self.starts[size])
        step = self.share * self.parts
        for first in range(0, total, step):
            length = min(step, total - first)
            cuts = [first + length * part // self.parts for part in range(self.parts + 1)]
            with clock.phase("scatter"):
                list(pool.map(lambda part, c=cuts: self._scatter(size, part, c[part], c[part + 1]), range(self.parts)))
            with clock.phase("gather"):
                list(pool.map(self._gather, range(self.parts)))

    def _scatter(self, size: int, thread: int, first: int, last: int) -> None:
        a = self.arcs
        scratch, lists = self.found[:, thread]
        scratch_distance, list_distance = self.found_distance[:, thread]
        scatter(
            a.offsets, a.targets, a.weights, self.distance, self.frontier, self.starts, size, first, last,
            scratch, scratch_distance, lists, list_distance, self.cuts[thread],
        )  # fmt: skip

    def _gather(self, part: int) -> None:
        gather(
            self.distance, self.base, self.scale, self.heads, self.links, part,
            self.found[1], self.found_distance[1], self.cuts,
        )  # fmt: skip
