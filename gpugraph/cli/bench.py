"""``gpugraph bench``."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from gpugraph.cli.options import command, defaults, peer_command
from gpugraph.errors import InputError, Regression

if TYPE_CHECKING:
    from gpugraph.bench.bench import Bench

_BUDGET = f"For the cells of each device [default: the sweep's, else {defaults().budget}]."


@command
@click.option(
    "--sweep", metavar="NAME|FILE", default="smoke", show_default=True, help="A shipped sweep, or a TOML file."
)
@click.option("--set", "settings", multiple=True, metavar="AXIS=VALUES", help="Other values for an axis; repeatable.")
@click.option("--budget", metavar="TIME", help=_BUDGET)
@click.option("--peer", "peers", multiple=True, metavar="NAMES", help="Peers that run beside, e.g. scipy,igraph.")
@peer_command
@click.option("--save", metavar="FILE.jsonl", help="Where records go [default: a dated file here].")
@click.option("--resume", is_flag=True, help="Go on with the file; without --save, with this sweep's newest here.")
@click.option("--retry", is_flag=True, help="Go on, and try again what did not go well.")
@click.option("--cold", is_flag=True, help="Flush the GPU's second-level cache before every sample.")
@click.option(
    "--processes", metavar="N", type=click.IntRange(min=1), help="Spread a cell's samples over N worker processes."
)
@click.option(
    "--runs",
    metavar="N",
    type=click.IntRange(min=2),
    help="Run all of it N times, each held against the one before.",
)
@click.option("--energy", is_flag=True, help="Measure the energy of a run too.")
@click.option("--list", "list_", is_flag=True, help="Show the cells and the memory each will need, and end.")
@click.option("--dry-run", is_flag=True, help="Show what each cell will take of the budget, and end.")
@click.option("--sweeps", is_flag=True, help="List the sweeps that come with gpugraph, and end.")
def bench(
    sweep: str,
    settings: tuple[str, ...],
    budget: str | None,
    peers: tuple[str, ...],
    commands: tuple[str, ...],
    save: str | None,
    resume: bool,
    retry: bool,
    cold: bool,
    processes: int | None,
    runs: int | None,
    energy: bool,
    list_: bool,
    dry_run: bool,
    sweeps: bool,
    quiet: bool,
) -> None:
    """Run a sweep: many cells, each verified, one line of a file for each as it ends.

    A sweep is a TOML file of axes, and of what is to come of them (docs/bench.md); --sweeps lists those that come with
    gpugraph.
    A kill loses at most the running cell, --resume goes on. Cells run in a process of their own, with limits of time
    and memory; what fails, hangs or does not fit is a row that says so.

    Example:
      gpugraph bench --sweep scales --set scale=12..14 --save scales.jsonl
    """
    from gpugraph.bench.axes import parse_settings
    from gpugraph.bench.bench import Bench
    from gpugraph.bench.sweep_file import read_sweep, shipped
    from gpugraph.cli.output import show, show_lines
    from gpugraph.report.sweep import plan_lines, price_lines

    if sweeps:
        show("\n".join(f"{name:<22} {read_sweep(name).title}" for name in shipped()))
        return
    seconds = None if budget is None else _seconds(budget, f"--budget {budget}")
    default_s = _seconds(defaults().budget, f"{defaults().origins['bench.budget']}, bench.budget")
    sampled = {"cold": cold, "energy": energy, "processes": processes}
    asked = read_sweep(sweep, parse_settings(settings), seconds, default_s)

    def prepared(path: str | None) -> Bench:
        return Bench(
            asked,
            path,
            resume=resume,
            retry=retry,
            dry=list_ or dry_run,
            peers=[name for text in peers for name in text.split(",") if name],
            commands=commands,
            sampled={name: value for name, value in sampled.items() if value},
        )

    if list_ or dry_run:
        with _opened(prepared(save), quiet=quiet) as plan:
            lines = plan_lines(plan.plan, plan.prices)
            show_lines(lines if list_ else price_lines(plan.plan, plan.prices, plan.sweep.budget_s))
    elif runs is None:
        _run(prepared(save), quiet=quiet)
    else:
        _repeat(prepared, _numbered(save, runs), quiet=quiet)


@contextlib.contextmanager
def _opened(bench: Bench, *, quiet: bool) -> Iterator[Bench]:
    """Open the devices of a bench, and tell what that has to tell."""
    from gpugraph.cli.output import Progress, tell

    with contextlib.ExitStack() as stack:
        with Progress(quiet=quiet) as progress:
            progress("opening the devices")
            stack.enter_context(bench)
        tell(bench.notices, quiet=quiet)
        yield bench


def _numbered(save: str | None, runs: int) -> list[str]:
    """Return a file for each of several runs: ``mine-1.jsonl`` and so on."""
    if save is None:
        raise InputError("--runs needs files for its records", remedy="name one with --save: FILE-1.jsonl and so on")
    stem, ending = os.path.splitext(save)
    return [f"{stem}-{turn}{ending}" for turn in range(1, runs + 1)]


def _repeat(prepared: Callable[[str], Bench], paths: Sequence[str], *, quiet: bool) -> None:
    """Run a sweep once for each file, and hold each run against the one before.

    Raises:
        Regression: a run is slower than the one before.
    """
    from gpugraph.cli.output import check_destination, show
    from gpugraph.measure.compare import compare
    from gpugraph.measure.record_file import read_records
    from gpugraph.report.comparison import tally

    for path in paths:
        check_destination(path, append=True)
    worse: list[str] = []
    for turn, path in enumerate(paths):
        _run(prepared(path), quiet=quiet)
        if turn:
            comparison = compare(read_records([paths[turn - 1]])[0], read_records([path])[0])
            worse += [path] if comparison.regressions else []
            show(f"{path} against {paths[turn - 1]}: {tally(comparison)}")
    if worse:
        what = f"{len(worse)} of {len(paths) - 1} runs are slower than the one before"
        raise Regression(what, where=worse[0], remedy="gpugraph compare BASE NEW shows which cells")


def _seconds(text: str, where: str) -> float:
    from gpugraph.quantities import parse_seconds

    try:
        return parse_seconds(text)
    except InputError as error:
        raise InputError(error.what, where=where, remedy=error.remedy) from None


def _run(bench: Bench, *, quiet: bool) -> None:
    """Run the cells, show how they go and how they went."""
    from gpugraph.bench.bench import judge, judge_findings
    from gpugraph.bench.live import watcher_for
    from gpugraph.cli.output import check_destination, show, show_lines, tell
    from gpugraph.measure.record import Record
    from gpugraph.quantities import counted
    from gpugraph.report.sweep import finding_lines, result_lines
    from gpugraph.report.terminal import page_width

    check_destination(bench.path, append=True)
    with _opened(bench, quiet=quiet):
        store, path, total, title = bench.store, bench.path, len(bench.plan.cells), bench.sweep.title
        assert store is not None
        tell([f"left out, {number}: {reason}" for reason, number in bench.plan.left_out.most_common()], quiet=quiet)
        if store.cut:
            tell([f"{path}: a last line that was torn by a kill is cut off"], quiet=quiet)
        tell([f"{counted(total, 'cell')} of '{title}' go to {path}"], quiet=quiet)
        try:
            with watcher_for(total, title, quiet=quiet) as watcher:
                totals = bench.run(watcher)
        except KeyboardInterrupt:
            tell([f"{len(store.records)} of {total} cells are in {path}; go on with: {_again(bench.sweep.name, path)}"])
            raise
        if totals.resumed:
            tell([f"finished before: {counted(totals.resumed, 'cell')}"], quiet=quiet)
        show_lines(result_lines([record for _, record in totals.records] or store.records))
        found = [Record.of(record) for record in store.records]
        show_lines(finding_lines(bench.sweep, found, width=page_width()))
        show(f"{path}: {counted(len(store.records), 'record')} — gpugraph report {path} -o report.html")
        judge(totals)
        judge_findings(bench.sweep, found)


def _again(sweep: str, path: str) -> str:
    """Return the command that goes on."""
    words = [word for word in sys.argv[1:] if word not in ("--resume", "--retry")]
    if not words or words[0] != "bench":
        words = ["bench", "--sweep", sweep]
    if not any(word == "--save" or word.startswith("--save=") for word in words):
        words += ["--save", path]
    return shlex.join(["gpugraph", *words, "--resume"])
