"""What the ranks of ``test_sentinels.py`` run: graphs on which a word that means "none" could be met as a value."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpugraph.devices.discovery import select_device
from gpugraph.ext.ranks.comm import LoneComm
from gpugraph.ext.ranks.mst import boruvka_distributed
from gpugraph.ext.ranks.world import enter, world
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.mst import gpu_filter_boruvka
from tests.problems.extreme_weights import TYPES, crowd_and_islands, hub_behind_the_greatest, made, zoo_in_one
from tests.ranks.on_zoo import complaint


def lone_first_vertex(half: int = 1023) -> CSRGraph:
    """Return triangles, none of them a giant, and a path that hangs on two of them, by a later vertex on the second.

    The first rank's root word of vertex 0 is ~0.  The second rank, whose giant the path is, hangs it on vertex 5.
    """
    first = 3 * np.arange(half // 3)
    path = np.arange(half, 2 * half - 1)
    ends = [(first, first + 1), (first, first + 2), (first + 1, first + 2), (path, path + 1)]
    pairs = np.concatenate([*(np.stack(pair, 1) for pair in ends), [(0, half + 70), (5, half + 200)]])
    return made(2 * half, pairs, np.ones(len(pairs), np.uint32), "lone first vertex")


def cases() -> Iterator[tuple[str, CSRGraph]]:
    """Yield problems and graphs."""
    yield "components", lone_first_vertex()
    for dtype in TYPES:
        yield "mst", crowd_and_islands(dtype, 1)
    for dtype in ("uint32", "int64"):
        yield "mst", zoo_in_one(dtype, 2)
    for dtype in ("uint32", "int64", "float32", "float64"):
        yield "sssp", hub_behind_the_greatest(dtype)


def main() -> None:
    comm = world() or LoneComm()
    device = select_device("emulated")[0]
    gpu_filter_boruvka.FILTER_ARCS, boruvka_distributed.FILTER_DEGREE, boruvka_distributed.LEAST_ROOM = 1300, 2, 64
    wrong, tried = [], 0
    for problem, graph in cases():
        fault = complaint(comm, device, problem, graph)
        tried += 1
        if fault:
            wrong.append(f"{graph.name}: {fault}")
    if comm.rank == 0:
        print("\n".join([*wrong, f"tried {tried}, wrong {len(wrong)}"]))


if __name__ == "__main__":
    enter()
    main()
