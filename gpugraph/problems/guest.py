"""A user's own algorithm as a first-class guest.

``--algo ./mine.py:driver`` or an entry point in the group ``gpugraph.algorithms`` names an object that is

* an ``Algorithm``,
* an object or class with ``prepare(view, device, **options)`` and ``run(state, clock, *query)``, and where wanted
  ``fetch``, ``finish``, ``problem``, ``devices``, ``options``, ``preparations``, ``summary``, ``authors``, ``year``
  and ``section``, or
* a plain function ``f(view, clock, *query)`` over NumPy arrays, for the CPU.

What ``run`` returns is by default the (device) array of canonical edge ids of the forest, or of the distance words
(see ``sssp/words.py``); ``fetch`` and ``finish`` are needed only for something else.  Phases, verification, both
devices and records come for free.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from gpugraph.errors import GpuGraphError, InputError
from gpugraph.problems.registry import Algorithm

GROUP = "gpugraph.algorithms"


def load_guest(text: str, problem: str, device_kind: str) -> Algorithm:
    """Return the algorithm that ``FILE.py[:OBJECT]`` names (OBJECT is ``driver`` if not given).

    Raises:
        InputError: no such file or object, an error in it, or not for this problem or device.
    """
    file, _, name = text.partition(".py:")
    path = Path(file if file.endswith(".py") else f"{file}.py")
    module = _import_file(path)
    name = name or "driver"
    if not hasattr(module, name):
        raise InputError(f"there is no '{name}' in it", where=path, remedy="name the object: --algo FILE.py:OBJECT")
    algorithm = as_algorithm(getattr(module, name), problem, f"{path.stem}:{name}")
    if algorithm.problem != problem:
        raise InputError(f"'{name}' solves {algorithm.problem}, not {problem}", where=path)
    if device_kind not in algorithm.devices:
        remedy = f"use --device {' or '.join(algorithm.devices)}"
        raise InputError(f"'{name}' does not run on device '{device_kind}'", where=path, remedy=remedy)
    return algorithm


def installed_guests(problem: str) -> tuple[list[Algorithm], list[InputError]]:
    """Return the algorithms for ``problem`` that installed packages offer, and an error for each that cannot load."""
    found, broken = [], []
    for entry in entry_points(group=GROUP):
        try:
            found.append(as_algorithm(entry.load(), None, entry.name))
        except Exception as error:
            remedy = "repair or uninstall the package that declares it"
            broken.append(InputError(f"cannot load it: {error}", where=f"entry point {entry.value}", remedy=remedy))
    return [guest for guest in found if guest.problem == problem], broken


def as_algorithm(guest: Any, problem: str | None, name: str) -> Algorithm:
    """Return a guest object as an Algorithm.

    Args:
        guest: an Algorithm, an object with prepare and run, or a function.
        problem: the problem asked for, or None where the guest itself must tell.
        name: what to call it.
    """
    if isinstance(guest, Algorithm):
        return guest
    problem = getattr(guest, "problem", problem)
    if problem is None:
        raise InputError("it does not say which problem it solves", where=name, remedy='set problem = "mst" or "sssp"')
    plain = not hasattr(guest, "prepare")
    if plain and not callable(guest):
        raise InputError("it is neither a function nor has prepare and run", where=name)
    if not plain and not hasattr(guest, "run"):
        raise InputError("it has prepare but no run", where=name)
    prepare = (lambda view, device, **options: (view, options)) if plain else guest.prepare
    run = (lambda state, clock, *query: guest(state[0], clock, *query, **state[1])) if plain else guest.run
    return Algorithm(
        problem=problem,
        name=name,
        devices=tuple(getattr(guest, "devices", ("cpu",) if plain else ("cuda", "emulated"))),
        summary=getattr(guest, "summary", (guest.__doc__ or "a user's own algorithm").strip().splitlines()[0]),
        authors=getattr(guest, "authors", "user"),
        year=getattr(guest, "year", 0),
        section=getattr(guest, "section", ""),
        prepare=_guarded(_with_device(prepare), name),
        run=_guarded(lambda state, clock, *query: run(state[0], clock, *query), name),
        fetch=_guarded(_fetch(guest), name),
        finish=_guarded(_finish(guest, problem), name),
        preparations=tuple(getattr(guest, "preparations", ())),
        options=tuple(getattr(guest, "options", ())),
    )


def _with_device(prepare: Callable[..., Any]) -> Callable[..., Any]:
    """Keep view and device beside the guest's own state, for the default fetch and finish."""
    return lambda view, device, **options: (prepare(view, device, **options), view, device)


def _fetch(guest: Any) -> Callable[..., Any]:
    if hasattr(guest, "fetch"):
        return lambda state, handle: guest.fetch(state[0], handle)
    return lambda state, handle: handle if state[2].kind == "cpu" else state[2].download(handle)


def _finish(guest: Any, problem: str) -> Callable[..., Any]:
    if hasattr(guest, "finish"):
        return lambda state, raw, *query: guest.finish(state[0], raw, *query)

    def finish(state: Any, raw: Any, *query: Any) -> Any:
        from gpugraph.problems.mst.problem import Forest
        from gpugraph.problems.sssp.problem import Distances
        from gpugraph.problems.sssp.words import distances_from_words

        if isinstance(raw, Forest | Distances):
            return raw
        graph = getattr(state[1], "host", state[1]).graph
        return Forest.of(graph, raw) if problem == "mst" else distances_from_words(graph, query[0], raw)

    return finish


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError("there is no such file", where=path, remedy="--algo takes a name or FILE.py:OBJECT")
    spec = importlib.util.spec_from_file_location(f"gpugraph_guest_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    _guarded(spec.loader.exec_module, str(path))(module)
    return module


def _guarded(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return ``function`` with any error of the guest's own told in one line: what, and where in the guest."""

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except GpuGraphError:
            raise
        except SyntaxError as error:
            raise InputError(f"{error.msg}", where=f"{error.filename} line {error.lineno}") from error
        except Exception as error:
            frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
            where = f"{frames[-1].filename} line {frames[-1].lineno}" if frames else name
            remedy = "this is an error of the user's own algorithm; --debug shows the trace"
            raise InputError(f"{type(error).__name__}: {error}", where=where, remedy=remedy) from error

    return call
