"""Is a stored record believable?  What has to hold before somebody else's record is shown beside ours.

A record is a text that anybody can edit.  The checks compare its fields with each other, with the limits of the
device, and with an answer that is computed here.  They find a changed field; they cannot find a careful invention.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Any

from gpugraph.base.errors import GpuGraphError, InputError
from gpugraph.bench.axes import draws_of
from gpugraph.ext.check_record.plausible_figures import (
    EQUAL_SAMPLES,
    GPUS,
    MOST_L2_BYTES,
    MOST_PROCESSORS,
    SHA256,
    counts,
    graph500,
    is_graph500,
    least_bytes,
    rates,
    results,
    sampling,
    times,
    together,
)
from gpugraph.ext.check_record.repository import commit_time, known_programs, knows_commits
from gpugraph.ext.comparing.cells import key_text
from gpugraph.ext.peers.adapter import load_peered, peered_problems
from gpugraph.ext.peers.libraries import LIBRARIES
from gpugraph.graph.families import is_spec
from gpugraph.graph.read_options import ReadOptions
from gpugraph.graph.spec import parse_spec
from gpugraph.measure.cell import Cell
from gpugraph.measure.environment import git_commit
from gpugraph.measure.provenance import sources_digest
from gpugraph.measure.run_cell import run_cell
from gpugraph.problems.contract import PROBLEMS, InputSize
from gpugraph.problems.foreign import PEER, is_file, is_foreign
from gpugraph.problems.registry import find_algorithm, load_problem
from gpugraph.records.record import LEAST_SAMPLES, PHASES, WAY_THERE, Record
from gpugraph.records.record_shape import Shape, WorkShape, shown

CLOCKS_DIFFER_S = 3600.0
"""The clock of the machine that made a commit may be ahead of that of the machine that measures by so much."""

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
"""No record is older: there was no gpugraph."""

TUNING_DRAWS, MOST_DRAWS = 40, 400
"""Constants were chosen by the draws up to the first; a commit has draws of its own, and of these so many."""

MOST_SOURCES = 4
"""Of a record with more sources the answers from so many are computed here."""

EVERY_RECORD = (
    *("schema", "outcome", "time", "parameters.preparations", "parameters.warmup", "environment.command"),
    *("algorithm_source.authors", "algorithm_source.section"),
    *(
        "device.kind",
        "device.name",
        "device.memory_bytes",
        "environment.packages.numpy",
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
_DIGEST = re.compile(r"[0-9a-f]{32}")
_DRAWN = re.compile(r"drawn:(?:.*\bnumber=)?(\d+)")
_VERSIONED = re.compile(r".* (\d+\.\d\S*)$")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a record: the check that found it, ``"time"`` for instance, and a sentence."""

    kind: str
    what: str


def findings(record: Record, most_edges: int = 0) -> list[Finding]:
    """Return all that speaks against a record; with at most ``most_edges`` edges it is solved here and compared."""
    if record.problem not in PROBLEMS:
        return [Finding("problem", f"there is no problem '{record.problem}'")]
    checks = {"commit": _commit, "date": _date, "name": _names}
    if not record.ok:
        checks["outcome"] = _unmeasured
    else:
        checks |= {"field": _fields, "device": _device, "graph": _graph, "count": counts, "result": results}
        checks |= {"time": times, "sampling": sampling, "rate": rates, "graph500": graph500}
        checks |= {"cell": _cell, "command": _command, "program": _program, "peer": _peer, "verdict": _verdict}
    found = [Finding(kind, what) for kind, check in checks.items() for what in check(record)]
    if record.ok and _is_small(record, most_edges):
        try:
            found += [Finding("answer", what) for what in _answer(record)]
        except (GpuGraphError, MemoryError) as error:
            found.append(Finding("answer", f"it cannot be computed here: {error}"))
    return found


