"""What the ranks of ``test_drivers.py`` run: every driver on every graph of the zoo, held against one process.

``mpiexec -n P python -m mpi4py -m tests.ranks.on_zoo cpu|emulated|races [NAME…]``, or by ``run_ranks``; rank 0 says
what went wrong, and how much was tried.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from gpugraph.clock import NullClock
from gpugraph.devices.discovery import select_device
from gpugraph.emulator.device import EmulatedDevice
from gpugraph.errors import GpuGraphError
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.registry import algorithms, load_problem
from gpugraph.ranks.comm import HostComm, LoneComm
from gpugraph.ranks.part import GraphPart
from gpugraph.ranks.world import enter, world
from tests.zoo import ZOO, zoo


def solved(comm: HostComm, device: Any, problem_name: str, graph: CSRGraph, source: int = 0) -> Any:
    """Return the result that all ranks find together, and the certificate's verdict on it."""
    problem: Any = load_problem(problem_name)
    (algorithm,) = [one for one in algorithms(problem_name) if one.ranks]
    part = problem.admit_part(GraphPart.of(graph, comm))
    query = () if not problem.query_fields else (source,)
    state = algorithm.prepare(part, device)
    for _ in range(2):  # a state can be run again
        raw = algorithm.fetch(state, algorithm.run(state, NullClock(), *query))
    result = algorithm.finish(state, raw, *query)
    return result, problem.certificate_on_ranks(part, query, result)


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
    result, verdict = solved(comm, device, problem_name, graph, source)
    if not verdict.passed:
        return str(verdict.detail)
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
    device: Any = EmulatedDevice(races=True) if kind == "races" else select_device(kind)[0]
    tried, wrong = 0, []
    for name in names or ZOO:
        graph = zoo(name)
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
