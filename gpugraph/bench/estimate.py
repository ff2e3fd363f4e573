"""Estimates of the memory and the time of cells, and the budget that limits them.

It is foretold from stored results, from declared traffic, or from plain rates.

The figures are rough on purpose: they order cells, warn, and keep a sweep inside its budget, which corrects them by
what the cells before really took.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from gpugraph.base.host import usable_cores
from gpugraph.base.quantities import in_seconds
from gpugraph.bench.plan import Declared, Planned
from gpugraph.measure.cell import Cell
from gpugraph.measure.sampling import PATIENCE, PROCESSES, Sampling
from gpugraph.problems import foreign
from gpugraph.problems.contract import REFERENCE_LIMIT, Input
from gpugraph.problems.foreign import PEER
from gpugraph.records.record import Record

ARCS_PER_S = {"cpu": 20e6, "cuda": 2e9, "emulated": 200e3}
BYTES_PER_S = {"cpu": 5e9, "cuda": 1e12, "emulated": 2e6}
"""What algorithms reach where nothing is known of them: a little below what most do."""

PEER_SLOWER, COMMAND_S = 20.0, 0.2
"""Other people's programs: so many times slower, for many read a file or run in Python; and seconds to start one."""

OPENED_ARCS_PER_S = 3e6
"""For each core: to generate or to read a graph."""

CHECKED_ARCS_PER_S = 4e6
CERTIFIED_ARCS_PER_S = 3e6
"""For each core: to check distances, or a forest on the host, without an oracle."""

CHECKED_ON_DEVICE_ARCS_PER_S = 500e6
SETUP_S = {"cpu": 0.3, "cuda": 0.7, "emulated": 3.0}
USUAL_SAMPLES = 30
"""Samples until the interval is narrow, more or less."""


@dataclass(frozen=True)
class Need:
    """What a cell will need: seconds of its own and to open the graph (shared), bytes at the peak on host and GPU.

    ``least_s``: with the fewest samples.  ``basis``: the source, ``"results"``, ``"traffic"`` or ``"rates"``.
    """

    seconds: float
    least_s: float
    opening_s: float
    host_bytes: int
    device_bytes: int
    basis: str


FEW_ARCS = 1 << 14
"""With fewer arcs a run takes about as long as with so many: what takes the time is starting it."""


class Prices:
    """Foretells what cells will need, from how they will be sampled and from stored records."""

    def __init__(self, sampling: Sampling, records: Sequence[Record] = ()):
        self._sampling = sampling
        self._known: dict[tuple[str, ...], list[tuple[int, float, int]]] = {}
        for record in records:
            self.learn(record)

    def learn(self, record: Record) -> None:
        """Take the figures of a record into account."""
        shape = record.shape
        kernel, arcs = shape.phases_s.get("kernel"), shape.graph.arcs
        if record.ok and kernel and arcs:
            warmup = 0 if record.algorithm.startswith(PEER) else shape.sampling.warmup or 0
            taken = len(shape.samples_s.kernel or ())
            sample_s = max(kernel, (shape.sampling.spent_s or 0.0) / (taken + warmup) if taken else 0.0)
            figures = (arcs, sample_s, shape.peak_device_bytes or 0)
            for key in ((shape.problem, shape.algorithm, shape.device.kind or ""), *_series(shape.cell.series)):
                self._known.setdefault(key, []).append(figures)

    def need(self, planned: Planned) -> Need:
        """Return what a cell will need."""
        size, kind, cell, times = planned.size, planned.kind, planned.cell, self._sampling.processes
        declared = _declared(planned)
        arcs, runs = max(size.arcs, 1), _sources(cell)
        keys = (*_series(cell.series), planned.algorithm_key)
        known = next((self._known[key] for key in keys if key in self._known), None)
        nearest = min(known, key=lambda one: abs(one[0] - size.arcs)) if known else None
        sample_s, basis = _sample_s(planned, declared, nearest)
        least, limit_s = self._sampling.min_samples, self._sampling.time_limit_s
        counts = (min(max(least, USUAL_SAMPLES), self._sampling.max_samples), least)
        sampled_s = [min(limit_s, samples * sample_s * runs) for samples in counts]
        runs_once = 1 + self._sampling.warmup + 3 * (cell.phases and not cell.algorithm.startswith(PEER))
        if _is_command(planned):  # which warms itself
            started_s = min(PATIENCE * limit_s, min(PROCESSES, counts[0]) * sample_s)
            sampled_s, runs_once = [max(one, started_s) for one in sampled_s], 1
        once_s = SETUP_S[kind] + runs_once * sample_s
        checked_s = 0.0 if cell.verify == "none" else runs * arcs / _checked_per_s(declared, arcs, kind)
        usual_s, least_s = ((once_s + checked_s) * times + one for one in sampled_s)
        device_bytes = 0
        if kind != "cpu" and nearest is not None and nearest[2]:
            device_bytes = nearest[2] * arcs // nearest[0]
        elif kind != "cpu":
            state_bytes = size.state_bytes if declared.state_bytes is None else declared.state_bytes
            device_bytes = declared.view_bytes + size.extra_bytes + state_bytes
        return Need(
            seconds=usual_s,
            least_s=least_s,
            opening_s=(0.1 + arcs / (OPENED_ARCS_PER_S * usable_cores())) * times,
            host_bytes=host_bytes(planned) + (device_bytes if kind == "emulated" else 0),
            device_bytes=device_bytes,
            basis=basis,
        )


