"""The commands that solve problems: from options to one measured, printed and saved record."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import click

from gpugraph.base.clock import PhaseTimer
from gpugraph.base.errors import InputError, VerificationFailed, check_name
from gpugraph.base.quantities import parse_share
from gpugraph.cli.bench import SAMPLING, check_exports, export, options_of, run_cells, show_records, split
from gpugraph.cli.options import bundle, command, defaults, graph_options, output_options, run_options
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
from gpugraph.problems import foreign
from gpugraph.problems.contract import problem_called
from gpugraph.problems.foreign import PEER, is_file, is_foreign
from gpugraph.problems.registry import algorithms, algorithms_called, command_of
from gpugraph.report.exporters import Results, exporter
from gpugraph.report.terminal import page_width

if TYPE_CHECKING:
    from gpugraph.measure.cell import Cell, Sampling
    from gpugraph.records.record import Record


def problem_command(problem: str) -> click.Command:
    """Return the command that solves a problem: its own parameters amid those that all of them have."""
    own = command_of(problem)

    def solve(**options: Any) -> None:
        for name in own.settings:
            value = options.pop(name.replace("-", "_"))
            if value is not None:
                options["settings"] += (f"{name}={value}",)
        asked = _asked(problem, own.arrange(options))
        names, peers = split(asked.algos), split(asked.peers)
        if len(names) > 1 or peers:
            _compete(asked, names or ["auto"], peers)
        else:
            _measure(asked, names[0] if names else "auto")

    solve.__name__, solve.__doc__ = problem, own.help
    settings = (click.option(f"--{name}", metavar=metavar, help=text) for name, (metavar, text) in own.settings.items())
    above = (graph_options,) if own.on_graph else ()
    return command(bundle(*above, *own.options, run_options, *settings, output_options)(solve))


@dataclass(frozen=True)
class Asked:
    """What the command line asks of a problem; ``same`` are the options that a ``Cell`` has by the same names."""

    problem: str
    same: dict[str, Any]
    graph: str | None
    algos: tuple[str, ...]
    prepare: tuple[str, ...]
    settings: tuple[str, ...]
    index_bits: str | None
    style: str
    output: str | None
    save: str | None
    quiet: bool
    target: str | None
    max_seconds: float | None
    timeout: float | None
    cold: bool
    energy: bool
    peers: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    verbose: bool = False
    commands: tuple[str, ...] = ()
    draw: str | None = None
    device: str = "auto"


def _asked(problem: str, options: dict[str, Any]) -> Asked:
    """Return what the options of a command ask for, refused before the work where its fruit could not be written."""
    own = {field.name: options.pop(field.name) for field in fields(Asked) if field.name in options}
    asked = Asked(problem, options, **own)
    if asked.graph is None:
        asked = replace(asked, graph=defaults().graph)
        where = defaults().origins["default.graph"]
        tell([f"no graph given: taking {asked.graph}, the default of {where}"], quiet=asked.quiet)
    check_exports(asked.exports, asked.style)
    _check_outputs(problem, str(asked.graph), asked.output, asked.save, asked.exports)
    check_drawing(asked.draw)
    log_decisions(asked.verbose)
    return asked


def _compete(asked: Asked, names: Sequence[str], peers: Sequence[str]) -> None:
    """Run a sweep of one input and several algorithms, ``NAME@DEVICE`` among them, and show how they rank."""
    from gpugraph.bench.bench import Bench, judge
    from gpugraph.bench.store import append_record
    from gpugraph.bench.sweep_file import read_sweep
    from gpugraph.bench.toml_file import Document
    from gpugraph.ext.ranks.world import world

    axes = dict(asked.same)
    repeat, warmup, profile = (axes.pop(name) for name in ("repeat", "warmup", "profile"))
    for given, what in (
        (asked.output, "-o writes the result of one algorithm"),
        (profile, "--profile runs one"),
        (asked.draw, "--draw draws what one got wrong"),
        (world() is not None, "several algorithms cannot compete on several ranks"),
    ):
        if given:
            raise InputError(what, remedy="name one with --algo, and no --peer")
    axes |= {"index_bits": int(asked.index_bits) if asked.index_bits else None, "device": asked.device}
    given = {name: [value] for name, value in axes.items() if value is not None}
    given |= {"graph": [asked.graph], "algorithm": [*names], "prepare": ["+".join(asked.prepare) or "none"]}
    sampling = {"warmup": warmup, "cold": asked.cold, "energy": asked.energy}
    tables = {
        "title": f"{asked.problem} on {asked.graph}",
        "axes": {"problem": [asked.problem], **given},
        "options": options_of(asked.problem, [*names, *(f"peer:{peer}" for peer in peers)], asked.settings),
        "sampling": {**SAMPLING, **sampling, **_competing(repeat, asked.target, asked.max_seconds)},
        "limits": {"time": f"{asked.timeout:f}s" if asked.timeout else "24h", "load": "24h"},
    }
    words = {"graph": "GRAPH", "algorithm": "--algo", **{name: f"--{name.replace('_', '-')}" for name in axes}}
    sweep = read_sweep(Document("command line", tables, words))
    with tempfile.TemporaryDirectory(prefix="gpugraph-") as folder:
        bench = Bench(sweep, os.path.join(folder, "records.jsonl"), peers=peers, commands=asked.commands)
        try:
            totals = run_cells(bench, quiet=asked.quiet, verbose=asked.verbose)
        finally:  # what was measured before an interruption is kept where it was to be
            records = bench.store.records if bench.store is not None else []
            for record in records if asked.save is not None else ():
                append_record(record, str(asked.save))
    show_records(records, asked.style)
    export(records, asked.exports, quiet=asked.quiet)
    judge(totals)


def _measure(asked: Asked, name: str) -> None:
    """Run one cell and deliver its record; its ``timeout`` is kept in ``gpugraph.cli.supervised``."""
    from gpugraph.devices.context import end_contexts
    from gpugraph.devices.discovery import expect_device
    from gpugraph.ext.ranks.world import world
    from gpugraph.measure import compile_ahead

    phase_timer = PhaseTimer("start", Command.began)
    algo, _, chosen = _with_commands(name, asked.commands).partition("@")
    device = chosen or (_device_of(algo) if asked.device == "auto" else asked.device)
    # The driver, and a compilation ahead, begin while the imports that follow take their time.
    on_cpu = (comm := world()) is None and not expect_device(device) and device in ("auto", "cpu")
    if not is_foreign(algo):
        if on_cpu:
            compile_ahead.begin(asked.problem, str(asked.graph), algo)
        _import_numpy()
    from gpugraph.measure.cell import Cell
    from gpugraph.measure.run_cell import run_cell

    print_record = _printer(asked.style)
    _check_algorithm(asked.problem, algo)
    reading = {field.name for field in fields(ReadOptions)} & asked.same.keys()
    cell = Cell(
        asked.problem,
        asked.graph,
        algo,
        device=device,
        preparations=asked.prepare,
        options=parse_settings(asked.settings),
        index_bits=int(asked.index_bits) if asked.index_bits else None,
        read=ReadOptions(**{name: asked.same[name] for name in reading}),
        **{name: value for name, value in asked.same.items() if name not in reading - {"seed"}},
    )
    sampling = _sampling(cell, asked)
    output, save, quiet = asked.output, asked.save, asked.quiet
    with Progress(quiet=quiet, verbose=asked.verbose) as progress:
        with diverted():
            record = run_cell(cell, progress, sampling, phase_timer)
        if comm is not None and comm.rank > 0:  # rank 0 delivers what all have found
            output = save = None
        troubles: list[InputError] = []
        if output is not None and record.status != "failed":
            from gpugraph.problems.result_files import write_result

            progress(f"writing {output}")
            with _going_on(troubles):
                write_result(record.result, output)
    if comm is None and Command.began is not None and not is_watched():
        end_contexts(record)  # this process asks nothing more of a GPU
    record = record.with_phases(phase_timer, Command.interpreter_s)  # what follows writes the very figures
    tell(_notices(record, output), quiet=quiet)
    if save is not None:
        from gpugraph.bench.store import append_record

        with _going_on(troubles):
            if append_record(record, save):
                tell([f"{save}: a last line that was torn by a kill is cut off"], quiet=quiet)
    with _going_on(troubles):
        print_record(record)
    with _going_on(troubles):
        draw_counter_example(asked.draw, record.shape.verification.counter_example, quiet=quiet)
        export([record], asked.exports, quiet=quiet)
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


def parse_settings(settings: tuple[str, ...]) -> dict[str, str]:
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


def _sampling(cell: Cell, asked: Asked) -> Sampling:
    """Return how to sample: as often as ``--repeat`` says, else about a second, or until ``--target`` is met."""
    from gpugraph.measure.cell import Sampling, check_counts

    check_counts(cell)
    sampling = Sampling.of(cell.repeat, cell.warmup)
    if asked.target is not None:
        least = cell.repeat or Sampling.min_samples
        share, most = parse_share("--target", asked.target), max(least + 1, Sampling.max_samples)
        sampling = Sampling(share, min_samples=least, max_samples=most, warmup=cell.warmup)
    limit = sampling.time_limit_s if asked.max_seconds is None else asked.max_seconds
    bandwidth = None if cell.phases else False
    return replace(sampling, time_limit_s=limit, cold=asked.cold, energy=asked.energy, bandwidth=bandwidth)


def _competing(repeat: int | None, target: str | None, max_seconds: float | None) -> dict[str, object]:
    """Return the sampling of several that compete: a bench's, or as many samples as ``--repeat`` asks for."""
    from gpugraph.measure.cell import Sampling

    context = click.get_current_context()
    given = context.get_parameter_source("repeat") is click.core.ParameterSource.COMMANDLINE
    found: dict[str, Any] = {} if max_seconds is None else {"time_limit_s": max_seconds}
    if target is not None:
        found["target"] = parse_share("--target", target)
    if given and repeat is not None:
        found["min_samples"] = repeat
        found["max_samples"] = max(repeat + 1, Sampling.max_samples) if target is not None else repeat
    if given and target is None:
        found = {"time_limit_s": math.inf, **found}
    return found


