"""Does counted work predict a GPU's time?  Twenty steps of the logs, applied again, counted and timed.

    python docs/performance/predicts.py count counted.json     # emulated, a quarter of an hour on two cores
    python docs/performance/predicts.py time timed.json        # on a GPU, about three minutes
    python docs/performance/predicts.py page counted.json timed.json > docs/performance/predicts.md

A step is a change of the code as it is now: where the log says that it was faster, the change undoes it.  Each side of
it is a copy of package and kernels in a process of its own.  On the GPU the processes of all steps take turns.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOREST, BASE = "gpugraph/problems/mst/gpu_filter_boruvka.py", "cuda_kernels/filter_boruvka/base.cuh"
BUCKETS, STEPPING, HOOK = (
    "cuda_kernels/delta_stepping/buckets.cuh",
    "cuda_kernels/delta_stepping/base.cuh",
    "cuda_kernels/components.cu",
)
RESIDENT = "constexpr int RESIDENT = NARROW || MIXED"
LIGHT = "return LIGHT_ARCS + math.log(max(1, arcs / max(1, vertices))) / 4"
RMAT, WEIGHTED = ("rmat:12", "rmat:21"), ("rmat:12,w=1..255", "rmat:21,w=1..255")
UNIFORM = ("random:n=16384,m=131072", "random:n=4194304,m=33554432")
CLIQUES = ("ssca2:11", "ssca2:18")


@dataclass(frozen=True)
class Step:
    """A step: what the log calls it and where, whether it was faster there, its graphs, and what changes the code.

    Attributes:
        graphs: on the emulated device and on a GPU.
        changes: file, text that stands once in it, and what takes its place.
    """

    name: str
    log: str
    faster: bool
    problem: str
    graphs: tuple[str, str]
    changes: tuple[tuple[str, str, str], ...]
    source: str | None = None

    @property
    def algorithm(self) -> str:
        """The algorithm of the problem's log."""
        return {"mst": "filter-boruvka", "sssp": "delta-stepping", "components": "hook"}[self.problem]


def constant(file: str, name: str, old: str, new: str) -> tuple[str, str, str]:
    """Return the change of a constant of a kernel."""
    return file, f"{name} = {old};", f"{name} = {new};"


FLIGHTS = tuple(
    constant(BASE, f"{name}_FLIGHT", old, "1") for name, old in (("SHORT", "2"), ("GROUP", "3"), ("SMALL", "4"))
)

