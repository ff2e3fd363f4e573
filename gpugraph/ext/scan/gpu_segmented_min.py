"""Segmented minima on a GPU: reduce-then-scan whose sums never reach back across the head of a segment.

The kernels are in ``cuda_kernels/segmented_scan.cu``.  Heads come as a byte for each element, or in the top bit of the
elements themselves, which then must not need it: less to read, for keys of one bit less.

Source: Y. Sun, K. Skadron, "Prefix scan and minimum spanning tree with OpenCL", 2013, sections 4 and 6.
"""

from typing import Any

import numpy as np

from gpugraph.base.clock import Clock
from gpugraph.base.errors import InputError
from gpugraph.devices.base import Array, Device, Kernel, covering_grid
from gpugraph.devices.kernel_file import Arrays, KernelFile, product
from gpugraph.ext.scan.array import ArrayInput
from gpugraph.ext.scan.gpu_scan import VECTORS, WAKING_READS, Run, scan_algorithm
from gpugraph.ext.scan.scanned import Scanned
from gpugraph.ext.scan.tiles import ResidentArray
from gpugraph.problems.algorithm import Option

ELEMENTS = ("uint32", "int32", "uint64", "int64", "float32", "float64")
FILE = KernelFile(
    "segmented_scan.cu",
    [
        *product(INDEX_BITS=(32, 64), WEIGHT=ELEMENTS),
        *product(FLAGS=(1,), VECTORS=(1, 4)),
        *product(INDEX_BITS=(64,), WEIGHT=("uint64",), FLAGS=(1,), VECTORS=(4,)),
    ],
)


