"""Delta-stepping from many sources on a GPU: groups of searches side by side, in one cooperative launch.

How it works, its arrays and invariants are in ``cuda_kernels/delta_stepping_batched.cu``; the host only allocates,
starts it, and starts it once more with distances of 64 bits if one of 32 overflowed.

Source: see the kernel's docblock.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from gpugraph.clock import Clock
from gpugraph.devices.base import Array, Device, Kernel
from gpugraph.devices.kernel_file import KernelFile, needs
from gpugraph.errors import InputError
from gpugraph.graph.digest import array_digest
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import Algorithm, InputSizes, Option
from gpugraph.problems.registry import register
from gpugraph.problems.sssp import BATCHED
from gpugraph.problems.sssp.distance_matrix import DistanceMatrix, matrix_from_words, require_room
from gpugraph.problems.sssp.distances import DISTANCE_SETS, distance_types

FILE = KernelFile("delta_stepping_batched.cu", DISTANCE_SETS)
COUNTERS = ("rounds", "buckets", "settled", "pushes", "repeats")
"""Words of ``control`` that records tell."""

LANES = (8, 16, 32)
"""How many searches may share a gather: eight distances of 32 bits fill a sector of memory."""
ARCS_PER_THREAD = 2
"""A team much larger than its work only makes its barriers slower."""
CACHED_BYTES = 2**25
"""The distances of all teams together take no more than about this, where there are several."""


def arrays(sizes: InputSizes, bits: int, lanes: int, groups: int, teams: int) -> dict[str, tuple[int, DTypeLike]]:
    """Return the arrays of a run with distances of ``bits``, in the kernel's order (meaning: its docblock).

    From the marks on they have to be 0 before a launch.
    """
    word = np.dtype(f"u{bits // 8}")
    n, pieces = sizes.vertices, piece_room(sizes)
    return {
        "distance": (groups * n * lanes, word),
        "near_vertex": (teams * 2 * n, np.int32),
        "piece_vertex": (teams * pieces, np.int32),
        "piece_marks": (teams * pieces, np.uint32),
        "piece_begin": (teams * pieces, np.dtype(f"i{sizes.index_bits // 8}")),
        "marks": (teams * n, np.uint32),
        "waiting": (teams * -(-n // FILE["CHUNK"]), np.uint32),
        "least": (teams * 3 * FILE["MAX_LANES"], word),
        "control": (teams * FILE["CONTROL_WORDS"], np.uint32),
        "flags": (FILE["FLAGS"], np.uint32),
    }


def piece_room(sizes: InputSizes) -> int:
    """Return into how many pieces the long rows of a round can be cut at most."""
    return sizes.arcs // FILE["PIECE"] + sizes.arcs // FILE["HUB_ROW"] + 1


class State:
    """What searches need; the arrays are made when the first batch tells how many there are."""

    def __init__(self, view: ResidentView, device: Device, lanes: int = LANES[0], blocks: int = 0):
        if blocks < 0:
            raise InputError(f"option 'blocks' is {blocks}", remedy="give 1 or more, or 0 to have it chosen")
        self.view, self.device, self.block = view, device, FILE["BLOCK"]
        self.lanes, self.blocks = lanes, blocks
        self.narrow = 8 * view.weight_bytes
        self.timeline = device.empty(len(FILE.phases), np.uint64)
        self.sources: Array = None
        self.held: tuple[int, int] = (0, 0)  # for how many sources, with distances of how many bits
        self.arrays: dict[str, Array] = {}
        self.teams = self.team_blocks = 0

    def make_ready(self, count: int, bits: int) -> None:
        """Hold arrays for ``count`` sources and distances of 32 or 64 bits."""
        if self.held == (count, bits):
            return
        view, device = self.view, self.device
        self.held, self.arrays, self.sources = (0, 0), {}, None  # their memory is needed for the others
        self.kernel = load_kernel(view, device, bits)
        groups = -(-count // self.lanes)
        self.team_blocks, self.teams = self.layout(groups, self.kernel.resident_blocks(self.block), bits)
        table = arrays(view, bits, self.lanes, groups, self.teams)
        device.require(needs({**table, "sources": (count, np.int32)}))
        self.arrays = {name: device.empty(size, dtype) for name, (size, dtype) in table.items()}
        self.held = count, bits

    def layout(self, groups: int, resident: int, bits: int) -> tuple[int, int]:
        """Return the blocks of a team and how many teams there are: as many as share a cache, one on a large graph."""
        if self.blocks:
            blocks = min(self.blocks, resident)
            return blocks, min(groups, resident // blocks)
        view = self.view
        teams = min(groups, max(1, CACHED_BYTES // (view.vertices * self.lanes * bits // 8)), resident)
        work = max(view.vertices, view.arcs // ARCS_PER_THREAD)
        return min(-(-work // self.block), resident // teams), teams

    def overflowed(self) -> bool:
        """Read back whether a sum of integers did not fit a word."""
        if self.view.weights.dtype.kind == "f":
            return False
        control = self.device.download(self.arrays["control"]).reshape(self.teams, -1)
        return bool(control[:, FILE["OVERFLOW"]].any())


def state_bytes(sizes: InputSizes) -> int:
    """Return the bytes of one team's searches from 64 sources."""
    return needs({**arrays(sizes, 8 * sizes.weight_bytes, LANES[0], 64 // LANES[0], 1), "sources": (64, np.int32)})


def load_kernel(view: ResidentView, device: Device, bits: int | None = None, **options: Any) -> Kernel:
    """Return the kernel for distances of ``bits`` (the weights' own width if None), compiled if need be."""
    return FILE.kernel(device, distance_types(view, bits), cooperative=True)


def run(state: State, clock: Clock, sources: tuple[int, ...]) -> Array:
    """Find all distances from all ``sources``.

    Returns:
        (groups, n, lanes) distance words on the device; those of the last group beyond the sources mean nothing.

    Raises:
        OutOfMemory: the device or the host has no room for all.
    """
    require_room(state.view.host.graph, len(sources))
    search(state, clock, sources, state.narrow)
    if state.narrow == 32 and state.overflowed():  # the one read-back
        clock.count("restarts")
        search(state, clock, sources, 64)
    groups = -(-len(sources) // state.lanes)
    return state.arrays["distance"].reshape(groups, state.view.vertices, state.lanes)


def search(state: State, clock: Clock, sources: tuple[int, ...], bits: int) -> None:
    """Launch the searches with distances of ``bits``."""
    state.make_ready(len(sources), bits)
    view, device = state.view, state.device
    state.sources = device.upload(np.array(sources, np.int32))
    for name in ("marks", "waiting", "least", "control", "flags"):
        device.fill(state.arrays[name], 0)
    state.kernel(
        state.teams * state.team_blocks,
        state.block,
        (
            *(np.int32(view.vertices), view.index_dtype.type(view.arcs), np.int32(len(sources))),
            *(np.int32(state.lanes.bit_length() - 1), np.uint32(state.team_blocks)),
            *(np.int32(not view.host.graph.directed), np.uint32(piece_room(view))),
            *(view.offsets, view.targets, view.weights, state.sources),
            *state.arrays.values(),
            state.timeline,
        ),
        stop=state.arrays["flags"][FILE["STOP"] : FILE["STOP"] + 1],
    )
    if clock.timing:
        tell_phases(state, clock)


def tell_phases(state: State, clock: Clock) -> None:
    """Read what the kernel noted of its phases and rounds."""
    for phase, spent in zip(FILE.phases, state.device.download(state.timeline), strict=True):
        clock.add_seconds(phase, int(spent) * 1e-9)
    control = state.device.download(state.arrays["control"]).reshape(state.teams, -1)
    for name in COUNTERS:
        clock.count(name, int(control[:, FILE["BUCKETS_DONE" if name == "buckets" else name.upper()]].sum()))


def fetch(state: State, distance: Array) -> np.ndarray[Any, Any]:
    """Copy the distance words to the host."""
    return state.device.download(distance)


def finish(state: State, words: np.ndarray[Any, Any], sources: tuple[int, ...]) -> DistanceMatrix:
    """Return the distances in the graph's own type."""
    rows = words.transpose(0, 2, 1).reshape(-1, state.view.vertices)[: len(sources)]
    return matrix_from_words(state.view.host.graph, sources, rows, state.overflowed())


register(
    Algorithm(
        problem="sssp",
        name=BATCHED,
        devices=("cuda", "emulated"),
        summary="many sources in one launch: one gather of arcs serves eight searches",
        authors="gpugraph; after Meyer, Sanders; Then et al.",
        year=2014,
        section="PVLDB 8(4), §3; ours beyond it",
        options=(
            Option("lanes", int, LANES[0], "searches side by side", choices=LANES),
            Option("blocks", int, 0, "blocks that work on one group of searches; 0 chooses them by the graph"),
        ),
        prepare=State,
        run=run,
        fetch=fetch,
        finish=finish,
        digest=array_digest,
        compile=load_kernel,
        state_bytes=state_bytes,
        together=True,
    )
)
