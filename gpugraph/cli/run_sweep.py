"""``gpugraph bench`` from its options to its exit code."""

from __future__ import annotations

import contextlib
import os
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpugraph.bench.expand import Plan, expand_sweep
from gpugraph.bench.price import Prices
from gpugraph.bench.process import WorkerDied, WorkerProcess
from gpugraph.bench.read import read_sweep, shipped
from gpugraph.bench.settings import parse_settings, sampling_settings
from gpugraph.bench.store import Store, dated_name, latest_name, read_records
from gpugraph.bench.sweep import Sweep
from gpugraph.cli.defaults import defaults
from gpugraph.cli.output import check_destination, show, show_lines, tell
from gpugraph.cli.progress import Progress
from gpugraph.errors import DeviceUnavailable, GpuGraphError, InputError, VerificationFailed
from gpugraph.measure.sampling import Sampling
from gpugraph.quantities import in_seconds, parse_seconds
from gpugraph.report.units import counted

START_S = 300.0
"""Seconds that a worker may take to open the devices."""


def run_bench(
    *,
    sweep: str,
    settings: tuple[str, ...],
    budget: str | None,
    peers: tuple[str, ...],
    commands: tuple[str, ...],
    save: str | None,
    resume: bool,
    retry: bool,
    cold: bool,
    energy: bool,
    processes: int | None,
    list_: bool,
    dry_run: bool,
    sweeps: bool,
    quiet: bool,
) -> None:
    """Run a sweep, or show what it would do.

    Raises:
        VerificationFailed: after everything was stored and shown, where a result is wrong.
        InputError, DeviceUnavailable: the sweep cannot be run.
    """
    if sweeps:
        show("\n".join(f"{name:<22} {read_sweep(name).title}" for name in shipped()))
        return
    read = _read(sweep, settings, budget, commands, cold=cold, energy=energy, processes=processes)
    resume = resume or retry
    path = save or (latest_name(sweep) if resume else None) or dated_name(sweep)
    names = [name for text in peers for name in text.split(",") if name]
    with contextlib.ExitStack() as stack:
        store = None
        if list_ or dry_run:
            stored = read_records(path) if resume and os.path.exists(path) else []
        else:
            check_destination(path, append=True)
            store = stack.enter_context(Store(path, resume=resume))
            stored = store.records
        worker = stack.enter_context(WorkerProcess())
        with Progress(quiet=quiet) as progress:
            progress("opening the devices")
            devices = _devices(worker, _device_names(read, names))
        tell(_device_notices(devices), quiet=quiet)
        usable = {name: told for name, told in devices.items() if "kind" in told}
        if not usable:
            raise DeviceUnavailable(next(told["unavailable"] for told in devices.values()))
        usable |= {told["kind"]: told for name, told in usable.items() if name == "auto"}
        unusable = {name: told["unavailable"] for name, told in devices.items() if "unavailable" in told}
        plan = expand_sweep(read, {name: told["kind"] for name, told in usable.items()}, names, unusable)
        usable |= {name: {"description": {"kind": name.partition(":")[0]}} for name in unusable}
        prices = Prices(Sampling(**read.sampling), stored)
        if store is None:
            from gpugraph.bench.summary import plan_lines, price_lines

            show_lines(plan_lines(plan, prices) if list_ else price_lines(plan, prices, read.budget_s))
            return
        for reason, number in plan.left_out.most_common():
            tell([f"left out, {number}: {reason}"], quiet=quiet)
        _run(read, plan, store, usable, prices, worker, sweep, retry=retry, quiet=quiet)


def _read(sweep: str, settings: Sequence[str], budget: str | None, commands: Sequence[str], **sampled: Any) -> Sweep:
    try:
        seconds = parse_seconds(budget) if budget is not None else None
    except InputError as error:
        raise InputError(error.what, where=f"--budget {budget}", remedy=error.remedy) from None
    try:
        default = parse_seconds(defaults().budget)
    except InputError as error:
        raise InputError(error.what, where=f"{defaults().origin}, bench.budget", remedy=error.remedy) from None
    read = read_sweep(sweep, parse_settings(settings), seconds, default)
    if read.peers or commands:
        from gpugraph.peers import read_tables, register_commands

        register_commands(read.peers, read.path)
        given = {name: table for text in commands for name, table in read_tables(text).items()}
        read = replace(read, peers={**read.peers, **given})
        register_commands(read.peers)
    sampling = sampling_settings({**read.sampling, **{name: value for name, value in sampled.items() if value}})
    return replace(read, sampling=sampling)


