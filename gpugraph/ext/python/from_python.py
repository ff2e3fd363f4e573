"""Graphs from Python objects: matrices, graphs of other libraries, edges, tables, rows as three arrays.

Every number is taken exactly or refused: no integer is rounded to a real, no byte order is misread, no node takes
another's place.
"""

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpugraph.base.errors import InputError, shown
from gpugraph.base.host import require_memory
from gpugraph.base.quantities import counted
from gpugraph.graph.build import VERTEX_BYTES, ArcList, RowTails, narrow_weights
from gpugraph.graph.check import offsets_fault
from gpugraph.graph.csr import WEIGHT_DTYPES, printed
from gpugraph.graph.read_options import AS_GIVEN, STATED, ReadOptions

_WIDER = {"bool": "uint32", "uint8": "uint32", "uint16": "uint32", "int8": "int32", "int16": "int32"}
_WIDER["float16"] = "float32"

_INTEGERS = (int, np.integer, np.bool_)
_REALS = (float, np.float16, np.float32)


def arcs_of_object(source: object, options: ReadOptions = AS_GIVEN) -> ArcList:
    """Return the arcs of a matrix, a graph of another library, a table, edges, or (offsets, targets, weights).

    Raises InputError if ``source`` is none of these, holds what no graph does, or leaves an option without a meaning.
    """
    kinds = () if isinstance(source, type) else _KINDS
    for is_one, stated, read in kinds:
        if is_one(source):
            refuse_options(source, options, stated)
            return read(source, options)
    taken = "a path, a spec, a matrix, a graph of NetworkX or another library, a table, or (offsets, targets, weights)"
    raise InputError(f"a {type(source).__name__} is not a graph", remedy=f"give {taken}; edges go to from_edges")


def refuse_options(source: object, options: ReadOptions, stated: str) -> None:
    """Raise InputError for an option that is set, and not among those that may be ``stated`` of such an object."""
    kind = type(source).__name__
    for name in ("input_format", *STATED):
        if name not in stated.split() and getattr(options, name) not in (getattr(AS_GIVEN, name), ""):
            raise InputError(f"{name} has no meaning for a {kind}", remedy=f"leave {name} out")


# ------------------------------------------------------------------ arrays


def on_host(array: object) -> Any:
    """Return an array of another library as NumPy's: shared where it lies in the host's memory, else copied there."""
    if isinstance(array, np.ndarray | list | tuple):
        return array
    if hasattr(array, "__cuda_array_interface__"):
        if hasattr(array, "get"):
            return array.get()  # CuPy's
        import cupy

        return cupy.asarray(array).get()
    if hasattr(array, "__dlpack__"):
        try:
            return np.from_dlpack(array)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            if hasattr(array, "__array__"):
                return array
            raise InputError(f"an array of {type(array).__name__} cannot be shared: {error}") from error
    return array


def _array(values: object, what: str) -> NDArray[Any]:
    """Return values as a one-dimensional array, of whatever type and byte order."""
    values = on_host(values)
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


def _arcs_of_rows(starts: Any, heads: Any, weights: Any, *, directed: bool | None = None) -> ArcList:
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
    return ArcList(tails, targets.astype(tails.dtype), plain, vertices, directed=directed)


# ------------------------------------------------------------------ SciPy


def _arcs_of_matrix(matrix: Any, options: ReadOptions = AS_GIVEN) -> ArcList:
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


def _arcs_of_table(array: Any, options: ReadOptions) -> ArcList:
    """Return the arcs of a square matrix, of rows (source, target[, weight]), or of an edge_index (2, E)."""
    array = np.asanyarray(on_host(array))
    rows, columns = array.shape
    if columns in (2, 3) and rows != columns and (rows, columns) != (2, 3):
        return arcs_of_edges(*array.T, options=options)
    if rows == 2 and columns > 3:
        return arcs_of_edges(*array, options=options)
    refuse_options(array, options, "")
    return _arcs_of_dense(array)


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
            say = "name one of them with --weight, or accept 1 for each edge with --reweight unit"
            raise InputError(f"no edge has {shown(attribute or 'weight')}{which}", remedy=say)
    return np.ones(len(edges), np.uint32)


_MISSING = object()


