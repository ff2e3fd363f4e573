"""How GPU kernels hold distances: as unsigned integers of 32 or 64 bits that compare as the distances do.

That is the integer itself, or the bits of a float that is not negative.  The largest word means "not reached".  Weights
are not negative either, so that signed integers are read as unsigned ones.
"""

from gpugraph.devices.base import Defines
from gpugraph.devices.kernel_file import index_types, unsigned
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import InputSizes
from gpugraph.problems.sssp.arcs import word_bits

_WIDTHS = (("uint32", 32), ("uint32", 64), ("uint64", 64), ("float32", 64), ("float32", 32), ("float64", 64))
DISTANCE_SETS: list[Defines] = [
    {"INDEX_BITS": index, "WEIGHT": weight, "DISTANCE_BITS": bits} for index in (32, 64) for weight, bits in _WIDTHS
]
"""The define sets of kernels that know distance words: as wide as whole weights, and 64 bits where sums do not fit 32;
64 bits for sums of reals, or 32 where those of float32 weights are rounded to float32."""


def first_bits(sizes: InputSizes) -> int:
    """Return the bits of the words that a search begins with, float32 weights being summed in float64.

    The sizes of an input that is not there yet do not tell reals from whole numbers, and count as these.
    """
    graph = getattr(getattr(sizes, "host", sizes), "graph", None)
    return 8 * sizes.weight_bytes if graph is None else word_bits(graph.weight_dtype)


def distance_types(view: ResidentView, bits: int | None = None) -> dict[str, str | int]:
    """Return the defines among ``DISTANCE_SETS`` for distances of ``bits``, None for a search's first ones."""
    bits = bits or first_bits(view)
    return {**index_types(view.index_dtype), "WEIGHT": unsigned(view.weights.dtype), "DISTANCE_BITS": bits}
