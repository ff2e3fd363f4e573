"""Prefix sums on a GPU: one driver, and a function for each scheme that reads like the paper's pseudo-code.

The kernels are in ``cuda_kernels/prefix_scan.cu``; every scheme is a sequence of four of them.

Source: Y. Sun, K. Skadron, "Prefix scan and minimum spanning tree with OpenCL", 2013, section 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import NDArray

from gpugraph.clock import Clock
from gpugraph.devices.base import Array, Device, Stopwatch
from gpugraph.devices.kernel_file import unsigned
from gpugraph.errors import InputError
from gpugraph.problems.algorithm import InputSizes, Option
from gpugraph.problems.registry import add_algorithm
from gpugraph.problems.scan.array import ArrayInput
from gpugraph.problems.scan.scanned import Scanned, digest_of
from gpugraph.problems.scan.tiles import ResidentArray, Tiles, load_kernels
from gpugraph.problems.scan.verify import UNORDERED

NETWORKS = ("registers", "brent-kung", "sklansky", "kogge-stone")
"""By the value of NETWORK: how a block scans a tile."""
NETWORK_BYTES = 48 << 10
"""Shared memory of a block, which holds a network's whole tile."""
WAKING_READS = 2
"""Untimed reads before a timed scan: the GPU may have idled, while results were checked or elements brought back."""

Scheme = Callable[[Any, Clock], None]


@dataclass(frozen=True)
class Run:
    """What a run leaves: where the scan is, and the seconds it took."""

    target: Array
    watch: Stopwatch


