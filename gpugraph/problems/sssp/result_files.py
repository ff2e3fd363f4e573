"""Distances as files and as NetworkX graphs.

========  ====================================================================================================
``.npz``  ``distance``, ``source`` and, where asked for, ``predecessor``; ``problem``, ``vertices``,
          ``graph_digest`` and ``names`` where the graph had its own ids
``.csv``  ``vertex,distance[,predecessor]``, ``inf`` where unreached; ``name`` where the graph had its own ids
========  ====================================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.errors import InputError
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems import result_files as files
from gpugraph.problems.result_files import MismatchError, PathLike
from gpugraph.problems.sssp.arcs import distance_dtype, unreached
from gpugraph.problems.sssp.distances import Distances


@dataclass(frozen=True, eq=False)
class DistancesClaim(files.Claim):
    """Distances as a file has them.

    Attributes:
        vertex: (k,) int64, any values, or None where they are 0, 1, 2, ….
        distance: (k,) numbers, or Arrow's texts from a file of text.
        predecessor: (k,) int64, any values, or None.
        source: or None where the file does not tell.
    """

    vertex: NDArray[np.int64] | None
    distance: Any
    predecessor: NDArray[np.int64] | None = None
    source: int | None = None


class DistancesFiles:
    """The part of the problem that lets distances out and back in."""

    result = Distances
    result_noun = "distances"
    result_endings: tuple[str, ...] = (".npz", ".csv")
    csv_columns: tuple[str, ...] = ("vertex", "distance")

    def write(self, result: Distances, ending: str, stream: IO[bytes]) -> None:
        """Write distances in the format of an ending."""
        predecessor = {} if result.predecessor is None else {"predecessor": result.predecessor}
        if ending == ".npz":
            files.write_npz(stream, "sssp", result.graph, source=result.source, distance=result.raw, **predecessor)
            return
        distance, names = np.ma.masked_array(result.raw, ~result.reached), result.graph.printed_names
        own = {} if names is None else {"name": names}
        files.write_csv({"vertex": np.arange(len(distance)), "distance": distance, **predecessor, **own}, stream)

    def read(self, content: bytes, path: PathLike) -> DistancesClaim | None:
        """Return the distances that a file claims, or None for a file of something else."""
        archive = files.read_npz(content, "sssp", ("source", "distance"), ("predecessor",), path)
        if archive is not None:
            arrays, told = archive
            predecessor = files.row(arrays["predecessor"], "i") if "predecessor" in arrays else None
            source = int(files.single(arrays["source"], "iu"))
            return DistancesClaim(None, files.row(arrays["distance"], "iuf"), predecessor, source, **told)
        table = files.read_csv(content, self.csv_columns, ("predecessor", "name"), path)
        if table is None:
            return None
        vertex = files.parse_numbers(table["vertex"], np.int64, path)
        predecessor = files.parse_numbers(table["predecessor"], np.int64, path) if "predecessor" in table else None
        named = ((vertex, table["name"]),) if "name" in table else ()
        return DistancesClaim(vertex, table["distance"], predecessor, named=named)

    def claim(self, result: Distances) -> DistancesClaim:
        """Return distances at hand as if a file had held them."""
        n = result.graph.vertices
        return DistancesClaim(None, result.raw, result.predecessor, result.source, vertices=n)

    def claimed(self, graph: CSRGraph, claim: DistancesClaim, path: PathLike) -> Distances:
        """Return the distances of the graph that a file claims, vertex by vertex."""
        files.check_size(graph, claim)
        n, dtype = graph.vertices, distance_dtype(graph.weight_dtype)
        distance, predecessor = claim.distance, claim.predecessor
        if len(distance) != n or (predecessor is not None and len(predecessor) != n):
            raise MismatchError(f"the file has {len(distance)} vertices, the graph has {n}")
        if not isinstance(distance, np.ndarray):
            import pyarrow.compute as pc

            distance = pc.if_else(pc.equal(distance, "inf"), str(unreached(dtype)), distance)
            distance = files.parse_numbers(distance, dtype, path, claim.first_line)
        elif distance.dtype != dtype:
            raise MismatchError(f"the distances are of type {distance.dtype}, those of the graph are {dtype}")
        if claim.vertex is not None:
            order = files.vertex_order(graph, claim.vertex)
            distance, predecessor = distance[order], None if predecessor is None else predecessor[order]
        source = _source(graph, distance, predecessor, path) if claim.source is None else claim.source
        if not 0 <= source < n:
            raise MismatchError(f"the source {source} is not a vertex of the graph")
        files.check_names(graph, claim)
        return Distances(graph, source, distance, predecessor)

    def to_networkx(self, result: Distances) -> Any:
        """Return the shortest-path tree as a ``DiGraph``, each arc leading away from the source.

        There is ``weight`` on every arc and ``distance`` on every reached vertex; vertices that are not reached stand
        alone.
        """
        import networkx

        names = files.nodes_of(result.graph)
        nodes = names.tolist()
        tree = networkx.DiGraph(source=nodes[result.source])
        tree.add_nodes_from(nodes)
        reached = np.flatnonzero(result.reached)
        for vertex, distance in zip(reached.tolist(), result.raw[reached].tolist(), strict=True):
            tree.nodes[nodes[vertex]]["distance"] = distance
        tails, heads, weights = _tree_arcs(result)
        tree.add_weighted_edges_from(zip(names[tails].tolist(), names[heads].tolist(), weights.tolist(), strict=True))
        return tree


def _source(graph: CSRGraph, distance: NDArray[Any], predecessor: NDArray[np.int64] | None, path: PathLike) -> int:
    """Return the source that a file of text leaves to be told from the distances."""
    starts = distance == 0 if predecessor is None else (distance == 0) & (predecessor < 0)
    candidates = np.flatnonzero(starts)
    if len(candidates) == 0:
        raise MismatchError("no vertex has the distance 0, so there is no source")
    # In an undirected graph vertices at distance 0 of each other have all distances in common.
    if len(candidates) > 1 and graph.directed:
        raise InputError(
            f"{len(candidates)} vertices have the distance 0, so the file does not tell its source",
            where=path,
            remedy="write the result as .npz, or with --predecessors",
        )
    return int(candidates[0])


def _tree_arcs(result: Distances) -> tuple[Any, Any, Any]:
    """Return tails, heads and weights of the arcs from each predecessor to its vertex."""
    from gpugraph.graph.canonical import find_arc

    graph, predecessor = result.graph, result.with_predecessors().predecessor
    assert predecessor is not None
    heads = np.flatnonzero(predecessor >= 0)
    tails = predecessor[heads]
    at = [find_arc(graph.offsets, graph.targets, u, v) for u, v in zip(tails.tolist(), heads.tolist(), strict=True)]
    return tails, heads, graph.weights[np.array(at, np.int64)]
