"""Record: what comes out of one measurement.

A record is one JSON object.  The names of its fields are part of the tool's contract: more may be added,
none may change.  Integers are exact, infinities are the string ``"inf"``; times are seconds.
"""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from gpugraph.base.clock import PhaseTimer
from gpugraph.base.quantities import counted, duration, percent
from gpugraph.records.json_text import json_text
from gpugraph.records.record_shape import Shape, shape_of
from gpugraph.records.statistics import INTERVAL_SAMPLES, median, relative_half_width

PHASES = (
    *("start", "fetch", "load", "build", "check", "compile", "stage", "h2d", "transfer", "prepare"),
    *("kernel", "d2h", "finish", "verify", "sampling", "close"),
)
"""From a command to its answer, in about the order in which they come; together they are ``total``.

=============  ==================================================================================================
phase          what takes the time
=============  ==================================================================================================
``start``      imports, opening the device; Python's own start is ``interpreter_s``, before all of them
``fetch``      the first use of a data set: fetching and converting it; absent otherwise
``load``       reading the input, and waiting for a pipe
``build``      making it: a spec's graph, rows of what was read, an undirected graph of a directed one
``check``      structure, symmetry, digest
``compile``    compiling, or where ``compiled`` is 0 loading what was compiled before; importing the compiler
``transfer``   the way to the device; with ``--transfers separate`` ``stage`` and ``h2d`` in its place
``prepare``    the preparations of the graph, and what the algorithm allocates
``kernel``     the algorithm: the median of all samples
``d2h``        its result's way back, likewise
``finish``     the result in canonical form: original ids, exact sums, digests; predecessors
``verify``     its check
``sampling``   all that only measures: warm-up, further samples and copies, runs for inner phases or energy, bandwidth
``close``      freeing what was held; making, writing and printing the record
=============  ==================================================================================================
"""

WAY_THERE = ("stage", "h2d", "transfer")
"""Phases that move data to the device; records hold either the last or, older ones, the two before."""

_RARE = ("fetch", *WAY_THERE[:2])
"""Phases that most records do not have."""

LEAST_SAMPLES = INTERVAL_SAMPLES
"""Fewer samples of a source have no interval, and say little of the time that a run takes."""

PHASED_RUNS = 5
"""Of fewer runs that time the phases inside the kernel nothing is shown."""

SCATTERED = 0.5
"""A median that is known to this share at best is shown by the range of its samples."""

BUSY = 1.25
"""More than this many busy threads a core, our own counted, slow each other down."""

STARVED = 1.2
"""Times of a CPU that exceed the processor time of all threads by more than this factor are not ranked."""

MOST_SCALE = 64
"""Scales beyond it are none: no graph has so many vertices."""

EMULATED = "times on the emulated device are not performance; no MTEPS is given"
NO_LARGER = ", which is no larger"
"""How the reason ends why a graph was skipped where another of the series came to nothing."""

STALE = " †"  # after what an earlier version of our code has measured
UNVERIFIED = "the result is not verified; no MTEPS is given"

_SCALED = re.compile(r"(rmat|ssca2):(?:scale=)?(\d\d?)\b")
_SIZES = ("n", "scale", "in", "m", "size", "rows", "columns")
_OTHER = 0.005
_MEASURING = ("repeat", "warmup", "index_bits")


