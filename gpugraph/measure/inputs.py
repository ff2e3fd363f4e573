"""The inputs of the cells of a session: kept from one call to the next, and shared by cells that compete."""

import time
import weakref
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gpugraph.base.clock import PhaseTimer
from gpugraph.base.host import available_memory
from gpugraph.devices.base import Device
from gpugraph.devices.kernel_file import index_dtype
from gpugraph.measure.cell import Cell
from gpugraph.measure.open_device import OpenDevice
from gpugraph.problems.contract import Problem
from gpugraph.problems.registry import load_problem
from gpugraph.records.statistics import median

Progress = Callable[[str], None]

KEPT = 2
"""Graphs kept in memory: cells come sorted by graph, and a night's graphs do not fit together."""

SHORT_TRANSFER_S = 0.5
"""A copy to the device that takes longer is not repeated to be timed better."""


@dataclass(frozen=True)
class CellSetup:
    """What a cell is set up with: its device opened, and what hears of the time it takes and of every step."""

    cell: Cell
    open_device: OpenDevice
    phase_timer: PhaseTimer
    progress: Progress
    load_problem: Callable[[str], Problem] = load_problem

    @property
    def problem(self) -> Problem:
        """The problem of the cell."""
        return self.load_problem(self.cell.problem)


@dataclass(eq=False)
class LoadedInput:
    """An input opened, after its preparations, and on its device; what is not done yet is None.

    Attributes:
        graph: what ``problem.admit`` returned.
        origin: what the cell named, held so that an object's identity stays its own.
        seconds: what opening took, by phase, and what the preparations took.
        prepared: the problem's name, and what its ``view`` takes besides the graph.
        algorithm_input: what the algorithm gets: the view, or its copy on the device.
        stage_s: median seconds of the copy into pinned memory.
        h2d_s: seconds of each transfer; none where nothing is copied.
        transfer_s: median seconds of the way to the device as a whole.
        device_bytes: bytes that the copy takes there.
    """

    graph: Any
    origin: Any
    seconds: dict[str, float]
    view: Any = None
    prepared: tuple[Any, ...] = ()
    algorithm_input: Any = None
    stage_s: float = 0.0
    h2d_s: list[float] = field(default_factory=list)
    transfer_s: float = 0.0
    device_bytes: int = 0

    def check_file(self) -> None:
        """Raise GraphFormatError if somebody has written into the file whose pages the graph is."""
        if (mapped := getattr(self.graph, "mapped", None)) is not None:
            mapped.check()


