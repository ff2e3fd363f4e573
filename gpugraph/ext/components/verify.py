"""The certificate of connected components, and SciPy's as their oracle.

The certificate: components are known by their labels alone, without the algorithm that found them.

1. every label is a vertex no larger than the one it labels, and labels itself.
2. the ends of every arc have one label.  So a label's vertices are one component or several together.
3. as many arcs join two trees, one after the other, as there are vertices that are not their own label.  So there
   are as many components as labels, and with 2 each label's vertices are one component.

Takes O(n + m) time but for the inverse of Ackermann's function, and 4 bytes a vertex.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit, threads
from gpugraph.devices.base import Array, Device
from gpugraph.devices.kernel_file import INDICES, Arrays, KernelFile, index_types
from gpugraph.ext.components.labels import Components
from gpugraph.ext.counter_examples.part import MISSING, RIGHT, CounterExample, around, path_between
from gpugraph.graph.chunks import balanced_ranges, in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.device_rows import DeviceRows
from gpugraph.graph.view import ResidentView
from gpugraph.problems.contract import Verdict

_RANGES_PER_THREAD = 8


def check_certificate(graph: CSRGraph, found: Components) -> Verdict:
    """Check labels without an oracle; the verdict names the first counter-example."""
    wrong = check_labels(graph, found.labels) or _check_arcs(graph, found.labels)
    if wrong is None:
        joins = int(count_joins(graph.offsets, graph.targets, np.arange(graph.vertices, dtype=graph.targets.dtype), 0))
        wrong = check_joins(graph, found, joins)
    return verdict_on(found, wrong)


def verdict_on(found: Components, wrong: str | None, by: str = "") -> Verdict:
    """Return the certificate's verdict, given what is wrong with components, or None; ``by`` ends the detail else."""
    if wrong is not None:
        return Verdict("failed", "certificate", wrong)
    detail = "no arc leaves the component, and it is connected"
    if found.components != 1:
        detail = f"no arc leaves any of the {found.components} components, and each is connected"
    return Verdict("passed", "certificate", detail + by)


def check_labels(graph: CSRGraph, labels: NDArray[np.int64]) -> str | None:
    """Return the first label that cannot be one, or None."""
    n = graph.vertices
    if labels.shape != (n,):
        return f"{len(labels)} labels for {n} vertices"
    for v in np.flatnonzero((labels < 0) | (labels > np.arange(n)))[:1].tolist():
        return f"vertex {v} is labelled {labels[v]}, which is not a vertex up to {v}"
    for v in np.flatnonzero(labels[labels] != labels)[:1].tolist():
        return f"vertex {v} is labelled {labels[v]}, which is itself labelled {labels[labels[v]]}"
    return None


def check_joins(graph: CSRGraph, found: Components, joins: int) -> str | None:
    """Return what is wrong where the arcs join more or fewer trees than the labels say, or None."""
    components = graph.vertices - joins
    if components == found.components:
        return None
    return f"there are {found.components} labels and {components} components: a label names vertices that no path joins"


def describe_arc(graph: CSRGraph, labels: NDArray[np.int64], arc: int) -> str:
    """Return what an arc refutes whose ends have two labels."""
    tail = int(np.searchsorted(graph.offsets, arc, side="right")) - 1
    head = int(graph.targets[arc])
    return f"the edge {tail}-{head} joins vertices labelled {labels[tail]} and {labels[head]}"


def _check_arcs(graph: CSRGraph, labels: NDArray[np.int64]) -> str | None:
    """Return the first arc whose ends have two labels, or None."""
    found = in_threads(
        lambda start, stop: _first_between(graph.offsets, graph.targets, labels, start, stop),
        balanced_ranges(graph.offsets, _RANGES_PER_THREAD * threads()),
    )
    return next((describe_arc(graph, labels, arc) for arc in found if arc >= 0), None)


@njit
def _first_between(offsets: Any, targets: Any, labels: Any, start: int, stop: int) -> int:
    """Return the first arc of rows [start, stop) whose ends have two labels, or −1."""
    for v in range(start, stop):
        for arc in range(offsets[v], offsets[v + 1]):
            if labels[targets[arc]] != labels[v]:
                return arc
    return -1


@njit
def count_joins(offsets: Any, targets: Any, up: Any, first: int) -> int:
    """Return how many arcs of the rows, those from vertex ``first`` on, join two trees, one after the other."""
    joins = 0
    for row in range(len(offsets) - 1):
        v = first + row
        for arc in range(offsets[row], offsets[row + 1]):
            if targets[arc] >= v:
                break
            joins += _joined(up, up.dtype.type(v), targets[arc])
    return joins


@njit
def join_edges(tails: Any, heads: Any, up: Any) -> int:
    """Return how many edges {tail, head} join two trees, one after the other."""
    joins = 0
    for i in range(len(tails)):
        joins += _joined(up, tails[i], heads[i])
    return joins


