"""Compressed files: gzip, bzip2, xz and zstd, recognised by their first bytes or, on output, by name."""

import os
from importlib import import_module
from typing import IO

from gpugraph.base.errors import InputError
from gpugraph.base.host import require_memory

_CODECS = "gpugraph.ext.compression"
"""What reads and writes them, imported for the first compressed file."""

SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"}

_GZIP = b"\x1f\x8b\x08"
_XZ = b"\xfd7zXZ\x00"
_ZSTD = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"
"""The last three bytes of the magic of a frame that zstd passes over; pzstd writes one before each of its frames."""

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
        raise InputError(what, where=path, remedy="unpack it yourself if you trust it, and name that file")


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
        if stream.seekable():
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
        import zlib

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
    reader: IO[bytes] = import_module(_CODECS).open_reader(stream, codec)
    return reader


def open_writer(stream: IO[bytes], codec: str | None) -> IO[bytes]:
    """Return a stream that compresses into ``stream``, which stays open, the same bytes whatever the time and name."""
    if codec is None:
        return stream
    writer: IO[bytes] = import_module(_CODECS).open_writer(stream, codec)
    return writer
