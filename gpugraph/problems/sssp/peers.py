"""Libraries' shortest paths: how each is called, and ``PeerDistances``, an answer that can be judged.

Distances are unique, ties or not.  A peer that computes in float64 is exact for integers below 2^53.  Where the graph
has float32 weights such a peer sums them in float64; its answer is checked against the graph whose weights are widened
to float64, bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.graph.csr import CSRGraph
from gpugraph.peers import libraries
from gpugraph.peers.graph_files import ResultFile, as_numbers
from gpugraph.peers.libraries import EXACT, holds_exactly
from gpugraph.peers.peer import PeerRefused, PeerThrew, certified
from gpugraph.problems.adapter import Adapter, Figure, PrintedFigure
from gpugraph.problems.contract import Verdict, verdict_of
from gpugraph.problems.sssp import verify
from gpugraph.problems.sssp.arcs import distance_dtype, unreached
from gpugraph.problems.sssp.distances import Distances

if TYPE_CHECKING:
    import networkit
    import rustworkx

SCIPY = "peer:scipy"
_NO_PATH = ("inf", "infinity", "-1")

_PRINTED = 1e-5
"""How near printed reals must be: six digits are what programs print by themselves."""

_WIDENED = "the peer sums float32 weights in float64, and is compared with that"


@dataclass(frozen=True, eq=False, repr=False)
class PeerDistances(Distances):
    """Distances that a peer found, on the graph they hold for: the given one, or the same with wider weights.

    Attributes:
        by: the peer's name, ``"peer:…"``.
        fault: what makes them no distances at all, in words, or None.
        printed: they were read from a text, whose digits, and whose order of additions, may not be ours.
    """

    by: str = ""
    fault: str | None = None
    printed: bool = False

    def judge(self, query: tuple[Any, ...], method: str) -> Verdict:
        """Return the verdict; printed reals that only come near prove nothing either way."""
        if self.fault is not None:
            return Verdict("failed", method, self.fault)
        plain = Distances(self.graph, self.source, self.raw, self.predecessor)
        source, verdicts = int(query[0]), []
        if method in ("certificate", "both"):
            verdicts.append(verify.check_certificate(self.graph, source, plain))
        if method in ("reference", "both"):
            verdicts.append(verify.check_against_reference(self.graph, source, plain, oracle_shared_by(self.by)))
        verdict = verdict_of(verdicts, method)
        if verdict.passed and self.graph.notes and self.graph.notes[-1] == _WIDENED:
            return replace(verdict, detail=f"{verdict.detail}; {_WIDENED}")
        if not verdict.passed and self.printed and self.graph.weight_dtype.kind == "f":
            truth = "reference" if method == "reference" else "certificate"
            right, by = right_distances(self.graph, self.source, truth)
            if np.allclose(self.raw, right.raw, rtol=_PRINTED, atol=0):
                return Verdict("skipped", method, f"the distances are those of {by} to 5 digits, which is no proof")
        return verdict


def oracle_shared_by(peer: str) -> str:
    """Return the algorithm whose oracle a peer is itself, so that another checks it; ``""`` for none."""
    return "dijkstra-fibonacci" if peer == SCIPY else ""


def distances_of(
    graph: CSRGraph, source: int, values: NDArray[Any], by: str, *, printed: bool = False
) -> PeerDistances:
    """Return the distances that the peer ``by`` gave, or ``printed`` as text, in the problem's own form.

    ``values`` (n,) are float, infinity where there is no path; or uint64 in the problem's own form.  Raises PeerRefused
    where the true distances reach beyond what the peer's float64 can hold.
    """
    own = distance_dtype(graph.weight_dtype)
    fault = _fault(graph, values)
    if values.dtype == np.float64 and own == np.float32:
        graph = replace(graph, weights=graph.weights.astype(np.float64), notes=(*graph.notes, _WIDENED))
        own = values.dtype
    distance = np.full(graph.vertices, unreached(own), own)
    if fault is None and own.kind == "u" and values.dtype.kind == "f":
        fault = _copy_integers(graph, source, values, distance, by)
    elif fault is None:
        distance[:] = values
    return PeerDistances(graph, source, distance, by=by, fault=fault, printed=printed)


def _fault(graph: CSRGraph, values: NDArray[Any]) -> str | None:
    """Return what makes ``values`` no distances at all, or None."""
    if values.shape != (graph.vertices,):
        return f"it returned distances of shape {values.shape}, not ({graph.vertices},)"
    wrong = np.isnan(values) | (values < 0) if values.dtype.kind == "f" else np.zeros(len(values), bool)
    if graph.weight_dtype.kind in "iu" and values.dtype.kind == "f":
        wrong |= np.isfinite(values) & (values != np.floor(values))
    if not wrong.any():
        return None
    v = int(np.argmax(wrong))
    return f"vertex {graph.label(v)} has the distance {values[v]}"


def _copy_integers(graph: CSRGraph, source: int, values: NDArray[Any], distance: NDArray[Any], by: str) -> str | None:
    """Write whole numbers held by floats to ``distance``; return what is wrong with one of 2^53 or more, or None."""
    small = values < EXACT
    distance[small] = values[small].astype(distance.dtype)
    large = np.isfinite(values) & ~small
    if not large.any():
        return None
    # A float64 of 2^53 or more may be exact, rounded or wrong: only the truth tells.
    truth, _ = verify.reference_distances(graph, source, oracle_shared_by(by))
    exact = holds_exactly(truth[large]) & (truth[large].astype(np.float64) == values[large])
    if exact.all():
        distance[large] = truth[large]
        return None
    furthest = int(np.max(truth, where=truth != unreached(truth.dtype), initial=0))
    if furthest >= EXACT:
        what = f"it computes in float64, exact up to 2^53, and distances here reach {furthest}"
        raise PeerRefused(what, where=by, remedy="choose smaller weights (--weights), or leave it out")
    v = int(np.argmax(large))
    return f"vertex {graph.label(v)} has the distance {values[v]}, and none is beyond {furthest}"


def _told(column: object, no_path: Set[str], own: np.dtype[Any], by: str) -> NDArray[Any]:
    """Return texts as distances of the graph's own type, or as float64 where that is how integers were printed."""
    import pyarrow as pa
    import pyarrow.compute as pc

    absent = pc.is_in(pc.utf8_lower(column), pa.array(sorted(no_path)))
    plain = pc.if_else(absent, "0", column)
    try:
        numbers = as_numbers(plain, own, by)
    except PeerThrew:
        numbers = as_numbers(plain, np.dtype(np.float64), by)
    numbers[absent.to_numpy(zero_copy_only=False)] = unreached(numbers.dtype)
    return numbers


