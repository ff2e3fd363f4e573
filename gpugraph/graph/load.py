"""Files of graphs: a ``.csr`` is read here, all others by ``ext/formats``; ``open.py`` takes other sources too."""

from __future__ import annotations

import os
from dataclasses import replace

from gpugraph.base.clock import HostClock
from gpugraph.base.compression import strip_suffix
from gpugraph.base.errors import InputError, OutOfMemory, missing_packages_named
from gpugraph.devices.base import Device
from gpugraph.graph import native
from gpugraph.graph.check import ensure_checked
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.input_file import Progress, Source
from gpugraph.graph.read_options import AS_GIVEN, ReadOptions
from gpugraph.graph.sources import other_files


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
    name = options.input_format or ""
    own = name.lower().lstrip(".") in ("csr", "native")
    form = other_files().named(name) if name and not own else None
    clock = HostClock() if clock is None else clock
    with clock.phase("load"):  # a pipe may have to be waited for
        opened = Source(path, progress, options, device)
    with opened as source:
        try:
            with clock.phase("load"):
                own = own or (form is None and source.head.startswith(native.MAGIC))
            graph = _native(source, clock, device) if own else other_files().read_file(source, form, clock, device)
            if check:
                with clock.phase("check"):
                    ensure_checked(graph)
        except OutOfMemory:
            raise
        except MemoryError as error:
            what = "the graph does not fit into this machine's memory"
            raise OutOfMemory(what, where=source.path, remedy="use a machine with more, or a smaller graph") from error
    return graph


def _native(source: Source, clock: HostClock, device: Device | None) -> CSRGraph:
    """Return the graph of a ``.csr``, which is mapped, and lies on the device if that has room."""
    with clock.phase("load"):
        check_names(source, native.TITLE)
        graph = native.read(source)
    check_stated(source, graph.vertices, graph.directed)
    kind = "directed" if graph.directed else "undirected"
    reading = f"read as {native.TITLE}: {kind}, as the format says"
    graph = replace(graph, name=stem(source.name), reading=reading)
    if device is not None and 0 < graph.vertices < 2**31:
        from gpugraph.graph.place import place

        place(graph, source, device, clock)
    return graph


def check_names(source: Source, title: str, named: str = "") -> None:
    """Refuse names of columns or of an attribute for a format whose edges have none; ``named``: what they have."""
    if source.columns and named != "columns":
        remedy = "name the attribute with --weight" if named else "leave --columns out"
        raise InputError(f"{title} has no columns to choose", where=source.path, remedy=remedy)
    if source.weight and not named:
        what = f"{title} has no named attributes"
        raise InputError(what, where=source.path, remedy="leave --weight out")


def check_stated(source: Source, vertices: int | None, directed: bool | None) -> None:
    """Refuse what the user says of a file that says otherwise; None: it does not say."""
    if source.vertices not in (None, vertices):
        what = f"has {vertices} vertices, not the {source.vertices} of --vertices"
        raise InputError(what, where=source.path, remedy="leave --vertices out")
    if directed is not None and source.directed not in (None, directed):
        kind, option = ("directed", "--undirected") if directed else ("undirected", "--directed")
        remedy = f"leave {option} out" + ("; --symmetrize makes it undirected" if directed else "")
        raise InputError(f"says itself that the graph is {kind}", where=source.path, remedy=remedy)


def is_graph_file(text: str) -> bool:
    """Tell whether a command-line argument means a file: it exists, holds a slash or ends as graph files do."""
    return text == "-" or os.path.exists(text) or os.sep in text or _is_ending(os.path.splitext(strip_suffix(text))[1])


def stem(name: str) -> str:
    """Return a file name without the endings of its compression and its format."""
    bare = strip_suffix(os.path.basename(name))
    begin, ending = os.path.splitext(bare)
    return begin if begin and _is_ending(ending) else bare


def _is_ending(ending: str) -> bool:
    """Tell whether a dot and what follows it, the end of a file's name, is that of a graph format."""
    return ending.lower() == ".csr" or (ending != "" and ending.lower() in other_files().EXTENSIONS)
