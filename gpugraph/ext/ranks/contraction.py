"""Borůvka's rounds on CPU ranks, for forests and components: the trees are replicated, the edges distributed.

    while there are two trees:
        the least key at each tree: of the own edges, then of all ranks
        the first own edge of that key claims the tree; the lowest rank that claims it wins
        hook trees along the edges that won, cut cycles of two, jump to the roots, renumber them
        drop the own edges inside a tree

(key, rank, position there) compares as (weight, edge id) does, since ranks hold ascending ranges of ids: the order is
total, the forest unique, and neither ids nor weights travel, only 12 bytes a tree and round (16 where weights have 64
bits).  Trees at least halve from round to round.

The share of a rank is a stretch of all edges in canonical order, as long as every other's: the arcs to a greater vertex
are more in the first rows than in the last, so they are redistributed.

A rank is one process, and its compiled steps work with one thread.

Source: Borůvka 1926; Chung & Condon 1996, Parallel implementation of Borůvka's minimum spanning tree algorithm.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import Clock
from gpugraph.base.compiled import njit
from gpugraph.base.errors import InputError
from gpugraph.ext.ranks.part import GraphPart, up_arcs
from gpugraph.graph.canonical import weight_keys, weight_words
from gpugraph.graph.view import GraphView, ResidentView
from gpugraph.problems.mst.cpu_kruskal import find_root

Subject = GraphPart | GraphView | ResidentView
"""What an algorithm for ranks may be given."""


def part_behind(subject: Subject) -> GraphPart:
    """Return the part that a rank was given, or one device's whole graph as the part of its only rank.

    Raises:
        InputError: it has too many vertices for one rank.
    """
    if not isinstance(subject, GraphPart):
        host = subject.host if isinstance(subject, ResidentView) else subject
        subject = GraphPart.of(host.graph)
    if subject.vertices >= 2**31:
        what = f"a rank can hold labels of 2^31 vertices, not of {subject.vertices}"
        raise InputError(what, where=subject.name, remedy="use one processor")
    return subject


def redistribute_edges(part: GraphPart) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return tails, heads and weights of this rank's share of all edges, in canonical order; a collective."""
    comm = part.comm
    here = up_arcs(part.offsets, part.targets, part.first)
    columns = part.tails(here).astype(part.targets.dtype), part.targets[here], part.weights[here]
    counts = np.array(comm.all_gather_object(len(here)), np.int64)
    before = int(counts[: comm.rank].sum())
    cuts = [int(counts.sum()) * r // comm.size for r in range(comm.size + 1)]
    bounds = np.clip(np.array(cuts) - before, 0, len(here))
    tails, heads, weights = (
        np.concatenate(comm.all_to_all([column[low:high] for low, high in pairwise(bounds)])) for column in columns
    )
    return tails, heads, weights


NO_EDGE = np.uint32(2**32 - 1)  # a rank has fewer edges: see MOST_EDGES
NO_CLAIM = np.uint64(2**64 - 1)  # its lower half would be a tree, and these are fewer than 2^31
MOST_EDGES = 2**32 - 2


class HostEdges:
    """The edges of a rank on its processor.

    Attributes:
        tail, head: (m,) int32 the trees at both ends of an edge.
        key, at: (m,) the order key of the weight; the edge's place in the rank's share, uint32, which breaks ties.
        best_key, best_at: (trees,) the least key; the least place of an edge of that key, or NO_EDGE.
        claims: (trees,) uint64 rank << 32 | the tree at the other end, or NO_CLAIM.
        link, renamed: (trees,) int32 the tree above, in the end the root; the new number, −1 for one that has ended.
        chosen: (n,) uint32, ``chosen_count`` of them: of the forest's edges that were won here, in any order, ``at``.
        label: (n,) int32 of each vertex, after ``contract``, the smallest vertex of its tree.
    """

    def __init__(self, part: GraphPart, *, weighted: bool, labelled: bool):
        if part.edges > part.comm.size * MOST_EDGES:
            what = f"a rank can hold {MOST_EDGES} edges, not a share of {part.edges}"
            raise InputError(what, where=part.name, remedy="use more ranks")
        self.part, self.weighted, self.labelled = part, weighted, labelled
        self.comm = part.comm
        self.tails, self.heads, self.weights = redistribute_edges(part)
        words, sign, real = weight_words(self.weights)
        self.keys = weight_keys(words, sign, real) if weighted else np.zeros(len(words), np.uint32)
        n, room = part.vertices, len(self.tails)
        key = self.keys.dtype
        self.tail, self.head = np.empty(room, np.int32), np.empty(room, np.int32)
        self.key, self.at = np.empty(room, key), np.empty(room, np.uint32)
        self.lists = self.tail, self.head, self.key, self.at
        self.best_key, self.best_at = np.empty(n, key), np.empty(n, np.uint32)
        self.claims = np.empty(n, np.uint64)
        self.link, self.renamed = np.empty(n, np.int32), np.empty(n, np.int32)
        self.chosen, self.chosen_count = np.empty(max(n, 1), np.uint32), np.zeros(1, np.int64)
        self.least = np.empty(0, np.int32)
        self.label = np.empty(0, np.int32)
        self.trees = self.edges = 0

    def contract(self, clock: Clock) -> None:
        """Run rounds until no edge joins two trees."""
        with clock.phase("reduce"):
            self.start()
        while self.trees > 1:
            if self.weighted:
                with clock.phase("find_min"):
                    self.best_key[: self.trees] = np.iinfo(self.keys.dtype).max
                    _find_min(self.edges, self.lists, self.best_key)
                    self.comm.all_reduce(self.best_key[: self.trees], "min")
            with clock.phase("claim"):
                # This rank claims the trees at which it has an edge of the least key of all.
                self.best_at[: self.trees], self.claims[: self.trees] = NO_EDGE, NO_CLAIM
                mine = np.uint64(self.comm.rank << 32)
                _claim(self.edges, mine, self.lists, (self.best_key, self.best_at, self.claims))
                self.comm.all_reduce(self.claims[: self.trees], "min")
            with clock.phase("merge_trees"):
                picks, forest = (self.claims, self.best_at), (self.chosen, self.chosen_count)
                _merge(self.trees, np.uint64(self.comm.rank), picks, self.link, forest)
            with clock.phase("renumber"):
                self.renumber()
            with clock.phase("filter"):
                self.edges = _filter(self.edges, self.lists, self.renamed)
            clock.count("rounds")
        if self.labelled:
            with clock.phase("label"):
                _settle(self.least, self.label)

    def start(self) -> None:
        """Make every vertex a tree, and list the edges."""
        self.trees, self.chosen_count[0] = self.part.vertices, 0
        self.best_key[:] = 0
        self.tail[:], self.head[:], self.key[:] = self.tails, self.heads, self.keys
        self.at[:] = np.arange(len(self.at), dtype=np.uint32)
        self.edges = len(self.at)
        if self.labelled:
            self.label, self.least = np.arange(self.trees, dtype=np.int32), np.arange(self.trees, dtype=np.int32)

    def renumber(self) -> None:
        """Number the trees that are left, on all ranks alike; those that nobody claimed have ended."""
        left = _renumber(self.trees, self.claims, self.link, self.renamed)
        if self.labelled:
            least = np.full(left, 2**31 - 1, np.int32)
            _label(self.trees, self.renamed, self.least, least, self.label)
            self.least = least
        self.trees = self.comm.agreed(left, "trees that are left")


@njit
def _find_min(edges: int, lists: tuple[Any, ...], best_key: Any) -> None:
    tail, head, key, _ = lists
    for i in range(edges):
        best_key[tail[i]] = min(best_key[tail[i]], key[i])
        best_key[head[i]] = min(best_key[head[i]], key[i])


@njit
def _claim(edges: int, mine: Any, lists: tuple[Any, ...], best: tuple[Any, ...]) -> None:
    (tail, head, key, at), (best_key, best_at, claims) = lists, best
    for i in range(edges):
        a, b = tail[i], head[i]
        if key[i] == best_key[a] and at[i] < best_at[a]:
            best_at[a], claims[a] = at[i], mine | np.uint64(b)
        if key[i] == best_key[b] and at[i] < best_at[b]:
            best_at[b], claims[b] = at[i], mine | np.uint64(a)


@njit
def _merge(trees: int, rank: Any, picks: tuple[Any, ...], link: Any, forest: tuple[Any, ...]) -> None:
    (claims, best_at), (chosen, chosen_count) = picks, forest
    for c in range(trees):
        link[c] = c if claims[c] == NO_CLAIM else np.int64(claims[c] & np.uint64(0xFFFFFFFF))
    out = chosen_count[0]
    for c in range(trees):
        up = link[c]
        if up != c and c < up and link[up] == c:
            link[c] = c  # two trees that claimed the same edge: the smaller is a root
        elif up != c and (claims[c] >> np.uint64(32)) == rank:
            chosen[out] = best_at[c]
            out += 1
    chosen_count[0] = out
    for c in range(trees):
        link[c] = find_root(link, c)


@njit
def _renumber(trees: int, claims: Any, link: Any, renamed: Any) -> int:
    left = 0
    for c in range(trees):
        renamed[c] = -1
        if link[c] == c and claims[c] != NO_CLAIM:
            renamed[c] = left
            left += 1
    for c in range(trees):
        renamed[c] = renamed[link[c]]
    return left


@njit
def _label(trees: int, renamed: Any, least: Any, new: Any, label: Any) -> None:
    for c in range(trees):
        if renamed[c] >= 0:
            new[renamed[c]] = min(new[renamed[c]], least[c])
    for v in range(len(label)):
        if label[v] >= 0:
            label[v] = renamed[label[v]] if renamed[label[v]] >= 0 else -1 - least[label[v]]


@njit
def _filter(edges: int, lists: tuple[Any, ...], renamed: Any) -> int:
    tail, head, key, at = lists
    out = 0
    for i in range(edges):
        a, b = renamed[tail[i]], renamed[head[i]]
        if a != b:
            tail[out], head[out], key[out], at[out] = a, b, key[i], at[i]
            out += 1
    return out


@njit
def _settle(least: Any, label: Any) -> None:
    """Bring every vertex's label from its tree to the tree's smallest vertex."""
    for v in range(len(label)):
        label[v] = least[label[v]] if label[v] >= 0 else -1 - label[v]
