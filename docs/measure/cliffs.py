"""Graphs on which fast codes fall off a cliff: python docs/measure/cliffs.py [mst|sssp] [--device cuda] [--vertices N].

``mst`` (the default) runs ``filter-boruvka``, ``sssp`` runs ``delta-stepping``.  Each row compares the time on a graph
with the time on a uniform random graph of as many vertices and max(arcs, 8 · vertices) arcs, for shortest paths from a
source in its largest component.  Graphs of huge diameter are judged by the time per hop instead: arcs on the longest
path of the tree of shortest paths.  Every result is
checked: forests by their certificate, distances against a CPU's, bit for bit.

Prints a Markdown table; exits 1 if a ratio exceeds 4, or a hop takes longer than 2 µs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import gpugraph
from gpugraph.clock import NullClock
from gpugraph.graph.build import ArcList, build
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import run_cell
from gpugraph.problems.registry import find_algorithm
from gpugraph.problems.sssp.tight_arcs import canonical_predecessors

Array = NDArray[np.int64]

MOST_TIMES = 4.0
"""Times the time of the uniform graph."""
MOST_MICROSECONDS = 2.0
"""A hop, on a graph of huge diameter."""


@dataclass(frozen=True)
class Cliff:
    """A graph to try: how it is made, where shortest paths start, and whether its diameter is huge."""

    make: Callable[[], CSRGraph]
    source: str = "max-degree"
    long: bool = False


def undirected(name: str, n: int, tails: Array, heads: Array, weights: Array) -> CSRGraph:
    """Return the undirected graph of an edge list."""
    return build(ArcList(tails, heads, weights.astype(np.uint32), n, False, one_sided=True), name=name)


def directed(name: str, n: int, tails: Array, heads: Array, weights: Array) -> CSRGraph:
    """Return the directed graph of an arc list."""
    return build(ArcList(tails, heads, weights.astype(np.uint32), n, True), name=name)


def path(n: int, name: str, weights: Callable[[Array], Array], order: Array | None = None) -> CSRGraph:
    """Return a path whose i-th edge weighs ``weights(i)``; ``order`` renames its vertices."""
    i = np.arange(n - 1)
    place = np.arange(n) if order is None else order
    return undirected(name, n, place[i], place[i + 1], weights(i))


def star(n: int, centre: int) -> CSRGraph:
    """Return a star of scattered weights."""
    leaves = np.delete(np.arange(n), centre)
    return undirected("star", n, leaves * 0 + centre, leaves, scattered(n - 1))


def hub_over_a_random_graph(n: int) -> CSRGraph:
    """Return a random graph of 8 arcs a vertex, all of whose vertices are also adjacent to vertex 0."""
    rng, i = np.random.default_rng(1), np.arange(n - 1)
    tails, heads, weights = rng.integers(0, n, 4 * n), rng.integers(0, n, 4 * n), rng.integers(1, 1000, 4 * n)
    every = np.concatenate([scattered(n - 1), weights])
    return undirected("hub", n, np.concatenate([i * 0, tails]), np.concatenate([i + 1, heads]), every)


def caterpillar(n: int) -> CSRGraph:
    """Return a path of half the vertices, each with a leaf."""
    half = np.arange(n // 2)
    tails, heads = np.concatenate([half[:-1], half]), np.concatenate([half[1:], half + n // 2])
    return undirected("caterpillar", n, tails, heads, np.concatenate([half[:-1] + 1, half % 17]))


def scattered(count: int) -> Array:
    """Return ``count`` weights below a million, in no order."""
    return (np.arange(1, count + 1) * 2654435761) % 1000003


def forest_cliffs(n: int) -> dict[str, Cliff]:
    """Return the graphs for spanning forests, by name."""
    half = np.arange(n // 2)
    side, scale, few = int(n**0.5), int(np.log2(n)), min(n, 4096)
    order = np.random.default_rng(1).permutation(n)
    return {
        "equal weights, random": Cliff(lambda: gpugraph.load(f"random:n={n},m={8 * n},w=7..7")),
        "equal weights, rmat": Cliff(lambda: gpugraph.load(f"rmat:{scale},w=7..7")),
        "equal weights, grid": Cliff(lambda: gpugraph.load(f"grid:{side}x{side},w=7..7")),
        "two weights, random": Cliff(lambda: gpugraph.load(f"random:n={n},m={8 * n},w=1..2")),
        "two weights, rmat": Cliff(lambda: gpugraph.load(f"rmat:{scale},w=1..2")),
        "path, weights rising": Cliff(lambda: path(n, "path", lambda i: i + 1)),
        "path, weights falling": Cliff(lambda: path(n, "path", lambda i: n - i)),
        "path, equal weights": Cliff(lambda: path(n, "path", lambda i: i * 0 + 1)),
        "path, rising, vertices shuffled": Cliff(lambda: path(n, "path", lambda i: i + 1, order)),
        "star": Cliff(lambda: star(n, 0)),
        "star, hub last": Cliff(lambda: star(n, n - 1)),
        "hub over a random graph": Cliff(lambda: hub_over_a_random_graph(n)),
        "complete": Cliff(lambda: gpugraph.load(f"complete:{few}")),
        "complete, equal weights": Cliff(lambda: gpugraph.load(f"complete:{few},w=3..3")),
        "caterpillar": Cliff(lambda: caterpillar(n)),
        "tiny components": Cliff(lambda: undirected("pairs", n, 2 * half, 2 * half + 1, half % 5)),
        "isolated vertices": Cliff(lambda: undirected("isolated", n, half[:0], half[:0], half[:0])),
        "one edge": Cliff(lambda: undirected("one edge", n, half[1:2], half[2:3], half[1:2])),
    }


def distance_cliffs(n: int) -> dict[str, Cliff]:
    """Return the graphs for shortest paths, by name."""
    order = np.random.default_rng(1).permutation(n)
    first, few = str(order[0]), min(n, 4096)
    pairs = order[: n // 2 * 2].reshape(2, -1)

    def at_random(
        degree: int, weights: Callable[[Array], Array], vertices: int = n, make: Callable[..., CSRGraph] = undirected
    ) -> CSRGraph:
        """Return a random graph of so many arcs a vertex, all of them among the first ``vertices``."""
        rng = np.random.default_rng(2)
        count = vertices * degree // (2 if make is undirected else 1)
        tails, heads = rng.integers(0, vertices, count), rng.integers(0, vertices, count)
        return make("random", n, tails, heads, weights(np.arange(count)))

    def usual(i: Array) -> Array:
        return i * 7919 % 1000 + 1

    def one_or_heavy(i: Array) -> Array:
        return np.where(i % 2 == 0, 1, 2**31)

    def mostly_heavy(i: Array) -> Array:  # such that 32 bits do not hold the distances
        return np.where(i % 16 == 0, 1, 2**31)

    return {
        "path": Cliff(lambda: path(n, "path", usual), "0", long=True),
        "path, vertices shuffled": Cliff(lambda: path(n, "path", usual, order), first, long=True),
        "path, weights 1 and 2^31": Cliff(lambda: path(n, "path", one_or_heavy), "0", long=True),
        "caterpillar": Cliff(lambda: caterpillar(n), "0", long=True),
        "grid, 16 wide": Cliff(lambda: gpugraph.load(f"grid:16x{n // 16},w=1..1000"), "0", long=True),
        "star": Cliff(lambda: star(n, 0)),
        "star, from a leaf": Cliff(lambda: star(n, n - 1), "0"),
        "hub over a random graph": Cliff(lambda: hub_over_a_random_graph(n)),
        "hub over a random graph, from a leaf": Cliff(lambda: hub_over_a_random_graph(n), "1"),
        "complete": Cliff(lambda: gpugraph.load(f"complete:{few}")),
        "complete, equal weights": Cliff(lambda: gpugraph.load(f"complete:{few},w=3..3")),
        "equal weights": Cliff(lambda: at_random(8, lambda i: i * 0 + 7)),
        "equal weights, dense": Cliff(lambda: at_random(20, lambda i: i * 0 + 7)),
        "all weights 0": Cliff(lambda: at_random(8, lambda i: i * 0)),
        "zero-weight cycles": Cliff(lambda: at_random(8, lambda i: np.where(i % 3 == 0, 0, usual(i)))),
        "weights 1 and 2^31": Cliff(lambda: at_random(8, one_or_heavy)),
        "weights 1 and 2^31, mostly 2^31": Cliff(lambda: at_random(8, mostly_heavy)),
        "half cannot be reached": Cliff(lambda: at_random(16, usual, n // 2)),
        "nearly nothing can be reached": Cliff(lambda: undirected("pairs", n, pairs[0], pairs[1], pairs[0]), first),
        "source without arcs": Cliff(lambda: at_random(8, usual, n - 1), str(n - 1)),
        "directed": Cliff(lambda: at_random(8, usual, make=directed)),
        "directed, dense": Cliff(lambda: at_random(20, usual, make=directed)),
    }


def depth(predecessor: Array) -> int:
    """Return the arcs on the longest path of a tree of shortest paths, found by doubling."""
    ancestor = np.where(predecessor < 0, np.arange(len(predecessor)), predecessor)
    hops = (predecessor >= 0).astype(np.int64)
    while True:
        further = hops[ancestor]
        if not further.any():
            return int(hops.max())
        hops, ancestor = hops + further, ancestor[ancestor]


def measured(problem: str, algorithm: str, device: str, graph: CSRGraph, cliff: Cliff) -> tuple[float, int]:
    """Return the kernel time, milliseconds, of a result that is right, and the hops of a long one.

    Raises:
        SystemExit: it is wrong.
    """
    sssp = problem == "sssp"
    asked: dict[str, Any] = {"source": cliff.source, "verify": "none"} if sssp else {}
    asked |= {"repeat": 3, "warmup": 1} if cliff.long else {"repeat": 11, "warmup": 3}
    record = run_cell(Cell(problem, graph, algorithm, device, phases=False, **asked))  # type: ignore[arg-type]
    if sssp:
        # In a graph of huge diameter there is nothing for many cores to do at once.
        host = find_algorithm("sssp", "dijkstra" if cliff.long else "delta-stepping", "cpu")
        state = host.prepare(GraphView.of(graph), None, **{option.name: option.default for option in host.options})
        if host.run(state, NullClock(), record.result.source).fingerprint() != record.result.fingerprint():
            raise SystemExit(f"{graph.name}: the distances are not those of the CPU")
    elif record.status != "passed":
        raise SystemExit(f"{graph.name}: {record.data['verification']['detail']}")
    hops = 0
    if cliff.long:
        hops = depth(canonical_predecessors(graph, record.result.distance, record.result.source))
    return float(record.data["phases_s"]["kernel"]) * 1e3, hops


@click.command()
@click.argument("problem", default="mst", type=click.Choice(["mst", "sssp"]))
@click.option("--device", default="cuda", help="cuda, or emulated to try the script itself.")
@click.option("--vertices", default=1 << 20, help="Vertices of each graph.")
def main(problem: str, device: str, vertices: int) -> None:
    """Compare every cliff of PROBLEM with a uniform random graph of its size."""
    algorithm, cliffs = {
        "mst": ("filter-boruvka", forest_cliffs),
        "sssp": ("delta-stepping", distance_cliffs),
    }[problem]
    print("| graph | vertices | arcs | kernel ms | uniform ms | times uniform | hops | µs a hop |\n" + "|---" * 8 + "|")
    uniform: dict[tuple[int, int], float] = {}  # by vertices and arcs a vertex
    beyond = []
    for name, cliff in cliffs(vertices).items():
        graph = cliff.make()
        size = (graph.vertices, max(round(graph.arcs / graph.vertices), 8))
        if size not in uniform:
            other = Cliff(partial(gpugraph.load, f"random:n={size[0]},m={size[0] * size[1] // 2}"))
            uniform[size], _ = measured(problem, algorithm, device, other.make(), other)
        time, hops = measured(problem, algorithm, device, graph, cliff)
        ratio = time / uniform[size]
        hop = time * 1e3 / hops if cliff.long else None
        if hop > MOST_MICROSECONDS if hop is not None else ratio > MOST_TIMES:
            beyond.append(name)
        cells = [name, graph.vertices, graph.arcs, f"{time:.3f}", f"{uniform[size]:.3f}", f"{ratio:.2f}"]
        longest = ["", ""] if hop is None else [hops, f"{hop:.2f}"]
        print("|", " | ".join(map(str, [*cells, *longest])), "|", flush=True)
    if beyond:
        print("beyond the limit:", ", ".join(beyond), file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
