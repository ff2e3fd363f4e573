"""The list of formats, recognised by content if that decides and by name otherwise."""

from __future__ import annotations

from gpugraph.compression import strip_suffix
from gpugraph.errors import InputError, unknown_name
from gpugraph.graph.formats.base import Format
from gpugraph.graph.formats.dimacs import FORMAT as DIMACS
from gpugraph.graph.formats.dot import FORMAT as DOT
from gpugraph.graph.formats.ecl import FORMAT as ECL
from gpugraph.graph.formats.edge_list import COUNTED, PLAIN, looks_numeric
from gpugraph.graph.formats.edge_list import FORMAT as EDGE_LIST
from gpugraph.graph.formats.galois import FORMAT as GALOIS
from gpugraph.graph.formats.gap import FORMAT as GAP
from gpugraph.graph.formats.graphalytics import FORMAT as GRAPHALYTICS
from gpugraph.graph.formats.graphalytics import belongs
from gpugraph.graph.formats.gunrock import FORMAT as GUNROCK
from gpugraph.graph.formats.input_file import Source
from gpugraph.graph.formats.matrix_market import FORMAT as MATRIX_MARKET
from gpugraph.graph.formats.metis import FORMAT as METIS
from gpugraph.graph.formats.native import FORMAT as NATIVE
from gpugraph.graph.formats.npz import FORMAT as NPZ
from gpugraph.graph.formats.pbbs import FORMAT as PBBS
from gpugraph.graph.formats.tables import GML, GRAPHML, NETWORKX, PARQUET, TABLE, is_table

FORMATS: tuple[Format, ...] = (
    GUNROCK,
    NATIVE,
    PARQUET,
    GRAPHML,
    GML,
    DOT,
    NETWORKX,
    NPZ,
    MATRIX_MARKET,
    PBBS,
    DIMACS,
    GALOIS,
    GRAPHALYTICS,
    EDGE_LIST,
    METIS,
    GAP,
    ECL,
)
"""In the order in which they are asked: a .csr without gpugraph's magic can only be Gunrock's."""

EXTENSIONS: frozenset[str] = frozenset(extension for form in FORMATS for extension in form.extensions)

_ALIASES = {"pace": "dimacs", "wel": "edgelist", "snap": "el", "native": "csr", "scipy": "npz"}


def named(name: str) -> Format:
    """Return the format called ``name``.  Raises InputError if there is none."""
    known = {form.name: form for form in (*FORMATS, PLAIN, COUNTED, TABLE)}
    wanted = name.lower().lstrip(".")
    if form := known.get(_ALIASES.get(wanted, wanted)):
        return form
    by_extension = [form for form in FORMATS if f".{wanted}" in form.extensions]
    if len(by_extension) == 1:
        return by_extension[0]
    raise unknown_name("graph format", name, [*known, "pace"])


def extension_of(name: str) -> str:
    """Return a file name's extension in lower case, before any compression suffix."""
    stem = strip_suffix(name)
    dot = stem.rfind(".")
    return stem[dot:].lower() if dot > stem.rfind("/") else ""


def recognise(source: Source) -> Format:
    """Return the format of a file by its first bytes, else its name, size or numbers, or raise GraphFormatError."""
    head = source.head
    for form in FORMATS:
        if form.sniff(head):
            return form
    if belongs(source.path, source.extension) and not source.columns:
        return GRAPHALYTICS
    binary = looks_binary(head)
    by_name = [form for form in FORMATS if source.extension in form.extensions]
    by_name.sort(key=lambda form: form.binary is not binary)
    if source.columns and by_name[:1] in ([], [EDGE_LIST]):
        return TABLE
    if by_name:
        return TABLE if by_name[0] is EDGE_LIST and is_table(source) else by_name[0]
    fitting = [form for form in FORMATS if form.binary and form.fits(source)] if binary else []
    if len(fitting) == 1:
        return fitting[0]
    if not binary and looks_numeric(head):
        return EDGE_LIST
    tried = ", ".join(form.title for form in FORMATS)
    raise source.error("its format is not recognised", f"name it with --input-format; known are {tried}")


def for_output(name: str) -> Format:
    """Return the format that a name asks to be written.  Raises InputError if there is none that is written."""
    extension = extension_of(name)
    forms = [form for form in FORMATS if extension in form.extensions]
    writable = sorted({e for form in FORMATS if form.write for e in form.extensions})
    if not forms:
        raise InputError(
            f"no graph format is called '{extension or name}'", where=name, remedy=f"end it in {', '.join(writable)}"
        )
    for form in forms:
        if form.write:
            return form
    raise InputError(f"{forms[0].title} is only read", where=name, remedy=f"end it in {', '.join(writable)}")


def looks_binary(head: bytes) -> bool:
    """True if the bytes cannot begin a text: there are control characters among them."""
    return any(byte < 9 or 14 <= byte < 27 for byte in head[:1024])
