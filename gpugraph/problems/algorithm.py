"""What an algorithm must offer: how it prepares, runs and hands over, its options, and where it comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpugraph.errors import InputError, unknown_name

if TYPE_CHECKING:
    from gpugraph.graph.view import GraphView


@dataclass(frozen=True)
class Option:
    """A parameter of an algorithm, set by ``--set NAME=VALUE``.

    Attributes:
        type: ``int``, ``float``, ``str`` or ``bool``.
        choices: the values allowed, or None.
    """

    name: str
    type: type
    default: Any
    help: str
    choices: tuple[Any, ...] | None = None

    def parse(self, text: str) -> Any:
        """Return the value that ``text`` stands for.

        Raises:
            InputError: it is not of the option's type or not among its choices.
        """
        try:
            value: Any = text.lower() in ("1", "true", "yes", "on") if self.type is bool else self.type(text)
        except ValueError:
            raise InputError(f"option '{self.name}' takes {self.type.__name__}, not '{text}'") from None
        if self.choices is not None and value not in self.choices:
            raise unknown_name(f"value of option '{self.name}'", str(text), map(str, self.choices))
        return value


@dataclass(frozen=True)
class Algorithm:
    """One way to solve a problem on one kind of device.

    Attributes:
        devices: kinds of device it runs on: ``("cpu",)`` or ``("cuda", "emulated")``.
        prepare: ``prepare(view, device, **options) -> State``; makes every allocation.  ``view`` is a GraphView
            for a CPU algorithm and a ``ResidentView`` (the same arrays on the device) for a GPU algorithm.
        run: ``run(state, clock, *query) -> handle``; launches, and the reads a loop cannot do without.
            May be called again on the same state: it starts from scratch each time.
        fetch: ``fetch(state, handle) -> raw``; copies the result to the host, and nothing else (phase d2h).
        finish: ``finish(state, raw, *query) -> Result``; in original ids, outside any timing.
        digest: ``digest(raw) -> str``; equal for what gives equal results, so that a repeated run need not be
            finished to be compared; None finishes every one.
        compile: ``compile(view, device, **options)``; brings compiled code into being outside any timing.
        preparations: GraphView preparations the algorithm can work with.
        options: its parameters.
        authors, year, section: the source.
        trusted: False for an algorithm that is wrong on purpose: never chosen, never reported as verified.
        version: raised whenever a change can alter the algorithm's time or result; a stored record of another
            version is not taken for a finished cell.
        minimum_bytes: ``minimum_bytes(view) -> int``; the device memory traffic that the algorithm cannot do without,
            read and written, once each; None where nobody has worked it out.
        state_bytes: ``state_bytes(view) -> int``; the device memory that ``prepare`` takes besides the view, with the
            default options; from the sizes of the graph alone if possible, so that a sweep can be priced.
        own_seconds: ``own_seconds(state, handle) -> float``; the kernel region as the algorithm measured it itself
            (a program run as a child); None lets the device's stopwatch decide.
        resident: False for a GPU algorithm that works on graphs larger than the device's memory: ``prepare`` gets the
            GraphView itself and copies what it wants.
        foreign: True for code that is not gpugraph's own, a user's or a library's: it gets a device view of its own,
            and process and input are looked after while it runs (``measure/strangers.py``).
    """

    problem: str
    name: str
    devices: tuple[str, ...]
    summary: str
    authors: str
    year: int
    section: str
    prepare: Callable[..., Any]
    run: Callable[..., Any]
    fetch: Callable[[Any, Any], Any]
    finish: Callable[..., Any]
    digest: Callable[[Any], str] | None = None
    compile: Callable[..., Any] | None = None
    preparations: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    trusted: bool = True
    version: int = 1
    minimum_bytes: Callable[[GraphView], int] | None = None
    state_bytes: Callable[[Any], int] | None = None
    own_seconds: Callable[[Any, Any], float] | None = None
    resident: bool = True
    foreign: bool = False

    def describe(self) -> dict[str, Any]:
        """Return the algorithm's line in ``gpugraph algos --format json``."""
        return {
            "problem": self.problem,
            "name": self.name,
            "devices": list(self.devices),
            "summary": self.summary,
            "authors": self.authors,
            "year": self.year,
            "section": self.section,
            "preparations": list(self.preparations),
            "options": [
                {"name": o.name, "type": o.type.__name__, "default": o.default, "choices": o.choices, "help": o.help}
                for o in self.options
            ],
            "trusted": self.trusted,
        }
