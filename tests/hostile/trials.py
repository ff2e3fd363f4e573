"""Trials by the thousand, each told by a seed and a number, in processes that may die of them.

A trial is a function of its seed and number alone, so that each can be repeated by itself.  Workers run them in
batches; one that dies or hangs is noticed, its trial counts as failed, and another worker goes on behind it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import multiprocessing
import os
import random
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from gpugraph.base.errors import GpuGraphWarning, InputError


@dataclass(frozen=True)
class Trial:
    """One trial.

    Attributes:
        seed, number: which.
        folder: an empty folder, emptied again behind it.
        shared: a folder that all trials of a run share.
    """

    seed: int
    number: int
    folder: Path
    shared: Path

    @cached_property
    def draw(self) -> random.Random:
        """What all its choices come from."""
        return random.Random(f"{self.seed}:{self.number}")

    def once(self, name: str, make: Callable[[Path], object]) -> Path:
        """Return what ``make`` made in the folder that all share, by the first trial that asked for it.

        Args:
            name: of the file or folder.
            make: is given the path to make.
        """
        path = self.shared / name
        with open(self.shared / f".{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                unfinished = path.with_name(f"unfinished-{name}")
                shutil.rmtree(unfinished, ignore_errors=True)
                make(unfinished)
                unfinished.rename(path)
        return path


@dataclass(frozen=True)
class Part:
    """A part of the hostile test.

    Attributes:
        name: on the command line.
        what: is tried, in a few words.
        count: the trials of ``make hostile``.
        trial: does one and returns how it ended, in a word or two; what it raises is a failure.
        batch: the trials that a worker is given at once.
        seconds: a trial that takes longer hangs.
        crowd: workers for each core.
    """

    name: str
    what: str
    count: int
    trial: Callable[[Trial], str]
    batch: int = 1
    seconds: float = 120.0
    crowd: int = 1


@dataclass(frozen=True)
class Failure:
    """A trial that did not end as it must."""

    number: int
    why: str
    kept: Path | None = None
    """A copy of its folder."""


@dataclass
class Tally:
    """How trials ended."""

    ended: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def tried(self) -> int:
        """The trials so far."""
        return sum(self.ended.values()) + len(self.failures)


def refused(error: InputError, path: Path) -> str:
    """Return how a trial ended that met this error; raises AssertionError unless it says where and what to do next."""
    if not error.remedy or str(path) not in str(error):
        raise AssertionError(f"no place or no remedy: {error}")
    return "refused"


@contextlib.contextmanager
def work_folder() -> Iterator[Path]:
    """Give an empty folder, in memory where that can be."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="hostile-", dir=memory) as name:
        (Path(name) / "0").mkdir()
        yield Path(name) / "0"


def run_here(part: Part, seed: int, numbers: range, folder: Path, tally: Tally, keep: Path | None = None) -> None:
    """Run trials in this process.

    Args:
        part: whose.
        seed: theirs.
        numbers: which.
        folder: an empty folder to work in, whose siblings all trials share.
        tally: told of each that ended.
        keep: where the folders of failed trials are copied to.
    """
    for number in numbers:
        _one(Trial(seed, number, folder, folder.parent), part, tally, keep)


def _one(trial: Trial, part: Part, tally: Tally, keep: Path | None) -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", ".*use of fork", DeprecationWarning)  # which is what a trial tries
        try:
            ended = part.trial(trial)
            foreign = [warning for warning in heard if not issubclass(warning.category, GpuGraphWarning)]
            assert not foreign, f"a library's warning comes through: {foreign[0].message}"
            tally.ended[ended] += 1
        except Exception as error:
            tally.failures.append(Failure(trial.number, _why(error), _kept(part, trial, keep)))
    _empty(trial.folder)


def _why(error: Exception) -> str:
    """Return what an exception says and the last places that it passed."""
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-4:]]
    return f"{type(error).__name__}: {str(error)[:2000]} ({' > '.join(places)})"


def _kept(part: Part, trial: Trial, keep: Path | None) -> Path | None:
    if keep is None:
        return None
    kept = keep / f"{part.name}-{trial.seed}-{trial.number}"
    shutil.rmtree(kept, ignore_errors=True)
    with contextlib.suppress(OSError, shutil.Error):
        shutil.copytree(trial.folder, kept, symlinks=True)
    return kept


def _empty(folder: Path) -> None:
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            os.chmod(entry, 0o700)
            shutil.rmtree(entry)
        else:
            os.unlink(entry)


