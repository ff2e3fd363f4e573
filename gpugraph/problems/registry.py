"""The list of the problems and algorithms there are.

An algorithm is registered under (problem, name, kind of device).  ``load_problem`` imports every module of a problem,
each of which registers its algorithms.  A user's own come from ``--algo ./mine.py:driver`` or, found when their name is
asked for, from the entry-point group ``gpugraph.algorithms``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gpugraph.errors import InputError, unknown_name
from gpugraph.problems.algorithm import REGISTERED, Algorithm, Option
from gpugraph.problems.contract import PROBLEMS, Problem, SolvedByPeers, problem_called

if TYPE_CHECKING:
    from gpugraph.clock import Clock
    from gpugraph.graph.view import GraphView
    from gpugraph.problems import Command

_LOADED: set[str] = set()

NAMES = {
    "components": "afforest boruvka-distributed hook",
    "mst": "boruvka boruvka-distributed boruvka-hybrid boruvka-prim boruvka-scan boruvka-streamed filter-boruvka"
    " kruskal prim prim-naive prim-persistent",
    "scan": "brent-kung cpu cub kogge-stone look-back reduce-then-scan reduce-then-scan-multilevel scan-then-propagate"
    " segmented-min sklansky",
    "sssp": "delta-stepping delta-stepping-batched delta-stepping-distributed dijkstra dijkstra-fibonacci f-cpu"
    " f-gpu-no-atomic harish-narayanan matrix-f-cpu matrix-f-gpu matrix-f-gpu-no-atomic matrix-u-cpu matrix-u-gpu"
    " u-cpu u-gpu u-gpu-2min u-gpu-plus u-hybrid-1 u-hybrid-2 u-hybrid-3",
}
"""Problem → what its algorithms are called: who asks in haste whether a name is a package's need load none of them."""


def register(algorithm: Algorithm) -> Algorithm:
    """Add an algorithm to the registry and return it."""
    for kind in algorithm.devices:
        REGISTERED[algorithm.problem, algorithm.name, kind] = algorithm
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

            tiny = view.tiny()
            (query,) = load_problem(problem).queries(tiny.graph, {"source": 0})
            function(tiny, NullClock(), *query, **chosen)

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
    return problem_called(name)


def command_of(problem: str) -> Command:
    """Return the command that solves a problem; nothing else of the problem is imported."""
    command: Command = importlib.import_module(f"gpugraph.problems.{problem}").COMMAND
    return command


def peered_problems() -> dict[str, SolvedByPeers]:
    """Return by name the problems that other people's programs solve, in the order of ``PROBLEMS``."""
    found = {name: problem_called(name) for name in PROBLEMS}
    return {name: problem for name, problem in found.items() if isinstance(problem, SolvedByPeers)}


def load_peered(name: str) -> SolvedByPeers:
    """Return a problem that other people's programs solve.

    Raises:
        InputError: there is no such problem, or none solves it.
    """
    problem = load_problem(name)
    if not isinstance(problem, SolvedByPeers):
        raise InputError(f"no peer solves {name}", remedy="leave --peer out")
    return problem


def algorithms(problem: str | None = None) -> list[Algorithm]:
    """Return every registered algorithm, once each, of one problem or of all; what packages add is not among them."""
    for name in PROBLEMS if problem is None else (problem,):
        load_problem(name)
    unique = {id(a): a for a in REGISTERED.values() if problem in (None, a.problem)}
    return sorted(unique.values(), key=lambda a: (a.problem, a.name, a.devices))


def find_algorithm(problem: str, name: str, device_kind: str) -> Algorithm:
    """Return the algorithm called ``name`` for a kind of device: registered, or else of an installed package.

    Only the package that offers the name is imported.

    Raises:
        InputError: unknown, known but not for this device, or not to be loaded.
    """
    load_problem(problem)
    found = REGISTERED.get((problem, name, device_kind))
    if found is not None:
        return found
    kinds = sorted(kind for p, n, kind in REGISTERED if (p, n) == (problem, name))
    if kinds:
        raise InputError(
            f"algorithm '{name}' does not run on device '{device_kind}'", remedy=f"use --device {' or '.join(kinds)}"
        )
    from gpugraph.problems.guest import check_fits, installed, installed_guest

    if name in installed():
        return check_fits(installed_guest(name), name, problem, device_kind)
    known = {n for p, n, kind in REGISTERED if p == problem and kind == device_kind}
    raise unknown_name("algorithm", name, known | installed().keys())
