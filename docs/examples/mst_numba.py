"""A minimum spanning forest by Numba: gpugraph mst rmat:10 --algo mst_numba.py:driver --device cpu."""

import numpy as np
from numba import njit


@njit
def join(tails, heads, parent, chosen):
    """Mark the edges, in their order, that join two trees."""
    for k in range(len(tails)):
        u, v = tails[k], heads[k]
        while parent[u] != u:
            parent[u] = parent[parent[u]]
            u = parent[u]
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        chosen[k] = u != v
        parent[u] = v


def driver(view, clock):
    """Kruskal's algorithm over NumPy's arrays."""
    tails = np.repeat(np.arange(view.vertices), np.diff(view.offsets))
    ids = np.flatnonzero(tails < view.targets)  # the id of an edge is the place of its arc from the smaller end
    with clock.phase("sort"):
        ids = ids[np.argsort(view.weights[ids], kind="stable")]
    chosen = np.zeros(len(ids), np.bool_)
    with clock.phase("join"):
        join(tails[ids], view.targets[ids].astype(np.int64), np.arange(view.vertices), chosen)
    return ids[chosen]
