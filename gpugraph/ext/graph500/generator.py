"""Graph500's edge list, bit for bit that of its reference code, and the roots of its searches.

Numbers come from a multiple recursive generator modulo P = 2^31 − 1, x(k) = 107374182 x(k−1) + 104480 x(k−5).  Edge i
begins 2^64 · i steps behind the seeds.  It falls down the quadrants of the adjacency matrix, a number a level; on the
diagonal the lower left quadrant is taken for the upper right one.  The next number is its weight.  Ids are scrambled by
two multiplications, each followed by a reversal of the bits.  Loops and duplicates stay in the list.

Source: P. L'Ecuyer, F. Blouin, R. Couture, "A search for good multiple recursive random number generators", ACM TOMACS
3(2), 1993, table 3; Graph500 specification 2.0, section 3.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit
from gpugraph.base.errors import InputError, reading, unreadable
from gpugraph.base.files import atomic_write
from gpugraph.base.host import require_memory
from gpugraph.devices.base import Array, Device, covering_grid
from gpugraph.devices.kernel_file import INDICES, KernelFile
from gpugraph.ext.ranks.comm import HostComm
from gpugraph.graph.chunks import even_ranges, in_threads

FILE = KernelFile("graph500.cu", [{**index, "WEIGHT": "float32"} for index in INDICES])
BLOCK = 256

EDGE_FACTOR = 16
P = 2**31 - 1
_BITS = 36
"""Of an edge's number: enough for scale 32."""
_SEED = np.array([3, 1, 4, 1, 1], object)
"""What the reference makes of its seeds 2 and 3."""
_WEIGHT_UNIT, _SECOND_UNIT = 0.000000000465661287524579692, 0.0000000000000000002168404346990492787


@dataclass(frozen=True, eq=False)
class Tuples:
    """An edge list in memory, of a device or of the host.

    Attributes:
        edges: (3 * m,) uint32, an edge in three words: the lower 32 bits of either end, and the upper 16 bits of both.
        weights: (m,) float32 in [0, 1].
        first: the position of the first one in the whole list, of which a rank has a share.
    """

    edges: Array
    weights: Array
    first: int = 0

    def __len__(self) -> int:
        return int(self.weights.size)

    def line(self, at: int, device: Device | None = None) -> tuple[int, int, float]:
        """Return both labels and the weight of one tuple, which lie on the device if one is given."""
        words, weight = self.edges[3 * at : 3 * at + 3], self.weights[at : at + 1]
        if device is not None:
            words, weight = device.download(words), device.download(weight)
        low_u, low_v, high = (int(word) for word in words)
        return low_u | (high & 0xFFFF) << 32, low_v | high >> 16 << 32, float(weight[0])


def _step() -> NDArray[Any]:
    """Return the (5, 5) matrix of one step."""
    matrix = np.eye(5, k=-1, dtype=np.int64).astype(object)
    matrix[0] = [107374182, 0, 0, 0, 104480]
    return matrix


def _jumped(steps: int) -> NDArray[Any]:
    """Return the state so many steps after the seeds."""
    state, matrix = _SEED, _step()
    while steps:
        if steps & 1:
            state = matrix @ state % P
        matrix = matrix @ matrix % P
        steps >>= 1
    return state


def _draws(state: NDArray[Any]) -> Iterator[int]:
    matrix = _step()
    while True:
        state = matrix @ state % P
        yield int(state[0])


def random_words() -> NDArray[np.uint64]:
    """Return what the generator takes: 5 words of seed, the two of the scrambling, and ``_BITS`` (5, 5) matrices.

    Matrix k makes 2^k edges' steps, 2^(64 + k).
    """
    numbers = _draws(_jumped(50 * 2**128 + 7 * 2**64))
    scrambles = [(next(numbers) * 0xFFFFFFFF + next(numbers)) % 2**64 for _ in range(2)]
    matrix, jumps = _step(), []
    for k in range(64 + _BITS):
        if k >= 64:
            jumps += matrix.ravel().tolist()
        matrix = matrix @ matrix % P
    return np.array([*_SEED, *scrambles, *jumps], np.uint64)