def _arcs_of_networkx(graph: Any, options: ReadOptions) -> ArcList:
    """Return the arcs of a NetworkX graph; nodes that are not 0..n-1 become the vertex names, as they are."""
    # One flat list: half a million tuples at once would keep the garbage collector busy for longer than all else takes.
    flat = list(chain.from_iterable(graph.edges(data=True)))

    def name(i: int) -> str:
        return f"the weight of the edge {printed(flat[3 * i])} - {printed(flat[3 * i + 1])}"

    weights = weights_by_name(flat[2::3], options.weight, name)
    return _between(list(graph.nodes), flat[::3], flat[1::3], weights, bool(graph.is_directed()))


def _between(nodes: list[Any], tails: list[Any], heads: list[Any], weights: Any, directed: bool | None) -> ArcList:
    """Return arcs between nodes, numbered in ascending order if they have one; undirected edges are listed once."""
    with contextlib.suppress(Exception):  # nodes that do not compare, in whatever way they say so, stay as they are
        nodes = sorted(nodes)
    plain = set(map(type, nodes)) <= {int} and nodes == list(range(len(nodes)))
    names = None if plain else np.fromiter(nodes, object, len(nodes))
    number = {node: i for i, node in enumerate(nodes)}
    u, v = (np.fromiter(map(number.__getitem__, part), np.int64, len(part)) for part in (tails, heads))
    return ArcList(u, v, weights, len(nodes), directed, one_sided=directed is False, vertex_names=names)


def _arcs_of_igraph(graph: Any, options: ReadOptions) -> ArcList:
    """Return the arcs of an igraph graph; vertices go by their numbers, as they do there."""
    ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    tails, heads = np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1])
    names = graph.es.attributes()
    rows = [dict(zip(names, row, strict=True)) for row in zip(*(graph.es[name] for name in names), strict=True)]
    rows = rows or [{}] * len(ends)  # without attributes there is nothing to go through
    weights = weights_by_name(rows, options.weight, lambda i: f"the weight of the edge {tails[i]} - {heads[i]}")
    directed = bool(graph.is_directed())
    return ArcList(tails, heads, weights, graph.vcount(), directed=directed, one_sided=not directed)


# ------------------------------------------------------------------ graphs of other libraries


def _arcs_of_rustworkx(graph: Any, options: ReadOptions) -> ArcList:
    """Return the arcs of a rustworkx graph, whose vertices are its node indices; a payload weighs, or a part of it."""
    pairs = list(graph.edge_list())
    weights = _payloads(graph.edges(), options.weight, lambda i: f"the weight of the edge {pairs[i]}")
    tails, heads = [u for u, _ in pairs], [v for _, v in pairs]
    return _between(list(graph.node_indices()), tails, heads, weights, hasattr(graph, "successors"))


def _payloads(payloads: Sequence[Any], weight: str | None, name: Callable[[int], str]) -> NDArray[Any]:
    """Return weights of payloads that are numbers, None or mappings with the attribute ``weight``."""
    rows = [one if isinstance(one, Mapping) else {} if one is None else {"weight": one} for one in payloads]
    return weights_by_name(rows, weight, name)


def _arcs_of_networkit(graph: Any, options: ReadOptions) -> ArcList:
    flat = list(chain.from_iterable(graph.iterEdgesWeights()))
    weights = weights_of(flat[2::3], _by_position) if graph.isWeighted() else None
    return _between(list(graph.iterNodes()), flat[::3], flat[1::3], weights, bool(graph.isDirected()))


def _arcs_of_mapping(graph: Mapping[Any, Any], options: ReadOptions) -> ArcList:
    """Return the arcs of a mapping of nodes to their neighbours, which are mapped to weights, or a list of them."""
    flat: list[Any] = []
    for node, row in graph.items():
        if not isinstance(row, Mapping | list | tuple | set | frozenset):
            remedy = "map each node to {neighbour: weight}, or to a list of neighbours"
            raise InputError(f"the neighbours of {shown(node)} are {shown(row)}", remedy=remedy)
        for other, payload in row.items() if isinstance(row, Mapping) else ((other, None) for other in row):
            flat += (node, other, payload)
    weights = _payloads(flat[2::3], options.weight, lambda i: f"the weight of {flat[3 * i]!r} - {flat[3 * i + 1]!r}")
    return _between(list(dict.fromkeys(chain(graph, flat[1::3]))), flat[::3], flat[1::3], weights, options.directed)