class _Worker:
    """A process that runs batches; ``at`` is the number of the trial it is at."""

    def __init__(self, part: Part, seed: int, folder: Path, keep: Path | None):
        context = multiprocessing.get_context("spawn")
        self.at = context.Value("q", -1, lock=False)
        self.folder = folder
        folder.mkdir()
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(part, seed, folder, keep, self.at, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.batch: range | None = None
        self.seen, self.since = -1, time.monotonic()

    def give(self, batch: range) -> None:
        self.batch = batch
        self.seen, self.since = -1, time.monotonic()
        self.connection.send((batch.start, batch.stop))

    def hangs(self, seconds: float) -> bool:
        """Tell whether it has been at one trial for too long; what it imports before its first is no trial."""
        if self.at.value != self.seen:
            self.seen, self.since = self.at.value, time.monotonic()
        return self.batch is not None and self.seen in self.batch and time.monotonic() - self.since > seconds

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _serve(part: Part, seed: int, folder: Path, keep: Path | None, at: Any, parent: Connection) -> None:
    """Run the batches that come, until none comes."""
    signal.signal(signal.SIGINT, lambda *_: None)  # the parent's affair; what it starts is not to ignore it
    faulthandler.enable()
    while True:
        try:
            start, stop = parent.recv()
        except EOFError:
            return
        tally = Tally()
        for number in range(start, stop):
            at.value = number
            _one(Trial(seed, number, folder, folder.parent), part, tally, keep)
        parent.send((tally.ended, tally.failures))


def run_in_workers(
    part: Part, seed: int, numbers: range, jobs: int, keep: Path | None, told: Callable[[Tally], None] = lambda _: None
) -> Tally:
    """Run trials in ``jobs`` processes and return how they ended.

    Args:
        part: whose.
        seed: theirs.
        numbers: which.
        jobs: processes.
        keep: where the folders of failed trials are copied to.
        told: called with the tally now and then.
    """
    tally, begun = Tally(), time.monotonic()
    left = [range(i, min(i + part.batch, numbers.stop)) for i in range(numbers.start, numbers.stop, part.batch)][::-1]
    workers: list[_Worker] = []
    started = 0
    with work_folder() as here:
        root = here.parent
        try:
            while left or any(worker.batch for worker in workers):
                while len(workers) < jobs and len(workers) < len(left) + sum(w.batch is not None for w in workers):
                    started += 1
                    workers.append(_Worker(part, seed, root / str(started), keep))
                for worker in workers:
                    if worker.batch is None and left:
                        worker.give(left.pop())
                wait([end for worker in workers for end in (worker.connection, worker.process.sentinel)], 1.0)
                for worker in list(workers):
                    if not _heard(worker, tally):
                        hung = worker.hangs(part.seconds)
                        if hung or not worker.process.is_alive():
                            left += _bury(worker, part, seed, keep, tally, hung=hung)
                            workers.remove(worker)
                tally.seconds = time.monotonic() - begun
                told(tally)
        finally:
            for worker in workers:
                worker.end()
    tally.failures.sort(key=lambda failure: failure.number)
    return tally


def _heard(worker: _Worker, tally: Tally) -> bool:
    """Take what a worker has sent, if anything."""
    try:
        if not worker.connection.poll():
            return False
        ended, failures = worker.connection.recv()
    except (EOFError, ConnectionResetError):
        return False
    tally.ended += ended
    tally.failures += failures
    worker.batch = None
    return True


def _bury(worker: _Worker, part: Part, seed: int, keep: Path | None, tally: Tally, *, hung: bool) -> list[range]:
    """Note the trial that a worker hangs in or died of, and return what has to be tried by another."""
    batch, at = worker.batch, int(worker.at.value)
    if not hung:
        worker.process.join()
    code = worker.process.exitcode
    if batch is None or at not in batch:
        worker.end()
        raise RuntimeError(f"a worker of {part.name} ended with {code} outside of any trial")
    why = f"still running after {part.seconds:g} s" if hung else f"its process ended with {_manner(code)}"
    tally.failures.append(Failure(at, why, _kept(part, Trial(seed, at, worker.folder, worker.folder.parent), keep)))
    worker.end()
    return [rest for rest in (range(at + 1, batch.stop), range(batch.start, at)) if rest]


def _manner(code: int | None) -> str:
    return f"signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"code {code}"
