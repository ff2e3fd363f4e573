"""Check launches against what the kernel takes, and lay the arguments out.

On a GPU an argument of the wrong width is silent garbage; here it is refused, in the words of the kernel's parameters.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpugraph.devices.base import KernelArgumentError
from gpugraph.errors import InputError

MAX_THREADS = 1024
MAX_SHARED_BYTES = 227 << 10
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_BLOCK = (1024, 1024, 64)

_KINDS = {"i": "iub", "u": "iub", "f": "f", "s": "V"}
_KIND_NAMES = {"i": "an integer", "u": "an integer", "f": "a real number", "s": "a structure"}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel.

    Attributes:
        width: bytes.
        kind: ``p`` pointer, ``i`` signed, ``u`` unsigned, ``f`` real, ``s`` structure.
        pointee: bytes of what a pointer points to, 0 if that is not a number.
        type: the type as the compiler writes it, e.g. ``"const int*"``.
    """

    width: int
    kind: str
    pointee: int
    type: str

    @classmethod
    def of(cls, width: int, kind: str, pointee: int, text: str) -> Parameter:
        """Return the parameter whose type stands in the compiler's ``text``."""
        name = text.rpartition("T = ")[2].partition(";")[0].rstrip("]").replace(" *", "*")
        return cls(width, kind, pointee, name)


class Extent(ctypes.Structure):
    """Memory that a kernel may touch: an array, or the arguments themselves (argument -1)."""

    _fields_ = (("low", ctypes.c_uint64), ("high", ctypes.c_uint64), ("argument", ctypes.c_int64))


@dataclass(frozen=True)
class Packed:
    """Arguments as a launch takes them; keeps them alive.

    Attributes:
        values: the bytes of all.
        pointers: a pointer to each.
        extents: the memory that the kernel may touch, or None where that is not known.
    """

    values: Any
    pointers: Any
    extents: Any


def pack(name: str, parameters: Sequence[Parameter], args: Sequence[Any], *, bounds: bool = False) -> Packed:
    """Return the arguments laid out for a launch.

    Args:
        name: of the kernel, for messages.
        parameters: what it takes.
        args: what it is given.
        bounds: tell also what memory they give access to.

    Raises:
        KernelArgumentError: they are not what the kernel takes.
    """
    if len(args) != len(parameters):
        takes = ", ".join(p.type for p in parameters)
        raise KernelArgumentError(f"{name}: takes {len(parameters)} arguments ({takes}), {len(args)} given")
    values = bytearray()
    offsets = []
    for number, (parameter, argument) in enumerate(zip(parameters, args, strict=True)):
        values.extend(bytes(-len(values) % 16))
        offsets.append(len(values))
        values.extend(_bytes_of(name, number, parameter, argument))
    buffer = (ctypes.c_char * (len(values) + 16)).from_buffer(values + bytes(16))
    start = ctypes.addressof(buffer)
    base = start + -start % 16
    if base != start:
        ctypes.memmove(base, bytes(values), len(values))
    pointers = (ctypes.c_void_p * max(1, len(offsets)))(*(base + offset for offset in offsets))
    return Packed(buffer, pointers, _extents(parameters, args, buffer, pointers) if bounds else None)


def _extents(parameters: Sequence[Parameter], args: Sequence[Any], *own: Any) -> Any:
    if any(parameter.kind == "s" for parameter in parameters):
        return None  # a structure may carry pointers
    spans = [(ctypes.addressof(piece), ctypes.sizeof(piece), -1) for piece in own]
    for number, argument in enumerate(args):
        if isinstance(argument, np.ndarray):
            spans.append((argument.__array_interface__["data"][0], argument.nbytes, number))
    return (Extent * len(spans))(*(Extent(low, low + size, number) for low, size, number in spans))


def _bytes_of(kernel: str, number: int, parameter: Parameter, argument: Any) -> bytes:
    where = f"{kernel}: argument {number}"
    if isinstance(argument, np.ndarray):
        return _pointer(where, parameter, argument)
    takes = f"the kernel takes {parameter.width} ({parameter.type})"
    if not isinstance(argument, np.generic):
        width = {bool: 1, int: 8, float: 8, complex: 16}.get(type(argument))
        what = f"is {width} bytes" if width else f"is a {type(argument).__name__}"
        remedy = "an array of the device" if parameter.kind == "p" else f"a typed scalar such as {_suggest(parameter)}"
        raise KernelArgumentError(f"{where} {what}, {takes}", remedy=f"pass {remedy}")
    if parameter.kind == "p":
        raise KernelArgumentError(f"{where} is a scalar of {argument.dtype}, the kernel takes {parameter.type}")
    if argument.dtype.itemsize != parameter.width:
        raise KernelArgumentError(
            f"{where} is {argument.dtype.itemsize} bytes, {takes}", remedy=f"pass {_suggest(parameter)}"
        )
    if argument.dtype.kind not in _KINDS[parameter.kind]:
        takes = f"the kernel takes {_KIND_NAMES[parameter.kind]} ({parameter.type})"
        raise KernelArgumentError(f"{where} is {argument.dtype}, {takes}", remedy=f"pass {_suggest(parameter)}")
    return argument.tobytes()


def _pointer(where: str, parameter: Parameter, array: np.ndarray[Any, Any]) -> bytes:
    if parameter.kind != "p":
        raise KernelArgumentError(f"{where} is an array, the kernel takes {parameter.width} bytes ({parameter.type})")
    if not array.flags.c_contiguous:
        raise KernelArgumentError(f"{where} is not contiguous", remedy="pass a contiguous slice")
    width = array.dtype.itemsize
    if parameter.pointee > 1 and width not in (1, parameter.pointee):
        raise KernelArgumentError(
            f"{where} is an array of {array.dtype} ({width} bytes each), the kernel takes {parameter.type}"
        )
    return int(array.__array_interface__["data"][0]).to_bytes(8, "little")


def _suggest(parameter: Parameter) -> str:
    prefix = {"i": "int", "u": "uint", "f": "float"}.get(parameter.kind)
    return f"np.{prefix}{parameter.width * 8}(…)" if prefix else f"np.void of {parameter.width} bytes"


def check_limits(name: str, grid: Sequence[int], block: Sequence[int], shared_bytes: int, max_threads: int) -> None:
    """Refuse a launch that no GPU would take.

    Raises:
        InputError: it exceeds a limit; the message names it.
    """
    for what, shape, limits in (("grid", grid, MAX_GRID), ("block", block, MAX_BLOCK)):
        if not 1 <= len(shape) <= 3:
            raise InputError(
                f"{name}: a {what} has one to three extents, not {len(shape)}",
                remedy="give an integer or a tuple of up to three",
            )
        for extent, limit in zip(shape, limits, strict=False):
            if not 1 <= extent <= limit:
                raise InputError(
                    f"{name}: {what} extent {extent} is not in 1..{limit}", remedy="choose one in that range"
                )
    threads = math.prod(block)
    if threads > MAX_THREADS:
        raise InputError(
            f"{name}: a block of {threads} threads exceeds the limit of {MAX_THREADS}", remedy="choose a smaller block"
        )
    if max_threads and threads > max_threads:
        raise InputError(
            f"{name}: a block of {threads} threads exceeds its __launch_bounds__ of {max_threads}",
            remedy="choose a smaller block, or raise the bound",
        )
    if not 0 <= shared_bytes <= MAX_SHARED_BYTES:
        raise InputError(
            f"{name}: {shared_bytes} bytes of shared memory exceed the limit of {MAX_SHARED_BYTES}",
            remedy="ask for less",
        )
