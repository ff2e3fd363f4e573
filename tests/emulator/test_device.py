"""The emulated device as algorithms see it."""

from __future__ import annotations

import functools
import gc
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from gpugraph.base.clock import HostClock, NullClock
from gpugraph.base.errors import DeviceUnavailable, GpuGraphError, InputError, OutOfMemory
from gpugraph.devices.discovery import select_device
from gpugraph.ext.emulator import module
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.graph.generate import generate
from gpugraph.graph.view import GraphView
from gpugraph.problems.registry import find_algorithm, load_problem
from tests.emulator.compiler import needs_compiler

pytestmark = needs_compiler

BROKEN = str(Path(__file__).parent / "broken" / "all.cu")


def test_fresh_memory_is_poison_and_full_memory_is_what_was_asked_for() -> None:
    device = EmulatedDevice()
    assert device.empty(3, np.uint32).tolist() == [0xCDCDCDCD] * 3
    assert device.empty((2, 0), np.int64).shape == (2, 0)
    assert device.full((2, 2), 5, np.float32).tolist() == [[5, 5], [5, 5]]


def test_arrays_go_up_and_down_as_copies() -> None:
    device = EmulatedDevice()
    host = np.arange(6, dtype=np.int32).reshape(2, 3)
    array = device.upload(host[:, ::2])
    host[:] = 0
    assert array.tolist() == [[0, 2], [3, 5]]
    down = device.download(array)
    device.fill(array, 9)
    assert down.tolist() == [[0, 2], [3, 5]]
    assert device.read(array, 3) == 9
    assert device.read(array).dtype == np.int32


def test_copies_and_reads_that_do_not_fit_are_refused() -> None:
    device = EmulatedDevice()
    target, source = device.empty(4, np.int32), device.full(4, 1, np.int32)
    device.copy(target, source)
    assert target.tolist() == [1] * 4
    with pytest.raises(GpuGraphError, match="cannot copy 4 elements of int32 over 2 of int32"):
        device.copy(target[:2], source)
    with pytest.raises(GpuGraphError, match="cannot copy"):
        device.copy(device.empty(4, np.float32), source)
    with pytest.raises(GpuGraphError, match="cannot read element 4 of an array of 4"):
        device.read(target, 4)


def test_kernels_run_alike_on_one_thread_of_the_host_after_another() -> None:
    view, clock = GraphView.of(generate("rmat:7")), NullClock()
    algorithm, device = find_algorithm("mst", "boruvka", "emulated"), EmulatedDevice(threads=2)
    resident, _, _ = load_problem("mst").to_device(view, device)

    def edges() -> list[int]:
        state = algorithm.prepare(resident, device, exchange="shuffles")
        return algorithm.finish(state, algorithm.fetch(state, algorithm.run(state, clock))).edges.tolist()

    here = edges()
    for _ in range(3):
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(edges).result() == here
        assert edges() == here


def test_bytes_are_counted_with_their_peak() -> None:
    device = EmulatedDevice()
    a = device.empty(1000, np.int32)
    b = device.upload(np.zeros(500, np.float64))
    assert device.peak_bytes() == 8000
    view = a[:10]
    del a, b
    gc.collect()
    device.reset_peak()
    assert device.peak_bytes() == 4000
    assert view.size == 10


def test_what_does_not_fit_is_refused_with_both_figures() -> None:
    device = EmulatedDevice()
    with pytest.raises(OutOfMemory, match=r"needs .*TiB .* are available") as caught:
        device.empty(1 << 45, np.int64)
    assert caught.value.exit_code == 3
    with pytest.raises(OutOfMemory):
        device.require(1 << 50)
    free, total = device.memory()
    assert 0 < free <= total


def test_it_tells_what_it_is() -> None:
    described = EmulatedDevice(seed=3).describe()
    assert described["kind"] == "emulated"
    assert described["name"].startswith("SIMT emulator, ")
    assert (described["seed"], described["build"], described["threads"]) == (3, "plain", 1)


def test_its_clocks_are_the_hosts() -> None:
    device = EmulatedDevice()
    assert isinstance(device.phase_clock(), HostClock)
    watch = device.stopwatch()
    watch.start()
    device.synchronize()
    watch.stop()
    assert watch.seconds >= 0


def test_few_blocks_are_resident_but_more_than_one() -> None:
    kernel = EmulatedDevice().kernel(BROKEN, "missing_grid_barrier_fixed", cooperative=True)
    assert [kernel.resident_blocks(block) for block in (1, 32, 64, 256, 1024)] == [64, 64, 32, 8, 4]
    assert kernel.resident_blocks(64, 100_000) == 8


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_cooperative_launch_holds_as_many_blocks_as_are_resident_and_no_more(seed: int) -> None:
    device = EmulatedDevice(seed=seed)
    kernel = device.kernel(BROKEN, "missing_grid_barrier_fixed", cooperative=True)
    n = 32 * 64
    one, two, arrivals = device.empty(n, np.int32), device.empty(n, np.int32), device.full(1, 0, np.uint32)
    kernel(32, 64, (one, two, arrivals))
    assert two.tolist() == list(range(n + 1, 1, -1))
    with pytest.raises(InputError, match="33 blocks of 64 threads cannot wait for each other, 32 are resident"):
        kernel(33, 64, (one, two, arrivals))


def test_options_that_exclude_each_other_are_refused() -> None:
    with pytest.raises(InputError, match="one of sanitize, races and threads"):
        EmulatedDevice(races=True, threads=2)
    with pytest.raises(InputError, match="seed of 0 or more"):
        EmulatedDevice(seed=-1)
    with pytest.raises(InputError, match=r"EmulatedDevice\(races=True\)"):
        EmulatedDevice().races()


def test_a_sanitised_device_needs_a_process_of_its_own() -> None:
    with pytest.raises(DeviceUnavailable, match=r"python -m gpugraph.ext.emulator.sanitize"):
        EmulatedDevice(sanitize=True)


def test_grids_follow_the_multiprocessors_that_a_device_is_limited_to() -> None:
    graph = generate("rmat:11,w=1..255")
    grids, found = {}, []
    for name in ("emulated", "emulated/3", "emulated/1"):
        device, _ = select_device(name)
        subject = load_problem("sssp").to_device(GraphView.of(graph), device)[0]
        algorithm = find_algorithm("sssp", "delta-stepping", "emulated")
        state = algorithm.prepare(subject, device)
        grids[name] = state.width.grid
        found.append(algorithm.run(state, NullClock(), 0).tolist())
    assert grids["emulated"] > grids["emulated/3"] > grids["emulated/1"]
    assert found[0] == found[1] == found[2]


def test_a_device_has_no_more_multiprocessors_than_it_has() -> None:
    with pytest.raises(InputError, match="has 4 multiprocessors"):
        select_device("emulated/5")


def test_threads_that_load_one_library_at_once_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its kernels share variables, which the lock of one Library keeps for one launch at a time."""
    both = threading.Barrier(2)

    def load(path: Path) -> object:
        time.sleep(0.05)
        return object()

    def build(*_: object, **__: object) -> Path:
        both.wait(300)
        return Path("one.so")

    monkeypatch.setattr(module, "build_library", build)
    monkeypatch.setattr(module, "_loaded", functools.cache(load))
    work = functools.partial(module.library_of.__wrapped__, None, (), None, False, None)
    with ThreadPoolExecutor(2) as pool:
        first, second = (job.result(300) for job in [pool.submit(work) for _ in range(2)])
    assert first is second
