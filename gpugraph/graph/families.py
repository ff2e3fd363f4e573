"""All families of graphs that a spec can name, and the orders of vertices."""

from __future__ import annotations

from gpugraph.graph.generators import knn, lollipop, rmat, ssca2, structured, uniform
from gpugraph.graph.generators.family import Family

ORDERS = ("made", "shuffled", "degree")
"""How vertices are numbered: as the family makes them, at random, or by degree, the greatest first."""

FAMILIES: dict[str, Family] = {
    family.name: family for module in (rmat, ssca2, uniform, knn, structured, lollipop) for family in module.FAMILIES
}
