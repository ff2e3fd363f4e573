"""A library as a peer: what each must offer, how that becomes an ``Algorithm``, and the errors that one may end in.

Each class of them names the outcome that the bench records.  A peer that gives a wrong result raises nothing: its
record's verification has failed, outcome ``"wrong"``.
"""

from __future__ import annotations

import importlib.util
import math
import re
import weakref
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

from gpugraph.base.clock import NullClock
from gpugraph.base.errors import GpuGraphError, InputError, VerificationFailed, in_one_line, used_up
from gpugraph.base.host import usable_cores
from gpugraph.ext.peers.adapter import Adapter, Figure, load_peered, peered_problems
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.algorithm import Algorithm, Option
from gpugraph.problems.contract import Problem, Result, Verdict
from gpugraph.problems.registry import find_algorithm, load_problem

if TYPE_CHECKING:
    from gpugraph.graph.view import GraphView, ResidentView

_REFUSAL = re.compile(
    r"disconnected|(not|be) connected|not (yet |currently )?(supported|implemented|available)|unsupported",
    re.IGNORECASE,
)


class PeerError(GpuGraphError):
    """Base of what a peer can end in; ``outcome`` is the word for its row."""

    outcome = "threw"
    exit_code = 1


class PeerRefused(PeerError):
    """The peer cannot do this: it is not installed, lacks the feature, or does not take such a graph."""

    outcome = "refused"
    exit_code = 2


class PeerThrew(PeerError):
    """The peer failed of itself: an exception, a non-zero exit, or output that says nothing."""


class PeerTimedOut(PeerThrew):
    """The peer still ran at its time limit and was killed."""

    outcome = "timeout"


def guarded(function: Callable[..., Any], peer: str) -> Callable[..., Any]:
    """Return ``function`` with whatever a peer raises turned into PeerRefused or PeerThrew, in one line."""

    def call(*args: object, **kwargs: object) -> object:
        try:
            return function(*args, **kwargs)
        except (GpuGraphError, MemoryError):
            raise
        except BaseException as error:
            # What Rust code raises is no Exception.
            if not isinstance(error, Exception | SystemExit) and type(error).__name__ != "PanicException":
                raise
            if short := used_up(error):
                raise short from error
            text, lacks = in_one_line(error), isinstance(error, ImportError | NotImplementedError)
            raise (PeerRefused if lacks or _REFUSAL.search(text) else PeerThrew)(text, where=peer) from error

    return call


# ------------------------------------------------------------------ what becomes of a peer


@dataclass(frozen=True)
class Peer:
    """A library that may be installed.

    Attributes:
        name, title: what ``--peer`` and what people call it.
        authors, year: of the paper to cite.
        module: what is imported, if not the name.
        distributions: the packages it may come in, if not the one of that name.
        installed_by: the command that installs it, if not pip by its name.
        solves: problem → how it does, of a peer that a package plugs in.
    """

    name: str
    title: str
    authors: str
    year: int
    module: str = ""
    distributions: tuple[str, ...] = ()
    installed_by: str = ""
    device: str = "cpu"
    solves: Mapping[str, Adapter] = field(default_factory=dict)

    @property
    def install(self) -> str:
        """The command that installs it."""
        return self.installed_by or f"pip install {self.name}"

    @property
    def adapters(self) -> dict[str, Adapter]:
        """Problem → how the library solves it."""
        solved = peered_problems()
        return {name: one.peers[self.name] for name, one in solved.items() if self.name in one.peers} | {**self.solves}

    def version(self) -> str | None:
        """Return the version installed, or None where it is not; nothing is imported."""
        for distribution in self.distributions or (self.name,):
            try:
                return metadata.version(distribution)
            except metadata.PackageNotFoundError:
                continue
        try:
            return "unknown version" if importlib.util.find_spec(self.module or self.name) is not None else None
        except (ImportError, ValueError):
            return None

    def describe(self) -> dict[str, Any]:
        """Return the peer's line in ``gpugraph algos --peers``."""
        adapters = self.adapters
        return {
            "name": f"peer:{self.name}",
            "title": self.title,
            "problems": sorted(adapters),
            "device": self.device,
            "version": self.version(),
            "install": self.install,
            "calls": {problem: adapter.does for problem, adapter in sorted(adapters.items())},
            "methods": {problem: list(a.methods) for problem, a in sorted(adapters.items()) if a.methods},
        }