class SegmentedScan(Arrays):
    """Three launches that scan ``most`` elements at most, and what blocks report to each other (segmented_scan.cu)."""

    def __init__(self, device: Device, key: np.dtype[Any], index_bits: int, most: int, **defines: int):
        self.block = FILE["BLOCK"]
        self.tile = self.block * defines.get("VECTORS", 2) * 16 // key.itemsize
        self.kernels = load_kernels(device, key, index_bits, **defines)
        resident = min(self.kernels[name].resident_blocks(self.block) for name in ("reduce", "scan"))
        self.most_blocks = blocks = max(1, min(-(-most // self.tile), resident))
        index = np.dtype(f"i{index_bits // 8}")
        words = {"block_head": np.dtype(np.uint8), "block_key": np.dtype(f"u{key.itemsize}"), "block_index": index}
        super().__init__(device, {name: (blocks, dtype) for name, dtype in words.items()})
        self.partials = self.block_head, self.block_key, self.block_index

    def reduce(self, n: int, keys: Array, heads: Array, ids: Array) -> None:
        """Upsweep: what reaches out of every block's range."""
        self.kernels["reduce"](self.blocks(n), self.block, (np.int64(n), keys, heads, ids, *self.partials))

    def spine(self, n: int, ids: Array) -> None:
        """Spine: what reaches into every block's range."""
        self.kernels["spine"](1, self.block, (np.int32(self.blocks(n)), ids, *self.partials))

    def scan(self, n: int, keys: Array, heads: Array, ids: Array, *out: Array) -> None:
        """Downsweep: write ``out``, every element's minimum or every segment's."""
        self.kernels["scan"](self.blocks(n), self.block, (np.int64(n), keys, heads, ids, *self.partials[1:], *out))

    def blocks(self, n: int) -> int:
        """Return the blocks for n elements: the same for upsweep and downsweep."""
        return max(1, min(-(-n // self.tile), self.most_blocks))


def load_kernels(device: Device, key: np.dtype[Any], index_bits: int, **defines: int) -> dict[str, Kernel]:
    """Return the kernels of segmented_scan.cu, compiled if need be."""
    types: dict[str, str | int] = {"WEIGHT": key.name, "INDEX_BITS": index_bits}
    return FILE.kernels(device, types | defines, without=() if defines.get("FLAGS") else ("pack",))


# ------------------------------------------------------------------ the algorithm


class State:
    """The arrays of one segmented scan."""

    def __init__(self, array: ResidentArray, device: Device, flags: str, vectors: int):
        check_flags(array.host, flags)
        host, n = array.host, array.elements
        dtype, bits = host.values.dtype, host.index_bits
        packed = flags == "top-bit"
        device.require(n * (dtype.itemsize * (2 if packed else 1) + bits // 8))
        self.array, self.device, self.n, self.packed = array, device, n, packed
        self.scan = SegmentedScan(device, dtype, bits, n, FLAGS=int(packed), VECTORS=vectors)
        self.minima = device.empty(n, dtype)
        self.index = device.empty(n, np.dtype(f"i{bits // 8}"))
        self.keys: Array = device.empty(n, dtype) if packed else None
        if packed and n:
            array.renew()
            args = (np.int64(n), array.values, array.heads, self.keys)
            self.scan.kernels["pack"](covering_grid(device, n, self.scan.block), self.scan.block, args)


def require_segments(array: ArrayInput) -> None:
    """Raise InputError for an input without segments."""
    if array.heads is None:
        raise InputError("this algorithm scans segments, the input has none", remedy="give --segments LENGTH")


def check_flags(array: ArrayInput, flags: str) -> None:
    """Raise InputError where there are no segments, or no room for flags in the elements."""
    require_segments(array)
    if flags != "top-bit":
        return
    dtype, remedy = array.values.dtype, "use --set flags=bytes"
    if dtype.kind != "u":
        raise InputError(f"the top bit of {dtype} is its sign, and cannot be a flag", remedy=remedy)
    width = 8 * dtype.itemsize
    if array.elements and int(array.values.max()) >> (width - 1):
        wide = int(array.values.argmax())
        what = f"element {wide} is {array.values[wide]} and takes all {width} bits"
        raise InputError(f"{what}; a flag in the top bit leaves keys of {width - 1}", remedy=remedy)


def compile_(array: ResidentArray, device: Device, *, flags: str, vectors: int) -> None:
    """Compile what ``prepare`` will need."""
    check_flags(array.host, flags)
    packed = int(flags == "top-bit")
    load_kernels(device, array.host.values.dtype, array.host.index_bits, FLAGS=packed, VECTORS=vectors)


def run(state: State, clock: Clock) -> Run:
    """Scan once; the elements stay as they are."""
    scan, n, array = state.scan, state.n, state.array
    array.renew()
    keys = state.keys if state.packed else array.values
    heads = unused = array.heads
    watch = state.device.stopwatch()
    for _ in range(WAKING_READS if n else 0):
        scan.reduce(n, keys, heads, unused)
    watch.start()
    if n:
        with clock.phase("upsweep"):
            scan.reduce(n, keys, heads, unused)
        with clock.phase("spine"):
            scan.spine(n, unused)
        with clock.phase("downsweep"):
            scan.scan(n, keys, heads, unused, state.minima, state.index)
    watch.stop()
    return Run((state.minima, state.index), watch)


scan_algorithm(
    "segmented-min",
    summary="minima of segments with their positions: reduce-then-scan with flags as bytes or in the top bit",
    authors="Sun, Skadron",
    year=2013,
    section="4: find-min-edge by segmented scan; 6: the flag in the top bit",
    prepare=State,
    run=run,
    finish=lambda state, raw: Scanned(state.array.host, raw[0], raw[1].astype(np.int64, copy=False)),
    compile=compile_,
    options=(
        Option("flags", str, "bytes", "heads of segments: a byte each, or in the top bit", ("bytes", "top-bit")),
        Option("vectors", int, 2, VECTORS, (1, 2, 4)),
    ),
    # Elements and heads are read once, minima and positions written.
    minimum_bytes=lambda sizes: sizes.arcs * (2 * sizes.weight_bytes + 1 + sizes.index_bits // 8),
)
