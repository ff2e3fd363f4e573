"""``Row``: what a report needs of a record, checked once, the same for finished, failed and older records."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from gpugraph.measure.record_file import Shape, shape_of
from gpugraph.measure.statistics import relative_half_width
from gpugraph.report.papers import Stated, stated
from gpugraph.report.rates import shown_rate
from gpugraph.report.units import counted

LEAST_SAMPLES = 3
"""Fewer samples of a source have no interval, and say little of the time that a run takes."""

FEW = "A time with its number of samples in brackets has fewer than were asked for, or than three: it proves little"

TRANSFERS = ("stage", "h2d", "d2h")
"""Phases that move data to the device and back."""

MOST_SCALE = 64
"""Scales beyond it are none: no graph has so many vertices."""

_SCALED = re.compile(r"(rmat|ssca2):(?:scale=)?(\d\d?)\b")
_SIZES = ("n", "scale", "in", "m", "size", "rows", "columns")
_OTHER = 0.005
_MEASURING = ("repeat", "warmup", "index_bits")


@dataclass(frozen=True, eq=False)
class Row:
    """A record as reports see it; what was not measured is None or empty.

    Attributes:
        data: the record's JSON object.
        outcome: ``"ok"`` or what happened instead.
        message: why it is not ok.
        cell_id, series: of the sweep; the cells of one series differ in scale alone.
        family: the graph's kind without its size, ``"rmat"`` for instance; a file's own name.
        scale: log2 of the number of vertices.
        kernel_s: median seconds of the kernel; None where the outcome is not ok.
        interval_s: confidence interval of that median.
        inner: seconds of the phases inside the kernel, scaled to ``kernel_s`` (see ``inner_phases``).
        samples: every sample of the kernel, source by source, and within a source process by process.
        sources: from which the cell was run.
        processes: samples of each source that each process took, in their order.
        wanted: the fewest samples of each source that were asked for; 0 where that is not known.
        mteps, end_to_end: millions of edges a second; None where they must not be shown.
        nanojoules, joules: per edge, and per run.
        share: of the measured copy bandwidth, if only the least traffic were counted; 1 is the roof.
        papers: what a paper states of its own system on this work.
        absent: why energy or traffic is not there.
    """

    data: Mapping[str, Any]
    file: str | None
    line: int | None
    cell_id: str | None
    series: str | None
    problem: str
    algorithm: str
    device_kind: str
    device: str
    graph: str
    family: str
    scale: float | None
    vertices: int | None
    edges: int | None
    axes: Mapping[str, Any]
    parameters: Mapping[str, Any]
    outcome: str
    message: str
    status: str
    kernel_s: float | None
    interval_s: tuple[float, float] | None
    samples: tuple[float, ...]
    sources: int
    processes: tuple[int, ...]
    wanted: int
    phases: Mapping[str, float]
    inner: Mapping[str, float]
    mteps: float | None
    end_to_end: float | None
    counts: tuple[int, ...]
    memory: int | None
    nanojoules: float | None
    joules: float | None
    share: float | None
    copy_bytes_per_s: float | None
    minimum_bytes: float | None
    papers: tuple[Stated, ...] = ()
    absent: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the cell finished and nothing speaks against its result."""
        return self.outcome == "ok"

    @property
    def transfers(self) -> bool:
        """Whether the graph goes to a device and back, so that end to end says more than the kernel."""
        return self.device_kind != "cpu"

    @property
    def transfer_s(self) -> float:
        """Seconds that data took to the device and back."""
        return sum(self.phases.get(name, 0.0) for name in TRANSFERS)

    @property
    def half_width(self) -> float | None:
        """Half the interval of the median over the median; None where there is none."""
        if self.interval_s is None or not self.kernel_s:
            return None
        return relative_half_width(self.interval_s, self.kernel_s)

    @property
    def few(self) -> str:
        """``"1 sample"`` and the like where that is too few to rank by: fewer than asked for, or than three."""
        taken = len(self.samples) // self.sources
        return counted(taken, "sample") if 0 < taken < max(LEAST_SAMPLES, self.wanted) else ""

    def by_process(self, samples: Sequence[float]) -> list[list[float]]:
        """Return the cell's samples, or figures that stand for them in their order, by process and then by source."""
        each = len(samples) // self.sources
        ends = [sum(self.processes[:i]) for i in range(len(self.processes) + 1)]
        return [
            [s for source in range(self.sources) for s in samples[source * each + low : source * each + high]]
            for low, high in pairwise(ends)
        ]

    @property
    def mteps_interval(self) -> tuple[float | None, float | None]:
        """Ends of the interval of ``mteps``, which comes from the kernel time alone; None where there is none."""
        if self.mteps is None or self.interval_s is None or not self.kernel_s or self.interval_s[0] <= 0:
            return None, None
        low, high = self.interval_s
        return self.mteps * self.kernel_s / high, self.mteps * self.kernel_s / low

    @property
    def verdict(self) -> str:
        """What a table says of the cell in a word or two."""
        if not self.ok:
            return self.outcome
        return "verified" if self.status == "passed" else "not verified"

    @classmethod
    def of(cls, data: Mapping[str, Any], *, file: str | None = None, line: int | None = None) -> Row:
        """Return a record as a row.

        Raises:
            ValueError: a field is missing or not of its type; the message names it.
        """
        told = shape_of(data)
        cell, graph, device, rates = told.cell, told.graph, told.device, told.mteps
        outcome, message = _outcome(told)
        axes = cell.axes or {}
        name = graph.name or cell.id or "unknown graph"
        phases = {k: v for k, v in told.phases_s.items() if v is not None}
        finished = outcome == "ok" and "kernel" in phases
        samples = tuple(told.samples_s.kernel or ()) if finished else ()
        sources = len(told.per_source) if told.per_source and not len(samples) % len(told.per_source) else 1
        counts = rates.count
        absent = {"energy": told.energy.absent, "traffic": told.traffic.absent}
        return cls(
            data=data,
            file=file,
            line=line,
            cell_id=cell.id,
            series=cell.series,
            problem=told.problem,
            algorithm=told.algorithm,
            device_kind=device.kind or str(axes.get("device") or "unknown"),
            device=device.name or device.kind or str(axes.get("device") or "unknown device"),
            graph=name,
            family=family_of(name),
            scale=_scale(axes, name, graph.vertices),
            vertices=graph.vertices,
            edges=graph.edges,
            axes=axes,
            parameters={k: v for k, v in (data.get("parameters") or {}).items() if k not in _MEASURING},
            outcome=outcome,
            message=message,
            status=told.verification.status or "skipped",
            kernel_s=phases["kernel"] if finished else None,
            interval_s=told.confidence_s.kernel if finished else None,
            samples=samples,
            sources=sources,
            processes=_processes(samples, told, sources),
            wanted=told.sampling.min_samples or 0,
            phases=phases if finished else {},
            inner=inner_phases(data) if finished else {},
            mteps=shown_rate(data, "kernel") if finished else None,
            end_to_end=shown_rate(data, "end_to_end") if finished else None,
            counts=() if counts is None else tuple(counts) if isinstance(counts, list) else (counts,),
            memory=told.peak_device_bytes,
            nanojoules=told.energy.nanojoules_per_edge if finished else None,
            joules=told.energy.joules_per_run if finished else None,
            share=told.traffic.share if finished else None,
            copy_bytes_per_s=told.traffic.copy_bytes_per_s,
            minimum_bytes=told.traffic.minimum_bytes,
            papers=stated(told.paper),
            absent={name: why for name, why in absent.items() if why},
        )


