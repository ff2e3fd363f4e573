"""Commands where packages of the extras are missing: the name of the package, never damage, never a defect."""

from __future__ import annotations

import pytest

from tests.cli.runner import run
from tests.graph.formats.test_without_arrow import OPTIONAL, hide
from tests.hostile.graphs import SUFFIXES, pack, samples
from tests.hostile.trials import Part, Trial

BASE = ("mst", "sssp", "components")


def try_missing(trial: Trial) -> str:
    """Read a graph, write a result or draw it where a few packages are missing."""
    draw = trial.draw
    name, data = draw.choice(samples())
    suffix = draw.choice(("", "", *SUFFIXES))
    graph = trial.folder / f"{name}{suffix}"
    graph.write_bytes(pack(data, suffix))
    hidden = draw.sample(OPTIONAL, draw.randint(1, len(OPTIONAL)))
    problem = draw.choice(BASE)
    ending = draw.choice((".csv", ".mtx", ".npz", ".parquet", ".wel", ".csv.gz", ".csv.zst"))
    record, picture = trial.folder / "r.jsonl", trial.folder / f"p.{draw.choice(('svg', 'png', 'html'))}"
    more = ["--source", "0"] if problem == "sssp" else ["--undirected"]
    commands = [
        ["info", graph],
        ["convert", graph, trial.folder / f"g{draw.choice(('.csr', '.mtx', '.csv', '.wel.zst', '.parquet'))}"],
        [problem, graph, "--device", "cpu", "--repeat", 1, *more, "-o", trial.folder / f"r{ending}", "--save", record],
        ["report", record, "-o", picture],
    ]
    whole = [run(*command) for command in commands]
    with pytest.MonkeyPatch.context() as patch:
        hide(patch, *hidden)
        ends = [run(*command) for command in commands]
    for command, before, end in zip(commands, whole, ends, strict=True):
        words = f"{' '.join(map(str, command))} without {', '.join(hidden)}: {end.code}, {end.err[-800:]}"
        missing = [package for package in hidden if f"'{package}" in end.err or f"{package} " in end.err]
        assert end.code == before.code or (end.code in (2, 3) and missing), words
        assert "Traceback" not in end.err, words
        assert end.code == before.code or "damaged" not in end.err, words
    return "as with them" if [end.code for end in ends] == [end.code for end in whole] else "named"


PART = Part("modules", "commands where packages of the extras are missing", 400, try_missing, 10)
