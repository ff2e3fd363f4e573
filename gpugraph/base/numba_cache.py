"""Numba's side of ``compiled.py``: what it compiles is kept in the cache of compiled code, and its time is counted.

Only ``compiled.py`` imports this, when a function is first called: to import Numba takes longer than many a run.
"""

# ruff: noqa: E402  the time that Numba takes to be imported is counted
import time

_BEGAN = time.perf_counter()

import functools
import hashlib
import importlib
import io
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite.binding import parse_bitcode
from numba.core import event, serialize
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.environment import Environment, lookup_environment
from numba.core.extending import _Intrinsic
from numba.core.runtime import nrtdynmod
from numba.core.runtime.nrt import rtsys
from numba.core.types import Array, unliteral
from numba.extending import typeof_impl
from numba.np.numpy_support import from_dtype, map_layout

from gpugraph.base import code_cache, numba_prebuilt
from gpugraph.base.clock import COMPILING

if sys.version_info >= (3, 14):  # Numba's lock among processes would start one, which prints a warning if it is killed
    numba.np.ufunc.parallel._backend_init_process_lock = numba.np.ufunc.parallel._backend_init_thread_lock


def dispatcher_of(function: Callable[..., Any], options: dict[str, bool]) -> Any:
    """Return what compiles a function for each signature that it is called with, and finds what is in the cache."""
    decorate: Any = numba.njit
    made = decorate(nogil=True, no_cfunc_wrapper=True, **options)(function)
    if isinstance(made, Dispatcher):  # not where Numba is switched off
        if not options.get("no_cpython_wrapper"):  # else it is part of its callers' code, which is kept
            _Cache(made).serve()
        _forget_literals(made)
    return made


def _forget_literals(function: Any) -> None:
    """Let compiled callers that give a constant use the code for its type: Numba would compile once more for each."""
    template = function.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        return template(list(map(unliteral, args)), {name: unliteral(kind) for name, kind in kws.items()})  # type: ignore[no-untyped-call]

    function.get_call_template = get_call_template


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
        _start_runtime(target_context)
        native = target_context.codegen().magic_tuple()
        content = _content(functools.partial(self._name, sig), native)
        if content is None:
            if (name := self._name(sig, native)) is not None:
                code_cache.announce(name)
            return None
        return _rebuild(target_context, *_loads(content))

    def _compile_alone(self, args: Any, return_type: Any) -> Any:
        """Compile for types that are not in the cache, or wait for the process that does, and keep what comes of it.

        It is kept only where it holds no address of this process.
        """
        context = self._function.targetctx
        name = self._name(args, context.codegen().magic_tuple())
        if name is None or return_type is not None:
            COMPILING.made += 1
            return self._compile(args, return_type)
        with code_cache.sole_maker("numba", name) as entry:
            if entry is not None:
                made = _rebuild(context, *_loads(entry.content))
                context.insert_user_function(made.entry_point, made.fndesc, [made.library])  # as compilation does
                return made
            made = self._compile(args, return_type)
            if not made.lifted and not made.library.has_dynamic_globals:
                code_cache.keep_if_possible("numba", name, _dumps(made._reduce()))
            return made

    def _name(self, sig: Any, target: tuple[str, str, str]) -> str | None:
        """Return the file's name, which holds a digest of all that the code depends on; None without a source."""
        try:
            source = _source(self._function)
        except OSError:
            return None
        key = repr((_VERSIONS, str(sig), target, str(self._function.targetoptions), source))
        code = self._function.py_func
        return f"{code.__module__}.{code.__qualname__}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.code"


def _content(name: Callable[[tuple[str, str, str]], str | None], native: tuple[str, str, str]) -> bytes | None:
    """Return what the cache holds by its ``name`` for a target, else what the package brings, which the cache gets."""
    own, target = name(native), _target_of_package(native)
    if own is None:
        return None
    brought = own if target == native else name(target) or own
    entry = code_cache.look_up("numba", brought) or code_cache.look_up("numba", own)
    if entry is not None:
        return entry.content
    code = numba_prebuilt.contents().get(brought)
    if code is not None:
        code_cache.keep_if_possible("numba", brought, code)
    return code


def _target_of_package(native: tuple[str, str, str]) -> tuple[str, str, str]:
    """Return triple, processor and features that the package's code is for; the ``native`` ones if it is of no use."""
    config: Any = numba.config
    chosen = config.CPU_NAME is not None or config.CPU_FEATURES is not None
    if chosen or not numba_prebuilt.is_there() or not set(native[2].split(",")) >= numba_prebuilt.NEEDED:
        return native
    return (native[0], numba_prebuilt.CPU, numba_prebuilt.FEATURES)


