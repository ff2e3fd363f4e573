"""The functions of ``gpugraph`` that load a graph, solve a problem on it, and check or convert what comes of it.

``gpugraph/__init__.pyi`` gives those that solve a problem their types: it is made by ``python -m tests.stub``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gpugraph.base.clock import HostClock
from gpugraph.base.errors import InputError, VerificationFailed, expect
from gpugraph.ext.python.call_profile import showing
from gpugraph.ext.python.terms import in_python_terms
from gpugraph.graph.build import build
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.generate import generate as generate_graph
from gpugraph.graph.open import open_graph
from gpugraph.graph.read_options import ReadOptions

if TYPE_CHECKING:
    from gpugraph.ext.components.labels import Components
    from gpugraph.ext.python.records import Measured
    from gpugraph.ext.scan.scanned import Scanned
    from gpugraph.problems.answer import GraphAnswer
    from gpugraph.problems.contract import Verdict
    from gpugraph.problems.mst.forest import Forest
    from gpugraph.problems.sssp.distances import DistanceMatrix, Distances


@in_python_terms
def from_edges(
    src: object,
    dst: object,
    weight: object = None,
    *,
    vertices: int | None = None,
    directed: bool | None = False,
    names: object = None,
) -> CSRGraph:
    """Return the graph of edges given by their ends; self loops are dropped, and the lightest parallel edge stays.

    >>> gpugraph.from_edges([0, 1, 0], [1, 2, 2], [4, 8, 7])
    <CSRGraph edges: vertices 3, edges 3, weights uint32>
    >>> roads = gpugraph.from_edges(["Ulm", "Bern"], ["Bern", "Rome"], [2.5, 7.0])
    >>> roads.vertex_names.tolist()
    ['Bern', 'Rome', 'Ulm']

    Args:
        src: (E,) where each edge begins: numbers of vertices from 0 on, or names of any kind.  An array of any library,
            a column of a table, or a list.
        dst: (E,) where each edge ends.
        weight: (E,) integers of up to 64 bits or floats, none of which is rounded; None: every edge weighs 1.
        vertices: number of vertices; None: one more than the largest number.  Not for names.
        directed: False: edges, each listed once or in both directions; True: arcs; None: arcs, unless every one has its
            reverse of equal weight.
        names: (n,) the name of each vertex; None: the ends are numbers, or all names in ascending order.

    Raises:
        InputError: the arrays are no edges; the message has the reason.
    """
    from gpugraph.ext.python.from_python import arcs_of_edges

    options = ReadOptions(vertices=_count(vertices), directed=_stated(directed))
    arcs = arcs_of_edges(src, dst, weight, options=options, names=names)
    return build(arcs, name="edges", source="python")


@in_python_terms
def load(
    source: object,
    *,
    input_format: str | None = None,
    weights: str = "file",
    seed: int = 1,
    symmetrize: bool = False,
    keep_ids: bool = False,
    vertices: int | None = None,
    directed: bool | None = None,
    columns: str | Sequence[str] = "",
    weight: str | None = None,
) -> CSRGraph:
    """Return a graph, with the requested changes.

    >>> gpugraph.load(([0, 1, 3, 4], [1, 0, 2, 1], [5, 5, 8, 8]))
    <CSRGraph tuple: vertices 3, edges 2, weights uint32>

    The nodes of a NetworkX graph may be of any kind; ``to_networkx`` gives them back.  Edges without the attribute
    ``weight`` weigh 1; where no edge has it and edges have other numbers, ``weight`` must name one.  An entry that a
    SciPy matrix repeats is summed, as SciPy does; of parallel edges the lightest counts.

    Args:
        source: one of these; weights are integers of up to 64 bits or floats, in any byte order, and none is rounded:

            - a path, a graph spec such as ``"rmat:16"``, or an open file;
            - a matrix of SciPy, python-graphblas or pydata/sparse, a sparse one of PyTorch, or one of NumPy, of which
              0, inf and masked entries are no edges;
            - a graph of NetworkX, igraph, rustworkx or NetworKit, an object with an ``edge_index``, such as ``Data`` of
              PyTorch Geometric, or a dict of dicts;
            - a table that gives a stream of Arrow's: of pandas, Polars, PyArrow, DuckDB; ids that are not 0 to n−1
              become names, as in a file;
            - edges: a list of tuples (u, v) or (u, v, weight), an array (E, 2), (E, 3), or (2, E) from four edges on; a
              square array is a matrix, see ``from_edges``;
            - a tuple (offsets (n+1,), targets (arcs,), weights (arcs,) or None) of arrays or lists.

            Rows and CSR matrices are shared, not copied, where they are laid out as in a ``CSRGraph``: 32-bit targets,
            ascending, without repeats and loops.  They must not change while the graph is used.
        input_format: the file's format, if it is not recognised.
        weights: ``"file"`` as they are, ``"unit"``, ``"abs"``, ``"hash:LO..HI"`` or ``"uniform:LO..HI"``.
        seed: of uniform weights.
        symmetrize: make a directed graph undirected; the lighter arc of a pair wins.
        keep_ids: take all vertices from 0 to the largest id in an edge list, instead of only those that occur.
        vertices: number of vertices, including those without an edge, if the source does not state it.
        directed: if the source does not state it: True: lines or edges are arcs; False: edges; None: arcs, unless
            every one has its reverse.  Of rows: False asserts that every arc has its reverse of equal weight.
        columns: of a table, ``"src,dst,weight"`` or a list: the names of its columns, or their numbers from 1 on.
        weight: the weight attribute of edges in GraphML, GML, NetworkX and igraph; None: ``"weight"``.

    Raises:
        InputError: the graph cannot be read; the message has the reason and a remedy.
    """
    listed: Any = ",".join(map(str, columns)) if isinstance(columns, list | tuple) else columns
    texts = {"input_format": input_format, "weight": weight}
    expect(str, weights=weights, columns=listed, **{name: text for name, text in texts.items() if text is not None})
    expect(int, seed=seed)
    expect(bool, symmetrize=symmetrize, keep_ids=keep_ids)
    stated = _count(vertices), _stated(directed), listed, weight
    return open_graph(source, ReadOptions(input_format, bool(keep_ids), *stated, weights, bool(symmetrize), int(seed)))


def _count(vertices: int | None) -> int | None:
    """Return a number of vertices, which may be a scalar of NumPy's, as an integer of Python's."""
    if vertices is None:
        return None
    expect(int, vertices=vertices)
    if vertices < 0:
        raise InputError(f"vertices is {vertices}", remedy="give 0 or more")
    return int(vertices)


def _stated(directed: bool | None) -> bool | None:
    """Return what is stated of the edges, which may be a scalar of NumPy's, as Python's True or False."""
    if directed is None:
        return None
    expect(bool, directed=directed)
    return bool(directed)


@in_python_terms
def generate(spec: str) -> CSRGraph:
    """Return the graph of a spec, e.g. ``"rmat:20,seed=7"``, bit for bit the same on every machine.

    >>> gpugraph.generate("path:5").weights.tolist()
    [282665, 282665, 440890, 440890, 243610, 243610, 462018, 462018]
    """
    expect(str, spec=spec)
    return generate_graph(spec)


@in_python_terms
def mst(
    graph: object, *, algo: str = "auto", device: str = "auto", verify: str = "auto", time: bool = False, **options: Any
) -> Forest | Measured:
    """Return the minimum spanning forest.

    >>> gpugraph.mst("grid:8x8", device="cpu")
    <Forest of grid:8x8: tree edges 63, total weight 22,165,424, components 1>
    >>> record = gpugraph.mst("grid:8x8", device="cpu", time=True)
    >>> record.verdict, record.kernel_s > 0, record.result.components
    ('verified', True, 1)

    Args:
        graph: anything ``load`` takes; a directed graph is made undirected, the lighter arc wins.
        algo: a name from ``gpugraph algos``, or ``"./file.py:driver"``.
        device: ``"auto"``, ``"cuda[:i]"``, ``"cpu"`` or ``"emulated"``.
        verify: ``"auto"``, ``"reference"``, ``"certificate"``, ``"both"`` or ``"none"``.
        time: measure it, as ``gpugraph mst`` does, and return the record: the times, the verdict, and the ``result``.
        options: parameters of the algorithm.

    Raises:
        VerificationFailed: the result is wrong.
        InputError, DeviceUnavailable, OutOfMemory: the forest could not be computed.
    """
    record = _solve("mst", graph, algo, device, verify, options, time)
    forest: Forest = record.result
    return record if time else forest


@in_python_terms
def sssp(
    graph: object,
    source: object = None,
    *,
    sources: object = None,
    algo: str = "auto",
    device: str = "auto",
    verify: str = "auto",
    predecessors: bool = False,
    sums: str = "float64",
    time: bool = False,
    **options: Any,
) -> Distances | list[Distances] | DistanceMatrix | Measured:
    """Return the shortest distances from a source, or a list of them for a text that may mean several.

    >>> rows = [0, 1, 2, 2], [1, 0], [7, 7]              # the edge 0–1, and vertex 2 by itself
    >>> gpugraph.sssp(rows, 0, device="cpu").distance.tolist()
    [0, 7, None]
    >>> matrix = gpugraph.sssp(rows, sources=[1, 0], device="cpu")
    >>> matrix.distance.tolist()
    [[7, 0, None], [0, 7, None]]

    Args:
        graph: anything ``load`` takes; arcs are followed as the format means them.
        source: a node of a NetworkX graph, or a text that names a vertex in a table or in ``from_edges``.  Of any other
            graph a 0-based vertex.  Of any: ``"max-degree"`` (the default), ``"name:17"`` for a file's own id or the
            node that is printed so, or ``"index:17"`` for the vertex of that number, nodes counted in their sorted
            order.  Several are ``"random:K"``, K vertices that have arcs, ``"wide:K"``, ``"all"``, or a file of them.
        sources: several sources, searched together: a list or an array of sources, ``"random:K"``, or ``"all"``
            for the distances of all pairs.  The result is a ``DistanceMatrix``, a row for each; every row is verified.
        algo: as for ``mst``.
        device: as for ``mst``.
        verify: as for ``mst``.
        predecessors: also return the canonical predecessors.
        sums: ``"float32"`` rounds sums of float32 weights to float32; the verdict then has the error.
        time: as for ``mst``; the record's ``results`` are those of all sources.
        options: as for ``mst``.

    Raises:
        VerificationFailed, InputError, DeviceUnavailable, OutOfMemory: as for ``mst``.
    """
    expect(bool, predecessors=predecessors)
    from gpugraph.ext.python.sources import is_several, one_of, source_list
    from gpugraph.problems.sssp import BATCHED

    one_of(source, sources)
    if sources is not None:
        source, algo = source_list(sources), BATCHED if algo == "auto" else algo
    expect(str, sums=sums)
    more = {"source": source, "predecessors": bool(predecessors), "sums": sums}
    record = _solve("sssp", graph, algo, device, verify, options, time, **more)
    if time:
        return record
    from gpugraph.problems.sssp.distances import DistanceMatrix

    results = [result.with_predecessors() if predecessors else result for result in record.results]
    if sources is not None:
        return DistanceMatrix.joined(results)
    rows = [row for result in results for row in (result if isinstance(result, DistanceMatrix) else [result])]
    return rows if is_several(record.graph, source) else rows[0]


@in_python_terms
def components(
    graph: object, *, algo: str = "auto", device: str = "auto", verify: str = "auto", time: bool = False, **options: Any
) -> Components | Measured:
    """Return the connected components, of a directed graph the weakly connected ones; arguments and errors as ``mst``.

    >>> gpugraph.components("rmat:8", device="cpu")
    <Components of rmat:8: components 23, vertices of the largest 234>
    """
    record = _solve("components", graph, algo, device, verify, options, time)
    found: Components = record.result
    return record if time else found


@in_python_terms
def scan(
    values: object,
    *,
    exclusive: bool = False,
    heads: object = None,
    algo: str = "auto",
    device: str = "auto",
    verify: str = "auto",
    time: bool = False,
    **options: Any,
) -> Scanned | Measured:
    """Return the prefix sums of an array, or the minima of its segments.

    >>> import numpy as np
    >>> gpugraph.scan(np.array([3, 1, 4], np.uint32), device="cpu").array.tolist()
    [3, 4, 8]

    ``values`` are an (n,) array, a .npy file or a spec such as ``"array:n=2^20"``; sums of integers wrap.
    ``exclusive``: element i gets the sum of the elements before it.  ``heads``, (n,), is nonzero where a
    segment begins; the scan is then one of minima, with their positions.  The other arguments, and the errors, are
    those of ``mst``.
    """
    expect(bool, exclusive=exclusive)
    import numpy as np

    from gpugraph.ext.scan.array import with_kind

    for name, given in (("elements", values), ("heads", heads)):
        if np.ma.is_masked(given):
            raise InputError(f"the {name} are masked in part", remedy="fill or drop what is masked")
    array = with_kind(values, exclusive=exclusive, heads=heads)
    record = _solve("scan", array, algo, device, verify, options, time)
    scanned: Scanned = record.result
    return record if time else scanned


def _solve(
    problem: str,
    graph: object,
    algo: str,
    device: str,
    verify: str,
    options: dict[str, object],
    time: bool,
    **more: Any,
) -> Measured:
    """Return the record of one run whose result holds, or of several where the times are asked for."""
    expect(str, algo=algo, device=device, verify=verify)
    expect(bool, time=time)
    from gpugraph.measure.cell import Cell
    from gpugraph.measure.run_cell import run_cell

    if "algorithm" in options:
        raise InputError("algorithm= is not a parameter", remedy=f"write algo={options['algorithm']!r}")
    runs: dict[str, Any] = {} if time else {"repeat": 1, "warmup": 0, "phases": False}
    cell = Cell(problem, graph, algo, device, options=options, verify=verify, **runs, **more)
    with showing() as tell:
        record: Any = run_cell(cell, tell)
    if record.status == "failed":
        raise VerificationFailed(record.shape.verification.detail or "", where=f"{problem} by {algo}")
    if time:
        from gpugraph.ext.python.records import Measured  # which loads all that draws

        record = Measured.of_record(record)
    measured: Measured = record
    return measured


@in_python_terms
def verify(graph: object, result: GraphAnswer | Scanned | str | os.PathLike[str], *, method: str = "auto") -> Verdict:
    """Check the result of a graph, or the scan of an array.

    >>> gpugraph.verify("rmat:8", gpugraph.mst("rmat:8", device="cpu")).passed
    True

    Args:
        graph: anything ``load`` takes; for a scan anything ``scan`` takes.
        result: what ``mst``, ``sssp``, ``components`` or ``scan`` returned, or the path of a file that ``save`` or
            ``-o`` wrote; a file of a scan cannot be verified, since it does not say what was scanned.
        method: ``"auto"``, ``"reference"``, ``"certificate"`` or ``"both"``.

    Returns:
        The verdict; a failed one names the first counter-example.
    """
    expect(str, method=method)
    from gpugraph.ext.results.files import check_result, problem_of
    from gpugraph.problems.contract import Input

    problem = problem_of(result)
    data = (
        open_graph(graph)
        if problem is None
        else problem.open(Input(problem.name, graph), HostClock(), lambda step: None)
    )
    return check_result(data, result, method)


@in_python_terms
def to_networkx(result: CSRGraph | GraphAnswer) -> Any:
    """Return a graph or a result as a NetworkX graph: distances as the tree of shortest paths, components as nodes.

    >>> print(gpugraph.to_networkx(gpugraph.mst("grid:4x4", device="cpu")))
    Graph with 16 nodes and 15 edges

    The nodes are the objects of the NetworkX graph that was solved, else a file's own ids, else numbers.

    Raises:
        InputError: NetworkX is not installed, or ``result`` is neither a graph nor an answer about one.
    """
    from gpugraph.ext.python.conversions import to_networkx

    return to_networkx(result)
