"""The file of a bench: one JSON line for each finished cell, on disk before the next begins.

A kill at any instant loses at most what was being measured.  A last line that was torn by one is cut off when the file
is opened again; a broken line anywhere else is an error, for then the file is not ours.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from gpugraph.atomic import atomic_write
from gpugraph.errors import InputError
from gpugraph.measure.record import jsonable

FINISHED = ("ok", "failed", "refused", "wrong", "threw", "out of memory", "timeout", "died")
"""Outcomes that a resumed sweep does not try again; what was skipped, it does."""


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


def read_records(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the records of a file; a torn last line is left out.

    Raises:
        InputError: it cannot be read, or a line in it is no record.
    """
    return _parse(path)[0]


def _parse(path: str | os.PathLike[str]) -> tuple[list[dict[str, Any]], int]:
    """Return the records of a file, and how many of its bytes are whole lines."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {(error.strerror or str(error)).lower()}", where=path) from None
    end = content.rfind(b"\n") + 1
    lines = content[:end].splitlines(keepends=True)
    records = []
    for number, line in enumerate(lines, 1):
        record = _record(line)
        if record is not None:
            records.append(record)
        elif line.strip():
            # A page of zeros that a power cut left stands at the end and has no line after it.
            if number == len(lines):
                return records, end - len(line)
            remedy = "give a file that `gpugraph bench` wrote"
            raise InputError("is no record", where=f"{os.fspath(path)} line {number}", remedy=remedy)
    return records, end


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) and "problem" in value else None


class Store:
    """An open file of records; a context manager.

    Args:
        path: the file; made if it is not there.
        resume: go on with the records in it; without, a file that holds anything is refused.

    Raises:
        InputError: it cannot be opened, is not ours, holds something already, or another bench is writing it.
    """

    def __init__(self, path: str | os.PathLike[str], *, resume: bool = False):
        self.path = os.fspath(path)
        self.records: list[dict[str, Any]] = []
        self.cut = 0
        try:
            if not resume and os.path.exists(path) and os.path.getsize(path):
                remedy = "--resume goes on with it; or name another file"
                raise InputError("holds results already", where=self.path, remedy=remedy)
            self._fd = self._opened()
            if resume:
                self.records, whole = _parse(self.path)
                self.cut = os.fstat(self._fd).st_size - whole
                os.ftruncate(self._fd, whole)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            remedy = "write elsewhere with --save"
            raise InputError(f"cannot be opened: {reason}", where=self.path, remedy=remedy) from error

    def _opened(self) -> int:
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o666)
        try:
            _lock(fd, self.path)
        except BaseException:
            os.close(fd)
            raise
        return fd

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def append(self, record: Mapping[str, Any]) -> None:
        """Write a record as one line and wait until it is on disk.

        Raises:
            InputError: the disk is full; the file ends with the record before.
        """
        line = json.dumps(jsonable(record), ensure_ascii=False, allow_nan=False).encode() + b"\n"
        end = os.fstat(self._fd).st_size
        try:
            left = memoryview(line)
            while left:
                left = left[os.write(self._fd, left) :]
            _sync(self._fd)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, end)
            reason = (error.strerror or str(error)).lower()
            remedy = "free some space, then go on with --resume"
            raise InputError(f"the record cannot be appended: {reason}", where=self.path, remedy=remedy) from error
        self.records.append(dict(record))

    def drop(self, unwanted: Callable[[Mapping[str, Any]], bool]) -> int:
        """Take records out of the file, which is replaced as a whole; return how many went."""
        kept: Sequence[dict[str, Any]] = [record for record in self.records if not unwanted(record)]
        gone = len(self.records) - len(kept)
        if gone:
            with atomic_write(self.path) as stream:
                for record in kept:
                    stream.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
            old, self._fd = self._fd, self._opened()
            os.close(old)
            self.records = list(kept)
        return gone

    def close(self) -> None:
        """Close the file; one in which nothing was written goes away."""
        empty = os.fstat(self._fd).st_size == 0
        os.close(self._fd)
        if empty:
            with contextlib.suppress(OSError):
                os.unlink(self.path)


def _sync(fd: int) -> None:
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a pipe or a terminal has no disk under it
            raise


def _lock(fd: int, path: str) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError("another bench is writing it", where=path, remedy="name another file with --save") from None
    except OSError:
        return  # a file system that knows no locks
