"""The launches of kernels that draw the edges of a family of graphs on a device."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.devices.base import Array, Device
from gpugraph.devices.kernel_file import INDICES, KernelFile, index_types
from gpugraph.ext.device_graphs.device_build import Rows
from gpugraph.graph.device_rows import ARCS_PER_THREAD
from gpugraph.graph.generators.family import Values

FILE = KernelFile("generate.cu", INDICES)


class Launches:
    """The launches of kernels that draw the edges of a graph on a device.

    ``file`` is generate.cu; ``rule``, (11,) uint64, is its ``WeightRule``; ``exact``: nearly every item gives an edge;
    ``weigh`` makes the (arcs,) weights of rows where the family has its own, else it is None, and ``hashes`` does it.
    """

    def __init__(self, device: Device, values: Values, seed: int, rule: NDArray[np.uint64], dtype: str):
        self.device, self.values, self.seed = device, values, np.uint64(seed)
        self.rule, self.dtype = device.upload(rule), dtype
        self.file, self.exact = FILE, True
        self.weigh: Callable[[Rows], Array] | None = None  # None: by hashes; a bound method would hold this object
        self._launches: list[tuple[KernelFile, str, int, tuple[Any, ...]]] = []

    @property
    def items(self) -> int:
        """Numbers to be drawn, of all launches."""
        return sum(items for _, _, items, _ in self._launches)

    def add(self, name: str, items: int, *args: Any, file: KernelFile | None = None) -> None:
        """Add a kernel that draws so many items."""
        if items:
            self._launches.append((file or self.file, name, items, args))

    def emit(self, sink: tuple[Any, ...], first: int = 0, last: int | None = None) -> None:
        """Draw the edges of the items [first, last), counted through all launches; of all if no range is given."""
        before = 0
        for file, name, items, args in self._launches:
            low, high = max(first - before, 0), items if last is None else min(last - before, items)
            if low < high:
                file.launch(self.device, name, high - low, np.int64(high), np.int64(low), *sink, *args)
            before += items

    def hashes(self, rows: Rows) -> Array:
        """Return the weights that the edges hash to, (arcs,) of the dtype, by rows."""
        arcs, device = int(rows.targets.size), self.device
        weights = device.empty(arcs, self.dtype)
        if arcs:
            args = np.int32(rows.offsets.size - 1), np.int64(arcs), rows.offsets, rows.targets, self.rule, weights
            FILE.launch(device, "weights", -(-arcs // ARCS_PER_THREAD), *args, defines=index_types(rows.offsets.dtype))
        return weights
