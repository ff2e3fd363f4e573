"""A launch that would take long ends when the host asks: all blocks at one barrier, and Ctrl-C is what asks."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpugraph.ext.batched.sssp.gpu_delta_stepping_batched as batched
import gpugraph.ext.papers.mst.gpu_boruvka_scan as boruvka_scan
import gpugraph.ext.papers.mst.gpu_prim_persistent as prim_persistent
import gpugraph.problems.sssp.gpu_delta_stepping as delta_stepping
from gpugraph.base.clock import NullClock
from gpugraph.base.errors import GpuGraphError
from gpugraph.devices.cuda import CudaDevice
from gpugraph.devices.cuda_runtime import DeviceMemory
from gpugraph.devices.cuda_streams import Interrupts
from gpugraph.ext.batched.sssp import side_by_side
from gpugraph.ext.batched.sssp.side_by_side import SideBySide
from gpugraph.ext.emulator.device import EmulatedDevice, EmulatedKernel
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.problems.sssp.gpu_tight_arcs import TightArcs
from tests.devices.fake_cupy import CUDARuntimeError, FakeCupy
from tests.emulator.compiler import needs_compiler
from tests.zoo import undirected

FILE = str(Path(__file__).with_name("barriers.cu"))
ENDLESS = np.uint32(2**32 - 1)


# ------------------------------------------------------------------ the barrier


def turns_left(device: Any, turns: int, asking: int, asker: int = 0, blocks: int = 4) -> set[int]:
    """Return the turns in which the blocks left the loop of barriers.cu."""
    words, left = device.full(3, 0, np.uint32), device.full(blocks, 0, np.uint32)
    kernel = device.kernel(FILE, "pass_barriers", cooperative=True)
    kernel(blocks, 64, (np.uint32(turns), np.uint32(asking), np.uint32(asker), words, left))
    return set(device.download(left).tolist())


@needs_compiler
@pytest.mark.parametrize("asking", [0, 1, 2, 7])
@pytest.mark.parametrize("asker", [0, 3])
def test_all_blocks_leave_at_the_same_barrier_soon_after_they_are_asked(asking: int, asker: int) -> None:
    for seed in range(12):
        (left,) = turns_left(EmulatedDevice(seed=seed), 1000, asking, asker)
        assert asking < left <= asking + 2


@needs_compiler
def test_without_being_asked_all_blocks_go_on_to_the_end() -> None:
    assert turns_left(EmulatedDevice(seed=1), 50, 100) == {50}


@needs_compiler
def test_the_barriers_have_no_race_beyond_those_explained() -> None:
    device = EmulatedDevice(seed=2, races=True)
    turns_left(device, 20, 100)
    assert device.races() == []


# ------------------------------------------------------------------ the searches


@pytest.fixture
def asked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask every launch that can be stopped before it begins, as Ctrl-C would a moment later."""
    launch = EmulatedKernel.__call__

    def asked(self: EmulatedKernel, *args: Any, stop: Any = None, **more: Any) -> None:
        if stop is not None:
            stop[...] = 1
        launch(self, *args, stop=stop, **more)

    monkeypatch.setattr(EmulatedKernel, "__call__", asked)


def path(n: int, weight: int = 1) -> GraphView:
    return GraphView.of(undirected(n, [(i, i + 1, weight) for i in range(n - 1)]))


@needs_compiler
@pytest.mark.usefixtures("asked_at_once")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_delta_stepping_stops_when_asked(seed: int) -> None:
    device = EmulatedDevice(seed=seed)
    state = delta_stepping.State(make_resident(path(5000), device)[0], device)
    words = device.download(delta_stepping.run(state, NullClock(), 0))
    assert device.read(state.width.control, delta_stepping.FILE["ROUNDS"]) <= 2
    assert words[-1] == 2**32 - 1


