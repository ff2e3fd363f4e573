"""Input files: a file, a pipe or standard input, decompressed while it is read."""

import io
import os
import stat
import sys
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compression import MOST_STREAMED, check_ratio, codec_of_content, open_reader, strip_suffix
from gpugraph.base.errors import GraphFormatError, InputError, OutOfMemory, reading, unreadable
from gpugraph.base.files import file_state
from gpugraph.base.host import available_memory, require_memory
from gpugraph.base.quantities import in_units
from gpugraph.devices.base import Device
from gpugraph.graph.csr import MappedFile
from gpugraph.graph.read_options import AS_GIVEN, ReadOptions

HEAD_BYTES = 1 << 16
BLOCK_BYTES = 1 << 24
READ_BYTES = 1 << 24
"""Up to here a copy of a file takes less than a twentieth of the shortest command, and nobody can write into it."""
PEEK_BYTES = 1 << 17
"""What is read to look at the first lines."""
LONGEST_LINE, LINE_RATIO = 1 << 26, 32
"""Bytes of a line that any file may have, and how many times what it takes on the disk, packed or with holes."""
AGAIN = "fetch or write it again"
"""The remedy for a file that is damaged."""

Progress = Callable[[int, int], None]
"""Called with the bytes read so far and the bytes there are."""

Block = tuple[int, bytes]
"""The 1-based number of the first line, and the lines."""


