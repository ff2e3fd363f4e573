"""Delta-stepping over ranks: each owns the distances of its vertices, and all arcs that lead to them.

    while a vertex of some rank is pending, which is one whose distance has fallen since it was last sent:
        all ranks agree on which of the nearest are near
        all near vertices, each with its distance, go to every rank
        each rank relaxes the arcs from them to its own vertices

Only its owner lowers a distance, and knows it, so that each rank prunes as one device does.  An entry is a vertex and
its distance: 8 bytes, or 16 of 64-bit distances.  Distances of integers start with 32 bits, and with 64 once a sum
that may be needed did not fit on some rank.

In dense graphs, as soon as many vertices are pending, a horizon is set a window beyond the nearest of them.  Sums from
it on are left alone until everything within is settled; then the vertices beyond ask all ranks for their best offers
from within.

Where the GPUs of all ranks can write into each other's memory, as on one machine, one launch makes all rounds, in which
the ranks agree and exchange their lists without the host; elsewhere each step is a launch or a message.

On GPUs and the emulated device the steps are the kernels of ``cuda_kernels/delta_stepping_distributed.cu``, on the CPU
those of ``delta_stepping_distributed_cpu.py``.

Source: Meyer & Sanders 2003, Δ-stepping: a parallelizable shortest path algorithm; Chakaravarthy et al. 2014, Scalable
single source shortest path algorithms for massively parallel systems; Dong, Gu, Sun & Zhang 2021, Efficient stepping
algorithms and implementations for parallel shortest paths.
"""

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import Clock
from gpugraph.base.errors import InputError
from gpugraph.devices.base import Array, Defines, Device, Kernel
from gpugraph.devices.kernel_file import Arrays, ArrayTable, KernelFile, index_dtype, index_types, needs, unsigned
from gpugraph.ext.ranks.contraction import Subject, part_behind
from gpugraph.ext.ranks.mapped import GRAIN, MappedBlock, mapped_block
from gpugraph.ext.ranks.part import GraphPart, require_on_devices
from gpugraph.ext.ranks.sssp import delta_stepping_distributed_cpu as host
from gpugraph.ext.ranks.sssp.on_ranks import refuse_wrapped_sums
from gpugraph.ext.ranks.transports import comm_for
from gpugraph.graph.digest import array_digest
from gpugraph.problems.algorithm import Option
from gpugraph.problems.registry import add_algorithm
from gpugraph.problems.sssp.arcs import FLOAT64, SUMS, distance_dtype, sums_of, word_bits
from gpugraph.problems.sssp.distances import Distances, distance_bytes, distances_from_words
from gpugraph.problems.sssp.gpu_words import DISTANCE_SETS

FILE = KernelFile(
    "delta_stepping_distributed.cu", [DISTANCE_SETS[i] for i in (0, 2, 3, 5, 7, 10)]
)  # every type and sum, and both widths of positions
ARCS_OF_A_THREAD = 8
"""Of a small graph, so that few threads wait for each other."""


def search(state: "DeviceSearch | host.HostSearch", clock: Clock, source: int) -> bool:
    """Find all distances; return False where a sum did not fit."""
    if isinstance(state, DeviceSearch) and state.mapped is not None:
        return search_without_host(state, clock)
    overflowed = False
    while True:
        with clock.phase("survey"):
            table = state.survey()
        overflowed |= bool(table[:, host.OVERFLOWED].any())
        if overflowed and state.bits == 32:
            return False
        waiting = table[:, host.BY_BIN :]
        if waiting.any() and within(state, int(waiting.sum()), ~table[:, host.LEAST_PENDING]):
            # NumPy 2.5 says that the sum of unsigned numbers is signed.
            bins = near_bins(state, waiting.sum(axis=0), ~table[:, host.LEAST_PENDING])  # type: ignore[arg-type,unused-ignore]
            counts = waiting[:, :bins].sum(axis=1).tolist()
            with clock.phase("exchange"):
                state.gather(bins, counts)
            with clock.phase("relax"):
                state.relax()
            clock.count("rounds")
            clock.count("entries", sum(counts))
        elif state.light_from is not None:
            with clock.phase("cross"):
                state.cross()
        else:
            return not overflowed