def _arcs_of_pyg(data: Any, options: ReadOptions) -> ArcList:
    """Return the arcs of an object with an ``edge_index`` (2, E), such as PyTorch Geometric's ``Data``."""
    index = np.asarray(on_host(data.edge_index))
    if index.ndim != 2 or len(index) != 2:
        what = f"edge_index has the shape {index.shape}"
        raise InputError(what, remedy="give one edge_index (2, edges); of several kinds of edges choose one")
    wanted = (options.weight,) if options.weight else () if options.weight == "" else ("edge_weight", "edge_attr")
    found = next((on_host(one) for name in wanted if (one := getattr(data, name, None)) is not None), None)
    if found is None and options.weight:
        raise InputError(f"a {type(data).__name__} has no '{options.weight}'", remedy="name an attribute of its edges")
    if found is not None and np.ndim(found) == 2 and np.shape(found)[1] == 1:
        found = np.asarray(found)[:, 0]
    vertices = options.vertices if options.vertices is not None else getattr(data, "num_nodes", None)
    return arcs_of_edges(index[0], index[1], found, options=replace(options, vertices=vertices))


def _arcs_of_foreign_matrix(matrix: Any, options: ReadOptions) -> ArcList:
    return _arcs_of_matrix(as_scipy(matrix))


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


# ------------------------------------------------------------------ edges


def arcs_of_edges(
    tails: Any, heads: Any, weights: Any = None, *, options: ReadOptions = AS_GIVEN, names: Any = None
) -> ArcList:
    """Return the arcs of edges by their ends, see ``gpugraph.from_edges``.  Raises InputError if they are none."""
    ends = [_ids(tails, "sources"), _ids(heads, "targets")]
    plain = None if weights is None else weights_of(_listed(weights), _by_position)
    if len({len(part) for part in (*ends, *(() if plain is None else (plain,)))}) != 1:
        counts = f"{counted(len(ends[0]), 'source')}, {counted(len(ends[1]), 'target')}"
        what = counts if plain is None else f"{counts} and {counted(len(plain), 'weight')}"
        raise InputError(f"{what} make no edges", remedy="give one of each for an edge")
    labels = None if names is None else _listed(names).tolist() if not isinstance(names, list) else names
    if labels is not None and len(set(labels)) < len(labels):
        raise InputError("names has a name twice", remedy="give each vertex a name of its own")
    if all(one.dtype.kind in "iu" for one in ends):
        vertices = _bound(ends, options.vertices if labels is None else len(labels))
        named = None if labels is None else np.fromiter(labels, object, len(labels))
        u, v = (part.astype(np.int64) for part in ends)
        return ArcList(u, v, plain, vertices, options.directed, options.directed is False, named)
    if options.vertices is not None:
        raise InputError("vertices has no meaning where the ends are names", remedy="leave vertices out")
    listed = [part.tolist() for part in ends]
    known = dict.fromkeys(chain(*listed) if labels is None else labels)
    for end in (one for one in chain(*listed) if one not in known):
        raise InputError(f"names has no {shown(end)}", remedy="list every end of an edge in names")
    return _between(list(known), listed[0], listed[1], plain, options.directed)


def _listed(values: Any) -> Any:
    values = on_host(values)
    return values if isinstance(values, np.ndarray | list | tuple) else np.asarray(values)


def _ids(values: Any, what: str) -> NDArray[Any]:
    """Return ends of edges as an array of integers, or of objects that are names."""
    if isinstance(values, list | tuple) and not all(isinstance(one, _INTEGERS) for one in values):
        return np.fromiter(values, object, len(values))
    array = _array(values, what)
    if array.dtype.kind == "f":
        if not (np.abs(array) < 2.0**53).all() or (np.floor(array) != array).any():
            raise InputError(f"the {what} are not whole numbers", remedy="give the numbers of vertices, or their names")
        array = array.astype(np.int64)
    if array.dtype.kind in "iu" or not len(array):
        return array if len(array) else np.zeros(0, np.int64)
    if array.dtype.kind not in "OUS":
        raise InputError(f"the {what} are of type {array.dtype}", remedy="give the numbers of vertices, or their names")
    return array.astype(object)


