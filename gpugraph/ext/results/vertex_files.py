"""Result files of problems whose result is a value, or a few, for each vertex.

A subclass lists its columns.  Writing and reading them, making a result of what a file claims, and the graph of
NetworkX follow from the list.

========  ====================================================================================================
``.npz``  the columns and the single numbers by name; ``problem``, ``vertices``, ``graph_digest``, and ``names`` where
          the graph had its own ids
``.csv``  ``vertex`` and the columns; ``name`` where the graph had its own ids
========  ====================================================================================================
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.quantities import counted
from gpugraph.ext.results import files, text
from gpugraph.ext.results.files import MismatchError
from gpugraph.ext.results.text import PathLike
from gpugraph.graph.csr import CSRGraph


@dataclass(frozen=True)
class FileColumn:
    """A value of each vertex.

    Attributes:
        name: of the column in files, and of the nodes' attribute in NetworkX.
        attribute: of the result, (n,), which holds the values.
        dtype: ``"i"`` for int64, ``"f"`` for float64, ``"iuf"`` for what ``VertexFiles.dtype_of`` returns.
        optional: the attribute may be None, and the column is then left out.
        vertices: the values are vertices.
    """

    name: str
    attribute: str
    dtype: str = "i"
    optional: bool = False
    vertices: bool = False


@dataclass(frozen=True, eq=False)
class VertexClaim(files.Claim):
    """The values of vertices as a file has them.

    Attributes:
        vertex: (k,) int64, any values, or None where they are 0, 1, 2, ….
        columns: by name (k,) numbers, or Arrow's texts from a file of text.
        singles: the single numbers by name; empty where the file does not hold them.
    """

    vertex: NDArray[np.int64] | None
    columns: Mapping[str, Any]
    singles: Mapping[str, Any] = field(default_factory=dict)


class VertexFiles:
    """Results written and read.

    Attributes:
        name: of the problem.
        noun: what a message calls a result, e.g. ``"distances"``.
        result: the class of results.
        endings: of the files, compression aside.
        file_columns: the values of each vertex, attributes of the result.
        file_singles: attributes of the result that are one vertex each, such as ``source``; only .npz files hold them.
    """

    name: str
    noun: str
    result: type[Any]
    endings: tuple[str, ...] = (".npz", ".csv")
    file_columns: tuple[FileColumn, ...]
    file_singles: tuple[str, ...] = ()

    @property
    def csv_columns(self) -> tuple[str, ...]:
        """The columns that a .csv file always has."""
        return ("vertex", *(column.name for column in self.file_columns if not column.optional))

    @property
    def _optional(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.file_columns if column.optional)

    # ------------------------------------------------------------------ what a subclass may say besides

    def dtype_of(self, graph: CSRGraph, column: FileColumn, found: np.dtype[Any] | None = None) -> np.dtype[Any]:
        """Return the dtype of a column of results on a graph; ``found`` is what an archive has, if that may vary."""
        return np.dtype(np.int64 if column.dtype == "i" else np.float64)

    def in_table(self, result: Any, column: FileColumn) -> NDArray[Any]:
        """Return the values of a column as a table shows them; what is masked is shown as ``inf``."""
        values: NDArray[Any] = getattr(result, column.attribute)
        return values

    def parsed(self, graph: CSRGraph, column: FileColumn, texts: Any, path: PathLike) -> NDArray[Any]:
        """Return a column of a table, Arrow's texts, as numbers."""
        return text.parse_numbers(texts, self.dtype_of(graph, column), path)

    def find_singles(self, graph: CSRGraph, columns: Mapping[str, NDArray[Any]], path: PathLike) -> dict[str, Any]:
        """Return single numbers that a file lacks; raise MismatchError or InputError if its columns do not tell."""
        return {}

    # ------------------------------------------------------------------ what the list of columns gives

    def write(self, result: Any, ending: str, stream: IO[bytes]) -> None:
        """Write a result in the format of an ending."""
        graph, claim = result.graph, self.claim(result)
        if ending == ".npz":
            files.write_npz(stream, self.name, graph, **claim.singles, **claim.columns)
            return
        text.write_csv(self.table(result), stream)

    def table(self, result: Any) -> dict[str, NDArray[Any]]:
        """Return the columns of a table, (n,) each."""
        graph, present = result.graph, self.claim(result).columns
        own = {} if graph.printed_names is None else {"name": graph.printed_names}
        columns = {one.name: self.in_table(result, one) for one in self.file_columns if one.name in present}
        return {"vertex": np.arange(graph.vertices), **columns, **own}

    def read(self, content: bytes, path: PathLike) -> VertexClaim | None:
        """Return what a file claims, or None for a file of something else."""
        due = self.csv_columns[1:]
        archive = files.read_npz(content, self.name, (*self.file_singles, *due), self._optional, path)
        if archive is not None:
            return self.claim_of(*archive)
        table = text.read_csv(content, self.csv_columns, (*self._optional, "name"), path)
        if table is None:
            return None
        vertex = text.parse_numbers(table["vertex"], np.int64, path)
        columns = {column.name: table[column.name] for column in self.file_columns if column.name in table}
        return VertexClaim(vertex, columns, named=((vertex, table["name"]),) if "name" in table else ())

    def claim_of(self, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> VertexClaim:
        """Return the claim of an archive's arrays; ``facts`` is what it says of the graph."""
        present = [column for column in self.file_columns if column.name in arrays]
        columns = {column.name: files.row(arrays[column.name], column.dtype) for column in present}
        singles = {name: int(files.single(arrays[name], "iu")) for name in self.file_singles}
        return VertexClaim(None, columns, singles, **facts)

    def claim(self, result: Any) -> VertexClaim:
        """Return a result at hand as if a file had held it."""
        columns = {column.name: getattr(result, column.attribute) for column in self.file_columns}
        present = {name: values for name, values in columns.items() if values is not None}
        singles = {name: getattr(result, name) for name in self.file_singles}
        return VertexClaim(None, present, singles, vertices=result.graph.vertices)

    def claimed(self, graph: CSRGraph, claim: VertexClaim, path: PathLike) -> Any:
        """Return the result on the graph that a file claims, vertex by vertex."""
        files.check_size(graph, claim)
        n = graph.vertices
        for values in claim.columns.values():
            if len(values) != n:
                raise MismatchError(f"the file has {counted(len(values), 'vertex')}, the graph has {n}")
        columns = {}
        for column in self.file_columns:
            if (values := claim.columns.get(column.name)) is None:
                continue
            if not isinstance(values, np.ndarray):
                values = self.parsed(graph, column, values, path)
            elif values.dtype != (dtype := self.dtype_of(graph, column, values.dtype)):
                raise MismatchError(f"the {column.name}s are of type {values.dtype}, those of the graph are {dtype}")
            columns[column.name] = values
        if claim.vertex is not None:
            order = files.vertex_order(graph, claim.vertex)
            columns = {name: values[order] for name, values in columns.items()}
        singles = claim.singles or self.find_singles(graph, columns, path)
        for name, vertex in singles.items():
            if not 0 <= vertex < n:
                raise MismatchError(f"the {name} {vertex} is not a vertex of the graph")
        files.check_names(graph, claim)
        attributes = {column.attribute: columns.get(column.name) for column in self.file_columns}
        return self.result(graph=graph, **singles, **attributes)

    def to_networkx(self, result: Any) -> Any:
        """Return a ``Graph`` of the vertices without edges, each with its values as attributes."""
        import networkx

        nodes = files.nodes_of(result.graph).tolist()
        made = networkx.Graph()
        made.add_nodes_from(nodes)
        for column in self.file_columns:
            if (values := getattr(result, column.attribute)) is not None:
                listed = [nodes[v] if v >= 0 else None for v in values] if column.vertices else values.tolist()
                networkx.set_node_attributes(made, dict(zip(nodes, listed, strict=True)), column.name)
        return made
