"""CSRGraph: the one form in which a graph is held, on the host or on a device.

An undirected graph stores both arcs of each edge with equal weight.  Rows are sorted by target; there are
no self loops and no parallel arcs (``build.py`` drops and merges, and says how many).

Canonical order
    Edges compare by (weight, smaller endpoint, larger endpoint).  An edge's *id* is the position of its arc
    u→v with u < v, so that inside a row the canonical order of equal weights is row order, and a reverse arc
    finds the id by binary search.  Ties therefore never depend on algorithm, device, schedule or run.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.devices.base import Array, Device, covering_grid
from gpugraph.devices.kernel_file import KernelFile, product
from gpugraph.errors import OutOfMemory, shown

WEIGHT_DTYPES = ("uint32", "int32", "uint64", "int64", "float32", "float64")


def target_dtype(vertices: int) -> np.dtype[Any]:
    """Return the dtype of vertex ids: int32, or int64 from 2^31 vertices on."""
    return np.dtype(np.int32 if vertices < 2**31 else np.int64)


def printed(label: object, how: Callable[[object], str] = str) -> str:
    """Return a vertex name as text that can be printed and stored, whatever it is."""
    try:
        text = how(label)
    except Exception:  # an integer too long for text, or a class of the user's that cannot print itself
        text = shown(label)
    return text.encode("utf-8", "backslashreplace").decode()


Offsets = NDArray[np.int64]
Targets = NDArray[np.signedinteger[Any]]
Weights = NDArray[Any]


def freeze(holder: Any) -> None:
    """Make the arrays among a frozen dataclass's fields read-only; whoever made them keeps his own flags.

    What many algorithms share none may change, a user's own above all.  It is set once, where the arrays are handed
    out, so that compiled code sees one type of array from there on.
    """
    for name in holder.__dataclass_fields__:
        array = getattr(holder, name)
        if isinstance(array, np.ndarray) and array.flags.writeable:
            view = array.view()
            view.flags.writeable = False
            object.__setattr__(holder, name, view)


@dataclass(frozen=True, eq=False)
class CSRGraph:
    """A weighted graph as compressed sparse rows; its arrays are read-only.

    A graph that was made on a device lies there; each of its arrays comes to the host when something asks for it.

    Attributes:
        offsets: (n+1,) int64; the arcs of v are positions [offsets[v], offsets[v+1]).
        targets: (arcs,) int32 (int64 from 2^31 vertices on); ascending inside a row.
        weights: (arcs,) one of ``WEIGHT_DTYPES``; never NaN; −0.0 is stored as +0.0.
        directed: False when both arcs of every edge are present with equal weight.
        name: short name for tables, e.g. ``"USA-road-d.NY"`` or ``"rmat:20"``.
        source: where it came from: a path or the full spec.
        vertex_names: (n,) what the source calls its vertices, or None where that is their number: a file's own ids
            (int64 or str), ascending, or (object) the nodes of a NetworkX graph themselves, of any types, sorted
            where they can be.
        notes: what loading dropped, merged or changed, one sentence each.
        stored_digest: the digest the file carries, or None; ``digest`` is always computed.
        negative_loop: the first vertex whose self loop of negative weight was dropped, or None: a forest does not miss
            it, but no path through it is shortest.
        on_device: the same arrays on a device that holds them too, or None.
    """

    offsets: Offsets
    targets: Targets
    weights: Weights
    directed: bool
    name: str = "graph"
    source: str = ""
    vertex_names: NDArray[Any] | None = None
    notes: tuple[str, ...] = field(default=())
    stored_digest: str | None = None
    negative_loop: int | None = None
    on_device: DeviceRows | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        freeze(self)

    @classmethod
    def lying_on(cls, rows: DeviceRows, **told: Any) -> CSRGraph:
        """Return the graph of arrays on a device, none of which is copied to the host yet.

        Args:
            rows: the arrays.
            told: the other attributes, by name; ``directed`` at least.
        """
        graph = object.__new__(cls)
        defaults = {f.name: f.default for f in fields(cls) if f.default is not MISSING}
        graph.__dict__.update(defaults | told | {"on_device": rows})
        return graph

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return an array that is not on the host yet; called only for what an instance lacks."""
            rows = self.__dict__.get("on_device")
            if rows is None or name not in ("offsets", "targets", "weights"):
                raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
            array = rows.on_host(name).view()
            array.flags.writeable = False
            return self.__dict__.setdefault(name, array)

    @property
    def vertices(self) -> int:
        """Number of vertices, n."""
        return len(self.offsets) - 1 if self.on_device is None else self.on_device.vertices

    @property
    def arcs(self) -> int:
        """Number of stored arcs (twice the edges of an undirected graph)."""
        return len(self.targets) if self.on_device is None else self.on_device.arcs

    @property
    def weight_dtype(self) -> np.dtype[Any]:
        """The dtype of the weights; asking for it copies nothing."""
        return self.weights.dtype if self.on_device is None else np.dtype(self.on_device.weights.dtype)

    @property
    def edges(self) -> int:
        """Number of undirected edges; of a directed graph, its number of arcs."""
        return self.arcs if self.directed else self.arcs // 2

    @cached_property
    def has_negative_weight(self) -> bool:
        """Whether a weight is below zero."""
        if self.weight_dtype.kind == "u" or not self.arcs:
            return False
        if self.on_device is not None and self.on_device.usable:
            from gpugraph.graph.check import has_negative_weight

            return has_negative_weight(self)
        return bool(self.weights.min() < 0)

    @property
    def nbytes(self) -> int:
        """Bytes of the three arrays on the host, if they are all there."""
        word = target_dtype(self.vertices).itemsize + self.weight_dtype.itemsize
        return 8 * (self.vertices + 1) + self.arcs * word

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """(n,) int64 out-degrees."""
        degrees = np.diff(self.offsets)
        degrees.flags.writeable = False
        return degrees

    @cached_property
    def digest(self) -> str:
        """Order-free fingerprint of the graph's arcs, weights and kind (see ``digest.py``)."""
        if self.on_device is not None and self.on_device.usable:
            from gpugraph.graph.check import digest_on_device

            return digest_on_device(self)
        from gpugraph.graph.digest import graph_digest

        return graph_digest(self.offsets, self.targets, self.weights, self.digest_code)

    @property
    def digest_code(self) -> int:
        """The kind of graph as its digest has it."""
        return 2 * WEIGHT_DTYPES.index(self.weight_dtype.name) + int(self.directed)

    @cached_property
    def numbers(self) -> dict[Any, int]:
        """Vertex name → vertex, where there are names."""
        return {} if self.vertex_names is None else {name: v for v, name in enumerate(self.vertex_names.tolist())}

    def name_of(self, vertex: int) -> int | str:
        """Return a vertex for a message or a record: its name as an int or text, its number where it has none."""
        name = vertex if self.vertex_names is None else self.vertex_names[vertex : vertex + 1].tolist()[0]
        return name if type(name) is int and name.bit_length() < 65 else printed(name)

    @cached_property
    def printed_names(self) -> NDArray[Any] | None:
        """(n,) int64 or str: the vertex names as files hold them, no two alike; None where there are none."""
        names = self.vertex_names
        if names is None or names.dtype != object:
            return names
        labels = names.tolist()
        if all(type(label) is int and -(2**63) <= label < 2**63 for label in labels):
            return names.astype(np.int64)
        texts = [printed(label) for label in labels]
        # NumPy's text loses NULs at its end.  Where labels read alike, as 1 and "1" do, their reprs differ.
        times = Counter(text.rstrip("\0") for text in texts)
        alike = (times[text.rstrip("\0")] > 1 or text.endswith("\0") for text in texts)
        return np.array(
            [printed(label, repr) if again else text for label, text, again in zip(labels, texts, alike, strict=True)]
        )

    def label(self, vertex: int) -> str:
        """Return a vertex for a message: its number, and its name where the source had one."""
        return f"{vertex}" if self.vertex_names is None else f"{vertex} (named {self.name_of(vertex)})"

    def renamed(self, **changes: Any) -> CSRGraph:
        """Return the same arrays with other ``name``, ``source``, ``notes`` or ``vertex_names``."""
        if self.on_device is None:
            return replace(self, **changes)
        graph = object.__new__(type(self))
        kept = {name: value for name, value in self.__dict__.items() if name not in ("numbers", "printed_names")}
        graph.__dict__.update(kept | changes)
        return graph

    def describe(self) -> dict[str, Any]:
        """Return the ``graph`` object of a record."""
        return described(self)


