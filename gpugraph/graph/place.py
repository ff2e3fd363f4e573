"""The rows of a ``.csr`` copied to the device that will work on them, and checked there."""

import os
from typing import Any

from gpugraph.base.clock import HostClock
from gpugraph.base.errors import OutOfMemory, unreadable
from gpugraph.devices.base import Device
from gpugraph.graph.check import check_structure
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.device_rows import DeviceRows, narrow_offsets
from gpugraph.graph.input_file import Source


def place(graph: CSRGraph, source: Source, device: Device, clock: HostClock) -> None:
    """Copy the rows of a file's graph to a device, if it has room, and check them there, or raise GraphFormatError."""
    try:
        with clock.phase("transfer"):
            object.__setattr__(graph, "on_device", _copied(graph, source, device))
        with clock.phase("check"):
            check_on_device(graph)
    except OutOfMemory:
        object.__setattr__(graph, "on_device", None)


def _copied(graph: CSRGraph, source: Source, device: Device) -> DeviceRows:
    """Return the rows on a device: straight from a file that is mapped, else from the host's memory."""
    device.require(graph.nbytes + 4 * (graph.vertices + 1))
    arrays = (graph.offsets, graph.targets, graph.weights)
    with source.descriptor() as file:
        if file is None:
            copies = [device.upload(array) for array in arrays]
        else:
            begin = source.data.ctypes.data
            try:
                copies = [device.upload_file(file, a.ctypes.data - begin, len(a), a.dtype) for a in arrays]
            except EOFError:
                raise source.error(
                    f"cut short while it was read: {graph.vertices} vertices and {graph.arcs} arcs ask for "
                    f"{len(source.data)} bytes, the file has {os.fstat(file).st_size}"
                ) from None
            except OSError as error:
                raise unreadable(source.path, error) from error
    offsets = narrow_offsets(device, copies[0], graph.arcs)
    return DeviceRows(device, offsets, copies[1], copies[2], lambda: graph)


def check_on_device(graph: CSRGraph) -> None:
    """Check the copy on a device as ``check_structure`` does; a sound graph keeps its digest.

    The host finds what is wrong anew, in its own words: GraphFormatError, also if the file has changed meanwhile.
    """
    assert graph.on_device is not None
    digest = graph.on_device.digest(graph.digest_code, both_ways=not graph.directed)
    if digest is not None and graph.stored_digest in (None, digest):
        graph.__dict__["digest"] = digest
        return
    names = ("offsets", "targets", "weights", "directed", "name", "source", "stored_digest")
    host: dict[str, Any] = {name: getattr(graph, name) for name in names}
    check_structure(CSRGraph(**host))
    raise graph.changed_while_read()