def within(state: "DeviceSearch | host.HostSearch", waiting: int, least: NDArray[np.uint64]) -> bool:
    """Set the horizon if so many are waiting for the first time; tell whether the nearest lies within it."""
    nearest = int(least.min())
    if state.waits and waiting >= host.mass_of(state.part):
        state.set_horizon(nearest)
    return state.light_from is None or nearest < state.horizon_word


def search_without_host(state: "DeviceSearch", clock: Clock) -> bool:
    """Find all distances by launches that make rounds by themselves; return False where a sum did not fit."""
    while True:
        plan = state.rounds(clock)
        if plan["DID_NOT_FIT"] and state.bits == 32:
            return False
        if state.light_from is None:
            clock.count("rounds", plan["ROUNDS_DONE"])
            clock.count("entries", plan["ENTRIES"])
            entry_words = FILE.constant("ENTRY_WORDS", {"DISTANCE_BITS": state.bits})
            words = plan["ROUNDS_DONE"] * len(state.own_table) + plan["SENT"] * entry_words
            state.comm.bytes_sent += 8 * words * (state.comm.size - 1)
            return not plan["DID_NOT_FIT"]
        with clock.phase("cross"):
            state.cross()


def near_bins(state: "DeviceSearch | host.HostSearch", waiting: NDArray[np.uint64], least: NDArray[np.uint64]) -> int:
    """Return how many of the nearest bins are near: a width from the least distance on, and a share of all vertices."""
    upto = np.cumsum(waiting)
    share = state.part.vertices // state.widths.share if state.widths.share and not state.waits else 0
    wanted = min(max(share, 1), int(upto[-1]))
    nearest = host.value_of(least.min(), state.dtype)
    to_width: int = state.bins_to(nearest + state.widths.delta)
    return max(int(np.searchsorted(upto, wanted)) + 1, to_width)


