"""ArrayInput: what a scan works on, from a spec, a .npy file or an array at hand.

A spec is ``array:KEY=VALUE,…``, for instance ``array:n=2^20,dtype=uint32``:

=============  =====================================================================================
``n``          elements; or ``size``, in bytes: ``size=512MiB`` (or ``512MB``, 512 000 000 bytes)
``dtype``      uint32 (the default), int32, uint64, int64, float32 or float64
``seed``       of the elements, 1 by default
``bits``       integers: how many bits the elements have at most; all by default, one fewer with segments
``exclusive``  ``yes``: element i gets the sum of those before it, without itself
``segments``   average length: the scan becomes a segmented one, of minima (with ``n`` or ``file``)
``file``       elements from a .npy file; the last key, since a path may hold commas
=============  =====================================================================================

Elements are hashes of their positions, so that a spec gives the same array everywhere.  Reals are whole numbers in
−8…8: every sum of consecutive ones is exact, so that their scan can be verified exactly (``verify.py``).
"""

import os
import re
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit
from gpugraph.base.errors import InputError, errors_at, unknown_name
from gpugraph.base.files import check_ends
from gpugraph.base.host import require_memory
from gpugraph.base.quantities import parse_bytes
from gpugraph.graph.chunks import even_ranges, in_threads
from gpugraph.graph.counter_random import hash64
from gpugraph.graph.csr import WEIGHT_DTYPES, freeze
from gpugraph.graph.digest import mix

# ------------------------------------------------------------------ generated elements
# Elements and heads of segments are hashes of positions, the same bits on every machine.

LARGEST_REAL = 8
"""Generated reals are whole numbers of at most this size."""


@njit
def _fill_words(out: Any, key: Any, shift: Any, start: int, stop: int) -> None:
    for i in range(start, stop):
        out[i] = hash64(key + np.uint64(i)) >> shift


@njit
def _fill_reals(out: Any, key: Any, start: int, stop: int) -> None:
    for i in range(start, stop):
        out[i] = np.int64(hash64(key + np.uint64(i)) % np.uint64(2 * LARGEST_REAL + 1)) - LARGEST_REAL


@njit
def _fill_heads(out: Any, key: Any, length: Any, start: int, stop: int) -> None:
    for i in range(start, stop):
        out[i] = i == 0 or hash64(key + np.uint64(i)) % length == 0


def _key(seed: int, stream: int) -> np.uint64:
    return np.uint64(seed * 0x9E3779B97F4A7C15 + stream * 0xD6E8FEB86659FD93 & 2**64 - 1)


def generate_values(n: int, dtype: np.dtype[Any], seed: int, bits: int) -> NDArray[Any]:
    """Return n hashes of positions: integers of at most ``bits`` bits, reals whole and in −8…8."""
    values, key = np.empty(n, dtype), _key(seed, 1)
    if dtype.kind == "f":
        in_threads(partial(_fill_reals, values, key), even_ranges(n))
    else:
        in_threads(partial(_fill_words, values.view(f"u{dtype.itemsize}"), key, np.uint64(64 - bits)), even_ranges(n))
    return values


def generate_heads(n: int, length: int, seed: int) -> NDArray[np.uint8]:
    """Return (n,) uint8, 1 at element 0 and at every other with probability 1 / length."""
    heads = np.empty(n, np.uint8)
    in_threads(partial(_fill_heads, heads, _key(seed, 2), np.uint64(length)), even_ranges(n))
    return heads


MOST = 2**40

_KEYS = ("n", "size", "dtype", "seed", "bits", "exclusive", "segments", "file")


