"""The certificate of a forest on a GPU, for a graph that lies there: the checks of ``verify.py`` in the same words.

The kernels and why they suffice are in ``cuda_kernels/verify_forest.cu``; the host looks at the graph only to name a
counter-example and to sum the weights.

Source: V. King, "A simpler minimum spanning tree verification algorithm", Algorithmica 18, 1997.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.devices.base import Device
from gpugraph.devices.kernel_file import UNSIGNED, Arrays, ArrayTable, KernelFile, index_types, needs, product
from gpugraph.graph.device_rows import DeviceRows
from gpugraph.graph.view import ResidentView
from gpugraph.problems.contract import Verdict
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.mst.verify import (
    check_ids,
    check_totals,
    describe_closing,
    describe_violation,
    ends_of,
    verdict_on,
)
from gpugraph.problems.oracle_sums import certified_sum

FILE = KernelFile("verify_forest.cu", [*product(INDEX_BITS=(32, 64), WEIGHT=("uint32", "uint64")), UNSIGNED])
NODE = 2  # words of 64 bits
NO_EDGE = np.uint32(2**32 - 1)  # NO_EDGE of the kernels
NO_VIOLATION = np.uint64(2**64 - 1)


def certify(view: ResidentView, device: Device, forest: Forest) -> Verdict:
    """Check that a forest is the minimum spanning forest of the view's graph, on the device and without an oracle.

    Takes 16 bytes for each vertex, 16 for each edge of the forest, and 32 for each tree after Borůvka's first round:
    about 30 bytes a vertex on a power-law graph, 43 on a path.  The view has its arcs in the CSRGraph's order; ranks in
    place of weights will do.  The detail of a failed verdict names a counter-example: of the edges that close a cycle,
    or refute the forest, the one of smallest id.  Raises OutOfMemory if the device has no room for it.
    """
    wrong = _refute(view, Certificate(view, device, forest.edges))
    wrong = wrong or check_totals(forest, certified_sum(ends_of(view.host.graph, forest.edges)[2]))
    return verdict_on(forest, wrong, "; checked on the device")


def _refute(view: ResidentView, certificate: "Certificate") -> str | None:
    """Return what is wrong with the forest's edges, or None."""
    graph, edges = view.host.graph, certificate.edges
    if certificate.malformed():
        return check_ids(graph, edges) or "the graph on the device is not the host's: a kernel has overwritten it"
    closing = certificate.build_hierarchy()
    if closing is not None:
        return describe_closing(graph, int(edges[closing]))
    found = certificate.first_violation()
    if found is None:
        return None
    (u,), (v,), _ = ends_of(graph, np.array([found]))
    last = certificate.heaviest_between(u, v)
    return describe_violation(graph, found, None if last is None else int(edges[last]))


