"""Files of distances."""

from collections.abc import Mapping
from dataclasses import replace
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import InputError
from gpugraph.ext.results import files, text
from gpugraph.ext.results.files import MismatchError
from gpugraph.ext.results.text import PathLike
from gpugraph.ext.results.vertex_files import FileColumn, VertexClaim, VertexFiles
from gpugraph.graph.canonical import find_arc
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.sssp import verify
from gpugraph.problems.sssp.arcs import FLOAT64, distance_dtype, sums_of, unreached
from gpugraph.problems.sssp.distances import DistanceMatrix, Distances

AnyDistances = Distances | DistanceMatrix


class DistancesFiles(VertexFiles):
    """Distances written and read.

    Unreached vertices are ``inf`` in a .csv.  Only an .npz holds distances from several sources: ``source`` is then
    (k,), and the columns are (k*n,), a row for each source after another.
    """

    name = "sssp"
    noun = "distances"
    result = Distances
    file_columns = (
        FileColumn("distance", "raw", "iuf"),
        FileColumn("predecessor", "predecessor", optional=True, vertices=True),
    )
    file_singles = ("source",)

    def dtype_of(self, graph: CSRGraph, column: FileColumn, found: np.dtype[Any] | None = None) -> np.dtype[Any]:
        """Return the dtype of distances on a graph, or of predecessors; float32 ones may have been summed in that."""
        if column.name != "distance":
            return super().dtype_of(graph, column)
        return distance_dtype(graph.weight_dtype, FLOAT64 if found is None else sums_of(found))

    def in_table(self, result: Distances, column: FileColumn) -> NDArray[Any]:
        """Return distances with the unreached masked, and predecessors as they are."""
        if column.name != "distance":
            return super().in_table(result, column)
        distance = result.raw.astype(np.float64) if result.raw.dtype == np.float32 else result.raw
        return np.ma.masked_array(distance, ~result.reached)

    def parsed(self, graph: CSRGraph, column: FileColumn, texts: Any, path: PathLike) -> NDArray[Any]:
        """Return a column of a table as numbers; ``inf`` is unreached."""
        if column.name == "distance":
            none = str(unreached(self.dtype_of(graph, column)))
            texts = text.replaced(texts, "inf", none)
        return super().parsed(graph, column, texts, path)

    def find_singles(self, graph: CSRGraph, columns: Mapping[str, NDArray[Any]], path: PathLike) -> dict[str, int]:
        """Return the source of a table's distances, which is found from them."""
        starts = columns["distance"] == 0
        if "predecessor" in columns:
            starts &= columns["predecessor"] < 0
        candidates = np.flatnonzero(starts)
        if len(candidates) == 0:
            raise MismatchError("no vertex has the distance 0, so there is no source")
        # In an undirected graph vertices at distance 0 of each other have all distances in common.
        if len(candidates) > 1 and graph.directed:
            what = f"{len(candidates)} vertices have the distance 0, so the file does not tell its source"
            raise InputError(what, where=path, remedy="write the result as .npz, or with --predecessors")
        return {"source": int(candidates[0])}

    def write(self, result: AnyDistances, ending: str, stream: IO[bytes]) -> None:
        """Write distances in the format of an ending; raise InputError for a table of several sources."""
        if not isinstance(result, DistanceMatrix):
            super().write(result, ending, stream)
            return
        if ending != ".npz":
            raise InputError("distances from several sources make no table", remedy="write them to a .npz")
        rows = {name: array.reshape(-1) for name, array in self.claim(result).columns.items()}
        files.write_npz(stream, "sssp", result.graph, source=result.sources, **rows)

    def table(self, result: AnyDistances) -> dict[str, NDArray[Any]]:
        """Return the columns of a table; of several sources a row for each and each vertex."""
        if not isinstance(result, DistanceMatrix):
            return super().table(result)
        tables = [super(DistancesFiles, self).table(row) for row in result]
        joined = {
            name: np.ma.concatenate([one[name] for one in tables])  # type: ignore[no-untyped-call]
            for name in tables[0]
        }
        return {"source": np.repeat(result.sources, result.graph.vertices), **joined}

    def claim_of(self, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> VertexClaim:
        """Return the claim of an archive with distances from one source or several."""
        if not arrays["source"].ndim:
            return super().claim_of(arrays, facts)
        sources = tuple(files.row(arrays["source"], "i").tolist())
        if not sources:
            raise ValueError("there are no sources")
        shape = (len(sources), facts["vertices"])  # NumPy reports another number of items
        present = [column for column in self.file_columns if column.name in arrays]
        rows = {column.name: files.row(arrays[column.name], column.dtype).reshape(shape) for column in present}
        return VertexClaim(None, rows, {"source": sources}, **facts)

    def claim(self, result: AnyDistances) -> VertexClaim:
        """Return distances at hand as if a file had held them."""
        if not isinstance(result, DistanceMatrix):
            return super().claim(result)
        before = {} if result.predecessor is None else {"predecessor": result.predecessor}
        sources = {"source": tuple(result.sources.tolist())}
        return VertexClaim(None, {"distance": result.raw, **before}, sources, vertices=result.graph.vertices)

    def claimed(self, graph: CSRGraph, claim: VertexClaim, path: PathLike) -> AnyDistances:
        """Return the distances of the graph that a file claims, vertex by vertex."""
        sources = claim.singles.get("source")
        if not isinstance(sources, tuple):
            found: Distances = super().claimed(graph, claim, path)
            return found if isinstance(claim.columns["distance"], np.ndarray) else _in_their_type(found)
        distance = claim.columns["distance"]
        for row, source in zip(distance, sources, strict=True):
            self.claimed(graph, replace(claim, columns={"distance": row}, singles={"source": source}), path)
        return DistanceMatrix(graph, np.array(sources, np.int64), distance, claim.columns.get("predecessor"))

    def to_networkx(self, result: Distances) -> object:
        """Return the shortest-path tree as a ``DiGraph``, each arc leading away from the source.

        There is ``weight`` on every arc and ``distance`` on every reached vertex; vertices that are not reached have
        no arcs.
        """
        import networkx

        graph, predecessor = result.graph, result.with_predecessors().predecessor
        assert predecessor is not None
        names = files.nodes_of(graph)
        nodes = names.tolist()
        tree = networkx.DiGraph(source=nodes[result.source])
        tree.add_nodes_from(nodes)
        for vertex in np.flatnonzero(result.reached).tolist():
            tree.nodes[nodes[vertex]]["distance"] = result.raw[vertex].item()
        heads = np.flatnonzero(predecessor >= 0)
        tails = predecessor[heads]
        for u, v in zip(tails.tolist(), heads.tolist(), strict=True):
            weight = graph.weights[find_arc(graph.offsets, graph.targets, u, v)].item()
            tree.add_edge(nodes[u], nodes[v], weight=weight)
        return tree


def _in_their_type(found: Distances) -> Distances:
    """Return a table's distances in float32 where they are right in that type alone, of which a table says nothing."""
    with np.errstate(over="ignore"):  # what exceeds float32 is none of its distances
        graph, rounded = found.graph, found.raw.astype(np.float32) if found.raw.dtype == np.float64 else found.raw
    if graph.weight_dtype != np.float32 or not np.array_equal(rounded, found.raw):
        return found
    in_float64 = verify.check_certificate(graph, found.source, found).passed
    return found if in_float64 else replace(found, raw=rounded)


FILES = DistancesFiles()
