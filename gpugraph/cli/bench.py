"""``gpugraph bench``, and what it shares with commands of several algorithms: they become a sweep, and are ranked."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from gpugraph.base.errors import InputError, errors_at, unknown_name
from gpugraph.base.quantities import counted, parse_seconds, parse_target
from gpugraph.cli.exports import check_exports, export, show_rankings
from gpugraph.cli.options import (
    Time,
    command,
    defaults,
    export_option,
    observed_options,
    offline_option,
    peer_command,
    reference_option,
    split,
)
from gpugraph.cli.output import Progress, check_destination, log_decisions, show, show_lines, tell
from gpugraph.cli.process import Command
from gpugraph.measure.sampling import COMPETING
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.foreign import PEER, is_file, name_and_device
from gpugraph.report.exporters import rankings
from gpugraph.report.terminal import page_width, table_width

if TYPE_CHECKING:
    from gpugraph.bench.bench import Bench
    from gpugraph.bench.run import Totals


def options_of(problem: str, names: Sequence[str], settings: Sequence[str]) -> dict[str, dict[str, list[object]]]:
    """Return options by algorithm: ``NAME=VALUE`` for all that have it, ``ALGORITHM.NAME=VALUE`` for one."""
    from gpugraph.bench.axes import parse_settings
    from gpugraph.problems.registry import algorithms_called

    named = list(dict.fromkeys(name_and_device(name)[0] for name in names))
    foreign = [name for name in named if name == "auto" or name.startswith(PEER) or is_file(name)]
    ours = {name: algorithms_called(name, (problem,)) for name in named if name not in foreign}
    own = {name: {option.name for one in ours.get(name, ()) for option in one.options} for name in named}
    found: dict[str, dict[str, list[Any]]] = {}
    for setting, values in parse_settings(settings).items():
        head, dot, tail = setting.rpartition(".")
        able = [head] if dot and head in named else [name for name in named if setting in own[name]] or foreign
        if not able:
            raise unknown_name(f"option of {', '.join(named)}", setting, set().union(*own.values()))
        for name in able:
            found.setdefault(name, {})[tail if dot and head in named else setting] = values
    return found


def ad_hoc_axes(graphs: Sequence[str], names: Sequence[str]) -> dict[str, object]:
    """Return the axes of a sweep that graphs and names of algorithms stand for, the problem worked out from these."""
    from gpugraph.problems.registry import command_of, problems_solved_by

    plain = [name_and_device(name)[0] for name in names]
    ours = [name for name in plain if name != "auto" and not name.startswith(PEER) and not is_file(name)]
    solved = {name: problems for name in ours if (problems := problems_solved_by(name))}

    def accepts(problem: str) -> bool:
        return all(command_of(problem).accepts(graph) for graph in graphs)

    axes: dict[str, Any] = {"graph": list(graphs), "algorithm": list(names) or ["auto"]}
    common = (problem for problem in PROBLEMS if all(problem in problems for problems in solved.values()))
    if (chosen := next(filter(accepts, common), None)) is not None:
        return {**axes, "problem": [chosen]}
    able = [*filter(accepts, PROBLEMS)]
    first = {name: next((p for p in able if p in problems), problems[0]) for name, problems in solved.items()}
    by_problem: dict[str, list[str]] = {problem: [] for problem in dict.fromkeys(first.values())}
    for name, bare in zip(names, plain, strict=True):
        for problem in [first[bare]] if bare in first else by_problem:
            by_problem[problem].append(name)
    return {**axes, "problem": list(by_problem), "algorithm": by_problem}


def check_reference(reference: str, names: Sequence[str]) -> None:
    """Raise InputError before the work for a row of reference that none of the algorithms ``names`` can have."""
    rows = [name_and_device(name)[0].removeprefix(PEER) for name in names]
    if reference and rows and not any(is_file(one) or reference.startswith(one) or one == "auto" for one in rows):
        raise unknown_name("row for --reference", reference, rows)


_BUDGET = f"Time limit of the command [default: the sweep's, else {defaults().budget} per device]."
_SET = "Parameter of the algorithms, or ALGORITHM.NAME of one."
_PROCESSES = "Spread a cell's samples over N worker processes."
_RUNS = "Run the sweep N times, and compare consecutive runs."
_ON = "Place where cells run: gpus:2, cpus:2, slurm:partition=NAME,gpus=1,time=30m, dask:tcp://HOST:8786."


@command
@click.argument("graphs", nargs=-1, metavar="[GRAPH]...")
@click.option("--sweep", metavar="NAME|FILE", help="A shipped sweep, or a TOML file [default: the GRAPHs, else smoke].")
@click.option("--algo", "algos", multiple=True, metavar="NAMES", help="Replace the sweep's algorithms: a,b@cpu.")
@click.option("--device", "devices", multiple=True, metavar="NAMES", help="Replace the sweep's devices: cuda,cpu.")
@click.option("--title", metavar="TEXT", help="Title of reports and plots [default: the sweep's, or the graphs].")
@click.option("--axis", "axes", multiple=True, metavar="AXIS=VALUES", help="Replace the values of an axis; repeatable.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUES", help=_SET)
@click.option("--budget", type=Time(), metavar="TIME", help=_BUDGET)
@click.option("--peer", "peers", multiple=True, metavar="NAMES", help="Peers to compare with, e.g. scipy,igraph.")
@peer_command
@click.option("--save", metavar="FILE.jsonl", help="File for the records [default: a dated file here].")
@click.option("--resume", is_flag=True, help="Continue the --save file, or the newest file of this sweep.")
@click.option("--retry", is_flag=True, help="Continue, and repeat the cells that failed.")
@click.option("--claims", is_flag=True, help="Run only cells that the sweep's expectations need.")
@click.option("--laptop", is_flag=True, help="Run the sweep's cells for two cores without a GPU.")
@click.option("--on", metavar="PLACE", help=_ON)
@click.option("--target", metavar="SHARE", help="Precision of each median, e.g. 2% [default: the sweep's].")
@click.option("--max-seconds", type=Time(), metavar="TIME", help="Sampling time of a cell [default: the sweep's].")
@click.option("--cold", is_flag=True, help="Flush the GPU's second-level cache before every sample.")
@click.option("--processes", metavar="N", type=click.IntRange(min=1), help=_PROCESSES)
@click.option("--runs", metavar="N", type=click.IntRange(min=2), help=_RUNS)
@observed_options
@reference_option
@offline_option
@export_option
@click.option("-v", "--verbose", is_flag=True, help="Log each step, and why it is taken.")
@click.option("--list", "list_", is_flag=True, help="Show the cells and the memory each will need, and end.")
@click.option("--dry-run", is_flag=True, help="Show the expected time of each cell, and end.")
@click.option("--sweeps", is_flag=True, help="List the sweeps that come with gpugraph, and end.")
def bench(
    graphs: tuple[str, ...],
    sweep: str | None,
    algos: tuple[str, ...],
    devices: tuple[str, ...],
    title: str | None,
    axes: tuple[str, ...],
    settings: tuple[str, ...],
    budget: float | None,
    peers: tuple[str, ...],
    save: str | None,
    target: str | None,
    max_seconds: float | None,
    cold: bool,
    processes: int | None,
    runs: int | None,
    energy: bool,
    counters: bool,
    price: float,
    reference: str,
    laptop: bool,
    exports: tuple[str, ...],
    verbose: bool,
    list_: bool,
    dry_run: bool,
    sweeps: bool,
    quiet: bool,
    **how: Any,  # resume, retry, claims, commands and on, which a Bench takes as they are
) -> None:
    """Measure many graphs and algorithms; each result is verified and stored.

    GRAPHs and --algo make a sweep, and the algorithms are compared at the end. Any other sweep is a TOML file
    (docs/bench.md); --sweeps lists those of gpugraph. Cells run in worker processes with limits of time and memory.
    A cell that fails, hangs or does not fit is a row with its reason. --resume continues a sweep that was killed.

    Example:
      gpugraph bench grid:64x64 rmat:12 --algo boruvka,kruskal@cpu --peer scipy
      gpugraph bench --sweep scales --axis scale=12..14 --save scales.jsonl
    """
    from gpugraph.bench.axes import parse_settings
    from gpugraph.bench.bench import Bench
    from gpugraph.bench.sweep_file import read_sweep, shipped
    from gpugraph.bench.toml_file import Document

    if sweeps:
        show("\n".join(f"{name:<24} {read_sweep(name).title}" for name in shipped()))
        return
    with errors_at(f"{defaults().origins['bench.budget']}, bench.budget"):
        default_s = parse_seconds(defaults().budget)
    observed = {"cold": cold, "energy": energy, "counters": counters, "price": price or None}
    sampled: dict[str, Any] = {**observed, "processes": processes, "time_limit_s": max_seconds}
    sampled["target"] = None if target is None else parse_target("--target", target)
    check_exports(exports)
    log_decisions(verbose)
    names, changed = split(algos), parse_settings([*axes, *settings])  # an axis after --set is its older spelling
    typed = {name for name, words in (("graph", graphs), ("algorithm", algos), ("device", devices)) if words}
    if twice := sorted(typed & changed.keys()):
        what = f"the values of the axis {twice[0]} are given twice: as GRAPH, --algo or --device, and by --axis"
        raise InputError(what, remedy=f"leave out --axis {twice[0]}")
    if devices:
        changed["device"] = split(devices)
    if laptop and sweep is None:
        raise InputError("--laptop takes a sweep", remedy="name one with --sweep, papers/martin2009 for instance")
    if graphs and sweep is None:
        words = {"graph": "GRAPH", "algorithm": "--algo"}
        tables = {"title": ", ".join(graphs), "axes": ad_hoc_axes(graphs, names), "sampling": dict(COMPETING)}
        asked = read_sweep(Document("command line", tables, words), changed, budget, default_s)
    else:
        changed |= {name: given for name, given in (("graph", [*graphs]), ("algorithm", names)) if given}
        asked = read_sweep(sweep or "smoke", changed, budget, default_s, laptop=laptop)
        if sweep is None and "graph" in changed:  # the user's own cells, and none of smoke's
            asked = replace(asked, name="bench", title=", ".join(map(str, changed["graph"])))
    asked = replace(asked, title=title or asked.title, budget_began=Command.began if runs is None else None)

    given = {name: value for name, value in sampled.items() if value is not None and value is not False}
    prepared: Callable[[str], Bench] = partial(
        Bench, asked, dry=list_ or dry_run, peers=split(peers), sampled=given, **how
    )
    if list_ or dry_run:
        from gpugraph.report.sweep import plan_lines, price_lines

        with _opened(prepared(save or ""), quiet=quiet) as plan:
            cells, prices, width = plan.plan, plan.prices, table_width()
            lines = plan_lines(cells, prices, width=width)
            show_lines(lines if list_ else price_lines(cells, prices, plan.sweep, width=width))
    elif runs is None:
        bench = prepared(save or "")
        check_reference(reference, [*names, *bench.peers] if names else [])
        _run(bench, exports, reference, quiet=quiet, verbose=verbose)
    elif exports:
        raise InputError("--export takes one run", remedy="export each with gpugraph compare RUN.jsonl --by algorithm")
    else:
        repeated = import_module("gpugraph.ext.comparing.repeated")
        repeated.repeat(lambda path: _run(prepared(path), quiet=quiet, verbose=verbose), save, runs)


@contextlib.contextmanager
def _opened(bench: Bench, *, quiet: bool) -> Iterator[Bench]:
    """Open the devices of a bench, and tell what that has to tell."""
    with contextlib.ExitStack() as stack:
        with Progress(quiet=quiet) as progress:
            progress("opening the devices")
            stack.enter_context(bench)
        tell(bench.notices, quiet=quiet)
        yield bench


def run_cells(bench: Bench, *, quiet: bool, verbose: bool, keep: bool = False) -> Totals:
    """Run the cells of a bench and show how they go; return how they went.  With ``keep`` its file is named."""
    with _opened(bench, quiet=quiet):
        store, path, total, title = bench.store, bench.path, len(bench.plan.cells), bench.sweep.title
        assert store is not None
        left_out = bench.plan.left_out
        hint = "; NAME@DEVICE takes another" if bench.sweep.ad_hoc else ""
        left = [f"left out, {n}: {why}{'' if ' not solve ' in why else hint}" for why, n in left_out.most_common()]
        if store.cut:
            left.append(f"{path}: a last line that was torn by a kill is cut off")
        goes = f"{counted(total, 'cell')} of '{title}' {'goes' if total == 1 else 'go'} to {path}"
        tell([*left, goes] if keep else left, quiet=quiet)
        from gpugraph.cli.live import watcher_for

        try:
            with watcher_for(total, title, quiet=quiet, verbose=verbose) as watcher:
                totals = bench.run(watcher)
        except KeyboardInterrupt:
            if keep:
                there = bench.totals.resumed + sum(row.outcome != "skipped" for _, row in bench.totals.records)
                done = f"{there} of {counted(total, 'cell')} are in {path}"
                tell([f"{done}; go on with: {_again(bench.sweep.name, path)}"])
            raise
        said = [f"finished before: {counted(totals.resumed, 'cell')}"] if totals.resumed else []
        if totals.again:
            said.append(f"{counted(totals.again, 'cell')} had too few samples: measured again")
        tell(said, quiet=quiet)
        if bench.sweep.sampling.get("energy"):
            reasons = Counter(row.absent["energy"] for _, row in totals.records if row.ok and "energy" in row.absent)
            tell([f"energy not measured in {counted(n, 'cell')}: {why}" for why, n in reasons.items()], quiet=quiet)
    return totals


def _run(bench: Bench, exports: Sequence[str] = (), reference: str = "", *, quiet: bool, verbose: bool) -> None:
    """Run the cells, show how they go and how they went."""
    from gpugraph.bench.bench import judge, judge_findings
    from gpugraph.bench.sweep import FINDINGS
    from gpugraph.report.sweep import result_lines

    check_destination(bench.path, append=True)
    totals = run_cells(bench, quiet=quiet, verbose=verbose, keep=True)
    records = bench.store.records if bench.store is not None else []
    if totals.resumed:
        records = import_module("gpugraph.ext.comparing.versions").marked(records)
    compared = bool(reference) or (bench.sweep.ad_hoc and len(records) > 1)
    ranked = rankings().rank(records, reference=reference)[0] if exports or compared else []
    if compared and any(len(ranking.records) > 1 for ranking in ranked):
        show_rankings(ranked)
    else:
        show_lines(result_lines(records, width=table_width()))
    if bench.sweep.tables or bench.sweep.expectations or totals.resumed:
        shown = import_module(f"{FINDINGS}.shown")
        show_lines(shown.finding_lines(bench.sweep, records, width=page_width(), table_width=table_width()))
    export(records, exports, ranked, quiet=quiet)
    show(f"{bench.path}: {counted(len(records), 'record')} — gpugraph report {shlex.quote(bench.path)} -o report.html")
    judge(totals)
    judge_findings(bench.sweep, records)


def _again(sweep: str, path: str) -> str:
    """Return the command that goes on."""
    words = [word for word in sys.argv[1:] if word not in ("--resume", "--retry")]
    words = words[words.index("bench") :] if "bench" in words else ["bench", "--sweep", sweep]
    named = any(word == "--save" or word.startswith("--save=") for word in words)
    end = words.index("--") if "--" in words else len(words)  # what follows it are graphs
    return shlex.join(["gpugraph", *words[:end], *([] if named else ["--save", path]), "--resume", *words[end:]])
