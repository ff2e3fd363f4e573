"""The figures of a stored record: do they follow from each other, and can the device and the graph give them?

Every function yields sentences, one for each figure that the others, or what a device can do, speak against.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from gpugraph.base.quantities import counted
from gpugraph.ext.comparing.cells import by_process
from gpugraph.problems.foreign import is_foreign
from gpugraph.problems.registry import command_of, load_problem
from gpugraph.records.record import Record
from gpugraph.records.statistics import (
    INTERVAL_SAMPLES,
    interval_of,
    median,
    median_interval,
    outliers,
    relative_half_width,
)

CLOSE = 0.01
"""Quotients of rounded times may differ by so much."""

CORE_BYTES_PER_S = 1e11
"""More than a core reads from its second-level cache; so many times the threads bounds the time on a CPU."""

CACHED = 4.0
"""A GPU's second-level cache is read at less than so many times its memory's bandwidth."""

SLOWEST = 0.3
"""A copy reaches more than this share of the bandwidth of a data sheet."""

ROUND_S = 1e-7
"""A round on a GPU takes longer: its blocks wait for each other."""

PHASED, PHASED_S = 3.0, 5e-4
"""Runs with clocks inside, and calls, take less than so many times the kernel and so many seconds."""

EQUAL_SAMPLES = 5
"""So many samples and more are never the same in two measurements, unless the clock is too coarse to tell any apart."""

MOST_PROCESSORS = 4096
"""No machine of one operating system has more, and no rate is bounded by more."""

MOST_L2_BYTES = 2**28
"""No GPU has a larger second-level cache."""

WATTS = (0.1, 3000.0)
"""A device needs between these while it runs."""

SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Hardware:
    """A GPU's compute capability, multiprocessors, memory in bytes and bytes per second.

    ``tick_ns``: what the times of its events are multiples of, as far as we have seen; 0 where we have not.
    """

    capability: str
    multiprocessors: int
    memory_bytes: float
    bytes_per_s: float
    tick_ns: int = 0


GPUS = {
    "NVIDIA B200": Hardware("10.0", 148, 180e9, 7.7e12),
    "NVIDIA H200": Hardware("9.0", 132, 141e9, 4.8e12, 32),
    "NVIDIA H100 80GB HBM3": Hardware("9.0", 132, 80e9, 3.35e12, 32),
    "NVIDIA H100 PCIe": Hardware("9.0", 114, 80e9, 2.0e12),
    "NVIDIA A100-SXM4-80GB": Hardware("8.0", 108, 80e9, 2.04e12),
    "NVIDIA A100-SXM4-40GB": Hardware("8.0", 108, 40e9, 1.56e12),
    "NVIDIA L40S": Hardware("8.9", 142, 48e9, 0.864e12),
    "NVIDIA L4": Hardware("8.9", 58, 24e9, 0.3e12),
    "NVIDIA GeForce RTX 4090": Hardware("8.9", 128, 24e9, 1.01e12),
    "NVIDIA GeForce RTX 3090": Hardware("8.6", 82, 24e9, 0.936e12),
    "Tesla V100-SXM2-32GB": Hardware("7.0", 80, 32e9, 0.9e12),
    "Tesla T4": Hardware("7.5", 40, 16e9, 0.32e12),
}
"""GPUs by the name that the driver gives; a record of any other needs a line here.

