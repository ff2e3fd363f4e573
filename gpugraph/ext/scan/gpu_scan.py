"""Prefix sums on a GPU: one driver, and a function for each scheme that reads like the paper's pseudo-code.

The kernels are in ``cuda_kernels/prefix_scan.cu``; every scheme is a sequence of four of them.

Source: Y. Sun, K. Skadron, "Prefix scan and minimum spanning tree with OpenCL", 2013, section 2.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gpugraph.base.clock import Clock
from gpugraph.base.errors import InputError
from gpugraph.devices.base import Array, Device, Stopwatch
from gpugraph.devices.kernel_file import unsigned
from gpugraph.ext.scan.array import ArrayInput
from gpugraph.ext.scan.scanned import Scanned, digest_of
from gpugraph.ext.scan.tiles import FILE, ResidentArray, Tiles, load_kernels
from gpugraph.ext.scan.verify import UNORDERED, sums_are_exact
from gpugraph.problems.algorithm import InputSizes, Option
from gpugraph.problems.registry import add_algorithm

NETWORKS = ("registers", "brent-kung", "sklansky", "kogge-stone")
"""By the value of NETWORK: how a block scans a tile."""
NETWORK_BYTES = 48 << 10
"""Shared memory of a block, which holds a network's whole tile."""
WAKING_READS = 2
"""Untimed reads before a timed scan: the GPU may have idled, while results were checked or elements brought back."""

Scheme = Callable[[Any, Clock], None]


@dataclass(frozen=True)
class Run:
    """What a run leaves: the scan, with segments the positions too, and the seconds it took."""

    arrays: tuple[Array, ...]
    watch: Stopwatch


