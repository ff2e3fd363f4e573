"""The formats there are, found by their files, and recognised by content if that decides and by name otherwise."""

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from gpugraph.base.compression import strip_suffix
from gpugraph.base.errors import InputError, unknown_name
from gpugraph.base.plugged import offered, plugged
from gpugraph.ext.formats.base import Format
from gpugraph.ext.formats.refused import CONTAINERS, SHORT, markup, refuse_containers, refuse_other
from gpugraph.graph.input_file import Source

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


FORMATS = tuple(described(Path(__file__).resolve().parent, "gpugraph.ext.formats"))

EXTENSIONS: frozenset[str] = frozenset(extension for form in FORMATS for extension in form.extensions)

_ALIASES = {"pace": "dimacs", "wel": "edgelist", "snap": "el", "native": "csr", "scipy": "npz"}
_LISTS = {"el": "PLAIN", "counted": "COUNTED"}
"""Names of edge lists that say what the first line is, and the constants of their module."""


def named(name: str) -> Format:
    """Return the format called ``name``.  Raises InputError if there is none."""
    wanted = name.lower().lstrip(".")
    wanted = _ALIASES.get(wanted, wanted)
    if wanted in _LISTS:
        form: Format = getattr(import_module("gpugraph.ext.formats.edge_list"), _LISTS[wanted])
        return form
    fitting = [form for form in FORMATS if form.name == wanted]
    fitting = fitting or [form for form in FORMATS if f".{wanted}" in form.extensions]
    if len(fitting) == 1:
        return fitting[0].load()
    if wanted in offered("formats"):
        plug_in: Format = plugged("formats", wanted, Format)
        return plug_in
    if fitting:
        names = " or ".join(form.name for form in fitting)
        raise InputError(f"'{name}' is the ending of several formats", remedy=f"name one of them: {names}")
    known = [*(form.name for form in FORMATS), *_LISTS, "pace", *offered("formats")]
    raise unknown_name("graph format", name, known)


def extension_of(name: str) -> str:
    """Return a file name's extension in lower case, before any compression suffix."""
    return os.path.splitext(strip_suffix(name))[1].lower()


def recognise(source: Source) -> Format:
    """Return the format of a file by its first bytes, else its name, size or numbers, or raise GraphFormatError."""
    head = source.head
    refuse_other(source)
    # Magic numbers first; a list of NetworkX's may begin as DIMACS does.
    for form in sorted(FORMATS, key=lambda form: (not form.binary, form.name == "dimacs")):
        if form.sniff(head):
            return form.load()
    refuse_containers(source, CONTAINERS)
    binary = any(byte < 9 or 14 <= byte < 27 for byte in head[:1024])  # control characters, which no text has
    by_name = [form for form in FORMATS if source.extension in (*form.extensions, f".{form.name}")]
    by_name.sort(key=lambda form: (form.binary is not binary, form.hint != b""))  # a .csr without magic is Gunrock's
    if head.lstrip()[:1] == b"<" and source.extension != ".graphml" and not binary:  # as the number of 60 vertices is
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
    if source.extension[1:] in offered("formats"):
        return named(source.extension)
    fitting = [form for form in FORMATS if form.binary and form.load().fits(source)] if binary else []
    if len(fitting) == 1:
        return fitting[0].load()
    if not binary and (found := _list_without_a_name(source)):
        return found
    refuse_containers(source, SHORT)
    tried = ", ".join(form.title for form in FORMATS)
    raise source.error("its format is not recognised", f"name it with --input-format; known are {tried}")


def _kind_of_list(source: Source) -> Format:
    """Return the reader of a list of edges, or raise GraphFormatError if it only looks like one."""
    from gpugraph.ext.formats.text.column_roles import is_table
    from gpugraph.ext.formats.text.list_head import look, statement
    from gpugraph.ext.formats.text.lookalikes import refuse_lookalike

    head = look(source)
    refuse_lookalike(source, head)
    return named("table" if is_table(source, head, statement(source)) else "edgelist")


def _list_without_a_name(source: Source) -> Format | None:
    """Return the reader of a text that is a list though its name does not say so; None where it is none."""
    from gpugraph.ext.formats.edge_list import looks_numeric
    from gpugraph.ext.formats.text.list_head import is_list, look
    from gpugraph.ext.formats.text.lookalikes import refuse_lookalike

    head = look(source)
    if looks_numeric(source.head) or is_list(head):
        return _kind_of_list(source)
    refuse_lookalike(source, head)
    return None


def for_output(name: str, ending: str | None = None) -> Format:
    """Return the format that a name, or an ``ending``, asks to be written.  Raises InputError if none is written."""
    extension = extension_of(name if ending is None else f"x.{ending}")
    forms = [form for form in FORMATS if extension in (*form.extensions, f".{form.name}")]
    writable = sorted({e for form in FORMATS if form.write for e in form.extensions})
    for form in forms:
        if form.write:
            return form.load()
    if extension[1:] in offered("formats"):
        return named(extension)
    what = f"{forms[0].title} is only read" if forms else f"no graph format is called '{extension or name}'"
    raise InputError(what, where=name, remedy=f"end it in {', '.join(writable)}")