@dataclass(frozen=True, eq=False)
class Record:
    """What one cell gave, measured just now or read from a file, finished, failed or older than some of its fields.

    ``shape`` has its fields with their types; the properties are what has to be worked out of several of them, None or
    empty where it was not measured.  Figures of a cell that did not end well are not shown, whatever the object says.

    Attributes:
        graph: the input, where the record was measured in this process.
        results: of each query, likewise.
        notices: what to print with the record, likewise.
        file, line: where it was read.
        version: of our code that measured it, "earlier" or "unrecorded", where that is known not to be today's.
    """

    data: dict[str, Any]
    graph: Any = None
    results: tuple[Any, ...] = ()
    notices: tuple[str, ...] = ()
    file: str | None = None
    line: int | None = None
    version: str = ""

    def __repr__(self) -> str:
        what = f"{self.problem} by {self.marked} on {self.graph_name}, {self.device_kind}"
        known = f", {self.scattered}" if self.scattered else ""
        if self.half_width is not None and not known:
            known = f" ± {percent(self.half_width)}"
        time = "" if self.kernel_s is None else f"{duration(self.kernel_s)}{known}, "
        why = f": {self.message}" if self.message else ""
        return f"<{type(self).__name__} of {what}: {time}{self.verdict}{why}>"

    @classmethod
    def of(cls, data: Mapping[str, object], *, file: str | None = None, line: int | None = None) -> "Record":
        """Return the record of a JSON object; a ValueError names a field that is missing or not of its type."""
        record = cls(dict(data), file=file, line=line)
        _ = record.shape
        return record

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the record as JSON text, one line unless ``indent`` is given."""
        return json_text(self.data, indent=indent)

    def with_phases(self, phase_timer: PhaseTimer, interpreter_s: float | None = None) -> "Record":
        """Return the record with the phases that the phase timer has by now, of those that are not medians.

        ``interpreter_s``: processor time of the process before the first of them, if there is one to record.
        """
        known = self.data["phases_s"]
        seconds = phase_timer.until_now()
        phases = ordered({name: seconds.get(name, 0.0) for name in known})
        before = {} if interpreter_s is None else {"interpreter_s": interpreter_s}
        return replace(self, data={**self.data, "phases_s": phases, "compiled": phase_timer.compiled, **before})

    @cached_property
    def shape(self) -> Shape:
        """The fields with their types; what is absent has the value that ``Shape`` gives it."""
        return shape_of(self.data)

    def field(self, path: str) -> Any:
        """Return the field at a dotted path as it is stored, or None; only fields of ``Shape`` have a known type."""
        found: Any = self.data
        for name in path.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
        return found

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
    def program(self) -> str:
        """The algorithm's name as people are shown it: a peer's without ``peer:``."""
        return self.shape.algorithm.removeprefix("peer:")

    @property
    def marked(self) -> str:
        """The same in a row that is shown: † after one of earlier code."""
        return self.program + (STALE if self.version else "")

    @property
    def axes(self) -> Mapping[str, object]:
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
    def title(self) -> str:
        """The title of the sweep that it is part of, or nothing."""
        return self.shape.cell.title or ""

    @property
    def graph_source(self) -> str:
        """The file or spec that the input was made of; empty where it was none."""
        return self.shape.graph.source or ""

    @property
    def graph_facts(self) -> Mapping[str, Any]:
        """All that is known of the input: its counts, its weights' type; its problem's own."""
        return self.data.get("graph") or {}

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
    def asked_source(self) -> object:
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
        """The seconds of each phase, and their ``total`` where the record has one."""
        return {k: v for k, v in self.shape.phases_s.items() if v is not None} if self.finished else {}

    @property
    def titles(self) -> Mapping[str, str]:
        """What phases are called by where their own names would not be true: nothing was compiled, but loaded."""
        return {"compile": "load compiled code"} if self.shape.compiled == 0 else {}

    @property
    def answer_s(self) -> float | None:
        """The time to answer: from the command to its end without what repeated runs took; None in older records.

        Of a cell of a sweep nothing counts that its process does once for all of its cells (``once``).
        """
        total_s = self.phases.get("total")
        apart = ("sampling", *self.once)
        return None if total_s is None else total_s - sum(self.phases.get(name, 0.0) for name in apart)

    @property
    def once(self) -> tuple[str, ...]:
        """The phases that only the first cell of a sweep's process pays for, so that they tell nothing of a cell."""
        return ("start", "fetch", "compile") if self.axes else ()

    @property
    def kernel_s(self) -> float | None:
        """The median of the kernel."""
        return self.phases.get("kernel")

    @property
    def call_s(self) -> float | None:
        """The kernel's time as other programs take theirs: on a GPU with the launch, if that was measured."""
        return median(self.shape.call.samples_s) if self.finished and self.shape.call.samples_s else self.kernel_s

    @property
    def interval_s(self) -> tuple[float, float] | None:
        """The 95 % interval of that median; None where there are too few samples for one."""
        return self._measured_interval if self.finished else None

    @property
    def _measured_interval(self) -> tuple[float, float] | None:
        """The interval, unless a record older than that rule has one of too few samples."""
        taken = len(self.shape.samples_s.kernel or ()) // max(1, len(self.shape.per_source))
        several = len(self.shape.sampling.processes or ()) > 1
        return self.shape.confidence_s.kernel if several or not 0 < taken < INTERVAL_SAMPLES else None

    @property
    def half_width(self) -> float | None:
        """Half the interval of the median over the median; None where there is none."""
        return self.measured_half_width if self.finished else None

    @property
    def measured_half_width(self) -> float | None:
        """``half_width`` even of a result that is wrong."""
        interval, kernel_s = self._measured_interval, self.shape.phases_s.get("kernel")
        return relative_half_width(interval, kernel_s) if interval and kernel_s else None

    @property
    def lopsided_interval(self) -> tuple[float, float] | None:
        """The interval where one side is more than twice as wide as the other: half its width describes neither."""
        interval, kernel_s = self._measured_interval, self.kernel_s
        if interval is None or kernel_s is None:
            return None
        narrow, wide = sorted((kernel_s - interval[0], interval[1] - kernel_s))
        return interval if wide > 2 * narrow else None

    @property
    def scattered(self) -> str:
        """The range of the samples where their median is known to ± 50 % at best, or they are too few for an interval.

        Nothing where the interval says more than that.
        """
        half, taken = self.measured_half_width, self.shape.samples_s.kernel or ()
        few = half is None and len(taken) < INTERVAL_SAMPLES and not self.shape.per_source
        if len(taken) < 2 or not (few or (half is not None and half > SCATTERED)):
            return ""
        return f"{duration(min(taken))} to {duration(max(taken))}"

    @property
    def busy(self) -> str:
        """What other programs did, where they and this one together wanted more cores than there are; else nothing."""
        if self.starved:
            return self.starved
        others, cores = self.shape.sampling.other_cores, self.shape.environment.get("cores")
        own = self.shape.device.threads or 1
        if others is None or cores is None or others + own <= cores * BUSY:
            return ""
        return f"other programs kept {others:.1f} of {counted(cores, 'core')} busy"

    @property
    def starved(self) -> str:
        """That the machine was busy: the processors were not given to most samples of a CPU for all of their time.

        Such a time tells of other programs, and is not ranked.
        """
        sampling = self.shape.sampling
        shares = [wall / cpu for wall, cpu in zip(sampling.wall_s or (), sampling.cpu_s or (), strict=False) if cpu > 0]
        if self.device_kind != "cpu" or not shares or median(shares) <= STARVED:
            return ""
        return f"the machine was busy: its runs had a processor for {percent(1 / median(shares))} of their time"

    @property
    def transfer_s(self) -> float:
        """What data took to the device, staged or not, and back."""
        return sum(self.phases.get(name, 0.0) for name in (*WAY_THERE, "d2h"))

    @property
    def inner(self) -> Mapping[str, float]:
        """The phases inside the kernel: their shares of it, applied to ``kernel_s``."""
        return {name: middle * (self.kernel_s or 0.0) for name, (_, middle, _) in self.inner_shares.items()}

    @property
    def inner_shares(self) -> Mapping[str, tuple[float, float, float]]:
        """By phase inside the kernel the least, median and greatest share of it, in runs of their own.

        Those runs are slowed down by the marking.  What lies between the phases is ``other``.  None of fewer than
        ``PHASED_RUNS`` runs: shares of a single run differ from one command to the next by any amount.
        """
        several = self.finished and (self.shape.kernel_phases_runs or 0) >= PHASED_RUNS
        shares = self.shape.kernel_phases_shares if several else {}
        return {name: share for name, share in shares.items() if name != "other" or share[1] > _OTHER}

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
        """``"1 sample"`` and the like where that is too few to rank by: fewer than asked for, or than six."""
        taken = len(self.samples) // self.sources
        if not 0 < taken < max(LEAST_SAMPLES, self.shape.sampling.min_samples or 0):
            return ""
        return f"{taken:,} sample{'' if taken == 1 else 's'}"

    def changed(self, objects: Mapping[str, Mapping[str, object]], *, without: str) -> "Record":
        """Return the record with other values in some of its objects, and without a field."""
        data = {name: value for name, value in self.data.items() if name != without}
        data |= {name: {**(data.get(name) or {}), **values} for name, values in objects.items()}
        return replace(Record.of(data, file=self.file, line=self.line), version=self.version)

    # ------------------------------------------------------------------ rates, and what the device tells

    @property
    def why_no_rates(self) -> str | None:
        """The sentence that replaces MTEPS, or None if they may be shown."""
        if self.status != "passed" or not self.ok:
            return UNVERIFIED
        return EMULATED if self.shape.device.kind == "emulated" else None

    @property
    def mteps(self) -> float | None:
        """Millions of edges a second by the kernel's time."""
        return self.shape.mteps.kernel if self.finished and not self.why_no_rates else None

    @property
    def end_to_end(self) -> float | None:
        """Millions of edges a second by the way to the device, kernel and way back."""
        return self.shape.mteps.end_to_end if self.finished and not self.why_no_rates else None

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
        reasons = {"energy": self.shape.energy.absent, "traffic": self.shape.traffic.absent}
        return {name: why for name, why in reasons.items() if why}


