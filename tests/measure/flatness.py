"""How the time of filter-boruvka and delta-stepping follows each of their tuned constants, on drawn graphs.

``python -m tests.measure.flatness --draws 1..40`` runs every graph with half and with twice of each constant, all of
them in turns, and prints the geometric mean of time over the time with the constant as it is.  The constants of the
kernels become variables of the module, so that one compilation serves all values.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import dataclasses
import json
import math
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from gpugraph.base.clock import NullClock
from gpugraph.base.errors import OutOfMemory
from gpugraph.devices.discovery import select_device
from gpugraph.devices.kernel_source import load_source
from gpugraph.devices.kernels import compile_kernels
from gpugraph.ext.builds.kernels import DEFINE_SETS
from gpugraph.graph.generate import generate
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.problems.mst import gpu_filter_boruvka
from gpugraph.problems.registry import load_problem
from gpugraph.problems.sssp import gpu_delta_stepping
from gpugraph.records.statistics import median

FACTORS = (0.5, 2.0)


@dataclass(frozen=True)
class Tuned:
    """The constants of an algorithm.

    Attributes:
        driver: its module.
        kernel: constants of its kernel file.
        host: constants of its driver.
        only: those that must not be doubled, or not be halved, for memory is laid out for them: with the one factor.
    """

    driver: Any
    kernel: tuple[str, ...]
    host: tuple[str, ...]
    only: dict[str, float]


_SSSP = """
    UNEVEN_SHARE UNEVEN_STEPS REPEATED_LIMIT_FACTOR CUT_SHARE
    IDLE BUSY PACKED_A_STEP HORIZON_DEGREE FINE LONG_GROUP LONG_SHARE PACKED_SHARE LOCAL_LIMIT_FACTOR OVERLOAD_FACTOR
    OVERLOAD_STEPS OVERLOAD_STEPS_WARP_PER_ROW BUSY_SHARE FEW_REPEATS FEW_IF_SHORT RARE_REPEATS SHORT BEYOND_WIDTHS
    NEAR_SHARE NEAR_SHARE_IF_DIRECTED MOST_SHARE TAIL_SHARE MEAN_DEGREE HORIZON_ARCS FIRST_WIDTHS FINE_WIDTHS
    OVERLOAD_FACTOR_WARP_PER_ROW
    LATE_HORIZON LATE_SHARE LATE_ARCS HOPS SOURCE_AMONG HUB_SHARE HUB_DEGREES TO_HUBS HUB_ROW LOCAL_TURNS
    LOCAL_STEPS OWN_STEPS CARRIED_STEPS SPARE_FACTOR SMALL_GROUP SMALL_ARCS EXPANDED EXPANDED_WIDTHS
"""
_MST = """
    SPARSE CLOSING MORE_CLUSTERED MOST_LIGHT MERGED LESS_MERGED SHORT_ROW LONGER_ROW MEDIUM_ROW MOST_AHEAD
    TARGETS_AHEAD MOST_INSIDE CLIQUE_ARCS FEW_ARCS HALF_LIGHT
"""


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


TUNED = {
    "sssp": Tuned(
        gpu_delta_stepping,
        _names(_SSSP),
        ("PACKED_DEGREE", "LOCAL_SHARE", "LOCAL_DEGREE", "ARCS_PER_THREAD"),
        {"LOCAL_LIMIT_FACTOR": 0.5, "REPEATED_LIMIT_FACTOR": 0.5, "LOCAL_SHARE": 0.5, "LATE_HORIZON": 0.5},
    ),
    "mst": Tuned(
        gpu_filter_boruvka,
        _names(_MST),
        ("FILTER_ARCS", "ALL_LISTED", "LIGHT_ARCS", "FEW_PER_THREAD", "ARCS_PER_VERTEX"),
        {"MOST_LIGHT": 0.5},
    ),
}


@dataclass(frozen=True)
class Variant:
    """One constant times a factor."""

    constant: str
    factor: float

    def of(self, value: Any) -> Any:
        """Return what the constant becomes: of a whole number a whole one, at least 1."""
        changed = value * self.factor
        return max(1, math.floor(changed + 0.5)) if isinstance(value, int | np.integer) else changed


def variants(tuned: Tuned) -> list[Variant]:
    """Return all that are run beside the constants as they are."""
    names = (*tuned.kernel, *tuned.host)
    return [Variant(n, f) for n in names for f in FACTORS if f == tuned.only.get(n, f)]


# ------------------------------------------------------------------ constants as variables

_TYPES = {"int": np.int32, "uint32": np.uint32, "uint64": np.uint64, "float64": np.float64, "float": np.float32}


def with_variables(file: str, names: tuple[str, ...], qualifier: str) -> tuple[str, dict[str, Any]]:
    """Return a kernel file's text in which constants are variables, and the dtype of each."""
    text, dtypes = load_source(file).text, {}
    for name in names:
        text, count = re.subn(rf"\bconstexpr (\w+) {name} =", rf"{qualifier} \1 {name} =", text)
        if count == 0:
            raise KeyError(f"{file} has no constant {name}")
        (kind,) = set(re.findall(rf"{re.escape(qualifier)} (\w+) {name} =", text))  # a header may be there twice
        dtypes[name] = _TYPES[kind]
    return text, dtypes


