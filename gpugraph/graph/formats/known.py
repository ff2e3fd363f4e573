"""The list of formats, recognised by content if that decides and by name otherwise."""

from __future__ import annotations

import re

from gpugraph.base.compression import strip_suffix
from gpugraph.base.errors import GraphFormatError, InputError, unknown_name
from gpugraph.ext.formats import (
    dot,
    ecl,
    galois,
    gap,
    gml,
    graphalytics,
    graphml,
    gunrock,
    metis,
    networkx_list,
    npz,
    pbbs,
    tables,
)
from gpugraph.ext.formats.tables import TABLE
from gpugraph.graph.formats import dimacs, edge_list, matrix_market, native
from gpugraph.graph.formats.base import Format
from gpugraph.graph.formats.edge_list import COUNTED, PLAIN, looks_numeric
from gpugraph.graph.formats.input_file import Source
from gpugraph.graph.formats.list_head import is_list, is_table, look, refuse_lookalike, statement

_OTHERS = npz, matrix_market, pbbs, dimacs, galois, graphalytics, edge_list, metis, gap, ecl
FORMATS: tuple[Format, ...] = (
    *(gunrock.FORMAT, native.FORMAT, tables.PARQUET, graphml.FORMAT, gml.FORMAT, dot.FORMAT, networkx_list.FORMAT),
    *(module.FORMAT for module in _OTHERS),
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


_UNPACK = "unpack it, and name the graph file inside"
_EXPORT = "export its edges as text, e.g. u,v,weight"
_CONTAINERS = (
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", _EXPORT),
    (b"MATLAB 5.0 MAT-file", "a MATLAB file", "save its matrix as Matrix Market or as SciPy's .npz"),
    (b"SQLite format 3\0", "an SQLite database", _EXPORT),
    (b"%PDF-", "a PDF", _EXPORT),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook", "save it as CSV"),
)
_SHORT = (
    (b"\x04\x22\x4d\x18", "compressed by lz4", _UNPACK),
    (b"\x1f\x9d", "compressed by compress (.Z)", _UNPACK),
    (b"\x80\x04\x95", "a pickle, which is never opened", "load it in Python, and give gpugraph the graph"),
    (b"\x80\x05\x95", "a pickle, which is never opened", "load it in Python, and give gpugraph the graph"),
)
"""Files that hold other files or objects, by their first bytes; short ones, which a binary graph may begin with."""


def _refuse_containers(source: Source, containers: tuple[tuple[bytes, str, str], ...]) -> None:
    """Refuse a file that holds other files, by its name."""
    for magic, what, remedy in containers:
        if source.head.startswith(magic):
            raise source.error(f"is {what}, not a graph", remedy)


def recognise(source: Source) -> Format:
    """Return the format of a file by its first bytes, else its name, size or numbers, or raise GraphFormatError."""
    head = source.head
    _refuse_other(source)
    for form in FORMATS:
        if form.sniff(head):
            return form
    _refuse_containers(source, _CONTAINERS)
    binary = any(byte < 9 or 14 <= byte < 27 for byte in head[:1024])  # control characters, which no text has
    by_name = [form for form in FORMATS if source.extension in form.extensions]
    by_name.sort(key=lambda form: form.binary is not binary)
    is_number = binary and bool(by_name) and by_name[0].binary  # of 60 vertices, whose first byte is that of "<"
    if head.lstrip()[:1] == b"<" and source.extension != ".graphml" and not is_number:
        raise markup(source)
    if graphalytics.belongs(source.path, source.extension) and not source.columns:
        return graphalytics.FORMAT
    if source.columns and by_name[:1] in ([], [edge_list.FORMAT]):
        return TABLE
    if by_name:
        return _kind_of_list(source) if by_name[0] is edge_list.FORMAT else by_name[0]
    fitting = [form for form in FORMATS if form.binary and form.fits(source)] if binary else []
    if len(fitting) == 1:
        return fitting[0]
    if not binary:
        top = look(source)
        if looks_numeric(head) or is_list(top):
            return _kind_of_list(source)
        refuse_lookalike(source, top)
    _refuse_containers(source, _SHORT)
    tried = ", ".join(form.title for form in (*FORMATS, TABLE))
    raise source.error("its format is not recognised", f"name it with --input-format; known are {tried}")


_ELEMENT = re.compile(rb"<([A-Za-z_][\w.:-]*)")
"""The name of an element that begins."""


def markup(source: Source) -> GraphFormatError:
    """Return the error for XML that is no GraphML, by the name of its first element, or for a page of HTML."""
    first = _ELEMENT.search(source.head)
    name = first[1].decode() if first else ""
    if not name or name.lower() in ("html", "head", "body", "title"):
        remedy = "open it in a browser: a server may have sent an error"
        return source.error("begins with '<', as a page of HTML does", remedy)
    return source.error(f"is XML whose first element is <{name}>, no GraphML", "export the graph as GraphML or CSV")


_ADJACENCY = re.compile(rb"#[^\n]*\n# GMT \w{3} \w{3} [^\n]*\n#")
"""What NetworkX writes on top of its adjacency lists: the program, the time and the graph's name."""


_OTHER = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[ \t]*[#%][^\n]*\n|\s)*+(?:"
    rb"(?P<Pajek>(?i:\*(?:vertices|network|arcs|edges)\b))|(?P<LEDA>LEDA\.GRAPH\b)|(?P<UCINET>(?i:dl\s+n\s*=))"
    rb"|(?P<Tulip>\(tlp \")|(?P<graph6>>>(?:di)?graph6<<|>>sparse6<<)|(?P<GDF>nodedef>)"
    rb"|(?P<LEMON>@(?:nodes|arcs|edges|digraph)\b)|(?P<JSON>\{\s*\"|\[\s*[\[{]))"
)
"""How files of formats begin that other programs write and that are not read."""


def _refuse_other(source: Source) -> None:
    """Refuse what is plainly an archive, another program's format, or an array that is no sparse matrix."""
    if found := _OTHER.match(source.head):
        remedy = "convert it, or write its edges as CSV: source,target,weight"
        raise source.error(f"is in the format of {found.lastgroup}, which is not read", remedy)
    if source.head[257:262] == b"ustar":
        name = source.head[:100].rstrip(b"\0").decode("utf-8", "replace")
        raise source.error(f"is a tar archive that begins with {name}", "unpack it, and name the graph file in it")
    if _ADJACENCY.match(source.head):
        remedy = "write its edges: networkx.write_edgelist(graph, path)"
        raise source.error("is an adjacency list of NetworkX, with all neighbours of a vertex in a line", remedy)
    if source.head.startswith(b"\x93NUMPY"):
        sparse = "scipy.sparse.csgraph.csgraph_from_dense(numpy.load(path))"  # inf is no edge there, as 0 is
        remedy = f"save a sparse matrix: scipy.sparse.save_npz('m.npz', {sparse})"
        raise source.error("is a NumPy array (.npy), which does not say whether it is a matrix or a list", remedy)


def _kind_of_list(source: Source) -> Format:
    """Return the reader of a list of edges, or raise GraphFormatError if it only looks like one."""
    head = look(source)
    refuse_lookalike(source, head)
    return TABLE if is_table(source, head, statement(source)) else edge_list.FORMAT


def for_output(name: str) -> Format:
    """Return the format that a name asks to be written.  Raises InputError if there is none that is written."""
    extension = extension_of(name)
    forms = [form for form in FORMATS if extension in form.extensions]
    writable = sorted({e for form in FORMATS if form.write for e in form.extensions})
    for form in forms:
        if form.write:
            return form
    what = f"{forms[0].title} is only read" if forms else f"no graph format is called '{extension or name}'"
    raise InputError(what, where=name, remedy=f"end it in {', '.join(writable)}")
