"""Atomics and other instructions as Numba's intrinsics, which ``thread_pool.py`` names; importing this imports Numba.

Numba has none of its own for the CPU; these are intrinsics as its documentation of extending describes
("Low-level extension API", section ``@intrinsic``).  Arrays are one-dimensional, an index is 0 to n−1 and not checked,
and values are cast to the array's dtype.  Reals are handled by their bits, which order those that are not negative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.typing.templates import Signature
from numba.extending import intrinsic

Emit = Callable[..., ir.Value]


def _intrinsic(function: Callable[..., object]) -> Callable[..., Any]:
    """Return an intrinsic whose callers, compiled code, need not give the typing context."""
    return cast(Callable[..., Any], intrinsic(function))


def _element_pointer(
    context: Any,
    builder: ir.IRBuilder,
    array_type: types.Array,
    array: ir.Value,
    index_type: types.Type,
    index: ir.Value,
) -> ir.Value:
    from numba.np.arrayobj import make_array  # slow to import

    wide = context.cast(builder, index, index_type, types.intp)
    held = make_array(array_type)(context, builder, array)  # type: ignore[no-untyped-call]
    get_pointer: Any = cgutils.get_item_pointer
    return get_pointer(context, builder, array_type, held, [wide], wraparound=False)


_outside: Callable[..., Any] = cgutils.get_or_insert_function
"""Declares a function that lies outside of a module."""


def _on_element(
    array: types.Type,
    index: types.Type,
    values: tuple[types.Type, ...],
    emit: Emit,
    numbers: type[types.Number] = types.Integer,
) -> tuple[Signature, Emit]:
    """Return type and code of an intrinsic on ``array[index]``.

    ``emit(builder, pointer, *words)`` generates the instruction on the bits of the element and of the values, and
    returns the bits of the result.
    """
    if not isinstance(array, types.Array) or array.ndim != 1 or not isinstance(array.dtype, numbers):
        kind = "integers" if numbers is types.Integer else "numbers"
        raise TypingError(f"atomics work on one-dimensional arrays of {kind}")
    if not isinstance(index, types.Integer):
        raise TypingError("the index is no integer")

    def generate(context: Any, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]) -> ir.Value:
        array_type, index_type, *kinds = signature.args
        word, dtype = ir.IntType(array_type.dtype.bitwidth), array_type.dtype
        pointer = _element_pointer(context, builder, array_type, args[0], index_type, args[1])
        given = [context.cast(builder, value, kind, dtype) for value, kind in zip(args[2:], kinds, strict=True)]
        words = [builder.bitcast(value, word) for value in given]
        found = emit(builder, builder.bitcast(pointer, word.as_pointer()), *words)
        return builder.bitcast(found, context.get_value_type(dtype))

    return array.dtype(array, index, *values), generate


@_intrinsic
def compare_and_swap(typing_context: Any, array: Any, index: Any, expected: Any, desired: Any) -> Any:
    """Set ``array[index]`` to ``desired`` if it is ``expected``; return what it was before; of integers."""

    def emit(builder: ir.IRBuilder, pointer: ir.Value, old: ir.Value, new: ir.Value) -> ir.Value:
        return builder.extract_value(builder.cmpxchg(pointer, old, new, "acq_rel", "monotonic"), 0)

    return _on_element(array, index, (expected, desired), emit)


@_intrinsic
def fetch_min(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Lower ``array[index]`` to ``value`` if that is less; return what it was before; of reals none is negative."""

    def emit(builder: ir.IRBuilder, pointer: ir.Value, new: ir.Value) -> ir.Value:
        return builder.atomic_rmw("min" if getattr(array.dtype, "signed", False) else "umin", pointer, new, "monotonic")

    return _on_element(array, index, (value,), emit, types.Number)


@_intrinsic
def fetch_add(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Add ``value`` to ``array[index]``; return what it was before; of integers.  No access is moved across it."""
    return _on_element(array, index, (value,), lambda builder, at, new: builder.atomic_rmw("add", at, new, "seq_cst"))


@_intrinsic
def load_now(typing_context: Any, array: Any, index: Any) -> Any:
    """Return ``array[index]``, read from memory; no access that follows it is made before it."""

    def emit(builder: ir.IRBuilder, pointer: ir.Value) -> ir.Value:
        word = ir.IntType(array.dtype.bitwidth)
        return builder.load_atomic(pointer, "acquire", word.width // 8, typ=word)

    return _on_element(array, index, (), emit, types.Number)


@_intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Ask for the cache line of ``array[index]``, of anything; an index outside does no harm."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]) -> ir.Value:
        array_type, index_type = signature.args
        pointer = _element_pointer(context, builder, array_type, args[0], index_type, args[1])
        word = ir.IntType(32)
        bytes_ = builder.bitcast(pointer, ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [bytes_.type, word, word, word])
        fetch = _outside(builder.module, kind, "llvm.prefetch.p0")
        builder.call(fetch, [bytes_, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(array, index), generate


@_intrinsic
def cycles(typing_context: Any) -> Any:
    """Return the processor's counter of cycles, uint64; it runs at a steady rate."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]) -> ir.Value:
        read = _outside(builder.module, ir.FunctionType(ir.IntType(64), []), "llvm.readcyclecounter")
        return builder.call(read, [])

    return types.uint64(), generate


@_intrinsic
def lowest_bit(typing_context: Any, word: Any) -> Any:
    """Return the position of the lowest bit that is set in a uint64 that is not 0, int64."""
    if word != types.uint64:
        raise TypingError("bits are looked for in words of 64")

    def generate(context: Any, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]) -> ir.Value:
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(word), generate
