"""Graphs from Python objects: matrices of SciPy and NumPy, graphs of NetworkX and igraph, rows as three arrays.

Every number is taken exactly or refused: no integer is rounded to a real, no byte order is misread, no node takes
another's place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpugraph.base.errors import InputError, shown
from gpugraph.base.quantities import counted
from gpugraph.graph.build import ArcList, RowTails, narrow_weights
from gpugraph.graph.check import offsets_fault
from gpugraph.graph.csr import WEIGHT_DTYPES, printed

_WIDER = {"bool": "uint32", "uint8": "uint32", "uint16": "uint32", "int8": "int32", "int16": "int32"}
_WIDER["float16"] = "float32"

_INTEGERS = (int, np.integer, np.bool_)
_REALS = (float, np.float16, np.float32)


def arcs_of_object(source: object, weight: str | None = None) -> ArcList:
    """Return the arcs of a matrix of SciPy or NumPy, a graph of NetworkX or igraph, or (offsets, targets, weights).

    ``weight`` is the attribute that weighs edges of NetworkX and igraph, see ``weights_by_name``.  Raises InputError if
    ``source`` is none of these, or holds what no graph does.
    """
    if not isinstance(source, type):
        if hasattr(source, "adjacency") and hasattr(source, "is_directed"):
            return _arcs_of_networkx(source, weight)
        if hasattr(source, "get_edgelist") and hasattr(source, "vcount"):
            return _arcs_of_igraph(source, weight)
        if weight:
            what = f"a {type(source).__name__} has no edges with a '{weight}'"
            raise InputError(what, remedy="leave weight out: it is for graphs of NetworkX and igraph")
        if hasattr(source, "tocoo"):
            return _arcs_of_matrix(source)
        if isinstance(source, np.ndarray) and source.ndim == 2:
            return _arcs_of_dense(source)
        if isinstance(source, tuple) and len(source) == 3:
            return _arcs_of_rows(*source)
    taken = "a path, a spec, a matrix of SciPy or NumPy, a NetworkX or igraph graph, or (offsets, targets, weights)"
    raise InputError(f"a {type(source).__name__} is not a graph", remedy=f"give {taken}")


# ------------------------------------------------------------------ arrays


def _array(values: object, what: str) -> NDArray[Any]:
    """Return values as a one-dimensional array, of whatever type and byte order."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"the {what} are masked in part", remedy="fill or drop what is masked")
    try:
        array = np.asarray(values)
    except Exception as error:  # lists of unequal lists; arrays of other libraries that lie on a device
        raise InputError(f"the {what} cannot be taken as an array: {error}", remedy="give a NumPy array") from error
    if array.ndim != 1:
        raise InputError(f"the {what} have {counted(array.ndim, 'dimension')}", remedy="give an array of one dimension")
    return array


def _indices(values: object, what: str) -> NDArray[Any]:
    """Return offsets or targets as an array of integers."""
    array = _array(values, what)
    if array.dtype.kind not in "iu" and len(array):
        raise InputError(f"the {what} are of type {array.dtype}", remedy="give integers")
    return array if len(array) else np.zeros(0, np.int64)


def weights_of(values: ArrayLike, name: Callable[[int], str]) -> NDArray[Any]:
    """Return an array, or a list or tuple of numbers, exactly as weights; ``name(i)`` is what messages call one."""
    if isinstance(values, list | tuple):
        weights = _weights_of_numbers(list(values), name)
    elif (weights := _array(values, "weights")).dtype.hasobject:
        weights = _weights_of_numbers(list(weights), name)
    dtype = _WIDER.get(weights.dtype.name, weights.dtype.name)
    if dtype not in WEIGHT_DTYPES:
        raise InputError(f"weights of type {weights.dtype} are not supported", remedy=f"use {', '.join(WEIGHT_DTYPES)}")
    # The name of a type leaves its byte order out: this is where big-endian weights are turned round.
    return _without_nan(np.ascontiguousarray(weights, dtype), name)


