"""The commands that solve problems: from options to one measured, printed and saved record."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from gpugraph.base import compiled
from gpugraph.base.clock import PhaseTimer
from gpugraph.base.errors import DeviceUnavailable, InputError, VerificationFailed, check_name
from gpugraph.base.quantities import parse_target
from gpugraph.base.ranks import world
from gpugraph.cli.options import bundle, command, defaults, graph_options, output_options, run_options, split
from gpugraph.cli.output import (
    Progress,
    check_destination,
    check_drawing,
    diverted,
    draw_counter_example,
    log_decisions,
    show,
    show_lines,
    tell,
)
from gpugraph.cli.process import Command, is_watched
from gpugraph.graph.read_options import ReadOptions
from gpugraph.measure.sampling import COMPETING, Sampling
from gpugraph.problems import foreign
from gpugraph.problems.contract import problem_called, result_files
from gpugraph.problems.foreign import PEER, is_file, is_foreign, name_and_device
from gpugraph.problems.registry import algorithms, command_of, problems_solved_by
from gpugraph.report.exporters import Results, exporter, rankings
from gpugraph.report.terminal import page_width

if TYPE_CHECKING:
    from gpugraph.measure.cell import Cell
    from gpugraph.records.record import Record


def problem_command(problem: str) -> click.Command:
    """Return the command that solves a problem: its own parameters amid those that all of them have."""
    own = command_of(problem)

    def solve(**options: Any) -> None:
        for name in own.settings:
            value = options.pop(name.replace("-", "_"))
            if value is not None:
                options["settings"] += (f"{name}={value}",)
        request = _request(problem, own.arrange(options))
        names, peers = split(request.algos), split(request.peers)
        programs = peers or foreign.programs(request.commands, names)
        if peers or len(names) + len(programs) > 1:
            _compete(request, names or ["auto"], programs)
        elif request.reference:
            raise InputError("--reference is for several that are compared", remedy="name them with --algo and --peer")
        else:
            _measure(request, names[0] if names else "auto")

    solve.__name__, solve.__doc__ = problem, own.help
    settings = (click.option(f"--{name}", metavar=metavar, help=text) for name, (metavar, text) in own.settings.items())
    above = (graph_options,) if own.on_graph else ()
    return command(bundle(*above, *own.options, run_options, *settings, output_options)(solve))


@dataclass(frozen=True)
class Outputs:
    """Where results go: the screen and its ``style``, and files; the names are those of the options."""

    style: str
    output: str | None
    save: str | None
    quiet: bool
    exports: tuple[str, ...] = ()
    verbose: bool = False
    draw: str | None = None


@dataclass(frozen=True)
class Request:
    """What the command line requests; the names are those of the options.

    ``cell`` has the options that a ``Cell`` has by the same names, which it checks.
    """

    problem: str
    outputs: Outputs
    read: ReadOptions
    cell: Mapping[str, Any]
    graph: str | None
    algos: tuple[str, ...]
    prepare: tuple[str, ...]
    settings: tuple[str, ...]
    index_bits: str | None
    target: str | None
    max_seconds: float | None
    timeout: float | None
    cold: bool
    energy: bool
    counters: bool
    price: float
    peers: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    reference: str = ""
    device: str = "auto"


def _request(problem: str, options: Mapping[str, Any]) -> Request:
    """Return what the options of a command request, refused before the work if the results could not be written."""

    def of(kind: type[Any]) -> dict[str, Any]:
        return {field.name: options[field.name] for field in fields(kind) if field.name in options}

    outputs, read, own = of(Outputs), of(ReadOptions), of(Request)
    cell = {name: value for name, value in options.items() if name == "seed" or name not in {*outputs, *read, *own}}
    request = Request(problem, Outputs(**outputs), ReadOptions(**read), cell, **own)
    if request.graph is None:
        request = replace(request, graph=defaults().graph)
        where = defaults().origins["default.graph"]
        what = f"no graph given: taking {request.graph}, the default of {where}; give a file, a spec or a data set"
        tell([what], quiet=request.outputs.quiet)
    _check_outputs(problem, request.outputs)
    log_decisions(request.outputs.verbose)
    return request


def _compete(request: Request, names: Sequence[str], peers: Sequence[str]) -> None:
    """Run a sweep of one input and several algorithms, ``NAME@DEVICE`` among them, and show how they rank."""
    from gpugraph.bench.bench import Bench, judge
    from gpugraph.bench.store import append_record
    from gpugraph.bench.sweep_file import LimitsTable, sweep_of_axes
    from gpugraph.cli.bench import check_reference, options_of, run_cells

    outputs, axes = request.outputs, {**vars(request.read), **request.cell}
    repeat, warmup, profile = (axes.pop(name) for name in ("repeat", "warmup", "profile"))
    for given, what in (
        (outputs.output, "-o writes the result of one algorithm"),
        (profile, "--profile runs one"),
        (outputs.draw, "--draw draws what one got wrong"),
        (world() is not None, "several algorithms cannot compete on several ranks"),
    ):
        if given:
            raise InputError(what, remedy="name one with --algo, and no --peer")
    check_reference(request.reference, [*names, *peers])
    axes |= {"problem": request.problem, "device": request.device, "prepare": "+".join(request.prepare) or "none"}
    axes |= {"graph": request.graph, "index_bits": int(request.index_bits) if request.index_bits else None}
    observed = {name: getattr(request, name) for name in ("cold", "energy", "counters", "price")}
    sampling = {**COMPETING, "warmup": warmup, **observed}
    words = {name: f"--{name.replace('_', '-')}" for name in axes}
    words |= {"graph": "GRAPH", "algorithm": "--algo", "weights": "--reweight"}
    sweep = sweep_of_axes(
        f"{request.problem} on {request.graph}",
        {**{name: [value] for name, value in axes.items() if value is not None}, "algorithm": [*names]},
        options_of(request.problem, [*names, *(f"{PEER}{peer}" for peer in peers)], request.settings),
        {**sampling, **_competing(repeat, request.target, request.max_seconds)},
        LimitsTable(time=f"{request.timeout:f}s" if request.timeout else "24h", load="24h"),
        words,
    )
    with tempfile.TemporaryDirectory(prefix="gpugraph-") as folder:
        bench = Bench(sweep, os.path.join(folder, "records.jsonl"), peers=peers, commands=request.commands)
        try:
            totals = run_cells(bench, quiet=outputs.quiet, verbose=outputs.verbose)
        finally:  # what was measured before an interruption is kept where it was to be
            records = bench.store.records if bench.store is not None else []
            for record in records if outputs.save is not None else ():
                append_record(record, str(outputs.save))
    from gpugraph.cli.exports import export, show_records

    found = rankings().rank(records, reference=request.reference)[0]
    show_records(records, outputs.style, found)
    export(records, outputs.exports, found, quiet=outputs.quiet)
    judge(totals)


def _measure(request: Request, name: str) -> None:
    """Run one cell and deliver its record; its ``timeout`` is kept in ``gpugraph.ext.plugins.supervised``."""
    from gpugraph.devices.discovery import expect_device

    phase_timer = PhaseTimer("start", Command.began)
    algo, chosen = name_and_device(_with_commands(name, request.commands))
    device = chosen or (_device_of(algo) if request.device == "auto" else request.device)
    # The driver, and a compilation ahead, begin while the imports that follow take their time.
    expected = (comm := world()) is None and expect_device(device)
    on_cpu = comm is None and not expected and device in ("auto", "cpu")
    compiled.IN_COMMAND = Command.began is not None and not is_foreign(algo)
    if not is_foreign(algo):
        if on_cpu:
            import_module("gpugraph.ext.builds.ahead").begin(request.problem, str(request.graph), algo)
        _import_numpy()
    from gpugraph.measure.cell import Cell
    from gpugraph.measure.run_cell import run_cell

    outputs = request.outputs
    print_record = _printer(outputs.style, whole=outputs.verbose)
    _check_algorithm(request.problem, algo)
    cell = Cell(
        request.problem,
        request.graph,
        algo,
        device=device,
        preparations=request.prepare,
        options=parse_settings([setting.removeprefix(f"{algo}.") for setting in request.settings]),
        index_bits=int(request.index_bits) if request.index_bits else None,
        read=request.read,
        **request.cell,
    )
    sampling = _sampling(cell, request)
    output, save, quiet = outputs.output, outputs.save, outputs.quiet
    with Progress(quiet=quiet, verbose=outputs.verbose) as progress:
        with diverted():
            record = run_cell(cell, progress, sampling, phase_timer)
        if comm is not None and comm.rank > 0:  # rank 0 delivers what all have found
            output = save = None
        troubles: list[InputError] = []
        if output is not None and record.status != "failed":
            progress(f"writing {output}")
            with _going_on(troubles):
                result_files().write_result(record.result, output)
    if expected and Command.began is not None and not is_watched():
        from gpugraph.devices.context import end_contexts

        end_contexts(record)  # this process asks nothing more of a GPU
    record = record.with_phases(phase_timer, Command.interpreter_s)  # what follows writes the very figures
    tell(_notices(record, output), quiet=quiet)
    if save is not None:
        from gpugraph.bench.store import append_record

        with _going_on(troubles):
            if append_record(record, save):
                tell([f"{save}: a last line that was torn by a kill is cut off"], quiet=quiet)
    # What goes down a pipe goes there alone.
    with _going_on(troubles), contextlib.redirect_stdout(sys.stderr if output == "-" else sys.stdout):
        print_record(record)
    with _going_on(troubles):
        draw_counter_example(outputs.draw, record.shape.verification.counter_example, quiet=quiet)
        if outputs.exports:
            from gpugraph.cli.exports import export

            export([record], outputs.exports, quiet=quiet)
    if request.energy and (why := record.shape.energy.absent) and record.status != "failed":
        raise DeviceUnavailable(f"the energy was not measured: {why}", remedy="leave out --energy")
    if record.status == "failed":
        where = f"{record.problem} by {record.algorithm} on {record.graph_name}"
        raise VerificationFailed(record.shape.verification.detail or "", where=where)
    if troubles:
        raise troubles[0]


def _import_numpy() -> None:
    """Import NumPy, and let its BLAS not start a thread for every core: no algorithm of ours has any use for them."""
    given = os.environ.get(_BLAS_THREADS)
    os.environ.setdefault(_BLAS_THREADS, "1")
    try:
        import numpy  # noqa: F401
    finally:
        if given is None:  # what this process starts is free to choose
            del os.environ[_BLAS_THREADS]


_BLAS_THREADS = "OPENBLAS_NUM_THREADS"


def parse_settings(settings: Sequence[str]) -> dict[str, str]:
    """Return the parameters that ``--set NAME=VALUE`` gave; raise InputError without ``=`` or for a second value."""
    values: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise InputError(f"--set '{setting}' is not NAME=VALUE", remedy="for example --set delta=8")
        if name in values:
            raise InputError(f"--set gives '{name}' twice")
        values[name] = value
    return values


@contextlib.contextmanager
def _going_on(troubles: list[InputError]) -> Iterator[None]:
    """Note what cannot be written: it must not take with it what can be."""
    try:
        yield
    except InputError as trouble:
        troubles.append(trouble)


def _sampling(cell: Cell, request: Request) -> Sampling:
    """Return how to sample: as often as ``--repeat`` says, else about a second, or until ``--target`` is met."""
    from gpugraph.measure.cell import check_counts

    check_counts(cell)
    target = None if request.target is None else parse_target("--target", request.target)
    sampling = Sampling.of(cell.repeat, cell.warmup, target)
    limit = sampling.time_limit_s if request.max_seconds is None else request.max_seconds
    bandwidth = None if cell.phases else False
    observed = {name: getattr(request, name) for name in ("cold", "energy", "counters", "price")}
    return replace(sampling, time_limit_s=limit, bandwidth=bandwidth, **observed)


def _competing(repeat: int | None, target: str | None, max_seconds: float | None) -> dict[str, object]:
    """Return the sampling of several that compete: a bench's, or as many samples as ``--repeat`` asks for."""
    context = click.get_current_context()
    given = context.get_parameter_source("repeat") is click.core.ParameterSource.COMMANDLINE
    found: dict[str, Any] = {} if max_seconds is None else {"time_limit_s": max_seconds}
    if target is not None:
        found["target"] = parse_target("--target", target)
    if given and repeat is not None:
        found["min_samples"] = repeat
        found["max_samples"] = max(repeat + 1, Sampling.max_samples) if target is not None else repeat
    if given and target is None:
        found = {"time_limit_s": math.inf, **found}
    return found


