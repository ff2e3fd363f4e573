"""What the registry says of the algorithms that a sweep names: whether they exist, where they run, what they take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from gpugraph.bench.guests import Guests
from gpugraph.devices.discovery import parse_device
from gpugraph.errors import GpuGraphError, unknown_name
from gpugraph.measure.resolve import parse_options
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.guest_sources import installed, is_file
from gpugraph.problems.registry import algorithms

PEER = "peer:"


class Choices:
    """Answers of the registry, each looked up once; a user's own algorithm answers from a process of its own.

    Args:
        unusable: why a device cannot be used here, by name.
        guests: asks users' own algorithms.
    """

    def __init__(self, unusable: Mapping[str, str], guests: Guests):
        self._unusable = unusable
        self._guests = guests

    @cache  # noqa: B019  lives as long as one expansion
    def found(self, name: str, problem: str) -> list[Algorithm]:
        """Return the algorithms of a name, one for each kind of device that has its own.

        Raises:
            InputError: it is a user's own, and cannot be used.
        """
        if self.is_guest(name):
            return [self._guests.find(name, problem)]
        return [a for a in algorithms(problem) if a.name == name]

    @cache  # noqa: B019
    def is_guest(self, name: str) -> bool:
        """Tell whether a name stands for a user's own algorithm, in a file or of an installed package."""
        if name == "auto" or name.startswith(PEER):
            return False
        return is_file(name) or (name in installed() and name not in {a.name for a in algorithms()})

    def guest(self, name: str, problem: str) -> Algorithm | None:
        """Return what a user's own algorithm says of itself, as one that cannot run; None for any other."""
        return self._guests.find(name, problem) if self.is_guest(name) else None

    def check(self, name: str, problems: Sequence[str]) -> None:
        """Refuse a name that stands for no algorithm of any of the problems; suggest the nearest."""
        if name.startswith(PEER) and name not in self._peers():
            raise unknown_name("peer", name.removeprefix(PEER), [p.removeprefix(PEER) for p in self._peers()])
        if name == "auto" or name.startswith(PEER):
            return
        trouble: GpuGraphError | None = None
        for problem in problems:
            try:
                if self.found(name, problem):
                    return
            except GpuGraphError as error:
                trouble = error
        if trouble is not None:
            raise trouble
        known = {a.name for problem in problems if problem in PROBLEMS for a in algorithms(problem)}
        raise unknown_name("algorithm", name, known | installed().keys())

    def check_device(self, device: str) -> None:
        """Refuse what names no device."""
        parse_device(device)

    def check_preparation(self, text: str) -> None:
        """Refuse steps of ``a+b`` that are no preparations."""
        from gpugraph.graph.view import PREPARATIONS

        for step in text.split("+"):
            if step not in ("", "none", *PREPARATIONS) and "{" not in step:
                raise unknown_name("preparation", step, ["none", *PREPARATIONS])

    def check_option(self, algorithm: str, problems: Sequence[str], option: str, value: Any) -> None:
        """Refuse an option that the algorithm does not have, or a value it does not take."""
        if "{" in str(value) or algorithm == "auto" or algorithm.startswith(PEER):
            return  # known when the variables are
        found = [a for problem in problems if self.solves(algorithm, problem) for a in self.found(algorithm, problem)]
        known = [a for a in found if option in {o.name for o in a.options}]
        for one in known or sorted(found, key=lambda a: -len(a.options))[:1]:
            parse_options(one, {option: str(value)})

    def solves(self, name: str, problem: str) -> bool:
        """Tell whether the name stands for an algorithm of the problem."""
        if name.startswith(PEER):
            return problem in self._peers()[name]["problems"]
        if name == "auto":
            return True
        try:
            return bool(self.found(name, problem))
        except GpuGraphError:
            return False

    def devices_of(self, name: str, problem: str, devices: Sequence[str], kinds: Mapping[str, str]) -> Sequence[str]:
        """Return the devices that an algorithm is tried on: those it runs on, if any; a peer has its own."""
        if name.startswith(PEER):
            return [self._peers()[name]["device"]]
        if name == "auto":
            return devices
        able = {kind for algorithm in self.found(name, problem) for kind in algorithm.devices}
        here = [device for device in devices if kinds.get(device) in able]
        return here or [device for device in devices if device not in kinds] or devices

    @cache  # noqa: B019
    def _peers(self) -> dict[str, dict[str, Any]]:
        """Return what there is to say of each peer, by name; the external commands of the sweep are among them."""
        from gpugraph.peers import describe_peers

        return {peer["name"]: peer for peer in describe_peers()}

    def refusal(self, name: str, kinds: Mapping[str, str], device: str) -> str:
        """Return why a peer, which is asked for by name and gets a row in any case, cannot run here; or nothing."""
        if not name.startswith(PEER) or device in kinds:
            return ""
        reason = self._unusable.get(device, "no such device can be used here")
        return f"{self._peers()[name]['title']} runs on '{device}': {reason}"

    def obstacle(
        self, name: str, problem: str, kinds: Mapping[str, str], device: str, prepare: str, options: Iterable[str]
    ) -> str | None:
        """Return why a cell cannot be, or None if it can."""
        if name.startswith(PEER):
            return None
        if device not in kinds:
            return f"device '{device}' cannot be used here"
        if name == "auto":
            return None
        here = [a for a in self.found(name, problem) if kinds[device] in a.devices]
        if not here:
            return f"{name} does not run on {kinds[device]}"
        own = {option.name for option in here[0].options}
        for option in options:
            if option not in own:
                return f"{name} on {kinds[device]} has no option {option}"
        for step in prepare.split("+"):
            if step not in ("", "none", *here[0].preparations) and "{" not in step:
                return f"{name} on {kinds[device]} does not take the preparation {step}"
        return None
