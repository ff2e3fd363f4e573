"""The check of a kernel's arguments, the same on every device that has kernels.

Arguments are device arrays and NumPy scalars.  A Python number has no width, and CuPy passes an int as eight
bytes whatever the kernel wants, so it is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpugraph.errors import InputError


class KernelArgumentError(InputError):
    """An argument is not what the kernel takes; the message names kernel, position, and both widths."""


def check_arguments(kernel: str, args: tuple[Any, ...], array_type: Any, sizes: tuple[int, ...] | None) -> None:
    """Check the number, kinds and widths of a kernel's arguments.

    Args:
        kernel: its name, for messages.
        args: what it is launched with.
        array_type: the class of the device's arrays.
        sizes: bytes of each parameter as the compiled kernel has them, or None where that is not known.

    Raises:
        KernelArgumentError: they do not fit.
    """
    if sizes is not None and len(args) != len(sizes):
        raise KernelArgumentError(
            f"{len(args)} arguments are given, the kernel takes {len(sizes)}", where=kernel, remedy="correct the launch"
        )
    for position, value in enumerate(args):
        where = f"{kernel}, argument {position}"
        if isinstance(value, array_type):
            width = 8
            if not value.flags.c_contiguous:
                raise KernelArgumentError("the array is not contiguous", where=where, remedy="pass a contiguous slice")
        elif isinstance(value, np.generic) and value.dtype.kind in "biuf":
            width = value.dtype.itemsize
        else:
            raise KernelArgumentError(
                f"a {type(value).__name__} has no width that a kernel could rely on",
                where=where,
                remedy="pass a device array or a NumPy scalar such as np.int32(n)",
            )
        if sizes is not None and width != sizes[position]:
            kind = "an array" if isinstance(value, array_type) else f"{value.dtype}"
            raise KernelArgumentError(
                f"{kind} is {width} bytes, the kernel takes {sizes[position]}", where=where, remedy="correct the type"
            )
