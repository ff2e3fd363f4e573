"""Shortest paths on processors."""

from gpugraph.problems.sssp import BATCHED

FILES = {BATCHED: "cpu_delta_stepping"}
"""Algorithm → the file that registers it, where that has another name."""