@dataclass(frozen=True, eq=False)
class ArrayInput:
    """An array to be scanned, and how; it is read-only.

    Attributes:
        values: (n,) one of ``WEIGHT_DTYPES``.
        heads: (n,) uint8, 1 where a segment begins; None for a scan of sums over the whole array.
        exclusive: element i gets the sum of those before it, without itself.
        name: the spec, or the file's name.
        source: where it came from.
        notes: what opening it changed, one sentence each.
    """

    values: NDArray[Any]
    heads: NDArray[np.uint8] | None = None
    exclusive: bool = False
    name: str = "array"
    source: str = "python"
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def operator(self) -> str:
        """``"add"``, or ``"segmented-min"`` where there are segments."""
        return "add" if self.heads is None else "segmented-min"

    @property
    def elements(self) -> int:
        """Number of elements, n, as are ``vertices``, ``arcs`` and ``edges``: a scan counts nothing else."""
        return len(self.values)

    vertices = arcs = edges = elements

    @property
    def index_bits(self) -> int:
        """Width of a position in device code: 64 bits from 2^31 elements on."""
        return 32 if self.elements < 2**31 else 64

    @property
    def weight_bytes(self) -> int:
        """Bytes of one element."""
        return self.values.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return int(self.values.nbytes)

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits of the elements in their order, the segments and the kind of scan."""
        kind = f"{self.values.dtype.name} {self.exclusive}"
        return ordered_digest(self.values, kind if self.heads is None else f"{kind} {ordered_digest(self.heads)}")

    def tiny(self) -> "ArrayInput":
        """Return two elements of the same type, to be scanned alike."""
        heads = None if self.heads is None else np.ones(2, np.uint8)
        return ArrayInput(np.ones(2, self.values.dtype), heads, self.exclusive)

    def describe(self) -> dict[str, Any]:
        """Return the ``graph`` object of a record."""
        n = self.elements
        described: dict[str, Any] = {"name": self.name, "source": self.source, "vertices": n, "arcs": n, "edges": n}
        described |= {"weight_dtype": self.values.dtype.name, "digest": self.digest, "elements": n}
        described |= {"bytes": self.nbytes, "operator": self.operator, "exclusive": self.exclusive}
        if self.heads is not None:
            described["segments"] = int(np.count_nonzero(self.heads))
        return described


# ------------------------------------------------------------------ digests


@njit
def _lanes(words: Any, start: int, stop: int) -> Any:
    """Return two sums of a mix of every word with its position."""
    first, second = np.uint64(0), np.uint64(0)
    for i in range(start, stop):
        mixed = mix(np.uint64(words[i]) + hash64(np.uint64(i)))
        first += mixed
        second += mix(mixed ^ np.uint64(0xA0761D6478BD642F))
    return first, second


def ordered_digest(array: NDArray[Any], kind: str = "") -> str:
    """Return 32 hexadecimal digits that tell an array, its length, order and bits, and ``kind`` from any other."""
    import hashlib

    words = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")
    parts = in_threads(partial(_lanes, words), even_ranges(len(words)))
    sums = [sum(int(part[lane]) for part in parts) % 2**64 for lane in (0, 1)]
    return hashlib.sha256(f"{kind} {array.dtype.name} {len(array)} {sums}".encode()).hexdigest()[:32]


# ------------------------------------------------------------------ specs


def _whole(key: str, text: str, low: int, high: int) -> int:
    power = re.fullmatch(r"2\^(\d{1,2})", text)
    if power is None and not re.fullmatch(r"\d{1,20}", text):
        raise InputError(f"{key} takes a whole number, not '{text}'", remedy=f"write {key}=1000000, for instance")
    value = 1 << int(power[1]) if power else int(text)
    if not low <= value <= high:
        raise InputError(f"{key} lies in {low}..{high}, not '{text}'", remedy="choose one in that range")
    return value


def _split(text: str) -> dict[str, str]:
    """Return what is written after ``array:``, by key; ``file`` takes all that follows."""
    given: dict[str, str] = {}
    while text:
        part, _, rest = (text, "", "") if text.startswith("file=") else text.partition(",")
        key, equals, value = part.partition("=")
        if not equals:
            raise InputError(f"expected KEY=VALUE, got '{part}'", remedy="e.g. array:n=2^20,dtype=uint32")
        if key not in _KEYS:
            raise unknown_name("key of 'array'", key, _KEYS)
        if key in given:
            raise InputError(f"{key} is given twice", remedy="leave one of them out")
        given[key], text = value, rest
    return given


def _count(given: dict[str, str], dtype: np.dtype[Any]) -> int:
    if ("n" in given) == ("size" in given):
        raise InputError("an array needs n or size, one of them", remedy="e.g. array:n=2^20 or array:size=4MiB")
    if "n" in given:
        return _whole("n", given["n"], 0, MOST)
    size = parse_bytes(given["size"])
    if size % dtype.itemsize or size > MOST:
        what = f"{given['size']} is no whole number of {dtype.name}, up to 1 TiB"
        raise InputError(what, remedy=f"give a multiple of {dtype.itemsize} bytes")
    return size // dtype.itemsize


def open_array(source: object) -> ArrayInput:
    """Return the input behind a spec, a .npy file, an array or an ArrayInput; raise InputError for others or damage."""
    if isinstance(source, ArrayInput):
        return source
    if isinstance(source, np.ndarray):
        return ArrayInput(_checked(source, "array"))
    if not isinstance(source, str | os.PathLike):
        what = f"a {type(source).__name__} is not an array"
        raise InputError(what, remedy="give a NumPy array, a spec or a .npy file")
    text = os.fsdecode(source)
    if not text.startswith("array:"):
        return ArrayInput(_load(text), name=os.path.basename(text), source=text)
    with errors_at(f"spec '{text}'"):
        return _from_spec(text)


def shape_of(text: str) -> tuple[int, np.dtype[Any], bool]:
    """Return the elements, their type and whether segmented of a spec or a .npy file, unread; InputError for others."""
    if not text.startswith("array:"):
        return len(values := _load(text, mapped=True)), values.dtype, False
    with errors_at(f"spec '{text}'"):
        given = _split(text.removeprefix("array:"))
        if "file" in given:
            return len(values := _load(given["file"], mapped=True)), values.dtype, "segments" in given
        return _count(given, dtype := _dtype(given)), dtype, "segments" in given


def with_kind(source: object, *, exclusive: bool = False, heads: object = None) -> ArrayInput:
    """Return what ``open_array`` returns, to be scanned exclusively, or by segments where (n,) ``heads`` are nonzero.

    Raises InputError as ``open_array`` does, and for heads that do not fit.
    """
    array = open_array(source)
    if exclusive:
        array = replace(array, exclusive=True)
    if heads is not None:
        try:
            heads = np.asarray(heads)
        except Exception as error:  # unequal lists, or an array of another library's that lies on a device
            raise InputError(f"the heads cannot be taken as an array: {error}", remedy="give a NumPy array") from error
        if heads.dtype.kind not in "biuf":
            what = f"the heads are of type {heads.dtype}"
            raise InputError(what, remedy="give numbers, nonzero where a segment begins")
        if heads.shape != array.values.shape:
            what = f"heads of shape {heads.shape} for an array of {array.elements}"
            raise InputError(what, remedy="give one head for each element")
        array = replace(array, heads=np.ascontiguousarray(heads != 0).astype(np.uint8))
    if array.exclusive and array.heads is not None:
        raise InputError("a segmented scan is inclusive", remedy="leave out exclusive, or the segments")
    return array


def _from_spec(text: str) -> ArrayInput:
    given = _split(text.removeprefix("array:"))
    exclusive = {"yes": True, "no": False}.get(given.get("exclusive", "no"))
    if exclusive is None:
        what = f"exclusive takes yes or no, not '{given['exclusive']}'"
        raise InputError(what, remedy="write exclusive=yes or exclusive=no")
    seed = _whole("seed", given.get("seed", "1"), 0, 2**63)
    length = _whole("segments", given["segments"], 1, MOST) if "segments" in given else None
    if exclusive and length is not None:
        raise InputError("a segmented scan is inclusive", remedy="leave out exclusive, or segments")
    if "file" in given:
        unused = given.keys() & {"n", "size", "dtype", "bits"}
        if unused:
            raise InputError(f"{min(unused)} does not go with file, which has its own elements", remedy="leave it out")
        values = _load(given["file"])
    else:
        values = _generate(given, seed, segmented=length is not None)
    heads = None if length is None else generate_heads(len(values), length, seed)
    return ArrayInput(values, heads, exclusive, text, text)


def _dtype(given: dict[str, str]) -> np.dtype[Any]:
    name = given.get("dtype", "uint32")
    if name not in WEIGHT_DTYPES:
        raise unknown_name("dtype", name, WEIGHT_DTYPES)
    return np.dtype(name)


def _generate(given: dict[str, str], seed: int, *, segmented: bool) -> NDArray[Any]:
    dtype = _dtype(given)
    width = 8 * dtype.itemsize
    if dtype.kind == "f" and "bits" in given:
        raise InputError("bits are those of integers", remedy=f"leave bits out for {dtype.name}")
    bits = _whole("bits", given.get("bits", str(width - segmented)), 1, width)
    count = _count(given, dtype)
    # In addition to the elements their scan has to find room.
    require_memory(2 * count * dtype.itemsize, f"an array of {count} elements")
    return generate_values(count, dtype, seed, bits)


# ------------------------------------------------------------------ elements


def _load(path: str, *, mapped: bool = False) -> NDArray[Any]:
    """Return the elements of a .npy file; ``mapped``: as they lie in it, unchecked beyond their shape and type."""
    check_ends(path)
    try:
        values = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    except FileNotFoundError:
        remedy = "a spec is for instance array:n=2^20"
        raise InputError("no such file, and no spec of an array", where=path, remedy=remedy) from None
    except (OSError, ValueError, EOFError) as error:
        reason = str(error).partition(". ")[0]  # behind it NumPy advises to unpickle the file
        raise InputError(f"cannot be read as .npy: {reason}", where=path, remedy="write it with numpy.save") from None
    if not isinstance(values, np.ndarray):
        values.close()
        raise InputError("holds several arrays", where=path, remedy="save the one to be scanned with numpy.save")
    return values.ravel() if mapped else _checked(values, path)


def _checked(values: NDArray[Any], where: str) -> NDArray[Any]:
    if values.ndim != 1:
        raise InputError(f"a scan takes one dimension, not {values.ndim}", where=where, remedy="ravel it first")
    native = values.dtype.newbyteorder("=")
    if native.name not in WEIGHT_DTYPES:
        what = f"elements of type {values.dtype} are not supported"
        raise InputError(what, where=where, remedy=f"use {', '.join(WEIGHT_DTYPES)}")
    values = np.ascontiguousarray(values, native)
    if native.kind == "f" and not (finite := np.isfinite(values)).all():
        what = f"element {int(np.argmin(finite))} is not finite, so what follows it has no sum"
        raise InputError(what, where=where, remedy="take such elements out of the array")
    return values
