"""Files between gpugraph and external commands: graphs, each format written once, gone with its graph; and answers."""

from __future__ import annotations

import codecs
import fcntl
import os
import re
import shutil
import tempfile
import time
import weakref
from collections.abc import Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.errors import InputError
from gpugraph.files import atomic_write
from gpugraph.graph.csr import CSRGraph
from gpugraph.peers.peer import PeerRefused, PeerThrew

if TYPE_CHECKING:
    import pyarrow as pa

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


def graph_file(graph: CSRGraph, name: str, where: str) -> Path:
    """Return a file that holds the graph in a format such as ``"egr"``; PeerRefused if that cannot hold it.

    ``el`` and ``wel`` are for programs that read nothing but numbers: both arcs of every edge, no comment.
    """
    ending = "galois.gr" if name == "galois" else name  # ``.gr`` alone is DIMACS
    path = _folder_of(graph).path / f"graph.{ending}"
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
    from gpugraph.graph.formats.text import write_rows
    from gpugraph.graph.load import save_file

    if name not in ("el", "wel"):
        save_file(graph, path, name if name == "galois" else None, renumber=True, lasting=False)
        return
    if name == "el" and not is_unit(graph):
        raise InputError("a .el file holds no weights", remedy="take {graph.wel}, or --weights unit")
    with atomic_write(path, "wb", lasting=False) as stream:
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
    """Lock a file until it is closed; False if another process holds it, or its file system has no locks."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
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


# ------------------------------------------------------------------ answers
# The file that a command writes its whole answer to, so that all of it is checked.
#
# Numbers separated by spaces, tabs, commas, colons or semicolons; lines that begin with ``#`` or ``%`` and a header of
# words are passed over.  What a line says is the problem's: an edge of the forest, ``u v``, whatever follows; or the
# distance of each vertex in order, or ``vertex distance``.  A vertex that is not listed has no path, nor has one whose
# distance is called ``inf`` or ``-1``, or as the table's ``unreached`` says.


@dataclass(frozen=True)
class ResultFile:
    """A file as the peer ``by`` wrote it, whose first vertex is 0 or 1.

    ``unreached`` is what it has for a vertex without a path, besides ``inf`` and ``-1``.
    """

    path: Path
    first_vertex: int
    unreached: str
    by: str

    def vertices(self, column: pa.Array) -> NDArray[np.int64]:
        """Return a column as 0-based vertices, (k,) int64."""
        numbers: NDArray[np.int64] = as_numbers(column, np.dtype(np.int64), self.by) - self.first_vertex
        return numbers

    def columns(self, known: Set[str] = frozenset()) -> list[Any]:
        """Return the columns as Arrow texts, none if empty; ``known`` are no headers; PeerThrew for no such file."""
        import pyarrow as pa

        from gpugraph.problems.result_files import text_table

        try:
            content = self.path.read_bytes().removeprefix(codecs.BOM_UTF8)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            remedy = "see {result} in its command"
            raise PeerThrew(f"it wrote no result file: {reason}", where=self.by, remedy=remedy) from None
        content = re.sub(rb"(?m)^[#%].*$", b"", content)
        content = re.sub(rb"(?m)^ +| +$", b"", re.sub(rb"[ \t,;:\r]+", b" ", content)).lstrip(b"\n")
        head = content.split(b"\n", 1)[0]
        if re.match(rb"[A-Za-z_\"]", head) and head.decode("utf-8", "replace").split(" ")[-1].lower() not in known:
            content = content[len(head) :].lstrip(b"\n")
        words = content.split(b"\n", 1)[0].split(b" ")
        if words == [b""]:
            return []
        names = [f"c{i}" for i in range(len(words))]
        try:
            table = text_table(content, names, " ")
        except pa.ArrowInvalid as error:
            what = f"its result file cannot be read: {' '.join(str(error).split())[:200]}"
            raise PeerThrew(what, where=self.by, remedy="see docs/peers.md for what such a file holds") from None
        return [table[name].combine_chunks() for name in names]


def as_numbers(column: pa.Array, dtype: np.dtype[Any], by: str) -> NDArray[Any]:
    """Return a column of texts as an array; raise PeerThrew if one of them is no such number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return np.array(pc.cast(column, pa.from_numpy_dtype(dtype)))
    except pa.ArrowInvalid as error:
        what = f"its result file holds no numbers: {' '.join(str(error).split())[:200]}"
        raise PeerThrew(what, where=by, remedy="see docs/peers.md for what such a file holds") from None
