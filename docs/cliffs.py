"""Graphs on which fast spanning-forest codes fall off a cliff: python docs/cliffs.py [--device cuda] [--vertices N].

Each row compares the time of ``filter-boruvka`` with its time on a uniform random graph of as many vertices and
max(arcs, 8 · vertices) arcs.  Prints a Markdown table; exits 1 if a ratio exceeds 4.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import click
import numpy as np
from numpy.typing import NDArray

import gpugraph
from gpugraph.graph.build import ArcList, build
from gpugraph.graph.csr import CSRGraph
from gpugraph.measure.cell import run_cell
from gpugraph.measure.record import Cell

Array = NDArray[np.int64]


def undirected(name: str, n: int, tails: Array, heads: Array, weights: Array) -> CSRGraph:
    """Return the undirected graph of an edge list."""
    return build(ArcList(tails, heads, weights.astype(np.uint32), n, False, one_sided=True), name=name)


def path(n: int, name: str, weights: Callable[[Array], Array], order: Array | None = None) -> CSRGraph:
    """Return a path whose i-th edge weighs ``weights(i)``; ``order`` renames its vertices."""
    i = np.arange(n - 1)
    place = np.arange(n) if order is None else order
    return undirected(name, n, place[i], place[i + 1], weights(i))


def cliffs(n: int) -> dict[str, Callable[[], CSRGraph]]:
    """Return the graphs by name."""
    rng = np.random.default_rng(1)
    i = np.arange(n - 1)
    scattered = (np.arange(1, n) * 2654435761) % 1000003
    half = np.arange(n // 2)
    return {
        "equal weights, random": lambda: gpugraph.load(f"random:n={n},m={8 * n},w=7..7"),
        "equal weights, rmat": lambda: gpugraph.load(f"rmat:{int(np.log2(n))},w=7..7"),
        "equal weights, grid": lambda: gpugraph.load(f"grid:{int(n**0.5)}x{int(n**0.5)},w=7..7"),
        "two weights, random": lambda: gpugraph.load(f"random:n={n},m={8 * n},w=1..2"),
        "two weights, rmat": lambda: gpugraph.load(f"rmat:{int(np.log2(n))},w=1..2"),
        "path, weights rising": lambda: path(n, "path", lambda i: i + 1),
        "path, weights falling": lambda: path(n, "path", lambda i: n - i),
        "path, equal weights": lambda: path(n, "path", lambda i: i * 0 + 1),
        "path, rising, vertices shuffled": lambda: path(n, "path", lambda i: i + 1, rng.permutation(n)),
        "star": lambda: undirected("star", n, i * 0, i + 1, scattered),
        "star, hub last": lambda: undirected("star", n, i * 0 + n - 1, i, scattered),
        "hub over a random graph": lambda: undirected(
            "hub",
            n,
            np.concatenate([i * 0, rng.integers(0, n, 4 * n)]),
            np.concatenate([i + 1, rng.integers(0, n, 4 * n)]),
            np.concatenate([scattered, rng.integers(1, 1000, 4 * n)]),
        ),
        "complete": lambda: gpugraph.load("complete:4096"),
        "complete, equal weights": lambda: gpugraph.load("complete:4096,w=3..3"),
        "caterpillar": lambda: undirected(
            "caterpillar",
            n,
            np.concatenate([half[:-1], half]),
            np.concatenate([half[1:], half + n // 2]),
            np.concatenate([half[:-1] + 1, half % 17]),
        ),
        "tiny components": lambda: undirected("pairs", n, 2 * half, 2 * half + 1, half % 5),
        "isolated vertices": lambda: undirected("isolated", n, half[:0], half[:0], half[:0]),
        "one edge": lambda: undirected("one edge", n, half[1:2], half[2:3], half[1:2]),
    }


@click.command()
@click.option("--device", default="cuda", help="cuda, or emulated to try the script itself.")
@click.option("--vertices", default=1 << 20, help="Vertices of each graph.")
def main(device: str, vertices: int) -> None:
    """Compare every cliff with a uniform random graph of its size."""

    def kernel_ms(graph: CSRGraph) -> float:
        record = run_cell(Cell("mst", graph, "filter-boruvka", device, repeat=11, warmup=3, phases=False))
        if record.status != "passed":
            raise SystemExit(f"{graph.name}: {record.data['verification']['detail']}")
        return float(record.data["phases_s"]["kernel"]) * 1e3

    print("| graph | vertices | arcs | kernel ms | uniform ms | ratio |\n|---|---|---|---|---|---|")
    uniform: dict[tuple[int, int], float] = {}
    worst = 0.0
    for name, make in cliffs(vertices).items():
        graph = make()
        size = (graph.vertices, max(graph.arcs, 8 * graph.vertices))
        if size not in uniform:
            uniform[size] = kernel_ms(gpugraph.load(f"random:n={size[0]},m={size[1] // 2}"))
        time = kernel_ms(graph)
        ratio = time / uniform[size]
        worst = max(worst, ratio)
        size_text = f"{graph.vertices} | {graph.arcs}"
        print(f"| {name} | {size_text} | {time:.3f} | {uniform[size]:.3f} | {ratio:.2f} |", flush=True)
    sys.exit(1 if worst > 4 else 0)


if __name__ == "__main__":
    main()