class State(Tiles):
    """The arrays of one scan and the kernels that work on them (shapes and meaning: prefix_scan.cu)."""

    def __init__(
        self, array: ResidentArray, device: Device, *, scheme: Scheme, levels: str = "two", buffers: int, **tile: Any
    ):
        super().__init__(device, defines_for(array.host, **tile))
        self.array, self.scheme, self.n = array, scheme, array.elements
        self.tiles = self.tiles_of(self.n)
        self.target = None if buffers == 1 else device.empty(self.n, array.host.values.dtype)
        if levels == "two":  # room for one sum a block, of as many blocks as are resident
            resident = max(self.resident("sums", "tiles"), -(-self.n // UNORDERED))
            lengths = [max(1, min(self.tiles, resident))]
            self.depth = lengths[0] + -(-self.tiles // lengths[0]) + 2 * self.tile // self.threads + 64
        else:  # for one sum a tile, one for each tile of those sums, and so on until one tile holds all
            lengths = [max(1, self.tiles)]
            while lengths[-1] > self.tile:
                lengths.append(-(-lengths[-1] // self.tile))
            self.depth = (len(lengths) + 1) * (2 * self.tile // self.threads + 64)
        dtype, self.first_blocks = array.host.values.dtype, lengths[0]
        device.require(sum(lengths) * dtype.itemsize)
        self.levels = [device.empty(length, dtype) for length in lengths]

    def elements(self) -> tuple[Array, Array]:
        """Return where the elements are and where the scan goes: the same array for a scan in place."""
        source = self.array.overwrite() if self.target is None else self.array.values
        return source, source if self.target is None else self.target

    def all_levels(self) -> tuple[list[tuple[Array, Array]], list[int], int]:
        """Return source and target of every level, the elements' first, its length, and the number of the last."""
        arrays = [self.elements(), *((sums, sums) for sums in self.levels)]
        return arrays, [self.n, *map(len, self.levels)], len(self.levels)

    def run(self, clock: Clock) -> Run:
        """Scan once; only the scan itself is timed, not how the elements come back after a scan in place."""
        watch = self.device.stopwatch()
        self.array.renew()
        for _ in range(WAKING_READS if self.n else 0):
            self.sum_ranges(self.array.values, self.n, self.levels[0], self.first_blocks)
        before, written = self.launches, self.written
        watch.start()
        if self.n:
            self.scheme(self, clock)
        watch.stop()
        clock.count("launches", self.launches - before)
        clock.count("written_bytes", (self.written - written) * self.dtype.itemsize)
        return Run((self.elements()[1],), watch)


# ------------------------------------------------------------------ schemes


def reduce_then_scan(state: State, clock: Clock) -> None:
    """Reduce every range, scan the sums, scan every range: three launches, whatever n is."""
    exclusive, n, sums, blocks = state.array.host.exclusive, state.n, state.levels[0], state.first_blocks
    source, target = state.elements()
    with clock.phase("upsweep"):
        state.sum_ranges(source, n, sums, blocks)
    with clock.phase("spine"):
        state.scan_ranges((sums, sums), blocks, 1, exclusive=True)
    with clock.phase("downsweep"):
        state.scan_ranges((source, target), n, blocks, exclusive, prefixes=sums)


def reduce_then_scan_multilevel(state: State, clock: Clock) -> None:
    """Reduce every tile, level by level; then scan every tile, level by level, from the sum of what precedes it."""
    arrays, lengths, top = state.all_levels()
    with clock.phase("upsweep"):
        for level in range(top):
            state.sum_ranges(arrays[level][0], lengths[level], arrays[level + 1][0], lengths[level + 1])
    with clock.phase("downsweep"):
        state.scan_ranges(arrays[top], lengths[top], 1, exclusive=True)
        for level in reversed(range(top)):
            how = level > 0 or state.array.host.exclusive
            state.scan_ranges(arrays[level], lengths[level], lengths[level + 1], how, prefixes=state.levels[level])


def scan_then_propagate(state: State, clock: Clock) -> None:
    """Scan every tile, level by level; then add to every tile the sum of what precedes it, level by level."""
    arrays, lengths, top = state.all_levels()
    with clock.phase("upsweep"):
        for level in range(top):
            how = level > 0 or state.array.host.exclusive
            state.scan_ranges(arrays[level], lengths[level], lengths[level + 1], how, totals=state.levels[level])
        state.scan_ranges(arrays[top], lengths[top], 1, exclusive=True)
    with clock.phase("downsweep"):
        for level in reversed(range(top)):
            n = lengths[level]
            state.launch("propagate", state.tiles_of(n), np.int64(n), arrays[level][1], state.levels[level])
            state.written += n


# ------------------------------------------------------------------ what a driver offers


def require_sums(array: ArrayInput) -> None:
    """Raise InputError for an input that asks for segmented minima."""
    if array.heads is not None:
        what = "this algorithm adds up whole arrays, the input has segments"
        raise InputError(what, remedy="use --algo segmented-min")


def defines_for(array: ArrayInput, *, threads: int, vectors: int, network: str = NETWORKS[0]) -> dict[str, str | int]:
    """Return the defines of prefix_scan.cu for an array and the options; refuse what has no sums to scan."""
    require_sums(array)
    if network != NETWORKS[0] and (tile := threads * vectors * 16) > NETWORK_BYTES:
        what = f"a tile of {threads} threads and {vectors} vectors is {tile} bytes, a network has {NETWORK_BYTES}"
        raise InputError(what, remedy="use fewer threads or vectors")
    element = unsigned(array.values.dtype)  # signed integers wrap as unsigned ones do, bit for bit
    return {"ELEMENT": element, "BLOCK": threads, "VECTORS": vectors, "NETWORK": NETWORKS.index(network)}


def compile_(array: ResidentArray, device: Device, *, buffers: int, **tile: Any) -> None:
    """Compile what ``prepare`` will need."""
    load_kernels(defines_for(array.host, **tile), device)


def passes(count: int, sizes: InputSizes) -> int:
    """Return the bytes of so many passes over the elements, reading or writing them."""
    return count * sizes.nbytes


def scan_algorithm(name: str, **fields: object) -> None:
    """Register a scan whose run returns a ``Run``; ``fields`` as for ``add_algorithm``."""
    shared = {
        "fetch": lambda state, run: tuple(map(state.device.download, run.arrays)),
        "finish": lambda state, raw: Scanned(state.array.host, raw[0], depth=state.depth),
        "digest": digest_of,
        "own_seconds": lambda state, run: run.watch.seconds,
    }
    add_algorithm("scan", name, **(shared | fields))


BUFFERS = Option("buffers", int, 1, "1 scans in place, 2 reads one array and writes another", (1, 2))
THREADS = Option("threads", int, 256, "threads of a block", (128, 256, 512))
VECTORS = "vectors of 16 bytes a thread"


def _register(name: str, summary: str, source: tuple[str, int, str], scheme: Scheme, levels: str = "two") -> None:
    authors, year, section = source
    network, sizes = (name, (1, 2, 4)) if name in NETWORKS else (NETWORKS[0], (1, 2, 4, 8))
    scan_algorithm(
        name,
        summary=summary,
        authors=authors,
        year=year,
        section=section,
        prepare=partial(State, scheme=scheme, levels=levels, network=network),
        run=State.run,
        compile=partial(compile_, network=network),
        options=(BUFFERS, THREADS, Option("vectors", int, 4, VECTORS, sizes)),
        minimum_bytes=partial(passes, 4 if scheme is scan_then_propagate else 3),
    )


_register(
    "reduce-then-scan",
    "every block adds up a range, the sums are scanned, every block scans its range: three launches",
    ("Sun, Skadron; Merrill, Grimshaw", 2013, "2: two-level reduce-then-scan, algorithms 1-3"),
    reduce_then_scan,
)
_register(
    "reduce-then-scan-multilevel",
    "tiles are reduced to sums, level by level, and scanned on the way back",
    ("Sun, Skadron", 2013, "2: reduce-then-scan"),
    reduce_then_scan_multilevel,
    "all",
)
_register(
    "scan-then-propagate",
    "tiles are scanned, level by level, and the sum of what precedes them is added on the way back",
    ("Sun, Skadron; CLPP, Thrust", 2013, "2: scan-then-propagate"),
    scan_then_propagate,
    "all",
)
for _name, _of, _by, _year, _figure in (
    ("brent-kung", "Brent and Kung", "Brent, Kung", 1982, 1),
    ("sklansky", "Sklansky", "Sklansky", 1960, 2),
    ("kogge-stone", "Kogge and Stone", "Kogge, Stone", 1973, 3),
):
    _register(
        _name,
        f"reduce-then-scan whose blocks scan by {_of}'s network in shared memory",
        (_by, _year, f"in Sun, Skadron 2013, figure {_figure}"),
        reduce_then_scan,
    )


# ------------------------------------------------------------------ in a single pass
# Every tile publishes its sum, and looks back for the sum before it.  Nothing is cleared between runs, since the
# statuses of a run begin where those of the last one ended.
#
# Source: D. Merrill, M. Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016, section 4.

STATIC_BYTES = 2048
"""Shared memory of a block besides its tiles, at most."""


class LookBack(State):
    """The descriptors of one array, and how its tiles are assigned."""

    def __init__(self, array: ResidentArray, device: Device, **options: Any):
        super().__init__(array, device, scheme=look_back, **options)
        _require_exact(array, "look-back adds in an order that changes")
        self.stages, resident = self.room()
        self.grid = max(2, min(self.tiles + 1, resident))  # one block looks back for all
        words = array.host.values.dtype.itemsize // 4
        self.descriptors = device.full((max(self.tiles, 1), words), 0, np.uint64)
        self.runs = 0

    def room(self) -> tuple[int, int]:
        """Return the tiles a block has on their way and the blocks then resident; raise InputError if no tile fits."""
        tile_bytes, kernel = self.tile * self.dtype.itemsize, self.kernels["look_back"]
        if tile_bytes + STATIC_BYTES > self.device.shared_bytes_per_block:
            room = f"the shared memory of a block of {self.device.name}, {self.device.shared_bytes_per_block:,} bytes"
            what = f"a tile of {tile_bytes:,} bytes does not fit in {room}"
            raise InputError(what, remedy="use fewer --set threads or vectors")
        if 2 * tile_bytes + STATIC_BYTES <= self.device.shared_bytes_per_block:
            resident = kernel.resident_blocks(self.threads, 2 * tile_bytes)
            if resident >= 2 * self.device.multiprocessors:
                return 2, resident
        return 1, kernel.resident_blocks(self.threads, tile_bytes)


def look_back(state: LookBack, clock: Clock) -> None:
    """Scan in one launch."""
    source, target = state.elements()
    epoch = state.runs * FILE["PREFIX"] & 0xFFFFFFFF  # the last status of a run comes before the first of the next
    with clock.phase("look_back"):
        state.launch(
            *("look_back", state.grid, np.int64(state.n), np.int32(state.array.host.exclusive), source, target),
            *(state.descriptors, np.uint32(epoch), np.int32(state.stages)),
            shared_bytes=state.stages * state.tile * state.dtype.itemsize,
        )
    state.written += state.n
    state.runs += 1


def _require_exact(array: ResidentArray, how: str) -> None:
    """Raise InputError for reals whose sums depend on the order of the additions; ``how`` says in which those are."""
    if not sums_are_exact(array.host.values):
        what = f"{how} from run to run, and so would the rounded sums of these reals"
        raise InputError(what, remedy="use --algo reduce-then-scan, or whole numbers of small size")


scan_algorithm(
    "look-back",
    summary="one pass: every tile publishes its sum and looks back for those before it, by one warp",
    authors="Merrill, Garland",
    year=2016,
    section="4: decoupled look-back",
    prepare=LookBack,
    run=State.run,
    compile=compile_,
    options=(BUFFERS, THREADS, Option("vectors", int, 8, VECTORS, (1, 2, 4, 8))),
    minimum_bytes=partial(passes, 2),
)


# ------------------------------------------------------------------ as a CuPy user calls it
# Source: the same, as NVIDIA ships it in CUB.


class CubState:
    """The array and where its scan goes; CuPy scans out of place."""

    depth = 0

    def __init__(self, array: ResidentArray, device: Device):
        require_sums(array.host)
        _require_exact(array, "CUB adds in an order that may change")
        self.array, self.device = array, device
        self.target: Array = device.empty(array.elements, array.host.values.dtype)


def run_cub(state: CubState, clock: Clock) -> Run:
    """Scan once; an exclusive scan is an inclusive one of all but the last, a place further on."""
    cuda: Any = state.device
    array, target, dtype = state.array, state.target, state.array.host.values.dtype
    array.renew()

    def scan() -> None:
        with cuda.stream:  # another device may have been opened since, whose stream is CuPy's now
            if array.host.exclusive:
                target[:1] = 0
                if array.elements > 1:
                    cuda.cupy.cumsum(array.values[:-1], dtype=dtype, out=target[1:])
            else:
                cuda.cupy.cumsum(array.values, dtype=dtype, out=target)

    watch = cuda.stopwatch()
    for _ in range(WAKING_READS if array.elements else 0):
        scan()
    watch.start()
    if array.elements:
        with clock.phase("cumsum"):
            scan()
    watch.stop()
    return Run((target,), watch)


scan_algorithm(
    "cub",
    devices=("cuda",),
    summary="cupy.cumsum, as a CuPy user calls it",
    authors="Merrill, Garland; CUB in CuPy",
    year=2016,
    section="4: decoupled look-back",
    prepare=CubState,
    run=run_cub,
    minimum_bytes=partial(passes, 2),
)
