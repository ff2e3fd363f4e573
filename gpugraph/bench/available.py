"""Names of a sweep looked up here: algorithms of the registry, peers, users' own algorithms, preparations, devices."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from gpugraph.base.errors import GpuGraphError, InputError, check_name, placed, unknown_name
from gpugraph.bench.sweep import Block, Sweep, Variant
from gpugraph.measure.cell import parse_options
from gpugraph.problems import foreign
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.foreign import PEER, is_file
from gpugraph.problems.registry import algorithms, algorithms_called


def absent(device: str) -> str:
    """Return why a cell cannot be whose device cannot be used here."""
    return f"device '{device}' cannot be used here"


@dataclass(frozen=True)
class Way:
    """One way to run a variant: on one kind of device, with one choice of preparations and options.

    Attributes:
        chosen: the value of each axis that was chosen: ``device``, ``prepare``, and options that have axes.
        options: all that are set, templates not filled yet.
        refused: why a peer, which is asked for by name and gets a row in any case, cannot run here; or nothing.
        obstacle: why no such cell can be, or None.
        plugin: what a user's own algorithm says of itself, as one that cannot run; None for any other.
    """

    chosen: Mapping[str, Any]
    options: Mapping[str, Any]
    kind: str
    refused: str
    obstacle: str | None
    plugin: Algorithm | None


class Available:
    """Answers about names, each looked up once: ``kinds`` of usable devices by name, why others are ``unusable``.

    A user's own algorithm may take ``limit_s`` seconds to say what it is.
    """

    def __init__(self, kinds: Mapping[str, str], unusable: Mapping[str, str], limit_s: float):
        self._kinds, self._unusable, self._limit_s = kinds, unusable, limit_s

    @cached_property
    def _plugins(self) -> foreign.Described:
        return foreign.plugins().described(self._limit_s)

    def check(self, sweep: Sweep, block: Block) -> None:
        """Raise InputError, with its place, for an algorithm or an option of a block that does not exist."""
        everywhere = block.axes["problem"]
        named: list[tuple[str, list[str], Mapping[str, Any], tuple[str, ...]]] = [
            (variant.name, [problem] if problem else everywhere, variant.options, ("axes", "algorithm"))
            for problem, variants in block.algorithms.items()
            for variant in variants
        ]
        named += [
            (name, everywhere, {option: value}, ("options", name, option))
            for name, options in block.options.items()
            for option, values in options.items()
            for value in values
        ]
        for name, problems, options, keys in named:
            try:
                self._check_algorithm(name, problems)
                for option, value in options.items():
                    self._check_option(name, problems, option, value)
            except InputError as error:
                raise placed(error, sweep.where(block, *keys)) from None

    def check_peer(self, name: str) -> None:
        """Refuse ``peer:NAME`` where there is no such peer."""
        check_name("peer", name.removeprefix(PEER), (peer.removeprefix(PEER) for peer in self._peers()))

    def _check_algorithm(self, name: str, problems: Sequence[str]) -> None:
        """Refuse a name that names an algorithm of none of the problems."""
        if name.startswith(PEER):
            self.check_peer(name)
        if name == "auto" or name.startswith(PEER):
            return
        trouble: GpuGraphError | None = None
        for problem in problems:
            try:
                if self._found(name, problem):
                    return
            except GpuGraphError as error:
                trouble = error
        if trouble is not None:
            raise trouble
        known = {a.name for problem in problems if problem in PROBLEMS for a in algorithms(problem)}
        raise unknown_name("algorithm", name, known | foreign.plugins().installed().keys())

    def _check_option(self, algorithm: str, problems: Sequence[str], option: str, value: object) -> None:
        """Refuse an option that the algorithm does not have, or a value it does not take."""
        if "{" in str(value) or algorithm == "auto" or algorithm.startswith(PEER):
            return  # known when the variables are
        found = [a for problem in problems if self._solves(algorithm, problem) for a in self._found(algorithm, problem)]
        known = [a for a in found if option in {o.name for o in a.options}]
        for one in known or sorted(found, key=lambda a: -len(a.options))[:1]:
            parse_options(one, {option: str(value)})

    def ways(self, variant: Variant, problem: str, block: Block) -> Iterator[Way]:
        """Yield the ways to run a variant of a block's; none where it does not solve the problem."""
        name = variant.name
        if not self._solves(name, problem):
            return
        peer = self._peers()[name] if name.startswith(PEER) else None
        plugin = self._plugins.find(name, problem) if self._is_plugin(name) else None
        own = {**(peer.get("scanned", {}) if peer else {}), **block.options.get(name, {})}
        axes = {
            "device": self._devices_of(name, problem, [variant.device] if variant.device else block.axes["device"]),
            "prepare": [variant.prepare] if variant.prepare is not None else block.axes["prepare"],
            **own,
        }
        for values in itertools.product(*axes.values()):
            chosen = dict(zip(axes, values, strict=True))
            device, prepare, *_ = values
            kind = self._kinds.get(device, str(device).partition(":")[0])
            options = {**variant.options, **{k: v for k, v in chosen.items() if k in own}}
            refused, obstacle = "", None
            if peer is None:
                obstacle = self._obstacle(name, problem, device, str(prepare), options)
            elif device not in self._kinds:
                reason = self._unusable.get(device, "no such device can be used here")
                refused = f"{peer['title']} runs on '{device}': {reason}"
            yield Way(chosen, options, kind, refused, obstacle, plugin)

    @cache  # noqa: B019  lives as long as one expansion
    def _found(self, name: str, problem: str) -> list[Algorithm]:
        """Return the algorithms of a name, one for each kind of device that has its own."""
        if self._is_plugin(name):
            return [self._plugins.find(name, problem)]
        return [a for a in algorithms_called(name) if a.problem == problem]

    @cache  # noqa: B019
    def _is_plugin(self, name: str) -> bool:
        """Tell whether a name is that of a user's own algorithm, in a file or of an installed package."""
        if name == "auto" or name.startswith(PEER):
            return False
        return is_file(name) or (not algorithms_called(name) and name in foreign.plugins().installed())

    @cache  # noqa: B019
    def _peers(self) -> dict[str, dict[str, Any]]:
        """Return what there is to say of each peer, by name; the external commands of the sweep are among them."""
        return {peer["name"]: peer for peer in foreign.peers().describe_peers()}

    def _solves(self, name: str, problem: str) -> bool:
        """Tell whether the name is that of an algorithm of the problem."""
        if name.startswith(PEER):
            return problem in self._peers()[name]["problems"]
        if name == "auto":
            return True
        try:
            return bool(self._found(name, problem))
        except GpuGraphError:
            return False

    def _devices_of(self, name: str, problem: str, devices: Sequence[str]) -> Sequence[str]:
        """Return the devices that an algorithm is tried on: those it runs on, if any; a peer has its own."""
        if name.startswith(PEER):
            return [self._peers()[name]["device"]]
        if name == "auto":
            return devices
        able = {kind for algorithm in self._found(name, problem) for kind in algorithm.devices}
        here = [device for device in devices if self._kinds.get(device) in able]
        return here or [device for device in devices if device not in self._kinds] or devices

    def _obstacle(self, name: str, problem: str, device: str, prepare: str, options: Iterable[str]) -> str | None:
        """Return why a cell cannot be, or None if it can."""
        if device not in self._kinds:
            return absent(device)
        if name == "auto":
            return None
        kind = self._kinds[device]
        here = [a for a in self._found(name, problem) if kind in a.devices]
        if not here:
            return f"{name} does not run on {kind}"
        own = {option.name for option in here[0].options}
        for option in options:
            if option not in own:
                return f"{name} on {kind} has no option {option}"
        for step in prepare.split("+"):
            if step not in ("", "none", *here[0].preparations) and "{" not in step:
                return f"{name} on {kind} does not take the preparation {step}"
        return None
