"""What surrounds the samples of a GPU: clocks, cold caches, energy, traffic; on a CuPy and an NVML that are fakes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from gpugraph.base.errors import OutOfMemory
from gpugraph.devices import bandwidth
from gpugraph.devices import nvml as library
from gpugraph.devices.cuda import CudaDevice
from gpugraph.ext.instruments import call, energy
from gpugraph.ext.instruments.call import RUNS
from gpugraph.measure import inputs
from gpugraph.measure.cell import Cell
from gpugraph.measure.instruments import throttle
from gpugraph.measure.run_cell import Session
from gpugraph.measure.sampling import Sampling
from gpugraph.records.record import Record
from tests.devices.fake_cupy import FakeCupy
from tests.measure.fakes import FakeNvml, FakeTime, Puppet, enlist, without_nvml

FOUR = Sampling.fixed(4, 1)
CELL = Cell("mst", "grid:5x5", "puppet", "cuda", phases=False, verify="reference")


@pytest.fixture(autouse=True)
def the_host_makes_the_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fake GPU runs no kernels, those that make graphs among them."""
    monkeypatch.setattr("gpugraph.graph.generate.can_generate", lambda spec: False)


@pytest.fixture(autouse=True)
def no_run_or_transfer_is_called_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call, "LIMIT_S", 1e9)
    monkeypatch.setattr(inputs, "SHORT_TRANSFER_S", 1e9)


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> FakeCupy:
    fake = FakeCupy()
    fake.cuda.runtime.deviceGetPCIBusId = lambda index: "0000:1B:00.0"
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setattr(bandwidth, "copy_bandwidth", lambda device: 1e12)
    return fake


@pytest.fixture
def puppet(monkeypatch: pytest.MonkeyPatch) -> Puppet:
    """An algorithm of the cuda device that works on the host."""
    made = Puppet("puppet", [])
    enlist_on_gpu(monkeypatch, made)
    return made


def enlist_on_gpu(patch: pytest.MonkeyPatch, puppet: Puppet, **changes: Any) -> None:
    def prepare(view: Any, device: Any) -> Any:
        return puppet.prepare(view.host, device)

    enlist(patch, puppet.algorithm(devices=("cuda",), prepare=prepare, **changes))


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> FakeNvml:
    fake = FakeNvml()
    monkeypatch.setattr(library, "_nvml", fake.load)
    monkeypatch.setattr(throttle.time, "sleep", lambda seconds: None)
    return fake


def measured(sampling: Sampling = FOUR, cell: Cell = CELL) -> dict[str, Any]:
    return next(records(sampling, cell)).data


def records(sampling: Sampling, cell: Cell) -> Iterator[Record]:
    with Session() as session:
        found: list[Record] = []
        session.measure([cell], sampling, lambda what: None, lambda i, record: found.append(record), raise_it)
    yield from found


def raise_it(index: int, error: Exception) -> None:
    raise error


@pytest.mark.usefixtures("cupy", "puppet")
def test_every_sample_has_its_clock_and_a_throttled_one_is_taken_again(nvml):
    nvml.clocks = [1980, 1980, 1500, 1600, 1975, 1970]
    data = measured()
    assert data["sampling"]["sm_clock_mhz"] == [1980, 1980, 1975, 1970]
    assert data["sampling"]["throttled_repeated"] == 2
    assert len(data["samples_s"]["kernel"]) == 4
    assert data["environment"]["gpu"]["nvml"]["sm_clock_max_mhz"] == 2000


@pytest.mark.usefixtures("cupy", "puppet")
def test_without_nvml_the_reason_is_in_place_of_the_figures(monkeypatch):
    monkeypatch.setattr(library, "_nvml", without_nvml)
    data = measured(replace(FOUR, energy=True))
    reason = "NVML is not usable: the package nvidia-ml-py is not installed — pip install nvidia-ml-py"
    assert data["sampling"]["sm_clock_mhz"] == {"absent": reason}
    assert data["energy"] == {"absent": reason}
    assert data["environment"]["gpu"]["nvml"] == {"absent": reason}


@pytest.mark.usefixtures("nvml")
def test_cold_samples_find_the_cache_flushed_after_the_run_that_wakes_the_gpu(cupy, puppet):
    log: list[str] = puppet.log
    memset = cupy.cuda.runtime.memsetAsync

    def noted(pointer: int, value: int, size: int, stream: int) -> None:
        log.append(f"flush {size}")
        memset(pointer, value, size, stream)

    cupy.cuda.runtime.memsetAsync = noted
    data = measured(replace(Sampling.fixed(3, 1), cold=True))
    flush = f"flush {2 * (60 << 20)}"
    # a warm-up, then samples; those after the first are preceded by a run that wakes the GPU
    assert log == [flush, "puppet", flush, "puppet", "puppet", flush, "puppet", "puppet", flush, "puppet"]
    assert data["sampling"]["cold"] is True
    assert data["peak_device_bytes"] < 60 << 20


@pytest.mark.usefixtures("nvml")
@pytest.mark.parametrize(("milliseconds", "waits"), [(0.05, 3), (2.0, 0)])
def test_a_timed_run_is_queued_while_the_gpu_is_kept_busy_if_the_untimed_one_is_short(
    cupy, puppet, milliseconds: float, waits: int
) -> None:
    cupy.cuda.get_elapsed_time = lambda start, stop: milliseconds
    puppet.on_run = lambda turn: cupy.launches.append("run")
    measured(Sampling.fixed(4, 1))
    launches = [what if what == "run" else what[0] for what in cupy.launches]
    timed = ["run", "probe_wait", "run"] if waits else ["run", "run"]
    calls = ["run"] * (1 + RUNS)
    assert launches == ["run", "run", *timed * 3, *calls]  # a warm-up, and the first sample
    assert launches.count("probe_wait") == waits