Memory and bandwidths are those of NVIDIA's data sheets (B200: "Blackwell" datasheet 3384703, HGX; GeForce: 24 GB GDDR6X
in the specifications of the product pages).  The GB of most sheets are 2^30 bytes, so CUDA reports up to 7 % more.
"""


def together(result: Mapping[str, object]) -> int:
    """Return how many queries a batch has answered together; 0 where the result is that of a single query."""
    sources = result.get("sources")
    return sources if isinstance(sources, int) and sources > 1 else 0


def is_graph500(record: Record) -> bool:
    """Tell whether a record is of the benchmark Graph500: it says so twice."""
    scale = record.shape.graph500.get("SCALE")
    return scale is not None and record.graph_source == f"graph500:{scale:g}"


def agree(stated: float | None, computed: float | None) -> bool:
    """Tell whether a stated number is the computed one, as good as rounding lets it."""
    if stated is None or computed is None:
        return stated is computed
    return abs(stated - computed) <= CLOSE * abs(computed)


def counts(record: Record) -> Iterator[str]:
    """Yield where edges, arcs, what is counted and the rate do not fit together."""
    graph, rates, kernel = record.shape.graph, record.shape.mteps, record.shape.phases_s.get("kernel")
    if graph.vertices is None or graph.arcs is None or graph.edges is None:
        return
    array = not command_of(record.problem).on_graph  # an element is an arc and an edge
    once = array or graph.directed
    if graph.arcs != graph.edges * (1 if once else 2):
        yield f"{graph.edges} edges are not {graph.arcs} arcs"
    counts = record.counts
    most = graph.arcs if is_graph500(record) else graph.edges
    for count in counts:
        if count > most * (together(record.shape.result) or 1):
            yield f"it counts {count} edges of a graph that has {graph.edges}"
    if rates.counted == "undirected edges" and rates.count not in (None, graph.edges):
        yield f"it counts {rates.count} edges of a graph that has {graph.edges}"
    problem = load_problem(record.problem)
    if not is_graph500(record) and (rates.counted, rates.definition) != (problem.counted, problem.definition):
        yield f"it counts '{rates.counted}', '{rates.definition}', and MTEPS {problem.counted}: {problem.definition}"
    if isinstance(rates.count, list) and len(counts) != len(record.shape.per_source):
        yield f"it counts the edges of {len(counts)} sources, and has {len(record.shape.per_source)}"
    if rates.kernel and kernel and isinstance(rates.count, int):
        expected = counts[0] / kernel / 1e6
        if not agree(rates.kernel, expected):
            yield f"{rates.kernel:.4g} MTEPS are not {counts[0]} edges in {kernel:.4g} s"


def results(record: Record) -> Iterator[str]:
    """Yield where a result cannot be one of its graph, whatever the graph is."""
    first = next(iter(record.shape.per_source), {})
    for field, value in record.shape.result.items():
        if first.get(field, value) != value and not is_graph500(record):
            yield f"its {field} is {value}, that of its first source {first[field]}"
    for result in record.shape.per_source or [record.shape.result]:
        yield from _result(record, result)


def _result(record: Record, result: Mapping[str, Any]) -> Iterator[str]:
    graph, whole = record.shape.graph, not str(record.shape.graph.weight_dtype).startswith("float")
    vertices = graph.vertices or 0
    for name, low, high in (
        ("source", 0, vertices - 1),
        ("reached", 1, vertices * (together(result) or 1)),
        ("components", min(vertices, 1), vertices),
        ("largest", min(vertices, 1), vertices),
        ("tree_edges", 0, min(graph.edges or 0, max(vertices - 1, 0))),
    ):
        if result.get(name) is not None and not low <= result[name] <= high:
            yield f"its {name} is {result[name]}; a graph of {vertices} vertices has {low} to {high}"
    tree, parts = result.get("tree_edges"), result.get("components")
    if tree is not None and parts is not None and tree + parts != vertices:
        yield f"{tree} tree edges and {parts} components do not make {vertices} vertices"
    for name, value in result.items():
        if name.endswith("_sha256") and not SHA256.fullmatch(str(value)):
            yield f"its {name} '{value}' is no SHA-256"
        elif name in ("total_weight", "distance_sum", "distance_max"):
            number = isinstance(value, int) or (not whole and (isinstance(value, float) or value in ("inf", "-inf")))
            if not number:
                yield f"its {name} is {value!r}, the weights are {graph.weight_dtype}"
    most, total, reached = (result.get(name) for name in ("distance_max", "distance_sum", "reached"))
    known = [value for value in (most, total, reached) if isinstance(value, int | float)]
    if len(known) == 3 and not known[0] * (1 - CLOSE) <= known[1] <= known[0] * max(known[2] - 1, 0) * (1 + CLOSE):
        yield f"{reached} distances of at most {most} have not the sum {total}"


def least_bytes(record: Record) -> int:
    """Return the bytes that any algorithm moves at least: each counted weight once, and a word a vertex.

    A lower bound for every correct algorithm, far below what ours declare (``traffic.minimum_bytes``).
    """
    graph = record.shape.graph
    word = 8 if str(graph.weight_dtype).endswith("64") else 4
    edges = min(record.counts, default=0) // (together(record.shape.result) or 1)
    if "components" in record.shape.result and "total_weight" not in record.shape.result:
        edges = 0
    return edges * word + 4 * (graph.vertices or 0)


def _bytes_per_s(record: Record, needed: float) -> float | None:
    """Return more than what the record's device moves a second, in bytes, if it moves ``needed`` bytes."""
    device = record.shape.device
    ranks = device.ranks or 1
    if device.kind == "cpu":
        return CORE_BYTES_PER_S * min(device.threads or 1, record.shape.environment.get("cores") or 1, MOST_PROCESSORS)
    known = GPUS.get(str(device.name).removeprefix(f"{ranks} × "))
    if known is None:
        return None
    cached = needed <= 2 * ranks * min(device.l2_bytes or 2**26, MOST_L2_BYTES)
    return known.bytes_per_s * ranks * (CACHED if cached else 1.0)


