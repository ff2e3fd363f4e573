"""Numba's side of ``compiled.py``: what it compiles is kept in the cache of compiled code, and its time is counted.

Only ``compiled.py`` imports this, when a function is first called: to import Numba takes longer than many a run.
"""

from __future__ import annotations

# mypy: allow-untyped-calls
# ruff: noqa: E402  the time that Numba takes to be imported is counted
import time

_BEGAN = time.perf_counter()

import contextlib
import functools
import gc
import hashlib
import importlib
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import event, serialize, typed_passes, types, untyped_passes
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult
from numba.core.compiler_machinery import PassManager
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys
from numba.core.types import unliteral

from gpugraph import code_cache
from gpugraph.clock import COMPILING
from gpugraph.compiled import Compiled, FromNumba


def dispatcher_of(function: Callable[..., Any], options: dict[str, bool]) -> Any:
    """Return what compiles a function for each signature that Python calls it with, and finds what is in the cache."""
    made = _decorated(function, _Compiler, options)
    if isinstance(made, Dispatcher):  # not where Numba is switched off
        _Cache(made).serve()
    return made


def part_of_callers(function: Callable[..., Any], options: dict[str, bool]) -> Any:
    """Return what compiles a function for callers that are compiled: to LLVM's language, which is linked with theirs.

    It is optimised and translated once, in the code of the outermost caller; Numba would do so for each function that
    is called, and for all that it calls, before it does for the caller.
    """
    made = _decorated(function, _PartCompiler, {**options, "no_cpython_wrapper": True})
    template, compile_, context = made.get_call_template, made._compiler.compile, made.targetctx

    def get_call_template(args: Any, kws: Any) -> Any:
        """Let a caller that gives a constant use the code for its type: Numba would compile once more for each."""
        return template([unliteral(kind) for kind in args], {name: unliteral(kind) for name, kind in kws.items()})

    def compile_part(args: Any, return_type: Any) -> Any:
        # Numba knows a compiled function by its entry point, and this has none that could be called.
        part = compile_(args, return_type)._replace(entry_point=[].clear)
        context.insert_user_function(part.entry_point, part.fndesc, [part.library])
        return part

    made.get_call_template, made._compiler.compile = get_call_template, compile_part
    return made


def type_of(value: Any) -> Any:
    """Return the type that compiled code gives to one of Numba's objects."""
    if isinstance(value, Dispatcher):
        return types.Dispatcher(value)
    return cpu_target.typing_context.resolve_value_type(value)


def _decorated(function: Callable[..., Any], compiler: type[CompilerBase], options: dict[str, bool]) -> Any:
    decorate: Any = numba.njit
    return decorate(nogil=True, no_cfunc_wrapper=True, pipeline_class=compiler, **options)(function)


class _Part(JITCodeLibrary):
    """Code that is only linked with that of callers."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _Compiler(CompilerBase):
    """Numba's passes less those for closures, array expressions and others that our compiled functions do without."""

    _library = JITCodeLibrary

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any):
        _import_without_scipy()
        super().__init__(typing, target, self._library(target.codegen(), "gpugraph"), *rest)
        self.state.library.enable_object_caching()

    def define_pipelines(self) -> list[PassManager]:
        """Return the passes."""
        manager = PassManager("gpugraph")
        for one in _PASSES:
            manager.add_pass(one, one.__name__)
        manager.finalize()
        return [manager]


class _PartCompiler(_Compiler):
    _library = _Part

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, return_type: Any, flags: Any, names: Any):
        flags.no_compile = True
        super().__init__(typing, target, library, args, return_type, flags, names)


@functools.cache
def _import_without_scipy() -> None:
    """Import what Numba compiles NumPy's functions with, but not SciPy's linear algebra, which takes longer.

    Numba asks there whether it can be imported at all, and imports it when a function needs it.
    """
    linalg: Any = importlib.import_module("numba.np.linalg")
    ensure, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = ensure


