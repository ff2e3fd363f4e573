"""Comm: how the ranks of a run talk; one contract, whatever carries it.

A driver calls ``all_reduce``, ``all_to_all_v`` and ``barrier`` on one-dimensional, contiguous arrays of its device.
``comm.host`` is the same among arrays of the host and plain objects; on the CPU both are one.  A collective must be
called by all ranks in the same order, with arrays of equal length and dtype.

=================  =================================================================
``LoneComm``       one rank
``SocketComm``     ranks that gpugraph started itself
``MpiComm``        ranks that mpiexec or srun started
``StagedComm``     arrays of a device, copied through the host
``NcclComm``       arrays of GPUs, copied from one to the other
=================  =================================================================
"""

import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import GpuGraphError
from gpugraph.devices.base import Device

Array = Any
Host = NDArray[Any]
Thing = TypeVar("Thing")

COMBINE = {"min": np.minimum, "max": np.maximum, "sum": np.add}
"""The ways to reduce; sums wrap as the dtype does."""


Meter = Callable[[float, float, int], None]
"""Takes note of one collective: seconds until all were there, seconds of it, bytes that this rank sent."""


class Comm:
    """The ranks of one run, as one of them sees them; implemented by ``_reduce``, ``_exchange`` and ``_barrier``.

    Attributes:
        rank, size: this rank's number, from 0, and how many there are.
        host: the same ranks, for arrays of the host and for objects.
        name: what carries the words, e.g. ``"MPI (MPICH 5.0.2)"``.
        bytes_sent: what this rank has sent to others so far.  Of a reduction of N bytes among P ranks that is counted
            as 2 N (P − 1) / P, which is what the best algorithms send.
        meter: records every collective, which then begins with a barrier; None leaves it alone.
    """

    rank: int
    size: int
    host: "HostComm"
    name: str

    def __init__(self) -> None:
        self.bytes_sent = 0
        self.meter: Meter | None = None

    def all_reduce(self, array: Array, op: str) -> None:
        """Replace every element by the ``"min"``, ``"max"`` or ``"sum"`` of that element over all ranks."""
        if self.size > 1:
            with self._told(2 * array.nbytes * (self.size - 1) // self.size):
                self._reduce(array, op)

    def all_to_all_v(
        self, packed: Array, sent: Sequence[int], received: Sequence[int], into: Array | None = None
    ) -> Array:
        """Send every rank its stretch, and return what they sent here, in the order of the ranks.

        ``packed`` (sum of ``sent``,) goes to rank 0, then to rank 1, …; ``received`` says how many elements come from
        each.  They may be put ``into`` an array with room for them: allocating on a GPU takes longer than to exchange.
        """
        own = sent[self.rank]
        with self._told((sum(sent) - own) * packed.itemsize):
            return self._exchange(packed, sent, received, into)

    def all_gather_v_in_place(self, array: Array, cuts: Sequence[int]) -> None:
        """Give every rank all of an array, of which rank r has [cuts[r], cuts[r + 1]); cuts ascend from 0."""
        if self.size > 1:
            own = cuts[self.rank + 1] - cuts[self.rank]
            with self._told(own * (self.size - 1) * array.itemsize):
                self._all_gather_v_in_place(array, [int(cut) for cut in cuts])

    def barrier(self) -> None:
        """Return when all ranks are here."""
        if self.size > 1:
            self._barrier()

    def close(self) -> None:
        """Give back what the ranks talk through."""

    @contextmanager
    def _told(self, sent: int) -> Iterator[None]:
        self.bytes_sent += sent
        if self.meter is None:
            yield
            return
        self._settle()  # what this rank's device is still at is work, not waiting
        start = time.perf_counter()
        self.barrier()
        here = time.perf_counter()
        yield
        self._settle()
        self.meter(here - start, time.perf_counter() - here, sent)

    def _settle(self) -> None:
        """Wait until what the device was given has ended, where that returns earlier."""

    def _reduce(self, array: Array, op: str) -> None:
        raise NotImplementedError

    def _exchange(
        self, packed: Array, sent: Sequence[int], received: Sequence[int], into: Array | None = None
    ) -> Array:
        raise NotImplementedError

    def _all_gather_v_in_place(self, array: Array, cuts: list[int]) -> None:
        raise NotImplementedError

    def _barrier(self) -> None:
        raise NotImplementedError


class HostComm(Comm):
    """Ranks that exchange arrays of the host, and what is made of that; ``beside``: a device, and its ``comm_for``."""

    beside: tuple[Any, Comm] | None = None

    def __init__(self) -> None:
        super().__init__()
        self.host = self

    def _all_gather_v_in_place(self, array: Host, cuts: list[int]) -> None:
        own, lengths = array[cuts[self.rank] : cuts[self.rank + 1]], [high - low for low, high in pairwise(cuts)]
        array[:] = self._exchange(np.concatenate([own] * self.size), [len(own)] * self.size, lengths)

    def local_rank(self) -> tuple[int, int]:
        """Return this rank's number among those of its machine, and how many they are."""
        return self.rank, self.size

    def end(self, code: int) -> None:
        """Take leave of the others; a code other than 0 ends them all, where that is not the starter's affair."""

    def all_to_all(self, parts: Sequence[Host]) -> list[Host]:
        """Send ``parts[r]`` to every rank r, arrays of one dtype and any lengths; return what they sent here."""
        sent = [len(part) for part in parts]
        received = [counts[self.rank] for counts in self.all_gather_object(sent)]
        return np.split(self.all_to_all_v(np.concatenate(parts), sent, received), np.cumsum(received)[:-1])

    def all_gather_v(self, part: Host) -> list[Host]:
        """Return the arrays of all ranks, of one dtype and any lengths, in the order of the ranks."""
        received = self.all_gather_object(len(part))
        packed = self.all_to_all_v(np.concatenate([part] * self.size), [len(part)] * self.size, received)
        return np.split(packed, np.cumsum(received)[:-1])

    def leave_device(self) -> None:
        """Give back what arrays of a device were exchanged through, if ``comm_for`` was asked for that."""
        if self.beside is not None:
            self.beside[1].close()
            self.beside = None

    def all_gather_object(self, thing: Thing) -> list[Thing]:
        """Return what every rank gave, in the order of the ranks; anything that can be pickled, small."""
        word = np.frombuffer(pickle.dumps(thing), np.uint8)
        lengths = np.zeros(self.size, np.int64)
        lengths[self.rank] = len(word)
        self.all_reduce(lengths, "sum")
        received = lengths.tolist()
        packed = np.concatenate([word] * self.size)
        data = self.all_to_all_v(packed, [len(word)] * self.size, received)
        return [pickle.loads(piece.tobytes()) for piece in np.split(data, np.cumsum(received)[:-1])]

    def agreed(self, own: Thing, what: str) -> Thing:
        """Return what all ranks must have found alike, so that further collectives may depend on it; a collective.

        Raises GpuGraphError, on all ranks, where they differ: some would wait for the others for ever.
        """
        check_agreed(self.all_gather_object(own), what)
        return own


def check_agreed(found: Sequence[object], what: str) -> None:
    """Raise GpuGraphError if the ranks, in their order, have not found the same."""
    other = next((rank for rank, one in enumerate(found) if one != found[0]), None)
    if other is not None:
        fault = f"rank {other} has found {found[other]} {what}, rank 0 {found[0]}"
        raise GpuGraphError(fault, remedy="please report it with the command")


class LoneComm(HostComm):
    """One rank: everything is there already."""

    rank, size, name = 0, 1, "one rank"

    def all_gather_object(self, thing: Thing) -> list[Thing]:
        """Return what this rank gave."""
        return [thing]

    def _exchange(self, packed: Host, sent: Sequence[int], received: Sequence[int], into: Host | None = None) -> Host:
        return packed.copy()


class DeviceComm(Comm):
    """Ranks that exchange arrays of a device, one of each rank."""

    def __init__(self, host: HostComm, device: Device):
        super().__init__()
        self.host, self._device = host, device
        self.rank, self.size = host.rank, host.size

    def _barrier(self) -> None:
        self._device.synchronize()
        self.host.barrier()


class StagedComm(DeviceComm):
    """Arrays of a device, copied to the host, exchanged there by ``host``, and copied back."""

    def __init__(self, host: HostComm, device: Device):
        super().__init__(host, device)
        self.name = f"{host.name}, staged through the host"

    def _reduce(self, array: Array, op: str) -> None:
        here = self._device.download(array)
        self.host._reduce(here, op)
        self._device.copy(array, self._device.upload(here))

    def _all_gather_v_in_place(self, array: Array, cuts: list[int]) -> None:
        here = self._device.download(array)
        self.host._all_gather_v_in_place(here, cuts)
        self._device.copy(array, self._device.upload(here))

    def _exchange(
        self, packed: Array, sent: Sequence[int], received: Sequence[int], into: Array | None = None
    ) -> Array:
        if self.size == 1:
            return packed
        return self._device.upload(self.host._exchange(self._device.download(packed), sent, received))


def to_lower_ranks(comm: Comm, array: Array) -> Iterator[Array]:
    """Bring what all ranks have together on the first, in as many turns as the number of ranks has bits.

    All ranks iterate to the end; the array yielded, another rank's of equal length, is to be taken into the own one.
    """
    rank, size, n, step = comm.rank, comm.size, array.size, 1
    while step < size:
        gives, takes = rank % (2 * step) == step, rank % (2 * step) == 0 and rank + step < size
        sent = [n if gives and other == rank - step else 0 for other in range(size)]
        received = [n if takes and other == rank + step else 0 for other in range(size)]
        others = comm.all_to_all_v(array[: sum(sent)], sent, received)
        if takes:
            yield others
        step *= 2


def from_all_ranks(comm: Comm, array: Array, room: Array) -> Iterator[Array]:
    """Bring what all ranks have together on each, in as many turns as the number of ranks has bits.

    In turn k every rank gives the rank 2^k after it what it has by then; where their number is no power of 2, some
    things come twice.  All ranks iterate to the end; the array yielded, another rank's, is to be taken into the own one
    and lies in ``room``.
    """
    rank, size, n, step = comm.rank, comm.size, array.size, 1
    while step < size:
        sent = [n if other == (rank + step) % size else 0 for other in range(size)]
        received = [n if other == (rank - step) % size else 0 for other in range(size)]
        yield comm.all_to_all_v(array, sent, received, room)
        step *= 2
