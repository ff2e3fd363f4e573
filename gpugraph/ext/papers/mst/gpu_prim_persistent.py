"""Prim's algorithm in one cooperative launch: no loop on the host, candidates on chip where they fit.

The kernel and its invariants are in ``cuda_kernels/prim_persistent.cu``; the host only chooses how many blocks share
the vertices, and what of their work lies in shared memory.  It is right for any graph, and made for two kinds: sparse
ones of up to some 25,000 vertices, whose candidates one block holds on chip, so that a step never leaves it but for the
row; and dense ones, whose rows several blocks share.  Beyond, a step costs an exchange between blocks or candidates
in global memory, and there are n - 1 of them whatever the device: other algorithms are then the better choice.

Source: see the kernel's docblock.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpugraph.base.clock import Clock
from gpugraph.base.errors import InputError
from gpugraph.devices.base import Array, Device, Kernel
from gpugraph.devices.kernel_file import Arrays, ArrayTable, KernelFile, product
from gpugraph.ext.papers.mst.weight_words import key_dtype, key_types
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import Option
from gpugraph.problems.mst.forest import forest_bytes
from gpugraph.problems.mst.gpu_forest import forest_algorithm

FILE = KernelFile(
    "prim_persistent.cu",
    [
        *product(INDEX_BITS=(32, 64), WEIGHT=("uint32", "uint64"), ON_CHIP=(2, 3)),
        *product(INDEX_BITS=(32,), WEIGHT=("uint32",), ON_CHIP=(0, 1)),
        *product(INDEX_BITS=(64,), WEIGHT=("uint64",), ON_CHIP=(0,)),
    ],
)
WARP = 32
ON_CHIP = ("nothing", "winners", "candidates", "rows")
"""What lies in shared memory, each beside those before it; the position is the kernel's define."""

STATIC_BYTES = 256
"""Shared memory left to the kernel's own variables."""
ARCS_PER_BLOCK = 512
"""Rows longer than this on average are shared by several blocks: one block can load only so fast."""
SHARED_ROWS = 32
"""At most so many blocks share rows: more only make the exchange slower."""


@dataclass(frozen=True)
class Shape:
    """How the work is divided.

    Attributes:
        blocks, threads: of the launch.
        on_chip: position in ``ON_CHIP``.
        shared_bytes: dynamic shared memory of a block.
    """

    blocks: int
    threads: int
    on_chip: int
    shared_bytes: int


