"""Disjoint sets in one array of parents: the root of an element, and the components of a graph.

Source: Tarjan & van Leeuwen 1984, Worst-case analysis of set union algorithms (path halving).
"""

from __future__ import annotations

from typing import Any

from gpugraph.base.compiled import plain_njit


@plain_njit
def find_root(parent: Any, v: Any) -> Any:
    """Return the root of ``v``, halving the path to it."""
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


@plain_njit
def label_components(offsets: Any, targets: Any, labels: Any) -> Any:
    """Number each vertex's (weakly connected) component over ``labels``, 0, 1, …, n − 1; return how many there are.

    Components are numbered in the order of their least vertices.  Either direction of an edge is enough.
    """
    for v in range(len(labels)):
        for arc in range(offsets[v], offsets[v + 1]):
            if labels[targets[arc]] != labels[v]:
                a, b = find_root(labels, v), find_root(labels, targets[arc])
                labels[max(a, b)] = min(a, b)
    number = 0
    for v in range(len(labels)):
        if labels[v] == v:
            labels[v] = number
            number += 1
        else:
            labels[v] = labels[labels[v]]
    return number
