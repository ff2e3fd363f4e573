"""Long ways that lead into a dense core: ``lollipop``.

The stick is a grid of that size.  The core's vertices come behind it: a clique, or the vertices of ``rmat:SCALE``.  One
more edge joins the last vertex of the stick to the first of the clique, or to the tail of the first R-MAT edge.
"""

from typing import Any

import numpy as np

from gpugraph.base.errors import InputError
from gpugraph.ext.generators import structured
from gpugraph.graph.chunks import Runner
from gpugraph.graph.generators import rmat
from gpugraph.graph.generators.family import Drawn, Family, Parameter, Size, Values, edges

_BY_NAME = {family.name: family for module in (rmat, structured) for family in module.FAMILIES}


def _parts(values: Values) -> tuple[Family, dict[str, Any]]:
    """Return the family of the core, and its parameters; raises InputError unless it is of one kind."""
    if (values["scale"] == 0) == (values["clique"] == 0):
        raise InputError("a lollipop has a core of one kind", remedy="give scale=16, or clique=600")
    if values["clique"]:
        return _BY_NAME["complete"], {"n": values["clique"]}
    core = _BY_NAME["rmat"]
    return core, {key.key: key.default for key in core.parameters} | {"scale": values["scale"]}


def _size(values: Values) -> Size:
    core, its = _parts(values)
    sizes = _BY_NAME["grid"].size(values), core.size(its)
    return edges(sum(one.vertices for one in sizes), sum(one.samples for one in sizes) + 1)


def _arcs(values: Values, seed: int, run: Runner) -> Drawn:
    (core, its), n = _parts(values), values["width"] * values["height"]
    tails, heads, _ = _BY_NAME["grid"].arcs(values, seed, run)
    core_tails, core_heads, _ = core.arcs(its, seed, run)
    columns = [[tails, core_tails + n], [heads, core_heads + n]]
    if run.part[0] == 0:
        only_first = Runner(run.index, part=(0, core.size(its).samples))
        first = core.arcs(its, seed, only_first)[0] if values["scale"] else np.zeros(1, run.index)
        columns[0].append(np.full(1, n - 1, run.index))
        columns[1].append(first + n)
    tails, heads = (np.concatenate(column).astype(run.index, copy=False) for column in columns)
    return tails, heads, None


FAMILIES = (
    Family(
        "lollipop",
        "a grid of WIDTHxHEIGHT, or a path, that leads into a clique or a power-law core",
        "lollipop:1x20000,scale=16",
        (
            Parameter("width", "columns", required=True),
            Parameter("height", "rows", required=True),
            Parameter("scale", "log2 of the vertices of an R-MAT core", default=0, low=0, high=40),
            Parameter("clique", "vertices of a clique in its place", default=0, low=0),
        ),
        _size,
        _arcs,
        places=2,
    ),
)
