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
import inspect
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gpugraph.errors import GpuGraphError, InputError, unknown_name
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contract import PROBLEMS

GROUP = "gpugraph.algorithms"
DEVICES = ("cpu", "cuda", "emulated")


def load_guest(text: str, problem: str, device_kind: str) -> Algorithm:
    """Return the algorithm that ``FILE.py[:OBJECT]`` names (OBJECT is ``driver`` if not given).

    Raises:
        InputError: no such file or object, an error in it, or not for this problem or device.
    """
    stem, _, name = text.removesuffix(".py").partition(".py:")
    path = Path(f"{stem}.py")
    if not text.endswith(".py") and ".py:" not in text:
        raise InputError("names no Python file", where=f"--algo {text}", remedy="--algo takes a name or FILE.py:OBJECT")
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
        except (Exception, SystemExit) as error:
            remedy = "repair or uninstall the package that declares it"
            what = f"cannot load it: {_in_one_line(error)}"
            broken.append(InputError(what, where=f"entry point {entry.value}", remedy=remedy))
    return [guest for guest in found if guest.problem == problem], broken


def as_algorithm(guest: Any, problem: str | None, name: str) -> Algorithm:
    """Return a guest object as an Algorithm.

    Args:
        guest: an Algorithm, an object or class with prepare and run, or a function.
        problem: the problem asked for, or None where the guest itself must tell.
        name: what to call it.

    Raises:
        InputError: it is none of these, or names a problem or device that does not exist.
    """
    guarded = _guard_of(guest, name)
    if isinstance(guest, Algorithm):
        return replace(
            guest,
            prepare=guarded(guest.prepare),
            run=guarded(guest.run),
            fetch=guarded(guest.fetch),
            finish=guarded(guest.finish),
            digest=guest.digest and guarded(guest.digest),
            compile=guest.compile and guarded(guest.compile),
        )
    if isinstance(guest, type):
        guest = guarded(guest)()
    problem = getattr(guest, "problem", problem)
    if problem is None:
        raise InputError("it does not say which problem it solves", where=name, remedy='set problem = "mst" or "sssp"')
    if problem not in PROBLEMS:
        raise unknown_name(f"problem of '{name}'", str(problem), PROBLEMS)
    plain = not hasattr(guest, "prepare")
    if plain and not callable(guest):
        raise InputError("it is neither a function nor has prepare and run", where=name)
    if not plain and not hasattr(guest, "run"):
        raise InputError("it has prepare but no run", where=name)
    devices = getattr(guest, "devices", ("cpu",) if plain else ("cuda", "emulated"))
    devices = (devices,) if isinstance(devices, str) else tuple(devices)
    for device in devices:
        if device not in DEVICES:
            raise unknown_name(f"device of '{name}'", str(device), DEVICES)
    if plain and devices != ("cpu",):
        raise InputError("a plain function runs on the CPU alone", where=name, remedy="write prepare and run")
    prepare = (lambda view, device, **options: (view, options)) if plain else guest.prepare
    run = (lambda state, clock, *query: guest(state[0], clock, *query, **state[1])) if plain else guest.run
    told = (inspect.getdoc(guest) or "").strip() or "a user's own algorithm"
    return Algorithm(
        problem=problem,
        name=name,
        devices=devices,
        summary=getattr(guest, "summary", told.splitlines()[0]),
        authors=getattr(guest, "authors", "user"),
        year=getattr(guest, "year", 0),
        section=getattr(guest, "section", ""),
        prepare=guarded(_with_device(prepare)),
        run=guarded(lambda state, clock, *query: run(state[0], clock, *query)),
        fetch=guarded(_fetch(guest)),
        finish=guarded(_finish(guest, problem, name)),
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


def _finish(guest: Any, problem: str, name: str) -> Callable[..., Any]:
    if hasattr(guest, "finish"):
        return lambda state, raw, *query: guest.finish(state[0], raw, *query)

    def finish(state: Any, raw: Any, *query: Any) -> Any:
        from gpugraph.problems.mst.forest import Forest
        from gpugraph.problems.sssp.distances import Distances
        from gpugraph.problems.sssp.words import distances_from_words

        if isinstance(raw, Forest | Distances):
            return raw
        graph = getattr(state[1], "host", state[1]).graph
        if problem == "mst":
            return Forest.of(graph, _checked_ids(raw, name))
        return distances_from_words(graph, query[0], _checked_words(raw, graph, name))

    return finish


def _checked_ids(raw: Any, name: str) -> Any:
    """Return what a guest gave as the ids of edges, if ids they can be; whether they are right is verified later."""
    remedy = "return the ids of the forest's edges, each the position of its arc u->v with u < v"
    if not isinstance(raw, np.ndarray) or raw.ndim != 1 or raw.dtype.kind not in "iu":
        raise InputError(f"run returned {_described(raw)}, not the ids of edges", where=name, remedy=remedy)
    return raw


def _checked_words(raw: Any, graph: Any, name: str) -> Any:
    """Return what a guest gave as distance words, if words they can be."""
    weights = graph.weights.dtype
    widths = (4, 8) if weights.kind in "iu" else (weights.itemsize,)
    fits = isinstance(raw, np.ndarray) and raw.shape == (graph.vertices,)
    if not fits or raw.dtype.kind != "u" or raw.dtype.itemsize not in widths:
        words = " or ".join(f"uint{8 * width}" for width in widths)
        what = f"run returned {_described(raw)}, not the {graph.vertices} distances as {words}"
        raise InputError(
            what, where=name, remedy="return words that compare as the distances do, the largest: unreached"
        )
    return raw


def _described(raw: Any) -> str:
    return f"{raw.dtype} of shape {raw.shape}" if isinstance(raw, np.ndarray) else f"a {type(raw).__name__}"


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError("there is no such file", where=path, remedy="--algo takes a name or FILE.py:OBJECT")
    spec = importlib.util.spec_from_file_location(f"gpugraph_guest_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    _guarded(spec.loader.exec_module, str(path), str(path))(module)
    return module


def _guard_of(guest: Any, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return what guards the functions of a guest; its errors are placed in the file that defines it."""
    run = guest.run if isinstance(guest, Algorithm) else guest
    module = sys.modules.get(getattr(run, "__module__", None) or "")
    home = getattr(module, "__file__", None)
    return lambda function: _guarded(function, name, home)


class GuestThrew(InputError):
    """A user's own algorithm raised an exception; ``outcome`` is the word for its row."""

    outcome = "threw"


def _guarded(function: Callable[..., Any], name: str, home: str | None) -> Callable[..., Any]:
    """Return ``function`` with any error of the guest's own told in one line: what, and where in the file ``home``."""

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (GpuGraphError, MemoryError):
            raise
        except SyntaxError as error:
            line = f" line {error.lineno}" if error.lineno else ""
            where = f"{error.filename or home or name}{line}"
            raise InputError(error.msg, where=where, remedy="correct the user's own algorithm") from error
        except (Exception, SystemExit) as error:
            lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if home and f.filename == home]
            remedy = "this is an error of the user's own algorithm; --debug shows the trace"
            where = f"{home} line {lines[-1]}" if lines else name
            raise GuestThrew(_in_one_line(error), where=where, remedy=remedy) from error

    return call


def _in_one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
