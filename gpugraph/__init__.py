"""gpugraph: benchmark minimum spanning trees and shortest paths on GPUs, every result verified.

>>> import gpugraph
>>> graph = gpugraph.load("roads.gr.gz")                # or gpugraph.generate("rmat:16")
>>> forest = gpugraph.mst(graph)
>>> forest.total_weight, forest.components              # exact
>>> paths = gpugraph.sssp(graph, source=0)
>>> paths.distance[17]

Everything imports lazily: ``import gpugraph`` costs milliseconds.
"""

from __future__ import annotations

TYPE_CHECKING = (
    False  # without the module of that name, whose import a Ctrl-C may meet before anyone is there to catch it
)

__version__ = "0.1.0"

if TYPE_CHECKING:
    import os
    from typing import Any

    from gpugraph import csgraph
    from gpugraph.adapters.calls import last_call
    from gpugraph.adapters.mst_many import mst_many
    from gpugraph.adapters.on import on
    from gpugraph.graph.csr import CSRGraph
    from gpugraph.measure.record import Record
    from gpugraph.problems.contract import Verdict
    from gpugraph.problems.mst.forest import Forest
    from gpugraph.problems.scan.scanned import Scanned
    from gpugraph.problems.sssp.distances import Distances

__all__ = [
    "__version__",
    "csgraph",
    "generate",
    "last_call",
    "load",
    "mst",
    "mst_many",
    "on",
    "scan",
    "sssp",
    "to_networkx",
    "verify",
]

_ADAPTERS = {
    "last_call": "gpugraph.adapters.calls",
    "mst_many": "gpugraph.adapters.mst_many",
    "on": "gpugraph.adapters.on",
}
"""Name → where it is."""


def __getattr__(name: str) -> Any:
    """Return what the adapters offer, imported when it is first asked for."""
    from importlib import import_module

    if name == "csgraph":
        return import_module("gpugraph.csgraph")
    if name in _ADAPTERS:
        return getattr(import_module(_ADAPTERS[name]), name)
    raise AttributeError(f"module 'gpugraph' has no attribute {name!r}")


def load(
    source: Any,
    *,
    input_format: str | None = None,
    weights: str = "file",
    seed: int = 1,
    symmetrize: bool = False,
    keep_ids: bool = False,
    vertices: int | None = None,
    directed: bool | None = None,
    columns: str = "",
) -> CSRGraph:
    """Return a graph, after the changes asked for.

    The nodes of a NetworkX graph may be of any kind; ``to_networkx`` gives them back.  Edges without a ``weight`` weigh
    1.  An entry that a SciPy matrix repeats is summed, as SciPy does; of parallel edges the lightest counts.

    Args:
        source: a path, a graph spec such as ``"rmat:16"``, a SciPy sparse matrix, a NetworkX graph, or a tuple
            (offsets (n+1,), targets (arcs,), weights (arcs,) or None) of arrays or lists.  Weights are integers of up
            to 64 bits or floats, in any byte order; what would have to be rounded is refused.
        input_format: the file's format, where its content and name do not tell.
        weights: ``"file"`` as they are, ``"unit"``, ``"abs"``, ``"hash:LO..HI"`` or ``"uniform:LO..HI"``.
        seed: of uniform weights.
        symmetrize: make a directed graph undirected; the lighter arc of a pair wins.
        keep_ids: an edge list has the vertices 0 to the largest id, whether or not all occur; else those that occur.
        vertices: how many there are, those without an edge included, where a file does not say it.
        directed: True: the lines of a file that does not say it are arcs; False: edges; None: arcs, unless every one
            has its reverse.
        columns: of a table, ``"src,dst,weight"``: the names of its columns, or their numbers from 1 on.

    Raises:
        InputError: it cannot be read; the message says why and what to do.
    """
    _expect(str, weights=weights, columns=columns, **({} if input_format is None else {"input_format": input_format}))
    _expect(int, seed=seed, **({} if vertices is None else {"vertices": vertices}))
    _expect(bool, symmetrize=symmetrize, keep_ids=keep_ids, **({} if directed is None else {"directed": directed}))
    from gpugraph.graph.load import open_graph

    return open_graph(
        source,
        input_format=input_format,
        weights=weights,
        seed=int(seed),
        symmetrize=symmetrize,
        keep_ids=keep_ids,
        vertices=vertices,
        directed=directed,
        columns=columns,
    )


def generate(spec: str) -> CSRGraph:
    """Return the graph of a spec, e.g. ``"rmat:20,seed=7"``: the same bits on every machine."""
    _expect(str, spec=spec)
    from gpugraph.graph.generate import generate as generate_graph

    return generate_graph(spec)


def mst(graph: Any, *, algo: str = "auto", device: str = "auto", verify: str = "auto", **options: Any) -> Forest:
    """Return the minimum spanning forest.

    Args:
        graph: anything ``load`` takes; a directed graph is made undirected, the lighter arc wins.
        algo: a name from ``gpugraph algos``, or ``"./file.py:driver"``.
        device: ``"auto"``, ``"cuda[:i]"``, ``"cpu"`` or ``"emulated"``.
        verify: ``"auto"``, ``"reference"``, ``"certificate"``, ``"both"`` or ``"none"``.
        options: parameters of the algorithm.

    Raises:
        VerificationFailed: the result does not hold.
        InputError, DeviceUnavailable, OutOfMemory: it could not be computed.
    """
    result: Forest = _solve("mst", graph, algo, device, verify, options).result
    return result