def _without_nan(weights: NDArray[Any], name: Callable[[int], str]) -> NDArray[Any]:
    if weights.dtype.kind == "f" and np.isnan(weights).any():
        raise InputError(f"{name(int(np.isnan(weights).argmax()))} is NaN", remedy="give every weight a value")
    return weights


def _weights_of_numbers(values: list[Any], name: Callable[[int], str]) -> NDArray[Any]:
    """Return numbers in the narrowest integer type that holds them all, or in their floating type, exactly."""
    kinds = set(map(type, values))
    whole = {kind for kind in kinds if issubclass(kind, _INTEGERS)}
    real = {kind for kind in kinds if issubclass(kind, _REALS)}
    for strange in kinds - whole - real:
        at = next(i for i, value in enumerate(values) if type(value) is strange)
        what = f"{name(at)} is {shown(values[at])}, of type {strange.__name__}"
        raise InputError(what, remedy="give integers or floats")
    if not real:
        return _whole_numbers(values, name)
    if not whole:
        return np.array(values, np.float64 if any(issubclass(kind, float) for kind in real) else np.float32)
    try:
        weights = np.array([float(value) for value in values])
    except OverflowError:
        weights = np.full(len(values), np.inf)
    for at in np.flatnonzero(np.abs(weights) >= 2.0**53).tolist():
        value, held = values[at], float(weights[at])
        if isinstance(value, _INTEGERS) and (math.isinf(held) or int(held) != int(value)):
            what = f"{name(at)} is {shown(value)}, which beside floats has no exact value in 64 bits"
            raise InputError(what, remedy="give integers only, or smaller ones")
    return weights


def _whole_numbers(values: list[Any], name: Callable[[int], str]) -> NDArray[Any]:
    try:
        return narrow_weights(np.fromiter(values, np.int64, len(values)))
    except OverflowError:
        exact = np.array([int(value) for value in values], object)
    try:
        return narrow_weights(exact)
    except InputError:
        low, high = int(exact.argmin()), int(exact.argmax())
        what = f"{name(low)} is {shown(exact[low])} and {name(high)} is {shown(exact[high])}"
        raise InputError(f"{what}: no integer type of 64 bits holds both", remedy="scale the weights") from None


def _by_position(i: int) -> str:
    return f"the weight at position {i}"


def _arcs_of_rows(starts: ArrayLike, heads: ArrayLike, weights: ArrayLike | None) -> ArcList:
    offsets, targets = _indices(starts, "offsets"), _indices(heads, "targets")
    if fault := offsets_fault(offsets, len(targets)) if len(offsets) else "there are no row offsets":
        raise InputError(fault, remedy="give n + 1 offsets, where the rows begin, and last the number of targets")
    vertices = len(offsets) - 1
    if len(targets) and (int(targets.min()) < 0 or int(targets.max()) >= vertices):
        raise InputError(f"a target lies outside [0, {vertices})", remedy="number the vertices from 0")
    plain = None if weights is None else weights_of(weights, _by_position)
    if plain is not None and len(plain) != len(targets):
        what = f"{counted(len(plain), 'weight')} for {counted(len(targets), 'target')}"
        raise InputError(what, remedy="give one weight for each target, or None")
    tails = RowTails(offsets.astype(np.int64)).on_host()
    return ArcList(tails, targets.astype(tails.dtype), plain, vertices)


# ------------------------------------------------------------------ SciPy


def _arcs_of_matrix(matrix: Any) -> ArcList:
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
        arcs = _arcs_of_rows(matrix.indptr, matrix.indices, matrix.data)
        if matrix.format == "csc":
            arcs = replace(arcs, tails=arcs.heads, heads=arcs.tails)
    else:
        coo = matrix.tocoo()
        if matrix.format == "bsr":
            coo.eliminate_zeros()  # they fill the blocks
        tails, heads = coo.row.astype(np.int64), coo.col.astype(np.int64)
        arcs = ArcList(tails, heads, weights_of(coo.data, _by_position), n)
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
        raise InputError(what, remedy="give as many columns as rows")
    return int(n)


