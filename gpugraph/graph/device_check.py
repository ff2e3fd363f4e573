"""The checks of ``check.py`` and the digest of ``digest.py`` for a graph that lies on a device: the same verdicts.

The kernels are in ``cuda_kernels/check.cu``; one reading of the rows answers everything.  What is wrong is said by the
host's check, which looks for it anew: so the words are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.errors import GraphFormatError
from gpugraph.graph.check import check_structure
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.device_rows import ARCS_PER_THREAD, CHECK, DeviceRows
from gpugraph.graph.digest import finish

NOTHING = 2**64 - 1


def checked(rows: DeviceRows) -> NDArray[np.uint64] | None:
    """Return the words that the kernels find; None where the offsets do not ascend from 0 to the number of arcs."""
    device, n = rows.device, rows.vertices
    found = device.upload(np.array([NOTHING, NOTHING, 0, 0, 0, 0], np.uint64))
    if int(device.read(rows.offsets, 0)) != 0 or int(device.read(rows.offsets, n)) != rows.arcs:
        return None
    rows.launch(CHECK, "offsets", n, np.int64(n), rows.offsets, found)
    if int(device.read(found, CHECK["FALL"])) != NOTHING:
        return None
    dtype = np.dtype(rows.weights.dtype)
    bits, real = 8 * dtype.itemsize, dtype.kind == "f"
    infinity = int(np.array(np.inf, dtype).view(f"u{dtype.itemsize}")[()]) if real else 2**bits - 1
    rows.launch(
        CHECK,
        "arcs",
        -(-rows.arcs // ARCS_PER_THREAD),
        *(np.int32(n), np.int64(rows.arcs), rows.offsets, rows.targets, rows.weights, np.int32(dtype.itemsize)),
        *(np.uint64(infinity), np.uint64(1 << (bits - 1) if real else 0), found),
    )
    answer: NDArray[np.uint64] = device.download(found)
    return answer


def _digest(graph: CSRGraph, found: NDArray[np.uint64]) -> str:
    sums = int(found[CHECK["DIGEST"]]), int(found[CHECK["DIGEST"] + 1])
    return finish(*sums, graph.vertices, graph.arcs, graph.digest_code)


def _rows(graph: CSRGraph) -> DeviceRows:
    assert graph.on_device is not None
    return graph.on_device


def digest_on_device(graph: CSRGraph) -> str:
    """Return the digest of a graph that lies on a device, and is sound."""
    found = checked(_rows(graph))
    if found is None or int(found[CHECK["BAD"]]) != NOTHING:
        raise _differs(graph)
    return _digest(graph, found)


def is_symmetric_on_device(graph: CSRGraph) -> bool:
    """Tell whether every arc has its reverse with equal weight."""
    found = checked(_rows(graph))
    return found is not None and not found[CHECK["BALANCE"] :].any()


def has_negative_weight(rows: DeviceRows) -> bool:
    """Tell whether a weight is below zero."""
    dtype, device = np.dtype(rows.weights.dtype), rows.device
    if dtype.kind == "u":
        return False
    found = device.full(1, 0, np.uint32)
    threads = -(-rows.arcs // ARCS_PER_THREAD)
    rows.launch(CHECK, "negative", threads, np.int64(rows.arcs), rows.weights, np.int32(dtype.itemsize), found)
    return bool(device.read(found))


def check_on_device(graph: CSRGraph) -> None:
    """Check everything that ``check_structure`` checks, of the copy that lies on a device.

    A graph found sound keeps its digest.

    Raises:
        GraphFormatError: what ``check_structure`` says, or that the copy is not what the file holds now.
    """
    found = checked(_rows(graph))
    if (
        found is not None
        and int(found[CHECK["BAD"]]) == NOTHING
        and (graph.directed or not found[CHECK["BALANCE"] :].any())
    ):
        digest = _digest(graph, found)
        if graph.stored_digest in (None, digest):
            graph.__dict__["digest"] = digest
            return
    host: dict[str, Any] = {name: getattr(graph, name) for name in ("offsets", "targets", "weights")}
    check_structure(
        CSRGraph(
            **host,
            directed=graph.directed,
            name=graph.name,
            source=graph.source,
            stored_digest=graph.stored_digest,
        )
    )
    raise _differs(graph)


def _differs(graph: CSRGraph) -> GraphFormatError:
    return GraphFormatError(
        "damaged: it was changed while it was read, or its copy on the device was",
        path=graph.source or graph.name,
        remedy="read it again when nothing writes to it",
    )