def sssp(
    graph: Any,
    source: Any = None,
    *,
    algo: str = "auto",
    device: str = "auto",
    verify: str = "auto",
    predecessors: bool = False,
    **options: Any,
) -> Distances | list[Distances]:
    """Return the shortest distances from a source, or a list of them where ``"random:K"`` asks for K sources.

    Args:
        graph: anything ``load`` takes; arcs are followed as the format means them.
        source: a node of a NetworkX graph.  Of any other graph a 0-based vertex.  Of any: ``"max-degree"`` (the
            default), ``"random:K"``, K vertices that have arcs, ``"name:17"`` for a file's own id or the node that is
            printed so, or ``"index:17"`` for the vertex of that number, nodes counted in their sorted order.
        algo: as for ``mst``.
        device: as for ``mst``.
        verify: as for ``mst``.
        predecessors: also return the canonical predecessors.
        options: as for ``mst``.

    Raises:
        VerificationFailed, InputError, DeviceUnavailable, OutOfMemory: as for ``mst``.
    """
    _expect(bool, predecessors=predecessors)
    from gpugraph.problems.sssp.start_vertex import is_several

    more = {"source": source, "predecessors": bool(predecessors)}
    record = _solve("sssp", graph, algo, device, verify, options, **more)
    results = [result.with_predecessors() if predecessors else result for result in record.results]
    return results if is_several(record.graph, source) else results[0]


def scan(
    values: Any,
    *,
    exclusive: bool = False,
    heads: Any = None,
    algo: str = "auto",
    device: str = "auto",
    verify: str = "auto",
    **options: Any,
) -> Scanned:
    """Return the prefix sums of an array, or the minima of its segments.

    Args:
        values: (n,) array, a .npy file or a spec such as ``"array:n=2^20"``; sums of integers wrap.
        exclusive: element i gets the sum of those before it, without itself.
        heads: (n,) nonzero where a segment begins; the scan is then one of minima, with their positions.
        algo: as for ``mst``.
        device: as for ``mst``.
        verify: as for ``mst``.
        options: as for ``mst``.

    Raises:
        VerificationFailed, InputError, DeviceUnavailable, OutOfMemory: as for ``mst``.
    """
    _expect(bool, exclusive=exclusive)
    from gpugraph.problems.scan.array import with_kind

    array = with_kind(values, exclusive=exclusive, heads=heads)
    result: Scanned = _solve("scan", array, algo, device, verify, options).result
    return result


def _expect(kind: type, **given: Any) -> None:
    """Refuse the arguments that are not of a kind: str, bool or int, NumPy's among them."""
    import numpy as np

    kinds, told = {
        str: ((str,), "a text"),
        bool: ((bool, np.bool_), "True or False"),
        int: ((int, np.integer), "a whole number of up to 64 bits"),
    }[kind]
    for name, value in given.items():
        if not isinstance(value, kinds) or (kind is int and int(value).bit_length() > 64):
            from gpugraph.errors import InputError, shown

            raise InputError(f"{name} is {shown(value)}", remedy=f"give {told}")


def _solve(
    problem: str, graph: Any, algo: str, device: str, verify: str, options: dict[str, Any], **more: Any
) -> Record:
    """Return the record of one run whose result holds."""
    _expect(str, algo=algo, device=device, verify=verify)
    from gpugraph.errors import VerificationFailed
    from gpugraph.measure.cell import Cell
    from gpugraph.measure.run_cell import run_cell

    cell = Cell(problem, graph, algo, device, options=options, repeat=1, warmup=0, verify=verify, phases=False, **more)
    record = run_cell(cell)
    if record.status == "failed":
        raise VerificationFailed(record.data["verification"]["detail"], where=f"{problem} by {algo}")
    return record


def verify(
    graph: Any, result: Forest | Distances | Scanned | str | os.PathLike[str], *, method: str = "auto"
) -> Verdict:
    """Check a result against its graph, or a scan against its array.

    Args:
        graph: anything ``load`` takes; for a scan anything ``scan`` takes, scanned in the way of the result.
        result: a Forest, Distances, a Scanned, or the path of a result file written with ``-o``.
        method: ``"auto"``, ``"reference"``, ``"certificate"`` or ``"both"``.

    Returns:
        The verdict; a failed one names the first counter-example.
    """
    _expect(str, method=method)
    from gpugraph.clock import HostClock
    from gpugraph.measure.check import check_result
    from gpugraph.problems.contract import Input
    from gpugraph.problems.result_files import problem_of

    problem = problem_of(result)
    data = load(graph) if problem is None else problem.open(Input(problem.name, graph), HostClock(), lambda step: None)
    return check_result(data, result, method)


def to_networkx(result: Forest | Distances) -> Any:
    """Return a result as a NetworkX graph: a forest as a ``Graph``, distances as the tree of shortest paths.

    The nodes are those of the NetworkX graph that was solved, the very objects; else a file's own ids, else numbers.

    Raises:
        InputError: NetworkX is not installed, or ``result`` is neither a forest nor distances.
    """
    from gpugraph.errors import InputError
    from gpugraph.problems.contract import PROBLEMS, BecomesNetworkx, problem_called
    from gpugraph.problems.result_files import either, problem_of

    problem = problem_of(result)
    if not isinstance(problem, BecomesNetworkx):
        able = [one for one in map(problem_called, PROBLEMS) if isinstance(one, BecomesNetworkx)]
        given = f"give what {either([one.name for one in able])} returned"
        remedy = "convert them one by one" if isinstance(result, list | tuple) else given
        nouns = " nor ".join(one.result_noun for one in able)
        raise InputError(f"a {type(result).__name__} is neither {nouns}", remedy=remedy)
    try:
        import networkx  # noqa: F401
    except ImportError:
        raise InputError("NetworkX is not installed", remedy="pip install networkx") from None
    return problem.to_networkx(result)
