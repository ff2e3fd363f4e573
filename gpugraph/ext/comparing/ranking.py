"""Several records of the same work: which is the fastest, by how much, and which cannot be distinguished.

``claims.py`` says when the samples of two prove a difference.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from gpugraph.base.errors import InputError, unknown_name
from gpugraph.ext.comparing.cells import key_text
from gpugraph.ext.comparing.claims import Claim, claims, usable
from gpugraph.records.record import EMULATED, Record, with_distinct_names
from gpugraph.records.statistics import INTERVAL_SAMPLES, median, median_interval

BY = ("algorithm", "device", "peer")
"""What records of stored runs may be compared by; all else must be the same."""

_PEER = "peer:"


@dataclass(frozen=True, eq=False)
class Ranking:
    """Records of the same work: ``rows`` with verified times, fastest first, and ``others`` with why they have none.

    Attributes:
        against_best: the first row, or that of reference, against each other one, in their order.
        neighbours: of the other rows each against the next; none with a reference.
        reference: the row that the others are compared with, where that is not to be the fastest.
    """

    rows: list[Record]
    others: list[tuple[Record, str]]
    against_best: list[Claim]
    neighbours: list[Claim]
    reference: Record | None = None

    def against(self, reference: Record) -> "Ranking":
        """Return the ranking with each row compared with one of them."""
        place = self.rows.index(reference)
        pairs = [(row, reference) for row in self.rows[:place]] + [(reference, row) for row in self.rows[place + 1 :]]
        return replace(self, against_best=claims(pairs, one_run=True), neighbours=[], reference=reference)

    @property
    def records(self) -> list[Record]:
        """All of them."""
        return [*self.rows, *(record for record, _ in self.others)]


def rank(records: Sequence[Record], by: str | None = None) -> tuple[list[Ranking], list[tuple[Record, str]]]:
    """Return the rankings of records that did the same work, and those that cannot be compared with any other, and why.

    ``by``, one of ``BY``, alone may differ; by peer each program has one record, its fastest.  None: all that did the
    same work compete, whatever else differs.

    Raises:
        InputError: there is no such thing to compare by.
    """
    if by is not None and by not in BY:
        raise unknown_name("way to compare", by, BY)
    apart = {id(row): one for row, one in zip(records, with_distinct_names(records), strict=True)}
    groups: dict[str, list[Record]] = {}
    digests = {row.graph_name: row.shape.graph.digest for row in records if row.shape.graph.digest}
    asked: dict[str, Any] = {}  # what never ran knows neither its graph nor its source
    for row in sorted(records, key=lambda row: not row.ok):
        known = row.shape.graph.digest or digests.get(row.graph_name) or row.graph_name
        (_, source), *others = _traits(row, by)
        work = key_text([known, row.problem])
        first = asked.setdefault(work, _sources(row) if row.ok else source)
        source = _sources(row) if row.ok else first
        groups.setdefault(key_text([known, source, *(value for _, value in others)]), []).append(row)
    rankings, alone = list[Ranking](), list[tuple[Record, str]]()
    for group in map(_of_one_source, groups.values()):
        entered = _fastest_of_each_program(group) if by == "peer" else group
        if by is None or len(entered) > 1:
            rankings.append(_ranking([apart.get(id(row), row) for row in entered]))
        else:
            alone += [(row, _why_alone(row, [other for other in records if other not in group], by)) for row in group]
    return rankings, alone


def check_ranked(rankings: Sequence[Ranking], alone: Sequence[tuple[Record, str]], by: str) -> None:
    """Raise InputError where no two records can be compared; it says what the first of them differs in."""
    if not rankings:
        first, why = alone[0]
        where = f"{first.problem} {first.graph_name} by {first.algorithm} on {first.device}"
        remedy = "give records of the same problem, graph, weights and source that differ in it"
        raise InputError(f"nothing can be compared by {by}: {why}", where=where, remedy=remedy)


def _traits(row: Record, by: str | None) -> list[tuple[str, object]]:
    """Return what two records must share in addition to their graph, each with the noun that a message calls it by."""
    shape = row.shape
    traits: list[tuple[str, Any]] = [
        ("source", row.asked_source),
        ("problem", row.problem),
        ("state of the caches", "cold" if shape.sampling.cold else "warm"),
    ]
    if by == "algorithm":
        traits.append(("device", [row.device_kind, row.device, row.shape.device.threads]))
    elif by == "device":
        given = [f"{name}={_shown(value)}" for name, value in row.parameters.items() if value not in (None, [])]
        traits.append(("algorithm", row.algorithm + (f" ({', '.join(given)})" if given else "")))
    return traits


def _sources(row: Record) -> object:
    """Return what tells the sources of a search: of several together and one by one the same."""
    each = row.shape.per_source
    if not each and (row.shape.result.get("sources") or 1) == 1:
        return row.asked_source
    first = each[0] if each else row.shape.result
    totals = []
    for name in ("reached", "distance_sum"):
        found = [one.get(name) or 0 for one in each]
        told = [value for value in found if isinstance(value, str)]  # a sum that JSON has no number for
        totals.append(told or sum(found) if each else row.shape.result.get(name))
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
        interval = median_interval([times.tolist()]) if len(times) >= INTERVAL_SAMPLES else None
        found.append(as_one_source(row, times.tolist(), interval))
    return found


def as_one_source(record: Record, times: Sequence[float], interval: object) -> Record:
    """Return a record of several sources as that of one: ``times`` are a source's mean samples, in seconds."""
    together = record.shape.result.get("sources") or 1
    objects: dict[str, dict[str, object]] = {
        "samples_s": {"kernel": list(times)},
        "phases_s": {"kernel": median(times), "d2h": (record.shape.phases_s.get("d2h") or 0.0) / together},
        "sampling": {"outliers": []},
        "confidence_s": {"kernel": interval},
        "result": {"source": None, "sources": record.sources * together},
    }
    return record.changed(objects, without="per_source")


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
    return "" if usable(row) else "there are no samples, or some took no time"


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
        if key_text(mine) != key_text(theirs)
    ]
    mine, theirs = row.shape.graph.digest, other.shape.graph.digest
    differ = mine != theirs if mine and theirs else row.graph_name != other.graph_name
    return [*found, _other_graph(row, other)] if differ else found


