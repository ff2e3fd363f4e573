"""The interface of a file format, and checks that formats share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import InputError
from gpugraph.base.host import require_memory
from gpugraph.graph.build import VERTEX_BYTES, ArcList, RowTails
from gpugraph.graph.check import offsets_fault
from gpugraph.graph.chunks import even_ranges, in_threads
from gpugraph.graph.csr import CSRGraph, target_dtype
from gpugraph.graph.formats.input_file import Source


class IdsAreNamesError(Exception):
    """A list whose ids may be names has one that is no plain whole number below 2^63, or is in quotes."""


def _never(_: object) -> bool:
    return False


def _always(_: object) -> bool:
    return True


@dataclass(frozen=True)
class Format:
    """A graph file format, the constant of a module in ``ext/formats``, or of ``native.py``.

    ``ext/formats/known.py`` takes name, title, extensions, hint, shared and binary from the text of the module, which
    is imported when such a file is opened: they are written as literals.

    Attributes:
        name: what ``--input-format`` calls it.
        title: what people call it.
        extensions: file name endings, with the dot, in lower case.
        read: the reader; it raises GraphFormatError, with the line, if the file is not what it claims to be.
        write: the writer (graph, binary stream, extension of the file), or None.
        hint: a pattern that is found in the first bytes of such a file and tells it from others; b"": there is none.
        sniff: where a hint alone does not decide: True if a file that begins with these bytes can be nothing else.
        shared: endings that others have too: of those it is, where it ``fits``.
        fits: True if a binary file without a magic has the size its header asks for, or if a shared ending means it.
        binary: False for text.
        ids: what the file calls its vertices: their numbers ``"from 0"``, ``"from 1"``, or ``"any"`` whole numbers.
        named: what its edges have by name, to choose from: ``"attributes"``, ``"columns"``, or nothing.
        line_of_vertex: in a text file of one line a vertex, the line of a 0-based vertex.
    """

    name: str
    title: str
    extensions: tuple[str, ...]
    read: Callable[[Source], ArcList | CSRGraph]
    write: Callable[[CSRGraph, IO[bytes], str], None] | None = None
    hint: bytes = b""
    sniff: Callable[[bytes], bool] = _always
    shared: tuple[str, ...] = ()
    fits: Callable[[Source], bool] = _never
    binary: bool = False
    ids: str = "from 0"
    named: str = ""
    line_of_vertex: Callable[[Source, int], int] | None = None


_MOST_VERTICES = 2**40
"""More are refused whatever the machine, as those of a spec are."""


def check_vertices(
    source: Source, vertices: int, line: int | None = None, remedy: str = "check the header, or use a machine with more"
) -> None:
    """Refuse a number of vertices by GraphFormatError where it makes no sense, by OutOfMemory where it does not fit."""
    if vertices < 0:
        raise source.error(f"a negative number of vertices: {vertices}", "correct the number", line)
    if vertices > _MOST_VERTICES:
        raise source.error(f"promises {vertices} vertices, more than 2^40", "check the header", line)
    where = source.path if line is None else f"{source.path} line {line}"
    require_memory(VERTEX_BYTES * vertices, f"{where}: {vertices} vertices", remedy)


def check_size(source: Source, expected: int | tuple[int, ...], promise: str) -> None:
    """Refuse a binary file whose size is none of ``expected``, bytes; ``promise``: e.g. ``"5 vertices and 8 arcs"``."""
    sizes = (expected,) if isinstance(expected, int) else expected
    if (actual := len(source.data)) in sizes:
        return
    state = "cut short" if actual < min(sizes) else "larger than its header says"
    asked = " or ".join(map(str, sizes))
    raise source.error(f"{state}: a header of {promise} asks for {asked} bytes, the file has {actual}")


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
    remedy = "change them with --weights hash:1..1000, or write a .csr"
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