def described(graph: Any) -> dict[str, Any]:
    """Return the ``graph`` object of a record, for a graph or what stands for one."""
    return {
        "name": graph.name,
        "source": graph.source,
        "vertices": graph.vertices,
        "arcs": graph.arcs,
        "edges": graph.edges,
        "directed": graph.directed,
        "weight_dtype": str(graph.weight_dtype),
        "digest": graph.digest,
    }


# ------------------------------------------------------------------ on a device
# Rows on a device are copied to the host when something there asks for them, and not before.
# What a result needs to know of a few arcs is looked up where the rows lie, by kernels whose work is in the order of
# the result (``cuda_kernels/arcs_at.cu``).

INDICES = product(INDEX_BITS=(32, 64))
CHECK, _LOOKUP = KernelFile("check.cu", INDICES), KernelFile("arcs_at.cu", INDICES)
BLOCK = 256
_PIECE, _SHARE = 1 << 22, 256
"""Elements looked up at a time: so many, or one for so many bytes that are free if that is more."""
ARCS_PER_THREAD = 32
"""Of kernels in which a warp takes a tile of 1024 arcs at a time."""


@dataclass(frozen=True, eq=False)
class DeviceRows:
    """The three arrays of a graph on a device.

    Attributes:
        device: that device.
        offsets: (n+1,) int32 or int64, as wide as device code indexes arcs.
        targets: (arcs,) int32.
        weights: (arcs,).
        remake: makes the same graph on the host; used where the device is closed before the host has asked.
    """

    device: Device
    offsets: Array
    targets: Array
    weights: Array
    remake: Callable[[], CSRGraph]
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def vertices(self) -> int:
        """Number of vertices, n."""
        return int(self.offsets.size) - 1

    @property
    def arcs(self) -> int:
        """Number of arcs."""
        return int(self.targets.size)

    @property
    def index_dtype(self) -> np.dtype[Any]:
        """The dtype of an arc index."""
        dtype: np.dtype[Any] = np.dtype(self.offsets.dtype)
        return dtype

    @property
    def nbytes(self) -> int:
        """Bytes of the three arrays on the device."""
        return int(self.offsets.nbytes + self.targets.nbytes + self.weights.nbytes)

    @property
    def defines(self) -> dict[str, str | int]:
        """What kernels that read the rows are compiled with."""
        return {"INDEX_BITS": 8 * self.index_dtype.itemsize}

    @property
    def usable(self) -> bool:
        """False once the device is closed."""
        return not self.device.closed

    def on_host(self, name: str) -> NDArray[Any]:
        """Return a copy of an array as a CSRGraph has it on the host."""
        with self._lock:
            if not self.usable:
                made: NDArray[Any] = np.array(getattr(self.remake(), name))
                return made
            array = self.device.download(getattr(self, name))
        return array.astype(np.int64, copy=False) if name == "offsets" else array

    def launch(self, file: KernelFile, name: str, threads: int, *args: Any) -> None:
        """Launch a kernel over about ``threads`` threads' worth of work."""
        kernel = file.kernel(self.device, self.defines, name)
        kernel(covering_grid(self.device, threads, BLOCK), BLOCK, args)

    def canonical_ids(self, positions: NDArray[Any]) -> NDArray[np.int64]:
        """Return the (k,) canonical edge ids of the arcs at ``positions``, in the order given; the graph is undirected.

        Raises:
            OutOfMemory: the device has no room for 32 MiB an array.
        """
        device = self.device

        def ids_at(at: Array) -> tuple[NDArray[np.int64]]:
            ids = device.empty(at.size, np.int64)
            where = np.int32(at.dtype.itemsize), self.offsets, self.targets, at, ids
            self.launch(_LOOKUP, "ids", at.size, np.int64(at.size), np.int32(self.vertices), *where)
            return (device.download(ids),)

        if positions.dtype.itemsize not in (4, 8):
            positions = positions.astype(np.int64)
        return self._in_pieces(positions, ids_at)[0]

    def ascending(self, ids: NDArray[Any]) -> NDArray[np.int64]:
        """Return (k,) whole numbers of 0 or more in ascending order, sorted by the device if it has the room."""
        wide = np.ascontiguousarray(ids, np.int64)
        try:
            words = self.device.upload(wide.view(np.uint64))
            self.device.sort(words)
        except OutOfMemory:
            return np.sort(wide)
        return self.device.download(words).view(np.int64)

    def ends_and_weights(self, positions: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return tails (k,) int32, heads (k,) int32 and weights (k,) of the arcs at ``positions``, all in [0, arcs).

        Raises:
            OutOfMemory: the device has no room for 32 MiB an array.
        """
        device = self.device
        word = np.dtype(self.weights.dtype)

        def look_up(at: Array) -> tuple[NDArray[Any], ...]:
            u, v, w = (device.empty(at.size, dtype) for dtype in (np.int32, np.int32, word))
            self._look_up("ends", at, u, v)
            size = np.int64(at.size), at, np.int32(word.itemsize)
            self.launch(_LOOKUP, "weights", at.size, *size, self.weights, w)
            return tuple(device.download(array) for array in (u, v, w))

        u, v, w = self._in_pieces(np.asarray(positions, np.int64), look_up)
        return u, v, w

    def pairs(self, positions: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Yield (k, 2) tails and heads of the arcs at ``positions``, all in [0, arcs), in as many parts as need be.

        Raises:
            OutOfMemory: the device has no room for 32 MiB an array.
        """
        for part in self._pieces(len(positions)):
            at = self.device.upload(positions[part])
            ends = self.device.empty((at.size, 2), np.int64)
            self._look_up("pairs", at, ends)
            yield self.device.download(ends)

    def total(self, positions: NDArray[np.int64]) -> int:
        """Return the exact sum of the weights, which are integers, of the arcs at ``positions``, all in [0, arcs).

        Raises:
            OutOfMemory: the device has no room for 32 MiB an array.
        """
        word, device = np.dtype(self.weights.dtype), self.device
        kind = np.int32(word.itemsize), np.int32(word.kind == "i")
        low = high = 0
        for part in self._pieces(len(positions)):
            at, sums = device.upload(positions[part]), device.full(2, 0, np.uint64)
            threads = min(at.size, 1 << 18)  # few enough that their sums seldom meet
            self.launch(_LOOKUP, "sum", threads, np.int64(at.size), at, *kind, self.weights, sums)
            told = device.download(sums)
            low, high = low + int(told[0]), high + int(told.view(np.int64)[1])
        return (high << 32) + low

    def _in_pieces(
        self, positions: NDArray[Any], look_up: Callable[[Array], tuple[NDArray[Any], ...]]
    ) -> list[NDArray[Any]]:
        """Return what ``look_up`` finds of positions on the device, each array in one piece."""
        parts = [look_up(self.device.upload(positions[part])) for part in self._pieces(len(positions))]
        return [found[0] if len(found) == 1 else np.concatenate(found) for found in zip(*parts, strict=True)]

    def _pieces(self, count: int) -> list[slice]:
        """Return slices of so many elements that what they take is little beside what is free; one at least."""
        piece = max(_PIECE, int(self.device.memory()[0]) // _SHARE)
        return [slice(start, min(start + piece, count)) for start in range(0, max(count, 1), piece)]

    def _look_up(self, what: str, at: Array, *found: Array) -> None:
        sizes = np.int64(at.size), np.int32(self.vertices)
        self.launch(_LOOKUP, what, at.size, *sizes, self.offsets, self.targets, at, *found)


def narrow_offsets(device: Device, offsets: Array, arcs: int) -> Array:
    """Return (n+1,) int64 offsets in 32 bits; one that lies outside [0, arcs] becomes −1, and no check passes it."""
    count = int(offsets.size)
    narrow = device.empty(count, np.int32)
    kernel = CHECK.kernel(device, None, "narrow")
    kernel(covering_grid(device, count, BLOCK), BLOCK, (np.int64(count), np.int64(arcs), offsets, narrow))
    return narrow
