"""A user's own algorithm as a first-class plugin.

``--algo ./mine.py:driver`` or an entry point in the group ``gpugraph.algorithms`` names an object that is

* an ``Algorithm``,
* an object or class with ``prepare(view, device, **options)`` and ``run(state, clock, *query)``, and where wanted
  ``fetch``, ``finish``, ``problem``, ``devices``, ``options``, ``preparations``, ``summary``, ``authors``, ``year``
  and ``section``, or
* a plain function ``f(view, clock, *query)`` over NumPy arrays, for the CPU.

What ``run`` returns is by default, for a forest, the ids of its edges or pairs of vertices; for shortest paths, the
distances, infinity where there is no path, or distance words (see ``sssp/distances.py``); for components, a label for
each vertex; for a scan, the array: as a list, or an array on the host or the device.  ``fetch`` and ``finish`` are
needed only for something else.  Phases, verification, both devices and records come for free.

Nothing of a plugin is trusted: whatever it raises is reported in one line, and what it returns becomes a result of
gpugraph's own (``returned``).  It is imported only where it is run, or described (``describe_plugin``).
"""

import importlib
import importlib.util
import inspect
import math
import os
import signal
import sys
import traceback
import zlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from gpugraph.base.errors import DeviceUnavailable, InputError, OutOfMemory, in_one_line, unknown_name, used_up
from gpugraph.base.plugged import note_use
from gpugraph.ext.plugins.described import Described
from gpugraph.ext.plugins.isolation import kept
from gpugraph.problems.algorithm import ENTRY_POINTS, Algorithm, Option, algorithm_to_words
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.foreign import is_file
from gpugraph.problems.registry import algorithms_called

DEVICES = ("cpu", "cuda", "emulated")


def as_algorithm(plugin: Any, problem: str | None, name: str) -> Algorithm:
    """Return a plugin object as an Algorithm of that name, for a problem, or None where the plugin itself must tell.

    Raises InputError if it is none of these, or names a problem or device that does not exist.
    """
    home = _home(plugin)

    def guard(function: Callable[..., Any]) -> Callable[..., Any]:
        return guarded(function, name, home)

    read: Algorithm = guard(_read)(plugin, problem, name)
    guard(_check)(read, name)
    prepare, run, finish, time = read.prepare, read.run, read.finish, read.own_seconds
    fetch: Callable[..., Any] | None = read.fetch

    def accepted(state: Any, raw: Any, *query: Any) -> Any:
        returned = finish(state[0], raw, *query)
        host = getattr(state[1], "host", state[1])
        try:
            taken_in = importlib.import_module(f"gpugraph.ext.plugins.returned.{read.problem}").accept
            return taken_in(getattr(host, "graph", host), query, returned)
        except InputError as error:
            raise InputError(error.what, where=error.where or name, remedy=error.remedy) from error

    def seconds(state: Any, handle: Any) -> list[float]:
        reported = time(state[0], handle) if time is not None else ()
        taken = [float(one) for one in (reported if isinstance(reported, Iterable) else [reported])]
        for one in taken or [math.nan]:
            if not 0 <= one < math.inf:
                raise ValueError(f"own_seconds returned {one}, which is no time")
        return taken

    return replace(
        read,
        # View and device stay beside the plugin's own state, for the default fetch and for the result.
        prepare=guard(lambda view, device, **options: (prepare(view, device, **options), view, device)),
        run=guard(lambda state, clock, *query: run(state[0], clock, *query)),
        fetch=guard(lambda state, handle: fetch(state[0], handle) if fetch else _download(state[2], handle)),
        finish=guard(accepted),
        digest=None,  # a digest of its own might call everything equal
        compile=read.compile and guard(read.compile),
        own_seconds=time and guard(seconds),
        minimum_bytes=read.minimum_bytes and guard(read.minimum_bytes),
        state_bytes=read.state_bytes and guard(read.state_bytes),
        foreign=True,
    )


