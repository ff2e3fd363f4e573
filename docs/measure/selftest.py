"""Does `gpugraph compare` tell noise from change on this machine?

    python docs/measure/selftest.py [--device cuda] [--tries 20]

Runs the same cells again and again, each time by `gpugraph bench` with a worker of its own, and compares every run with
the one before: no try may find a regression.  Then one more run, in which the algorithm of one cell is held up for a
tenth of its time by a worker that this script starts in the place of gpugraph's: that cell must be found slower, and no
other.  Exits with 1 otherwise.  The graphs are generated once, as files in FOLDER; the records of all runs stay there.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

MST, SSSP = ("boruvka", "filter-boruvka"), ("delta-stepping",)
SLOWED = "boruvka"
HELD_UP = "GPUGRAPH_SELFTEST"
"""Names the environment variable by which a worker of this script learns what to hold up: algorithm, graph, seconds."""

SWEEP = """
title = "self-comparison"
[axes]
problem = ["mst", "sssp"]
graph = {graphs}
device = "{device}"
verify = "certificate"
[axes.algorithm]
mst = {mst}
sssp = {sssp}
[sampling]
min_samples = {samples}
max_samples = {samples}
warmup = 3
time_limit_s = 60.0
bandwidth = false
transfers = 1
"""


def bench(*words: str) -> None:
    """Run `gpugraph bench` in this process; its cells run in a worker."""
    from gpugraph.cli.group import cli

    try:
        cli.main(["bench", "--quiet", *words], prog_name="gpugraph")
    except SystemExit as ending:
        if ending.code:
            sys.exit(ending.code)


def compared(base: Path, new: Path, threshold: float) -> Any:
    """Return the comparison of two files of records."""
    from gpugraph.measure.compare import compare
    from gpugraph.measure.record_file import read_records

    return compare(read_records([base])[0], read_records([new])[0], threshold=threshold)


def told(comparison: Any) -> str:
    """Return a comparison in one line."""
    verdicts = [cell.verdict for cell in comparison.cells]
    counts = ", ".join(f"{verdicts.count(name)} {name}" for name in dict.fromkeys(verdicts))
    far = max((cell.ratio for cell in comparison.cells), key=lambda ratio: abs(ratio - 1))
    return f"{counts}; mean {comparison.geometric_mean:.4f}, furthest {far:.4f}"


def slowed_worker() -> None:
    """Serve as gpugraph's worker does, with one algorithm held up on one graph after each of its runs."""
    import gpugraph.measure.cell_run as cell_run
    from gpugraph.bench.worker import main as serve

    name, graph, seconds = json.loads(os.environ[HELD_UP])
    resolve = cell_run.resolve_algorithm

    def resolved(cell: Any, problem: Any, given: Any, kind: str) -> Any:
        algorithm = resolve(cell, problem, given, kind)
        if cell.algorithm != name or str(cell.graph) != graph:
            return algorithm
        devices = []

        def prepare(view: Any, device: Any, **options: Any) -> Any:
            devices.append(device)
            return algorithm.prepare(view, device, **options)

        def run(state: Any, clock: Any, *query: Any) -> Any:
            handle = algorithm.run(state, clock, *query)
            devices[-1].synchronize()
            until = time.perf_counter() + seconds
            while time.perf_counter() < until:
                pass
            return handle

        return dataclasses.replace(algorithm, prepare=prepare, run=run)

    cell_run.resolve_algorithm = resolved  # type: ignore[assignment]
    serve()


def planted(folder: Path, base: Path, words: Sequence[str], graph: str, share: float) -> Path:
    """Return the records of one more run, in which one cell takes a share longer than in ``base``."""
    from gpugraph.bench.process import WorkerProcess
    from gpugraph.measure.record_file import read_records

    (row,) = [row for row in read_records([base])[0] if row.algorithm == SLOWED and row.axes["graph"] == graph]
    os.environ[HELD_UP] = json.dumps([SLOWED, graph, share * (row.kernel_s or 0.0)])
    command = [sys.executable, os.path.abspath(__file__), str(os.getpid())]
    usual = WorkerProcess.__init__
    WorkerProcess.__init__ = functools.partialmethod(usual, command)  # type: ignore[assignment]
    try:
        bench(*words, "--save", str(folder / "planted.jsonl"))
    finally:
        WorkerProcess.__init__ = usual  # type: ignore[method-assign]
        del os.environ[HELD_UP]
    return folder / "planted.jsonl"


@click.command(help=(__doc__ or "").partition("\n\n")[2])
@click.option("--device", default="cuda", show_default=True)
@click.option("--graph", "specs", multiple=True, default=["rmat:18", "rmat:20"], show_default=True, help="Repeatable.")
@click.option("--tries", default=20, show_default=True, help="Comparisons of a run with the one before.")
@click.option("--samples", default=40, show_default=True, help="Of each cell in each run.")
@click.option("--threshold", default=0.05, show_default=True, help="As of gpugraph compare.")
@click.option("--planted", "share", default=0.1, show_default=True, help="What the last run is slowed down by.")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), default=Path("selftest"), show_default=True)
def main(
    device: str, specs: tuple[str, ...], tries: int, samples: int, threshold: float, share: float, folder: Path
) -> None:
    """Run the tries, then the run with the planted slow-down."""
    from gpugraph import generate
    from gpugraph.graph.load import save_file

    began = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    graphs = []
    for spec in specs:
        path = folder / f"{spec.replace(':', '-')}.csr"
        if not path.exists():
            save_file(generate(spec), path)
        graphs.append(str(path))
    lists = {"graphs": json.dumps(graphs), "mst": json.dumps(MST), "sssp": json.dumps(SSSP)}
    (folder / "sweep.toml").write_text(SWEEP.format(device=device, samples=samples, **lists), "utf-8")
    words = ["--sweep", str(folder / "sweep.toml")]
    for old in folder.glob("*.jsonl"):
        old.unlink()
    runs = [folder / f"run-{turn:02}.jsonl" for turn in range(tries + 1)]
    clean = 0
    with open(folder / "tables.txt", "w", encoding="utf-8") as tables:
        for turn, path in enumerate(runs):
            with contextlib.redirect_stdout(tables):
                bench(*words, "--save", str(path))
            if turn:
                comparison = compared(runs[turn - 1], path, threshold)
                clean += not comparison.regressions
                print(f"try {turn}: {told(comparison)}", flush=True)
        with contextlib.redirect_stdout(tables):
            last = planted(folder, runs[-1], words, graphs[-1], share)
    comparison = compared(runs[-1], last, threshold)
    found = [(cell.base.algorithm, cell.base.axes["graph"]) for cell in comparison.regressions]
    print(f"\nno regression in {clean} of {tries} tries of {len(comparison.cells)} cells, threshold {threshold:.0%}")
    print(f"planted: {SLOWED} on {specs[-1]} held up by {share:.0%}: {told(comparison)}")
    for cell in comparison.cells:
        low, high = cell.interval or (0.0, 0.0)
        print(
            f"  {cell.base.algorithm:<15} {cell.base.graph_name:<12} "
            f"{cell.ratio:.4f} ({low:.4f}..{high:.4f}) {cell.verdict}"
        )
    print(f"{time.monotonic() - began:.0f} s")
    sys.exit(clean < tries or found != [(SLOWED, graphs[-1])])


if __name__ == "__main__":
    slowed_worker() if HELD_UP in os.environ else main()
