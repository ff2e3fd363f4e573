"""Atomic operations on NumPy arrays in compiled code, for threads that share an array without the GIL.

Numba has none of its own for the CPU; these are intrinsics as its documentation of extending describes
("Low-level extension API", section ``@intrinsic``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.arrayobj import make_array


def _intrinsic(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an intrinsic whose callers, compiled code, need not give the typing context."""
    return cast(Callable[..., Any], intrinsic(function))


def _element_pointer(context: Any, builder: Any, array_type: Any, array: Any, index_type: Any, index: Any) -> Any:
    wide = context.cast(builder, index, index_type, types.intp)
    held = make_array(array_type)(context, builder, array)  # type: ignore[no-untyped-call]
    get_pointer: Any = cgutils.get_item_pointer
    return get_pointer(context, builder, array_type, held, [wide], wraparound=False)


def _check(array: Any, index: Any) -> None:
    if not isinstance(array, types.Array) or array.ndim != 1 or not isinstance(array.dtype, types.Integer):
        raise TypingError("atomics work on one-dimensional arrays of integers")
    if not isinstance(index, types.Integer):
        raise TypingError("the index is no integer")


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
        array: (n,) integers, signed or unsigned.
        index: 0 to n−1; not checked.
        value: cast to the array's dtype.
    """
    _check(array, index)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_type, index_type, value_type = signature.args
        pointer = _element_pointer(context, builder, array_type, args[0], index_type, args[1])
        new = context.cast(builder, args[2], value_type, array_type.dtype)
        return builder.atomic_rmw("min" if array_type.dtype.signed else "umin", pointer, new, "monotonic")

    return array.dtype(array, index, value), generate


@_intrinsic
def load_now(typing_context: Any, array: Any, index: Any) -> Any:
    """Return ``array[index]`` as it is now: read from memory, whatever the compiler has seen of it before.

    Args:
        typing_context: of Numba.
        array: (n,) integers.
        index: 0 to n−1; not checked.
    """
    _check(array, index)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_type, index_type = signature.args
        pointer = _element_pointer(context, builder, array_type, args[0], index_type, args[1])
        size = array_type.dtype.bitwidth // 8
        return builder.load_atomic(pointer, "monotonic", size, typ=ir.IntType(array_type.dtype.bitwidth))

    return array.dtype(array, index), generate
