"""The most anonymous memory that a command takes: ``python docs/performance/host_memory.py COMMAND [ARGUMENT…]``.

It is what Linux calls ``RssAnon``, of the process and of those that it starts, looked at every two milliseconds; the
pages of files are not in it.  What is told last is the peak in MiB.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path


def anonymous_bytes(process: int) -> int:
    """Return the bytes of a process and its children; 0 of one that has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return 0
    own = next((int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("RssAnon:")), 0)
    return own + sum(anonymous_bytes(int(child)) for child in children)


def main(command: list[str]) -> int:
    """Run a command, tell its peak, and return its exit code."""
    started = subprocess.Popen(command)
    most = 0
    while started.poll() is None:
        most = max(most, anonymous_bytes(started.pid))
        time.sleep(0.002)
    print(f"{most / 2**20:.1f} MiB of anonymous memory", file=sys.stderr)
    return started.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