class Certificate(Arrays):
    """The arrays of one check of a graph, or of a rank's rows of it (shapes and meaning: verify_forest.cu).

    ``edges`` (k,) are the positions of the forest's edges, ascending; of those on other ranks below 0, or beyond the
    last.  ``named`` are the edges' ends (k, 2) int32 and weights (k,), where not all of them lie here.
    """

    def __init__(
        self,
        view: ResidentView | DeviceRows,
        device: Device,
        edges: NDArray[np.int64],
        named: tuple[NDArray[np.int32], NDArray[Any]] | None = None,
    ):
        n, k = view.vertices, len(edges)
        self.view, self.edges, self.wide = view, edges, view.weight_bytes == 8
        table: ArrayTable = {"ends": (k, np.uint64), "leaves": (NODE * n, np.uint64), "inner": (NODE, np.uint64)}
        listed = 0 if named is None else (8 + view.weight_bytes) * k
        device.require(needs(table) + edges.nbytes + listed)
        super().__init__(device, table)
        self.resident_edges = device.upload(edges)
        self.weights = (view.weights, FILE.weight_kind(view.weights))
        self.listed = (self.resident_edges, *self.weights)
        if named is not None:
            ends, weights = named
            device.copy(self.ends, device.upload(np.ascontiguousarray(ends).view(np.uint64).reshape(-1)))
            numbers = device.upload(np.arange(k, dtype=np.int64))
            self.listed = (numbers, device.upload(weights), FILE.weight_kind(weights))
        types = {**index_types(view.index_dtype), "WEIGHT": f"uint{8 * view.weight_bytes}"}
        self.kernels = FILE.kernels(device, types)

    def malformed(self) -> bool:
        """Find the edges' ends; return whether the ids are not canonical or do not ascend."""
        view, k = self.view, len(self.edges)
        malformed = self.device.full(1, 0, np.uint32)
        sizes = (np.uint32(k), np.int32(view.vertices), view.index_dtype.type(view.arcs))
        self.launch("read_edges", k, *sizes, view.offsets, view.targets, self.resident_edges, self.ends, malformed)
        return bool(self.device.read(malformed))

    def build_hierarchy(self) -> int | None:
        """Run Borůvka's rounds on the forest's edges; return the position of the first that closes a cycle, or None."""
        closing = self.device.full(1, NO_EDGE, np.uint32)
        level, count, above = self.leaves, self.view.vertices, 0
        while count:
            count_above = self.round(level, count, above, closing)
            if level is self.leaves:  # a level has at most half the nodes of the one below
                self.device.require(8 * NODE * 2 * count_above)
                self.inner = self.device.empty(NODE * max(2 * count_above, 1), np.uint64)
            level = self.inner[NODE * above : NODE * (above + count_above)]
            count, above = count_above, above + count_above
        found = self.device.read(closing)
        return None if found == NO_EDGE else int(found)

    def round(self, level: object, count: int, above: int, closing: object) -> int:
        """Merge the ``count`` nodes of a level along their lightest edges; return how many that leaves above."""
        k, nodes, next_level = len(self.edges), np.int32(count), np.int32(above)
        edges = (np.uint32(k), *self.listed)
        self.launch("reset", count, nodes, level)
        self.launch("bid", k, *edges, self.ends, level)
        if self.wide:
            self.launch("break_ties", k, *edges, self.ends, level)
        self.launch("link", k, np.uint32(k), self.ends, level)
        self.launch("hook", count, nodes, level)
        steps = math.ceil(math.log(max(count, 2), FILE["JUMPS"])) + 1  # until pointers that jump are at their roots
        changed = self.device.full(steps, 0, np.uint32)
        for step in range(steps):
            self.launch("follow", count, np.int32(step), nodes, level, changed)
        roots = self.device.full(1, 0, np.uint32)
        self.launch("number", count, nodes, next_level, level, roots)
        self.launch("settle", count, nodes, level)
        self.launch("relabel", k, np.uint32(k), next_level, level, self.ends, closing)
        return int(self.device.read(roots))

    def first_violation(self) -> int | None:
        """Return the first edge of the graph that refutes the forest, or None."""
        view = self.view
        violation = self.device.full(1, NO_VIOLATION, np.uint64)
        self.launch(
            "check_arcs",
            view.arcs * FILE["WARP"] // FILE["TILE"] + 1,
            *(np.int32(view.vertices), view.index_dtype.type(view.arcs), view.offsets, view.targets, *self.weights),
            *(self.resident_edges, self.leaves, self.inner, violation),
        )
        found = self.device.read(violation)
        return None if found == NO_VIOLATION else int(found)

    def heaviest_between(self, u: int, v: int) -> int | None:
        """Return the position of the heaviest forest edge between two vertices, or None where there is no path."""
        position = self.device.empty(1, np.uint32)
        self.launch("explain", 1, np.int32(u), np.int32(v), self.leaves, self.inner, position)
        found = self.device.read(position)
        return None if found == NO_EDGE else int(found)