STEPS = (
    Step("fewer light arcs a vertex than four", "mst 2, 11, 28", True, "mst", RMAT, ((FOREST, LIGHT, "return 4.0"),)),
    Step(
        "heavy edges are held back", "mst, design 2", True, "mst", RMAT,
        ((FOREST, "if arcs >= max(FILTER_ARCS, self.block) else 0", "if arcs < 0 else 0"),),
    ),
    Step(
        "a matrix for the last rounds", "mst 20", True, "mst", ("grid:64x64", "grid:2048x2048"),
        ((FOREST, "return 1 if sizes.weight_bytes == 8 else", "return 1 if sizes.weight_bytes else"),),
    ),
    Step(
        "links of long chains are kept", "mst 16", True, "mst", ("path:8192,w=unit", "path:1048576,w=unit"),
        (constant(BASE, "LONG_WAY", "8", "31"),),
    ),
    Step("more weights under way at once", "mst 3, 9", True, "mst", RMAT, FLIGHTS),
    Step(
        "tiles are joined in shared memory", "components", True, "components", ("road:64x64", "road:4096x4096"),
        (constant(HOOK, "CLOSE", "8", "0"),),
    ),
    Step(
        "a threshold takes in an eighth of the vertices, not a sixteenth", "sssp 5", True, "sssp", WEIGHTED,
        (constant(BUCKETS, "NEAR_SHARE", "8", "16"),),
    ),
    Step(
        "buckets beyond a horizon are 8 times as wide", "sssp 14", True, "sssp", WEIGHTED,
        (constant(BUCKETS, "BEYOND_WIDTHS", "8", "1"),),
    ),
    Step(
        "a horizon on power-law graphs", "sssp, design 1", True, "sssp", WEIGHTED,
        (constant(BUCKETS, "HORIZON_DEGREE", "1.5", "1e9"),),
    ),
    Step(
        "a late horizon on uniform graphs", "sssp 12, 19", True, "sssp",
        ("random:n=4096,m=65536,w=1..255", "random:n=1048576,m=16777216,w=1..255"),
        (constant(BUCKETS, "LATE_SHARE", "10", "1"),),
    ),
    Step("one light arc a vertex", "mst, what did not work", False, "mst", UNIFORM, ((FOREST, LIGHT, "return 1.0"),)),
    Step("5.5 light arcs a vertex", "mst, experiment b", False, "mst", RMAT, ((FOREST, LIGHT, "return 5.5"),)),
    Step(
        "no more light arcs on clustered graphs", "mst, late rounds", False, "mst",
        ("knn:n=12288,k=8", "knn:n=2097152,k=8"), (constant(BASE, "CLOSING", "18", "0"),),
    ),
    Step(
        "heavy edges of grids held back", "mst, experiment b", False, "mst", ("grid:192x192", "grid:2048x2048"),
        (constant(BASE, "SPARSE", "4.2f", "0"),),
    ),
    Step(
        "a threshold takes in a fifth of the vertices", "sssp 13", False, "sssp", WEIGHTED,
        (constant(BUCKETS, "NEAR_SHARE", "8", "5"),),
    ),
    Step(
        "a first bucket of six widths", "sssp 13", False, "sssp", WEIGHTED,
        (constant(BUCKETS, "FIRST_WIDTHS", "3", "0.5"),),
    ),
    Step(
        "smaller hubs end the wait for a horizon", "sssp 17", False, "sssp",
        ("rmat:14,w=1..15,seed=13", "rmat:21,w=1..15,seed=13"), (constant(BUCKETS, "HUB_SHARE", "1024", "32768"),),
        "random:1",
    ),
    Step(
        "blocks of 256 threads", "sssp 13", False, "sssp", (f"{CLIQUES[0]},w=1..255", f"{CLIQUES[1]},w=1..255"),
        (
            (STEPPING, "constexpr int MOST_BLOCK = 512;", "constexpr int MOST_BLOCK = 256;"),
            (STEPPING, f"900\n{RESIDENT} ? 2 : 1;", f"900\n{RESIDENT} ? 4 : 2;"),
        ),
    ),
    Step(
        "four arcs in the first window", "components", False, "components", CLIQUES,
        (constant(HOOK, "FIRST_WINDOW", "2", "4"),),
    ),
    Step(
        "one row in 64 first", "components", False, "components", UNIFORM, (constant(HOOK, "PROBE", "16", "64"),),
    ),
)  # fmt: skip

ROUNDS, RUNS, AT_ONCE = 5, 5, 12
"""On the GPU: turns of all processes, timed runs in each turn, and processes that begin at once."""

COUNTED = ("sectors", "lanes", "atomics", "atomic_conflicts", "block_barriers", "grid_barriers", "launches")
"""Counters of the page."""

GATE = 0.02
"""A counter that grew by more than that is an alarm, as is a time on the GPU."""


# ------------------------------------------------------------------ both sides of a step


def copy_of(step: Step | None, folder: Path) -> Path:
    """Return a copy of package and kernels, changed as a step says."""
    for name in ("gpugraph", "cuda_kernels"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for file, old, new in step.changes if step else ():
        text = (folder / file).read_text("utf-8")
        if text.count(old) != 1:
            sys.exit(f"{file}: '{old}' stands {text.count(old)} times in it: that step is out of date")
        (folder / file).write_text(text.replace(old, new), "utf-8")
    return folder


def worker(folder: Path, step: Step, side: str) -> subprocess.Popen[str]:
    """Start the process of one side of a step; ``side`` is ``count`` or ``time``."""
    job = {"problem": step.problem, "algorithm": step.algorithm, "source": step.source}
    job["graph"] = step.graphs[side == "time"]
    words = [sys.executable, __file__, f"worker-{side}", json.dumps(job)]
    above = os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *([above] if above else [])])}
    return subprocess.Popen(words, cwd=folder, env=environment, stdin=-1, stdout=-1, text=True)


