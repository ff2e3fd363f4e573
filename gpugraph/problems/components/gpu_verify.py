"""The certificate of ``verify.py`` on a GPU, for a graph that lies there: the same checks in the same words.

The kernels and why they suffice are in ``cuda_kernels/verify_components.cu``; the host looks at the graph only to name
a counter-example.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.devices.base import Array, Device, covering_grid
from gpugraph.devices.kernel_file import KernelFile, product
from gpugraph.graph.device_rows import DeviceRows
from gpugraph.graph.view import ResidentView
from gpugraph.problems.components.labels import Components
from gpugraph.problems.components.verify import check_joins, check_labels, describe_arc, describe_pass
from gpugraph.problems.contract import Verdict

FILE = KernelFile("verify_components.cu", product(INDEX_BITS=(32, 64)))
BLOCK = 256
NO_VERTEX = np.uint32(2**32 - 1)
NO_ARC = np.uint64(2**64 - 1)


def certify(view: ResidentView, device: Device, found: Components) -> Verdict:
    """Check labels on the device and without an oracle; takes 8 bytes a vertex.

    Args:
        view: the graph, as the CSRGraph has it.
        device: the device that holds it.
        found: components of ``view.host.graph``.

    Raises:
        OutOfMemory: the device has no room for it.
    """
    wrong = _refute(view, device, found)
    if wrong is not None:
        return Verdict("failed", "certificate", wrong)
    return Verdict("passed", "certificate", f"{describe_pass(found)}; checked on the device")


def _refute(view: ResidentView, device: Device, found: Components) -> str | None:
    """Return what is wrong with the labels, or None."""
    graph, n = view.host.graph, view.vertices
    if found.labels.shape != (n,) or not found.in_range:
        return check_labels(graph, found.labels)
    if n == 0:
        return None
    trees = Trees(view, device, found.labels)
    if trees.wrong_label():
        return check_labels(graph, found.labels) or "the labels on the device are not the host's"
    arc = trees.wrong_arc()
    if arc is not None:
        return describe_arc(graph, found.labels, arc)
    return check_joins(graph, found, trees.count())


class Trees:
    """Labels, and the trees that arcs join, on a device (arrays and kernels: verify_components.cu).

    Args:
        rows: the graph, or a rank's rows of it.
        device: the device that holds it.
        labels: (n,) each in [0, n).

    Attributes:
        up: (n,) int32 the trees.

    Raises:
        OutOfMemory: the device has no room for 8 bytes a vertex.
    """

    def __init__(self, rows: ResidentView | DeviceRows, device: Device, labels: NDArray[np.int64]):
        n = rows.vertices
        device.require(8 * n)
        self.rows, self.device = rows, device
        self.labels, self.up = device.upload(labels.astype(np.int32)), device.empty(n, np.int32)
        self.joins = device.full(1, 0, np.uint32)
        self.kernels = FILE.kernels(device, {"INDEX_BITS": rows.index_bits})

    def wrong_label(self) -> bool:
        """Make every vertex a tree; tell whether a vertex has a label that cannot be one."""
        wrong = self.device.full(1, NO_VERTEX, np.uint32)
        self._launch("check_labels", self.rows.vertices, self.labels, self.up, wrong)
        return bool(self.device.read(wrong) != NO_VERTEX)

    def wrong_arc(self) -> int | None:
        """Join the trees at the ends of every arc; return the first arc between two labels, or None."""
        rows, wrong = self.rows, self.device.full(1, NO_ARC, np.uint64)
        arrays = (rows.index_dtype.type(rows.arcs), rows.offsets, rows.targets, self.labels, self.up, wrong, self.joins)
        self._launch("check_arcs", rows.arcs * FILE["WARP"] // FILE["TILE"] + 1, *arrays)
        arc = self.device.read(wrong)
        return None if arc == NO_ARC else int(arc)

    def join(self, others: Array) -> None:
        """Join what the trees ``up`` of another device join."""
        self._launch("join_trees", self.rows.vertices, others, self.up, self.joins)

    def count(self) -> int:
        """Return how many joins there were."""
        return int(self.device.read(self.joins))

    def _launch(self, name: str, threads: int, *args: Any) -> None:
        grid = covering_grid(self.device, threads, BLOCK)
        self.kernels[name](grid, BLOCK, (np.int32(self.rows.vertices), *args))
