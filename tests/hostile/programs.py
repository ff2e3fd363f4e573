"""Files that other programs write: each is read back and compared, edge for edge, with the object that wrote it.

A writer is a function of a drawn graph and a folder, decorated by ``@writer("program", "module it needs", …)``.  It
returns the file, what the object that wrote it lists, and how the file is to be loaded; None where the program cannot
hold such a graph.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gpugraph
from gpugraph.graph.csr import CSRGraph
from tests.hostile.trials import Part, Trial

Edge = tuple[Any, Any, Any]


@dataclass(frozen=True)
class Drawn:
    """A graph to be written: any of its vertices may have no edge, and edges may be loops or parallel.

    Attributes:
        names: of the vertices, all whole numbers or all text.
        edges: (tail, head, weight), by position in ``names``; weights are all whole, or all real.
        directed: its edges are arcs.
        parallel: two edges join the same vertices, of an undirected graph in whatever order.
    """

    names: list[Any]
    edges: list[tuple[int, int, Any]]
    directed: bool
    parallel: bool

    def named(self) -> list[Edge]:
        """Return the edges by the names of their ends."""
        return [(self.names[u], self.names[v], weight) for u, v, weight in self.edges]


@dataclass(frozen=True)
class Listed:
    """What the object that wrote a file lists.

    Attributes:
        path: of the file.
        vertices: their names.
        edges: (tail, head, weight) by name, loops and parallel edges included.
        directed: its edges are arcs.
        options: for ``gpugraph.load``.
    """

    path: Path
    vertices: list[Any]
    edges: list[Edge]
    directed: bool
    options: dict[str, Any] = field(default_factory=dict)


Writer = Callable[[Drawn, Path], Listed | None]
WRITERS: dict[str, Writer] = {}
"""By what they write: those whose program is installed."""


def writer(name: str, *modules: str) -> Callable[[Writer], Writer]:
    """Register a writer, unless a module that it needs is not installed."""

    def register(write: Writer) -> Writer:
        if all(find_spec(module) for module in modules):
            WRITERS[name] = write
        return write

    return register


WORDS = ("a", "b", "Köln", "Borůvka", "two words", 'a "quoted" one', "a,b", "x;y", "<&>", "1", "01", "+1", "#9", "it's")


def drawn_graph(draw: random.Random) -> Drawn:
    """Return a small graph with names, weights, directions, loops, parallel edges and vertices without an edge."""
    n = draw.randint(1, 8)
    names: list[Any] = {
        "numbers": lambda: list(range(n)),
        "ids": lambda: draw.sample([3, 5, 17, 100, 2**31, 2**40, 7, 12], n),
        "words": lambda: draw.sample(WORDS, n),
    }[draw.choice(("numbers", "ids", "words"))]()
    weigh = draw.choice(
        (
            lambda: draw.randint(0, 9),
            lambda: draw.choice((-5, 0, 2**31, 2**53 - 1, 7)),
            lambda: draw.choice((0.1, 0.5, 1e-9, 1e300, -2.25, 3.0)),
        )
    )
    pairs = [(draw.randrange(n), draw.randrange(n)) for _ in range(draw.randint(0, 12))]
    directed, seen, edges = draw.random() < 0.5, set(), []
    parallel = draw.random() < 0.4
    for u, v in pairs:
        key = (u, v) if directed else (min(u, v), max(u, v))
        if parallel or key not in seen:
            seen.add(key)
            edges.append((u, v, weigh()))
    return Drawn(names, edges, directed, parallel and len(seen) < len(edges))


def arcs_of(listed: Listed) -> dict[tuple[str, str], float]:
    """Return the lightest weight of each arc by the names of its ends, without loops."""
    arcs: dict[tuple[str, str], Any] = {}
    for u, v, weight in listed.edges:
        for tail, head in ((u, v),) if listed.directed else ((u, v), (v, u)):
            key = str(tail), str(head)
            if tail != head and weight <= arcs.get(key, weight):
                arcs[key] = weight
    return arcs


def arcs_read(graph: CSRGraph) -> dict[tuple[str, str], Any]:
    """Return the arcs of a graph by the names of their ends."""
    tails = [v for v in range(graph.vertices) for _ in range(graph.offsets[v], graph.offsets[v + 1])]
    ends = zip(tails, graph.targets.tolist(), graph.weights.tolist(), strict=True)
    return {(str(graph.name_of(u)), str(graph.name_of(v))): weight for u, v, weight in ends}


def compare(listed: Listed) -> None:
    """Load a file; raises AssertionError unless its graph is the one listed."""
    graph = gpugraph.load(listed.path, **listed.options)
    assert graph.directed is listed.directed or not graph.arcs, f"directed: {graph.directed}, not {listed.directed}"
    names = sorted(str(graph.name_of(v)) for v in range(graph.vertices))
    assert names == sorted(map(str, listed.vertices)), f"vertices {names}, not {listed.vertices}"
    assert arcs_read(graph) == arcs_of(listed)


def try_program(trial: Trial) -> str:
    """Have one program write a drawn graph and read it back."""
    names = sorted(WRITERS)
    name = names[trial.number % len(names)]
    listed = WRITERS[name](drawn_graph(trial.draw), trial.folder)
    if listed is None:
        return "cannot be written"
    compare(listed)
    return "same"


# ------------------------------------------------------------------ NetworkX


def networkx_graph(graph: Drawn) -> Any:
    """Return a drawn graph as one of NetworkX, a multigraph where it has parallel edges."""
    import networkx

    kind = ("Multi" if graph.parallel else "") + ("DiGraph" if graph.directed else "Graph")
    made = getattr(networkx, kind)()
    made.add_nodes_from(graph.names)
    made.add_weighted_edges_from(graph.named())
    return made


def listed_by_networkx(graph: Any, path: Path, **options: Any) -> Listed:
    """Return what a graph of NetworkX lists."""
    return Listed(path, list(graph), list(graph.edges(data="weight")), graph.is_directed(), options)


@writer("networkx.write_graphml", "networkx")
def networkx_graphml(graph: Drawn, folder: Path) -> Listed | None:
    """GraphML of NetworkX."""
    import networkx

    if graph.parallel:
        return None
    made, path = networkx_graph(graph), folder / "g.graphml"
    networkx.write_graphml(made, path)
    return listed_by_networkx(made, path)


def _programs() -> Iterator[str]:
    yield from sorted({name.partition(".")[0] for name in WRITERS})


PART = Part("programs", f"files that {', '.join(_programs())} write, read back", 30_000, try_program, 200, 60.0)
