"""Transports: sockets, MPI, NCCL; the library behind each is imported by the constructor that needs it.

``SocketComm`` joins ranks that gpugraph itself started on one machine.  Every two share a socket pair that their
starter made.  In each of P − 1 turns (P even) all ranks are paired up and every pair exchanges what it has for each
other, the smaller rank sending first; the turns, those of a round-robin tournament (the circle method), are the same
for all, so that nobody waits in a circle.  A rank that ends closes its sockets, which the others see at once.

``MpiComm`` joins ranks that mpiexec or srun started, on one machine or many; they exchange arrays of the host.  Those
of a machine look whether one of them is stopped, for MPI lets the others wait for it in silence.

``NcclComm`` carries arrays from GPU to GPU, through ``cupy.cuda.nccl``; a rank for every GPU.  Collectives are issued
to the device's own stream and return before they have ended.  NCCL has no all-to-all of unequal stretches; it is made
of grouped sends and receives, and none is made for a stretch of nothing.  A peer that dies leaves the others waiting on
their GPU: who started the ranks ends them.
"""

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from gpugraph.base.errors import DeviceUnavailable, GpuGraphError, InputError, RankLost
from gpugraph.ext.ranks.comm import COMBINE, Array, Comm, DeviceComm, Host, HostComm, StagedComm
from gpugraph.ext.ranks.stopped import StoppedRanks, machine

_PIECE = 1 << 20


