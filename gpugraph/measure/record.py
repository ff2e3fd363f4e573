"""Cell and Record: what is asked of one measurement, and what comes out of it.

A record is one JSON object.  The names of its fields are part of the tool's contract: more may be added,
none may change.  Integers are exact, infinities are the string ``"inf"``; times are seconds.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from gpugraph.measure.record_shape import Shape, shape_of
from gpugraph.measure.statistics import relative_half_width
from gpugraph.problems.contract import Input

PHASES = ("load", "build", "stage", "h2d", "prepare", "kernel", "d2h", "verify")

TRANSFERS = ("stage", "h2d", "d2h")
"""Phases that move data to the device and back."""

LEAST_SAMPLES = 3
"""Fewer samples of a source have no interval, and say little of the time that a run takes."""

MOST_SCALE = 64
"""Scales beyond it are none: no graph has so many vertices."""

EMULATED = "times on the emulated device are not performance; no MTEPS is given"
UNVERIFIED = "the result is not verified; no MTEPS is given"

_SCALED = re.compile(r"(rmat|ssca2):(?:scale=)?(\d\d?)\b")
_SIZES = ("n", "scale", "in", "m", "size", "rows", "columns")
_OTHER = 0.005
_MEASURING = ("repeat", "warmup", "index_bits")


@dataclass(frozen=True)
class Cell:
    """One measurement asked for.

    Attributes:
        problem: ``"mst"``, ``"sssp"`` or ``"scan"``.
        graph: a path, a graph spec, or a CSRGraph.
        algorithm: a registered name, ``"auto"``, or ``"./file.py:driver"``.
        device: ``"auto"``, ``"cuda[:i]"``, ``"cpu"`` or ``"emulated[:seed]"``.
        source: of shortest paths: ``"17"``, ``"name:17"``, ``"index:17"``, ``"max-degree"`` or ``"random:K"``, or a
            node of a NetworkX graph.
        preparations: GraphView preparations, e.g. ``("sort-adjacency",)``.
        options: parameters of the algorithm, still as text or already typed.
        repeat: samples to take (per source).
        warmup: runs before the first sample.
        verify: ``"auto"``, ``"reference"``, ``"certificate"``, ``"both"`` or ``"none"``.
        index_bits: 32 or 64 forces the width of arc indices; None chooses.
        input_format: overrides the recognition of a file's format.
        weights: replaces the weights: ``"unit"``, ``"abs"``, ``"hash:LO..HI"`` or ``"uniform:LO..HI"``; ``"file"``
            keeps them.
        keep_ids: an edge list has the vertices 0 to the largest id.
        vertices, directed, columns: of a file that does not say them, as ``gpugraph.graph.sources.open_graph`` takes
            them.
        symmetrize: make a directed graph undirected before anything else.
        predecessors: also return the canonical predecessors of shortest paths.
        phases: also time the algorithm's inner phases, in runs of their own.
        profile: wrap phases in NVTX ranges and run once.
        seed: of ``random:K`` sources and of ``uniform`` weights.
        axes: where the cell lies in its sweep, axis → value; noted in the record and nowhere used.
        sweep: the sweep's name.
        series: the cells of one series differ in scale alone.
    """

    problem: str
    graph: Any
    algorithm: str = "auto"
    device: str = "auto"
    source: Any = None
    preparations: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    repeat: int = 5
    warmup: int = 1
    verify: str = "auto"
    index_bits: int | None = None
    input_format: str | None = None
    weights: str = "file"
    symmetrize: bool = False
    keep_ids: bool = False
    vertices: int | None = None
    directed: bool | None = None
    columns: str = ""
    predecessors: bool = False
    phases: bool = True
    profile: bool = False
    seed: int = 1
    axes: Mapping[str, Any] = field(default_factory=dict)
    sweep: str | None = None
    series: str | None = None

    @property
    def input(self) -> Input:
        """What it is measured on."""
        seed = self.seed if self.weights.startswith("uniform") else None
        read = {name: getattr(self, name) for name in ("keep_ids", "vertices", "directed", "columns")}
        return Input(self.problem, self.graph, self.input_format, self.weights, self.symmetrize, seed=seed, **read)


@dataclass(frozen=True, eq=False)
class Record:
    """What one cell gave, measured just now or read from a file, finished, failed or older than some of its fields.

    ``shape`` has its fields with their types; the properties are what has to be worked out of several of them, None or
    empty where it was not measured.  Figures of a cell that did not end well are not shown, whatever the object says.

    Attributes:
        data: the JSON object.
        graph: the input, where the record was measured in this process.
        results: of each query, likewise.
        notices: what to tell beside the record, likewise.
        file, line: where it was read.
    """

    data: dict[str, Any]
    graph: Any = None
    results: tuple[Any, ...] = ()
    notices: tuple[str, ...] = ()
    file: str | None = None
    line: int | None = None

    @classmethod
    def of(cls, data: Mapping[str, Any], *, file: str | None = None, line: int | None = None) -> Record:
        """Return the record of a JSON object, checked.

        Raises:
            ValueError: a field is missing or not of its type; the message names it.
        """
        record = cls(dict(data), file=file, line=line)
        _ = record.shape
        return record

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the record as JSON text, one line unless ``indent`` is given."""
        return json_text(self.data, indent=indent)

    @cached_property
    def shape(self) -> Shape:
        """The fields with their types; what is absent has the value that ``Shape`` gives it."""
        return shape_of(self.data)

    @property
    def result(self) -> Any:
        """The result of the first query, or None."""
        return self.results[0] if self.results else None

    # ------------------------------------------------------------------ what was run

    @property
    def problem(self) -> str:
        """The problem's name."""
        return self.shape.problem

    @property
    def algorithm(self) -> str:
        """The algorithm's name."""
        return self.shape.algorithm

    @property
    def axes(self) -> Mapping[str, Any]:
        """Where the cell lies in its sweep."""
        return self.shape.cell.axes or {}

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """What the algorithm was run with."""
        return {k: v for k, v in (self.data.get("parameters") or {}).items() if k not in _MEASURING}

    @property
    def device_kind(self) -> str:
        """``"cuda"``, ``"cpu"`` or ``"emulated"``."""
        return self.shape.device.kind or str(self.axes.get("device") or "unknown")

    @property
    def device(self) -> str:
        """The device's name, or its kind where the cell never opened it."""
        return self.shape.device.name or self.shape.device.kind or str(self.axes.get("device") or "unknown device")

    @property
    def graph_name(self) -> str:
        """The input's name."""
        return self.shape.graph.name or self.shape.cell.id or "unknown graph"

    @property
    def family(self) -> str:
        """The input's kind without its size, ``"rmat"`` for instance; a file's own name."""
        return family_of(self.graph_name)

    @cached_property
    def scale(self) -> float | None:
        """log2 of the number of vertices."""
        given, vertices = self.axes.get("scale"), self.shape.graph.vertices
        if isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given <= MOST_SCALE:
            return float(given)
        if found := _SCALED.match(self.graph_name):
            return float(found[2])
        return math.log2(vertices) if vertices else None

    @property
    def asked_source(self) -> Any:
        """The sources that it was run from, or the one, or None."""
        return [run.get("source") for run in self.shape.per_source] or self.shape.result.get("source")

    @property
    def transfers(self) -> bool:
        """Whether the graph goes to a device and back, so that end to end says more than the kernel."""
        return self.device_kind != "cpu"

    # ------------------------------------------------------------------ how it ended

    @property
    def status(self) -> str:
        """``"passed"``, ``"failed"`` or ``"skipped"``: what verification said."""
        return self.shape.verification.status or "skipped"

    @property
    def outcome(self) -> str:
        """``"ok"``, or why there are no numbers; records older than the field tell it by their verdict."""
        return self.shape.outcome or ("failed" if self.status == "failed" else "ok")

    @property
    def message(self) -> str:
        """Why it is not ok, in one line."""
        detail = self.shape.verification.detail or "" if self.status == "failed" else ""
        return " ".join((self.shape.message or detail).split())

    @property
    def ok(self) -> bool:
        """Whether the cell finished and nothing speaks against its result."""
        return self.outcome == "ok"

    @property
    def finished(self) -> bool:
        """Whether its figures may be shown."""
        return self.ok and self.shape.phases_s.get("kernel") is not None

    @property
    def verdict(self) -> str:
        """What a table says of the cell in a word or two."""
        if not self.ok:
            return self.outcome
        return "verified" if self.status == "passed" else "not verified"

    # ------------------------------------------------------------------ times, seconds

    @cached_property
    def phases(self) -> Mapping[str, float]:
        """The median of each phase."""
        return {k: v for k, v in self.shape.phases_s.items() if v is not None} if self.finished else {}

    @property
    def kernel_s(self) -> float | None:
        """The median of the kernel."""
        return self.phases.get("kernel")

    @property
    def interval_s(self) -> tuple[float, float] | None:
        """The confidence interval of that median."""
        return self.shape.confidence_s.kernel if self.finished else None

    @property
    def half_width(self) -> float | None:
        """Half the interval of the median over the median; None where there is none."""
        return self.measured_half_width if self.finished else None

    @property
    def measured_half_width(self) -> float | None:
        """``half_width`` even of a result that is wrong."""
        interval, kernel_s = self.shape.confidence_s.kernel, self.shape.phases_s.get("kernel")
        return relative_half_width(interval, kernel_s) if interval and kernel_s else None

    @property
    def transfer_s(self) -> float:
        """What data took to the device and back."""
        return sum(self.phases.get(name, 0.0) for name in TRANSFERS)

    @property
    def inner(self) -> Mapping[str, float]:
        """The phases inside the kernel, scaled to ``kernel_s``."""
        return self.measured_inner if self.finished else {}

    @cached_property
    def measured_inner(self) -> Mapping[str, float]:
        """The phases inside the kernel, even of a result that is wrong, as shares of the run they were measured in.

        That run is one of its own, which the marking slows down; its shares, applied to the kernel's median, give
        times that add up to what is printed.  What lies between the phases is ``other``.
        """
        parts = {name: float(seconds) for name, seconds in self.shape.kernel_phases_s.items() if seconds is not None}
        kernel_s, run_s = (
            self.shape.phases_s.get("kernel"),
            float(self.shape.kernel_phases_run_s or sum(parts.values())),
        )
        if not parts or not kernel_s or run_s <= 0:
            return {}
        other = run_s - sum(parts.values())
        if other > _OTHER * run_s:
            parts["other"] = other
        return {name: seconds / run_s * kernel_s for name, seconds in parts.items()}

    @cached_property
    def samples(self) -> tuple[float, ...]:
        """Every sample of the kernel, source by source, and within a source process by process."""
        return tuple(self.shape.samples_s.kernel or ()) if self.finished else ()

    @property
    def sources(self) -> int:
        """How many sources the samples are of."""
        sources = len(self.shape.per_source)
        return sources if sources and not len(self.samples) % sources else 1

    @property
    def processes(self) -> tuple[int, ...]:
        """How many samples of each source each process took, in their order."""
        taken = tuple(self.shape.sampling.processes or ())
        whole = sum(taken) * self.sources == len(self.samples) and all(taken)
        return taken if whole else (len(self.samples) // self.sources,)

    @property
    def few(self) -> str:
        """``"1 sample"`` and the like where that is too few to rank by: fewer than asked for, or than three."""
        taken = len(self.samples) // self.sources
        if not 0 < taken < max(LEAST_SAMPLES, self.shape.sampling.min_samples or 0):
            return ""
        return f"{taken:,} sample{'' if taken == 1 else 's'}"

    def by_process(self, samples: Sequence[float]) -> list[list[float]]:
        """Return the cell's samples, or figures that stand for them in their order, by process and then by source."""
        each = len(samples) // self.sources
        ends = [sum(self.processes[:i]) for i in range(len(self.processes) + 1)]
        return [
            [s for source in range(self.sources) for s in samples[source * each + low : source * each + high]]
            for low, high in pairwise(ends)
        ]

    # ------------------------------------------------------------------ rates, and what the device tells

    @property
    def why_no_rates(self) -> str | None:
        """The sentence that stands in place of MTEPS, or None if they may be shown."""
        if self.status != "passed" or not self.ok:
            return UNVERIFIED
        return EMULATED if self.shape.device.kind == "emulated" else None

    @property
    def mteps(self) -> float | None:
        """Millions of edges a second by the kernel's time."""
        return self.shape.mteps.kernel if self.finished and not self.why_no_rates else None

    @property
    def end_to_end(self) -> float | None:
        """Millions of edges a second by kernel and transfers."""
        return self.shape.mteps.end_to_end if self.finished and not self.why_no_rates else None

    @property
    def mteps_interval(self) -> tuple[float | None, float | None]:
        """Ends of the interval of ``mteps``, which comes from the kernel time alone; None where there is none."""
        if self.mteps is None or self.interval_s is None or not self.kernel_s or self.interval_s[0] <= 0:
            return None, None
        low, high = self.interval_s
        return self.mteps * self.kernel_s / high, self.mteps * self.kernel_s / low

    @property
    def counts(self) -> tuple[int, ...]:
        """What MTEPS counts, of each source."""
        count = self.shape.mteps.count
        return () if count is None else tuple(count) if isinstance(count, list) else (count,)

    @property
    def nanojoules(self) -> float | None:
        """Energy per edge."""
        return self.shape.energy.nanojoules_per_edge if self.finished else None

    @property
    def joules(self) -> float | None:
        """Energy per run."""
        return self.shape.energy.joules_per_run if self.finished else None

    @property
    def share(self) -> float | None:
        """Of the measured copy bandwidth, if only the least traffic were counted; 1 is the roof."""
        return self.shape.traffic.share if self.finished else None

    @property
    def absent(self) -> Mapping[str, str]:
        """Why energy or traffic is not there."""
        told = {"energy": self.shape.energy.absent, "traffic": self.shape.traffic.absent}
        return {name: why for name, why in told.items() if why}


def family_of(name: str) -> str:
    """Return a graph's kind without its size: ``"rmat:20,w=unit"`` is of the family ``"rmat, w=unit"``."""
    kind, colon, rest = name.partition(":")
    if not colon or not re.fullmatch(r"[a-z][a-z0-9_-]*", kind):
        return name
    options = [part for part in rest.split(",") if "=" in part and part.partition("=")[0] not in _SIZES]
    return ", ".join([kind, *options])


def json_text(data: Any, *, indent: int | None = None) -> str:
    """Return data as JSON text, as ``jsonable`` makes it, every text ``encodable``."""
    return json.dumps(jsonable(data, encodable), indent=indent, ensure_ascii=False, allow_nan=False)


_UNENCODABLE = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ufffe\\uffff\\ud800-\\udfff]")


def encodable(text: str) -> str:
    """Return a text that UTF-8, XML and a terminal can hold: a character that is none stands as an escape in letters.

    Such are the bytes of a file's name that are no UTF-8, and control characters.
    """
    return _UNENCODABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def jsonable(value: Any, text: Callable[[str], str] = str) -> Any:
    """Return ``value`` in JSON's own types: exact integers, infinities and NaN as text, texts as ``text`` makes them.

    ``text`` is given every text and every name; without it they stay as they are.
    """
    if isinstance(value, Mapping):
        return {text(str(k)): jsonable(v, text) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(v, text) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return text(value) if isinstance(value, str) else value