def answer(process: subprocess.Popen[str], request: str = "") -> Any:
    """Send a line to a worker and return its next."""
    assert process.stdin is not None
    assert process.stdout is not None
    if request:
        process.stdin.write(request + "\n")
        process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"a worker ended: {process.args}")
    return json.loads(line)


def sides(folder: Path) -> list[tuple[Path, Step]]:
    """Return the copies of code and what runs on each, those that are alike once: as it is first, then each step's."""
    whole = copy_of(None, folder / "now")
    alike = {(step.problem, step.graphs, step.source): (whole, step) for step in STEPS}
    return [*alike.values(), *((copy_of(step, folder / str(i)), step) for i, step in enumerate(STEPS))]


def paired(results: list[Any]) -> dict[str, dict[str, Any]]:
    """Return the results by step and side, ``without`` the step and ``with`` it."""
    keys = list(dict.fromkeys((step.problem, step.graphs, step.source) for step in STEPS))
    found = {}
    for step, changed in zip(STEPS, results[len(keys) :], strict=True):
        now = results[keys.index((step.problem, step.graphs, step.source))]
        found[step.name] = {"without": changed if step.faster else now, "with": now if step.faster else changed}
    return found


def count(output: str) -> None:
    """Count the work of both sides of all steps on the emulated device."""

    def one(side: tuple[Path, Step]) -> Any:
        process = worker(*side, "count")
        found = answer(process)
        process.communicate()
        print(f"{side[1].name}: {found['work']['sectors']:,} sectors, {found['status']}", file=sys.stderr, flush=True)
        return found

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(one, sides(Path(folder))))
    Path(output).write_text(json.dumps({"steps": paired(results)}, indent=1) + "\n", "utf-8")


def time_(output: str) -> None:
    """Time both sides of all steps on a GPU, in turns."""

    def begin(side: tuple[Path, Step]) -> tuple[subprocess.Popen[str], Any]:
        process = worker(*side, "time")
        return process, answer(process)  # compiled, and the graph is there

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as pool:
        started = list(pool.map(begin, sides(Path(folder))))
        samples: list[list[float]] = [[] for _ in started]
        for _ in range(ROUNDS):
            for (process, _), mine in zip(started, samples, strict=True):
                mine += answer(process, "run")
        digests = list(pool.map(lambda one: answer(one[0], "digest"), started))
        for process, _ in started:
            process.communicate()
    results = [
        {"ms": statistics.median(mine) * 1e3, "samples_s": mine, "digest": digest, "device": first["device"]}
        for mine, digest, (_, first) in zip(samples, digests, started, strict=True)
    ]
    Path(output).write_text(json.dumps({"steps": paired(results)}, indent=1) + "\n", "utf-8")
    for name, two in paired(results).items():
        without, made = two["without"], two["with"]
        equal = "equal" if made["digest"] == without["digest"] else "RESULTS DIFFER"
        print(f"{made['ms'] / without['ms']:.3f}  {name}: {without['ms']:.3f} to {made['ms']:.3f} ms, {equal}")


# ------------------------------------------------------------------ the processes


def count_here(job: dict[str, Any]) -> None:
    """Print the work of a verified run on the emulated device."""
    from dataclasses import replace

    from gpugraph.measure.cell import Cell
    from gpugraph.measure.run_cell import run_cell
    from gpugraph.measure.sampling import Sampling

    cell = Cell(job["problem"], job["graph"], job["algorithm"], device="emulated", source=job["source"])
    record = run_cell(cell, sampling=replace(Sampling.fixed(1, 0), counters=True))
    shape = record.shape
    own = {"rounds": shape.rounds, **shape.counters}
    found = {"work": shape.work.total, "phases": shape.work.phases, "counters": own}
    print(json.dumps({**found, "status": record.status, "device": shape.device.name}), flush=True)