class SocketComm(HostComm):
    """Ranks joined by sockets, whose file descriptors are given by the other rank's number."""

    name = "sockets"

    def __init__(self, rank: int, size: int, peers: Mapping[int, int]):
        super().__init__()
        self.rank, self.size = rank, size
        self._sockets = {other: socket.socket(fileno=number) for other, number in peers.items()}
        self._turns = [turn[rank] for turn in _tournament(size)]

    def close(self) -> None:
        """Close the sockets."""
        for one in self._sockets.values():
            one.close()

    def _exchange(self, packed: Host, sent: Sequence[int], received: Sequence[int], into: Host | None = None) -> Host:
        packed = np.ascontiguousarray(packed)
        out = np.empty(sum(received), packed.dtype)
        to, from_ = np.cumsum([0, *sent]), np.cumsum([0, *received])
        me = self.rank
        out[from_[me] : from_[me + 1]] = packed[to[me] : to[me + 1]]
        for other in self._turns:
            if other >= self.size or other == me:
                continue
            give, take = packed[to[other] : to[other + 1]], out[from_[other] : from_[other + 1]]
            if me < other:
                self._send(other, give)
                self._receive(other, take)
            else:
                self._receive(other, take)
                self._send(other, give)
        return out

    def _reduce(self, array: Host, op: str) -> None:
        """Every rank reduces a stretch of its own, and hands it to all."""
        cuts = [len(array) * i // self.size for i in range(self.size + 1)]
        lengths = np.diff(cuts).tolist()
        own = lengths[self.rank]
        pieces = self._exchange(array, lengths, [own] * self.size).reshape(self.size, own)
        least = COMBINE[op].reduce(pieces, axis=0, dtype=array.dtype)
        array[:] = self._exchange(np.concatenate([least] * self.size), [own] * self.size, lengths)

    def _barrier(self) -> None:
        one = [1] * self.size
        self._exchange(np.zeros(self.size, np.uint8), one, one)

    def _send(self, other: int, array: Host) -> None:
        if len(array) == 0:
            return
        try:
            self._sockets[other].sendall(array.view(np.uint8).data)
        except OSError:
            raise RankLost(f"rank {other} has ended") from None

    def _receive(self, other: int, array: Host) -> None:
        room, got = array.view(np.uint8).data, 0
        while got < len(room):
            try:
                count = self._sockets[other].recv_into(room[got : got + _PIECE])
            except OSError:
                count = 0
            if count == 0:
                raise RankLost(f"rank {other} has ended")
            got += count


def _tournament(size: int) -> list[list[int]]:
    """Return the turns: each the partner of every rank; a partner of ``size`` is nobody, where that is odd."""
    players = size + size % 2
    turns = []
    for turn in range(players - 1):
        order = [0, *((i + turn) % (players - 1) + 1 for i in range(players - 1))]
        partner = [0] * players
        for one, other in zip(order[: players // 2], reversed(order[players // 2 :]), strict=True):
            partner[one], partner[other] = other, one
        turns.append(partner)
    return turns


INSTALL = "pip install 'gpugraph[mpi]'"


class MpiComm(HostComm):
    """The ranks of ``MPI.COMM_WORLD``; DeviceUnavailable without mpi4py or an MPI, InputError if some are missing."""

    def __init__(self, expected: int) -> None:
        super().__init__()
        try:
            from mpi4py import MPI
        except (ImportError, RuntimeError, OSError) as error:
            what = f"this is one of several ranks, and mpi4py cannot be used: {error}"
            raise DeviceUnavailable(what, remedy=INSTALL) from None
        self._mpi, self._world = MPI, MPI.COMM_WORLD
        self.rank, self.size = self._world.rank, self._world.size
        if self.size != expected:
            remedy = "start them with the mpiexec of the MPI that mpi4py uses, or with srun --mpi=pmix"
            raise InputError(f"{expected} processes were started, but this MPI sees {self.size}", remedy=remedy)
        library = MPI.Get_library_version().split("\n")[0].replace("Version:", " ")
        self.name = f"MPI ({' '.join(library.split())[:60]})"
        places = self._world.allgather((machine(), os.getpid()))
        beside = {rank: process for rank, (place, process) in enumerate(places) if place and place == machine()}
        StoppedRanks(beside).watch(self.rank)

    def local_rank(self) -> tuple[int, int]:
        """Return this rank's number among those of its machine, and how many they are."""
        node = self._world.Split_type(self._mpi.COMM_TYPE_SHARED)
        found = node.rank, node.size
        node.Free()
        return found

    def end(self, code: int) -> None:
        """Take leave of the others; a code other than 0 ends them all."""
        if code:
            self._world.Abort(code)
        self._mpi.Finalize()  # of a process that ends without it mpiexec may lose what it wrote last

    def _reduce(self, array: Host, op: str) -> None:
        self._world.Allreduce(self._mpi.IN_PLACE, array, getattr(self._mpi, op.upper()))

    def _exchange(self, packed: Host, sent: Sequence[int], received: Sequence[int], into: Host | None = None) -> Host:
        packed = np.ascontiguousarray(packed)
        out = np.empty(sum(received), packed.dtype)
        kind = self._mpi.BYTE.Create_contiguous(packed.itemsize).Commit()
        try:
            starts = [np.cumsum([0, *counts[:-1]]).tolist() for counts in (sent, received)]
            self._world.Alltoallv([packed, (list(sent), starts[0]), kind], [out, (list(received), starts[1]), kind])
        finally:
            kind.Free()
        return out

    def _barrier(self) -> None:
        self._world.Barrier()


class NcclComm(DeviceComm):
    """GPUs that talk to each other, one of each rank; DeviceUnavailable without NCCL, GpuGraphError if it fails."""

    _device: Any

    def __init__(self, host: HostComm, device: Any):
        super().__init__(host, device)
        try:
            from cupy.cuda import nccl

            version = nccl.get_version()
        except (ImportError, OSError, RuntimeError, AttributeError) as error:
            remedy = "pip install nvidia-nccl-cu13 (or -cu12, as CuPy is)"
            raise DeviceUnavailable(f"several GPUs need NCCL: {error}", remedy=remedy) from None
        self._nccl = nccl
        self.name = f"NCCL {version // 10000}.{version % 10000 // 100}.{version % 100}"
        word = host.all_gather_object(nccl.get_unique_id() if self.rank == 0 else None)[0]
        self._comm = self._call(lambda: nccl.NcclCommunicator(self.size, word, self.rank))
        self._stream = int(device.stream.ptr)

    def close(self) -> None:
        """Give the communicator back."""
        self._call(self._comm.destroy)

    def _call(self, step: Callable[[], Any]) -> Any:
        try:
            return step()
        except self._nccl.NcclError as error:
            raise GpuGraphError(f"NCCL failed: {error}", where=self._device.name) from error

    def _settle(self) -> None:
        self._device.synchronize()

    def _reduce(self, array: Array, op: str) -> None:
        nccl, pointer = self._nccl, array.data.ptr
        kind, how = (getattr(nccl, f"NCCL_{name}".upper()) for name in (array.dtype, op))
        self._call(lambda: self._comm.allReduce(pointer, pointer, array.size, kind, how, self._stream))

    def _exchange(
        self, packed: Array, sent: Sequence[int], received: Sequence[int], into: Array | None = None
    ) -> Array:
        size, own = packed.dtype.itemsize, sent[self.rank]
        out = self._device.empty(sum(received), packed.dtype) if into is None else into[: sum(received)]
        to, from_ = np.cumsum([0, *sent]), np.cumsum([0, *received])
        if own:
            there, here = int(from_[self.rank]), int(to[self.rank])
            self._device.copy(out[there : there + own], packed[here : here + own])
        bytes_sent, bytes_received = ([size * count for count in counts] for counts in (sent, received))
        self._swap(packed.data.ptr + size * to, bytes_sent, out.data.ptr + size * from_, bytes_received)
        return out

    def _all_gather_v_in_place(self, array: Array, cuts: list[int]) -> None:
        starts = [array.data.ptr + cut * array.dtype.itemsize for cut in cuts]
        lengths = [high - low for low, high in pairwise(starts)]
        self._swap([starts[self.rank]] * self.size, [lengths[self.rank]] * self.size, starts, lengths)

    def _swap(self, to: Sequence[int], sent: Sequence[int], from_: Sequence[int], received: Sequence[int]) -> None:
        """Send bytes to every other rank and receive others, each at an address; nothing where there are none."""
        nccl = self._nccl

        def swap() -> None:
            nccl.groupStart()
            for other in range(self.size):
                if other != self.rank and sent[other]:
                    self._comm.send(int(to[other]), sent[other], nccl.NCCL_UINT8, other, self._stream)
                if other != self.rank and received[other]:
                    self._comm.recv(int(from_[other]), received[other], nccl.NCCL_UINT8, other, self._stream)
            nccl.groupEnd()

        self._call(swap)


def comm_for(host: HostComm, device: Any) -> Comm:
    """Return how ranks exchange arrays of a device, the same for the same: NCCL among GPUs, else through the host."""
    if device.kind == "cpu":
        return host
    if host.beside is None or host.beside[0] is not device:
        staged = device.kind != "cuda" or host.size == 1
        host.beside = device, (StagedComm if staged else NcclComm)(host, device)
    return host.beside[1]
