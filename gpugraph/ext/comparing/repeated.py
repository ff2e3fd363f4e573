"""``gpugraph bench --runs``: a sweep run several times, each run compared with the one before."""

import os
from collections.abc import Callable

from gpugraph.base.errors import InputError, Regression
from gpugraph.cli.output import check_destination, show
from gpugraph.ext.comparing.compare import compare
from gpugraph.ext.comparing.comparison import tally
from gpugraph.records.record_file import read_records


def repeat(run: Callable[[str], None], save: str | None, runs: int) -> None:
    """Call ``run`` with a file for the records of each run, and compare each with the one before."""
    if save is None:
        raise InputError("--runs needs files for its records", remedy="name one with --save: FILE-1.jsonl and so on")
    if os.path.exists(save) and not os.path.isfile(save):
        raise InputError("is no file, and --runs writes FILE-1.jsonl and so on", where=save, remedy="name a file")
    stem, ending = os.path.splitext(save)
    paths = [f"{stem}-{turn}{ending}" for turn in range(1, runs + 1)]
    for path in paths:
        check_destination(path, append=True)
    worse: list[str] = []
    for turn, path in enumerate(paths):
        run(path)
        if turn:
            comparison = compare(read_records([paths[turn - 1]])[0], read_records([path])[0])
            worse += [path] if comparison.regressions else []
            show(f"{path} against {paths[turn - 1]}: {tally(comparison)}")
    if worse:
        what = f"{len(worse)} of {len(paths) - 1} runs are slower than the one before"
        raise Regression(what, where=worse[0], remedy="gpugraph compare BASE NEW shows which cells")
