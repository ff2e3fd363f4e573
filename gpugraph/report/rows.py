"""``Row``: what a report needs of a record, checked once, the same for finished, failed and older records."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpugraph.measure.outcome import OUTCOMES
from gpugraph.measure.statistics import relative_half_width
from gpugraph.report.papers import Stated, stated
from gpugraph.report.rates import shown_rate

TRANSFERS = ("stage", "h2d", "d2h")
"""Phases that move data to the device and back."""

_SCALED = re.compile(r"(rmat|ssca2):(?:scale=)?(\d+)\b")
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
        problem, algorithm = _text(data, "problem"), _text(data, "algorithm")
        cell, graph, device = (_table(data, name) for name in ("cell", "graph", "device"))
        verification, rates = _table(data, "verification"), _table(data, "mteps")
        outcome, message = _outcome(data, verification)
        axes = _table(cell, "axes")
        name = str(graph.get("name") or cell.get("id") or "unknown graph")
        vertices = _whole(graph, "vertices")
        phases = _numbers(data, "phases_s")
        energy, traffic = _table(data, "energy"), _table(data, "traffic")
        finished = outcome == "ok" and phases.get("kernel") is not None
        counts = rates.get("count")
        return cls(
            data=data,
            file=file,
            line=line,
            cell_id=str(cell["id"]) if cell.get("id") is not None else None,
            series=str(cell["series"]) if cell.get("series") is not None else None,
            problem=problem,
            algorithm=algorithm,
            device_kind=str(device.get("kind") or axes.get("device") or "unknown"),
            device=str(device.get("name") or device.get("kind") or axes.get("device") or "unknown device"),
            graph=name,
            family=family_of(name),
            scale=_scale(axes, name, vertices),
            vertices=vertices,
            edges=_whole(graph, "edges"),
            axes=axes,
            parameters={k: v for k, v in _table(data, "parameters").items() if k not in _MEASURING},
            outcome=outcome,
            message=message,
            status=str(verification.get("status", "skipped")),
            kernel_s=phases["kernel"] if finished else None,
            interval_s=_interval(_table(data, "confidence_s").get("kernel")) if finished else None,
            samples=_samples(data) if finished else (),
            phases=phases if finished else {},
            inner=inner_phases(data) if finished else {},
            mteps=shown_rate(data, "kernel") if finished else None,
            end_to_end=shown_rate(data, "end_to_end") if finished else None,
            counts=() if counts is None else tuple(int(c) for c in (counts if isinstance(counts, list) else [counts])),
            memory=_whole(data, "peak_device_bytes"),
            nanojoules=_number(energy, "nanojoules_per_edge") if finished else None,
            joules=_number(energy, "joules_per_run") if finished else None,
            share=_number(traffic, "share") if finished else None,
            copy_bytes_per_s=_number(traffic, "copy_bytes_per_s"),
            minimum_bytes=_number(traffic, "minimum_bytes"),
            papers=stated(data.get("paper")),
            absent={k: str(t["absent"]) for k, t in (("energy", energy), ("traffic", traffic)) if t.get("absent")},
        )


def inner_phases(data: Mapping[str, Any]) -> dict[str, float]:
    """Return the seconds of the phases inside the kernel, as shares of the run they were measured in.

    That run is one of its own, which the marking slows down; its shares, applied to the kernel's median, give times
    that add up to what is printed.  What lies between the phases is ``other``.
    """
    parts, kernel_s = _numbers(data, "kernel_phases_s"), _numbers(data, "phases_s").get("kernel")
    run_s = _number(data, "kernel_phases_run_s") or sum(parts.values())
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
    if isinstance(given, int | float) and not isinstance(given, bool):
        return float(given)
    if found := _SCALED.match(name):
        return float(found[2])
    return math.log2(vertices) if vertices else None


def _outcome(data: Mapping[str, Any], verification: Mapping[str, Any]) -> tuple[str, str]:
    """Return outcome and reason; records older than the field tell it by their verdict."""
    failed = verification.get("status") == "failed"
    outcome = data.get("outcome") or ("failed" if failed else "ok")
    if outcome not in OUTCOMES:
        raise ValueError(f"its outcome is {outcome!r}, none of {', '.join(OUTCOMES)}")
    message = data.get("message") or (verification.get("detail", "") if failed else "")
    return str(outcome), " ".join(str(message).split())


def _samples(data: Mapping[str, Any]) -> tuple[float, ...]:
    samples = _table(data, "samples_s").get("kernel") or []
    if not isinstance(samples, list):
        raise ValueError("'samples_s.kernel' is no list")
    return tuple(_real(sample, "samples_s.kernel") for sample in samples)


def _interval(ends: Any) -> tuple[float, float] | None:
    if ends is None:
        return None
    if not isinstance(ends, list) or len(ends) != 2:
        raise ValueError("'confidence_s.kernel' is no pair")
    return _real(ends[0], "confidence_s.kernel"), _real(ends[1], "confidence_s.kernel")


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    if not isinstance(value, str):
        raise ValueError(f"it lacks '{name}'" if value is None else f"'{name}' is no text")
    return value


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = data.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError(f"'{name}' is no object")
    return value


def _numbers(data: Mapping[str, Any], name: str) -> dict[str, float]:
    return {k: _real(v, f"{name}.{k}") for k, v in _table(data, name).items() if v is not None}


def _number(data: Mapping[str, Any], name: str) -> float | None:
    return None if data.get(name) is None else _real(data[name], name)


def _whole(data: Mapping[str, Any], name: str) -> int | None:
    value = data.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise ValueError(f"'{name}' is no whole number")
    return value


def _real(value: Any, name: str) -> float:
    """Return a number of a record, where infinities are text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"'{name}' is no number")
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise ValueError(f"'{name}' is no number") from None
