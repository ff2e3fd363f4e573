"""Is a stored record believable?  What has to hold before somebody else's record is shown beside ours.

A record is a text that anybody can edit.  The checks compare its fields with each other, with the limits of the
device, and with an answer that is computed here.  They find a changed field; they cannot find a careful invention.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from gpugraph.errors import GpuGraphError, InputError
from gpugraph.graph.spec import is_spec, parse_spec
from gpugraph.measure.cell import Cell
from gpugraph.measure.record import LEAST_SAMPLES, WAY_THERE, Record
from gpugraph.measure.run_cell import run_cell
from gpugraph.measure.statistics import (
    INTERVAL_SAMPLES,
    interval_of,
    median,
    median_interval,
    outliers,
    relative_half_width,
)
from gpugraph.problems.contract import PROBLEMS, InputSize
from gpugraph.problems.registry import command_of, find_algorithm, is_foreign, load_problem

CLOSE = 0.01
"""Quotients of rounded times may differ by so much."""

CORE_BYTES_PER_S = 1e11
"""More than a core reads from its second-level cache; so many times the threads bounds the time on a CPU."""

CACHED = 4.0
"""A GPU's second-level cache is read at less than so many times its memory's bandwidth."""

MOST_SOURCES = 4
"""Of a record with more sources the answers from so many are computed here."""

MOST_PROCESSORS = 4096
"""No machine of one operating system has more, and no rate is bounded by more."""

MOST_L2_BYTES = 2**28
"""No GPU has a larger second-level cache."""

WATTS = (0.1, 3000.0)
"""A device needs between these while it runs."""

EQUAL_SAMPLES = 5
"""So many samples and more are never the same in two measurements, unless the clock is too coarse to tell any apart."""

EVERY_RECORD = (
    *("schema", "outcome", "time", "parameters.preparations", "parameters.warmup", "environment.command"),
    *("algorithm_source.authors", "algorithm_source.section"),
    *(
        "device.kind",
        "device.name",
        "device.memory_bytes",
        "environment.packages",
        "provenance.clean",
        "provenance.commit",
    ),
    *(f"samples_s.{name}" for name in ("kernel", "h2d", "d2h")),
    *(f"graph.{name}" for name in ("name", "source", "vertices", "edges", "arcs", "weight_dtype")),
    *(f"environment.{name}" for name in ("cores", "processor", "memory_bytes", "system", "python", "gpugraph")),
    *(f"mteps.{name}" for name in ("kernel", "count", "counted", "definition")),
    *(f"phases_s.{name}" for name in ("start", "load", "build", "kernel", "verify", "sampling", "total")),
    *("verification.status", "verification.method", "verification.detail"),
)
"""Fields that every record of ours has which ended well: one without them was made or edited by hand."""

MEASURED_CELL = (
    *("graph.digest", "mteps.end_to_end", "cell.id", "cell.axes", "counters", "kernel_phases_s", "peak_device_bytes"),
    *(f"phases_s.{name}" for name in ("check", "compile", "prepare", "d2h", "finish", "close")),
    *(f"sampling.{name}" for name in ("processes", "min_samples", "max_samples", "warmup", "cold", "outliers", "load")),
    *(f"sampling.{name}" for name in ("spent_s", "stopped_by", "time_limit_s", "throttled_repeated", "sm_clock_mhz")),
)
"""Fields of all but those of ``graph500``, which measures by other rules."""

OF_DEVICE = {
    "cpu": ("device.threads",),
    "cuda": (
        "device.compute_capability",
        "device.multiprocessors",
        "device.l2_bytes",
        "device.runtime_cuda",
        "device.clock_khz",
    ),
}

OF_GRAPH = (
    *("digest", "vertices", "arcs", "edges", "weight_dtype", "directed"),
    *("elements", "segments", "exclusive", "operator", "bytes"),
)
"""Fields of a graph or an array that are the same wherever it is made."""

_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_VERSIONED = re.compile(r".*\d+\.\d+")


@dataclass(frozen=True)
class Hardware:
    """What the vendor states of a GPU: compute capability, multiprocessors, memory in bytes, bytes per second."""

    capability: str
    multiprocessors: int
    memory_bytes: float
    bytes_per_s: float


GPUS = {
    "NVIDIA H200": Hardware("9.0", 132, 150e9, 4.8e12),
    "NVIDIA H100 80GB HBM3": Hardware("9.0", 132, 85e9, 3.35e12),
    "NVIDIA H100 PCIe": Hardware("9.0", 114, 85e9, 2.0e12),
    "NVIDIA A100-SXM4-80GB": Hardware("8.0", 108, 85e9, 2.04e12),
    "NVIDIA A100-SXM4-40GB": Hardware("8.0", 108, 42e9, 1.56e12),
    "NVIDIA L40S": Hardware("8.9", 142, 48e9, 0.864e12),
    "NVIDIA L4": Hardware("8.9", 58, 24e9, 0.3e12),
    "NVIDIA GeForce RTX 4090": Hardware("8.9", 128, 24e9, 1.01e12),
    "NVIDIA GeForce RTX 3090": Hardware("8.6", 82, 24e9, 0.936e12),
    "Tesla V100-SXM2-32GB": Hardware("7.0", 80, 32e9, 0.9e12),
    "Tesla T4": Hardware("7.5", 40, 16e9, 0.32e12),
}
"""GPUs by the name that the driver gives; a record of any other needs a line here, from its data sheet."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a record: the check that found it, ``"time"`` for instance, and a sentence."""

    kind: str
    what: str


