"""Measuring on several ranks: the device and the part of the graph that each opens.

Every rank measures the cell as one would alone, in step with the others: each opens its device and its part of the
graph, the algorithm runs on all of them at once, and the sample is the time of the slowest.  All ranks have the record,
and rank 0 shows it.
"""

from __future__ import annotations

from typing import Any

from gpugraph.clock import PhaseTimer
from gpugraph.devices.discovery import select_device
from gpugraph.errors import InputError
from gpugraph.measure.cell import Cell, Sampling
from gpugraph.measure.inputs import LoadedInput, Progress
from gpugraph.measure.instruments import OpenDevice
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contract import Problem
from gpugraph.problems.registry import algorithms
from gpugraph.ranks.comm import HostComm
from gpugraph.ranks.source import open_part
from gpugraph.ranks.world import own_device

NOT_MEASURED = "not measured on several ranks"


def open_own_device(name: str, comm: HostComm) -> OpenDevice:
    """Return this rank's device, described together with those of the others.

    Raises:
        InputError, DeviceUnavailable: it cannot be opened, or the ranks have different kinds.
    """
    opened = OpenDevice(select_device(own_device(name, comm))[0], None)
    opened.copy_bytes_per_s = NOT_MEASURED
    described = comm.all_gather_object(opened.description)
    for rank, other in enumerate(described):
        if other["kind"] != (first := described[0])["kind"]:
            what = f"rank {rank} has the device '{other['kind']}', rank 0 '{first['kind']}'"
            raise InputError(what, remedy="name the device, e.g. --device cpu")
    names = " and ".join(dict.fromkeys(str(other["name"]) for other in described))
    opened.description = {**described[0], "name": f"{comm.size} × {names}", "ranks": comm.size}
    return opened


def place_part(
    cell: Cell,
    sampling: Sampling,
    problem: Problem,
    comm: HostComm,
    device: Any,
    phase_timer: PhaseTimer,
    progress: Progress,
) -> LoadedInput:
    """Return this rank's part of the graph that a cell names, on its device where it can be made or read there.

    Raises:
        InputError: bad graph, or what several ranks cannot do.
        OutOfMemory: it does not fit all ranks together.
    """
    able = _able(problem)
    refusals = (
        (not able, f"{problem.title.lower()}: no algorithm runs on several ranks", "name one device"),
        (cell.algorithm.startswith("peer:") or ".py" in cell.algorithm, *_on_one_device(f"'{cell.algorithm}'", able)),
        (cell.preparations, "several ranks take the graph as it is", "leave out --prepare"),
        (cell.predecessors, "several ranks find no predecessors", "use one device"),
        (
            cell.verify in ("reference", "both"),
            "no rank holds the whole graph, which a reference needs",
            "use --verify certificate, or one device",
        ),
        (sampling.cold, "--cold is for one device", "leave out --cold"),
        (sampling.energy, "--energy is for one device", "leave out --energy"),
        (cell.profile, "--profile is for one device", "leave out --profile"),
    )
    for refused, what, remedy in refusals:
        if refused:
            raise InputError(what, remedy=remedy)
    progress(f"loading {cell.graph} on {comm.size} ranks")
    part = open_part(
        cell.graph,
        comm,
        input_format=cell.input_format,
        weights=cell.weights,
        symmetrize=cell.symmetrize,
        device=device,
        clock=phase_timer,
        progress=progress,
    )
    with phase_timer.phase("build"):
        part = problem.admit(part)
    there = 0 if part.on_device is None else part.on_device.nbytes
    return LoadedInput(part, cell.graph, {}, algorithm_input=part, device_bytes=there)


def check_runs_on_ranks(algorithm: Algorithm, problem: Problem) -> None:
    """Refuse an algorithm of one device.

    Raises:
        InputError: it is one.
    """
    if not algorithm.ranks:
        what, remedy = _on_one_device(f"algorithm '{algorithm.name}'", _able(problem))
        raise InputError(what, remedy=f"{remedy}, or name one device")


def _able(problem: Problem) -> list[str]:
    return [algorithm.name for algorithm in algorithms(problem.name) if algorithm.ranks]


def _on_one_device(what: str, able: list[str]) -> tuple[str, str]:
    return f"{what} runs on one device", f"use --algo {' or '.join(able)}"
