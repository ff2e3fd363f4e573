"""Write a file whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
import stat
from collections.abc import Iterator
from typing import IO, Any

from gpugraph.compression import codec_of_name, open_writer
from gpugraph.errors import InputError

_REMEDIES = {
    errno.ENOSPC: "free some space or write elsewhere",
    errno.EDQUOT: "free some of the quota or write elsewhere",
    errno.EFBIG: "write elsewhere: the file system or a limit of the shell forbids so large a file",
    errno.EACCES: "choose a folder that you may write to",
    errno.EPERM: "choose a folder that you may write to",
    errno.EROFS: "choose a folder that you may write to",
    errno.ENOENT: "make the folder first",
    errno.ENOTDIR: "name a file inside a folder",
    errno.EISDIR: "name a file inside the folder",
}


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str], mode: str = "wb") -> Iterator[IO[Any]]:
    """Open ``path`` for writing; it appears complete when the block ends well, and not at all otherwise.

    The bytes go to a temporary file in the same folder, which is synced and renamed over ``path``; an
    error or Ctrl-C removes it.  A name that ends in .gz, .bz2, .xz or .zst is compressed.  What is no
    regular file (a pipe, a terminal) is written straight away.

    Args:
        path: the file.
        mode: ``"wb"`` for bytes, ``"w"`` for UTF-8 text.

    Raises:
        InputError: the folder is missing or may not be written to, or the disk is full.
    """
    if mode not in ("w", "wb"):
        raise ValueError(f"mode {mode!r} is neither 'w' nor 'wb'")
    shown = os.fspath(path)
    target = os.path.realpath(shown)
    try:
        # Of the name as it stands: what /dev/stdout leads to may have no path.
        status = os.stat(shown) if os.path.exists(shown) else None
        if status is not None and stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        if status is not None and not stat.S_ISREG(status.st_mode):
            with open(shown, "wb") as raw:
                yield from _through(raw, shown, mode)
            return
        yield from _renamed_into_place(target, shown, mode, status)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        remedy = _REMEDIES.get(error.errno or 0, "write elsewhere")
        raise InputError(f"cannot be written: {reason}", where=shown, remedy=remedy) from error


def _renamed_into_place(target: str, shown: str, mode: str, status: os.stat_result | None) -> Iterator[IO[Any]]:
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:100]}.{secrets.token_hex(4)}.part")
    try:
        with open(temporary, "xb") as raw:
            if status is not None:
                os.chmod(temporary, stat.S_IMODE(status.st_mode))
            yield from _through(raw, shown, mode)
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _through(raw: IO[bytes], shown: str, mode: str) -> Iterator[IO[Any]]:
    packed = open_writer(raw, codec_of_name(shown))
    stream: IO[Any] = io.TextIOWrapper(packed, encoding="utf-8", newline="\n") if mode == "w" else packed
    try:
        yield stream
        stream.flush()
        if isinstance(stream, io.TextIOWrapper):
            stream.detach()
    except BaseException:
        if packed is not raw:
            with contextlib.suppress(Exception):  # left open, pyarrow's stream complains when it is collected
                packed.close()
        raise
    if packed is not raw:
        packed.close()


def _sync_folder(folder: str) -> None:
    """Make the new name itself survive a power cut, where the system can do that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
