"""Building a CSRGraph from arcs on a device, with the same result to the bit as ``build.py`` on the host.

The kernels and the way arcs take through them are in ``cuda_kernels/build.cu``.  Where sorting all keys at once needs
more memory than the device has, the vertices are cut into ranges, and the rows of one range after the other are made:
the arcs are drawn, or read, anew for each.  So are they where several devices share a graph: each makes the rows of one
range, and no arc travels.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import OutOfMemory
from gpugraph.devices.base import Array, Device
from gpugraph.devices.kernel_file import BLOCK, INDICES, KernelFile, index_dtype, index_types
from gpugraph.ext.device_graphs.device_columns import DeviceColumn
from gpugraph.graph.build import ArcList, RowTails, asymmetric, build, check_kept, notes_of, symmetrized_notes
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.device_rows import ARCS_PER_THREAD, NOTHING, DeviceRows, narrow_offsets
from gpugraph.graph.generate import MOST_ITEMS

FILE = KernelFile("build.cu", INDICES)
_BINS = 1 << 16
"""Ranges of vertices whose arcs are counted."""
_ROOM = 0.95
"""The share of the free memory that may be taken: allocations are rounded up."""
_KEY_BYTES = 17
"""A key, its place in the second list of the sort, and what else that takes."""

Emit = Callable[[tuple[Any, ...]], None]
"""``emit(sink)`` launches what draws all edges; ``sink`` is the arguments that say where they go (arc_keys.cuh)."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Arcs as rows on a device; see ``SortedArcs``.

    Attributes:
        offsets: (n+1,) int32, uint32 or int64; rows outside of the range that was asked for are empty.
        negative: self loops of negative weight among those dropped.
        first_negative: the first of them as ``item << 31 | vertex``, or None.
    """

    offsets: Array
    targets: Array
    loops: int
    merged: int
    negative: int
    first_negative: int | None


def rows_on_device(
    device: Device,
    vertices: int,
    most: int | None,
    mirrored: bool,
    emit: Emit,
    held_per_arc: int,
    *,
    own: tuple[int, int] | None = None,
    index: np.dtype[Any] | None = None,
) -> Rows:
    """Return the rows of all arcs that ``emit`` draws, as often as it is called, or raise OutOfMemory.

    There are 1..2^31 − 1 vertices, and not many fewer arcs than ``most``; None where that has to be counted.  The
    caller will allocate ``held_per_arc`` bytes for each arc afterwards.  ``mirrored``: every edge means both its arcs;
    ``own``: the first vertex whose row is wanted, and the first behind them; ``index``: the dtype of
    positions, by default what the arcs need.
    """
    head_bits = max(1, (vertices - 1).bit_length())
    counters = device.upload(np.array([0, 0, 0, NOTHING], np.uint64))

    def draw(out: Array, shift: int, first: int, last: int) -> None:
        emit((out, np.int32(shift), np.int32(mirrored), np.int32(head_bits), np.int64(first), np.int64(last), counters))

    free = int(_ROOM * device.memory()[0]) - 8 * (vertices + 1)
    lowest, highest = own or (0, vertices)
    if most is None:
        draw(device.empty(0, np.uint64), FILE["TELL"], lowest, highest)
        most = int(device.read(counters, FILE["KEYS"]))
    ranges = [(lowest, highest, most)]
    if _KEY_BYTES * most > free:
        shift = bin_shift(vertices)
        bins = device.full(((vertices - 1) >> shift) + 1, 0, np.uint64)
        draw(bins, shift, lowest, highest)
        counts = device.download(bins).astype(np.int64)
        most = int(counts.sum())
        # Beside the keys of one range lie the targets of all, and in the end their weights instead of keys.
        held = 0 if _KEY_BYTES * most <= free else 4 * most
        _fits(device, vertices, most, (4 + held_per_arc) * most, free)
        ranges = _cut(counts, shift, lowest, highest, max((free - held) // _KEY_BYTES, 1))
        _fits(device, vertices, most, held + _KEY_BYTES * max(count for *_, count in ranges), free)
    offsets = device.empty(vertices + 1, index or index_dtype(most, unsigned=True))
    device.fill(offsets[:lowest], 0)
    defines = index_types(offsets.dtype)
    targets = device.empty(most if len(ranges) > 1 else 0, np.int32)
    base = drawn = 0
    keys = device.empty(max(count for *_, count in ranges), np.uint64)
    for first, last, _ in ranges:
        device.fill(counters[FILE["KEYS"] : FILE["KEYS"] + 1], 0)
        draw(keys, FILE["APPEND"], first, last)
        count = int(device.read(counters, FILE["KEYS"]))
        drawn += count
        if count == 0:
            device.fill(offsets[first : last + 1], base)
            continue
        found = keys[:count]
        device.sort(found)
        tiles = -(-count // FILE["TILE"])
        firsts = device.empty(tiles, np.uint32)
        FILE.kernel(device, defines, "count")(tiles, BLOCK, (np.int64(count), found, firsts))
        ends = base + np.cumsum(device.download(firsts), dtype=np.int64)
        slots = device.upload(np.concatenate([[base], ends[:-1]]))
        base = int(ends[-1])
        targets = targets if len(ranges) > 1 else device.empty(base, np.int32)
        where = (np.int32(head_bits), np.int64(first), np.int64(last), offsets, targets)
        FILE.kernel(device, defines, "rows")(tiles, BLOCK, (np.int64(count), found, slots, *where))
    device.fill(offsets[highest:], base)
    if index is None:  # those that fell away may have left few enough
        with suppress(OutOfMemory):
            offsets = narrow_offsets(device, offsets, base)
    counted = device.download(counters)
    loops, negative, at = (int(counted[FILE[name]]) for name in ("LOOPS", "NEGATIVE", "FIRST_NEGATIVE"))
    return Rows(offsets, targets[:base], loops, drawn - base, negative, None if at == NOTHING else at)


def bin_shift(vertices: int) -> int:
    """Return the bits that a vertex of so many loses to become one of at most ``_BINS`` ranges of vertices."""
    return max(0, (vertices - 1).bit_length() - _BINS.bit_length() + 1)


def negative_loop(first: int | None) -> int | None:
    """Return the vertex of a ``Rows.first_negative``."""
    return None if first is None else first % 2**31


def _fits(device: Device, vertices: int, arcs: int, needed: int, free: int) -> None:
    if needed > free:
        graph = f"a graph of {vertices} vertices and about {arcs} arcs"
        what = f"{graph} takes {needed:,} bytes to make, {max(free, 0):,} are free"
        raise OutOfMemory(what, where=device.name, remedy="ask for a smaller graph")


def _cut(counts: NDArray[np.int64], shift: int, first: int, last: int, most: int) -> list[tuple[int, int, int]]:
    """Cut vertices [first, last) into (first, last, arcs) of ``most`` arcs if a bin (tail >> shift) has no more."""
    ranges, begin, inside = [], first, 0
    for bin_, count in enumerate(counts.tolist()):
        if inside and inside + count > most:
            ranges.append((begin, bin_ << shift, inside))
            begin, inside = bin_ << shift, 0
        inside += count
    return [*ranges, (begin, last, inside)]


def can_build(arcs: ArcList) -> bool:
    """Tell whether a device can build the graph of an arc list, if it has the memory."""
    return 0 < arcs.vertices < 2**31 and 0 < len(arcs.tails) < MOST_ITEMS


def build_on_device(
    arcs: ArcList,
    device: Device,
    *,
    name: str = "graph",
    source: str = "",
    remake: Callable[[], CSRGraph] | None = None,
) -> CSRGraph:
    """Return the graph of an arc list, made on the device that will search it; see ``build.build``, also for errors.

    Where the list's columns lie on the device, no copy of it is made.  ``remake`` makes the graph on the host, once the
    device is closed; by default from the list, which is kept for it.
    """
    rows, weights = _rows_and_weights(arcs, device)
    check_kept(arcs, len(rows.targets), rows.loops, rows.merged)
    notes = (*arcs.notes, *notes_of(rows.loops, rows.negative, rows.merged, arcs.one_sided))
    there = DeviceRows(device, rows.offsets, rows.targets, weights, remake or (lambda: build(arcs)))
    graph = CSRGraph.lying_on(
        there,
        directed=bool(arcs.directed),
        name=name,
        source=source or name,
        vertex_names=arcs.vertex_names,
        notes=notes,
        negative_loop=negative_loop(rows.first_negative),
        answers=arcs.answers,
    )
    if arcs.one_sided or arcs.directed or there.is_symmetric():
        return graph
    if arcs.directed is None:
        graph.__dict__["directed"] = True
        return graph
    raise asymmetric(graph)


def _rows_and_weights(arcs: ArcList, device: Device) -> tuple[Rows, Array]:
    """Return the rows of an arc list and their (arcs,) weights, of parallel arcs the lightest."""
    if isinstance(arcs.tails, RowTails):
        return _of_rows(arcs, device)
    columns = [column for column in (arcs.tails, arcs.heads, arcs.weights) if column is not None]
    if isinstance(arcs.tails, DeviceColumn):
        return _listed(device, arcs.vertices, arcs.one_sided, list(zip(*(c.parts for c in columns), strict=True)))
    device.require(len(arcs.tails) * (8 + sum(column.dtype.itemsize for column in columns[2:])))
    ends = (device.upload(np.ascontiguousarray(ids, np.int32)) for ids in columns[:2])
    weights = (device.upload(np.ascontiguousarray(column)) for column in columns[2:])
    return _listed(device, arcs.vertices, arcs.one_sided, [(*ends, *weights)])


def _of_rows(arcs: ArcList, device: Device) -> tuple[Rows, Array]:
    """Return the same of a list that holds rows: they stay if they are sorted, without loops and parallel arcs."""
    count = len(arcs.tails)
    index = index_dtype(count, unsigned=True)
    word = 4 if arcs.weights is None else arcs.weights.dtype.itemsize
    device.require(count * (4 + word) + index.itemsize * (arcs.vertices + 1))
    offsets = device.upload(arcs.tails.offsets.astype(index))
    targets = device.upload(arcs.heads)
    weights = device.full(count, 1, np.uint32) if arcs.weights is None else device.upload(arcs.weights)
    if not arcs.one_sided and DeviceRows(device, offsets, targets, weights, arcs.on_host).digest(0) is not None:
        return Rows(offsets, targets, 0, 0, 0, None), weights
    device.require(4 * count)
    return _listed(device, arcs.vertices, arcs.one_sided, [(_tails(device, offsets, count), targets, weights)])


def _listed(
    device: Device, vertices: int, mirrored: bool, parts: list[tuple[Array, ...]], index: np.dtype[Any] | None = None
) -> tuple[Rows, Array]:
    """Return the same of a list on the device, in one part or more: tails, heads and, unless all are 1, weights."""
    starts = np.cumsum([0, *(int(tails.size) for tails, *_ in parts)]).tolist()
    count, weighted = starts[-1], len(parts[0]) == 3
    dtype = np.dtype(parts[0][2].dtype) if weighted else np.dtype(np.uint32)
    word, real = dtype.itemsize, dtype.kind == "f"
    sign = 0 if dtype.kind == "u" else 1 << (8 * word - 1)
    none = () if weighted else (device.empty(0, dtype),)
    flags = np.int32(word), np.int32(real), np.int32(weighted and sign != 0)

    def emit(sink: tuple[Any, ...]) -> None:
        for begin, end, part in zip(starts, starts[1:], parts, strict=False):
            FILE.launch(device, "list", end - begin, np.int64(end), np.int64(begin), *sink, *part, *none, *flags)

    rows = rows_on_device(device, vertices, count * (1 + mirrored), mirrored, emit, word, index=index)
    made = int(rows.targets.size)
    if not weighted:
        return rows, device.full(made, 1, dtype)
    words = device.full(made, 2 ** (8 * word) - 1, f"u{word}")
    defines = index_types(rows.offsets.dtype)
    order = np.uint64(sign), np.int32(real)
    for part in parts:
        size = int(part[0].size)
        args = np.int64(size), np.int32(mirrored), *part, *order, rows.offsets, rows.targets, words
        FILE.launch(device, f"lightest_{word}_bytes", size, *args, defines=defines)
    if sign:
        FILE.launch(device, f"restore_{word}_bytes", made, np.int64(made), *order, words, defines=defines)
    return rows, words.view(dtype)


def transposed_on_device(device: Device, offsets: Array, targets: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Return offsets, tails and weights of the in-arcs, row by row of the heads; OutOfMemory without room."""
    arcs = int(targets.size)
    if arcs == 0:
        return offsets, targets, weights
    device.require(4 * arcs)
    turned = targets, _tails(device, offsets, arcs), weights
    rows, lightest = _listed(device, int(offsets.size) - 1, False, [turned], np.dtype(offsets.dtype))
    return rows.offsets, rows.targets, lightest


