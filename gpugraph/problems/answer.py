"""GraphAnswer: what the results of problems on graphs have in common; a pickle of one leaves its graph behind."""

from copy import deepcopy
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import InputError
from gpugraph.graph.convertible import Convertible
from gpugraph.graph.csr import CSRGraph


class GraphAnswer(Convertible):
    """A dataclass with the ``graph`` that it answers about, which its copies share."""

    graph: CSRGraph

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "graph": left_behind(self.graph)}

    def __copy__(self) -> Self:
        return replace(self)  # type: ignore[type-var]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        own = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "graph"}  # type: ignore[arg-type]
        return replace(self, **deepcopy(own, memo))  # type: ignore[type-var]


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
        from gpugraph.graph.open import open_graph
        from gpugraph.graph.symmetrize import symmetrize

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