def _series(series: str | None) -> list[tuple[str, ...]]:
    """Return the keys of a series' figures, and of those of its algorithm with the same options on any graphs."""
    return [(series,), (" · ".join(series.split(" · ")[:3]),)] if series else []


def _declared(planned: Planned) -> Declared:
    if planned.declared is not None:
        return planned.declared
    from gpugraph.bench.expand import declared_of  # which imports the algorithm

    return declared_of(planned)


def _sample_s(planned: Planned, declared: Declared, nearest: tuple[int, float, int] | None) -> tuple[float, str]:
    """Return the seconds of one sample, and where they come from."""
    arcs, kind = max(planned.size.arcs, 1), planned.kind
    if nearest is not None:
        return nearest[1] * max(max(arcs, FEW_ARCS) / max(nearest[0], FEW_ARCS), 0.05), "results"
    if planned.cell.algorithm.startswith(PEER):
        return COMMAND_S * _is_command(planned) + PEER_SLOWER * arcs / ARCS_PER_S[kind], "rates"
    if declared.minimum_bytes is not None:
        return 2e-5 + declared.minimum_bytes / BYTES_PER_S[kind], "traffic"
    return 2e-5 + arcs / ARCS_PER_S[kind], "rates"


def _is_command(planned: Planned) -> bool:
    """Return whether a cell's algorithm is an external program."""
    name = planned.cell.algorithm
    return name.startswith(PEER) and name.removeprefix(PEER) not in foreign.peers().LIBRARIES


def making_bytes(planned: Planned) -> int:
    """Return the peak of host memory to make or read an input; a GPU makes it if the host need not change it."""
    cell, size = planned.cell, planned.size
    changed = cell.read.weights != "file" or cell.read.symmetrize or cell.preparations
    if planned.kind != "cuda" or size.fed_bytes is None or changed or cell.verify in ("reference", "both"):
        return size.making_bytes
    return size.fed_bytes


def host_bytes(planned: Planned) -> int:
    """Return the bytes of host memory that a cell takes at the peak."""
    made, size = making_bytes(planned), planned.size
    return max(made, size.nbytes + size.state_bytes) if planned.kind == "cpu" else made


def _checked_per_s(declared: Declared, arcs: int, kind: str) -> float:
    """Return how many arcs are checked in a second: by an oracle where that is quicker, else without one."""
    if arcs <= 2 * REFERENCE_LIMIT and declared.oracle:
        return CHECKED_ARCS_PER_S
    if kind == "cuda" and declared.on_device:
        return CHECKED_ON_DEVICE_ARCS_PER_S
    return CERTIFIED_ARCS_PER_S * usable_cores()


def _sources(cell: Cell) -> int:
    """Return how many queries a cell runs."""
    source = str(cell.source or "")
    count = source.removeprefix("random:")
    return int(count) if source.startswith("random:") and count.isdecimal() else 1