def conflicts(records: Sequence[Record], published: Sequence[Record] = ()) -> list[tuple[Record, Finding]]:
    """Return the records that earlier ones of ``records``, or ``published`` ones, speak against.

    Such are one whose answer differs from that of another of the same query that is not wrong, if both say that they
    are sums of the same type, one whose samples are those of another, and one of a commit, a cell or a GPU that another
    one describes otherwise.
    """
    first: dict[tuple[Any, ...], Any] = {}
    seen: dict[tuple[float, ...], Record] = {}  # by the samples in order of size
    found = []
    for record in filter(lambda one: one.ok and one.problem in PROBLEMS, [*published, *records]):
        samples = record.samples
        for what, key, value in _facts(record):
            if first.setdefault((what, *key), value) != value:
                found.append(
                    (record, Finding("conflict", f"{what} is {value}; another record has {first[what, *key]}"))
                )
        if len(samples) >= EQUAL_SAMPLES and len(set(samples)) > 1:
            earlier = seen.setdefault(tuple(sorted(samples)), record)
            if earlier is not record:
                what = f"its {len(samples)} samples are those of {earlier.file} line {earlier.line}"
                found.append((record, Finding("sampling", what)))
        for result in record.shape.per_source or [record.shape.result]:
            source = result.get("source")
            if record.shape.graph.digest is None or together(result):
                continue
            sums = str(result.get("sums")) if record.shape.graph.weight_dtype == "float32" else ""
            for field in _decided(record, result) & {"edges_sha256", "distances_sha256", "total_weight", "components"}:
                key = (record.problem, record.shape.graph.digest, source, sums, field)
                if first.setdefault(key, result[field]) != result[field]:
                    what = f"{field} differs from that of another record of the graph"
                    found.append((record, Finding("answer", what)))
    of_records = set(map(id, records))
    return [(record, finding) for record, finding in found if id(record) in of_records]


def _facts(record: Record) -> Iterator[tuple[str, tuple[Any, ...], object]]:
    """Yield what is the same in all records of a key: of a commit the sources, of a GPU the name, of a cell its id."""
    shape, commit = record.shape, record.shape.environment.get("git_commit")
    program, where = (record.problem, record.algorithm, record.device_kind), (record.device, shape.device.threads)
    if shape.provenance.sources_sha256 is not None:
        yield "the digest of its algorithm's sources", (*program, commit), shape.provenance.sources_sha256
    if shape.device.uuid is not None:
        yield "its GPU's name", (shape.device.uuid,), record.device.split(" × ")[-1]
    if shape.cell.id is not None:
        cell = (*program, *where, shape.graph.digest, shape.graph.weight_dtype, shape.sampling.cold)
        yield "the cell of its id", (shape.cell.id,), cell
    given = {name: value for name, value in (shape.cell.input or {}).items() if name != "graph"}
    read = (record.graph_source, shape.graph.directed, key_text(given))  # forests need edges, and mirror directed arcs
    yield "the digest of its graph", (*read, commit), shape.graph.digest


def _decided(record: Record, result: Mapping[str, object]) -> set[str]:
    """Return the fields of a result that are the same for every correct algorithm.

    Peers choose among equal edges, and the digest of a batch, even of one source, is over those of its rows.
    """
    varying = {"edges_sha256" if record.algorithm.startswith("peer:") else ""}
    return set(result) - varying - ({"distances_sha256"} if "sources" in result else set())


def _is_batch(record: Record) -> bool:
    """Tell whether the record's algorithm answers several queries together; no record has a file of code loaded."""
    if record.algorithm.startswith(PEER) or is_file(record.algorithm):
        return False
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
    if commit is not None and _COMMIT.fullmatch(commit) and knows_commits() and commit_time(commit) is None:
        yield f"there is no commit '{commit}'"
    if record.ok and commit is not None and commit == git_commit() and not is_foreign(record.algorithm):
        with contextlib.suppress(InputError):  # which ``_program`` reports
            ours = find_algorithm(record.problem, record.algorithm, record.device_kind)
            digest, stated = sources_digest(ours), record.shape.algorithm_source
            if [stated.get(name) for name in ("authors", "year", "section")] != [ours.authors, ours.year, ours.section]:
                yield f"its algorithm_source is not that of '{record.algorithm}' at its commit"
            if digest != provenance.sources_sha256:
                yield f"its sources_sha256 is {provenance.sources_sha256}, that of its commit {digest}"


