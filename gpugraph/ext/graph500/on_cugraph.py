"""Graph500 by cuGraph's SSSP with predecessors: the same edge list and the same checks, for comparison."""

from functools import partial

import numpy as np

from gpugraph.ext.graph500.checked import Found
from gpugraph.ext.graph500.generator import FILE
from gpugraph.ext.graph500.on_device import DeviceMachine
from gpugraph.ext.peers.libraries import call_cugraph, drivers_pool
from gpugraph.ext.peers.peer import guarded

_of_cugraph = partial(guarded, peer="peer:cugraph")
"""Turns what the library throws into an error of one line."""


class CugraphMachine(DeviceMachine):
    """The benchmark by pylibcugraph on a CUDA device; see ``CpuMachine``.

    Kernel 1 gives cuGraph both arcs of every tuple, and lets it number the vertices anew.  Loops are dropped: with them
    scale 26 has 2^31 arcs, one more than 32 bits can count.  Kernel 3 ends when vertices, distances and predecessors
    are in device memory; they are put in the order of the labels outside of the clock.
    """

    @_of_cugraph
    def construct(self) -> None:
        """Make cuGraph's graph; see ``CpuMachine``."""
        import cupy
        import pylibcugraph
        import rmm

        rmm.mr.set_current_device_resource(drivers_pool())
        self._survey()
        tuples = self.tuples
        ends = [tuples.edges[i::3].astype(np.int32) for i in (0, 1)]  # labels have 31 bits
        kept = ends[0] != ends[1]
        one, other, weight = (array[kept] for array in (*ends, tuples.weights))
        del ends, kept
        tails, heads, weights = (cupy.concatenate(pair) for pair in ((one, other), (other, one), (weight, weight)))
        del one, other, weight
        cupy.get_default_memory_pool().free_all_blocks()  # cuGraph takes its memory elsewhere
        cupy.cuda.runtime.deviceSynchronize()  # cuGraph reads them on a stream of its own
        self.handle = pylibcugraph.ResourceHandle()
        properties = pylibcugraph.GraphProperties(is_symmetric=True, is_multigraph=True)
        form = {"store_transposed": False, "renumber": True, "do_expensive_check": False}
        self.graph = pylibcugraph.SGGraph(self.handle, properties, tails, heads, weights, **form)
        cupy.cuda.runtime.deviceSynchronize()
        self.arcs = int(tails.size)
        self._make_room()

    def degree(self, vertex: int) -> int:
        """Return the arcs of a vertex, loops left out; see ``CpuMachine``."""
        import cupy

        if vertex >= self.vertices:
            return 0
        u, v = (self.tuples.edges[i::3] for i in (0, 1))
        return int(cupy.count_nonzero(((u == vertex) | (v == vertex)) & (u != v)))

    @_of_cugraph
    def search(self, root: int) -> None:
        """Find distances and predecessors; see ``CpuMachine``."""
        self.found = call_cugraph(self, "sssp", root, np.inf, True, False)

    def validate(self, root: int) -> Found:
        """Put the last search's answer in the order of the labels and check it; see ``CpuMachine``."""
        import cupy

        vertices, distance, parent = (cupy.asarray(array) for array in self.found)
        reached = distance < np.finfo(np.float32).max
        self.device.fill(self.distance, -1)
        self.device.fill(self.parent, FILE["NONE"])
        self.device.synchronize()
        self.distance[vertices] = cupy.where(reached, distance, np.float32(-1))
        self.parent[vertices] = cupy.where(reached, parent, np.int32(FILE["NONE"]))
        self.parent[root] = root  # cuGraph gives the root none
        cupy.cuda.runtime.deviceSynchronize()
        return super().validate(root)
