"""``Format``, the interface of a file format."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

from gpugraph.graph.build import ArcList
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.input_file import Source


def _never(_: object) -> bool:
    return False


def _always(_: object) -> bool:
    return True


@dataclass(frozen=True)
class Format:
    """A graph file format, the constant of a module in this folder.

    ``known.py`` takes name, title, extensions, hint, shared and binary from the text of the module, which
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
