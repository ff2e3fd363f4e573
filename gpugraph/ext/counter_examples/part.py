"""CounterExample: the part of a graph that shows that a result is wrong, small enough to be drawn."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.quantities import counted
from gpugraph.graph.csr import CSRGraph

RIGHT, WRONG, MISSING, OTHER, PATH = "right", "wrong", "missing", "other", "path"
"""What an edge is: in the answer and rightly so, in it and wrongly, not in it though it should be, in neither; or a
path that is left out."""

MOST_VERTICES, MOST_EDGES = 16, 40
"""What can be looked at; of a graph that has more the neighbourhood of what is wrong is shown."""

_NEAR, _AROUND, _BESIDE = 8, 10, 8
"""Of a graph that is shown in part: vertices of the path, vertices in all, and edges that are in neither answer."""


@dataclass(frozen=True)
class CounterExample:
    """Some vertices of a graph and the edges between them.

    Attributes:
        vertices: of each its name, a note (what the answer says of it), and whether that is wrong.
        edges: positions of both ends in ``vertices``, a text (the weight) and what the edge is, one of ``RIGHT``, ….
        directed: edges lead from the first to the second end.
        whole: nothing of the graph is left out.
    """

    vertices: tuple[tuple[str, str, bool], ...]
    edges: tuple[tuple[int, int, str, str], ...]
    directed: bool
    whole: bool

    def to_json(self) -> dict[str, Any]:
        """Return the ``verification.counter_example`` object of a record."""
        return {
            "directed": self.directed,
            "whole": self.whole,
            "vertices": [{"name": name, "note": note, "wrong": wrong} for name, note, wrong in self.vertices],
            "edges": [{"from": u, "to": v, "text": text, "mark": mark} for u, v, text, mark in self.edges],
        }


def around(
    graph: CSRGraph,
    core: Sequence[int],
    mark: Callable[[int, int, int], str],
    note: Callable[[int], tuple[str, bool]],
    faults: Sequence[int] = (),
) -> CounterExample:
    """Return what is to be seen around ``core``, a path, from end to end, that shows what is wrong.

    A long path is shown without its middle, but with ``faults``.  ``mark`` returns what the arc (tail, head, position)
    is, ``note`` what the answer says of a vertex, and whether that is wrong.
    """
    whole = graph.vertices <= MOST_VERTICES and graph.arcs <= 2 * MOST_EDGES
    # Of a long path its ends, its faults, and as many of its other vertices, the last first, as there is room for.
    kept = list(dict.fromkeys([core[0], core[-1], *list(faults)[:4], *reversed(core)]))[:_NEAR]
    path = list(core) if whole else [v for v in core if v in kept]
    chosen = list(range(graph.vertices)) if whole else _with_neighbours(graph, path)
    place = {v: i for i, v in enumerate(chosen)}
    on_path = {frozenset(pair) for pair in pairwise(core)}
    found: dict[tuple[int, int], tuple[bool, str, str]] = {}
    for u in chosen:
        low, high = int(graph.offsets[u]), int(graph.offsets[u + 1])
        for arc in (low + np.flatnonzero(np.isin(graph.targets[low:high], chosen))).tolist():
            v = int(graph.targets[arc])
            ends = (place[u], place[v]) if graph.directed or u < v else (place[v], place[u])
            kind = mark(u, v, arc)
            if kind != OTHER or ends not in found:  # an undirected edge is what either of its arcs is
                weight = graph.weights[arc].item()
                text = f"{weight:g}" if isinstance(weight, float) else str(weight)
                found[ends] = (kind != OTHER or frozenset((u, v)) in on_path, text, kind)
    needed = [item for item in found.items() if item[1][0]]
    others = [item for item in found.items() if not item[1][0]]
    edges = needed[:MOST_EDGES] + (others if whole else others[:_BESIDE])
    position = {v: i for i, v in enumerate(core)}
    gaps = [
        (place[u], place[v], f"{counted(position[v] - position[u], 'edge')}", PATH)
        for u, v in pairwise(path)
        if position[v] - position[u] > 1
    ]
    return CounterExample(
        tuple((str(graph.label(v)), *note(v)) for v in chosen),
        (*((u, v, text, kind) for (u, v), (_, text, kind) in sorted(edges)), *gaps),
        bool(graph.directed),
        whole,
    )


def _with_neighbours(graph: CSRGraph, path: Sequence[int]) -> list[int]:
    """Return a path with neighbours of its vertices, in turns, its last vertex first."""
    chosen = dict.fromkeys(path)
    turns = [iter(neighbours(graph, v)) for v in reversed(path)]
    while turns and len(chosen) < _AROUND:
        turn = turns.pop(0)
        if (v := next((v for v in turn if v not in chosen), None)) is not None:
            chosen[v] = None
            turns.append(turn)
    return list(chosen)


def neighbours(graph: CSRGraph, v: int) -> Iterable[int]:
    """Return the vertices that an arc joins to a vertex, of a directed graph the tails that lead to it first."""
    before = np.flatnonzero(graph.targets == v) if graph.directed else np.zeros(0, np.int64)
    tails = np.searchsorted(graph.offsets, before, side="right") - 1
    after = graph.targets[graph.offsets[v] : graph.offsets[v + 1]]
    return dict.fromkeys([*tails[:MOST_EDGES].tolist(), *after[:MOST_EDGES].tolist()])


def path_between(vertices: int, tails: NDArray[Any], heads: NDArray[Any], start: int, end: int) -> list[int] | None:
    """Return a path of fewest edges {tail, head} from ``start`` to ``end``, or None where there is none."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    edges = coo_array(
        (np.ones(len(tails), np.int8), (tails.astype(np.int32), heads.astype(np.int32))), (vertices, vertices)
    ).tocsr()
    _, before = breadth_first_order(edges, start, directed=False)
    path = [end]
    while path[-1] != start:
        if before[path[-1]] < 0:
            return None
        path.append(int(before[path[-1]]))
    return path[::-1]
