"""The flawed algorithm of Harish and Narayanan on a GPU: it loses updates, and is kept to show how.

The kernels, and what is wrong with them, are in ``cuda_kernels/harish_narayanan.cu``; ``gpugraph demo race`` runs it on
the counter-example.

Source: P. Harish, P. J. Narayanan, "Accelerating large graph algorithms on the GPU using CUDA", HiPC 2007;
refuted in P. J. Martín, R. Torres, A. Gavilanes, "CUDA solutions for the SSSP problem", ICCS 2009, section 4.3.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gpugraph.base.clock import Clock, NullClock
from gpugraph.base.errors import DeviceUnavailable, InputError
from gpugraph.base.files import resource_dir
from gpugraph.devices.base import Array, Device, Kernel
from gpugraph.devices.kernel_file import Arrays, ArrayTable, KernelFile, needs
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView, ResidentView, make_resident
from gpugraph.problems.algorithm import InputSizes
from gpugraph.problems.registry import add_algorithm, find_algorithm
from gpugraph.problems.sssp.arcs import FLOAT64, SUMS, word_bits
from gpugraph.problems.sssp.distances import distance_bytes, distances_from_words
from gpugraph.problems.sssp.gpu_words import DISTANCE_SETS, distance_types, first_bits

FILE = KernelFile("harish_narayanan.cu", [defines for defines in DISTANCE_SETS if defines["INDEX_BITS"] == 32])
BLOCK = 32
"""Threads of a block, as in the refutation."""


def arrays(sizes: InputSizes) -> ArrayTable:
    """Return the arrays of a run in addition to the costs (meaning: harish_narayanan.cu)."""
    return {"mask": (sizes.vertices, np.uint8), "changed": (1, np.uint32), "overflow": (1, np.uint32)}


def costs(sizes: InputSizes, bits: int) -> ArrayTable:
    """Return the arrays of costs in words of ``bits``."""
    return dict.fromkeys(("cost", "updating_cost"), (sizes.vertices, np.dtype(f"u{bits // 8}")))


class State(Arrays):
    """The arrays of one run and the kernels that work on them."""

    def __init__(self, view: ResidentView, device: Device, sums: str = FLOAT64):
        self.view, self.narrow = view, word_bits(view.weights.dtype, sums)
        device.require(state_bytes(view, self.narrow))
        super().__init__(device, arrays(view))
        self._widths: dict[int, tuple[Arrays, dict[str, Kernel]]] = {}
        self.use_width(self.narrow)

    def use_width(self, bits: int) -> None:
        """Hold costs in words of 32 or 64 bits."""
        if bits not in self._widths:
            kernels = load_kernels(self.view, self.device, bits)
            self._widths[bits] = Arrays(self.device, costs(self.view, bits)), kernels
        self.bits = bits
        words, self.kernels = self._widths[bits]
        self.cost, self.updating_cost = words.cost, words.updating_cost

    def launch(self, name: str, *args: object) -> None:
        """Launch a kernel with a thread for each vertex."""
        n = self.view.vertices
        self.kernels[name](-(-n // BLOCK), BLOCK, (np.int32(n), *args))


def load_kernels(view: ResidentView, device: Device, bits: int) -> dict[str, Kernel]:
    """Return the kernels for costs of ``bits``, compiled if need be."""
    return FILE.kernels(device, distance_types(view, bits))


def state_bytes(sizes: InputSizes, bits: int | None = None) -> int:
    """Return the bytes that ``State`` allocates for costs of ``bits``, None for the first ones.

    In 64 bits, which a restart needs and float32 weights do, it takes 16 more for each vertex.
    """
    return needs(arrays(sizes)) + needs(costs(sizes, bits or first_bits(sizes)))


def run(state: State, clock: Clock, source: int) -> Array:
    """Lower costs until none falls any more; returns the device array of distance words."""
    state.use_width(state.narrow)
    search(state, clock, source)
    if state.bits == 32 and state.device.read(state.overflow):
        clock.count("restarts")
        state.use_width(64)
        search(state, clock, source)
    return state.cost


def search(state: State, clock: Clock, source: int) -> None:
    """Do rounds until one changes nothing."""
    device, view = state.device, state.view
    device.fill(state.overflow, 0)
    state.launch("start", np.int32(source), state.mask, state.cost, state.updating_cost)
    while True:
        device.fill(state.changed, 0)
        with clock.phase("relax"):
            graph = (view.offsets, view.targets, view.weights)
            state.launch("relax", *graph, state.mask, state.cost, state.updating_cost, state.overflow)
        with clock.phase("update"):
            state.launch("update", state.mask, state.cost, state.updating_cost, state.changed)
        clock.count("rounds")
        if not device.read(state.changed):  # the one read-back of a round
            return


def compile_(view: ResidentView, device: Device, *, sums: str = FLOAT64) -> None:
    """Compile the kernels that a run begins with."""
    load_kernels(view, device, word_bits(view.weights.dtype, sums))


add_algorithm(
    "sssp",
    "harish-narayanan",
    summary="wrong on purpose: relaxes into a second array without atomics, and loses updates",
    authors="Harish, Narayanan",
    year=2007,
    section="shortest paths; refuted by Martín, Torres, Gavilanes 2009, 4.3",
    prepare=State,
    run=run,
    finish=lambda state, words, source: distances_from_words(
        state.view.host.graph, source, words, bool(state.device.read(state.overflow))
    ),
    compile=compile_,
    options=(SUMS,),
    version=2,
    trusted=False,
    minimum_bytes=distance_bytes,
    state_bytes=state_bytes,
)


# ------------------------------------------------------------------ the race, shown
# A published relaxation without atomics gives random answers where ours gives the right one.
#
# On the counter-example every middle vertex offers the last one a different sum in the same round.  The algorithm of
# Harish and Narayanan then keeps any of them; ``dijkstra`` keeps the least.  Both run many times on the same graph,
# directed and undirected, and the race detector of the emulated device says which lines are to blame.
#
# On the emulated device a run is one schedule: every seed shuffles threads and blocks in its own way, and the build
# with the race detector also lets a thread give way between a look and a write, as threads of a GPU do all the time.
#
# Source: Martín, Torres & Gavilanes, CUDA solutions for the SSSP problem (2009), section 4.3 and figure 5 (right).

FLAWED, OURS = "harish-narayanan", "dijkstra"
VERTICES = 1024
"""As in the paper."""
RUNS = {"cuda": 1000, "emulated": 200}
"""Runs by kind of device, where none are asked for; one in a dozen schedules of the emulated device goes wrong."""
DETECTOR_SEEDS = range(1, 4)
"""Schedules that the race detector looks at beside a GPU."""

Progress = Callable[[str, float | None], None]


def show_race(
    device: Device, first_seed: int, detector: Callable[[int], Any], runs: int | None, progress: Progress
) -> dict[str, Any]:
    """Run the flawed algorithm and ours on the counter-example, each ``runs`` times on each graph; None: ``RUNS``.

    The device stays open; of the emulated one ``first_seed`` is the first schedule.  ``detector`` returns the emulated
    device under the schedule of a seed, with the race detector; ``progress`` gets a few words and the fraction done.

    The object returned has ``device``, ``runs``, ``vertices``, ``cases`` (for each algorithm and graph: ``algorithm``,
    ``graph``, ``directed``, ``runs``, ``wrong``, ``right``, the right distance of the last vertex, and ``answers``, how
    often each distance was given), ``races`` (by algorithm, or None without a detector), ``detector`` (who looked, or
    why nobody), and ``shown``: whether the flawed algorithm was wrong at least once on each graph and ours never.
    """
    from gpugraph.graph.generate import generate
    from gpugraph.problems.sssp.verify import reference_distances

    runs = RUNS[device.kind] if runs is None else runs
    if runs < 1:
        raise InputError(f"--repeat {runs} shows nothing", remedy="give 1 or more")
    emulated, races = device.kind == "emulated", {FLAWED: list[Any](), OURS: list[Any]()}
    cases: list[dict[str, Any]] = []
    progress("making the counter-example", None)
    graphs = [generate(f"counterexample:{VERTICES}{more}") for more in ("", ",directed=false")]
    for graph in graphs:
        right = reference_distances(graph, 0)[0]
        for name in (FLAWED, OURS):
            answers, wrong, found = Counter[int](), 0, _again(name, graph, device, runs)
            if emulated:
                found = _on_schedules(name, graph, detector, range(first_seed, first_seed + runs), races[name])
            for run_, distance in enumerate(found, 1):
                answers[int(distance[-1])] += 1
                wrong += not np.array_equal(distance, right)
                progress(f"{name} on {graph.name}: run {run_} of {runs}", (len(cases) * runs + run_) / (4 * runs))
            case = {"algorithm": name, "graph": graph.name, "directed": graph.directed, "runs": runs, "wrong": wrong}
            given = {str(answer): times for answer, times in sorted(answers.items())}
            cases.append({**case, "right": int(right[-1]), "answers": given})
    looked, available = "the emulated device, in these runs", True
    if not emulated:
        looked = f"the emulated device, {len(DETECTOR_SEEDS)} schedules"
        try:
            for name, seen in races.items():
                progress(f"looking for races in {name}", None)
                list(_on_schedules(name, graphs[0], detector, DETECTOR_SEEDS, seen))
        except DeviceUnavailable as missing:
            looked, available = f"not available: {missing}", False
    return {
        "device": device.describe(),
        "runs": runs,
        "vertices": VERTICES,
        "cases": cases,
        "races": {name: _described(seen) for name, seen in races.items()} if available else None,
        "detector": looked,
        "shown": all((case["wrong"] > 0) == (case["algorithm"] == FLAWED) for case in cases),
    }


def _again(name: str, graph: CSRGraph, device: Device, runs: int) -> Iterator[Any]:
    """Yield the distances of run after run on one device."""
    algorithm = find_algorithm("sssp", name, device.kind)
    view, _, _ = make_resident(GraphView.of(graph), device)
    state = algorithm.prepare(view, device)
    for _ in range(runs):
        yield algorithm.finish(state, algorithm.fetch(state, algorithm.run(state, NullClock(), 0)), 0).raw


def _on_schedules(
    name: str, graph: CSRGraph, detector: Callable[[int], Any], seeds: range, found: list[Any]
) -> Iterator[Any]:
    """Yield the distances under one schedule after the other, and add the races of each to ``found``."""
    for seed in seeds:
        device = detector(seed)
        yield from _again(name, graph, device, 1)
        found += device.races()
        device.close()


def _described(races: list[Any]) -> list[dict[str, Any]]:
    """Return an object for each pair of lines that race: the report, and the lines themselves."""
    first = {(race.kernel, race.lines): race for race in reversed(races)}
    described = []
    for race in first.values():
        lines = []
        for file, number in sorted(race.lines):
            name = file.rsplit("/", 1)[-1]
            text = (resource_dir("cuda_kernels") / name).read_text("utf-8").splitlines()[number - 1]
            lines.append({"file": name, "line": number, "text": text.split("//")[0].strip()})
        described.append({"report": str(race), "memory": race.memory, "lines": lines})
    return described
