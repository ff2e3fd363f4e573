from __future__ import annotations

import gc
import tempfile
import threading
import time
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpugraph.devices import pinned
from gpugraph.devices.cuda_streams import Events
from gpugraph.devices.pinned import ParallelCopy, PinnedPages, PinnedPool, Transfers, as_bytes
from tests.devices.fake_cupy import CUDARuntimeError, FakeCupy


@pytest.fixture
def transfers() -> Any:
    cupy = FakeCupy()
    made = Transfers(cupy.cuda.runtime, Events(cupy.cuda.Event), cupy.cuda.Stream(True))
    made.cupy = cupy  # type: ignore[attr-defined]
    return made


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 9 << 20), st.integers(1, 5))
def test_a_parallel_copy_is_a_copy_whatever_size_and_threads(size: int, threads: int) -> None:
    source = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    target = np.zeros(size, np.uint8)
    copy = ParallelCopy(threads)
    copy(target, source)
    copy.close()
    assert np.array_equal(target, source)


def pool() -> tuple[PinnedPool, FakeCupy]:
    cupy = FakeCupy()
    return PinnedPool(lambda size: cupy.cuda.runtime.hostAlloc(size, 0), cupy.cuda.runtime.freeHost), cupy


def test_a_block_is_lent_again_only_when_its_last_view_has_gone() -> None:
    blocks, cupy = pool()
    first = blocks.take(10_000)
    address = first.ctypes.data
    view = first[100:200].view(np.uint32)
    del first
    assert blocks.take(10_000).ctypes.data != address
    del view
    gc.collect()
    assert blocks.take(9_000).ctypes.data in cupy.pinned
    assert len(cupy.pinned) == 2


def test_a_small_request_does_not_take_a_large_block() -> None:
    blocks, cupy = pool()
    blocks.take(1 << 20)
    small = blocks.take(8192)
    assert small.size == 8192
    assert len(cupy.pinned) == 2


def test_closing_frees_every_block_also_those_still_lent() -> None:
    blocks, cupy = pool()
    lent = blocks.take(5000)
    blocks.take(6000)
    blocks.close()
    assert len(cupy.pinned) == 1
    lent[:] = 1
    del lent
    gc.collect()
    assert cupy.pinned == {}


def test_a_pool_that_nobody_closed_frees_its_blocks_when_it_goes() -> None:
    blocks, cupy = pool()
    blocks.take(1 << 20)
    lent = blocks.take(4096)
    del blocks
    gc.collect()
    assert lent.ctypes.data in cupy.pinned
    del lent
    gc.collect()
    assert cupy.pinned == {}


def test_unused_blocks_are_freed_before_pinning_fails() -> None:
    blocks, cupy = pool()
    blocks.take(5000)
    cupy.pin_limit = 0
    with pytest.raises(CUDARuntimeError):
        blocks.take(1 << 20)
    assert cupy.pinned == {}


def test_the_pool_knows_its_own_arrays_and_views_of_them() -> None:
    blocks, _ = pool()
    mine = blocks.take(4096).view(np.int64)
    assert blocks.holds(mine)
    assert blocks.holds(mine[5:9])
    assert not blocks.holds(np.zeros(4096, np.uint8))


@pytest.mark.parametrize("size", [0, 1, 1000, pinned.CHUNK - 1, pinned.CHUNK, 3 * pinned.CHUNK + 5])
@pytest.mark.parametrize("staged", [True, False])
def test_what_goes_to_the_device_comes_back(transfers: Any, size: int, staged: bool) -> None:
    array = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    device = np.zeros(size, np.uint8)
    transfers.to_device(device.ctypes.data, transfers.stage(array) if staged else array)
    assert np.array_equal(device, array)
    back = np.zeros(size, np.uint8)
    transfers.to_host(back, device.ctypes.data)
    assert np.array_equal(back, array)


def test_staging_keeps_shape_and_dtype_and_reads_read_only_and_strided_arrays(transfers: Any) -> None:
    array = np.arange(60, dtype=np.float64).reshape(6, 10)[::2, ::3]
    array.flags.writeable = False
    staged = transfers.stage(array)
    assert staged.dtype == array.dtype
    assert np.array_equal(staged, array)
    assert transfers.pool.holds(staged)


def test_where_nothing_more_can_be_pinned_staging_gives_the_array_itself(transfers: Any) -> None:
    transfers.cupy.pin_limit = 0
    array = np.arange(10)
    assert transfers.stage(array) is array


