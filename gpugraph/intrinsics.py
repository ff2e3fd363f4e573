"""Atomics and other instructions as Numba's intrinsics, which ``thread_pool.py`` names; importing this imports Numba.

Numba has none of its own for the CPU; these are intrinsics as its documentation of extending describes
("Low-level extension API", section ``@intrinsic``).  Reals are handled by their bits, which order those that are not
negative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic


def _intrinsic(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an intrinsic whose callers, compiled code, need not give the typing context."""
    return cast(Callable[..., Any], intrinsic(function))


def _element_pointer(context: Any, builder: Any, array_type: Any, array: Any, index_type: Any, index: Any) -> Any:
    from numba.np.arrayobj import make_array  # slow to import

    wide = context.cast(builder, index, index_type, types.intp)
    held = make_array(array_type)(context, builder, array)  # type: ignore[no-untyped-call]
    get_pointer: Any = cgutils.get_item_pointer
    return get_pointer(context, builder, array_type, held, [wide], wraparound=False)


_outside: Callable[..., Any] = cgutils.get_or_insert_function
"""Declares a function that lies outside of a module."""


def _check(array: Any, index: Any, numbers: Any = types.Integer) -> None:
    if not isinstance(array, types.Array) or array.ndim != 1 or not isinstance(array.dtype, numbers):
        kind = "integers" if numbers is types.Integer else "numbers"
        raise TypingError(f"atomics work on one-dimensional arrays of {kind}")
    if not isinstance(index, types.Integer):
        raise TypingError("the index is no integer")


def _word_pointer(builder: Any, array_type: Any, pointer: Any) -> tuple[Any, Any]:
    """Return a pointer to the bits of an element as an integer, and that integer's type."""
    word = ir.IntType(array_type.dtype.bitwidth)
    return builder.bitcast(pointer, word.as_pointer()), word


@_intrinsic
def compare_and_swap(typing_context: Any, array: Any, index: Any, expected: Any, desired: Any) -> Any:
    """Set ``array[index]`` to ``desired`` if it is ``expected``; return what it was before, in one atomic step.

    Args:
        typing_context: of Numba.
        array: (n,) integers.
        index: 0 to n−1; not checked.
        expected: cast to the array's dtype.
        desired: likewise.
    """
    _check(array, index)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_type, index_type, expected_type, desired_type = signature.args
        pointer = _element_pointer(context, builder, array_type, args[0], index_type, args[1])
        old = context.cast(builder, args[2], expected_type, array_type.dtype)
        new = context.cast(builder, args[3], desired_type, array_type.dtype)
        pair = builder.cmpxchg(pointer, old, new, "acq_rel", "monotonic")
        return builder.extract_value(pair, 0)

    return array.dtype(array, index, expected, desired), generate


@_intrinsic
def fetch_min(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Lower ``array[index]`` to ``value`` if that is less; return what it was before, in one atomic step.

    Args:
        typing_context: of Numba.
        array: (n,) integers, signed or unsigned, or reals, none of them negative.
        index: 0 to n−1; not checked.
        value: cast to the array's dtype.
    """
    _check(array, index, types.Number)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_type, index_type, value_type = signature.args
        pointer = _element_pointer(context, builder, array_type, args[0], index_type, args[1])
        new = context.cast(builder, args[2], value_type, array_type.dtype)
        if not isinstance(array_type.dtype, types.Float):
            return builder.atomic_rmw("min" if array_type.dtype.signed else "umin", pointer, new, "monotonic")
        pointer, word = _word_pointer(builder, array_type, pointer)
        old = builder.atomic_rmw("umin", pointer, builder.bitcast(new, word), "monotonic")
        return builder.bitcast(old, context.get_value_type(array_type.dtype))

    return array.dtype(array, index, value), generate


@_intrinsic
def fetch_add(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Add ``value`` to ``array[index]``; return what it was before, in one atomic step that no access is moved across.

    Args:
        typing_context: of Numba.
        array: (n,) integers.
        index: 0 to n−1; not checked.
        value: cast to the array's dtype.
    """
    _check(array, index)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_type, index_type, value_type = signature.args
        pointer = _element_pointer(context, builder, array_type, args[0], index_type, args[1])
        return builder.atomic_rmw(
            "add", pointer, context.cast(builder, args[2], value_type, array_type.dtype), "seq_cst"
        )

    return array.dtype(array, index, value), generate


@_intrinsic
def load_now(typing_context: Any, array: Any, index: Any) -> Any:
    """Return ``array[index]`` as it is now: read from memory, whatever the compiler has seen of it before.

    No access that follows it is made before it.

    Args:
        typing_context: of Numba.
        array: (n,) integers or reals.
        index: 0 to n−1; not checked.
    """
    _check(array, index, types.Number)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_type, index_type = signature.args
        pointer = _element_pointer(context, builder, array_type, args[0], index_type, args[1])
        pointer, word = _word_pointer(builder, array_type, pointer)
        found = builder.load_atomic(pointer, "acquire", array_type.dtype.bitwidth // 8, typ=word)
        return builder.bitcast(found, context.get_value_type(array_type.dtype))

    return array.dtype(array, index), generate


@_intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Ask for the cache line of ``array[index]``, which will be read soon.

    Args:
        typing_context: of Numba.
        array: (n,) of anything.
        index: not checked; one outside does no harm.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
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

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        read = _outside(builder.module, ir.FunctionType(ir.IntType(64), []), "llvm.readcyclecounter")
        return builder.call(read, [])

    return types.uint64(), generate


@_intrinsic
def lowest_bit(typing_context: Any, word: Any) -> Any:
    """Return the position of the lowest bit that is set in a word that is not 0, int64."""
    return _bit(word, lambda builder, found, zero: builder.cttz(found, zero))


@_intrinsic
def highest_bit(typing_context: Any, word: Any) -> Any:
    """Return the position of the highest bit that is set in a word that is not 0, int64."""
    return _bit(word, lambda builder, found, zero: builder.xor(builder.ctlz(found, zero), found.type(63)))


def _bit(word: Any, position: Callable[[Any, Any, Any], Any]) -> Any:
    if word != types.uint64:
        raise TypingError("bits are looked for in words of 64")

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return position(builder, args[0], ir.IntType(1)(1))

    return types.int64(word), generate


@_intrinsic
def bits_of(typing_context: Any, number: Any) -> Any:
    """Return the bits of a number of at most 64, uint64; they are in the order of numbers that are not negative."""
    if not isinstance(number, types.Number) or not hasattr(number, "bitwidth") or number.bitwidth > 64:
        raise TypingError("only numbers of at most 64 bits have bits to look at")

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = builder.bitcast(args[0], ir.IntType(signature.args[0].bitwidth))
        return bits if bits.type.width == 64 else builder.zext(bits, ir.IntType(64))

    return types.uint64(number), generate
