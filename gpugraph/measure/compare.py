"""Two runs of the same cells side by side: which became faster, which slower, and of which one cannot tell.

A cell counts as slower only if all hold: the bootstrap interval of the ratio of median kernel times lies wholly
beyond the threshold; the Mann–Whitney test, corrected by Holm for the number of cells, is significant; and every
quarter of NEW is beyond the threshold against every quarter of BASE.  The test alone would find the drift between any
two processes, the threshold alone would take noise for change, and both would take a run that drifts for one that
changed.  Where both runs spread the cell over several processes, these take the place of samples and of quarters:
interval and test are Student's, over the medians of the processes, whose scatter no number of samples in one shows.
On a machine that does not repeat itself all ratios scatter; a cell must stand out of that too.
"""

from __future__ import annotations

import json
import math
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpugraph.errors import InputError
from gpugraph.measure.columns import Labelled, problem_columns
from gpugraph.measure.record import EMULATED, LEAST_SAMPLES, Record
from gpugraph.measure.statistics import (
    RATIO_RESAMPLES,
    holm,
    least_p,
    median_draws,
    part_medians,
    rank_test,
    ratio_of_spreads,
    run_scatter,
)
from gpugraph.quantities import counted

ALPHA = 0.05
"""Probability that the rank tests of a comparison, all cells together, are significant by chance."""

LEVEL = 0.95
RESOLUTION_S = 1e-6
"""Differences below the tick of the devices' clocks are none."""

VERDICTS = ("slower", "broken", "different result", "faster", "repaired", "same", "unclear", "not compared")
REGRESSIONS = ("slower", "broken", "different result")


