"""Writing files of records: one JSON line for each finished cell, on disk before the next begins.

A kill at any instant loses at most what was being measured.  A file is recognised before it is touched: a last line
that a kill tore is cut off when the file is opened again; a broken line anywhere else is an error, for then the file is
not ours.
"""

import contextlib
import datetime
import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Callable
from pathlib import Path

from gpugraph.base.errors import InputError, reason_of
from gpugraph.base.files import atomic_write
from gpugraph.records.json_text import json_text
from gpugraph.records.record import Record
from gpugraph.records.record_file import read_record_file

WAIT_S = 10.0
"""Seconds that one record waits for others that are appended to the same file."""


def dated_name(sweep: str, now: datetime.datetime | None = None) -> str:
    """Return the name of a new file for a sweep, in the current directory: ``scales-2026-01-31-1405.jsonl``."""
    stamp = (now or datetime.datetime.now()).strftime("%Y-%m-%d-%H%M")
    stem = _stem(sweep)
    names = (f"{stem}-{stamp}{f'-{i}' if i else ''}.jsonl" for i in range(10_000))
    return next(name for name in names if not os.path.exists(name))


def latest_name(sweep: str) -> str | None:
    """Return the newest dated file of a sweep in the current directory, or None."""
    pattern = re.compile(re.escape(_stem(sweep)) + r"-\d{4}-\d\d-\d\d-\d{4}(-\d+)?\.jsonl")
    found = [p for p in Path().iterdir() if pattern.fullmatch(p.name)]
    return max(found, key=lambda p: p.stat().st_mtime_ns).name if found else None


def _stem(sweep: str) -> str:
    return re.sub(r"[^\w.-]+", "-", sweep.removesuffix(".toml")).strip("-.") or "sweep"


def append_record(record: Record, path: str | os.PathLike[str]) -> bool:
    """Append a record as one line, whole or not at all; return whether a torn last line was cut off for it."""
    with Store(path, resume=True, wait_s=WAIT_S) as store:
        store.append(record)
        return store.cut > 0


class Store(contextlib.AbstractContextManager["Store"]):
    """An open file of records, which no other store may write meanwhile; a context manager.

    What is no file, a pipe or a terminal, is written to directly.

    Args:
        path: the file; made if it is not there.
        resume: go on with the records in it; without, a file that holds anything is refused.
        wait_s: seconds to wait for another who writes it.

    Attributes:
        records: of the file, and those appended.
        cut: bytes of a torn last line that were cut off.

    Raises:
        InputError: it cannot be opened, is not ours, holds something already, or another process is writing it.  It is
            as it was before.
    """

    def __init__(self, path: str | os.PathLike[str], *, resume: bool = False, wait_s: float = 0.0):
        self.path = os.fspath(path)
        self.records: list[Record] = []
        self.cut = 0
        self._made = not os.path.lexists(path)
        try:
            self._fd = self._opened(wait_s)
            try:
                self._recognise(resume)
            except BaseException:
                self.close()
                raise
        except OSError as error:
            what = f"cannot be opened: {reason_of(error)}"
            raise InputError(what, where=self.path, remedy="name another file") from error

    def _recognise(self, resume: bool) -> None:
        """Take over the records of the file, and make it end with a whole line; only a file of ours is touched."""
        status = os.fstat(self._fd)
        if not stat.S_ISREG(status.st_mode):
            return
        stored = read_record_file(self.path, compressed=False)
        if stored.records and not resume:
            remedy = "--resume goes on with it; or name another file"
            raise InputError("holds results already", where=self.path, remedy=remedy)
        self.records = list(stored.records)
        self.cut = status.st_size - stored.whole_bytes
        if self.cut:
            os.ftruncate(self._fd, stored.whole_bytes)
        if stored.unended:
            os.write(self._fd, b"\n")

    def _opened(self, wait_s: float) -> int:
        """Return the file opened and locked; whoever had it may have put another in its place meanwhile."""
        deadline = time.monotonic() + wait_s
        while True:
            fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
            try:
                own = os.fstat(fd)
                if not stat.S_ISREG(own.st_mode) or (_lock(fd) and os.path.samestat(own, os.stat(self.path))):
                    return fd
            except FileNotFoundError:
                pass
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)
            if time.monotonic() >= deadline:
                remedy = "name another file with --save"
                raise InputError("another process is writing it", where=self.path, remedy=remedy)
            time.sleep(0.02)

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, record: Record) -> None:
        """Write a record as one line and wait until it is on disk; after an InputError the file ends before it."""
        line = json_text(record.data, compact=True).encode() + b"\n"
        end = os.fstat(self._fd).st_size
        try:
            left = memoryview(line)
            while left:
                left = left[os.write(self._fd, left) :]
            _sync(self._fd)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, end)
            what = f"the record cannot be appended: {reason_of(error)}"
            remedy = "free some space; a bench goes on with --resume"
            raise InputError(what, where=self.path, remedy=remedy) from error
        self.records.append(record)

    def drop(self, unwanted: Callable[[Record], bool], *instead: Record) -> int:
        """Take records out of the file, which is replaced as a whole, with ``instead`` if any go; return how many."""
        kept = [record for record in self.records if not unwanted(record)]
        if gone := len(self.records) - len(kept):
            kept += instead
            with atomic_write(self.path, packed=False) as stream:
                stream.write(b"".join(json_text(record.data, compact=True).encode() + b"\n" for record in kept))
                new = os.open(stream.name, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
                _lock(new)  # nobody else gets in between
            os.close(self._fd)
            self._fd, self.records = new, kept
        return gone

    def close(self) -> None:
        """Close the file; one that was made for records and got none goes away."""
        if self._made and os.fstat(self._fd).st_size == 0:
            with contextlib.suppress(OSError):
                os.unlink(self.path)  # before it is closed: whoever waits for the lock then makes it anew
        os.close(self._fd)


def _sync(fd: int) -> None:
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a pipe or a terminal has no disk under it
            raise


def _lock(fd: int) -> bool:
    """Lock a file; tell whether it could be, or knows no locks."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True
