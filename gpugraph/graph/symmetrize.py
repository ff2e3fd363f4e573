"""Directed graphs made undirected, on the device that has their rows or on the host."""

from __future__ import annotations

from contextlib import suppress

from gpugraph.errors import OutOfMemory
from gpugraph.graph.build import symmetrize_on_host
from gpugraph.graph.csr import CSRGraph


def symmetrize(graph: CSRGraph) -> CSRGraph:
    """Return a directed graph made undirected, the lighter arc of a pair, with a note; an undirected one as it is."""
    if not graph.directed:
        return graph
    if graph.on_device is not None and graph.on_device.usable and graph.arcs:
        from gpugraph.graph.device_build import symmetrize_on_device  # only with a device

        with suppress(OutOfMemory):
            return symmetrize_on_device(graph)
    return symmetrize_on_host(graph)
