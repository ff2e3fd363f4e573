"""``run_cell``: measure one cell.

    file or spec → CSRGraph → GraphView → State → Result → Verdict → Record

``gpugraph mst`` is a session of one cell; everything that measures takes this path.  A session keeps
graphs and devices from one group of cells to the next.
"""

import contextlib
import gc
import logging
import math
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpugraph.base import code_cache
from gpugraph.base.clock import PhaseTimer
from gpugraph.base.errors import DeviceUnavailable, GpuGraphError, OutOfMemory
from gpugraph.base.ranks import world
from gpugraph.measure.alone import Alone
from gpugraph.measure.assemble import failed_record, outcome_of, record_of
from gpugraph.measure.cell import Cell, cell_id, check_counts, parse_options, resolve_algorithm
from gpugraph.measure.inputs import CellSetup, InputCache, Progress
from gpugraph.measure.instruments import SpoiledGraph, imported
from gpugraph.measure.measurement import Measurement
from gpugraph.measure.open_device import OpenDevice
from gpugraph.measure.sampling import Sampling
from gpugraph.measure.stopping import Turns
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.registry import load_problem
from gpugraph.records.record import Record

# The cells of one call compete (``Turns``).  A cell ends on its own, and its record is handed over at once.  One
# cell's failure is its own.

_LOG = logging.getLogger("gpugraph")

_STOPPED = {
    "target": "the median is known well enough",
    "time": "their time is up",
    "budget": "the budget is spent",
    "count": "as many as requested",
}


class DeviceLost(DeviceUnavailable):
    """A kernel failed and took the GPU's context with it: only a new process can go on."""


