"""What a cell will need, memory and seconds: from stored results, from declared traffic, or from plain rates.

The figures are rough on purpose: they order cells, warn, and keep a sweep inside its budget, which corrects them by
what the cells before really took.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from gpugraph.bench.expand import Planned
from gpugraph.errors import GpuGraphError
from gpugraph.measure.resolve import resolve_algorithm
from gpugraph.measure.sampling import Sampling
from gpugraph.measure.trial import REFERENCE_LIMIT
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.registry import load_problem
from gpugraph.processor import usable_cores

ARCS_PER_S = {"cpu": 20e6, "cuda": 2e9, "emulated": 200e3}
BYTES_PER_S = {"cpu": 5e9, "cuda": 1e12, "emulated": 2e6}
"""What algorithms reach where nothing is known of them: a little below what most do."""

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
    """Prices cells.

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
        kernel, arcs = record["phases_s"].get("kernel"), record["graph"].get("arcs")
        if record.get("outcome", "ok") == "ok" and kernel and arcs:
            figures = (arcs, kernel, record.get("peak_device_bytes") or 0)
            keys: list[tuple[str, ...]] = [(record["problem"], record["algorithm"], record["device"]["kind"])]
            keys += [(series,)] if (series := (record.get("cell") or {}).get("series")) else []
            for key in keys:
                self._known.setdefault(key, []).append(figures)

    def need(self, planned: Planned) -> Need:
        """Return what a cell will need."""
        size, kind, sampling = planned.size, planned.kind, self._sampling
        arcs = max(size.arcs, 1)
        nearest = self._nearest(planned)
        if nearest is not None:
            kernel_s, basis = nearest[1] * max(arcs / nearest[0], 0.05), "results"
        elif (traffic := self._declared(planned, "minimum_bytes")) is not None:
            kernel_s, basis = 2e-5 + traffic / BYTES_PER_S[kind], "traffic"
        else:
            kernel_s, basis = 2e-5 + arcs / ARCS_PER_S[kind], "rates"
        runs = _sources(planned)
        samples = min(max(sampling.min_samples, USUAL_SAMPLES), sampling.max_samples)
        sampled = min(sampling.time_limit_s, samples * kernel_s * runs)
        once = (sampling.warmup + 3 * planned.cell.phases + 1) * kernel_s
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
            told = size.graph_bytes + (state if declared is None else declared)
            device = nearest[2] * arcs // nearest[0] if nearest and nearest[2] else told
        return Need(
            seconds=SETUP_S[kind] + sampled + once + checks,
            opening_s=0.1 + arcs / (OPENED_ARCS_PER_S * usable_cores()),
            host_bytes=max(size.making_bytes, size.graph_bytes + state),
            device_bytes=device,
            basis=basis,
        )

    def _nearest(self, planned: Planned) -> tuple[int, float, int] | None:
        """Return (arcs, kernel seconds, peak bytes) of the stored result nearest in size, of its own series if any."""
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
        """Return the bytes that the algorithm declares for a graph of that size, or None where it declares none."""
        algorithm = self._algorithm(planned)
        estimate = None if algorithm is None else getattr(algorithm, what)
        try:
            return None if estimate is None else int(estimate(_shape(planned)))
        except (GpuGraphError, AttributeError, TypeError):
            return None  # it asks more of a graph than its size: rates must do


def _shape(planned: Planned) -> Any:
    """Return what a view of the graph will look like from outside."""
    size = planned.size
    bits = planned.cell.index_bits or (32 if size.arcs < 2**31 - 2**16 else 64)
    return SimpleNamespace(
        vertices=size.vertices,
        arcs=size.arcs,
        edges=size.arcs // 2,
        elements=size.arcs,
        nbytes=size.graph_bytes,
        index_bits=bits,
        weights=SimpleNamespace(itemsize=size.weight_bytes, dtype=SimpleNamespace(itemsize=size.weight_bytes)),
        targets=SimpleNamespace(itemsize=4 if size.vertices < 2**31 else 8),
        offsets=SimpleNamespace(itemsize=bits // 8),
    )


def _sources(planned: Planned) -> int:
    """Return how many sources a cell runs from."""
    source = str(planned.cell.source or "")
    count = source.removeprefix("random:")
    return int(count) if source.startswith("random:") and count.isdigit() else 1
