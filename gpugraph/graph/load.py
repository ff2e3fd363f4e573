"""Files of graphs: loaded, saved and recognised by name; ``open.py`` takes specs, data sets and objects too."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace

import numpy as np

from gpugraph.base.clock import HostClock
from gpugraph.base.compression import strip_suffix
from gpugraph.base.errors import InputError, OutOfMemory, missing_packages_named, unreadable
from gpugraph.base.files import atomic_write
from gpugraph.devices.base import Device
from gpugraph.graph.build import ASSUMED, ArcList, build
from gpugraph.graph.canonical import weight_words
from gpugraph.graph.check import check_on_device, ensure_checked, first_asymmetry
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.device_columns import DeviceColumn
from gpugraph.graph.device_rows import DeviceRows, narrow_offsets
from gpugraph.graph.formats.base import Format, IdsAreNamesError
from gpugraph.graph.formats.input_file import Progress, Source
from gpugraph.graph.formats.lines import wide_encoding
from gpugraph.graph.formats.refused import markup
from gpugraph.graph.read_options import AS_GIVEN, ReadOptions
from gpugraph.graph.sources import device_graphs
from gpugraph.graph.view import MAX_NARROW_ARCS

_ATTRIBUTES = ("graphml", "gml", "networkx", "dot")
"""Formats whose edges have named attributes."""
_TABLES = ("table", "parquet")
"""Formats whose edges have named columns."""


@missing_packages_named()
def load_file(
    path: str | os.PathLike[str],
    options: ReadOptions = AS_GIVEN,
    *,
    check: bool = True,
    clock: HostClock | None = None,
    progress: Progress | None = None,
    device: Device | None = None,
) -> CSRGraph:
    """Return the graph of a file, compressed or not, or of ``"-"``, standard input.

    Args:
        path: the file.
        options: the format, and what the user says of a file that does not say it itself.
        check: check the whole structure of a ``.csr``, else it is only mapped, which takes no time at any size, and
            ``check_structure`` has to run before any algorithm does; other formats are checked while they are read.
        clock: what the phases ``load``, ``build`` and ``check`` are timed by.
        progress: called with the bytes read and the bytes there are, while text is read.
        device: builds the rows of what is listed, and holds and checks those of a ``.csr``, where it can.

    Raises:
        InputError: no such file or format, or it may not be read.
        GraphFormatError: the file is not what it claims to be; the message names the line where there is one.
        OutOfMemory: the graph does not fit into this machine's memory.
    """
    from gpugraph.graph.formats import known

    form = known.named(options.input_format) if options.input_format else None
    clock = HostClock() if clock is None else clock
    with clock.phase("load"):  # a pipe may have to be waited for
        opened = Source(path, progress, options, device)
    with opened as source:
        try:
            graph = _loaded(source, form, clock, device)
            if check:
                with clock.phase("check"):
                    ensure_checked(graph)
        except MemoryError as error:
            what = "the graph does not fit into this machine's memory"
            raise OutOfMemory(what, where=source.path, remedy="use a machine with more, or a smaller graph") from error
    return graph


def _loaded(source: Source, form: Format | None, clock: HostClock, device: Device | None) -> CSRGraph:
    """Read and build."""
    from gpugraph.graph.formats import known

    with clock.phase("load"):
        if (form is None or not form.binary) and (encoding := wide_encoding(source.head)):
            remedy = f"convert it: iconv -f {encoding} -t UTF-8 {source.path} > utf8{source.extension}"
            raise source.error(f"is {encoding} text", remedy)
        form = form or known.recognise(source)
        if form.name not in ("graphml", "networkx") and not form.binary and source.head.lstrip()[:1] == b"<":
            raise markup(source)
        _check_names(source, form)
        try:
            content = form.read(source)
        except IdsAreNamesError:
            content = known.named("table").read(source)
    _check_options(source, content, form)
    if not isinstance(content, ArcList):
        lines = "directed" if content.directed else "undirected"
        graph = replace(content, name=stem(source.name), reading=f"read as {form.title}: {lines}, as the format says")
        if device is not None and 0 < graph.vertices < 2**31:
            _place(graph, source, device, clock)
        return graph
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


def _check_names(source: Source, form: Format) -> None:
    """Refuse names of columns or of an attribute for a format that has none."""
    if source.columns and form.name not in _TABLES:
        remedy = "name the attribute with --weight" if form.name in _ATTRIBUTES else "leave --columns out"
        raise InputError(f"{form.title} has no columns to choose", where=source.path, remedy=remedy)
    if source.weight and form.name not in (*_ATTRIBUTES, *_TABLES):
        what = f"{form.title} has no named attributes"
        raise InputError(what, where=source.path, remedy="leave --weight out")


def _check_options(source: Source, content: ArcList | CSRGraph, form: Format) -> None:
    """Refuse what the user says of a file that says otherwise."""
    if source.vertices not in (None, content.vertices):
        what = f"has {content.vertices} vertices, not the {source.vertices} of --vertices"
        raise InputError(what, where=source.path, remedy="leave --vertices out")
    says = False if isinstance(content, ArcList) and content.one_sided else content.directed
    if says is not None and source.directed not in (None, says):
        kind, option = ("directed", "--undirected") if says else ("undirected", "--directed")
        remedy = f"leave {option} out" + ("; --symmetrize makes it undirected" if says else "")
        raise InputError(f"says itself that the graph is {kind}", where=source.path, remedy=remedy)


def _place(graph: CSRGraph, source: Source, device: Device, clock: HostClock) -> None:
    """Copy the rows of a file's graph to a device, if it has room, and check them there, or raise GraphFormatError."""
    try:
        with clock.phase("transfer"):
            object.__setattr__(graph, "on_device", _copied(graph, source, device))
        with clock.phase("check"):
            check_on_device(graph)
    except OutOfMemory:
        object.__setattr__(graph, "on_device", None)


