"""Graph files of all formats but ``.csr``: read and built; and files of any format written."""

import os
import re
from contextlib import suppress
from dataclasses import replace

import numpy as np

from gpugraph.base.clock import HostClock
from gpugraph.base.errors import InputError, OutOfMemory, missing_packages_named
from gpugraph.base.files import atomic_write
from gpugraph.devices.base import Device
from gpugraph.ext.device_graphs.device_columns import DeviceColumn
from gpugraph.ext.formats import known
from gpugraph.ext.formats.base import Format
from gpugraph.ext.formats.checks import IdsAreNamesError
from gpugraph.ext.formats.header_size import header_size
from gpugraph.ext.formats.known import named as named
from gpugraph.ext.formats.named_sources import named_sources as named_sources
from gpugraph.ext.formats.refused import markup
from gpugraph.ext.formats.text.lines import wide_encoding
from gpugraph.graph.build import ArcList, build
from gpugraph.graph.canonical import weight_words
from gpugraph.graph.check import ensure_checked, first_asymmetry
from gpugraph.graph.csr import ASSUMED, CSRGraph
from gpugraph.graph.input_file import Source
from gpugraph.graph.load import check_names, check_stated, stem

EXTENSIONS = known.EXTENSIONS


def read_file(source: Source, form: Format | None, clock: HostClock, device: Device | None) -> CSRGraph:
    """Return the graph of a file, read and built; ``form`` is its format, or None: it is to be recognised."""
    with clock.phase("load"):
        if (form is None or not form.binary) and (encoding := wide_encoding(source.head)):
            remedy = f"convert it: iconv -f {encoding} -t UTF-8 {source.path} > utf8{source.extension}"
            raise source.error(f"is {encoding} text", remedy)
        form = form or known.recognise(source)
        if form.name not in ("graphml", "networkx") and not form.binary and source.head.lstrip()[:1] == b"<":
            raise markup(source)
        check_names(source, form.title, form.named)
        try:
            content = form.read(source)
        except IdsAreNamesError:
            content = known.named("table").read(source)
    assert isinstance(content, ArcList)  # all others list arcs
    check_stated(source, content.vertices, False if content.one_sided else content.directed)
    open_ = content.directed is None and not content.one_sided
    with clock.phase("build"):
        if open_ and source.directed is not None:
            content = replace(content, directed=source.directed, one_sided=not source.directed)
        graph = _built(content, source, form, device)
    assumed = open_ and source.directed is None and graph.directed and form.ids == "any"  # a list, no matrix
    if assumed and not content.why:
        graph = graph.renamed(notes=(*graph.notes, ASSUMED))
    return graph.renamed(reading=_reading(graph, content, form, source.directed if open_ else None))


def _reading(graph: CSRGraph, content: ArcList, form: Format, asked: bool | None) -> str:
    """Return the sentence that says how a file was taken: direction and why, weights, what was dropped or merged."""
    if content.why:
        why = content.why
    elif asked is not None:
        why = "as requested"
    elif content.directed is not None or content.one_sided:
        why = "as the format says"
    elif graph.directed:
        why = "not every arc has its reverse of equal weight"
    else:
        why = "every arc has its reverse of equal weight"
    weighs = content.weighs or ("every edge weighs 1" if content.weights is None else "")
    begins, holds = ("dropped", "merged", "summed"), (" have no ", " has no ")
    changed = [note for note in graph.notes if note.startswith(begins) or any(words in note for words in holds)]
    parts = [content.listed, f"{'directed' if graph.directed else 'undirected'}: {why}", weighs, *changed]
    return f"read as {form.title}: {'; '.join(part for part in parts if part)}"


def _built(arcs: ArcList, source: Source, form: Format, device: Device | None) -> CSRGraph:
    """Build, and point at the file and the line where the two arcs of an edge differ."""
    name, path = stem(source.name), source.path
    try:
        if device is not None:
            from gpugraph.ext.device_graphs.device_build import build_on_device, can_build

            remake = (lambda: _read_again(source, form)) if isinstance(arcs.tails, DeviceColumn) else None
            with suppress(OutOfMemory):
                if can_build(arcs):
                    return build_on_device(arcs, device, name=name, source=path, remake=remake)
        return build(arcs, name=name, source=path)
    except InputError as error:
        line = None
        if form.line_of_vertex is not None:
            graph = build(replace(arcs, directed=None))
            _, vertex, _ = first_asymmetry(graph.offsets, graph.targets, weight_words(graph.weights)[0])
            line = form.line_of_vertex(source, int(vertex))
        raise source.error(error.what, error.remedy, line=line) from error


def _read_again(source: Source, form: Format) -> CSRGraph:
    """Return the graph of a text, made by the host, once the device that had made it is closed."""
    with source.again() as same:
        return read_file(same, form, HostClock(), None)


