"""The steps of the compound frontier on a GPU: which kernels, over which arrays.

The kernels and their invariants are in ``cuda_kernels/dijkstra.cu`` (F-GPU), ``dijkstra_pull.cu`` (the U variants) and
``dijkstra_matrix.cu``.

Source: Martín, Torres & Gavilanes, CUDA solutions for the SSSP problem (2009), sections 3 to 5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpugraph.devices.base import Array, Defines, Device, Kernel, covering_grid
from gpugraph.graph.view import ResidentView
from gpugraph.problems.sssp.frontier_dijkstra_arrays import GPU, Cells, TwoSided, predecessors

BLOCK = 256
"""Threads of a block, as in the paper; the kernels of dijkstra_pull.cu expect it."""
COLUMNS, ROWS, TILE = 256, 128, 32
"""Threads of a block of matrix_pull and of matrix_push, and the columns of a tile: as in dijkstra_matrix.cu."""
BLOCKS_PER_MULTIPROCESSOR = 16
"""Blocks that matrix_push is cut into, so that a few groups of rows already fill the device."""

ROUNDS_PER_READ = 4
"""Rounds launched between two reads of the minimum: a round after the last changes nothing and costs little."""

LIST_KERNELS = {
    "push": ("dijkstra.cu", "dijkstra_relax"),
    "pull": ("dijkstra_pull.cu", "dijkstra_pull"),
    "pull-plus": ("dijkstra_pull.cu", "dijkstra_pull_plus"),
}
"""File and name of the relaxing kernels for adjacency lists."""

PASSES = {"atomic": 0, "one-pass": 1, "two-pass": 2}


class DeviceSide:
    """Runs steps on a GPU.

    Args:
        view: the graph on the device.
        relax: ``push``, ``pull`` or ``pull-plus``; None where relaxing is not this side's.
        minimum: ``atomic``: the minimum stays on the device; ``one-pass`` and ``two-pass``: block minima, of which
            the host takes the least; None where it is not this side's.
        cells: the elements of the adjacency matrix to relax over, or None for adjacency lists.
        atomic: False lowers distances without atomics: wrong on purpose.
    """

    name = GPU

    def __init__(
        self,
        view: ResidentView,
        device: Device,
        relax: str | None,
        minimum: str | None,
        cells: Cells | None,
        atomic: bool = True,
    ):
        self.view, self.device, self.cells = view, device, cells
        self._relax, self._minimum, self._atomic = relax, minimum, atomic
        self.overflow = device.empty(1, np.uint32)
        self._n = np.int32(view.vertices)
        self._grid = covering_grid(device, view.vertices, BLOCK)
        self._graph: tuple[Any, ...] = (view.offsets, view.targets, view.weights)
        self._kernels: dict[str, Kernel] = {}
        if cells is not None:
            self._graph = (self._matrix(cells),)
        elif relax in ("pull", "pull-plus") and view.host.graph.directed:
            rows = predecessors(view.host.graph)
            arrays = (rows.offsets.astype(view.index_dtype), rows.targets, rows.weights.view(view.weights.dtype))
            self._graph = tuple(device.upload(device.stage(array)) for array in arrays)

    # ------------------------------------------------------------------ preparation

    def _matrix(self, cells: Cells) -> Array:
        """Return the adjacency matrix, made on the device."""
        matrix = self.device.full(cells.vertices**2, cells.no_arc, cells.dtype)
        write = self.load(cells.dtype.itemsize * 8)["write"]
        write(covering_grid(self.device, cells.vertices * 32, BLOCK), BLOCK, (self._n, *self._graph, matrix))
        return matrix

    def load(self, bits: int) -> dict[str, Kernel]:
        """Return the kernels of this side's steps for distances of ``bits``, compiled if need be."""
        needed = step_kernels(self.view, self._relax, self._minimum, self.cells, self._atomic, bits)
        return {step: self.device.kernel(file, name, defines) for step, (file, name, defines) in needed.items()}

    def use(self, distance: TwoSided, states: TwoSided, minima: list[Array], kernels: dict[str, Kernel]) -> None:
        """Work on these arrays with these kernels from now on."""
        self._distance, self._states, self._minima, self._kernels = distance, states, minima, kernels
        self._word = distance.there.dtype.type
        self._unreached = np.iinfo(self._word).max

    # ------------------------------------------------------------------ steps

    def start(self, source: int) -> None:
        """Make the source the frontier."""
        self.device.fill(self.overflow, 0)
        args = (self._n, np.int32(source), self._distance.there, self._states.there)
        self._kernels["start"](self._grid, BLOCK, args)

    def relax(self) -> None:
        """Lower the distances of the frontier's successors."""
        arrays = (*self._graph, self._states.there, self._distance.there, self.overflow)
        if self.cells is None:
            self._kernels["relax"](self._grid, BLOCK, (self._n, *arrays))
        elif self._relax == "pull":
            self._kernels["relax"](-(-self.cells.vertices // COLUMNS), COLUMNS, (self._n, *arrays))
        else:
            splits = self._splits()
            groups = -(-self.cells.vertices // ROWS)
            self._kernels["relax"](groups * splits, ROWS, (self._n, np.int32(splits), *arrays))

    def _splits(self) -> int:
        """Return how many blocks share a group of rows: as many as fill the device, at most one for each tile."""
        groups = -(-int(self._n) // ROWS)
        wanted = -(-self.device.multiprocessors * BLOCKS_PER_MULTIPROCESSOR // groups)
        return max(1, min(wanted, -(-int(self._n) // TILE)))

    def minimum(self, turn: int) -> Any:
        """Find the least distance of an unresolved vertex: return it, or None where it stays on the device."""
        states, distance = self._states.there, self._distance.there
        if self._minimum == "atomic":
            self._kernels["minimum"](self._grid, BLOCK, (self._n, distance, states, self._minima[0][turn : turn + 1]))
            return None
        first = self._minima[0]
        self._kernels["minima"](first.size, BLOCK, (self._n, distance, states, first))
        if self._minimum == "two-pass":
            self._kernels["minima-again"](self._minima[1].size, BLOCK, (np.int32(first.size), first, self._minima[1]))
        return self.device.download(self._minima[-1]).min()  # the few values that are left are the host's

    def update(self, turn: int, least: Any) -> None:
        """Resolve the frontier; every unresolved vertex at ``least``, or at the minimum of this turn, is the next."""
        states, distance = self._states.there, self._distance.there
        if least is None:
            self._kernels["update"](self._grid, BLOCK, (self._n, distance, self._minima[0][turn : turn + 1], states))
        else:
            self._kernels["update"](self._grid, BLOCK, (self._n, distance, self._word(least), states))

    def forget_minima(self) -> None:
        """Make ready for the minima of the next rounds."""
        if self._minimum == "atomic":
            self.device.fill(self._minima[0], self._unreached)

    def minima(self) -> Any:
        """Return the minima of the last rounds: the one read-back of those."""
        return self.device.download(self._minima[0])

    def overflowed(self) -> bool:
        """True if a sum of integers did not fit a word since ``start``."""
        return bool(self.device.read(self.overflow))


def step_kernels(
    view: ResidentView, relax: str | None, minimum: str | None, cells: Cells | None, atomic: bool, bits: int
) -> dict[str, tuple[str, str, Defines]]:
    """Return file, name and defines of the kernel of each step, for distances of ``bits`` (see ``DeviceSide``)."""
    lists = {"INDEX_BITS": view.index_bits, "WEIGHT": view.weights.dtype.name, "DISTANCE_BITS": bits}
    needed: dict[str, tuple[str, str, Defines]] = {"start": ("dijkstra.cu", "dijkstra_start", lists)}
    if minimum == "atomic":
        needed["minimum"] = ("dijkstra.cu", "dijkstra_minimum", lists)
        needed["update"] = ("dijkstra.cu", "dijkstra_update", lists)
    else:
        needed["minima"] = ("dijkstra_pull.cu", "dijkstra_block_minima", lists)
        needed["minima-again"] = ("dijkstra_pull.cu", "dijkstra_block_minima_again", lists)
        needed["update"] = ("dijkstra_pull.cu", "dijkstra_update_to", lists)
    # The relaxing kernels alone know of matrices and of atomics left out.
    defines = {**lists, **({} if cells is None else {"CELL": cells.dtype.name}), **({} if atomic else {"ATOMIC": 0})}
    if cells is not None:
        needed["write"] = ("dijkstra_matrix.cu", "matrix_write_arcs", defines)
        needed["relax"] = ("dijkstra_matrix.cu", f"matrix_{relax}", defines)
    elif relax is not None:
        needed["relax"] = (*LIST_KERNELS[relax], defines)
    return needed


def minima_sizes(vertices: int, minimum: str | None) -> list[int]:
    """Return the sizes of the arrays of minima: one for each round of a batch, or one for each block and pass."""
    if minimum == "atomic":
        return [ROUNDS_PER_READ]
    sizes: list[int] = []
    for _ in range(PASSES.get(minimum or "", 0)):
        sizes.append(-(-(sizes[-1] if sizes else vertices) // (2 * BLOCK)))
    return sizes
