"""GraphPart: the rows of a graph that one rank holds; no rank holds them all.

Rank r has the rows of the vertices [cuts[r], cuts[r + 1]), about as many arcs as every other.  Rows ascend with the
ranks, so that (rank, position here) compares as the position in the whole graph does: the canonical order holds
whatever the number of ranks.
"""

from __future__ import annotations

import bisect
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit
from gpugraph.base.errors import GpuGraphError, GraphFormatError, OutOfMemory
from gpugraph.base.host import available_memory
from gpugraph.base.quantities import counted, in_units
from gpugraph.devices.base import Array, Device
from gpugraph.ext.device_graphs.device_generate import balanced_cuts
from gpugraph.ext.ranks.comm import HostComm, LoneComm
from gpugraph.graph.canonical import weight_words
from gpugraph.graph.csr import WEIGHT_DTYPES, CSRGraph, described, target_dtype
from gpugraph.graph.device_rows import CHECK, NOTHING, DeviceRows
from gpugraph.graph.digest import arc_lanes, finish
from gpugraph.graph.sort_arcs import sort_arcs

OF_THE_GRAPH = ("directed", "name", "source", "notes", "reading", "negative_loop")
"""Attributes of a part that are those of the graph."""

MOST_ARCS = 2**32 - 2**16
"""A rank holds fewer arcs than this, so that a position takes 32 bits; device code indexes 2^31 and more with 64."""


