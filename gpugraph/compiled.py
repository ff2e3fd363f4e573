"""Numba's decorators as gpugraph uses them: compiled once, kept in the cache of compiled code, free of the GIL.

Everything compiled goes through here, so that the options stand in one place and mypy sees typed decorators.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event, serialize
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic

from gpugraph import code_cache
from gpugraph.host import usable_cores

Function = TypeVar("Function", bound=Callable[..., Any])

prange: type[range] = numba.prange


def njit(function: Function) -> Function:
    """Compile a sequential function."""
    return _compiled(function)


def plain_njit(function: Function) -> Function:
    """Compile a sequential function that allocates nothing and counts no references.

    Every count of a reference to an array is a cache line that threads take from each other.
    """
    return _compiled(function, _nrt=False)


def parallel_njit(function: Function) -> Function:
    """Compile a function whose one ``prange`` loop runs on all threads."""
    return _compiled(function, parallel=True)


def _compiled(function: Function, **options: bool) -> Function:
    decorate: Any = numba.njit
    made = decorate(nogil=True, **options)(function)
    if isinstance(made, Dispatcher):  # not where NUMBA_DISABLE_JIT leaves the function as it is
        made._cache = _Cache(made)  # type: ignore[attr-defined]
    return cast(Function, made)


class _Cache(NullCache):
    """Keeps the machine code of a function for processes to come, a file for each signature.

    Numba's own cache trusts what it reads and fails where it cannot write; processes that compile different signatures
    of one function at once can exchange its files; and it knows nothing of a change in a function that is called.
    """

    def __init__(self, function: Any):
        self._function = function

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function for a signature; None where it is not in the cache."""
        target_context.refresh()
        name = self._name(sig, target_context.codegen())
        entry = code_cache.find("numba", name) if name is not None else None
        return None if entry is None else _rebuild(target_context, *pickle.loads(entry.content))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the compiled function for a signature, where it holds no address of this process."""
        name = self._name(sig, data.codegen)
        if name is not None and not data.lifted and not data.library.has_dynamic_globals:
            code_cache.keep_if_possible("numba", name, _dumps(data._reduce()))

    def _name(self, sig: Any, codegen: Any) -> str | None:
        """Return the file's name, which holds a digest of all that the code depends on; None without a source."""
        try:
            source = _source(self._function)
        except OSError:
            return None
        versions = (numba.__version__, np.__version__, sys.implementation.cache_tag)
        key = repr((versions, str(sig), codegen.magic_tuple(), str(self._function.targetoptions), source))
        code = self._function.py_func
        return f"{code.__module__}.{code.__qualname__}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.code"


_rebuild: Callable[..., Any] = CompileResult._rebuild
_dumps: Callable[[Any], bytes] = serialize.dumps


def _source(function: Any, above: tuple[Any, ...] = ()) -> str:
    """Return a digest of a function's source file, of the functions that it calls, and of the constants that it uses.

    Args:
        function: what Numba compiles.
        above: its callers, whose own digests are under way.
    """
    code, names = function.py_func.__code__, function.py_func.__globals__
    parts = [_file_digest(code.co_filename), function.py_func.__qualname__]
    for name in code.co_names:
        value = names.get(name)
        if isinstance(value, Dispatcher):
            if value is not function and value not in above:
                parts.append(f"{name}: {_source(value, (*above, function))}")
        elif isinstance(value, _Intrinsic):
            parts.append(f"{name}: {_file_digest(value._defn.__code__.co_filename)}")
        elif isinstance(value, int | float | str | tuple | np.generic):
            parts.append(f"{name} = {value!r}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@functools.cache
def _file_digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


class _CompileTime(event.Listener):
    """Adds up the time that any thread spends under Numba's compiler lock: compiling, or loading compiled code."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._start = 0.0
        self.seconds = 0.0

    def on_start(self, _: Any) -> None:
        with self._lock:
            if self._depth == 0:
                self._start = time.perf_counter()
            self._depth += 1

    def on_end(self, _: Any) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self.seconds += time.perf_counter() - self._start


_COMPILE_TIME = _CompileTime()
event.register("numba:compiler_lock", _COMPILE_TIME)  # type: ignore[no-untyped-call]


def compile_seconds() -> float:
    """Return the seconds that this process has spent so far on compiling and on loading compiled code."""
    return _COMPILE_TIME.seconds


def threads() -> int:
    """Return how many threads parallel work runs on: what was set, else as many as the process may use processors."""
    count = int(numba.get_num_threads())
    return count if "NUMBA_NUM_THREADS" in os.environ else min(count, usable_cores())


def set_threads(count: int) -> None:
    """Let parallel loops run on ``count`` threads from now on."""
    numba.set_num_threads(count)
