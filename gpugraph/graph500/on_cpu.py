"""Graph500 on the CPU: kernel 1, kernel 3 and the validation by all threads; the same rules as on a device."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.clock import NullClock
from gpugraph.compiled import njit
from gpugraph.devices.cpu import CpuDevice
from gpugraph.errors import InputError
from gpugraph.graph.build import ArcList, build
from gpugraph.graph.chunks import balanced_ranges, even_ranges, in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView
from gpugraph.graph500.checked import RULES, Found, bad_tuple, fault_in_words
from gpugraph.graph500.generator import Tuples
from gpugraph.problems.registry import find_algorithm
from gpugraph.ranks.comm import HostComm, LoneComm

NONE = -1
MOST_LABEL = 2**31 - 3
RANGE, UNLIKE, ROOT, CYCLE, SPLIT, TOO_FAR, UNCONFIRMED = range(len(RULES))


class CpuMachine:
    """The benchmark on the CPU; see ``Machine``.

    Args:
        tuples: the edge list, on the host.
        device: the processor.
    """

    def __init__(self, tuples: Tuples, device: CpuDevice):
        self.tuples, self.device = tuples, device
        self.algorithm = find_algorithm("sssp", "delta-stepping", "cpu")
        self.vertices = self.arcs = 0
        self.graph: CSRGraph
        self.state: Any
        self.distance: NDArray[np.float32]
        self.parent: NDArray[np.int32]

    def construct(self) -> None:
        """Make the rows and the state of searches; see ``Machine``."""
        largest, fault = survey(self.tuples)
        if fault is not None:
            raise refused(fault)
        n, edges, weights = largest + 1, self.tuples.edges, self.tuples.weights
        tails, heads = (edges[k::3].astype(np.int32) for k in (0, 1))
        self.graph = build(ArcList(tails, heads, weights, n, directed=False, one_sided=True), name="graph500")
        self.vertices, self.arcs = n, self.graph.arcs
        self.state = self.algorithm.prepare(GraphView.of(self.graph), self.device)
        self.parent = np.empty(n, np.int32)

    def degree(self, vertex: int) -> int:
        """Return the arcs of a vertex; see ``Machine``."""
        return int(np.diff(self.graph.offsets[vertex : vertex + 2])[0]) if vertex < self.vertices else 0

    def search(self, root: int) -> None:
        """Find distances and parents; see ``Machine``."""
        self.distance = self.algorithm.run(self.state, NullClock(), root)
        graph, parent = self.graph, self.parent
        parent[:] = NONE
        parent[root] = root
        arrays = graph.offsets, graph.targets, graph.weights, self.distance, parent
        if pull(*arrays):
            hang_on_equals(*arrays)
        self.distance[np.isinf(self.distance)] = -1

    def validate(self, root: int) -> Found:
        """Check the last search; see ``Machine``."""
        return validate(self.tuples, root, self.parent, self.distance)

    def result(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return copies of parents and distances; see ``Machine``."""
        return self.parent.copy(), self.distance.copy()

    def peak_bytes(self) -> int | None:
        """Return None: there is no device memory."""
        return None


def survey(tuples: Tuples) -> tuple[int, str | None]:
    """Return the largest label, and in words the first tuple that no generator makes, or None."""
    edges, weights = tuples.edges, tuples.weights
    seen = in_threads(partial(_survey, edges, weights), even_ranges(len(weights)))
    bad = next((bad for _, bad in seen if bad >= 0), None)
    return max(largest for largest, _ in seen), None if bad is None else bad_tuple(tuples.first + bad, tuples.line(bad))


def refused(fault: str) -> InputError:
    """Return the error about a tuple that no generator makes."""
    return InputError(fault, where="the edge list", remedy="give the edge list of a Graph500 generator")


def pull(offsets: Any, targets: Any, weights: Any, distance: Any, parent: Any, first: int = 0) -> int:
    """Give vertices a parent that is nearer to the root; return how many reached ones have none.

    Args:
        offsets: of rows, those of the vertices from ``first`` on.
        targets: of their arcs.
        weights: of these.
        distance: (n,) float32, infinite where not reached.
        parent: (n,) int32, −1 but for those that have a parent already.
        first: vertex.
    """
    arrays = offsets, targets, weights, distance, parent, first
    return sum(in_threads(partial(_pull, *arrays), balanced_ranges(offsets)))


