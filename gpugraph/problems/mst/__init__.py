"""Minimum spanning forests: the problem, its algorithms, its oracle and its certificate."""

from gpugraph.problems import Command, result_column

COMMAND = Command(
    title="Minimum spanning forest",
    help="""Find the minimum spanning forest of GRAPH, time it and verify it.

    GRAPH is a file, a spec such as rmat:20 or a data set such as snap:roadNet-CA (default: `gpugraph config`).
    A directed graph is made undirected: the lighter arc of a pair wins.

    Example:
      gpugraph mst rmat:12 --algo boruvka --repeat 10 -o forest.npz
    """,
    settings={
        "switch-after": ("ROUNDS", "boruvka-prim: rounds before Prim's begins; -1: log2 log2 V."),
        "cpu-share": ("SHARE", "boruvka-hybrid: the CPU's share of the arcs, 0.2, 20% or auto."),
        "memory-limit": ("SIZE", "Device memory a larger-than-memory algorithm takes: 8GB or 25%."),
    },
    columns=(
        result_column("total_weight"),
        result_column("tree_edges"),
        result_column("components"),
        result_column("edges_sha256", identifies=True),
    ),
)
