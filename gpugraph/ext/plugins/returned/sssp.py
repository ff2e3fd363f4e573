"""Distances that users' algorithms return."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import InputError
from gpugraph.ext.plugins.returned.arrays import numbers, plain_array
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.sssp.arcs import distance_dtype, sums_of, unreached
from gpugraph.problems.sssp.distances import Distances, distances_from_words


def accept(graph: CSRGraph, query: tuple[Any, ...], returned: object) -> Distances:
    """Return the distances that (n,) distance words (``distances.py``) encode, or those of a Distances."""
    source, n, weights = int(query[0]), (graph.vertices,), graph.weight_dtype
    wanted = f"the {graph.vertices} distances as"
    if isinstance(returned, Distances):
        own = distance_dtype(weights, sums_of(np.asarray(returned.raw).dtype)).name
        distance = plain_array(returned.raw, own, n, f"{wanted} {own}", "return them in that type")
        before = returned.predecessor
        if before is not None:
            before = plain_array(before, "int64", n, "the predecessors as int64", "return -1 where there is none")
        return Distances(graph, source, distance, before)
    whole = isinstance(returned, list | tuple) and distance_dtype(weights).kind == "u"
    returned = numbers(_exactly(returned) if whole else returned)
    if isinstance(returned, np.ndarray) and returned.dtype.kind in "if":
        return Distances(graph, source, _plain_distances(graph, returned))
    widths = (8,) if weights == np.float64 else (4, 8)
    names = [f"uint{8 * width}" for width in widths]
    remedy = "return the distances as numbers, infinity where there is no path"
    words = plain_array(returned, " ".join(names), n, f"{wanted} {' or '.join(names)}", remedy)
    return distances_from_words(graph, source, words)


def _exactly(returned: Any) -> Any:
    """Return whole numbers beside infinities as words of 64 bits, since floats round them; anything else as it is."""
    most, words = int(unreached(np.dtype(np.uint64))), list[int]()
    for one in returned:
        if isinstance(one, float | np.floating) and one == np.inf:
            words.append(most)
        elif isinstance(one, int | np.integer) and not isinstance(one, bool) and 0 <= one <= most:
            words.append(int(one))
        else:
            return returned
    return np.array(words, np.uint64)


def _plain_distances(graph: CSRGraph, returned: NDArray[Any]) -> NDArray[Any]:
    """Return reals or signed integers, infinity unreached, in the type of distances; InputError if one does not fit.

    Of float32 weights those in float32 were summed in that.
    """
    own = distance_dtype(graph.weight_dtype, sums_of(returned.dtype))
    wanted = f"the {graph.vertices} distances as numbers"
    remedy = "return the distances as numbers, infinity where there is no path"
    given = plain_array(returned, "i float32 float64", (graph.vertices,), wanted, remedy)
    far = np.isinf(given) & (given > 0) if given.dtype.kind == "f" else np.zeros(len(given), bool)
    near = np.where(far, 0, given)
    with np.errstate(invalid="ignore", over="ignore"):
        held = near.astype(own)
        bad = ~(near >= 0) | (held.astype(near.dtype) != near)
    if near.dtype.kind == "f" and own.kind == "u":
        bad |= near > 2.0**53  # beyond it several whole numbers round to one float64
    for v in np.flatnonzero(bad)[:1]:
        what = f"run returned the distance {near[v]} of vertex {graph.label(int(v))}, which no {own} is exactly"
        raise InputError(what, remedy=f"return the distances in {own}")
    held[far] = unreached(own)
    return held