def right_distances(graph: CSRGraph, source: int, method: str) -> tuple[Distances, str]:
    """Return the distances from a source and what they are by; ``method`` and errors as for ``Problem.truth``."""
    if method == "reference":
        distance, by = verify.reference_distances(graph, source)
        return Distances(graph, source, distance), by
    return certified("sssp", "delta-stepping", graph, source), "certified distances"


def _networkx_distances(structure: tuple[Any, np.dtype[Any]], found: dict[int, int | float]) -> NDArray[Any]:
    graph, weights = structure
    if weights.kind == "f":
        distance = np.full(len(graph), np.inf)
        distance[list(found)] = list(found.values())
        return distance
    whole = np.dtype(np.uint64)
    if max(found.values()) >= unreached(whole):
        raise PeerRefused("a distance needs more than 64 bits", remedy="choose smaller weights: --weights hash:1..255")
    exact = np.full(len(graph), unreached(whole), whole)
    exact[list(found)] = np.array(list(found.values()), whole)
    return exact


def _networkit_distances(graph: object, algorithm: networkit.distance.Dijkstra) -> NDArray[np.float64]:
    distance = np.array(algorithm.getDistances(asarray=True), np.float64)
    distance[distance == np.finfo(np.float64).max] = np.inf
    return distance


def _rustworkx_distances(graph: rustworkx.PyDiGraph, found: tuple[int, Any]) -> NDArray[np.float64]:
    source, lengths = found
    distance = np.full(graph.num_nodes(), np.inf)
    distance[np.array(list(lengths.keys()), np.int64)] = list(lengths.values())
    distance[source] = min(distance[source], 0.0)  # the answer leaves the source out
    return distance


def _cugraph_distances(prepared: libraries.CugraphGraph, raw: tuple[NDArray[Any], NDArray[Any]]) -> NDArray[Any]:
    vertices, lengths = raw
    distance = np.full(prepared.vertices, np.inf, lengths.dtype)
    distance[vertices] = lengths
    distance[distance == np.finfo(lengths.dtype).max] = np.inf
    if prepared.whole and lengths.dtype == np.float32:
        furthest = np.max(distance, where=distance < np.inf, initial=0)
        if furthest >= 2**24:
            what = f"it sums in float32, exact up to 2^24, and distances here reach {furthest:.3g}"
            raise PeerRefused(what, remedy="take float64: --set method=float64")
    return distance


