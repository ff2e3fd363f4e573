"""Copies beside the kernels: they arrive, marks are waited for, and nothing outlives the device."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gpugraph.base.errors import GpuGraphError
from gpugraph.devices.cuda import CudaDevice
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.papers.copies import copy_stream, hold_launches, launched
from tests.devices.fake_cupy import FakeCupy
from tests.emulator.compiler import needs_compiler


@pytest.fixture(
    params=[
        "fake",
        pytest.param("emulated", marks=needs_compiler),
        pytest.param("cuda", marks=pytest.mark.gpu),
    ]
)
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    if request.param == "emulated":
        yield EmulatedDevice()
        return
    if request.param == "fake":
        monkeypatch.setitem(sys.modules, "cupy", FakeCupy())
    made = CudaDevice(0)
    yield made
    made.close()


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float64"])
@pytest.mark.parametrize("size", [0, 1, 100_000])
def test_what_is_copied_there_and_back_is_the_same(device: Any, dtype: str, size: int) -> None:
    copies, there = copy_stream(device), device.empty(size, dtype)
    here, back = device.pinned(size, dtype), device.pinned(size, dtype)
    here[:] = np.arange(size).astype(dtype)
    copies.upload(there, here)
    hold_launches(device, copies.mark())
    copies.wait_for(launched(device))
    copies.download(back, there)
    end = copies.mark()
    end.wait()
    assert back.dtype == here.dtype
    assert np.array_equal(back, here)


def test_slices_of_both_sides_are_copied(device: Any) -> None:
    copies, there, here = copy_stream(device), device.full(10, 7, np.int32), device.pinned((4,), np.int32)
    here[:] = [1, 2, 3, 4]
    copies.wait_for(launched(device))  # else the array may be filled behind the copy
    copies.upload(there[3:5], here[1:3])
    copies.mark().wait()
    assert device.download(there).tolist() == [7, 7, 7, 2, 3, 7, 7, 7, 7, 7]


def test_marks_tell_the_time_between_them(device: Any) -> None:
    copies = copy_stream(device)
    begun = copies.mark()
    copies.upload(device.empty(10, np.int32), device.pinned(10, np.int32))
    assert copies.mark().seconds_since(begun) >= 0


@pytest.mark.parametrize(("size", "dtype"), [(9, np.int32), (10, np.float32)])
def test_arrays_that_do_not_match_are_refused(device: Any, size: int, dtype: Any) -> None:
    copies = copy_stream(device)
    with pytest.raises(GpuGraphError, match="cannot copy"):
        copies.upload(device.empty(10, np.int32), np.zeros(size, dtype))
    with pytest.raises(GpuGraphError, match="cannot copy"):
        copies.download(np.zeros(size, dtype), device.empty(10, np.int32))
    with pytest.raises(GpuGraphError, match="not contiguous"):
        copies.upload(device.empty(5, np.int32), np.zeros(10, np.int32)[::2])


def test_either_stream_waits_for_the_other_on_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = FakeCupy()
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    device = CudaDevice(0)
    copies = copy_stream(device)
    begun, copied = launched(device), copies.mark()
    copies.wait_for(begun)
    hold_launches(device, copied)
    assert cupy.waits == [begun.event, copied.event]
    assert begun.event is not copied.event
    device.close()


def test_marks_give_their_events_back_and_closing_frees_pinned_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = FakeCupy()
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    device = CudaDevice(0)
    for _ in range(5):
        launched(device)
    gc.collect()
    assert len(device.events._all) == 1
    here = device.pinned(5000, np.uint32)
    del here
    device.close()
    gc.collect()
    assert cupy.pinned == {}


def test_where_nothing_more_can_be_pinned_ordinary_memory_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = FakeCupy()
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    device = CudaDevice(0)
    cupy.pin_limit = 0
    here = device.pinned((3, 5), np.uint64)
    assert here.shape == (3, 5)
    assert not device._transfers.pool.holds(here)
    device.close()
