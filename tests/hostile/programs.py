"""Files that other programs write: each is read back and compared, edge for edge, with the object that wrote it.

A writer is a function of a drawn graph and a folder, decorated by ``@writer("program", "module it needs", …)``.  It
returns the file, what the object that wrote it lists, and how the file is to be loaded; None where the program cannot
hold such a graph.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
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

    made, path = networkx_graph(graph), folder / "g.graphml"
    networkx.write_graphml(made, path)
    return listed_by_networkx(made, path)


@writer("networkx.write_gml", "networkx")
def networkx_gml(graph: Drawn, folder: Path) -> Listed | None:
    """GML of NetworkX, which writes whole numbers beyond 32 bits as text."""
    import networkx

    made, path = networkx_graph(graph), folder / "g.gml"
    networkx.write_gml(made, path)
    return listed_by_networkx(made, path)


@writer("networkx.write_edgelist", "networkx")
def networkx_edgelist(graph: Drawn, folder: Path) -> Listed | None:
    """A list of NetworkX, with weights of Python or of NumPy; names without blanks, and no vertex without an edge."""
    import networkx
    import numpy as np

    made, path = networkx_graph(graph), folder / "g.edgelist"
    made.remove_nodes_from([node for node in list(made) if not made.degree(node) or re.search(r"\s|^#", str(node))])
    made.remove_nodes_from([node for node in list(made) if not made.degree(node)])
    for *_, data in made.edges(data=True) if len(made) % 2 else ():
        data["weight"] = np.float64(data["weight"]) if isinstance(data["weight"], float) else np.int64(data["weight"])
    if not made.number_of_edges():
        return None
    networkx.write_edgelist(made, path, data=True)
    return listed_by_networkx(made, path, directed=made.is_directed())


# ------------------------------------------------------------------ igraph


def igraph_graph(graph: Drawn) -> Any:
    """Return a drawn graph as one of igraph, whose vertices have the attribute ``name``."""
    import igraph

    made = igraph.Graph(len(graph.names), [(u, v) for u, v, _ in graph.edges], directed=graph.directed)
    made.vs["name"] = list(map(str, graph.names))
    made.es["weight"] = [weight for *_, weight in graph.edges]
    return made


def listed_by_igraph(graph: Any, path: Path, vertices: list[Any], *, digits: int = 15) -> Listed:
    """Return what a graph of igraph lists, by these names of its vertices; so many digits of a weight are written."""
    edges = [(vertices[edge.source], vertices[edge.target], float(f"{edge['weight']:.{digits}g}")) for edge in graph.es]
    return Listed(path, vertices, edges, graph.is_directed())


@writer("igraph.write_graphml", "igraph")
def igraph_graphml(graph: Drawn, folder: Path) -> Listed | None:
    """GraphML of igraph, which calls its vertices n0, n1, …"""
    made, path = igraph_graph(graph), folder / "g.graphml"
    made.write_graphml(str(path))
    return listed_by_igraph(made, path, [f"n{v}" for v in range(made.vcount())])


@writer("igraph.write_gml", "igraph")
def igraph_gml(graph: Drawn, folder: Path) -> Listed | None:
    """GML of igraph, as UTF-8; without names now and then."""
    made, path = igraph_graph(graph), folder / "g.gml"
    names = list(made.vs["name"])
    if made.ecount() % 2:
        del made.vs["name"]
        names = list(range(made.vcount()))
    made.write_gml(str(path))
    return listed_by_igraph(made, path, names)


@writer("igraph.write_dot", "igraph")
def igraph_dot(graph: Drawn, folder: Path) -> Listed | None:
    """Graphviz's format of igraph."""
    made, path = igraph_graph(graph), folder / "g.dot"
    del made.vs["name"]
    made.write_dot(str(path))
    return listed_by_igraph(made, path, list(range(made.vcount())), digits=17)


# ------------------------------------------------------------------ rustworkx and NetworKit


def _rustworkx_graph(graph: Drawn, node: Any = None) -> Any:
    import rustworkx

    made = rustworkx.PyDiGraph() if graph.directed else rustworkx.PyGraph()
    made.add_nodes_from([node] * len(graph.names))
    made.add_edges_from([(u, v, {"weight": weight}) for u, v, weight in graph.edges])
    return made