@njit
def _joined(up: Any, a: Any, b: Any) -> bool:
    """Join the trees of two vertices, by Rem's algorithm with paths spliced; tell whether there were two."""
    while up[a] != up[b]:
        if up[a] < up[b]:
            a, b = b, a
        if up[a] == a:
            up[a] = up[b]
            return True
        above = up[a]
        up[a] = up[b]
        a = above
    return False


# ------------------------------------------------------------------ what shows it


def counter_example(graph: CSRGraph, query: tuple[()], found: Components) -> CounterExample | None:
    """Return a path from a wrongly labelled vertex to the smallest of its component; None where labels are missing."""
    if found.labels.shape != (graph.vertices,):
        return None
    expected = reference_labels(graph)
    wrong = found.labels != expected
    if not wrong.any():
        return None
    tails = np.repeat(np.arange(graph.vertices), np.diff(graph.offsets))
    v = int(np.flatnonzero(wrong)[0])
    core = path_between(graph.vertices, tails, graph.targets, v, int(expected[v])) or [v]

    def mark(tail: int, head: int, arc: int) -> str:
        return MISSING if found.labels[tail] != found.labels[head] else RIGHT

    def note(v: int) -> tuple[str, bool]:
        given = f"label {found.labels[v]}"
        return (f"{given}, not {expected[v]}", True) if wrong[v] else (given, False)

    return around(graph, core, mark, note, [v])


# ------------------------------------------------------------------ oracle

_MOST = 2**31 - 1
"""SciPy's graph routines index by int32."""


def reference_labels(graph: CSRGraph) -> NDArray[np.int64]:
    """Return (n,) int64: of each vertex, the smallest vertex of its component; by SciPy, in linear time."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = graph.vertices
    if n == 0:
        return np.zeros(0, np.int64)
    present = np.ones(graph.arcs, np.int8)
    matrix: csr_array[np.int8] = csr_array((present, graph.targets, graph.offsets.astype(np.int32)), (n, n))
    _, component = connected_components(matrix, directed=False)
    _, smallest = np.unique(component, return_index=True)
    labels: NDArray[np.int64] = smallest[component].astype(np.int64, copy=False)
    return labels


def check_against_reference(graph: CSRGraph, found: Components) -> Verdict:
    """Compare labels with the oracle's, vertex by vertex; the verdict names the first that differs."""
    if graph.vertices > _MOST or graph.arcs > _MOST:
        what = f"SciPy takes at most {_MOST} vertices and arcs; use --verify certificate"
        return Verdict("skipped", "reference", what)
    expected = reference_labels(graph)
    if len(found.labels) != len(expected):
        return Verdict("failed", "reference", f"{len(found.labels)} labels for {len(expected)} vertices")
    for v in np.flatnonzero(found.labels != expected)[:1].tolist():
        detail = f"vertex {v} is labelled {found.labels[v]}; the smallest vertex of its component is {expected[v]}"
        return Verdict("failed", "reference", detail)
    detail = f"the same {found.components} components as SciPy's, each labelled by its smallest vertex"
    return Verdict("passed", "reference", detail)


# ------------------------------------------------------------------ on a GPU
# For a graph that lies there: the same checks in the same words.  The kernels and why they
# suffice are in ``cuda_kernels/verify_components.cu``; the host looks at the graph only to name a counter-example.

FILE = KernelFile("verify_components.cu", INDICES)
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
    return verdict_on(found, _refute(view, device, found), "; checked on the device")


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


class Trees(Arrays):
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
        super().__init__(device, {})
        device.require(8 * n)
        self.rows, self.vertices = rows, np.int32(n)
        self.labels, self.up = device.upload(labels.astype(np.int32)), device.empty(n, np.int32)
        self.joins = device.full(1, 0, np.uint32)
        self.kernels = FILE.kernels(device, index_types(rows.index_dtype))

    def wrong_label(self) -> bool:
        """Make every vertex a tree; tell whether a vertex has a label that cannot be one."""
        wrong = self.device.full(1, NO_VERTEX, np.uint32)
        self.launch("check_labels", self.rows.vertices, self.vertices, self.labels, self.up, wrong)
        return bool(self.device.read(wrong) != NO_VERTEX)

    def wrong_arc(self) -> int | None:
        """Join the trees at the ends of every arc; return the first arc between two labels, or None."""
        rows, wrong = self.rows, self.device.full(1, NO_ARC, np.uint64)
        graph = self.vertices, rows.index_dtype.type(rows.arcs), rows.offsets, rows.targets
        work = rows.arcs * FILE["WARP"] // FILE["TILE"] + 1
        self.launch("check_arcs", work, *graph, self.labels, self.up, wrong, self.joins)
        arc = self.device.read(wrong)
        return None if arc == NO_ARC else int(arc)

    def join(self, others: Array) -> None:
        """Join what the trees ``up`` of another device join."""
        self.launch("join_trees", self.rows.vertices, self.vertices, others, self.up, self.joins)

    def count(self) -> int:
        """Return how many joins there were."""
        return int(self.device.read(self.joins))
