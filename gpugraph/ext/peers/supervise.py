"""Run a command and die with it, or take it along.

``python -I -S supervise.py DESCRIPTOR FILE_BYTES MEMORY_BYTES COMMAND ARGUMENT...``

Its exit code, negative for the signal that ended it, 127 where it cannot be started, the seconds from its start to its
end and the bytes of memory that it held at most are written to the descriptor, which it does not get itself.  No file
that it writes grows beyond FILE_BYTES, and none of its processes gets more than MEMORY_BYTES for its data.  When it has
ended, all that it has left behind is killed, in whatever process group (Linux makes it this process's), then this
process.

Standard input is a pipe from the parent.  When it closes, because the parent has ended in whatever way or gives up
waiting, the command is killed, so that none outlives the measurement that started it.
"""

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
import threading
import time

_SET_CHILD_SUBREAPER = 36
"""``PR_SET_CHILD_SUBREAPER`` of Linux: processes whose parent has ended become those of the caller."""

_ENDING_S = 5.0


def _end_with_parent(process: "subprocess.Popen[bytes]") -> None:
    os.read(0, 1)
    process.kill()


def _end_children() -> None:
    """Kill the processes that are this one's, until none is left: each may leave its own to it."""
    until = time.monotonic() + _ENDING_S
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < until:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                for pid in _children():
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)
                time.sleep(0.001)


def _children() -> list[int]:
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc") if os.path.isdir("/proc") else []):
        with contextlib.suppress(OSError, IndexError), open(f"/proc/{name}/stat", "rb") as stat:
            if int(stat.read().rpartition(b")")[2].split()[1]) == os.getpid():
                found.append(int(name))
    return found


def _limit(kind: int, most_bytes: int) -> None:
    """Lower a limit of what is started from here; a program may still raise it again by itself."""
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (most_bytes if hard == resource.RLIM_INFINITY else min(most_bytes, hard), hard))


def main(report: int, most_bytes: int, most_memory: int, command: list[str]) -> None:
    """Run a command, report how it ended, and kill what it has left behind."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    _limit(resource.RLIMIT_FSIZE, most_bytes)
    _limit(resource.RLIMIT_DATA, most_memory)  # not RLIMIT_AS: CUDA reserves more addresses than there is memory
    start = time.perf_counter()
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        threading.Thread(target=_end_with_parent, args=(process,), daemon=True).start()
        code = process.wait()
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        code = 127
    seconds = time.perf_counter() - start
    held = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    os.write(report, f"{code} {seconds} {held}".encode())
    _end_children()
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
