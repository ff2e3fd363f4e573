"""The certificate of ``verify.py`` on a GPU, for a graph that lies there: the same checks in the same words.

The kernels and why they suffice are in ``cuda_kernels/verify_components.cu``; the host looks at the graph only to name
a counter-example.
"""

from __future__ import annotations

import numpy as np

from gpugraph.devices.base import Device, covering_grid
from gpugraph.devices.kernel_file import KernelFile, product
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
    device.require(8 * n)
    labels, up = device.upload(found.labels.astype(np.int32)), device.empty(n, np.int32)
    wrong_label, joins = device.full(1, NO_VERTEX, np.uint32), device.full(1, 0, np.uint32)
    wrong_arc = device.full(1, NO_ARC, np.uint64)
    kernels = FILE.kernels(device, {"INDEX_BITS": view.index_bits})
    kernels["check_labels"](covering_grid(device, n, BLOCK), BLOCK, (np.int32(n), labels, up, wrong_label))
    if device.read(wrong_label) != NO_VERTEX:
        return check_labels(graph, found.labels) or "the labels on the device are not the host's"
    kernels["check_arcs"](
        covering_grid(device, view.arcs * FILE["WARP"] // FILE["TILE"] + 1, BLOCK),
        BLOCK,
        (
            *(np.int32(n), view.index_dtype.type(view.arcs), view.offsets, view.targets),
            *(labels, up, wrong_arc, joins),
        ),
    )
    arc = device.read(wrong_arc)
    if arc != NO_ARC:
        return describe_arc(graph, found.labels, int(arc))
    return check_joins(graph, found, int(device.read(joins)))
