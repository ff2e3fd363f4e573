"""The steps of the compound frontier on a GPU: which kernels, over which arrays.

The kernels and their invariants are in ``cuda_kernels/dijkstra.cu`` (F-GPU), ``dijkstra_pull.cu`` (the U variants) and
``dijkstra_matrix.cu``.

Source: Martín, Torres & Gavilanes, CUDA solutions for the SSSP problem (2009), sections 3 to 5.
"""

from typing import Any

import numpy as np

from gpugraph.devices.base import Array, Defines, Device, Kernel, covering_grid
from gpugraph.devices.kernel_file import KernelFile, product
from gpugraph.ext.papers.sssp.frontier_dijkstra_cpu import GPU, Cells, Strategy, TwoSided, predecessors
from gpugraph.graph.view import ResidentView
from gpugraph.problems.sssp.gpu_words import DISTANCE_SETS, distance_types

LISTS = KernelFile("dijkstra.cu", DISTANCE_SETS)
PULL = KernelFile("dijkstra_pull.cu", DISTANCE_SETS)
MATRIX = KernelFile(
    "dijkstra_matrix.cu",
    [
        *({**types, "CELL": types["WEIGHT"]} for types in DISTANCE_SETS if types["INDEX_BITS"] == 32),
        *product(INDEX_BITS=(64,), WEIGHT=("uint32",), DISTANCE_BITS=(64,), CELL=("uint64",)),
    ],
)
BLOCKS_PER_MULTIPROCESSOR = 16
"""Blocks that matrix_push is cut into, so that a few groups of rows already fill the device."""

ROUNDS_PER_READ = 4
"""Rounds launched between two reads of the minimum: a round after the last changes nothing and costs little."""


