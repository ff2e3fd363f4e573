"""Arrays of NumPy's ``.npz``: each header is compared with the bytes behind it before anything is allocated."""

import io
import math
import warnings
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LONGEST_HEADER = 1024
"""A plain array's header has 128 bytes; a longer one is there to trouble whoever evaluates it."""
_DEFLATE_LIMIT = 1100
"""Deflate never packs tighter than about 1032 to 1."""


class NoPlainArrayError(ValueError):
    """A member of an archive is missing or no row of plain values."""


def read_array(archive: zipfile.ZipFile, name: str, require: Callable[[int], None] = lambda size: None) -> NDArray[Any]:
    """Return an array of an archive of NumPy's, one-dimensional or a single value, or raise NoPlainArrayError.

    ``require`` is called with the bytes that will be taken, before they are.
    """
    if f"{name}.npy" not in archive.namelist():
        raise NoPlainArrayError(f"{name} is missing")
    info = archive.getinfo(f"{name}.npy")
    if info.file_size > _DEFLATE_LIMIT * (info.compress_size + 1):
        raise NoPlainArrayError(f"{info.filename} promises {info.file_size} bytes out of {info.compress_size}")
    require(2 * info.file_size)
    array = plain_array(archive.read(info), info.filename)
    if array.ndim > 1:
        raise NoPlainArrayError(f"{info.filename} is no plain array of numbers")
    return array


def plain_array(content: bytes, name: str) -> NDArray[Any]:
    """Return the array in a file of NumPy's, ``.npy``, that messages call ``name``; no pickle is read.

    Raises NoPlainArrayError, and whatever NumPy raises for a header that it cannot read.
    """
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Python 2's numbers and odd escapes in the header: it is read or it is not
        shape, by_columns, dtype = read_header(stream, max_header_size=_LONGEST_HEADER)
    count = math.prod(shape)
    data = bytearray(memoryview(content)[stream.tell() :])  # writable, and no view of a stream, which could not close
    if dtype.hasobject or dtype.itemsize == 0 or min(shape, default=0) < 0:
        raise NoPlainArrayError(f"{name} is no plain array of numbers")
    if count * dtype.itemsize != len(data):
        raise NoPlainArrayError(f"{name} promises {count} items, but holds {len(data)} bytes")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if by_columns else "C")