def test_a_staged_array_is_not_lent_again_while_its_copy_may_run(transfers: Any) -> None:
    device = np.zeros(10_000, np.uint8)
    staged = transfers.stage(device)
    address = staged.ctypes.data
    transfers.to_device(device.ctypes.data, staged)
    del staged
    gc.collect()
    assert transfers.pool.take(10_000).ctypes.data != address


def test_closing_leaves_nothing_pinned(transfers: Any) -> None:
    device = np.zeros(100, np.uint8)
    transfers.to_device(device.ctypes.data, device)
    transfers.to_device(device.ctypes.data, transfers.stage(device))
    transfers.close()
    gc.collect()
    assert transfers.cupy.pinned == {}


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 90_000), st.integers(0, 200))
def test_a_file_comes_to_the_device_whole_through_small_buffers(size: int, offset: int) -> None:
    content = np.random.default_rng(size).integers(0, 256, offset + size, np.uint8)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryFile() as file:
        patch.setattr(pinned, "FILE_CHUNK", 10_000)
        patch.setattr(pinned, "_SLICE", 3_000)
        file.write(content.tobytes())
        file.flush()
        cupy = FakeCupy()
        transfers = Transfers(cupy.cuda.runtime, Events(cupy.cuda.Event), cupy.cuda.Stream(True))
        device = np.zeros(size, np.uint8)
        transfers.file_to_device(device.ctypes.data, file.fileno(), offset, size)
        assert np.array_equal(device, content[offset:])
        assert len(cupy.pinned) == min(-(-size // 10_000), pinned.FILE_BUFFERS)
        longer = np.zeros(size + 1, np.uint8)
        with pytest.raises(EOFError, match=f"ends at byte {offset + size}"):
            transfers.file_to_device(longer.ctypes.data, file.fileno(), offset, size + 1)
        transfers.close()


def test_a_reading_that_fails_has_ended_before_it_is_reported(transfers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinned, "FILE_CHUNK", 10_000)
    monkeypatch.setattr(pinned, "_SLICE", 1_000)
    transfers._copy = ParallelCopy(4)
    under_way, lock = [0], threading.Lock()

    def read(file: int, target: Any, offset: int) -> None:
        with lock:
            under_way[0] += 1
        time.sleep(0.001)
        with lock:
            under_way[0] -= 1
        if offset == 12_000:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(pinned, "read_exactly", read)
    device = np.zeros(90_000, np.uint8)
    with pytest.raises(OSError, match="Input/output error"):
        transfers.file_to_device(device.ctypes.data, 0, 0, device.size)
    assert under_way == [0]
    transfers.close()


@pytest.mark.parametrize("refused", [False, True])
def test_large_blocks_are_pinned_where_they_lie_or_by_the_driver_where_that_is_refused(refused: bool) -> None:
    cupy = FakeCupy()
    cupy.registering_refused = refused
    pages = PinnedPages(cupy.cuda.runtime, ParallelCopy(2).in_parallel)
    blocks = PinnedPool(pages.allocate, pages.free)
    block = blocks.take(20 << 20)
    block[:] = 7
    assert isinstance(cupy.pinned[block.ctypes.data], int) is not refused
    assert len(cupy.pinned) == 1
    assert block[-1] == 7
    del block
    blocks.close()
    assert cupy.pinned == {}


def test_freeing_after_a_failed_kernel_is_silent() -> None:
    cupy = FakeCupy()
    pages = PinnedPages(cupy.cuda.runtime, ParallelCopy(1).in_parallel)
    address = pages.allocate(100)

    def fails(pointer: int) -> None:
        raise CUDARuntimeError(700)

    cupy.cuda.runtime.freeHost = fails
    pages.free(address)
    assert address in cupy.pinned


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 40 << 20), st.integers(1, 5))
def test_the_pieces_of_parallel_work_cover_everything_once(size: int, threads: int) -> None:
    pieces: list[tuple[int, int]] = []
    copy = ParallelCopy(threads)
    copy.in_parallel(lambda start, stop: pieces.append((start, stop)), size)
    copy.close()
    pieces.sort()
    assert pieces[0][0] == 0
    assert pieces[-1][1] == size
    assert all(a[1] == b[0] for a, b in pairwise(pieces))


def test_the_bytes_of_an_array_without_axes_are_a_view() -> None:
    number = np.array(7, np.uint32)
    assert as_bytes(number).tolist() == [7, 0, 0, 0]
