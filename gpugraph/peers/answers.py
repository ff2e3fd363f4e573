"""What a peer's answer becomes: a Forest or Distances that know when they are right.

Forest
    A peer breaks ties its own way, so any minimum spanning forest is right.  A forest T is one exactly if it is *the*
    minimum spanning forest in the order (weight, edges of T first, id): the certificate is asked that, with the
    graph's own weights.  There is no tolerance and no second opinion on what a tie is.
Distances
    Unique, ties or not.  A peer that computes in float64 is exact for integers below 2^53.  Where the graph has
    float32 weights such a peer sums them in float64; its answer is checked against the graph whose weights are widened
    to float64, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.graph.csr import CSRGraph
from gpugraph.peers.arrays import EXACT, holds_exactly
from gpugraph.peers.errors import PeerRefused
from gpugraph.peers.truth import right_distances
from gpugraph.problems.contract import Verdict
from gpugraph.problems.mst.edges import edge_ids
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.sssp.arcs import distance_dtype, unreached
from gpugraph.problems.sssp.distances import Distances

SCIPY = "peer:scipy"


@dataclass(frozen=True, eq=False)
class PeerForest(Forest):
    """A forest that a peer found.

    Attributes:
        by: the peer's name, ``"peer:…"``.
        fault: what makes it no forest of this graph, in words, or None.
        first: the forest of the first sample, shared by all samples of a state; empty before it.
    """

    by: str = ""
    fault: str | None = None
    first: list[PeerForest] = field(default_factory=list)

    def judge(self, query: tuple[Any, ...], method: str) -> Verdict:
        """Return the verdict; any minimum spanning forest passes."""
        if self.fault is not None:
            return Verdict("failed", method, self.fault)
        from gpugraph.problems.mst.reference import check_against_reference
        from gpugraph.problems.mst.verify import check_certificate

        same = None
        # SciPy is the reference itself, and no witness for its own peer.
        if method in ("reference", "both") and self.by != SCIPY:
            same = check_against_reference(self.graph, self)
        if same is None or not same.passed or method == "both":
            certified = check_certificate(self.graph, self)
            if same is None or same.status == "skipped" or not certified.passed:
                same = certified
        if same.passed:
            return same
        tied = check_certificate(self.graph, self, tied_keys(self.graph, self.edges))
        if not tied.passed:
            return Verdict("failed", method, tied.detail)
        return Verdict("passed", "certificate", f"same weight, other ties: {tied.detail}")

    def fingerprint(self) -> str:
        """Return the first sample's digest for every forest as right as that is, else the forest's own.

        A parallel peer may break ties otherwise in every run.
        """
        if not self.first:
            self.first.append(self)
        first = self.first[0]
        told = Forest.fingerprint(first)
        own = Forest.fingerprint(self)
        if own == told or (self._is_minimum and first._is_minimum):
            return told
        return own

    @cached_property
    def _is_minimum(self) -> bool:
        from gpugraph.problems.mst.verify import check_certificate

        return self.fault is None and check_certificate(self.graph, self, tied_keys(self.graph, self.edges)).passed


def tied_keys(graph: CSRGraph, edges: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return keys (arcs,) in the order (weight, edges of the forest first)."""
    from gpugraph.graph.preparations import rank_weights

    keys = rank_weights(graph.weights).astype(np.uint64)
    keys <<= np.uint64(1)
    keys |= np.uint64(1)
    keys[edges[(edges >= 0) & (edges < graph.arcs)]] &= ~np.uint64(1)
    return keys


def forest_of_pairs(
    graph: CSRGraph, u: NDArray[Any], v: NDArray[Any], by: str, first: list[PeerForest], *, both_ways: bool = False
) -> PeerForest:
    """Return the forest of the edges {u, v} that a peer named.

    Args:
        graph: the graph.
        u: (k,) vertices, one end of each edge.
        v: (k,) vertices, the other end.
        by: the peer's name.
        first: shared by the samples of a state.
        both_ways: the peer lists edges in both directions; each counts once.
    """
    u, v = np.asarray(u, np.int64), np.asarray(v, np.int64)
    inside = (np.minimum(u, v) >= 0) & (np.maximum(u, v) < graph.vertices)
    ids = np.full(len(u), -1, np.int64)
    ids[inside] = edge_ids(graph, u[inside], v[inside])
    fault = None
    if (ids < 0).any():
        at = int(np.argmax(ids < 0))
        fault = f"it returned the edge ({u[at]}, {v[at]}), which the graph does not have"
    plain = Forest.of(graph, np.unique(ids) if both_ways else ids)
    return PeerForest(graph, plain.edges, plain.total_weight, plain.components, by, fault, first)


@dataclass(frozen=True, eq=False)
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
        from gpugraph.measure.trial import check
        from gpugraph.problems.sssp.problem import PROBLEM

        plain = Distances(self.graph, self.source, self.distance, self.predecessor)
        verdict = check(PROBLEM, self.graph, query, plain, method, by=oracle_shared_by(self.by))
        if verdict.passed and self.graph.notes and self.graph.notes[-1] == _WIDENED:
            return replace(verdict, detail=f"{verdict.detail}; {_WIDENED}")
        if not verdict.passed and self.printed and self.graph.weights.dtype.kind == "f":
            right, by = right_distances(
                self.graph, self.source, "reference" if method == "reference" else "certificate"
            )
            if np.allclose(self.distance, right.distance, rtol=_PRINTED, atol=0):
                return Verdict("skipped", method, f"the distances are those of {by} to 5 digits, which is no proof")
        return verdict


_PRINTED = 1e-5
"""How near printed reals must be: six digits are what programs print by themselves."""

_WIDENED = "the peer sums float32 weights in float64, and is held to that"


def oracle_shared_by(peer: str) -> str:
    """Return the algorithm whose oracle a peer is itself, so that another checks it; ``""`` for none."""
    return "dijkstra-fibonacci" if peer == SCIPY else ""


def distances_of(
    graph: CSRGraph, source: int, values: NDArray[Any], by: str, *, printed: bool = False
) -> PeerDistances:
    """Return a peer's distances in the problem's own form.

    Args:
        graph: the graph the peer was given.
        source: the source.
        values: (n,) float, infinity where there is no path; or uint64 in the problem's own form.
        by: the peer's name.
        printed: they come from a text.

    Raises:
        PeerRefused: the true distances reach beyond what the peer's float64 can hold.
    """
    own = distance_dtype(graph.weights.dtype)
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
    if graph.weights.dtype.kind in "iu" and values.dtype.kind == "f":
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
    from gpugraph.problems.sssp.reference import reference_distances

    truth, _ = reference_distances(graph, source, oracle_shared_by(by))
    exact = holds_exactly(truth[large]) & (truth[large].astype(np.float64) == values[large])
    if exact.all():
        distance[large] = truth[large]
        return None
    furthest = int(np.max(truth, where=truth != unreached(truth.dtype), initial=0))
    if furthest >= EXACT:
        raise PeerRefused(f"it computes in float64, exact up to 2^53, and distances here reach {furthest}", where=by)
    v = int(np.argmax(large))
    return f"vertex {graph.label(v)} has the distance {values[v]}, and none is beyond {furthest}"
