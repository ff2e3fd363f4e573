"""Runs of Python with AddressSanitizer under it, and the faults that they report."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpugraph.ext.emulator.sanitize import sanitized_environment
from gpugraph.ext.emulator.toolchain import SHIM

_ERROR = re.compile(r"AddressSanitizer: ([\w-]+)")
_FRAME = re.compile(r"^\s*#\d+ 0x[0-9a-f]+ in (.+?) (\S+?):(\d+)(?::\d+)?$", re.MULTILINE)
_UNDEFINED = re.compile(r"^(.+?):(\d+):\d+: runtime error: (.*)$", re.MULTILINE)


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


def run_sanitized(arguments: Sequence[str], *, timeout: float = 300) -> SanitizedRun:
    """Run ``python arguments...`` with AddressSanitizer under it and return what came of it."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env=sanitized_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        check=False,
    )
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
