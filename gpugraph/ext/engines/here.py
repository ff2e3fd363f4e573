"""Several workers of this machine, each with a GPU or none and a share of the processors."""

import contextlib
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from gpugraph.base.errors import DeviceUnavailable, InputError
from gpugraph.bench.local_workers import LocalWorker, WorkerProcess
from gpugraph.ext.machine.listing import gpus


def workers_of(kind: str, rest: str, path: str, where: str) -> list[LocalWorker]:
    """Return a worker for each GPU, or for so many shares of the processors; they need no files beside ``path``.

    Raises:
        InputError: it names nothing that there is, or a device twice.
        DeviceUnavailable: no such GPU.
    """
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
    processors, each = _processors(), len(_processors()) // len(chosen)  # all of them where there are not enough
    shares = [processors[i * each : (i + 1) * each] or processors for i in range(len(chosen))]
    places = zip(chosen, shares, strict=True)
    return [LocalWorker(partial(_start_on, "" if kind == "cpus" else visible[index], share)) for index, share in places]


def _processors() -> list[int]:
    """Return the processors that this process may run on, those of one core and of one package side by side."""

    def place(number: int) -> tuple[int, ...]:
        folder = Path(f"/sys/devices/system/cpu/cpu{number}/topology")
        with contextlib.suppress(OSError, ValueError):
            return (*(int((folder / name).read_text()) for name in ("physical_package_id", "core_id")), number)
        return 0, number, number

    return sorted(os.sched_getaffinity(0), key=place)


def _start_on(gpu: str, processors: Sequence[int]) -> WorkerProcess:
    """Start the process of a worker on one GPU, or none, and on some of the processors."""
    before = os.sched_getaffinity(0)  # of this thread, and what it starts has the same
    os.sched_setaffinity(0, processors)
    try:
        return WorkerProcess(variables={"CUDA_VISIBLE_DEVICES": gpu})
    finally:
        os.sched_setaffinity(0, before)


PLACES = {kind: partial(workers_of, kind) for kind in ("gpus", "cpus")}
