"""Files between gpugraph and external commands: graphs, each format written once, gone with its graph; and answers."""

import codecs
import errno
import fcntl
import os
import re
import shutil
import stat
import tempfile
import time
import weakref
from collections.abc import Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import GraphFormatError, InputError, reading, reason_of
from gpugraph.base.files import atomic_write
from gpugraph.ext.peers.peer import PeerRefused, PeerThrew
from gpugraph.graph.csr import CSRGraph

PREFIX = "gpugraph-peer-"
_LOCK, _RESULTS = "lock", "results"
_YOUNG_S = 60.0
"""A folder younger than this may not have its lock yet."""

_FOLDERS: "weakref.WeakKeyDictionary[CSRGraph, _Folder]" = weakref.WeakKeyDictionary()


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
        self._make_results()
        self._written: dict[str, tuple[Path, list[int]]] = {}

    def _make_results(self) -> None:
        """Make the folder of results, and the one around it where a program has removed that too."""
        if not self.path.is_dir():
            _clear(self.path)
            self.path.mkdir(0o700)
        self.path.chmod(0o700)
        _clear(self.path / _RESULTS)
        (self.path / _RESULTS).mkdir()
        self.path.chmod(0o555)

    def file(self, graph: CSRGraph, name: str) -> Path:
        """Return the file of the graph in a format; written unless it is there."""
        if name not in self._written:
            ending = "galois.gr" if name == "galois" else name  # ``.gr`` alone is DIMACS
            path = self.path / f"graph.{ending}"
            self.path.chmod(0o755)
            try:
                _clear(path)
                _write(graph, path, name)
                path.chmod(0o444)
            finally:
                self.path.chmod(0o555)
            self._written[name] = path, _stamp(path)
        return self._written[name][0]

    def mend(self, graph: CSRGraph) -> list[str]:
        """Write those files anew that are no longer as they were written; return their names."""
        changed = [name for name, (path, stamp) in self._written.items() if _stamp(path) != stamp]
        if not (self.path / _RESULTS).is_dir():
            self._make_results()
        for name in changed:
            del self._written[name]
        return [self.file(graph, name).name for name in changed]


def _stamp(path: Path) -> list[int]:
    """Return what tells whether a file was touched: inode, size, times of change; nothing where it is gone."""
    try:
        state = os.lstat(path)
    except OSError:
        return []
    return [state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns]


def _clear(path: Path) -> None:
    """Remove what a program may have put at a path."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def graph_file(graph: CSRGraph, name: str, where: str) -> Path:
    """Return a file that holds the graph in a format such as ``"egr"``; PeerRefused if that cannot hold it.

    ``el`` and ``wel`` are for programs that read nothing but numbers: both arcs of every edge, no comment.
    """
    try:
        return _folder_of(graph).file(graph, name)
    except InputError as error:
        raise PeerRefused(error.what, where=where, remedy=error.remedy) from error


def altered_files(graph: CSRGraph) -> list[str]:
    """Return the names of the graph's files that a program has changed; they are as they were written again."""
    return _folder_of(graph).mend(graph)


def result_path(graph: CSRGraph, number: int) -> Path:
    """Return where a program may write its answer, with nothing there; it goes with the graph's files."""
    path = _folder_of(graph).path / _RESULTS / f"result-{number}"
    _clear(path)
    return path


def _write(graph: CSRGraph, path: Path, name: str) -> None:
    from gpugraph.ext.formats.checks import is_unit
    from gpugraph.ext.formats.files import save_file
    from gpugraph.ext.formats.text.rows import write_rows

    if name not in ("el", "wel"):
        save_file(graph, path, name if name == "galois" else None, renumber=True, lasting=False)
        return
    if name == "el" and not is_unit(graph):
        raise InputError("a .el file holds no weights", remedy="take {graph.wel}, or --reweight unit")
    with atomic_write(path, "wb", lasting=False) as stream:
        write_rows(stream, graph, base=0, weights=name == "wel")


def _folder_of(graph: CSRGraph) -> _Folder:
    folder = _FOLDERS.get(graph)
    if folder is None:
        folder = _FOLDERS[graph] = _Folder()
    return folder


def _remove(folder: Path, lock: IO[bytes]) -> None:
    with suppress(OSError):
        folder.chmod(0o700)
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
            state = folder.lstat()  # of a link that another user has planted, theirs
            if state.st_uid != os.getuid() or time.time() - state.st_mtime < _YOUNG_S:
                continue
            with open(folder / _LOCK, "rb") as lock:
                if _try_lock(lock):
                    _remove(folder, lock)


# ------------------------------------------------------------------ answers
# The file that a command writes its whole answer to, so that all of it is checked.
#
# Numbers separated by spaces, tabs, commas, colons or semicolons; lines that begin with ``#`` or ``%`` and a header of
# words are passed over.  What a line says is the problem's: an edge of the forest, ``u v``, whatever follows; or the
# distance of each vertex in order, or ``vertex distance``.  A vertex that is not listed has no path, nor has one whose
# distance is called ``inf`` or ``-1``, or as the table's ``unreached`` says.
#
# Or an array of NumPy's (``.npy``): of a forest (edges, 2), else (vertices,) in order.


_SEPARATORS = bytes.maketrans(b"\t,;:\r", b"     ")
MOST_COLUMNS = 8
"""A line of a result has two numbers, and few more that are passed over."""


