"""The system's C++ compiler: find it, and build kernels with it."""

from __future__ import annotations

import errno
import functools
import hashlib
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpugraph import code_cache
from gpugraph.devices.base import Defines, KernelCompileError
from gpugraph.devices.cuda_source import Source, define_lines
from gpugraph.emulator.translation import KernelName, find_kernels, rewrite_dynamic_shared, translation_unit
from gpugraph.errors import DeviceUnavailable, InputError

SHIM = Path(__file__).resolve().parent / "shim"

_COMMON = ("-std=c++17", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-w", "-ffp-contract=off")
_FAST = ("-O2", "-g1", "-fno-strict-aliasing", "-fwrapv")
_DEBUG = ("-O1", "-g", "-fno-omit-frame-pointer", "-fno-strict-aliasing")
_CHECKS = ("-fsanitize=address,undefined", "-fno-sanitize=vptr", "-fno-sanitize-recover=undefined")

_DIAGNOSTIC = re.compile(r"^(.+?):(\d+):(?:\d+:)? (?:fatal )?error: (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Build:
    """A way to build: flags for the runtime and for kernels.

    Attributes:
        name: ``"plain"``, ``"threads"``, ``"sanitize"`` or ``"races"``.
    """

    name: str
    runtime: tuple[str, ...]
    kernel: tuple[str, ...]
    link: tuple[str, ...] = ()


BUILDS = {
    build.name: build
    for build in (
        Build("plain", _FAST, _FAST),
        Build("threads", (*_FAST, "-DSIMT_THREADS"), (*_FAST, "-DSIMT_THREADS"), ("-pthread",)),
        Build("sanitize", (*_DEBUG, "-fsanitize=address", "-DSIMT_ASAN"), (*_DEBUG, *_CHECKS), _CHECKS),
        Build("races", (*_FAST, "-DSIMT_RACES"), (*_DEBUG, "-DSIMT_RACES", "-fsanitize=thread")),
    )
}


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler: its command and the version it tells."""

    command: tuple[str, ...]
    version: str

    @property
    def is_clang(self) -> bool:
        """True for clang, whose flags differ in places."""
        return "clang" in self.version.lower()


@functools.cache
def find_compiler() -> Compiler:
    """Return the compiler to use: ``$CXX``, else c++, g++ or clang++.

    Raises:
        DeviceUnavailable: there is none.
    """
    chosen = os.environ.get("CXX", "").strip()
    for command in [chosen] if chosen else ["c++", "g++", "clang++"]:
        words = tuple(shlex.split(command))
        if words and shutil.which(words[0]):
            told = subprocess.run([*words, "--version"], capture_output=True, text=True, check=False)
            if told.returncode == 0 and told.stdout:
                return Compiler(words, told.stdout.splitlines()[0])
    raise DeviceUnavailable(
        f"the emulated device needs a C++17 compiler, and $CXX ('{chosen}') is none"
        if chosen
        else "the emulated device needs a C++17 compiler, and none of c++, g++ and clang++ was found",
        remedy="install g++ (Debian: apt install g++) or set CXX to a compiler",
    )


def build_library(
    source: Source,
    defines: Defines,
    build: Build,
    *,
    cooperative: bool = False,
    expressions: Sequence[str] = (),
) -> Path:
    """Return the shared object of a kernel file, compiled if it is not in the cache.

    Args:
        source: the flattened kernel file.
        build: flags for one purpose.
        defines: macros for the kernel file; the shim does not see them.
        cooperative: blocks wait for each other, so that shared memory must be swappable in every build.
        expressions: kernels to add that are instances of templates, e.g. ``"reduce<float, 256>"``.

    Raises:
        KernelCompileError: the file does not compile; the message holds the first diagnostic.
        InputError: the file holds no kernel, or a define is none.
        DeviceUnavailable: there is no compiler.
    """
    compiler = find_compiler()
    flags = _flags(compiler, build.kernel)
    static_shared = build.name == "sanitize" and not cooperative
    if static_shared:
        flags.append("-DSIMT_STATIC_SHARED")
    if build.name == "races":  # volatile accesses get hooks of their own
        flags += _distinguish_volatile(compiler)
    runtime = build_runtime(compiler, build, static_shared=static_shared)
    text = define_lines(defines) + rewrite_dynamic_shared(source.text)
    key = _digest(text, runtime.name, *flags, *expressions)

    def make(target: Path) -> None:
        unit = target.with_suffix(".cpp")
        unit.write_text(text, encoding="utf-8")
        paths = [f"-I{source.path.parent}", str(unit)]
        scanned = _run([*compiler.command, *_COMMON, "-DGPUGRAPH_EMULATED=1", "-E", "-P", *paths], source)
        kernels = [*find_kernels(scanned), *(KernelName(expression) for expression in expressions)]
        if not kernels:
            raise InputError(
                "holds no kernel", where=source.name, remedy='write one: extern "C" __global__ void name(…)'
            )
        unit.write_text(translation_unit(text, kernels), encoding="utf-8")
        compiled = target.with_suffix(".o")
        _run([*compiler.command, *flags, f"-I{SHIM}", *paths, "-c", "-o", str(compiled)], source)
        linked = [*_link_flags(compiler, build), str(compiled), str(runtime), "-o", str(target)]
        _run([*compiler.command, "-shared", *linked], source)

    return _cached(f"{source.path.stem}-{build.name}-{key}.so", make)


def build_runtime(compiler: Compiler, build: Build, *, static_shared: bool) -> Path:
    """Return the runtime's object file for one build mode, compiled if it is not in the cache."""
    flags = _flags(compiler, build.runtime)
    if static_shared:
        flags.append("-DSIMT_STATIC_SHARED")
    key = _digest(_shim_text(), compiler.version, *compiler.command, *flags)

    def make(target: Path) -> None:
        _run([*compiler.command, *flags, "-c", str(SHIM / "runtime.cpp"), "-o", str(target)], None)

    return _cached(f"runtime-{build.name}-{key}.o", make)


def _cached(name: str, make: Callable[[Path], None]) -> Path:
    """Return the file ``name`` of the cache; ``make(path)`` makes it where it is not there as it was written."""
    found = code_cache.find("emulated", name)
    if found is not None:
        return found.path
    with code_cache.scratch_folder() as folder:
        try:
            make(folder / name)
            made = (folder / name).read_bytes()
        except OSError as error:
            raise code_cache.no_room(error) from None
    return code_cache.keep("emulated", name, made)


def _distinguish_volatile(compiler: Compiler) -> list[str]:
    return ["-mllvm", "-tsan-distinguish-volatile"] if compiler.is_clang else ["--param", "tsan-distinguish-volatile=1"]


def _link_flags(compiler: Compiler, build: Build) -> list[str]:
    return [*build.link, *(["-shared-libasan"] if compiler.is_clang and build.name == "sanitize" else [])]


def _flags(compiler: Compiler, chosen: Sequence[str]) -> list[str]:
    # GCC makes some inline variables unique in the whole process, so that two builds of one file would share them.
    return [*_COMMON, *chosen, *(() if compiler.is_clang else ("-fno-gnu-unique",))]


@functools.cache
def _shim_text() -> str:
    return "\0".join(path.read_text(encoding="utf-8") for path in sorted(SHIM.iterdir()) if path.is_file())


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


_NO_ROOM = {
    errno.ENOSPC: "No space left on device",
    errno.EDQUOT: "Disk quota exceeded",
    errno.EFBIG: "File size limit exceeded",
}
"""What compilers say where there is no room for what they write; the last of one that a signal ended."""


def _run(command: Sequence[str], source: Source | None) -> str:
    """Run the compiler, its messages in English, and return what it printed; raise its first diagnostic."""
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment, check=False)
    if done.returncode == 0:
        return done.stdout
    for number, said in _NO_ROOM.items():
        if said in done.stderr:
            raise code_cache.no_room(OSError(number, os.strerror(number)))
    match = _DIAGNOSTIC.search(done.stderr)
    raise KernelCompileError(
        f"does not compile: {match[3]}"
        if match
        else "the C++ compiler failed: " + (done.stderr.strip() or "no message")[-300:],
        where=f"{match[1]}:{match[2]}" if match else source.name if source else "the emulator's runtime",
        remedy="correct it" if match else "run the compiler by hand, or choose another by CXX",
        log=done.stderr,
        ours=source is None or source.ours,
    )
