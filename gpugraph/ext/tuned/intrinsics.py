"""More of what ``base/intrinsics.py`` has: atomics and instructions that ``thread_pool.py`` names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import Signature

from gpugraph.base.intrinsics import as_intrinsic, element_pointer, on_element

_outside: Callable[..., Any] = cgutils.get_or_insert_function
"""Declares a function that lies outside of a module."""


@as_intrinsic
def compare_and_swap(typing_context: Any, array: Any, index: Any, expected: Any, desired: Any) -> Any:
    """Set ``array[index]`` to ``desired`` if it is ``expected``; return what it was before; of integers."""

    def emit(builder: ir.IRBuilder, pointer: ir.Value, old: ir.Value, new: ir.Value) -> ir.Value:
        return builder.extract_value(builder.cmpxchg(pointer, old, new, "acq_rel", "monotonic"), 0)

    return on_element(array, index, (expected, desired), emit)


@as_intrinsic
def fetch_add(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Add ``value`` to ``array[index]``; return what it was before; of integers.  No access is moved across it."""
    return on_element(array, index, (value,), lambda builder, at, new: builder.atomic_rmw("add", at, new, "seq_cst"))


@as_intrinsic
def load_now(typing_context: Any, array: Any, index: Any) -> Any:
    """Return ``array[index]``, read from memory; no access that follows it is made before it."""

    def emit(builder: ir.IRBuilder, pointer: ir.Value) -> ir.Value:
        word = ir.IntType(array.dtype.bitwidth)
        return builder.load_atomic(pointer, "acquire", word.width // 8, typ=word)

    return on_element(array, index, (), emit, types.Number)


@as_intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Ask for the cache line of ``array[index]``, of anything; an index outside does no harm."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]) -> ir.Value:
        array_type, index_type = signature.args
        pointer = element_pointer(context, builder, array_type, args[0], index_type, args[1])
        word = ir.IntType(32)
        bytes_ = builder.bitcast(pointer, ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [bytes_.type, word, word, word])
        fetch = _outside(builder.module, kind, "llvm.prefetch.p0")
        builder.call(fetch, [bytes_, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(array, index), generate


@as_intrinsic
def cycles(typing_context: Any) -> Any:
    """Return the processor's counter of cycles, uint64; it runs at a steady rate."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]) -> ir.Value:
        read = _outside(builder.module, ir.FunctionType(ir.IntType(64), []), "llvm.readcyclecounter")
        return builder.call(read, [])

    return types.uint64(), generate