@writer("rustworkx.write_graphml", "rustworkx")
def rustworkx_graphml(graph: Drawn, folder: Path) -> Listed | None:
    """GraphML of rustworkx, which calls its vertices n0, n1, … and writes reals of 32 bits."""
    import rustworkx

    if any(abs(weight) > 1e38 for *_, weight in graph.edges):
        return None

    made, path = _rustworkx_graph(graph, {"name": "x"}), folder / "g.graphml"
    write = rustworkx.digraph_write_graphml if graph.directed else rustworkx.graph_write_graphml
    write(made, str(path))
    edges = [(f"n{u}", f"n{v}", data["weight"]) for u, v, data in made.weighted_edge_list()]
    return Listed(path, [f"n{v}" for v in made.node_indices()], edges, graph.directed)


@writer("rustworkx.to_dot", "rustworkx")
def rustworkx_dot(graph: Drawn, folder: Path) -> Listed | None:
    """Graphviz's format of rustworkx."""
    made, path = _rustworkx_graph(graph), folder / "g.dot"
    path.write_text(made.to_dot(edge_attr=lambda data: {"weight": str(data["weight"])}), encoding="utf-8")
    vertices = list(made.node_indices())
    edges = [(u, v, data["weight"]) for u, v, data in made.weighted_edge_list()]
    return Listed(path, vertices, edges, graph.directed)


def _networkit_graph(graph: Drawn) -> Any:
    import networkit

    made = networkit.Graph(len(graph.names), weighted=True, directed=graph.directed)
    for u, v, weight in graph.edges:
        made.addEdge(u, v, float(weight))
    return made


def _listed_by_networkit(graph: Any, path: Path, **options: Any) -> Listed:
    edges = list(graph.iterEdgesWeights())
    return Listed(path, list(graph.iterNodes()), edges, graph.isDirected(), options)


@writer("networkit.GraphMLWriter", "networkit")
def networkit_graphml(graph: Drawn, folder: Path) -> Listed | None:
    """GraphML of NetworKit."""
    import networkit

    made, path = _networkit_graph(graph), folder / "g.graphml"
    networkit.graphio.GraphMLWriter().write(made, str(path))
    return _listed_by_networkit(made, path)


@writer("networkit.GMLGraphWriter", "networkit")
def networkit_gml(graph: Drawn, folder: Path) -> Listed | None:
    """GML of NetworKit, which leaves weights out."""
    import networkit

    made, path = _networkit_graph(graph), folder / "g.gml"
    networkit.graphio.GMLGraphWriter().write(made, str(path))
    listed = _listed_by_networkit(made, path)
    return replace(listed, edges=[(u, v, 1) for u, v, _ in listed.edges])


@writer("networkit.METISGraphWriter", "networkit")
def networkit_metis(graph: Drawn, folder: Path) -> Listed | None:
    """METIS of NetworKit, of whole weights, as METIS has them."""
    import networkit

    if graph.directed or not all(float(weight).is_integer() and 0 <= weight < 2**53 for *_, weight in graph.edges):
        return None
    made, path = _networkit_graph(graph), folder / "g.graph"
    networkit.graphio.METISGraphWriter().write(made, str(path))
    listed = _listed_by_networkit(made, path)
    edges = [(u + 1, v + 1, weight) for u, v, weight in listed.edges]
    return replace(listed, vertices=[v + 1 for v in listed.vertices], edges=edges)


# ------------------------------------------------------------------ lists and tables


def listed_rows(graph: Drawn, path: Path, **options: Any) -> Listed | None:
    """Return what rows of edges list, so no vertex without an edge; None without a row."""
    rows = graph.named()
    ends = list(dict.fromkeys(name for u, v, _ in rows for name in (u, v)))
    others = [str(name) for u, v, _ in rows if str(u)[:1] != "#" for name in (u, v)]
    if not rows or (len(others) < 2 * len(rows) and all(re.fullmatch(r"[+-]?\d+", name) for name in others)):
        return None  # rows of names that begin with # are told from comments by other names alone
    return Listed(path, ends, rows, graph.directed, {"directed": graph.directed, **options})


def frame(graph: Drawn) -> dict[str, list[Any]]:
    """Return the edges of a drawn graph as columns."""
    rows = graph.named()
    return {title: [row[i] for row in rows] for i, title in enumerate(("source", "target", "weight"))}


@writer("pandas.to_csv", "pandas")
def pandas_csv(graph: Drawn, folder: Path) -> Listed | None:
    """CSV of pandas, with its index or without."""
    import pandas

    path = folder / "g.csv"
    pandas.DataFrame(frame(graph)).to_csv(path, index=len(graph.edges) % 2 == 0, sep=";" if graph.directed else ",")
    return listed_rows(graph, path)


