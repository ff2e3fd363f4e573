"""Components as files and as NetworkX graphs.

========  ====================================================================================================
``.npz``  ``component``; ``problem``, ``vertices``, ``graph_digest`` and ``names`` where the graph had its own ids
``.csv``  ``vertex,component``; ``name`` follows where the graph had its own ids
========  ====================================================================================================

The component is named by its smallest vertex, 0-based.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.graph.csr import CSRGraph
from gpugraph.problems import result_files as files
from gpugraph.problems.components.labels import Components
from gpugraph.problems.result_files import MismatchError, PathLike


@dataclass(frozen=True, eq=False)
class LabelsClaim(files.Claim):
    """Labels as a file has them.

    Attributes:
        vertex: (k,) int64, any values, or None where they are 0, 1, 2, ….
        label: (k,) int64, any values.
    """

    vertex: NDArray[np.int64] | None
    label: NDArray[np.int64]


class LabelsFiles:
    """The part of the problem that lets components out and back in."""

    result = Components
    result_noun = "components"
    result_endings: tuple[str, ...] = (".npz", ".csv")
    csv_columns: tuple[str, ...] = ("vertex", "component")

    def write(self, found: Components, ending: str, stream: IO[bytes]) -> None:
        """Write components in the format of an ending."""
        if ending == ".npz":
            files.write_npz(stream, "components", found.graph, component=found.labels)
            return
        names = found.graph.printed_names
        own = {} if names is None else {"name": names}
        files.write_csv({"vertex": np.arange(len(found.labels)), "component": found.labels, **own}, stream)

    def read(self, content: bytes, path: PathLike) -> LabelsClaim | None:
        """Return the labels that a file claims, or None for a file of something else."""
        archive = files.read_npz(content, "components", ("component",), (), path)
        if archive is not None:
            arrays, told = archive
            return LabelsClaim(None, files.row(arrays["component"], "i"), **told)
        table = files.read_csv(content, self.csv_columns, ("name",), path)
        if table is None:
            return None
        vertex, label = (files.parse_numbers(table[name], np.int64, path) for name in self.csv_columns)
        return LabelsClaim(vertex, label, named=((vertex, table["name"]),) if "name" in table else ())

    def claim(self, found: Components) -> LabelsClaim:
        """Return components at hand as if a file had held them."""
        return LabelsClaim(None, found.labels, vertices=found.graph.vertices)

    def claimed(self, graph: CSRGraph, claim: LabelsClaim, path: PathLike) -> Components:
        """Return the components of the graph that a file claims, vertex by vertex."""
        files.check_size(graph, claim)
        n, label = graph.vertices, claim.label
        if len(label) != n:
            raise MismatchError(f"the file has {len(label)} vertices, the graph has {n}")
        if claim.vertex is not None:
            label = label[files.vertex_order(graph, claim.vertex)]
        files.check_names(graph, claim)
        return Components.of(graph, label)

    def to_networkx(self, found: Components) -> Any:
        """Return a ``Graph`` of the vertices, each with the attribute ``component``, and without edges."""
        import networkx

        nodes = files.nodes_of(found.graph).tolist()
        made = networkx.Graph()
        made.add_nodes_from(
            (node, {"component": nodes[label]}) for node, label in zip(nodes, found.labels, strict=True)
        )
        return made