def _printer(style: str, *, whole: bool) -> Callable[[Record], None]:
    """Return what prints a record on standard output in one of the styles, all of it imported."""
    if style != "table":
        write = exporter(style).load()
        return lambda record: show(write(Results([record])))
    from gpugraph.report.table import first_screen, table

    return lambda record: show_lines((table if whole else first_screen)(record, width=page_width()))


def _notices(record: Record, output: str | None) -> list[str]:
    """Return what to tell about a record: what loading changed, and what a result file holds."""
    notices = list(record.notices)
    if output is not None and record.status == "failed":
        notices.append(f"{output} is not written: the result is wrong")
    elif output is not None and len(record.shape.per_source) > 1:
        notices.append(f"{output} holds the result of the first source, {record.shape.result['source']}")
    return notices


def _check_outputs(problem: str, outputs: Outputs) -> None:
    """Refuse before the work what could not be written after it."""
    output, save, exports = outputs.output, outputs.save, outputs.exports
    if exports or outputs.style != "table":
        from gpugraph.cli.exports import check_exports

        check_exports(exports, outputs.style)
    check_drawing(outputs.draw)
    for path in (one for one in (output, save, *exports) if one is not None):
        check_destination(path, append=path is save)
    if save is not None and os.path.isfile(save):
        from gpugraph.bench.store import WAIT_S, Store

        Store(save, resume=True, wait_s=WAIT_S).close()
    if output is not None:
        result_files().check_result_name(output, problem_called(problem))


def _with_commands(algo: str, commands: tuple[str, ...]) -> str:
    """Make the tables of ``--peer-command`` known; return the algorithm, the only table's where none is named."""
    if not commands:
        return algo
    peers = foreign.peers()
    tables = {name: table for text in commands for name, table in peers.read_tables(text).items()}
    peers.register_commands(tables)
    return f"{PEER}{next(iter(tables))}" if algo == "auto" and len(tables) == 1 else algo


def _device_of(algo: str) -> str:
    """Return the device that a peer runs on; ``"auto"`` for any other algorithm."""
    if not algo.startswith(PEER):
        return "auto"
    described = foreign.peers().describe_peers()
    return next((str(peer["device"]) for peer in described if peer["name"] == algo), "auto")


def _check_algorithm(problem: str, name: str) -> None:
    """Refuse an algorithm that does not exist before a large graph is loaded for it."""
    if name != "auto" and not name.startswith(PEER) and not is_file(name) and not problems_solved_by(name, (problem,)):
        known = {algorithm.name for algorithm in algorithms(problem)}
        check_name("algorithm", name, known | foreign.plugins().installed().keys())