class InputCache:
    """Loads inputs once: the last few stay, and so does what a cell still in the race holds on to."""

    def __init__(self) -> None:
        self._loaded: OrderedDict[tuple[Any, ...], LoadedInput] = OrderedDict()
        self._resident: weakref.WeakValueDictionary[tuple[Any, ...], LoadedInput] = weakref.WeakValueDictionary()

    def load(self, setup: CellSetup) -> LoadedInput:
        """Return the input that a cell names, opened; the time it took, now or earlier, goes to the phase timer."""
        cell, device, phase_timer = setup.cell, setup.open_device.device, setup.phase_timer
        key = cell.input_key
        found = self._loaded.get(key)
        if found is None:
            self._make_room(device)
            setup.progress(f"loading {cell.input.path or getattr(cell.graph, 'name', type(cell.graph).__name__)}")
            before = phase_timer.until_now()
            maker = None if device.kind == "cpu" else device
            graph = setup.problem.open(cell.input, phase_timer, setup.progress, maker)
            with phase_timer.phase("build"):
                graph = setup.problem.admit(graph)
            now = phase_timer.until_now()
            seconds = {name: s - before.get(name, 0.0) for name, s in now.items() if name in OPENING}
            found = self._loaded[key] = LoadedInput(graph, cell.graph, seconds)
        else:
            for name, seconds_ in found.seconds.items():
                phase_timer.add_seconds(name, seconds_)
        self._loaded.move_to_end(key)
        return found

    def _make_room(self, device: object) -> None:
        """Forget the graphs used longest ago: all but the last, and that too where memory is short, here or there."""
        while len(self._loaded) >= KEPT:
            self._loaded.popitem(last=False)
        kept = sum(int(getattr(one.graph, "nbytes", 0)) for one in self._loaded.values())
        there = [one.graph.on_device for one in self._loaded.values() if getattr(one.graph, "on_device", None)]
        short = any(rows.device is device and device.memory()[0] < 4 * rows.nbytes for rows in there)
        if short or available_memory() < 4 * kept:
            self._loaded.clear()

    def peek(self, cell: Cell) -> Any:
        """Return the cell's graph if it is in memory, else None."""
        found = self._loaded.get(cell.input_key)
        return None if found is None else found.graph

    def place(
        self,
        loaded: LoadedInput,
        setup: CellSetup,
        *,
        resident: bool,
        unsigned: bool = False,
        shared: bool = True,
        transfers: int = 1,
    ) -> LoadedInput:
        """Return an input after the cell's preparations, on a device.

        A CPU works on the view itself, and so does an algorithm that is not ``resident``.  On a GPU ``transfers``
        copies are made one after another, each timed, as long as they are short.  What is not ``shared`` is a copy
        that nobody else gets.  Raises OutOfMemory if it does not fit.
        """
        cell, device, phase_timer = setup.cell, setup.open_device.device, setup.phase_timer
        there = resident and device.kind != "cpu"
        unsigned = index_dtype(loaded.graph.arcs, unsigned=unsigned).kind == "u"  # else a copy serves all algorithms
        prepared = setup.problem.name, cell.preparations, cell.index_bits, unsigned
        key = (id(loaded.graph), prepared, id(device), there)
        found = self._resident.get(key) if shared or not there else None
        if found is None:
            found = self._viewed(loaded, setup, prepared)
            if there:
                setup.progress("copying the graph to the device")
                _copy(found, setup, transfers, shared=shared)
            elif hasattr(found.view, "bring_to_host"):
                with phase_timer.phase("prepare"):
                    found.view.bring_to_host(leave=device if device.kind != "cpu" else None)
            if shared or not there:
                self._resident[key] = found
        else:
            phase_timer.add_seconds("prepare", found.seconds["prepare"])
            phase_timer.add_seconds("transfer", found.transfer_s)
        return found

    def _viewed(self, loaded: LoadedInput, setup: CellSetup, prepared: tuple[Any, ...]) -> LoadedInput:
        """Return the input after the cell's preparations, which another device's copy may have gone through."""
        problem, phase_timer = setup.problem, setup.phase_timer
        for other in self._resident.values():
            if other.graph is loaded.graph and other.prepared == prepared:
                phase_timer.add_seconds("prepare", other.seconds["prepare"])
                return LoadedInput(other.graph, other.origin, other.seconds, other.view, prepared, other.view)
        setup.progress("preparing the graph")
        before = phase_timer.until_now().get("prepare", 0.0)
        with phase_timer.phase("prepare"):
            view = problem.view(loaded.graph, *prepared[1:])
        seconds = {**loaded.seconds, "prepare": phase_timer.until_now()["prepare"] - before}
        return LoadedInput(loaded.graph, loaded.origin, seconds, view, prepared, view)

    def clear(self) -> None:
        """Forget everything."""
        self._loaded.clear()


OPENING = ("load", "build", "check", "transfer")
"""The phases until an input is there; rows that a file holds go to a device as they are read."""


def _copy(loaded: LoadedInput, setup: CellSetup, transfers: int, *, shared: bool) -> None:
    """Copy a view to a device, again and again; what the copies took beyond the median of one is ``sampling``."""
    device, phase_timer, problem = setup.open_device.device, setup.phase_timer, setup.problem
    before = live_bytes(device)
    stage_s, h2d_s, whole_s = list[float](), list[float](), list[float]()
    with phase_timer.phase("sampling"):
        for turn in range(transfers):
            if turn and (device.kind != "cuda" or stage_s[0] + h2d_s[0] >= SHORT_TRANSFER_S):
                break
            loaded.algorithm_input = None  # so that two copies never lie there together
            start = time.perf_counter()
            loaded.algorithm_input, staging_s, bus_s = problem.to_device(loaded.view, device)
            whole_s.append(time.perf_counter() - start)
            stage_s.append(staging_s)
            h2d_s.append(bus_s)
        if not shared and stage_s[0] + h2d_s[0] == 0.0 and hasattr(loaded.algorithm_input, "own"):
            loaded.algorithm_input = loaded.algorithm_input.own(device)
    loaded.device_bytes = max(live_bytes(device) - before, int(getattr(loaded.algorithm_input, "nbytes", 0)))
    loaded.stage_s, loaded.h2d_s, loaded.transfer_s = median(stage_s), h2d_s, median(whole_s)
    phase_timer.until_now()
    phase_timer.move("sampling", "transfer", loaded.transfer_s)


def live_bytes(device: Device) -> int:
    """Return the bytes allocated on a device now; its peak starts anew from there."""
    device.reset_peak()
    return int(device.peak_bytes())