class Budget:
    """The seconds that cells may take; prices are corrected by what cells really took.

    ``budget_s`` is for the cells of each device, times the number of ``workers``, or with ``by_clock`` for all cells
    since the command ``began``, on the clock of ``time.perf_counter``, or from now on.  ``processes``: over how many a
    cell's samples are spread.
    """

    def __init__(
        self,
        budget_s: float,
        prices: Prices,
        processes: int,
        workers: int = 1,
        *,
        by_clock: bool = False,
        began: float | None = None,
    ):
        self._budget_s, self._prices, self._processes, self._workers = budget_s, prices, processes, workers
        self._until = (time.perf_counter() if began is None else began) + budget_s if by_clock else None
        self._spent_s: dict[str, float] = defaultdict(float)
        self._pace: dict[str, float] = defaultdict(lambda: 1.0)
        self._opening_pace = 1.0
        self._left: list[Planned] = []
        self._needs: dict[int, Need] = {}
        self._sharing: Counter[Input] = Counter()

    def expect(self, cells: Sequence[Planned]) -> None:
        """Take note of the cells that are to be run."""
        self._left = list(cells)
        self._needs = {id(planned): self._prices.need(planned) for planned in cells}
        self._sharing.update(planned.cell.input for planned in cells)

    def obstacle(self, planned: Planned, begun: int, *, first: bool) -> str | None:
        """Return why there is no time left for a cell, or None if there is.

        ``begun`` processes have taken their samples of it already.  The ``first`` cell is tried whatever it is said to
        take.
        """
        device, need = planned.cell.device, self._prices.need(planned)
        left_s = self._left_s(device)
        if left_s <= 0 and not first:
            whose = "" if self._until is not None else f" for {device}"
            return f"the budget of {in_seconds(self._budget_s)}{whose} is spent"
        price_s = self._least_s(planned, need) * (1 - begun / self._processes)
        if price_s > left_s and not first:
            return f"would take about {in_seconds(price_s)}, {in_seconds(left_s)} of the budget are left"
        return None

    def fitting(self, cells: list[Planned]) -> tuple[list[Planned], list[Planned]]:
        """Return the first cells that the seconds left suffice for together, one at least, and the others."""
        sum_s = 0.0
        for at, planned in enumerate(cells):
            sum_s += self._least_s(planned, self._prices.need(planned))
            if at and sum_s > self._left_s(planned.cell.device):
                return cells[:at], cells[at:]
        return cells, []

    def _left_s(self, device: str) -> float:
        """Return the seconds that are left for a device: on the clock, or of the budget of all workers."""
        if self._until is not None:
            return self._until - time.perf_counter()
        return self._budget_s * self._workers - self._spent_s[device]

    def _least_s(self, planned: Planned, need: Need) -> float:
        """Return the seconds that a cell takes with the fewest samples, with its share of opening the graph."""
        opening_s = need.opening_s * self._opening_pace / max(self._sharing[planned.cell.input], 1)
        return need.least_s * self._pace[planned.cell.device] + opening_s

    def seconds_for(self, cells: Sequence[Planned]) -> dict[str, float]:
        """Return items of a request to a worker: ``refine_s``, and of a budget by the clock what is left, ``left_s``.

        ``refine_s`` is what the fewest samples of all other cells leave of the budget, in order, as far as they fit.
        """
        clock, own, left_s = self._until is not None, {id(planned) for planned in cells}, dict[str, float]()
        for planned in (*cells, *self._left):
            device = "" if clock else planned.cell.device
            if id(planned) in own:
                left_s.setdefault(device, self._left_s(device) * (self._workers if clock else 1))
            elif (least_s := self._least_s(planned, self._needs[id(planned)])) <= left_s.get(device, 0.0):
                left_s[device] -= least_s
        by_clock = {"left_s": self._left_s("")} if clock else {}
        return {"refine_s": sum(left_s.values()) / self._workers, **by_clock}

    def charge(
        self, cells: Sequence[Planned], own_s: Sequence[float], elapsed_s: float, expected: Sequence[Need] | None
    ) -> None:
        """Book seconds: each cell's own to its device, the rest of ``elapsed_s`` to all devices alike.

        Where one process did all of what was ``expected``, prices are corrected, the more the longer the cells took.
        """
        shared_s = elapsed_s - sum(own_s)
        by_device: dict[str, list[int]] = defaultdict(list)
        for index, planned in enumerate(cells):
            by_device[planned.cell.device].append(index)
        for device, places in by_device.items():
            self._spent_s[device] += sum(own_s[i] for i in places) + max(shared_s, 0.0) / len(by_device)
            if expected is not None:
                foreseen_s = sum(expected[i].seconds for i in places if own_s[i]) / self._processes
                self._pace[device] = _corrected(self._pace[device], sum(own_s[i] for i in places), foreseen_s)
        if expected is not None:
            opening_s = max(need.opening_s for need in expected) / self._processes
            self._opening_pace = _corrected(self._opening_pace, shared_s, opening_s)

    def ended(self, planned: Planned, record: Record) -> float:
        """Learn from a cell's record; return about how many seconds the rest will take, as far as the budget allows."""
        self._prices.learn(record)
        self._left = [other for other in self._left if other is not planned]
        alike = [other for other in self._left if other.algorithm_key == planned.algorithm_key]
        self._needs |= {id(other): self._prices.need(other) for other in alike}
        wanted: dict[str, float] = defaultdict(float)
        for other in self._left:
            wanted[other.cell.device] += self._needs[id(other)].seconds * self._pace[other.cell.device]
        if self._until is not None:
            return min(sum(wanted.values()), max(self._left_s(""), 0.0) * self._workers)
        return sum(min(seconds, max(self._left_s(device), 0.0)) for device, seconds in wanted.items())


def _corrected(pace: float, took_s: float, foreseen_s: float) -> float:
    """Return a pace half way to what was just seen, which is believed within a factor of five."""
    return (pace + min(max(took_s / foreseen_s, 0.2), 5.0)) / 2 if foreseen_s > 0 and took_s > 0 else pace