class Session(contextlib.AbstractContextManager["Session"]):
    """Measures cells; graphs and GPU contexts stay between the calls.

    Use it as a context manager, or call ``close``.  Every cell has its own phase timer unless one is given, and
    measures alone unless there are ranks, each of which has such a session.
    """

    def __init__(self, phase_timer: PhaseTimer | None = None, ranks: Alone | None = None) -> None:
        self._phase_timer, self._ranks = phase_timer, ranks or Alone()
        self._inputs = InputCache()
        self._devices: dict[tuple[str, bool], OpenDevice] = {}
        self._described: dict[tuple[str, str], Algorithm] = {}
        self._used = False

    def describe(self, cell: Cell, algorithm: Algorithm) -> None:
        """Take what another process found out about a user's own algorithm, which is then imported only to be run."""
        self._described[cell.problem, cell.algorithm] = algorithm

    def _resolved(self, cell: Cell, graph: object, device_kind: str) -> Algorithm:
        described = self._described.get((cell.problem, cell.algorithm))
        return described or resolve_algorithm(cell, load_problem(cell.problem), graph, device_kind)

    def measure(
        self,
        cells: Sequence[Cell],
        sampling: Sampling,
        progress: Progress,
        finished: Callable[[int, Record], None],
        failed: Callable[[int, Exception], None],
        current: Callable[[int], None] = lambda index: None,
        earlier: Mapping[int, Mapping[str, object]] | None = None,
        until: float = math.inf,
        refine_until: float = math.inf,
    ) -> None:
        """Measure cells that compete, their samples interleaved.

        Args:
            cells: what to measure.
            sampling: how; every cell ends by itself.
            progress: called with a few words whenever something new begins.
            finished: called with a cell's place in ``cells`` and its record as soon as it ends.  A wrong result is a
                record whose outcome says so.
            failed: called with a cell's place and what it raised; the others go on.
            current: called with a cell's place before anything of it runs.
            earlier: by a cell's place the record of the processes that took samples of it before this one.
            until: when all should have ended, as ``time.perf_counter`` shows it.  Cells then end with the samples they
                have.  Those that have none are given up, the first excepted: neither callback is called for them.
            refine_until: likewise, for cells that have the fewest samples.

        Raises:
            DeviceLost, SpoiledGraph: after ``failed`` was called for the cell that lost the GPU, or changed the
                graph.  Cells for which neither ``finished`` nor ``failed`` was called must be measured again, in a
                new process.
        """
        if self._used:
            gc.collect()  # what an earlier call left in cycles may hold device memory
        self._used = True
        turns, runs = Turns(len(cells), sampling), dict[int, Measurement]()
        with contextlib.ExitStack() as at_end:
            at_end.enter_context(code_cache.reporting_compilations_to(progress))
            at_end.callback(runs.clear)
            for index in turns:
                current(index)
                try:
                    begun = index in runs and runs[index].samples
                    if index > 0 and not begun and time.perf_counter() >= until:
                        runs.pop(index, None)
                        turns.ended(index)
                        continue
                    if index not in runs:
                        setup = self._setup(cells[index], progress, self._phase_timer)
                        before = (earlier or {}).get(index)
                        runs[index] = Measurement(setup, sampling, self._inputs, before, self._ranks)
                        runs[index].prepare()
                        turns.begun(index)
                        continue
                    stopped_by = _turn(index, runs, turns, until, refine_until)
                    if stopped_by is None:
                        continue
                    record = record_of(runs.pop(index), stopped_by)
                except Exception as error:  # what a step of a cell raises is that cell's
                    runs.pop(index, None)
                    forget_frames(error)
                    if isinstance(error, OutOfMemory | MemoryError) and turns.tried_later(index):
                        continue
                    turns.ended(index)
                    failed(index, error)
                    self._check_usable(cells[index], error)
                else:
                    turns.ended(index)
                    finished(index, record)

    def _setup(self, cell: Cell, progress: Progress, phase_timer: PhaseTimer | None = None) -> CellSetup:
        return CellSetup(cell, self.device(cell), phase_timer or PhaseTimer(), progress, self._ranks.problem)

    def failed_record(self, cell: Cell, error: BaseException) -> Record:
        """Return the record of a cell that raised an error, which may name its outcome itself."""
        outcome, message = outcome_of(error)
        return failed_record(cell, getattr(error, "outcome", outcome), message, **self.known(cell))

    def _check_usable(self, cell: Cell, error: Exception) -> None:
        """Raise where an error has left this process of no use to any cell."""
        if isinstance(error, SpoiledGraph):
            self._inputs.clear()
            raise error
        open_device = self._devices.get(cell.device_key)
        if open_device is not None and open_device.lost():  # a failed kernel has made the GPU useless to this process
            raise DeviceLost(f"the GPU is lost to this process: {error}", where=cell.device) from error

    def identify(self, cell: Cell, sampling: Sampling, progress: Progress = lambda what: None) -> str:
        """Return the id that the cell's record will have; loads its graph, which stays for the measurement."""
        setup = self._setup(cell, progress)
        with code_cache.reporting_compilations_to(progress):
            graph = self._inputs.load(setup).graph
        algorithm = self._resolved(cell, graph, setup.open_device.device.kind)
        return cell_id(
            cell,
            algorithm,
            parse_options(algorithm, cell.options),
            graph_digest=graph.describe()["digest"],
            device=setup.open_device.description,
            cold=sampling.cold,
        )

    def known(self, cell: Cell) -> dict[str, Any]:
        """Return what is known of a cell without any further work: keyword arguments for ``failed_record``."""
        known: dict[str, Any] = {}
        graph, open_device = self._inputs.peek(cell), self._devices.get(cell.device_key)
        if graph is not None:
            known["graph"] = graph.describe()
        if open_device is not None:
            known["device"] = open_device.description
        if graph is not None and open_device is not None:
            with contextlib.suppress(GpuGraphError):  # it may be what failed
                found = self._resolved(cell, graph, open_device.device.kind)
                source = {"authors": found.authors, "year": found.year, "section": found.section}
                known["algorithm"] = {"name": found.name, "source": source}
        return known

    def device(self, cell: Cell) -> OpenDevice:
        """Return the cell's device, opened if it is not yet; InputError and DeviceUnavailable say why it cannot be."""
        key = cell.device_key
        if key not in self._devices:
            opened = self._devices[key] = self._ranks.open_device(cell.device, profile=cell.profile)
            why = "requested" if key[0] != "auto" else opened.notice or "the first GPU that can be used"
            _LOG.info("device %s (%s): %s", opened.device.kind, opened.description.get("name"), why)
        return self._devices[key]

    def close(self) -> None:
        """Free every graph and every device."""
        self._inputs.clear()
        self._ranks.close()
        while self._devices:
            self._devices.popitem()[1].device.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def _turn(index: int, runs: dict[int, Measurement], turns: Turns, until: float, refine_until: float) -> str | None:
    """Let a cell take its turn; return why it ends, or None."""
    run = runs[index]
    end = time.perf_counter() + sum(other.ending_s for other in runs.values())
    least = run.samples >= run.stopping.share.min_samples and run.stopping.starts_suffice
    time_is_up = run.samples > 0 and end >= (min(until, refine_until) if least else until)
    if not time_is_up and turns.takes_sample(index):
        run.sample()
    reason = ("time" if least else "budget") if time_is_up else run.stopping.reason()
    stopped_by = turns.end_of(index, reason, lambda other: runs[other].stopping.is_narrow)
    if stopped_by is not None:
        _LOG.info("%s: stopped after %s samples, %s", run.algorithm.name, run.samples, _STOPPED[stopped_by])
    return stopped_by


def forget_frames(error: BaseException | None) -> None:
    """Let go of what the frames of an exception hold, device arrays above all; where it was raised stays known."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def run_cell(
    cell: Cell,
    progress: Progress = lambda what: None,
    sampling: Sampling | None = None,
    phase_timer: PhaseTimer | None = None,
) -> Record:
    """Return the record of one cell, measured; a failed verification is a record that says so, and no exception.

    ``progress`` is called with a few words whenever something new begins.  Without a ``sampling`` the cell says how
    many samples are taken; one to be profiled is run once.  A phase timer begins now if none is given.

    Raises:
        InputError: bad graph, names or parameters.
        DeviceUnavailable, OutOfMemory: the device cannot do it.
    """
    check_counts(cell)
    phase_timer = PhaseTimer("start") if phase_timer is None else phase_timer
    if sampling is None:
        sampling = replace(Sampling.of(cell.repeat, cell.warmup), bandwidth=None if cell.phases else False)
    if cell.profile:
        sampling = replace(sampling, min_samples=1, max_samples=1, warmup=0, energy=False, bandwidth=False)
    records = dict[int, Record]()
    errors = dict[int, Exception]()
    comm = world()
    ranks = None if comm is None else imported("ranks")(comm)
    with Session(phase_timer, ranks) as session:
        session.measure([cell], sampling, progress, records.__setitem__, errors.__setitem__)
    if errors:
        raise errors[0]
    return records[0].with_phases(phase_timer)
