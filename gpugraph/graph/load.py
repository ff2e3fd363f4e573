"""Files of graphs: a ``.csr`` is read here, all others by ``ext/formats``; ``open.py`` takes other sources too.

A ``.csr`` is gpugraph's own format: arrays that are mapped, not read.  Layout, little-endian::

      0  magic "GPUGRAPH"          8 bytes
      8  version = 1               uint32
     12  flags: bit 0 directed     uint32
     16  offset dtype code         uint8     (2 = int64)
     17  target dtype code         uint8     (1 = int32, 2 = int64)
     18  weight dtype code         uint8     (1 int32, 2 int64, 3 uint32, 4 uint64, 5 float32, 6 float64)
     19  zero                      5 bytes
     24  vertices n                uint64
     32  arcs                      uint64
     40  digest (see digest.py)    16 bytes
     56  zero                      8 bytes
     64  offsets (n+1,), targets (arcs,), weights (arcs,), each from the next multiple of 64 on

The file ends with the last weight's byte.  Opening checks the header and the size; ``check_structure`` checks
the rest, in parallel, before any algorithm runs.
"""

import os
import struct

import numpy as np

from gpugraph.base.clock import HostClock
from gpugraph.base.compression import strip_suffix
from gpugraph.base.errors import InputError, OutOfMemory, missing_packages_named
from gpugraph.devices.base import Device
from gpugraph.graph.check import ensure_checked
from gpugraph.graph.csr import CSRGraph, target_dtype
from gpugraph.graph.input_file import Progress, Source
from gpugraph.graph.read_options import AS_GIVEN, ReadOptions
from gpugraph.graph.sources import other_files

TITLE = "gpugraph .csr"
MAGIC = b"GPUGRAPH"
VERSION = 1
HEADER = struct.Struct("<8sIIBBB5xQQ16s8x")
CODES = {1: "<i4", 2: "<i8", 3: "<u4", 4: "<u8", 5: "<f4", 6: "<f8"}


def _aligned(offset: int) -> int:
    return -(-offset // 64) * 64


def layout(vertices: int, arcs: int, target_size: int, weight_size: int) -> tuple[int, int, int, int]:
    """Return where offsets, targets and weights begin and where the file ends."""
    offsets = HEADER.size
    targets = _aligned(offsets + 8 * (vertices + 1))
    weights = _aligned(targets + arcs * target_size)
    return offsets, targets, weights, weights + arcs * weight_size


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
                own = own or (form is None and source.head.startswith(MAGIC))
            if own:
                with clock.phase("load"):
                    graph = read_csr(source)
                if device is not None and 0 < graph.vertices < 2**31:
                    from gpugraph.graph.place import place

                    place(graph, source, device, clock)
            else:
                graph = other_files().read_file(source, form, clock, device)
            if check:
                with clock.phase("check"):
                    ensure_checked(graph)
        except OutOfMemory:
            raise
        except MemoryError as error:
            what = "the graph does not fit into this machine's memory"
            raise OutOfMemory(what, where=source.path, remedy="use a machine with more, or a smaller graph") from error
    return graph


def read_csr(source: Source) -> CSRGraph:
    """Map a ``.csr`` file.

    Raises GraphFormatError if header and size do not fit; no more is checked.  Raises InputError if the user says of it
    what it does not.
    """
    check_names(source, TITLE)
    data = source.data
    if len(data) < HEADER.size:
        raise source.error(f"cut short in its header: {len(data)} of {HEADER.size} bytes")
    header = data[: HEADER.size].tobytes()
    magic, version, flags, offset_code, target_code, weight_code, vertices, arcs, digest = HEADER.unpack(header)
    if magic != MAGIC:
        raise source.error("does not begin with GPUGRAPH, so it is no .csr of gpugraph")
    if version != VERSION:
        raise source.error(f"is a .csr of version {version}; this gpugraph reads version {VERSION}", "update gpugraph")
    if flags > 1 or offset_code != 2 or target_code not in (1, 2) or weight_code not in CODES:
        raise source.error("damaged: unknown flags or dtypes in the header")
    if np.dtype(CODES[target_code]) != target_dtype(vertices):
        raise source.error(f"damaged: targets of {CODES[target_code][1:]} do not belong to {vertices} vertices")
    sizes = np.dtype(CODES[target_code]).itemsize, np.dtype(CODES[weight_code]).itemsize
    at_offsets, at_targets, at_weights, end = layout(vertices, arcs, *sizes)
    source.check_size(end, f"{vertices} vertices and {arcs} arcs")
    directed = bool(flags & 1)
    if not directed and arcs % 2:
        raise source.error(f"damaged: undirected, but with an odd number of arcs, {arcs}")
    check_stated(source, vertices, directed)
    return CSRGraph(
        offsets=source.section(at_offsets, vertices + 1, "<i8"),
        targets=source.section(at_targets, arcs, CODES[target_code]),
        weights=source.section(at_weights, arcs, CODES[weight_code]),
        directed=directed,
        name=stem(source.name),
        source=source.path,
        reading=f"read as {TITLE}: {'directed' if directed else 'undirected'}, as the format says",
        stored_digest=digest.hex(),
        mapped=source.mapped,
    )


def check_names(source: Source, title: str, named: str = "") -> None:
    """Refuse names of columns or of an attribute for a format whose edges have none; ``named``: what they have."""
    if source.columns and named != "columns":
        remedy = "name the attribute with --weight" if named else "leave --columns out"
        raise InputError(f"{title} has no columns to choose", where=source.path, remedy=remedy)
    if source.weight and not named:
        raise InputError(f"{title} has no named attributes", where=source.path, remedy="leave --weight out")


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
