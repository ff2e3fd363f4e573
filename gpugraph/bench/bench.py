"""One run of the bench: a sweep, the devices that are here, its plan, the run of it, and what that says at the end."""

import contextlib
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any

from gpugraph.base.errors import DeviceUnavailable, GpuGraphError, InputError, Regression, VerificationFailed
from gpugraph.base.quantities import in_seconds
from gpugraph.bench.axes import sampling_settings
from gpugraph.bench.estimate import Prices
from gpugraph.bench.local_workers import LocalWorker, WorkerDied, WorkerProcess
from gpugraph.bench.messages import DescribedDevice, packed, unpacked
from gpugraph.bench.places import Engine, places_of
from gpugraph.bench.plan import Plan
from gpugraph.bench.run import Runner, Totals, Watcher
from gpugraph.bench.store import Store, dated_name, latest_name
from gpugraph.bench.sweep import FINDINGS, Sweep
from gpugraph.measure.sampling import Sampling
from gpugraph.problems import foreign
from gpugraph.problems.foreign import PEER
from gpugraph.records.record import Record
from gpugraph.records.record_file import read_record_file

START_S, PLAN_S = 300.0, 3600.0
"""Seconds that a worker may take to open the devices, and to plan: it may have to fetch data sets for that."""


@dataclass(eq=False)
class Bench:
    """A sweep to be run here; a context manager that opens the file of records, a worker, and the devices.

    Args:
        path: of the file; without one, with ``resume`` the sweep's newest here, else a new one that bears the date.
        retry: go on, and try again what did not go well.
        dry: only plan: the file is read where it is gone on with, and not opened to be written.
        commands: tables of peers that are external commands, as ``--peer-command`` gives them.
        sampled: settings of the sampling in the place of the sweep's.
        on: where cells are measured, as ``--on`` names it; one worker here if not given.
        claims: only the cells that the sweep's expectations need, those of the largest graphs first.

    Attributes:
        sweep, path, store: the sweep with the tables and settings given; the file of records, open unless ``dry``.
        notices, devices: what opening the devices has to tell, and what a worker says of them (``describe_device``).
        finished: ids of cells that are finished though the file does not have them.
        totals: how its run goes, or went.

    Raises:
        InputError: a bad table or setting; on entering, the file cannot be written, or holds results already.
    """

    sweep: Sweep
    path: str = ""
    _: KW_ONLY
    resume: bool = False
    retry: bool = False
    dry: bool = False
    peers: Sequence[str] = ()
    commands: Sequence[str] = ()
    sampled: Mapping[str, object] = field(default_factory=dict)
    on: str | None = None
    claims: bool = False

    def __post_init__(self) -> None:
        if self.claims and not self.sweep.expectations:
            raise InputError("has no expectations", where=self.sweep.path, remedy="leave out --claims")
        self.resume = self.resume or self.retry
        newest = latest_name(self.sweep.name) if self.resume else None
        self.path = self.path or newest or dated_name(self.sweep.name)
        sampling = sampling_settings({**self.sweep.sampling, **self.sampled})
        self.sweep = replace(_with_commands(self.sweep, self.commands), sampling=sampling)
        names = [variant.name for block in self.sweep.blocks for variant in block.variants()]
        self.peers = self.peers or foreign.programs(self.commands, names)
        self.store: Store | None = None
        self.notices: list[str] = []
        self.devices: dict[str, DescribedDevice] = {}
        self.finished: Sequence[str] = ()
        self.totals = Totals()
        self._workers = [LocalWorker()]
        self._engine: Engine | None = None

    def __enter__(self) -> "Bench":
        with contextlib.ExitStack() as stack:
            if not self.dry:
                self.store = stack.enter_context(Store(self.path, resume=self.resume))
            if self.on is not None:
                found = places_of(self.on, self.path)
                self._workers, self._engine = (found, None) if isinstance(found, list) else ([], found)
            if self._engine is not None:
                stack.enter_context(self._engine)
                self.devices = self._engine.open(self)
            else:
                first, *others = self._workers
                ask = {"do": "devices", "names": _device_names(self.sweep, self.peers)}
                first.process = first.start()
                stack.callback(first.drop)
                for worker in () if self.dry else others:  # they open theirs meanwhile; nobody waits for the answers
                    worker.process = worker.start()
                    stack.callback(worker.drop)
                    worker.process.ask(ask)
                self.devices = _answer(first.process, ask, "devices", START_S)["devices"]
            self._stack = stack.pop_all()
        self.notices = [said for device in self.devices.values() if (said := device.get("notice"))]
        self.notices += [f"{name}: {device}" for name, device in self._unusable.items()]
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def _unusable(self) -> dict[str, str]:
        return {name: str(device["unavailable"]) for name, device in self.devices.items() if "unavailable" in device}

    @cached_property
    def plan(self) -> Plan:
        """The cells; DeviceUnavailable where no device of the sweep is here, InputError where it makes no sense."""
        kinds = {name: str(device["kind"]) for name, device in self.devices.items() if "kind" in device}
        if not kinds:
            raise DeviceUnavailable(next(iter(self._unusable.values())))
        if "auto" in kinds:
            kinds[kinds["auto"]] = kinds["auto"]
        with contextlib.ExitStack() as stack:
            first = self._workers[0].process if self._workers else None
            worker = first or stack.enter_context(WorkerProcess())
            of = packed((replace(self.sweep, tables=(), expectations=()), kinds, [*self.peers], self._unusable))
            found = unpacked(_answer(worker, {"do": "plan", "of": of}, "planned", PLAN_S)["plan"])
        if isinstance(found, GpuGraphError):
            raise found
        plan: Plan = found
        if self.claims:
            self._claims = import_module(f"{FINDINGS}.claims").Claims(self.sweep.expectations, plan.cells)
            plan.left_out += Counter({"no expectation needs it": len(plan.cells) - len(self._claims.cells)})
            plan.cells = self._claims.cells
        return plan

    @cached_property
    def prices(self) -> Prices:
        """What cells will need, learnt from the records that are gone on with."""
        stored = self.store.records if self.store else []
        if self.dry and self.resume and os.path.exists(self.path):
            stored = read_record_file(self.path).records
        return Prices(Sampling(**self.sweep.sampling), stored)

    def run(self, watcher: Watcher | None = None) -> Totals:
        """Run the cells that are not finished; each is in the file as soon as it ends, also if Ctrl-C ends the rest."""
        assert self.store is not None, "a bench that only plans"
        devices = {name: device for name, device in self.devices.items() if "kind" in device}
        devices |= {str(device["kind"]): device for name, device in devices.items() if name == "auto"}
        devices |= {name: {"description": {"kind": name.partition(":")[0]}} for name in self._unusable}
        plan, more = self.plan, {"needed": self._claims.need} if self.claims else {}
        runner = Runner(
            self.sweep,
            plan,
            self.store,
            devices,
            self.prices,
            watcher,
            retry=self.retry,
            workers=self._workers,
            engine=self._engine,
            finished=self.finished,
            **more,
        )
        self.totals = runner.totals
        return runner.run()


