"""The formats there are, found by their files, and recognised by content if that decides and by name otherwise."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from gpugraph.base.compression import strip_suffix
from gpugraph.base.errors import GraphFormatError, InputError, unknown_name
from gpugraph.graph.formats.base import Format
from gpugraph.graph.formats.input_file import Source

_CALL = re.compile(r"^([A-Z]+) = (Format\((?:.*\)$|\n(?: .*\n)+\)))", re.MULTILINE)
"""A module's ``FORMAT = Format(…)``, in one line or in several."""


@dataclass(frozen=True)
class Known:
    """What a format's module says of it, read without importing it; see ``Format``."""

    module: str
    constant: str
    name: str
    title: str
    extensions: tuple[str, ...]
    hint: bytes = b""
    shared: tuple[str, ...] = ()
    binary: bool = False
    write: bool = False

    def load(self) -> Format:
        """Return the format itself."""
        form: Format = getattr(import_module(self.module), self.constant)
        return form

    def sniff(self, head: bytes) -> bool:
        """True if a file that begins with these bytes can be nothing else."""
        return bool(self.hint and re.search(self.hint, head)) and self.load().sniff(head)


def described(folder: Path, package: str) -> Iterator[Known]:
    """Yield what the modules of a folder, which is that of a package, say of their formats."""
    for file in sorted(folder.glob("*.py")):
        for constant, call in _CALL.findall(file.read_text("utf-8")):
            given: dict[str, Any] = {}
            for word in ast.parse(call, mode="eval").body.keywords:
                if word.arg == "write":
                    given["write"] = True
                elif word.arg in Known.__annotations__:
                    given[word.arg] = ast.literal_eval(word.value)
            yield Known(f"{package}.{file.stem}", constant, **given)


_ROOT = Path(__file__).resolve().parents[2]
CORE = tuple(described(_ROOT / "graph" / "formats", "gpugraph.graph.formats"))
OTHERS = tuple(described(_ROOT / "ext" / "formats", "gpugraph.ext.formats"))
FORMATS = (*CORE, *OTHERS)

EXTENSIONS: frozenset[str] = frozenset(extension for form in FORMATS for extension in form.extensions)

_ALIASES = {"pace": "dimacs", "wel": "edgelist", "snap": "el", "native": "csr", "scipy": "npz"}
_LISTS = {"el": "PLAIN", "counted": "COUNTED"}
"""Names of edge lists that say what the first line is, and the constants of their module."""


def named(name: str) -> Format:
    """Return the format called ``name``.  Raises InputError if there is none."""
    wanted = name.lower().lstrip(".")
    wanted = _ALIASES.get(wanted, wanted)
    if wanted in _LISTS:
        form: Format = getattr(import_module("gpugraph.graph.formats.edge_list"), _LISTS[wanted])
        return form
    fitting = [form for form in FORMATS if form.name == wanted]
    fitting = fitting or [form for form in FORMATS if f".{wanted}" in form.extensions]
    if len(fitting) == 1:
        return fitting[0].load()
    raise unknown_name("graph format", name, [*(form.name for form in FORMATS), *_LISTS, "pace"])


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
    for form in (*OTHERS, *CORE):  # a list of NetworkX's may begin as DIMACS does
        if form.sniff(head):
            return form.load()
    _refuse_containers(source, _CONTAINERS)
    binary = any(byte < 9 or 14 <= byte < 27 for byte in head[:1024])  # control characters, which no text has
    by_name = [form for form in FORMATS if source.extension in form.extensions]
    by_name.sort(key=lambda form: (form.binary is not binary, form.hint != b""))  # a .csr without magic is Gunrock's
    is_number = binary and bool(by_name) and by_name[0].binary  # of 60 vertices, whose first byte is that of "<"
    if head.lstrip()[:1] == b"<" and source.extension != ".graphml" and not is_number:
        raise markup(source)
    if not source.columns:
        for form in FORMATS:
            if source.extension in form.shared and form.load().fits(source):
                return form.load()
    is_list = bool(by_name) and by_name[0].name == "edgelist"
    if source.columns and (is_list or not by_name):
        return named("table")
    if by_name:
        return _kind_of_list(source) if is_list else by_name[0].load()
    fitting = [form for form in FORMATS if form.binary and form.load().fits(source)] if binary else []
    if len(fitting) == 1:
        return fitting[0].load()
    if not binary and (found := _list_without_a_name(source)):
        return found
    _refuse_containers(source, _SHORT)
    tried = ", ".join(form.title for form in FORMATS)
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
    from gpugraph.graph.formats.list_head import is_table, look, refuse_lookalike, statement

    head = look(source)
    refuse_lookalike(source, head)
    return named("table" if is_table(source, head, statement(source)) else "edgelist")


def _list_without_a_name(source: Source) -> Format | None:
    """Return the reader of a text that is a list though its name does not say so; None where it is none."""
    from gpugraph.graph.formats.edge_list import looks_numeric
    from gpugraph.graph.formats.list_head import is_list, look, refuse_lookalike

    head = look(source)
    if looks_numeric(source.head) or is_list(head):
        return _kind_of_list(source)
    refuse_lookalike(source, head)
    return None


def for_output(name: str) -> Format:
    """Return the format that a name asks to be written.  Raises InputError if there is none that is written."""
    extension = extension_of(name)
    forms = [form for form in FORMATS if extension in form.extensions]
    writable = sorted({e for form in FORMATS if form.write for e in form.extensions})
    for form in forms:
        if form.write:
            return form.load()
    what = f"{forms[0].title} is only read" if forms else f"no graph format is called '{extension or name}'"
    raise InputError(what, where=name, remedy=f"end it in {', '.join(writable)}")
