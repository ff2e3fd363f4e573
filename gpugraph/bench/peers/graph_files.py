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

from gpugraph.bench.peers.errors import PeerRefused
from gpugraph.errors import InputError
from gpugraph.graph.csr import CSRGraph

PREFIX = "gpugraph-peer-"
_LOCK = "lock"
_YOUNG_S = 60.0
"""A folder younger than this may not have its lock yet."""

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


def graph_file(graph: CSRGraph, ending: str, where: str) -> Path:
    """Return a file that holds the graph in the format of an ending such as ``"egr"``.

    Raises:
        PeerRefused: the format cannot hold the graph, or the disk is full.
    """
    from gpugraph.graph.load import save_file

    folder = _FOLDERS.get(graph)
    if folder is None:
        folder = _FOLDERS[graph] = _Folder()
    path = folder.path / f"graph.{ending}"
    if not path.exists():
        try:
            save_file(graph, path, renumber=True)
        except InputError as error:
            raise PeerRefused(error.what, where=where, remedy=error.remedy) from error
    return path


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
