"""The list of the problems and algorithms there are.

An algorithm is registered under (problem, name, kind of device).  ``load_problem`` imports every module of a problem,
each of which registers its algorithms.  A user's own come from ``--algo ./mine.py:driver`` or, found when their name is
asked for, from the entry-point group ``gpugraph.algorithms``.
"""

from __future__ import annotations

import glob
import importlib
import os
import pkgutil
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpugraph.base.errors import InputError, unknown_name
from gpugraph.problems.algorithm import ENTRY_POINTS, REGISTERED, Algorithm
from gpugraph.problems.contract import PROBLEMS, Problem, SolvedByPeers, problem_called

if TYPE_CHECKING:
    from gpugraph.problems import Command

_LOADED: set[str] = set()

_EXTENSIONS = Path(__file__).resolve().parents[1] / "ext"
"""Folders of extensions; what one adds to a problem lies in its subfolder of the problem's name."""


@lru_cache(maxsize=1)
def offered_by_packages() -> frozenset[str]:
    """Return the names of the algorithms that installed packages offer, read from their metadata.

    The command line asks at every start; importing ``importlib.metadata`` would take longer than all the files.
    """
    names: set[str] = set()
    for folder in sys.path:
        for path in glob.iglob(os.path.join(glob.escape(folder), "*-info", "entry_points.txt")):
            with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
                section = file.read().partition(f"[{ENTRY_POINTS}]")[2].partition("\n[")[0]
                names.update(line.partition("=")[0].strip() for line in section.splitlines() if "=" in line)
    return frozenset(names)


def is_foreign(name: str) -> bool:
    """Tell whether an algorithm's name is not one of gpugraph's own: a user's file, a peer, or a package's."""
    return name != "auto" and (":" in name or name.endswith(".py") or name in offered_by_packages())


def add_algorithm(problem: str, name: str, **fields: object) -> Algorithm:
    """Register an algorithm of several steps, by default one for GPUs that leaves its result in one device array.

    ``fields`` are the other attributes of ``Algorithm``.  ``devices``, ``fetch`` and ``finish`` may be left out: what
    ``run`` returns is then copied from a GPU, and is the result.  One for ``ranks`` runs on all kinds of device.
    """
    ranks = bool(fields.get("ranks"))
    given: dict[str, Any] = {
        "devices": ("cpu", "cuda", "emulated") if ranks else ("cuda", "emulated"),
        "resident": not ranks,
        "fetch": (lambda state, raw: raw)
        if fields.get("devices") == ("cpu",)
        else (lambda state, raw: state.device.download(raw)),
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
            (query,) = load_problem(problem).queries(getattr(tiny, "graph", tiny), {"source": 0})
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
    """Return the problem called ``name``, its algorithms registered.  Raises InputError if there is no such problem."""
    if name not in PROBLEMS:
        raise unknown_name("problem", name, PROBLEMS)
    if name not in _LOADED:
        for package in _packages(name):
            for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
                importlib.import_module(f"{package}.{module.name}")
        _LOADED.add(name)
    return problem_called(name)


def _packages(problem: str) -> list[str]:
    """Return the packages whose modules register algorithms of a problem: its own, and those of extensions."""
    extensions = sorted(_EXTENSIONS.glob(f"*/{problem}/__init__.py"))
    return [PROBLEMS[problem], *(f"gpugraph.ext.{file.parts[-3]}.{problem}" for file in extensions)]


def command_of(problem: str) -> Command:
    """Return the command that solves a problem; nothing else of the problem is imported."""
    command: Command = importlib.import_module(PROBLEMS[problem]).COMMAND
    return command


def peered_problems() -> dict[str, SolvedByPeers]:
    """Return by name the problems that other people's programs solve, in the order of ``PROBLEMS``."""
    found = {name: problem_called(name) for name in PROBLEMS}
    return {name: problem for name, problem in found.items() if isinstance(problem, SolvedByPeers)}


def load_peered(name: str) -> SolvedByPeers:
    """Return a problem that other people's programs solve; raise InputError if there is none of that name."""
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

    Only the package that offers the name is imported.  Raises InputError if it is unknown, not for this device, or
    cannot be loaded.
    """
    load_problem(problem)
    found = REGISTERED.get((problem, name, device_kind))
    if found is not None:
        return found
    kinds = sorted(kind for p, n, kind in REGISTERED if (p, n) == (problem, name))
    if kinds:
        what = f"algorithm '{name}' does not run on device '{device_kind}'"
        raise InputError(what, remedy=f"use --device {' or '.join(kinds)}")
    from gpugraph.ext.plugins.plugin import check_fits, installed, installed_plugin

    if name in installed():
        return check_fits(installed_plugin(name), name, problem, device_kind)
    known = {n for p, n, kind in REGISTERED if p == problem and kind == device_kind}
    raise unknown_name("algorithm", name, known | installed().keys())
