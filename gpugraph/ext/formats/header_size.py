"""How large a graph is by the header of its file; the rest of the file is not read."""

import re
import struct

from gpugraph.base.errors import InputError
from gpugraph.graph.input_file import Source

_TEXTS = (
    rb"%%MatrixMarket[ \t]+matrix[ \t]+coordinate[ \t]+\S+[ \t]+(?P<kind>\S+)[^\n]*\n(?:[ \t\r]*(?:%[^\n]*)?\n)*+[ \t]*"
    rb"(?P<n>\d+)\s+\d+\s+(?P<m>\d+)",
    rb"(?:c[^\n]*\n|[ \t\r]*\n)*+[ \t]*p[ \t]+(?P<kind>sp|tw)[ \t]+(?P<n>\d+)[ \t]+(?P<m>\d+)",
    rb"(?:Weighted)?AdjacencyGraph\s+(?P<n>\d+)\s+(?P<m>\d+)(?P<kind>)",
)
"""Matrix Market, DIMACS and PBBS: vertices, lines of arcs or edges, and a kind that tells which of these they are."""

_METIS = rb"(?:\s*%[^\n]*\n)*\s*(?P<n>\d+)[ \t]+(?P<m>\d+)(?:[ \t][^\n]*)?\n(?P<kind>)"
_BOTH_WAYS = (b"symmetric", b"tw", b"metis")

_BINARIES = {".sg": ("<xqq", (1, 0)), ".wsg": ("<xqq", (1, 0)), ".egr": ("<ii", (0, 1)), ".gr": ("<16xQQ", (0, 1))}
"""Ending of a binary file → its header, and the places of vertices and arcs in it."""


def header_size(path: str) -> tuple[int, int, int] | None:
    """Return vertices, arcs, and lines that list them, as the header states them; None where it states none."""
    try:
        source = Source(path)
        head = source.head
    except InputError:  # reading the file will tell
        return None
    patterns = (*_TEXTS, *((_METIS,) if source.extension in (".graph", ".metis") else ()))
    for pattern in patterns:
        if found := re.match(pattern, head, re.IGNORECASE):
            kind = b"metis" if pattern is _METIS else found["kind"].lower()
            lines = int(found["m"])
            return int(found["n"]), lines * (2 if kind in _BOTH_WAYS else 1), lines
    layout, places = _BINARIES.get(source.extension, ("", ()))
    if layout == "<ii" and head[4:8] == bytes(4) != head[8:12]:  # ECL's variant of 64 bits
        layout = "<qq"
    if not layout or len(head) < struct.calcsize(layout) or b"\0" not in head[:32]:
        return None
    counts = struct.unpack_from(layout, head)
    vertices, arcs = (counts[place] for place in places)
    return (vertices, arcs, arcs) if 0 <= 4 * arcs <= 64 * source.size and 0 <= vertices <= 2 * source.size else None
