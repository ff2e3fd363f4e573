"""Engines, which measure the cells of a sweep on other machines: jobs of Slurm, tasks for Dask.

A place of an engine measures a graph with all its cells by ``unit.py``.
"""

import contextlib
import getpass
import hashlib
import io
import logging
import math
import os
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from gpugraph.base.errors import DeviceUnavailable, InputError, errors_at, in_one_line, placed, unknown_name
from gpugraph.base.quantities import parse_seconds
from gpugraph.bench.bench import Bench
from gpugraph.bench.plan import Planned
from gpugraph.bench.run import Runner
from gpugraph.ext.engines.unit import Task, Unit, end_units
from gpugraph.measure.cell import unopened_id
from gpugraph.records.record import Record
from gpugraph.records.record_file import read_record_file

CONNECT_S = 10.0
"""Seconds that a Dask scheduler has to answer, and to have a worker."""

LATE_S = 15.0
"""Seconds that what a job wrote may take to be seen here, after it has ended."""

MOST_PAUSE_S = 20.0
"""Seconds between two looks at a cluster's queue, once it has been waited for long."""

MOST_JOBS = 1000
"""Jobs of one array; Slurm's own default limit is 1001."""


# ------------------------------------------------------------------ engines


class Engine(contextlib.AbstractContextManager["Engine"]):
    """What engines share; a context manager.  ``alone``: a unit has to see that it has its machine for itself."""

    def __init__(self, where: str, *, alone: bool):
        self._where, self._alone, self._run = where, alone, uuid.uuid4().hex[:12]
        self._task: Task | None = None

    def open(self, bench: Bench) -> dict[str, Any]:
        """Return the devices as one of the machines sees them, having stored what an earlier run has left.

        Raises DeviceUnavailable if none could tell.
        """
        if bench.store is not None:
            known = {record.shape.cell.id for record in bench.store.records}
            for record in self.leftovers(resume=bench.resume):
                if record.shape.cell.id not in known:
                    known.add(record.shape.cell.id)
                    bench.store.append(record)
        self._task = Task(bench.sweep, bench.peers)
        _, ended = next(iter(self._answers([self._unit(self._task, None)])))
        if "devices" not in ended:
            raise DeviceUnavailable(str(ended.get("error")), where=self._where)
        devices: dict[str, Any] = ended["devices"]
        return devices

    def measure(self, runner: Runner, units: Sequence[Sequence[Planned]]) -> None:
        """Have cells measured by their graphs, and ``end`` each by the runner; those of a lost unit as skipped."""
        assert self._task is not None
        tasks = [replace(self._task, cells=tuple(unit), finished=tuple(runner.finished)) for unit in units]
        calls = [self._unit(task, at) for at, task in enumerate(tasks)]
        waiting = set(range(len(units)))
        with contextlib.closing(self._answers(calls)) as answers:
            for at, reply in answers:
                waiting.discard(at)
                records, lost = [*map(Record.of, reply.get("records", []))], str(reply.get("error", ""))
                if lost and (path := calls[at].path) is not None and os.path.exists(path):
                    # What its end may have had a hand in is none of the cell's doing.
                    records = [record for record in read_record_file(path).records if record.outcome != "died"]
                left = dict(enumerate(units[at]))
                for record in records:
                    name, device = record.shape.cell.name, record.field("device") or {}
                    own = (i for i, p in left.items() if unopened_id(p.cell, device, runner.cold)[:16] == name)
                    if (place := next(own, None)) is not None:
                        runner.end(left.pop(place), {"record": record.data})
                if lost:
                    _lose(runner, list(left.values()), lost)
                for other in waiting:
                    if all(runner.no_smaller(planned) for planned in units[other]):
                        self.withdraw(other)

    def withdraw(self, at: int) -> None:
        """Take back a unit that has not begun; it then ends as lost."""

    def leftovers(self, *, resume: bool) -> list[Record]:
        """Return the records that jobs of an earlier bench have left; InputError unless this one goes on with it."""
        return []

    def _unit(self, task: Task, at: int | None) -> Unit:
        return Unit(task.packed(), self._run, os.getcwd(), self._path(at), self._alone)

    def _path(self, at: int | None) -> str | None:
        return None

    def _answers(self, units: Sequence[Unit]) -> Generator[tuple[int, Mapping[str, Any]]]:
        """Have units run, and yield what each returns as it ends; an ``error`` where it returns nothing."""
        raise NotImplementedError

    def __exit__(self, *_: object) -> None:
        pass


def _lose(runner: Runner, cells: Sequence[Planned], why: str) -> None:
    """Record cells whose job came to nothing as skipped, so that they are tried again."""
    reasons = [runner.no_smaller(planned) for planned in cells]
    if not all(reasons):
        runner.totals.lost.append(why)
    for planned, reason in zip(cells, reasons, strict=True):
        runner.end(planned, {"outcome": "skipped", "message": reason or why})


