"""Stand-ins for what a measurement meets: algorithms that do as they are told, and a GPU's management library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NoReturn

import pytest

from gpugraph.problems import registry
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.registry import find_algorithm


class PuppetState:
    """The state of a puppet, and which of its runs was the last."""

    def __init__(self, inner: Any):
        self.inner, self.turn = inner, 0


class Puppet:
    """An algorithm for forests on the CPU: right, unless told otherwise; it notes its runs in ``log``.

    With ``seconds`` its runs claim to have lasted so long, one after another, over and over.
    """

    def __init__(self, name: str, log: list[str]):
        self.name, self.log = name, log
        self.prepared = self.runs = 0
        self.on_prepare: Callable[[int], None] = lambda turn: None
        self.on_run: Callable[[int], None] = lambda turn: None
        self.wrong_from = 10**9
        self.seconds: Sequence[float] = ()
        self._right = find_algorithm("mst", "kruskal", "cpu")

    def prepare(self, view: Any, device: Any) -> Any:
        """Prepare, after ``on_prepare(turn)``."""
        self.prepared += 1
        self.on_prepare(self.prepared)
        return PuppetState(self._right.prepare(view, device))

    def run(self, state: Any, clock: Any, *query: Any) -> Any:
        """Run, after ``on_run(turn)``; from run ``wrong_from`` on an edge is missing."""
        self.log.append(self.name)
        self.runs += 1
        self.on_run(self.runs)
        state.turn = self.runs
        return self._right.run(state.inner, clock, *query)

    def finish(self, state: Any, raw: Any, *query: Any) -> Any:
        """Return the forest, or less."""
        forest = self._right.finish(state.inner, raw, *query)
        return forest if state.turn < self.wrong_from else type(forest).of(forest.graph, forest.edges[1:])

    def algorithm(self, **changes: Any) -> Algorithm:
        """Return what to register."""
        made = replace(
            self._right,
            name=self.name,
            prepare=self.prepare,
            run=self.run,
            finish=self.finish,
            compile=None,
            digest=None,
            options=(),
            own_seconds=(lambda state, handle: self.seconds[(state.turn - 1) % len(self.seconds)])
            if self.seconds
            else None,
        )
        return replace(made, **changes)


def enlist(patch: pytest.MonkeyPatch, *algorithms: Algorithm) -> None:
    """Register algorithms for one test."""
    for algorithm in algorithms:
        for kind in algorithm.devices:
            patch.setitem(registry.REGISTERED, (algorithm.problem, algorithm.name, kind), algorithm)


class FakeTime:
    """A clock that moves only when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        """Return the time."""
        return self.now

    monotonic = perf_counter

    def sleep(self, seconds: float) -> None:
        """Let so much time pass."""
        self.now += seconds

    def lasting(self, seconds: float) -> Callable[[int], None]:
        """Return what makes a run last so long."""

        def run(turn: int) -> None:
            self.now += seconds

        return run


def without_nvml() -> NoReturn:
    """Stand for the function that loads NVML, where there is none."""
    raise ImportError("no module named 'pynvml'")


class FakeNvml:
    """Stands for ``pynvml``: functions that return figures or throw, and the constants that they are asked with."""

    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU, NVMLError = 1, 2, 0, OverflowError
    TOLD: ClassVar[dict[str, object]] = {
        "nvmlInit": None,
        "nvmlDeviceGetHandleByPciBusId": 1,
        "nvmlDeviceGetUUID": "GPU-0",
        "nvmlDeviceGetClockInfo": 1980,
        "nvmlDeviceGetCurrentClocksThrottleReasons": 0,
        "nvmlDeviceGetTotalEnergyConsumption": 1000,
        "nvmlDeviceGetMaxClockInfo": 2000,
        "nvmlDeviceGetTemperature": 41,
        "nvmlDeviceGetEnforcedPowerLimit": 700_000,
    }

    def __init__(self, clocks: Sequence[int] = (1980,), reasons: Sequence[int] = (0,), silent: Sequence[str] = ()):
        self.clocks, self.reasons, self.silent = list(clocks), list(reasons), set(silent)
        self.millijoules = 1000

    def load(self) -> FakeNvml:
        """Stand for the function that loads the module."""
        return self

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("nvml"):
            raise AttributeError(name)
        return lambda *args: self._answer(name)

    def _answer(self, name: str) -> object:
        if name in self.silent:
            raise self.NVMLError("Not Supported")
        if name == "nvmlDeviceGetCurrentClocksEventReasons":
            name = "nvmlDeviceGetCurrentClocksThrottleReasons"
        told = {
            **self.TOLD,
            "nvmlDeviceGetClockInfo": self.clocks,
            "nvmlDeviceGetCurrentClocksThrottleReasons": self.reasons,
            "nvmlDeviceGetTotalEnergyConsumption": self.millijoules,
        }[name]
        if isinstance(told, list):
            return told.pop(0) if len(told) > 1 else told[0]
        return told