def _bound(ends: Sequence[NDArray[Any]], given: int | None) -> int:
    """Return how many vertices there are; raise InputError where an end lies outside them."""
    least = min((int(part.min()) for part in ends if len(part)), default=0)
    most = max((int(part.max()) for part in ends if len(part)), default=-1)
    if least < 0:
        raise InputError(f"an edge ends at the vertex {least}", remedy="number the vertices from 0")
    if given is not None and most >= given:
        what = f"an edge ends at the vertex {most}, but there are {counted(given, 'vertex')}"
        raise InputError(what, remedy="number the vertices from 0, or give more of them")
    vertices = most + 1 if given is None else given
    require_memory(VERTEX_BYTES * vertices, f"{vertices} vertices", "give names in the place of large numbers")
    return vertices


def _arcs_of_tuples(edges: list[Any], options: ReadOptions) -> ArcList:
    widths = {len(one) if isinstance(one, tuple) else 0 for one in edges}
    if widths not in ({2}, {3}):
        raise InputError("a list is not a graph", remedy="give edges as tuples, all (u, v) or all (u, v, weight)")
    tails, heads, *weights = (list(column) for column in zip(*edges, strict=True))
    return arcs_of_edges(tails, heads, weights[0] if weights else None, options=options)


def _arcs_of_arrow(table: Any, options: ReadOptions) -> ArcList:
    """Return the arcs of a table of pandas, Polars, PyArrow, DuckDB or whatever gives a stream of Arrow's."""
    try:
        import pyarrow
    except ImportError:
        remedy = "pip install 'gpugraph[tables]', or give its columns to gpugraph.from_edges"
        raise InputError("the Python package 'pyarrow' is missing: tables are read with it", remedy=remedy) from None
    from gpugraph.ext.formats.tables import arcs_of_arrow

    try:
        rows = pyarrow.table(table)
    except (TypeError, ValueError, pyarrow.ArrowException) as error:
        what = f"a {type(table).__name__} is no table: {str(error).splitlines()[0]}"
        raise InputError(what, remedy="give a table with columns of sources, targets and weights") from error
    return arcs_of_arrow(rows, type(table).__name__, options)


def _has(*names: str) -> Callable[[object], bool]:
    return lambda source: all(hasattr(source, name) for name in names)


def _is_table(source: Any) -> bool:
    arrays = ("__dlpack__", "__cuda_array_interface__", "__array_interface__")
    return any(hasattr(source, name) for name in arrays) and len(getattr(source, "shape", ())) == 2


_KINDS: tuple[tuple[Callable[[Any], bool], str, Callable[[Any, ReadOptions], ArcList]], ...] = (
    (_has("__arrow_c_stream__"), "columns weight vertices directed keep_ids", _arcs_of_arrow),
    (_has("adjacency", "is_directed"), "weight", _arcs_of_networkx),
    (_has("get_edgelist", "vcount"), "weight", _arcs_of_igraph),
    (_has("edge_list", "node_indices"), "weight", _arcs_of_rustworkx),
    (_has("iterEdgesWeights", "isDirected"), "", _arcs_of_networkit),
    (_has("edge_index"), "weight vertices directed", _arcs_of_pyg),
    (lambda source: "sparse" in str(getattr(source, "layout", "")), "", _arcs_of_foreign_matrix),
    (_has("to_coo"), "", _arcs_of_foreign_matrix),
    (_has("to_scipy_sparse"), "", _arcs_of_foreign_matrix),
    (_has("tocoo"), "", _arcs_of_matrix),
    (_is_table, "vertices directed", _arcs_of_table),
    (lambda source: isinstance(source, Mapping), "weight directed", _arcs_of_mapping),
    (lambda source: isinstance(source, list), "vertices directed", _arcs_of_tuples),
    (
        lambda source: isinstance(source, tuple) and len(source) == 3,
        "directed",
        lambda rows, options: _arcs_of_rows(*rows[:3], directed=options.directed),
    ),
)
"""How an object is recognised, the options that may be stated of it, and what reads it."""
