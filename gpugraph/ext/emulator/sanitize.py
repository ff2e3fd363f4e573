"""Run Python with AddressSanitizer under it, so that kernels built with it report memory faults by file and line.

    python -m gpugraph.ext.emulator.sanitize -m pytest tests/problems -k boruvka
    python -m gpugraph.ext.emulator.sanitize script.py arguments

The sanitiser must be the first library of a process, hence the process of its own.  In it the emulated device builds
kernels with AddressSanitizer and UBSan by default; the first fault ends the process with ``EXIT_FAULT``.
"""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

from gpugraph.base.errors import DeviceUnavailable, GpuGraphError
from gpugraph.ext.emulator.toolchain import SANITIZED, find_compiler

EXIT_FAULT = 99

_OPTIONS = {
    "detect_leaks": 0,  # Python leaves much behind
    "detect_stack_use_after_return": 0,  # fibers have stacks of their own
    "quarantine_size_mb": 16,
    "malloc_context_size": 1,  # where NumPy allocated an array is of no use, and naming it can hang clang's symboliser
    "exitcode": EXIT_FAULT,
}


def sanitized_environment() -> dict[str, str]:
    """Return the environment of a process with AddressSanitizer, or raise DeviceUnavailable without its library."""
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
    preload = ":".join([*found, *filter(None, [os.environ.get("LD_PRELOAD")])])
    options = ":".join([*(f"{k}={v}" for k, v in _OPTIONS.items()), *filter(None, [os.environ.get("ASAN_OPTIONS")])])
    halt = f"halt_on_error=1:exitcode={EXIT_FAULT}"
    return {**os.environ, "LD_PRELOAD": preload, "ASAN_OPTIONS": options, "UBSAN_OPTIONS": halt, SANITIZED: "1"}


def check_running_sanitized() -> None:
    """Check that AddressSanitizer is under this process.  Raises DeviceUnavailable if it is not."""
    if not hasattr(ctypes.CDLL(None), "__asan_init"):
        raise DeviceUnavailable(
            "sanitised kernels need a process that AddressSanitizer was loaded into first",
            remedy="run it as: python -m gpugraph.ext.emulator.sanitize script.py",
        )


def main() -> int:
    """Run the command line given, and return its exit code."""
    if len(sys.argv) < 2:
        print("usage: python -m gpugraph.ext.emulator.sanitize (script.py | -m module) [arguments]", file=sys.stderr)
        return 2
    try:
        environment = sanitized_environment()
    except GpuGraphError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return subprocess.call([sys.executable, *sys.argv[1:]], env=environment)


if __name__ == "__main__":
    sys.exit(main())
