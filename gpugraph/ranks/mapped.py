"""Memory of one rank's GPU that the GPUs of all ranks of the host write into, by their own kernels."""

from __future__ import annotations

import socket
from typing import Any

import numpy as np

from gpugraph.ranks.comm import HostComm

GRAIN = 2 << 20
"""Bytes of which a block is a multiple on a GPU: a smaller one might share what is mapped with other arrays."""


class MappedBlock:
    """A block of memory of each rank, mapped by all; see ``mapped_block``.

    Attributes:
        own: (words,) uint64, this rank's.
        addresses: (P,) uint64 on the device: where the block of each rank is mapped here.
    """

    def __init__(self, comm: HostComm, device: Any, own: Any, opened: list[int], addresses: list[int]):
        self._comm, self._device, self._opened = comm, device, opened
        self.own = own
        self.addresses = device.upload(np.array(addresses, np.uint64))

    def close(self) -> None:
        """Let go of the others' blocks; when this returns nobody has this rank's mapped any more; a collective."""
        _unmap(self._device, self._opened)
        self._comm.barrier()


def mapped_block(comm: HostComm, device: Any, words: int) -> MappedBlock | None:
    """Return a block of each rank's device that all others have mapped, or None, on all ranks, where that cannot be.

    It can among GPUs of one machine that reach each other's memory, and for a rank that is alone; a collective.

    Args:
        comm: the ranks.
        device: this one's.
        words: of 8 bytes, all 0 at first.
    """
    if comm.size == 1:
        return MappedBlock(comm, device, device.full(words, 0, np.uint64), [], [0])
    if not all(comm.share(device.kind == "cuda")) or len(set(comm.share(socket.gethostname()))) > 1:
        return None
    runtime = device.cupy.cuda.runtime
    runtime.setDevice(device.index)
    own = device.full(-(-8 * words // GRAIN) * GRAIN // 8, 0, np.uint64)
    device.synchronize()
    try:
        handle = runtime.ipcGetMemHandle(own.data.ptr)
    except runtime.CUDARuntimeError:  # a GPU or a driver that cannot
        handle = b""
    opened, addresses = list[int](), list[int]()
    for rank, other in enumerate(comm.share(handle)):
        if rank == comm.rank:
            addresses.append(int(own.data.ptr))
            continue
        try:
            opened.append(int(runtime.ipcOpenMemHandle(other)))
        except (runtime.CUDARuntimeError, ValueError):
            break
        addresses.append(opened[-1])
    if not all(comm.share(len(addresses) == comm.size)):
        _unmap(device, opened)
        comm.barrier()
        return None
    return MappedBlock(comm, device, own, opened, addresses)


def _unmap(device: Any, opened: list[int]) -> None:
    if opened:
        device.synchronize()
    while opened:
        device.cupy.cuda.runtime.ipcCloseMemHandle(opened.pop())
