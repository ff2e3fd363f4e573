"""Numba's decorators as gpugraph uses them: compiled once, kept in the cache of compiled code, free of the GIL.

Everything compiled goes through here, so that the options are in one place and mypy sees typed decorators.  Numba is
imported when a compiled function is first called, and not before: many runs call none.
"""

import contextlib
import functools
import importlib
import os
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from gpugraph.base.errors import InputError
from gpugraph.base.host import usable_cores

Function = TypeVar("Function", bound=Callable[..., Any])


def njit(function: Function) -> Function:
    """Compile a sequential function."""
    return _compiled(function)


def plain_njit(function: Function) -> Function:
    """Compile a sequential function that allocates nothing and counts no references.

    Every count of a reference to an array is a cache line that threads take from each other.
    """
    return _compiled(function, _nrt=False)


def inner_njit(function: Function) -> Function:
    """Compile what ``plain_njit`` does for callers that are compiled themselves, and for nobody else.

    Without the code that takes Python's arguments apart it takes half the time to compile.
    """
    return _compiled(function, _nrt=False, no_cpython_wrapper=True)


def parallel_njit(function: Function) -> Function:
    """Compile a function whose one ``prange`` loop runs on all threads."""
    return _compiled(function, parallel=True)


def _compiled(function: Function, **options: bool) -> Function:
    return cast(Function, Compiled(function, options))


class Compiled:
    """A function that Numba compiles when it is first called."""

    def __init__(self, function: Callable[..., Any], options: dict[str, bool]):
        functools.update_wrapper(self, function)
        self._function, self._options = function, options
        self._made: Any = None
        self._under_way: Any = None

    def __call__(self, *args: Any) -> Any:
        """Call the compiled function."""
        return (self._made or self.dispatcher)(*args)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of Numba's own object."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)

    @property
    def dispatcher(self) -> Any:
        """Numba's own object, made now if it is not there yet, and so are those of the functions that it calls."""
        with _MAKING:
            if self._made is None and self._under_way is not None:  # it calls itself, or what it calls does
                return self._under_way
            if self._made is None:
                self._under_way = _numba().dispatcher_of(self._function, self._options)
                names = self._function.__globals__
                for name in self._function.__code__.co_names:  # Numba knows only what is its own
                    value: Any = names.get(name)
                    if isinstance(value, Compiled):
                        names[name] = value.dispatcher
                    elif isinstance(value, FromNumba):
                        names[name] = value.make()
                self._made = self._under_way  # not before: another thread would call what does not know its callees
            return self._made


_MAKING = threading.RLock()

# What another thread has half made would stay so in the child.
os.register_at_fork(before=_MAKING.acquire, after_in_parent=_MAKING.release, after_in_child=_MAKING.release)


def _free_cached_properties() -> None:
    """Free locks of cached properties, in the child of a fork, that another thread had taken (before Python 3.12)."""
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == "gpugraph"]
    classes = [one for module in modules for one in vars(module).values() if isinstance(one, type)]
    for cached in [one for each in classes for one in vars(each).values()]:
        if isinstance(cached, functools.cached_property):
            cached.lock = threading.RLock()  # type: ignore[attr-defined]


if sys.version_info < (3, 12):
    os.register_at_fork(after_in_child=_free_cached_properties)


class FromNumba:
    """Takes the place of an object of Numba's, which ``make`` returns, until compiled code needs it."""

    def __init__(self, make: Callable[[], Any]):
        self.make = functools.cache(make)

    def __call__(self, *args: Any) -> Any:
        """Call it, where nothing is compiled."""
        return self.make()(*args)


def _fetch_min() -> Any:
    from gpugraph.base.intrinsics import fetch_min

    return fetch_min


fetch_min = FromNumba(_fetch_min)
"""An atomic minimum for threads that share an array; see ``intrinsics.py``, which imports Numba."""

prange = cast(type[range], FromNumba(lambda: _numba().numba.prange))
"""The range of a loop that runs on all threads."""


# ------------------------------------------------------------------ threads


_NUMBA_FILE, _NO_NUMBA_FILE = ".numba_config.yaml", "correct it, or run in another folder"


