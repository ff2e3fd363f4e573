"""The families of graphs that a spec can name, and the orders of vertices."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpugraph.graph.generators.family import Family

ORDERS = ("made", "shuffled", "degree")
"""How vertices are numbered: as the family makes them, at random, or by degree, the greatest first."""

_OTHERS = {
    "ssca2": ("ssca2",),
    "uniform": ("random", "regular"),
    "knn": ("knn",),
    "structured": ("grid", "road", "complete", "dense", "path", "ramp", "caterpillar", "star", "counterexample"),
    "lollipop": ("lollipop",),
}

FAMILIES = {
    "rmat": "gpugraph.graph.generators.rmat",
    **{name: f"gpugraph.ext.generators.{file}" for file, names in _OTHERS.items() for name in names},
}
"""Family → the module with it among its ``FAMILIES``, which is imported when a spec names it."""

RESPELLED = {"drawn": "gpugraph.ext.generators.drawn"}
"""The same of names that stand for a spec of a family."""


@cache
def find_family(name: str) -> Family:
    """Return one of the ``FAMILIES``, or of the ``RESPELLED``."""
    found: Family = next(
        family for family in import_module((FAMILIES | RESPELLED)[name]).FAMILIES if family.name == name
    )
    return found
