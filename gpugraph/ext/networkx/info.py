"""Description of the backend that NetworkX reads before it loads it: cheap, and without NetworkX."""

from typing import Any

_TREES = "Of equally heavy edges those that come first in the graph, whichever algorithm is named."
_PATHS = "On a CPU the very paths of NetworkX; on a GPU the canonical ones, where several are shortest."
_LAZY = "Paths are made when they are looked up."

FUNCTIONS = {
    **dict.fromkeys(
        (
            *("boruvka_mst_edges", "kruskal_mst_edges", "prim_mst_edges"),
            *("minimum_spanning_edges", "maximum_spanning_edges", "minimum_spanning_tree", "maximum_spanning_tree"),
            "partition_spanning_tree",
        ),
        _TREES,
    ),
    **dict.fromkeys(("dijkstra_path", "dijkstra_predecessor_and_distance"), _PATHS),
    **dict.fromkeys(
        (
            *("single_source_dijkstra", "single_source_dijkstra_path", "multi_source_dijkstra"),
            *("multi_source_dijkstra_path", "all_pairs_dijkstra", "all_pairs_dijkstra_path"),
        ),
        f"{_PATHS} {_LAZY}",
    ),
    **dict.fromkeys(
        (
            *("dijkstra_path_length", "single_source_dijkstra_path_length", "multi_source_dijkstra_path_length"),
            "all_pairs_dijkstra_path_length",
            *("connected_components", "number_connected_components", "is_connected", "node_connected_component"),
            *("weakly_connected_components", "number_weakly_connected_components", "is_weakly_connected"),
        ),
        "",
    ),
}
"""Name → what its documentation says besides NetworkX's own."""


def get_info() -> dict[str, Any]:
    """Return the ``networkx.backend_info`` of gpugraph."""
    return {
        "backend_name": "gpugraph",
        "project": "gpugraph",
        "package": "gpugraph",
        "short_summary": "Spanning trees, shortest paths and components on GPUs and on all cores of a CPU.",
        "default_config": {"device": "auto", "verify": "first"},
        "functions": {name: {"additional_docs": docs} if docs else {} for name, docs in sorted(FUNCTIONS.items())},
    }
