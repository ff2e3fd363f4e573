"""The inputs of the cells of a session: kept from one call to the next, and shared by cells that compete."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpugraph.clock import working_seconds
from gpugraph.host import available_memory
from gpugraph.measure.record import PHASES, Cell
from gpugraph.measure.statistics import median
from gpugraph.problems.contract import Problem

Progress = Callable[[str], None]

KEPT = 2
"""Graphs kept in memory: cells come sorted by graph, and a night's graphs do not fit together."""

SHORT_TRANSFER_S = 0.5
"""A copy to the device that takes longer is not repeated to be timed better."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """An input as a problem takes it.

    Attributes:
        graph: what ``problem.admit`` returned.
        phases: the seconds of every phase so far: ``load`` and ``build``.
        origin: what the cell named, held so that an object's identity stays its own.
    """

    graph: Any
    phases: dict[str, float]
    origin: Any


@dataclass(frozen=True, eq=False)
class Viewed:
    """An input after its preparations, and the seconds they took; it keeps the input alive."""

    view: Any
    seconds: float
    graph: Any


@dataclass(frozen=True, eq=False)
class Placed:
    """A view on a device.

    Attributes:
        subject: what the algorithm gets.
        stage_s: median seconds of the copy into pinned memory.
        h2d_s: seconds of each transfer; none where nothing is copied.
        device_bytes: bytes it takes there.
        viewed: the view itself, which this keeps alive.
    """

    subject: Any
    stage_s: float
    h2d_s: list[float]
    device_bytes: int
    viewed: Viewed


class Inputs:
    """Loads inputs once: the last few stay, and so does what a cell still in the race holds on to."""

    def __init__(self) -> None:
        self._loaded: OrderedDict[tuple[Any, ...], Loaded] = OrderedDict()
        self._viewed: weakref.WeakValueDictionary[tuple[Any, ...], Viewed] = weakref.WeakValueDictionary()
        self._placed: weakref.WeakValueDictionary[tuple[Any, ...], Placed] = weakref.WeakValueDictionary()

    def load(self, cell: Cell, problem: Problem, progress: Progress, device: Any = None) -> Loaded:
        """Return the input that a cell names; a GPU that will work on it makes it, and keeps it, if it can.

        Raises:
            InputError: it cannot be read, or the problem does not take it.
        """
        key = _key(cell)
        found = self._loaded.get(key)
        if found is None:
            self._make_room(device)
            progress(f"loading {cell.input.path or getattr(cell.graph, 'name', type(cell.graph).__name__)}")
            phases = dict.fromkeys(PHASES, 0.0)
            maker = None if device is None or device.kind == "cpu" else device
            graph = problem.open(cell.input, phases, progress, maker)
            start = working_seconds()
            graph = problem.admit(graph)
            phases["build"] += working_seconds() - start
            found = self._loaded[key] = Loaded(graph, phases, cell.graph)
        self._loaded.move_to_end(key)
        return found

    def _make_room(self, device: Any) -> None:
        """Forget the graphs used longest ago: all but the last, and that too where memory is short, here or there."""
        while len(self._loaded) >= KEPT:
            self._loaded.popitem(last=False)
        kept = sum(int(getattr(loaded.graph, "nbytes", 0)) for loaded in self._loaded.values())
        there = [loaded.graph.on_device for loaded in self._loaded.values() if getattr(loaded.graph, "on_device", None)]
        short = any(rows.device is device and device.memory()[0] < 4 * rows.nbytes for rows in there)
        if short or available_memory() < 4 * kept:
            self._loaded.clear()

    def peek(self, cell: Cell) -> Any:
        """Return the cell's graph if it is in memory, else None."""
        found = self._loaded.get(_key(cell))
        return None if found is None else found.graph

    def view(self, cell: Cell, problem: Problem, graph: Any, progress: Progress) -> Viewed:
        """Return an input after the cell's preparations."""
        key = (id(graph), cell.problem, tuple(cell.preparations), cell.index_bits)
        found = self._viewed.get(key)
        if found is None:
            progress("preparing the graph")
            start = working_seconds()
            view = problem.view(graph, cell.preparations, cell.index_bits)
            found = self._viewed[key] = Viewed(view, working_seconds() - start, graph)
        return found

    def place(
        self,
        viewed: Viewed,
        problem: Problem,
        device: Any,
        progress: Progress,
        *,
        resident: bool,
        shared: bool = True,
        transfers: int = 1,
    ) -> Placed:
        """Return a view on a device; a CPU works on the view itself, and so does an algorithm that is not resident.

        On a GPU ``transfers`` copies are made one after another, each timed, as long as they are short.  What is not
        ``shared`` is a copy that nobody else gets.

        Raises:
            OutOfMemory: it does not fit.
        """
        if device.kind == "cpu" or not resident:
            if hasattr(viewed.view, "bring_to_host"):
                viewed.view.bring_to_host(leave=device if device.kind != "cpu" else None)
            return Placed(viewed.view, 0.0, [], 0, viewed)
        key = (id(viewed), problem.name, id(device))
        found = self._placed.get(key) if shared else None
        if found is None:
            progress("copying the graph to the device")
            before = live_bytes(device)
            subject, first_s, transfer_s = problem.to_device(viewed.view, device)
            stage_s, h2d_s = [first_s], [transfer_s]
            short = device.kind == "cuda" and first_s + transfer_s < SHORT_TRANSFER_S
            for _ in range(transfers - 1 if short else 0):
                del subject  # so that two copies never lie there together
                subject, again_s, transfer_s = problem.to_device(viewed.view, device)
                stage_s.append(again_s)
                h2d_s.append(transfer_s)
            if not shared and first_s + transfer_s == 0.0 and hasattr(subject, "own"):
                subject = subject.own(device)
            taken = max(live_bytes(device) - before, int(getattr(subject, "nbytes", 0)))
            found = Placed(subject, median(stage_s), h2d_s, taken, viewed)
            if shared:
                self._placed[key] = found
        return found

    def clear(self) -> None:
        """Forget everything."""
        self._loaded.clear()


def live_bytes(device: Any) -> int:
    """Return the bytes allocated on a device now; its peak starts anew from there."""
    device.reset_peak()
    return int(device.peak_bytes())


def _key(cell: Cell) -> tuple[Any, ...]:
    """Return what tells one input from another; a file that has changed is another."""
    return cell.input, tuple(cell.input.stamp() or ())
