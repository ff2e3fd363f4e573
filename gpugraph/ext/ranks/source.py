"""Where the parts of a graph come from: every rank draws its part of a spec, or reads its part of a ``.csr``.

On a GPU, and on the emulated device, a part is made, or read to, where it will be searched: each device draws all edges
of a spec and keeps the arcs of its own rows.  What a device cannot make, the hosts draw a share each of, exchange and
sort; the graph is the same to the bit.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import HostClock
from gpugraph.base.errors import GraphFormatError, InputError, OutOfMemory, unreadable
from gpugraph.devices.base import Array, Device
from gpugraph.ext.device_graphs.device_build import negative_loop
from gpugraph.ext.device_graphs.device_generate import generate_piece
from gpugraph.ext.ranks.comm import HostComm
from gpugraph.ext.ranks.part import OF_THE_GRAPH, GraphPart, gone, require_on_devices, require_together, sorted_part
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.device_rows import DeviceRows
from gpugraph.graph.families import ORDERS, is_spec
from gpugraph.graph.generate import can_generate, draw_arcs
from gpugraph.graph.read_options import AS_GIVEN, ReadOptions
from gpugraph.graph.sources import is_dataset
from gpugraph.graph.spec import Spec, parse_spec


def open_part(
    source: object,
    comm: HostComm,
    options: ReadOptions = AS_GIVEN,
    *,
    device: Device | None = None,
    clock: HostClock | None = None,
    progress: Callable[[str], None] = lambda what: None,
) -> GraphPart:
    """Return this rank's part of the graph behind ``source``, a spec, a data set or a ``.csr``, checked.

    A collective.  Weights may become those of ``"unit"``, and a directed graph undirected, the lighter arc of a pair.
    The rank's device, unless it is a CPU, is to hold the part.  The clock times the phases ``load``, ``build`` and
    ``check``; ``progress`` is called with a few words whenever something new begins.  Raises InputError for anything
    else, which several ranks cannot share, and OutOfMemory if it does not fit all ranks together.
    """
    text = os.fsdecode(source) if isinstance(source, str | os.PathLike) else ""
    weights = options.weights
    if weights not in ("file", "unit"):
        remedy = "write w=LO..HI into the spec, or convert the file with --reweight first"
        raise InputError(f"several ranks cannot change weights to {weights}", remedy=remedy)
    clock = HostClock() if clock is None else clock
    device = None if device is None or device.kind == "cpu" else device
    if text and is_dataset(text):
        from gpugraph.ext.datasets.store import local_csr

        with clock.phase("fetch"):
            text = os.fspath(local_csr(text, progress))
    if text and options.input_format is None and not os.path.exists(text) and is_spec(text):
        with clock.phase("build"):
            spec = parse_spec(text)
            if device is not None and can_generate(spec) and spec.order == ORDERS[0]:
                progress(f"making {text}")
                part = _made(spec, comm, device)
            else:
                part = _drawn(spec, comm, progress)
    elif text.endswith(".csr") and options.input_format in (None, "csr"):
        from gpugraph.graph.load import load_file

        progress(f"reading {text}")
        with clock.phase("load"):
            graph = load_file(text, check=False)
            part = GraphPart.of(graph, comm) if device is None else _read(graph, comm, device)
        with clock.phase("check"):
            part.check()
    else:
        what = "several ranks share a spec, a data set or a .csr, nothing else"
        remedy = "convert it first: gpugraph convert FILE graph.csr"
        raise InputError(what, where=text or type(source).__name__, remedy=remedy)
    if weights == "unit":
        part = part.changed(negative_loop=None, notes=(*part.notes, "weights replaced: unit"), graph=None)
        if (rows := part.on_device) is None:
            part = part.changed(weights=np.ones(part.own_arcs, np.uint32))
        else:
            part = part.changed(on_device=replace(rows, weights=rows.device.full(rows.arcs, 1, np.uint32)))
    if options.symmetrize and part.directed:
        with clock.phase("build"):
            part = part.symmetrized()
    return part


def _drawn(spec: Spec, comm: HostComm, progress: Callable[[str], None]) -> GraphPart:
    """Draw this rank's share of the arcs, and bring every arc to the rank that holds its tail."""
    require_together(comm, -(-spec.estimate_bytes() // comm.size) + 8 * spec.vertices, spec.text)
    arcs = draw_arcs(spec, lambda fraction, what: progress(f"{what} {fraction:.0%}"), (comm.rank, comm.size))
    weights = arcs.weights_or_ones
    loop = arcs.tails == arcs.heads
    negative = np.flatnonzero(loop & (weights < 0))
    tails, heads, weights = (array[~loop] for array in (arcs.tails, arcs.heads, weights))
    if arcs.one_sided:
        tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
        weights = np.concatenate([weights, weights])
    cuts, empty = np.array([0] * comm.size + [spec.vertices]), (np.zeros(1, np.int64), tails[:0], weights[:0])
    like = GraphPart(comm, cuts, *empty, bool(arcs.directed), spec.text, spec.text)
    progress("building rows")
    part, *_ = sorted_part(like, tails, heads, weights)
    # The first loop of the whole list is that of the lowest rank that has one: ranks draw in order.
    firsts = comm.all_gather_object(int(arcs.tails[negative[0]]) if len(negative) else None)
    first = next((vertex for vertex in firsts if vertex is not None), None)
    return part.changed(negative_loop=first)


def _made(spec: Spec, comm: HostComm, device: Device) -> GraphPart:
    """Make this rank's part of a spec on its device.  Raises OutOfMemory on all ranks if one has no room."""
    piece, fault = None, None
    try:
        piece = generate_piece(spec, device, comm.rank, comm.size)
    except OutOfMemory as error:
        fault = error.what
    for rank, message in enumerate(comm.all_gather_object(fault)):
        if message is not None:
            remedy = "ask for a smaller graph, or use more devices"
            raise OutOfMemory(f"rank {rank} of {comm.size}: {message}", where=spec.text, remedy=remedy)
    assert piece is not None
    rows = piece.rows
    firsts = [first for first in comm.all_gather_object(rows.first_negative) if first is not None]
    return GraphPart.lying_on(
        DeviceRows(device, rows.offsets, rows.targets, piece.weights, gone),
        comm=comm,
        cuts=piece.cuts,
        directed=piece.directed,
        name=spec.text,
        source=spec.text,
        negative_loop=negative_loop(min(firsts, default=None)),
    )


def _read(graph: CSRGraph, comm: HostComm, device: Device) -> GraphPart:
    """Read this rank's part of a mapped ``.csr`` to its device."""
    cuts = GraphPart.cuts_of(graph, comm.size)
    first, last = int(cuts[comm.rank]), int(cuts[comm.rank + 1])
    low, high = int(graph.offsets[first]), int(graph.offsets[last])
    n, arrays = graph.vertices, (graph.targets, graph.weights)
    if not all(comm.all_gather_object(0 <= low <= high <= graph.arcs and 0 < n < 2**31)):
        return GraphPart.of(graph, comm)  # damaged, or empty: the host tells
    word = sum(array.itemsize for array in arrays)
    require_on_devices(comm, device, 8 * (n + 1) + 8 * (last - first + 1) + word * (high - low), graph.source)
    offsets = device.full(n + 1, 0, np.int64)
    device.copy(offsets[first : last + 1], device.upload(np.asarray(graph.offsets[first : last + 1], np.int64) - low))
    device.fill(offsets[last:], high - low)
    targets, weights = (_copied(array, low, high, device, graph.source) for array in arrays)
    attributes = {name: getattr(graph, name) for name in OF_THE_GRAPH}
    return GraphPart.lying_on(DeviceRows(device, offsets, targets, weights, gone), comm=comm, cuts=cuts, **attributes)


def _copied(array: NDArray[Any], low: int, high: int, device: Device, path: str) -> Array:
    """Return a stretch of an array on a device, straight from the file that the array is a mapping of, if it is one."""
    mapped: Any = array
    while isinstance(mapped, np.ndarray) and not isinstance(mapped, np.memmap):
        mapped = mapped.base
    if not isinstance(mapped, np.memmap):
        return device.upload(array[low:high])
    begin = array.ctypes.data - mapped.ctypes.data + mapped.offset
    try:
        with open(path, "rb", buffering=0) as file:
            return device.upload_file(file.fileno(), begin + low * array.itemsize, high - low, array.dtype)
    except EOFError:
        raise GraphFormatError("cut short while it was read", path=path, remedy="fetch or write it again") from None
    except OSError as error:
        raise unreadable(path, error) from error
