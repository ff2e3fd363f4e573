"""A record for people: a first screen of graph, device, times, rate, result and verdict, or a page of everything."""

import importlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gpugraph.base.errors import InputError
from gpugraph.base.quantities import count, counted, duration, in_units, percent, rate
from gpugraph.problems import TABLE, Column
from gpugraph.problems.foreign import PEER, is_file
from gpugraph.problems.registry import find_algorithm
from gpugraph.records import columns
from gpugraph.records.columns import Labelled, problem_columns
from gpugraph.records.record import EMULATED, PHASED_RUNS, PHASES, Record
from gpugraph.records.record_shape import RanksShape
from gpugraph.records.statistics import median
from gpugraph.report.exporters import drawing
from gpugraph.report.terminal import BAR_WIDTH, Line, can_draw, field

SHOWN_SOURCES, FIRST_SCREEN = 10, 20
NOISY = 0.05
"""Half an interval beyond this share of its median is warned of."""

COLD_START = "something was still cold; warm up longer: --warmup 3 (bench: --axis sampling.warmup=3)"
THROTTLED = "the GPU was held down; let it cool, or lock its clocks: nvidia-smi -lgc"

WORK = "gpugraph.ext.counters.table"
"""``lines(record, width)`` shows the work that was counted on the emulated device, where a rate would be none."""

METHOD_NAMES = {"both": "certificate and reference"}


def table(record: Record, *, width: int = 80) -> list[Line]:
    """Return the lines of a record that was measured, wrapped to ``width`` columns."""
    subject = _subject(record, width) + _fields(record, columns.COLUMNS, width)
    return _apart(subject, _phases(record, width), _rates(record, width), _result(record, width))


def first_screen(record: Record, *, width: int = 80) -> list[Line]:
    """Return ``FIRST_SCREEN`` lines or fewer about a correct result; ``table`` has the rest of it."""
    listed = [column for column in columns.COLUMNS if column.name != "memory_most"]
    subject = _subject(record, width, brief=True)
    phases, rates = _grouped_phases(record), _rates(record, width, brief=True)
    rest = _fields(record, listed, width) + _result(record, width, brief=True)
    room = FIRST_SCREEN - 2 - len([*subject, *phases, *rates, *rest])
    if len(cautions := _cautions(record, width)) > room:
        cautions = _cautions(record, width, brief=True)
    return _apart(subject, phases, rates + cautions + rest)


def _apart(*blocks: list[Line]) -> list[Line]:
    """Return the lines of all blocks, an empty one between two."""
    return [line for i, block in enumerate(blocks) for line in ([[("", "")]] if i else []) + block]


def _subject(record: Record, width: int, *, brief: bool = False) -> list[Line]:
    lines = field("graph", describe_graph(record.graph_facts), width=width)
    cited = ", ".join(str(part) for part in record.shape.algorithm_source.values() if part and not brief)
    name = _algorithm(record)
    lines += field("algorithm", f"{name} — {cited}" if cited else name, width=width)
    lines += field("device", _device(record), width=width)
    if ranks := record.shape.ranks:
        lines += field("ranks", describe_ranks(ranks), width=width)
    return lines


def _algorithm(record: Record) -> str:
    """Return the name of the algorithm, with its parameters that are not the usual ones."""
    usual = _defaults(record.problem, record.algorithm, record.device_kind)
    settings = {k: v for k, v in record.parameters.items() if k != "preparations"}
    ran_with = [f"{k}={v}" for k, v in settings.items() if k not in usual or usual[k] != v]
    ran_with += record.shape.parameters.preparations or []
    return record.algorithm + (f" ({', '.join(ran_with)})" if ran_with else "")


def _device(record: Record) -> str:
    threads = f", {counted(number, 'thread')}" if (number := record.shape.device.threads) else ""
    return f"{record.device_kind}: {record.device}{threads}"


def _defaults(problem: str, algorithm: str, device_kind: str) -> dict[str, object]:
    """Return what an algorithm's options are unless they are set; nothing of a user's own, or of a peer."""
    if algorithm.startswith(PEER) or is_file(algorithm):
        return {}
    try:
        found = find_algorithm(problem, algorithm, device_kind)
    except InputError:  # it is not installed here
        return {}
    return {option.name: option.default for option in found.options}


