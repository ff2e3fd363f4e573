"""The memory traffic that no algorithm on a given input can do without: the floor that measured traffic stands on.

Counted is what must pass between memory and chip at least once in a run: the arrays of the graph read once, the
result written once.  What an algorithm keeps in between (labels, lists, frontiers) is not counted, nor that it reads
rows again, nor that memory is read in sectors of 32 bytes: all of that is its own to save.
"""

from __future__ import annotations

from gpugraph.problems.algorithm import InputSizes


def forest_bytes(sizes: InputSizes) -> int:
    """Return the least bytes of a minimum spanning forest: the graph once, and one edge id for every vertex but one.

    A forest of many trees has fewer edges, so there the figure is too high, by 4 or 8 bytes a tree.
    """
    return sizes.nbytes + sizes.index_bits // 8 * max(min(sizes.vertices - 1, sizes.arcs // 2), 0)


def distance_bytes(sizes: InputSizes) -> int:
    """Return the least bytes of shortest paths from one source: the graph once, one distance as wide as a weight each.

    Rows of vertices that are not reached need not be read: where many are not, the figure is too high.
    """
    return sizes.nbytes + sizes.weight_bytes * sizes.vertices
