"""Delta-stepping over ranks: each owns the vertices of its rows, and sends offers to the owners of all others.

    while a distance is left:
        the least distance that is not settled, of all ranks, begins a bucket
        while a rank has near vertices, or messages are under way:
            relax the arcs of the near vertices
            send the best offer to every vertex of another rank, but none that was made before
            take what arrives

An offer is the distance and the vertex in its owner's numbers: 8 bytes, or 12 of 64-bit distances.  Distances of
integers start with 32 bits, and with 64 once a sum did not fit on any rank.

On GPUs and the emulated device the steps are the kernels of ``cuda_kernels/delta_stepping_distributed.cu``, on the CPU
those of ``delta_stepping_distributed_cpu.py``.

Source: Meyer & Sanders 2003, Δ-stepping: a parallelizable shortest path algorithm; Chakaravarthy et al. 2014, Scalable
single source shortest path algorithms for massively parallel systems.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpugraph.clock import Clock
from gpugraph.devices.base import Array, Device, Kernel
from gpugraph.devices.kernel_file import Arrays, ArrayTable, KernelFile, needs, unsigned
from gpugraph.errors import InputError
from gpugraph.problems.algorithm import Algorithm, Option
from gpugraph.problems.contraction import part_behind
from gpugraph.problems.registry import register
from gpugraph.problems.sssp.distances import DISTANCE_SETS, Distances, distance_bytes, distances_from_words
from gpugraph.problems.sssp.on_ranks import refuse_wrapped_sums
from gpugraph.ranks.comm import Comm, comm_for
from gpugraph.ranks.part import GraphPart, require_on_devices

FILE = KernelFile(
    "delta_stepping_distributed.cu",
    [{name: sets[name] for name in ("WEIGHT", "DISTANCE_BITS")} for sets in DISTANCE_SETS],
)
FAR_COUNT, NEXT_COUNT, OVERFLOWED, PIECES, BY_OWNER = range(5)
"""Places in ``counts``, here again for the CPU, which reads no .cu file."""
_SAMPLE = 1 << 16


class Search(Protocol):
    """The vertices of one rank, and the steps of a phase."""

    part: GraphPart
    comm: Comm
    delta: float
    bits: int

    def start(self, source: int, bits: int) -> None:
        """Forget all distances but the source's, held in so many bits from now on."""
        ...

    def relax(self) -> None:
        """Relax the arcs of the near vertices."""
        ...

    def all_counts(self) -> NDArray[np.int64]:
        """Return (P, …) the ``counts`` of every rank, see delta_stepping_distributed.cu; a collective."""
        ...

    def send(self, sent: list[int], received: list[int]) -> None:
        """Exchange offers, so many with each rank, and take what arrives."""
        ...

    def least(self) -> NDArray[Any]:
        """Return (1,): the least distance of a far vertex that is not settled, or the largest word."""
        ...

    def next_bucket(self, least: Any) -> None:
        """Let the vertices up to a bucket's width beyond ``least`` be near."""
        ...


def search(state: Search, clock: Clock, source: int) -> bool:
    """Find all distances; return False where a sum did not fit."""
    comm = state.comm
    overflowed = False
    while True:
        with clock.phase("advance"):
            least = state.least()
            comm.host.all_reduce(least, "min")
            if least[0] == np.iinfo(least.dtype).max:
                return not overflowed
            state.next_bucket(least[0])
            clock.count("buckets")
        under_way = True
        while under_way:
            with clock.phase("relax"):
                state.relax()
            with clock.phase("exchange"):
                table = state.all_counts()
                messages = table[:, BY_OWNER:]
                overflowed |= bool(table[:, OVERFLOWED].any())
                if overflowed and state.bits == 32:
                    return False
                if messages.any():
                    state.send(messages[comm.rank].tolist(), messages[:, comm.rank].tolist())
            under_way = bool(messages.any() or table[:, NEXT_COUNT].any())
            clock.count("rounds")
            clock.count("messages", int(messages.sum()))