class DeviceSide:
    """Runs the steps on a GPU that are not the CPU's, over lists of arcs or the adjacency matrix of ``cells``."""

    name = GPU

    def __init__(self, view: ResidentView, device: Device, strategy: Strategy, cells: Cells | None, bits: int):
        self.view, self.device, self.cells = view, device, cells
        self._strategy = strategy
        self.overflow = device.empty(1, np.uint32)
        self._n, self._block = np.int32(view.vertices), PULL["BLOCK"]
        self._grid = covering_grid(device, view.vertices, self._block)
        self._graph: tuple[Any, ...] = (view.offsets, view.targets, view.weights)
        self._kernels: dict[str, Kernel] = {}
        if cells is not None:  # the adjacency matrix is made on the device
            matrix = device.full(cells.vertices**2, cells.no_arc, cells.dtype)
            self._kernels = self.load(bits)
            grid = covering_grid(device, cells.vertices * LISTS["WARP"], self._block)
            self._launch("write", self._n, *self._graph, matrix, grid=grid)
            self._graph = (matrix,)
        elif strategy.pulls_on(GPU) and view.host.graph.directed:
            rows = predecessors(view.host.graph)
            arrays = (rows.offsets.astype(view.index_dtype), rows.targets, rows.weights.view(view.weights.dtype))
            self._graph = tuple(device.upload(device.stage(array)) for array in arrays)

    def load(self, bits: int) -> dict[str, Kernel]:
        """Return the kernels of this side's steps for distances of ``bits``, compiled if need be."""
        needed = step_kernels(self.view, self._strategy, self.cells, bits)
        return {step: file.kernel(self.device, defines, name) for step, (file, name, defines) in needed.items()}

    def use(self, distance: TwoSided, states: TwoSided, minima: list[Array], kernels: dict[str, Kernel]) -> None:
        """Work on these arrays with these kernels from now on."""
        self._distance, self._states, self._minima, self._kernels = distance, states, minima, kernels
        self._word = distance.there.dtype.type

    def _launch(self, step: str, *args: object, grid: int | None = None) -> None:
        self._kernels[step](grid or self._grid, self._block, args)

    def start(self, source: int) -> None:
        """Make the source the frontier."""
        self.device.fill(self.overflow, 0)
        self._launch("start", self._n, np.int32(source), self._distance.there, self._states.there)

    def relax(self) -> None:
        """Lower the distances of the frontier's successors."""
        arrays = (*self._graph, self._states.there, self._distance.there, self.overflow)
        if self.cells is None:
            self._launch("relax", self._n, *arrays)
        elif self._strategy.pulls:
            columns = MATRIX["COLUMNS"]
            self._kernels["relax"](-(-self.cells.vertices // columns), columns, (self._n, *arrays))
        else:
            rows = MATRIX["ROWS"]
            groups = -(-self.cells.vertices // rows)
            # As many blocks share a group of rows as fill the device, at most one for each tile.
            wanted = -(-self.device.multiprocessors * BLOCKS_PER_MULTIPROCESSOR // groups)
            splits = max(1, min(wanted, -(-int(self._n) // MATRIX["TILE"])))
            self._kernels["relax"](groups * splits, rows, (self._n, np.int32(splits), *arrays))

    def minimum(self, turn: int) -> object:
        """Find the least distance of an unresolved vertex: return it, or None where it stays on the device."""
        states, distance = self._states.there, self._distance.there
        if self._strategy.minimum == "atomic":
            self._launch("minimum", self._n, distance, states, self._minima[0][turn : turn + 1])
            return None
        first = self._minima[0]
        self._launch("minima", self._n, distance, states, first, grid=first.size)
        if self._strategy.minimum == "two-pass":
            self._launch("minima-again", np.int32(first.size), first, self._minima[1], grid=self._minima[1].size)
        return self.device.download(self._minima[-1]).min()  # the few values that are left are the host's

    def update(self, turn: int, least: object) -> None:
        """Resolve the frontier; every unresolved vertex at ``least``, or at the minimum of this turn, is the next."""
        states, distance = self._states.there, self._distance.there
        found = self._minima[0][turn : turn + 1] if least is None else self._word(least)
        self._launch("update", self._n, distance, found, states)

    def overflowed(self) -> bool:
        """True if a sum of integers did not fit a word since ``start``."""
        return bool(self.device.read(self.overflow))


def step_kernels(
    view: ResidentView, strategy: Strategy, cells: Cells | None, bits: int
) -> dict[str, tuple[KernelFile, str, Defines]]:
    """Return file, name and defines of the kernel of each step on the GPU, for distances of ``bits``."""
    lists = distance_types(view, bits)
    needed: dict[str, tuple[KernelFile, str, Defines]] = {"start": (LISTS, "start", lists)}
    if strategy.minimum == "atomic":
        needed["minimum"] = (LISTS, "minimum", lists)
        needed["update"] = (LISTS, "update", lists)
    else:
        needed["minima"] = (PULL, "block_minima", lists)
        needed["minima-again"] = (PULL, "block_minima_again", lists)
        needed["update"] = (PULL, "update_to", lists)
    without = "" if strategy.atomic else "_no_atomic"
    if cells is not None:
        matrix = {**lists, "CELL": cells.dtype.name}
        needed["write"] = (MATRIX, "write_arcs", matrix)
        needed["relax"] = (MATRIX, f"{strategy.relax}{without}", matrix)
    elif strategy.relax_on == GPU and strategy.pulls:
        needed["relax"] = (PULL, strategy.relax.replace("-", "_"), lists)
    elif strategy.relax_on == GPU:
        needed["relax"] = (LISTS, f"relax{without}", lists)
    return needed


def minima_sizes(vertices: int, minimum: str) -> list[int]:
    """Return the sizes of the arrays of minima: one for each round of a batch, or one for each block and pass."""
    if minimum == "atomic":
        return [ROUNDS_PER_READ]
    sizes: list[int] = []
    for _ in range({"one-pass": 1, "two-pass": 2}.get(minimum, 0)):
        sizes.append(-(-(sizes[-1] if sizes else vertices) // (2 * PULL["BLOCK"])))
    return sizes