@dataclass(frozen=True, eq=False)
class GraphPart:
    """The rows of one rank.

    Rows that were made on the rank's device lie there; each array comes to the host when something asks for it.

    Attributes:
        cuts: (P + 1,) int64; see above.
        offsets: (rows + 1,) int64, from 0.
        targets: (own arcs,) int32 or int64, in the graph's vertex numbers; ascending inside a row.
        weights: (own arcs,).
        directed, name, source, notes, reading, negative_loop: as in ``CSRGraph``.
        graph: the whole graph where an algorithm for ranks runs without any, else None.
        on_device: the rows on the rank's device, as a graph of all vertices in which the rows of others are empty; None
            where they are on the host alone.
    """

    comm: HostComm
    cuts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    targets: NDArray[Any]
    weights: NDArray[Any]
    directed: bool
    name: str
    source: str
    notes: tuple[str, ...] = ()
    reading: str = ""
    negative_loop: int | None = None
    graph: CSRGraph | None = None
    on_device: DeviceRows | None = None

    vertex_names = None
    printed_names = None

    @classmethod
    def lying_on(cls, rows: DeviceRows, **attributes: Any) -> GraphPart:
        """Return the part of arrays on a device, none copied to the host yet; the others by name."""
        part = object.__new__(cls)
        defaults = {f.name: f.default for f in fields(cls) if f.default is not MISSING}
        part.__dict__.update(defaults | attributes | {"on_device": rows})
        return part

    def changed(self, **changes: Any) -> GraphPart:
        """Return the part with some attributes changed; nothing is copied to the host for it."""
        kept = {f.name: self.__dict__[f.name] for f in fields(self) if f.name in self.__dict__}
        part = object.__new__(type(self))
        part.__dict__.update(kept | changes)
        return part

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return an array that is not on the host yet; called only for what an instance lacks."""
            rows = self.__dict__.get("on_device")
            if rows is None or name not in ("offsets", "targets", "weights"):
                raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
            own = slice(self.first, self.first + self.rows + 1)
            if name == "offsets" and rows.usable:
                array = rows.device.download(rows.offsets[own]).astype(np.int64, copy=False)
            else:
                array = rows.on_host(name)
                array = array[own] if name == "offsets" else array
            return self.__dict__.setdefault(name, array)

    @classmethod
    def of(cls, graph: CSRGraph, comm: HostComm | None = None) -> GraphPart:
        """Return this rank's rows of a graph that all have at hand, a mapped file for instance; without ranks all."""
        whole, comm = comm is None, comm or LoneComm()
        attributes = {name: getattr(graph, name) for name in OF_THE_GRAPH}
        if whole and graph.on_device is not None and graph.on_device.usable:
            cuts = np.array([0, graph.vertices], np.int64)
            return cls.lying_on(graph.on_device, comm=comm, cuts=cuts, graph=graph, **attributes)
        cuts = cls.cuts_of(graph, comm.size)
        first, last = cuts[comm.rank], cuts[comm.rank + 1]
        offsets = np.asarray(graph.offsets[first : last + 1], np.int64)
        low, high = int(offsets[0]), int(offsets[-1])
        rows = offsets - low, np.array(graph.targets[low:high]), np.array(graph.weights[low:high])
        return cls(comm, cuts, *rows, graph=graph if whole else None, **attributes)

    @staticmethod
    def cuts_of(graph: CSRGraph, ranks: int) -> NDArray[np.int64]:
        """Return the (ranks + 1,) cuts that leave about as many arcs and rows to every rank."""
        n, weight = graph.vertices, graph.arcs + graph.vertices

        def before(v: int) -> int:
            return int(graph.offsets[v]) + v

        marks = [weight * r // ranks for r in range(1, ranks)]
        cuts = np.array([0, *(bisect.bisect_left(range(n), mark, key=before) for mark in marks), n], np.int64)
        return np.maximum.accumulate(cuts)  # offsets of a damaged file may fall

    @property
    def first(self) -> int:
        """The first vertex whose row is here."""
        return int(self.cuts[self.comm.rank])

    @property
    def rows(self) -> int:
        """How many rows are here."""
        return int(self.cuts[self.comm.rank + 1]) - self.first

    @property
    def own_arcs(self) -> int:
        """Number of arcs that are here."""
        return len(self.targets) if self.on_device is None else self.on_device.arcs

    @property
    def vertices(self) -> int:
        """Number of vertices of the graph, n."""
        return int(self.cuts[-1])

    @cached_property
    def arcs_of_ranks(self) -> list[int]:
        """The number of arcs of every rank; the first look is a collective."""
        return self.comm.all_gather_object(self.own_arcs)

    @property
    def arcs(self) -> int:
        """Number of arcs of the graph."""
        return sum(self.arcs_of_ranks)

    @property
    def first_arc(self) -> int:
        """The position in the graph of the first arc that is here."""
        return sum(self.arcs_of_ranks[: self.comm.rank])

    @property
    def edges(self) -> int:
        """Number of undirected edges of the graph; of a directed one, its arcs."""
        return self.arcs if self.directed else self.arcs // 2

    @property
    def weight_dtype(self) -> np.dtype[Any]:
        """The dtype of a weight."""
        return self.weights.dtype if self.on_device is None else np.dtype(self.on_device.weights.dtype)

    @property
    def has_negative_weight(self) -> bool:
        """Whether a weight that is here is below zero."""
        if self.weight_dtype.kind == "u" or not self.own_arcs:
            return False
        if self.on_device is not None and self.on_device.usable:
            return self.on_device.has_negative_weight()
        return bool(self.weights.min() < 0)

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """(rows,) out-degrees of the vertices that are here."""
        return np.diff(self.offsets)

    @cached_property
    def digest(self) -> str:
        """The graph's digest; the first look is a collective."""
        code = 2 * WEIGHT_DTYPES.index(self.weight_dtype.name) + int(self.directed)
        lanes = self.comm.all_gather_object(self._sums()[:2])
        sum0, sum1 = (sum(lane) for lane in zip(*lanes, strict=True))
        return finish(sum0, sum1, self.vertices, self.arcs, code)

    def _sums(self) -> tuple[int, ...]:
        """Return both lanes of the digest, and of the signed sum that is 0 over all ranks if the graph is symmetric."""
        found = self._found
        if found is not None:
            return tuple(int(word) for word in found[CHECK["DIGEST"] :])
        words = weight_words(self.weights)[0]
        return tuple(int(lane) for lane in _lanes(self.offsets, self.targets, words, self.first))

    @cached_property
    def _found(self) -> NDArray[np.uint64] | None:
        """What the device found looking at all arcs; None where none does, or something is wrong."""
        if self.on_device is None or not self.on_device.usable:
            return None
        found = self.on_device.validate_and_digest()
        return None if found is None or int(found[CHECK["BAD"]]) != NOTHING else found

    def rows_on(self, device: Device) -> DeviceRows:
        """Return the rows on this rank's device, copied there if they are on the host alone.  Raises OutOfMemory."""
        rows = self.on_device
        if rows is None or rows.device is not device:
            offsets = np.zeros(self.vertices + 1, np.int64)
            offsets[self.first : self.first + self.rows + 1] = self.offsets
            offsets[self.first + self.rows :] = self.offsets[-1]
            arrays = offsets, self.targets.astype(np.int32, copy=False), self.weights
            device.require(sum(array.nbytes for array in arrays))
            there, targets, weights = (device.upload(array) for array in arrays)
            rows = DeviceRows(device, there, targets, weights, gone)
            object.__setattr__(self, "on_device", rows)
        return rows

    def own_rows_on(self, device: Device) -> tuple[Array, Array, Array]:
        """Return the same as (rows + 1,) int64 offsets of the own rows alone, targets and weights."""
        rows = self.rows_on(device)
        if rows.index_dtype != np.int64:  # one device's graph
            return device.upload(self.offsets), rows.targets, rows.weights
        return rows.offsets[self.first : self.first + self.rows + 1], rows.targets, rows.weights

    @property
    def index_dtype(self) -> np.dtype[Any]:
        """The dtype of an arc's position on the device: int64, but for one device's graph."""
        return np.dtype(np.int64) if self.on_device is None else self.on_device.index_dtype

    def bytes_to_place(self, device: Device) -> int:
        """Return the bytes that ``rows_on`` will take on a device."""
        if self.on_device is not None and self.on_device.device is device:
            return 0
        return 8 * (self.vertices + 1) + self.own_arcs * (4 + self.weight_dtype.itemsize)

    def arcs_at(self, positions: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return the (k,) tails, heads and weights of arcs given by their positions here."""
        if self.on_device is not None and self.on_device.usable:
            return self.on_device.ends_and_weights(positions)
        return self.tails(positions), self.targets[positions], self.weights[positions]

    def tails(self, arcs: NDArray[Any]) -> NDArray[np.int64]:
        """Return the tails, in the graph's numbers, of arcs given by their position here."""
        return np.searchsorted(self.offsets, arcs, side="right") - 1 + self.first

    def name_of(self, vertex: int) -> int:
        """Return a vertex for a message."""
        return vertex

    def label(self, vertex: int) -> str:
        """Return a vertex for a message."""
        return str(vertex)

    describe = described

    def disagreement(self, fingerprint: str) -> str | None:
        """Return which rank has another result than rank 0, by digests of them, or None; a collective.

        Ranks that go on with different results may wait for each other for ever.
        """
        marks = self.comm.all_gather_object(fingerprint)
        other = next((rank for rank, mark in enumerate(marks) if mark != marks[0]), None)
        return None if other is None else f"rank {other} has another result than rank 0"

    def symmetrized(self) -> GraphPart:
        """Return the undirected graph of a directed one: the lighter arc of a pair wins; says so in a note."""
        if not self.directed:
            return self
        tails = self.tails(np.arange(len(self.targets)))
        both = np.concatenate([tails, self.targets]), np.concatenate([self.targets, tails])
        part, _, own = sorted_part(self, *both, np.concatenate([self.weights, self.weights]), self.cuts)
        unequal = sum(self.comm.all_gather_object(own)) // 2
        single = part.arcs - self.arcs
        said = f"{counted(single, 'edge')} had one arc only, {unequal} had unequal arcs (the lighter won)"
        return part.changed(directed=False, notes=(*self.notes, f"symmetrised: {said}"))

    def check(self) -> None:
        """Check the structure of rows that were only mapped, as ``check_structure`` does of a whole graph.

        Raises GraphFormatError on the rank that holds what is wrong, or on all where an arc has no equal reverse.
        """
        remedy = "the file is damaged: fetch or convert it again"
        sound = self.on_device is not None and self._found is not None
        if not all(self.comm.all_gather_object(sound)):
            fault = self._first_fault()
            for message in self.comm.all_gather_object(fault):
                if message is not None:
                    raise GraphFormatError(message, path=self.source, remedy=remedy)
        if self.directed:
            return
        signed = zip(*self.comm.all_gather_object(self._sums()[2:]), strict=True)
        if any(sum(lane) % 2**64 for lane in signed):
            what = "declared undirected, but some arc has no reverse of equal weight"
            raise GraphFormatError(what, path=self.source, remedy=remedy)

    def _first_fault(self) -> str | None:
        """Return what the host finds wrong with the rows, or None."""
        if len(self.offsets) and (self.offsets[-1] != len(self.targets) or (np.diff(self.offsets) < 0).any()):
            return "its offsets do not ascend"
        if (row := _first_bad_row(self.offsets, self.targets, self.first, self.vertices)) >= 0:
            return f"the row of vertex {row + self.first} is not ascending, holds a loop, or leaves the graph"
        if self.weights.dtype.kind == "f" and np.isnan(self.weights).any():
            return "a weight is not a number"
        if self.weights.dtype.kind == "f" and (np.signbit(self.weights) & (self.weights == 0)).any():
            return "a weight is -0.0"
        return None


def gone() -> CSRGraph:
    """Stand in for what would make the rows anew: no rank could."""
    raise GpuGraphError("the part of a graph went with its device")


def sent_to_owners(
    comm: HostComm, cuts: NDArray[np.int64], vertices: NDArray[Any], *arrays: NDArray[Any]
) -> list[NDArray[Any]]:
    """Send element k of each of (k,) ``arrays`` to the rank that owns ``vertices[k]``; return what came; collective."""
    owner = np.searchsorted(cuts[1:-1], vertices, side="right")
    order = np.argsort(owner, kind="stable")
    ends = np.searchsorted(owner[order], np.arange(comm.size + 1))
    came = []
    for array in arrays:
        ordered = array[order]
        came.append(np.concatenate(comm.all_to_all([ordered[low:high] for low, high in pairwise(ends)])))
    return came


def sorted_part(
    like: GraphPart,
    tails: NDArray[Any],
    heads: NDArray[Any],
    weights: NDArray[Any],
    cuts: NDArray[np.int64] | None = None,
) -> tuple[GraphPart, int, int]:
    """Bring arcs to the ranks that hold their tails and sort them into rows; parallel ones are merged.

    Return the part, and how many arcs were merged: into any other, and into one of another weight.
    ``like`` has the ranks, vertices and name; tails, heads and weights, (k,), are what this rank has, without loops;
    without ``cuts`` the ranks get about as many arcs each.
    """
    comm, n = like.comm, like.vertices
    cuts, index = _balanced(comm, tails, n) if cuts is None else cuts, target_dtype(n)
    tails, heads, weights = sent_to_owners(comm, cuts, tails, tails.astype(index), heads.astype(index), weights)
    first, last = int(cuts[comm.rank]), int(cuts[comm.rank + 1])
    rows = sort_arcs(tails, heads, weights, n, mirrored=False)
    counts = comm.all_gather_object(len(rows.targets))
    if max(counts) >= MOST_ARCS:
        remedy = "use more ranks"
        raise OutOfMemory(f"{max(counts)} arcs of one rank do not fit in 32 bits", where=like.name, remedy=remedy)
    offsets = rows.offsets[first : last + 1].copy()  # nothing lies before
    arrays = {"offsets": offsets, "targets": rows.targets, "weights": rows.weights}
    part = like.changed(cuts=cuts, **arrays, graph=None, on_device=None)
    return part, rows.merged, rows.unequal


def require_together(comm: HostComm, needed: int, what: str) -> None:
    """Raise OutOfMemory, on all ranks alike, if some machine has no room for what its ranks need together."""
    import socket

    replies = comm.all_gather_object((socket.gethostname(), needed, available_memory()))
    hosts = {host for host, _, _ in replies}
    for host in hosts:
        wanted = sum(need for name, need, _ in replies if name == host)
        free = min(room for name, _, room in replies if name == host)
        if wanted > free:
            total = in_units(sum(need for _, need, _ in replies))
            there = in_units(sum(min(room for name, _, room in replies if name == one) for one in hosts))
            problem = f"needs about {total} of memory on {comm.size} ranks and {there} are available"
            raise OutOfMemory(problem, where=what, remedy="ask for a smaller graph, or use more machines")


def require_on_devices(comm: HostComm, device: Device, needed: int, what: str) -> None:
    """Raise OutOfMemory, on all ranks alike, if work does not fit on some rank's device."""
    if comm.size == 1:
        device.require(needed)
        return
    replies = comm.all_gather_object((needed, int(device.memory()[0])))
    if any(need > free for need, free in replies):
        total, there = (in_units(sum(column)) for column in zip(*replies, strict=True))
        remedy = "ask for a smaller graph, or use more devices"
        raise OutOfMemory(f"needs about {total} on {comm.size} devices and {there} are free", where=what, remedy=remedy)


_BUCKETS = 1 << 16


def _balanced(comm: HostComm, tails: NDArray[Any], vertices: int) -> NDArray[np.int64]:
    """Return cuts that leave about as many arcs and rows to every rank, at the ends of buckets of vertices."""
    width = max(1, -(-vertices // _BUCKETS))
    buckets = -(-vertices // width) if vertices else 0
    weight = np.bincount(tails // width, minlength=buckets).astype(np.int64)
    comm.all_reduce(weight, "sum")
    return balanced_cuts(weight, width, vertices, comm.size)


@njit
def _lanes(offsets: Any, targets: Any, words: Any, first: int) -> Any:
    """Return the sums of both lanes of the digest over these rows, and of the signed sum: see ``graph/check.py``."""
    sum0, sum1, signed0, signed1 = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
    for row in range(len(offsets) - 1):
        u = first + row
        for i in range(offsets[row], offsets[row + 1]):
            v = targets[i]
            lane0, lane1 = arc_lanes(u, v, words[i])
            sum0 += lane0
            sum1 += lane1
            if u < v:
                signed0 += lane0
                signed1 += lane1
            else:
                lane0, lane1 = arc_lanes(v, u, words[i])
                signed0 -= lane0
                signed1 -= lane1
    return sum0, sum1, signed0, signed1


@njit
def up_arcs(offsets: Any, targets: Any, first: int) -> Any:
    """Return the positions, ascending, of the arcs to a greater vertex in rows that begin with vertex ``first``."""
    count = 0
    for row in range(len(offsets) - 1):
        for i in range(offsets[row], offsets[row + 1]):
            count += targets[i] > first + row
    out, at = np.empty(count, np.int64), 0
    for row in range(len(offsets) - 1):
        for i in range(offsets[row], offsets[row + 1]):
            if targets[i] > first + row:
                out[at] = i
                at += 1
    return out


@njit
def _first_bad_row(offsets: Any, targets: Any, first: int, vertices: int) -> int:
    for row in range(len(offsets) - 1):
        before = -1
        for i in range(offsets[row], offsets[row + 1]):
            if targets[i] <= before or targets[i] >= vertices or targets[i] == first + row:
                return row
            before = targets[i]
    return -1


class UndirectedParts:
    """What problems of undirected graphs answer alike where each rank has its part of one."""

    counter_examples = ""  # no rank has the graph to draw it

    def admit(self, part: Any) -> Any:
        """Return this rank's part of the undirected graph."""
        return part.symmetrized()

    def auto(self, part: Any, device_kind: str) -> str:
        """Return the one algorithm that there is."""
        return "boruvka-distributed"
