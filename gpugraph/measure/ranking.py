"""Several records of the same work: which is the fastest, by how much, and which cannot be told apart.

Two can be told apart only if all hold: the bootstrap interval of the ratio of their median kernel times lies wholly
beyond 1; the Mann–Whitney test, corrected by Holm for the number of pairs, is significant; and every quarter of the
slower took longer than every quarter of the faster.  Where both spread their samples over several processes, these take
the place of samples and quarters, as they do in ``compare``.  Where two took turns in one process, what drifted for
both is taken out before, and the ratios of blocks of rounds must show it too, by Student's t.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from gpugraph.errors import InputError, unknown_name
from gpugraph.measure.compare import ALPHA, RESOLUTION_S, Timed, time_pair, usable
from gpugraph.measure.record import EMULATED, LEAST_SAMPLES, Record, told_apart
from gpugraph.measure.statistics import holm, least_p, median_interval

BY = ("algorithm", "device", "peer")
"""What records of stored runs may be compared by; all else must be the same."""

_PEER = "peer:"


@dataclass(frozen=True, eq=False)
class Claim:
    """What the samples say of two records.

    Attributes:
        faster, slower: the two, by their medians.
        ratio: median of the slower over that of the faster.
        interval: its 95 % interval.
        told: whether they can be told apart.
        reason: why not, where there is more to say than that they overlap.
        transferred: the same ratio with the way to the device and back, where they ran on devices of different kinds.
    """

    faster: Record
    slower: Record
    ratio: float
    interval: tuple[float, float]
    told: bool
    reason: str = ""
    transferred: float | None = None


@dataclass(frozen=True, eq=False)
class Ranking:
    """Records of the same work.

    Attributes:
        rows: those with verified times, fastest first.
        others: those without, and why nothing is said of them.
        against_best: the first row against each other one, in their order.
        neighbours: of the other rows each against the next.
    """

    rows: list[Record]
    others: list[tuple[Record, str]]
    against_best: list[Claim]
    neighbours: list[Claim]

    @property
    def records(self) -> list[Record]:
        """All of them."""
        return [*self.rows, *(record for record, _ in self.others)]


@dataclass(frozen=True, eq=False)
class Alone:
    """A record that cannot be compared with any other, and why."""

    record: Record
    reason: str


def rank(records: Sequence[Record], by: str | None = None) -> tuple[list[Ranking], list[Alone]]:
    """Return the rankings of records that did the same work, and the records that none of the others can be held to.

    Args:
        records: of any cells.
        by: one of ``BY``: only that may differ.  By peer each program has one record, its fastest.  None: all that
            did the same work compete, whatever else differs.

    Raises:
        InputError: there is no such thing to compare by.
    """
    if by is not None and by not in BY:
        raise unknown_name("way to compare", by, BY)
    apart = {id(row): one for row, one in zip(records, told_apart(records), strict=True)}
    groups: dict[str, list[Record]] = {}
    digests = {row.graph_name: row.shape.graph.digest for row in records if row.shape.graph.digest}
    asked: dict[str, Any] = {}  # what never ran knows neither its graph nor its source
    for row in sorted(records, key=lambda row: not row.ok):
        known = row.shape.graph.digest or digests.get(row.graph_name) or row.graph_name
        (_, source), *others = _traits(row, by)
        work = _text([known, row.problem])
        first = asked.setdefault(work, _sources(row) if row.ok else source)
        source = _sources(row) if row.ok else first
        groups.setdefault(_text([known, source, *(value for _, value in others)]), []).append(row)
    rankings, alone = list[Ranking](), list[Alone]()
    for group in map(_of_one_source, groups.values()):
        entered = _fastest_of_each_program(group) if by == "peer" else group
        if by is None or len(entered) > 1:
            rankings.append(_ranking([apart.get(id(row), row) for row in entered]))
        else:
            alone += [
                Alone(row, _why_alone(row, [other for other in records if other not in group], by)) for row in group
            ]
    return rankings, alone


def check_ranked(rankings: Sequence[Ranking], alone: Sequence[Alone], by: str) -> None:
    """Refuse records of which no two can be compared.

    Raises:
        InputError: they are such; the message says what the first of them differs in.
    """
    if not rankings:
        first = alone[0].record
        where = f"{first.problem} {first.graph_name} by {first.algorithm} on {first.device}"
        remedy = "give records of the same problem, graph, weights and source that differ in it"
        raise InputError(f"nothing can be compared by {by}: {alone[0].reason}", where=where, remedy=remedy)


def _traits(row: Record, by: str | None) -> list[tuple[str, Any]]:
    """Return what two records must share beside their graph, each with the noun that a message calls it by."""
    shape = row.shape
    traits: list[tuple[str, Any]] = [
        ("source", row.asked_source),
        ("problem", row.problem),
        ("state of the caches", "cold" if shape.sampling.cold else "warm"),
    ]
    if by == "algorithm":
        traits.append(("device", [row.device_kind, row.device, row.data.get("device", {}).get("threads")]))
    elif by == "device":
        told = [f"{name}={_shown(value)}" for name, value in row.parameters.items() if value not in (None, [])]
        traits.append(("algorithm", row.algorithm + (f" ({', '.join(told)})" if told else "")))
    return traits


def _sources(row: Record) -> Any:
    """Return what tells the sources of a search: of several together and one by one the same."""
    each = row.shape.per_source
    if not each and (row.shape.result.get("sources") or 1) == 1:
        return row.asked_source
    first = each[0] if each else row.shape.result
    totals = [
        sum(one.get(name) or 0 for one in each) if each else row.shape.result.get(name)
        for name in ("reached", "distance_sum")
    ]
    return [first.get("source"), len(each) or row.shape.result.get("sources"), *totals]


def _of_one_source(group: list[Record]) -> list[Record]:
    """Return records of the same sources, searched together and one by one, with the times that one source takes."""
    if len({bool(row.shape.per_source) for row in group if row.ok}) < 2:
        return group
    found = []
    for row in group:
        if not usable(row) or not row.ok:
            found.append(row)
            continue
        together = row.shape.result.get("sources") or 1
        times = np.reshape(row.samples, (row.sources, -1)).mean(axis=0) / together
        interval = median_interval([times.tolist()]) if len(times) >= LEAST_SAMPLES else None
        result = {**row.data["result"], "source": None, "sources": row.sources * together}
        phases = row.data["phases_s"]
        data = {name: value for name, value in row.data.items() if name != "per_source"} | {
            "samples_s": {**row.data["samples_s"], "kernel": times.tolist()},
            "phases_s": {**phases, "kernel": float(np.median(times)), "d2h": (phases.get("d2h") or 0.0) / together},
            "sampling": {**(row.data.get("sampling") or {}), "outliers": []},
            "confidence_s": {**(row.data.get("confidence_s") or {}), "kernel": interval},
            "result": result,
        }
        found.append(Record.of(data, file=row.file, line=row.line))
    return found


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _fastest_of_each_program(group: Sequence[Record]) -> list[Record]:
    """Return of gpugraph and of each peer the fastest record; nothing where there is no peer."""
    best: dict[str, Record] = {}
    for row in group:
        program = row.algorithm if row.algorithm.startswith(_PEER) else ""
        if program not in best or _order(row) < _order(best[program]):
            best[program] = row
    return list(best.values())


def _order(row: Record) -> tuple[bool, float]:
    return bool(_why_silent(row)), row.kernel_s or 0.0


def _why_silent(row: Record) -> str:
    """Return why a record has no time that could be compared, or nothing."""
    if not row.ok:
        return f"{row.outcome}: {row.message.removeprefix(f'{row.algorithm}: ')}".rstrip(": ")
    if row.device_kind == "emulated":
        return EMULATED.partition(";")[0]
    if row.status != "passed":
        return "not verified, so that nothing is said of its speed"
    return "" if usable(row) else "there are no samples"


def _why_alone(row: Record, others: Sequence[Record], by: str | None) -> str:
    """Return in what a record differs from the one that is nearest to it."""
    same = [other for other in others if other.problem == row.problem]
    if by == "peer" and not any(other.graph_name == row.graph_name for other in same):
        return "no peer ran on the same work"
    if by == "device" and same:
        same = [other for other in same if other.algorithm == row.algorithm]
        if not same:
            return "it ran on no other device"
    if not same:
        problems = sorted({other.problem for other in others})
        return f"another problem: {row.problem} and {', '.join(problems)}" if problems else "it is the only record"
    other = min(same, key=lambda other: (len(_differences(row, other, by)), other.graph_name != row.graph_name))
    found = "; ".join(_differences(row, other, by)) or "no other program"
    return f"{found} (nearest: {other.algorithm} on {other.graph_name}, {other.device})"


def _differences(row: Record, other: Record, by: str | None) -> list[str]:
    found = [
        f"another {noun}: {_shown(mine)} and {_shown(theirs)}"
        for (noun, mine), (_, theirs) in zip(_traits(row, by), _traits(other, by), strict=True)
        if _text(mine) != _text(theirs)
    ]
    mine, theirs = row.shape.graph.digest, other.shape.graph.digest
    if mine and theirs and mine != theirs:
        found.append(_other_graph(row, other))
    elif not (mine and theirs) and row.graph_name != other.graph_name:
        found.append(f"another graph: {row.graph_name} and {other.graph_name}")
    return found


def _other_graph(row: Record, other: Record) -> str:
    """Return in what two graphs of different digests differ, as far as the records tell."""
    mine, theirs = (one.data.get("graph", {}) for one in (row, other))
    weights = [str((one.shape.cell.input or {}).get("weights", "file")) for one in (row, other)]
    if row.graph_name != other.graph_name:
        return f"another graph: {row.graph_name} and {other.graph_name}"
    if weights[0] != weights[1]:
        return f"other weights: {weights[0]} and {weights[1]}"
    if mine.get("weight_dtype") != theirs.get("weight_dtype"):
        return f"weights of another type: {mine.get('weight_dtype')} and {theirs.get('weight_dtype')}"
    digests = [str(one.shape.graph.digest)[:12] for one in (row, other)]
    return f"another graph of that name: digest {digests[0]} and {digests[1]}"


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(one) for one in value if one is not None)
    return "none" if value is None else str(value)


# ------------------------------------------------------------------ what the samples say


def _ranking(group: Sequence[Record]) -> Ranking:
    silent = [(row, why) for row in group if (why := _why_silent(row))]
    rows = sorted((row for row in group if not _why_silent(row)), key=_order)
    pairs = [(rows[0], row) for row in rows[1:]] + list(pairwise(rows[1:]))
    timed = [_time(*pair) for pair in pairs]
    corrected = holm([one.p_value for one in timed])
    claims = [_claim(*pair, one, p, len(pairs)) for pair, one, p in zip(pairs, timed, corrected, strict=True)]
    return Ranking(rows, silent, claims[: len(rows[1:])], claims[len(rows[1:]) :])


def _claim(faster: Record, slower: Record, timed: Timed, p_value: float, pairs: int) -> Claim:
    """Return the claim on two records; ``timed`` is what is known of them without what drifted for both."""
    ratio = float(np.median(slower.samples) / np.median(faster.samples)) if faster.sources == 1 else timed.ratio
    low, high = min(timed.interval[0], ratio), max(timed.interval[1], ratio)
    beyond = low > 1 + RESOLUTION_S / (faster.kernel_s or RESOLUTION_S)
    told = beyond and p_value < ALPHA and timed.by_part[0] > 1
    reason = ""
    counts = len(faster.samples), len(slower.samples)
    if beyond and not told:
        if not timed.spread and least_p(*counts) * pairs >= ALPHA:
            reason = f"{counts[0]} and {counts[1]} samples are too few to prove it"
        elif p_value < ALPHA:
            reason = "their times drift" if not timed.spread else "the times differ as much between the processes"
    apart = faster.device_kind != slower.device_kind
    transferred = _with_transfers(slower) / _with_transfers(faster) if apart else None
    return Claim(faster, slower, ratio, (low, high), told, reason, transferred)


LEAST_BLOCKS, BLOCKS, BLOCK = 4, 8, 5
"""Parts that interleaved runs are looked at in, at least and at most, and the samples that each has if it can."""


def _time(faster: Record, slower: Record) -> Timed:
    """Return the ratio of two records with what is known of it.

    Of two that took turns only the rounds count that both took part in, and what drifted for both is taken out: each
    block of rounds is divided by its level, the geometric mean of the two medians there.  And the interval is that of
    the blocks too, whose ratios scatter by what drifted for one alone: Student's t over their logarithms.
    """
    turns = [
        (row.file, row.shape.environment.get("command"), row.sources, row.processes[1:]) for row in (faster, slower)
    ]
    n = min(len(faster.samples), len(slower.samples))  # rounds that both took part in
    many = min(BLOCKS, max(LEAST_BLOCKS, n // BLOCK))
    if turns[0] != turns[1] or turns[0][2:] != (1, ()) or n < LEAST_BLOCKS:
        return time_pair(faster, slower)
    from scipy.special import stdtr, stdtrit

    blocks = np.array_split(np.arange(n), many)
    samples = np.log([faster.samples[:n], slower.samples[:n]])
    medians = np.array([np.median(samples[:, block], axis=1) for block in blocks])
    levelled = samples.copy()
    for block, level in zip(blocks, medians.mean(axis=1) - medians.mean(), strict=True):
        levelled[:, block] -= level
    rows = (faster, slower)
    if n >= 2 * BLOCK:
        data = [
            {**row.data, "samples_s": {"kernel": np.exp(t).tolist()}} for row, t in zip(rows, levelled, strict=True)
        ]
        rows = (replace(faster, data=data[0]), replace(slower, data=data[1]))
    timed = time_pair(*rows)
    ratios = medians[:, 1] - medians[:, 0]
    middle, error = float(ratios.mean()), float(ratios.std(ddof=1)) / many**0.5
    reach = min(float(stdtrit(many - 1, 0.975)) * error, 100.0)
    p_value = 2 * float(stdtr(many - 1, -abs(middle) / error)) if error else float(middle == 0)
    ends = min(timed.interval[0], math.exp(middle - reach)), max(timed.interval[1], math.exp(middle + reach))
    return replace(timed, interval=ends, p_value=max(timed.p_value, p_value))


def _with_transfers(row: Record) -> float:
    return (row.kernel_s or 0.0) + (row.transfer_s if row.transfers else 0.0)
