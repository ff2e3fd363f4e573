"""Prim's algorithm on the GPU without the min-reduction primitive: what the paper compares its own version with.

Only the search for the lightest candidate differs from ``gpu_prim``; its kernels are in ``cuda_kernels/prim_naive.cu``.

Source: W. Wang, Y. Huang, S. Guo, "Design and implementation of GPU-based Prim's algorithm", 2011, section VI-A.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpugraph.devices.base import Array, Device, Kernel
from gpugraph.graph.digest import set_digest
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.mst import gpu_prim
from gpugraph.problems.mst.gpu_forest import fetch_forest, finish_forest, forest_bytes
from gpugraph.problems.registry import register

FILE = "prim_naive.cu"
PASSES = ("least_weight", "least_ends", "find", "join")


class State(gpu_prim.State):
    """The arrays of one run (shapes and meaning: prim_naive.cu)."""

    def reduction_arrays(self) -> tuple[Array, ...]:
        """Return the words that the passes lower and write: least weight, least endpoints, chosen candidate."""
        device, key = self.device, self.candidates[2].dtype
        return device.empty(1, key), device.empty(1, np.uint64), device.empty(1, np.int32)

    def load_kernels(self, layout: str) -> dict[str, Kernel]:
        """Return the kernels of a run by their names without ``prim_``."""
        return load_kernels(self.view, self.device, layout=layout)

    def start(self) -> None:
        """Make vertex 0 the tree, and the words ready for the first step."""
        super().start()
        for word in self.reduced[:2]:
            self.device.fill(word, np.iinfo(word.dtype).max)

    def min_reduction(self, step: np.int32) -> None:
        """Find the lightest candidate by atomics, in three passes, and let it join the tree."""
        grid, n = self.division(int(step)), np.int32(self.view.vertices)
        weight, (least_weight, least_ends, chosen) = self.candidates[2], self.reduced
        self.launch("naive_least_weight", *grid, n, step, weight, least_weight)
        self.launch("naive_least_ends", *grid, n, step, *self.candidates, least_weight, least_ends)
        self.launch("naive_find", *grid, n, step, *self.candidates, least_weight, least_ends, chosen)
        self.launch("naive_join", 1, 1, step, *self.candidates, chosen, self.current, least_weight, least_ends)


def load_kernels(view: ResidentView, device: Device, *, layout: str, **_: Any) -> dict[str, Kernel]:
    """Return the kernels that fit the view and the layout, compiled if need be."""
    defines = {"INDEX_BITS": view.index_bits, "WEIGHT": view.weights.dtype.name}
    own = {f"naive_{name}": device.kernel(FILE, f"prim_naive_{name}", defines) for name in PASSES}
    return gpu_prim.load_kernels(view, device, layout=layout) | own


def prepare(view: ResidentView, device: Device, threads: int, blocks: int, layout: str) -> State:
    """Return the candidates and the forest on the device; pack the graph where the layout asks for it."""
    return State(view, device, threads, blocks, layout)


register(
    Algorithm(
        problem="mst",
        name="prim-naive",
        devices=("cuda", "emulated"),
        summary="Prim with the lightest candidate by atomics instead of a min-reduction, for comparison",
        authors="Wang, Huang, Guo",
        year=2011,
        section="VI-A: the non-primitive CUDA version",
        prepare=prepare,
        run=gpu_prim.run,
        fetch=fetch_forest,
        finish=finish_forest,
        digest=set_digest,
        compile=load_kernels,
        minimum_bytes=forest_bytes,
        options=gpu_prim.OPTIONS,
    )
)