def describe_ranks(ranks: RanksShape) -> str:
    """Return one sentence about the ranks of a run: how many, what they talk through, what that takes of the kernel."""
    hosts = len({member.host for member in ranks.members})
    where = f" on {counted(hosts, 'machine')}" if hosts > 1 else ""
    most = max((member.bytes_sent for member in ranks.members), default=0)
    text = f"{ranks.size}{where} through {ranks.talk_through}, each sends up to {in_units(most)} a run"
    phases = ranks.phases.values()
    spent = [sum(map(sum, of)) for of in zip(*((p.work_s, p.wait_s, p.communication_s) for p in phases), strict=True)]
    if total := sum(spent):
        work, wait, talk = (percent(seconds / total) for seconds in spent)
        text += f"; of their time {work} is work, {wait} waiting, {talk} communication"
    return text


def describe_graph(graph: Mapping[str, Any]) -> str:
    """Return one sentence about a graph: its name, and as far as they are known its counts and weights."""
    name, weights = graph.get("name") or "unknown graph", graph.get("weight_dtype")
    if (elements := graph.get("elements")) is not None:
        kind = "exclusive sums" if graph.get("exclusive") else "sums"
        if (segments := graph.get("segments")) is not None:
            kind = f"minima of {counted(segments, 'segment')}"
        return f"{name}: {counted(elements, 'element')} of {weights}, {kind}"
    if graph.get("vertices") is None:  # it was never opened
        return str(name)
    sizes = [counted(graph["vertices"], "vertex")]
    if (edges := graph.get("edges")) is not None:
        sizes.append(counted(edges, "arc" if graph.get("directed") else "edge"))
    return f"{name}: {', '.join([*sizes, *([f'{weights} weights'] if weights else [])])}"


def _phases(record: Record, width: int) -> list[Line]:
    seconds_of = record.shape.phases_s
    phases = {name: seconds for name in PHASES if (seconds := seconds_of.get(name))}
    total = sum(phases.values())
    lines: list[Line] = [_PHASE_HEADER]
    for name, seconds in phases.items():
        style = "cyan" if name == "kernel" else "dim"
        lines.append(_phase(record.titles.get(name, name), seconds, seconds / total, style))
        if name == "kernel":
            lines += [_inner(part, *shares) for part, shares in record.inner_shares.items()]
    lines += _total(record, total)
    if (seconds := record.shape.predecessors_s) is not None:
        lines.append([(f"{'predecessors':<20}{duration(seconds):>10}", ""), (_APART, "dim")])
    if (seconds := record.shape.interpreter_s) is not None:
        lines.append([(f"{'interpreter':<20}{duration(seconds):>10}", ""), (_BEFORE, "dim")])
    return lines + _samples(record, width)


_PHASE_HEADER: Line = [(f"{'phase':<20}{'time':>10}{'share':>8}", "bold")]


def _total(record: Record, total: float) -> list[Line]:
    if not record.shape.phases_s.get("total"):
        return []
    answer_s, said = record.answer_s, "from the command to its answer"
    if answer_s is not None and (record.shape.phases_s.get("sampling") or 0.0) >= 0.01 * answer_s:
        said = f"time to answer {duration(answer_s)}: without sampling"
    return [[(f"{'total':<20}{duration(total):>10}", "bold"), (f"{'':>9}{said}", "dim")]]


_GROUPS = {
    "load graph": ("fetch", "load", "build", "check"),
    "transfer": ("stage", "h2d", "transfer", "d2h"),
    "other": ("prepare", "finish", "sampling", "close"),
}
"""Phases that the first screen shows as one."""


def _grouped_phases(record: Record) -> list[Line]:
    """Return the phases that a person plans with; the others are one, and the sum is the same."""
    group_of = {name: group for group, names in _GROUPS.items() for name in names}
    grouped: dict[str, float] = {}
    for name in PHASES:
        if seconds := record.shape.phases_s.get(name):
            group = group_of.get(name, record.titles.get(name, name))
            grouped[group] = grouped.get(group, 0.0) + seconds
    if other := grouped.pop("other", None):
        grouped["other"] = other
    total = sum(grouped.values())
    rows = [_phase(name, seconds, seconds / total, "cyan") for name, seconds in grouped.items()]
    if other:
        rows[-1] = [*rows[-1][:2], ("sampling and the rest: -v", "dim")]
    return [_PHASE_HEADER, *rows, *_total(record, total)]


_APART = f"{'':>9}after the run, a part of finish"
_BEFORE = f"{'':>9}before start, not in total"


def _phase(name: str, seconds: float, share: float, style: str) -> Line:
    blocks = "█" * round(share * BAR_WIDTH)
    return [(f"{name:<20}", ""), (f"{duration(seconds):>10}{share:>7.0%}  ", ""), (blocks, style)]


def _inner(name: str, least: float, middle: float, most: float) -> Line:
    between = f"{least:.0%} to {most:.0%} of the kernel"
    return [(f"  {name:<28}", ""), (f"{middle:>7.0%}  ", ""), (between, "dim")]


