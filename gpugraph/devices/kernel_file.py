"""KernelFile: what a driver knows of its .cu file, read from the source; and the table of arrays that it works on.

A driver names its file once, with the define sets that it asks for, which the compile matrix collects.  A constant that
host and kernels share is in the .cu file alone: ``FILE["BLOCK"]``.

The source is one text, so that one hash covers all that is compiled: ``#include "name"`` is replaced by the file
(looked for beside the including file, then in ``cuda_kernels/``), behind a guard of its own, so that each file counts
once; ``#line`` directives keep every diagnostic at the file and line a person edits.  ``#include <name>`` is left to
the compiler.
"""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

from gpugraph.base.errors import InputError, unknown_name
from gpugraph.base.files import resource_dir
from gpugraph.devices.base import Array, Defines, Device, Kernel, covering_grid

_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_INCLUDE = re.compile(r'\s*#\s*include\s*"([^"\n]+)"')
_PRAGMA_ONCE = re.compile(r"\s*#\s*pragma\s+once\s*\Z")
_KERNEL = re.compile(
    r'extern\s+"C"\s+__global__\s+(?:__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)\s*)?'
    r"void\s+(?:__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)\s*)?(\w+)\s*\("
)
_DEFINE_NAME = re.compile(r"[A-Za-z_]\w*(\([\w, ]*\))?\Z")


@dataclass(frozen=True)
class Source:
    """A flattened CUDA source: the path that was asked for, and the text; ``ours``: a file of ``cuda_kernels/``.

    The name is how diagnostics call it, relative for the kernels of the package, so that caches can be moved.
    """

    path: Path
    name: str
    text: str
    ours: bool

    @cached_property
    def code(self) -> str:
        """The text with comments blanked and every line where it was."""
        return without_comments(self.text)

    @cached_property
    def kernels(self) -> tuple[str, ...]:
        """Names of its ``extern "C" __global__`` functions, in order of appearance, under whatever defines."""
        return tuple(dict.fromkeys(_KERNEL.findall(self.code)))


def find_source(file: str | os.PathLike[str]) -> Path:
    """Return the path of a file of ``cuda_kernels/``, or of a user's own.  Raises InputError if there is none."""
    path = Path(file)
    inside = resource_dir("cuda_kernels") / path
    for candidate in (inside, path) if len(path.parts) == 1 else (path, inside):
        if candidate.is_file():
            return candidate
    if len(path.parts) == 1:
        raise unknown_name("kernel file", str(file), (p.name for p in inside.parent.glob("*.cu")))
    raise InputError("no such kernel file", where=path, remedy="check the path")


def load_source(file: str | os.PathLike[str]) -> Source:
    """Read a kernel file and flatten it.  Raises InputError if it, or a file it includes, cannot be read."""
    path = find_source(file)
    read, source = _OURS.get(path, ({}, None))
    if source is None or any(_state(one) != state for one, state in read.items()):
        read = {}
        source = Source(path, _display_name(path), _flatten(path, [], {}, read), ours=_is_ours(path))
        if source.ours:  # a driver asks for its constants, and the compiler for the text
            _OURS[path] = read, source
    return source


def files_of(file: str | os.PathLike[str]) -> list[Path]:
    """Return a kernel file and all files that it includes."""
    path = load_source(file).path
    return list(_OURS[path][0]) if path in _OURS else [path]


_State = tuple[int, int]
"""When a file was changed last, in nanoseconds, and its bytes."""

_OURS: dict[Path, tuple[dict[Path, _State], Source]] = {}
"""Files of ``cuda_kernels/`` as they were read last, each with the state of all files in it."""


def _state(path: Path) -> _State:
    state = path.stat()
    return state.st_mtime_ns, state.st_size


@cache
def _resolved(path: Path) -> Path:
    return path.resolve()


def _is_ours(path: Path) -> bool:
    return _resolved(path).is_relative_to(_home())


@cache
def _home() -> Path:
    return resource_dir("cuda_kernels").resolve()


@cache
def _display_name(path: Path) -> str:
    if _is_ours(path):
        return (Path(_home().name) / _resolved(path).relative_to(_home())).as_posix()
    return path.as_posix()


def without_comments(text: str) -> str:
    """Return ``text`` with comments blanked and every line where it was."""
    return _TOKEN.sub(_blanked, text)


def _blanked(token: re.Match[str]) -> str:
    text = token[0]
    return text if text[0] == '"' else "\n".join(" " * len(line) for line in text.split("\n"))


def _flatten(path: Path, within: list[Path], guards: dict[Path, str], read: dict[Path, _State]) -> str:
    """Return the text of ``path``, reached by ``within``, with its includes in place; files go to ``read``."""
    try:
        read[path] = _state(path)
        pairs = _lines(path, *read[path])
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the kernel file: {error}", where=path, remedy="check the path") from None
    name = _display_name(path).replace("\\", "\\\\").replace('"', '\\"')
    lines = [f'#line 1 "{name}"']
    for number, (line, code) in enumerate(pairs, start=1):
        match = _INCLUDE.match(code) if "#" in code else None
        if match is None:
            lines.append("" if "#" in code and _PRAGMA_ONCE.match(code) else line)
            continue
        target = _resolved(_find_include(match[1], path, number))
        if target in within or target == _resolved(path):
            lines.append("")  # a cycle: the guard would skip it
            continue
        guard = guards.setdefault(target, f"GPUGRAPH_INCLUDED_{len(guards)}")
        lines += [f"#ifndef {guard}", f"#define {guard}"]
        lines.append(_flatten(target, [*within, _resolved(path)], guards, read))
        lines += ["#endif", f'#line {number + 1} "{name}"']
    return "\n".join(lines)


@lru_cache(maxsize=64)
def _lines(path: Path, changed_ns: int, size: int) -> list[tuple[str, str]]:
    """Return the lines of a file as last changed, each with its comments and without; headers are asked for often."""
    text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
    return list(zip(text.split("\n"), without_comments(text).split("\n"), strict=True))


def _find_include(name: str, includer: Path, line: int) -> Path:
    for directory in (includer.parent, _home()):
        if (directory / name).is_file():
            return directory / name
    raise InputError(
        f'#include "{name}" was not found',
        where=f"{_display_name(includer)} line {line}",
        remedy=f"put it beside {includer.name} or use a header of cuda_kernels/",
    )


def define_lines(defines: Defines | None) -> str:
    """Return the defines as lines to put on top of a source, in a fixed order, or raise InputError.

    Options of the compiler would do, were they not seen by its own headers too: ``-DT=int`` breaks those.
    """
    lines = []
    for name, value in sorted((defines or {}).items()):
        text = str(int(value)) if isinstance(value, int) else value
        if not _DEFINE_NAME.match(name) or "\n" in text:
            raise InputError(f"'{name}={text}' is no preprocessor define", remedy="give NAME=VALUE")
        lines.append(f"#define {name} {text}\n")
    return "".join(lines)


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
            sets += [defines] if defines not in sets else []
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