PEERS = {
    "scipy": Adapter(
        "sparse.csgraph.dijkstra",
        lambda graph, threads, method: libraries.scipy_matrix(graph, upper=False),
        lambda matrix, source: import_module("scipy.sparse.csgraph").dijkstra(matrix, indices=[source])[0],
        lambda matrix, distances: distances,
    ),
    "networkx": Adapter(
        "single_source_dijkstra_path_length",
        lambda graph, threads, method: (libraries.networkx_graph(graph), graph.weight_dtype),
        lambda made, source: import_module("networkx").single_source_dijkstra_path_length(made[0], source),
        _networkx_distances,
    ),
    "igraph": Adapter(
        "Graph.distances",
        libraries.IgraphGraph,
        lambda made, source: made.graph.distances([source], weights=made.weights, mode="out", algorithm="dijkstra"),
        lambda made, rows: np.array(rows[0], np.float64),
    ),
    "networkit": Adapter(
        "distance.Dijkstra",
        lambda graph, threads, method: libraries.networkit_graph(graph, threads),
        lambda graph, source: import_module("networkit").distance.Dijkstra(graph, source, storePaths=False).run(),
        _networkit_distances,
    ),
    "rustworkx": Adapter(
        "dijkstra_shortest_path_lengths",
        lambda graph, threads, method: libraries.rustworkx_graph(graph),
        lambda graph, source: (source, import_module("rustworkx").dijkstra_shortest_path_lengths(graph, source, float)),
        _rustworkx_distances,
    ),
    "cugraph": Adapter(
        "sssp",
        libraries.CugraphGraph,
        # Predecessors are asked for because not every version does without them.
        lambda prepared, source: libraries.call_cugraph(prepared, "sssp", source, np.inf, True, False),
        _cugraph_distances,
        fetch=libraries.cugraph_to_host,
        methods=libraries.CUGRAPH_METHODS,
    ),
}


class ByPeers:
    """What ``SolvedByPeers`` asks of the problem."""

    peers: Mapping[str, Adapter] = PEERS
    printed = PrintedFigure("distances", "sum of the distances", "distance_sum")

    def answer(
        self, graph: CSRGraph, raw: NDArray[Any], query: tuple[Any, ...], by: str, first: list[Any]
    ) -> PeerDistances:
        """Return the distances (n,) of ``raw``: float, infinity where there is no path, or uint64 as ours."""
        return distances_of(graph, int(query[0]), raw, by)

    def listed(self, file: ResultFile, graph: CSRGraph, query: tuple[Any, ...], first: list[Any]) -> PeerDistances:
        """Return the distances that a file lists: a line each in the order of the vertices, or ``vertex distance``.

        Raises PeerThrew if there is no such file, or it does not hold a distance for each vertex at most.
        """
        no_path = {*_NO_PATH, file.unreached.lower()} - {""}
        columns = file.columns(no_path)
        vertices = np.arange(len(columns[0]) if columns else 0)
        if len(columns) > 1:
            vertices = file.vertices(columns[0])
        outside = (vertices < 0) | (vertices >= graph.vertices)
        remedy = "write a line 'vertex distance' for each vertex that is reached"
        if outside.any():
            first = vertices[np.argmax(outside)]
            what = f"its result file has a distance for vertex {first}, of {graph.vertices} vertices"
            raise PeerThrew(what, where=file.by, remedy=remedy)
        if len(np.unique(vertices)) < len(vertices):
            raise PeerThrew("its result file has two distances for one vertex", where=file.by, remedy=remedy)
        own = distance_dtype(graph.weight_dtype)
        found = _told(columns[min(1, len(columns) - 1)], no_path, own, file.by) if columns else np.empty(0, own)
        values = np.full(graph.vertices, unreached(found.dtype), found.dtype)
        values[vertices] = found
        return distances_of(graph, int(query[0]), values, file.by, printed=True)

    def truth(self, graph: CSRGraph, query: tuple[Any, ...], method: str) -> Figure:
        """Return the sum of the distances of the vertices reached."""
        right, by = right_distances(graph, int(query[0]), method)
        return Figure.sum_of(right.raw[right.reached], by, right.reached)