def _cautions(record: Record, width: int, *, brief: bool = False) -> list[Line]:
    """Return why the times may be wrong, and the remedies, as one field; nothing where they may be relied on.

    Where it is ``brief`` it has the remedies alone, on one line.
    """
    half, target = record.measured_half_width, record.shape.sampling.target or 0.0
    known = "the times scatter" if record.scattered else f"median ± {percent(half or 0.0)} only"
    late = f"± {percent(target)} not reached" if target and (half is None or half > target) else ""
    found: dict[str, str] = {
        "warm up longer: --warmup 3": first_stands_out(record),
        "let the GPU cool": throttled_samples(record),
        "close other programs": record.busy,
        "--target 2%": known if half is not None and half > max(NOISY, target) else "",
        "give more time: --max-seconds": late,
    }
    remedies = ", ".join(what.rpartition(": ")[2] if brief else what for what in found if found[what])
    reasons = "; ".join(filter(None, found.values()))
    if not reasons or record.device_kind == "emulated":
        return []
    return field("unsteady", remedies if brief else f"{reasons} ({remedies})", width=width, style="yellow")


def _samples(record: Record, width: int) -> list[Line]:
    """Return what the samples say: how far apart they lie, and whether the target was reached."""
    shape, kernel, half = record.shape, record.shape.samples_s.kernel or [], record.measured_half_width
    few = ": too few to prove much" if record.few else ""
    text = f"{counted(len(kernel), 'sample')} of the kernel{few}{_range(kernel)}"
    if half is not None:
        ends = record.interval_s if record.scattered else record.lopsided_interval
        text += f", median {duration(ends[0])} to {duration(ends[1])} (95 %)" if ends else f", median ± {percent(half)}"
    if outliers := shape.sampling.outliers:
        text += f", {counted(len(outliers), 'outlier')}"
    if shape.rounds is not None:
        text += f"; {_rounds(record)}: {shape.rounds:,}"
    if record.inner_shares:
        text += f"; its phases are the medians of {shape.kernel_phases_runs} more runs"
    elif record.finished and shape.kernel_phases_runs and record.device_kind != "emulated":
        text += f"; its phases are left out, {PHASED_RUNS} more runs take too long: give more time with --max-seconds"
    return [*field("", text, width=width, style="dim"), *_precision(record, width)]


def _range(samples: Sequence[float]) -> str:
    return f", {duration(min(samples))} to {duration(max(samples))}" if len(samples) > 1 else ""


def _rounds(record: Record) -> str:
    """Return what an algorithm's rounds are called: they are no samples."""
    return "Borůvka rounds" if "boruvka" in record.program else f"rounds of {record.program}"


def _precision(record: Record, width: int) -> list[Line]:
    """Return whether the target was reached, and a warning where the samples scatter too much to be relied on."""
    half, target, lines = record.measured_half_width, record.shape.sampling.target, list[Line]()
    if target:
        reached = half is not None and half <= target
        late = {"time": "its time was up; give it more with --max-seconds", "budget": "the budget was spent"}
        rest = "its processes differ" if len(record.processes) > 1 else "all its samples were taken"
        why = late.get(record.shape.sampling.stopped_by or "", f"{rest}; the machine is too restless for it")
        said = f"± {percent(target)} " + ("reached" if reached else f"not reached: {why}")
        lines = field("target", said, width=width, style="" if reached else "yellow")
    for title, said, remedy in (
        ("first run", first_stands_out(record), COLD_START),
        ("throttled", throttled_samples(record), THROTTLED),
        ("busy", record.busy, "its times are longer and scatter; close other programs"),
    ):
        if said:
            lines += field(title, f"{said}: {remedy}", width=width, style="yellow")
    if half is None or half <= max(NOISY, target or 0.0):
        return lines
    remedy = "close other programs" if target else "close other programs, or take more samples: --target 2%"
    known = f"from {record.scattered}" if record.scattered else f"so that the median is known to ± {percent(half)} only"
    said = f"the times scatter{'' if record.scattered else ','} {known}; {remedy}"
    return lines + field("noisy", said, width=width, style="yellow")


def first_stands_out(record: Record) -> str:
    """Return how much longer the first sample took than most, where it is an outlier; else nothing."""
    samples = record.shape.samples_s.kernel
    if 0 not in (record.shape.sampling.outliers or ()) or not samples:
        return ""
    ratio = samples[0] / median(samples)
    return f"its first run took {ratio:.3g} times the median" if ratio > 1 else ""


def throttled_samples(record: Record) -> str:
    """Return how many samples were taken again because the GPU throttled, where there were any."""
    repeated = record.shape.sampling.throttled_repeated
    return f"{counted(repeated, 'sample')} taken again" if repeated else ""