@writer("pandas.to_parquet", "pandas", "pyarrow")
def pandas_parquet(graph: Drawn, folder: Path) -> Listed | None:
    """Parquet of pandas, with an index of its own now and then."""
    import pandas

    path, table = folder / "g.parquet", pandas.DataFrame(frame(graph))
    table = table.iloc[::-1] if len(graph.edges) % 2 else table
    table.to_parquet(path)
    return listed_rows(graph, path)


@writer("polars.write_csv", "polars")
def polars_csv(graph: Drawn, folder: Path) -> Listed | None:
    """CSV of polars, of which every text is in quotes now and then."""
    import polars

    path = folder / "g.csv"
    polars.DataFrame(frame(graph)).write_csv(path, quote_style="always" if len(graph.edges) % 2 else "necessary")
    return listed_rows(graph, path)


@writer("polars.write_parquet", "polars", "pyarrow")
def polars_parquet(graph: Drawn, folder: Path) -> Listed | None:
    """Parquet of polars."""
    import polars

    path = folder / "g.parquet"
    polars.DataFrame(frame(graph)).write_parquet(path)
    return listed_rows(graph, path)


@writer("pyarrow.write_csv", "pyarrow")
def pyarrow_csv(graph: Drawn, folder: Path) -> Listed | None:
    """CSV of Arrow, whose header is in quotes."""
    import pyarrow
    from pyarrow import csv

    path = folder / "g.csv"
    csv.write_csv(pyarrow.table(frame(graph)), path)
    return listed_rows(graph, path)


def quoted(cell: Any) -> str:
    """Return a cell as R writes it."""
    return str(cell) if not isinstance(cell, str) else '"' + cell.replace('"', '""') + '"'


@writer("R.write_csv")
def r_csv(graph: Drawn, folder: Path) -> Listed | None:
    """CSV by R's conventions: text in quotes, names of rows or none."""
    path, named = folder / "g.csv", len(graph.edges) % 2 == 0
    rows = [(*(("",) if named else ()), "from", "to", "weight")]
    rows += [(*((str(i),) if named else ()), *edge) for i, edge in enumerate(graph.named(), 1)]
    path.write_text("".join(",".join(map(quoted, row)) + "\n" for row in rows), encoding="utf-8")
    return listed_rows(graph, path)


@writer("R.write_table")
def r_table(graph: Drawn, folder: Path) -> Listed | None:
    """A table by R's conventions: the names of rows have no title."""
    path = folder / "g.txt"
    rows = [("from", "to", "weight"), *((str(i), *edge) for i, edge in enumerate(graph.named(), 1))]
    if any('"' in str(name) for name in graph.names):
        return None  # R escapes quotes by a backslash there, which no CSV has
    path.write_text("".join(" ".join(map(quoted, row)) + "\n" for row in rows), encoding="utf-8")
    return listed_rows(graph, path)


@writer("Gephi.export_edges")
def gephi_csv(graph: Drawn, folder: Path) -> Listed | None:
    """A table of edges by Gephi's conventions, which says itself whether they are directed."""
    import csv

    path, kind = folder / "g.csv", "Directed" if graph.directed else "Undirected"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["Source", "Target", "Type", "Id", "Label", "timeset", "Weight"])
        table.writerows([u, v, kind, i, "", "", float(w)] for i, (u, v, w) in enumerate(graph.named()))
    listed = listed_rows(graph, path)
    return replace(listed, options={}) if listed else None


@writer("Neo4j.export")
def neo4j_csv(graph: Drawn, folder: Path) -> Listed | None:
    """Relationships by the conventions of Neo4j's import."""
    import csv

    path = folder / "g.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow([":START_ID(Place)", ":END_ID(Place)", "weight:double", ":TYPE"])
        table.writerows([u, v, w, "ROAD"] for u, v, w in graph.named())
    return listed_rows(graph, path)


@writer("KONECT.out")
def konect(graph: Drawn, folder: Path) -> Listed | None:
    """A list of KONECT, which says itself whether it is directed."""
    path, kind = folder / "out.g", "asym" if graph.directed else "sym"
    lines = [f"{u + 1} {v + 1} {w}\n" for u, v, w in graph.edges]
    path.write_text(f"% {kind} multiweighted\n% {len(lines)} {len(graph.names)} {len(graph.names)}\n" + "".join(lines))
    edges = [(u + 1, v + 1, w) for u, v, w in graph.edges]
    return Listed(path, list(range(1, len(graph.names) + 1)), edges, graph.directed) if lines else None


@writer("scipy.mmwrite", "scipy")
def scipy_mtx(graph: Drawn, folder: Path) -> Listed | None:
    """Matrix Market of SciPy."""
    import scipy.io

    path = folder / "g.mtx"
    made = _sparse(graph)
    if made is None:
        return None
    scipy.io.mmwrite(path, made)
    return replace(_listed_matrix(made, graph, path), vertices=[v + 1 for v in range(len(graph.names))])