def share_of(scale: int, part: tuple[int, int]) -> tuple[int, int]:
    """Return where the share of a rank, (its number, all ranks), begins in the edge list, and where it ends."""
    rank, ranks = part
    count = EDGE_FACTOR << scale
    return count * rank // ranks, count * (rank + 1) // ranks


def generate(scale: int, device: Device | None, part: tuple[int, int] = (0, 1)) -> Tuples:
    """Return the edge list of 2^scale vertices on a device, or on the host where that is None.

    On the host ``part``, (its number, all ranks), makes it a rank's share.  Raises OutOfMemory.
    """
    count, words = EDGE_FACTOR << scale, random_words()
    if device is None:
        first, last = share_of(scale, part)
        require_memory(16 * (last - first), f"the edge list of scale {scale}", "take a smaller scale")
        edges, weights = np.empty(3 * (last - first), np.uint32), np.empty(last - first, np.float32)

        def write(begin: int, end: int) -> None:
            _generate(first + begin, first + end, scale, words, (edges[3 * begin :], weights[begin:]))

        in_threads(write, even_ranges(last - first))
        return Tuples(edges, weights, first)
    device.require(16 * count)
    made = Tuples(device.empty(3 * count, np.uint32), device.empty(count, np.float32))
    lanes = min(max(covering_grid(device, count, BLOCK) * BLOCK, BLOCK), count).bit_length() - 1
    args = np.int32(scale), np.int32(lanes), device.upload(words), made.edges, made.weights
    kernel = FILE.kernel(device, {"WEIGHT": "float32"}, "generate")
    kernel(max(1, (1 << lanes) // BLOCK), BLOCK, (np.int64(count), *args))
    return made


@njit
def _apply(matrix: Any, state: Any, out: Any) -> None:
    modulus = np.uint64(P)
    for row in range(5):
        total = np.uint64(0)
        for column in range(5):
            total = (total + matrix[5 * row + column] * state[column]) % modulus
        out[row] = total
    state[:] = out


@njit
def _reversed(x: Any, bits: Any) -> Any:
    """Return the lowest 64 bits in reverse order, shifted down to ``bits``."""
    out = np.uint64(0)
    for _ in range(64):
        out = (out << np.uint64(1)) | (x & np.uint64(1))
        x >>= np.uint64(1)
    return out >> np.uint64(64 - bits)


@njit
def _scrambled(v: Any, bits: int, first: Any, second: Any) -> Any:
    v = _reversed((v + first + second) * (first | np.uint64(0x4519840211493211)), bits)
    return _reversed(v * (second | np.uint64(0x3050852102C843A5)), bits)


@njit
def _next(state: Any) -> Any:
    new = (np.uint64(107374182) * state[0] + np.uint64(104480) * state[4]) % np.uint64(P)
    for i in range(4, 0, -1):
        state[i] = state[i - 1]
    state[0] = new
    return new


@njit
def _generate(begin: int, end: int, scale: int, words: Any, out_arrays: tuple[Any, Any]) -> None:
    """Write the edges [begin, end), from the front of the arrays on."""
    edges, weights = out_arrays
    at, state, out = words[:5].copy(), np.empty(5, np.uint64), np.empty(5, np.uint64)
    jumps = words[7:]
    for bit in range(_BITS):
        if begin >> bit & 1:
            _apply(jumps[25 * bit : 25 * bit + 25], at, out)
    for i in range(end - begin):
        state[:] = at
        u = v = np.uint64(0)
        for _ in range(scale):
            x = _next(state)
            while x < np.uint64(P % 10000):
                x = _next(state)
            x %= np.uint64(10000)
            down = np.uint64(x >= 1900 and (x < 3800 or x >= 9500))
            right = np.uint64(x < 1900 or x >= 9500)
            if u == v and down > right:
                down, right = right, down
            u, v = (u << np.uint64(1)) | down, (v << np.uint64(1)) | right
        weights[i] = np.float32(np.float64(np.float32(_next(state))) * _WEIGHT_UNIT)
        u, v = _scrambled(u, scale, words[5], words[6]), _scrambled(v, scale, words[5], words[6])
        edges[3 * i], edges[3 * i + 1] = np.uint32(u), np.uint32(v)
        edges[3 * i + 2] = np.uint32((u >> np.uint64(32)) | (v >> np.uint64(32) << np.uint64(16)))
        _apply(jumps[:25], at, out)


def root_candidates(scale: int) -> Iterator[int]:
    """Yield the vertices among which the roots are looked for, in order: as many as the reference draws at most."""
    numbers = _draws(_jumped(2 * 2**128))
    n = 1 << scale
    for _ in range(n):
        first, second = (next(numbers) * _WEIGHT_UNIT + next(numbers) * _SECOND_UNIT for _ in range(2))
        yield int((first + second) * n) % n


# ------------------------------------------------------------------ files of the reference


def save(tuples: Tuples, path: Path, device: Device | None, comm: HostComm | None = None) -> None:
    """Write an edge list as the reference's ``TMPFILE`` holds it, weights beside it.

    A collective where there are ranks: the first one writes the shares of all.  Raises InputError as ``atomic_write``.
    """
    files = both_files(path) if comm is None or comm.rank == 0 else ()
    with ExitStack() as stack:
        streams = [stack.enter_context(atomic_write(file, packed=False)) for file in files]
        for i, array in enumerate((tuples.edges, tuples.weights)):
            for share in _shares(array if device is None else device.download(array), comm):
                for stream in streams[i : i + 1]:
                    stream.write(share.data)
        for stream in streams:  # neither takes its place while the other may not fit
            stream.flush()


def _shares(own: NDArray[Any], comm: HostComm | None) -> Iterator[NDArray[Any]]:
    """Yield the arrays of all ranks one by one to the first of them, and something to the others."""
    yield own
    lengths = [] if comm is None else comm.all_gather_object(len(own))
    for rank in range(1, len(lengths)):
        assert comm is not None
        sent, received = ([0] * comm.size for _ in range(2))
        if comm.rank == rank:
            sent[0] = len(own)
        if comm.rank == 0:
            received[rank] = lengths[rank]
        yield comm.all_to_all_v(own[: sent[0]], sent, received)


def load(scale: int, path: Path, device: Device | None, part: tuple[int, int] = (0, 1)) -> Tuples:
    """Read such an edge list, or a rank's share; see ``generate``.  Raises InputError for a missing or another size."""
    count, arrays = EDGE_FACTOR << scale, list[Array]()
    first, last = share_of(scale, part)
    for file, each, dtype in zip(both_files(path), (3, 1), (np.uint32, np.float32), strict=True):
        words, remedy = each * count, "give a file that --keep wrote, or leave out --reuse"
        try:
            status = file.stat()
        except OSError as error:
            raise unreadable(file, error) from None
        if not stat.S_ISREG(status.st_mode):
            raise InputError("is no regular file", where=file, remedy=remedy)
        if status.st_size != 4 * words:
            what = f"it has {status.st_size:,} bytes, and {4 * words:,} are an edge list of scale {scale}"
            raise InputError(what, where=file, remedy="give the scale that it was made with")
        with reading(file, remedy), file.open("rb") as opened:
            if device is None:
                share = np.fromfile(opened, dtype, each * (last - first), offset=4 * each * first)
                if len(share) < each * (last - first):
                    raise InputError("has become shorter while it was read", where=file, remedy=remedy)
                arrays.append(share)
            else:
                arrays.append(device.upload_file(opened.fileno(), 0, words, dtype))
    return Tuples(arrays[0], arrays[1], first)


def weights_file(path: Path) -> Path:
    """Return the name of the file of weights beside one of edges."""
    return Path(os.fspath(path) + ".weights")


def both_files(path: Path | None) -> tuple[Path, ...]:
    """Return the names of a file of edges and of its weights; none where no edge list is named."""
    return () if path is None else (path, weights_file(path))
