"""The cache of compiled code: one folder of the user's, every file of it checked, safe to share between processes.

Cubins, kernels of the emulated device, Numba's machine code and the script of reports lie in ``$GPUGRAPH_CACHE_DIR``,
else in ``gpugraph`` of the user's cache directory, a folder for each kind. Folders have mode 700 and files 600,
whatever the umask. Names hold a digest of all that the code depends on, so that nothing there is ever stale. Beside
each file is a JSON file with its name, facts and the SHA-256 of content and facts: a file that does not agree with it
is damaged, or another one, and counts as absent, so that it is made anew. Of processes that miss a file at once one
makes it, and the others wait for it. The folder may be removed at any time.
"""

import contextlib
import functools
import hashlib
import json
import os
import re
import stat
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpugraph.base.clock import COMPILING
from gpugraph.base.errors import DeviceUnavailable, GpuGraphWarning, reason_of
from gpugraph.base.files import make_private_folder, replaced
from gpugraph.base.host import ForkLock

_WRITING = ForkLock()


@dataclass(frozen=True)
class Entry:
    """A file of the cache: its bytes, which may be gone from the disk by now, and facts as JSON's types."""

    path: Path
    content: bytes
    facts: dict[str, Any]


def find(kind: str, name: str) -> Entry | None:
    """Return the file ``name`` of a kind (``"cubins"``, ``"numba"`` …); None where it is absent, cut off or damaged."""
    entry = look_up(kind, name)
    if entry is None:
        announce(name)
    return entry


def announce(name: str) -> None:
    """Tell the user that what would have this name is not there and will be compiled."""
    _tell(f"compiling {_DIGEST.split(name)[0]}, for this and later runs")


def look_up(kind: str, name: str) -> Entry | None:
    """Return the same as ``find``, without a word to the user."""
    users = users_folder()
    shared = [users] if users is not None and _is_safe(users, kind) else []
    for folder in [*shared, *(Path(own.name) for own in _OWN)]:
        entry = _read(folder / kind / name)
        if entry is not None:
            return entry
    return None


@contextlib.contextmanager
def sole_maker(kind: str, name: str) -> Iterator[Entry | None]:
    """Let one process at a time make a file that ``find`` did not find, until the block ends.

    Gives the file if another process has made it meanwhile, and None if this one is to make it.  A process that has
    ended is waited for no longer, nor any for more than ``LONGEST_WAIT`` seconds; where the folder takes no lock (it
    may not be written to, others may hold locks in it, or its file system has none) processes go on side by side.
    """
    folder = users_folder()
    with contextlib.ExitStack() as until_made:
        if folder is not None and _is_safe(folder, kind):
            with contextlib.suppress(ImportError, OSError):
                _lock(folder / kind / f"{name}.lock", until_made)
        entry = look_up(kind, name)
        COMPILING.made += entry is None
        yield entry


LONGEST_WAIT = 60.0
"""Seconds; who makes something for longer may have been stopped, and to make it twice does no harm."""

_UNTOLD_WAIT = 2.0


def _lock(path: Path, until: contextlib.ExitStack) -> None:
    """Take a lock that goes with its process; ImportError or OSError without locks; give up after ``LONGEST_WAIT``."""
    import fcntl

    make_private_folder(path.parent)
    began, reported = time.monotonic(), False
    while (waited := time.monotonic() - began) < LONGEST_WAIT:
        with contextlib.ExitStack() as attempt:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            attempt.callback(os.close, file)
            with contextlib.suppress(BlockingIOError, FileNotFoundError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(file), os.stat(path)):  # not one that its holder removed
                    attempt.callback(_remove, path)
                    until.push(attempt.pop_all())
                    return
        if waited > _UNTOLD_WAIT and not reported:
            _tell(f"waiting for another process that compiles {_DIGEST.split(path.name)[0]}")
            reported = True
        time.sleep(0.02)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _tell(news: str) -> None:
    for listener in _LISTENERS[-1:]:
        listener(news)


@contextlib.contextmanager
def reporting_compilations_to(listener: Callable[[str], None]) -> Iterator[None]:
    """Tell a listener in a few words what was not found while the block runs, and so will be compiled."""
    _LISTENERS.append(listener)
    try:
        yield
    finally:
        _LISTENERS.remove(listener)


_LISTENERS: list[Callable[[str], None]] = []

_DIGEST = re.compile(r"[-.][0-9a-f]{16,}|\.\w+$")
"""What follows the name of a function or a kernel in that of its file."""


def keep(kind: str, name: str, content: bytes, facts: dict[str, Any] | None = None) -> Path:
    """Keep a file for this process and, if possible, later ones; return its path.  Raises DeviceUnavailable if full."""
    kept = keep_if_possible(kind, name, content, facts)
    if kept is not None:
        return kept
    try:
        if not _OWN:
            _OWN.append(tempfile.TemporaryDirectory(prefix="gpugraph-"))
        return _write(Path(_OWN[0].name) / kind / name, content, facts or {})
    except OSError as error:
        raise no_room(error) from None


