"""The cuda device on a GPU."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpugraph.base.errors import OutOfMemory
from gpugraph.devices import pinned
from gpugraph.devices.base import KernelArgumentError
from gpugraph.devices.discovery import select_device
from gpugraph.ext.machine import probes
from gpugraph.ext.machine.listing import found_devices
from gpugraph.ext.python.inputs import adopted

pytestmark = pytest.mark.gpu

BARRIER = """
extern "C" __global__ void meet(unsigned* arrived, unsigned* seen) {
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1u);
        while (*(volatile unsigned*)arrived < gridDim.x) {}
        seen[blockIdx.x] = *(volatile unsigned*)arrived;
    }
}
extern "C" __global__ void shared_sum(unsigned* out, int n) {
    extern __shared__ unsigned cells[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) cells[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (int i = 0; i < n; i++) sum += cells[i];
        out[0] = sum;
    }
}
extern "C" __global__ void who(unsigned* blocks) { if (threadIdx.x == 0) atomicAdd(blocks, 1u); }
extern "C" __global__ void divide(float* out, float a, float b, float c) { out[0] = a / b; out[1] = a * b + c; }
"""


@pytest.fixture(scope="module")
def device() -> Iterator[Any]:
    made, _ = select_device("cuda")
    yield made
    made.close()


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "mine.cu").write_text(BARRIER)
    return str(tmp_path / "mine.cu")


def test_the_probes_run_and_every_figure_is_positive(device: Any) -> None:
    found = probes.run_probes(device)
    print("\n" + "\n".join(f"{key:14} {value}" for key, value in asdict(found).items()))
    assert found.kernel_runs
    assert all(value > 0 for value in asdict(found).values() if isinstance(value, float))


def test_the_gpu_is_listed_as_usable() -> None:
    entry = next(entry for entry in found_devices() if entry["device"] == "cuda:0")
    print(f"\n{entry}")
    assert entry["usable"]
    assert 0 < entry["free_bytes"] <= entry["memory_bytes"]


@pytest.mark.parametrize(
    "dtype", [np.uint8, np.int16, np.int32, np.uint32, np.float32, np.int64, np.uint64, np.float64]
)
@pytest.mark.parametrize("value", [0, 77, -1])
def test_filling_writes_the_value_in_every_type(device: Any, dtype: type, value: int) -> None:
    value = value if np.dtype(dtype).kind != "u" else value % 256
    array = device.full(100_003, value, dtype)
    device.fill(array[7:11], 5)
    expected = np.full(100_003, value, dtype)
    expected[7:11] = 5
    assert np.array_equal(device.download(array), expected)


@pytest.mark.parametrize("size", [0, 1, 1000, 70_000, pinned.CHUNK, 5 * pinned.CHUNK + 3])
@pytest.mark.parametrize("staged", [True, False])
def test_what_goes_to_the_gpu_comes_back(device: Any, size: int, staged: bool) -> None:
    array = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    there = device.upload(device.stage(array) if staged else array)
    other = device.empty(size, np.uint8)
    device.copy(other, there)
    assert np.array_equal(device.download(other), array)


def test_an_unstaged_array_may_be_changed_as_soon_as_its_upload_returns(device: Any) -> None:
    array = np.arange(3 * pinned.CHUNK, dtype=np.uint8)
    expected = array.copy()
    there = device.upload(array)
    array[:] = 0
    assert np.array_equal(device.download(there), expected)


def test_staged_blocks_are_reused_without_mixing_the_uploads_up(device: Any) -> None:
    arrays = [np.full(1 << 22, turn, np.uint32) for turn in range(8)]
    there = [device.upload(device.stage(array)) for array in arrays]
    assert all((device.download(a) == turn).all() for turn, a in enumerate(there))


def test_single_elements_are_read_with_their_type(device: Any) -> None:
    array = device.upload(np.arange(12, dtype=np.int16).reshape(3, 4))
    found = device.read(array, 7)
    assert (int(found), type(found)) == (7, np.int16)
    assert device.read(array[2], 1) == 9


def test_cooperative_blocks_are_all_resident_and_all_launched(device: Any, file: str) -> None:
    kernel = device.kernel(file, "meet", cooperative=True)
    blocks = kernel.resident_blocks(256)
    assert blocks >= device.multiprocessors
    arrived, seen = device.full(1, 0, np.uint32), device.full(blocks, 0, np.uint32)
    kernel(blocks, 256, (arrived, seen))
    assert (device.download(seen) == blocks).all()
    with pytest.raises(KernelArgumentError, match="are resident together"):
        kernel(blocks + 1, 256, (arrived, seen))


def test_a_plain_kernel_beside_a_cooperative_one_keeps_its_grid(device: Any, file: str) -> None:
    device.kernel(file, "who", cooperative=True)(1, 32, (device.full(1, 0, np.uint32),))
    blocks = device.full(1, 0, np.uint32)
    device.kernel(file, "who")(1_000_000, 32, (blocks,))
    assert device.read(blocks) == 1_000_000


def test_shared_memory_beyond_the_usual_limit_can_be_used(device: Any, file: str) -> None:
    out = device.full(1, 0, np.uint32)
    device.kernel(file, "shared_sum")(1, 64, (out, np.int32(15_000)), shared_bytes=60_000)
    assert device.read(out) == 15_000 * 14_999 // 2


def test_floats_are_computed_as_on_the_host(device: Any, file: str) -> None:
    tiny, third, c = np.float32(1e-38), np.float32(3), np.float32(-1e-38)
    out = device.full(2, 0, np.float32)
    device.kernel(file, "divide")(1, 1, (out, tiny, third, c))
    assert device.download(out).tolist() == [float(tiny / third), float(np.float32(tiny * third) + c)]


def test_wrong_arguments_are_refused_before_the_launch(device: Any, file: str) -> None:
    out = device.full(1, 0, np.uint32)
    for args in [(out, np.int64(1)), (out, 1), (out,), (np.int32(1), np.int32(1))]:
        with pytest.raises(KernelArgumentError):
            device.kernel(file, "shared_sum")(1, 64, args)


def test_every_byte_is_given_back_when_its_array_goes(device: Any) -> None:
    device.synchronize()
    free, _ = device.memory()
    size, others = free // 4, free // 16  # what other processes on the GPU may take or give back meanwhile
    before = device.allocated_bytes()
    array = device.empty(size, np.uint8)
    assert device.allocated_bytes() >= before + size
    assert device.memory()[0] <= free - size + others
    del array
    assert device.allocated_bytes() == before
    assert device.memory()[0] >= free - others
    assert device.peak_bytes() >= size


def test_more_than_there_is_is_refused_with_both_figures(device: Any) -> None:
    _, total = device.memory()
    for ask in (device.require, lambda size: device.empty(size, np.uint8)):
        with pytest.raises(OutOfMemory, match=r"needs [\d,]+ bytes .* of device memory, [\d,]+ bytes .* are free"):
            ask(total + 1)
    assert device.read(device.full(1, 9, np.uint32)) == 9


def test_the_stopwatch_and_the_phase_clock_agree(device: Any) -> None:
    source, target = device.full(1 << 26, 0, np.uint32), device.empty(1 << 26, np.uint32)
    device.synchronize()
    watch, clock = device.stopwatch(), device.phase_clock()
    watch.start()
    for _ in range(5):
        with clock.phase("copy"):
            device.copy(target, source)
    watch.stop()
    assert 0 < clock.seconds["copy"] <= watch.seconds


def test_profiling_ranges_do_not_disturb_a_run() -> None:
    made, _ = select_device("cuda", profile=True)
    clock = made.phase_clock()
    with clock.phase("fill"):
        array = made.full(1000, 3, np.int32)
    assert clock.seconds["fill"] > 0
    assert made.read(array, 999) == 3
    made.close()


def test_devices_can_be_opened_and_closed_again_and_again(device: Any) -> None:
    def once() -> None:
        made, _ = select_device("cuda")
        array = made.upload(np.arange(1 << 20))
        made.kernel("probe.cu", "probe_nothing")(1, 32, ())
        assert made.read(array, 5) == 5
        made.close()

    def looks() -> Iterator[int]:
        """Yield the bytes that are free, for a second: other processes on the GPU take and give theirs."""
        for _ in range(20):
            yield device.memory()[0]
            time.sleep(0.05)

    once()
    free = min(looks())
    for _ in range(24):
        once()
    assert max(looks()) >= free - (64 << 20)  # the arrays that were open have 192 MiB


def test_rows_of_cupy_are_shared_and_those_of_numpy_are_not(device: Any) -> None:
    import gpugraph

    graph = gpugraph.generate("rmat:13")
    rows = tuple(device.cupy.asarray(array) for array in (graph.offsets, graph.targets, graph.weights))
    assert adopted(device, graph.targets) is None
    assert adopted(device, rows[1][::2]) is None
    with gpugraph.on(rows, "cuda") as g:
        assert g.graph.on_device is not None
        assert g.graph.on_device.targets.data.ptr == rows[1].data.ptr
        assert g.graph.digest == graph.digest
        assert g.mst().total_weight == gpugraph.mst(graph, device="cpu").total_weight


def test_a_kernel_that_writes_outside_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "bad.cu").write_text('extern "C" __global__ void bad(int* a) { a[1ll << 40] = 1; }\n')
    code = textwrap.dedent(
        f"""
        import numpy as np
        from gpugraph.devices.discovery import select_device
        from gpugraph.base.errors import GpuGraphError
        device, _ = select_device("cuda")
        array = device.empty(4, np.int32)
        device.kernel({str(tmp_path / "bad.cu")!r}, "bad")(1, 1, (array,))
        try:
            device.synchronize()
        except GpuGraphError as error:
            print(error)
        device.close()
        """
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert "cuda:0 (after bad): a kernel read or wrote outside its arrays" in run.stdout
    assert run.stderr == ""
