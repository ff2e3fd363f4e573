"""Translation of a CUDA file to C++, and its build into a library by the system's compiler."""

import contextlib
import errno
import functools
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpugraph.base import code_cache
from gpugraph.base.clock import COMPILING
from gpugraph.base.errors import DeviceUnavailable, InputError, used_up
from gpugraph.devices.base import Defines, KernelCompileError
from gpugraph.devices.kernel_source import Source, define_lines

# ------------------------------------------------------------------ translation
# A flattened ``.cu`` file becomes the C++ translation unit that is compiled.
# The one construct that C++ cannot be taught by a macro, ``extern __shared__ T name[];``, is rewritten; everything else
# is compiled as it is.  The list of kernels goes behind it, and C++ itself deduces their parameter types.

_DYNAMIC_SHARED = re.compile(
    r"\bextern\s+__shared__\s+((?:__align__\s*\([^()]*\)|alignas\s*\([^()]*\)|[\w:<>,\s])+?)\s*\b(\w+)\s*\[\s*\]\s*;"
)
_ALIGNMENT = re.compile(r"(?:__align__|alignas)\s*\([^()]*\)")
_KERNEL = re.compile(r"[^;{}]*\b__global__\b[^;{}]*[;{]")
_SIGNATURE = re.compile(r"\bvoid\s+(\w+)\s*\(")
_BLANKED = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_SCOPE = re.compile(r"(\bnamespace\b[^;{}()]*|\bextern\s*)?\{|\}")

SANITIZED = "GPUGRAPH_EMULATED_SANITIZE"
"""Set where AddressSanitizer is under the process (``sanitize.py``)."""

KERNEL_LIST = "kernel list"
"""What diagnostics call the part of a translation unit that is nobody's file."""


@functools.lru_cache(maxsize=64)
def rewrite_dynamic_shared(text: str) -> str:
    """Replace ``extern __shared__ T name[];`` by a pointer, or at namespace scope by an object that acts as one.

    Line breaks inside the declaration are kept, so that line numbers stay.
    """
    masked = _BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    pieces: list[str] = []
    end = 0
    for match in _DYNAMIC_SHARED.finditer(masked):
        element = " ".join(_ALIGNMENT.sub("", match[1]).split())
        inside = _inside_function(masked[: match.start()])
        pieces.append(text[end : match.start()])
        pieces.append(
            f"{element}* const {match[2]} = static_cast<{element}*>(simt_dynamic_shared());"
            if inside
            else f"static const simt::DynamicShared<{element}> {match[2]};"
        )
        pieces.append("\n" * match[0].count("\n"))
        end = match.end()
    return "".join(pieces) + text[end:]


def _inside_function(before: str) -> bool:
    """Tell whether a position is inside braces other than those of a namespace or a linkage block."""
    open_braces: list[bool] = []
    for match in _SCOPE.finditer(before):
        if match[0] != "}":
            open_braces.append(match[1] is None)
        elif open_braces:
            open_braces.pop()
    return any(open_braces)


def find_kernels(preprocessed: str) -> dict[str, str]:
    """Return the kernels of a preprocessed text, templates left out, in their order.

    By name the first argument of ``__launch_bounds__``, or ``"0"``.
    """
    found: dict[str, str] = {}
    for match in _KERNEL.finditer(preprocessed):
        if re.search(r"\btemplate\b", match[0]):
            continue
        head, bound = _cut_launch_bounds(match[0])
        signature = _SIGNATURE.search(head)
        if signature:
            found.setdefault(signature[1], bound)
    return found


def _cut_launch_bounds(statement: str) -> tuple[str, str]:
    """Return the statement without ``__launch_bounds__(...)``, and the bound on threads in it."""
    start = statement.find("__launch_bounds__")
    if start < 0:
        return statement, "0"
    opening = statement.index("(", start)
    depth, comma = 0, None
    for at in range(opening, len(statement)):
        depth += {"(": 1, ")": -1}.get(statement[at], 0)
        if statement[at] == "," and depth == 1 and comma is None:
            comma = at
        if depth == 0:
            return statement[:start] + statement[at + 1 :], statement[opening + 1 : comma or at].strip()
    return statement, "0"