def findings(record: Record, most_edges: int = 0) -> list[Finding]:
    """Return all that speaks against a record; with at most ``most_edges`` edges it is solved here and compared."""
    if record.problem not in PROBLEMS:
        return [Finding("problem", f"there is no problem '{record.problem}'")]
    checks = {"commit": _commit, "date": _date}
    if record.ok:
        checks |= {"field": _fields, "device": _device, "graph": _graph, "count": _counts, "time": _times}
        checks |= {"sampling": _sampling, "cell": _cell, "rate": _rates, "program": _program}
        checks |= {"peer": _peer, "verdict": _verdict}
    found = [Finding(kind, what) for kind, check in checks.items() for what in check(record)]
    if record.ok and _is_small(record, most_edges):
        try:
            found += [Finding("answer", what) for what in _answer(record)]
        except (GpuGraphError, MemoryError) as error:
            found.append(Finding("answer", f"it cannot be computed here: {error}"))
    return found


def conflicts(records: Sequence[Record]) -> list[tuple[Record, Finding]]:
    """Return the records that others speak against.

    Such are one whose answer differs from that of an earlier one of the same query that is not wrong, and one whose
    samples are those of an earlier one.
    """
    first: dict[tuple[Any, ...], Any] = {}
    seen: dict[tuple[float, ...], Record] = {}
    found = []
    for record in filter(lambda one: one.ok, records):
        samples = record.samples
        if len(samples) >= EQUAL_SAMPLES and len(set(samples)) > 1:
            earlier = seen.setdefault(samples, record)
            if earlier is not record:
                what = f"its {len(samples)} samples are those of {earlier.file} line {earlier.line}"
                found.append((record, Finding("sampling", what)))
        for result in record.shape.per_source or [record.shape.result]:
            source = result.get("source")
            if record.shape.graph.digest is None or _many(result):
                continue
            for field in _decided(record, result) & {"edges_sha256", "distances_sha256", "total_weight", "components"}:
                key = (record.problem, record.shape.graph.digest, source, field)
                if first.setdefault(key, result[field]) != result[field]:
                    what = f"{field} differs from that of another record of the graph"
                    found.append((record, Finding("answer", what)))
    return found


def _many(result: Mapping[str, object]) -> int:
    """Return how many queries a batch has answered together; 0 where the result is that of a single query."""
    sources = result.get("sources")
    return sources if isinstance(sources, int) and sources > 1 else 0


def _decided(record: Record, result: Mapping[str, object]) -> set[str]:
    """Return the fields of a result that are the same for every correct algorithm; peers choose among equal edges."""
    return set(result) - {"edges_sha256" if record.algorithm.startswith("peer:") else ""}


def _is_graph500(record: Record) -> bool:
    """Tell whether a record is of the benchmark Graph500: it says so twice."""
    scale = record.shape.graph500.get("SCALE")
    return scale is not None and record.graph_source == f"graph500:{scale:g}"