def arrays(view: ResidentView, shape: Shape) -> ArrayTable:
    """Return the arrays of a run (meaning: prim_persistent.cu)."""
    n = view.vertices
    candidates = n if shape.on_chip < ON_CHIP.index("candidates") else 1
    stored = shape.blocks * winners(-(-n // shape.blocks)) if shape.on_chip < ON_CHIP.index("winners") else 1
    slot_words = 2 + view.weight_bytes // 4  # of a block's candidate in the exchange: SLOT_WORDS
    return {
        "parent": (max(n, 1), np.int32),
        "key_store": (candidates, key_dtype(view)),
        "from_store": (candidates, np.int32),
        "winner_store": (stored, np.int32),
        "slots": (2 * shape.blocks * slot_words + 1, np.uint64),
        "forest": (max(n - 1, 1), view.index_dtype),
        "forest_edges": (1, np.uint32),
    }


class State(Arrays):
    """The arrays of one run."""

    def __init__(self, view: ResidentView, device: Device, prefetch: bool, **how: Any):
        self.shape = choose_shape(view, device, **how)
        super().__init__(device, arrays(view, self.shape))
        self.view, self.ahead = view, prefetch
        self.stop = self.slots[-1:].view(np.uint32)[:1]  # cleared with them
        self.kernel = load_kernel(view, device, self.shape.on_chip)


def winners(size: int) -> int:
    """Return how many winners a tournament of ``size`` leaves has on all levels."""
    total = 0
    while True:
        size = max(1, -(-size // WARP))
        total += size
        if size == 1:
            return total


def shared_bytes(view: ResidentView, blocks: int, on_chip: int) -> int:
    """Return the dynamic shared memory of a block, laid out as in the kernel."""
    size, key = -(-view.vertices // blocks), view.weight_bytes
    candidates = _rounded(key * size) + _rounded(4 * size)
    rows = _rounded(view.index_bits // 8 * view.vertices) + _rounded(2 * view.vertices)
    parts = (0, _rounded(4 * winners(size)), candidates, rows)
    return sum(parts[: on_chip + 1])


def _rounded(count: int) -> int:
    return -(-count // 8) * 8


def choose_shape(view: ResidentView, device: Device, blocks: int, threads: int, on_chip: str) -> Shape:
    """Return the launch that suits the graph; what is given (not 0, not ``"auto"``) stays as it is.

    One block takes sparse graphs: its threads wait for each other in a fraction of what an exchange between blocks
    takes.  Long rows are shared by more, and so are candidates that do not fit one block's shared memory.  Raises
    InputError if what is given does not fit the device or the graph.
    """
    n, degree = max(view.vertices, 1), view.arcs // max(view.vertices, 1)
    limit = device.shared_bytes_per_block - STATIC_BYTES
    if blocks < 0:
        raise InputError(f"option 'blocks' is {blocks}", remedy="give 1 or more, or 0 for the rule")
    chosen = min(blocks or max(1, min(degree // ARCS_PER_BLOCK, SHARED_ROWS, device.multiprocessors)), n)
    wanted = ON_CHIP.index("candidates" if on_chip == "auto" else on_chip)
    while not blocks and shared_bytes(view, chosen, wanted) > limit and chosen < min(device.multiprocessors, n):
        chosen = min(2 * chosen, device.multiprocessors, n)
    if on_chip == "auto":
        fitting = [i for i in range(len(ON_CHIP)) if fits(view, chosen, i, limit)]
        wanted = fitting[-1]
    elif not fits(view, chosen, wanted, limit):
        asked = f"a block would need {shared_bytes(view, chosen, wanted):,} bytes of shared memory"
        what = f"option on_chip={on_chip}: {asked}, it can have {limit:,}"
        raise InputError(what, remedy="give more blocks, or on_chip=auto")
    if not threads:
        threads, most, items = WARP, FILE["MAX_THREADS"], FILE["ITEMS"]
        # Several blocks prefetch with every warp but the first, so they have at least two.
        while (threads < most and 2 * threads * items * chosen < 3 * degree) or (chosen > 1 and threads == WARP):
            threads *= 2
    need = shared_bytes(view, chosen, wanted)
    resident = load_kernel(view, device, wanted).resident_blocks(threads, need)
    if chosen > resident:
        what = f"{chosen} blocks of {threads} threads cannot wait for each other, {resident} are resident at once"
        raise InputError(what, remedy=f"give --set blocks={resident} or less")
    return Shape(chosen, threads, wanted, need)


def fits(view: ResidentView, blocks: int, on_chip: int, limit: int) -> bool:
    """Tell whether so much of the work can lie in a block's shared memory; a row's share is counted in 16 bits."""
    short = on_chip < ON_CHIP.index("rows") or -(-view.vertices // blocks) < 1 << 16
    return short and shared_bytes(view, blocks, on_chip) <= limit


def load_kernel(view: ResidentView, device: Device, on_chip: int) -> Kernel:
    """Return the kernel that fits the view, compiled if need be."""
    return FILE.kernel(device, {**key_types(view), "ON_CHIP": on_chip}, cooperative=True)


def run(state: State, clock: Clock) -> Array:
    """Grow the forest; returns the device array of its canonical edge ids, ``state.forest``."""
    view, device, shape = state.view, state.device, state.shape
    device.fill(state.forest_edges, 0)
    clock.count("rounds", max(view.vertices - 1, 0))
    if view.vertices == 0:
        return state.forest
    device.fill(state.slots, 0)
    graph = np.int32(view.vertices), view.offsets, view.targets, view.weights, FILE.weight_kind(view.weights)
    stores = np.int32(state.ahead), state.parent, state.key_store, state.from_store, state.winner_store
    args = (*graph, *stores, state.slots, state.forest, state.forest_edges, state.stop)
    state.kernel(shape.blocks, shape.threads, args, shape.shared_bytes, stop=state.stop)
    return state.forest


forest_algorithm(
    "prim-persistent",
    summary="Prim in one cooperative launch: candidates on chip in a tournament, no loop on the host",
    authors="gpugraph; after Wang, Huang, Guo",
    year=2011,
    section="VI-E: what limits the speedup; the launch without a host loop is ours",
    prepare=State,
    run=run,
    compile=lambda view, device, prefetch, **how: choose_shape(view, device, **how),
    minimum_bytes=forest_bytes,
    options=(
        Option("blocks", int, 0, "blocks that share the vertices; 0: as few as hold the candidates on chip"),
        Option("threads", int, 0, "threads of a block; 0: by the length of rows", (0, 32, 64, 128, 256, 512)),
        Option("on_chip", str, "auto", "what lies in shared memory, each with those before", ("auto", *ON_CHIP)),
        Option("prefetch", bool, True, "several blocks bring the rows of their best candidates nearer"),
    ),
)
