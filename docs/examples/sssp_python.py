"""Shortest paths in plain Python: gpugraph sssp rmat:8 --algo sssp_python.py:driver --device cpu."""

import heapq
from math import inf


def driver(view, clock, source):
    """Dijkstra's algorithm: the nearest vertex whose arcs were not followed yet, again and again."""
    offsets, targets, weights = (array.tolist() for array in (view.offsets, view.targets, view.weights))
    distance = [inf] * view.vertices  # what is never reached stays at infinity
    distance[source] = 0
    nearest = [(0, source)]
    with clock.phase("search"):
        while nearest:
            length, u = heapq.heappop(nearest)
            if length > distance[u]:
                continue
            for arc in range(offsets[u], offsets[u + 1]):
                v, far = targets[arc], length + weights[arc]
                if far < distance[v]:
                    distance[v] = far
                    heapq.heappush(nearest, (far, v))
    return distance