@missing_packages_named()
def save_file(
    graph: CSRGraph,
    path: str | os.PathLike[str],
    output_format: str | None = None,
    *,
    renumber: bool = False,
    lasting: bool = True,
) -> tuple[str, ...]:
    """Write a graph, whole or not at all; a name that ends in .gz, .bz2, .xz or .zst is compressed.

    Returns what a user should know about the ids in the file, a sentence each; ``renumber`` leaves the graph's own out.
    ``lasting`` waits until the disk has it.

    Raises:
        InputError: the name's ending is unknown, the format cannot hold the graph or its ids, or the file cannot be
            written.
    """
    name = os.fspath(path)
    form = writable_format(name, output_format)
    try:
        extension = _written_ending(name, output_format, form)
        graph, notices = _with_ids_for(graph, form, renumber, takes_words=extension in (".csv", ".tsv"))
        ensure_checked(graph)
        with atomic_write(name, "wb", lasting=lasting) as stream:
            form.write(graph, stream, extension)  # type: ignore[misc]
    except InputError as error:
        if error.where is None:
            raise InputError(error.what, where=name, remedy=error.remedy) from error
        raise
    return notices


def writable_format(name: str, output_format: str | None = None) -> Format:
    """Return the format in which a file will be written.  Raises InputError if there is none that is written."""
    if name == "-" and output_format is None:
        raise InputError("standard output has no ending", remedy="name the format, e.g. --output-format csr or gr")
    ending = _ending_of(output_format) if output_format else ""
    is_ending = ending in known.EXTENSIONS
    form = known.named(output_format) if output_format and not is_ending else known.for_output(name, ending[1:] or None)
    if form.write is None:
        raise InputError(f"{form.title} is only read", where=name, remedy="write another format, e.g. .csr")
    return form


def _ending_of(output_format: str) -> str:
    return f".{output_format.lower().lstrip('.')}"


def _written_ending(name: str, output_format: str | None, form: Format) -> str:
    """Return the ending by which a file is written: the one requested, else its name's, as for the name of a format."""
    own = known.extension_of(name)
    asked = _ending_of(output_format) if output_format else own
    return own if asked == f".{form.name}" and own in form.extensions else asked


def _with_ids_for(graph: CSRGraph, form: Format, renumber: bool, takes_words: bool) -> tuple[CSRGraph, tuple[str, ...]]:
    """Return the graph with the ids a format is to write (None: its own numbers), and notes, or raise InputError."""
    names = graph.printed_names
    if names is None:
        return graph, ()
    whole = names.dtype.kind in "iu"
    if form.ids == "any" and not renumber and ((names[:1] >= 0).all() if whole else takes_words):
        return graph.renamed(vertex_names=names), ()
    plain = graph.renamed(vertex_names=None)
    from_one = whole and np.array_equal(names, np.arange(1, len(names) + 1))
    if from_one and form.ids == "from 1":
        return plain, ()
    first = int(form.ids == "from 1")
    few = ", ".join([*map(str, names[:3]), *(["…"] if len(names) > 3 else [])])
    if from_one or renumber:
        return plain, (f"vertices are numbered from {first} in the file; their ids, {few}, are not in it",)
    is_list, below = form.ids == "any", whole and bool((names < 0).any())
    what = f"{form.title} numbers vertices from {first} and cannot hold their ids {few}"
    if is_list:
        what = f"a list of edges cannot hold {'ids below 0' if below else 'names unless it is a .csv or .tsv'}: {few}"
    others = "" if below else f"write {'an edge list, e.g. .wel' if whole else '.csv or .tsv'}, or "
    raise InputError(what, remedy=f"{others}leave the ids out with --renumber")


_BYTES_PER_ARC = 12
"""About what a line of an edge list takes, two ids and a weight, where that cannot be seen."""

_SAMPLE = 1 << 16
"""Bytes from the middle of a text whose lines are counted."""

_COMPRESSED = 4
"""About how much smaller a compressed list of edges is."""


def lines_and_arcs(path: str) -> tuple[int, int, int | None]:
    """Return about how many lines a text of arcs has, how many arcs they are, and vertices where a header says so."""
    if path.endswith((".properties", ".v")) and os.path.isfile(edges := f"{os.path.splitext(path)[0]}.e"):
        path = edges  # the bulk of a Graphalytics graph
    if stated := header_size(path):
        vertices, arcs, lines = stated
        return lines, arcs, vertices
    size = os.path.getsize(path)
    if re.search(r"\.(gz|bz2|xz|zst)$", path):
        lines = size // _BYTES_PER_ARC * _COMPRESSED
        return lines, lines, None
    middle = b""
    with suppress(OSError), open(path, "rb") as file:  # reading it will tell
        file.seek(size // 2)
        middle = file.read(_SAMPLE)
    lines = size * middle.count(b"\n") // len(middle) if len(middle) == _SAMPLE else size // _BYTES_PER_ARC
    return lines, lines, None
