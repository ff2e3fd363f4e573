"""Directed graphs made undirected, on the host or where they lie on a device."""

from contextlib import suppress
from dataclasses import replace

from gpugraph.base.errors import OutOfMemory
from gpugraph.graph.build import arc_tails, symmetrized_notes
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.sort_arcs import sort_arcs
from gpugraph.graph.sources import device_graphs


def symmetrize(graph: CSRGraph) -> CSRGraph:
    """Return a directed graph made undirected, the lighter arc of a pair, with a note; an undirected one as it is.

    That is done on the device that has its rows, or on the host.
    """
    if not graph.directed:
        return graph
    if graph.on_device is not None and graph.on_device.usable and graph.arcs:
        with suppress(OutOfMemory):
            return device_graphs().symmetrize_on_device(graph)
    return symmetrize_on_host(graph)


def symmetrize_on_host(graph: CSRGraph) -> CSRGraph:
    """Return the undirected graph of a directed one."""
    rows = sort_arcs(arc_tails(graph), graph.targets, graph.weights, graph.vertices, mirrored=True)
    single, unequal = len(rows.targets) - graph.arcs, rows.unequal // 2
    return replace(
        graph,
        offsets=rows.offsets,
        targets=rows.targets,
        weights=rows.weights,
        directed=False,
        notes=symmetrized_notes(graph.notes, single, unequal),
        stored_digest=None,
    )
