"""What a cell will need, memory and seconds: from stored results, from declared traffic, or from plain rates.

The figures are rough on purpose: they order cells, warn, and keep a sweep inside its budget, which corrects them by
what the cells before really took.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpugraph.bench.expand import Planned
from gpugraph.errors import GpuGraphError
from gpugraph.host import usable_cores
from gpugraph.measure.record_file import shape_of
from gpugraph.measure.resolve import resolve_algorithm
from gpugraph.measure.sampling import Sampling
from gpugraph.measure.trial import REFERENCE_LIMIT
from gpugraph.peers.libraries import LIBRARIES
from gpugraph.problems.algorithm import Algorithm, InputSizes
from gpugraph.problems.registry import load_problem

ARCS_PER_S = {"cpu": 20e6, "cuda": 2e9, "emulated": 200e3}
BYTES_PER_S = {"cpu": 5e9, "cuda": 1e12, "emulated": 2e6}
"""What algorithms reach where nothing is known of them: a little below what most do."""

PEER_ARCS_PER_S, COMMAND_S = 1e6, 0.2
"""Of other people's programs: many run in Python; and what it takes to start one and let it read its file."""

OPENED_ARCS_PER_S = 3e6
"""For each core: to generate or to read a graph."""

CHECKED_ARCS_PER_S = 4e6
CERTIFIED_ARCS_PER_S = 3e6
"""For each core: to check distances, or a forest on the host, without an oracle."""

CHECKED_ON_DEVICE_ARCS_PER_S = 500e6
SETUP_S = {"cpu": 0.3, "cuda": 0.7, "emulated": 3.0}
USUAL_SAMPLES = 30
"""Samples until the interval is narrow, more or less."""

STATE_BYTES_PER_VERTEX = 48
STATE_BYTES_PER_ARC = 8
"""What GPU algorithms take besides the graph, where no record tells."""


@dataclass(frozen=True)
class Need:
    """What a cell will need.

    Attributes:
        seconds: of its own, without opening the graph.
        opening_s: to open the graph, once for all that share it.
        host_bytes: at the peak, on the host.
        device_bytes: on the GPU; 0 where there is none.
        basis: where ``seconds`` comes from: ``"results"``, ``"traffic"`` or ``"rates"``.
    """

    seconds: float
    opening_s: float
    host_bytes: int
    device_bytes: int
    basis: str