def times(record: Record) -> Iterator[str]:
    """Yield times that are not those of the samples, that do not add up, or that are too short for the device."""
    kernel, samples = record.shape.phases_s.get("kernel"), record.shape.samples_s.kernel or []
    if not kernel:
        yield "it has no time of the kernel"
        return
    if samples and not is_graph500(record) and not agree(kernel, median(samples)):
        yield f"the kernel's {kernel:.4g} s are not the median of its samples, {median(samples):.4g} s"
    if (ends := record.shape.confidence_s.kernel) and not ends[0] * (1 - CLOSE) <= kernel <= ends[1] * (1 + CLOSE):
        yield f"the kernel's {kernel:.4g} s are outside of their own interval"
    needed = least_bytes(record)
    limit = _bytes_per_s(record, needed)
    if limit is not None and (fastest := min([kernel, *samples])) < needed / limit:
        yield f"{fastest:.4g} s is too short to move {needed} bytes: this device takes at least {needed / limit:.4g} s"
    rounds = (record.shape.rounds or 0) * (0 if record.algorithm.startswith("peer:") else 1)
    if record.device_kind == "cuda" and kernel < rounds * ROUND_S:
        yield f"{kernel:.4g} s is too short for {rounds} rounds"
    yield from _sampled(record)
    tick_ns = _tick_ns(record)
    if off := [second for second in samples if tick_ns and not _is_read(second, tick_ns)]:
        yield f"{counted(len(off), 'sample')} are no multiples of {tick_ns} ns, in which the clock counts"
    total = record.shape.phases_s.get("total")
    inner, run_s = (
        sum(seconds or 0.0 for seconds in record.shape.kernel_phases_s.values()),
        record.shape.kernel_phases_run_s,
    )
    ours = not is_foreign(record.algorithm)
    if ours and len(samples) >= EQUAL_SAMPLES and len(set(samples)) == 1:
        yield f"its {len(samples)} samples are one time"
    busy_s = max(samples, default=0.0) if record.device_kind == "cpu" else 0.0  # what another program made of a run
    if ours and command_of(record.problem).on_graph and (run_s or 0.0) > max(PHASED * kernel + PHASED_S, busy_s):
        yield f"the run for its phases took {run_s:.4g} s, all others {kernel:.4g} s"
    for name, called in (("samples_s", record.shape.call.samples_s), ("wall_s", record.shape.call.wall_s)):
        call_s = median(called) if called and ours else kernel
        too_short = call_s < kernel / PHASED and record.shape.sampling.warmup  # a first run may take far longer
        if too_short or (name == "samples_s" and call_s > PHASED * kernel + PHASED_S):
            yield f"its calls took {call_s:.4g} s, its kernel {kernel:.4g} s"
    if run_s is not None and inner > run_s * (1 + CLOSE):
        yield f"its phases inside the kernel add up to {inner:.4g} s of {run_s:.4g} s"
    parts = sum(seconds or 0.0 for name, seconds in record.shape.phases_s.items() if name != "total")
    if total is not None and abs(parts - total) > total * 0.03 + 1e-4:
        yield f"its phases add up to {parts:.4g} s, its total is {total:.4g} s"
    if total is not None:
        for name, seconds in (
            ("spent_s", record.shape.sampling.spent_s),
            ("predecessors_s", record.shape.predecessors_s),
        ):
            if (seconds or 0.0) > total * 1.03 + 1e-3 + 5e-5 * len(samples):  # some of each sample is between phases
                yield f"its {name} is {seconds:.4g} s, all of it took {total:.4g} s"