@pytest.mark.usefixtures("cupy", "nvml")
def test_a_call_is_timed_on_an_idle_stream_by_both_clocks(puppet: Puppet, monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[str] = []
    puppet.on_run = lambda turn: log.append("run")
    synchronize = CudaDevice.synchronize
    monkeypatch.setattr(CudaDevice, "synchronize", lambda device: log.append("idle") or synchronize(device))
    timed = measured(Sampling.fixed(2, 1))["call"]
    assert "".join(log).endswith("idlerunidle" * (1 + RUNS))
    assert timed["samples_s"] == [0.002] * RUNS  # the fake's events are always 2 ms apart
    assert len(timed["wall_s"]) == RUNS
    assert min(timed["wall_s"]) > 0


@pytest.mark.usefixtures("cupy")
def test_cold_and_warm_cells_have_different_ids(puppet, nvml):
    warm, cold = (measured(replace(FOUR, cold=cold))["cell"]["id"] for cold in (False, True))
    assert warm != cold


@pytest.mark.usefixtures("cupy")
def test_energy_is_measured_in_runs_of_its_own_when_asked_for(puppet, nvml, monkeypatch):
    time = FakeTime()
    monkeypatch.setattr(energy, "time", time)

    def run(turn: float) -> None:
        time.now += 0.02
        nvml.millijoules = 7000 * int(time.now / 0.1)

    puppet.on_run, time.sleep = run, run
    data = measured(replace(FOUR, energy=True))
    assert data["energy"]["joules_per_run"] == pytest.approx(70 * 0.02, rel=0.05)
    assert data["energy"]["nanojoules_per_edge"] == pytest.approx(data["energy"]["joules_per_run"] * 1e9 / 40)
    assert data["energy"]["window_s"] > 2
    assert data["energy"]["idle_w"] == pytest.approx(70, rel=0.05)
    assert len(data["samples_s"]["kernel"]) == 4
    assert measured()["energy"] == {"absent": "not asked for"}


@pytest.mark.usefixtures("cupy", "nvml")
def test_traffic_is_the_least_bytes_over_time_and_copy_bandwidth_measured_once(puppet, monkeypatch):
    calls: list[int] = []
    monkeypatch.setattr(bandwidth, "copy_bandwidth", lambda device: calls.append(1) or 2e12)
    enlist_on_gpu(monkeypatch, puppet, minimum_bytes=lambda view: 4 * 10**9)
    with Session() as session:
        for _ in range(2):
            found: list[Record] = []
            session.measure([CELL], FOUR, lambda what: None, lambda i, record, to=found: to.append(record), raise_it)
            # the fake's events are always 2 ms apart
            assert found[0].data["traffic"] == {"minimum_bytes": 4 * 10**9, "copy_bytes_per_s": 2e12, "share": 1.0}
    assert calls == [1]


@pytest.mark.usefixtures("cupy", "nvml")
def test_where_the_bandwidth_cannot_be_measured_the_record_says_why(puppet, monkeypatch):
    def short(device: Any) -> float:
        raise OutOfMemory("too few bytes")

    monkeypatch.setattr(bandwidth, "copy_bandwidth", short)
    enlist_on_gpu(monkeypatch, puppet, minimum_bytes=lambda view: 100)
    assert "too few bytes" in measured()["traffic"]["absent"]
    assert measured(replace(FOUR, bandwidth=False))["traffic"] == {"absent": "not asked for"}


def test_a_gpu_without_room_past_its_caches_gives_no_bandwidth(monkeypatch):
    from gpugraph.devices.cuda import CudaDevice

    monkeypatch.setitem(sys.modules, "cupy", FakeCupy(free_bytes=64 << 20))
    device = CudaDevice(0)
    with pytest.raises(OutOfMemory, match="past the caches"):
        bandwidth.copy_bandwidth(device)
    device.close()


def test_what_is_not_resident_works_on_the_host_and_is_not_uploaded(cupy, puppet, nvml, monkeypatch):
    seen: list[Any] = []

    def prepare(view: Any, device: Any) -> Any:
        seen.append(view)
        return puppet.prepare(view, device)

    enlist(monkeypatch, puppet.algorithm(devices=("cuda",), prepare=prepare, resident=False))
    data = measured()
    assert type(seen[0]).__name__ == "GraphView"
    assert data["samples_s"]["h2d"] == []
    assert data["verification"]["status"] == "passed"


@pytest.mark.usefixtures("puppet", "nvml")
def test_a_short_transfer_is_timed_several_times_and_lies_there_once(cupy, monkeypatch):
    at_once: list[int] = []
    memcpy = cupy.cuda.runtime.memcpyAsync

    def noted(*args: Any) -> None:
        at_once.append(len(cupy.live))
        memcpy(*args)

    cupy.cuda.runtime.memcpyAsync = noted
    data = measured(Sampling(target=1.0, warmup=0))
    assert data["samples_s"]["h2d"] == [0.002] * 3  # the fake's events are always 2 ms apart
    assert "h2d" not in data["confidence_s"]  # three samples have no interval
    assert at_once == [1, 2, 3] * 3
    monkeypatch.setattr(inputs, "SHORT_TRANSFER_S", 0.0)
    assert measured(Sampling(target=1.0))["samples_s"]["h2d"] == [0.002]
    assert measured()["samples_s"]["h2d"] == [0.002]