def _is_batch(record: Record) -> bool:
    """Tell whether the record's algorithm answers several queries together."""
    try:
        return find_algorithm(record.problem, record.algorithm, record.device_kind).batched
    except InputError:
        return False


def _commit(record: Record) -> Iterator[str]:
    commit, provenance = record.shape.environment.get("git_commit"), record.shape.provenance
    if commit is None:
        yield "it names no commit of gpugraph"
    elif not _COMMIT.fullmatch(commit):
        yield f"the commit '{commit}' is not a clean one: files were changed"
    elif record.ok and provenance.commit not in (None, commit):
        yield f"its environment is of the commit '{commit}', its provenance of '{provenance.commit}'"
    if provenance.clean is False:
        yield "files were changed since its commit"


def _date(record: Record) -> Iterator[str]:
    try:
        measured = datetime.fromisoformat(record.shape.time)
    except ValueError:
        yield f"'{record.shape.time}' is no time"
        return
    if measured.replace(tzinfo=measured.tzinfo or UTC) > datetime.now(UTC) + timedelta(days=1):
        yield f"'{record.shape.time}' is in the future"


def _fields(record: Record) -> Iterator[str]:
    """Yield the fields that a record of ours always has and this one lacks, or has though its problem has none."""
    needed = [*EVERY_RECORD, *OF_DEVICE.get(record.device_kind, ())]
    ours = not record.algorithm.startswith("peer:")
    if _is_graph500(record):
        needed += ["result.source", "result.sources", "per_source"]
    else:
        needed += MEASURED_CELL
        needed += ["environment.gpu.name"] if record.device_kind == "cuda" else []
        problem = load_problem(record.problem)
        needed += [*problem.recorded, *(problem.recorded_of_ours if ours else ())]
        if record.shape.result.get("sources") is not None and not _is_batch(record):
            yield f"'{record.algorithm}' does not answer several queries together, as result.sources says it has"
    needed += ["provenance.sources_sha256"] if ours else []
    missing = [name for name in needed if record.field(name) in (None, "")]
    if not _is_graph500(record):
        energy, traffic, phases = record.shape.energy, record.shape.traffic, record.shape.phases_s
        missing += [] if energy.absent or energy.joules_per_run is not None else ["energy"]
        parts = (traffic.minimum_bytes, traffic.copy_bytes_per_s, traffic.share)
        missing += [] if traffic.absent or None not in parts else ["traffic"]
        missing += [] if any(name in phases for name in WAY_THERE) else ["phases_s.transfer"]
        each = len(record.samples) // record.sources
        missing += ["confidence_s.kernel"] if each >= LEAST_SAMPLES and record.interval_s is None else []
    if missing:
        yield f"it lacks {', '.join(missing)}"


def _program(record: Record) -> Iterator[str]:
    if record.algorithm.startswith("peer:") or is_foreign(record.algorithm):
        return
    try:
        find_algorithm(record.problem, record.algorithm, record.device_kind)
    except InputError as error:
        yield error.what


def _size(record: Record) -> InputSize | None:
    """Return the size of the input that a record's spec gives; None of a file, or of what only Graph500 makes."""
    source = record.graph_source
    problem = load_problem(record.problem)
    made = problem.accepts(source) and (is_spec(source) or source.startswith("array:"))
    if _is_graph500(record) or not made:
        return None
    return problem.size(source, (record.shape.cell.input or {}).get("weights") or "file")


def _graph(record: Record) -> Iterator[str]:
    """Yield where the size of the graph, its name and the type of its weights contradict its spec."""
    graph, source = record.shape.graph, record.graph_source
    try:
        size = _size(record)
        spec = None if size is None or source.startswith("array:") else parse_spec(source)
    except GpuGraphError as error:
        yield str(error)
        return
    if size is None:
        return
    if graph.name not in (source, str(spec)):
        yield f"its name is '{graph.name}', its spec '{source}'"
    if graph.vertices != size.vertices or (graph.arcs or 0) > 2 * size.arcs:
        yield f"{graph.vertices} vertices and {graph.arcs} arcs are not those of '{source}'"
    given = (record.shape.cell.input or {}).get("weights") or "file"
    if spec is not None and given == "file" and graph.weight_dtype != spec.weights.dtype:
        yield f"its weights are {graph.weight_dtype}, those of '{source}' {spec.weights.dtype}"


