"""The graph as files for external commands: each format written once a graph, and gone with the graph."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import IO

from gpugraph.errors import InputError
from gpugraph.files import atomic_write
from gpugraph.graph.csr import CSRGraph
from gpugraph.peers.peer import PeerRefused

PREFIX = "gpugraph-peer-"
_LOCK = "lock"
_YOUNG_S = 60.0
"""A folder younger than this may not have its lock yet."""

_FORMATS = {"galois": "galois"}
_ENDINGS = {"galois": "galois.gr"}
"""Where a name says more than an ending does: ``.gr`` is DIMACS."""

_FOLDERS: weakref.WeakKeyDictionary[CSRGraph, _Folder] = weakref.WeakKeyDictionary()


class _Folder:
    """A temporary folder that goes when it is no longer needed, at the latest with the process.

    It is locked while the process lives, so that another run can tell what a killed one left behind.
    """

    def __init__(self) -> None:
        _remove_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = open(self.path / _LOCK, "wb")  # noqa: SIM115 - held open as long as the folder lives
        _try_lock(self._lock)
        self._end = weakref.finalize(self, _remove, self.path, self._lock)


def graph_file(graph: CSRGraph, name: str, where: str) -> Path:
    """Return a file that holds the graph in a format such as ``"egr"``.

    ``el`` and ``wel`` are for programs that read nothing but numbers: both arcs of every edge, no comment.

    Raises:
        PeerRefused: the format cannot hold the graph, or the disk is full.
    """
    path = _folder_of(graph).path / f"graph.{_ENDINGS.get(name, name)}"
    if not path.exists():
        try:
            _write(graph, path, name)
        except InputError as error:
            raise PeerRefused(error.what, where=where, remedy=error.remedy) from error
    return path


def result_path(graph: CSRGraph, number: int) -> Path:
    """Return where a program may write its answer; it goes with the graph's files."""
    return _folder_of(graph).path / f"result-{number}"


def _write(graph: CSRGraph, path: Path, name: str) -> None:
    from gpugraph.graph.formats.base import is_unit
    from gpugraph.graph.formats.write_text import write_rows
    from gpugraph.graph.load import save_file

    if name not in ("el", "wel"):
        save_file(graph, path, _FORMATS.get(name), renumber=True)
        return
    if name == "el" and not is_unit(graph):
        raise InputError("a .el file holds no weights", remedy="take {graph.wel}, or --weights unit")
    with atomic_write(path, "wb") as stream:
        write_rows(stream, graph, base=0, weights=name == "wel")


def _folder_of(graph: CSRGraph) -> _Folder:
    folder = _FOLDERS.get(graph)
    if folder is None:
        folder = _FOLDERS[graph] = _Folder()
    return folder


def _remove(folder: Path, lock: IO[bytes]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock.close()


def _try_lock(file: IO[bytes]) -> bool:
    """Lock a file until it is closed; False if another process holds it, or the system has no such locks."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _remove_abandoned() -> None:
    """Remove the folders of processes that were killed: their locks are free."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if folder.stat().st_uid != os.getuid() or time.time() - folder.stat().st_mtime < _YOUNG_S:
                continue
            with open(folder / _LOCK, "rb") as lock:
                if _try_lock(lock):
                    shutil.rmtree(folder, ignore_errors=True)