def _printer(style: str) -> Callable[[Record], None]:
    """Return what prints a record on standard output in one of the styles, all of it imported."""
    if style != "table":
        write = exporter(style).load()
        return lambda record: show(write(Results([record])))
    from gpugraph.report.table import table

    return lambda record: show_lines(table(record, width=page_width()))


def _notices(record: Record, output: str | None) -> list[str]:
    """Return what to tell about a record: what loading changed, and what a result file holds."""
    notices = list(record.notices)
    if output is not None and record.status == "failed":
        notices.append(f"{output} is not written: the result is wrong")
    elif output is not None and len(record.shape.per_source) > 1:
        notices.append(f"{output} holds the result of the first source, {record.shape.result['source']}")
    return notices


def _check_outputs(problem: str, graph: str, output: str | None, save: str | None, exports: tuple[str, ...]) -> None:
    """Refuse before the work what could not be written after it."""
    for path in (one for one in (output, save, *exports) if one is not None):
        check_destination(path, append=path is save)
        if os.path.exists(path) and os.path.exists(graph) and os.path.samefile(path, graph):
            raise InputError("is the graph itself and would be overwritten", where=path, remedy="name another file")
    if save is not None and os.path.isfile(save):
        from gpugraph.bench.store import WAIT_S, Store

        Store(save, resume=True, wait_s=WAIT_S).close()
    if output is not None:
        if save is not None and os.path.realpath(output) == os.path.realpath(save):
            raise InputError("is given for the result and for the record", where=save, remedy="name another file")
        from gpugraph.problems.result_files import check_result_name

        check_result_name(output, problem_called(problem))


def _with_commands(algo: str, commands: tuple[str, ...]) -> str:
    """Make the tables of ``--peer-command`` known; return the algorithm, the only table's where none is named."""
    if not commands:
        return algo
    peers = foreign.peers()
    tables = {name: table for text in commands for name, table in peers.read_tables(text).items()}
    peers.register_commands(tables)
    return f"peer:{next(iter(tables))}" if algo == "auto" and len(tables) == 1 else algo


def _device_of(algo: str) -> str:
    """Return the device that a peer runs on; ``"auto"`` for any other algorithm."""
    if not algo.startswith(PEER):
        return "auto"
    described = foreign.peers().describe_peers()
    return next((str(peer["device"]) for peer in described if peer["name"] == algo), "auto")


def _check_algorithm(problem: str, name: str) -> None:
    """Refuse an algorithm that does not exist before a large graph is loaded for it."""
    if name != "auto" and not name.startswith(PEER) and not is_file(name) and not algorithms_called(name, (problem,)):
        known = {algorithm.name for algorithm in algorithms(problem)}
        check_name("algorithm", name, known | foreign.plugins().installed().keys())