class Source:
    """One graph file, or ``"-"`` for standard input, read from its beginning any number of times; a context manager.

    Attributes:
        path: the name used in messages.
        name: the file name without its compression suffix.
        extension: the end of ``name`` in lower case, e.g. ``".gr"``.
        codec: how the file is compressed, or None.
        progress: called now and then while text or compressed data are read.
        device: builds the rows of what is listed, where the file can be read again once it is closed.
        keep_ids, vertices, directed, columns, weight: see ``ReadOptions``.
        held: what a pipe gave, or None.
        size: bytes of the file, as it is compressed.
        top: the first rows of a list, once ``list_head.look`` has read them.

    Raises:
        InputError: there is no such file, it is a folder, or it may not be read.
        GraphFormatError: the file is empty.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        progress: Progress | None = None,
        options: ReadOptions = AS_GIVEN,
        device: Device | None = None,
    ):
        given = os.fsdecode(path)
        self.keep_ids, self.vertices = options.keep_ids, options.vertices
        self.directed, self.columns, self.weight = options.directed, options.columns, options.weight
        self.progress = progress
        self.top: Any = None
        self.held: bytes | None = None
        self._file = given
        self.path = "standard input" if given == "-" else given
        self.name = strip_suffix(os.path.basename(given)) if given != "-" else "stdin"
        self.extension = os.path.splitext(self.name)[1].lower()
        try:
            if given == "-":
                if sys.stdin is None:
                    raise InputError("is closed", where=self.path, remedy="name a file, or pipe one in")
                self.held = self._piped(sys.stdin.buffer)
            elif stat.S_ISDIR(mode := os.stat(given).st_mode):
                raise InputError("is a folder", where=given, remedy="name the graph file inside it")
            elif stat.S_ISBLK(mode) or stat.S_ISCHR(mode):
                raise InputError("is a device", where=given, remedy="name a file, or pipe one in")
            elif not stat.S_ISREG(mode):
                with open(given, "rb") as pipe:
                    self.held = self._piped(pipe)
            self.size = len(self.held) if self.held is not None else os.stat(given).st_size
            self._stored = self.size if self.held is not None else os.stat(given).st_blocks * 512
            with self._raw() as raw:
                head = raw.read(HEAD_BYTES)
        except InputError:
            raise
        except (OSError, ValueError) as error:  # ValueError: a path with a zero byte
            raise unreadable(given, error) from error
        if not self.size:
            raise self.error("the file is empty")
        self.codec = codec_of_content(head, given)
        self.device = None if self.held is not None else device
        self._options = options
        self._state = self._written()

    def _raw(self) -> IO[bytes]:
        return io.BytesIO(self.held) if self.held is not None else open(self._file, "rb")

    def _written(self) -> tuple[int, int] | None:
        """Return when a file was last written and how long it is; None of what is no file."""
        return None if self.held is not None else file_state(self._file)

    def again(self) -> "Source":
        """Return the same file to be read once more.  Raises InputError if it is gone, or was written to since."""
        source = Source(self._file, options=self._options)
        if source._state != self._state:
            source.close()
            raise self.error("was changed since it was read", "read it again when nothing writes to it")
        return source

    @cached_property
    def head(self) -> bytes:
        """The first bytes of the decompressed content, up to 64 KiB."""
        chunks = self.chunks(HEAD_BYTES)
        first = next(chunks, b"")
        chunks.close()
        return first.removeprefix(b"\xef\xbb\xbf")

    def chunks(self, size: int = BLOCK_BYTES) -> Generator[bytes]:
        """Yield the decompressed content in pieces of ``size`` bytes.  Raises GraphFormatError on damaged data."""
        with self._raw() as raw:
            remedy, damage = "fetch the file again", f"the {self.codec} data are damaged or cut short"
            with reading(self.path, remedy, damage):
                stream = open_reader(raw, self.codec)
            unpacked = 0
            while True:
                with reading(self.path, remedy, damage):
                    chunk = stream.read(size)
                if not chunk:
                    return
                unpacked += len(chunk)
                if self.codec is not None:
                    check_ratio(unpacked, raw.tell(), self.path, MOST_STREAMED)
                    self.require(8 * len(chunk))
                if self.progress is not None:
                    self.progress(raw.tell(), self.size)
                yield chunk

    def _piped(self, pipe: IO[bytes]) -> bytes:
        """Return what a pipe gives, unless that takes a quarter of the memory: what is made of it needs the rest."""
        content, most = bytearray(), available_memory() // 4
        while chunk := pipe.read(BLOCK_BYTES):
            content += chunk
            if len(content) > most:
                what = f"gave {in_units(len(content))} and has not ended; {in_units(4 * most)} of memory are available"
                raise OutOfMemory(what, where=self.path, remedy="write it to a file, and name that")
        return bytes(content)

    def error(self, what: str, remedy: str | None = AGAIN, line: int | None = None) -> GraphFormatError:
        """Return the error that says what is wrong with the file, in a line if that is known."""
        return GraphFormatError(what, path=self.path, line=line, remedy=remedy)

    def require(self, needed: int) -> None:
        """Raise OutOfMemory if ``needed`` bytes more do not fit, before they are taken."""
        require_memory(needed, self.path, "use a machine with more memory, or a smaller graph")

    def blocks(self, size: int = BLOCK_BYTES) -> Iterator[Block]:
        """Yield the content as whole lines, about ``size`` bytes at a time, each with the number of its first line.

        The next piece is read and decompressed while the caller works on this one.
        """
        # The thread belongs to the source, not to this generator: an abandoned generator is closed by the garbage
        # collector, possibly inside a thread that is just starting, and must not wait for another there.
        lines = self._lines(size)
        number = 1
        ahead = self._reader.submit(next, lines, None)
        while (found := ahead.result()) is not None:
            ahead = self._reader.submit(next, lines, None)
            block, ends = found
            yield number, block
            number += ends

    @cached_property
    def _reader(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1, "read")

    def close(self) -> None:
        """End the thread that reads ahead."""
        if "_reader" in self.__dict__:
            self._reader.shutdown(cancel_futures=True)
            del self._reader

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _lines(self, size: int) -> Iterator[tuple[bytes, int]]:
        """Yield whole lines, and how many of them end."""
        begun: list[bytes] = []
        for i, piece in enumerate(self.chunks(size)):
            chunk = piece.removeprefix(b"\xef\xbb\xbf") if i == 0 else piece
            cut = chunk.rfind(b"\n") + 1
            if cut:
                block = b"".join([*begun, memoryview(chunk)[:cut]])
                yield block, int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))
                begun = [chunk[cut:]]
            else:
                begun.append(chunk)
                self.require(4 * len(begun) * len(chunk))
                if len(begun) * len(chunk) > max(LONGEST_LINE, LINE_RATIO * self._stored):
                    remedy = "unpack it, and look whether it is text"
                    raise self.error(f"has a line of more than {in_units(len(begun) * len(chunk))}", remedy)
        if last := b"".join(begun):
            yield last, 0

    @cached_property
    def data(self) -> NDArray[np.uint8]:
        """The whole content as (bytes,) uint8; an uncompressed file is mapped, a small one read.

        The mapping is private: the array may be written to (compiled code then sees the same type as that
        of any other array) and the file stays as it is.
        """
        if self.codec is not None:
            content = bytearray()
            for chunk in self.chunks():  # a small file may unpack to anything
                self.require(len(content) // 8 + 2 * len(chunk))  # what grows moves now and then, by a part of itself
                content += chunk
                check_ratio(len(content), self.size, self.path)
            return np.frombuffer(content, np.uint8)
        if self.held is not None:
            return np.frombuffer(bytearray(self.held), np.uint8)
        if self.size <= READ_BYTES:
            with self._raw() as raw:
                return np.frombuffer(bytearray(raw.read()), np.uint8)
        try:
            return np.asarray(np.memmap(self._file, np.uint8, "c"))
        except OSError:
            # A strict system refuses to promise memory for a private copy of a very large file.
            return np.asarray(np.memmap(self._file, np.uint8, "r"))

    @property
    def mapped(self) -> MappedFile | None:
        """The file that ``data`` is a mapping of, or None where it is a copy in memory."""
        is_copy = self.codec is not None or self.held is not None or self.size <= READ_BYTES
        return None if is_copy else MappedFile(os.path.abspath(self._file), os.stat(self._file))

    @contextmanager
    def descriptor(self) -> Iterator[int | None]:
        """Open the file for others to read what ``data`` maps; None where ``data`` is a copy in memory."""
        if self.codec is not None or self.held is not None:
            yield None
            return
        try:
            raw = open(self._file, "rb", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise unreadable(self.path, error) from error
        with raw:
            yield raw.fileno()

    def field(self, offset: int, dtype: str, what: str) -> int:
        """Return the integer of ``dtype`` at byte ``offset``.  Raises GraphFormatError if the file ends before it."""
        size = np.dtype(dtype).itemsize
        if offset + size > len(self.data):
            raise self.error(f"cut short in its header: {len(self.data)} bytes end before {what}")
        return int(self.data[offset : offset + size].view(dtype)[0])

    def section(self, offset: int, count: int, dtype: str) -> NDArray[Any]:
        """Return ``count`` items of ``dtype`` from byte ``offset`` on: a view; the size has been checked."""
        return self.data[offset : offset + count * np.dtype(dtype).itemsize].view(dtype)

    def check_size(self, expected: int | tuple[int, ...], promise: str) -> None:
        """Refuse a binary file whose size is none of ``expected`` bytes; ``promise``: ``"5 vertices and 8 arcs"``."""
        sizes = (expected,) if isinstance(expected, int) else expected
        if (actual := len(self.data)) in sizes:
            return
        state = "cut short" if actual < min(sizes) else "larger than its header says"
        asked = " or ".join(map(str, sizes))
        raise self.error(f"{state}: a header of {promise} asks for {asked} bytes, the file has {actual}")