def _is_small(record: Record, most_edges: int) -> bool:
    """Tell whether the input is small enough to be made here, by its spec: the record is not to decide that."""
    try:
        size = _size(record)
    except GpuGraphError:  # which ``_graph`` reports
        return False
    return size is not None and size.arcs <= most_edges * (1 if record.graph_source.startswith("array:") else 2)


def _device(record: Record) -> Iterator[str]:
    device, environment = record.shape.device, record.shape.environment
    ranks = device.ranks or 1
    if device.kind == "cpu":
        threads, cores = device.threads or 0, environment.get("cores") or 0
        if cores > MOST_PROCESSORS:
            yield f"no machine has {cores} processors"
        if threads > cores * ranks:
            yield f"{threads} threads are more than the machine's {cores} processors"
        if ranks == 1 and device.name != environment.get("processor"):
            yield f"the device is '{device.name}', the machine has '{environment.get('processor')}'"
        if ranks == 1 and device.memory_bytes != environment.get("memory_bytes"):
            yield f"the device has {device.memory_bytes} bytes of memory, the machine {environment.get('memory_bytes')}"
    elif device.kind == "cuda":
        yield from _gpu(record, ranks)
    else:
        yield f"times on '{device.kind}' are no performance"
    held = record.shape.peak_device_bytes or 0
    if device.memory_bytes is not None and held > device.memory_bytes * ranks:
        yield f"{held} bytes do not fit into its memory"


def _gpu(record: Record, ranks: int) -> Iterator[str]:
    device = record.shape.device
    name = str(device.name).removeprefix(f"{ranks} × ")
    seen = (record.shape.environment.get("gpu") or {}).get("name")
    if seen is not None and seen != name:
        yield f"the device is '{name}', the driver has reported '{seen}'"
    gpu = record.shape.environment.get("gpu") or {}
    for field in () if _is_graph500(record) else ("driver_cuda", "runtime_cuda", "cupy"):
        if getattr(device, field) != gpu.get(field):
            yield f"its {field} is {getattr(device, field)}, the driver has reported {gpu.get(field)}"
    clock, most = device.clock_khz, (gpu.get("nvml") or {}).get("sm_clock_max_mhz")
    if clock is not None and most is not None and clock // 1000 != most:
        yield f"its clock is {clock} kHz, the driver has reported {most} MHz"
    known = GPUS.get(name)
    if known is None:
        yield f"the limits of '{name}' are not known: add it to GPUS in measure/plausibility.py"
        return
    for field, stated in (("compute_capability", known.capability), ("multiprocessors", known.multiprocessors)):
        if (value := getattr(device, field)) is not None and value != stated:
            yield f"its {field} is {value}, that of an {name} is {stated}"
    if (device.l2_bytes or 0) > MOST_L2_BYTES:
        yield f"no GPU has a second-level cache of {device.l2_bytes} bytes"
    memory = device.memory_bytes
    if memory is not None and not 0.9 < memory / known.memory_bytes < 1.1:
        yield f"its memory has {memory:.4g} bytes, that of an {name} {known.memory_bytes:.4g}"


def _counts(record: Record) -> Iterator[str]:
    graph, rates, kernel = record.shape.graph, record.shape.mteps, record.shape.phases_s.get("kernel")
    if graph.vertices is None or graph.arcs is None or graph.edges is None:
        return
    array = not command_of(record.problem).on_graph  # an element is an arc and an edge
    once = array or graph.directed
    if graph.arcs != graph.edges * (1 if once else 2):
        yield f"{graph.edges} edges are not {graph.arcs} arcs"
    counts = record.counts
    most = graph.arcs if _is_graph500(record) else graph.edges
    for count in counts:
        if count > most * (_many(record.shape.result) or 1):
            yield f"it counts {count} edges of a graph that has {graph.edges}"
    if rates.counted == "undirected edges" and rates.count not in (None, graph.edges):
        yield f"it counts {rates.count} edges of a graph that has {graph.edges}"
    if not _is_graph500(record) and rates.counted != load_problem(record.problem).counted:
        yield f"it counts '{rates.counted}', and MTEPS {load_problem(record.problem).counted}"
    if isinstance(rates.count, list) and len(counts) != len(record.shape.per_source):
        yield f"it counts the edges of {len(counts)} sources, and has {len(record.shape.per_source)}"
    if rates.kernel and kernel and isinstance(rates.count, int):
        expected = counts[0] / kernel / 1e6
        if not _agree(rates.kernel, expected):
            yield f"{rates.kernel:.4g} MTEPS are not {counts[0]} edges in {kernel:.4g} s"
    tree, parts = record.shape.result.get("tree_edges"), record.shape.result.get("components")
    if isinstance(parts, int) and parts < 0:
        yield f"{parts} components are none"
    if isinstance(tree, int) and isinstance(parts, int) and tree + parts != graph.vertices:
        yield f"{tree} tree edges and {parts} components do not make {graph.vertices} vertices"


