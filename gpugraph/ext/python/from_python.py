"""Graphs from Python objects: matrices, graphs of other libraries, edges, tables, rows as three arrays.

Every number is taken exactly or refused, and no node takes another's place.
"""

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import InputError, shown
from gpugraph.base.host import require_memory
from gpugraph.base.quantities import counted
from gpugraph.ext.python.arrays import INTEGERS, REALS, arcs_of_rows, array_of, by_position, on_host, weights_of
from gpugraph.ext.python.matrices import arcs_of_dense, arcs_of_matrix, as_scipy
from gpugraph.graph.build import VERTEX_BYTES, ArcList
from gpugraph.graph.csr import printed
from gpugraph.graph.read_options import AS_GIVEN, STATED, ReadOptions


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


def _arcs_of_table(array: Any, options: ReadOptions) -> ArcList:
    """Return the arcs of a square matrix, of rows (source, target[, weight]), or of an edge_index (2, E)."""
    array = np.asanyarray(on_host(array))
    rows, columns = array.shape
    if columns in (2, 3) and rows != columns and (rows, columns) != (2, 3):
        return arcs_of_edges(*array.T, options=options)
    if rows == 2 and columns > 3:
        return arcs_of_edges(*array, options=options)
    refuse_options(array, options, "")
    return arcs_of_dense(array)


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
            if isinstance(value, INTEGERS + REALS) and not isinstance(value, bool | np.bool_)
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
    weights = weights_of(flat[2::3], by_position) if graph.isWeighted() else None
    return _between(list(graph.iterNodes()), flat[::3], flat[1::3], weights, bool(graph.isDirected()))


def _arcs_of_mapping(graph: Mapping[Any, Any], options: ReadOptions) -> ArcList:
    """Return the arcs of a mapping of nodes to their neighbours, which are mapped to weights, or a list of them."""
    flat: list[Any] = []
    for node, row in graph.items():
        if not isinstance(row, Mapping | list | tuple | set | frozenset):
            remedy = "map each node to {neighbour: weight}, or to a list of neighbours"
            raise InputError(f"the neighbours of {shown(node)} are {shown(row)}", remedy=remedy)
        for other, payload in row.items() if isinstance(row, Mapping) else ((other, None) for other in row):
            if isinstance(payload, Mapping) and payload and all(isinstance(one, Mapping) for one in payload.values()):
                what = f"{shown(node)} - {shown(other)} has edges by their keys, as in a multigraph"
                raise InputError(what, remedy="give the graph itself, or one weight for each neighbour")
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
    return arcs_of_matrix(as_scipy(matrix))


# ------------------------------------------------------------------ edges


def arcs_of_edges(
    tails: Any, heads: Any, weights: Any = None, *, options: ReadOptions = AS_GIVEN, names: Any = None
) -> ArcList:
    """Return the arcs of edges by their ends, see ``gpugraph.from_edges``.  Raises InputError if they are none."""
    ends = [_ids(tails, "sources"), _ids(heads, "targets")]
    plain = None if weights is None else weights_of(_listed(weights), by_position)
    if len({len(part) for part in (*ends, *(() if plain is None else (plain,)))}) != 1:
        counts = f"{counted(len(ends[0]), 'source')}, {counted(len(ends[1]), 'target')}"
        what = counts if plain is None else f"{counts} and {counted(len(plain), 'weight')}"
        raise InputError(f"{what} make no edges", remedy="give one of each for an edge")
    labels = names if names is None or isinstance(names, list | tuple) else array_of(names, "names").tolist()
    if labels is not None and len(_distinct(labels)) < len(labels):
        raise InputError("names has a name twice", remedy="give each vertex a name of its own")
    if labels is not None and options.vertices not in (None, len(labels)):
        what = f"there are {counted(len(labels), 'name')} for {counted(options.vertices or 0, 'vertex')}"
        raise InputError(what, remedy="leave vertices out, or name each of them")
    if all(one.dtype.kind in "iu" for one in ends):
        vertices = _bound(ends, options.vertices if labels is None else len(labels))
        named = None if labels is None else np.fromiter(labels, object, len(labels))
        u, v = (part.astype(np.int64) for part in ends)
        return ArcList(u, v, plain, vertices, options.directed, options.directed is False, named)
    if options.vertices is not None:
        raise InputError("vertices has no meaning where the ends are names", remedy="leave vertices out")
    listed = [part.tolist() for part in ends]
    known = _distinct(chain(*listed) if labels is None else labels)
    for end in (one for one in chain(*listed) if one not in known):
        raise InputError(f"names has no {shown(end)}", remedy="list every end of an edge in names")
    return _between(list(known), listed[0], listed[1], plain, options.directed)


def _distinct(names: Iterable[Any]) -> dict[Any, None]:
    """Return names in their order, each once; raise InputError where one is missing or cannot name a vertex."""
    try:
        known = dict.fromkeys(names)
    except TypeError as error:
        raise InputError(f"an end cannot be a name: {error}", remedy="give numbers, texts or tuples") from None
    for name in known:
        if name is None or (not isinstance(name, str) and str(name) in ("nan", "<NA>", "NaT")):
            raise InputError(f"a name is missing: {name}", remedy="fill it in, or leave the edge out")
    return known


def _listed(values: Any) -> Any:
    values = on_host(values)
    return values if isinstance(values, np.ndarray | list | tuple) else np.asarray(values)


def _ids(values: Any, what: str) -> NDArray[Any]:
    """Return ends of edges as an array of integers, or of objects that are names."""
    if isinstance(values, list | tuple) and not all(isinstance(one, INTEGERS + REALS) for one in values):
        return np.fromiter(values, object, len(values))
    array = array_of(values, what)
    if array.dtype.kind == "f":
        if not (np.abs(array) < 2.0**53).all() or (np.floor(array) != array).any():
            raise InputError(f"the {what} are not whole numbers", remedy="give the numbers of vertices, or their names")
        array = array.astype(np.int64)
    if array.dtype.kind in "iu" or not len(array):
        return array if len(array) else np.zeros(0, np.int64)
    if array.dtype.kind not in "OUST":
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
    (_has("tocoo"), "", arcs_of_matrix),
    (_is_table, "vertices directed", _arcs_of_table),
    (lambda source: isinstance(source, Mapping), "weight directed", _arcs_of_mapping),
    (lambda source: isinstance(source, list), "vertices directed", _arcs_of_tuples),
    (
        lambda source: isinstance(source, tuple) and len(source) == 3,
        "directed",
        lambda rows, options: arcs_of_rows(*rows[:3], directed=options.directed),
    ),
)
"""How an object is recognised, the options that may be stated of it, and what reads it."""
