"""Figures of docs/performance/cpu.md: our algorithms on the CPU beside other people's programs, interleaved.

    python docs/measure/cpu_figures.py mst|sssp|components [GRAPH …]

The programs of docs/peers.md must be on the PATH: pbbs-mst, pasgal-sssp, gapbs-sssp, gapbs-cc.
For each graph and program the table has the least and the median time of a run, and the processor time (user and
system) of one, which another load on the machine disturbs less.  All answers must be equal.
"""

from __future__ import annotations

import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from gpugraph.clock import NullClock
from gpugraph.compiled import threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.generate import generate
from gpugraph.graph.load import save_file
from gpugraph.graph.view import GraphView
from gpugraph.problems.registry import find_algorithm, load_problem

GRAPHS = {
    "mst": "rmat:18 rmat:20 random:n=1048576,m=8388608 grid:1024x1024 knn:n=1048576,k=8 road:2048x2048 ssca2:18",
    "sssp": "rmat:18,w=1..255 rmat:20,w=1..255 random:n=1048576,m=3670016,w=1..255 knn:n=1048576,k=8 "
    "road:1024x1024,w=1..1000 road:2048x2048,w=1..1000 ssca2:18,inter=0.5,w=1..255",
    "components": "rmat:18 rmat:20 random:n=1048576,m=8388608 grid:1024x1024 road:1024x1024 ssca2:18",
}
ALGORITHMS = {"mst": "boruvka", "sssp": "delta-stepping", "components": "afforest"}
ROUNDS, RUNS = 2, 3
Times = tuple[list[float], float]


def processor_seconds(who: int) -> float:
    """Return the user and system time of this process or of its children so far."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def ours(problem: str, graph: CSRGraph, query: tuple[int, ...]) -> tuple[Callable[[], Times], str]:
    """Return what measures our algorithm a few times, and the figure of its answer."""
    algorithm = find_algorithm(problem, ALGORITHMS[problem], "cpu")
    view = GraphView.of(graph)
    assert algorithm.compile is not None
    algorithm.compile(view, None)
    state = algorithm.prepare(view, None)
    result = algorithm.finish(state, algorithm.fetch(state, algorithm.run(state, NullClock(), *query)), *query)
    summary = result.summary()

    def measure() -> Times:
        spent, before = [], processor_seconds(resource.RUSAGE_SELF)
        for _ in range(RUNS):
            start = time.perf_counter()
            algorithm.run(state, NullClock(), *query)
            spent.append((time.perf_counter() - start) * 1e3)
        return spent, (processor_seconds(resource.RUSAGE_SELF) - before) * 1e3 / RUNS

    return measure, str(summary.get("total_weight", summary.get("distance_sum", summary.get("components"))))


def run_program(words: str) -> tuple[str, float]:
    """Run a command; return what it printed, and its processor time in ms."""
    before = processor_seconds(resource.RUSAGE_CHILDREN)
    told = {
        **os.environ,
        "PARLAY_NUM_THREADS": str(threads()),
        "OMP_NUM_THREADS": str(threads()),
        "OMP_WAIT_POLICY": "passive",
    }
    done = subprocess.run(words.split(), capture_output=True, text=True, env=told, check=True, timeout=300)
    return done.stdout, (processor_seconds(resource.RUSAGE_CHILDREN) - before) * 1e3


def program(command: str, times: str, unit: float, answer: str, expected: str) -> Callable[[], Times]:
    """Return what measures another program a few times; ``{runs}`` in the command is how often."""

    def measure() -> Times:
        printed, spent = run_program(command.format(runs=RUNS))
        _, once = run_program(command.format(runs=1))
        found = [each.replace(",", "") for each in re.findall(answer, printed)]
        assert not answer or (found and set(found) == {expected}), (command, set(found), expected)
        return [float(each) * unit for each in re.findall(times, printed)], max(0.0, spent - once) / (RUNS - 1)

    return measure


def programs(
    problem: str, graph: CSRGraph, folder: Path, query: tuple[int, ...], figure: str
) -> dict[str, Callable[[], Times]]:
    """Return by name what measures the other programs on a graph."""
    if problem == "components":
        save_file(replace(graph, weights=np.ones(graph.arcs, np.uint32)), str(folder / "g.sg"))
        return {
            "GAPBS Afforest": program(f"gapbs-cc -f {folder}/g.sg -n {{runs}}", r"Trial Time: +([0-9.]+)", 1e3, "", "")
        }
    save_file(graph, str(folder / "g.egr"))
    if problem == "mst":
        line = f"pbbs-mst {folder}/g.egr {{runs}}"
        return {
            "PBBS filter-Kruskal": program(line, r"m(?:in|edian)_ms: ([0-9.]+)", 1, r"(?m)^weight: ([0-9]+)", figure)
        }
    save_file(graph, str(folder / "g.wsg"))
    mean = float(graph.weights.mean())
    line = f"pasgal-sssp {folder}/g.egr {{runs}} {query[0]}"
    found = {"PASGAL ρ": program(line, r"m(?:in|edian)_ms: ([0-9.]+)", 1, r"(?m)^distances: ([0-9]+)", figure)}
    for share in (0.25, 1, 4):
        delta = max(1, round(mean * share))
        line = f"gapbs-sssp -f {folder}/g.wsg -r {query[0]} -n {{runs}} -d {delta} -a"
        found[f"GAPBS Δ {delta}"] = program(line, r"Trial Time: +([0-9.]+)", 1e3, r"(?m)^distances: ([0-9]+)", figure)
    return found


def main(problem: str, specs: list[str]) -> None:
    """Print a row for each graph."""
    load_problem(problem)
    print(f"On {threads()} threads:\n")
    print("| graph | ours, ms | processor | best other | ms | processor | ours/other | processor |")
    print("|---|--:|--:|---|--:|--:|--:|--:|")
    logs: tuple[list[float], list[float]] = ([], [])
    for spec in specs:
        graph = generate(spec)
        query = (int(np.argmax(graph.degrees)),) if problem == "sssp" else ()
        measure, figure = ours(problem, graph, query)
        with tempfile.TemporaryDirectory() as folder:
            entrants = {"ours": measure, **programs(problem, graph, Path(folder), query, figure)}
            spent: dict[str, list[float]] = {name: [] for name in entrants}
            processor = dict.fromkeys(entrants, np.inf)
            for _ in range(ROUNDS):
                for name, each in entrants.items():
                    times, used = each()
                    spent[name] += times
                    processor[name] = min(processor[name], used)
        best = min((name for name in entrants if name != "ours"), key=lambda name: min(spent[name]))
        least = min(processor[name] for name in entrants if name != "ours")
        ratios = min(spent["ours"]) / min(spent[best]), processor["ours"] / least
        for log, ratio in zip(logs, ratios, strict=True):
            log.append(float(np.log(ratio)))
        cells = [f"{min(spent[name]):.1f} ({statistics.median(spent[name]):.1f})" for name in ("ours", best)]
        row = [spec, cells[0], f"{processor['ours']:.0f}", best, cells[1], f"{least:.0f}"]
        print("|", " | ".join([*row, f"{ratios[0]:.2f}", f"{ratios[1]:.2f}"]), "|", flush=True)
    means = [float(np.exp(np.mean(log))) for log in logs]
    print(f"| *geometric mean* | | | | | | **{means[0]:.2f}** | **{means[1]:.2f}** |")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:] or GRAPHS[sys.argv[1]].split())
