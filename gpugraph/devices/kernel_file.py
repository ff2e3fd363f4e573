"""KernelFile: what a driver knows of its .cu file, read from the source; and the table of arrays that it works on.

A driver names its file once, with the define sets that it asks for, which the compile matrix collects.  A constant that
host and kernels share is in the .cu file alone: ``FILE["BLOCK"]``.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

from gpugraph.base.errors import InputError
from gpugraph.devices.base import Array, Defines, Device, Kernel, covering_grid

if TYPE_CHECKING:
    from gpugraph.devices.kernel_source import Source

# A pattern that begins with letters is searched for by them, one that begins with \b is tried at every place.
_CONSTANT = re.compile(r"constexpr\s+(\w+)\s+(\w+)\s*=\s*([^;{}]+);")
_ENUM = re.compile(r"enum\b\s*(\w*)\s*(?::\s*\w+\s*)?\{([^}]*)\}")
_CAST = re.compile(r"\bstatic_cast<\w+>")
_SUFFIXED = re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b")
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_DEFAULT = re.compile(r"#ifndef (\w+)\n#define \1 (\w+)\n#endif")
_WIDTHS = {"uint32": 32, "unsigned": 32, "uint64": 64}

BLOCK = 256
"""Threads of a block, where nothing asks for another number."""

ArrayTable = Mapping[str, tuple[int | tuple[int, ...], DTypeLike]]
"""Shape and dtype of a run's arrays, by name."""


class KernelFile:
    """A file of ``cuda_kernels/``, and all define sets that drivers compile it with.

    Of a large product that is a part in which every value of every define occurs.
    """

    declared: ClassVar[dict[str, KernelFile]] = {}
    """Every kernel file that an imported driver has named."""

    def __init__(self, name: str, define_sets: Iterable[Defines] = ({},)):
        self.name = name
        self._declared = list(define_sets)
        self._found: dict[str, int] = {}
        KernelFile.declared[name] = self

    def declare(self, define_sets: Iterable[Defines]) -> None:
        """Add the define sets of one more driver."""
        self._declared += define_sets

    @property
    def define_sets(self) -> list[Defines]:
        """The define sets that were declared, each once, without what the file defines so itself."""
        sets: list[Defines] = []
        for defines in map(self.without_defaults, self._declared):
            if defines not in sets:
                sets.append(defines)
        return sets

    def without_defaults(self, defines: Defines) -> Defines:
        """Return the defines that differ from those which the file falls back to."""
        return {name: value for name, value in sorted(defines.items()) if self._defaults.get(name) != str(value)}

    # ------------------------------------------------------------------ constants

    def __getitem__(self, name: str) -> int:
        """Return a ``constexpr`` of integer type or an enumerator."""
        if name not in self._found:
            self._found[name] = self.constant(name, {})
        return self._found[name]

    def constant(self, name: str, defines: Defines) -> int:
        """Return the same where it depends on integer defines.  Raises KeyError unless there is one of that name."""
        if name in defines:
            return int(defines[name])
        found = self._constants.get(name, set())
        if len(found) != 1:
            raise KeyError(f"{self.name} has {len(found)} constants {name}")
        ((kind, expression),) = found
        text = _SUFFIXED.sub(r"\1", _CAST.sub("", expression)).replace("/", "//")
        words = {word: self.constant(word, defines) for word in _WORD.findall(text)}
        value = int(eval(text, {"__builtins__": {}}, words))  # a sum of integers in a file of our own
        return value % 2 ** _WIDTHS[kind] if kind in _WIDTHS else value

    def enumerators(self, enum: str) -> dict[str, int]:
        """Return the values of an enumeration by name, in order."""
        return {name: self[name] for name, _ in self._enums[enum]}

    @property
    def phases(self) -> tuple[str, ...]:
        """The names of ``enum Phase``, as records write them; PHASES, if it ends with that, is their number."""
        return tuple(name.lower() for name in self.enumerators("Phase") if name != "PHASES")

    def weight_kind(self, weights: Array) -> np.int32:
        """Return of which kind weights are that come to a kernel as unsigned words (common.cuh, enum WeightKind)."""
        return np.int32(self[{"u": "UNSIGNED", "i": "SIGNED", "f": "REAL"}[weights.dtype.kind]])

    @cached_property
    def _source(self) -> Source:
        from gpugraph.devices.kernel_source import load_source  # a CPU needs none

        return load_source(self.name)

    @cached_property
    def _defaults(self) -> dict[str, str]:
        return dict(_DEFAULT.findall(self._source.code))

    @cached_property
    def _enums(self) -> dict[str, list[tuple[str, str]]]:
        """By enumeration, the enumerators with the expressions that they are equal to."""
        found: dict[str, list[tuple[str, str]]] = {}
        for enum, body in _ENUM.findall(self._source.code):
            entries: list[tuple[str, str]] = []
            for entry in filter(None, map(str.strip, body.split(","))):
                name, _, expression = map(str.strip, entry.partition("="))
                entries.append((name, expression or (f"{entries[-1][0]} + 1" if entries else "0")))
            found.setdefault(enum, []).extend(entries)
        return found

    @cached_property
    def _constants(self) -> dict[str, set[tuple[str, str]]]:
        """By name, the type and expression of every definition; those under different defines may differ."""
        found: dict[str, set[tuple[str, str]]] = {}
        for kind, name, expression in _CONSTANT.findall(self._source.code):
            found.setdefault(name, set()).add((kind, expression))
        for entries in self._enums.values():
            for name, expression in entries:
                found.setdefault(name, set()).add(("int", expression))
        return found

    # ------------------------------------------------------------------ kernels

    @cached_property
    def _prefix(self) -> str:
        """What its kernels' names begin with: the file's own name, or else the first word."""
        names, stem = self._source.kernels, f"{Path(self.name).stem}_"
        return stem if all(name.startswith(stem) for name in names) else f"{names[0].partition('_')[0]}_"

    def kernel(
        self, device: Device, defines: Defines | None = None, name: str | None = None, *, cooperative: bool = False
    ) -> Kernel:
        """Return a kernel by its name without the prefix of the file's, or the only one, compiled if need be."""
        name = self._prefix + name if name is not None else self._source.kernels[0]
        return device.kernel(self.name, name, self.without_defaults(defines or {}), cooperative=cooperative)

    def launch(
        self, device: Device, name: str, threads: int, *args: Any, defines: Defines | None = None, block: int = BLOCK
    ) -> None:
        """Launch a kernel, by its name without the prefix, over about ``threads`` threads' worth of work."""
        self.kernel(device, defines, name)(covering_grid(device, threads, block), block, args)

    def kernels(
        self,
        device: Device,
        defines: Defines | None = None,
        *,
        only: Sequence[str] = (),
        without: Sequence[str] = (),
        cooperative: Sequence[str] = (),
    ) -> dict[str, Kernel]:
        """Return the file's kernels, all or ``only`` some or ``without`` some, by their names without the prefix."""
        all_names = (name.removeprefix(self._prefix) for name in self._source.kernels)
        names = [name for name in only or all_names if name not in without]
        return {name: self.kernel(device, defines, name, cooperative=name in cooperative) for name in names}


