"""What a problem and an algorithm must offer, and the list of those there are.

An algorithm is registered under (problem, name, kind of device).  Importing the package of a problem
registers its algorithms; a user's own come from ``--algo ./mine.py:driver`` or from the entry-point group
``gpugraph.algorithms``.
"""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from gpugraph.errors import InputError, unknown_name

if TYPE_CHECKING:
    from gpugraph.clock import Clock
    from gpugraph.devices.base import Device
    from gpugraph.devices.resident import ResidentView
    from gpugraph.graph.csr import CSRGraph
    from gpugraph.graph.view import GraphView
    from gpugraph.measure.record import Cell

PROBLEMS = ("mst", "sssp", "scan")


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check.

    Attributes:
        status: ``"passed"``, ``"failed"`` or ``"skipped"``.
        method: ``"reference"``, ``"certificate"``, ``"both"`` or ``"none"``.
        detail: one sentence; of a failed check it names the first counter-example.
    """

    status: str
    method: str
    detail: str

    @property
    def passed(self) -> bool:
        """True only for a check that was made and holds."""
        return self.status == "passed"


class Result(Protocol):
    """What every problem's result offers to the measurement."""

    def summary(self) -> dict[str, Any]:
        """Return the ``result`` object of a record."""
        ...

    def fingerprint(self) -> str:
        """Return a digest that equals another result's exactly if the results are equal."""
        ...