def _date(record: Record) -> Iterator[str]:
    try:
        measured = datetime.fromisoformat(record.shape.time)
    except ValueError:
        yield f"'{record.shape.time}' is no time"
        return
    measured = measured.replace(tzinfo=measured.tzinfo or UTC)
    if measured > datetime.now(UTC) + timedelta(days=1):
        yield f"'{record.shape.time}' is in the future"
    if measured < FIRST:
        yield f"'{record.shape.time}' is before there was a gpugraph"
    made = (
        commit_time(commit) if _COMMIT.fullmatch(commit := record.shape.environment.get("git_commit") or "") else None
    )
    if made is not None and measured.timestamp() < made - CLOCKS_DIFFER_S:
        yield f"'{record.shape.time}' is before its commit was made"


def _names(record: Record) -> Iterator[str]:
    """Yield names of fields that no record of gpugraph has, or that only look like one of them."""
    if unknown := set(record.data) - {*Shape.__struct_fields__, "schema"}:
        yield f"no record has a field {', '.join(map(shown, sorted(unknown)))}"
    apart = {"cell", "paper", "parameters"}  # where users name things
    if unknown := set(record.shape.phases_s) - {*PHASES, "total"}:
        yield f"there is no phase {', '.join(map(shown, sorted(unknown)))}"
    inside = [name for part in {*record.data} - apart for name in (part, *_inner(record.field(part)))]
    if foreign := {name for name in inside if not name.isascii()}:
        yield f"the names {', '.join(map(shown, sorted(foreign)))} have letters beyond ASCII"


def _inner(value: object) -> Iterator[str]:
    """Yield the names of all objects within a value."""
    for name, part in value.items() if isinstance(value, dict) else ():
        yield name
        yield from _inner(part)
    for part in value if isinstance(value, list) else ():
        yield from _inner(part)


def _unmeasured(record: Record) -> Iterator[str]:
    """Yield that a cell which did not come to its end has times."""
    if record.outcome not in ("wrong", "failed") and (
        record.shape.samples_s.kernel or record.shape.phases_s.get("kernel")
    ):
        yield f"its outcome is '{record.outcome}', and it has times"


def _fields(record: Record) -> Iterator[str]:
    """Yield the fields that a record of ours always has and this one lacks, or has though its problem has none."""
    needed = [*EVERY_RECORD, *OF_DEVICE.get(record.device_kind, ())]
    ours = not record.algorithm.startswith("peer:")
    if is_graph500(record):
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
    if not is_graph500(record):
        energy, traffic, phases = record.shape.energy, record.shape.traffic, record.shape.phases_s
        of_window = (energy.joules_per_run, energy.mean_w, energy.idle_w, energy.window_s, energy.runs, energy.per)
        missing += [] if energy.absent or None not in of_window else ["energy"]
        parts = (traffic.minimum_bytes, traffic.copy_bytes_per_s, traffic.share)
        missing += [] if traffic.absent or None not in parts else ["traffic"]
        missing += [] if any(name in phases for name in WAY_THERE) else ["phases_s.transfer"]
        each = len(record.samples) // record.sources
        missing += [] if record.shape.environment.get("command") else ["environment.command"]
        missing += [] if record.shape.phases_s.get("verify") else ["phases_s.verify"]
        if "price" in record.data and record.shape.device.ranks in (None, 1):  # younger than these
            missing += [f"sampling.{one}" for one in ("wall_s", "cpu_s") if not getattr(record.shape.sampling, one)]
        missing += ["confidence_s.kernel"] if each >= LEAST_SAMPLES and record.interval_s is None else []
    if missing:
        yield f"it lacks {', '.join(missing)}"


