"""Several algorithms at the same work: from one line of options to a sweep, its records, and how they rank."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpugraph.cli.output import check_destination, show, show_lines, tell
from gpugraph.errors import InputError, unknown_name
from gpugraph.problems.contract import PROBLEMS

if TYPE_CHECKING:
    from gpugraph.measure.ranking import Ranking
    from gpugraph.measure.record import Record


SAMPLING = {"together": True, "min_samples": 20}
"""Of what competes, where the command line does not say otherwise: with fewer, samples that hang together mislead."""


def compete(
    problem: str,
    graph: str,
    names: Sequence[str],
    peers: Sequence[str],
    *,
    sampling: Mapping[str, Any],
    prepare: Sequence[str],
    settings: Sequence[str],
    commands: Sequence[str],
    style: str,
    save: str | None,
    exports: Sequence[str],
    quiet: bool,
    verbose: bool,
    **axes: Any,
) -> None:
    """Run a sweep of one input and several algorithms, and show how they rank.

    Args:
        problem: what is solved.
        graph: the input.
        names: of algorithms, ``NAME@DEVICE`` among them.
        peers: names of peers.
        sampling: settings of it in the place of those of a bench.
        prepare: preparations of the graph, in order.
        settings: ``NAME=VALUE`` for all algorithms that have the option, ``ALGORITHM.NAME=VALUE`` for one.
        commands: tables of peers that are external commands.
        style: how to print the records.
        save: file of records to append to, or None.
        exports: files to export to.
        quiet: no progress and no notices.
        verbose: each step.
        axes: the other options, named as the axes of a sweep; None where one was not given.

    Raises:
        VerificationFailed, InputError, DeviceUnavailable: as a bench does, after everything was shown and written.
    """
    from gpugraph.bench.bench import Bench, judge
    from gpugraph.bench.store import append_record
    from gpugraph.bench.sweep_file import sweep_of_words
    from gpugraph.cli.bench import run_cells
    from gpugraph.measure.record import Record
    from gpugraph.ranks.world import world

    if world() is not None:
        raise InputError("several algorithms cannot compete on several ranks", remedy="name one with --algo")
    given = {name: [value] for name, value in axes.items() if value is not None}
    given |= {"graph": [graph], "algorithm": list(names), "prepare": ["+".join(prepare) or "none"]}
    tables = {
        "title": f"{problem} on {graph}",
        "axes": {"problem": [problem], **given},
        "options": _options(problem, [*names, *(f"peer:{peer}" for peer in peers)], settings),
        "sampling": {**SAMPLING, **sampling},
        "limits": {"time": "24h", "load": "24h"},
    }
    words = {"graph": "GRAPH", "algorithm": "--algo", **{name: f"--{name.replace('_', '-')}" for name in axes}}
    sweep = sweep_of_words(tables, words)
    with tempfile.TemporaryDirectory(prefix="gpugraph-") as folder:
        bench = Bench(sweep, os.path.join(folder, "records.jsonl"), peers=peers, commands=commands)
        try:
            totals = run_cells(bench, quiet=quiet, verbose=verbose)
        finally:  # what was measured before an interruption is kept where it was to be
            records = [Record.of(record) for record in (bench.store.records if bench.store is not None else ())]
            for record in records if save is not None else ():
                append_record(record, str(save))
    show_records(records, style)
    export(records, exports, quiet=quiet)
    judge(totals)


def _options(problem: str, names: Sequence[str], settings: Sequence[str]) -> dict[str, dict[str, list[Any]]]:
    """Return options by algorithm: ``NAME=VALUE`` for all that have it, ``ALGORITHM.NAME=VALUE`` for one.

    Raises:
        InputError: none of them has it.
    """
    from gpugraph.bench.axes import parse_settings
    from gpugraph.problems.registry import algorithms

    named = list(dict.fromkeys(name.partition("@")[0] for name in names))
    own = {name: {o.name for a in algorithms(problem) if a.name == name for o in a.options} for name in named}
    strangers = [name for name in named if name == "auto" or ":" in name or name.endswith(".py")]
    found: dict[str, dict[str, list[Any]]] = {}
    for setting, values in parse_settings(settings).items():
        head, dot, tail = setting.rpartition(".")
        able = [head] if dot and head in named else [name for name in named if setting in own[name]] or strangers
        if not able:
            raise unknown_name(
                f"option of {', '.join(named)}", setting, {one for options in own.values() for one in options}
            )
        for name in able:
            found.setdefault(name, {})[tail if dot and head in named else setting] = values
    return found


def ad_hoc_axes(graphs: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    """Return the axes of a sweep that graphs and names of algorithms stand for, the problem worked out from these."""
    from gpugraph.problems.registry import algorithms, load_problem

    plain = [name.partition("@")[0] for name in names]
    solved = {name: [a.problem for a in algorithms() if a.name == name] for name in plain}
    solved = {name: problems for name, problems in solved.items() if problems}
    able = [name for name in PROBLEMS if all(load_problem(name).accepts(graph) for graph in graphs)]
    common = [problem for problem in able if all(problem in problems for problems in solved.values())]
    axes: dict[str, Any] = {"graph": list(graphs), "algorithm": list(names) or ["auto"]}
    if common:
        return {**axes, "problem": [common[0]]}
    first = {name: next((p for p in able if p in problems), problems[0]) for name, problems in solved.items()}
    by_problem: dict[str, list[str]] = {problem: [] for problem in dict.fromkeys(first.values())}
    for name, bare in zip(names, plain, strict=True):
        for problem in [first[bare]] if bare in first else by_problem:
            by_problem[problem].append(name)
    return {**axes, "problem": list(by_problem), "algorithm": by_problem}


def split(texts: Sequence[str]) -> list[str]:
    """Return the names between commas of all texts, each once."""
    return list(dict.fromkeys(name.strip() for text in texts for name in text.split(",") if name.strip()))


# ------------------------------------------------------------------ what comes of it


def check_exports(paths: Sequence[str]) -> None:
    """Refuse before the work what could not be written after it.

    Raises:
        InputError: an ending that is none, or a file that cannot be written.
    """
    if paths:
        from gpugraph.report.export import check_ending

        for path in paths:
            check_ending(path)
            check_destination(path)


def export(
    records: Sequence[Record], paths: Sequence[str], rankings: Sequence[Ranking] | None = None, *, quiet: bool = False
) -> None:
    """Write records and how they rank to files, each whole or not at all."""
    if not paths:
        return
    from gpugraph.files import atomic_write
    from gpugraph.measure.ranking import rank
    from gpugraph.quantities import counted
    from gpugraph.report.export import check_ending, exported

    found = rank(records)[0] if rankings is None else rankings
    for path in paths:
        content = exported(records, found, check_ending(path))
        with atomic_write(path, "w") as stream:
            stream.write(content)
        samples = sum(len(record.samples) for record in records)
        tell([f"{path}: {counted(len(records), 'record')}, {counted(samples, 'sample')}"], quiet=quiet)


def show_records(records: Sequence[Record], style: str, rankings: Sequence[Ranking] | None = None) -> None:
    """Print records and how they rank, in one of the styles of ``--format``."""
    from gpugraph.measure.ranking import rank

    found = rank(records)[0] if rankings is None else rankings
    if style == "table":
        show_rankings(found)
    elif style == "csv":
        from gpugraph.report.markdown_csv import csv

        show(csv(records))
    else:
        from gpugraph.report.export import exported

        show(exported(records, found, {"json": ".json", "markdown": ".md"}[style]))


def show_rankings(rankings: Sequence[Ranking]) -> None:
    """Print rankings, an empty line between two."""
    from gpugraph.report.ranking import ranking_lines
    from gpugraph.report.terminal import page_width, table_width

    for turn, ranking in enumerate(rankings):
        lines = ranking_lines(ranking, width=page_width(), table_width=table_width())
        show_lines([[], *lines] if turn else lines)
