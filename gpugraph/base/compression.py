"""Compressed files: gzip, bzip2, xz and zstd, recognised by their first bytes or, on output, by name.

xopen is as fast (gzip of 39 MiB: 0.63 to 0.72 s, here 0.70 s; bzip2 and xz alike), but reads bzip2 and xz by Python's
own library, which takes damage behind the first stream for the end of the file and drops the rest silently.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import IO, Any, cast

from gpugraph.base.errors import InputError
from gpugraph.base.host import require_memory

SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"}

_GZIP = b"\x1f\x8b\x08"
_XZ = b"\xfd7zXZ\x00"
_ZSTD = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"
"""The last three bytes of the magic of a frame that zstd passes over; pzstd writes one before each of its frames."""
_BLOCK = 1 << 16


ALWAYS_UNPACKED = 1 << 26
"""So many bytes come of a file of any length; beyond, at most ``MOST_RATIO`` times those that it takes packed."""
MOST_RATIO, MOST_STREAMED = 100, 250
"""Of what is held in memory and of what is read piece by piece.

A star in xz packs to a hundredth, records and other graphs to a fortieth, nothing but zeros to a thousandth and less.
"""


def check_ratio(unpacked: int, packed: int, path: str | os.PathLike[str], most: int = MOST_RATIO) -> None:
    """Raise InputError for a file that unpacks to so much more than it holds that it would only fill the memory."""
    if unpacked > max(ALWAYS_UNPACKED, most * packed):
        what = f"unpacks to more than {most} times its size, as no graph and no result does"
        raise InputError(what, where=path, remedy="unpack it yourself if it is what you want, and name that file")


def unpacked(
    stream: IO[bytes], codec: str | None, path: str | os.PathLike[str], longest_line: int | None = None
) -> bytes:
    """Return all that a stream holds, decompressed.

    Raises:
        InputError: as ``check_ratio`` does, or a line is longer than ``longest_line`` by some megabytes; OutOfMemory:
            it does not fit twice.  Damaged data: see ``open_reader``.
    """
    reader, content, begun = open_reader(stream, codec), bytearray(), 0
    while block := reader.read(1 << 22):
        if (end := block.rfind(b"\n")) >= 0:
            begun = len(content) + end
        content += block
        if longest_line is not None and len(content) - begun > longest_line + (1 << 22):  # a hole may be of any size
            raise InputError(f"has a line of more than {longest_line:,} bytes", where=path, remedy="name another file")
        check_ratio(len(content), stream.tell(), path)
        require_memory(2 * len(content), os.fspath(path))
    return bytes(content)


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
    at = 0
    while head[at + 1 : at + 4] == _SKIPPABLE and head[at] >> 4 == 5:
        at += 8 + int.from_bytes(head[at + 4 : at + 8], "little")
    # The first frame that is not to be passed over is one of zstd's, or lies beyond the head in a .zst.
    if head.startswith(_ZSTD, at) or (at >= len(head) > 0 and codec_of_name(path) == "zstd"):
        return "zstd"
    if head.startswith(_XZ):
        return "xz"
    if head.startswith(b"BZh") and head[4:10] in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"):
        return "bzip2"
    if head.startswith(_GZIP) and codec_of_name(path) != "gzip":
        try:
            zlib.decompressobj(31).decompress(head, 1)
        except zlib.error:
            return None
    return "gzip" if head.startswith(_GZIP) else None


def open_reader(stream: IO[bytes], codec: str | None) -> IO[bytes]:
    """Return a stream of the decompressed bytes of ``stream``, all its parts one after another.

    Reading it raises OSError, EOFError, or an error of the library's own where the data are damaged or cut short.
    """
    if codec is None:
        return stream
    if codec == "gzip":
        reader: Callable[..., Any] = gzip.GzipFile
        with suppress(ImportError):  # several times as fast
            from isal import igzip

            reader = igzip.IGzipFile
        return cast(IO[bytes], reader(fileobj=stream, mode="rb"))
    if codec == "bzip2":
        return cast(IO[bytes], io.BufferedReader(_Parts(stream, bz2.BZ2Decompressor), _BLOCK))
    if codec == "xz":
        begin = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ)
        return cast(IO[bytes], io.BufferedReader(_Parts(stream, begin, padding=4), _BLOCK))
    return cast(IO[bytes], io.BufferedReader(_Parts(stream, _zstd().ZstdDecompressor), _BLOCK))


def _zstd() -> Any:
    """Return the module of zstd: Python's own from 3.14 on."""
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd
    import backports.zstd

    return backports.zstd


class _Parts(io.RawIOBase):
    """Streams of bzip2 or xz, or frames of zstd, one after another, each by a decompressor that begins.

    The readers of Python's own library take whatever follows the first stream and is no stream for the end of the file,
    so that damage to a later header would drop the rest without a word.  Between streams a multiple of ``padding`` zero
    bytes may lie, none if 0.
    """

    def __init__(self, stream: IO[bytes], begin: Callable[[], Any], padding: int = 0):
        self._stream = stream
        self._begin = begin
        self._padding = padding
        self._decoder = begin()
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer as far as one step of decompression does; return 0 at the end of the last stream."""
        while True:
            if self._decoder.eof and not self._next():
                return 0
            given = b""
            if self._decoder.needs_input:
                given, self._rest = self._rest or self._stream.read(_BLOCK), b""
                if not given:
                    raise EOFError("the compressed data end before their end is marked")
            if data := self._decoder.decompress(given, len(buffer)):
                buffer[: len(data)] = data
                return len(data)

    def _next(self) -> bool:
        """Begin the next stream; return False if there is none."""
        rest, zeros = self._decoder.unused_data or self._rest, 0
        while True:
            rest = rest or self._stream.read(_BLOCK)
            bare = rest.lstrip(b"\0") if self._padding else rest
            zeros += len(rest) - len(bare)
            if bare or not rest:
                break
            rest = b""
        if self._padding and zeros % self._padding:
            raise OSError(f"{zeros} bytes of padding are no multiple of {self._padding}")
        self._rest = bare
        if bare:
            self._decoder = self._begin()
        return bool(bare)


class _GzipWriter(gzip.GzipFile):
    """Says that it cannot seek: the library's own claims it can, and fails when a zip goes back to mend a header."""

    def seekable(self) -> bool:
        return False

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        raise io.UnsupportedOperation("seek")


def open_writer(stream: IO[bytes], codec: str | None) -> IO[bytes]:
    """Return a stream that compresses into ``stream``, which stays open, the same bytes whatever the time and name."""
    if codec is None:
        return stream
    if codec == "gzip":
        return cast(IO[bytes], _GzipWriter(filename="", fileobj=stream, mode="wb", compresslevel=3, mtime=0))
    if codec == "bzip2":
        return cast(IO[bytes], bz2.BZ2File(stream, "wb"))
    if codec == "xz":
        return cast(IO[bytes], lzma.LZMAFile(stream, "wb", preset=3))
    return cast(IO[bytes], _zstd().ZstdFile(stream, "wb", level=1))


class WrittenThrough:
    """Writes straight on into a stream that cannot seek then, and stays open when this is closed."""

    closed = False

    def __init__(self, stream: IO[bytes]):
        self.write, self.flush = stream.write, stream.flush

    def close(self) -> None:
        """Do nothing: the caller still has to sync the file."""
