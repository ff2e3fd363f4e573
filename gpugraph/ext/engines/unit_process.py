"""The child of an engine's job: plans and stores the cells of one graph, which its worker measures."""

import contextlib
import fcntl
import hashlib
import os
import pickle
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpugraph import __version__
from gpugraph.base.errors import DeviceUnavailable, GpuGraphError
from gpugraph.base.host import end_with
from gpugraph.ext.engines.unit import Task
from gpugraph.records.json_text import json_text


def _measured(task: Task, path: str) -> dict[str, Any]:
    # Only now: they take half a second, in which a signal of the engine would end this process.
    from gpugraph.bench.bench import Bench
    from gpugraph.bench.plan import Plan

    with Bench(task.sweep, path, resume=True, dry=not task.cells, peers=task.peers) as bench:
        if bench.store is None:
            return {"devices": bench.devices}
        bench.plan, bench.finished = Plan([*task.cells]), task.finished
        # Where the job was ended and starts again, its worker may have been ended first.
        bench.store.drop(lambda record: record.outcome == "died")
        bench.run()
        return {"records": [record.data for record in bench.store.records]}


@contextlib.contextmanager
def _turn(*, alone: bool) -> Iterator[None]:
    """Wait until nobody else measures on the processors and GPUs that this process sees."""
    if not alone:
        yield
        return
    seen = f"{os.environ.get('CUDA_VISIBLE_DEVICES')} {sorted(os.sched_getaffinity(0))}"
    name = f"gpugraph-{os.getuid()}-{hashlib.sha256(seen.encode()).hexdigest()[:12]}.lock"
    path = Path(tempfile.gettempdir()) / name
    try:  # others may write to that folder: no link is followed, and nothing is cut off
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise DeviceUnavailable(f"cannot be locked: {error.strerror}", where=path, remedy="remove it") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def main() -> None:
    """Do the task that comes by standard input; tell what came of it on what was standard output."""
    for name in ("SIGINT", "SIGTERM", "SIGUSR2"):  # those are for the engine, which ends this process with its own
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    parent, path, alone = sys.argv[1:]
    end_with(int(parent))
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    version, _, packed = sys.stdin.buffer.read().partition(b"\n")
    try:
        if version.decode() != __version__:
            reply = {"error": f"{os.uname().nodename} has gpugraph {__version__}, the bench is of {version.decode()}"}
        else:
            with _turn(alone=bool(alone)), tempfile.TemporaryDirectory() as folder:
                reply = _measured(pickle.loads(packed), path or f"{folder}/records.jsonl")
    except GpuGraphError as error:
        reply = {"error": f"{os.uname().nodename}: {error}"}
    with channel:
        channel.write(json_text(reply))


if __name__ == "__main__":
    main()
