"""Ranks on GPUs, through NCCL: the same record as the processor's, where there are two GPUs.

Elsewhere what is asked of NCCL is held against a stand-in that moves the host's memory: pointers, counts and order.
"""

from __future__ import annotations

import ctypes
import json
import queue
import sys
import threading
from collections import defaultdict
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpugraph.base.errors import DeviceUnavailable
from gpugraph.ext.ranks.comm import COMBINE, HostComm
from gpugraph.ext.ranks.transports import NcclComm
from gpugraph.ext.ranks.world import gpus
from tests.ranks.runs import command
from tests.ranks.test_comm import on_ranks


@pytest.fixture
def two_gpus() -> None:
    try:
        count = gpus()
    except DeviceUnavailable as missing:
        pytest.skip(missing.what)
    if count < 2:
        pytest.skip("needs two GPUs")


@pytest.mark.gpu
@pytest.mark.usefixtures("two_gpus")
@pytest.mark.parametrize(
    "graph", ["rmat:14,w=1..255", "rmat:13,dtype=float64", "road:64x64,w=1..9", "star:2", "path:1"]
)
@pytest.mark.parametrize("problem", ["mst", "sssp", "components"])
def test_gpus_find_what_the_processor_finds(problem: str, graph: str) -> None:
    alone, several = (
        command(problem, graph, "--device", device, "--format", "json", "-q") for device in ("cpu", "cuda:0,1")
    )
    assert several.returncode == 0, several.stderr
    records = [json.loads(run.stdout) for run in (alone, several)]
    assert records[0]["result"] == records[1]["result"]
    assert records[1]["verification"]["status"] == "passed"
    assert records[1]["ranks"]["talk_through"].startswith("NCCL ")


@pytest.mark.gpu
@pytest.mark.usefixtures("two_gpus")
def test_every_gpu_there_is_takes_part() -> None:
    run = command("mst", "rmat:12", "--device", "cuda:all", "--format", "json", "-q")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["ranks"]["size"] == gpus()


class Array:
    """An array of the host that shows itself as one of CuPy's."""

    def __init__(self, host: Any):
        self.host, self.data = host, SimpleNamespace(ptr=host.ctypes.data)
        self.dtype, self.size, self.nbytes, self.itemsize = host.dtype, host.size, host.nbytes, host.itemsize

    def __getitem__(self, key: Any) -> Array:
        return Array(self.host[key])


def memory(pointer: int, count: int, dtype: Any) -> Any:
    size = count * np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_uint8 * size).from_address(pointer), dtype) if count else np.empty(0, dtype)


def stand_in(size: int) -> ModuleType:
    """Return a module that moves memory between threads as NCCL does between GPUs."""
    nccl, boxes, meeting, table = ModuleType("nccl"), defaultdict(queue.Queue), threading.Barrier(size), {}
    local = threading.local()
    for name in ("uint8", "int32", "uint64", *COMBINE):
        setattr(nccl, f"NCCL_{name.upper()}", name)

    class Communicator:
        def __init__(self, ranks: int, word: Any, rank: int):
            assert (ranks, word) == (size, b"i" * 128)
            self.rank = rank

        def allReduce(self, source: int, target: int, count: int, kind: str, op: str, stream: int) -> None:
            table[self.rank] = memory(source, count, kind).copy()
            meeting.wait(300)
            memory(target, count, kind)[:] = COMBINE[op].reduce([table[r] for r in range(size)], axis=0, dtype=kind)
            meeting.wait(300)

        def send(self, source: int, count: int, kind: str, peer: int, stream: int) -> None:
            assert count
            boxes[self.rank, peer].put(memory(source, count, kind).copy())

        def recv(self, target: int, count: int, kind: str, peer: int, stream: int) -> None:
            assert count
            local.waiting.append((boxes[peer, self.rank], memory(target, count, kind)))

        def destroy(self) -> None:
            self.rank = -1

    def end() -> None:
        for box, room in local.waiting:
            room[:] = box.get(timeout=300)

    nccl.__dict__.update(
        NcclCommunicator=Communicator,
        NcclError=RuntimeError,
        get_version=lambda: 22803,
        get_unique_id=lambda: b"i" * 128,
        groupStart=lambda: setattr(local, "waiting", []),
        groupEnd=end,
    )
    return nccl


@pytest.mark.parametrize("size", [2, 3])
def test_nccl_is_asked_for_what_the_ranks_have(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = ModuleType("cupy.cuda")
    cuda.nccl = stand_in(size)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cupy", ModuleType("cupy"))
    monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
    device = SimpleNamespace(
        name="a GPU",
        stream=SimpleNamespace(ptr=7),
        synchronize=lambda: None,
        empty=lambda count, dtype: Array(np.empty(count, dtype)),
        copy=lambda target, source: np.copyto(target.host, source.host),
    )

    def step(host: HostComm) -> Any:
        comm = NcclComm(host, device)
        least = Array(np.arange(5, dtype=np.uint64) + 10 * comm.rank)
        comm.all_reduce(least, "min")
        sent = [(comm.rank + other) % 3 for other in range(size)]  # some of them nothing
        received = [(comm.rank + other) % 3 for other in range(size)]
        packed = Array(np.concatenate([np.full(n, 10 * comm.rank + r, np.int32) for r, n in enumerate(sent)]))
        got = comm.all_to_all_v(packed, sent, received)
        stretches = Array(np.full(sum(range(size)), comm.rank, np.uint64))  # rank r has r elements of it
        comm.all_gather_v_in_place(stretches, [r * (r - 1) // 2 for r in range(size + 1)])
        comm.barrier()
        comm.close()
        return comm.name, least.host.tolist(), got.host.tolist(), stretches.host.tolist()

    for rank, (name, least, got, stretches) in enumerate(on_ranks(size, step)):
        assert name == "NCCL 2.28.3"
        assert least == [0, 1, 2, 3, 4]
        assert got == [10 * other + rank for other in range(size) for _ in range((rank + other) % 3)]
        assert stretches == [r for r in range(size) for _ in range(r)]