class Variables:
    """The variables of all modules that a device has loaded of a file."""

    def __init__(self, device: Any, file: str, dtypes: dict[str, Any]):
        self._device, self._stem, self._dtypes = device, Path(file).stem, dtypes
        self._initial: dict[tuple[str, int], Any] = {}

    def _addresses(self, name: str) -> Iterator[int]:
        if self._device.kind == "cuda":
            for (cubin, _), (raw, _) in self._device._modules.items():
                if cubin.name.startswith(self._stem):
                    yield int(raw.get_global(name).ptr)
            return
        libraries = {k._library for (path, *_), k in self._device._kernels.items() if Path(path).stem == self._stem}
        for library in libraries:
            yield ctypes.addressof(ctypes.c_char.in_dll(library._handle, name))

    def _move(self, host: np.ndarray[Any, Any], address: int, *, read: bool) -> None:
        pair = (host.ctypes.data, address) if read else (address, host.ctypes.data)
        if self._device.kind == "cuda":
            self._device._runtime.memcpy(*pair, host.nbytes, 2 if read else 1)
        else:
            ctypes.memmove(*pair, host.nbytes)

    @contextlib.contextmanager
    def changed(self, variant: Variant | None) -> Iterator[None]:
        """Change a variable, and change it back."""
        if variant is None or variant.constant not in self._dtypes:
            yield
            return
        self._device.synchronize()
        name = variant.constant
        assert any(True for _ in self._addresses(name)), f"no module has {name}"
        for address in self._addresses(name):
            value = np.zeros(1, self._dtypes[name])
            self._move(value, address, read=True)
            value = np.array([self._initial.setdefault((name, address), value[0])])
            self._move(np.array([variant.of(value[0])], value.dtype), address, read=False)
        try:
            yield
            self._device.synchronize()
        finally:
            for address in self._addresses(name):
                if (name, address) in self._initial:
                    value = np.array([self._initial[name, address]], self._dtypes[name])
                    self._move(value, address, read=False)


# ------------------------------------------------------------------ runs


def drawn_input(device: Any, problem: str, spec: str, sources: int) -> tuple[Any, Any, Any]:
    """Return a graph, itself on the device, and what ``run`` gets of its random sources."""
    solves = load_problem(problem)
    graph = solves.admit(generate(spec, device=device))
    view, _, _ = make_resident(GraphView.of(graph), device)
    return graph, view, solves.queries(graph, {"source": f"random:{sources}"})


def measure(device: Any, problem: str, variables: Variables, view: Any, queries: Any, seconds: float) -> dict[Any, Any]:
    """Return the median seconds of each variant, None for the constants as they are, in turns on one graph.

    Args:
        device: where.
        problem: which.
        variables: of its kernel file.
        view: the graph there.
        queries: what ``run`` gets.
        seconds: about how long all runs may take.
    """
    tuned = TUNED[problem]
    driver = tuned.driver
    chosen: list[Variant | None] = [None, *variants(tuned)]
    base = driver.State(view, device)
    states = dict.fromkeys(chosen, base)
    for variant in chosen:
        if variant is not None and variant.constant in tuned.host:
            value = getattr(driver, variant.constant)
            setattr(driver, variant.constant, variant.of(value))
            try:
                states[variant] = driver.State(view, device)
            except OutOfMemory:
                del states[variant]
            finally:
                setattr(driver, variant.constant, value)
    watch = device.stopwatch()

    def run(variant: Variant | None, query: Any) -> float:
        with variables.changed(variant):
            watch.start()
            driver.run(states[variant], NullClock(), *query)
            watch.stop()
            return float(watch.seconds)

    for query in queries:
        run(None, query)
    around = sum(min(run(None, query) for _ in range(3)) for query in queries)
    turns = max(1, min(5, int(seconds / (around * len(states)))))
    times: dict[Any, list[list[float]]] = {variant: [[] for _ in queries] for variant in states}
    for _ in range(turns):
        for at, query in enumerate(queries):
            for number, variant in enumerate(states):
                if number % 16 == 0:
                    times[None][at].append(run(None, query))
                times[variant][at].append(run(variant, query))
    if problem == "sssp" and view.vertices <= 2**20:
        right = device.download(driver.run(base, NullClock(), *queries[0]))
        for variant, state in states.items():
            with variables.changed(variant):
                found = device.download(driver.run(state, NullClock(), *queries[0]))
            assert np.array_equal(found, right), f"{variant} gives other distances"
    return {variant: sum(map(median, taken)) for variant, taken in times.items()}


