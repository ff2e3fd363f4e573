"""Pickles of answers: they leave the graph behind, which is read anew from its source when something needs it."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import InputError
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.open import open_graph
from gpugraph.graph.symmetrize import symmetrize


@dataclass(frozen=True, eq=False)
class LeftBehind:
    """Takes the place of ``DeviceRows``: rows that were not pickled, read anew from the graph's source when needed."""

    source: str
    digest: str
    vertices: int
    arcs: int
    weights: NDArray[Any]
    device: ClassVar[str] = "another process"
    usable: ClassVar[bool] = False

    def on_host(self, name: str) -> NDArray[Any]:
        """Return one of the graph's arrays.  Raises InputError where its source does not give the graph any more."""
        remedy = "load the graph, and give it with the answer: gpugraph.verify(graph, answer)"
        if self.source == "python":
            raise InputError("the answer was pickled without its graph, which was made in Python", remedy=remedy)
        graph = open_graph(self.source)
        if graph.digest != self.digest and (graph := symmetrize(graph)).digest != self.digest:
            what = "the answer was pickled without its graph, and this is now another one"
            raise InputError(what, where=self.source, remedy=remedy)
        array: NDArray[Any] = getattr(graph, name)
        return array


def left_behind(graph: CSRGraph) -> CSRGraph:
    """Return a graph without its arrays, but with all that is known of it."""
    names = ("directed", "name", "source", "vertex_names", "notes", "reading", "negative_loop", "digest")
    known = {name: getattr(graph, name) for name in names}
    none: NDArray[Any] = np.zeros(0, graph.weight_dtype)
    rows: Any = LeftBehind(graph.source, graph.digest, graph.vertices, graph.arcs, none)
    return CSRGraph.lying_on(rows, **known)
