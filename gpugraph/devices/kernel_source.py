"""A CUDA source as one text, flattened, so that one hash covers all that is compiled.

``#include "name"`` is replaced by the file (looked for beside the including file, then in ``cuda_kernels/``), behind a
guard of its own, so that each file counts once; ``#line`` directives keep every diagnostic at the file and line that a
person edits.  ``#include <name>`` is left to the compiler.
"""

import os
import re
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path

from gpugraph.base.errors import InputError, unknown_name
from gpugraph.base.files import file_state, resource_dir
from gpugraph.devices.base import Defines

_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_INCLUDE = re.compile(r'\s*#\s*include\s*"([^"\n]+)"|\s*#\s*include\s*<(cooperative_groups\.h)>')
_BUILT_IN = re.compile(r"\s*#\s*include\s*<(?:cuda_runtime(?:_api)?|cuda|device_launch_parameters)\.h>")
"""Headers of the toolkit whose names NVRTC and the emulated device know without them."""
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
    if source is None or any(file_state(one) != state for one, state in read.items()):
        read = {}
        source = Source(path, _display_name(path), _flatten(path, [], {}, read), ours=_is_ours(path))
        if source.ours:  # a driver asks for its constants, and the compiler for the text
            _OURS[path] = read, source
    return source


def files_of(file: str | os.PathLike[str]) -> list[Path]:
    """Return a kernel file and all files that it includes."""
    path = load_source(file).path
    return list(_OURS[path][0]) if path in _OURS else [path]


_States = dict[Path, tuple[int, int]]

_OURS: dict[Path, tuple[_States, Source]] = {}
"""Files of ``cuda_kernels/`` as they were read last, each with the state of all files in it."""


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


def _flatten(path: Path, within: list[Path], guards: dict[Path, str], read: _States) -> str:
    """Return the text of ``path``, reached by ``within``, with its includes in place; files go to ``read``."""
    try:
        read[path] = file_state(path)
        pairs = _lines(path, *read[path])
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the kernel file: {error}", where=path, remedy="check the path") from None
    name = _display_name(path).replace("\\", "\\\\").replace('"', '\\"')
    lines = [f'#line 1 "{name}"']
    for number, (line, code) in enumerate(pairs, start=1):
        match = _INCLUDE.match(code) if "#" in code else None
        if match is None:
            known = "#" in code and (_PRAGMA_ONCE.match(code) or _BUILT_IN.match(code))
            lines.append("" if known else line)
            continue
        target = _resolved(_find_include(match[1] or match[2], path, number))
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
    where = f"{_display_name(includer)} line {line}"
    remedy = f"put it beside {includer.name} or use a header of cuda_kernels/"
    raise InputError(f'#include "{name}" was not found', where=where, remedy=remedy)


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
