"""GraphAnswer: what the results of problems on graphs have in common; a pickle of one leaves its graph behind."""

from copy import deepcopy
from dataclasses import fields, replace
from importlib import import_module
from typing import Any, Self

from gpugraph.graph.convertible import Convertible
from gpugraph.graph.csr import CSRGraph

PICKLES = "gpugraph.ext.python.pickles"
"""What takes the place of a graph in a pickle of an answer."""


class GraphAnswer(Convertible):
    """A dataclass with the ``graph`` that it answers about, which its copies share."""

    graph: CSRGraph

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "graph": import_module(PICKLES).left_behind(self.graph)}

    def __copy__(self) -> Self:
        return replace(self)  # type: ignore[type-var]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        own = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "graph"}  # type: ignore[arg-type]
        return replace(self, **deepcopy(own, memo))  # type: ignore[type-var]