def compile_all(problem: str, file: str, arch: str) -> None:
    """Compile what graphs of every type of weight need, side by side."""
    sets = DEFINE_SETS[TUNED[problem].driver.FILE.name]
    with ProcessPoolExecutor(len(sets), get_context("spawn")) as pool:
        list(pool.map(compile_kernels, [file] * len(sets), sets, [arch] * len(sets)))


def table(found: dict[Variant, list[tuple[float, int]]]) -> str:
    """Return a line for each constant: the geometric means over the draws, and the draws that change most."""
    lines = ["constant                             x 1/2   least   most   |   x 2   least   most"]
    for name in dict.fromkeys(variant.constant for variant in found):
        parts = []
        for factor in FACTORS:
            ratios = found.get(Variant(name, factor), [])
            if not ratios:
                parts.append("   -  " + " " * 16)
                continue
            mean = math.exp(sum(math.log(ratio) for ratio, _ in ratios) / len(ratios))
            (low, least), (high, most) = min(ratios), max(ratios)
            parts.append(f"{mean:6.3f} {low:.2f} ({least}) {high:.2f} ({most})")
        flat = all(abs(float(part.split()[0]) - 1) < 0.05 for part in parts if "(" in part)
        lines.append(f"{name:34} {' | '.join(parts)}{'' if flat else '   not flat'}")
    return "\n".join(lines)


def main() -> int:
    """Measure how flat the tuned constants are; see the module's docstring."""
    parser = argparse.ArgumentParser(prog="python -m tests.measure.flatness", description=main.__doc__)
    parser.add_argument("--problem", choices=TUNED, default="sssp")
    parser.add_argument("--constants", default="", help="only these, separated by commas")
    parser.add_argument("--draws", default="1..40", help="numbers of drawn graphs")
    parser.add_argument("--sizes", default="", help="e.g. least=2^6,most=2^8")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--sources", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=100.0, help="no graph is begun later")
    parser.add_argument("--save", type=Path, help="a file of JSON lines, one for each graph and constant")
    options = parser.parse_args()
    began, problem = time.monotonic(), options.problem
    if options.constants:
        tuned, chosen = TUNED[problem], options.constants.split(",")
        unknown = {*chosen} - {*tuned.kernel, *tuned.host}
        if unknown:
            known = ", ".join((*tuned.kernel, *tuned.host))
            parser.error(f"--constants: unknown for {problem}: {', '.join(sorted(unknown))}; known: {known}")
        lists = {kind: tuple(n for n in getattr(tuned, kind) if n in chosen) for kind in ("kernel", "host")}
        TUNED[problem] = dataclasses.replace(tuned, **lists)
    driver = TUNED[problem].driver
    device, _ = select_device(options.device)
    first, _, last = options.draws.partition("..")
    draws = range(int(first), int(last or first) + 1)
    found: dict[Variant, list[tuple[float, int]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / driver.FILE.name)
        qualifier = "__constant__" if device.kind == "cuda" else '__attribute__((visibility("default")))'
        text, dtypes = with_variables(driver.FILE.name, TUNED[problem].kernel, qualifier)
        Path(file).write_text(text, encoding="utf-8")
        if device.kind == "cuda":
            compile_all(problem, file, device.arch)
        variables = Variables(device, file, dtypes)
        driver.FILE.name = file
        print(f"{problem} on {device.name}: ready after {time.monotonic() - began:.1f} s", flush=True)
        for number, draw in enumerate(draws):
            left = options.seconds - (time.monotonic() - began)
            if left <= 0:
                print(f"no time for draws from {draw} on")
                break
            drawn = f"drawn:{draw}{options.sizes and ','}{options.sizes}"
            graph, view, queries = drawn_input(device, problem, drawn, options.sources)
            times = measure(device, problem, variables, view, queries, 0.6 * left / (len(draws) - number))
            for variant, seconds in times.items():
                if variant is not None:
                    found.setdefault(variant, []).append((seconds / times[None], draw))
            if options.save is not None:
                with options.save.open("a", encoding="utf-8") as stream:
                    for variant, seconds in times.items():
                        row = {"problem": problem, "draw": draw, "graph": graph.name, "seconds": seconds}
                        row |= {} if variant is None else {"constant": variant.constant, "factor": variant.factor}
                        stream.write(json.dumps(row) + "\n")
            print(f"draw {draw}: {graph.name}: {times[None] * 1e3:.3f} ms", flush=True)
            if (number + 1) % 10 == 0:
                print(table(found), flush=True)
            del graph, view
    print(table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
