"""Connected components in plain Python: gpugraph components rmat:8 --algo components_python.py:driver --device cpu."""


def driver(view, clock):
    """A search from every vertex that none before has met: its component is called by it, the smallest."""
    offsets, targets = view.offsets.tolist(), view.targets.tolist()
    label = [-1] * view.vertices
    with clock.phase("search"):
        for start in range(view.vertices):
            if label[start] >= 0:
                continue
            label[start] = start
            met = [start]
            for u in met:
                for v in targets[offsets[u] : offsets[u + 1]]:
                    if label[v] < 0:
                        label[v] = start
                        met.append(v)
    return label
