"""CUDA source as one text: includes put in place by us, so that one hash covers all that is compiled.

``#include "name"`` is replaced by the file (looked for beside the including file, then in ``cuda_kernels/``),
behind a guard of its own, so that each file counts once; ``#line`` directives keep every diagnostic at the
file and line a person edits.  ``#include <name>`` is left to the compiler.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from gpugraph.devices.base import Defines
from gpugraph.errors import InputError, unknown_name
from gpugraph.files import resource_dir

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
    """A flattened CUDA source.

    Attributes:
        path: the file that was asked for.
        name: how diagnostics call it; relative for the kernels of the package, so that caches can be moved.
        text: the flattened text.
        kernels: names of its ``extern "C" __global__`` functions, in order of appearance, whatever defines
            they stand under.
        ours: True for a file of ``cuda_kernels/``.
    """

    path: Path
    name: str
    text: str
    kernels: tuple[str, ...]
    ours: bool


def find_source(file: str | os.PathLike[str]) -> Path:
    """Return the path of a kernel file: a name inside ``cuda_kernels/``, or the path of a user's own.

    Raises:
        InputError: there is no such file.
    """
    path = Path(file)
    inside = resource_dir("cuda_kernels") / path
    for candidate in (inside, path) if len(path.parts) == 1 else (path, inside):
        if candidate.is_file():
            return candidate
    if len(path.parts) == 1:
        raise unknown_name("kernel file", str(file), (p.name for p in inside.parent.glob("*.cu")))
    raise InputError("no such kernel file", where=path, remedy="check the path")


def load_source(file: str | os.PathLike[str]) -> Source:
    """Read a kernel file and flatten it.

    Raises:
        InputError: the file, or one that it includes, does not exist or is no text.
    """
    path = find_source(file)
    text = _flatten(path, [], {})
    kernels = tuple(dict.fromkeys(_KERNEL.findall(without_comments(text))))
    return Source(path, _display_name(path), text, kernels, ours=_is_ours(path))


def _is_ours(path: Path) -> bool:
    return path.resolve().is_relative_to(_home())


@cache
def _home() -> Path:
    return resource_dir("cuda_kernels").resolve()


@cache
def _display_name(path: Path) -> str:
    if _is_ours(path):
        return (Path(_home().name) / path.resolve().relative_to(_home())).as_posix()
    return path.as_posix()


def without_comments(text: str) -> str:
    """Return ``text`` with comments blanked and every line where it was."""
    return _TOKEN.sub(_blanked, text)


def _blanked(token: re.Match[str]) -> str:
    text = token[0]
    return text if text[0] == '"' else "\n".join(" " * len(line) for line in text.split("\n"))


def _flatten(path: Path, within: list[Path], guards: dict[Path, str]) -> str:
    """Return the text of ``path`` with its includes in place; ``within`` is the chain that led here."""
    try:
        state = path.stat()
        pairs = _lines(path, state.st_mtime_ns, state.st_size)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the kernel file: {error}", where=path, remedy="check the path") from None
    name = _display_name(path).replace("\\", "\\\\").replace('"', '\\"')
    lines = [f'#line 1 "{name}"']
    for number, (line, code) in enumerate(pairs, start=1):
        match = _INCLUDE.match(code)
        if match is None:
            lines.append("" if _PRAGMA_ONCE.match(code) else line)
            continue
        target = _find_include(match[1], path, number).resolve()
        if target in within or target == path.resolve():
            lines.append("")  # a cycle: the guard would skip it
            continue
        guard = guards.setdefault(target, f"GPUGRAPH_INCLUDED_{len(guards)}")
        lines += [f"#ifndef {guard}", f"#define {guard}"]
        lines.append(_flatten(target, [*within, path.resolve()], guards))
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
    """Return the defines as lines to stand on top of a source, in a fixed order.

    Options of the compiler would do, were they not seen by its own headers too: ``-DT=int`` breaks those.

    Raises:
        InputError: a name that is no identifier, or a value of more than one line.
    """
    lines = []
    for name, value in sorted((defines or {}).items()):
        text = str(int(value)) if isinstance(value, int) else value
        if not _DEFINE_NAME.match(name) or "\n" in text:
            raise InputError(f"'{name}={text}' is no preprocessor define", remedy="give NAME=VALUE")
        lines.append(f"#define {name} {text}\n")
    return "".join(lines)
