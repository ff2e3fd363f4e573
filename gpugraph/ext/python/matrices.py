"""Graphs from matrices: SciPy's, those of other libraries, and square arrays."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import InputError
from gpugraph.base.quantities import counted
from gpugraph.ext.python.arrays import arcs_of_rows, by_position, on_host, weights_of, without_nan
from gpugraph.graph.build import ArcList, RowTails
from gpugraph.graph.check import offsets_fault
from gpugraph.graph.read_options import AS_GIVEN, ReadOptions


def arcs_of_matrix(matrix: Any, options: ReadOptions = AS_GIVEN) -> ArcList:
    """Return the arcs of a square sparse matrix of SciPy's; entries that it repeats are summed."""
    from scipy import sparse

    known: bool = sparse.issparse(matrix)
    if not known:
        raise InputError(f"a {type(matrix).__name__} is not a matrix of SciPy's", remedy="convert it to scipy.sparse")
    if len(matrix.shape) != 2:
        what = f"an adjacency matrix has two dimensions, this one has {len(matrix.shape)}"
        raise InputError(what, remedy="give a two-dimensional array of scipy.sparse")
    n = _rows_of_square(matrix)
    matrix = sound(matrix)
    if matrix.format in ("csr", "csc"):
        arcs = arcs_of_rows(matrix.indptr, matrix.indices, matrix.data)
        if matrix.format == "csc":
            arcs = replace(arcs, tails=arcs.heads, heads=arcs.tails)
    else:
        coo = matrix.tocoo()
        if matrix.format == "bsr":
            coo.eliminate_zeros()  # they fill the blocks
        tails, heads = coo.row.astype(np.int64), coo.col.astype(np.int64)
        arcs = ArcList(tails, heads, weights_of(coo.data, by_position), n)
    # Formats that cannot repeat an entry do not say whether they do.
    return arcs if getattr(matrix, "has_canonical_format", True) else summed(arcs, pattern=matrix.dtype == bool)


def sound(matrix: Any) -> Any:
    """Return a two-dimensional matrix of SciPy's whose arrays have the lengths and indices that its form promises.

    CSR, CSC, BSR and COO keep theirs; what lies behind the last offset is cut off, as SciPy leaves it there after
    ``minimum_spanning_tree(matrix, overwrite=True)``.  Other forms become COO.  SciPy's own conversions believe all of
    it, and read or write beyond an array's end.

    Raises:
        InputError: an array is too short, or an offset or an index is none.
    """
    try:
        return _checked(matrix)
    except InputError:
        raise
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as error:  # of what is no array
        raise InputError(f"the matrix cannot be read: {error}", remedy=_MEND) from error


