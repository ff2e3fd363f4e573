"""Libraries' shortest paths: how each is called, and ``PeerDistances``, an answer that can be judged.

Distances are unique, ties or not.  A peer that computes in float64 is exact for integers below 2^53.  Real weights most
peers sum in float64, as gpugraph does, and their answers are compared bit for bit.  A peer that sums float32 weights in
float32 returns float32 distances; these are compared with sums in float32, bit for bit, and the verdict tells so, and
by how much they differ from sums in float64.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.ext.peers import libraries
from gpugraph.ext.peers.adapter import Adapter, Figure, PrintedFigure
from gpugraph.ext.peers.graph_files import ResultFile, as_numbers
from gpugraph.ext.peers.libraries import EXACT, holds_exactly
from gpugraph.ext.peers.peer import PeerRefused, PeerThrew, certified, read_number
from gpugraph.ext.results.text import without
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.contract import Verdict, verdict_of
from gpugraph.problems.sssp import verify
from gpugraph.problems.sssp.arcs import FLOAT64, distance_dtype, sums_of, unreached
from gpugraph.problems.sssp.distances import Distances
from gpugraph.problems.sssp.rounded_sums import with_rounding

if TYPE_CHECKING:
    import networkit
    import rustworkx

SCIPY = "peer:scipy"
_NO_PATH = ("inf", "infinity", "-1")

_PRINTED = 1e-5
"""How near printed reals must be: six digits are what programs print by themselves."""


@dataclass(frozen=True, eq=False, repr=False)
class PeerDistances(Distances):
    """Distances that a peer found.

    Attributes:
        by: the peer's name, ``"peer:…"``.
        fault: what makes them no distances at all, in words, or None.
        printed: they were read from a text, whose digits, and whose order of additions, may not be ours.
    """

    by: str = ""
    fault: str | None = None
    printed: bool = False

    @np.errstate(over="ignore")  # numbers beyond float32
    def judge(self, query: tuple[Any, ...], method: str) -> Verdict:
        """Return the verdict; printed reals that only come near prove nothing either way."""
        if self.fault is not None:
            return Verdict("failed", method, self.fault)
        verdict = self._judged(self.raw, int(query[0]), method)
        if verdict.passed or not self.printed or self.graph.weight_dtype.kind != "f":
            return verdict
        rounded = self.raw.astype(np.float32) if self.graph.weight_dtype == np.float32 else self.raw
        if rounded.dtype != self.raw.dtype and (as_rounded := self._judged(rounded, int(query[0]), method)).passed:
            return as_rounded
        truth = "reference" if method == "reference" else "certificate"
        for sums in dict.fromkeys(sums_of(values.dtype) for values in (self.raw, rounded)):
            right, by = right_distances(self.graph, self.source, truth, sums)
            if np.allclose(self.raw, right.raw, rtol=_PRINTED, atol=0):
                what = f"the distances are those of {by}, summed in {sums}, to 5 digits, which is no proof"
                return Verdict("skipped", method, what)
        return verdict

    def _judged(self, raw: NDArray[Any], source: int, method: str) -> Verdict:
        """Return the verdict on these distances as numbers of their own type."""
        plain, verdicts = Distances(self.graph, self.source, raw, self.predecessor), []
        if method in ("certificate", "both"):
            verdicts.append(verify.check_certificate(self.graph, source, plain))
        if method in ("reference", "both"):
            verdicts.append(verify.check_against_reference(self.graph, source, plain, oracle_shared_by(self.by)))
        return with_rounding(self.graph, plain, verdict_of(verdicts, method))


def oracle_shared_by(peer: str) -> str:
    """Return the algorithm whose oracle a peer is itself, so that another checks it; ``""`` for none."""
    return "dijkstra-fibonacci" if peer == SCIPY else ""


def distances_of(
    graph: CSRGraph, source: int, values: NDArray[Any], by: str, *, printed: bool = False
) -> PeerDistances:
    """Return the distances that the peer ``by`` gave, or ``printed`` as text, in the problem's own form.

    ``values`` (n,) are float, infinity where there is no path; or uint64 in the problem's own form.  Of float32 weights
    float32 ones were summed in that.  Raises PeerRefused where the true distances reach beyond what the peer's float64
    can hold.
    """
    own = distance_dtype(graph.weight_dtype, sums_of(values.dtype))
    fault = _fault(graph, values)
    distance = np.full(graph.vertices, unreached(own), own)
    if fault is None and own.kind == "u" and values.dtype.kind == "f":
        fault = _copy_integers(graph, source, values, distance, by)
    elif fault is None:
        distance[:] = values
    return PeerDistances(graph, source, distance, by=by, fault=fault, printed=printed)


@np.errstate(invalid="ignore")  # signalling NaNs in an array
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
        raise PeerRefused(what, where=by, remedy="choose smaller weights (--reweight), or leave it out")
    v = int(np.argmax(large))
    return f"vertex {graph.label(v)} has the distance {values[v]}, and none is beyond {furthest}"


def _told(column: object, no_path: Set[str], own: np.dtype[Any], by: str) -> NDArray[Any]:
    """Return a column as distances of the graph's own type, or as float64 where integers were written as reals."""
    if isinstance(column, np.ndarray):
        absent = _marked(column, no_path)
        plain = np.where(absent, column.dtype.type(0), column)
    else:
        absent, plain = without(column, no_path, "0")
    try:
        numbers = as_numbers(plain, own, by)
    except PeerThrew:
        numbers = as_numbers(plain, np.dtype(np.float64), by)
    numbers[absent] = unreached(numbers.dtype)
    return numbers


