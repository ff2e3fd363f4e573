"""The world of a rank, which is a process: who started it, the other ranks, and its own device.

Ranks that gpugraph starts are asked for by a list of devices:

================  ===============================================================
``cuda:0,1``      two ranks, a GPU each
``cuda:all``      a rank for every GPU
``cpu*3``         three ranks on this machine's processors
``emulated*4``    four ranks with an emulated device each (``emulated:7*4``: seed 7)
================  ===============================================================

Under mpiexec or srun the ranks are there already, and ``cuda``, ``cpu`` or ``emulated`` is what each of them takes; of
several GPUs a rank takes the one of its number among the ranks of its machine.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import stat
import sys
import threading
import time
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from gpugraph import __version__
from gpugraph.base.errors import DeviceUnavailable, InputError, printable
from gpugraph.base.host import end_with
from gpugraph.base.quantities import counted
from gpugraph.base.ranks import RANK, RANKS, SIZES, expected_world_size, is_own_rank, mpi_rank
from gpugraph.ext.machine.listing import gpus

if TYPE_CHECKING:
    from gpugraph.ext.ranks.comm import HostComm


_FIRST_WORD_S = 3.0
"""Rank 0 says first what all of them have to say."""
_LAST_WORD_S = 0.5
"""What a rank has said mpiexec must have read before it hears that all are to end: it may drop what comes then."""


@cache
def world() -> HostComm | None:
    """Return the ranks that this process is one of, or None where it is alone; the first call is a collective.

    Raises DeviceUnavailable if started by an MPI that cannot be used, and InputError if the ranks run different
    versions, or have different command lines.
    """
    comm = _transport()
    if comm is not None:
        check_alike(comm, __version__, sys.argv[1:])
    return comm


@cache
def _transport() -> HostComm | None:
    """Return the ranks, of which nobody knows yet whether they are alike."""
    if is_own_rank():
        from gpugraph.ext.ranks.transports import SocketComm

        numbers, _, *pairs = os.environ[RANK].split()
        rank, _, size = numbers.partition("/")
        peers = {int(other): int(number) for other, _, number in (pair.partition(":") for pair in pairs)}
        return SocketComm(int(rank), int(size), peers)
    if expected_world_size(os.environ) > 1:
        from gpugraph.ext.ranks.transports import MpiComm

        return MpiComm(expected_world_size(os.environ))
    return None


def check_alike(comm: HostComm, version: str, words: Sequence[str]) -> None:
    """Raise InputError, on all ranks, if they run different versions of gpugraph or have different command lines."""
    replies = comm.all_gather_object((version, list(words)))
    for rank, (other, said) in enumerate(replies):
        if other != replies[0][0]:
            what = f"rank {rank} runs gpugraph {other}, rank 0 runs {replies[0][0]}"
            raise InputError(what, remedy="install the same version everywhere")
        if said != replies[0][1]:
            what = f"rank {rank} has the command line '{' '.join(said)}', rank 0 '{' '.join(replies[0][1])}'"
            raise InputError(what, remedy="give all ranks one command line")


def own_device(text: str, comm: HostComm) -> str:
    """Return the name of this rank's device.  Raises InputError or DeviceUnavailable if a rank has none."""
    found, fault = text, None
    try:
        if is_own_rank():
            own = devices_of(text) or [text]
            if len(own) != comm.size:
                remedy = "name the devices of all by --device alone"
                raise InputError(f"'{text}' names {counted(len(own), 'device')} for {comm.size} ranks", remedy=remedy)
            found = own[comm.rank]
        else:
            local = comm.local_rank()
            found = device_of_rank(text, *local)
    except (InputError, DeviceUnavailable) as error:
        fault = error
    replies = comm.all_gather_object(None if fault is None else (fault.exit_code, str(fault)))
    if fault is not None:
        raise fault
    for rank, other in enumerate(replies):
        if other is not None:
            raise (InputError if other[0] == InputError.exit_code else DeviceUnavailable)(f"rank {rank}: {other[1]}")
    return found


def enter() -> None:
    """Prepare this process, before anything else, for being a rank, if it is one."""
    if is_own_rank():
        if not _is_rank_of_ours(os.environ[RANK]):
            print(f"gpugraph: error: {RANK} is not what gpugraph sets — unset it", file=sys.stderr)
            sys.exit(InputError.exit_code)
        end_with(os.getppid())  # even while compiled code holds the interpreter, and the thread waits
        threading.Thread(target=_end_with_starter, args=(int(os.environ[RANK].split()[1]),), daemon=True).start()
    elif (rank := mpi_rank(os.environ)) >= (size := expected_world_size(os.environ)):
        what = f"this is rank {rank} of {size} by the variables that mpiexec and srun set"
        print(
            f"gpugraph: error: {what} — unset {', '.join(sorted({*SIZES, *RANKS} & set(os.environ)))}", file=sys.stderr
        )
        sys.exit(InputError.exit_code)
    elif rank > 0:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  open until the end
        os.dup2(sys.stdout.fileno(), 1)  # where results go that are written to "-"
        sys.stderr = io.StringIO()


