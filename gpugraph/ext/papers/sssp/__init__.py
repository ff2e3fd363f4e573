"""Shortest paths of papers."""

FILES = dict.fromkeys(
    (
        *("dijkstra", "f-cpu", "u-cpu", "u-hybrid-1", "u-hybrid-2", "u-hybrid-3", "u-gpu", "u-gpu-2min", "u-gpu-plus"),
        *(
            "f-gpu",
            "f-gpu-no-atomic",
            "matrix-u-cpu",
            "matrix-f-cpu",
            "matrix-u-gpu",
            "matrix-f-gpu",
            "matrix-f-gpu-no-atomic",
        ),
    ),
    "frontier_dijkstra",
)
"""Algorithm → the file that registers it, where that has another name."""