@dataclass(frozen=True, eq=False)
class Compared:
    """One cell in both runs.

    Attributes:
        base, new: its two records.
        verdict: one of ``VERDICTS``.
        reason: what a reader should know beside the figures.
        ratio: median of NEW over median of BASE, above 1 where NEW is slower; None where there are no times.
        interval: its 95 % bootstrap interval.
        p_value: of the test, corrected for the number of cells.
        spread: both runs spread the cell over several processes.
    """

    base: Record
    new: Record
    verdict: str
    reason: str = ""
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    p_value: float | None = None
    spread: bool = False


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two runs compared.

    Attributes:
        cells: those that both runs have, in the order of BASE.
        unpaired: those that only one has.
        threshold: relative change below which nothing changed, 0.05 for 5 %.
        geometric_mean: of the ratios; None where there are none.
        mean_interval: its 95 % bootstrap interval.
        notices: what holds of the comparison as a whole.
    """

    cells: list[Compared]
    unpaired: list[Unpaired]
    threshold: float
    geometric_mean: float | None
    mean_interval: tuple[float, float] | None
    notices: list[str] = field(default_factory=list)

    @property
    def regressions(self) -> list[Compared]:
        """The cells that became slower, broke, or give another result."""
        return [cell for cell in self.cells if cell.verdict in REGRESSIONS]


@dataclass(frozen=True, eq=False)
class Timed:
    """A pair with times: the ratio and what the draws say of it.

    Attributes:
        ratio: median of NEW over median of BASE.
        draws: of that ratio, (resamples,).
        interval: its 95 % interval.
        p_value: of the test that neither tends to be larger, for this pair alone.
        by_part: the least and the greatest ratio of a part of NEW to one of BASE, processes or quarters.
        spread: both spread the cell over several processes.
    """

    base: Record
    new: Record
    ratio: float
    draws: np.ndarray[tuple[int], np.dtype[np.float64]]
    interval: tuple[float, float]
    p_value: float
    by_part: tuple[float, float]
    spread: bool


def compare(base: Sequence[Record], new: Sequence[Record], *, threshold: float = 0.05) -> Comparison:
    """Compare two runs.

    Args:
        base: records of the run that sets the standard.
        new: records of the run that is judged.
        threshold: relative change of the median kernel time that matters, above 0.

    Raises:
        InputError: no cell is in both runs, or the threshold is not above 0.
    """
    if not 0 < threshold < math.inf:
        raise InputError(f"the threshold {threshold:g} is not above 0", remedy="give e.g. --threshold 5%")
    pairs, unpaired = pair(base, new)
    if not pairs:
        raise InputError(
            "the two runs have no cell in common",
            remedy="give two runs of the same sweep or command; --by algorithm ranks what did the same work",
        )
    untimed = {id(both[0]): _without_times(*both) for both in pairs}
    timed = [time_pair(*both) for both in pairs if untimed[id(both[0])] is None]
    corrected = dict(zip((id(t.base) for t in timed), holm([t.p_value for t in timed]), strict=True))
    ratios = [t.ratio for t in timed]
    scatter = run_scatter(ratios), run_scatter([1 / ratio for ratio in ratios])
    judged = {id(t.base): _judge(t, corrected[id(t.base)], threshold, len(timed), scatter) for t in timed}
    cells = [untimed[id(one)] or judged[id(one)] for one, _ in pairs]
    mean, mean_interval = _mean(timed)
    return Comparison(cells, unpaired, threshold, mean, mean_interval, _notices(cells, timed))


def _without_times(base: Record, new: Record) -> Compared | None:
    """Return the verdict on a pair of which not both have times to compare, or None if both do."""
    if "skipped" in (base.outcome, new.outcome):
        side, row = ("BASE", base) if base.outcome == "skipped" else ("NEW", new)
        return Compared(base, new, "not compared", f"skipped in {side}: {row.message}".rstrip(": "))
    if not new.ok:
        said = f"{new.outcome}: {new.message}".rstrip(": ")
        return Compared(base, new, "broken", said) if base.ok else Compared(base, new, "not compared", f"both: {said}")
    if not base.ok:
        return Compared(base, new, "repaired", f"was {base.outcome}: {base.message}".rstrip(": "))
    cells = Labelled.alone(base), Labelled.alone(new)
    for column in problem_columns(cells):
        first, second = (column.value(cell) for cell in cells)
        if column.identifies and first and second and first != second:
            name = column.name.rpartition(".")[2]
            return Compared(base, new, "different result", f"{name} differs on the same graph")
    if "emulated" in (base.device_kind, new.device_kind):
        return Compared(base, new, "not compared", EMULATED.partition(";")[0])
    if not usable(base) or not usable(new):
        return Compared(base, new, "not compared", "there are no samples")
    cold = [bool(row.shape.sampling.cold) for row in (base, new)]
    if cold[0] != cold[1]:
        side = "BASE" if cold[0] else "NEW"
        return Compared(base, new, "not compared", f"only {side} flushed the caches before every sample")
    return None


_SAMPLING = ("target", "min_samples", "max_samples", "time_limit_s", "warmup", "processes")


def sampled_otherwise(base: Record, new: Record) -> str:
    """Return how the sampling of two cells differs, as far as both tell, or nothing."""
    told = [dict(row.data.get("sampling") or {}) for row in (base, new)]
    for one in told:
        if isinstance(one.get("processes"), list):
            one["processes"] = "1" if len(one["processes"]) == 1 else "several"
    both = [name for name in _SAMPLING if name in told[0] and name in told[1]]
    parts = [
        f"{name} {told[0][name]} in BASE, {told[1][name]} in NEW" for name in both if told[0][name] != told[1][name]
    ]
    return "; ".join(parts)


def usable(row: Record) -> bool:
    """Tell whether a record has samples to compare."""
    return bool(row.samples) and all(0 < sample < math.inf for sample in row.samples)


def time_pair(base: Record, new: Record) -> Timed:
    """Return the ratio of two cells' medians, its draws and the test; both must have times (``usable``)."""
    first, second = _levelled(base, new)
    # One seed for all runs would tie the cells' draws together; the cell's own makes every comparison repeatable.
    rng = np.random.default_rng(zlib.crc32(f"{base.problem} {base.graph_name} {base.algorithm} {base.device}".encode()))
    parts = [
        [float(np.median(part)) for part in row.by_process(samples)] for row, samples in ((base, first), (new, second))
    ]
    spread = len(parts[0]) > 1 and len(parts[1]) > 1
    if spread:
        from scipy.special import stdtr

        middle, error, freedom = ratio_of_spreads(*parts)
        ratio, draws = math.exp(middle), _exp(middle + error * rng.standard_t(freedom, RATIO_RESAMPLES))
        p_value = 2 * float(stdtr(freedom, -abs(middle) / error)) if error else float(middle == 0)
    else:
        ratio = float(np.median(second) / np.median(first))
        draws = median_draws(second, rng) / median_draws(first, rng)
        p_value = rank_test(first, second)
        parts = [part_medians(first), part_medians(second)]
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    interval = (min(float(low), ratio), max(float(high), ratio))
    by_part = min(parts[1]) / max(parts[0]), max(parts[1]) / min(parts[0])
    return Timed(base, new, ratio, draws, interval, p_value, by_part, spread)


