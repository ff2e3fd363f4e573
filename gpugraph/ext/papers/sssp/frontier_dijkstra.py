"""Dijkstra's algorithm with a compound frontier: one driver, its three steps each on the CPU or on a GPU.

All unresolved vertices at the minimal distance are resolved together.  A round relaxes the arcs of the frontier, finds
the minimum over the unresolved vertices, and makes the frontier of all vertices at that minimum.  The paper's variants
differ in how a step is done and where; a ``Strategy`` says so, and everything else is the same for all of them.

Source: P. J. Martín, R. Torres, A. Gavilanes, "CUDA solutions for the SSSP problem", ICCS 2009, sections 3 to 5.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import Clock, NullClock
from gpugraph.devices.base import Device
from gpugraph.ext.papers.sssp.frontier_dijkstra_cpu import CPU, GPU, Cells, HostSide, Strategy, TwoSided
from gpugraph.ext.papers.sssp.frontier_dijkstra_gpu import ROUNDS_PER_READ, DeviceSide, minima_sizes, step_kernels
from gpugraph.graph.view import GraphView, ResidentView
from gpugraph.problems.registry import add_algorithm
from gpugraph.problems.sssp.arcs import FLOAT64, SUMS, distance_dtype, word_bits
from gpugraph.problems.sssp.distances import Distances, distance_bytes, distances_from_words


class State:
    """The arrays of one run, and the sides that work on them; for the CPU alone of a GraphView, without a device."""

    def __init__(self, view: ResidentView | GraphView, device: Any, strategy: Strategy, sums: str = FLOAT64):
        self.graph, self.strategy, self.device = view.host.graph, strategy, device
        self.cells = Cells.of(self.graph) if strategy.matrix else None
        weights = self.graph.weight_dtype
        self.float_dtype = distance_dtype(weights, sums) if weights.kind == "f" else None
        self.narrow = narrowest(weights, self.cells, sums)
        self.device_side: DeviceSide | None = None
        if isinstance(view, ResidentView):
            device.require(state_bytes(view, strategy, sums))
            self.device_side = DeviceSide(view, device, strategy, self.cells, self.narrow)
        self.host_side = HostSide(view.host, strategy, self.cells) if CPU in strategy.sides else None
        sides: dict[str, Any] = {CPU: self.host_side, GPU: self.device_side}
        self.relaxer, self.minimizer = sides[strategy.relax_on], sides[strategy.minimum_on]
        self.updater = sides[strategy.update_on]
        self.is_hybrid = len(strategy.sides) > 1
        self.states = TwoSided(device, self.graph.vertices, np.uint8, strategy.sides)
        self._widths: dict[int, tuple[TwoSided, list[Any], Any]] = {}
        self.use_width(self.narrow)

    def use_width(self, bits: int) -> None:
        """Hold distances in words of 32 or 64 bits."""
        if bits not in self._widths:
            n, word, device_side = self.graph.vertices, np.dtype(f"u{bits // 8}"), self.device_side
            sizes = minima_sizes(n, self.strategy.minimum) if device_side is not None else []
            if device_side is not None:
                self.device.require((n + sum(sizes)) * word.itemsize)
            distance = TwoSided(self.device, n, word, self.strategy.sides)
            minima = [self.device.empty(size, word) for size in sizes]
            self._widths[bits] = distance, minima, device_side.load(bits) if device_side is not None else None
        self.bits = bits
        self.distance, self.minima, kernels = self._widths[bits]
        self.unreached = np.iinfo(f"u{bits // 8}").max
        if self.host_side is not None:
            self.host_side.use(self.distance, self.states, bits, self.float_dtype)
        if self.device_side is not None:
            self.device_side.use(self.distance, self.states, self.minima, kernels)

    def overflowed(self) -> bool:
        """True if a sum of integers did not fit a word."""
        return self.float_dtype is None and bool(self.relaxer.overflowed())

    def start(self, source: int) -> None:
        """Make the source the frontier."""
        self.relaxer.start(source)
        self.distance.wrote(self.relaxer.name)
        self.states.wrote(self.relaxer.name)

    def round(self, clock: Clock, turn: int) -> object:
        """Do the three steps, each on its side, and return the minimum, or None where it stays on the device."""
        self.bring_to(self.relaxer, clock)
        with clock.phase("relax"):
            self.relaxer.relax()
        self.distance.wrote(self.relaxer.name)
        self.bring_to(self.minimizer, clock)
        with clock.phase("minimum"):
            least = self.minimizer.minimum(turn)
        self.bring_to(self.updater, clock)
        with clock.phase("update"):
            self.updater.update(turn, least)
        self.states.wrote(self.updater.name)
        return least

    def bring_to(self, side: HostSide | DeviceSide, clock: Clock) -> None:
        """Copy to a side what the other has written since."""
        if self.is_hybrid:  # else there is no other, and launches must not wait for the host
            self.states.bring(side.name, clock)
            self.distance.bring(side.name, clock)


def narrowest(weights: np.dtype[Any], cells: Cells | None, sums: str) -> int:
    """Return the bits of the distance words that a search begins with."""
    return word_bits(cells.dtype if cells is not None else weights, sums)


def state_bytes(view: ResidentView, strategy: Strategy, sums: str = FLOAT64) -> int:
    """Return the bytes that ``State`` takes on the device; a restart in 64 bits takes 8 more for each vertex."""
    n, graph = view.vertices, view.host.graph
    cells = Cells.of(graph) if strategy.matrix else None
    word = narrowest(view.weights.dtype, cells, sums) // 8
    taken = n + (n + sum(minima_sizes(n, strategy.minimum))) * word + 4096
    if cells is not None:
        taken += cells.nbytes
    elif strategy.pulls_on(GPU) and graph.directed:
        taken += view.offsets.nbytes + view.targets.nbytes + view.weights.nbytes
    return taken


def run(state: State, clock: Clock, source: int) -> TwoSided:
    """Find all distances from ``source``; returns the distance words."""
    state.use_width(state.narrow)
    search(state, clock, source)
    if state.minima and state.strategy.minimum != "atomic":
        clock.count("minima_read", state.minima[-1].size)
    if state.bits == 32 and state.overflowed():
        clock.count("restarts")
        state.use_width(64)
        search(state, clock, source)
    return state.distance


def search(state: State, clock: Clock, source: int) -> None:
    """Resolve vertices in order of distance until no more can be reached."""
    state.start(source)
    while True:
        reached = rounds(state, clock) != state.unreached
        clock.count("rounds", int(reached.sum()))
        if not reached.all():
            return


def rounds(state: State, clock: Clock) -> NDArray[Any]:
    """Do as many rounds as the host need not wait for, one or a few, and return their minima."""
    if state.strategy.minimum != "atomic":
        return np.array([state.round(clock, 0)], np.uint64)
    state.device.fill(state.minima[0], state.unreached)
    for turn in range(ROUNDS_PER_READ):
        state.round(clock, turn)
    minima: NDArray[Any] = state.device.download(state.minima[0])  # the one read-back of these rounds
    return minima


def finish(state: State, words: NDArray[Any], source: int) -> Distances:
    """Return the distances, of integers or in the type of sums."""
    beyond = state.overflowed() or (state.cells is not None and state.cells.beyond)
    return distances_from_words(state.graph, source, words, beyond)


# ------------------------------------------------------------------ variants
# The paper's variants by name.  ``dijkstra`` is ours: F-GPU with the minimum by atomics, so that the host waits for a
# few rounds at a time and not for each.  The matrix variants are the same over an adjacency matrix; those called
# ``no-atomic`` lose updates, as the paper says, and only show what atomics cost.
#
# Source: P. J. Martín, R. Torres, A. Gavilanes, "CUDA solutions for the SSSP problem", ICCS 2009, sections 4 and 5.

_PUSH, _PULL = "each frontier vertex relaxes its successors", "each unresolved vertex looks at its predecessors"
_NO_ATOMIC = "wrong on purpose: the minimum without an atomic loses updates"

_CACHES = "u-gpu with offsets through shared memory and flags through the read-only cache"
_CHUNKS = "adjacency matrix, chunks of the frontier through shared memory"
_VARIANTS = (
    # name, relax, on, minimum, update on
    ("dijkstra push gpu atomic gpu", "4: F-GPU", "compound frontier: relax and minimum with atomicMin, update"),
    ("f-gpu push gpu one-pass gpu", "4.1: F-GPU", f"compound frontier, relax with atomicMin: {_PUSH}"),
    ("f-cpu push cpu cpu cpu", "4.1: F-CPU", f"compound frontier on one CPU thread: {_PUSH}"),
    ("u-cpu pull cpu cpu cpu", "4.1: U-CPU", f"compound frontier on one CPU thread: {_PULL}"),
    ("u-hybrid-1 pull cpu cpu gpu", "4.1: U-H1", "hybrid: relax and minimum on the CPU, update on the GPU"),
    ("u-hybrid-2 pull gpu cpu cpu", "4.1: U-H2", "hybrid: relax on the GPU, minimum and update on the CPU"),
    ("u-hybrid-3 pull gpu cpu gpu", "4.1: U-H3", "hybrid: relax and update on the GPU, minimum on the CPU"),
    ("u-gpu pull gpu one-pass gpu", "4.1: U-GPU", f"compound frontier without atomics: {_PULL}"),
    ("u-gpu-2min pull gpu two-pass gpu", "4.1: U-GPU+2min", "u-gpu with a second pass of the minimum"),
    ("u-gpu-plus pull-plus gpu one-pass gpu", "4.2: U-GPU-PLUS", _CACHES),
    ("f-gpu-no-atomic push gpu one-pass gpu", "4.1: F-GPU-no-atomic", f"{_NO_ATOMIC}; shows what they cost"),
    ("matrix-u-cpu pull cpu cpu cpu", "5: U-CPU", f"adjacency matrix on one CPU thread: {_PULL}"),
    ("matrix-f-cpu push cpu cpu cpu", "5: F-CPU", f"adjacency matrix on one CPU thread: {_PUSH}"),
    ("matrix-u-gpu pull gpu one-pass gpu", "5: U-GPU", f"{_CHUNKS}: {_PULL}"),
    ("matrix-f-gpu push gpu one-pass gpu", "5: F-GPU", f"adjacency matrix, tiles through shared memory: {_PUSH}"),
    ("matrix-f-gpu-no-atomic push gpu one-pass gpu", "5: F-GPU-no-atomic", f"adjacency matrix, {_NO_ATOMIC}"),
)

STRATEGIES: dict[str, tuple[Strategy, str, str]] = {}
for _how, *_source in _VARIANTS:
    _name, _relax, _relax_on, _minimum, _update_on = _how.split()
    _kinds = _name.startswith("matrix"), not _name.endswith("no-atomic")
    STRATEGIES[_name] = Strategy(_relax, _relax_on, _minimum, _update_on, *_kinds), _source[0], _source[1]
"""By name: the strategy, its section and name in the paper, and what it does."""

_VERSIONS = dict.fromkeys(("dijkstra", "f-gpu-no-atomic", "matrix-u-gpu", "matrix-f-gpu", "matrix-f-gpu-no-atomic"), 3)
"""Of those whose times changed before or after float32 weights were summed in float64."""


def _compile(view: ResidentView | GraphView, device: Device, strategy: Strategy, sums: str = FLOAT64) -> None:
    """Bring into being what a run needs before it turns out to need 64-bit distances."""
    if isinstance(view, ResidentView):
        cells = Cells.of(view.host.graph) if strategy.matrix else None
        bits = narrowest(view.weights.dtype, cells, sums)
        for file, name, defines in step_kernels(view, strategy, cells, bits).values():
            file.kernel(device, defines, name)
    if CPU not in strategy.sides:
        return
    # The CPU's steps by a search on three vertices with the same dtypes, and the greatest weight of the graph too: the
    # type of a matrix depends on it.
    there = replace(strategy, relax="pull" if strategy.pulls else "push", relax_on=CPU, minimum="cpu", update_on=CPU)
    graph, heaviest = view.host.tiny().graph, view.host.graph.weights.max(initial=0)
    state = State(GraphView.of(replace(graph, weights=np.full_like(graph.weights, heaviest))), None, there, sums)
    search(state, NullClock(), 0)
    if state.float_dtype is None and state.bits == 32:
        state.use_width(64)
        search(state, NullClock(), 0)


for _name, (_strategy, _section, _summary) in STRATEGIES.items():
    add_algorithm(
        "sssp",
        _name,
        devices=("cuda", "emulated") if GPU in _strategy.sides else ("cpu",),
        summary=_summary,
        authors="Martín, Torres, Gavilanes",
        year=2009,
        section=_section,
        prepare=partial(State, strategy=_strategy),
        run=run,
        fetch=lambda state, distance: distance.fetch(),
        finish=finish,
        compile=partial(_compile, strategy=_strategy),
        options=(SUMS,),
        trusted=_strategy.atomic,
        version=_VERSIONS.get(_name, 2),
        minimum_bytes=distance_bytes,
    )
