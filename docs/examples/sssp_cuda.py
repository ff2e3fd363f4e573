"""Shortest paths by a kernel: gpugraph sssp rmat:8 --algo sssp_cuda.py:driver --device emulated."""

from pathlib import Path

import numpy as np

from gpugraph.devices.base import covering_grid


class Driver:
    """Bellman–Ford: relax every arc until nothing changes (32-bit distances)."""

    problem = "sssp"
    devices = ("cuda", "emulated")

    def prepare(self, view, device):
        """Allocate; everything but the launches happens here."""
        if view.weights.dtype not in (np.uint32, np.int32):
            raise ValueError(f"it adds whole weights of 32 bits, not {view.weights.dtype}")
        defines = {"INDEX_BITS": view.index_bits, "WEIGHT": view.weights.dtype.name}
        kernel = device.kernel(str(Path(__file__).with_suffix(".cu")), "bellman_ford_relax", defines)
        return view, device, kernel, device.empty(view.vertices, np.uint32), device.empty(1, np.uint32)

    def run(self, state, clock, source):
        """Return the device array of distances."""
        view, device, kernel, distance, changed = state
        device.fill(distance, 0xFFFFFFFF)
        device.fill(distance[source : source + 1], 0)
        graph = (np.int32(view.vertices), view.offsets, view.targets, view.weights)
        while True:
            device.fill(changed, 0)
            with clock.phase("relax"):
                kernel(covering_grid(device, view.vertices, 256), 256, (*graph, distance, changed))
            clock.count("rounds")
            if not device.read(changed):
                return distance


driver = Driver()