class Prices:
    """Foretells what cells will need.

    Args:
        sampling: how they will be sampled.
        records: stored results to learn from.
    """

    def __init__(self, sampling: Sampling, records: Sequence[Mapping[str, Any]] = ()):
        self._sampling = sampling
        self._algorithms: dict[tuple[str, str, str], Algorithm | None] = {}
        self._known: dict[tuple[str, ...], list[tuple[int, float, int]]] = {}
        for record in records:
            self.learn(record)

    def learn(self, record: Mapping[str, Any]) -> None:
        """Take the figures of a record into account."""
        told = shape_of(record)
        kernel, arcs = told.phases_s.get("kernel"), told.graph.arcs
        if (told.outcome or "ok") == "ok" and kernel and arcs:
            spent, taken = told.sampling.spent_s, len(told.samples_s.kernel or ())
            sample_s = max(kernel, spent / taken if spent and taken else 0.0)
            figures = (arcs, sample_s, told.peak_device_bytes or 0)
            keys: list[tuple[str, ...]] = [(told.problem, told.algorithm, told.device.kind or "")]
            keys += [(told.cell.series,)] if told.cell.series else []
            for key in keys:
                self._known.setdefault(key, []).append(figures)

    def need(self, planned: Planned) -> Need:
        """Return what a cell will need."""
        size, kind, sampling = planned.size, planned.kind, self._sampling
        arcs = max(size.arcs, 1)
        nearest = self._nearest(planned)
        if nearest is not None:
            sample_s, basis = nearest[1] * max(arcs / nearest[0], 0.05), "results"
        elif planned.cell.algorithm.startswith("peer:"):
            starts_s = 0.0 if planned.cell.algorithm.removeprefix("peer:") in LIBRARIES else COMMAND_S
            sample_s, basis = starts_s + arcs / PEER_ARCS_PER_S, "rates"
        elif (traffic := self._declared(planned, "minimum_bytes")) is not None:
            sample_s, basis = 2e-5 + traffic / BYTES_PER_S[kind], "traffic"
        else:
            sample_s, basis = 2e-5 + arcs / ARCS_PER_S[kind], "rates"
        runs = _sources(planned)
        samples = min(max(sampling.min_samples, USUAL_SAMPLES), sampling.max_samples)
        sampled = min(sampling.time_limit_s, samples * sample_s * runs)
        once = (sampling.warmup + 3 * planned.cell.phases + 1) * sample_s
        on_device = kind == "cuda" and planned.cell.problem == "mst" and arcs > 2 * REFERENCE_LIMIT
        rate = CERTIFIED_ARCS_PER_S * usable_cores() if arcs > 2 * REFERENCE_LIMIT else CHECKED_ARCS_PER_S
        rate = CHECKED_ON_DEVICE_ARCS_PER_S if on_device else rate
        checks = 0.0 if planned.cell.verify == "none" else runs * arcs / rate
        state = STATE_BYTES_PER_VERTEX * size.vertices + STATE_BYTES_PER_ARC * arcs
        if size.is_array:
            state = size.graph_bytes  # the scan, where it is not in place
        device = 0
        if kind != "cpu":
            declared = self._declared(planned, "state_bytes")
            told = foreseen(planned).nbytes + size.arcs * size.head_bytes + (state if declared is None else declared)
            device = nearest[2] * arcs // nearest[0] if nearest and nearest[2] else told
        times = sampling.processes
        return Need(
            seconds=(SETUP_S[kind] + once + checks) * times + sampled,
            opening_s=(0.1 + arcs / (OPENED_ARCS_PER_S * usable_cores())) * times,
            host_bytes=max(size.making_bytes, size.graph_bytes + state),
            device_bytes=device,
            basis=basis,
        )

    def _nearest(self, planned: Planned) -> tuple[int, float, int] | None:
        """Return (arcs, sample seconds, peak bytes) of the stored result nearest in size, of its own series if any"""
        key = (planned.cell.problem, planned.cell.algorithm, planned.kind)
        known = self._known.get((planned.cell.series or "",)) or self._known.get(key)
        return min(known, key=lambda one: abs(one[0] - planned.size.arcs)) if known else None

    def _algorithm(self, planned: Planned) -> Algorithm | None:
        """Return the algorithm of a cell; None where it cannot be told before the graph is there."""
        cell = planned.cell
        if planned.guest is not None:
            return planned.guest
        key = (cell.problem, cell.algorithm, planned.kind)
        if key not in self._algorithms:
            try:
                found = None
                if cell.algorithm != "auto":
                    found = resolve_algorithm(cell, load_problem(cell.problem), None, planned.kind)
            except GpuGraphError:
                found = None  # running it will tell
            self._algorithms[key] = found
        return self._algorithms[key]

    def _declared(self, planned: Planned, what: str) -> int | None:
        """Return the bytes that the algorithm declares for an input of that size, or None where it declares none."""
        algorithm = self._algorithm(planned)
        estimate: Callable[[InputSizes], int] | None = None if algorithm is None else getattr(algorithm, what)
        return None if estimate is None else estimate(foreseen(planned))


@dataclass(frozen=True)
class Foreseen:
    """The ``InputSizes`` of a cell whose input is not there yet."""

    vertices: int
    arcs: int
    index_bits: int
    weight_bytes: int
    nbytes: int


def foreseen(planned: Planned) -> Foreseen:
    """Return the sizes that the view of a cell's graph will have; ``compress`` is not foreseen to save anything."""
    size, cell = planned.size, planned.cell
    if size.is_array:
        index_bits = 32 if size.arcs < 2**31 else 64
        return Foreseen(size.arcs, size.arcs, index_bits, size.weight_bytes, size.arcs * size.weight_bytes)
    index_bits = cell.index_bits or (32 if size.arcs < 2**31 - 2**16 else 64)
    weight_bytes = 4 if "rank-weights" in cell.preparations else size.weight_bytes
    id_bytes = index_bits // 8 if {"sort-adjacency", "renumber"} & set(cell.preparations) else 0
    arc_bytes = (4 if size.vertices < 2**31 else 8) + weight_bytes + id_bytes
    nbytes = index_bits // 8 * (size.vertices + 1) + size.arcs * arc_bytes
    return Foreseen(size.vertices, size.arcs, index_bits, weight_bytes, nbytes)


def _sources(planned: Planned) -> int:
    """Return how many sources a cell runs from."""
    source = str(planned.cell.source or "")
    count = source.removeprefix("random:")
    return int(count) if source.startswith("random:") and count.isdigit() else 1
