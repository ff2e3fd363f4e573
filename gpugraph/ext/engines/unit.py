"""Jobs of an engine: a graph with all its cells, measured as a bench of its own would measure them.

The engine's process only waits.  Its child, ``unit_process.py``, plans and stores; the worker, a child of that,
measures.  Each ends with its parent.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpugraph.base.errors import printable

if TYPE_CHECKING:  # an engine's process loads nothing of what measures
    from gpugraph.bench.plan import Planned
    from gpugraph.bench.sweep import Sweep

_RUNNING: dict[str, list[subprocess.Popen[bytes]]] = {}
"""Children of this process, by the run of the bench that they work for."""


@dataclass(frozen=True)
class Task:
    """What is asked of a machine: to measure cells of a sweep but the finished ids, or else to describe its devices."""

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
        task, run: as ``Task.packed`` returns it; a name of the run of the bench.
        folder: where relative paths of graphs begin, if the machine has it.
        path: of a file for the records; what another start of the same job has in it is kept.  None: a temporary one.
        alone: machine and GPUs are for one unit at a time, which the engine does not see to.
    """

    task: bytes
    run: str
    folder: str
    path: str | None = None
    alone: bool = False

    def __call__(self) -> dict[str, object]:
        """Have it run by a child, and return what that says."""
        from gpugraph.base.host import environment_of_child
        from gpugraph.bench.local_workers import how_it_ended

        words = [sys.executable, "-P", "-m", "gpugraph.ext.engines.unit_process", str(os.getpid())]
        child = subprocess.Popen(
            [*words, self.path or "", "alone" if self.alone else ""],
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
            output, said = child.communicate(self.task)
        finally:  # the engine may end the job here
            child.kill()
            mates.remove(child)
        sys.stderr.write(printable(said.decode("utf-8", "replace")))  # into the job's log
        try:
            answer: dict[str, Any] = json.loads(output)
        except ValueError:
            return {"error": how_it_ended(child.wait(), said.decode("utf-8", "replace").splitlines())}
        return answer

    def checkpoint(self) -> object:
        """Return what submitit is to run when the job starts again: the same, which goes on in its file."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self)


def end_units(run: str) -> None:
    """End what this process has running for a run of the bench."""
    for child in [*_RUNNING.get(run, ())]:
        child.kill()
