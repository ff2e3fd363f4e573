"""Searches from many sources on a GPU, several at once: groups of blocks each make one, in one cooperative launch.

How it works and its arrays are in ``cuda_kernels/delta_stepping_many.cu``.  It pays where one search leaves much of a
GPU idle, because its paths are long.

Source: see ``cuda_kernels/delta_stepping.cu``.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from gpugraph.base.clock import Clock
from gpugraph.base.errors import InputError, OutOfMemory
from gpugraph.devices.base import Array, Device, Kernel, covering_grid
from gpugraph.devices.kernel_file import ArrayTable, KernelFile, needs
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import InputSizes
from gpugraph.problems.sssp import gpu_delta_stepping as single
from gpugraph.problems.sssp.gpu_words import DISTANCE_SETS, distance_types

FILE = KernelFile("delta_stepping_many.cu", DISTANCE_SETS[:3:2])  # narrow words and wide ones
GROUPS = 8
"""Searches at once.  On 16 of 132 multiprocessors a search took 2.2 to 5.0 times as long as on all."""
COUNTERS = {"rounds": "TOTAL_ROUNDS", "settled": "TOTAL_SETTLED", "pushes": "TOTAL_PUSHES"}
"""Names in records of words of ``queue``."""


def arrays(sizes: InputSizes, bits: int, groups: int) -> ArrayTable:
    """Return the arrays of so many searches at once, in the kernel's order; those from "sets" on have to be 0 at first.

    The graph's packed rows come first.
    """
    table = dict(single.arrays(sizes, bits))
    packed = table.pop("packed_rows")
    del table["distance"]
    counters = {
        "sets": (2 * groups * single.words_of(single.counters(bits)), np.uint64),
        "queue": (FILE["QUEUE_WORDS"], np.uint32),
        "turns": (groups * FILE["TURN_WORDS"], np.uint32),
    }
    return {"packed_rows": packed, **{name: (groups * n, dtype) for name, (n, dtype) in table.items()}, **counters}


class SideBySide:
    """``groups`` searches at once with distances of ``bits``.

    Raises OutOfMemory if there is no room for what they need.
    """

    def __init__(self, view: ResidentView, device: Device, bits: int, groups: int):
        self.view, self.device, self.bits, self.groups = view, device, bits, groups
        table = arrays(view, bits, groups)
        device.require(needs(table))
        self.arrays = {name: device.empty(size, dtype) for name, (size, dtype) in table.items()}
        self.kernels = load_kernels(view, device, bits)
        self.block, resident = shape(self.kernels["search"])
        self.blocks = resident // groups

    def search(self, clock: Clock, sources: Sequence[int], rows: Array) -> bool:
        """Write the distances from all sources into (sources, n) words; return whether one may not fit."""
        view, device, held = self.view, self.device, dict(self.arrays)
        packed, (room, far_room, _) = held.pop("packed_rows"), single.rooms(view)
        sets, queue, turns = (held.pop(name) for name in ("sets", "queue", "turns"))
        own = single.carve(sets, single.counters(self.bits))
        for words in (sets, queue, turns):
            device.fill(words, 0)
        numbers = single.numbers(view, self.bits, self.blocks, self.block)
        graph = view.offsets, view.targets, view.weights
        if len(packed):
            with clock.phase("pack"):
                grid = covering_grid(device, view.vertices, self.block)
                self.kernels["pack"](grid, self.block, (*numbers[:2], *graph, packed))
        arguments = (
            *(device.upload(np.array(sources, np.int32)), np.uint32(len(sources)), *numbers),
            *(np.uint32(room), np.uint32(far_room), *graph, packed, rows, *held.values(), *own.values()),
            *(sets, np.uint32(len(sets) // (2 * self.groups)), queue, turns),
        )
        stop = queue[FILE["HALT"] : FILE["HALT"] + 1]
        with clock.phase("search"):
            self.kernels["search"]((self.blocks, self.groups), self.block, arguments, stop=stop)
            counted = device.download(queue)  # the one read-back
        for name, word in COUNTERS.items():
            clock.count(name, int(counted[FILE[word]]))
        return view.weights.dtype.kind != "f" and bool(counted[FILE["WIDER"]])


class Apart:
    """Searches from many sources that share nothing: one by one, or several at once.

    ``at_once`` says how many.  If it is 0, the first search is made alone and the next ones by GROUPS groups;
    the rest is made in the way that took less time for each of them.
    """

    def __init__(self, view: ResidentView, device: Device, sums: str, at_once: int = 0):
        self.view, self.device, self.at_once = view, device, at_once
        self.alone = single.State(view, device, sums)
        self._beside: dict[tuple[int, int], SideBySide | None] = {}

    def run(self, clock: Clock, sources: Sequence[int]) -> tuple[Array, bool]:
        """Return (sources, n) distance words on the device, and whether a sum of integers may not fit them."""
        for bits in sorted({self.alone.narrow, 64}):
            rows = self.device.empty((len(sources), self.view.vertices), f"u{bits // 8}")
            overflow = self._search(clock, sources, rows, bits)
            if not overflow:
                break
        return rows, overflow

    def _search(self, clock: Clock, sources: Sequence[int], rows: Array, bits: int) -> bool:
        """Write all rows, and return whether one may not fit; then words of 64 bits alone are all written."""
        chosen = self.at_once or (GROUPS if len(sources) > 3 * GROUPS else 1)
        beside = self._side_by_side(bits, min(chosen, len(sources))) if chosen > 1 else None
        parts: list[tuple[SideBySide | None, int]] = [(beside, len(sources))]
        if beside is not None and not self.at_once:
            parts = [(None, 1), (beside, 2 * beside.groups)]
        done, spent, overflow = 0, list[float](), False
        self.alone.use_width(bits)  # compiled before anything is timed
        while done < len(sources):
            if len(spent) == 2:
                parts.append((None if spent[0] < spent[1] else beside, len(sources) - done))
            by, count = parts[len(spent)]
            part, start = slice(done, done + count), time.perf_counter()
            search = self._one_by_one if by is None else by.search
            overflow |= search(clock, sources[part], rows[part])
            if overflow and bits < 64:
                return True
            clock.count("alone" if by is None else "beside", count)
            self.device.synchronize()
            done, spent = done + count, [*spent, (time.perf_counter() - start) / count]
        return overflow

    def _side_by_side(self, bits: int, groups: int) -> SideBySide | None:
        """Return what makes so many searches at once, or fewer if memory is short; None where one is left."""
        key = bits, groups
        if key not in self._beside:
            self._beside = {key: None}  # the memory of others is needed
            groups = min(groups, shape(load_kernels(self.view, self.device, bits)["search"])[1])
            while groups > 1 and self._beside[key] is None:
                with suppress(OutOfMemory):
                    self._beside[key] = SideBySide(self.view, self.device, bits, groups)
                groups //= 2
        return self._beside[key]

    def _one_by_one(self, clock: Clock, sources: Sequence[int], rows: Array) -> bool:
        """Write the distances from each source; return whether one may not fit, of narrow words at the first."""
        overflow = False
        for row, source in zip(rows, sources, strict=True):
            single.search(self.alone, clock, source)
            self.device.copy(row, self.alone.width.arrays["distance"])
            overflow |= self.alone.overflowed()
            if overflow and row.dtype.itemsize < 8:
                break
        return overflow


def check_groups(groups: int) -> int:
    """Return a number of groups; raise InputError for one that is negative."""
    if groups < 0:
        raise InputError(f"option 'groups' is {groups}", remedy="give how many searches to make at once, or 0")
    return groups


def load_kernels(view: ResidentView, device: Device, bits: int) -> dict[str, Kernel]:
    """Return the kernels for distances of ``bits``, compiled if need be."""
    return FILE.kernels(device, distance_types(view, bits), cooperative=("search",))


def shape(search: Kernel) -> tuple[int, int]:
    """Return the threads of a block, and how many blocks of these there may be in all groups together."""
    block = min(search.most_threads, single.FILE["MOST_BLOCK"])
    return block, search.resident_blocks(block)