def _is_rank_of_ours(text: str) -> bool:
    """Tell whether a value of ``GPUGRAPH_RANK`` has its form, and file descriptors that are open and of their kinds."""
    if not (text.isascii() and re.fullmatch(r"\d{1,9}/\d{1,9} \d{1,9}( \d{1,9}:\d{1,9})*", text)):
        return False
    ranks, lifeline, *pairs = text.split()
    rank, size = map(int, ranks.split("/"))
    others = {int(other): int(number) for other, number in (pair.split(":") for pair in pairs)}
    try:
        kinds = [os.fstat(number).st_mode for number in (int(lifeline), *others.values())]
    except OSError:
        return False
    inherited = int(lifeline) > 2 and stat.S_ISFIFO(kinds[0]) and all(map(stat.S_ISSOCK, kinds[1:]))
    return inherited and rank < size and sorted({rank, *others}) == list(range(size))


def _end_with_starter(lifeline: int) -> None:
    os.read(lifeline, 1)
    os.kill(os.getpid(), signal.SIGKILL)


def leave(code: int) -> int:
    """Return the exit code; a rank of an MPI takes leave of the others, and one that failed says why it did."""
    if expected_world_size(os.environ) < 2 or is_own_rank() or _transport.cache_info().currsize == 0:
        return code
    rank = mpi_rank(os.environ)
    if code and rank > 0 and isinstance(sys.stderr, io.StringIO):
        time.sleep(_FIRST_WORD_S)
        lines = [line for line in sys.stderr.getvalue().splitlines() if line]
        sys.stderr = sys.__stderr__
        last = (lines or ["gpugraph: error: failed"])[-1].removeprefix("gpugraph: ").removeprefix("error: ")
        print(f"gpugraph: error: rank {rank}: {printable(last)}", file=sys.stderr, flush=True)
    with contextlib.suppress(OSError, ValueError):  # closed or full: the error boundary has reported it
        sys.stdout.flush()
    if code:
        time.sleep(_LAST_WORD_S)
    comm = _transport()
    if comm is not None:
        comm.end(code)
    return code


MOST_RANKS = 1024


def devices_of(text: str) -> list[str] | None:
    """Return the devices of the ranks that a text asks for, a name for each; None where it names one device.

    Raises InputError if a device is named twice, or a number is none, and DeviceUnavailable if there is no such GPU, or
    none at all.
    """
    name = text.strip().lower()
    where = f"--device {text}"
    if "*" in name:
        device, _, count = name.partition("*")
        if device.partition(":")[0] == "cuda":
            remedy = "write --device cuda:all, or e.g. cuda:0,1"
            raise InputError("GPUs are named one by one: a rank has one of its own", where=where, remedy=remedy)
        if not (count.isascii() and count.isdigit()) or not 1 <= int(count) <= MOST_RANKS:
            raise InputError(f"'{count}' is no number of ranks from 1 to {MOST_RANKS}", where=where)
        return [device] * int(count)
    kind, _, rest = name.partition(":")
    if kind != "cuda" or not ("," in rest or rest == "all"):
        return None
    if rest == "all":
        return [f"cuda:{index}" for index in range(gpus())]
    return [f"cuda:{index}" for index in _indices([part.strip() for part in rest.split(",")], where)]


def _indices(parts: Sequence[str], where: str) -> list[int]:
    """Return the indices of GPUs, each of which is there and named once."""
    for part in parts:
        if not (part.isascii() and part.isdigit()):
            raise InputError(f"'{part}' is not the index of a GPU", where=where, remedy="write e.g. cuda:0,1")
    indices = [int(part) for part in parts]
    for index in indices:
        if indices.count(index) > 1:
            raise InputError(f"cuda:{index} is named twice", where=where, remedy="a rank needs a GPU of its own")
    there = gpus()
    for index in (index for index in indices if index >= there):
        known = f"there {'is one' if there == 1 else f'are {there}'}, counted from 0"
        raise DeviceUnavailable(f"there is no GPU {index}: {known}", where=where)
    return indices


def device_of_rank(text: str, local: int, of: int) -> str:
    """Return the device of the ``local``-th of so many ranks on this machine; raise InputError or DeviceUnavailable."""
    if "*" in text:
        remedy = f"write --device {text.partition('*')[0]}"
        raise InputError("the ranks have been started already", where=f"--device {text}", remedy=remedy)
    kind = text.strip().lower()
    devices = devices_of(text)
    if devices is None:
        if kind != "cuda" or of == 1:
            if kind.startswith("cuda:") and of > 1:
                remedy = "write --device cuda: every rank takes a GPU of its own"
                raise InputError(f"{of} ranks cannot share {kind}", where=f"--device {text}", remedy=remedy)
            return kind
        devices = [f"cuda:{index}" for index in range(gpus())]
    if of > len(devices):
        what = f"{of} ranks on this machine, and {len(devices)} GPU{'' if len(devices) == 1 else 's'} for them"
        raise InputError(what, where=f"--device {text}", remedy=f"start {len(devices)} on it")
    return devices[local]
