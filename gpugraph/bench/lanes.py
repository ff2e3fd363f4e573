"""Lanes: workers of this machine that measure side by side, each with a GPU or none and a share of the processors."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from gpugraph.bench.process import WorkerProcess
from gpugraph.errors import DeviceUnavailable, InputError
from gpugraph.ranks.world import gpus


class Lane:
    """A place where cells are measured, one graph after another, by a worker of its own.

    Args:
        start: starts a worker there.
        worker: one that runs already.
    """

    def __init__(self, start: Callable[[], WorkerProcess] = WorkerProcess, worker: WorkerProcess | None = None):
        self.start, self.worker = start, worker

    def drop(self) -> None:
        """End the worker, if there is one."""
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.end()


def side_by_side(lanes: Sequence[Lane], serve: Callable[[Lane], None], stop: Callable[[], None]) -> None:
    """Serve all lanes, a thread for each where there are several, and return when all are done.

    An error in one of them, or Ctrl-C, is raised once ``stop`` has ended what the others do.
    """
    if len(lanes) == 1:
        serve(lanes[0])
        return
    with ThreadPoolExecutor(len(lanes)) as pool:
        served = [pool.submit(serve, lane) for lane in lanes]
        try:
            for one in as_completed(served):
                one.result()
        except BaseException:
            stop()
            raise


def lanes_of(kind: str, rest: str, where: str) -> list[Lane]:
    """Return a lane for each GPU, or for so many shares of the processors."""
    number = f"write e.g. {kind}:2"
    words = [word.strip() for word in rest.split(",")]
    if not (rest == "all" and kind == "gpus") and not all(word.isascii() and word.isdigit() for word in words):
        raise InputError(f"'{rest}' is no number of them", where=where, remedy=number)
    if len(words) > 1 and kind == "cpus":
        raise InputError("processors are not named, but shared out", where=where, remedy=number)
    there = gpus() if kind == "gpus" else len(_processors())
    if rest == "all":
        chosen = list(range(there))
    elif len(words) > 1:
        chosen = [int(word) for word in words]
    else:
        chosen = list(range(int(rest)))
    if not chosen:
        raise InputError("that is no worker at all", where=where, remedy=number)
    if len(set(chosen)) < len(chosen):
        twice = next(index for index in chosen if chosen.count(index) > 1)
        raise InputError(f"GPU {twice} is named twice", where=where, remedy="a worker needs a GPU of its own")
    if max(chosen) >= there:
        known = f"there {'is one' if there == 1 else f'are {there}'}"
        if len(words) > 1:
            raise DeviceUnavailable(f"there is no GPU {max(chosen)}: {known}, counted from 0", where=where)
        raise DeviceUnavailable(f"{known}, and not {len(chosen)}", where=where, remedy=f"write {kind}:{there}")
    visible = (os.environ.get("CUDA_VISIBLE_DEVICES") or ",".join(map(str, range(there)))).split(",")
    shares = _shares(_processors(), len(chosen))
    places = zip(chosen, shares, strict=True)
    return [Lane(_Starter("" if kind == "cpus" else visible[index], share)) for index, share in places]


def _processors() -> list[int]:
    """Return the processors that this process may run on, those of one core and of one package side by side."""

    def place(number: int) -> tuple[int, ...]:
        folder = Path(f"/sys/devices/system/cpu/cpu{number}/topology")
        with contextlib.suppress(OSError, ValueError):
            return (*(int((folder / name).read_text()) for name in ("physical_package_id", "core_id")), number)
        return 0, number, number

    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    return sorted(allowed, key=place)


def _shares(processors: Sequence[int], count: int) -> list[list[int]]:
    """Return as many equal shares; each is all of them where there are not enough."""
    each = len(processors) // count
    return [[*processors[i * each : (i + 1) * each]] or [*processors] for i in range(count)]


class _Starter:
    """Starts the workers of a lane: on one GPU, or none, and on some of the processors."""

    def __init__(self, gpu: str, processors: Sequence[int]):
        self._gpu, self._processors = gpu, processors

    def __call__(self) -> WorkerProcess:
        if not hasattr(os, "sched_setaffinity"):
            return WorkerProcess(variables={"CUDA_VISIBLE_DEVICES": self._gpu})
        before = os.sched_getaffinity(0)  # of this thread, and what it starts has the same
        os.sched_setaffinity(0, self._processors)
        try:
            return WorkerProcess(variables={"CUDA_VISIBLE_DEVICES": self._gpu})
        finally:
            os.sched_setaffinity(0, before)
