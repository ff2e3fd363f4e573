"""Files of forests.

========  ====================================================================================================
``.npz``  ``u``, ``v``, ``weight``, ``total_weight`` (text, exact), ``components``; ``problem``, ``vertices``,
          ``graph_digest`` and ``names`` where the graph had its own ids
``.csv``  ``u,v,weight``; ``u_name,v_name`` follow where the graph had its own ids
``.mtx``  Matrix Market, coordinate, symmetric
========  ====================================================================================================
"""

import io
import re
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import GraphFormatError
from gpugraph.base.quantities import counted
from gpugraph.ext.formats.matrix_market import field_of
from gpugraph.ext.results import files, text
from gpugraph.ext.results.files import MismatchError
from gpugraph.ext.results.text import PathLike
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.mst.forest import Forest, edge_ids

_TOTAL = re.compile(rb"% minimum spanning forest of .*, total weight (\S+)\s*")
_COUNT = re.compile(rb"\d{1,18}")


@dataclass(frozen=True, eq=False)
class ForestClaim(files.Claim):
    """A forest as a file has it.

    Attributes:
        u, v: (k,) int64 endpoints, any values.
        weight: (k,) numbers, or Arrow's texts from a file of text.
        total_weight, components: of the first its text; or None.
    """

    u: NDArray[np.int64]
    v: NDArray[np.int64]
    weight: Any
    total_weight: str | None = None
    components: int | None = None


class ForestFiles:
    """Forests written and read."""

    noun = "a forest"
    endings: tuple[str, ...] = (".npz", ".csv", ".mtx")
    csv_columns: tuple[str, ...] = ("u", "v", "weight")

    def write(self, forest: Forest, ending: str, stream: IO[bytes]) -> None:
        """Write a forest in the format of an ending."""
        graph, (u, v) = forest.graph, forest.endpoints()
        weight = forest.weights
        if ending == ".npz":
            total, components = str(forest.total_weight), forest.components
            files.write_npz(stream, "mst", graph, u=u, v=v, weight=weight, total_weight=total, components=components)
        elif ending == ".csv":
            text.write_csv(self.table(forest), stream)
        else:
            # A name may hold anything that a file's may, a new line too: a comment is one line.
            name = "".join(letter if letter.isprintable() else "?" for letter in graph.name)
            total = f"% minimum spanning forest of {name}, total weight {forest.total_weight}"
            sizes = f"{graph.vertices} {graph.vertices} {len(u)}"
            stream.write(f"%%MatrixMarket matrix coordinate {field_of(weight)} symmetric\n{total}\n{sizes}\n".encode())
            text.write_csv({"row": v + 1, "column": u + 1, "weight": weight}, stream, separator=" ", header=False)

    def table(self, forest: Forest) -> dict[str, NDArray[Any]]:
        """Return the columns of a table, (tree_edges,) each."""
        (u, v), names = forest.endpoints(), forest.graph.printed_names
        own = {} if names is None else {"u_name": names[u], "v_name": names[v]}
        return {"u": u, "v": v, "weight": forest.weights, **own}

    def read(self, content: bytes, path: PathLike) -> ForestClaim | None:
        """Return the forest that a file claims, or None for a file of something else."""
        if content.startswith(b"%%MatrixMarket"):
            return _read_mtx(content, path)
        archive = files.read_npz(content, "mst", ("u", "v", "weight", "total_weight", "components"), (), path)
        if archive is not None:
            arrays, facts = archive
            u, v, weight = files.row(arrays["u"], "i"), files.row(arrays["v"], "i"), files.row(arrays["weight"], "iuf")
            if not len(u) == len(v) == len(weight):
                raise ValueError("its arrays differ in length")
            total, components = files.single(arrays["total_weight"], "U"), files.single(arrays["components"], "iu")
            return ForestClaim(u, v, weight, str(total), int(components), **facts)
        table = text.read_csv(content, self.csv_columns, ("u_name", "v_name"), path)
        if table is None:
            return None
        u, v = (text.parse_numbers(table[name], np.int64, path) for name in ("u", "v"))
        named = tuple((ids, table[name]) for ids, name in ((u, "u_name"), (v, "v_name")) if name in table)
        return ForestClaim(u, v, table["weight"], named=named)

    def claim(self, forest: Forest) -> ForestClaim:
        """Return a forest at hand as if a file had held it."""
        weight, total = forest.weights, str(forest.total_weight)
        return ForestClaim(*forest.endpoints(), weight, total, forest.components, vertices=forest.graph.vertices)

    def claimed(self, graph: CSRGraph, claim: ForestClaim, path: PathLike) -> Forest:
        """Return the forest of the graph that a file claims, edge by edge."""
        files.check_size(graph, claim)
        n = graph.vertices
        inside = (claim.u >= 0) & (claim.v >= 0) & (claim.u < n) & (claim.v < n)
        _all(inside, claim, "names a vertex that the graph does not have")
        ids = edge_ids(graph, claim.u, claim.v)
        _all(ids >= 0, claim, "is not in the graph")
        expected, weight = graph.weights[ids], claim.weight
        if not isinstance(weight, np.ndarray):
            weight = text.parse_numbers(weight, expected.dtype, path, claim.first_line)
        for k in np.flatnonzero(weight != expected)[:1]:
            raise MismatchError(f"edge {claim.u[k]}-{claim.v[k]} weighs {expected[k]} in the graph, not {weight[k]}")
        if weight.dtype != expected.dtype:  # equal numbers of another type may have been rounded to it
            raise MismatchError(f"the weights are of type {weight.dtype}, those of the graph are {expected.dtype}")
        once = np.unique(ids, return_index=True)[1]
        _all(np.isin(np.arange(len(ids)), once), claim, "is there twice")
        forest = Forest.of(graph, ids)
        if claim.total_weight not in (None, str(forest.total_weight)):
            given, own = claim.total_weight, forest.total_weight
            raise MismatchError(f"the total weight is given as {given}, the edges weigh {own}")
        if claim.components not in (None, forest.components):
            raise MismatchError(f"{claim.components} components are given, the edges leave {forest.components}")
        files.check_names(graph, claim)
        return forest

    def to_networkx(self, forest: Forest) -> object:
        """Return a forest as a ``Graph`` with the attribute ``weight`` on every edge."""
        import networkx

        names = files.nodes_of(forest.graph)
        tree = networkx.Graph(total_weight=forest.total_weight)
        tree.add_nodes_from(names.tolist())
        u, v = forest.endpoints()
        weights = forest.weights.tolist()
        tree.add_weighted_edges_from(zip(names[u].tolist(), names[v].tolist(), weights, strict=True))
        return tree


