"""SciPy's ``.npz`` of a sparse matrix: CSR, CSC or COO; its entry (i, j) is the arc i→j.

An entry that is there several times is one number in parts, and summed.  A zip of ``.npy`` members.  Each member's
header is compared with the bytes behind it before anything is allocated, and nothing is ever unpickled.
"""

import io
import zipfile
from dataclasses import replace
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compression import check_ratio
from gpugraph.base.errors import GraphFormatError, errors_at, reading
from gpugraph.base.quantities import counted
from gpugraph.ext.compression import WrittenThrough
from gpugraph.ext.formats.base import Format
from gpugraph.ext.formats.checks import arcs_of_rows, check_vertices, refuse_nan
from gpugraph.ext.formats.npz_arrays import NoPlainArrayError, read_array
from gpugraph.ext.python.matrices import summed
from gpugraph.graph.build import ArcList, narrow_weights
from gpugraph.graph.csr import CSRGraph, target_dtype
from gpugraph.graph.input_file import Source

_REMEDY = "write it with scipy.sparse.save_npz"


def read(source: Source) -> ArcList:
    """Read a sparse matrix.  Raises GraphFormatError if it is none, not square, complex, or damaged."""
    with reading(source.path, _REMEDY, "a damaged .npz: its directory cannot be read"):
        archive = zipfile.ZipFile(io.BytesIO(source.data.data))
    with archive:
        check_ratio(sum(member.file_size for member in archive.infolist()), len(source.data), source.path)
        _refuse_other(source, archive.namelist())
        return _matrix(source, archive)


def _refuse_other(source: Source, names: list[str]) -> None:
    """Refuse an archive that is plainly another: of files, or of arrays that are no sparse matrix."""
    files = [name for name in names if not name.endswith((".npy", "/"))]
    if files and len(files) == len([name for name in names if not name.endswith("/")]):
        few = ", ".join(files[:4]) + (", …" if len(files) > 4 else "")
        raise source.error(f"is a zip archive of {few}", "unpack it, and name the graph file in it")
    if names and "format.npy" not in names and not files:
        few = ", ".join(name.removesuffix(".npy") for name in names[:6])
        remedy = "write a sparse matrix with scipy.sparse.save_npz"
        raise source.error(f"holds the arrays {few}, which are no SciPy matrix", remedy)


def _damaged(source: Source, what: str) -> GraphFormatError:
    return source.error(f"a damaged .npz, or not SciPy's: {what}", _REMEDY)


def _array(source: Source, archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Return one member of a matrix's archive.  Raises GraphFormatError if it is damaged."""
    with reading(source.path, _REMEDY, f"a damaged .npz: {name}.npy cannot be unpacked"):
        try:
            return read_array(archive, name, source.require)
        except NoPlainArrayError as error:
            raise _damaged(source, str(error)) from error


def _matrix(source: Source, archive: zipfile.ZipFile) -> ArcList:
    form = _array(source, archive, "format")
    item = form.reshape(-1)[0] if form.size == 1 else b"?"
    kind = item.decode("ascii", "replace") if isinstance(item, bytes) else str(item)
    if kind in ("dia", "bsr", "lil", "dok"):
        raise source.error(f"holds a SciPy matrix of format {kind}", "save it as csr: save_npz(path, matrix.tocsr())")
    if kind not in ("csr", "csc", "coo"):
        raise _damaged(source, f"a matrix of format {kind!r}; save it as csr")
    wanted = ("shape", "row", "col") if kind == "coo" else ("shape", "indices", "indptr")
    shape, first, second = (_array(source, archive, name) for name in wanted)
    if shape.shape != (2,) or any(a.dtype.kind not in "iu" or a.ndim != 1 for a in (shape, first, second)):
        raise _damaged(source, "its indices are no integers")
    n = int(shape[0])
    if n != int(shape[1]):
        raise source.error(
            f"a matrix of {counted(n, 'row')} and {counted(int(shape[1]), 'column')} is no graph",
            "only square matrices are",
        )
    check_vertices(source, n)
    data = _array(source, archive, "data")
    room = kind != "coo" and len(second) and data.shape == first.shape
    if room and 0 <= (stored := int(second[-1])) < len(first):
        first, data = first[:stored], data[:stored]  # as in memory: SciPy may leave room behind the last row
    weights = _weights(source, data)
    arcs = len(first)
    if (weights is not None and len(weights) != arcs) or (kind == "coo" and len(second) != arcs):
        raise _damaged(source, "its arrays differ in length")
    if kind == "coo":
        for ids in (first, second):
            if arcs and (int(ids.min()) < 0 or int(ids.max()) >= n):
                raise _damaged(source, f"an index is out of range 0..{n - 1}")
        dtype = target_dtype(n)
        return _summed(source, ArcList(first.astype(dtype), second.astype(dtype), weights, n), data.dtype == bool)
    if len(second) != n + 1:
        raise _damaged(source, f"{counted(len(second), 'row offset')} do not belong to {counted(n, 'vertex')}")
    arcs_ = _summed(source, arcs_of_rows(source, second, first, weights).on_host(), data.dtype == bool)
    return replace(arcs_, tails=arcs_.heads, heads=arcs_.tails) if kind == "csc" else arcs_


def _summed(source: Source, arcs: ArcList, pattern: bool) -> ArcList:
    """Return arcs with repeated entries summed, which is what they mean to SciPy."""
    same = arcs.tails[1:] == arcs.tails[:-1]
    if bool(((arcs.tails[1:] > arcs.tails[:-1]) | (same & (arcs.heads[1:] > arcs.heads[:-1]))).all()):
        return arcs
    with errors_at(source.path):
        return summed(replace(arcs, weights=arcs.weights_or_ones), pattern=pattern)


def _weights(source: Source, data: NDArray[Any]) -> NDArray[Any] | None:
    """Return the weights in a dtype of gpugraph; booleans are a pattern, of which those that are false weigh 0."""
    if data.ndim != 1 or data.dtype.kind not in "biuf":
        raise source.error(f"holds weights of dtype {data.dtype}", "save integers or reals, e.g. abs(matrix)")
    if data.dtype.kind == "b":
        return None if data.all() else data.astype(np.uint32)
    if data.dtype.kind in "iu":
        return narrow_weights(data)
    if data.dtype.itemsize > 8:
        raise source.error(f"holds weights of dtype {data.dtype}", "save them as float64")
    weights = data.astype(np.float32 if data.dtype.itemsize <= 4 else np.float64)
    refuse_nan(source, weights)
    return weights


def write(graph: CSRGraph, stream: IO[bytes], extension: str) -> None:
    """Write a CSR matrix that ``scipy.sparse.load_npz`` reads; explicit zeros are kept."""
    index = np.int32 if max(graph.arcs, graph.vertices) < 2**31 else np.int64
    members = {
        "indices": graph.targets.astype(index),
        "indptr": graph.offsets.astype(index),
        "format": np.array(b"csr"),
        "shape": np.array([graph.vertices, graph.vertices], np.int64),
        "data": np.ascontiguousarray(graph.weights),
    }
    with zipfile.ZipFile(cast(IO[bytes], WrittenThrough(stream)), "w") as archive:
        for name, array in members.items():
            # A fixed date: the same graph gives the same bytes.
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


FORMAT = Format(
    name="npz",
    title="SciPy .npz",
    extensions=(".npz",),
    read=read,
    write=write,
    hint=rb"\APK(?:\x03\x04|\x05\x06)",
    binary=True,
)