def inner_phases(data: Mapping[str, Any]) -> dict[str, float]:
    """Return the seconds of the phases inside the kernel, as shares of the run they were measured in.

    That run is one of its own, which the marking slows down; its shares, applied to the kernel's median, give times
    that add up to what is printed.  What lies between the phases is ``other``.
    """
    told = shape_of(data)
    parts = {name: float(seconds) for name, seconds in told.kernel_phases_s.items() if seconds is not None}
    kernel_s = told.phases_s.get("kernel")
    run_s = float(told.kernel_phases_run_s or sum(parts.values()))
    if not parts or not kernel_s or run_s <= 0:
        return {}
    other = run_s - sum(parts.values())
    if other > _OTHER * run_s:
        parts["other"] = other
    return {name: seconds / run_s * kernel_s for name, seconds in parts.items()}


def family_of(name: str) -> str:
    """Return a graph's kind without its size: ``"rmat:20,w=unit"`` is of the family ``"rmat, w=unit"``."""
    kind, colon, rest = name.partition(":")
    if not colon or not re.fullmatch(r"[a-z][a-z0-9_-]*", kind):
        return name
    options = [part for part in rest.split(",") if "=" in part and part.partition("=")[0] not in _SIZES]
    return ", ".join([kind, *options])


def _scale(axes: Mapping[str, Any], name: str, vertices: int | None) -> float | None:
    given = axes.get("scale")
    if isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given <= MOST_SCALE:
        return float(given)
    if found := _SCALED.match(name):
        return float(found[2])
    return math.log2(vertices) if vertices else None


def _outcome(told: Shape) -> tuple[str, str]:
    """Return outcome and reason; records older than the field tell it by their verdict."""
    failed = told.verification.status == "failed"
    message = told.message or (told.verification.detail or "" if failed else "")
    return told.outcome or ("failed" if failed else "ok"), " ".join(message.split())


def _processes(samples: Sequence[float], told: Shape, sources: int) -> tuple[int, ...]:
    """Return how many samples of each source each process took, in their order."""
    taken = tuple(told.sampling.processes or ())
    return taken if sum(taken) * sources == len(samples) and all(taken) else (len(samples) // sources,)