class Problem(Protocol):
    """What a problem must offer; ``gpugraph.problems.<name>.problem.PROBLEM`` is the instance."""

    name: str
    title: str
    counted: str
    """What MTEPS counts, e.g. ``"undirected edges"``."""
    definition: str
    """The definition of MTEPS, one sentence, printed beside the figure."""

    def open(self, cell: Cell, phases: dict[str, float], progress: Callable[[str], None]) -> Any:
        """Return the input that a cell names, and add the seconds of ``load`` and ``build`` to ``phases``."""
        ...

    def view(self, graph: Any, preparations: Sequence[str], index_bits: int | None) -> Any:
        """Return the input as an algorithm on the CPU gets it, after the preparations."""
        ...

    def to_device(self, view: Any, device: Device) -> tuple[Any, float, float]:
        """Return the view on a device, and the seconds of ``stage`` and ``h2d``."""
        ...

    def admit(self, graph: CSRGraph) -> CSRGraph:
        """Return the graph the algorithms get (mst symmetrises); raise InputError for one they cannot take."""
        ...

    def queries(self, graph: CSRGraph, parameters: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        """Return the runs to make: each tuple is passed to ``run`` after the clock."""
        ...

    def work(self, graph: CSRGraph, result: Any) -> int:
        """Return the number that MTEPS counts for this result."""
        ...

    def auto(self, graph: CSRGraph, device_kind: str) -> str:
        """Return the name of the algorithm that measurements say is fastest for such a graph."""
        ...

    def reference(self, graph: CSRGraph, query: tuple[Any, ...], result: Any, by: str = "") -> Verdict:
        """Check a result against an oracle that is not the code of the algorithm ``by``."""
        ...

    def certificate(self, graph: CSRGraph, query: tuple[Any, ...], result: Any) -> Verdict:
        """Check a result without an oracle, in near-linear time."""
        ...


@runtime_checkable
class CertifiesOnDevice(Protocol):
    """What a problem may offer besides: the certificate where the graph already is."""

    def certificate_on_device(
        self, view: ResidentView, device: Device, query: tuple[Any, ...], result: Any
    ) -> Verdict | None:
        """Check a result of ``view.host.graph`` on the device; None where the view does not suit or has no room."""
        ...


@runtime_checkable
class JudgesItself(Protocol):
    """What a result may offer besides: its own check, where more than one answer is right (see ``bench/peers``)."""

    def judge(self, query: tuple[Any, ...], method: str) -> Verdict:
        """Return the verdict by ``method``, one of reference, certificate and both."""
        ...


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


_ALGORITHMS: dict[tuple[str, str, str], Algorithm] = {}
_LOADED: set[str] = set()


def register(algorithm: Algorithm) -> Algorithm:
    """Add an algorithm to the registry and return it."""
    for kind in algorithm.devices:
        _ALGORITHMS[algorithm.problem, algorithm.name, kind] = algorithm
    return algorithm


def cpu_algorithm(
    problem: str, name: str, *, summary: str, authors: str, year: int, section: str, options: tuple[Option, ...] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a plain function ``f(view, clock, *query, **options) -> Result`` as a CPU algorithm.

    Compiled code (Numba) comes into being in ``compile``, on a graph of three vertices with the same dtypes,
    so that no timing ever holds a compilation.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        def prepare(view: GraphView, device: Any, **chosen: Any) -> tuple[GraphView, dict[str, Any]]:
            return view, chosen

        def run(state: tuple[GraphView, dict[str, Any]], clock: Clock, *query: Any) -> Any:
            view, chosen = state
            return function(view, clock, *query, **chosen)

        def compile_(view: GraphView, device: Any, **chosen: Any) -> None:
            from gpugraph.clock import NullClock
            from gpugraph.graph.view import GraphView

            tiny = GraphView.of(_tiny_like(view.graph), index_bits=view.index_bits)
            function(tiny, NullClock(), *(() if problem == "mst" else (0,)), **chosen)

        register(
            Algorithm(
                problem=problem,
                name=name,
                devices=("cpu",),
                summary=summary,
                authors=authors,
                year=year,
                section=section,
                prepare=prepare,
                run=run,
                fetch=lambda state, handle: handle,
                finish=lambda state, raw, *query: raw,
                compile=compile_,
                options=options,
            )
        )
        return function

    return decorate


def _tiny_like(graph: CSRGraph) -> CSRGraph:
    """Return the path 0–1–2 with the dtypes of ``graph``."""
    import numpy as np

    from gpugraph.graph.csr import CSRGraph

    return CSRGraph(
        offsets=np.array([0, 1, 3, 4], graph.offsets.dtype),
        targets=np.array([1, 0, 2, 1], graph.targets.dtype),
        weights=np.array([1, 1, 2, 2], graph.weights.dtype),
        directed=False,
        name=graph.name,
    )


def load_problem(name: str) -> Problem:
    """Return the problem called ``name``, its algorithms registered.

    Raises:
        InputError: there is no such problem.
    """
    if name not in PROBLEMS:
        raise unknown_name("problem", name, PROBLEMS)
    package = importlib.import_module(f"gpugraph.problems.{name}")
    if name not in _LOADED:
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
        _LOADED.add(name)
        _register_guests(name)
    problem: Problem = importlib.import_module(f"{package.__name__}.problem").PROBLEM
    return problem


def _register_guests(problem: str) -> None:
    """Register what installed packages offer; one that cannot be loaded is told of and left out."""
    from gpugraph.problems.guest import installed_guests

    found, broken = installed_guests(problem)
    for guest in found:
        if any((problem, guest.name, kind) in _ALGORITHMS for kind in guest.devices):
            broken.append(InputError("an algorithm of that name exists", where=f"entry point {guest.name}"))
        else:
            register(guest)
    for error in broken:
        warnings.warn(str(error), stacklevel=2)


def algorithms(problem: str | None = None) -> list[Algorithm]:
    """Return every registered algorithm, once each, of one problem or of all."""
    for name in PROBLEMS if problem is None else (problem,):
        load_problem(name)
    unique = {id(a): a for a in _ALGORITHMS.values() if problem in (None, a.problem)}
    return sorted(unique.values(), key=lambda a: (a.problem, a.name, a.devices))


def find_algorithm(problem: str, name: str, device_kind: str) -> Algorithm:
    """Return the algorithm called ``name`` for a kind of device.

    Raises:
        InputError: unknown, or known but not for this device.
    """
    load_problem(problem)
    found = _ALGORITHMS.get((problem, name, device_kind))
    if found is not None:
        return found
    kinds = sorted(kind for p, n, kind in _ALGORITHMS if (p, n) == (problem, name))
    if kinds:
        raise InputError(
            f"algorithm '{name}' does not run on device '{device_kind}'", remedy=f"use --device {' or '.join(kinds)}"
        )
    raise unknown_name("algorithm", name, {n for p, n, kind in _ALGORITHMS if p == problem and kind == device_kind})
