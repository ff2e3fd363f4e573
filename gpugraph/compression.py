"""Compressed files: gzip, bzip2, xz and zstd, recognised by their first bytes or, on output, by name."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zlib
from typing import IO, Any, cast

SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"}

_GZIP = b"\x1f\x8b\x08"
_XZ = b"\xfd7zXZ\x00"
_ZSTD = b"\x28\xb5\x2f\xfd"


def codec_of_name(path: str | os.PathLike[str]) -> str | None:
    """Return the codec that a file's name asks for, or None."""
    return SUFFIXES.get(os.path.splitext(os.fspath(path))[1].lower())


def strip_suffix(name: str) -> str:
    """Return a file name without its compression suffix."""
    stem, suffix = os.path.splitext(name)
    return stem if suffix.lower() in SUFFIXES else name


def codec_of_content(head: bytes, path: str | os.PathLike[str] = "") -> str | None:
    """Return the codec of a file that begins with ``head``, or None if it is not compressed.

    A binary graph of 559,903 vertices begins with gzip's three bytes, so gzip has to decompress a little
    before it is believed, unless the name says gzip as well.
    """
    if head.startswith(_ZSTD):
        return "zstd"
    if head.startswith(_XZ):
        return "xz"
    if head.startswith(b"BZh") and head[4:10] in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"):
        return "bzip2"
    if head.startswith(_GZIP):
        if codec_of_name(path) == "gzip":
            return "gzip"
        try:
            zlib.decompressobj(31).decompress(head, 1)
        except zlib.error:
            return None
        return "gzip"
    return None


def open_reader(stream: IO[bytes], codec: str | None) -> IO[bytes]:
    """Return a stream of the decompressed bytes of ``stream``."""
    if codec is None:
        return stream
    if codec == "gzip":
        return cast(IO[bytes], gzip.GzipFile(fileobj=stream, mode="rb"))
    if codec == "bzip2":
        return cast(IO[bytes], bz2.BZ2File(stream, "rb"))
    if codec == "xz":
        return cast(IO[bytes], lzma.LZMAFile(stream, "rb"))
    import pyarrow

    return cast(IO[bytes], pyarrow.CompressedInputStream(pyarrow.PythonFile(stream, mode="r"), "zstd"))


class _GzipWriter(gzip.GzipFile):
    """Says that it cannot seek: the library's own claims it can, and fails when a zip goes back to mend a header."""

    def seekable(self) -> bool:
        return False

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        raise io.UnsupportedOperation("seek")


def open_writer(stream: IO[bytes], codec: str | None) -> IO[bytes]:
    """Return a stream that compresses into ``stream``; closing it leaves ``stream`` open.

    The bytes written do not depend on the time or on the file's name.
    """
    if codec is None:
        return stream
    if codec == "gzip":
        return cast(IO[bytes], _GzipWriter(filename="", fileobj=stream, mode="wb", compresslevel=3, mtime=0))
    if codec == "bzip2":
        return cast(IO[bytes], bz2.BZ2File(stream, "wb"))
    if codec == "xz":
        return cast(IO[bytes], lzma.LZMAFile(stream, "wb", preset=3))
    import pyarrow

    class _KeepOpen:
        """pyarrow closes what it writes into; the caller still has to sync the file."""

        closed = False

        def write(self, data: Any) -> int:
            return stream.write(data)

        def flush(self) -> None:
            stream.flush()

        def close(self) -> None:
            pass

    return cast(IO[bytes], pyarrow.CompressedOutputStream(pyarrow.PythonFile(_KeepOpen(), mode="w"), "zstd"))
