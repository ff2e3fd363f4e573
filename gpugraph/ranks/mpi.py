"""Ranks that mpiexec or srun started, on one machine or many; they exchange arrays of the host."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpugraph.errors import DeviceUnavailable, InputError
from gpugraph.ranks.comm import Host, HostComm
from gpugraph.ranks.world import ranks_promised

INSTALL = "pip install 'gpugraph[mpi]'"


class MpiComm(HostComm):
    """The ranks of ``MPI.COMM_WORLD``.

    Raises:
        DeviceUnavailable: mpi4py or an MPI is missing.
        InputError: MPI knows of fewer ranks than were started.
    """

    def __init__(self) -> None:
        super().__init__()
        try:
            from mpi4py import MPI
        except (ImportError, RuntimeError, OSError) as error:
            what = f"this is one of several ranks, and mpi4py cannot be used: {error}"
            raise DeviceUnavailable(what, remedy=INSTALL) from None
        self._mpi, self._world = MPI, MPI.COMM_WORLD
        self.rank, self.size = self._world.rank, self._world.size
        promised = ranks_promised(os.environ)
        if self.size != promised:
            raise InputError(
                f"{promised} processes were started, but this MPI sees {self.size}",
                remedy="start them with the mpiexec of the MPI that mpi4py uses, or with srun --mpi=pmix",
            )
        library = MPI.Get_library_version().split("\n")[0].replace("Version:", " ")
        self.name = f"MPI ({' '.join(library.split())[:60]})"
        self._ops = {"min": MPI.MIN, "max": MPI.MAX, "sum": MPI.SUM}

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
        self._world.Allreduce(self._mpi.IN_PLACE, array, self._ops[op])

    def _exchange(self, packed: Host, sent: Sequence[int], received: Sequence[int], into: Host | None = None) -> Host:
        packed = np.ascontiguousarray(packed)
        out = np.empty(sum(received), packed.dtype)
        kind: Any = self._mpi.BYTE
        size = packed.itemsize
        if size > 1:
            kind = kind.Create_contiguous(size).Commit()
        try:
            self._world.Alltoallv(
                [packed, (list(sent), _starts(sent)), kind], [out, (list(received), _starts(received)), kind]
            )
        finally:
            if size > 1:
                kind.Free()
        return out

    def _barrier(self) -> None:
        self._world.Barrier()


def _starts(counts: Sequence[int]) -> list[int]:
    return [0, *np.cumsum(counts)[:-1].tolist()]