def time_here(job: dict[str, Any]) -> None:
    """Answer each line ``run`` by the seconds of runs, each after an untimed one, and ``digest`` by the result's."""
    from gpugraph.base.clock import HostClock, NullClock
    from gpugraph.devices.discovery import select_device
    from gpugraph.graph.read_options import ReadOptions
    from gpugraph.problems.contract import Input
    from gpugraph.problems.registry import find_algorithm, load_problem

    device, _ = select_device(os.environ.get("PREDICTS_DEVICE", "cuda"))
    problem = load_problem(job["problem"])
    given = Input(job["problem"], job["graph"], ReadOptions())
    opened = problem.admit(problem.open(given, HostClock(), lambda words: None, device))
    (query, *_) = problem.queries(opened, {"source": job["source"], "seed": 1})
    view, _, _ = problem.to_device(problem.view(opened, (), None), device)
    algorithm = find_algorithm(job["problem"], job["algorithm"], device.kind)
    state = algorithm.prepare(view, device, **{option.name: option.default for option in algorithm.options})
    handle = algorithm.run(state, NullClock(), *query)
    device.synchronize()
    if device.kind == "cuda":  # what building the rows took is left to the other processes
        device.cupy.get_default_memory_pool().free_all_blocks()
    print(json.dumps({"device": device.name}), flush=True)
    for line in sys.stdin:
        found: list[float] | str = []
        if line.strip() == "digest":
            found = algorithm.finish(state, algorithm.fetch(state, handle), *query).fingerprint()
        for _ in range(RUNS if line.strip() == "run" else 0):
            algorithm.run(state, NullClock(), *query)
            watch, clock = device.stopwatch(), NullClock()
            clock.stop = watch.stop
            watch.start()
            handle = algorithm.run(state, clock, *query)
            if not clock.stopped:
                watch.stop()
            assert isinstance(found, list)
            found.append(watch.seconds)
        print(json.dumps(found), flush=True)


# ------------------------------------------------------------------ the page


def ranks(values: list[float]) -> list[float]:
    """Return the ranks of values, the mean of those that equal ones share."""
    below = [sum(other < value for other in values) for value in values]
    return [less + (values.count(value) + 1) / 2 for less, value in zip(below, values, strict=True)]


def rank_correlation(x: list[float], y: list[float]) -> float:
    """Return Spearman's coefficient, 0 where one of the two is constant."""
    a, b = ranks(x), ranks(y)
    return 0.0 if len(set(a)) == 1 or len(set(b)) == 1 else statistics.correlation(a, b)


def growth(two: dict[str, Any], counter: str) -> float:
    """Return by what factor a counter grew with the step; 1 where neither side has any."""
    before, after = (two[side]["work"].get(counter, 0) for side in ("without", "with"))
    return after / before if before else math.inf if after else 1.0


class Study:
    """What was counted and timed of all steps, side by side.

    Attributes:
        ratio: by step, its GPU time over that without it.
        judged: steps whose times differ by more than ``GATE``.
    """

    def __init__(self, counted: str, timed: str) -> None:
        work, times = (json.loads(Path(path).read_text("utf-8"))["steps"] for path in (counted, timed))
        self.ratio = {step: times[step.name]["with"]["ms"] / times[step.name]["without"]["ms"] for step in STEPS}
        self.grown = {counter: {step: growth(work[step.name], counter) for step in STEPS} for counter in COUNTED}
        self.judged = [step for step in STEPS if max(self.ratio[step], 1 / self.ratio[step]) > 1 + GATE]
        self.compiler, self.device = (next(iter(of.values()))["with"]["device"] for of in (work, times))

    def alarms(self, counters: tuple[str, ...], *, to_slower: bool) -> list[Step]:
        """Return the steps that grew one of the counters, each taken towards its slower side, or its faster one."""

        def grows(step: Step, counter: str) -> bool:
            found = self.grown[counter][step]
            taken = found if (self.ratio[step] > 1) == to_slower else 1 / found if found else math.inf
            return taken > 1 + GATE

        return [step for step in self.judged if any(grows(step, counter) for counter in counters)]

    def row(self, title: str, counters: tuple[str, ...]) -> str:
        """Return the row of a gate by some counters."""
        caught, false = (len(self.alarms(counters, to_slower=to_slower)) for to_slower in (True, False))
        of_one = f"{self.correlation(counters[0]):.2f}" if len(counters) == 1 else "–"
        return f"| {title} | {caught} of {len(self.judged)} | {false} of {len(self.judged)} | {of_one} |"

    def correlation(self, counter: str) -> float:
        """Return the rank correlation of a counter's growth with that of the time, over all steps."""
        return rank_correlation([*self.ratio.values()], [*self.grown[counter].values()])


