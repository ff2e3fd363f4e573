"""Two runs of the same cells side by side: which became faster, which slower, and of which one cannot tell.

A cell is slower only if all hold: the 95 % interval of the ratio of its median kernel times lies wholly beyond the
threshold; the test, corrected for the number of cells, is significant; and the ratio is beyond what two processes may
differ by without any change.  How much that is shows in the other cells, in the processes where both runs have several
of a cell, and is assumed otherwise (``claims.py``).  A comparison says which change it would have found.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gpugraph.base.errors import InputError
from gpugraph.base.quantities import counted, percent
from gpugraph.ext.comparing.cells import key_text
from gpugraph.ext.comparing.claims import Claim, claims, usable
from gpugraph.records.columns import Labelled, problem_columns
from gpugraph.records.record import EMULATED, LEAST_SAMPLES, Record
from gpugraph.records.statistics import NORMAL, median

VERDICTS = (
    *("slower", "more work", "broken", "different result", "faster", "less work", "repaired", "same", "same work"),
    *("unclear", "not compared"),
)
REGRESSIONS = ("slower", "more work", "broken", "different result")


@dataclass(frozen=True, eq=False)
class Compared:
    """One cell in both runs.

    Attributes:
        claim: what the samples say; its ratio is above 1 where NEW is slower.
        verdict: one of ``VERDICTS``.
        reason: what a reader should know about the numbers.
        visible: the smallest change that would have been found, 0.1 for a tenth; None without times.
        blind: the noise alone hides a change as large as the threshold.
    """

    claim: Claim
    verdict: str
    reason: str = ""
    visible: float | None = None
    blind: bool = False

    @property
    def base(self) -> Record:
        """The record of the run that sets the standard."""
        return self.claim.first

    @property
    def new(self) -> Record:
        """The record of the run that is judged."""
        return self.claim.second


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two runs compared: the cells that both have, in the order of BASE, and those that only one has.

    Attributes:
        threshold: relative change below which nothing changed, 0.05 for 5 %.
        geometric_mean, mean_interval: of the ratios, and its 95 % interval; None where there are none.
        notices: what holds of the comparison as a whole.
    """

    cells: list[Compared]
    unpaired: "list[Unpaired]"
    threshold: float
    geometric_mean: float | None
    mean_interval: tuple[float, float] | None
    notices: list[str] = field(default_factory=list)

    @property
    def regressions(self) -> list[Compared]:
        """The cells that became slower, broke, or give another result."""
        return [cell for cell in self.cells if cell.verdict in REGRESSIONS]

    @property
    def visible(self) -> tuple[float, float] | None:
        """The smallest changes that would have been found in the steadiest cell and in the noisiest."""
        known = [cell.visible for cell in self.cells if cell.visible is not None]
        return (min(known), max(known)) if known else None

    @property
    def unseen(self) -> str:
        """A sentence where a change as large as the threshold could have passed unseen, else nothing."""
        blind = [cell for cell in self.cells if cell.blind and cell.verdict not in ("slower", "faster")]
        if not blind:
            return ""
        worst = max(blind, key=lambda cell: cell.visible or 0.0)
        most = worst.visible or 0.0
        upto = f"changes below {percent(most)}" if math.isfinite(most) else "any change"
        return (
            f"in {len(blind)} of {counted(len(self.cells), 'cell')} the noise exceeds the threshold of "
            f"{percent(self.threshold)}: {upto} could have passed unseen; take more samples, or --processes 5"
        )


def compare(base: Sequence[Record], new: Sequence[Record], *, threshold: float = 0.05) -> Comparison:
    """Compare two runs: ``base`` sets the standard, ``new`` is judged.

    ``threshold`` is the relative change of the median kernel time that matters.

    Raises:
        InputError: no cell is in both runs, or the threshold is not above 0.
    """
    if not 0 < threshold < math.inf:
        raise InputError(f"the threshold {threshold:g} is not above 0", remedy="give e.g. --threshold 5%")
    pairs, unpaired = pair(base, new)
    if not pairs:
        remedy = "give two runs of the same sweep or command; --by algorithm compares algorithms on one graph"
        raise InputError("the two runs have no cell in common", remedy=remedy)
    untimed = {
        id(both[0]): Compared(Claim(*both), *ended) for both in pairs if (ended := _without_times(*both, threshold))
    }
    made = claims([both for both in pairs if id(both[0]) not in untimed], one_run=False)
    ratios = [one.ratio or 1.0 for one in made]
    longer, shorter = (run_scatter(of) for of in (ratios, [1 / ratio for ratio in ratios]))
    judged = {}
    for one in made:
        known = longer if (one.ratio or 1.0) > 1 else shorter
        scattered = one if known is None else replace(one, chance=max(known, 1.0))
        judged[id(one.first)] = _judge(scattered, threshold, by_cells=known is not None)
    cells = [(untimed | judged)[id(one)] for one, _ in pairs]
    mean, mean_interval = _mean(made)
    return Comparison(cells, unpaired, threshold, mean, mean_interval, _notices(cells, made))