def chosen_delta(part: GraphPart) -> float:
    """Return a bucket width for the graph: half the mean finite weight; a collective.

    Wider than on one device: every phase costs the ranks a round of messages, and relaxing an arc again costs little.
    """
    evenly = np.arange(0, part.own_arcs, max(1, part.own_arcs // _SAMPLE))
    sample = part.arcs_at(evenly)[2].astype(np.float64)
    sample = sample[np.isfinite(sample)]
    top: float = max(part.comm.share(float(sample.max(initial=0.0))))
    if top <= 0:
        return 1.0
    shares = part.comm.share((float(np.sum(sample / top)), len(sample)))  # the sum of large weights would overflow
    mean: float = top * (sum(total for total, _ in shares) / sum(count for _, count in shares))
    return min(max(mean / 2, 1e-300), 1e300)


def arrays(part: GraphPart) -> ArrayTable:
    """Return the arrays of a rank whatever the width of distances (meaning: delta_stepping_distributed.cu)."""
    n, rows, counts = part.vertices, part.rows, BY_OWNER + part.comm.size
    return {
        "marks": (n, np.uint32),
        **dict.fromkeys(("near", "next", "far", "far_out"), (rows, np.int32)),
        "out": (most_received(part), np.int32),
        "vertex": (n, np.int32),
        "pieces": (2 * part.own_arcs // FILE["PIECE"] + 1, np.uint64),
        "counts": (counts, np.uint32),
        "size": (1, np.uint32),
        "table": (part.comm.size * counts, np.uint32),
    }


def most_received(part: GraphPart) -> int:
    """Return how many messages may come in a phase, or be sent if that is more: each rank sends a vertex once."""
    return max(part.vertices, (part.comm.size - 1) * part.rows)


class DeviceSearch(Arrays):
    """The vertices of a rank on its device (arrays and kernels: delta_stepping_distributed.cu)."""

    near: Array
    next: Array
    far: Array
    far_out: Array

    def __init__(self, part: GraphPart, device: Device, delta: float):
        self.part, self.delta = part, delta
        self.comm = comm_for(part.comm, device)
        n, rows, table = part.vertices, part.rows, arrays(part)
        graph = part.bytes_to_place(device)
        require_on_devices(
            part.comm, device, graph + needs(table) + 8 * (2 * n + most_received(part)) + 4096, part.name
        )
        super().__init__(device, table)
        self.offsets, self.targets, self.weights = part.own_rows_on(device)
        self.cuts = device.upload(part.cuts.astype(np.int32))
        self.first, self.last = np.int32(part.first), np.int32(part.first + rows)
        self.ranks = np.int32(part.comm.size)
        self.group_shift = np.int32(min(5, max(2, math.ceil(math.log2(1.5 * max(part.own_arcs / max(rows, 1), 1))))))
        self.bits = 0
        self.distance: Any = None
        self.word: Any = None
        self.arrived: Any = None

    def start(self, source: int, bits: int) -> None:
        """Forget all distances but the source's, held in so many bits from now on."""
        device, part = self.device, self.part
        if bits != self.bits:
            self.bits, self.dtype = bits, np.dtype(f"uint{bits}")
            self.distance = self.word = self.arrived = None  # the narrow ones go first
            self.distance, self.word = (device.empty(part.vertices, self.dtype) for _ in range(2))
            self.arrived = device.empty(most_received(part), self.dtype)
            self.best = device.empty(1, self.dtype)
            self.kernels = load_kernels(part, device, bits)
        self.unreached = self.dtype.type(np.iinfo(self.dtype).max)
        device.fill(self.distance, self.unreached)
        device.fill(self.marks, 0)
        device.fill(self.counts, 0)
        self.base = self.limit = self.dtype.type(0)
        if self.first <= source < self.last:
            device.fill(self.distance[source : source + 1], 0)
            device.fill(self.marks[source : source + 1], FILE["FAR"])
            device.fill(self.far[:1], source)
            device.fill(self.counts[FAR_COUNT : FAR_COUNT + 1], 1)

    def _search(self) -> tuple[Any, ...]:
        """Return what the kernels take as ``Search``."""
        lists = (self.limit, self.distance, self.marks, self.next, self.far, self.out, self.counts)
        return (self.first, self.last, self.ranks, self.cuts, *lists)

    def relax(self) -> None:
        """Relax the arcs of the near vertices."""
        device, rows = self.device, self.part.rows
        self.near, self.next = self.next, self.near
        device.copy(self.size, self.counts[NEXT_COUNT : NEXT_COUNT + 1])
        device.fill(self.counts[NEXT_COUNT:], 0)
        graph = (self.offsets, self.targets, self.weights)
        near = (self.size, self.near, self.group_shift)
        self.launch("relax", rows << int(self.group_shift), *near, *graph, *self._search(), self.pieces)
        if self.pieces.size > 1:
            self.launch("relax_pieces", 32 * self.pieces.size, self.pieces, *graph, *self._search())

    def all_counts(self) -> NDArray[np.int64]:
        """Return (P, …) the ``counts`` of every rank; a collective."""
        device, width = self.device, self.counts.size
        device.fill(self.table, 0)
        device.copy(self.table[self.comm.rank * width : (self.comm.rank + 1) * width], self.counts)
        self.comm.all_reduce(self.table, "sum")
        return device.download(self.table).astype(np.int64).reshape(self.comm.size, width)

    def send(self, sent: list[int], received: list[int]) -> None:
        """Exchange offers, so many with each rank, and take what arrives."""
        size = sum(sent)
        packed = (self.cuts, self.counts, self.vertex, self.word)
        self.launch("pack", size, np.uint32(size), self.out, self.distance, self.marks, *packed)
        vertex = self.comm.all_to_all_v(self.vertex[:size], sent, received, self.out)  # which has been packed
        word = self.comm.all_to_all_v(self.word[:size], sent, received, self.arrived)
        lists = (self.limit, self.distance, self.marks, self.next, self.far, self.counts)
        self.launch("receive", sum(received), np.uint32(sum(received)), vertex, word, self.first, *lists)

    def least(self) -> NDArray[Any]:
        """Return (1,): the least distance of a far vertex that is not settled, or the largest word."""
        self.device.fill(self.best, self.unreached)
        arrays = (self.counts[FAR_COUNT : FAR_COUNT + 1], self.far, self.distance, self.limit, self.best)
        self.launch("least", self.part.rows, *arrays)
        return self.device.download(self.best)

    def next_bucket(self, least: Any) -> None:
        """Let the vertices up to a bucket's width beyond ``least`` be near."""
        self.base, self.limit = self.limit, beyond(least, self.delta, self.part.weight_dtype)
        self.device.copy(self.size, self.counts[FAR_COUNT : FAR_COUNT + 1])
        self.device.fill(self.counts, 0)
        limits = (self.far, self.distance, self.base, self.limit)
        self.launch("split", self.part.rows, self.size, *limits, self.marks, self.next, self.far_out, self.counts)
        self.far, self.far_out = self.far_out, self.far

    def own_words(self) -> NDArray[Any]:
        """Return the (rows,) words of the vertices that are here."""
        return self.device.download(self.distance[int(self.first) : int(self.last)])


def beyond(least: Any, delta: float, weights: np.dtype[Any]) -> Any:
    """Return the word of the distance ``least`` and ``delta`` more, above ``least`` in any case."""
    word = least.dtype
    most = np.iinfo(word).max
    if weights.kind != "f":
        return word.type(min(int(least) + max(1, min(int(delta), most)), most))
    value = np.array([least]).view(weights)[0]
    with np.errstate(over="ignore"):
        further = weights.type(min(float(value) + delta, float(np.finfo(weights).max)))
    further = max(further, np.nextafter(value, weights.type(np.inf)))
    return word.type(most) if np.isinf(further) else np.array([further]).view(word)[0]


def load_kernels(part: GraphPart, device: Device, bits: int) -> dict[str, Kernel]:
    """Return the kernels for a part and a width of distances by their names, compiled if need be."""
    return FILE.kernels(device, {"WEIGHT": unsigned(part.weight_dtype), "DISTANCE_BITS": bits})


def _widths(weights: np.dtype[Any]) -> tuple[int, ...]:
    """Return the widths that distances are tried in, one after the other."""
    return (32, 64) if weights.kind != "f" and weights.itemsize == 4 else (8 * weights.itemsize,)


def compile_(subject: Any, device: Any, *, delta: float = 0.0) -> None:
    """Compile the kernels, outside of any timing."""
    if device.kind != "cpu":
        part = part_behind(subject)
        for bits in _widths(part.weight_dtype):
            load_kernels(part, device, bits)


def prepare(subject: Any, device: Any, *, delta: float = 0.0) -> Search:
    """Return the vertices of this rank.

    Raises:
        InputError: ``delta`` is negative or not finite.
    """
    if not (math.isfinite(delta) and delta >= 0):
        raise InputError(f"option 'delta' is {delta}", remedy="give a positive width, or 0 to have it chosen")
    part = part_behind(subject)
    width = delta or chosen_delta(part)
    if device.kind != "cpu":
        return DeviceSearch(part, device, width)
    from gpugraph.problems.sssp.delta_stepping_distributed_cpu import HostSearch

    return HostSearch(part, width)


def run(state: Search, clock: Clock, source: int) -> bool:
    """Find the distances; returns whether a sum of 64 bits overflowed on some rank."""
    fits = False
    for bits in _widths(state.part.weight_dtype):
        state.start(source, bits)
        fits = search(state, clock, source)
        if fits:
            break
    return not fits


def fetch(state: Any, overflowed: bool) -> tuple[NDArray[Any], bool]:
    """Copy the words of this rank's vertices to the host."""
    return state.own_words(), overflowed


def finish(state: Any, raw: tuple[NDArray[Any], bool], source: int) -> Distances:
    """Return the distances of all vertices; a collective.

    Raises:
        InputError: a vertex can be reached only by paths longer than 64 bits hold.
    """
    part: GraphPart = state.part
    words, overflowed = raw
    everything = np.concatenate(part.comm.all_gather_v(words))
    found = distances_from_words(part.graph or part, source, everything)  # type: ignore[arg-type]
    if overflowed:
        refuse_wrapped_sums(part, source, found.raw)
    return found


register(
    Algorithm(
        problem="sssp",
        name="delta-stepping-distributed",
        devices=("cpu", "cuda", "emulated"),
        summary="delta-stepping over ranks: vertices by owner, the best new offers packed and sent in every phase",
        authors="Meyer, Sanders; Chakaravarthy et al.",
        year=2014,
        section="Δ-stepping 2003, §2; Scalable single source shortest path algorithms, section III",
        prepare=prepare,
        run=run,
        fetch=fetch,
        finish=finish,
        compile=compile_,
        minimum_bytes=distance_bytes,
        options=(Option("delta", float, 0.0, "width of a bucket; 0 takes half the mean weight"),),
        resident=False,
        ranks=True,
    )
)