ANSWER = """\
# Does counted work predict a GPU's time?

It does {answer}. [Counters](../counters.md) were compared with times of {steps} changes from the logs of
[forests](mst.md), [paths](sssp.md) and [components](components.md). For {judged} of them the times of one
{device} differ by more than {gate:g} %. In the slower direction {caught} of these changes touch more sectors.
In the faster direction {false} do, which is a false alarm. The rank correlation of sectors and times is
{agree:.2f}.

Each change was applied to the present code. The code already contains the changes that the log calls *faster*, so
these were undone. The GPU ran large graphs, the emulated device small ones of the same family. Numbers are the value
with the change divided by that without it.
"""

LIMITS = """\
Counters cannot see latency, caches or clocks. More loads in flight, fewer spilled registers, and contended words change
the time and no counter. A change that pays only on large graphs, or by the number of
blocks, may do nothing on a small graph and four emulated multiprocessors. A change may also trade one counter for
another, such as fewer barriers for more sectors. So a gate shows that a kernel does more work. Only a GPU
shows whether that costs time.

Counted by {compiler}.
Timed on one {device}: medians of {runs} runs, all versions in turns.

```sh parsed: needs a GPU, and minutes
python docs/performance/predicts.py count counted.json
python docs/performance/predicts.py time timed.json
python docs/performance/predicts.py page counted.json timed.json > docs/performance/predicts.md
```"""


def page(counted: str, timed: str) -> None:
    """Print the page."""
    study, sectors = Study(counted, timed), ("sectors",)
    caught, false = (len(study.alarms(sectors, to_slower=to_slower)) for to_slower in (True, False))
    good = caught >= 0.8 * len(study.judged) and false <= 0.2 * len(study.judged)
    print(
        ANSWER.format(
            answer="for the most part" if good else "in part", steps=len(STEPS), judged=len(study.judged),
            device=study.device, gate=100 * GATE, caught=caught, false=false, agree=study.correlation("sectors"),
        )
    )  # fmt: skip
    print(f"| change | log | log says | GPU time | {' | '.join(COUNTED[:3])} |\n|---|---|---|--:|--:|--:|--:|")
    for step in sorted(STEPS, key=lambda step: study.ratio[step]):
        cells = [f"{study.grown[name][step]:.3f}" for name in COUNTED[:3]]
        says = "faster" if step.faster else "slower"
        print(f"| {step.name} | {step.log} | {says} | {study.ratio[step]:.3f} | {' | '.join(cells)} |")
    print(f"\nA gate at {100 * GATE:g} %, by counter; *any* is an alarm of one or more:\n")
    print("| counter | slower changes caught | false alarms | rank correlation with time |\n|---|--:|--:|--:|")
    for name in COUNTED:
        print(study.row(name.replace("_", " "), (name,)))
    print(study.row("any", COUNTED))
    missed = [step.name for step in study.judged if step not in study.alarms(sectors, to_slower=True)]
    print(f"\nNot shown by sectors: {'; '.join(missed) or 'none'}.\n")
    print(LIMITS.format(compiler=study.compiler, device=study.device, runs=ROUNDS * RUNS))


def main() -> None:
    """Do what the command line names."""
    what, *rest = sys.argv[1:] or [""]
    known = {"count": count, "time": time_, "page": page}
    if what in known:
        known[what](*rest)
    elif what.startswith("worker-"):
        sys.path.insert(0, os.getcwd())
        {"count": count_here, "time": time_here}[what.removeprefix("worker-")](json.loads(rest[0]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