def _program(record: Record) -> Iterator[str]:
    if is_file(record.algorithm):
        yield f"the file '{record.algorithm}' is no algorithm of gpugraph or of a package"
    if is_foreign(record.algorithm):
        return
    try:
        find_algorithm(record.problem, record.algorithm, record.device_kind)
    except InputError as error:
        yield error.what


def _size(record: Record) -> InputSize | None:
    """Return the size of the input that a record's spec gives; None of a file, or of what only Graph500 makes."""
    source = record.graph_source
    problem = load_problem(record.problem)
    made = problem.command.accepts(source) and (is_spec(source) or source.startswith("array:"))
    if is_graph500(record) or not made:
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
    if not _DIGEST.fullmatch(graph.digest or "0" * 32):
        yield f"its digest '{graph.digest}' is none"
    if graph.name not in (source, str(spec)):
        yield f"its name is '{graph.name}', its spec '{source}'"
    if record.device_kind == "cuda" and not record.algorithm.startswith("peer:"):
        least = 4 * (graph.arcs or 0) // (record.shape.device.ranks or 1)
        if (record.shape.peak_device_bytes or 0) < least // 2:
            yield f"{record.shape.peak_device_bytes} bytes of the device do not hold {graph.arcs} arcs"
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
    of_gpus = ("uuid", "compute_capability", "multiprocessors", "l2_bytes", "clock_khz", "driver_cuda", "runtime_cuda")
    if device.kind == "cpu" and (
        device.name in GPUS or environment.get("gpu") or any(getattr(device, name) for name in of_gpus)
    ):
        yield "a processor has no fields of a GPU"
    if device.kind != "emulated" and record.shape.work != WorkShape(absent=record.shape.work.absent):
        yield f"its work was counted, which no device of kind '{device.kind}' does: only 'emulated'"
    yield from _ranks(record, ranks)
    held = max(record.shape.peak_device_bytes or 0, least_bytes(record))
    if device.memory_bytes is not None and held > device.memory_bytes * ranks:
        yield f"{held} bytes do not fit into its memory"


def _ranks(record: Record, ranks: int) -> Iterator[str]:
    """Yield where the number of ranks is not that of the device's name, or of the ranks that the record lists."""
    name, listed = str(record.shape.device.name), record.shape.ranks
    if ranks > 1 and not name.startswith(f"{ranks} × "):
        yield f"{ranks} ranks are not '{name}'"
    if ranks > 1 and listed is None and not is_graph500(record):
        yield f"it lists none of its {ranks} ranks"
    if listed is not None and not listed.size == len(listed.members) == ranks:
        yield f"it has {ranks} ranks, and lists {len(listed.members)} of {listed.size}"
    others = {str(one.device.name) for one in listed.members} - {name.removeprefix(f"{ranks} × ")} if listed else ()
    if others:
        yield f"the device is '{name}', those of its ranks {', '.join(sorted(others))}"


def _gpu(record: Record, ranks: int) -> Iterator[str]:
    device = record.shape.device
    name = str(device.name).removeprefix(f"{ranks} × ")
    seen = (record.shape.environment.get("gpu") or {}).get("name")
    if seen is not None and seen != name:
        yield f"the device is '{name}', the driver has reported '{seen}'"
    gpu = record.shape.environment.get("gpu") or {}
    for field in () if is_graph500(record) else ("driver_cuda", "runtime_cuda", "cupy"):
        if getattr(device, field) != gpu.get(field):
            yield f"its {field} is {getattr(device, field)}, the driver has reported {gpu.get(field)}"
    clock, most = device.clock_khz, (gpu.get("nvml") or {}).get("sm_clock_max_mhz")
    if clock is not None and most is not None and clock // 1000 != most:
        yield f"its clock is {clock} kHz, the driver has reported {most} MHz"
    known = GPUS.get(name)
    if known is None:
        yield f"the limits of '{name}' are not known: add it to GPUS in ext/check_record/plausible_figures.py"
        return
    for field, stated in (("compute_capability", known.capability), ("multiprocessors", known.multiprocessors)):
        if (value := getattr(device, field)) is not None and value != stated:
            yield f"its {field} is {value}, that of an {name} is {stated}"
    if not 0 < (device.l2_bytes or 0) <= MOST_L2_BYTES:
        yield f"no GPU has a second-level cache of {device.l2_bytes} bytes"
    memory = device.memory_bytes
    if memory is not None and not 0.9 < memory / known.memory_bytes < 1.1:
        yield f"its memory has {memory:.4g} bytes, that of an {name} {known.memory_bytes:.4g}"


