"""Weights at the ends of their types, in every algorithm: a word that means "none" must not be met as a weight."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np

import gpugraph.problems.mst.gpu_filter_boruvka as filter_boruvka
from gpugraph.base.errors import InputError
from gpugraph.devices.discovery import select_device
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.registry import algorithms, load_problem
from gpugraph.problems.sssp.arcs import unreached
from tests.emulator.compiler import find_compiler
from tests.hostile.trials import Part, Trial
from tests.problems.extreme_weights import (
    TYPES,
    crowd_and_islands,
    distances_by_the_book,
    ends_of_type,
    forest_by_the_book,
    made,
)
from tests.problems.gpu_cases import run_on

LEFT_OUT = ("f-gpu-no-atomic", "matrix-f-gpu-no-atomic", "harish-narayanan", "dijkstra-fibonacci")
"""Three are wrong on purpose; the last is SciPy's, which refuses distances from 2^53 on."""


def drawn(draw: random.Random, *, negative: bool) -> CSRGraph:
    """Return a graph of up to 700 vertices with a crowd, pairs and a hub, whose weights are mostly ends of a type."""
    rng = np.random.default_rng(draw.getrandbits(64))
    dtype = draw.choice(TYPES)
    if negative and draw.random() < 0.4:  # what is left when a giant component has been found
        return crowd_and_islands(dtype, draw.getrandbits(30), draw.randrange(300, 800), draw.randrange(20, 200))
    least, most = ends_of_type(dtype)
    n = draw.choice((2, 5, 40, 200, 700))
    ends = rng.integers(0, n, (draw.choice((1, 2, 6)) * n, 2))
    if draw.random() < 0.4:
        ends = np.concatenate([ends, np.stack([np.full(n, draw.randrange(n)), np.arange(n)], 1)])
    near = np.nextafter(most, most.dtype.type(0)) if dtype.startswith("float") else most - 1
    values = [0, 1, near, most] + ([least] if negative else [])
    heavy = draw.choice((0.02, 0.3, 0.9))
    shares = [(1 - heavy) / 2] * 2 + [heavy / (len(values) - 2)] * (len(values) - 2)
    return made(n, ends, rng.choice(np.array(values, dtype), len(ends), p=shares), f"ends of {dtype}")


@contextlib.contextmanager
def filters_forced() -> Iterator[None]:
    """Let filter-boruvka hold edges back, and list them in rounds, on graphs of a few hundred vertices."""
    with mock.patch.multiple(filter_boruvka, FILTER_ARCS=1300, ALL_LISTED=1):
        yield


def try_ends_of_types(trial: Trial) -> str:
    """Solve a graph by one algorithm on one device and compare with Kruskal's or Dijkstra's algorithm by the book."""
    draw = trial.draw
    find_compiler()
    problem, kind = draw.choice(("mst", "sssp")), draw.choice(("cpu", "emulated", "emulated"))
    names = [one for one in algorithms(problem) if kind in one.devices and one.name not in LEFT_OUT]
    names += 8 * [one for one in names if one.name in ("filter-boruvka", "delta-stepping")]  # they have most sentinels
    algorithm = draw.choice(names)
    graph = drawn(draw, negative=problem == "mst")
    device = EmulatedDevice(seed=trial.number + 1) if kind == "emulated" else select_device(kind)[0]
    if problem == "mst":
        with filters_forced():
            forest, _ = run_on(device, problem, algorithm.name, graph)
        assert forest.edges.tolist() == forest_by_the_book(graph).tolist(), f"{algorithm.name} on {kind}"
        assert load_problem(problem).certificate(graph, (), forest).passed
        return "forest"
    source = draw.randrange(graph.vertices)
    found: Any = None
    with contextlib.suppress(InputError):
        found, _ = run_on(device, problem, algorithm.name, graph, query=((source,) if algorithm.batched else source,))
    if found is None:
        words = np.dtype(graph.weights.dtype)
        assert words.kind != "f", f"{algorithm.name} on {kind} refuses reals"
        longest = [far for far in distances_by_the_book(graph, source, words) if far is not None]
        limit = int(np.iinfo(np.uint64 if words.kind == "u" else np.int64).max)
        assert max(longest) >= limit, f"{algorithm.name} on {kind} refuses what 64 bits hold"
        return "too far"
    found = found[0] if algorithm.batched else found
    none = unreached(found.raw.dtype)
    right = [none if far is None else far for far in distances_by_the_book(graph, source, found.raw.dtype)]
    assert found.raw.tolist() == right, f"{algorithm.name} on {kind} from {source}"
    return "paths"


PART = Part("sentinels", "weights at the ends of their types, every algorithm", 3_000, try_ends_of_types, 20)
