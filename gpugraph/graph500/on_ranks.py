"""Graph500 on several ranks, all of them processors: each has a share of the tuples, and the rows of some vertices.

Kernel 1 brings every arc to the rank that holds its tail.  Kernel 3 is the distributed delta-stepping, after which all
ranks get all distances; each finds the parents of its own vertices, and all ranks get these, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.clock import NullClock
from gpugraph.compiled import njit
from gpugraph.devices.cpu import CpuDevice
from gpugraph.graph500.checked import Found
from gpugraph.graph500.generator import Tuples
from gpugraph.graph500.on_cpu import NONE, pull, refused, survey, validate
from gpugraph.problems.registry import find_algorithm
from gpugraph.ranks.comm import HostComm
from gpugraph.ranks.part import GraphPart, sorted_part


class RanksMachine:
    """The benchmark on several ranks; all methods are collectives; see ``Machine``.

    Args:
        tuples: this rank's share of the edge list, on the host.
        device: this rank's processor.
        comm: the ranks.
    """

    def __init__(self, tuples: Tuples, device: CpuDevice, comm: HostComm):
        self.tuples, self.device, self.comm = tuples, device, comm
        self.algorithm = find_algorithm("sssp", "delta-stepping-distributed", "cpu")
        self.vertices = self.arcs = 0
        self.part: GraphPart
        self.state: Any
        self.distance: NDArray[np.float32]
        self.parent: NDArray[np.int32]

    def construct(self) -> None:
        """Make the rows and the state of searches; see ``Machine``."""
        reports = self.comm.all_gather_object(survey(self.tuples))
        for _, fault in reports:
            if fault is not None:
                raise refused(fault)
        n, edges, weights = max(largest for largest, _ in reports) + 1, self.tuples.edges, self.tuples.weights
        tails, heads = (edges[k::3].astype(np.int32) for k in (0, 1))
        joins = tails != heads
        tails, heads, weights = tails[joins], heads[joins], weights[joins]
        cuts, empty = np.array([0] * self.comm.size + [n]), np.zeros(1, np.int64)
        like = GraphPart(self.comm, cuts, empty, tails[:0], weights[:0], False, "graph500", "graph500")
        both = np.concatenate([tails, heads]), np.concatenate([heads, tails]), np.concatenate([weights, weights])
        self.part = sorted_part(like, *both).part
        self.vertices, self.arcs = n, self.part.arcs
        self.state = self.algorithm.prepare(self.part, self.device)
        self.distance, self.parent = np.empty(n, np.float32), np.empty(n, np.int32)

    def degree(self, vertex: int) -> int:
        """Return the arcs of a vertex; see ``Machine``."""
        row = vertex - self.part.first
        own = int(self.part.degrees[row]) if 0 <= row < self.part.rows else 0
        return sum(self.comm.all_gather_object(own))

    def search(self, root: int) -> None:
        """Find distances and parents; see ``Machine``."""
        part, parent = self.part, self.parent
        self.algorithm.run(self.state, NullClock(), root)
        own = slice(part.first, part.first + part.rows)
        self.distance[own] = self.state.distance
        self._gather(self.distance)
        parent[:] = NONE
        parent[root] = root
        arrays = part.offsets, part.targets, part.weights, self.distance, parent, part.first
        missing = sum(self.comm.all_gather_object(pull(*arrays)))
        self._gather(parent)
        while missing:
            before, left = missing, _hang(*arrays)
            missing = sum(self.comm.all_gather_object(left))
            self._gather(parent)
            if missing == before:
                break  # the validation will say so
        self.distance[np.isinf(self.distance)] = -1

    def _gather(self, array: NDArray[Any]) -> None:
        """Give all ranks what each has of its own vertices."""
        self.comm.all_gather_v_in_place(array, self.part.cuts.tolist())

    def validate(self, root: int) -> Found:
        """Check the last search; see ``Machine``."""
        return validate(self.tuples, root, self.parent, self.distance, self.comm)

    def result(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return copies of parents and distances; see ``Machine``."""
        return self.parent.copy(), self.distance.copy()

    def peak_bytes(self) -> int | None:
        """Return None: there is no device memory."""
        return None


@njit
def _hang(offsets: Any, targets: Any, weights: Any, distance: Any, parent: Any, first: int) -> int:
    """Hang vertices of these rows on equally far ones that have a parent; return how many reached ones have none.

    Who has a parent got it before: in an earlier row, or an earlier round, of which all ranks know.  So no cycle forms.
    """
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
