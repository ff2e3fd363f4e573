"""``Algorithm``: how one way to solve a problem prepares, runs and returns its result; its options and its source."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gpugraph.base.errors import GpuGraphError, InputError, shown, unknown_name


class InputSizes(Protocol):
    """The sizes of an input as an algorithm gets it: what its traffic and its need of memory are computed from.

    A GraphView has them, a ResidentView, an ArrayInput (whose vertices and arcs are both its elements), and the plan of
    a sweep before the input is made.
    """

    @property
    def vertices(self) -> int:
        """Number of vertices, n."""

    @property
    def arcs(self) -> int:
        """Number of arcs."""

    @property
    def index_bits(self) -> int:
        """Width of an arc index in device code: 32 or 64."""

    @property
    def weight_bytes(self) -> int:
        """Bytes of one weight, or of one element."""

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays that a device needs; of an array without the heads of its segments."""


_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


@dataclass(frozen=True)
class Option:
    """A parameter of an algorithm, set by ``--set NAME=VALUE``.

    Its ``type`` is ``int``, ``float``, ``str`` or ``bool``; ``choices`` are the values allowed, or None.
    """

    name: str
    type: type
    default: Any
    help: str
    choices: tuple[Any, ...] | None = None

    def parse(self, given: object) -> object:
        """Return a text or a value of Python's as the option's type; raise InputError if it is none of the choices."""
        import numpy as np

        kinds = {bool: (bool, np.bool_), int: (int, np.integer), float: (int, float, np.integer, np.floating)}
        known, value = isinstance(given, (str, kinds.get(self.type, self.type))), given
        if isinstance(given, str) and self.type is bool:
            known, value = given.lower() in _YES + _NO, given.lower() in _YES
        try:
            value = self.type(value) if known else None
        except (ValueError, TypeError, OverflowError):
            value = None
        if value is None:
            what = f"option '{self.name}' takes {self.type.__name__}, not {shown(given)}"
            raise InputError(what, remedy=f"write --set {self.name}={self.default}, for instance")
        if self.choices is not None and value not in self.choices:
            raise unknown_name(f"value of option '{self.name}'", str(value), map(str, self.choices))
        return value


@dataclass(frozen=True)
class Algorithm:
    """One way to solve a problem on one kind of device.

    Attributes:
        devices: kinds of device it runs on: ``("cpu",)`` or ``("cuda", "emulated")``.
        prepare: ``prepare(view, device, **options) -> State``; makes every allocation.  ``view`` is a GraphView
            for a CPU algorithm and a ``ResidentView`` (the same arrays on the device) for a GPU algorithm; of a scan
            an ``ArrayInput`` and a ``ResidentArray``.
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
        minimum_bytes: ``minimum_bytes(sizes) -> int``; the device memory traffic that the algorithm cannot do without,
            read and written, once each: the arrays of the input and the result.  What it keeps in between (labels,
            lists, frontiers), reads again, or reads because memory comes in sectors is its own to save.  None where
            nobody has worked it out.  One that is ``batched`` is also given the number of its queries.
        state_bytes: ``state_bytes(sizes) -> int``; the device memory that ``prepare`` takes besides the view, with the
            default options, so that a sweep can be priced; None where sizes alone do not tell.
        own_seconds: ``own_seconds(state, handle)``; the kernel region as the algorithm measured it itself: a float, or
            a sequence of them where one run was several (a program run as a child); None lets the device's stopwatch
            decide.
        warms_itself: True where each run is a process that measures itself behind a warm-up of its own.
        lengthen: ``lengthen(state, more)``; asks such a process for so many runs more, and returns the usual number.
        resident: False for a GPU algorithm that works on graphs larger than the device's memory: ``prepare`` gets the
            GraphView itself and copies what it wants.
        unsigned: True for a GPU algorithm that takes positions of arcs without a sign (``graph/positions.py``).
        ranks: True for one that several ranks run together: ``prepare`` gets a ``ranks.part.GraphPart`` there, ``run``
            and ``finish`` are called by all ranks at once, and ``finish`` gives all of them the whole result.
        ends_early: True for a search from one source whose ``run`` takes two more, a vertex or None and a greatest
            distance or None, and ends where nothing nearer is left: the distances beyond may be too large, or
            missing.
        batched: True for one that answers all queries of a cell in one run: ``run`` and ``finish`` get what the
            problem's ``batch`` made of them.
        foreign: True for code that is not gpugraph's own, a user's or a library's: it gets a device view of its own,
            and process and input are looked after while it runs (``ext/plugins/isolation.py``).
        programs: of a program of somebody else, the files that its command names: of each ``name``, ``sha256``, and of
            the program itself the ``version`` that it has printed, if any.
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
    minimum_bytes: Callable[..., int] | None = None
    state_bytes: Callable[[InputSizes], int] | None = None
    own_seconds: Callable[[Any, Any], float | Sequence[float]] | None = None
    warms_itself: bool = False
    lengthen: Callable[[Any, int], int] | None = None
    resident: bool = True
    unsigned: bool = False
    ranks: bool = False
    ends_early: bool = False
    batched: bool = False
    foreign: bool = False
    programs: Callable[[], list[dict[str, str]]] | None = None

    def describe(self) -> dict[str, Any]:
        """Return the algorithm's line in ``gpugraph algos --format json``."""
        options = [
            {"name": o.name, "type": o.type.__name__, "default": o.default, "choices": o.choices, "help": o.help}
            for o in self.options
        ]
        described = {name: value for name, value in vars(self).items() if name in _LISTED}
        return {**described, "devices": list(self.devices), "preparations": list(self.preparations), "options": options}


_LISTED = ("problem", "name", "devices", "summary", "authors", "year", "section", "preparations", "options", "trusted")


def algorithm_to_words(algorithm: Algorithm) -> dict[str, Any]:
    """Return what another process needs of an algorithm to plan with it, in JSON's types."""
    return {**algorithm.describe(), "version": algorithm.version}


def algorithm_from(words: Mapping[str, Any]) -> Algorithm:
    """Return a user's own algorithm that cannot run, of ``algorithm_to_words``; raise the InputError of its ``error``.

    A process that plans asks another for these words: importing such an algorithm may hang, or end it.
    """
    if (error := words.get("error")) is not None:
        raise InputError(error["what"], where=error["where"], remedy=error["remedy"])
    types = {kind.__name__: kind for kind in (int, float, str, bool)}
    options = tuple(
        Option(o["name"], types[o["type"]], o["default"], o["help"], o["choices"] and tuple(o["choices"]))
        for o in words["options"]
    )
    plain: dict[str, Any] = {name: value for name, value in words.items() if isinstance(value, str | int)}
    lists: dict[str, Any] = {name: tuple(words[name]) for name in ("devices", "preparations")}
    steps: dict[str, Any] = dict.fromkeys(("prepare", "run", "fetch", "finish"), _not_here)
    return Algorithm(**plain, **lists, **steps, options=options, foreign=True)


def _not_here(*_: object, **__: object) -> Any:
    raise GpuGraphError("a user's own algorithm runs in a worker only")


ENTRY_POINTS = "gpugraph.algorithms"
"""The group of entry points by which an installed package offers algorithms."""

REGISTERED: dict[tuple[str, str, str], Algorithm] = {}
"""(problem, name, kind of device) → gpugraph's own algorithms, as far as they are loaded; see ``registry.py``."""