@dataclass
class _State:
    graph: CSRGraph
    structure: Any
    first: list[Any] = field(default_factory=list)


def library_algorithm(peer: Peer, problem: str, device_kind: str) -> Algorithm:
    """Return a library as an algorithm; raise PeerRefused if it cannot, InputError for another kind of device."""
    label = f"peer:{peer.name}"
    adapter = peer.adapters.get(load_problem(problem).name)
    if adapter is None:
        remedy = "see what it solves: gpugraph algos --peers"
        raise PeerRefused(f"{peer.title} has no function for {problem}", where=label, remedy=remedy)
    if device_kind != peer.device:
        remedy = f"use --device {peer.device}"
        raise InputError(f"{peer.title} does not run on device '{device_kind}'", where=label, remedy=remedy)
    version = peer.version()
    if version is None:
        raise PeerRefused(f"{peer.title} is not installed", where=label, remedy=peer.install)

    solves, methods = load_peered(problem), adapter.methods
    default = methods[0] if methods else ""
    options = (Option("method", str, default, "the library's algorithm", methods),) if methods else ()

    def prepare(view: GraphView | ResidentView, device: object, method: str = default) -> _State:
        graph = view.host.graph
        return _State(graph, adapter.prepare(graph, threads_of(device), method))

    def finish(state: _State, raw: object, *query: int) -> Result:
        return solves.answer(state.graph, adapter.answer(state.structure, raw), query, label, state.first)

    return Algorithm(
        problem=problem,
        name=label,
        devices=(peer.device,),
        summary=f"{peer.title}'s {adapter.does}",
        authors=peer.authors,
        year=peer.year,
        section=f"{peer.title} {version}, {adapter.does}",
        prepare=guarded(prepare, label),
        run=guarded(lambda state, clock, *query: adapter.run(state.structure, *query), label),
        fetch=guarded(lambda state, handle: adapter.fetch(state.structure, handle), label),
        finish=guarded(finish, label),
        compile=guarded(lambda view, device, **options: import_module(peer.module or peer.name), label),
        options=options,
        version=zlib.crc32(f"{peer.title} {version} {adapter.does}".encode()),
        foreign=True,
    )


def threads_of(device: object) -> int:
    """Return the threads that a program on the CPU may take."""
    return int(getattr(device, "threads", 0)) or usable_cores()


# ------------------------------------------------------------------ printed answers
# The number that a command's printed answer is compared with, and how much the printed digits can prove.

_MOST_DIGITS = 400
"""No double has more before the point; a longer exponent is no weight but a trap."""