def _tick_ns(record: Record) -> int:
    """Return what the clock of the record's samples counts in; 0 where they were not read from one of ours."""
    if record.algorithm.startswith("peer:"):
        return 0
    if record.device_kind == "cpu" or is_graph500(record) or record.shape.device.ranks not in (None, 1):
        return 1
    known = GPUS.get(str(record.shape.device.name))
    return known.tick_ns if known else 0


def _is_read(second: float, tick_ns: int) -> bool:
    """Tell whether a clock gives such a time: a GPU's as 32-bit milliseconds, a CPU's as a difference of floats.

    A machine that has run for months reads its clock in steps of 2^-33 s and more.  A record has seven digits.
    """
    ticks, steps = second * 1e9 / tick_ns, second * 2.0**33
    last_digit = 10.0 ** (math.floor(math.log10(abs(second) or 1.0)) - 6) * 1e9 / tick_ns
    near = max(0.13, ticks * 2.0**-23, ticks * 2.0**-24 + last_digit / 2)
    return abs(ticks - round(ticks)) <= near or steps == round(steps)


def _sampled(record: Record) -> Iterator[str]:
    """Yield where all samples together took longer than sampling did."""
    phases, spent_s = record.shape.phases_s, record.shape.sampling.spent_s
    samples = (
        sum(by_process(record, record.samples)[-1]) if record.samples else 0.0
    )  # earlier processes have phases of their own
    spent = (phases.get("sampling") or 0.0) + (phases.get("kernel") or 0.0)
    spent = spent if spent_s is None else min(spent, spent_s)
    if samples > spent * (1 + CLOSE) + 1e-3:
        yield f"its samples add up to {samples:.4g} s, sampling took {spent:.4g} s"


def sampling(record: Record) -> Iterator[str]:
    """Yield where the numbers of samples, sources and processes, and the times of the sources, do not agree."""
    sources, samples = record.shape.per_source, record.shape.samples_s.kernel or []
    each, left = divmod(len(samples), len(sources) or 1)
    processes = record.shape.sampling.processes
    if not samples:
        yield "it has no samples"
        return
    if left or (processes is not None and (sum(processes) != each or not all(processes))):
        yield f"{len(samples)} samples are not {processes} of each of {len(sources) or 1} sources"
        return
    for place, one in enumerate(sources):
        taken, seconds = samples[place * each : (place + 1) * each], one.get("kernel_s")
        if not taken or not seconds or abs(median(taken) / seconds - 1) > CLOSE:
            yield f"the {seconds} s from source {one.get('source')} are not the median of its samples"
    if sources and sources[0].get("source") != record.shape.result.get("source", "none"):
        yield "its result is not that of its first source"
    if not is_graph500(record):
        yield from _around(record, samples)
        yield from _derived(record, [samples[i : i + each] for i in range(0, len(samples), each)])


