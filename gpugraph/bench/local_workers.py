"""Workers of this machine that measure side by side.

A ``WorkerProcess`` is the parent's end of one: start it, ask it, listen, watch a request, and end it for certain.
"""

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any

from gpugraph.base.errors import DeviceUnavailable, GpuGraphError, GpuGraphWarning
from gpugraph.base.host import ended_by, environment_of_child
from gpugraph.base.quantities import in_seconds, in_units

GRACE_S = 2.0
"""Seconds between asking a worker to end and killing it."""

TAIL_LINES = 20
"""Lines of a worker's standard error that are kept, to tell what it died of."""

TICK_S = 0.1
"""Seconds between two looks at the clock and at the worker's memory, while it serves a request."""


@dataclass(frozen=True)
class Limits:
    """What one cell may take: seconds of its own, bytes of memory (None: what there is), seconds to open the graph."""

    time_s: float = 120.0
    memory_bytes: int | None = None
    load_s: float = 900.0


class WorkerDied(GpuGraphError):
    """The worker ended by itself; the message says how.  ``killed``: a signal ended it, which is no defect."""

    def __init__(self, how: str, *, killed: bool = False):
        super().__init__(how)
        if killed:
            self.exit_code = DeviceUnavailable.exit_code


class WorkerProcess(contextlib.AbstractContextManager["WorkerProcess"]):
    """A running worker, or another ``command``; a context manager.  ``variables`` go to its environment.

    To be started by the main thread: on Linux a child's end is tied to that of the *thread* that started it.
    """

    def __init__(self, command: list[str] | None = None, variables: Mapping[str, str] | None = None):
        words = command or [sys.executable, "-P", "-m", "gpugraph.bench.worker", str(os.getpid())]
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C of the terminal is the parent's alone, and a kill reaches grandchildren
            env={**environment_of_child(), **(variables or {})},
        )
        self._ended = False
        self._events: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._threads = [
            threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._overhear, args=(self._process.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def __exit__(self, *_: object) -> None:
        self.end()

    def ask(self, request: Mapping[str, object]) -> None:
        """Send a request; a worker that is gone will be noticed by whoever listens."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()

    def hear(self, timeout_s: float) -> dict[str, object] | None:
        """Return the next answer, None after ``timeout_s`` seconds; WorkerDied once it is gone and all was heard."""
        try:
            event = self._events.get(timeout=timeout_s)
        except Empty:
            return None
        if event is None:
            self._events.put(None)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE_S)
            self._threads[1].join(GRACE_S)
            code = self._process.returncode
            raise WorkerDied(how_it_ended(code, self._tail), killed=(code or 0) < 0)
        return event

    def answer(self, request: Mapping[str, object], kind: str, limit_s: float) -> dict[str, Any] | None:
        """Send a request; return the first answer of a kind, None after ``limit_s`` s (WorkerDied as ``hear``)."""
        self.ask(request)
        end = time.monotonic() + limit_s
        while (left := end - time.monotonic()) > 0:
            event = self.hear(left)
            if event is not None and event["event"] == kind:
                return event
        return None

    def resident_bytes(self) -> int | None:
        """Return the bytes of host memory that it holds, or None where the system does not tell."""
        try:
            return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError, IndexError, AttributeError):
            return None

    def end(self) -> None:
        """End the worker and all that it started: first politely, then for certain."""
        if self._ended:  # its number may be another's by now
            return
        self._ended = True
        if self._process.poll() is None:
            self._signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE_S)
        self._signal(signal.SIGKILL)
        self._process.wait()
        for thread in self._threads:
            thread.join(GRACE_S)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _listen(self, stream: IO[bytes]) -> None:
        """Take the objects of a stream; a line that a kill tore is none."""
        with contextlib.suppress(ValueError, OSError):
            for line in stream:
                event = json.loads(line)
                if isinstance(event, dict):
                    self._events.put(event)
        self._events.put(None)

    def _overhear(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(ValueError, OSError):
            for line in stream:
                self._tail.append(line.decode("utf-8", "replace").rstrip())


def how_it_ended(code: int | None, lines: Sequence[str]) -> str:
    """Return in words how a process ended (a negative code is a signal), with the last line that it wrote."""
    by = f"was {ended_by(-code)}" if code is not None and code < 0 else f"ended by itself with code {code}"
    said = next((line for line in reversed(lines) if line.strip()), "")
    return f"its process {by}; the last it wrote: {said.strip()[:300]}" if said else f"its process {by}"


Found = Mapping[str, Any]
"""How a cell ended: the worker's ``record``, or ``outcome`` and ``message``; and the cell's ``id``, if it is known."""


@dataclass(eq=False)
class GroupMeasurement:
    """A request to measure cells that share a graph, watched until it ends; cells are numbered by their places in it.

    ``doing`` is called with the step a cell is at, ``finished`` with how each cell ended, as it does.

    Attributes:
        seconds: of each cell's own.
        ended: the cells that need not be asked for again.
        worker_lost: the worker must be replaced.
    """

    worker: WorkerProcess
    request: Mapping[str, Any]
    limits: Sequence[Limits]
    doing: Callable[[int, str], None]
    finished: Callable[[int, Found], None]

    def __post_init__(self) -> None:
        self._ids: dict[int, str] = {}
        self._at = 0
        self._opening = True
        self._what = dict.fromkeys(range(len(self.limits)), "starting")
        self.seconds = [0.0] * len(self.limits)
        self.ended = set[int]()
        self.worker_lost = False

    def run(self) -> None:
        """Watch until the worker is done, is lost, or had to be killed."""
        self.worker.ask(self.request)
        began = looked = time.monotonic()
        opening_s, done = 0.0, False
        while not done:
            try:
                event = self.worker.hear(TICK_S)
            except WorkerDied as death:
                self._lose("died", str(death))
                return
            now = time.monotonic()
            if self._opening:
                opening_s = now - began
            else:
                self.seconds[self._at] += now - looked
            looked = now
            if event is None:
                self.doing(self._at, self._what[self._at])
            else:
                done = self._take(event)
            if not done and (over := self._over(opening_s)) is not None:
                self.worker.end()
                self._lose(*over)
                return

    def _take(self, event: Mapping[str, Any]) -> bool:
        """Act on an answer; tell whether it was the last."""
        kind = event["event"]
        if kind == "current":
            self._at = event["index"]
        elif kind == "opened":
            self._opening = False
        elif kind == "identified":
            self._ids[event["index"]] = event["id"]
        elif kind == "progress":
            self._what[self._at] = str(event["what"])
            self.doing(self._at, self._what[self._at])
        elif kind == "decided":
            logging.getLogger("gpugraph").info("%s", event["what"])
        elif kind == "warned":
            warnings.warn(event["what"], GpuGraphWarning, stacklevel=2)
        elif kind == "finished":
            self._end(event["index"], {"record": event["record"]})
        elif kind == "already":
            self.ended.add(event["index"])
        elif kind == "broken":
            self._lose(event["outcome"], event["message"], everyone=True)
        elif kind == "lost":
            self.worker_lost = True
        return kind in ("done", "lost")

    def _end(self, index: int, found: Found) -> None:
        self.ended.add(index)
        self.finished(index, {**found, "id": self._ids.get(index)})

    def _over(self, opening_s: float) -> tuple[str, str] | None:
        """Return the outcome and the message where a limit is passed."""
        limits = self.limits[self._at]
        if self._opening and opening_s > limits.load_s:
            return "timeout", f"opening the graph took more than {in_seconds(limits.load_s)}"
        if not self._opening and self.seconds[self._at] > limits.time_s:
            return "timeout", f"took more than {in_seconds(limits.time_s)} of its own"
        if limits.memory_bytes is not None:
            held = self.worker.resident_bytes()
            if held is not None and held > limits.memory_bytes:
                what = f"its process held {in_units(held)}, the limit is {in_units(limits.memory_bytes)}"
                return "out of memory", what
        return None

    def _lose(self, outcome: str, message: str, *, everyone: bool = False) -> None:
        """Blame the cell that was at work, or all of them while their graph was being opened."""
        self.worker_lost = True
        for index in range(len(self.limits)) if self._opening or everyone else [self._at]:
            if index not in self.ended:
                self._end(index, {"outcome": outcome, "message": message})


class LocalWorker:
    """A worker of this machine, which measures one graph after another; a new process replaces one that ended."""

    def __init__(self, start: Callable[[], WorkerProcess] = WorkerProcess):
        self.start = start
        self.process: WorkerProcess | None = None

    def drop(self) -> None:
        """End the process, if there is one."""
        process, self.process = self.process, None
        if process is not None:
            process.end()


def side_by_side(
    workers: Sequence[LocalWorker], serve: Callable[[LocalWorker], None], stop: Callable[[], None]
) -> None:
    """Serve all workers, each in a thread, until all are done; an error calls ``stop``, and is raised."""
    if len(workers) == 1:
        serve(workers[0])
        return
    with ThreadPoolExecutor(len(workers)) as pool:
        served = [pool.submit(serve, worker) for worker in workers]
        try:
            for one in as_completed(served):
                one.result()
        except BaseException:
            stop()
            raise