def _marked(column: NDArray[Any], no_path: Set[str]) -> NDArray[np.bool_]:
    """Return where an array has one of these numbers, rounded as its own type rounds them."""
    marks = [mark for mark in map(read_number, no_path) if mark is not None]
    if column.dtype.kind == "f":
        with np.errstate(over="ignore"):
            rounded = np.array([float(mark) for mark in marks]).astype(column.dtype)
        return np.isin(column, rounded) | np.isnan(column) if np.isnan(rounded).any() else np.isin(column, rounded)
    held = np.iinfo(column.dtype)
    whole = [int(mark) for mark in marks if mark.is_finite() and held.min <= mark <= held.max and mark == int(mark)]
    return np.isin(column, np.array(whole, column.dtype))


def right_distances(graph: CSRGraph, source: int, method: str, sums: str = FLOAT64) -> tuple[Distances, str]:
    """Return the distances from a source and what they are by; ``method`` and errors as for ``Problem.truth``."""
    if method == "reference":
        distance, by = verify.reference_distances(graph, source, sums=sums)
        return Distances(graph, source, distance), by
    return certified("sssp", "delta-stepping", graph, source, sums=sums), "certified distances"


def _networkx_distances(structure: tuple[Any, np.dtype[Any]], found: dict[int, int | float]) -> NDArray[Any]:
    graph, weights = structure
    if weights.kind == "f":
        distance = np.full(len(graph), np.inf)
        distance[list(found)] = list(found.values())
        return distance
    whole = np.dtype(np.uint64)
    if max(found.values()) >= unreached(whole):
        raise PeerRefused("a distance needs more than 64 bits", remedy="choose smaller weights: --reweight hash:1..255")
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
    "logtwothirds": Adapter(
        "shortest_paths",
        lambda graph, threads, method: (libraries.csr_arrays(graph, method), method),
        lambda made, source: import_module("logtwothirds").shortest_paths(made[0], source, method=made[1])[0],
        lambda made, distances: distances,
        methods=("dijkstra", "bmssp-fast"),
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
    """How ``SolvedByPeers`` is fulfilled."""

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
        columns = file.columns(no_path, graph.vertices)
        vertices = np.arange(len(columns[0]) if columns else 0)
        if len(columns) > 1:
            vertices = file.vertices(columns[0])
        outside = (vertices < 0) | (vertices >= graph.vertices)
        remedy = "write a line 'vertex distance' for each vertex that is reached"
        if outside.any():
            first = vertices[np.argmax(outside)]
            what = f"its result file has a distance for vertex {first}, of {graph.vertices} vertices"
            raise PeerThrew(what, where=file.by, remedy=remedy)
        if (np.bincount(vertices) > 1).any():
            raise PeerThrew("its result file has two distances for one vertex", where=file.by, remedy=remedy)
        own = distance_dtype(graph.weight_dtype)
        found = _told(columns[min(1, len(columns) - 1)], no_path, own, file.by) if columns else np.empty(0, own)
        values = np.full(graph.vertices, unreached(found.dtype), found.dtype)
        values[vertices] = found
        return distances_of(graph, int(query[0]), values, file.by, printed=True)

    def truth(self, graph: CSRGraph, query: tuple[Any, ...], method: str) -> Figure:
        """Return the sum of the distances of the vertices reached; of float32 weights it may be summed in float32."""
        right, by = right_distances(graph, int(query[0]), method)
        return Figure.sum_of(right.raw[right.reached], by, right.reached, graph.weight_dtype)


BY_PEERS = ByPeers()
