"""What a job of an engine does: a graph with all its cells, measured as a bench of its own would measure them.

The engine's process only waits.  ``python -m gpugraph.bench.unit``, its child, plans and stores; the worker, a child of
that, measures.  Each ends with its parent.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # an engine's process loads nothing of what measures
    from gpugraph.bench.plan import Planned
    from gpugraph.bench.sweep import Sweep

_RUNNING: dict[str, list[subprocess.Popen[bytes]]] = {}
"""Children of this process, by the run of the bench that they work for."""


@dataclass(frozen=True)
class Task:
    """What is asked of a machine.

    Attributes:
        sweep: what the cells are of.
        peers: names of peers that run beside.
        cells: those to be measured; without any, the devices are described.
        finished: ids of cells that need not be measured again.
    """

    sweep: Sweep
    peers: Sequence[str] = ()
    cells: Sequence[Planned] = ()
    finished: Sequence[str] = ()

    def packed(self) -> bytes:
        """Return it as bytes: the version of gpugraph, and a pickle that no other version opens."""
        from gpugraph import __version__

        return __version__.encode() + b"\n" + pickle.dumps(self)


@dataclass(frozen=True)
class Unit:
    """A task as a call for an engine, which returns ``records``, ``devices`` or an ``error``.

    Attributes:
        task: as ``Task.packed`` returns it.
        run: names the run of the bench.
        folder: where relative paths of graphs begin, if the machine has it.
        path: of a file for the records; what another start of the same job has in it is kept.  None: a temporary one.
        alone: machine and GPUs are for one unit at a time, which the engine does not see to.
    """

    task: bytes
    run: str
    folder: str
    path: str | None = None
    alone: bool = False

    def __call__(self) -> dict[str, Any]:
        """Have it run by a child, and return what that says."""
        from gpugraph.bench.lanes import environment_of_child, how_it_ended

        child = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "gpugraph.bench.unit",
                str(os.getpid()),
                self.path or "",
                "alone" if self.alone else "",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder if os.path.isdir(self.folder) else None,
            env=environment_of_child(),
            start_new_session=True,
        )
        mates = _RUNNING.setdefault(self.run, [])
        mates.append(child)
        try:
            told, said = child.communicate(self.task)
        finally:  # the engine may end the job here
            child.kill()
            mates.remove(child)
        sys.stderr.write(said.decode("utf-8", "replace"))  # into the job's log
        try:
            answer: dict[str, Any] = json.loads(told)
        except ValueError:
            return {"error": how_it_ended(child.wait(), said.decode("utf-8", "replace").splitlines())}
        return answer

    def checkpoint(self) -> Any:
        """Return what submitit is to run when the job starts again: the same, which goes on in its file."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self)


def end_units(run: str) -> None:
    """End what this process has running for a run of the bench."""
    for child in [*_RUNNING.get(run, ())]:
        child.kill()


@dataclass(frozen=True)
class Ended:
    """What an engine tells of a graph and its cells.

    Attributes:
        records: of the cells that were measured.
        lost: why it did not come to its end, or nothing.
    """

    records: Sequence[Mapping[str, Any]]
    lost: str = ""


class Engine(Protocol):
    """What has graphs measured elsewhere, by jobs or tasks of its own."""

    def spread(self, units: Sequence[Sequence[Planned]], finished: Sequence[str]) -> Generator[tuple[int, Ended]]:
        """Have cells that share a graph measured together, and yield each such unit's place as it ends.

        Args:
            units: cells, by their graphs.
            finished: ids of cells that need not be measured again.
        """
        ...

    def withdraw(self, at: int) -> None:
        """Take back a unit, if it has not begun; it then ends as lost."""
        ...


class _Silent:
    def doing(self, planned: Planned, what: str) -> None:
        pass

    def ended(self, planned: Planned, record: Mapping[str, Any], done: int, left_s: float) -> None:
        pass


def _measured(task: Task, path: str) -> dict[str, Any]:
    from gpugraph.bench.bench import Bench
    from gpugraph.bench.plan import Plan

    with Bench(task.sweep, path, resume=True, dry=not task.cells, peers=task.peers) as bench:
        if bench.store is None:
            return {"devices": bench.devices}
        bench.plan, bench.finished = Plan([*task.cells]), task.finished
        # Where the job was ended and starts again, its worker may have been ended first.
        bench.store.drop(lambda record: record.get("outcome") == "died")
        bench.run(_Silent())
        return {"records": bench.store.records}


@contextlib.contextmanager
def _turn(*, alone: bool) -> Iterator[None]:
    """Wait until nobody else measures on the processors and GPUs that this process sees."""
    if not alone:
        yield
        return
    import fcntl
    import hashlib

    from gpugraph.errors import DeviceUnavailable

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
    from gpugraph import __version__
    from gpugraph.errors import GpuGraphError
    from gpugraph.host import end_with
    from gpugraph.measure.record_shape import json_text

    for name in ("SIGINT", "SIGTERM", "SIGUSR2"):  # those are for the engine, which ends this process with its own
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    parent, path, alone = sys.argv[1:]
    end_with(int(parent))
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    version, _, packed = sys.stdin.buffer.read().partition(b"\n")
    try:
        if version.decode() != __version__:
            told = {"error": f"{os.uname().nodename} has gpugraph {__version__}, the bench is of {version.decode()}"}
        else:
            with _turn(alone=bool(alone)), tempfile.TemporaryDirectory() as folder:
                told = _measured(pickle.loads(packed), path or f"{folder}/records.jsonl")
    except GpuGraphError as error:
        told = {"error": f"{os.uname().nodename}: {error}"}
    with channel:
        channel.write(json_text(told))


if __name__ == "__main__":
    main()
