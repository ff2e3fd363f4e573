"""A minimum spanning forest by kernels: gpugraph mst rmat:8 --algo mst_cuda.py:driver --device emulated."""

from pathlib import Path

import numpy as np

from gpugraph.devices.base import covering_grid


class Driver:
    """Borůvka: every component takes its lightest edge, until none leaves one (fewer than 2^32 arcs)."""

    problem = "mst"
    devices = ("cuda", "emulated")
    preparations = ("rank-weights",)  # by --prepare rank-weights, weights of any type become ranks, uint32

    def prepare(self, view, device):
        """Allocate; everything but the launches happens here."""
        if view.weights.dtype != np.uint32:
            raise ValueError(f"it compares uint32 weights, not {view.weights.dtype}: add --prepare rank-weights")
        file, defines = str(Path(__file__).with_suffix(".cu")), {"INDEX_BITS": view.index_bits}
        kernels = [device.kernel(file, f"boruvka_{name}", defines) for name in ("find", "hook", "flatten")]
        numbers = np.arange(view.vertices, dtype=np.int32)
        label, parent = device.upload(numbers), device.upload(numbers)
        best, in_forest = device.empty(view.vertices, np.uint64), device.empty(view.arcs, np.uint8)
        return view, device, kernels, numbers, (label, parent, best, in_forest, device.empty(1, np.uint32))

    def run(self, state, clock):
        """Return the device array that has 1 for the arcs of the forest."""
        view, device, (find, hook, flatten), numbers, (label, parent, best, in_forest, joined) = state
        n, grid = np.int32(view.vertices), covering_grid(device, view.vertices, 256)
        device.copy(label, device.upload(numbers))
        device.copy(parent, label)
        device.fill(best, 2**64 - 1)
        device.fill(in_forest, 0)
        graph = (n, view.offsets, view.targets, view.weights)
        while True:
            device.fill(joined, 0)
            with clock.phase("find"):
                find(grid, 256, (*graph, label, best))
            with clock.phase("hook"):
                hook(grid, 256, (*graph, label, best, parent, in_forest, joined))
            with clock.phase("flatten"):
                flatten(grid, 256, (n, parent, label, best))
            clock.count("rounds")
            if not device.read(joined):
                return in_forest

    def finish(self, state, in_forest):
        """Return the edges as positions of their arcs."""
        return np.flatnonzero(in_forest)


driver = Driver()