def _read(plugin: Any, problem: str | None, name: str) -> Algorithm:
    """Return what a plugin says of itself; ``fetch`` is None where it has none.  Its own code may run here."""
    if isinstance(plugin, Algorithm):
        ours = plugin.problem in list(PROBLEMS) and algorithms_called(plugin.name, (plugin.problem,))
        return replace(plugin, name=name if ours else plugin.name)
    if isinstance(plugin, type):
        plugin = plugin()
    problem = getattr(plugin, "problem", problem)
    if problem is None:
        remedy = f"set problem = {' or '.join(map(repr, PROBLEMS))}"
        raise InputError("it does not say which problem it solves", where=name, remedy=remedy)
    plain = not hasattr(plugin, "prepare")
    if plain and not callable(plugin):
        what = "it is neither a function nor has prepare and run"
        raise InputError(what, where=name, remedy="see: gpugraph new algorithm --help")
    if not plain and not hasattr(plugin, "run"):
        remedy = "write run(self, state, clock, *query) beside it"
        raise InputError("it has prepare but no run", where=name, remedy=remedy)
    devices = getattr(plugin, "devices", ("cpu",) if plain else ("cuda", "emulated"))
    devices = (devices,) if isinstance(devices, str) else tuple(devices)
    if plain and devices != ("cpu",):
        raise InputError("a plain function runs on the CPU alone", where=name, remedy="write prepare and run")
    doc = (inspect.getdoc(plugin) or "").strip() or "a user's own algorithm"
    return Algorithm(
        problem=problem,
        name=name,
        devices=devices,
        summary=getattr(plugin, "summary", doc.splitlines()[0]),
        authors=getattr(plugin, "authors", "user"),
        year=getattr(plugin, "year", 0),
        section=getattr(plugin, "section", ""),
        prepare=(lambda view, device, **options: (view, options)) if plain else plugin.prepare,
        run=(lambda state, clock, *query: plugin(state[0], clock, *query, **state[1])) if plain else plugin.run,
        fetch=getattr(plugin, "fetch", None),  # type: ignore[arg-type]
        finish=getattr(plugin, "finish", lambda state, raw, *query: raw),
        preparations=tuple(getattr(plugin, "preparations", ())),
        options=tuple(getattr(plugin, "options", ())),
    )


def _check(algorithm: Algorithm, name: str) -> None:
    """Refuse what a plugin cannot mean by what it says of itself."""
    if algorithm.problem not in list(PROBLEMS):  # a list is no key
        raise unknown_name(f"problem of '{name}'", str(algorithm.problem), PROBLEMS)
    for device in algorithm.devices or ("",):
        if device not in DEVICES:
            raise unknown_name(f"device of '{name}'", str(device), DEVICES)
    texts = ("name", "summary", "authors", "section")
    wrong = [f"{text} is no text" for text in texts if not isinstance(getattr(algorithm, text), str)]
    wrong += [f"{n} is no whole number" for n in ("year", "version") if not isinstance(getattr(algorithm, n), int)]
    wrong += ["preparations are no names"] * any(not isinstance(one, str) for one in algorithm.preparations)
    wrong += ["options are no Option(name, type, default, help)"] * any(not _fits(one) for one in algorithm.options)
    if wrong:
        raise InputError(f"its {wrong[0]}", where=name, remedy="correct the user's own algorithm")


def _fits(option: object) -> bool:
    if not isinstance(option, Option) or option.type not in (int, float, str, bool):
        return False
    values = (option.default, *(option.choices or ()))
    return isinstance(option.name, str) and all(isinstance(v, int | float | str | bool | None) for v in values)


def _download(device: Any, handle: Any) -> Any:
    """Return what ``run`` left on the device, an array or several, on the host."""
    if device.kind == "cpu":
        return handle
    return tuple(map(device.download, handle)) if isinstance(handle, tuple) else device.download(handle)


def _home(plugin: object) -> str | None:
    """Return the file that defines a plugin."""
    try:
        run = plugin.run if isinstance(plugin, Algorithm) else plugin
        module = sys.modules.get(getattr(run, "__module__", None) or "")
        return getattr(module, "__file__", None)
    except BaseException:  # it will raise again where its errors are reported
        return None


# ------------------------------------------------------------------ what a plugin raises


class PluginThrew(InputError):
    """A user's own algorithm raised an exception; ``outcome`` is the word for its row."""

    outcome = "threw"
    excerpt: tuple[str, ...] = ()