def with_distinct_names(records: Sequence[Record]) -> list[Record]:
    """Return records whose graphs have different names where they differ: a graph is known by its digest, not its name.

    A name that several graphs share gives way to as much of their files' paths as tells them apart; graphs of a Python
    program get a part of their digests.  One file or spec with other weights keeps its name: its parameters differ.
    """
    found: dict[str, dict[str, str]] = {}  # by name and digest, the file or spec
    for record in records:
        if digest := record.shape.graph.digest:
            found.setdefault(record.graph_name, {}).setdefault(digest, record.graph_source)
    names: dict[str, str] = {}  # by file, or by digest
    for name, sources in found.items():
        paths = {source: source.split("/") for source in sources.values()}
        if len(paths) > 1:
            tails = (["/".join(path[-depth:]) for path in paths.values()] for depth in itertools.count(1))
            names |= zip(paths, next(tail for tail in tails if len(set(tail)) == len(tail)), strict=True)
        elif len(sources) > 1 and [name] == list(paths) and ":" not in name:
            names |= {digest: f"{name} ({digest[:8]})" for digest in sources}
    apart = []
    for record in records:
        name = names.get(record.graph_source) or names.get(record.shape.graph.digest or "") or record.graph_name
        if name != record.graph_name:
            record = replace(record, data={**record.data, "graph": {**record.data["graph"], "name": name}})
        apart.append(record)
    return apart


def ordered(seconds: Mapping[str, float]) -> dict[str, float]:
    """Return a ``phases_s`` object: every phase there is, in its order, and their ``total``."""
    parts = {name: seconds.get(name, 0.0) for name in PHASES if name in seconds or name not in _RARE}
    if "stage" in parts:
        parts.pop("transfer", None)
    return {**parts, "total": sum(parts.values())}


def family_of(name: str) -> str:
    """Return a graph's kind without its size: ``"rmat:20,w=unit"`` is of the family ``"rmat, w=unit"``."""
    kind, colon, rest = name.partition(":")
    if not colon or not re.fullmatch(r"[a-z][a-z0-9_-]*", kind):
        return name
    options = [part for part in rest.split(",") if "=" in part and part.partition("=")[0] not in _SIZES]
    return ", ".join([kind, *options])