@needs_compiler
@pytest.mark.parametrize("how", ["stopped", "refused"])
def test_a_search_behind_one_that_was_not_made_finds_all(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    device = EmulatedDevice(seed=3)
    state = delta_stepping.State(make_resident(path(900), device)[0], device)
    launch = EmulatedKernel.__call__

    def halted(self: EmulatedKernel, *args: Any, stop: Any) -> None:
        if how == "stopped":
            stop[...] = 1
            launch(self, *args, stop=stop)
        raise KeyboardInterrupt

    for source in (0, 5, 899):
        with monkeypatch.context() as patch:
            patch.setattr(EmulatedKernel, "__call__", halted)
            with pytest.raises(KeyboardInterrupt):
                delta_stepping.run(state, NullClock(), source)
        for begin in (source, 450):
            words = device.download(delta_stepping.run(state, NullClock(), begin))
            assert words.tolist() == [abs(v - begin) for v in range(900)]


@needs_compiler
@pytest.mark.usefixtures("asked_at_once")
@pytest.mark.parametrize("count", [1, 40])
def test_searches_from_many_sources_stop_when_asked(count: int) -> None:
    device = EmulatedDevice(seed=count)
    state = batched.State(make_resident(path(700), device)[0], device)
    batched.run(state, NullClock(), tuple(range(count)))
    assert device.read(state.arrays["control"], batched.FILE["SWEEPS"]) <= 2


@needs_compiler
@pytest.mark.usefixtures("asked_at_once")
def test_searches_side_by_side_take_no_source_any_more_when_asked() -> None:
    device = EmulatedDevice(seed=3)
    beside = SideBySide(make_resident(path(70), device)[0], device, 32, 2)
    beside.search(NullClock(), range(9), device.empty((9, 70), np.uint32))
    assert device.read(beside.arrays["queue"], side_by_side.FILE["TAKEN"]) == 0


@needs_compiler
@pytest.mark.usefixtures("asked_at_once")
@pytest.mark.parametrize(("blocks", "threads"), [(1, 32), (1, 64), (3, 64)])
def test_prim_stops_when_asked(blocks: int, threads: int) -> None:
    device = EmulatedDevice(seed=3)
    view = make_resident(path(700), device)[0]
    state = prim_persistent.State(view, device, blocks=blocks, threads=threads, on_chip="auto", prefetch=True)
    prim_persistent.run(state, NullClock())
    assert device.read(state.forest_edges) == 0


@needs_compiler
@pytest.mark.usefixtures("asked_at_once")
def test_prim_behind_boruvka_stops_when_asked() -> None:
    device = EmulatedDevice(seed=4)
    state = boruvka_scan.PrimState(make_resident(path(700), device)[0], device, switch_after=0)
    boruvka_scan.run(state, NullClock())
    assert device.read(state.forest_edges) <= 2


@needs_compiler
@pytest.mark.usefixtures("asked_at_once")
def test_the_certificate_of_distances_stops_when_asked() -> None:
    device = EmulatedDevice()
    view = make_resident(path(700, weight=0), device)[0]
    tight = TightArcs(view, device, np.zeros(700, np.uint64), 0)
    tight.check_arcs()
    assert tight.follow_levels() is not None


# ------------------------------------------------------------------ Ctrl-C


def interrupt_when(ready: Callable[[], bool], taken: Callable[[], bool]) -> threading.Thread:
    """Send the main thread a SIGINT as soon as something holds; once more where one is lost, in a destructor say.

    Earlier tests of this process may have left threads and signals as a command never has them.
    """
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    signal.siginterrupt(signal.SIGINT, True)
    main = threading.main_thread().ident
    assert main is not None

    def watch() -> None:
        while not ready():
            time.sleep(0.001)
        while not taken():
            signal.pthread_kill(main, signal.SIGINT)
            end = time.monotonic() + 2
            while not taken() and time.monotonic() < end:
                time.sleep(0.001)

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


@needs_compiler
def test_ctrl_c_ends_a_launch_of_the_emulated_device() -> None:
    device = EmulatedDevice()
    words, left = device.full(3, 0, np.uint32), device.full(2, 0, np.uint32)
    kernel = device.kernel(FILE, "pass_barriers", cooperative=True)
    watcher = interrupt_when(lambda: int(words[0]) > 100, lambda: int(words[2]) != 0)
    with pytest.raises(KeyboardInterrupt):
        kernel(2, 32, (ENDLESS, ENDLESS, np.uint32(0), words, left), stop=words[2:])
    watcher.join()
    assert left[0] == left[1] > 0


class Alarm(Exception):
    """What a limit of time throws into the thread that waits for a launch."""


@needs_compiler
def test_what_a_signal_s_handler_throws_ends_a_launch_too() -> None:
    def throw(*_: object) -> None:
        raise Alarm

    device = EmulatedDevice()
    words, left = device.full(3, 0, np.uint32), device.full(2, 0, np.uint32)
    kernel = device.kernel(FILE, "pass_barriers", cooperative=True)
    before = signal.signal(signal.SIGINT, throw)
    try:
        watcher = interrupt_when(lambda: int(words[0]) > 100, lambda: int(words[2]) != 0)
        with pytest.raises(Alarm):
            kernel(2, 32, (ENDLESS, ENDLESS, np.uint32(0), words, left), stop=words[2:])
        watcher.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert left[0] == left[1] > 0


@pytest.fixture
def device(cupy: FakeCupy) -> Iterator[CudaDevice]:
    made = CudaDevice(0)
    yield made
    cupy.sync_error = None
    made.close()


def busy() -> int:
    return 600  # cudaErrorNotReady


def ctrl_c() -> int:
    raise KeyboardInterrupt


def launched(device: CudaDevice) -> Any:
    """Launch a kernel that can be stopped; return its word."""
    stop = device.full(1, 0, np.uint32)
    device.kernel("probe.cu", "probe_nothing")(1, 32, (), stop=stop)
    return stop


def timed(watch: Any) -> float:
    watch.start()
    watch.stop()
    return watch.seconds


WAITS: dict[str, Callable[[CudaDevice], Any]] = {
    "synchronize": lambda device: device.synchronize(),
    "read": lambda device: device.read(device.full(1, 0, np.uint32)),
    "download": lambda device: device.download(device.full(100_000, 0, np.uint32)),
    "stopwatch": lambda device: timed(device.stopwatch()),
    "reply": lambda device: device.reply.wait() if device.reply.expect() else None,
}


@pytest.mark.parametrize("name", WAITS)
def test_ctrl_c_in_any_wait_stops_the_kernel_and_waits_for_its_end(
    device: CudaDevice, cupy: FakeCupy, name: str
) -> None:
    stop = launched(device)
    cupy.busy = [busy, busy, ctrl_c, busy, busy]
    with pytest.raises(KeyboardInterrupt):
        WAITS[name](device)
    assert stop.host.tolist() == [1]
    assert cupy.busy == []


@pytest.mark.parametrize("name", WAITS)
def test_a_wait_ends_with_the_kernel_and_sets_nothing(device: CudaDevice, cupy: FakeCupy, name: str) -> None:
    stop = launched(device)
    cupy.busy = [busy] * 5
    WAITS[name](device)
    assert cupy.busy == []
    assert stop.host.tolist() == [0]
    if name == "reply":
        return
    cupy.busy = [ctrl_c]
    WAITS[name](device)  # nothing is under way that can be stopped: CUDA's own wait will do
    assert cupy.busy == [ctrl_c]
    cupy.busy = []


def test_an_order_that_a_later_launch_has_reset_is_given_again(device: CudaDevice, cupy: FakeCupy) -> None:
    stop = launched(device)

    def reset() -> int:
        stop.host[:] = 0
        return 600

    cupy.busy = [ctrl_c, busy, reset, busy]
    with pytest.raises(KeyboardInterrupt):
        device.synchronize()
    assert stop.host.tolist() == [1]


def test_an_order_to_stop_is_not_written_into_memory_that_was_given_back() -> None:
    cupy: Any = FakeCupy()
    memory, interrupts = DeviceMemory(cupy, 0, "GPU"), Interrupts(cupy, 0, np.zeros(4, np.uint8))
    memory.before_free = interrupts.forget
    state, other = memory.array(4, np.uint32), memory.array(4, np.uint32)
    other.host[:] = 0
    for words in (state, other):
        interrupts.add(int(words.data.ptr) + 8)
    del state, words
    assert interrupts._stops == {int(other.data.ptr) + 8}
    cupy.busy = [busy]
    interrupts.stop()
    assert other.host.tolist() == [0, 0, 1, 0]


def test_a_device_forgets_the_words_of_what_it_frees(device: CudaDevice) -> None:
    words = device.full(4, 0, np.uint32)
    device.interrupts.add(int(words.data.ptr))
    del words
    assert not device.interrupts._stops


def test_closing_a_device_stops_what_still_runs(cupy: FakeCupy) -> None:
    device = CudaDevice(0)
    word = np.zeros(1, np.uint32)
    device.interrupts.add(word.ctypes.data)
    cupy.busy = [busy]
    device.close()
    assert word[0] == 1


def test_a_kernel_that_fails_while_it_is_waited_for_is_reported(device: CudaDevice, cupy: FakeCupy) -> None:
    launched(device)
    cupy.busy = [busy, lambda: 700]
    cupy.sync_error = CUDARuntimeError(700, "cudaErrorIllegalAddress")
    with pytest.raises(GpuGraphError, match="outside its arrays"):
        device.synchronize()


# ------------------------------------------------------------------ replies


def replied(device: CudaDevice, number: int, told: int) -> Callable[[], int]:
    """Return what writes a reply as a kernel would, which then goes on for a while."""

    def write() -> int:
        device.reply.word.host[0] = number << 32 | told
        return busy()

    return write


def test_a_reply_is_known_before_the_kernel_has_ended(device: CudaDevice, cupy: FakeCupy) -> None:
    for told in (0, 1, 2**32 - 1):
        stop, number = launched(device), int(device.reply.expect())
        cupy.busy = [busy, replied(device, number, told), ctrl_c]
        assert device.reply.wait() == told
        assert cupy.busy == [ctrl_c]
        device.synchronize()  # nothing is under way that can be stopped
        assert cupy.busy == [ctrl_c]
        assert stop.host.tolist() == [0]
    cupy.busy = []


def test_the_reply_of_another_launch_is_none(device: CudaDevice, cupy: FakeCupy) -> None:
    number = int(device.reply.expect())
    device.reply.word.host[0] = number << 32 | 5
    assert device.reply.wait() == 5
    assert device.reply.expect() != number
    cupy.busy = [busy, busy]
    assert device.reply.wait() == 0, "it has ended without one, as if it had been stopped"
    assert cupy.busy == []


def test_a_kernel_that_fails_before_its_reply_is_reported(device: CudaDevice, cupy: FakeCupy) -> None:
    device.reply.expect()
    cupy.busy = [busy, lambda: 700]
    cupy.sync_error = CUDARuntimeError(700, "cudaErrorIllegalAddress")
    with pytest.raises(GpuGraphError, match="outside its arrays"):
        device.reply.wait()


# ------------------------------------------------------------------ on a GPU


@pytest.mark.gpu
def test_ctrl_c_ends_a_search_on_a_gpu_which_then_searches_again() -> None:
    """A path of four million vertices takes some seconds."""
    gpu = CudaDevice(0)
    state = delta_stepping.State(make_resident(path(1 << 22), gpu)[0], gpu)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        delta_stepping.run(state, NullClock(), 0)
    assert gpu.download(state.width.arrays["distance"])[-1] == 2**32 - 1  # it had not come to the end
    again = delta_stepping.State(make_resident(path(10_000), gpu)[0], gpu)
    assert gpu.download(delta_stepping.run(again, NullClock(), 0)).tolist() == list(range(10_000))
    gpu.close()


@pytest.mark.gpu
def test_all_blocks_of_a_gpu_leave_at_the_same_barrier() -> None:
    gpu = CudaDevice(0)
    blocks = gpu.kernel(FILE, "pass_barriers", cooperative=True).resident_blocks(64)
    for asking in (0, 1, 2, 7, 100, 1001):
        for asker in (0, 1, blocks - 1):
            (left,) = turns_left(gpu, 10_000, asking, asker, blocks)
            assert asking < left <= asking + 2
    assert turns_left(gpu, 10_000, 20_000, 0, blocks) == {10_000}
    gpu.close()