def guarded(function: Callable[..., Any], name: str, home: str | None) -> Callable[..., Any]:
    """Return ``function`` whose errors are reported in one line: what happened, and where in the file ``home``."""
    path = home and os.path.abspath(home)  # a plugin may change the directory

    def call(*args: object, **kwargs: object) -> Any:
        try:
            return function(*args, **kwargs)
        except OutOfMemory:
            raise
        except MemoryError as error:
            raise MemoryError(in_one_line(error)) from error
        except SyntaxError as error:
            line = f" line {error.lineno}" if error.lineno else ""
            where = f"{error.filename or home or name}{line}"
            raise InputError(str(error.msg), where=where, remedy="correct the user's own algorithm") from error
        except BaseException as error:
            ours = isinstance(error, InputError | DeviceUnavailable | OutOfMemory)
            # Where Ctrl-C is ignored the plugin itself raised it.
            ctrl_c = isinstance(error, KeyboardInterrupt) and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
            if (ours and type(error).__module__.startswith("gpugraph.")) or ctrl_c:
                raise
            raise used_up(error) or _threw(error, name, home, path) from error

    return call


def _threw(error: BaseException, name: str, home: str | None, path: str | None) -> PluginThrew:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if path and frame.filename == path]
    where = f"{home} line {lines[-1]}" if lines else name
    what = in_one_line(error)
    remedy = "this is an error of the user's own algorithm; --debug shows the trace"
    if isinstance(error, ValueError) and "read-only" in what:
        remedy = "the input is read-only: let the algorithm work on a copy"
    threw = PluginThrew(what, where=where, remedy=remedy)
    threw.excerpt = getattr(error, "excerpt", ())  # of a kernel's source
    return threw


def load_plugin(text: str, problem: str, device_kind: str) -> Algorithm:
    """Return the algorithm that ``FILE.py[:OBJECT]`` names, ``driver`` by default, or that a package offers.

    Raises InputError if there is none, or it does not fit.  What its import changes in this process is put back.
    """
    with kept():
        made = _from_file(text)(problem) if is_file(text) else installed_plugin(text)
    return check_fits(made, text, problem, device_kind)


def check_fits(algorithm: Algorithm, text: str, problem: str, device_kind: str) -> Algorithm:
    """Return the algorithm if it solves the problem on that kind of device.  Raises InputError if it does not."""
    path, name = _parts(text)
    if algorithm.problem != problem:
        remedy = f"use it with: gpugraph {algorithm.problem}"
        raise InputError(f"'{name}' solves {algorithm.problem}, not {problem}", where=path, remedy=remedy)
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
    """Loads what a file holds now: byte code that Python keeps is for a second and a size, and lies beside it."""

    def path_stats(self, path: str) -> Any:
        """Refuse what byte code is known by, so that none is read or written."""
        raise OSError(path)


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError("there is no such file", where=path, remedy="--algo takes a name or FILE.py:OBJECT")
    name = f"gpugraph_plugin_{path.stem}_{zlib.crc32(str(path.resolve()).encode('utf-8', 'surrogateescape')):08x}"
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
    return _found_on(tuple(sys.path))


@cache
def _found_on(path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """Read the metadata of all packages, once: a bench prices every cell that is left after each."""
    return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}


def installed_plugin(name: str) -> Algorithm:
    """Return the algorithm that an installed package offers; raise InputError if it cannot be loaded, or is none."""
    entry = installed()[name]
    try:
        made, package = as_algorithm(guarded(entry.load, name, None)(), None, name), note_use(entry)
        return replace(made, authors=package) if made.authors == "user" else made
    except InputError as error:
        remedy = "repair or uninstall the package that declares it"
        raise InputError(f"cannot load it: {error.what}", where=f"entry point {entry.value}", remedy=remedy) from error


# ------------------------------------------------------------------ a plugin from outside


def described(limit_s: float = 0.0) -> Described:
    """Return what users' own algorithms say of themselves; each is asked once, and may take that long."""
    return Described(limit_s)


def describe_plugin(text: str) -> dict[str, dict[str, Any]]:
    """Import a plugin and return what it says of itself for each problem, or what is wrong with it, in JSON's types."""
    described: dict[str, dict[str, Any]] = {}
    try:
        algorithm = None if is_file(text) else installed_plugin(text)
        make = _from_file(text) if algorithm is None else None
    except InputError as error:
        return {problem: _complaint(error) for problem in PROBLEMS}
    for problem in PROBLEMS:
        try:
            made = make(problem) if make else algorithm
            assert made is not None
            described[problem] = algorithm_to_words(check_fits(made, text, problem, made.devices[0]))
        except InputError as error:
            described[problem] = _complaint(error)
    return described


def _complaint(error: InputError) -> dict[str, Any]:
    return {"error": {"what": error.what, "where": error.where, "remedy": error.remedy}}