def _other_graph(row: Record, other: Record) -> str:
    """Return in what two graphs of different digests differ, as far as the records tell."""
    mine, theirs = (one.shape.graph.weight_dtype for one in (row, other))
    weights = [str((one.shape.cell.input or {}).get("weights", "file")) for one in (row, other)]
    if row.graph_name != other.graph_name:
        return f"another graph: {row.graph_name} and {other.graph_name}"
    if weights[0] != weights[1]:
        return f"other weights: {weights[0]} and {weights[1]}"
    if mine != theirs:
        return f"weights of another type: {mine} and {theirs}"
    digests = [str(one.shape.graph.digest)[:12] for one in (row, other)]
    return f"another graph of that name: digest {digests[0]} and {digests[1]}"


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(one) for one in value if one is not None)
    return "none" if value is None else str(value)


def _ranking(group: Sequence[Record]) -> Ranking:
    silent = [(row, why) for row in group if (why := _why_silent(row))]
    rows = sorted((row for row in group if not _why_silent(row)), key=_order)
    found = claims([(rows[0], row) for row in rows[1:]] + list(pairwise(rows[1:])), one_run=True)
    return Ranking(rows, silent, found[: len(rows[1:])], found[len(rows[1:]) :])


def with_transfers(claim: Claim) -> float | None:
    """Return the ratio with the way to the device and back, of two kinds of devices; else None."""
    if claim.first.device_kind == claim.second.device_kind:
        return None
    seconds = [
        (row.kernel_s or 0.0) + (row.transfer_s if row.transfers else 0.0) for row in (claim.first, claim.second)
    ]
    return seconds[1] / seconds[0]
