"""Graph500 on processors: kernel 1, kernel 3 and the validation by all threads; the same rules as on a device.

On several ranks each has a share of the tuples, and the rows of some vertices.  Kernel 1 then brings every arc to the
rank that holds its tail.  Kernel 3 is the distributed delta-stepping, after which all ranks get all distances; each
finds the parents of its own vertices, and all ranks get these, too.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import NullClock
from gpugraph.base.compiled import njit
from gpugraph.devices.cpu import CpuDevice
from gpugraph.ext.graph500.checked import RULES, Found, bad_tuple, fault_in_words, refused
from gpugraph.ext.graph500.generator import Tuples
from gpugraph.ext.ranks.comm import HostComm, LoneComm
from gpugraph.ext.ranks.part import GraphPart, sorted_part
from gpugraph.graph.build import ArcList, build
from gpugraph.graph.chunks import balanced_ranges, even_ranges, in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView
from gpugraph.problems.registry import find_algorithm

NONE = -1  # vertices are not negative
MOST_LABEL = 2**31 - 3


class CpuMachine:
    """The benchmark on the CPU: the tuples in, of a rank its share on the host; searches and their validation out.

    Attributes:
        vertices: n, from the largest label; known once the rows are made.
        arcs: arcs of the rows.
    """

    algorithm_name = "delta-stepping"

    def __init__(self, tuples: Tuples, device: CpuDevice, comm: HostComm | None = None):
        self.tuples, self.device, self.comm = tuples, device, comm or LoneComm()
        self.algorithm = find_algorithm("sssp", self.algorithm_name, "cpu")
        self.vertices = self.arcs = self.first = 0
        self.rows: CSRGraph | GraphPart
        self.distance: NDArray[np.float32]

    def construct(self) -> None:
        """Make the rows, and all that searches need: kernel 1.

        Raises InputError if a tuple has a label beyond 31 bits, or a weight outside [0, 1], and OutOfMemory if there is
        no room for the rows.
        """
        edges, weights = self.tuples.edges, self.tuples.weights
        seen = in_threads(partial(_survey, edges, weights), even_ranges(len(weights)))
        bad = next((bad for _, bad in seen if bad >= 0), None)
        fault = None if bad is None else bad_tuple(self.tuples.first + bad, self.tuples.line(bad))
        reports = self.comm.all_gather_object((max(largest for largest, _ in seen), fault))
        for _, fault in reports:
            if fault is not None:
                raise refused(fault)
        self.vertices = max(largest for largest, _ in reports) + 1
        tails, heads = (edges[k::3].astype(np.int32) for k in (0, 1))
        self.rows = self._make_rows(tails, heads, weights)
        self.arcs, self.parent = self.rows.arcs, np.empty(self.vertices, np.int32)

    def _make_rows(self, tails: NDArray[np.int32], heads: NDArray[np.int32], weights: NDArray[Any]) -> Any:
        """Return the rows of these arcs and their reverses, ready to be searched."""
        arcs = ArcList(tails, heads, weights, self.vertices, directed=False, one_sided=True)
        graph = build(arcs, name="graph500")
        self.state = self.algorithm.prepare(GraphView.of(graph), self.device, sums="float32")
        return graph

    def degree(self, vertex: int) -> int:
        """Return how many arcs a vertex has, loops left out; 0 for a label that no tuple has."""
        row, offsets = vertex - self.first, self.rows.offsets
        own = int(offsets[row + 1] - offsets[row]) if 0 <= row < len(offsets) - 1 else 0
        return sum(self.comm.all_gather_object(own))

    def search(self, root: int) -> None:
        """Find distances and parents from a root, and return once they are in memory: kernel 3."""
        self._find_distances(root)
        rows, parent = self.rows, self.parent
        parent[:] = NONE
        parent[root] = root
        arrays = (rows.offsets, rows.targets, rows.weights), (self.distance, parent), self.first
        own = sum(in_threads(partial(_pull, *arrays), balanced_ranges(rows.offsets)))
        before, missing = 0, self._exchange_parents(own)
        while missing not in (0, before):  # without progress the validation will say so
            before, missing = missing, self._exchange_parents(_attach(*arrays))
        self.distance[np.isinf(self.distance)] = -1

    def _find_distances(self, root: int) -> None:
        self.distance = self.algorithm.run(self.state, NullClock(), root)

    def _exchange_parents(self, missing: int) -> int:
        """Return how many vertices that are reached have no parent, given those of this rank."""
        return missing

    def validate(self, root: int) -> Found:
        """Check what the last search, from ``root``, left in memory against the input's tuples."""
        return validate(self.tuples, root, self.parent, self.distance, self.comm)

    def result(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return parents (n,) and distances (n,) of the last search on the host, −1 where not reached."""
        return self.parent.copy(), self.distance.copy()

    def peak_bytes(self) -> int | None:
        """Return the most bytes of device memory in use so far: None, for there is none."""
        return None


class RanksMachine(CpuMachine):
    """The benchmark on the processors of several ranks; all methods are collectives."""

    algorithm_name = "delta-stepping-distributed"

    def _make_rows(self, tails: NDArray[np.int32], heads: NDArray[np.int32], weights: NDArray[Any]) -> GraphPart:
        joins = tails != heads
        tails, heads, weights = tails[joins], heads[joins], weights[joins]
        cuts, empty = np.array([0] * self.comm.size + [self.vertices]), np.zeros(1, np.int64)
        like = GraphPart(self.comm, cuts, empty, tails[:0], weights[:0], False, "graph500", "graph500")
        both = np.concatenate([tails, heads]), np.concatenate([heads, tails]), np.concatenate([weights, weights])
        part, _, _ = sorted_part(like, *both)
        self.state, self.first = self.algorithm.prepare(part, self.device, sums="float32"), part.first
        self.cuts, self.distance = part.cuts.tolist(), np.empty(self.vertices, np.float32)
        return part

    def _find_distances(self, root: int) -> None:
        self.algorithm.run(self.state, NullClock(), root)
        self.distance[self.first : self.first + len(self.state.distance)] = self.state.distance
        self.comm.all_gather_v_in_place(self.distance, self.cuts)

    def _exchange_parents(self, missing: int) -> int:
        self.comm.all_gather_v_in_place(self.parent, self.cuts)
        return sum(self.comm.all_gather_object(missing))


def validate(
    tuples: Tuples, root: int, parent: NDArray[np.int32], distance: NDArray[np.float32], comm: HostComm | None = None
) -> Found:
    """Check parents and distances against the tuples by the rules of Graph500; a collective, where there are ranks.

    The tuples, of a rank its share, are on the host, every label below n.  ``parent`` (n,) is −1 where not reached, the
    root its own; ``distance`` (n,) is −1 where not reached.  All ranks have the whole result.
    """
    comm, n = comm or LoneComm(), len(parent)
    firsts: dict[str, int | None] = dict.fromkeys(RULES)
    result = parent, distance, np.zeros(n, np.uint8)

    def note(rules: tuple[str, ...], found: Sequence[tuple[int, ...]]) -> None:
        firsts.update((rule, next((part[k] for part in found if part[k] >= 0), None)) for k, rule in enumerate(rules))

    note(("RANGE", "UNLIKE", "ROOT"), in_threads(partial(_check_vertices, root, result), even_ranges(n)))
    if firsts["RANGE"] is None:
        jump = np.where(parent == NONE, np.int32(root), parent)
        for _ in range(n.bit_length() + 1):
            jump = jump[jump]
        firsts["CYCLE"] = _first_of(jump != root)
    inside = 0
    # Each rank has looked at its own copy of the result, and all go on or none.
    if not any(comm.all_gather_object(any(first is not None for first in firsts.values()))):
        found = in_threads(partial(_check_tuples, (tuples.edges, tuples.weights), result), even_ranges(len(tuples)))
        note(("SPLIT", "TOO_FAR"), found)
        inside = sum(part[2] for part in found)
        comm.all_reduce(result[2], "max")
        firsts["UNCONFIRMED"] = _first_of(result[2] == 0)
    fault = fault_in_words(firsts, root, lambda v: (int(parent[v]), float(distance[v])), tuples)
    broken = (k for k, rule in enumerate(RULES) if firsts[rule] is not None)
    reports = comm.all_gather_object((next(broken, len(RULES)), fault, inside))
    return Found(sum(own for *_, own in reports), min(reports, key=lambda one: int(one[0]))[1])


def _first_of(broken: NDArray[np.bool_]) -> int | None:
    """Return the first place of a true value, or None."""
    places = np.flatnonzero(broken)
    return int(places[0]) if len(places) else None


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
def _pull(rows: tuple[Any, ...], result: tuple[Any, ...], first: int, begin: int, end: int) -> int:
    """Give vertices a parent that is nearer to the root; return how many reached ones have none.

    The rows [begin, end) are those of the vertices from ``first`` on.  Distances are infinite where not reached.
    """
    (offsets, targets, weights), (distance, parent) = rows, result
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
def _attach(rows: tuple[Any, ...], result: tuple[Any, ...], first: int) -> int:
    """Attach vertices of these rows to equally far ones that have a parent; return how many reached ones have none.

    Who has a parent got it before: in an earlier row, or an earlier round, of which all ranks know.  So no cycle forms.
    """
    (offsets, targets, weights), (distance, parent) = rows, result
    left = 0
    for row in range(len(offsets) - 1):
        v = first + row
        if parent[v] >= 0 or np.isinf(distance[v]):
            continue
        for arc in range(offsets[row], offsets[row + 1]):
            u = targets[arc]
            if parent[u] >= 0 and distance[u] == distance[v] and distance[u] + weights[arc] == distance[v]:
                parent[v] = u
                break
        left += parent[v] < 0
    return left


@njit
def _check_vertices(root: int, result: tuple[Any, ...], begin: int, end: int) -> tuple[int, int, int]:
    """Return the first vertex of [begin, end) that breaks each of the rules RANGE, UNLIKE and ROOT, or −1."""
    parent, distance, confirmed = result
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
def _check_tuples(tuples: tuple[Any, Any], result: tuple[Any, ...], begin: int, end: int) -> tuple[int, int, int]:
    """Return the first tuple of [begin, end) that breaks SPLIT and TOO_FAR, or −1, and the tuples in the component."""
    (edges, weights), (parent, distance, confirmed) = tuples, result
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