def keep_if_possible(kind: str, name: str, content: bytes, facts: dict[str, Any] | None = None) -> Path | None:
    """Keep a file for processes to come and return where it lies; None, and a warning, where that cannot be done."""
    folder = users_folder()
    if folder is None or not _is_safe(folder, kind):
        return None
    try:
        return _write(folder / kind / name, content, facts or {})
    except OSError as error:
        _warn_once(folder, reason_of(error))
        return None


def no_room(error: OSError) -> DeviceUnavailable:
    """Return the error for compiled code that not even the folder of temporary files takes."""
    remedy = "free some space, or set GPUGRAPH_CACHE_DIR and TMPDIR to folders with room"
    what = f"compiled code cannot be written: {reason_of(error)}"
    return DeviceUnavailable(what, where=error.filename, remedy=remedy)


def users_folder() -> Path | None:
    """Return the cache folder, which may not exist yet; None for a user without a home, or if files have no owner."""
    if not hasattr(os, "geteuid"):
        return None
    chosen, shared = os.environ.get("GPUGRAPH_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME")
    try:
        if chosen:
            return _absolute(chosen)
        return (_absolute(shared) if shared else Path.home() / ".cache") / "gpugraph"
    except RuntimeError:
        return None


@functools.cache
def _absolute(folder: str) -> Path:
    """Return a path that stays the same when the process changes its folder."""
    return Path(folder).expanduser().absolute()


_OWN: list[tempfile.TemporaryDirectory[str]] = []  # at most one: this process's, where it may not use the user's


@functools.cache
def _warn_once(folder: Path, reason: str) -> None:
    what = f"compiled code cannot be kept in {folder}: {reason}; it is compiled anew each time"
    remedy = "set GPUGRAPH_CACHE_DIR to a folder with room that you may write to"
    warnings.warn(f"{what} — {remedy}", GpuGraphWarning, stacklevel=2)


@functools.cache
def warn_of_damage(archive: Path) -> None:
    """Tell the user once that compiled code which came with the package cannot be used, and is compiled instead."""
    what = f"{archive} is damaged: what it holds is compiled anew — reinstall gpugraph"
    warnings.warn(what, GpuGraphWarning, stacklevel=2)


def _is_safe(folder: Path, kind: str) -> bool:
    """Tell whether nobody else can have put code into the cache, which is run; warn where others may write to it."""
    for path in (folder, folder / kind):
        with contextlib.suppress(OSError):  # nobody's: the use of the folder says what is wrong
            if not (_is_own(os.stat(path)) or _is_put_right(path)):
                _warn_once(folder, f"others may write to {path}, or own it")
                return False
    return True


def _is_own(status: os.stat_result) -> bool:
    return status.st_uid in (os.geteuid(), 0) and not status.st_mode & 0o022


_KINDS = frozenset(("cubins", "datasets", "emulated", "numba", "scripts", "sources"))


def _is_put_right(path: Path) -> bool:
    """Take a folder from the group if it is the user's and holds nothing but compiled code; tell whether it is right.

    A umask of 002 gives new folders to a group that on many systems has one member.  What everybody may write to stays
    refused, as does a group's folder that serves for something else.
    """
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        status = os.fstat(handle)
        if status.st_uid != os.geteuid() or status.st_mode & (0o002 | stat.S_ISVTX):
            return False
        if path.name not in _KINDS and not _KINDS.issuperset(os.listdir(handle)):
            return False
        os.fchmod(handle, 0o700)
    finally:
        os.close(handle)
    return True


def _read(path: Path) -> Entry | None:
    try:
        content, sealed = _own_bytes(path), json.loads(_own_bytes(path.with_suffix(".json")))
        if sealed["sha256"] == _seal(content, sealed["facts"]) and sealed.get("name", path.name) == path.name:
            return Entry(path, content, sealed["facts"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return None


def _own_bytes(path: Path) -> bytes:
    """Return what a file holds; OSError if others may write to it, or if it is a pipe, which would be waited for."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if not (_is_own(status := os.fstat(file.fileno())) and stat.S_ISREG(status.st_mode)):
            raise PermissionError
        return file.read()


def _seal(content: bytes, facts: dict[str, Any]) -> str:
    return hashlib.sha256(content + json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _write(path: Path, content: bytes, facts: dict[str, Any]) -> Path:
    """Write a file and what vouches for it, each by renaming: whoever reads meanwhile finds all of it or none.

    One writer at a time, for two compilations of one thing need not agree to the byte, and a file of the one would be
    vouched for by the other's.
    """
    make_private_folder(path.parent)
    sealed = {"name": path.name, "sha256": _seal(content, facts), "facts": facts}
    with _alone(path.parent):
        for target, written in ((path, content), (path.with_suffix(".json"), json.dumps(sealed).encode())):
            with replaced(target, private=True) as raw:
                raw.write(written)
    return path


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other threads, and other processes where the system has locks for that, from writing to a folder.

    A process that holds the folder for seconds is no writer of ours: what it could spoil would be found damaged.
    """
    with _WRITING, contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            holder = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, holder)
            until = time.monotonic() + _UNTOLD_WAIT
            while time.monotonic() < until:
                with contextlib.suppress(BlockingIOError):
                    fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                time.sleep(0.001)
        yield
