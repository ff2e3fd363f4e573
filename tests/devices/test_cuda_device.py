"""The cuda device against a fake CuPy: what it asks for, refuses, counts and frees."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gpugraph.base.errors import DeviceUnavailable, GpuGraphError, InputError, OutOfMemory
from gpugraph.devices.base import KernelArgumentError
from gpugraph.devices.cuda import CudaDevice
from tests.devices.fake_cupy import CUDARuntimeError, FakeCupy

N = np.int64(64)


@pytest.fixture
def device(cupy: FakeCupy) -> Iterator[CudaDevice]:
    made = CudaDevice(0)
    yield made
    cupy.sync_error = None
    made.close()


def test_the_grid_is_launched_exactly_as_asked_for(device: CudaDevice, cupy: FakeCupy) -> None:
    array = device.empty(256, np.uint32)
    kernel = device.kernel("probe.cu", "probe_copy")
    kernel(5000, 256, (array, array, N))
    assert cupy.launches == [("probe_copy", (5000,), (256,), 3, 0, False)]


def test_launches_are_recorded_once_and_repeated_as_one_graph(device: CudaDevice, cupy: FakeCupy) -> None:
    array, kernel = device.empty(256, np.uint32), device.kernel("probe.cu", "probe_copy")
    launch = device.recorded(lambda: kernel(2, 32, (array, array, N)))
    assert device.stream.captured == ["begin", "end", "upload"]
    launch()
    launch()
    assert device.stream.captured[3:] == ["launch", "launch"]
    assert len(cupy.launches) == 1  # while the stream was captured


def test_a_cooperative_grid_is_launched_whole_or_refused(device: CudaDevice, cupy: FakeCupy) -> None:
    array = device.empty(256, np.uint32)
    kernel = device.kernel("probe.cu", "probe_copy", cooperative=True)
    assert kernel.resident_blocks(256) == 264
    kernel(264, 256, (array, array, N))
    with pytest.raises(KernelArgumentError, match=r"a grid of 265 blocks .* only 264 are resident together"):
        kernel(265, 256, (array, array, N))
    assert cupy.launches == [("probe_copy", (264,), (256,), 3, 0, True)]


def test_cooperative_kernels_have_a_module_of_their_own(device: CudaDevice, cupy: FakeCupy) -> None:
    device.kernel("probe.cu", "probe_copy")
    device.kernel("probe.cu", "probe_read")
    device.kernel("probe.cu", "probe_copy", cooperative=True)
    assert [cooperative for _, cooperative in cupy.modules] == [False, True]


@pytest.mark.parametrize(("grid", "block"), [(0, 32), (-1, 32), (2**31, 32), (1, 0), (1, 1025)])
def test_a_launch_that_no_gpu_takes_is_refused(device: CudaDevice, cupy: FakeCupy, grid: int, block: int) -> None:
    with pytest.raises(KernelArgumentError, match="probe_nothing: a "):
        device.kernel("probe.cu", "probe_nothing")(grid, block, ())
    assert cupy.launches == []


def test_arguments_are_checked_against_the_compiled_kernel(device: CudaDevice, cupy: FakeCupy) -> None:
    array = device.empty(256, np.uint32)
    kernel = device.kernel("probe.cu", "probe_copy")
    with pytest.raises(KernelArgumentError, match="argument 2: int32 is 4 bytes, the kernel takes 8"):
        kernel(1, 32, (array, array, np.int32(1)))
    with pytest.raises(KernelArgumentError, match="argument 2: a int has no width"):
        kernel(1, 32, (array, array, 1))
    with pytest.raises(KernelArgumentError, match="2 arguments are given, the kernel takes 3"):
        kernel(1, 32, (array, array))
    assert cupy.launches == []


def test_a_prepared_launch_hands_the_driver_each_argument_in_its_own_bytes(device: CudaDevice, cupy: FakeCupy) -> None:
    array, other = device.empty(256, np.uint32), device.empty(256, np.uint32)
    addresses = [np.uint64(one.data.ptr).tobytes() for one in (array, other)]
    launch = device.kernel("probe.cu", "probe_copy", cooperative=True).prepared(264, 256, (array, other, N))
    launch()
    launch()
    assert cupy.launches == [("probe_copy", (264,), (256,), 3, 0, True)] * 2
    assert cupy.launched_with == [(*addresses, N.tobytes())] * 2


@pytest.mark.parametrize("first", [np.int64(-3), np.uint64(2**64 - 1), np.float64(-0.5)])
def test_the_first_arguments_of_a_prepared_launch_change_with_each(
    device: CudaDevice, cupy: FakeCupy, first: np.generic
) -> None:
    array = device.empty(256, np.uint32)
    launch = device.kernel("probe.cu", "probe_copy").prepared(7, 64, (array, N))
    for value in (np.int64(5), first, np.int64(5)):
        launch(value)
        assert cupy.launched_with[-1] == (value.tobytes(), np.uint64(array.data.ptr).tobytes(), N.tobytes())
    assert cupy.launches == [("probe_copy", (7,), (64,), 3, 0, False)] * 3


def test_a_prepared_launch_is_refused_as_any_other(device: CudaDevice, cupy: FakeCupy) -> None:
    array = device.empty(256, np.uint32)
    kernel = device.kernel("probe.cu", "probe_copy", cooperative=True)
    with pytest.raises(KernelArgumentError, match="only 264 are resident together"):
        kernel.prepared(265, 256, (array, array, N))()
    launch = kernel.prepared(264, 256, (array, N))
    with pytest.raises(KernelArgumentError, match="argument 0: uint32 is 4 bytes, the kernel takes 8"):
        launch(np.uint32(1))
    with pytest.raises(KernelArgumentError, match="2 arguments are given, the kernel takes 3"):
        launch()
    assert cupy.launches == []
    cupy.launch_error = CUDARuntimeError(720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE")
    with pytest.raises(GpuGraphError, match=r"launching probe_copy.*larger than what is resident"):
        launch(np.int64(1))


def test_a_prepared_launch_takes_the_gpu_in_a_thread_that_has_not_yet(device: CudaDevice, cupy: FakeCupy) -> None:
    launch = device.kernel("probe.cu", "probe_nothing").prepared(1, 32, ())
    cupy.context = 0
    launch()
    assert cupy.context == 1


def test_more_shared_memory_than_usual_is_asked_for_before_the_launch(device: CudaDevice, cupy: FakeCupy) -> None:
    kernel = device.kernel("probe.cu", "probe_nothing")
    kernel(1, 32, (), shared_bytes=100 << 10)
    assert kernel._raw.max_dynamic_shared_size_bytes == 100 << 10
    assert cupy.launches[-1][4] == 100 << 10


def test_a_kernel_is_loaded_once(device: CudaDevice) -> None:
    assert device.kernel("probe.cu", "probe_read") is device.kernel("probe.cu", "probe_read", {})


def test_an_unknown_kernel_suggests_the_nearest(device: CudaDevice) -> None:
    with pytest.raises(InputError, match=r"unknown kernel in probe\.cu 'probe_cpy' .*did you mean 'probe_copy'"):
        device.kernel("probe.cu", "probe_cpy")


@pytest.mark.parametrize(
    "dtype", [np.uint8, np.int16, np.uint32, np.int32, np.float32, np.int64, np.uint64, np.float64]
)
@pytest.mark.parametrize("value", [0, 1, 77, -1])
def test_filling_writes_the_value_in_every_type(device: CudaDevice, dtype: type, value: int) -> None:
    value = value if np.dtype(dtype).kind != "u" else value % 256
    array = device.full((3, 50), value, dtype)
    assert np.array_equal(device.download(array), np.full((3, 50), value, dtype))


def test_filling_a_slice_leaves_the_rest(device: CudaDevice) -> None:
    array = device.full(10, 3, np.int32)
    device.fill(array[2:5], 1000)
    assert device.download(array).tolist() == [3, 3, 1000, 1000, 1000, 3, 3, 3, 3, 3]


def test_uploads_copies_reads_and_downloads_agree(device: CudaDevice) -> None:
    host = np.random.default_rng(1).random((300, 100))
    array = device.upload(device.stage(host))
    other = device.empty(host.shape, host.dtype)
    device.copy(other, array)
    assert np.array_equal(device.download(other), host)
    assert np.array_equal(device.download(array[5]), host[5])
    found = device.read(array, 101)
    assert found == host[1, 1]
    assert type(found) is np.float64


def test_words_are_sorted_in_memory_of_the_devices_own_that_is_free_again(device: CudaDevice, cupy: FakeCupy) -> None:
    words = np.random.default_rng(1).integers(0, 2**64, 5000, np.uint64)
    there = device.upload(words)
    before = device.allocated_bytes()
    device.reset_peak()
    device.sort(there)
    assert device.download(there).tolist() == sorted(words.tolist())
    assert device.allocated_bytes() == before
    assert device.peak_bytes() >= before + words.nbytes
    device.sort(device.empty(0, np.uint64))
    cupy.free_bytes = words.nbytes
    with pytest.raises(OutOfMemory):
        device.sort(there)


def test_a_file_comes_to_the_device_and_one_that_ends_before_is_reported(device: CudaDevice, tmp_path: Path) -> None:
    values = np.arange(70_000, dtype=np.uint32)
    (tmp_path / "f").write_bytes(b"head" + values.tobytes())
    with (tmp_path / "f").open("rb") as file:
        there = device.upload_file(file.fileno(), 4, len(values), np.uint32)
        assert np.array_equal(device.download(there), values)
        assert device.upload_file(file.fileno(), 4, 0, np.uint32).size == 0
        with pytest.raises(EOFError):
            device.upload_file(file.fileno(), 8, len(values), np.uint32)


def test_empty_arrays_go_there_and_back(device: CudaDevice) -> None:
    array = device.upload(np.zeros((0, 3), np.int32))
    device.fill(array, 7)
    assert array.data.ptr != 0
    assert device.download(array).shape == (0, 3)


@pytest.mark.parametrize("index", [-1, 5])
def test_reading_outside_an_array_is_refused(device: CudaDevice, index: int) -> None:
    with pytest.raises(GpuGraphError, match=f"cannot read element {index} of an array of 5"):
        device.read(device.full(5, 0, np.uint32), index)


def test_a_copy_between_unlike_arrays_is_refused(device: CudaDevice) -> None:
    with pytest.raises(GpuGraphError, match="cannot copy 4 elements of int32 over 4 of int64"):
        device.copy(device.empty(4, np.int64), device.empty(4, np.int32))


def test_allocated_bytes_and_their_peak_are_counted(device: CudaDevice) -> None:
    base = device.allocated_bytes()
    a = device.empty((10, 100), np.float64)
    b = device.empty(100, np.uint8)
    assert device.allocated_bytes() - base == 8100
    part = a[3:]
    del a, b
    assert device.allocated_bytes() - base == 8000
    assert device.peak_bytes() - base == 8100
    del part
    device.reset_peak()
    assert device.peak_bytes() == device.allocated_bytes() == base


def test_closing_frees_every_array_and_every_pinned_block(cupy: FakeCupy) -> None:
    device = CudaDevice(0)
    kept = device.upload(np.arange(1000))
    staged = device.stage(np.arange(1000))
    device.read(kept)
    device.close()
    assert cupy.live == {}
    del staged, device
    gc.collect()
    assert cupy.pinned == {}


def test_a_closed_device_and_its_modules_are_gone_at_once(cupy: FakeCupy) -> None:
    gc.collect()
    gc.disable()
    try:
        device = CudaDevice(0)
        device.kernel("probe.cu", "probe_nothing")(1, 32, ())
        device.close()
        there = weakref.ref(device)
        del device
        assert there() is None
    finally:
        gc.enable()


def test_a_need_beyond_what_is_free_is_reported_with_both_figures_and_allocates_nothing(
    device: CudaDevice, cupy: FakeCupy
) -> None:
    before = device.allocated_bytes()
    for ask in (lambda: device.require(3 << 30), lambda: device.empty(3 << 30, np.uint8)):
        with pytest.raises(OutOfMemory, match=r"needs 3,221,225,472 bytes .* 1,073,741,824 bytes .* are free"):
            ask()
    assert device.allocated_bytes() == before
    device.require(1 << 30)


def test_a_failed_kernel_is_named_where_the_host_waits_for_it(device: CudaDevice, cupy: FakeCupy) -> None:
    array = device.full(4, 0, np.uint32)
    device.kernel("probe.cu", "probe_nothing")(1, 32, ())
    cupy.sync_error = CUDARuntimeError(700, "cudaErrorIllegalAddress")
    watch = device.stopwatch()
    for wait in (device.synchronize, lambda: device.read(array), lambda: device.download(array), lambda: watch.seconds):
        with pytest.raises(GpuGraphError, match=r"cuda:0 \(after probe_nothing\): .*outside its arrays"):
            wait()


def test_a_refused_launch_is_reported_with_the_kernels_name(device: CudaDevice, cupy: FakeCupy) -> None:
    cupy.launch_error = CUDARuntimeError(701)
    with pytest.raises(GpuGraphError, match=r"\(launching probe_nothing\): .*choose a smaller block"):
        device.kernel("probe.cu", "probe_nothing")(1, 32, ())


def test_closing_after_a_failed_kernel_frees_all_the_same(cupy: FakeCupy) -> None:
    device = CudaDevice(0)
    device.empty(100, np.uint8)
    cupy.sync_error = CUDARuntimeError(700)
    device.close()
    assert cupy.live == {}


def test_the_phase_clock_adds_up_each_phase(device: CudaDevice, cupy: FakeCupy) -> None:
    clock = device.phase_clock()
    for _ in range(3):
        with clock.phase("find_min"):
            clock.count("rounds")
    with clock.phase("merge"):
        pass
    assert clock.seconds == pytest.approx({"find_min": 6e-3, "merge": 2e-3})
    assert clock.seconds == clock.seconds
    assert clock.counters == {"rounds": 3}
    assert cupy.marks == []


def test_profiling_wraps_every_phase_in_a_range(cupy: FakeCupy) -> None:
    device = CudaDevice(0, profile=True)
    with device.phase_clock().phase("find_min"):
        cupy.marks.append("work")
    assert cupy.marks == ["find_min", "work", "pop"]
    device.close()


def test_it_describes_itself(device: CudaDevice) -> None:
    facts = device.describe()
    assert facts["name"] == "Fake H200"
    assert facts["uuid"] == "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"
    assert facts["compute_capability"] == "9.0"
    assert (facts["driver_cuda"], facts["runtime_cuda"]) == ("13.0", "12.9")
    assert device.arch == "sm_90"


def test_a_users_own_file_is_compiled_and_its_error_names_the_line(device: CudaDevice, tmp_path: Path) -> None:
    (tmp_path / "mine.cu").write_text('extern "C" __global__ void k(int* a) {\n    a[0] = b;\n}\n')
    with pytest.raises(GpuGraphError, match=r'mine\.cu line 2: does not compile for sm_90: identifier "b"'):
        device.kernel(str(tmp_path / "mine.cu"), "k")


@pytest.mark.parametrize(("index", "said"), [(1, "the only GPU is cuda:0"), (7, "there is no GPU cuda:7")])
def test_an_index_out_of_range_is_reported_with_those_there_are(cupy: FakeCupy, index: int, said: str) -> None:
    with pytest.raises(DeviceUnavailable, match=said):
        CudaDevice(index)


def test_stopwatches_use_the_devices_events_again(device: CudaDevice) -> None:
    for _ in range(5):
        watch = device.stopwatch()
        watch.start()
        watch.stop()
        assert watch.seconds == pytest.approx(2e-3)
        del watch
    assert len(device.events._all) <= 4
