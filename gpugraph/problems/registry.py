"""The list of the problems and algorithms there are.

An algorithm is registered under (problem, name, kind of device) by the module that holds it, which is imported when the
name is used: ``cpu_NAME.py``, ``gpu_NAME.py`` or ``NAME.py`` in the problem's package or an extension's folder for the
problem, or the file that ``FILES`` of such a package names.
"""

import importlib
import os
import pkgutil
from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from gpugraph.base.errors import InputError, check_name, unknown_name
from gpugraph.problems import Command, foreign
from gpugraph.problems.algorithm import REGISTERED, Algorithm
from gpugraph.problems.contract import PROBLEMS, Problem, problem_called
from gpugraph.problems.foreign import PEER, is_file

_HOME = Path(__file__).resolve().parents[1]
_EXTENSIONS = _HOME / "ext"
"""Folders of extensions; what one adds to a problem lies in its subfolder of the problem's name."""


def add_algorithm(problem: str, name: str, **fields: object) -> Algorithm:
    """Register an algorithm of several steps, by default one for GPUs that leaves its result in one device array.

    ``fields`` are the other attributes of ``Algorithm``.  ``devices``, ``fetch`` and ``finish`` may be left out: what
    ``run`` returns is then copied from a GPU, and is the result.  One for ``ranks`` runs on all kinds of device.
    """
    ranks, on_cpu = bool(fields.get("ranks")), fields.get("devices") == ("cpu",)
    given: dict[str, Any] = {
        "devices": ("cpu", "cuda", "emulated") if ranks else ("cuda", "emulated"),
        "resident": not ranks,
        "fetch": lambda state, raw: raw if on_cpu else state.device.download(raw),
        "finish": lambda state, raw, *query: raw,
    }
    algorithm = Algorithm(problem=problem, name=name, **(given | fields))
    REGISTERED.update({(problem, name, kind): algorithm for kind in algorithm.devices})
    return algorithm


def cpu_algorithm(problem: str, name: str, **described: object) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a plain function ``f(view, clock, *query, **options) -> Result`` as a CPU algorithm.

    ``described`` are the attributes of ``Algorithm`` that say what it is.  Compiled code (Numba) comes into being in
    ``compile``, on a tiny input with the same dtypes, so that no timing ever holds a compilation.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        def compile_(view: Any, device: object, **chosen: object) -> None:
            from gpugraph.base.clock import NullClock

            tiny = view.tiny()
            (query,) = problem_called(problem).queries(getattr(tiny, "graph", tiny), {"source": 0})
            function(tiny, NullClock(), *query, **chosen)

        add_algorithm(
            problem,
            name,
            devices=("cpu",),
            prepare=lambda view, device, **chosen: (view, chosen),
            run=lambda state, clock, *query: function(state[0], clock, *query, **state[1]),
            compile=compile_,
            **described,
        )
        return function

    return decorate


def load_problem(name: str) -> Problem:
    """Return the problem called ``name`` without its algorithms.  Raises InputError if there is no such problem."""
    check_name("problem", name, PROBLEMS)
    return problem_called(name)


@cache
def _packages(problem: str) -> list[str]:
    """Return the packages whose modules register algorithms of a problem: its own, and those of extensions.

    Raises InputError if there is no such problem.
    """
    check_name("problem", problem, PROBLEMS)
    extensions = sorted(_EXTENSIONS.glob(f"*/{problem}/__init__.py"))
    return [PROBLEMS[problem], *(f"gpugraph.ext.{file.parts[-3]}.{problem}" for file in extensions)]


def homes_of(problem: str, name: str, *prefixes: str) -> Iterator[str]:
    """Yield the modules that bear an algorithm's name behind one of the prefixes or none, or in ``FILES``."""
    packages, stem = _packages(problem), name.replace("-", "_")
    if stem.isidentifier():
        files = (f"{package}.{prefix}{stem}" for prefix in (*prefixes, "") for package in packages)
        yield from (file for file in files if os.path.isfile(f"{_HOME.joinpath(*file.split('.')[1:])}.py"))
        for package in packages:
            table = getattr(importlib.import_module(package), "FILES", {})
            if name in table:
                yield f"{package}.{table[name]}"


def command_of(problem: str) -> Command:
    """Return the command that solves a problem; nothing else of the problem is imported."""
    command: Command = importlib.import_module(PROBLEMS[problem]).COMMAND
    return command


def _registered() -> list[Algorithm]:
    """Return the algorithms that are registered so far, once each."""
    return list({id(one): one for one in tuple(REGISTERED.values())}.values())


def algorithms(problem: str | None = None) -> list[Algorithm]:
    """Return every registered algorithm, once each, of one problem or of all; what packages add is not among them."""
    for one in PROBLEMS if problem is None else (problem,):
        for package in _packages(one):
            for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
                importlib.import_module(f"{package}.{module.name}")
    found = [one for one in _registered() if problem in (None, one.problem)]
    return sorted(found, key=lambda a: (a.problem, a.name, a.devices))


def algorithms_called(name: str, problems: Collection[str] = PROBLEMS) -> list[Algorithm]:
    """Return the registered algorithms of a name, for all kinds of device; only if no module bears it all are imported.

    Raises InputError if there is no such problem.
    """
    homes = [home for problem in problems for home in homes_of(problem, name, "cpu_", "gpu_")]
    for home in homes:
        importlib.import_module(home)
    named = [one for one in _registered() if one.name == name and one.problem in problems]
    return named or [one for problem in problems for one in algorithms(problem) if one.name == name]


def problems_solved_by(name: str, problems: Collection[str] = PROBLEMS) -> list[str]:
    """Return which problems have an algorithm of a name; it is imported only if no module bears the name."""
    borne = [problem for problem in problems if next(homes_of(problem, name, "cpu_", "gpu_"), None) is not None]
    return borne or list(dict.fromkeys(one.problem for one in algorithms_called(name, problems)))


def find_algorithm(problem: str, name: str, device_kind: str) -> Algorithm:
    """Return the algorithm of a name for a kind of device: registered, a peer, a user's own or of an installed package.

    Only the module, the file or the package of that name is imported.  Raises InputError if it is unknown, not for this
    device, or cannot be loaded, and a peer's own errors.
    """
    if name.startswith(PEER):
        return foreign.peers().load_peer(name, problem, device_kind)
    if is_file(name):
        return foreign.plugins().load_plugin(name, problem, device_kind)
    key = problem, name, device_kind
    homes = homes_of(problem, name, "cpu_" if device_kind == "cpu" else "gpu_")
    while key not in REGISTERED and (home := next(homes, None)) is not None:
        importlib.import_module(home)
    known = [] if key in REGISTERED else algorithms(problem)  # which imports them all
    if key in REGISTERED:
        return REGISTERED[key]
    kinds = sorted(kind for one in known if one.name == name for kind in one.devices)
    if kinds:
        what = f"algorithm '{name}' does not run on device '{device_kind}'"
        raise InputError(what, remedy=f"use --device {' or '.join(kinds)}")
    if name in (installed := foreign.plugins().installed()):
        return foreign.plugins().load_plugin(name, problem, device_kind)
    raise unknown_name("algorithm", name, {one.name for one in known if device_kind in one.devices} | installed.keys())