def _without_times(base: Record, new: Record, threshold: float) -> tuple[str, str] | None:
    """Return verdict and reason for a pair of which not both have times to compare, or None if both do."""
    if "skipped" in (base.outcome, new.outcome):
        side, row = ("BASE", base) if base.outcome == "skipped" else ("NEW", new)
        return "not compared", f"skipped in {side}: {row.message}".rstrip(": ")
    if not new.ok:
        ended = f"{new.outcome}: {new.message}".rstrip(": ")
        return ("broken", ended) if base.ok else ("not compared", f"both: {ended}")
    if not base.ok:
        return "repaired", f"was {base.outcome}: {base.message}".rstrip(": ")
    cells = Labelled.alone(base), Labelled.alone(new)
    for column in problem_columns(cells):
        first, second = (column.value(cell) for cell in cells)
        if column.identifies and first and second and first != second:
            return "different result", f"{column.name.rpartition('.')[2]} differs on the same graph"
    if "emulated" in (base.device_kind, new.device_kind):
        return _by_work(base, new, threshold)
    if not usable(base) or not usable(new):
        return "not compared", "there are no samples, or some took no time"
    cold = [bool(row.shape.sampling.cold) for row in (base, new)]
    if cold[0] != cold[1]:
        return "not compared", f"only {'BASE' if cold[0] else 'NEW'} flushed the caches before every sample"
    return None


def _by_work(base: Record, new: Record, threshold: float) -> tuple[str, str]:
    """Return verdict and reason by the work that was counted on the emulated device, to the last access."""
    first, second = (row.shape.work.total for row in (base, new))
    if not first or not second:
        return "not compared", f"{EMULATED.partition(';')[0]}; count the work of both: --counters"
    ways_of = {"name": "compiled by", "seed": "scheduled by the seed", "multiprocessors": "on multiprocessors:"}
    for name, how in ways_of.items():
        ways = [str(row.field(f"device.{name}") or 0).removeprefix("SIMT emulator, ") for row in (base, new)]
        if ways[0] != ways[1]:
            return "not compared", f"{how} {ways[0]} in BASE, {ways[1]} in NEW: that alone changes the work"
    changes = {name: _change(first.get(name, 0), second.get(name, 0)) for name in {**first, **second}}
    own = [f"{name} {a} → {b}" for name, (a, b) in _own_counters(base, new).items() if a != b]
    changed = [
        f"{name} {first.get(name, 0):,} → {second.get(name, 0):,} ({f'{change:+.2%}'.replace('+inf%', 'new')})"
        for name, change in sorted(changes.items(), key=lambda item: -abs(item[1]))
        if change
    ]
    most, least = max(changes.values()), min(changes.values())
    verdict = "more work" if most > threshold else "less work" if least < -threshold else "same work"
    return verdict, "; ".join(changed + own)


def _change(before: int, after: int) -> float:
    return 0.0 if before == after else (after - before) / before if before else math.inf


def _own_counters(base: Record, new: Record) -> dict[str, tuple[object, object]]:
    """Return what the algorithm itself counted in both runs, its rounds among it."""
    first, second = ({"rounds": row.shape.rounds, **row.shape.counters} for row in (base, new))
    return {name: (first.get(name), second.get(name)) for name in {**first, **second}}


_SAMPLING = ("target", "min_samples", "max_samples", "time_limit_s", "warmup", "processes")


