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
    content = archive.read(info)
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Python 2's numbers and odd escapes in the header: it is read or it is not
        shape, _, dtype = read_header(stream, max_header_size=_LONGEST_HEADER)
    count = math.prod(shape)
    data = bytearray(memoryview(content)[stream.tell() :])  # writable, and no view of a stream, which could not close
    if dtype.hasobject or len(shape) > 1 or dtype.itemsize == 0:
        raise NoPlainArrayError(f"{info.filename} is no plain array of numbers")
    if count * dtype.itemsize != len(data):
        raise NoPlainArrayError(f"{info.filename} promises {count} items, but holds {len(data)} bytes")
    return np.frombuffer(data, dtype).reshape(shape)