@writer("scipy.save_npz", "scipy")
def scipy_npz(graph: Drawn, folder: Path) -> Listed | None:
    """A matrix of SciPy's own, as CSR, CSC or COO."""
    import scipy.sparse

    path = folder / "g.npz"
    made = _sparse(graph)
    if made is None:
        return None
    scipy.sparse.save_npz(path, made.asformat(("csr", "csc", "coo")[len(graph.edges) % 3]))
    listed = _listed_matrix(made, graph, path)
    return replace(listed, edges=[(u - 1, v - 1, w) for u, v, w in listed.edges])


def _sparse(graph: Drawn) -> Any:
    """Return a directed graph without parallel edges as a matrix, undirected edges both ways."""
    import numpy as np
    import scipy.sparse

    if graph.parallel or not graph.edges or any(weight == 0 for *_, weight in graph.edges):
        return None
    both = [] if graph.directed else [(v, u, w) for u, v, w in graph.edges if u != v]
    rows, columns, weights = zip(*graph.edges, *both, strict=True)
    shape = (len(graph.names), len(graph.names))
    return scipy.sparse.coo_array((np.array(weights), (np.array(rows), np.array(columns))), shape=shape)


def _listed_matrix(made: Any, graph: Drawn, path: Path) -> Listed:
    entries = zip((made.row + 1).tolist(), (made.col + 1).tolist(), made.data.tolist(), strict=True)
    vertices = list(range(len(graph.names)))
    return Listed(path, vertices, list(entries), bool((made != made.T).nnz))


@writer("numpy.savetxt", "numpy")
def numpy_text(graph: Drawn, folder: Path) -> Listed | None:
    """Three columns of NumPy's savetxt, ids as whole numbers."""
    import numpy as np

    path = folder / "g.txt"
    if not graph.edges or any(abs(w) > 2**53 for *_, w in graph.edges):
        return None
    np.savetxt(path, np.array(graph.edges, float), fmt=["%d", "%d", "%.17g"], header="u v weight")
    rows = Drawn(list(range(len(graph.names))), graph.edges, graph.directed, graph.parallel)
    return listed_rows(rows, path, input_format="el")


@writer("igraph.write_ncol", "igraph")
def igraph_ncol(graph: Drawn, folder: Path) -> Listed | None:
    """NCOL of igraph; names with blanks cannot be written."""
    made, path = igraph_graph(graph), folder / "g.ncol"
    if not graph.edges or not all(re.fullmatch(r"[A-Za-z0-9+]+", str(name)) for name in graph.names):
        return None
    made.write_ncol(str(path), names="name", weights="weight")
    listed = listed_rows(graph, path, input_format="table")
    named = listed_by_igraph(made, path, graph.names)
    return replace(listed, edges=named.edges) if listed else None


@writer("rustworkx.write_edge_list", "rustworkx")
def rustworkx_list(graph: Drawn, folder: Path) -> Listed | None:
    """A list of rustworkx."""
    made, path = _rustworkx_graph(graph), folder / "g.txt"
    if not graph.edges:
        return None
    made.write_edge_list(str(path), deliminator=",", weight_fn=lambda data: str(data["weight"]))
    edges = [(u, v, data["weight"]) for u, v, data in made.weighted_edge_list()]
    ends = list(dict.fromkeys(name for u, v, _ in edges for name in (u, v)))
    return Listed(path, ends, edges, graph.directed, {"directed": graph.directed, "input_format": "el"})


@writer("networkit.EdgeListWriter", "networkit")
def networkit_list(graph: Drawn, folder: Path) -> Listed | None:
    """A list of NetworKit, from 0 on."""
    import networkit

    made, path = _networkit_graph(graph), folder / "g.txt"
    if not graph.edges:
        return None
    networkit.graphio.EdgeListWriter(" ", 0).write(made, str(path))
    return _networkit_rows(_listed_by_networkit(made, path, directed=graph.directed, input_format="el"))


def _networkit_rows(listed: Listed) -> Listed:
    ends = list(dict.fromkeys(name for u, v, _ in listed.edges for name in (u, v)))
    edges = [(u, v, float(f"{weight:.6g}")) for u, v, weight in listed.edges]  # the digits that it writes
    return replace(listed, vertices=ends, edges=edges)


def _programs() -> Iterator[str]:
    yield from sorted({name.partition(".")[0] for name in WRITERS})


PART = Part("programs", f"files that {', '.join(_programs())} write, read back", 30_000, try_program, 200, 60.0)