def least_bytes(record: Record) -> int:
    """Return the bytes that any algorithm moves at least: each counted weight once, and a word a vertex.

    A lower bound for every correct algorithm, far below what ours declare (``traffic.minimum_bytes``).
    """
    graph = record.shape.graph
    word = 8 if str(graph.weight_dtype).endswith("64") else 4
    edges = min(record.counts, default=0) // (_many(record.shape.result) or 1)
    if "components" in record.shape.result and "total_weight" not in record.shape.result:
        edges = 0
    return edges * word + 4 * (graph.vertices or 0)


def _bytes_per_s(record: Record, needed: int) -> float | None:
    device = record.shape.device
    ranks = device.ranks or 1
    if device.kind == "cpu":
        return CORE_BYTES_PER_S * min(device.threads or 1, record.shape.environment.get("cores") or 1, MOST_PROCESSORS)
    known = GPUS.get(str(device.name).removeprefix(f"{ranks} × "))
    if known is None:
        return None
    cached = needed <= 2 * ranks * min(device.l2_bytes or 2**26, MOST_L2_BYTES)
    return known.bytes_per_s * ranks * (CACHED if cached else 1.0)


def _times(record: Record) -> Iterator[str]:
    kernel, samples = record.shape.phases_s.get("kernel"), record.shape.samples_s.kernel or []
    if not kernel:
        yield "it has no time of the kernel"
        return
    if samples and not _is_graph500(record) and abs(kernel / median(samples) - 1) > CLOSE:
        yield f"the kernel's {kernel:.4g} s are not the median of its samples, {median(samples):.4g} s"
    if (ends := record.shape.confidence_s.kernel) and not ends[0] * (1 - CLOSE) <= kernel <= ends[1] * (1 + CLOSE):
        yield f"the kernel's {kernel:.4g} s are outside of their own interval"
    needed = least_bytes(record)
    limit = _bytes_per_s(record, needed)
    if limit is not None and (fastest := min([kernel, *samples])) < needed / limit:
        yield f"{fastest:.4g} s is too short to move {needed} bytes: this device takes at least {needed / limit:.4g} s"
    total = record.shape.phases_s.get("total")
    inner, run_s = (
        sum(seconds or 0.0 for seconds in record.shape.kernel_phases_s.values()),
        record.shape.kernel_phases_run_s,
    )
    if run_s is not None and inner > run_s * (1 + CLOSE):
        yield f"its phases inside the kernel add up to {inner:.4g} s of {run_s:.4g} s"
    parts = sum(seconds or 0.0 for name, seconds in record.shape.phases_s.items() if name != "total")
    if total is not None and abs(parts - total) > total * 0.03 + 1e-4:
        yield f"its phases add up to {parts:.4g} s, its total is {total:.4g} s"


def _sampling(record: Record) -> Iterator[str]:
    """Yield where the numbers of samples, sources and processes, and the times of the sources, do not agree."""
    sources, samples = record.shape.per_source, record.shape.samples_s.kernel or []
    each, left = divmod(len(samples), len(sources) or 1)
    processes = record.shape.sampling.processes
    if not samples:
        yield "it has no samples"
        return
    if left or (processes is not None and sum(processes) != each):
        yield f"{len(samples)} samples are not {processes} of each of {len(sources) or 1} sources"
        return
    for place, one in enumerate(sources):
        taken, seconds = samples[place * each : (place + 1) * each], one.get("kernel_s")
        if not taken or not seconds or abs(median(taken) / seconds - 1) > CLOSE:
            yield f"the {seconds} s from source {one.get('source')} are not the median of its samples"
    if sources and sources[0].get("source") != record.shape.result.get("source"):
        yield "its result is not that of its first source"
    if not _is_graph500(record):
        yield from _derived(record, [samples[i : i + each] for i in range(0, len(samples), each)])


