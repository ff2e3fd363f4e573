"""From how many edges on a GPU is faster than a CPU: the one definition, for ``info --advise`` and docs/when.md."""

from collections.abc import Iterable
from math import sqrt

from gpugraph.base.quantities import count
from gpugraph.ext.machine.data_sheets import LEAST_ARCS, Gpu
from gpugraph.records.record import Record

START_S, CALL_S, BUS_BYTES_PER_S, ARC_BYTES = 0.9, 1e-3, 55e9, 8
"""Of a GPU: to start a command, to answer a call on a small graph that it has, and to copy a graph to it, whose arcs
have a target and a weight.

Source: docs/when.md, on an H200.
"""

ASSUMED = (
    f"Assumed of a GPU: {START_S:g} s for the start of a command, {1e3 * CALL_S:g} ms for that of a call, and "
    f"{BUS_BYTES_PER_S / 1e9:g} GB/s for copying the graph."
)
"""The same in words."""

ANSWER = ("build", "check", "prepare", "kernel", "finish", "verify")
"""The phases that grow with the graph, but for reading a file, which takes either device as long."""


def break_even(cpu: Record, gpu: Record | Gpu) -> tuple[int | None, int | None]:
    """Return the edges, of two arcs each, from which a GPU is faster, by the seconds that an arc takes in two records.

    The first number is for a command, which starts the GPU, copies the graph, and verifies its answer, the second for
    the kernel alone of a call on a graph that the GPU has.  None: never.  Of a GPU by its data sheet the kernel alone
    is known, by the mean of its least and its greatest rate.
    """
    if isinstance(gpu, Record):
        command_s, call_s = _arc_s(gpu, ANSWER), _arc_s(gpu, ["kernel"])
    else:
        least_s, most_s = gpu.seconds(cpu.problem, LEAST_ARCS) or (0.0, 0.0)
        command_s = call_s = sqrt(least_s * most_s) / LEAST_ARCS
    command_s += ARC_BYTES / BUS_BYTES_PER_S
    return _edges(START_S, _arc_s(cpu, ANSWER) - command_s), _edges(CALL_S, _arc_s(cpu, ["kernel"]) - call_s)


def edges_text(edges: int | None) -> str:
    """Return a number of edges for a table."""
    return "never" if edges is None else f"{edges / 1e6:.3g} M" if edges >= 1e6 else count(round(edges, -2))


def _arc_s(record: Record, phases: Iterable[str]) -> float:
    return sum(record.phases.get(name, 0.0) for name in phases) / (record.shape.graph.arcs or 1)


def _edges(once_s: float, gained_s: float) -> int | None:
    """Return the edges whose gain makes up for what a GPU takes once."""
    return round(once_s / gained_s / 2) if gained_s > 0 else None