_PASSES = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.RewriteSemanticConstants,
    untyped_passes.DeadBranchPrune,
    untyped_passes.GenericRewrites,
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.InlineOverloads,
    typed_passes.IRLegalization,
    typed_passes.NativeLowering,
    typed_passes.NoPythonBackend,
)


class _Cache(NullCache):
    """Keeps the machine code of a function for processes to come, a file for each signature.

    Numba's own cache trusts what it reads and fails where it cannot write; processes that compile different signatures
    of one function at once can exchange its files; and it knows nothing of a change in a function that is called.
    """

    def __init__(self, function: Any):
        self._function = function
        self._compile = function._compiler.compile

    def serve(self) -> None:
        """Let the function look here before it is compiled, and be compiled by one process at a time."""
        self._function._cache = self
        self._function._compiler.compile = self._compile_alone

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function for a signature; None where it is not in the cache.

        Machine code needs Numba's runtime and nothing of what its compiler would load first, which takes longer.
        """
        rtsys.initialize(target_context)
        name = self._name(sig, target_context.codegen())
        entry = code_cache.find("numba", name) if name is not None else None
        return None if entry is None else _rebuild(target_context, *pickle.loads(entry.content))

    def _compile_alone(self, args: Any, return_type: Any) -> Any:
        """Compile for types that are not in the cache, or wait for the process that does, and keep what comes of it.

        It is kept only where it holds no address of this process.
        """
        context = self._function.targetctx
        name = self._name(args, context.codegen())
        if name is None or return_type is not None:
            return self._compile(args, return_type)
        with code_cache.sole_maker("numba", name) as entry:
            if entry is not None:
                return _rebuild(context, *pickle.loads(entry.content))
            with _garbage_kept():
                made = self._compile(args, return_type)
            if not made.lifted and not made.library.has_dynamic_globals:
                code_cache.keep_if_possible("numba", name, _dumps(made._reduce()))
            return made

    def _name(self, sig: Any, codegen: Any) -> str | None:
        """Return the file's name, which holds a digest of all that the code depends on; None without a source."""
        try:
            source = _source(self._function.py_func)
        except OSError:
            return None
        versions = (numba.__version__, np.__version__, sys.implementation.cache_tag)
        key = repr((versions, str(sig), codegen.magic_tuple(), str(self._function.targetoptions), source))
        code = self._function.py_func
        return f"{code.__module__}.{code.__qualname__}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.code"


@contextlib.contextmanager
def _garbage_kept() -> Iterator[None]:
    """Collect no garbage: compilation makes many objects that stay, and looking through them again takes a tenth."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


_rebuild: Callable[..., Any] = CompileResult._rebuild
_dumps: Callable[[Any], bytes] = serialize.dumps


def _source(function: Any, above: tuple[Any, ...] = ()) -> str:
    """Return a digest of a function's source file, its callees (but those ``above``) and the constants that it uses."""
    code, names = function.__code__, function.__globals__
    parts = [_file_digest(code.co_filename), function.__qualname__]
    for name in code.co_names:
        value = names.get(name)
        if isinstance(value, Compiled):
            if value.__wrapped__ is not function and value.__wrapped__ not in above:
                parts.append(f"{name}: {_source(value.__wrapped__, (*above, function))}")
        elif isinstance(value, FromNumba):
            made = value.make()
            where = made._defn.__code__.co_filename if isinstance(made, _Intrinsic) else __file__
            parts.append(f"{name}: {_file_digest(where)}")
        elif isinstance(value, int | float | str | tuple | np.generic):
            parts.append(f"{name} = {value!r}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@functools.cache
def _file_digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


class _CompileTime(event.Listener):
    """Counts the time that any thread spends under Numba's compiler lock, compiling or loading what was compiled."""

    def on_start(self, _: Any) -> None:
        COMPILING.__enter__()

    def on_end(self, _: Any) -> None:
        COMPILING.__exit__()


COMPILING.seconds += time.perf_counter() - _BEGAN
event.register("numba:compiler_lock", _CompileTime())