def renumbered_on_device(device: Device, rows: Rows, weights: Array, numbers: Array) -> tuple[Rows, Array]:
    """Return the rows of a graph whose vertices take other numbers, (n,) int32, and their (arcs,) weights.

    The targets of the rows given are changed.  Raises OutOfMemory if the device has no room for it.
    """
    arcs, first = int(rows.targets.size), rows.first_negative
    if first is not None:
        first = first - first % 2**31 + int(device.read(numbers, first % 2**31))
    made = rows
    if arcs:
        device.require(4 * arcs)
        ids = _tails(device, rows.offsets, arcs), rows.targets
        for column in ids:
            FILE.launch(device, "renumber", arcs, np.int64(arcs), column, numbers)
        made, weights = _listed(device, int(rows.offsets.size) - 1, False, [(*ids, weights)])
    return replace(rows, offsets=made.offsets, targets=made.targets, first_negative=first), weights


def _tails(device: Device, offsets: Array, arcs: int) -> Array:
    """Return the (arcs,) int32 tails of the arcs of rows on a device."""
    tails = device.empty(arcs, np.int32)
    args = np.int32(int(offsets.size) - 1), np.int64(arcs), offsets, tails
    FILE.launch(device, "tails", -(-arcs // ARCS_PER_THREAD), *args, defines=index_types(offsets.dtype))
    return tails


def symmetrize_on_device(graph: CSRGraph) -> CSRGraph:
    """Return the undirected graph of a directed one on a device, as ``symmetrize`` does; OutOfMemory without room."""
    there = graph.on_device
    assert there is not None
    device, arcs = there.device, there.arcs
    tails, unequal = _tails(device, there.offsets, arcs), device.full(1, 0, np.uint64)
    sizes = np.int32(there.vertices), np.int64(arcs)
    threads = -(-arcs // ARCS_PER_THREAD)
    word = np.int32(np.dtype(there.weights.dtype).itemsize)
    there.launch(FILE, "unequal", threads, *sizes, there.offsets, there.targets, there.weights, word, unequal)
    rows, weights = _listed(device, there.vertices, True, [(tails, there.targets, there.weights)])
    single, remake = int(rows.targets.size) - arcs, there.remake

    def remake_undirected() -> CSRGraph:
        from gpugraph.graph.symmetrize import symmetrize_on_host

        return symmetrize_on_host(remake())

    return CSRGraph.lying_on(
        DeviceRows(device, rows.offsets, rows.targets, weights, remake_undirected),
        directed=False,
        name=graph.name,
        source=graph.source,
        vertex_names=graph.vertex_names,
        notes=symmetrized_notes(graph.notes, single, int(device.read(unequal))),
        reading=graph.reading,
        negative_loop=graph.negative_loop,
    )