def _derived(record: Record, groups: Sequence[Sequence[float]]) -> Iterator[str]:
    """Yield what the record states of its samples, by source, and they do not give: intervals, width and outliers."""
    stated, sampling, kernel = record.shape.confidence_s, record.shape.sampling, record.kernel_s or 0.0
    intervals = {"kernel": (stated.kernel, interval_of(groups, sampling.processes or [], kernel))}
    for name in ("h2d", "d2h") if len(groups) == 1 else ():
        moved = getattr(record.shape.samples_s, name) or []
        ends = median_interval([moved]) if len(moved) >= INTERVAL_SAMPLES and not _on_cpu(record) else None
        intervals[name] = (getattr(stated, name), ends)
        if moved and name == "d2h" and not _agree(record.shape.phases_s.get(name), median(moved)):
            yield f"its {name} is not the median of its samples, {median(moved):.4g} s"
    for name, (ends, computed) in intervals.items():
        if (ends is None) != (computed is None) or not all(map(_agree, ends or (), computed or ())):
            yield f"the interval of its {name} is {ends}; its samples give {computed}"
    ends = intervals["kernel"][1]
    width = None if ends is None else relative_half_width(ends, kernel)
    if not _agree(sampling.reached, width):
        yield f"its interval is {sampling.reached} of the median wide to either side; its samples give {width}"
    far = [len(groups[0]) * place + i for place, group in enumerate(groups) for i in outliers(group)]
    if sampling.outliers != far:
        yield f"its outliers are {sampling.outliers}; its samples give {far}"
    if sampling.stopped_by not in ("target", "time", "count"):
        yield f"its sampling.stopped_by is '{sampling.stopped_by}'"
    if sampling.stopped_by == "target" and not (width is not None and sampling.target):
        yield "it stopped at a target that it does not have"
    repeat, warmup = record.shape.parameters.repeat, record.shape.parameters.warmup
    if repeat not in (None, len(groups[0])):
        yield f"it has {len(groups[0])} samples, and parameters.repeat is {repeat}"
    if warmup != sampling.warmup:
        yield f"parameters.warmup is {warmup}, sampling.warmup {sampling.warmup}"


def _on_cpu(record: Record) -> bool:
    return record.device_kind == "cpu"


def _agree(stated: float | None, computed: float | None) -> bool:
    """Tell whether a stated number is the computed one, as good as rounding lets it."""
    if stated is None or computed is None:
        return stated is computed
    return abs(stated - computed) <= CLOSE * abs(computed)


def _cell(record: Record) -> Iterator[str]:
    """Yield where the cell of a sweep is that of another record."""
    cell = record.shape.cell
    given, axes = cell.input or {}, cell.axes or {}
    if cell.id is not None and not _DIGEST.fullmatch(cell.id):
        yield f"its cell.id '{cell.id}' is no SHA-256"
    source = given.get("graph")
    if source is not None and not _is_graph500(record) and _plain(source) != _plain(record.graph_source):
        yield f"cell.input is of '{source}', the graph is '{record.graph_source}'"
    for name, value, wild in (
        ("problem", record.problem, ()),
        ("algorithm", record.algorithm, ("auto",)),
        ("device", record.device_kind, ("auto",)),
    ):
        axis = axes.get(name)
        short = axis.partition(":")[0].partition("*")[0] if isinstance(axis, str) and name == "device" else axis
        if axis is not None and "{" not in str(axis) and short not in (value, *wild):
            yield f"its {name} is '{value}', that of its cell '{axis}'"


def _plain(source: object) -> str:
    """Return a spec as gpugraph writes it, and any other source as it is."""
    try:
        return str(parse_spec(str(source))) if is_spec(str(source)) else str(source)
    except GpuGraphError:
        return str(source)


