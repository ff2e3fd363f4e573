"""What the ranks of ``test_forests.py`` run: chains over all ranks, ties, lists without room, both widths of arcs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpugraph.devices.discovery import select_device
from gpugraph.ext.ranks.comm import LoneComm
from gpugraph.ext.ranks.mst import boruvka_distributed
from gpugraph.ext.ranks.world import enter, world
from gpugraph.problems.mst import gpu_filter_boruvka
from tests.ranks.on_zoo import complaint
from tests.zoo import CSRGraph, undirected


def chains() -> Iterator[CSRGraph]:
    """Yield paths on which every vertex links to the next one, across all ranks."""
    n = 2000
    yield undirected(n, [(i, i + 1, i + 1) for i in range(n - 1)], name="rising chain")
    yield undirected(n, [(i, i + 1, n - i) for i in range(n - 1)], name="falling chain")


def with_ties() -> Iterator[CSRGraph]:
    """Yield graphs of few weights, most of whose arcs lie in few rows, and whose last vertices have none."""
    for seed, (weights, dtype) in enumerate([(1, "uint32"), (3, "int32"), (1000, "uint64"), (7, "float64")]):
        random = np.random.default_rng(seed)
        n, m = 300, 2500
        hubs, heads = random.integers(0, 4, m), random.integers(0, n - 20, m)
        tails = np.where(random.random(m) < 0.4, hubs, random.integers(0, n - 20, m))
        ends = zip(tails, heads, random.integers(0, weights, m), strict=True)
        edges = [(int(u), int(v), int(w)) for u, v, w in ends if u != v]
        yield undirected(n, edges, dtype, name=f"{weights} weights of {dtype}")


def main() -> None:
    comm = world() or LoneComm()
    device = select_device("emulated")[0]
    wrong, tried = [], 0
    gpu_filter_boruvka.FILTER_ARCS, boruvka_distributed.FILTER_DEGREE = 300, 2
    for room, narrow in ((1 << 16, 1 << 31), (64, 1 << 31), (64, 0)):
        boruvka_distributed.LEAST_ROOM, boruvka_distributed.NARROW_ARCS = room, narrow
        for graph in (*chains(), *with_ties()):
            fault = complaint(comm, device, "mst", graph)
            tried += 1
            if fault:
                wrong.append(f"{graph.name}, room {room}: {fault}")
    if comm.rank == 0:
        print("\n".join([*wrong, f"tried {tried}, wrong {len(wrong)}"]))


if __name__ == "__main__":
    enter()
    main()