def translation_unit(text: str, kernels: Mapping[str, str]) -> str:
    """Return the C++ text to compile: the shim, the kernel file, and the list of its kernels (``find_kernels``)."""
    entries = ",\n".join(
        f'    simt::Entry<&{name}>::describe_as("{name}", static_cast<uint32_t>({most_threads}))'
        for name, most_threads in kernels.items()
    )
    registry = (
        f'#line 1 "{KERNEL_LIST}"\n'
        'extern "C" {\n'
        f"extern const simt::Kernel simt_kernels[] = {{\n{entries}\n}};\n"
        f"extern const uint32_t simt_kernel_count = {len(kernels)};\n"
        "}\n"
    )
    return f'#include "device_code.h"\n{text}\n{registry}'


SHIM = Path(__file__).resolve().parent / "shim"

_COMMON = ("-std=c++17", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-w", "-ffp-contract=off")
_PLAIN = ("-g1", "-fno-strict-aliasing", "-fwrapv")
_RUNTIME = ("-O2", *_PLAIN)
_KERNELS = ("-Og", *_PLAIN)
"""Kernels that are tried on small graphs often take longer to compile than to run, and GCC takes up to four times as
long for -O1.  Unoptimised they would run several times as long; races are looked for in what -O1 leaves of the reads.
"""
_DEBUG = ("-g1", "-fno-omit-frame-pointer", "-fno-strict-aliasing")
_RACES = ("-DSIMT_RACES",)
_COUNTERS = (*_RACES, "-DSIMT_COUNTERS")
_CHECKS = ("-fsanitize=address,undefined", "-fno-sanitize=vptr", "-fno-sanitize-recover=undefined")

_DIAGNOSTIC = re.compile(r"^(.+?):(\d+):(?:\d+:)? (?:fatal )?error: (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Build:
    """A way to build, by name: flags for the runtime and for kernels."""

    name: str
    runtime: tuple[str, ...]
    kernel: tuple[str, ...]
    link: tuple[str, ...] = ()


BUILDS = {
    build.name: build
    for build in (
        Build("plain", _RUNTIME, _KERNELS),
        Build("threads", (*_RUNTIME, "-DSIMT_THREADS"), (*_KERNELS, "-DSIMT_THREADS"), ("-pthread",)),
        Build("sanitize", ("-O1", *_DEBUG, "-fsanitize=address", "-DSIMT_ASAN"), ("-O0", *_DEBUG, *_CHECKS), _CHECKS),
        Build("races", (*_RUNTIME, *_RACES), ("-O1", *_DEBUG, *_RACES, "-fsanitize=thread")),
        Build("counters", (*_RUNTIME, *_COUNTERS), ("-O1", *_DEBUG, *_COUNTERS, "-fsanitize=thread")),
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
    """Return the compiler to use: ``$CXX``, else c++, g++ or clang++.  Raises DeviceUnavailable if there is none."""
    chosen = os.environ.get("CXX", "").strip()
    for command in [chosen] if chosen else ["c++", "g++", "clang++"]:
        words = tuple(shlex.split(command))
        if words and shutil.which(words[0]):
            version = subprocess.run([*words, "--version"], capture_output=True, text=True, check=False)
            if version.returncode == 0 and version.stdout:
                return Compiler(words, version.stdout.splitlines()[0])
    raise DeviceUnavailable(
        f"the emulated device needs a C++17 compiler, and $CXX ('{chosen}') is none"
        if chosen
        else "the emulated device needs a C++17 compiler, and none of c++, g++ and clang++ was found",
        remedy="install g++ (Debian: apt install g++) or set CXX to a compiler",
    )


def build_library(source: Source, defines: Defines, build: Build, *, cooperative: bool = False) -> Path:
    """Return the shared object of a kernel file, compiled if it is not in the cache.

    The shim does not see the defines.  ``cooperative``: blocks wait for each other, so that shared memory must be
    swappable in every build.

    Raises:
        KernelCompileError: the file does not compile; the message holds the first diagnostic.
        InputError: the file holds no kernel, or a define is none.
        DeviceUnavailable: there is no compiler.
    """
    compiler = find_compiler()
    static_shared = build.name == "sanitize" and not cooperative
    flags = _flags(compiler, build.kernel, static_shared)
    if "-DSIMT_RACES" in build.kernel:  # volatile accesses get hooks of their own
        named = "tsan-distinguish-volatile"
        flags += ["-mllvm", f"-{named}"] if compiler.is_clang else ["--param", f"{named}=1"]
    runtime = build_runtime(compiler, build, static_shared=static_shared)
    text = define_lines(defines) + rewrite_dynamic_shared(source.text)
    key = _digest(text, runtime.name, *flags)

    def make(target: Path) -> None:
        unit = target.with_suffix(".cpp")
        unit.write_text(text, encoding="utf-8")
        paths = [f"-I{source.path.parent}", str(unit)]
        scanned = _run([*compiler.command, *_COMMON, "-DGPUGRAPH_EMULATED=1", "-E", "-P", *paths], source)
        kernels = find_kernels(scanned)
        if not kernels:
            raise InputError(
                "holds no kernel", where=source.name, remedy='write one: extern "C" __global__ void name(…)'
            )
        unit.write_text(translation_unit(text, kernels), encoding="utf-8")
        compiled = target.with_suffix(".o")
        command = [*compiler.command, *flags, f"-I{SHIM}", *paths, "-c", "-o", str(compiled)]
        with _header_read_ahead(compiler, build, flags, unit.parent) as offered:
            done = offered and _succeeds(command, source)
        if not done:
            _run(command, source)
        asan = ["-shared-libasan"] if compiler.is_clang and build.name == "sanitize" else []
        linked = [*build.link, *asan, str(compiled), str(runtime), "-o", str(target)]
        _run([*compiler.command, "-shared", *linked], source)

    return _cached(f"{source.path.stem}-{build.name}-{key}.so", make)


def build_runtime(compiler: Compiler, build: Build, *, static_shared: bool) -> Path:
    """Return the runtime's object file for one build mode, compiled if it is not in the cache."""
    flags = _flags(compiler, build.runtime, static_shared)
    key = _digest(_shim_text(), compiler.version, *compiler.command, *flags)

    def make(target: Path) -> None:
        _run([*compiler.command, *flags, "-c", str(SHIM / "runtime.cpp"), "-o", str(target)], None)

    return _cached(f"runtime-{build.name}-{key}.o", make)


@contextlib.contextmanager
def _header_read_ahead(compiler: Compiler, build: Build, flags: Sequence[str], folder: Path) -> Iterator[bool]:
    """Lay the shim's header, as GCC has read it, into a folder until the block ends; tell whether it lies there.

    To read it takes GCC longer than to compile many a kernel; a compiler that does not take it reads the header itself.
    """
    key = _digest(_shim_text(), compiler.version, *compiler.command, *flags)

    def make(target: Path) -> None:
        header = ["-x", "c++-header", str(SHIM / "device_code.h")]
        if not _succeeds([*compiler.command, *flags, *header, "-o", str(target)], None):
            target.write_bytes(b"")  # which no compiler takes, and none is asked again

    beside = folder / "device_code.h.gch"  # where it is looked for before the header itself
    try:
        if not compiler.is_clang:
            beside.symlink_to(_cached(f"header-{build.name}-{key}.gch", make))
    except (OSError, DeviceUnavailable):  # no room, or no such links
        pass
    yield beside.is_symlink()
    beside.unlink(missing_ok=True)


def _succeeds(command: Sequence[str], source: Source | None) -> bool:
    try:
        _run(command, source)
    except KernelCompileError:
        return False
    return True


@COMPILING
def _cached(name: str, make: Callable[[Path], None]) -> Path:
    """Return the file ``name`` of the cache; ``make(path)`` makes it where it is not there as it was written."""
    found = code_cache.find("emulated", name)
    if found is not None:
        return found.path
    with code_cache.sole_maker("emulated", name) as found:
        if found is not None:
            return found.path
        try:
            with tempfile.TemporaryDirectory(prefix="gpugraph-") as folder:
                make(path := Path(folder, name))
                made = path.read_bytes()
        except OSError as error:
            raise code_cache.no_room(error) from None
        return code_cache.keep("emulated", name, made)


def _flags(compiler: Compiler, chosen: Sequence[str], static_shared: bool) -> list[str]:
    # GCC makes some inline variables unique in the whole process, so that two builds of one file would share them.
    own = [] if compiler.is_clang else ["-fno-gnu-unique"]
    return [*_COMMON, *chosen, *own, *(["-DSIMT_STATIC_SHARED"] if static_shared else [])]


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
    if SANITIZED in environment:  # the compiler itself need not run on AddressSanitizer, at twice the time
        environment.pop("LD_PRELOAD", None)
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment, check=False)
    if done.returncode == 0:
        return done.stdout
    for number, said in _NO_ROOM.items():
        if said in done.stderr:
            raise code_cache.no_room(OSError(number, os.strerror(number)))
    if (shortage := used_up(OSError(done.stderr))) is not None:
        raise shortage
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