_SETTINGS = {
    **{name: name for name in ("partition", "account", "qos", "constraint", "reservation", "nodelist", "mem")},
    "gpus": "gpus_per_node",
    "cpus": "cpus_per_task",
    "time": "time",
    "jobs": "array_parallelism",
    "exclusive": "exclusive",
}
"""What may be set for jobs, and how submitit calls it; ``reservation`` goes past it."""

_OVER = ("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "TIMEOUT")


class Slurm(Engine):
    """Jobs of a Slurm cluster: one asks what devices there are, then comes an array, a job for each graph.

    A job writes its records into a file beside the bench's, on a file system that the cluster shares; one that is
    preempted or runs out of time is queued again and goes on in it, three times where it was time.  ``text`` holds
    settings, ``partition=gpu,gpus=1,time=30m`` and the like; ``folder``, for the files of the jobs, goes when all came
    to their ends.

    Raises:
        InputError: a setting that there is not.
        DeviceUnavailable: submitit is not installed, or this machine cannot submit jobs.
    """

    def __init__(self, text: str, folder: Path, where: str):
        super().__init__(where, alone=False)
        self._folder, self._whole = folder, not folder.exists()
        self._jobs: dict[int, Any] = {}
        self._name = f"gpugraph-{hashlib.sha256(os.fsencode(folder.absolute())).hexdigest()[:10]}"
        self._parameters = {"time": 60, "job_name": self._name, "signal_delay_s": 30, **_slurm_settings(text, where)}
        try:
            import submitit
        except ImportError:
            what, remedy = "submitit is not installed", "pip install 'gpugraph[slurm]'"
            raise DeviceUnavailable(what, where=where, remedy=remedy) from None
        for command in ("sbatch", "srun"):
            if shutil.which(command) is None:
                remedy = "start the bench on a machine that submits jobs to the cluster"
                raise DeviceUnavailable(f"there is no {command} here", where=where, remedy=remedy)
        self._submitit = submitit

    def leftovers(self, *, resume: bool) -> list[Record]:
        """End the jobs of an earlier run with the same file, and return what they have measured."""
        if not self._folder.is_dir():
            return []
        if not resume:
            remedy = "--resume takes over what they have measured; or name another file"
            raise InputError("holds what jobs of another run have left", where=self._folder, remedy=remedy)
        self._cancel()
        self._whole = True
        found = [one for path in sorted(self._folder.glob("*.jsonl")) for one in read_record_file(path).records]
        return [record for record in found if record.outcome not in ("died", "skipped")]

    def withdraw(self, at: int) -> None:
        """Cancel a job that still waits; it then ends as lost."""
        if (job := self._jobs.get(at)) is not None:
            subprocess.run(["scancel", "--state=PENDING", str(job.job_id)], capture_output=True)

    def _path(self, at: int | None) -> str | None:
        return None if at is None else str(self._folder.absolute() / f"{self._run}-{at}.jsonl")

    def _answers(self, units: Sequence[Unit]) -> Generator[tuple[int, Mapping[str, Any]]]:
        self._jobs = jobs = self._submit(units)
        late: dict[int, float] = {}
        pause_s = 0.25
        while jobs:
            written = set(os.listdir(self._folder))  # which makes a network's file system look again
            states = self._states()
            for at, job in list(jobs.items()):
                state = "" if states is None else states.get(str(job.job_id), "gone")
                reply = self._reply(job) if job.paths.result_pickle.name in written else None
                if reply is None or "error" in reply:
                    if state not in ("gone", *_OVER):  # one that is queued again may have left an error behind
                        continue
                    if reply is None and time.monotonic() < late.setdefault(at, time.monotonic() + LATE_S):
                        continue
                    if reply is None or state not in ("gone", "COMPLETED", "FAILED"):
                        reply = {"error": self._about(job, f"ended before its cells: {state.lower()}")}
                    self._whole = False
                del jobs[at]
                yield at, reply
            time.sleep(pause_s if jobs else 0)
            pause_s = min(pause_s * 1.2, MOST_PAUSE_S)

    def _submit(self, units: Sequence[Unit]) -> dict[int, Any]:
        executor = self._submitit.SlurmExecutor(folder=self._folder.absolute())
        executor.update_parameters(**self._parameters)
        jobs: list[Any] = []
        try:
            for first in range(0, len(units), MOST_JOBS):
                # Only what sbatch says first is reported, in one line.
                with contextlib.redirect_stderr(io.StringIO()), executor.batch():
                    jobs += [executor.submit(unit) for unit in units[first : first + MOST_JOBS]]
        except self._submitit.core.utils.FailedJobError as error:
            self._cancel()
            said = [line for line in str(error).splitlines() if "error:" in line]
            what = said[0].partition("error:")[2].strip() if said else in_one_line(error)
            raise InputError(f"Slurm does not take the jobs: {what}", where=self._where) from None
        return dict(enumerate(jobs))

    def _states(self) -> dict[str, str] | None:
        """Return the states of the jobs of this name, or None where the cluster does not tell just now."""
        words = ["squeue", "--noheader", "--array", "--states=all", "--format=%i %T"]
        words += [f"--user={getpass.getuser()}", f"--name={self._name}"]
        asked = subprocess.run(words, capture_output=True, text=True)
        lines = [line.split() for line in asked.stdout.splitlines()]
        return None if asked.returncode else {words[0]: words[1] for words in lines if len(words) == 2}

    def _reply(self, job: Any) -> Mapping[str, object]:
        """Return what a job has left: what the unit returned, or the error that it ended with."""
        try:
            reply: Mapping[str, Any] = job.result()
        except Exception as error:  # whatever the job threw, or its result cannot be read
            said = [line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("---")]
            return {"error": self._about(job, said[-1] if said else in_one_line(error))}
        return {"error": self._about(job, reply["error"])} if "error" in reply else reply

    def _about(self, job: Any, what: str) -> str:
        return f"job {job.job_id} {what}; its log: {job.paths.stderr}"

    def _cancel(self) -> None:
        words = ["scancel", f"--user={getpass.getuser()}", f"--name={self._name}"]
        subprocess.run(words, capture_output=True)

    def __exit__(self, *_: object) -> None:
        if self._jobs:
            self._cancel()
        elif self._whole:
            shutil.rmtree(self._folder, ignore_errors=True)


def _slurm_settings(text: str, where: str) -> dict[str, object]:
    """Return what ``--on slurm:`` sets, as submitit takes it."""
    settings: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in _SETTINGS:
            raise placed(unknown_name("setting of jobs", name, _SETTINGS), where)
        parsed: Any = value
        if name == "time":
            with errors_at(where):
                parsed = max(1, math.ceil(parse_seconds(value) / 60))
        elif name in ("gpus", "cpus", "jobs"):
            if not (value.isascii() and value.isdigit() and int(value) >= 1):
                raise InputError(f"'{value}' is no number of {name}", where=where, remedy=f"write e.g. {name}=1")
            parsed = int(value)
        elif name == "exclusive":
            parsed = True
        elif not value:
            raise InputError(f"'{name}' has no value", where=where, remedy=f"write {name}=NAME")
        settings[_SETTINGS[name]] = parsed
    if "reservation" in settings:
        settings["additional_parameters"] = {"reservation": settings.pop("reservation")}
    if "cpus_per_task" in settings:  # which srun has not taken over from sbatch since 22.05
        settings["srun_args"] = [f"--cpus-per-task={settings['cpus_per_task']}"]
    return settings


class Dask(Engine):
    """Tasks for the workers of a Dask scheduler, one at a time on the processors and GPUs that a worker sees.

    Where workers have a resource ``GPU``, a task takes one of it.

    Raises:
        DeviceUnavailable: ``distributed`` is not installed, the scheduler does not answer, or has no worker.
    """

    def __init__(self, address: str, where: str):
        super().__init__(where, alone=True)
        try:
            import distributed
        except ImportError:
            what, remedy = "distributed is not installed", "pip install 'gpugraph[dask]'"
            raise DeviceUnavailable(what, where=where, remedy=remedy) from None
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # errors are reported here, in a line
        self._distributed: Any = distributed
        if not address:
            raise InputError("names no scheduler", where=where, remedy="write e.g. dask:tcp://host:8786")
        try:
            self._client = self._distributed.Client(address, timeout=CONNECT_S)
        except Exception as error:  # of every kind, by protocol
            remedy = "start one with: dask scheduler"
            raise DeviceUnavailable(f"no scheduler answers: {in_one_line(error)}", where=where, remedy=remedy) from None
        try:
            self._client.wait_for_workers(1, timeout=CONNECT_S)
        except Exception:
            self._client.close()
            remedy = f"start one with: dask worker {address}"
            raise DeviceUnavailable("the scheduler has no worker", where=where, remedy=remedy) from None

    def _answers(self, units: Sequence[Unit]) -> Generator[tuple[int, Mapping[str, Any]]]:
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        resources = {"GPU": 1} if any("GPU" in worker["resources"] for worker in workers) else None
        submit = partial(self._client.submit, pure=False, resources=resources)
        futures = {submit(unit, priority=-at): at for at, unit in enumerate(units)}
        left = dict(futures)
        try:
            for future in self._distributed.as_completed(futures):
                at = left.pop(future)
                try:
                    yield at, future.result()
                except Exception as error:  # the scheduler is gone, or too many workers have died of it
                    yield at, {"error": in_one_line(error)}
        finally:
            if left:
                self._client.cancel(list(left), force=True)
                with contextlib.suppress(Exception):  # a scheduler that is gone needs no message
                    self._client.run(end_units, self._run, on_error="ignore")

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(Exception):
            self._client.close(timeout=2)


PLACES: dict[str, Callable[[str, str, str], Engine]] = {
    "slurm": lambda rest, path, where: Slurm(rest, Path(f"{path}.jobs"), where),
    "dask": lambda rest, path, where: Dask(rest, where),
}
"""What ``--on`` begins with → the engine that the rest of it, the file of records and the words for errors give."""
