"""Order-free digest of a graph: the same on every device, whatever order the arcs are summed in."""

from __future__ import annotations

import numpy as np

from gpugraph.graph.csr import CSRGraph


def graph_digest(graph: CSRGraph) -> str:
    """Return the digest of ``graph`` as 32 hexadecimal digits."""
    tails = np.repeat(np.arange(graph.vertices, dtype=np.uint64), graph.degrees)
    heads = graph.targets.astype(np.uint64)
    bits = np.ascontiguousarray(graph.weights).view(f"u{graph.weights.dtype.itemsize}").astype(np.uint64)
    lanes = []
    for salt in (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)):
        with np.errstate(over="ignore"):
            x = (tails * salt) ^ (heads * np.uint64(0xBF58476D1CE4E5B9) + salt) ^ (bits * np.uint64(0x94D049BB133111EB))
            for shift in (31, 29):
                x = (x ^ (x >> np.uint64(shift))) * np.uint64(0xD6E8FEB86659FD93)
            x ^= x >> np.uint64(32)
            lanes.append(int(x.sum(dtype=np.uint64)))
    return "".join(f"{lane:016x}" for lane in lanes)
