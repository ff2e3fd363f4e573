"""Memory that all ranks of a host write into: what one writes the others find, and where one cannot map, none does."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.ranks.comm import HostComm, LoneComm
from gpugraph.ext.ranks.mapped import GRAIN, mapped_block
from tests.ranks.test_comm import on_ranks


def words_at(address: int, count: int) -> Any:
    return np.frombuffer((ctypes.c_uint64 * count).from_address(address), np.uint64)


class Refused(Exception):
    """As CUDA's error where a GPU does not reach another."""


class Runtime:
    """CUDA's handles, of which a process opens those of memory that is its own anyway."""

    CUDARuntimeError = Refused

    def __init__(self, *, reaches: bool, exports: bool = True):
        self.reaches, self.exports, self.open = reaches, exports, list[int]()

    def setDevice(self, index: int) -> None:
        assert index == 0

    def ipcGetMemHandle(self, pointer: int) -> bytes:
        if not self.exports:
            raise Refused
        return pointer.to_bytes(64, "little")

    def ipcOpenMemHandle(self, handle: bytes) -> int:
        if not self.reaches:
            raise Refused
        self.open.append(int.from_bytes(handle, "little"))
        return self.open[-1]

    def ipcCloseMemHandle(self, pointer: int) -> None:
        self.open.remove(pointer)


class Array(np.ndarray[Any, Any]):
    """An array of the host that tells its pointer as CuPy's do."""

    @property
    def data(self) -> Any:  # type: ignore[override]
        return SimpleNamespace(ptr=self.ctypes.data)


def gpu(runtime: Runtime) -> Any:
    return SimpleNamespace(
        kind="cuda",
        index=0,
        cupy=SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)),
        synchronize=lambda: None,
        full=lambda count, value, dtype: np.full(count, value, dtype).view(Array),
        upload=lambda array: array,
    )


@pytest.mark.parametrize("kind", ["cuda", "emulated"])
def test_what_a_rank_writes_into_the_block_of_another_is_found_there(kind: str) -> None:
    def step(comm: HostComm) -> Any:
        runtime = Runtime(reaches=True)
        block = mapped_block(comm, gpu(runtime) if kind == "cuda" else EmulatedDevice(threads=2), 10)
        assert block is not None
        size = len(block.own)
        for other in range(comm.size):
            if other != comm.rank:
                words_at(int(block.addresses[other]), 10)[comm.rank] = 100 + comm.rank
        comm.barrier()
        found = block.own[:10].tolist()
        block.close()
        return size, found, runtime.open

    for rank, (size, found, still_open) in enumerate(on_ranks(3, step)):
        assert found == [0 if other in (rank, *range(3, 10)) else 100 + other for other in range(10)]
        assert size == (GRAIN // 8 if kind == "cuda" else 10)
        assert still_open == []


@pytest.mark.parametrize("lacks", ["reaches", "exports"])
def test_where_one_rank_cannot_map_none_does(lacks: str) -> None:
    def step(comm: HostComm) -> Any:
        runtime = Runtime(reaches=lacks != "reaches" or comm.rank != 1, exports=lacks != "exports" or comm.rank != 1)
        return mapped_block(comm, gpu(runtime), 10), runtime.open

    assert on_ranks(3, step) == [(None, [])] * 3


def test_devices_that_cannot_wait_for_each_other_map_nothing_and_a_rank_alone_has_its_block() -> None:
    assert on_ranks(2, lambda comm: mapped_block(comm, EmulatedDevice(), 10)) == [None, None]
    block = mapped_block(LoneComm(), EmulatedDevice(), 10)
    assert block is not None
    assert block.own.tolist() == [0] * 10
    block.close()