AROUND_S, AROUND_VERTEX_S, RESTS = 5e-5, 2.5e-10, 1.3
"""Most samples of a CPU, and the wall clock around them, differ by no more seconds, and seconds for each vertex whose
memory goes back to the system, beyond such a factor."""


def _around(record: Record, samples: Sequence[float]) -> Iterator[str]:
    """Yield what was noted of every sample and does not fit to its time: clocks, processor time, shares of phases."""
    noted, cpu = record.shape.sampling, record.device_kind == "cpu"
    each = {name: getattr(noted, name) for name in ("wall_s", "cpu_s", "switches", "loads")}
    if not record.algorithm.startswith("peer:") and isinstance(noted.sm_clock_mhz, list):
        each["sm_clock_mhz"] = noted.sm_clock_mhz
    if wrong := [name for name, values in each.items() if values is not None and len(values) != len(samples)]:
        yield f"its {', '.join(wrong)} are not of {len(samples)} samples"
        return
    wall_s = noted.wall_s or []
    if any(wall < second * (1 - CLOSE) - 1e-5 for wall, second in zip(wall_s, samples, strict=False)):
        yield "its samples took longer than the wall clock around them"
    ours = cpu and not is_foreign(record.algorithm) and command_of(record.problem).on_graph
    rest_s = AROUND_S + AROUND_VERTEX_S * (record.shape.graph.vertices or 0)
    if ours and wall_s and median([w - RESTS * s for w, s in zip(wall_s, samples, strict=True)]) > rest_s:
        yield "its samples took a small part of the wall clock around them"
    threads, used_s = record.shape.device.threads or 1, sum(noted.cpu_s or [])
    if cpu and not record.algorithm.startswith("peer:") and used_s > 1.1 * threads * sum(wall_s) + 0.02:
        yield f"{used_s:.4g} s of processor time are more than {threads} threads have in {sum(wall_s):.4g} s"
    if any(not low <= share <= high <= 1 + CLOSE for low, share, high in record.shape.kernel_phases_shares.values()):
        yield "the shares of its phases are not in order from 0 to 1"


def _derived(record: Record, groups: Sequence[Sequence[float]]) -> Iterator[str]:
    """Yield what the record states of its samples, by source, and they do not give: intervals, width and outliers.

    Intervals of older records are not on a logarithmic scale.
    """
    sampling, moved = record.shape.sampling, record.shape.samples_s.d2h or []
    if len(groups) == 1 and moved and not agree(record.shape.phases_s.get("d2h"), median(moved)):
        yield f"its d2h is not the median of its samples, {median(moved):.4g} s"
    calls = list(zip(record.shape.call.samples_s, record.shape.call.wall_s, strict=False))
    if len(calls) != max(len(record.shape.call.samples_s), len(record.shape.call.wall_s)):
        yield "its calls have not all both of their times"
    if any(wall < seconds * (1 - CLOSE) for seconds, wall in calls):
        yield "a call took longer by the GPU's clock than by the host's"
    yield from min((list(_intervals(record, groups, logs)) for logs in (True, False)), key=len)
    far = [len(groups[0]) * place + i for place, group in enumerate(groups) for i in outliers(group)]
    if sampling.outliers != far:
        yield f"its outliers are {sampling.outliers}; its samples give {far}"
    yield from _stopped(record, groups)
    repeat, warmup = record.shape.parameters.repeat, record.shape.parameters.warmup
    taken = sampling.min_samples if sampling.target else len(groups[0])
    external = record.shape.algorithm_source.get("authors") == "external command"  # its last process may bring more
    if repeat not in (None, taken) and not (external and repeat and repeat < (taken or 0)):
        yield f"it has {len(groups[0])} samples, and parameters.repeat is {repeat}"
    if (bits := record.field("parameters.index_bits")) not in (None, 32, 64):
        yield f"parameters.index_bits is {bits}"
    if warmup != sampling.warmup:
        yield f"parameters.warmup is {warmup}, sampling.warmup {sampling.warmup}"