_PER_SECOND = "million edges per second, kernel only"


def _rates(record: Record, width: int, *, brief: bool = False) -> list[Line]:
    if record.finished and record.why_no_rates == EMULATED:
        if not record.shape.work.total:
            text = "not counted: add --counters; times on the emulated device are not performance"
            return field("work", text, width=width, style="yellow")
        return list(importlib.import_module(WORK).lines(record, width, explained=not brief))
    mteps, reason = record.shape.mteps, record.why_no_rates
    if reason or mteps.kernel is None:
        return field("MTEPS", reason or "-", width=width, style="yellow")
    queries = len(record.shape.per_source)
    mean = f" (harmonic mean over {queries} sources)" if queries else ""
    definition = (mteps.definition or f"{mteps.counted} / kernel time / 10^6").removeprefix("MTEPS = ")
    value = rate(mteps.kernel) + _rate_known(record) + mean
    below = f"= {definition}"
    if brief:
        value += f": {definition.partition(' = ')[0] if ' = ' in definition else _PER_SECOND}"
        below = f"{counted(len(record.samples), 'sample')} of the kernel{_range(record.samples)}"
    lines = field("MTEPS", value, width=width, style="bold green") + field("", below, width=width, style="dim")
    if record.transfers and mteps.end_to_end is not None and not brief:  # without transfers it would be the same
        lines += field("end to end", rate(mteps.end_to_end) + mean, width=width, style="green")
        lines += field("", "= the same count / (transfer + kernel + d2h)", width=width, style="dim")
    return lines + _fields(record, problem_columns([Labelled.alone(record)]), width)


def _rate_known(record: Record) -> str:
    """Return how well a rate is known: half its interval, its ends where it is wide or lopsided, or the samples'."""
    half, taken = record.measured_half_width, record.samples
    if half is not None and not record.scattered and not record.lopsided_interval:
        return f" ± {percent(half)}"
    if record.sources > 1 and half is None:
        return f" ({record.few} of each source)" if record.few else ""
    if half is None and len(taken) < 2:
        return " (1 sample)" if taken else ""
    low, high = record.interval_s or (0.0, max(taken))
    ends = [rate((record.mteps or 0.0) * (record.kernel_s or 0.0) / end) for end in (high, low or min(taken))]
    number = "" if half is not None else f" in {counted(len(taken), 'sample')}"
    return f" ({ends[0]} to {ends[1]}{number})"


def _fields(record: Record, listed: Iterable[Column], width: int) -> list[Line]:
    """Return the columns that the page of one record shows, a field each, without those it has nothing for."""
    cell = Labelled.alone(record)
    shown = [column for column in listed if TABLE in column.shown and column.value(cell) is not None]
    return [line for column in shown for line in field(column.title, column.show(cell), width=width)]


def _result(record: Record, width: int, *, brief: bool = False) -> list[Line]:
    own = {column.name: column for column in problem_columns([Labelled.alone(record)])}
    facts = []
    for name, content in record.shape.result.items():
        column = own.get(f"result.{name}")
        if not (brief and name.endswith(("sha256", "digest"))):
            facts.append(f"{name.replace('_', ' ')} {content if column is None else column.text(content)}")
    facts = [", ".join(facts)] if brief else facts
    lines = [line for i, fact in enumerate(facts) for line in field("" if i else "result", fact, width=width)]
    lines += _sources(record, width, 0 if brief else SHOWN_SOURCES)
    status, method = record.status, record.shape.verification.method or "none"
    style = {"passed": "bold green", "failed": "bold red"}.get(status, "yellow")
    by = f" by {METHOD_NAMES.get(method, method)}" if method != "none" else ""
    lines += field("verdict", f"{status}{by}: {record.shape.verification.detail or ''}", width=width, style=style)
    if record.shape.verification.counter_example is None:
        return lines
    shape = drawing().shape_to_draw(record)
    return lines + ([] if shape is None else [[("", "")], *drawing().sketch(shape, width=width, unicode=can_draw())])


def _sources(record: Record, width: int, most: int) -> list[Line]:
    """Return a line for each source, as many as are to be shown."""
    runs = record.shape.per_source
    lines: list[Line] = []
    for run in runs[:most]:
        text = f"{run['source']}: {count(run['reached'])} reached, {duration(run['kernel_s'])}"
        lines += field("" if lines else "sources", text, width=width)
    if len(runs) > most:
        left = f"and {len(runs) - most} more" if most else f"{len(runs)} in all: -v"
        lines += field("" if lines else "sources", left, width=width)
    return lines