def _cell(record: Record) -> Iterator[str]:
    """Yield where the cell of a sweep is that of another record."""
    cell = record.shape.cell
    given, axes = cell.input or {}, cell.axes or {}
    if cell.id is not None and not SHA256.fullmatch(cell.id):
        yield f"its cell.id '{cell.id}' is no SHA-256"
    source = given.get("graph")
    if source is not None and not is_graph500(record) and _plain(source) != _plain(record.graph_source):
        yield f"cell.input is of '{source}', the graph is '{record.graph_source}'"
    with contextlib.suppress(KeyError, ValueError, IndexError, AttributeError):  # an axis that another one fills
        graph = str(axes.get("graph", source)).format_map(axes)
        if "graph" in axes and _plain(graph) not in (_plain(record.graph_source), _plain(source)):
            yield f"its graph is '{record.graph_source}', that of its cell '{graph}'"
    drawn, commit = _DRAWN.match(str(source)), record.shape.environment.get("git_commit")
    draw = axes.get("draw") if drawn is None else int(drawn[1])
    if isinstance(draw, int) and not 1 <= draw <= TUNING_DRAWS and commit and draw not in draws_of(commit, MOST_DRAWS):
        yield f"its draw {draw} is neither a tuning draw, 1 to {TUNING_DRAWS}, nor one of the commit '{commit}'"
    for name, value, wild in (
        ("problem", record.problem, ()),
        ("algorithm", record.algorithm, ("auto",)),
        ("device", record.device_kind, ("auto",)),
    ):
        axis: Any = axes.get(name)
        short = axis.partition(":")[0].partition("*")[0] if isinstance(axis, str) and name == "device" else axis
        if axis is not None and "{" not in str(axis) and short not in (value, *wild):
            yield f"its {name} is '{value}', that of its cell '{axis}'"


def _command(record: Record) -> Iterator[str]:
    """Yield where the command that is recorded solves another problem, or makes other graphs."""
    words = record.shape.environment.get("command")
    words = [word for word in words if word != "-m"] if isinstance(words, list) else []
    name = next(iter(words[words.index("gpugraph") + 1 :] if "gpugraph" in words else words[1:]), None)
    if name not in PROBLEMS:  # bench, or a Python program
        return
    given = dict(pairwise(part for word in words for part in str(word).split("=", 1)))
    for option, value in (("--algo", record.algorithm), ("--device", record.device_kind)):
        named = {one.strip() for word in given.get(option, "auto").split(",") for one in re.split("[@:/*]", word)}
        if not record.algorithm.startswith("peer:") and not {value, "auto"} & named:
            yield f"its command has {option} {given[option]}, it is by {record.algorithm} on {record.device_kind}"
    others = {given.get(option) for option in ("--device", "--reweight", "--source")}  # random:5 may be a graph, too
    specs = {_plain(word) for word in words if is_spec(word) and word not in others}
    if name != record.problem or (specs and _plain(record.graph_source) not in specs):
        yield f"its command solves {name} on {', '.join(sorted(specs)) or 'a file'}, it {record.problem}"


def _plain(source: object) -> str:
    """Return a spec as gpugraph writes it, and any other source as it is."""
    try:
        return str(parse_spec(str(source))) if is_spec(str(source)) else str(source)
    except GpuGraphError:
        return str(source)


