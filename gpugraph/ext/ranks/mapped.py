"""Memory of one rank's device that the devices of all ranks of a host write into, by their own kernels.

GPUs map each other's memory by CUDA's handles for other processes, where they reach it (NVLink, PCI Express).  Emulated
devices map files; their kernels can wait for another process only where blocks are dealt to several threads.
"""

import mmap
import os
import socket
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.devices.base import Array, Device
from gpugraph.ext.ranks.comm import HostComm

GRAIN = 2 << 20
"""Bytes of which a block is a multiple on a GPU: a smaller one might share what is mapped with other arrays."""


class _Gpus:
    """Maps memory of GPUs by handles."""

    def __init__(self, device: Any):
        self._device, self._runtime = device, device.cupy.cuda.runtime
        self._opened: list[int] = []

    def export(self, words: int) -> tuple[Array, bytes]:
        """Return an array of so many words or more, all 0, and what names it to other processes; b"" if nothing can."""
        own = self._device.full(-(-8 * words // GRAIN) * GRAIN // 8, 0, np.uint64)
        self._device.synchronize()
        self._runtime.setDevice(self._device.index)
        try:
            return own, bytes(self._runtime.ipcGetMemHandle(own.data.ptr))
        except self._runtime.CUDARuntimeError:
            return own, b""

    def map(self, name: bytes) -> int | None:
        """Return the address at which that of another process can be reached from here on, or None."""
        try:
            self._opened.append(int(self._runtime.ipcOpenMemHandle(name)))
        except self._runtime.CUDARuntimeError:  # GPUs that do not reach each other
            return None
        return self._opened[-1]

    def settle(self) -> None:
        """Take note that all have mapped what they can: the name is of no use any more."""

    def unmap(self) -> None:
        """Let go of all that was mapped."""
        self._device.synchronize()
        while self._opened:
            self._runtime.ipcCloseMemHandle(self._opened.pop())


class _Files:
    """Maps files, as emulated devices do; the methods are those of ``_Gpus``."""

    def __init__(self) -> None:
        self._own, self._opened = "", list[NDArray[np.uint64]]()

    def export(self, words: int) -> tuple[Array, bytes]:
        number, self._own = tempfile.mkstemp(prefix="gpugraph-")
        with open(number, "r+b"):
            os.posix_fallocate(number, 0, 8 * words)  # a page without room on the disk would be a SIGBUS
        return self._memory(self._own), os.fsencode(self._own)

    def map(self, name: bytes) -> int | None:
        self._opened.append(self._memory(os.fsdecode(name)))
        return int(self._opened[-1].ctypes.data)

    def _memory(self, path: str) -> NDArray[np.uint64]:
        with open(path, "r+b") as file:
            return np.frombuffer(mmap.mmap(file.fileno(), 0), np.uint64)

    def settle(self) -> None:
        os.unlink(self._own)

    def unmap(self) -> None:
        self._opened.clear()


class MappedBlock:
    """A block of memory of each rank, mapped by all; see ``mapped_block``.

    ``own`` is (words,) uint64 or a little longer; ``addresses``, (P,), is where those of other ranks are mapped here.
    """

    def __init__(self, comm: HostComm, own: Array, addresses: Array, sharing: _Gpus | _Files | None):
        self._comm, self._sharing = comm, sharing
        self.own, self.addresses = own, addresses

    def close(self) -> None:
        """Let go of the others' blocks; when this returns nobody has this rank's mapped any more; a collective."""
        if self._sharing is not None:
            self._sharing.unmap()
        self._comm.barrier()


def mapped_block(comm: HostComm, device: Device, words: int) -> MappedBlock | None:
    """Return a block of 8-byte words, 0, of each rank's device that all mapped, or None on all ranks; a collective."""
    if comm.size == 1:
        return MappedBlock(comm, device.full(words, 0, np.uint64), device.full(1, 0, np.uint64), None)
    sharing = _sharing_of(device)
    hosts = set(comm.all_gather_object(socket.gethostname()))
    if not all(comm.all_gather_object(sharing is not None)) or len(hosts) > 1:
        return None
    assert sharing is not None
    own, name = sharing.export(words)
    addresses = np.zeros(comm.size, np.uint64)
    mapped = True
    for rank, other in enumerate(comm.all_gather_object(name)):
        if rank != comm.rank:
            address = sharing.map(other) if other else None
            mapped, addresses[rank] = mapped and address is not None, address or 0
    block = MappedBlock(comm, own, device.upload(addresses), sharing)
    everywhere = all(comm.all_gather_object(mapped))
    sharing.settle()
    if everywhere:
        return block
    block.close()
    return None


def _sharing_of(device: Any) -> _Gpus | _Files | None:
    if device.kind == "cuda":
        return _Gpus(device)
    return _Files() if device.kind == "emulated" and device.threads > 1 else None