def product(**choices: Sequence[str | int]) -> list[Defines]:
    """Return the define sets of every combination of values."""
    return [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]


def unsigned(dtype: np.dtype[Any]) -> str:
    """Return the type in which kernels hold integers that are not negative, or wrap: unsigned; floats stay."""
    return dtype.name if dtype.kind == "f" else f"uint{8 * dtype.itemsize}"


# ------------------------------------------------------------------ positions of arcs

MAX_NARROW_ARCS, MAX_UNSIGNED_ARCS = 2**31 - 2**12, 2**32 - 2**12
"""From so many arcs on a position has no sign, or 64 bits; and from so many 64 bits: device code counts a little past
the last arc before it compares, and all bits set is no position.

The longest steps are of 1024 arcs (a segment of ``boruvka.cu``, the lines that a warp of ``filter_boruvka`` asks for,
the tiles of ``walk_arcs``), or 2560 (a block of ``filter_boruvka`` at a hub), and a lane begins up to 1023 behind the
end; a step of delta-stepping is 256.
"""
UNSIGNED: Defines = {"INDEX": "uint32"}
"""What kernels are compiled with that take positions of 32 bits without a sign."""
INDICES: list[Defines] = [{"INDEX_BITS": 32}, UNSIGNED, {"INDEX_BITS": 64}]


def index_dtype(arcs: int, bits: int | None = None, *, unsigned: bool = False) -> np.dtype[Any]:
    """Return the narrowest of int32, uint32 if ``unsigned``, and int64 that holds positions, or that of ``bits``.

    Raises InputError for bits other than 32 and 64, and for 32 that do not hold them.
    """
    narrow = "int32" if arcs < MAX_NARROW_ARCS else "uint32" if unsigned and arcs < MAX_UNSIGNED_ARCS else None
    if bits not in (None, 32, 64):
        raise InputError(f"arc indices of {bits} bits do not exist", remedy="use 32 or 64")
    if bits == 32 and narrow is None:
        raise InputError(f"{arcs} arcs do not fit in 32-bit arc indices", remedy="use 64")
    return np.dtype("int64" if bits == 64 else narrow or "int64")


def index_types(dtype: np.dtype[Any]) -> dict[str, str | int]:
    """Return the defines among ``INDICES`` for positions of a dtype."""
    return {"INDEX": dtype.name} if dtype.kind == "u" else {"INDEX_BITS": 8 * dtype.itemsize}


# ------------------------------------------------------------------ arrays

_GRAIN = 512  # bytes: a device's memory is allocated in multiples of it


def needs(table: ArrayTable) -> int:
    """Return the bytes of device memory that the arrays of a table take."""
    sizes = (math.prod(np.atleast_1d(shape).tolist()) * np.dtype(dtype).itemsize for shape, dtype in table.values())
    return sum(-(-size // _GRAIN) * _GRAIN for size in sizes)


class Arrays:
    """The arrays of a run, attributes by the names of their table, allocated together, and launches on them.

    What ``needs`` foretells is checked before the first is allocated: OutOfMemory if there is no room for all.
    """

    kernels: dict[str, Kernel]
    block = BLOCK

    def __init__(self, device: Device, table: ArrayTable):
        self.device = device
        device.require(needs(table))
        for name, (shape, dtype) in table.items():
            setattr(self, name, device.empty(shape, dtype))

    def launch(self, name: str, threads: int, *args: Any) -> None:
        """Launch a kernel over about ``threads`` threads' worth of work."""
        self.kernels[name](covering_grid(self.device, threads, self.block), self.block, args)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Array: ...