def _checked(matrix: Any) -> Any:
    for name, dimensions in _ARRAYS.get(matrix.format, {}).items():
        array = getattr(matrix, name)
        if array.ndim != dimensions or (name != "data" and array.size and array.dtype.kind not in "iu"):
            what = f"{array.dtype} in {array.ndim} dimensions"
            raise InputError(f"{name} of the {matrix.format.upper()} matrix is {what}", remedy=_MEND)
    if matrix.format == "dia" and len(matrix.data) != len(matrix.offsets):
        what = f"the matrix has {len(matrix.data)} diagonals for {len(matrix.offsets)} offsets"
        raise InputError(what, remedy=_MEND)
    if matrix.format == "lil" and [*map(len, matrix.rows)] != [*map(len, matrix.data)]:
        raise InputError("a row of the matrix has more indices than entries, or fewer", remedy=_MEND)
    if matrix.format not in ("csr", "csc", "bsr", "coo"):
        matrix = matrix.tocoo()
    if matrix.format == "coo":
        _refuse_unequal(len(matrix.data), row_indices=matrix.row, column_indices=matrix.col)
        for indices, size in zip((matrix.row, matrix.col), matrix.shape, strict=True):
            _refuse_outside(indices, size)
        return matrix
    block = matrix.data.shape[1:] if matrix.format == "bsr" else (1, 1)
    if min(block) < 1:
        raise InputError("the entries of a BSR matrix are no blocks", remedy=_MEND)
    rows, columns = (size // part for size, part in zip(matrix.shape, block, strict=True))
    rows, columns = (columns, rows) if matrix.format == "csc" else (rows, columns)
    if len(matrix.indptr) != rows + 1:
        raise InputError(
            f"the matrix has {counted(len(matrix.indptr), 'offset')} for {counted(rows, 'row')}", remedy=_MEND
        )
    stored = int(matrix.indptr[-1])
    if fault := offsets_fault(matrix.indptr, stored):
        raise InputError(fault, remedy=_MEND)
    if min(len(matrix.indices), len(matrix.data)) < stored:
        have = f"{counted(len(matrix.indices), 'index')} and {counted(len(matrix.data), 'entry')}"
        raise InputError(f"the row offsets end at {stored}, but there are {have}", remedy=_MEND)
    _refuse_outside(matrix.indices[:stored], columns)
    usual = {matrix.indptr.dtype, matrix.indices.dtype} <= {np.dtype(np.int32), np.dtype(np.int64)}
    if usual and len(matrix.indices) == len(matrix.data) == stored:
        return matrix
    return type(matrix)((matrix.data[:stored], matrix.indices[:stored], matrix.indptr), matrix.shape)


_MEND = "make the matrix again from its rows, columns and values"
_ROWS = {"indptr": 1, "indices": 1, "data": 1}
_ARRAYS = {
    "csr": _ROWS,
    "csc": _ROWS,
    "bsr": _ROWS | {"data": 3},
    "coo": {"row": 1, "col": 1, "data": 1},
    "dia": {"offsets": 1, "data": 2},
}
"""The arrays of a form and their dimensions; all but the data are integers."""


def _refuse_unequal(entries: int, **arrays: NDArray[Any]) -> None:
    for name, array in arrays.items():
        if len(array) != entries:
            what = f"the matrix has {len(array)} {name.replace('_', ' ')} for {counted(entries, 'entry')}"
            raise InputError(what, remedy=_MEND)


def _refuse_outside(indices: NDArray[Any], size: int) -> None:
    if len(indices) and (int(indices.min()) < 0 or int(indices.max()) >= size):
        what = f"an index of the matrix lies outside [0, {size})"
        raise InputError(what, remedy="correct the index, or make the matrix larger")


def _rows_of_square(matrix: Any) -> int:
    n, columns = matrix.shape
    if n != columns:
        what = f"an adjacency matrix is square, this one is {n} x {columns}"
        raise InputError(what, remedy="give as many columns as rows; edges go to gpugraph.from_edges")
    return int(n)


def arcs_of_dense(matrix: NDArray[Any]) -> ArcList:
    """Return the arcs of a NumPy matrix: where it is 0, infinite or masked, there is none."""
    n = _rows_of_square(matrix)
    if matrix.dtype.hasobject:
        what = "a matrix of Python objects is no matrix of numbers"
        raise InputError(what, remedy="convert it, e.g. matrix.astype(float)")
    plain = matrix.filled(0) if isinstance(matrix, np.ma.MaskedArray) else np.asarray(matrix)
    if plain.dtype.kind == "f":
        plain = np.where(plain == np.inf, plain.dtype.type(0), plain)
        for i, j in np.argwhere(~np.isfinite(plain))[:1].tolist():
            value = "NaN" if np.isnan(plain[i, j]) else "-inf"
            raise InputError(f"entry [{i}, {j}] is {value}", remedy="use 0, inf or a mask where there is no edge")
    tails, heads = np.nonzero(plain)
    return ArcList(tails, heads, weights_of(plain[tails, heads], by_position), n)


def summed(arcs: ArcList, *, pattern: bool) -> ArcList:
    """Return arcs with repeated entries summed, which is what they mean to SciPy; in a pattern true and true is true.

    Raises:
        InputError: a sum does not fit into 64 bits.
    """
    from scipy import sparse

    def sums(weights: NDArray[Any]) -> Any:
        return sparse.coo_array((weights, (arcs.tails, arcs.heads)), (arcs.vertices, arcs.vertices)).tocsr()

    weights = arcs.weights
    assert weights is not None
    kind = weights.dtype.kind
    rows = sums(weights if kind == "f" else weights.astype(f"{kind}8"))
    repeated = len(weights) - rows.nnz
    if not repeated:
        return arcs
    total = rows.data
    if pattern:
        total = np.minimum(total, 1)
    if kind != "f":
        # Sums of 64-bit integers wrap without a word; those of their halves do not.
        wide = weights.astype(f"{kind}8")
        half, ends = wide.dtype.type(32), np.iinfo(f"{kind}4")
        upper = sums(wide >> half).data + (sums(wide & wide.dtype.type(2**32 - 1)).data >> half)
        if upper.min() < ends.min or upper.max() > ends.max:
            raise InputError("the sum of a repeated entry of the matrix does not fit into 64 bits", remedy="scale it")
        own = np.iinfo(weights.dtype)
        if own.min <= total.min() and total.max() <= own.max:
            total = total.astype(weights.dtype)
    tails = RowTails(rows.indptr).on_host()
    note = f"summed {counted(repeated, 'repeated entry')} of the matrix, as SciPy does"
    return ArcList(tails, rows.indices, without_nan(total, by_position), arcs.vertices, notes=(note,))


def as_scipy(matrix: Any) -> Any:
    """Return a sparse matrix of PyTorch, python-graphblas or pydata/sparse as SciPy's; any other object as it is."""
    from scipy import sparse

    if "sparse" in str(getattr(matrix, "layout", "")):
        matrix = matrix.detach()
        parts: Any = [np.asarray(on_host(part)) for part in _torch_parts(matrix)]
        if len(parts) == 3:
            return sparse.csr_array((parts[2], parts[1], parts[0]), tuple(matrix.shape))
        return sparse.coo_array((parts[1], tuple(parts[0])), tuple(matrix.shape))
    if hasattr(matrix, "to_coo") and hasattr(matrix, "nrows"):
        rows, columns, values = matrix.to_coo()
        return sparse.coo_array((values, (rows, columns)), (matrix.nrows, matrix.ncols))
    if not hasattr(matrix, "to_scipy_sparse") and hasattr(matrix, "to_coo"):
        matrix = matrix.to_coo()
    return matrix.to_scipy_sparse() if hasattr(matrix, "to_scipy_sparse") else matrix


def _torch_parts(matrix: Any) -> tuple[Any, ...]:
    if "csr" in str(matrix.layout):
        return matrix.crow_indices(), matrix.col_indices(), matrix.values()
    if "coo" in str(matrix.layout):
        whole = matrix.coalesce()
        return whole.indices(), whole.values()
    raise InputError(f"a matrix of PyTorch of layout {matrix.layout} is not read", remedy="give it as to_sparse_csr()")
