"""Prim's algorithm on the GPU without the min-reduction primitive: what the paper compares its own version with.

Only the search for the lightest candidate differs from ``gpu_prim``; its kernels are in ``cuda_kernels/prim_naive.cu``.

Source: W. Wang, Y. Huang, S. Guo, "Design and implementation of GPU-based Prim's algorithm", 2011, section VI-A.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpugraph.devices.base import Array, Device, Kernel
from gpugraph.devices.kernel_file import ArrayTable, KernelFile, product
from gpugraph.graph.view import ResidentView
from gpugraph.problems.mst import gpu_prim
from gpugraph.problems.mst.gpu_forest import forest_algorithm, forest_bytes, key_dtype
from gpugraph.problems.registry import register

FILE = KernelFile("prim_naive.cu", product(WEIGHT=("uint32", "uint64")))


class State(gpu_prim.State):
    """The arrays of one run (shapes and meaning: prim_naive.cu)."""

    def reduction_arrays(self, key: np.dtype[Any], blocks: int) -> ArrayTable:
        """Return the words that the passes lower and write: least weight, least endpoints, chosen candidate."""
        return {"least_weight": (1, key), "least_ends": (1, np.uint64), "chosen": (1, np.int32)}

    @property
    def reduced(self) -> tuple[Array, ...]:
        """These words, in the kernels' order."""
        return self.least_weight, self.least_ends, self.chosen

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
        least_weight, least_ends, chosen = self.reduced
        self.launch_step("naive_least_weight", *grid, n, step, self.weight, least_weight)
        self.launch_step("naive_least_ends", *grid, n, step, *self.candidates, least_weight, least_ends)
        self.launch_step("naive_find", *grid, n, step, *self.candidates, least_weight, least_ends, chosen)
        self.launch_step("naive_join", 1, 1, step, *self.candidates, chosen, self.current, least_weight, least_ends)


def load_kernels(view: ResidentView, device: Device, *, layout: str, **_: Any) -> dict[str, Kernel]:
    """Return the kernels that fit the view and the layout, compiled if need be."""
    own = FILE.kernels(device, {"WEIGHT": key_dtype(view).name})
    return gpu_prim.load_kernels(view, device, layout=layout) | {f"naive_{name}": own[name] for name in own}


register(
    forest_algorithm(
        name="prim-naive",
        summary="Prim with the lightest candidate by atomics instead of a min-reduction, for comparison",
        authors="Wang, Huang, Guo",
        year=2011,
        section="VI-A: the non-primitive CUDA version",
        prepare=State,
        run=gpu_prim.run,
        compile=load_kernels,
        minimum_bytes=forest_bytes,
        options=gpu_prim.OPTIONS,
    )
)