def most_result_bytes(graph: CSRGraph) -> int:
    """Return how large a file of an answer may be: 64 bytes for each vertex and arc, and a megabyte of comments."""
    return 2**20 + 64 * (graph.vertices + graph.arcs)


@dataclass(frozen=True)
class ResultFile:
    """A file as the peer ``by`` wrote it, whose first vertex is 0 or 1.

    ``unreached`` is what it has for a vertex without a path, besides ``inf`` and ``-1``; a larger file than of
    ``most_bytes`` is not read.
    """

    path: Path
    first_vertex: int
    unreached: str
    by: str
    most_bytes: int = 2**30

    def _content(self) -> bytes:
        """Return what the program wrote: a file of its own, of at most ``most_bytes``, or PeerThrew."""
        remedy = "see {result} in its command"
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # no link is followed, no pipe waited for
        try:
            with open(os.open(self.path, flags), "rb") as file:
                state = os.fstat(file.fileno())
                if not stat.S_ISREG(state.st_mode):
                    raise PeerThrew("its result is no regular file", where=self.by, remedy=remedy)
                if state.st_size > self.most_bytes:
                    what = f"its result file has {state.st_size} bytes; an answer has at most {self.most_bytes}"
                    raise PeerThrew(what, where=self.by, remedy=remedy)
                return file.read(self.most_bytes)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise PeerThrew("its result is a link to another file", where=self.by, remedy=remedy) from None
            raise PeerThrew(f"it wrote no result file: {reason_of(error)}", where=self.by, remedy=remedy) from None

    def vertices(self, column: Any) -> NDArray[np.int64]:
        """Return a column as 0-based vertices, (k,) int64."""
        numbers: NDArray[np.int64] = as_numbers(column, np.dtype(np.int64), self.by) - self.first_vertex
        return numbers

    def columns(self, known: Set[str] = frozenset(), vertices: int | None = None) -> list[Any]:
        """Return the columns as ``text_table`` does, or those of an array; none if empty; ``known`` are no headers.

        An array has the shape (``vertices``,), or (edges, 2) for None.  Raises PeerThrew for no such file, or one that
        is no table.
        """
        from gpugraph.ext.results.text import text_table

        content = self._content().removeprefix(codecs.BOM_UTF8)
        if content.startswith(np.lib.format.MAGIC_PREFIX):
            return self._columns_of_array(content, vertices)
        content = re.sub(rb"\n[#%].*", b"", b"\n" + content).translate(_SEPARATORS)
        while b"  " in content:  # many times as fast as a regular expression
            content = content.replace(b"  ", b" ")
        content = content.replace(b"\n ", b"\n").replace(b" \n", b"\n").strip(b" ").lstrip(b"\n")
        head = content.split(b"\n", 1)[0]
        is_text = re.fullmatch(rb"[A-Za-z_\"][^\x00-\x1f]*", head) is not None
        if is_text and head.decode("utf-8", "replace").split(" ")[-1].lower() not in known:
            content = content[len(head) :].lstrip(b"\n")
        words = content.split(b"\n", 1)[0].split(b" ", MOST_COLUMNS)
        if len(words) > MOST_COLUMNS:
            what = f"its result file has more than {MOST_COLUMNS} columns"
            raise PeerThrew(what, where=self.by, remedy="docs/peers.md describes such a file")
        if words == [b""]:
            return []
        names = [f"c{i}" for i in range(len(words))]
        try:
            table = text_table(content, names, " ")
        except ValueError as error:  # Arrow's are such
            what = f"its result file cannot be read: {' '.join(str(error).split())[:200]}"
            raise PeerThrew(what, where=self.by, remedy="docs/peers.md describes such a file") from None
        return [table[name] for name in names]

    def _columns_of_array(self, content: bytes, vertices: int | None) -> list[Any]:
        """Return the columns of a file of NumPy's, whose shape is as ``columns`` says."""
        from gpugraph.ext.formats.npz_arrays import plain_array

        remedy = "docs/peers.md describes such a file"
        try:
            with reading(self.path, remedy):
                array = plain_array(content, "it")
        except GraphFormatError as error:
            raise PeerThrew(f"its result file {error.what}", where=self.by, remedy=remedy) from None
        is_forest = array.ndim == 2 and 2 <= array.shape[1] <= MOST_COLUMNS
        if array.dtype.kind not in "iuf" or not (is_forest if vertices is None else array.shape == (vertices,)):
            due = "(edges, 2)" if vertices is None else f"({vertices},)"
            what = f"its result file holds {str(array.dtype)[:50]} of shape {array.shape}, not numbers of shape {due}"
            raise PeerThrew(what, where=self.by, remedy=remedy)
        return [array] if vertices is not None else [*array.T]


def as_numbers(column: Any, dtype: np.dtype[Any], by: str) -> NDArray[Any]:
    """Return a column, texts or an array, as an array; raise PeerThrew if one of them is no such number."""
    from gpugraph.ext.results.text import parse_numbers

    if isinstance(column, np.ndarray):
        if dtype.kind == "f" or (column.dtype.kind != "f" and (column.astype(dtype) == column).all()):
            return column.astype(dtype)
        what = f"its result file holds {column.dtype} numbers, and not all of them are of {dtype}"
        raise PeerThrew(what, where=by, remedy="docs/peers.md describes such a file")
    try:
        return np.array(parse_numbers(column, dtype, by))
    except GraphFormatError as error:
        what = f"its result file holds no numbers: {error.what}"
        raise PeerThrew(what, where=by, remedy="docs/peers.md describes such a file") from None
