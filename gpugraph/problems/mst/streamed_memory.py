"""Memory of a device that edges stream through: how much may be taken, and what lies where.

It is dealt to what belongs to the vertices, to the list, the buffers, and edges that stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpugraph.devices.base import Device
from gpugraph.errors import InputError, OutOfMemory
from gpugraph.graph.view import MAX_NARROW_ARCS, GraphView
from gpugraph.problems.algorithm import Option
from gpugraph.problems.mst.streamed_edges import BUFFERS, NAMES
from gpugraph.quantities import exactly, parse_bytes

LIMIT = Option("memory-limit", str, "", "device memory to take: 8GB, 500MiB, or 25% of the graph's own bytes")
"""The option, the same for every algorithm that has it."""

_HEADROOM = 32
"""One part in so many of the free memory is left to the driver and to what is small."""


def limit_bytes(text: str, graph_bytes: int, device: Device) -> int:
    """Return the bytes of device memory that an algorithm may take.

    Args:
        text: what the option says; nothing for what is free on the device.
        graph_bytes: what 100% is.
        device: the device.

    Raises:
        InputError: the text is no size of memory.
    """
    if not text:
        free, _ = device.memory()
        return free - free // _HEADROOM
    try:
        return parse_bytes(text, whole=graph_bytes)
    except InputError as error:
        raise InputError(f"option 'memory-limit' takes a size of memory, not '{text}'", remedy=error.remedy) from None


def check_limit(needed: int, limit: int, what: str) -> None:
    """Refuse work whose least need exceeds the limit.

    Args:
        needed: bytes that cannot stay on the host.
        limit: bytes that may be taken.
        what: what needs them, e.g. ``"boruvka-streamed"``.

    Raises:
        OutOfMemory: both figures are named.
    """
    if needed > limit:
        raise OutOfMemory(
            f"needs {exactly(needed)} on the device at least, for what belongs to the vertices, "
            f"and may take {exactly(max(limit, 0))}",
            where=what,
            remedy="raise memory-limit, or use a device with more memory",
        )


LIGHT_EDGES = 1.5
"""Light edges for each vertex: enough for a giant tree that makes nearly every heavy edge needless."""
SPARSE_LIGHT_EDGES = 2.5
"""The same on graphs of fewer than ``DENSE_DEGREE`` arcs a vertex, which are local, and fall apart more easily."""
DENSE_DEGREE = 12
MIDDLE = 3.5
"""Light and middle edges for each light one: then few enough of the middle ones, and of the heavy ones, are left."""
LIST_EDGES = 2
"""Edges for each vertex that the list has room for, where there is memory."""
MOST_CHUNK_BYTES = 64 << 20
"""Of a buffer: a copy of a millisecond, beside which a launch is nothing."""
LEAST_CHUNK = 256
_SMALL = 16384  # bytes of the counters, and of what is rounded up


@dataclass(frozen=True)
class Plan:
    """What lies where.

    Attributes:
        index_bits: width of an edge's number: 64 only where there are so many edges, each counted once.
        chunk: edges of a buffer; 0 where every edge is resident.
        capacity: edges of the list.
        most: light edges at most, light and middle ones together at most.
        resident: edges that stay on the device.
        bytes: what all of it takes on the device.
    """

    index_bits: int
    chunk: int
    capacity: int
    most: tuple[int, int]
    resident: int
    bytes: int


def plan(view: GraphView, limit: int, options: dict[str, Any]) -> Plan:
    """Return what is to lie where within ``limit`` bytes of device memory.

    Raises:
        OutOfMemory: not even the vertices' arrays fit; both figures are named.
        InputError: a negative chunk.
    """
    n, edges = view.vertices, view.arcs // 2
    narrow = view.index_bits == 32 or view.arcs >= MAX_NARROW_ARCS > edges
    index, weight = 4 if narrow else 8, view.weights.itemsize
    wide = not narrow or weight == 8
    edge, entry = 4 + weight, 24 if wide else 16
    vertices = n * (16 + index + (8 if wide else 0)) + 8 * (n // 2 + 1) + len(NAMES) * (n + 1) * index + _SMALL
    if options["chunk"] < 0:
        raise InputError(
            f"option 'chunk' takes a number of edges, not {options['chunk']}",
            remedy="give 0 or more; 0 leaves it to the memory there is",
        )
    least = min(options["chunk"] or LEAST_CHUNK, max(edges, 1))
    check_limit(vertices + BUFFERS * edge * least + entry, limit, "boruvka-streamed")
    free = limit - vertices
    per_vertex = options["light"]
    if per_vertex < 0:
        per_vertex = LIGHT_EDGES if view.arcs >= DENSE_DEGREE * n else SPARSE_LIGHT_EDGES
    wanted = min(edges, int(max(per_vertex, LIST_EDGES) * n))
    everything = wanted * entry + edges * edge
    if everything <= free and options["stream"] == "rest":
        most = most_edges(wanted, int(per_vertex * n))
        return Plan(index * 8, 0, max(wanted, 1), most, edges, vertices + everything + entry)
    chunk = options["chunk"] or max(least, min(edges, MOST_CHUNK_BYTES // edge, free // 4 // (BUFFERS * edge)))
    free -= BUFFERS * chunk * edge
    capacity = max(1, min(wanted, free // entry))
    resident = 0 if options["stream"] == "all" else max(0, min(edges, (free - capacity * entry) // edge))
    taken = vertices + BUFFERS * chunk * edge + capacity * entry + resident * edge
    return Plan(index * 8, chunk, capacity, most_edges(capacity, int(per_vertex * n)), resident, taken)


def most_edges(capacity: int, wanted: int) -> tuple[int, int]:
    """Return how many edges are light at most, and light or middle; all light ones must fit the list."""
    light = min(capacity, wanted)
    return light, int(MIDDLE * light)


def is_wide(view: GraphView, planned: Plan) -> bool:
    """Return whether weight and number of an edge need more than one word."""
    return planned.index_bits == 64 or view.weights.itemsize == 8