class DeviceSearch(Arrays):
    """The vertices of a rank on its device (arrays and kernels: delta_stepping_distributed.cu).

    Attributes:
        widest: the arrays of distances of the most bits that are tried; those of fewer lie at their beginning.
        mapped: what all ranks write into, or None where they cannot; then the host sees to every step.
    """

    mapped: MappedBlock | None = None

    def __init__(self, part: GraphPart, device: Device, widths: host.Widths, sums: str = FLOAT64):
        self.dtype = distance_dtype(part.weight_dtype, sums)
        self.part, self.widths, self.block = part, widths, FILE["MOST_BLOCK"]
        self.comm = comm_for(part.comm, device)
        self.pulls = not part.directed and widths.window < math.inf
        turned = host.in_arcs_of(part, widths.window) if part.directed else None
        self.arcs = part.own_arcs if turned is None else len(turned.heads)
        widths_tried = widths_of(part.weight_dtype, sums)
        table, narrow, words = self._arrays(), widths_tried[0], self._words(widths_tried[-1])
        needed = part.bytes_to_place(device) + needs(table) + needs(words) + needs(self._turned_arrays())
        require_on_devices(part.comm, device, needed + 4 * part.vertices + GRAIN, part.name)
        super().__init__(device, table)
        self.own_offsets, targets, weights = part.own_rows_on(device)
        self.bits = 0
        self.kernels = load_kernels(self.arcs, part.weight_dtype, device, narrow)
        self.widest = {name: device.empty(*form) for name, form in words.items() if name != "entries"}
        self._map_entries(widths_tried[-1] // 32 * part.vertices)
        self.turned = self._turn(targets, weights, narrow) if turned is None else turned.on(device)

    def _arrays(self) -> ArrayTable:
        """Return the arrays of a rank whatever the width of distances."""
        width = host.BY_BIN + FILE.constant("MOST_BINS", {"DISTANCE_BITS": 64})
        return {
            "pending": (self.part.rows // 32 + 1, np.uint32),
            "hub_entry": (self._hubs, np.int32),
            "hub_first_piece": (self._hubs, np.uint64),
            "hub_pieces": (1, np.uint64),
            "control": (FILE["CONTROL_WORDS"], np.uint32),
            "tables": (self.part.comm.size * width, np.uint64),
            "plan": (FILE["PLAN_WORDS"], np.uint64),
        }

    @property
    def _hubs(self) -> int:
        return self.arcs // FILE["HUB_ROW"] + 1

    def _words(self, bits: int) -> ArrayTable:
        """Return the arrays of distances of so many bits."""
        n, word = self.part.vertices, np.dtype(f"uint{bits}")
        return {
            "entries": (bits // 32 * n, np.uint64),
            "distance": (self.part.rows, word),
            "best": (n if self.pulls else 0, word),
            "hub_length": (self._hubs, word),
        }

    def _turned_arrays(self) -> ArrayTable:
        n, arcs = self.part.vertices, self.arcs
        return {
            "offsets": (n + 1, np.int64),
            "light": (n, np.uint32),
            "heads": (arcs, np.int32),
            "weights": (arcs, np.dtype(unsigned(self.part.weight_dtype))),
        }

    def _turn(self, targets: Array, weights: Array, bits: int) -> host.InArcs:
        """Return the rows by head of a graph that has both arcs of every edge, made on the device."""
        device, n, arcs = self.device, np.int32(self.part.rows), np.int64(self.arcs)
        left = device.full(self.part.vertices, 0, np.uint32)
        self.launch("count", self.arcs, arcs, targets, left)
        offsets = np.zeros(self.part.vertices + 1, np.int64)
        np.cumsum(device.download(left), out=offsets[1:])
        made = {name: device.empty(count, dtype) for name, (count, dtype) in self._turned_arrays().items()}
        device.copy(made["offsets"], device.upload(offsets))
        device.fill(made["light"], 0)
        turned = host.InArcs(**made)
        own = (self.own_offsets, targets, weights, self._word(self.widths.window, bits))
        if self.arcs:
            filled = (turned.offsets, left, turned.light, turned.heads, turned.weights)
            self.launch("turn", -(-self.arcs // FILE["TILE"]) * FILE["WARP"], n, arcs, *own, *filled)
        device.synchronize()
        return turned

    def _word(self, value: float, bits: int) -> Any:
        return np.dtype(f"uint{bits}").type(host.word_of(value, self.dtype, bits))

    def start(self, source: int, bits: int) -> None:
        """Forget all distances but the source's, held in so many bits from now on."""
        device, part = self.device, self.part
        if bits != self.bits:
            for name, array in self.widest.items():
                count, dtype = self._words(bits)[name]
                setattr(self, name, array.view(dtype)[:count])
            self.bits = bits
            self.kernels = load_kernels(self.arcs, part.weight_dtype, device, bits)
            bins = host.BY_BIN + FILE.constant("MOST_BINS", {"DISTANCE_BITS": bits})
            self.table = self.tables[: part.comm.size * bins]
            self.own_table = self.table[self.comm.rank * bins : (self.comm.rank + 1) * bins]
        self.base, self.unreached = self._word(0, bits), self._word(math.inf, bits)
        self.waits, self.light_from, self.horizon = self.widths.window < math.inf, None, self.unreached
        device.fill(self.distance, self.unreached)
        device.fill(self.pending, 0)
        device.fill(self.control, 0)
        device.fill(self.plan[FILE["EPOCH"] + 1 :], 0)
        own = source - part.first
        if 0 <= own < part.rows:
            device.fill(self.distance[own : own + 1], 0)
            device.fill(self.pending[own // 32 : own // 32 + 1], 1 << own % 32)

    @property
    def horizon_word(self) -> int:
        """The horizon as a word; the largest where there is none."""
        return int(self.horizon)

    def set_horizon(self, nearest: int) -> None:
        """Leave sums alone from a window beyond the nearest vertex on."""
        self._take_horizon(nearest, host.word_beyond(nearest, self.widths.window, self.dtype, self.bits))

    def _take_horizon(self, nearest: int, horizon: int) -> None:
        word = self.unreached.dtype.type
        self.waits, self.horizon = False, word(horizon)
        self.light_from = None if self.horizon == self.unreached else word(nearest)

    def _map_entries(self, words: int) -> None:
        """Have a block of memory that all ranks write into, where that can be; a collective."""
        comm = self.part.comm
        first = FILE["FLAGS"] + 2 * comm.size * FILE["MOST_REPORT_WORDS"]
        if comm.size <= FILE["FLAGS"]:
            self.mapped = mapped_block(comm, self.device, first + words)
        if self.mapped is None:
            self.entries = self.device.empty(words, np.uint64)
        else:
            self.entries = self.mapped.own[first : first + words]
        self.device.fill(self.plan, 0)

    def rounds(self, clock: Clock) -> dict[str, int]:
        """Make rounds until nothing is pending any more, and return the words of the kernel's plan; a collective."""
        device, part, comm, mapped = self.device, self.part, self.comm, self.mapped
        assert mapped is not None, "ranks that cannot write into each other's memory"
        kernel, spent = self.kernels["rounds"], FILE["SPENT"]
        device.fill(self.control[FILE["ARRIVALS"] : FILE["ARRIVALS"] + 1], 0)
        device.fill(self.plan[FILE["ENDED"] : FILE["ENDED"] + 1], 0)
        device.fill(self.own_table, 0)
        share = part.vertices // self.widths.share if self.widths.share else 0
        who = (np.int32(comm.size), np.int32(comm.rank), mapped.own, mapped.addresses)
        takes = (np.int32(part.rows), np.int32(part.first), np.uint32(share), np.float64(self.widths.delta))
        window = self.turned.weights.dtype.type(self.widths.window if self.waits else 0)
        reach = (np.float64(self.widths.units), np.int32(not self.waits), np.uint32(host.mass_of(part)), window)
        rest = (*self._graph(), self.distance, self.pending, *self._put_aside(), self.own_table, self.plan)
        args = (*who, *takes, *reach, *rest)
        wanted = max(part.rows, self.arcs // ARCS_OF_A_THREAD)
        kernel(max(1, min(-(-wanted // self.block), kernel.resident_blocks(self.block))), self.block, args)
        words = device.download(self.plan).tolist()
        plan = {name: words[place] for name, place in FILE.enumerators("Plan").items() if place < spent}
        if clock.timing:
            self._tell(clock, words[spent:])
        if self.waits and plan["HORIZON"]:
            self._take_horizon(plan["LIGHT_FROM"], plan["HORIZON"])
        return plan

    def survey(self) -> NDArray[np.uint64]:
        """Return (P, REPORT_WORDS) what every rank reports; a collective."""
        device, ranks = self.device, self.comm.size
        device.fill(self.table, 0)
        what = (np.int32(self.part.rows), self.distance, self.pending, self.base, np.float64(self.widths.units))
        self.launch("survey", self.pending.size, *what, self.control, self.hub_pieces, self.own_table)
        self.comm.all_reduce(self.table, "sum")
        table: NDArray[np.uint64] = device.download(self.table).reshape(ranks, -1)
        self.surveyed, least = self.base, (~table[:, host.LEAST_PENDING]).min()
        if least < self.unreached:
            self.base = self.base.dtype.type(least)  # nothing will ever be nearer
        return table

    def bins_to(self, distance: float) -> int:
        """Return how many bins begin before a distance."""
        base = host.value_of(self.surveyed, self.dtype)
        return host.bins_between(base, distance, self.widths, self.dtype, self.bits)

    def gather(self, bins: int, counts: list[int]) -> None:
        """Put the pending vertices of the first bins into one list of all ranks, so many from each; a collective."""
        own = self._stretch(counts)
        if counts[self.comm.rank]:
            where = (np.int32(self.part.rows), np.int32(self.part.first), self.distance, self.pending)
            below = (self.surveyed, np.float64(self.widths.units), np.int32(bins))
            self.launch("collect", self.pending.size, *where, *below, self.control, own)
        self.comm.all_gather_v_in_place(self.entries[: self.cuts[-1]], self.cuts)

    def _stretch(self, counts: list[int]) -> Array:
        """Return where this rank's entries go, of so many from each."""
        words = FILE.constant("ENTRY_WORDS", {"DISTANCE_BITS": self.bits})
        self.count, self.cuts = sum(counts), [0, *accumulate(words * count for count in counts)]
        return self.entries[self.cuts[self.comm.rank] : self.cuts[self.comm.rank + 1]]

    def _graph(self) -> tuple[Any, ...]:
        turned = self.turned
        return turned.offsets, turned.light, turned.heads, turned.weights, np.int64(self.arcs)

    def _put_aside(self) -> tuple[Any, ...]:
        hubs = (self.hub_entry, self.hub_length, self.hub_first_piece, self.hub_pieces)
        return (self.control, *hubs, np.uint64(self._hubs))

    def relax(self) -> None:
        """Relax the arcs from all vertices of the list to own ones."""
        light_from = self.unreached if self.light_from is None else self.light_from
        lowered = (self.horizon, self.distance, self.pending)
        rest = (self.entries, light_from, *self._graph(), *lowered, *self._put_aside())
        self.launch("relax", 32 * self.count, np.uint32(self.count), *rest)
        self.launch("relax_hubs", self.device.multiprocessors * 4 * self.block, *rest)

    def _tell(self, clock: Clock, spent: Sequence[int]) -> None:
        """Add to a clock the nanoseconds that the first block has spent in each step since the last time."""
        for name, place in FILE.enumerators("Step").items():
            seconds, step = 1e-9 * spent[place], name.lower()
            clock.add_seconds(step, seconds)
            if self.comm.meter is not None and step in ("agree", "exchange"):
                with clock.phase(step):
                    self.comm.meter(seconds, 0.0, 0)
        self.device.fill(self.plan[FILE["SPENT"] :], 0)

    def cross(self) -> None:
        """Let no sum be left alone any more; a collective."""
        self.light_from, self.base, self.horizon = None, self.horizon, self.unreached
        self.device.fill(self.plan[FILE["BASE"] : FILE["BASE"] + 1], 0)
        if self.pulls:
            self._pull(self.base)
        else:
            self.base = self._word(0, self.bits)
            self.launch("reenter", self.part.rows, np.int32(self.part.rows), self.distance, self.pending)

    def _pull(self, horizon: Any) -> None:
        """Let the vertices beyond a horizon take the best offers from within of all ranks."""
        device, rank = self.device, self.comm.rank
        counts = self._find_beyond(horizon, None)
        own = self._stretch(counts)
        self._find_beyond(horizon, own)
        self.comm.all_gather_v_in_place(self.entries[: self.cuts[-1]], self.cuts)
        best = self.best[: self.count]
        device.fill(best, self.unreached)
        device.fill(self.hub_pieces, 0)
        rest = (self.entries, *self._graph(), self.distance, horizon, best, *self._put_aside())
        if self.count:
            self.launch("pull", 32 * self.count, np.uint32(self.count), *rest)
            self.launch("pull_hubs", device.multiprocessors * 4 * self.block, *rest)
            self.comm.all_reduce(best, "min")
        if counts[rank]:
            first = sum(counts[:rank])
            taken = (own, best[first : first + counts[rank]], self.distance, self.pending)
            self.launch("settle", counts[rank], np.uint32(counts[rank]), np.int32(self.part.first), *taken)

    def _find_beyond(self, horizon: Any, own: Array | None) -> list[int]:
        """List the own vertices beyond a horizon, or tell how many every rank has; then it is a collective."""
        near = self.control[FILE["NEAR"] : FILE["NEAR"] + 1]
        self.device.fill(near, 0)
        where = (np.int32(self.part.rows), np.int32(self.part.first), self.own_offsets, self.distance, horizon)
        into = self.entries if own is None else own
        self.launch("beyond", self.part.rows, *where, np.int32(own is None), self.control, into)
        if own is not None:
            return []
        counts = self.tables.view(np.uint32)[: self.comm.size]
        self.device.fill(counts, 0)
        self.device.copy(counts[self.comm.rank : self.comm.rank + 1], near)
        self.comm.all_reduce(counts, "sum")
        return [int(count) for count in self.device.download(counts)]

    def own_words(self) -> NDArray[Any]:
        """Return the (rows,) words of the vertices that are here."""
        return self.device.download(self.distance)


def load_kernels(arcs: int, weights: np.dtype[Any], device: Device, bits: int) -> dict[str, Kernel]:
    """Return the kernels for so many arcs and a width of distances by their names, compiled if need be."""
    defines: Defines = {**index_types(index_dtype(arcs)), "WEIGHT": unsigned(weights), "DISTANCE_BITS": bits}
    return FILE.kernels(device, defines, cooperative=("rounds",))


def widths_of(weights: np.dtype[Any], sums: str = FLOAT64) -> tuple[int, ...]:
    """Return the widths that distances are tried in, one after the other."""
    return (32, 64) if weights.kind != "f" and weights.itemsize == 4 else (word_bits(weights, sums),)


def compile_(subject: Subject, device: Device, *, delta: float = 0.0, sums: str = FLOAT64) -> None:
    """Compile the kernels, outside of any timing."""
    if device.kind != "cpu":
        part = part_behind(subject)
        for bits in widths_of(part.weight_dtype, sums):
            load_kernels(part.own_arcs, part.weight_dtype, device, bits)


def prepare(
    subject: Subject, device: Device, *, delta: float = 0.0, sums: str = FLOAT64
) -> DeviceSearch | host.HostSearch:
    """Return the vertices of this rank.  Raises InputError if ``delta`` is negative or not finite."""
    if not (math.isfinite(delta) and delta >= 0):
        raise InputError(f"option 'delta' is {delta}", remedy="give a positive width, or 0 to have it chosen")
    part = part_behind(subject)
    if device.kind != "cpu":
        return DeviceSearch(part, device, host.Widths.of(part, delta, host.NEAR_SHARE), sums)
    return host.HostSearch(part, host.Widths.of(part, delta, 0), sums)


def run(state: DeviceSearch | host.HostSearch, clock: Clock, source: int) -> bool:
    """Find the distances; returns whether a sum of 64 bits overflowed on some rank."""
    for bits in widths_of(state.part.weight_dtype, sums_of(state.dtype)):
        state.start(source, bits)
        if search(state, clock, source):
            return False
    return True


def digest(raw: tuple[NDArray[Any], bool]) -> str:
    """Return what is equal where a rank has found the same of its vertices."""
    words, overflowed = raw
    return f"{array_digest(words)} {words.dtype} {overflowed}"


def finish(state: DeviceSearch | host.HostSearch, raw: tuple[NDArray[Any], bool], source: int) -> Distances:
    """Return the distances of all vertices; raise InputError if one needs more than 64 bits; a collective."""
    part: GraphPart = state.part
    words, overflowed = raw
    everything = np.concatenate(part.comm.all_gather_v(words))
    found = distances_from_words(part.graph or part, source, everything)  # type: ignore[arg-type]
    if overflowed:
        refuse_wrapped_sums(part, source, found.raw)
    return found


add_algorithm(
    "sssp",
    "delta-stepping-distributed",
    summary="delta-stepping over ranks: arcs where their heads are owned; the nearest pending vertices go to all",
    authors="gpugraph; after Meyer, Sanders; Chakaravarthy et al.; Dong, Gu, Sun, Zhang",
    year=2021,
    section="SPAA'21, section 3; ours beyond it",
    prepare=prepare,
    run=run,
    fetch=lambda state, overflowed: (state.own_words(), overflowed),
    finish=finish,
    digest=digest,
    compile=compile_,
    minimum_bytes=distance_bytes,
    options=(Option("delta", float, 0.0, "width of a bucket; 0 has it chosen"), SUMS),
    version=2,
    ranks=True,
)