def _intervals(record: Record, groups: Sequence[Sequence[float]], logs: bool) -> Iterator[str]:
    """Yield the intervals, and the width of that of the kernel, that the samples do not give on a scale."""
    stated, sampling = record.shape.confidence_s, record.shape.sampling
    kernel = record.kernel_s or 0.0
    known = interval_of(groups, sampling.processes or [], kernel, logs)
    intervals = {"kernel": (stated.kernel, known)}
    for name in ("h2d", "d2h") if len(groups) == 1 else ():
        moved = getattr(record.shape.samples_s, name) or []
        several = len(moved) >= INTERVAL_SAMPLES and record.device_kind != "cpu"
        intervals[name] = getattr(stated, name), median_interval([moved], logs=logs) if several else None
    for name, (ends, computed) in intervals.items():
        if (ends is None) != (computed is None) or not all(map(agree, ends or (), computed or ())):
            yield f"the interval of its {name} is {ends}; its samples give {computed}"
    width = None if known is None else relative_half_width(known, kernel)
    if not agree(sampling.reached, width):
        yield f"its interval is {sampling.reached} of the median wide to either side; its samples give {width}"


def _stopped(record: Record, groups: Sequence[Sequence[float]]) -> Iterator[str]:
    """Yield where sampling cannot have stopped as stated, with such samples of each source, or at such a clock.

    Of several processes each stops by itself, at its share of the samples, or at a target wider by their root.
    """
    sampling, device = record.shape.sampling, record.shape.device
    by, most, several = sampling.stopped_by, sampling.max_samples or 0, len(record.processes)
    width: float | None = sampling.reached
    target = float(sampling.target or 0.0)
    if several > 1:
        most, target = -(-most // several), target * several**0.5
        groups = [one[-record.processes[-1] :] for one in groups]
        ends = median_interval(groups) if len(groups[0]) >= INTERVAL_SAMPLES else (0.0, float("inf"))
        width = relative_half_width(ends, median([second for group in groups for second in group]))
    taken = len(groups[0])
    if (sampling.min_samples or 0) > (sampling.max_samples or 0):
        yield f"it takes {sampling.min_samples} samples at least, and {sampling.max_samples} at most"
    if by not in ("target", "time", "count", "budget"):
        yield f"its sampling.stopped_by is '{by}'"
    if by == "target" and not (width is not None and width <= target * (1 + CLOSE)):
        yield f"it stopped at the target {target:.3g}, and has reached {width}"
    peer = record.algorithm.startswith("peer:")  # which times several runs in one process
    if by == "count" and (taken < most or (taken > most and not peer)):
        yield f"it stopped at its count, and has {taken} samples of {most}"
    clocks = sampling.sm_clock_mhz if isinstance(sampling.sm_clock_mhz, list) else []
    highest = (device.clock_khz or 0) // 1000
    if max((mhz or 0 for mhz in clocks), default=0) > highest:
        yield f"its clock was above {highest} MHz, the highest of its device"


def rates(record: Record) -> Iterator[str]:
    """Yield rates, energy and traffic that do not follow from the times, or that no device has."""
    stated, kernel, moved = record.shape.mteps, record.kernel_s, record.shape.throughput
    if not kernel:
        return
    if isinstance(stated.count, int) and stated.end_to_end:
        expected = stated.count / (kernel + record.transfer_s) / 1e6
        if not agree(stated.end_to_end, expected):
            yield f"{stated.end_to_end:.4g} MTEPS end to end are not {expected:.4g}"
    times = [one.get("kernel_s") or 0.0 for one in record.shape.per_source]
    if isinstance(stated.count, list) and stated.kernel and len(times) == len(stated.count) and all(stated.count):
        expected = len(times) / sum(1e6 * s / n for s, n in zip(times, stated.count, strict=True))
        if not agree(stated.kernel, expected):
            yield f"{stated.kernel:.4g} MTEPS are not the harmonic mean {expected:.4g} of its sources"
        if (stated.end_to_end or 0.0) > stated.kernel * (1 + CLOSE):
            yield f"{stated.end_to_end:.4g} MTEPS end to end are more than the {stated.kernel:.4g} of the kernel"
    if (speed := moved.get("kernel_gb_s")) is not None:
        expected = (moved.get("array_bytes") or 0.0) / kernel / 1e9
        if not agree(speed, expected) or moved.get("array_bytes") != record.graph_facts.get("bytes"):
            yield f"{speed:.4g} GB/s are not {expected:.4g}"
    yield from _energy(record, kernel)
    yield from _price(record, kernel)
    yield from _traffic(record, kernel)


def _energy(record: Record, kernel: float) -> Iterator[str]:
    energy = record.shape.energy
    if energy.joules_per_run is None:
        return
    watts = energy.joules_per_run / kernel / (record.shape.device.ranks or 1)
    limit = ((record.shape.environment.get("gpu") or {}).get("nvml") or {}).get("power_limit_w") or WATTS[1]
    if not WATTS[0] <= watts <= limit * 1.25:
        yield f"{energy.joules_per_run:.4g} J in {kernel:.4g} s are {watts:.4g} W"
    if energy.nanojoules_per_edge is not None and len(record.counts) == 1 and record.counts[0]:
        expected = energy.joules_per_run / record.counts[0] * 1e9
        if not agree(energy.nanojoules_per_edge, expected):
            yield f"{energy.nanojoules_per_edge:.4g} nJ an edge are not {expected:.4g}"

    run_s = (energy.window_s or 0.0) / (energy.runs or 1)
    if energy.per == "run" and record.shape.device.ranks in (None, 1) and not is_graph500(record):
        joules, above = ((energy.mean_w or 0.0) - idle_w for idle_w in (0.0, energy.idle_w or 0.0))
        net = energy.net_joules_per_run or 0.0
        if not agree(energy.joules_per_run, joules * run_s) or abs(net - above * run_s) > CLOSE * joules * run_s:
            yield f"{energy.joules_per_run:.4g} J a run are not its power in the {run_s:.4g} s of a run"
        if run_s < kernel / 2:
            yield f"a run took {run_s:.4g} s while its energy was measured, and {kernel:.4g} s otherwise"


def _price(record: Record, kernel: float) -> Iterator[str]:
    price, queries = record.shape.price, together(record.shape.result) or 1
    if price.per_hour is None:
        return
    times = [one.get("kernel_s") or 0.0 for one in record.shape.per_source] or [kernel]
    second = price.per_hour / 3600 * (record.shape.device.ranks or 1)
    edge_s = None
    if len(times) == len(record.counts) and all(record.counts):
        edge_s = mean(s / n for s, n in zip(times, record.counts, strict=True))
    costs = second * mean(times) / queries * 1e6, None if edge_s is None else second * edge_s * 1e9
    if not all(map(agree, (price.per_million_answers, price.per_billion_edges), costs)):
        yield f"answers at {price.per_hour:.4g} an hour do not cost what it says"


def _traffic(record: Record, kernel: float) -> Iterator[str]:
    traffic = record.shape.traffic
    if traffic.share is None or not (traffic.minimum_bytes and traffic.copy_bytes_per_s):
        return
    expected = traffic.minimum_bytes / kernel / traffic.copy_bytes_per_s
    if not agree(traffic.share, expected):
        yield f"{traffic.share:.3g} of the bandwidth is not {expected:.3g}"
    whole = (record.shape.graph.edges or 0) * (together(record.shape.result) or 1)
    few = 2 * min(record.counts, default=whole) < whole  # older records counted rows that their runs did not reach
    for name, moved, speed in (
        ("copy_bytes_per_s", float("inf"), traffic.copy_bytes_per_s),
        ("minimum_bytes a run", traffic.minimum_bytes, 0.0 if few else traffic.minimum_bytes / kernel),
    ):
        if speed > (_bytes_per_s(record, moved) or float("inf")):
            yield f"its {name} is {speed:.4g} bytes a second, more than the device moves"
    if record.device_kind == "cuda" and traffic.copy_bytes_per_s < SLOWEST * (
        _bytes_per_s(record, float("inf")) or 0.0
    ):
        yield f"its copy_bytes_per_s is {traffic.copy_bytes_per_s:.4g}, far below the device's"


def graph500(record: Record) -> Iterator[str]:
    """Yield the figures of Graph500 that its searches do not give."""
    if not is_graph500(record):
        if record.shape.graph500:
            yield f"it has figures of Graph500, whose graph is not '{record.graph_source}'"
        return
    shape, searches = record.shape, record.shape.per_source
    of = {name: [one.get(name) for one in searches] for name in ("source", "kernel_s", "tuples", "validation_s")}
    roots, seconds, tuples, checked = map(list[Any], of.values())
    if seconds != shape.samples_s.kernel or tuples != shape.mteps.count or not (all(tuples) and all(checked)):
        yield "the times, tuples or checks of its searches are not those of its samples and its counts"
        return
    slowness = _seven([second / count for second, count in zip(seconds, tuples, strict=True)])
    expected: dict[str, float] = {"NBFS": len(roots), "num_mpi_processes": shape.device.ranks or 1, "edgefactor": 16}
    for form, values in (("sssp_{}_time", seconds), ("{}_nedge", tuples), ("sssp_{}_validate", checked)):
        expected |= {form.format(name): value for name, value in _seven(values).items()}
    for rate, slow in (*zip(_SEVEN[:5], _SEVEN[4::-1], strict=True), ("harmonic_mean", "mean")):
        expected[f"sssp_{rate}_TEPS"] = 1 / slowness[slow]
    of_mean = slowness["mean"] ** 2 * max(len(roots) - 1, 1) ** 0.5
    expected["sssp_harmonic_stddev_TEPS"] = slowness["stddev"] / of_mean
    if wrong := [name for name, value in expected.items() if not agree(shape.graph500.get(name), value)]:
        yield f"its {', '.join(wrong)} do not follow from its searches"
    made = [shape.graph500.get(name) or 0.0 for name in ("graph_generation", "construction_time")]
    if not 0 < made[1] <= made[0] + made[1] <= (shape.phases_s.get("total") or 0.0):
        yield f"{made[0]:.4g} s for its edges and {made[1]:.4g} s for its rows are no part of its total"
    graph, labels = shape.graph, 2 ** int(shape.graph500["SCALE"] or 0)
    if not labels / 2 < (graph.vertices or 0) <= labels or (graph.edges or 0) > 16 * labels:
        yield f"{graph.vertices} vertices and {graph.edges} edges are not those of '{record.graph_source}'"
    if (shape.mteps.counted, graph.weight_dtype) != ("tuples of the input", "float32"):
        yield f"it counts '{shape.mteps.counted}', its weights are {graph.weight_dtype}; Graph500's are otherwise"
    if not str(shape.mteps.definition).startswith("Graph500: tuples of the input in the root's component"):
        yield f"its MTEPS are '{shape.mteps.definition}', and no rate of Graph500"
    if len(set(roots)) < len(roots):
        yield "two of its searches begin at one vertex"


_SEVEN = ("min", "firstquartile", "median", "thirdquartile", "max", "mean", "stddev")


def _seven(values: Sequence[float]) -> dict[str, float]:
    """Return Graph500's statistics of some values; a quartile lies midway between its neighbours."""
    x, n = sorted(values), len(values)
    quartiles = ((x[(n - 1) // 4] + x[n // 4]) / 2, median(x), (x[n - 1 - (n - 1) // 4] + x[n - 1 - n // 4]) / 2)
    return dict(zip(_SEVEN, (x[0], *quartiles, x[-1], mean(x), stdev(x) if n > 1 else 0.0), strict=True))
