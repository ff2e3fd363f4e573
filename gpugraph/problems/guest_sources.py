"""Where users' own algorithms come from: a file, or an installed package; and what they say of themselves.

A guest is imported only where it is run.  A process that plans asks another (``describe_guest``) and gets an algorithm
that cannot run (``described_guest``): importing may hang, or end the process.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import zlib
from collections.abc import Callable, Mapping
from importlib.machinery import SourceFileLoader
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from gpugraph.errors import GpuGraphError, InputError
from gpugraph.problems.algorithm import Algorithm, Option
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.guest import as_algorithm, guarded

GROUP = "gpugraph.algorithms"


def is_file(name: str) -> bool:
    """True for ``./file.py:driver``, False for a registered name and for ``peer:NAME``."""
    return (":" in name or name.endswith(".py")) and not name.startswith("peer:")


def load_guest(text: str, problem: str, device_kind: str) -> Algorithm:
    """Return the algorithm that ``FILE.py[:OBJECT]`` names (OBJECT is ``driver`` if not given).

    Raises:
        InputError: no such file or object, an error in it, or not for this problem or device.
    """
    algorithm = _from_file(text)(problem)
    return check_fits(algorithm, text, problem, device_kind)


def check_fits(algorithm: Algorithm, text: str, problem: str, device_kind: str) -> Algorithm:
    """Return the algorithm if it solves the problem on that kind of device.

    Raises:
        InputError: it does not.
    """
    path, name = _parts(text)
    if algorithm.problem != problem:
        raise InputError(
            f"'{name}' solves {algorithm.problem}, not {problem}",
            where=path,
            remedy=f"use it with: gpugraph {algorithm.problem}",
        )
    if device_kind not in algorithm.devices:
        remedy = f"use --device {' or '.join(algorithm.devices)}"
        raise InputError(f"'{name}' does not run on device '{device_kind}'", where=path, remedy=remedy)
    return algorithm


def _parts(text: str) -> tuple[Path | str, str]:
    """Return the file and the object of ``FILE.py[:OBJECT]``; of an entry point, its name twice."""
    if not is_file(text):
        return text, text
    stem, _, name = text.removesuffix(".py").partition(".py:")
    return Path(f"{stem}.py"), name or "driver"


def _from_file(text: str) -> Callable[[str | None], Algorithm]:
    """Import a file; return what makes an algorithm for a problem of its object."""
    path, name = _parts(text)
    if not text.endswith(".py") and ".py:" not in text:
        raise InputError("names no Python file", where=f"--algo {text}", remedy="--algo takes a name or FILE.py:OBJECT")
    module = _import_file(Path(path))
    nothing = object()
    found = guarded(getattr, str(path), str(path))(module, name, nothing)
    if found is nothing:
        raise InputError(f"there is no '{name}' in it", where=path, remedy="name the object: --algo FILE.py:OBJECT")
    return lambda problem: as_algorithm(found, problem, f"{Path(path).stem}:{name}")


class _AsItIs(SourceFileLoader):
    """Loads what stands in a file now: byte code that Python keeps is for a second and a size, and lies beside it."""

    def path_stats(self, path: str) -> Any:
        """Refuse what byte code is known by, so that none is read or written."""
        raise OSError(path)


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError("there is no such file", where=path, remedy="--algo takes a name or FILE.py:OBJECT")
    name = f"gpugraph_guest_{path.stem}_{zlib.crc32(str(path.resolve()).encode('utf-8', 'surrogateescape')):08x}"
    spec = importlib.util.spec_from_file_location(name, path, loader=_AsItIs(name, os.path.abspath(path)))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        guarded(spec.loader.exec_module, str(path), str(path))(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


# ------------------------------------------------------------------ installed packages


def installed() -> dict[str, EntryPoint]:
    """Return what installed packages offer, by name; nothing of it is imported."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def installed_guest(name: str) -> Algorithm:
    """Return the algorithm that an installed package offers.

    Raises:
        InputError: it cannot be loaded, or is no algorithm.
    """
    entry = installed()[name]
    try:
        return as_algorithm(guarded(entry.load, name, None)(), None, name)
    except InputError as error:
        remedy = "repair or uninstall the package that declares it"
        raise InputError(f"cannot load it: {error.what}", where=f"entry point {entry.value}", remedy=remedy) from error


# ------------------------------------------------------------------ a guest from outside


def describe_guest(text: str) -> dict[str, dict[str, Any]]:
    """Import a guest and return what it says of itself for each problem, or what is wrong with it, in JSON's types."""
    told: dict[str, dict[str, Any]] = {}
    try:
        if is_file(text):
            make = _from_file(text)
        else:
            algorithm = installed_guest(text)
            make = lambda problem: algorithm  # noqa: E731
    except InputError as error:
        return {problem: _complaint(error) for problem in PROBLEMS}
    for problem in PROBLEMS:
        try:
            made = make(problem)
            if made.problem != problem:
                raise InputError(
                    f"'{_parts(text)[1]}' solves {made.problem}, not {problem}",
                    where=_parts(text)[0],
                    remedy=f"use it with: gpugraph {made.problem}",
                )
            told[problem] = told_of(made)
        except InputError as error:
            told[problem] = _complaint(error)
    return told


def told_of(algorithm: Algorithm) -> dict[str, Any]:
    """Return what ``described_guest`` needs of an algorithm, in JSON's types."""
    return {**algorithm.describe(), "version": algorithm.version}


def _complaint(error: InputError) -> dict[str, Any]:
    return {"error": {"what": error.what, "where": error.where, "remedy": error.remedy}}


def described_guest(told: Mapping[str, Any]) -> Algorithm:
    """Return what ``describe_guest`` told of one problem as an algorithm that cannot run: to plan with.

    Raises:
        InputError: what was wrong with it.
    """
    if "error" in told:
        raise InputError(told["error"]["what"], where=told["error"]["where"], remedy=told["error"]["remedy"])
    types = {kind.__name__: kind for kind in (int, float, str, bool)}
    options = tuple(
        Option(o["name"], types[o["type"]], o["default"], o["help"], o["choices"] and tuple(o["choices"]))
        for o in told["options"]
    )
    words: dict[str, Any] = {
        name: told[name] for name in ("problem", "name", "summary", "authors", "year", "section", "version")
    }
    return Algorithm(
        **words,
        devices=tuple(told["devices"]),
        preparations=tuple(told["preparations"]),
        options=options,
        trusted=told["trusted"],
        foreign=True,
        prepare=_not_here,
        run=_not_here,
        fetch=_not_here,
        finish=_not_here,
    )


def _not_here(*_: Any, **__: Any) -> Any:
    raise GpuGraphError("a user's own algorithm runs in a worker only")