class State(Tiles):
    """The arrays of one scan and the kernels that work on them (shapes and meaning: prefix_scan.cu)."""

    def __init__(
        self,
        array: ResidentArray,
        device: Device,
        scheme: Scheme,
        *,
        buffers: int,
        threads: int,
        vectors: int,
        network: str = NETWORKS[0],
        **tuning: Any,
    ):
        require_sums(array.host)
        super().__init__(device, defines_for(array.host, threads=threads, vectors=vectors, network=network, **tuning))
        self.array, self.scheme, self.n = array, scheme, array.elements
        self.tiles = self.tiles_of(self.n)
        self.target = None if buffers == 1 else device.empty(self.n, array.host.values.dtype)
        self.levels: list[Array] = []
        self.depth = 0

    # ------------------------------------------------------------------ one run

    def elements(self) -> tuple[Array, Array]:
        """Return where the elements are and where the scan goes: the same array for a scan in place."""
        source = self.array.overwrite() if self.target is None else self.array.values
        return source, source if self.target is None else self.target

    def run(self, clock: Clock) -> Run:
        """Scan once; only the scan itself is timed, not how the elements come back after a scan in place."""
        watch = self.device.stopwatch()
        self.array.renew()
        for _ in range(WAKING_READS if self.n else 0):
            self.sum_ranges(self.array.values, self.n, self.levels[0], self.first_blocks)
        watch.start()
        if self.n:
            self.scheme(self, clock)
        watch.stop()
        return Run(self.elements()[1], watch)

    # ------------------------------------------------------------------ levels of sums

    def make_two_levels(self) -> None:
        """Make room for one sum a block, of as many blocks as are resident."""
        self.first_blocks = max(1, min(self.tiles, max(self.resident("sums", "tiles"), -(-self.n // UNORDERED))))
        self.make_levels([self.first_blocks])
        self.depth = self.first_blocks + -(-self.tiles // self.first_blocks) + 2 * self.tile // self.threads + 64

    def make_all_levels(self) -> None:
        """Make room for one sum a tile, one for each tile of those sums, and so on until one tile holds all."""
        self.first_blocks = max(1, self.tiles)
        lengths = [self.first_blocks]
        while lengths[-1] > self.tile:
            lengths.append(-(-lengths[-1] // self.tile))
        self.make_levels(lengths)
        self.depth = (len(lengths) + 1) * (2 * self.tile // self.threads + 64)

    def make_levels(self, lengths: list[int]) -> None:
        """Allocate the sums of every level."""
        self.device.require(sum(lengths) * self.array.host.values.dtype.itemsize)
        self.levels = [self.device.empty(length, self.array.host.values.dtype) for length in lengths]


# ------------------------------------------------------------------ schemes


def reduce_then_scan(state: State, clock: Clock) -> None:
    """Reduce every range, scan the sums, scan every range: three launches, whatever n is."""
    exclusive, n, sums, blocks = state.array.host.exclusive, state.n, state.levels[0], state.first_blocks
    source, target = state.elements()
    with clock.phase("upsweep"):
        state.sum_ranges(source, n, sums, blocks)
    with clock.phase("spine"):
        state.scan_ranges(sums, sums, blocks, 1, exclusive=True)
    with clock.phase("downsweep"):
        state.scan_ranges(source, target, n, blocks, exclusive=exclusive, prefixes=sums)


def reduce_then_scan_multilevel(state: State, clock: Clock) -> None:
    """Reduce every tile, level by level; then scan every tile, level by level, from the sum of what precedes it."""
    source, target = state.elements()
    sources, targets = [source, *state.levels], [target, *state.levels]
    lengths, top = [state.n, *map(len, state.levels)], len(state.levels)
    with clock.phase("upsweep"):
        for level in range(top):
            state.sum_ranges(sources[level], lengths[level], sources[level + 1], lengths[level + 1])
    with clock.phase("downsweep"):
        state.scan_ranges(sources[top], targets[top], lengths[top], 1, exclusive=True)
        for level in reversed(range(top)):
            state.scan_ranges(
                *(sources[level], targets[level], lengths[level], lengths[level + 1]),
                exclusive=level > 0 or state.array.host.exclusive,
                prefixes=sources[level + 1],
            )


def scan_then_propagate(state: State, clock: Clock) -> None:
    """Scan every tile, level by level; then add to every tile the sum of what precedes it, level by level."""
    source, target = state.elements()
    sources, targets = [source, *state.levels], [target, *state.levels]
    lengths, top = [state.n, *map(len, state.levels)], len(state.levels)
    with clock.phase("upsweep"):
        for level in range(top):
            state.scan_ranges(
                *(sources[level], targets[level], lengths[level], lengths[level + 1]),
                exclusive=level > 0 or state.array.host.exclusive,
                totals=targets[level + 1],
            )
        state.scan_ranges(targets[top], targets[top], lengths[top], 1, exclusive=True)
    with clock.phase("downsweep"):
        for level in reversed(range(top)):
            state.propagate(targets[level], lengths[level], targets[level + 1])


# ------------------------------------------------------------------ what a driver offers


def require_sums(array: ArrayInput) -> None:
    """Raise InputError for an input that asks for segmented minima."""
    if array.heads is not None:
        raise InputError(
            "this algorithm adds up whole arrays, the input has segments", remedy="use --algo segmented-min"
        )


def defines_for(
    array: ArrayInput, *, threads: int, vectors: int, network: str = NETWORKS[0], **tuning: Any
) -> dict[str, str | int]:
    """Return the defines of prefix_scan.cu for an array and the options."""
    if network != NETWORKS[0] and threads * vectors * 16 > NETWORK_BYTES:
        raise InputError(
            f"a tile of {threads} threads and {vectors} vectors is {threads * vectors * 16} bytes, "
            f"a network has {NETWORK_BYTES}",
            remedy="use fewer threads or vectors",
        )
    element = unsigned(array.values.dtype)  # signed integers wrap as unsigned ones do, bit for bit
    defines: dict[str, str | int] = {"ELEMENT": element, "BLOCK": threads, "VECTORS": vectors}
    defines |= {"NETWORK": NETWORKS.index(network)}
    return defines | {name.upper(): int(value) for name, value in tuning.items()}


def compile_(array: ResidentArray, device: Device, *, buffers: int, **options: Any) -> None:
    """Compile what ``prepare`` will need."""
    require_sums(array.host)
    load_kernels(defines_for(array.host, **options), device)


def fetch(state: Any, run: Run) -> tuple[NDArray[Any], ...]:
    """Copy the scan to the host."""
    return (state.device.download(run.target),)


def finish(state: State, raw: tuple[NDArray[Any], ...]) -> Scanned:
    """Return the scan."""
    return Scanned(state.array.host, raw[0], depth=state.depth)


def own_seconds(state: Any, run: Run) -> float:
    """Return the seconds of the scan alone."""
    return run.watch.seconds


def passes(count: int, sizes: InputSizes) -> int:
    """Return the bytes of so many passes over the elements, reading or writing them."""
    return count * sizes.nbytes


BUFFERS = Option("buffers", int, 1, "1 scans in place, 2 reads one array and writes another", (1, 2))
TILES = (
    Option("threads", int, 256, "threads of a block", (128, 256, 512)),
    Option("vectors", int, 4, "vectors of 16 bytes a thread", (1, 2, 4, 8)),
)


def _prepare(array: ResidentArray, device: Device, *, scheme: Scheme, levels: str, **options: Any) -> State:
    state = State(array, device, scheme, **options)
    if levels == "two":
        state.make_two_levels()
    else:
        state.make_all_levels()
    return state


def _register(name: str, summary: str, source: tuple[str, int, str], scheme: Scheme, levels: str, network: str) -> None:
    authors, year, section = source
    add_algorithm(
        "scan",
        name,
        summary=summary,
        authors=authors,
        year=year,
        section=section,
        prepare=partial(_prepare, scheme=scheme, levels=levels, network=network),
        run=State.run,
        fetch=fetch,
        finish=finish,
        digest=digest_of,
        compile=partial(compile_, network=network),
        options=(BUFFERS, *TILES) if network == NETWORKS[0] else (BUFFERS, *_narrowed()),
        minimum_bytes=partial(passes, 4 if scheme is scan_then_propagate else 3),
        own_seconds=own_seconds,
    )


def _narrowed() -> tuple[Option, ...]:
    threads, vectors = TILES
    return threads, Option(vectors.name, int, 4, vectors.help, (1, 2, 4))


_SUN = ("Sun, Skadron; Merrill, Grimshaw", 2013, "2: two-level reduce-then-scan, algorithms 1-3")

_register(
    "reduce-then-scan",
    "every block adds up a range, the sums are scanned, every block scans its range: three launches",
    *(_SUN, reduce_then_scan, "two", NETWORKS[0]),
)
_register(
    "reduce-then-scan-multilevel",
    "tiles are reduced to sums, level by level, and scanned on the way back",
    *(("Sun, Skadron", 2013, "2: reduce-then-scan"), reduce_then_scan_multilevel, "all", NETWORKS[0]),
)
_register(
    "scan-then-propagate",
    "tiles are scanned, level by level, and the sum of what precedes them is added on the way back",
    *(("Sun, Skadron; CLPP, Thrust", 2013, "2: scan-then-propagate"), scan_then_propagate, "all", NETWORKS[0]),
)
_register(
    "brent-kung",
    "reduce-then-scan whose blocks scan by Brent and Kung's network in shared memory",
    *(("Brent, Kung", 1982, "in Sun, Skadron 2013, figure 1"), reduce_then_scan, "two", "brent-kung"),
)
_register(
    "sklansky",
    "reduce-then-scan whose blocks scan by Sklansky's network in shared memory",
    *(("Sklansky", 1960, "in Sun, Skadron 2013, figure 2"), reduce_then_scan, "two", "sklansky"),
)
_register(
    "kogge-stone",
    "reduce-then-scan whose blocks scan by Kogge and Stone's network in shared memory",
    *(("Kogge, Stone", 1973, "in Sun, Skadron 2013, figure 3"), reduce_then_scan, "two", "kogge-stone"),
)
