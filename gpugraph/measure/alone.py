"""A process that measures by itself; ``gpugraph.ext.ranks.measuring.Ranks`` is the same for several together."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from gpugraph.devices.base import Device
from gpugraph.devices.discovery import select_device
from gpugraph.measure.inputs import CellSetup, InputCache, LoadedInput
from gpugraph.measure.instruments import Instrument
from gpugraph.measure.open_device import OpenDevice
from gpugraph.measure.sampling import Sampling
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contract import Problem
from gpugraph.problems.registry import load_problem

Thing = TypeVar("Thing")


class Alone(Instrument):
    """One process, which has all of the graph and nobody to wait for; ``several`` take each of these steps at once."""

    several = False

    def problem(self, name: str) -> Problem:
        """Return a problem."""
        return load_problem(name)

    def open_device(self, name: str, *, profile: bool) -> OpenDevice:
        """Return a device; InputError and DeviceUnavailable say why it cannot be opened."""
        return OpenDevice(*select_device(name, profile=profile))

    def load(self, setup: CellSetup, sampling: Sampling, cache: InputCache) -> LoadedInput:
        """Return the input that a cell names; an InputError says what cannot be measured so."""
        return cache.load(setup)

    def place(self, loaded: LoadedInput, setup: CellSetup, cache: InputCache, **how: Any) -> LoadedInput:
        """Return the input after the cell's preparations, on its device (``InputCache.place``)."""
        return cache.place(loaded, setup, **how)

    def check_algorithm(self, algorithm: Algorithm) -> None:
        """Raise InputError for an algorithm that cannot run here."""

    def check_method(self, method: str) -> str:
        """Return the method by which a result is verified."""
        return method

    def stopwatch(self, device: Device) -> Any:
        """Return the stopwatch of a run."""
        return device.stopwatch()

    def phase_clock(self, device: Device) -> Any:
        """Return the clock of a run whose phases are timed."""
        return device.phase_clock()

    def metered(self, clock: Any) -> AbstractContextManager[None]:
        """Let the clock hear of every collective, until the end of the block."""
        return nullcontext()

    def phases(self, clock: Any) -> tuple[dict[str, float], dict[str, Any]]:
        """Return the seconds of every phase on the slowest rank, and what they were made up of on each."""
        return clock.seconds, {}

    def gather(self, own: Thing) -> list[Thing]:
        """Return what every process has, in their order."""
        return [own]

    def greatest(self, own: Any) -> Any:
        """Return the greatest of what every process has: the time of a run is that of the slowest."""
        return max(self.gather(own))

    def notices(self, rounds: int) -> list[str]:
        """Return what to tell the user of a run of so many rounds."""
        return []

    def close(self) -> None:
        """Give back what the processes talk through."""