def sampled_otherwise(base: Record, new: Record) -> str:
    """Return how the sampling of two cells differs, as far as both tell, or nothing."""
    settings = [dict(row.field("sampling") or {}) for row in (base, new)]
    for one in settings:
        if isinstance(one.get("processes"), list):
            one["processes"] = "1" if len(one["processes"]) == 1 else "several"
    known = [(name, *(one[name] for one in settings)) for name in _SAMPLING if all(name in one for one in settings)]
    return "; ".join(f"{name} {base} in BASE, {new} in NEW" for name, base, new in known if base != new)


def _judge(claim: Claim, threshold: float, by_cells: bool) -> Compared:
    """Return the verdict on a cell with times; ``by_cells``: the other cells show how the runs scatter."""
    fewest = min((claim.first, claim.second), key=lambda row: len(row.samples) // row.sources)
    if claim.interval is None:
        return Compared(claim, "unclear", claim.few, math.inf, blind=True)
    low, high = claim.interval
    upper = max(1 + threshold, claim.resolution)
    beyond = "slower" if low > upper else "faster" if high < 1 / upper else ""
    verdict, reason = "unclear", ""
    if beyond and claim.significant and claim.stands_out:
        verdict = beyond
    elif 1 / upper <= low and high <= upper:
        verdict = "same"
    elif beyond and claim.significant and by_cells:
        reason = "other cells scatter as much between the runs"
    elif beyond or claim.drifts:
        reason = claim.doubt
    otherwise = sampled_otherwise(claim.first, claim.second)
    if verdict == "same" and len(fewest.samples) // fewest.sources < LEAST_SAMPLES:
        verdict, reason = "unclear", f"too few samples: {fewest.few}"
    elif otherwise and verdict in ("slower", "faster"):
        verdict, reason = "unclear", f"{verdict}, but sampled differently: {otherwise}"
    return Compared(claim, verdict, reason, claim.visible(threshold), claim.visible() > threshold)


def _mean(made: Sequence[Claim]) -> tuple[float | None, tuple[float, float] | None]:
    """Return the geometric mean of the ratios and its interval."""
    if not made:
        return None, None
    logs = [math.log(one.ratio or 1.0) for one in made]
    mean = sum(logs) / len(made)
    if any(one.interval is None for one in made):
        return math.exp(mean), None
    ends = [
        [log - math.log(i[0]), math.log(i[1]) - log] for log, one in zip(logs, made, strict=True) if (i := one.interval)
    ]
    below, above = (math.hypot(*side) / len(made) for side in zip(*ends, strict=True))
    return math.exp(mean), (math.exp(mean - below), math.exp(mean + above))


def _notices(cells: Sequence[Compared], made: Sequence[Claim]) -> list[str]:
    def processor(row: Record) -> str:
        return str(row.shape.environment.get("processor", ""))

    notices = []
    for what, names in (
        ("device", {(cell.base.device, cell.new.device) for cell in cells if cell.base.ok and cell.new.ok}),
        ("processor", {(processor(one.base), processor(one.new)) for one in cells if one.base.device_kind == "cpu"}),
    ):
        other = [(a, b) for a, b in sorted(names) if a and b and a != b]
        notices += [f"the {what} is not the same: {a} in BASE, {b} in NEW" for a, b in other]
    known: tuple[tuple[str, Callable[[Record], str]], ...] = (
        ("another GPU", lambda row: row.shape.device.uuid or ""),
        ("another machine", lambda row: str(row.shape.environment.get("node") or "")),
    )
    for what, of in known:
        places = [(of(t.first), of(t.second)) for t in made if t.first.device == t.second.device]
        other = [(a, b) for a, b in places if a and b and a != b]
        if other:
            of_all = f"{len(other)} of {counted(len(made), 'cell')}"
            first = f"{other[0][1]} in the place of {other[0][0]}{', to name one' if len(set(other)) > 1 else ''}"
            notices.append(f"NEW ran {of_all} on {what}: {first}")
    if number := sum(bool(sampled_otherwise(t.first, t.second)) for t in made):
        text = f"{counted(number, 'cell')} of NEW sampled differently than in BASE, which alone can change times"
        notices.append(f"{text}: bench both alike")
    if alone := sum(cell.verdict in ("slower", "faster") and not cell.claim.spread for cell in cells):
        text = f"{counted(alone, 'cell')} faster or slower in samples of one process, and processes differ"
        notices.append(f"{text}: bench both with --processes 3 or more to be sure")
    if busy := [row.busy for one in made for row in (one.first, one.second) if row.busy]:
        notices.append(f"in {len(busy)} of {counted(2 * len(made), 'measurement')} {busy[0]}")
    measured = [row for one in made for row in (one.first, one.second)]
    if throttled := sum(bool(row.shape.sampling.throttled_repeated) for row in measured):
        notices.append(f"{counted(throttled, 'cell')} had samples repeated because the GPU throttled")
    return notices


# ------------------------------------------------------------------ which cell belongs to which


@dataclass(frozen=True)
class Unpaired:
    """A cell without a partner, and why."""

    side: str
    record: Record
    reason: str


def pair(base: Sequence[Record], new: Sequence[Record]) -> tuple[list[tuple[Record, Record]], list[Unpaired]]:
    """Return the pairs, in the order of ``base``, and the cells that have none.

    Cells are the same if their ids are.  An id also names the version of the algorithm and the device at hand, so
    what is left is paired by its place in the sweep, then by what was run: problem, graph, algorithm, kind of
    device, parameters and source.
    """
    left, right = list(base), list(new)
    pairs: list[tuple[Record, Record]] = []
    keys: tuple[Callable[[Record], object], ...] = (
        lambda row: row.shape.cell.id,
        lambda row: (row.problem, str(row.shape.cell.sweep), key_text(row.axes)) if row.axes else None,
        _by_content,
    )
    for key in keys:
        partners = _unique(right, key)
        ours = _unique(left, key)
        found = [(row, partners[k]) for k, row in ours.items() if k in partners]
        pairs += found
        taken = {id(row) for both in found for row in both}
        left = [row for row in left if id(row) not in taken]
        right = [row for row in right if id(row) not in taken]
    unpaired = []
    several = "several cells are alike, so that none can be identified"
    for side, rows, other in (("base", left, "NEW"), ("new", right, "BASE")):
        contents = [*map(_by_content, rows)]
        alike = Counter(contents)
        for row, content in zip(rows, contents, strict=True):
            unpaired.append(Unpaired(side, row, several if alike[content] > 1 else f"not in {other}"))
    order = {id(row): i for i, row in enumerate(base)}
    pairs.sort(key=lambda both: order[id(both[0])])
    unpaired += [Unpaired("both", both[1], why) for both in pairs if (why := _other_graph(*both))]
    return [both for both in pairs if not _other_graph(*both)], unpaired


def _unique(rows: Sequence[Record], key: Callable[[Record], object]) -> dict[object, Record]:
    """Return the rows by key; a key that several rows share tells nothing and is left out."""
    keys = [key(row) for row in rows]
    counts = Counter(keys)
    return {k: row for k, row in zip(keys, rows, strict=True) if k is not None and counts[k] == 1}


def _by_content(row: Record) -> tuple[str, ...]:
    asked = key_text(row.parameters), key_text(row.asked_source)
    return row.problem, row.graph_name, row.algorithm, row.device_kind, *asked


def _other_graph(base: Record, new: Record) -> str:
    """Return why two cells of one name are not the same work, or nothing."""
    digests = [row.shape.graph.digest for row in (base, new)]
    if all(digests) and digests[0] != digests[1]:
        return f"the graphs differ: digest {str(digests[0])[:12]} in BASE, {str(digests[1])[:12]} in NEW"
    return ""


_FEW_CELLS = 6  # fewer cells do not show how the machine scatters


def run_scatter(ratios: Sequence[float]) -> float | None:
    """Return the ratio that a cell of this comparison may reach by chance alone; None for too few cells.

    Where a machine does not repeat itself, cells that nobody changed scatter too.  Their deviation is estimated in two
    ways, by the distance of all ratios from their median, and by the distance of those below 1 from 1; the lesser
    counts, for a change of many cells raises one of them and not both.  As it is an estimate from few cells, five
    deviations are taken for chance.

    Args:
        ratios: of all cells, above 1 where slower; the reciprocals give the bound for what became faster.
    """
    if len(ratios) < _FEW_CELLS:
        return None
    logs = np.log(np.asarray(ratios, np.float64))
    spreads = [median(np.abs(logs - median(logs)))]
    if len(below := -logs[logs < 0]) >= _FEW_CELLS // 2:
        spreads.append(median(below))
    return math.exp(5 * NORMAL * min(spreads))