def _copied(graph: CSRGraph, source: Source, device: Device) -> DeviceRows:
    """Return the rows on a device: straight from a file that is mapped, else from the host's memory."""
    device.require(graph.nbytes + 4 * (graph.vertices + 1))
    arrays = (graph.offsets, graph.targets, graph.weights)
    with source.descriptor() as file:
        if file is None:
            copies = [device.upload(array) for array in arrays]
        else:
            begin = source.data.ctypes.data
            try:
                copies = [device.upload_file(file, a.ctypes.data - begin, len(a), a.dtype) for a in arrays]
            except EOFError:
                raise source.error(
                    f"cut short while it was read: {graph.vertices} vertices and {graph.arcs} arcs ask for "
                    f"{len(source.data)} bytes, the file has {os.fstat(file).st_size}"
                ) from None
            except OSError as error:
                raise unreadable(source.path, error) from error
    offsets = copies[0] if graph.arcs >= MAX_NARROW_ARCS else narrow_offsets(device, copies[0], graph.arcs)
    return DeviceRows(device, offsets, copies[1], copies[2], lambda: graph)


def _built(arcs: ArcList, source: Source, form: Format, device: Device | None) -> CSRGraph:
    """Build, and point at the file and the line where the two arcs of an edge differ."""
    name, path = stem(source.name), source.path
    try:
        if device is not None and device_graphs().can_build(arcs):
            there = isinstance(arcs.tails, DeviceColumn)
            remake = (lambda: _read_again(source, form)) if there else None
            with suppress(OutOfMemory):
                return device_graphs().build_on_device(arcs, device, name=name, source=path, remake=remake)
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
        return _loaded(same, form, HostClock(), None)


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
    from gpugraph.graph.formats import known

    name = os.fspath(path)
    form = writable_format(name, output_format)
    try:
        graph, notices = _with_ids_for(graph, form, renumber)
        ensure_checked(graph)
        with atomic_write(name, "wb", lasting=lasting) as stream:
            form.write(graph, stream, known.extension_of(name))  # type: ignore[misc]
    except InputError as error:
        if error.where is None:
            raise InputError(error.what, where=name, remedy=error.remedy) from error
        raise
    return notices


def writable_format(name: str, output_format: str | None = None) -> Format:
    """Return the format in which a file will be written.  Raises InputError if there is none that is written."""
    from gpugraph.graph.formats import known

    form = known.named(output_format) if output_format else known.for_output(name)
    if form.write is None:
        raise InputError(f"{form.title} is only read", where=name, remedy="write another format, e.g. .csr")
    return form


def _with_ids_for(graph: CSRGraph, form: Format, renumber: bool) -> tuple[CSRGraph, tuple[str, ...]]:
    """Return the graph with the ids a format is to write (None: its own numbers), and notes, or raise InputError."""
    names = graph.vertex_names
    if names is None:
        return graph, ()
    whole = names.dtype.kind in "iu"
    if form.ids == "any" and whole and not renumber and (names[:1] >= 0).all():
        return graph, ()
    plain = graph.renamed(vertex_names=None)
    from_one = whole and np.array_equal(names, np.arange(1, len(names) + 1))
    if from_one and form.ids == "from 1":
        return plain, ()
    first = int(form.ids == "from 1")
    few = ", ".join([*map(str, names[:3]), *(["…"] if len(names) > 3 else [])])
    if from_one or renumber:
        return plain, (f"vertices are numbered from {first} in the file; their ids, {few}, are not in it",)
    what = f"{form.title} numbers vertices from {first} and cannot hold their ids {few}"
    raise InputError(what, remedy="write an edge list, e.g. .wel, or leave the ids out with --renumber")


def is_graph_file(text: str) -> bool:
    """Tell whether a command-line argument means a file: it exists, holds a slash or ends as graph files do."""
    from gpugraph.graph.formats import known

    return text == "-" or os.path.exists(text) or os.sep in text or known.extension_of(text) in known.EXTENSIONS


def stem(name: str) -> str:
    """Return a file name without the endings of its compression and its format."""
    from gpugraph.graph.formats import known

    bare = strip_suffix(os.path.basename(name))
    extension = known.extension_of(bare)
    return bare[: -len(extension)] if extension in known.EXTENSIONS and len(bare) > len(extension) else bare
