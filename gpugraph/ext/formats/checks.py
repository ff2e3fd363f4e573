"""Checks that formats share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import InputError
from gpugraph.base.host import require_memory
from gpugraph.graph.build import VERTEX_BYTES, ArcList, RowTails
from gpugraph.graph.check import offsets_fault
from gpugraph.graph.chunks import even_ranges, in_threads
from gpugraph.graph.csr import CSRGraph, target_dtype
from gpugraph.graph.input_file import Source


class IdsAreNamesError(Exception):
    """A list whose ids may be names has one that is no plain whole number below 2^63, or is in quotes."""


_MOST_VERTICES = 2**40
"""More are refused whatever the machine, as those of a spec are."""


def check_vertices(
    source: Source, vertices: int, line: int | None = None, remedy: str = "check the header, or use a machine with more"
) -> None:
    """Refuse a number of vertices by GraphFormatError where it makes no sense, by OutOfMemory where it does not fit."""
    if vertices < 0:
        raise source.error(f"a negative number of vertices: {vertices}", "correct the number", line)
    if vertices > _MOST_VERTICES:
        raise source.error(f"promises {vertices} vertices, more than 2^40", remedy.partition(",")[0], line)
    where = source.path if line is None else f"{source.path} line {line}"
    require_memory(VERTEX_BYTES * vertices, f"{where}: {vertices} vertices", remedy)


def base_note(low: int, high: int, vertices: int) -> tuple[str, ...]:
    """Return a sentence on ids from ``low`` to ``high``, taken to count from 0, that may count from 1; or none."""
    what = f"neither vertex 0 nor {vertices} of {vertices} occurs: ids are taken to count from 0"
    return (what,) if 0 < low <= high < vertices else ()


def arcs_of_rows(
    source: Source,
    offsets: NDArray[Any],
    targets: NDArray[Any],
    weights: NDArray[Any] | None,
    *,
    directed: bool | None = None,
) -> ArcList:
    """Return the arcs of a binary file's rows, copied and checked; targets and weights may be views of it.

    Raises:
        GraphFormatError: offsets that fall or do not end at the last arc, a target out of range, a NaN weight.
    """
    vertices, arcs = len(offsets) - 1, len(targets)
    check_vertices(source, vertices)
    offsets = np.array(offsets, np.int64)
    if fault := offsets_fault(offsets, arcs):
        raise source.error(f"damaged: {fault}")
    heads = _copied(targets)

    def inside(low: int, high: int) -> bool:
        part = heads[low:high]
        return len(part) == 0 or (int(part.min()) >= 0 and int(part.max()) < vertices)

    if not all(in_threads(inside, even_ranges(arcs))):
        i = int(np.argmax((heads < 0) | (heads >= vertices)))
        raise source.error(f"damaged: arc {i} leads to vertex {heads[i]}, but there are {vertices} vertices")
    if weights is not None:
        weights = _copied(weights)
        refuse_nan(source, weights)
    return ArcList(RowTails(offsets), heads.astype(target_dtype(vertices), copy=False), weights, vertices, directed)


def _copied(values: NDArray[Any]) -> NDArray[Any]:
    """Return a copy in this machine's byte order, made by all threads: NumPy leaves the GIL."""
    made = np.empty(len(values), values.dtype.newbyteorder("="))
    in_threads(lambda low, high: np.copyto(made[low:high], values[low:high]), even_ranges(len(values)))
    return made


def refuse_nan(source: Source, weights: NDArray[Any]) -> None:
    """Raise GraphFormatError if a weight is not a number."""
    if weights.dtype.kind == "f" and np.isnan(weights).any():
        i = int(np.argmax(np.isnan(weights)))
        raise source.error(f"the weight of arc {i} is not a number (NaN)", "give it a weight")


def integer_weights(graph: CSRGraph, title: str, bits: int = 64) -> NDArray[Any]:
    """Return weights for a format of integers only: as they are, or int32 for 32 bits; InputError if that rounds."""
    weights = graph.weights
    remedy = "change them with --reweight hash:1..1000, or write a .csr"
    if weights.dtype.kind == "f":
        raise InputError(f"{title} holds integer weights only, not {weights.dtype}", remedy=remedy)
    if bits == 64:
        return weights
    info = np.iinfo(np.int32)
    if len(weights) and (int(weights.min()) < info.min or int(weights.max()) > info.max):
        raise InputError(f"{title} holds 32-bit weights only, from {info.min} to {info.max}", remedy=remedy)
    return weights.astype(np.int32)


def is_unit(graph: CSRGraph) -> bool:
    """True if every weight is 1."""
    return bool((graph.weights == 1).all())


def numbered_from_one(vertices: int) -> NDArray[np.int64]:
    """Return the file's own ids where they are 1..n."""
    return np.arange(1, vertices + 1, dtype=np.int64)
