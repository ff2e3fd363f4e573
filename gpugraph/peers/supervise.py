"""Run a command and die with it, or take it along: ``python -I -S supervise.py DESCRIPTOR BYTES COMMAND ARGUMENT...``.

Its exit code, negative for the signal that ended it, 127 where it cannot be started, the seconds from its start to its
end and the bytes of memory that it held at most are written to the descriptor, which it does not get itself.  No file
that it writes grows beyond BYTES.  When it has ended its whole process group is killed, this process too.

Standard input is a pipe from the parent.  When it closes, because the parent has ended in whatever way, the whole
process group is killed, so that no command outlives the measurement that started it.
"""

import os
import resource
import signal
import subprocess
import sys
import threading
import time


def _end_with_parent() -> None:
    os.read(0, 1)
    os.killpg(0, signal.SIGKILL)


def main(report: int, most_bytes: int, command: list[str]) -> None:
    """Run a command, report how it ended, and kill what it has left behind in its process group."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    most_bytes = most_bytes if hard == resource.RLIM_INFINITY else min(most_bytes, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, hard))
    start = time.perf_counter()
    try:
        code = subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        code = 127
    seconds = time.perf_counter() - start
    held = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    os.write(report, f"{code} {seconds} {held}".encode())
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
