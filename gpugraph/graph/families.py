"""The families of graphs that a spec can name, and the orders of vertices."""

from __future__ import annotations

import re
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

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]+")
_ARGUMENTS = re.compile(r"[\w=.,+^-]*")


@cache
def find_family(name: str) -> Family:
    """Return one of the ``FAMILIES``, or of the ``RESPELLED``."""
    families: tuple[Family, ...] = import_module((FAMILIES | RESPELLED)[name]).FAMILIES
    return next(family for family in families if family.name == name)


def is_spec(text: str) -> bool:
    """Tell whether ``text`` reads as a spec, be it a wrong one, rather than as the name of a file."""
    head, colon, tail = text.partition(":")
    if not colon:
        return head in FAMILIES or head.partition(",")[0] in FAMILIES
    if head in FAMILIES or head in RESPELLED:
        return True
    looks_like_arguments = bool(re.match(r"\d+(x\d+)?(,|$)", tail)) or "=" in tail
    return bool(_NAME.fullmatch(head) and _ARGUMENTS.fullmatch(tail) and looks_like_arguments)