def _device_names(sweep: Sweep, peers: Sequence[str]) -> list[str]:
    """Return every device that a sweep names, and those that its peers run on."""
    names: dict[str, None] = {}
    named = list(peers)
    for block in sweep.blocks:
        names |= dict.fromkeys(str(device) for device in block.axes["device"])
        variants = [variant for group in block.algorithms.values() for variant in group]
        names |= dict.fromkeys(variant.device for variant in variants if variant.device)
        named += [v.name.removeprefix("peer:") for v in variants if v.name.startswith("peer:")]
    if named:
        from gpugraph.peers import describe_peers

        known = {peer["name"]: str(peer["device"]) for peer in describe_peers()}
        names |= dict.fromkeys(known[f"peer:{name}"] for name in named if f"peer:{name}" in known)
    return list(names)


def _devices(worker: WorkerProcess, names: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Return what the worker finds behind the names of devices.

    Raises:
        GpuGraphError: it does not answer.
    """
    worker.ask({"do": "devices", "names": list(names)})
    waited = 0.0
    while waited < START_S:
        event = worker.hear(1.0)
        if event is None:
            waited += 1.0
        elif event["event"] == "devices":
            found: dict[str, Mapping[str, Any]] = event["devices"]
            return found
    raise WorkerDied(f"the worker did not open the devices within {in_seconds(START_S)}")


def _device_notices(devices: Mapping[str, Mapping[str, Any]]) -> list[str]:
    notices = [told["notice"] for told in devices.values() if told.get("notice")]
    return notices + [f"{name}: {told['unavailable']}" for name, told in devices.items() if "unavailable" in told]


def _run(
    read: Sweep,
    plan: Plan,
    store: Store,
    devices: Mapping[str, Mapping[str, Any]],
    prices: Prices,
    worker: WorkerProcess,
    name: str,
    *,
    retry: bool,
    quiet: bool,
) -> None:
    from gpugraph.bench.live import watcher_for
    from gpugraph.bench.runner import Runner
    from gpugraph.bench.summary import result_lines

    path = store.path
    if store.cut:
        tell([f"{path}: a last line that was torn by a kill is cut off"], quiet=quiet)
    tell([f"{counted(len(plan.cells), 'cell')} of '{read.title}' go to {path}"], quiet=quiet)
    watcher = watcher_for(len(plan.cells), read.title, quiet=quiet)
    runner = Runner(read, plan, store, devices, prices, watcher, retry=retry, worker=worker)
    try:
        with watcher:
            totals = runner.run()
    except KeyboardInterrupt:
        tell([f"{len(store.records)} of {len(plan.cells)} cells are in {path}; go on with: {_again(name, path)}"])
        raise
    ended = [record for _, record in totals.records]
    if totals.resumed:
        tell([f"finished before: {counted(totals.resumed, 'cell')}"], quiet=quiet)
    show_lines(result_lines(ended or store.records))
    show(f"{path}: {counted(len(store.records), 'record')} — gpugraph report {path} -o report.html")
    _judge(ended, {id(record) for planned, record in totals.records if planned.guest is not None})


def _again(sweep: str, path: str) -> str:
    """Return the command that goes on."""
    words = [word for word in sys.argv[1:] if word not in ("--resume", "--retry")]
    if not words or words[0] != "bench":
        words = ["bench", "--sweep", sweep]
    if not any(word == "--save" or word.startswith("--save=") for word in words):
        words += ["--save", path]
    import shlex

    return shlex.join(["gpugraph", *words, "--resume"])


def _judge(records: Sequence[Mapping[str, Any]], of_guests: Collection[int] = ()) -> None:
    """Raise what the exit code of the bench is to say: a wrong result, a defect, or that nothing went well.

    Args:
        records: of this run.
        of_guests: identities of those of users' own algorithms, whose exceptions are no defect.

    Raises:
        VerificationFailed, InputError, DeviceUnavailable, GpuGraphError: accordingly.
    """
    ours = [record for record in records if not str(record["algorithm"]).startswith("peer:")]
    outcomes = Counter(str(record.get("outcome", "ok")) for record in ours)
    if outcomes["wrong"]:
        first = next(record for record in ours if record.get("outcome") == "wrong")
        where = f"{first['problem']} by {first['algorithm']} on {first['graph']['name']}"
        more = f" (and {outcomes['wrong'] - 1} more)" if outcomes["wrong"] > 1 else ""
        raise VerificationFailed(f"{first['verification']['detail']}{more}", where=where)
    worst: dict[str, type[GpuGraphError]] = {}
    if any(record.get("outcome") == "threw" and id(record) not in of_guests for record in ours):
        worst["threw"] = GpuGraphError
    if ours and not outcomes["ok"]:
        worst.setdefault("threw", InputError)
        worst |= {"refused": InputError, "failed": DeviceUnavailable, "out of memory": DeviceUnavailable}
        worst |= {"died": DeviceUnavailable, "timeout": DeviceUnavailable}
    for outcome, error in worst.items():
        if outcomes[outcome]:
            first = next(record for record in ours if record.get("outcome") == outcome)
            where = f"{first['problem']} by {first['algorithm']} on {first['graph']['name']}"
            raise error(f"{outcome}: {first.get('message')}", where=where)
