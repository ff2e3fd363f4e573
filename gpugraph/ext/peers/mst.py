"""Libraries' minimum spanning forests: how each is called, and ``PeerForest``, an answer that can be judged.

A peer breaks ties its own way, so any minimum spanning forest is right.  A forest T is one exactly if it is *the*
minimum spanning forest in the order (weight, edges of T first, id): the certificate is asked that, with the graph's own
weights.  There is no tolerance and no second opinion on what a tie is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.ext.changes.preparations import rank_weights
from gpugraph.ext.peers import libraries
from gpugraph.ext.peers.adapter import Adapter, Figure, PrintedFigure
from gpugraph.ext.peers.graph_files import ResultFile
from gpugraph.ext.peers.libraries import refuse_infinite
from gpugraph.ext.peers.peer import PeerRefused, PeerThrew, certified
from gpugraph.ext.plugins.returned.mst import ids_of_pairs
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.contract import Verdict
from gpugraph.problems.mst import verify
from gpugraph.problems.mst.forest import Forest

SCIPY = "peer:scipy"
Pairs = tuple[NDArray[Any], NDArray[Any]]
"""(k,) and (k,) vertices: the ends of each edge."""


@dataclass(frozen=True, eq=False, repr=False)
class PeerForest(Forest):
    """A forest that a peer found.

    Attributes:
        by: the peer's name, ``"peer:…"``.
        fault: what makes it no forest of this graph, in words, or None.
        first: the forest of the first sample, shared by all samples of a state; empty before it.
    """

    by: str = ""
    fault: str | None = None
    first: list[Any] = field(default_factory=list)

    def judge(self, query: tuple[Any, ...], method: str) -> Verdict:
        """Return the verdict; any minimum spanning forest passes."""
        if self.fault is not None:
            return Verdict("failed", method, self.fault)
        same = None
        # SciPy is the reference itself, and no witness for its own peer.
        if method in ("reference", "both") and self.by != SCIPY:
            same = verify.check_against_reference(self.graph, self)
        if same is None or not same.passed or method == "both":
            certified = verify.check_certificate(self.graph, self)
            if same is None or same.status == "skipped" or not certified.passed:
                same = certified
        if same.passed:
            return same
        tied = self._tied
        if not tied.passed:
            return Verdict("failed", method, tied.detail)
        return Verdict("passed", "certificate", f"same weight, other ties: {tied.detail}")

    def fingerprint(self) -> str:
        """Return the first sample's digest for every forest as right as that is: a peer may break ties otherwise."""
        if not self.first:
            self.first.append(self)
        first, own = self.first[0], super().fingerprint()
        first_digest = Forest.fingerprint(first)
        return first_digest if own == first_digest or (self._is_minimum and first._is_minimum) else own

    @property
    def _is_minimum(self) -> bool:
        return self.fault is None and self._tied.passed

    @cached_property
    def _tied(self) -> Verdict:
        """The certificate in the order (weight, edges of the forest first)."""
        graph, edges = self.graph, self.edges
        keys = rank_weights(graph.weights).astype(np.uint64)
        keys <<= np.uint64(1)
        keys |= np.uint64(1)
        keys[edges[(edges >= 0) & (edges < graph.arcs)]] &= ~np.uint64(1)
        return verify.check_certificate(graph, self, keys)


def forest_of_pairs(graph: CSRGraph, u: NDArray[Any], v: NDArray[Any], by: str, first: list[Any]) -> PeerForest:
    """Return the forest of the edges {u, v}, (k,) vertices each, that the peer ``by`` named; runs share ``first``."""
    u, v = np.asarray(u, np.int64), np.asarray(v, np.int64)
    ids = ids_of_pairs(graph, u, v)
    fault = None
    for at in np.flatnonzero(ids < 0)[:1]:
        fault = f"it returned the edge ({u[at]}, {v[at]}), which the graph does not have"
    plain = Forest.of(graph, ids)
    return PeerForest(graph, plain.edges, plain.total_weight, plain.components, by, fault, first)


def _scipy_prepared(graph: CSRGraph, threads: int, method: str) -> object:
    if graph.arcs and (graph.weights == 0).any():
        remedy = "choose other weights (--reweight), or leave it out"
        raise PeerRefused("SciPy's answer cannot hold edges of weight 0", remedy=remedy)
    return libraries.scipy_matrix(graph, upper=True)


def _networkx_prepared(graph: CSRGraph, threads: int, method: str) -> tuple[Any, str]:
    if method == "boruvka":
        refuse_infinite(graph, "NetworkX's Borůvka")
    return libraries.networkx_graph(graph), method