def _numba() -> Any:
    """Return the module that imports Numba.  Raises InputError if a variable of Numba's is set wrongly."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        raise InputError("NUMBA_DISABLE_JIT is set, and CPU code has to be compiled", remedy="unset it")
    _threads_asked_for()
    if "numba" in sys.modules:
        return importlib.import_module("gpugraph.base.numba_cache")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Environment variable 'NUMBA_", RuntimeWarning)
        try:
            with _spared():
                loaded = importlib.import_module("gpugraph.base.numba_cache")
        except Exception as error:
            name = str(error).split("'")[1] if isinstance(error, RuntimeWarning) else ""
            if name in os.environ:
                what = f"{name} is {os.environ[name][:40]!r}, which Numba cannot use"
                raise InputError(what, remedy="change it, or unset it") from error
            if not os.path.exists(_NUMBA_FILE):
                raise
            what = f"is not read by Numba: {' '.join(str(error).split())[:200]}"
            raise InputError(what, where=_NUMBA_FILE, remedy=_NO_NUMBA_FILE) from error
    if loaded.numba.config.DISABLE_JIT:
        raise InputError("switches off the compiler, which is needed", where=_NUMBA_FILE, remedy=_NO_NUMBA_FILE)
    if "NUMBA_THREADING_LAYER" in os.environ or "NUMBA_THREADING_LAYER_PRIORITY" in os.environ:
        try:
            loaded.numba.get_num_threads()  # starts the threads, which finds out
        except ValueError as error:
            what = f"NUMBA_THREADING_LAYER, or its PRIORITY, names what Numba cannot use ({error})"
            raise InputError(what, remedy="unset them") from error
    return loaded


IN_COMMAND = False
"""Whether this process is a command's that runs no user's code, and whose threads import nothing of their own."""


@contextlib.contextmanager
def _spared() -> Iterator[None]:
    """Let Numba not import what takes a fifth of its own time and is not used.

    It imports SciPy for its version, PyYAML for a file that is rarely there, classes of its own that it imports again
    when it compiles, and what lists the packages that would extend it.
    """
    packages = types.ModuleType("importlib.metadata")
    packages.entry_points = dict  # type: ignore[attr-defined]  # none: extensions serve no code of ours
    stands_in = {"numba.experimental": types.ModuleType("numba.experimental"), "importlib.metadata": packages}
    spared: dict[str, Any] = {"scipy": None, "yaml": None, **stands_in} if IN_COMMAND else {}
    if os.path.exists(_NUMBA_FILE):
        spared.pop("yaml", None)
    spared = {name: module for name, module in spared.items() if name not in sys.modules}
    sys.modules.update(spared)
    try:
        yield
    finally:
        for name in spared:
            del sys.modules[name]
        if spared and "numba" in sys.modules:
            vars(sys.modules["numba"]).pop("experimental", None)


def _threads_asked_for() -> int | None:
    """Return the number of threads that the environment asks for, None if none; InputError if it is no number."""
    asked = os.environ.get("NUMBA_NUM_THREADS", "")
    if not asked:
        return None
    if not (asked.isascii() and asked.isdigit()) or not 0 < int(asked[:9]) <= _MOST_THREADS:
        what = f"NUMBA_NUM_THREADS is {asked[:40]!r}"
        raise InputError(what, remedy=f"set a whole number from 1 to {_MOST_THREADS}, or unset it")
    return int(asked)


_MOST_THREADS = 4096


def load_compiler() -> None:
    """Import Numba in this thread, if nothing has yet."""
    _numba()


def threads() -> int:
    """Return how many threads parallel work runs on: what was set, else as many as the process may use processors."""
    asked = _threads_asked_for()
    started: Any = sys.modules.get("numba.np.ufunc.parallel")
    if started is None or not started._is_initialized:  # Numba would start its threads to count them
        return asked or usable_cores()
    count = int(_numba().numba.get_num_threads())
    return count if asked else min(count, usable_cores())


def set_threads(count: int) -> None:
    """Let parallel loops run on ``count`` threads from now on."""
    if "gpugraph.base.numba_cache" in sys.modules or count != threads():
        _numba().numba.set_num_threads(count)
