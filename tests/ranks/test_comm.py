"""Comm: every collective gives what its definition says, whatever the number of ranks, and counts what it sends."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpugraph.base.errors import InputError, RankLost
from gpugraph.ext.ranks.comm import COMBINE, HostComm, LoneComm, StagedComm, from_all_ranks, to_lower_ranks
from gpugraph.ext.ranks.transports import SocketComm, _tournament
from gpugraph.ext.ranks.world import check_alike

DTYPES = ("uint8", "int32", "uint32", "int64", "uint64", "float32", "float64")


@contextmanager
def joined(size: int) -> Iterator[list[SocketComm]]:
    """Yield ranks of this process that are joined by real sockets."""
    pairs = {(i, j): socket.socketpair() for j in range(size) for i in range(j)}
    numbers: list[dict[int, int]] = [{} for _ in range(size)]
    for (i, j), (one, other) in pairs.items():
        numbers[i][j], numbers[j][i] = one.detach(), other.detach()
    comms = [SocketComm(rank, size, numbers[rank]) for rank in range(size)]
    try:
        yield comms
    finally:
        for comm in comms:
            comm.close()


def on_ranks(size: int, step: Callable[[HostComm], Any]) -> list[Any]:
    """Return what a function gives on every rank."""
    if size == 0:
        return [step(LoneComm())]

    def guarded(comm: HostComm) -> Any:
        try:
            return step(comm)
        except BaseException:
            comm.close()  # nobody may wait for it
            raise

    with joined(size) as comms, ThreadPoolExecutor(size) as pool:
        futures = [pool.submit(guarded, comm) for comm in comms]
        wait(futures)
        errors = [error for future in futures if (error := future.exception()) is not None]
        for error in sorted(errors, key=lambda error: isinstance(error, RankLost)):
            raise error
        return [future.result() for future in futures]


def numbers(rank: int, length: int, dtype: str) -> np.ndarray[Any, Any]:
    return np.random.default_rng([rank, length]).integers(0, 100, length).astype(dtype)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("op", COMBINE)
@pytest.mark.parametrize("length", [0, 1, 3, 1000])
def test_a_reduction_is_that_of_all_ranks_everywhere(size: int, op: str, length: int) -> None:
    for dtype in DTYPES:

        def step(comm: HostComm, dtype: str = dtype) -> Any:
            array = numbers(comm.rank, length, dtype)
            comm.all_reduce(array, op)
            return array

        expected = COMBINE[op].reduce([numbers(r, length, dtype) for r in range(max(size, 1))], axis=0, dtype=dtype)
        for found in on_ranks(size, step):
            assert found.dtype == dtype
            assert np.array_equal(found, expected)


@settings(max_examples=20, deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda p: st.lists(st.lists(st.integers(0, 50), min_size=p, max_size=p), min_size=p, max_size=p)
    )
)
def test_every_rank_gets_what_the_others_sent_it(lengths: list[list[int]]) -> None:
    def step(comm: HostComm) -> Any:
        return comm.all_to_all([np.full(n, 10 * comm.rank + other) for other, n in enumerate(lengths[comm.rank])])

    for rank, parts in enumerate(on_ranks(len(lengths), step)):
        for other, part in enumerate(parts):
            assert part.tolist() == [10 * other + rank] * lengths[other][rank]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("staged", [False, True])
def test_a_stretch_of_each_becomes_the_whole_of_all(size: int, staged: bool) -> None:
    from gpugraph.ext.emulator.device import EmulatedDevice

    ranks = max(size, 1)
    cuts = [r * (r - 1) // 2 for r in range(ranks + 1)]

    def step(comm: HostComm) -> Any:
        own = np.full(cuts[-1], comm.rank, np.uint32)
        (StagedComm(comm, EmulatedDevice()) if staged else comm).all_gather_v_in_place(own, cuts)
        return own

    for array in on_ranks(size, step):
        assert array.tolist() == [r for r in range(ranks) for _ in range(r)]


@pytest.mark.parametrize("size", [0, 2, 3, 4, 5, 7])
def test_turn_by_turn_the_first_gets_what_all_have(size: int) -> None:
    def step(comm: HostComm) -> Any:
        own = np.array([1 << comm.rank, comm.rank])
        for others in to_lower_ranks(comm, own):
            own += others
        return own

    first = on_ranks(size, step)[0]
    assert first.tolist() == [2 ** max(size, 1) - 1, sum(range(size))]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5])
def test_turn_by_turn_all_get_what_all_have(size: int) -> None:
    def step(comm: HostComm) -> Any:
        own, turns = np.array([1 << comm.rank]), 0
        for others in from_all_ranks(comm, own, np.empty_like(own)):
            own |= others
            turns += 1
        return int(own[0]), turns

    assert on_ranks(size, step) == [(2 ** max(size, 1) - 1, max(size - 1, 0).bit_length())] * max(size, 1)


def test_long_stretches_go_both_ways_at_once() -> None:
    def step(comm: HostComm) -> Any:
        return comm.all_gather_v(np.full(2**20 + comm.rank, comm.rank, np.uint64))

    for parts in on_ranks(3, step):
        assert [(len(part), set(part.tolist())) for part in parts] == [(2**20 + r, {r}) for r in range(3)]


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_objects_and_arrays_of_one_rank_reach_all(size: int) -> None:
    def step(comm: HostComm) -> Any:
        comm.barrier()
        objects = comm.all_gather_object({"rank": comm.rank, "long": "x" * 1000 * comm.rank})
        return objects, comm.all_gather_v(np.arange(comm.rank))

    for objects, arrays in on_ranks(size, step):
        assert [one["rank"] for one in objects] == list(range(max(size, 1)))
        assert [array.tolist() for array in arrays] == [list(range(rank)) for rank in range(max(size, 1))]


@pytest.mark.parametrize("size", range(2, 12))
def test_in_a_tournament_all_meet_once_and_nobody_meets_two(size: int) -> None:
    met = [[turn[rank] for turn in _tournament(size)] for rank in range(size)]
    for rank, others in enumerate(met):
        assert sorted(other for other in others if other < size) == [r for r in range(size) if r != rank]
    for turn in _tournament(size):
        assert all(turn[turn[rank]] == rank for rank in range(size))


def test_bytes_sent_are_counted() -> None:
    def step(comm: HostComm) -> int:
        comm.all_reduce(np.zeros(100, np.uint64), "min")
        comm.all_to_all_v(np.zeros(30, np.uint32), [10, 10, 10], [10, 10, 10])
        return comm.bytes_sent

    assert on_ranks(3, step) == [2 * 800 * 2 // 3 + 80] * 3
    assert on_ranks(0, lambda comm: (comm.all_reduce(np.zeros(9), "min"), comm.bytes_sent)[1]) == [0]


def test_a_meter_is_informed_of_waiting_and_of_communication() -> None:
    def step(comm: HostComm) -> Any:
        informed: list[tuple[float, float, int]] = []
        comm.meter = lambda *figures: informed.append(figures)
        comm.all_reduce(np.zeros(8, np.uint64), "sum")
        return informed

    for told in on_ranks(2, step):
        ((waited, moved, sent),) = told
        assert waited >= 0
        assert moved >= 0
        assert sent == 64


def test_arrays_of_a_device_go_through_the_host() -> None:
    from gpugraph.ext.emulator.device import EmulatedDevice

    devices = [EmulatedDevice() for _ in range(3)]

    def step(host: HostComm) -> Any:
        device = devices[host.rank]
        comm = StagedComm(host, device)
        array = device.upload(numbers(host.rank, 10, "uint64"))
        comm.all_reduce(array, "min")
        got = comm.all_to_all_v(device.full(3, host.rank, np.int32), [1, 1, 1], [1, 1, 1])
        return device.download(array), device.download(got), comm.bytes_sent, comm.host is host

    expected = np.minimum.reduce([numbers(r, 10, "uint64") for r in range(3)])
    for array, got, sent, same in on_ranks(3, step):
        assert np.array_equal(array, expected)
        assert got.tolist() == [0, 1, 2]
        assert sent == 2 * 80 * 2 // 3 + 8
        assert same


def test_a_rank_that_is_gone_is_missed() -> None:
    with joined(2) as (here, gone):
        gone.close()
        with pytest.raises(RankLost, match="rank 1 has ended"):
            here.barrier()


@pytest.mark.parametrize(
    ("versions", "words", "message"),
    [
        (["1.0", "1.0"], [["mst"], ["mst"]], None),
        (["1.0", "1.1"], [["mst"], ["mst"]], "rank 1 runs gpugraph 1.1, rank 0 runs 1.0"),
        (["1.0", "1.0"], [["mst", "a"], ["mst", "b"]], "rank 1 has the command line 'mst b', rank 0 'mst a'"),
    ],
)
def test_ranks_of_different_versions_or_commands_are_refused_on_all(
    versions: list[str], words: list[list[str]], message: str | None
) -> None:
    def step(comm: HostComm) -> str | None:
        try:
            check_alike(comm, versions[comm.rank], words[comm.rank])
        except InputError as error:
            return error.what
        return None

    assert on_ranks(2, step) == [message] * 2
