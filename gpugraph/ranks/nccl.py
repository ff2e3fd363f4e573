"""Arrays of GPUs from one to the other by NCCL, through ``cupy.cuda.nccl``; a rank for every GPU.

Collectives are issued to the device's own stream and return before they have ended.  NCCL has no all-to-all of unequal
stretches; it is made of grouped sends and receives, and none is made for a stretch of nothing.

A peer that dies leaves the others waiting on their GPU: who started the ranks ends them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from gpugraph.errors import DeviceUnavailable, GpuGraphError
from gpugraph.ranks.comm import Array, Comm, HostComm

_ID_BYTES = 128

_TYPES = {
    "uint8": "NCCL_UINT8",
    "int32": "NCCL_INT32",
    "uint32": "NCCL_UINT32",
    "int64": "NCCL_INT64",
    "uint64": "NCCL_UINT64",
    "float32": "NCCL_FLOAT32",
    "float64": "NCCL_FLOAT64",
}
_OPS = {"min": "NCCL_MIN", "max": "NCCL_MAX", "sum": "NCCL_SUM"}


class NcclComm(Comm):
    """GPUs that talk to each other.

    Args:
        host: the ranks, which agree on the communicator.
        device: the GPU of this one, open.

    Raises:
        DeviceUnavailable: NCCL is not there.
        GpuGraphError: two ranks would share a GPU, or NCCL fails.
    """

    def __init__(self, host: HostComm, device: Any):
        super().__init__()
        self._host, self._device = host, device
        self.rank, self.size = host.rank, host.size
        try:
            from cupy.cuda import nccl

            version = nccl.get_version()
        except (ImportError, OSError, RuntimeError, AttributeError) as error:
            remedy = "pip install nvidia-nccl-cu13 (or -cu12, as CuPy is)"
            raise DeviceUnavailable(f"several GPUs need NCCL: {error}", remedy=remedy) from None
        self._nccl = nccl
        self.name = f"NCCL {version // 10000}.{version % 10000 // 100}.{version % 100}"
        word = np.zeros(_ID_BYTES, np.uint8)
        if self.rank == 0:
            word[:] = np.frombuffer(_id_bytes(nccl.get_unique_id()), np.uint8)
        host.broadcast(word)
        self._call(lambda: setattr(self, "_comm", nccl.NcclCommunicator(self.size, _id_of(nccl, word), self.rank)))
        self._comm: Any

    @property
    def host(self) -> HostComm:
        """The ranks themselves."""
        return self._host

    def close(self) -> None:
        """Give the communicator back."""
        self._call(self._comm.destroy)

    def _call(self, step: Any) -> None:
        try:
            step()
        except self._nccl.NcclError as error:
            raise GpuGraphError(f"NCCL failed: {error}", where=self._device.name) from error

    @property
    def _stream(self) -> int:
        return int(self._device.stream.ptr)

    def _settle(self) -> None:
        self._device.synchronize()

    def _reduce(self, array: Array, op: str) -> None:
        nccl, pointer = self._nccl, array.data.ptr
        kind, how = getattr(nccl, _TYPES[str(array.dtype)]), getattr(nccl, _OPS[op])
        self._call(lambda: self._comm.allReduce(pointer, pointer, array.size, kind, how, self._stream))

    def _exchange(
        self, packed: Array, sent: Sequence[int], received: Sequence[int], into: Array | None = None
    ) -> Array:
        nccl, size = self._nccl, packed.dtype.itemsize
        out = self._device.empty(sum(received), packed.dtype) if into is None else into[: sum(received)]
        to = packed.data.ptr + size * np.cumsum([0, *sent])
        from_ = out.data.ptr + size * np.cumsum([0, *received])
        own = sent[self.rank]
        if own:
            first = int(np.cumsum([0, *sent])[self.rank]), int(np.cumsum([0, *received])[self.rank])
            self._device.copy(out[first[1] : first[1] + own], packed[first[0] : first[0] + own])

        def swap() -> None:
            nccl.groupStart()
            for other in range(self.size):
                if other == self.rank:
                    continue
                if sent[other]:
                    self._comm.send(int(to[other]), sent[other] * size, nccl.NCCL_UINT8, other, self._stream)
                if received[other]:
                    self._comm.recv(int(from_[other]), received[other] * size, nccl.NCCL_UINT8, other, self._stream)
            nccl.groupEnd()

        self._call(swap)
        return out

    def _spread(self, array: Array, cuts: list[int]) -> None:
        nccl, size, at = self._nccl, array.dtype.itemsize, array.data.ptr
        lengths = [(high - low) * size for low, high in pairwise(cuts)]

        def swap() -> None:
            nccl.groupStart()
            for other in range(self.size):
                if other == self.rank:
                    continue
                if lengths[self.rank]:
                    own = at + cuts[self.rank] * size
                    self._comm.send(own, lengths[self.rank], nccl.NCCL_UINT8, other, self._stream)
                if lengths[other]:
                    self._comm.recv(at + cuts[other] * size, lengths[other], nccl.NCCL_UINT8, other, self._stream)
            nccl.groupEnd()

        self._call(swap)

    def _barrier(self) -> None:
        self._device.synchronize()
        self._host.barrier()


def _id_bytes(word: Any) -> bytes:
    """Return a unique id as bytes; older releases of CuPy give a tuple of signed numbers."""
    return word if isinstance(word, bytes) else bytes(value & 255 for value in word)


def _id_of(nccl: Any, word: np.ndarray[Any, Any]) -> Any:
    """Return bytes in the form in which this CuPy has a unique id."""
    if isinstance(nccl.get_unique_id(), bytes):
        return word.tobytes()
    return tuple(word.view(np.int8).tolist())
