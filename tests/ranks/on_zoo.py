"""What the ranks of ``test_drivers.py`` run: every driver on every graph of the zoo, held against one process.

``mpiexec -n P python -m mpi4py -m tests.ranks.on_zoo cpu|emulated|races|mapped [NAME or SPEC…]``, or by ``run_ranks``;
rank 0 says what went wrong, and how much was tried.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gpugraph.base.clock import NullClock
from gpugraph.base.errors import GpuGraphError
from gpugraph.base.exact import exact_sum
from gpugraph.devices.discovery import select_device
from gpugraph.ext.components.labels import Components
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.ranks.comm import HostComm, LoneComm
from gpugraph.ext.ranks.measuring import Ranks
from gpugraph.ext.ranks.mst import boruvka_distributed
from gpugraph.ext.ranks.mst.on_ranks import GatheredForest
from gpugraph.ext.ranks.part import GraphPart
from gpugraph.ext.ranks.sssp import delta_stepping_distributed_cpu
from gpugraph.ext.ranks.world import enter, world
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.open import open_graph
from gpugraph.problems.mst import gpu_filter_boruvka
from gpugraph.problems.registry import algorithms, load_problem
from gpugraph.problems.sssp.distances import Distances
from tests.zoo import ZOO, zoo


def solved(comm: HostComm, device: Any, problem_name: str, graph: CSRGraph, source: int = 0) -> Any:
    """Return the result that all ranks find together, the certificate's verdict on it, and those on wrong ones."""
    problem: Any = Ranks(comm).problem(problem_name)
    (algorithm,) = [one for one in algorithms(problem_name) if one.ranks]
    part = problem.admit(GraphPart.of(graph, comm))
    query = () if not problem.query_fields else (source,)
    state = algorithm.prepare(part, device)
    for _ in range(2):  # a state can be run again
        raw = algorithm.fetch(state, algorithm.run(state, NullClock(), *query))
    result = algorithm.finish(state, raw, *query)
    on_one = [one if comm.rank == 0 else result for one in wrong(result) if one.fingerprint() != result.fingerprint()]
    certified = [problem.certificate(part, query, one) for one in (result, *wrong(result), *on_one[:1])]
    return result, certified[0], certified[1:]


def wrong(result: Any) -> Iterator[Any]:
    """Yield results that are wrong in one place."""
    if isinstance(result, GatheredForest) and len(result.edges):
        kept = {name: getattr(result, name)[:-1] for name in ("edges", "u", "v", "weight")}
        shorter = replace(result, **kept)
        yield replace(shorter, total_weight=exact_sum(shorter.weight), components=result.components + 1)
        if result.total_weight + 1 != result.total_weight:
            yield replace(result, total_weight=result.total_weight + 1)
        moved = replace(result, weight=result.weight[::-1].copy())
        if (moved.weight != result.weight).any():
            yield moved
    if isinstance(result, Distances) and np.count_nonzero(result.reached) > 1:
        last = int(np.flatnonzero(result.reached & (np.arange(len(result.raw)) != result.source))[-1])
        for step in (-1, 1):
            distance = result.raw.copy()
            one = distance.dtype.type(1)
            moved = distance[last] + one if step > 0 else distance[last] - min(distance[last], one)
            if moved != distance[last]:
                distance[last] = moved
                yield replace(result, raw=distance)
    if isinstance(result, Components) and len(result.labels) > 1:
        n, labels = len(result.labels), result.labels.copy()
        if labels[n - 1] != n - 1:
            labels[n - 1] = n - 1
        else:
            labels[n - 1] = labels[0]
        yield Components.of(result.graph, labels)


def complaint(comm: HostComm, device: Any, problem_name: str, graph: CSRGraph, source: int = 0) -> str | None:
    """Return what differs from what one process finds, or None."""
    problem: Any = load_problem(problem_name)
    query = () if not problem.query_fields else (source,)
    try:
        admitted = problem.admit(graph)
    except GpuGraphError as expected:
        try:
            solved(comm, device, problem_name, graph, source)
        except GpuGraphError as error:
            return None if type(error) is type(expected) else f"{error}, not {expected}"
        return f"was taken, not refused: {expected}"
    result, verdict, others = solved(comm, device, problem_name, graph, source)
    if not verdict.passed:
        return str(verdict.detail)
    if any(other.status != "failed" for other in others):
        return f"a wrong result was believed: {[other.detail for other in others]}"
    alone: Any = next(a for a in algorithms(problem_name) if a.devices == ("cpu",))
    host = problem.view(admitted, (), None)
    state = alone.prepare(host, select_device("cpu")[0], **{option.name: option.default for option in alone.options})
    right = alone.finish(state, alone.fetch(state, alone.run(state, NullClock(), *query)), *query)
    if result.summary() != right.summary():
        return f"{result.summary()}, not {right.summary()}"
    if comm.size == 1 and problem.reference(admitted, query, result).status == "failed":
        return "the reference says otherwise"
    return None


def main() -> None:
    comm = world() or LoneComm()
    kind, *names = sys.argv[1:]
    made = {"races": {"races": True}, "mapped": {"threads": 2}}
    device: Any = EmulatedDevice(**made[kind]) if kind in made else select_device(kind)[0]
    gpu_filter_boruvka.FILTER_ARCS, boruvka_distributed.FILTER_DEGREE = 300, 2  # so that small graphs are filtered too,
    boruvka_distributed.LEAST_ROOM = 40  # in many passes,
    boruvka_distributed.NARROW_ARCS = 200  # and so that positions of both widths occur,
    delta_stepping_distributed_cpu.MASS_SHARE = 8  # and paths wait for a horizon
    tried, wrong = 0, []
    for name in names or ZOO:
        graph = zoo(name) if name in ZOO else open_graph(name)
        for problem in ("mst", "sssp", "components"):
            for source in sorted({0, graph.vertices - 1}) if problem == "sssp" and graph.vertices else [0]:
                if problem == "sssp" and graph.vertices == 0:
                    continue
                fault = complaint(comm, device, problem, graph, source)
                tried += 1
                if fault:
                    wrong.append(f"{name}: {problem} from {source}: {fault}")
    if kind == "races":
        wrong += [str(race) for race in device.races()]
    rates = np.array([len(wrong)], np.int64)
    comm.all_reduce(rates, "max")
    if comm.rank == 0:
        print("\n".join([*wrong[:20], f"tried {tried}, wrong {rates[0]}"]))


if __name__ == "__main__":
    enter()
    main()