def _answer(worker: WorkerProcess, request: Mapping[str, object], kind: str, limit_s: float) -> dict[str, Any]:
    """Return a worker's answer of a kind; WorkerDied without one."""
    try:
        answer = worker.answer(request, kind, limit_s)
    except WorkerDied as death:
        death.where = "the worker that plans"
        raise
    if answer is None:
        raise WorkerDied(f"the worker has not answered '{request['do']}' within {in_seconds(limit_s)}")
    return answer


def _with_commands(sweep: Sweep, commands: Sequence[str]) -> Sweep:
    """Make the external commands of a sweep and of the command line known; return the sweep with all of them."""
    if not sweep.peers and not commands:
        return sweep
    for name, table in sweep.peers.items():
        with sweep.document.at("peer", name):
            foreign.peers().register_commands({name: table})
    given = {name: table for text in commands for name, table in foreign.peers().read_tables(text).items()}
    sweep = replace(sweep, peers={**sweep.peers, **given})
    foreign.peers().register_commands(sweep.peers)
    return sweep


def _device_names(sweep: Sweep, peers: Sequence[str]) -> list[str]:
    """Return every device that a sweep names, and those that its peers run on."""
    names, named = list[str](), [f"{PEER}{name}" for name in peers]
    for block in sweep.blocks:
        names += [*map(str, block.axes["device"]), *(one.device for one in block.variants() if one.device)]
        named += [variant.name for variant in block.variants() if variant.name.startswith(PEER)]
    known = {peer["name"]: str(peer["device"]) for peer in foreign.peers().describe_peers()} if named else {}
    return list(dict.fromkeys([*names, *(known[name] for name in named if name in known)]))


_OF_PEERS: dict[str, type[GpuGraphError]] = {
    **dict.fromkeys(("threw", "died", "timeout"), VerificationFailed),
    "refused": InputError,
}
"""Outcomes of peers that end a bench as they end a command with that peer alone: with 1 or 2."""


def judge(totals: Totals) -> None:
    """Raise the error whose exit code the bench ends with: for a wrong result, an exception, or if nothing went well.

    After all of ours a peer that threw or was refused counts as well.
    """
    ours = [
        (planned, record)
        for planned, record in totals.records
        if not record.algorithm.startswith(PEER)
        and not (record.outcome == "wrong" and record.shape.verification.wrong_on_purpose)
    ]
    outcomes = Counter(record.outcome for _, record in ours)
    # An exception of a user's own algorithm is no defect.
    defect = any(record.outcome == "threw" and planned.plugin is None for planned, record in ours)
    worst = {"wrong": VerificationFailed, "threw": GpuGraphError if defect else InputError}
    if ours and not outcomes["ok"]:
        unable = ("failed", "out of memory", "died", "timeout", *(() if totals.resumed else ("skipped",)))
        worst |= {"refused": InputError, **dict.fromkeys(unable, DeviceUnavailable)}
    for outcome, error in worst.items():
        if outcomes[outcome]:
            first = next(record for _, record in ours if record.outcome == outcome)
            where = f"{first.problem} by {first.algorithm} on {first.graph_name}"
            more = f" (and {outcomes[outcome] - 1} more)" if outcome == "wrong" and outcomes[outcome] > 1 else ""
            wrong = f"{first.shape.verification.detail}{more}"
            raise error(wrong if outcome == "wrong" else f"{outcome}: {first.shape.message}", where=where)
    if totals.lost:
        more = f" (and {len(totals.lost) - 1} more)" if len(totals.lost) > 1 else ""
        raise DeviceUnavailable(f"{totals.lost[0]}{more}", remedy="--resume tries its cells again")
    for _, record in totals.records:
        if record.algorithm.startswith(PEER) and record.outcome in _OF_PEERS:
            where = f"{record.problem} by {record.algorithm} on {record.graph_name}"
            raise _OF_PEERS[record.outcome](f"{record.outcome}: {record.shape.message}", where=where)


def judge_findings(sweep: Sweep, records: Sequence[Record]) -> None:
    """Raise Regression for the first expectation that the records do not meet; a paper's own claims never fail."""
    found = (finding for expectation in sweep.expectations for finding in expectation.findings(records))
    missed = [one for one in found if one.failed and not one.where]
    if missed:
        more = f" (and {len(missed) - 1} more)" if len(missed) > 1 else ""
        raise Regression(f"{missed[0].ours}, {missed[0].stated} was expected{more}", where=missed[0].text)
