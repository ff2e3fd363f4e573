"""Borůvka's rounds over ranks: trees that are the same on all of them, edges of which each rank has a share.

    while there are two trees:
        the least key at each tree: of the own edges, then of all ranks
        the first own edge of that key claims the tree; the lowest rank that claims it wins
        hook trees along the edges that won, cut cycles of two, jump to the roots, renumber them
        drop the own edges inside a tree

(key, rank, position there) compares as (weight, edge id) does, since ranks hold ascending ranges of ids: the order is
total, the forest unique, and neither ids nor weights travel, only 12 bytes a tree and round (16 where weights have 64
bits).  Trees at least halve from round to round.

The share of a rank is a stretch of all edges in canonical order, as long as every other's: the arcs to a greater vertex
are more in the first rows than in the last, so they are dealt out anew.

The steps, on processors, are those of ``contraction_cpu.py``.

Source: Borůvka 1926; Chung & Condon 1996, Parallel implementation of Borůvka's minimum spanning tree algorithm.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpugraph.clock import Clock
from gpugraph.devices.base import Array
from gpugraph.errors import InputError
from gpugraph.graph.view import GraphView, ResidentView
from gpugraph.ranks.comm import Comm
from gpugraph.ranks.part import GraphPart, up_arcs


class Edges(Protocol):
    """The edges of one rank between the trees of all, and the steps of a round."""

    part: GraphPart
    comm: Comm
    trees: int
    best_key: Array
    claims: Array
    weighted: bool

    def start(self) -> None:
        """Make every vertex a tree, and list this rank's share of the edges."""
        ...

    def find_min(self) -> None:
        """Find the least key at every tree among the edges that are here."""
        ...

    def claim(self) -> None:
        """Claim for this rank the trees at which it has an edge of the least key of all."""
        ...

    def merge(self) -> None:
        """Hang every tree on the other end of the edge that won it, and note the edges that were won here."""
        ...

    def renumber(self) -> None:
        """Number the trees that are left; those that nobody claimed have ended."""
        ...

    def filter(self) -> None:
        """Drop the edges inside a tree."""
        ...


def contract(edges: Edges, clock: Clock) -> None:
    """Run rounds until no edge joins two trees."""
    comm = edges.comm
    with clock.phase("reduce"):
        edges.start()
    while edges.trees > 1:
        if edges.weighted:
            with clock.phase("find_min"):
                edges.find_min()
                comm.all_reduce(edges.best_key[: edges.trees], "min")
        with clock.phase("claim"):
            edges.claim()
            comm.all_reduce(edges.claims[: edges.trees], "min")
        with clock.phase("merge_trees"):
            edges.merge()
        with clock.phase("renumber"):
            edges.renumber()
        with clock.phase("filter"):
            edges.filter()
        clock.count("rounds")


def part_behind(subject: GraphPart | GraphView | ResidentView) -> GraphPart:
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


def dealt_edges(part: GraphPart) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return tails, heads and weights of this rank's share of all edges, in canonical order; a collective."""
    comm = part.comm
    here = up_arcs(part.offsets, part.targets, part.first)
    columns = part.tails(here).astype(part.targets.dtype), part.targets[here], part.weights[here]
    counts = np.array(comm.share(len(here)), np.int64)
    before = int(counts[: comm.rank].sum())
    cuts = [int(counts.sum()) * r // comm.size for r in range(comm.size + 1)]
    bounds = np.clip(np.array(cuts) - before, 0, len(here))
    tails, heads, weights = (
        np.concatenate(comm.all_to_all([column[low:high] for low, high in pairwise(bounds)])) for column in columns
    )
    return tails, heads, weights
