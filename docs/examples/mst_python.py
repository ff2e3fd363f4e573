"""A minimum spanning forest in plain Python: gpugraph mst rmat:8 --algo mst_python.py:driver --device cpu."""


def driver(view, clock):
    """Kruskal's algorithm: the lightest edge that joins two trees, again and again."""
    offsets, targets, weights = (array.tolist() for array in (view.offsets, view.targets, view.weights))
    edges = []
    for u in range(view.vertices):
        for arc in range(offsets[u], offsets[u + 1]):
            if u < targets[arc]:  # every edge is there both ways
                edges.append((weights[arc], u, targets[arc]))
    parent = list(range(view.vertices))

    def root(v):
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        return v

    forest = []
    with clock.phase("sort"):
        edges.sort()  # by weight, then by smaller and by larger end: so the answer is the only one
    with clock.phase("join"):
        for _, u, v in edges:
            if root(u) != root(v):
                parent[root(u)] = root(v)
                forest.append((u, v))
    return forest
