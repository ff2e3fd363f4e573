"""Run a command and die with it, or take it along: ``python -I -S supervise.py DESCRIPTOR COMMAND ARGUMENT...``.

The seconds from its start to its end are written to the descriptor, which it does not get itself.

Standard input is a pipe from the parent.  When it closes, because the parent has ended in whatever way, the whole
process group is killed, so that no command outlives the measurement that started it.
"""

import os
import signal
import subprocess
import sys
import threading
import time


def _end_with_parent() -> None:
    os.read(0, 1)
    os.killpg(0, signal.SIGKILL)


def main(report: int, command: list[str]) -> int:
    """Return the exit code of a command: negative for the signal that ended it, 127 where it cannot be started."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    start = time.perf_counter()
    try:
        code = subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return 127
    os.write(report, f"{time.perf_counter() - start}".encode())
    return code


if __name__ == "__main__":
    code = main(int(sys.argv[1]), sys.argv[2:])
    sys.stdout.flush()
    os._exit(code if code >= 0 else 128 - code)