def _as_pairs(edges: object) -> Pairs:
    pairs = np.array(edges, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _igraph(prepared: libraries.IgraphGraph) -> object:
    # Releases before 1.0 know no methods.
    chosen = {} if prepared.method == "auto" else {"method": prepared.method}
    return prepared.graph.spanning_tree(weights=prepared.weights, return_tree=False, **chosen)


_NETWORKIT = {"kruskal": "KruskalMSF", "prim": "PrimMSF"}


def _networkit_prepared(graph: CSRGraph, threads: int, method: str) -> tuple[Any, str]:
    import networkit

    if not hasattr(networkit.graph, _NETWORKIT[method]):
        raise PeerRefused(f"this version of NetworKit has no {_NETWORKIT[method]}", remedy="pip install -U networkit")
    if method == "prim":
        refuse_infinite(graph, "NetworKit's Prim")
    return libraries.networkit_graph(graph, threads), method


def _cugraph_prepared(graph: CSRGraph, threads: int, method: str) -> libraries.CugraphGraph:
    import pylibcugraph

    if not hasattr(pylibcugraph, "minimum_spanning_tree"):
        raise PeerRefused("this version of pylibcugraph has no minimum_spanning_tree", remedy="install a newer one")
    # Its solver sees no degrees, and takes longer where vertices are numbered anew by theirs.
    return libraries.CugraphGraph(graph, threads, method, renumber=False)


def each_once(u: NDArray[Any], v: NDArray[Any]) -> Pairs:
    """Return edges that are listed in both directions once; vertices are of 32 bits."""
    ends = np.stack([np.minimum(u, v), np.maximum(u, v)]).astype(np.int64)
    words = np.sort(ends[0] << 32 | ends[1] & 0xFFFFFFFF)
    words = words[np.append(True, words[1:] != words[:-1])[: len(words)]]
    return words >> 32, words & 0xFFFFFFFF


PEERS = {
    "scipy": Adapter(
        "sparse.csgraph.minimum_spanning_tree",
        _scipy_prepared,
        lambda matrix: import_module("scipy.sparse.csgraph").minimum_spanning_tree(matrix),
        lambda matrix, forest: forest.tocoo().coords,
    ),
    "networkx": Adapter(
        "minimum_spanning_edges",
        _networkx_prepared,
        lambda made: list(import_module("networkx").minimum_spanning_edges(made[0], made[1], "weight", data=False)),
        lambda made, edges: _as_pairs(edges),
        methods=("kruskal", "prim", "boruvka"),
    ),
    "igraph": Adapter(
        "Graph.spanning_tree",
        libraries.IgraphGraph,
        _igraph,
        lambda prepared, edges: tuple(ends[np.array(edges, np.int64)] for ends in (prepared.tails, prepared.heads)),
        methods=("auto", "prim", "kruskal"),
    ),
    "networkit": Adapter(
        "graph.KruskalMSF or PrimMSF",
        _networkit_prepared,
        lambda made: getattr(import_module("networkit").graph, _NETWORKIT[made[1]])(made[0]).run(),
        lambda made, algorithm: _as_pairs(list(algorithm.getForest().iterEdges())),
        methods=tuple(_NETWORKIT),
    ),
    "rustworkx": Adapter(
        "minimum_spanning_edges",
        lambda graph, threads, method: libraries.rustworkx_graph(graph),
        lambda graph: import_module("rustworkx").minimum_spanning_edges(graph, weight_fn=float),
        lambda graph, edges: _as_pairs([(u, v) for u, v, _ in edges]),
    ),
    "cugraph": Adapter(
        "minimum_spanning_tree",
        _cugraph_prepared,
        lambda prepared: libraries.call_cugraph(prepared, "minimum_spanning_tree", False),
        lambda prepared, raw: each_once(*raw),
        fetch=libraries.cugraph_to_host,
        methods=libraries.CUGRAPH_METHODS,
    ),
}


class ByPeers:
    """How ``SolvedByPeers`` is fulfilled."""

    peers: Mapping[str, Adapter] = PEERS
    printed = PrintedFigure("weight", "total weight", "total_weight")

    def answer(self, graph: CSRGraph, raw: Pairs, query: tuple[Any, ...], by: str, first: list[Any]) -> PeerForest:
        """Return the forest of the edges whose ends are ``raw``."""
        return forest_of_pairs(graph, *raw, by=by, first=first)

    def listed(self, file: ResultFile, graph: CSRGraph, query: tuple[Any, ...], first: list[Any]) -> PeerForest:
        """Return the forest that a file lists, ``u v`` a line."""
        columns = file.columns()
        if len(columns) < 2 and len(columns[0] if columns else ()):
            what = "its result file has one number a line; an edge is 'u v'"
            raise PeerThrew(what, where=file.by, remedy="let it write the two ends of an edge on each line")
        u, v = [file.vertices(column) for column in columns[:2]] or [np.empty(0, np.int64)] * 2
        return forest_of_pairs(graph, u, v, file.by, first)

    def truth(self, graph: CSRGraph, query: tuple[Any, ...], method: str) -> Figure:
        """Return the weight of the minimum spanning forest."""
        if method == "reference":
            return Figure.sum_of(graph.weights[verify.reference_forest(graph)], "SciPy's forest")
        return Figure.sum_of(graph.weights[certified("mst", "boruvka", graph).edges], "a certified forest")


BY_PEERS = ByPeers()