def validate(
    tuples: Tuples,
    root: int,
    parent: NDArray[np.int32],
    distance: NDArray[np.float32],
    comm: HostComm | None = None,
) -> Found:
    """Check parents and distances against the tuples by the rules of Graph500; a collective, where there are ranks.

    Args:
        tuples: the edge list, or the share of a rank, on the host; every label is below n.
        root: of the search.
        parent: (n,) int32, −1 where not reached, the root its own.
        distance: (n,) float32, −1 where not reached.
        comm: the ranks, which all have the whole result.
    """
    comm = comm or LoneComm()
    n = len(parent)
    firsts: dict[str, int | None] = dict.fromkeys(RULES)
    confirmed = np.zeros(n, np.uint8)

    def note(rules: tuple[int, ...], found: Sequence[tuple[int, ...]]) -> None:
        for k, rule in enumerate(rules):
            firsts[RULES[rule]] = next((part[k] for part in found if part[k] >= 0), None)

    vertices = even_ranges(n)
    note(
        (RANGE, UNLIKE, ROOT),
        in_threads(partial(_check_vertices, root, parent, distance, confirmed), vertices),
    )
    if firsts["RANGE"] is None:
        jump = np.where(parent == NONE, np.int32(root), parent)
        for _ in range(n.bit_length() + 1):
            jump = jump[jump]
        astray = np.flatnonzero(jump != root)
        firsts["CYCLE"] = int(astray[0]) if len(astray) else None
    inside = 0
    if not any(first is not None for first in firsts.values()):
        lists = tuples.edges, tuples.weights, parent, distance, confirmed
        found = in_threads(partial(_check_tuples, *lists), even_ranges(len(tuples)))
        note((SPLIT, TOO_FAR), found)
        inside = sum(part[2] for part in found)
        comm.all_reduce(confirmed, "max")
        loose = np.flatnonzero(confirmed == 0)
        firsts["UNCONFIRMED"] = int(loose[0]) if len(loose) else None
    fault = fault_in_words(firsts, root, lambda v: (int(parent[v]), float(distance[v])), tuples)
    broken = (k for k, rule in enumerate(RULES) if firsts[rule] is not None)
    reports = comm.all_gather_object((next(broken, len(RULES)), fault, inside))
    return Found(sum(own for *_, own in reports), min(reports, key=lambda one: int(one[0]))[1])


@njit
def _survey(edges: Any, weights: Any, begin: int, end: int) -> tuple[int, int]:
    """Return the largest label of tuples [begin, end), and the first tuple that is none, or −1."""
    largest = 0
    for i in range(begin, end):
        u, v, w = int(edges[3 * i]), int(edges[3 * i + 1]), weights[i]
        if edges[3 * i + 2] != 0 or u > MOST_LABEL or v > MOST_LABEL or not (w >= 0 and w <= 1):
            return largest, i
        largest = max(largest, u, v)
    return largest, -1


@njit
def _pull(
    offsets: Any, targets: Any, weights: Any, distance: Any, parent: Any, first: int, begin: int, end: int
) -> int:
    """Do what ``pull`` does, for the rows [begin, end)."""
    missing = 0
    for row in range(begin, end):
        v = first + row
        far = distance[v]
        if np.isinf(far) or parent[v] >= 0:
            continue
        for arc in range(offsets[row], offsets[row + 1]):
            if weights[arc] > far:
                continue
            near = distance[targets[arc]]
            if near < far and near + weights[arc] == far:
                parent[v] = targets[arc]
                break
        missing += parent[v] < 0
    return missing


@njit
def hang_on_equals(offsets: Any, targets: Any, weights: Any, distance: Any, parent: Any) -> None:
    """Give reached vertices without a parent an equally far one that has one, breadth first: no cycle forms."""
    queue = np.empty(len(parent), np.int64)
    held = 0
    for v in range(len(parent)):
        if parent[v] < 0 and not np.isinf(distance[v]):
            for arc in range(offsets[v], offsets[v + 1]):
                u = targets[arc]
                if parent[u] >= 0 and distance[u] == distance[v] and distance[u] + weights[arc] == distance[v]:
                    parent[v] = u
                    queue[held] = v
                    held += 1
                    break
    at = 0
    while at < held:
        u = queue[at]
        at += 1
        for arc in range(offsets[u], offsets[u + 1]):
            v = targets[arc]
            if parent[v] < 0 and distance[v] == distance[u] and distance[u] + weights[arc] == distance[v]:
                parent[v] = u
                queue[held] = v
                held += 1


@njit
def _check_vertices(
    root: int, parent: Any, distance: Any, confirmed: Any, begin: int, end: int
) -> tuple[int, int, int]:
    """Return the first vertex of [begin, end) that breaks each of the rules RANGE, UNLIKE and ROOT, or −1."""
    out_of_range, unlike, wrong_root = -1, -1, -1
    for v in range(begin, end):
        p, d = parent[v], distance[v]
        if out_of_range < 0 and not (p >= NONE and p < len(parent) and (d == -1 or (d >= 0 and d < np.inf))):
            out_of_range = v
        if unlike < 0 and (p == NONE) != (d == -1):
            unlike = v
        if v == root and (p != root or d != 0):
            wrong_root = v
        confirmed[v] = v == root or p == NONE
    return out_of_range, unlike, wrong_root


@njit
def _check_tuples(
    edges: Any, weights: Any, parent: Any, distance: Any, confirmed: Any, begin: int, end: int
) -> tuple[int, int, int]:
    """Return the first tuple of [begin, end) that breaks SPLIT and TOO_FAR, or −1, and the tuples in the component."""
    split, too_far, inside = -1, -1, 0
    for i in range(begin, end):
        u, v, w = edges[3 * i], edges[3 * i + 1], weights[i]
        if parent[u] == NONE and parent[v] == NONE:
            continue
        if parent[u] == NONE or parent[v] == NONE:
            if split < 0:
                split = i
            continue
        inside += 1
        if u == v:
            continue
        at_u, at_v = distance[u], distance[v]
        if too_far < 0 and (at_u + w < at_v or at_v + w < at_u):
            too_far = i
        if parent[v] == u and at_v == at_u + w:
            confirmed[v] = 1
        if parent[u] == v and at_u == at_v + w:
            confirmed[u] = 1
    return split, too_far, inside