_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:([,'_])\d{3})(?:\1\d{3})*(?:\.\d+)?")

_ULP = 2.0**-51
"""A float printed to this share of itself has all its digits."""


def judge(right: Figure, text: str, what: str) -> Verdict:
    """Return the verdict on a figure that a program printed; ``what`` it is, in words: ``"total weight"``."""
    figure, value = right.value, read_number(text)
    if value is None:
        return Verdict("skipped", "reference", f"the {what} is {figure}, and '{text}' cannot be read as a number")
    digits = max(abs(value.adjusted()), len(value.as_tuple().digits)) if value.is_finite() else 0
    if value.is_nan() or digits > _MOST_DIGITS:  # a number that no sum could be: arithmetic is spared
        return Verdict("failed", "reference", f"the {what} is {figure}, not {text}")
    exponent = value.as_tuple().exponent  # of the last digit printed; an infinite number has none
    step = Fraction(10) ** exponent if isinstance(exponent, int) else math.inf
    if _tells_apart(figure, step) and figure == (value if isinstance(figure, int) else float(value)):
        detail = f"the {what}, {figure}, is that of {right.by}; its edges or distances were not seen"
        return Verdict("passed", "reference", detail)
    if not _tells_apart(figure, step) and _apart(value, figure) < step:
        detail = f"the {what} agrees with {figure} in the digits printed, {text}, which is no proof"
        return Verdict("skipped", "reference", detail)
    if _apart(value, figure) <= right.slack:
        detail = f"the {what} {text} is as near to {figure} as the order of additions, which is no proof"
        return Verdict("skipped", "reference", detail)
    return Verdict("failed", "reference", f"the {what} is {figure}, not {text}")


_FOUND: weakref.WeakKeyDictionary[CSRGraph, dict[tuple[Any, ...], Figure]] = weakref.WeakKeyDictionary()


def truth_of(graph: CSRGraph, problem: str, query: tuple[Any, ...], method: str = "reference") -> Figure:
    """Return the figure of the right answer (see ``SolvedByPeers.truth``), computed once a graph, query and method."""
    found = _FOUND.setdefault(graph, {})
    key = (problem, *query, method)
    if key not in found:
        found[key] = load_peered(problem).truth(graph, query, method)
    return found[key]


def known_truth(graph: CSRGraph, problem: str, query: tuple[Any, ...]) -> Figure | None:
    """Return what ``truth_of`` has found already, by whichever method, or None."""
    found = _FOUND.get(graph, {})
    return next((found[key] for m in ("reference", "certificate") if (key := (problem, *query, m)) in found), None)


def note_truth(problem: Problem, graph: CSRGraph, query: tuple[Any, ...], result: Result, by: str) -> None:
    """Keep the figure of a result of our algorithm ``by`` that passed its check, to judge commands by.

    The sum of real weights depends on the order of additions, so that graphs with such weights are left alone.
    """
    weights = getattr(graph, "weight_dtype", None)  # an array has none
    if weights is None or weights.kind == "f" or known_truth(graph, problem.name, query) is not None:
        return
    value = result.summary()[load_peered(problem.name).printed.field]
    figure = Figure(value, 0.0, f"{by}, which passed its check", getattr(result, "reached", None))
    _FOUND.setdefault(graph, {})[(problem.name, *query, "certificate")] = figure


def certified(problem: str, name: str, graph: CSRGraph, *query: int, **options: Any) -> Any:
    """Return what our own algorithm on all threads finds; raise VerificationFailed if its certificate does not hold."""
    from gpugraph.graph.view import GraphView

    own = find_algorithm(problem, name, "cpu")
    state = own.prepare(GraphView.of(graph), None, **options)
    result = own.finish(state, own.fetch(state, own.run(state, NullClock(), *query)), *query)
    verdict = load_problem(problem).certificate(graph, query, result)
    if not verdict.passed:
        raise VerificationFailed(verdict.detail, where=f"{name} on {graph.name}")
    return result


def read_number(text: str) -> Decimal | None:
    """Return a printed number, thousands separators or not, or None where it is none: ``"2,494,584,159"``."""
    bare = text.strip()
    bare = re.sub(r"[,'_]", "", bare) if _GROUPED.fullmatch(bare) else bare
    if "_" in bare:  # Decimal passes over it
        return None
    try:
        value = Decimal(bare)
    except InvalidOperation:
        return None
    return None if value.is_snan() else value


def _tells_apart(figure: int | float, step: Fraction | float) -> bool:
    """True if numbers printed to ``step`` tell ``figure`` from every other that the program could mean."""
    if isinstance(figure, int):
        return step <= 1
    return math.isfinite(figure) and step <= abs(figure) * _ULP


def _apart(value: Decimal, figure: int | float) -> Fraction | float:
    """Return the difference; 0 of equal infinities."""
    if value.is_finite() and math.isfinite(figure):
        return abs(Fraction(value) - Fraction(figure))
    return 0.0 if float(value) == figure else math.inf