# What follows NumPy's minor version are repairs, of which compiled code has none.
_VERSIONS = (numba.__version__, np.__version__.rpartition(".")[0], sys.implementation.cache_tag)

_rebuild: Callable[..., Any] = CompileResult._rebuild
_dumps: Callable[[Any], bytes] = serialize.dumps


class _Unpickler(pickle.Unpickler):
    """Reads compiled code without importing the modules of Numba that it was inlined from, a third of the time.

    Code in nopython mode never looks at their globals.
    """

    def find_class(self, module: str, name: str) -> Any:
        """Return what the pickle names."""
        return _environment if name == "_rebuild_env" else super().find_class(module, name)


def _environment(module: str, constants: list[Any], name: str) -> Any:
    """Return the environment of a compiled function; its module is imported only if it is no part of Numba."""
    found: Any = lookup_environment(name)  # type: ignore[no-untyped-call]
    if found is None:
        inner = module.startswith("numba.") and module not in sys.modules
        found = Environment({"__name__": module} if inner else vars(importlib.import_module(module)))
        found.consts[:] = constants
        found.env_name = name
        Environment._memo[name] = found
    return found


class _Library(JITCodeLibrary):
    """Machine code.  Of what the cache held the bitcode is read when another function is compiled that calls it."""

    _bitcode: bytes | None = None

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> Any:
        name, _, (machine_code, bitcode) = state
        made: Any = cls(codegen, name)
        made.enable_object_caching()
        made._set_compiled_object(machine_code)
        made._bitcode = bitcode
        made._finalize_final_module()
        return made

    def get_pointer_to_function(self, name: str) -> Any:
        """Return the address of a function; Numba knows no names of what is not read."""
        found: Callable[[str], Any] = super().get_pointer_to_function
        return found(name) if self._bitcode is None else self._codegen._engine.get_function_address(name)

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None and self._bitcode is not None:
            self._shared_module = parse_bitcode(self._bitcode)
        return super()._get_module_for_linking()  # type: ignore[no-untyped-call]


def _loads(content: bytes) -> Any:
    return _Unpickler(io.BytesIO(content)).load()


def _runtime_name(target: tuple[str, str, str]) -> str:
    return f"runtime-{hashlib.sha256(repr((_VERSIONS, target)).encode()).hexdigest()[:32]}.code"


def _start_runtime(context: Any) -> None:
    """Start Numba's runtime with the code that the cache has of it: Numba compiles it in every process."""
    if not rtsys._init:
        context.codegen()._library_class = _Library
        compiled, nrtdynmod.compile_nrt_functions = nrtdynmod.compile_nrt_functions, _runtime
        try:
            rtsys.initialize(context)
        finally:
            nrtdynmod.compile_nrt_functions = compiled


def _runtime(context: Any) -> Any:
    codegen = context.codegen()
    content = _content(_runtime_name, codegen.magic_tuple())
    if content is not None:
        return codegen.unserialize_library(pickle.loads(content))
    module, library = nrtdynmod.create_nrt_module(context)  # type: ignore[no-untyped-call]
    library.enable_object_caching()
    library.add_ir_module(module)
    library.finalize()
    name = _runtime_name(codegen.magic_tuple())
    code_cache.keep_if_possible("numba", name, pickle.dumps(library.serialize_using_object_code()))
    return library


def _source(function: Any, above: tuple[Any, ...] = ()) -> str:
    """Return a digest of a function's source file, its callees (but those ``above``) and the constants that it uses."""
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
    """Counts the time that any thread spends under Numba's compiler lock, compiling or loading what was compiled."""

    def on_start(self, _: Any) -> None:
        COMPILING.__enter__()

    def on_end(self, _: Any) -> None:
        COMPILING.__exit__()


_typeof_array: Callable[..., Any] = typeof_impl.dispatch(np.ndarray)


@typeof_impl.register(np.ndarray)
def _typeof_plain_array(array: Any, context: Any) -> Any:
    """Return the type of an array.  Numba imports ``numpy.ma`` first, to refuse its arrays: a tenth of a short run."""
    if type(array) is not np.ndarray or array.dtype.kind not in "biuf":
        return _typeof_array(array, context)
    return Array(from_dtype(array.dtype), array.ndim, map_layout(array), readonly=not array.flags.writeable)


COMPILING.seconds += time.perf_counter() - _BEGAN
event.register("numba:compiler_lock", _CompileTime())  # type: ignore[no-untyped-call]