def _all(holds: NDArray[np.bool_], claim: ForestClaim, otherwise: str) -> None:
    """Raise for the first edge for which something does not hold."""
    if not holds.all():
        k = int(np.argmin(holds))
        raise MismatchError(f"edge {claim.u[k]}-{claim.v[k]} {otherwise}")


def _read_mtx(content: bytes, path: PathLike) -> ForestClaim:
    def refuse(what: str, line: int) -> GraphFormatError:
        return GraphFormatError(what, path=path, line=line, remedy=text.REMEDY)

    stream = io.BytesIO(content)
    banner = stream.readline().split()
    words = [b"%%MatrixMarket", b"matrix", b"coordinate"]
    if banner not in ([*words, kind, b"symmetric"] for kind in (b"real", b"integer", b"unsigned-integer")):
        raise refuse("is no symmetric matrix of integers or reals in coordinates", 1)
    number, total, line = 2, None, stream.readline()
    while line.startswith(b"%"):
        if said := _TOTAL.fullmatch(line):
            total = said[1].decode()
        number, line = number + 1, stream.readline()
    sizes = line.split()
    if len(sizes) != 3 or not all(_COUNT.fullmatch(word) for word in sizes):
        raise refuse("is cut off before the sizes, or they are no three numbers", number)
    rows, columns, entries = map(int, sizes)
    if rows != columns:
        raise refuse(f"a matrix of {counted(rows, 'row')} and {counted(columns, 'column')} is no graph", number)
    table = text.text_table(stream.read(), ["row", "column", "weight"], " ")
    found = len(table["row"])
    if found != entries:
        raise refuse(f"{counted(found, 'entry')} where {entries} are promised", number)
    u, v = (text.parse_numbers(table[name], np.int64, path, number + 1) - 1 for name in ("row", "column"))
    return ForestClaim(u, v, table["weight"], total, vertices=rows, first_line=number + 1)


FILES = ForestFiles()
