"""Files that are no graph, or in a format that is not read: told by their first bytes, and refused by their name."""

import re

from gpugraph.base.errors import GraphFormatError
from gpugraph.graph.input_file import Source

_UNPACK = "unpack it, and name the graph file inside"
_EXPORT = "export its edges as text, e.g. u,v,weight"
CONTAINERS = (
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", _EXPORT),
    (b"MATLAB 5.0 MAT-file", "a MATLAB file", "save its matrix as Matrix Market or as SciPy's .npz"),
    (b"SQLite format 3\0", "an SQLite database", _EXPORT),
    (b"%PDF-", "a PDF", _EXPORT),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook", "save it as CSV"),
)
SHORT = (
    (b"\x04\x22\x4d\x18", "compressed by lz4", _UNPACK),
    (b"\x1f\x9d", "compressed by compress (.Z)", _UNPACK),
    (b"\x80\x04\x95", "a pickle, which is never opened", "load it in Python, and give gpugraph the graph"),
    (b"\x80\x05\x95", "a pickle, which is never opened", "load it in Python, and give gpugraph the graph"),
)
"""Files that hold other files or objects, by their first bytes; short ones, which a binary graph may begin with."""


def refuse_containers(source: Source, containers: tuple[tuple[bytes, str, str], ...]) -> None:
    """Refuse a file that holds other files, by its name."""
    for magic, what, remedy in containers:
        if source.head.startswith(magic):
            raise source.error(f"is {what}, not a graph", remedy)


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


def refuse_other(source: Source) -> None:
    """Refuse what is plainly an archive, another program's format, or an array that is no sparse matrix."""
    if found := _OTHER.match(source.head):
        remedy = "convert it, or write its edges as CSV: source,target,weight"
        raise source.error(f"is in the format of {found.lastgroup}, which is not read", remedy)
    if source.head[257:262] == b"ustar":
        name = source.head[:100].rstrip(b"\0").decode("utf-8", "replace")
        begins = "" if source.head[156:157] in b"gxKL" else f" that begins with {name}"  # no file, but facts on one
        raise source.error(f"is a tar archive{begins}", "unpack it, and name the graph file in it")
    if _ADJACENCY.match(source.head) or source.extension in (".adjlist", ".multiline_adjlist"):
        remedy = "write its edges: networkx.write_edgelist(graph, path)"
        raise source.error("is an adjacency list of NetworkX, with all neighbours of a vertex in a line", remedy)
    if source.head.startswith(b"\x93NUMPY"):
        sparse = "scipy.sparse.csgraph.csgraph_from_dense(numpy.load(path))"  # inf is no edge there, as 0 is
        remedy = f"save a sparse matrix: scipy.sparse.save_npz('m.npz', {sparse})"
        raise source.error("is a NumPy array (.npy), which does not say whether it is a matrix or a list", remedy)