def _rates(record: Record) -> Iterator[str]:
    """Yield rates, energy and traffic that do not follow from the times, or that no device has."""
    rates, kernel, energy, traffic = record.shape.mteps, record.kernel_s, record.shape.energy, record.shape.traffic
    if not kernel or _is_graph500(record):
        return
    if isinstance(rates.count, int) and rates.end_to_end:
        expected = rates.count / (kernel + record.transfer_s) / 1e6
        if not _agree(rates.end_to_end, expected):
            yield f"{rates.end_to_end:.4g} MTEPS end to end are not {expected:.4g}"
    times = [one.get("kernel_s") or 0.0 for one in record.shape.per_source]
    if isinstance(rates.count, list) and rates.kernel and len(times) == len(rates.count) and all(rates.count):
        expected = len(times) / sum(1e6 * s / n for s, n in zip(times, rates.count, strict=True))
        if not _agree(rates.kernel, expected):
            yield f"{rates.kernel:.4g} MTEPS are not the harmonic mean {expected:.4g} of its sources"
    moved = record.shape.throughput
    if (speed := moved.get("kernel_gb_s")) is not None:
        expected = (moved.get("array_bytes") or 0.0) / kernel / 1e9
        if not _agree(speed, expected):
            yield f"{speed:.4g} GB/s are not {expected:.4g}"
    if energy.joules_per_run is not None:
        watts = energy.joules_per_run / kernel / (record.shape.device.ranks or 1)
        if not WATTS[0] <= watts <= WATTS[1]:
            yield f"{energy.joules_per_run:.4g} J in {kernel:.4g} s are {watts:.4g} W"
    if traffic.share and traffic.minimum_bytes and traffic.copy_bytes_per_s:
        expected = traffic.minimum_bytes / kernel / traffic.copy_bytes_per_s
        if not _agree(traffic.share, expected) or traffic.share > CACHED:
            yield f"{traffic.share:.3g} of the bandwidth is not {expected:.3g}, or more than there is"


def _peer(record: Record) -> Iterator[str]:
    if not record.algorithm.startswith("peer:"):
        return
    source = record.shape.algorithm_source
    if source.get("authors") == "external command":
        yield f"the version of the program '{record.algorithm}' is not recorded"
    elif not _VERSIONED.match(str(source.get("section", "")).split(",")[0]):
        yield f"the version of the library '{record.algorithm}' is not recorded"


def _verdict(record: Record) -> Iterator[str]:
    if record.verdict != "verified":
        yield f"its result is not verified ({record.verdict})"
    elif record.shape.verification.method not in ("certificate", "reference", "both"):
        yield f"it is verified by '{record.shape.verification.method}', which is no check"


def _answer(record: Record) -> Iterator[str]:
    """Make the graph from its spec, solve it on this machine's CPU, and compare what the record states."""
    results = record.shape.per_source[:MOST_SOURCES] or [record.shape.result]
    if _is_batch(record) and _many(record.shape.result):
        return
    for result in results:
        given = record.shape.cell.input or {}
        ours = _solved(
            record.problem,
            record.graph_source,
            result.get("source"),
            given.get("weights") or "file",
            bool(given.get("symmetrize")),
            given.get("seed") or 1,
        )
        stated, made = record.graph_facts, ours.graph_facts
        if any(stated.get(name) != made.get(name) for name in OF_GRAPH):
            what = f"{made.get('vertices')} vertices and {made.get('arcs')} arcs, digest {made.get('digest')}"
            yield f"'{record.graph_source}' is another graph when it is made here: {what}"
            return
        for field, value in ours.shape.result.items():
            if field in _decided(record, result) and result[field] != value:
                yield f"{field} is {result[field]}; computed here it is {value}"


@lru_cache(maxsize=64)
def _solved(problem: str, graph: str, source: object, weights: str, symmetrize: bool, seed: int) -> Record:
    """Return a record of a query, solved and verified here."""
    where = None if source is None else str(source)
    cell = Cell(
        *(problem, graph),
        device="cpu",
        source=where,
        repeat=1,
        warmup=0,
        weights=weights,
        symmetrize=symmetrize,
        seed=seed,
    )
    return run_cell(cell)
