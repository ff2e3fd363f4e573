"""Atomics on arrays in compiled code, as Numba's intrinsics; importing this imports Numba.

Numba has none of its own for the CPU; these are intrinsics as its documentation of extending describes
("Low-level extension API", section ``@intrinsic``).  Arrays are one-dimensional, an index is 0 to n−1 and not checked,
and values are cast to the array's dtype.  Reals are handled by their bits, which order those that are not negative.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.typing.templates import Signature
from numba.extending import intrinsic

Emit = Callable[..., ir.Value]


def as_intrinsic(function: Callable[..., object]) -> Callable[..., Any]:
    """Return an intrinsic whose callers, compiled code, need not give the typing context."""
    return cast(Callable[..., Any], intrinsic(function))


def element_pointer(
    context: Any,
    builder: ir.IRBuilder,
    array_type: types.Array,
    array: ir.Value,
    index_type: types.Type,
    index: ir.Value,
) -> ir.Value:
    """Return code for the address of an element."""
    from numba.np.arrayobj import make_array  # slow to import

    wide = context.cast(builder, index, index_type, types.intp)
    held = make_array(array_type)(context, builder, array)  # type: ignore[no-untyped-call]
    get_pointer: Any = cgutils.get_item_pointer
    return get_pointer(context, builder, array_type, held, [wide], wraparound=False)


def on_element(
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
        pointer = element_pointer(context, builder, array_type, args[0], index_type, args[1])
        given = [context.cast(builder, value, kind, dtype) for value, kind in zip(args[2:], kinds, strict=True)]
        words = [builder.bitcast(value, word) for value in given]
        found = emit(builder, builder.bitcast(pointer, word.as_pointer()), *words)
        return builder.bitcast(found, context.get_value_type(dtype))

    return array.dtype(array, index, *values), generate


@as_intrinsic
def fetch_min(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Lower ``array[index]`` to ``value`` if that is less; return what it was before; of reals none is negative."""

    def emit(builder: ir.IRBuilder, pointer: ir.Value, new: ir.Value) -> ir.Value:
        return builder.atomic_rmw("min" if getattr(array.dtype, "signed", False) else "umin", pointer, new, "monotonic")

    return on_element(array, index, (value,), emit, types.Number)