def _peer(record: Record) -> Iterator[str]:
    if not record.algorithm.startswith("peer:"):
        return
    source, name = record.shape.algorithm_source, record.algorithm.removeprefix("peer:")
    if source.get("authors") == "external command":
        yield from _external(record)
    elif record.problem not in peered_problems() or name not in load_peered(record.problem).peers:
        yield f"there is no library '{name}' that solves {record.problem}"
    elif not str(source.get("section")).startswith(f"{LIBRARIES[name].title} "):
        yield f"its algorithm_source is of another library than {LIBRARIES[name].title}"
    elif not (version := _VERSIONED.match(str(source.get("section", "")).split(",")[0])):
        yield f"the version of the library '{record.algorithm}' is not recorded"
    elif all(
        record.field(f"environment.packages.{one}") != version[1] for one in LIBRARIES[name].distributions or [name]
    ):
        yield f"the library is of version {version[1]}, and its package in the record is not"
    if record.shape.provenance.sources_sha256 is not None:
        yield "it is of another program, and has a digest of sources of gpugraph"


def _external(record: Record) -> Iterator[str]:
    """Yield where a program is not known: it is by its SHA-256, by the version it prints, or by published records."""
    programs = record.shape.provenance.programs
    if not any(program.version for program in programs):
        yield f"the version of the program '{record.algorithm}' is not recorded"
    if wrong := [program.name for program in programs if not SHA256.fullmatch(program.sha256 or "")]:
        yield f"it has no SHA-256 of {', '.join(map(str, wrong))}"
    known = known_programs(record.algorithm)
    if known and not known.keys() & {program.sha256 for program in programs if program.version}:
        yield f"no published record of '{record.algorithm}' has a program of its SHA-256"
    for program in programs:
        if program.version and known.get(program.sha256, program.version) != program.version:
            yield f"the program of that SHA-256 prints another version than '{program.version}'"


def _verdict(record: Record) -> Iterator[str]:
    if record.verdict != "verified":
        yield f"its result is not verified ({record.verdict})"
    elif record.shape.verification.method not in ("certificate", "reference", "both"):
        yield f"it is verified by '{record.shape.verification.method}', which is no check"
    elif (
        record.shape.verification.counter_example or record.shape.verification.wrong_on_purpose or record.shape.message
    ):
        yield "it is verified, and has a message or a counter-example"


def _answer(record: Record) -> Iterator[str]:
    """Make the graph from its spec, solve it on this machine's CPU, and compare what the record states."""
    results = record.shape.per_source[:MOST_SOURCES] or [record.shape.result]
    if _is_batch(record) and together(record.shape.result):
        return
    for place, result in enumerate(results):
        given = record.shape.cell.input or {}
        ours = _solved(
            record.problem,
            record.graph_source,
            result.get("source"),
            given.get("weights") or "file",
            bool(given.get("symmetrize")),
            given.get("seed") or 1,
            result.get("sums"),
        )
        stated, made = record.graph_facts, ours.graph_facts
        if any(stated.get(name) != made.get(name) for name in OF_GRAPH):
            what = f"{made.get('vertices')} vertices and {made.get('arcs')} arcs, digest {made.get('digest')}"
            yield f"'{record.graph_source}' is another graph when it is made here: {what}"
            return
        for field, value in ours.shape.result.items():
            if field in _decided(record, result) and result[field] != value:
                yield f"{field} is {result[field]}; computed here it is {value}"
        if place < len(record.counts) and record.counts[place] != ours.counts[0]:
            yield f"it counts {record.counts[place]} edges; computed here there are {ours.counts[0]}"


@lru_cache(maxsize=64)
def _solved(problem: str, graph: str, source: object, weights: str, symmetrize: bool, seed: int, sums: Any) -> Record:
    """Return a record of a query, solved and verified here; ``sums``: None, or the type that its record says."""
    where = None if source is None else str(source)
    cell = Cell(
        *(problem, graph),
        device="cpu",
        source=where,
        repeat=1,
        warmup=0,
        read=ReadOptions(weights=weights, symmetrize=symmetrize),
        seed=seed,
        sums=sums,
    )
    return run_cell(cell)