def _arcs_of_dense(matrix: NDArray[Any]) -> ArcList:
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
    return ArcList(tails, heads, weights_of(plain[tails, heads], _by_position), n)


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
    return ArcList(tails, rows.indices, _without_nan(total, _by_position), arcs.vertices, notes=(note,))


# ------------------------------------------------------------------ NetworkX


def weights_by_name(
    edges: Sequence[Mapping[Any, Any]], attribute: str | None, name: Callable[[int], str]
) -> NDArray[Any]:
    """Return an attribute of every edge as its weight, 1 where an edge lacks it; ``name`` is as for ``weights_of``.

    ``attribute`` None is ``weight``, which all edges may lack if they have no other number; ``""`` is none.  Raises
    InputError if no edge has it, and the message lists the numbers that edges do have.
    """
    values = [] if attribute == "" else [one.get(attribute or "weight", _MISSING) for one in edges]
    if any(value is not _MISSING for value in values):
        return weights_of([1 if value is _MISSING else value for value in values], name)
    if attribute != "":
        others = dict.fromkeys(
            str(key)
            for one in edges
            for key, value in one.items()
            if isinstance(value, _INTEGERS + _REALS) and not isinstance(value, bool | np.bool_)
        )
        if attribute is not None or others:
            listed = ", ".join([shown(other) for other in others][:8])
            which = f"; attributes that are numbers: {listed}" if others else ""
            say = "name one of them with --weight (weight= in Python), or accept 1 for each edge with --weights unit"
            raise InputError(f"no edge has {shown(attribute or 'weight')}{which}", remedy=say)
    return np.ones(len(edges), np.uint32)


_MISSING = object()


def _arcs_of_networkx(graph: Any, weight: str | None) -> ArcList:
    """Return the arcs of a NetworkX graph; nodes that are not 0..n-1 become the vertex names, as they are."""
    nodes = list(graph.nodes)
    try:
        nodes = sorted(nodes)
    except Exception:  # nodes that do not compare, in whatever way they say so, stay in the graph's own order
        nodes = list(graph.nodes)
    number = {node: i for i, node in enumerate(nodes)}
    # One flat list: half a million tuples at once would keep the garbage collector busy for longer than all else takes.
    flat = list(chain.from_iterable(graph.edges(data=True)))
    tails, heads = (np.fromiter(map(number.__getitem__, flat[i::3]), np.int64, len(flat) // 3) for i in (0, 1))

    def name(i: int) -> str:
        return f"the weight of the edge {printed(flat[3 * i])} - {printed(flat[3 * i + 1])}"

    weights = weights_by_name(flat[2::3], weight, name)
    plain = set(map(type, nodes)) <= {int} and nodes == list(range(len(nodes)))
    names = None if plain else np.fromiter(nodes, object, len(nodes))
    directed = bool(graph.is_directed())
    return ArcList(tails, heads, weights, len(nodes), directed=directed, one_sided=not directed, vertex_names=names)


def _arcs_of_igraph(graph: Any, weight: str | None) -> ArcList:
    """Return the arcs of an igraph graph; vertices go by their numbers, as they do there."""
    ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    tails, heads = np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1])
    names = graph.es.attributes()
    rows = [dict(zip(names, row, strict=True)) for row in zip(*(graph.es[name] for name in names), strict=True)]
    rows = rows or [{}] * len(ends)  # without attributes there is nothing to go through
    weights = weights_by_name(rows, weight, lambda i: f"the weight of the edge {tails[i]} - {heads[i]}")
    directed = bool(graph.is_directed())
    return ArcList(tails, heads, weights, graph.vcount(), directed=directed, one_sided=not directed)
