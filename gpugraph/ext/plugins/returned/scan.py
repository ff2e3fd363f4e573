"""Scans that users' algorithms return."""

from typing import Any

import numpy as np

from gpugraph.base.errors import InputError
from gpugraph.ext.plugins.returned.arrays import plain_array
from gpugraph.ext.scan.array import ArrayInput
from gpugraph.ext.scan.scanned import Scanned


def accept(graph: ArrayInput, query: tuple[Any, ...], returned: object) -> Scanned:
    """Return the scan in an (n,) array of the input's type; with segments a pair, the minima and their positions.

    Sums of reals may round once for each element, as those of one thread do; a Scanned may promise fewer.
    """
    n, shape, own = graph.elements, (graph.elements,), graph.values.dtype.name
    depth = n
    if isinstance(returned, Scanned):
        depth = min(max(int(returned.depth), 0), n) or n
        returned = returned.array if returned.index is None else (returned.array, returned.index)
    index = None
    if graph.heads is not None:
        if not isinstance(returned, tuple) or len(returned) != 2:
            remedy = "return (minima, positions)"
            raise InputError("run returned no pair of minima and their positions", remedy=remedy)
        returned, index = returned
        wanted = f"the positions of {n} minima"
        index = plain_array(index, "i u", shape, wanted, "return (minima, positions)").astype(np.int64)
    wanted, remedy = f"the scan of {n} elements as {own}", "return the scan in the type of the elements"
    return Scanned(graph, plain_array(returned, own, shape, wanted, remedy), index, depth)
