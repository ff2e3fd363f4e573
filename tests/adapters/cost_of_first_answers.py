"""``python -m tests.adapters.cost_of_first_answers [SPEC]``: CPU time of a call, with and without a check.

The least of nine calls, all threads together, so that other programs disturb little.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import networkx as nx
import numpy as np

import gpugraph
from gpugraph import csgraph


def least(call: Callable[[], object]) -> float:
    """Return the least CPU milliseconds of nine calls, after one that is not counted."""
    seen = []
    for _ in range(10):
        begin = time.process_time()
        call()
        seen.append(1e3 * (time.process_time() - begin))
    return min(seen[1:])


def main() -> None:
    """Print a line for each kind of call."""
    graph = gpugraph.generate(sys.argv[1] if len(sys.argv) > 1 else "rmat:16")
    tails = np.repeat(np.arange(graph.vertices), graph.degrees)
    networkx = nx.Graph()
    networkx.add_weighted_edges_from(zip(tails.tolist(), graph.targets.tolist(), graph.weights.tolist(), strict=True))
    from scipy import sparse

    matrix = sparse.csr_array((graph.weights.astype(float), graph.targets, graph.offsets), (graph.vertices,) * 2)
    settings, csgraph.DEVICE = nx.config.backends.gpugraph, "cpu"
    settings.device = "cpu"
    nx.config.warnings_to_ignore.add("cache")
    times: dict[str, list[float]] = {}
    for verify in ("none", "all"):
        settings.verify = csgraph.VERIFY = verify
        with gpugraph.on(graph, "cpu", verify=verify) as held:
            for name, call in {
                "on(…).mst()": held.mst,
                "on(…).components()": held.components,
                "on(…).sssp(0)": lambda held=held: held.sssp(0),
                "on(…).path(0, 5)": lambda held=held: held.path(0, 5),
                "csgraph.minimum_spanning_tree": lambda: csgraph.minimum_spanning_tree(matrix),
                "csgraph.dijkstra(…, indices=0)": lambda: csgraph.dijkstra(matrix, indices=0),
                "nx.minimum_spanning_tree": lambda: nx.minimum_spanning_tree(networkx, backend="gpugraph"),
                "nx.single_source_dijkstra_path_length": lambda: nx.single_source_dijkstra_path_length(
                    networkx, 0, backend="gpugraph"
                ),
            }.items():
                times.setdefault(name, []).append(least(call))
    for name, (plain, certified) in times.items():
        print(f"| `{name}` | {plain:.1f} | {certified:.1f} |")


if __name__ == "__main__":
    main()