def _exp(logs: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return e to the power of each, as far as floats go: the tails of Student's t are long."""
    return np.exp(np.clip(logs, -300, 300))


def _levelled(base: Record, new: Record) -> tuple[Sequence[float], Sequence[float]]:
    """Return both cells' samples, each source's divided by its median in BASE.

    Sources differ in their work, and their spread would hide any change; the samples of a cell with several sources
    stand source by source.
    """
    sources = base.sources
    if sources < 2 or sources != new.sources:
        return base.samples, new.samples
    groups = [np.reshape(row.samples, (sources, -1)) for row in (base, new)]
    level = np.median(groups[0], axis=1, keepdims=True)
    first, second = ((group / level).ravel().tolist() for group in groups)
    return first, second


def _judge(timed: Timed, p_value: float, threshold: float, cells: int, scatter: tuple[float, float]) -> Compared:
    low, high = timed.interval
    seconds = timed.base.kernel_s or float(np.median(timed.base.samples))
    margin = RESOLUTION_S / seconds
    upper = 1 + max(threshold, margin)
    lower = 1 / upper
    significant = p_value < ALPHA
    reason = ""
    least, most = timed.by_part
    otherwise = sampled_otherwise(timed.base, timed.new)
    stands_out = timed.ratio > scatter[0] if low > upper else 1 / timed.ratio > scatter[1]
    if low > upper and significant and least > upper and stands_out:
        verdict = "slower"
    elif high < lower and significant and most < lower and stands_out:
        verdict = "faster"
    elif lower <= low and high <= upper:
        verdict = "same"
    else:
        verdict = "unclear"
        counts = len(timed.base.samples), len(timed.new.samples)
        if (low > upper or high < lower) and not timed.spread and least_p(*counts) * cells >= ALPHA:
            reason = f"too few samples: {counts[0]} and {counts[1]} prove nothing among {cells} cells"
        elif low > upper or high < lower:
            drift = "the times differ as much between the processes" if timed.spread else "the times drift within a run"
            drift = drift if stands_out else "other cells scatter as much between the runs"
            reason = drift if significant else "the test is not significant"
    fewest = min((timed.base, timed.new), key=lambda row: len(row.samples) // row.sources)
    if verdict == "same" and len(fewest.samples) // fewest.sources < LEAST_SAMPLES:
        verdict, reason = "unclear", f"too few samples: {fewest.few}"
    elif otherwise and verdict in ("slower", "faster"):
        reason = f"{verdict}, but sampled otherwise: {otherwise}"
        verdict = "unclear"
    return Compared(timed.base, timed.new, verdict, reason, timed.ratio, timed.interval, p_value, timed.spread)


def _mean(timed: Sequence[Timed]) -> tuple[float | None, tuple[float, float] | None]:
    """Return the geometric mean of the ratios and its interval."""
    if not timed:
        return None, None
    logs = np.zeros(RATIO_RESAMPLES)
    for one in timed:
        logs += np.log(one.draws)
    low, high = np.exp(np.quantile(logs / len(timed), [(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
    mean = math.exp(sum(math.log(one.ratio) for one in timed) / len(timed))
    return mean, (min(float(low), mean), max(float(high), mean))


def _notices(cells: Sequence[Compared], timed: Sequence[Timed]) -> list[str]:
    notices = []
    for what, names in (
        ("device", {(cell.base.device, cell.new.device) for cell in cells if cell.base.ok and cell.new.ok}),
        ("processor", {_processors(cell) for cell in cells if cell.base.device_kind == "cpu"}),
    ):
        notices += [f"the {what} is not the same: {a} in BASE, {b} in NEW" for a, b in sorted(names) if a != b]
    for what, of in (("another GPU", _gpu), ("another machine", _node)):
        told = [(of(t.base), of(t.new)) for t in timed if t.base.device == t.new.device]
        other = [(a, b) for a, b in told if a and b and a != b]
        if other:
            of_all = f"{len(other)} of {counted(len(timed), 'cell')}"
            first = f"{other[0][1]} in the place of {other[0][0]}{', to name one' if len(set(other)) > 1 else ''}"
            notices.append(f"NEW ran {of_all} on {what}: {first}")
    if number := sum(bool(sampled_otherwise(t.base, t.new)) for t in timed):
        text = f"{counted(number, 'cell')} of NEW sampled otherwise than in BASE, which alone can change times"
        notices.append(f"{text}: bench both alike")
    alone = sum(cell.verdict in ("slower", "faster") and not cell.spread for cell in cells)
    if alone:
        text = f"{counted(alone, 'cell')} faster or slower by the word of one process, and processes differ"
        notices.append(f"{text}: bench both with --processes 3 or more to be sure")
    throttled = sum(
        bool((row.data.get("sampling") or {}).get("throttled_repeated")) for t in timed for row in (t.base, t.new)
    )
    if throttled:
        notices.append(f"{throttled} cells had samples repeated because the GPU throttled")
    return notices


def _gpu(row: Record) -> str:
    return row.shape.device.uuid or ""


def _node(row: Record) -> str:
    return str(row.shape.environment.get("node") or "")


def _processors(cell: Compared) -> tuple[str, str]:
    names = [str(row.shape.environment.get("processor", "")) for row in (cell.base, cell.new)]
    return (names[0], names[1]) if all(names) else ("", "")


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
    keys: tuple[Callable[[Record], Any], ...] = (_by_id, _by_place, _by_content)
    for key in keys:
        partners = _unique(right, key)
        ours = _unique(left, key)
        found = [(row, partners[k]) for k, row in ours.items() if k in partners]
        pairs += found
        taken = {id(row) for both in found for row in both}
        left = [row for row in left if id(row) not in taken]
        right = [row for row in right if id(row) not in taken]
    unpaired = [Unpaired("base", row, _alone(row, left, "NEW")) for row in left]
    unpaired += [Unpaired("new", row, _alone(row, right, "BASE")) for row in right]
    order = {id(row): i for i, row in enumerate(base)}
    pairs.sort(key=lambda both: order[id(both[0])])
    same = [both for both in pairs if not _other_graph(*both)]
    unpaired += [Unpaired("both", both[1], _other_graph(*both)) for both in pairs if _other_graph(*both)]
    return same, unpaired


def _unique(rows: Sequence[Record], key: Callable[[Record], Any]) -> dict[Any, Record]:
    """Return the rows by key; a key that several rows share tells nothing and is left out."""
    keys = [key(row) for row in rows]
    counts = Counter(keys)
    return {k: row for k, row in zip(keys, rows, strict=True) if k is not None and counts[k] == 1}


def _by_id(row: Record) -> str | None:
    return row.shape.cell.id


def _by_place(row: Record) -> tuple[str, ...] | None:
    if not row.axes:
        return None
    sweep = row.shape.cell.sweep
    return row.problem, str(sweep), _text(row.axes)


def _by_content(row: Record) -> tuple[str, ...]:
    return row.problem, row.graph_name, row.algorithm, row.device_kind, _text(row.parameters), _text(row.asked_source)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _alone(row: Record, rows: Sequence[Record], other: str) -> str:
    if sum(_by_content(row) == _by_content(one) for one in rows) > 1:
        return "several cells are alike, so that none can be told from the others"
    return f"not in {other}"


def _other_graph(base: Record, new: Record) -> str:
    """Return why two cells of one name are not the same work, or nothing."""
    digests = [row.shape.graph.digest for row in (base, new)]
    if all(digests) and digests[0] != digests[1]:
        return f"the graphs differ: digest {str(digests[0])[:12]} in BASE, {str(digests[1])[:12]} in NEW"
    return ""
