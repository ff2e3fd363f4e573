"""DeviceRows: the rows of a graph on a device, copied to the host only when the host needs them.

What a result needs to know of a few arcs is looked up where the rows lie, by kernels whose work is in the order of
the result (``cuda_kernels/arcs_at.cu``); the kernels of ``cuda_kernels/check.cu`` look every arc over and sum the
digest, in one reading.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import OutOfMemory
from gpugraph.devices.base import Array, Device
from gpugraph.devices.kernel_file import INDICES, KernelFile, index_dtype, index_types
from gpugraph.graph.digest import finish

CHECK, _LOOKUP = KernelFile("check.cu", INDICES), KernelFile("arcs_at.cu", INDICES)
_PIECE, _SHARE = 1 << 22, 256
"""Elements looked up at a time: so many, or one for so many bytes that are free if that is more."""
ARCS_PER_THREAD = 32
"""Of kernels in which a warp takes a tile of 1024 arcs at a time."""
NOTHING = 2**64 - 1  # no row, no arc, and no item << 31 | vertex: vertices end below 2^31 - 1


@dataclass(frozen=True, eq=False)
class DeviceRows:
    """The three arrays of a graph on a device, as wide as device code indexes arcs, targets int32.

    ``remake`` makes the same graph on the host where the device is closed before the host has asked.  Looking arcs up
    raises OutOfMemory without 32 MiB free for an array.
    """

    device: Device
    offsets: Array
    targets: Array
    weights: Array
    remake: Callable[[], Any]
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _made: list[Any] = field(default_factory=list)

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
    def weight_bytes(self) -> int:
        """Bytes of one weight."""
        return int(np.dtype(self.weights.dtype).itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of the three arrays on the device."""
        return int(self.offsets.nbytes + self.targets.nbytes + self.weights.nbytes)

    @property
    def usable(self) -> bool:
        """False once the device is closed."""
        return not self.device.closed

    def on_host(self, name: str) -> NDArray[Any]:
        """Return a copy of an array as a CSRGraph has it on the host."""
        with self._lock:
            if not self.usable:
                if not self._made:
                    self._made.append(self.remake())
                made: NDArray[Any] = getattr(self._made[0], name)
                return made
            array = self.device.download(getattr(self, name))
        return array.astype(np.int64, copy=False) if name == "offsets" else array

    def launch(self, file: KernelFile, name: str, threads: int, *args: Any) -> None:
        """Launch a kernel over about ``threads`` threads' worth of work."""
        file.launch(self.device, name, threads, *args, defines=index_types(self.index_dtype))

    def validate_and_digest(self) -> NDArray[np.uint64] | None:
        """Return the words of ``check.cu``'s kernels; None where the offsets do not ascend from 0 to all arcs."""
        device, n = self.device, self.vertices
        found = device.upload(np.array([NOTHING, NOTHING, 0, 0, 0, 0], np.uint64))
        if int(device.read(self.offsets, 0)) != 0 or int(device.read(self.offsets, n)) != self.arcs:
            return None
        self.launch(CHECK, "offsets", n, np.int64(n), self.offsets, found)
        if int(device.read(found, CHECK["FALL"])) != NOTHING:
            return None
        dtype = np.dtype(self.weights.dtype)
        bits, real = 8 * dtype.itemsize, dtype.kind == "f"
        infinity = int(np.array(np.inf, dtype).view(f"u{dtype.itemsize}")[()]) if real else 2**bits - 1
        self.launch(
            CHECK,
            "arcs",
            -(-self.arcs // ARCS_PER_THREAD),
            *(np.int32(n), np.int64(self.arcs), self.offsets, self.targets, self.weights, np.int32(dtype.itemsize)),
            *(np.uint64(infinity), np.uint64(1 << (bits - 1) if real else 0), found),
        )
        answer: NDArray[np.uint64] = device.download(found)
        return answer

    def digest(self, code: int, *, both_ways: bool = False) -> str | None:
        """Return the digest for ``CSRGraph.digest_code``; None for no graph, or one-way arcs if ``both_ways``."""
        found = self.validate_and_digest()
        if found is None or int(found[CHECK["BAD"]]) != NOTHING or (both_ways and found[CHECK["BALANCE"] :].any()):
            return None
        sums = int(found[CHECK["DIGEST"]]), int(found[CHECK["DIGEST"] + 1])
        return finish(*sums, self.vertices, self.arcs, code)

    def is_symmetric(self) -> bool:
        """Tell whether every arc has its reverse with equal weight."""
        found = self.validate_and_digest()
        return found is not None and not found[CHECK["BALANCE"] :].any()

    def has_negative_weight(self) -> bool:
        """Tell whether a weight is below zero."""
        dtype = np.dtype(self.weights.dtype)
        if dtype.kind == "u":
            return False
        found = self.device.full(1, 0, np.uint32)
        threads = -(-self.arcs // ARCS_PER_THREAD)
        self.launch(CHECK, "negative", threads, np.int64(self.arcs), self.weights, np.int32(dtype.itemsize), found)
        return bool(self.device.read(found))

    def canonical_ids(self, positions: NDArray[Any]) -> NDArray[np.int64]:
        """Return the (k,) canonical edge ids of the arcs at ``positions``, in order; the graph is undirected."""
        device = self.device

        def ids_at(at: Array) -> tuple[NDArray[np.int64]]:
            ids = device.empty(at.size, np.int64)
            where = np.int32(at.dtype.itemsize), self.offsets, self.targets, at, ids
            self.launch(_LOOKUP, "ids", at.size, np.int64(at.size), np.int32(self.vertices), *where)
            return (device.download(ids),)

        if positions.dtype.itemsize not in (4, 8):
            positions = positions.astype(np.int64)
        return self._in_pieces(positions, ids_at)[0]

    def sorted_ids(self, ids: NDArray[Any]) -> NDArray[np.int64]:
        """Return (k,) whole numbers of 0 or more in ascending order, sorted by the device if it has the room."""
        wide = np.ascontiguousarray(ids, np.int64)
        try:
            words = self.device.upload(wide.view(np.uint64))
            self.device.sort(words)
        except OutOfMemory:
            return np.sort(wide)
        return self.device.download(words).view(np.int64)

    def ends_and_weights(self, positions: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return (k,) tails and heads, int32, and weights of the arcs at ``positions``, all in [0, arcs)."""
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
        """Yield (k, 2) tails and heads of the arcs at ``positions``, all in [0, arcs), in as many parts as need be."""
        for part in self._pieces(len(positions)):
            at = self.device.upload(positions[part])
            ends = self.device.empty((at.size, 2), np.int64)
            self._look_up("pairs", at, ends)
            yield self.device.download(ends)

    def total(self, positions: NDArray[np.int64]) -> int:
        """Return the exact sum of the weights, which are integers, of the arcs at ``positions``, all in [0, arcs)."""
        word, device = np.dtype(self.weights.dtype), self.device
        kind = np.int32(word.itemsize), np.int32(word.kind == "i")
        low = high = 0
        for part in self._pieces(len(positions)):
            at, sums = device.upload(positions[part]), device.full(2, 0, np.uint64)
            threads = min(at.size, 1 << 18)  # few enough that their sums seldom meet
            self.launch(_LOOKUP, "sum", threads, np.int64(at.size), at, *kind, self.weights, sums)
            parts = device.download(sums)
            low, high = low + int(parts[0]), high + int(parts.view(np.int64)[1])
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
    """Return (n+1,) offsets, in 32 bits if those hold so many arcs, with or without a sign.

    One of 64 that lies outside [0, arcs] has all bits set then, and no check passes it.
    """
    index, count = index_dtype(arcs, unsigned=True), int(offsets.size)
    if np.dtype(offsets.dtype).itemsize == index.itemsize:
        return offsets.view(index)
    narrow = device.empty(count, index)
    CHECK.launch(device, "narrow", count, np.int64(count), np.int64(arcs), offsets, narrow)
    return narrow
