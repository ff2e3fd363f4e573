"""Run Python with AddressSanitizer under it, so that kernels built with it report memory faults by file and line.

    python -m gpugraph.emulator.sanitize -m pytest tests/problems -k boruvka
    python -m gpugraph.emulator.sanitize script.py arguments

The sanitiser must be the first library of a process, hence the process of its own.  In it the emulated device builds
kernels with AddressSanitizer and UBSan by default; the first fault ends the process with ``EXIT_FAULT``.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpugraph.emulator.toolchain import SANITIZED, SHIM, find_compiler
from gpugraph.errors import DeviceUnavailable, GpuGraphError

EXIT_FAULT = 99

_ERROR = re.compile(r"AddressSanitizer: ([\w-]+)")
_FRAME = re.compile(r"^\s*#\d+ 0x[0-9a-f]+ in (.+?) (\S+?):(\d+)(?::\d+)?$", re.MULTILINE)
_UNDEFINED = re.compile(r"^(.+?):(\d+):\d+: runtime error: (.*)$", re.MULTILINE)
_OPTIONS = {
    "detect_leaks": 0,  # Python leaves much behind
    "detect_stack_use_after_return": 0,  # fibers have stacks of their own
    "quarantine_size_mb": 16,
    "malloc_context_size": 1,  # where NumPy allocated an array is of no use, and naming it can hang clang's symboliser
    "exitcode": EXIT_FAULT,
}


@dataclass(frozen=True)
class MemoryFault:
    """A fault that a sanitiser reported: what it is, and the kernel's line.

    Attributes:
        what: e.g. ``"heap-buffer-overflow"`` or ``"index 64 out of bounds for type 'int [64]'"``.
    """

    what: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line}: {self.what}"


@dataclass(frozen=True)
class SanitizedRun:
    """The outcome of a run: its exit code, all it printed, and the faults in that."""

    returncode: int
    output: str
    faults: tuple[MemoryFault, ...]


def sanitized_environment(base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment of a process with AddressSanitizer under it.

    Raises:
        DeviceUnavailable: the compiler comes without the library.
    """
    compiler = find_compiler()
    names = [f"libclang_rt.asan-{os.uname().machine}.so"] if compiler.is_clang else ["libasan.so"]
    found = []
    for name in [*names, "libstdc++.so.6"]:
        asked = subprocess.run(
            [*compiler.command, f"-print-file-name={name}"], capture_output=True, text=True, check=False
        )
        path = Path(asked.stdout.strip())
        if not path.is_absolute():
            raise DeviceUnavailable(
                f"{compiler.version} comes without {name}", remedy="install its sanitiser libraries, or use another CXX"
            )
        found.append(str(path))
    preload = ":".join([*found, *filter(None, [base.get("LD_PRELOAD")])])
    options = ":".join([*(f"{k}={v}" for k, v in _OPTIONS.items()), *filter(None, [base.get("ASAN_OPTIONS")])])
    halt = f"halt_on_error=1:exitcode={EXIT_FAULT}"
    return {**base, "LD_PRELOAD": preload, "ASAN_OPTIONS": options, "UBSAN_OPTIONS": halt, SANITIZED: "1"}


def check_running_sanitized() -> None:
    """Check that AddressSanitizer is under this process.

    Raises:
        DeviceUnavailable: it is not.
    """
    if not hasattr(ctypes.CDLL(None), "__asan_init"):
        raise DeviceUnavailable(
            "sanitised kernels need a process that AddressSanitizer was loaded into first",
            remedy="run it as: python -m gpugraph.emulator.sanitize script.py",
        )


def run_sanitized(arguments: Sequence[str], *, timeout: float = 300) -> SanitizedRun:
    """Run ``python arguments...`` with AddressSanitizer under it and return what came of it.

    Raises:
        DeviceUnavailable: the compiler comes without the library.
        GpuGraphError: the run did not end within ``timeout`` seconds.
    """
    command = [sys.executable, *arguments]
    try:
        done = subprocess.run(
            command,
            env=sanitized_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise GpuGraphError(f"did not end within {timeout:g} s", where=" ".join(command)) from None
    return SanitizedRun(done.returncode, done.stdout, tuple(find_faults(done.stdout)))


def find_faults(output: str) -> list[MemoryFault]:
    """Return the faults that sanitisers reported in ``output``."""
    faults = [MemoryFault(what, file, int(line)) for file, line, what in _UNDEFINED.findall(output)]
    for match in _ERROR.finditer(output):
        for frame in _FRAME.finditer(output, match.end()):
            if Path(frame[2]).parent != SHIM and ".cu" in Path(frame[2]).suffix:
                faults.append(MemoryFault(match[1], frame[2], int(frame[3])))
                break
    return faults


def main() -> int:
    """Run the command line given, and return its exit code."""
    if len(sys.argv) < 2:
        print("usage: python -m gpugraph.emulator.sanitize (script.py | -m module) [arguments]", file=sys.stderr)
        return 2
    try:
        environment = sanitized_environment()
    except GpuGraphError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return subprocess.call([sys.executable, *sys.argv[1:]], env=environment)


if __name__ == "__main__":
    sys.exit(main())
