from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpugraph.base.compiled import threads
from gpugraph.base.errors import DeviceUnavailable, InputError, OutOfMemory
from gpugraph.devices import cuda_runtime, discovery, nvrtc
from gpugraph.devices.cpu import CpuDevice
from gpugraph.devices.discovery import parse_device, select_device
from gpugraph.ext.machine.listing import found_devices
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import run_cell
from gpugraph.problems.algorithm import REGISTERED
from gpugraph.problems.registry import find_algorithm
from tests.devices.fake_cupy import FakeCupy

Install = Callable[[Any], Any]


def missing_nvrtc(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise DeviceUnavailable("the CUDA compiler NVRTC is missing", remedy=nvrtc.INSTALL)

    monkeypatch.setattr("gpugraph.devices.kernels.compiler", absent)


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("auto", ("auto", 0)),
        ("cuda", ("cuda", 0)),
        ("CUDA:3", ("cuda", 3)),
        ("cpu", ("cpu", 0)),
        ("emulated", ("emulated", 0)),
        ("emulated:17", ("emulated", 17)),
        ("cuda/33", ("cuda", 0)),
        ("cuda:1/16", ("cuda", 1)),
        ("emulated:5/2", ("emulated", 5)),
    ],
)
def test_a_device_is_named_by_kind_and_number(text: str, parsed: tuple[str, int]) -> None:
    assert parse_device(text) == parsed


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cud", "did you mean 'cuda'"),
        ("", "known: auto, cpu, cuda, emulated"),
        ("cuda:x", "'x' is not the index of a GPU"),
        ("cuda:", "'' is not the index of a GPU"),
        ("cuda:-1", "'-1' is not the index of a GPU"),
        ("cuda:²", "is not the index"),
        ("emulated:1.5", "'1.5' is not a seed"),
        (f"emulated:{2**64}", "is not a seed"),
        ("cpu:0", "takes no number"),
        ("auto:1", "takes no number"),
        ("cuda:0/0", "'/0' is no part of a device"),
        ("cuda:0/x", "'/x' is no part"),
        ("cuda:0/", "'/' is no part"),
        ("auto/2", "after cuda or emulated"),
        ("cpu/0", "of threads after cpu"),
    ],
)
def test_a_text_that_names_no_device_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_device(text)
    assert said in str(caught.value)


def test_without_a_driver_nobody_is_told_to_install_cupy_first(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(None)
    monkeypatch.setattr(discovery, "_has_driver", lambda: False)
    with pytest.raises(
        DeviceUnavailable, match=r"^no NVIDIA driver found — take --device cpu; with a GPU, install NVIDIA"
    ):
        select_device("cuda")


def test_without_cupy_cuda_says_what_to_install(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install(None)
    monkeypatch.setattr(discovery, "_has_driver", lambda: True)
    with pytest.raises(DeviceUnavailable, match=r"CuPy is not installed .*pip install 'gpugraph\[cuda13\]'") as caught:
        select_device("cuda")
    assert caught.value.exit_code == 3


def test_without_cupy_auto_runs_on_the_cpu_and_says_so_in_one_line(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(None)
    monkeypatch.setattr(discovery, "_has_driver", lambda: True)
    device, notice = select_device("auto")
    assert device.kind == "cpu"
    assert notice == "no usable GPU: CuPy is not installed; running on the CPU"


@pytest.mark.parametrize(
    ("status", "said"), [(35, "driver is missing, or older"), (100, "no NVIDIA GPU was found"), (999, "unknown reason")]
)
def test_a_missing_driver_and_a_missing_gpu_are_told_apart(install: Install, status: int, said: str) -> None:
    install(FakeCupy(status=status))
    with pytest.raises(DeviceUnavailable, match=said):
        select_device("cuda")
    device, notice = select_device("auto")
    assert device.kind == "cpu"
    assert said in str(notice)
    assert "\n" not in str(notice)


def test_no_gpu_among_none_is_reported(install: Install) -> None:
    install(FakeCupy(gpus=0))
    with pytest.raises(DeviceUnavailable, match="no NVIDIA GPU was found"):
        select_device("cuda")


def test_a_missing_compiler_is_reported(cupy: FakeCupy, monkeypatch: pytest.MonkeyPatch) -> None:
    missing_nvrtc(monkeypatch)
    with pytest.raises(DeviceUnavailable, match=r"NVRTC is missing .*gpugraph\[cuda13\]"):
        select_device("cuda")
    assert select_device("auto")[1] == "no usable GPU: the CUDA compiler NVRTC is missing; running on the CPU"


def test_a_cupy_that_cannot_be_imported_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> Any:
        raise ImportError("libsomething.so: no such file\nand much more")

    monkeypatch.setattr(cuda_runtime.importlib, "import_module", broken)
    with pytest.raises(DeviceUnavailable, match=r"CuPy cannot be imported: libsomething\.so: no such file — have one"):
        cuda_runtime.import_cupy()


def test_a_cupy_for_rocm_is_refused(install: Install) -> None:
    install(SimpleNamespace(cuda=SimpleNamespace(runtime=SimpleNamespace(is_hip=True))))
    with pytest.raises(DeviceUnavailable, match="built for ROCm"):
        select_device("cuda")


def test_with_a_gpu_auto_takes_it_without_a_word(cupy: FakeCupy) -> None:
    device, notice = select_device("auto", profile=True)
    assert (device.kind, device.label, device.profile, notice) == ("cuda", "cuda:0", True, None)
    device.close()


def test_every_gpu_and_both_other_devices_are_listed(install: Install) -> None:
    nvrtc.compiler()
    install(FakeCupy(gpus=2))
    found = {entry["device"]: entry for entry in found_devices()}
    assert list(found)[:2] == ["cuda:0", "cuda:1"]
    assert set(found) == {"cuda:0", "cuda:1", "cpu", "emulated"}
    assert found["cuda:1"]["usable"]
    assert found["cuda:1"]["free_bytes"] == 1 << 30
    assert found["cpu"]["threads"] >= 1


def test_a_device_that_cannot_be_used_is_listed_with_the_reason(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(None)
    monkeypatch.setattr("gpugraph.ext.emulator.toolchain.find_compiler", lambda: (_ for _ in ()).throw(NO_COMPILER))
    found = {entry["device"]: entry for entry in found_devices()}
    assert not found["cuda"]["usable"]
    assert "pip install" in found["cuda"]["detail"]
    assert not found["emulated"]["usable"]
    assert "no C++ compiler" in found["emulated"]["detail"]


NO_COMPILER = DeviceUnavailable("no C++ compiler", remedy="install g++")


def test_looking_for_cupy_imports_nothing_of_it() -> None:
    code = (
        "import sys; sys.modules['cupy'] = None\n"
        "from gpugraph.devices.discovery import select_device\n"
        "assert select_device('auto')[0].kind == 'cpu'\n"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('numba', 'scipy', 'cuda')))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_cpu_device_offers_what_the_measurement_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    device = CpuDevice()
    assert device.describe()["threads"] == 3
    free, total = device.memory()
    assert 0 < free <= total
    device.require(1)
    with pytest.raises(OutOfMemory, match="cpu: needs"):
        device.require(total + 1)
    watch = device.stopwatch()
    watch.start()
    np.ones(10).sum()
    watch.stop()
    assert watch.seconds > 0
    with device.phase_clock().phase("x"):
        device.synchronize()
    device.reset_peak()
    assert device.peak_bytes() == 0
    device.close()


def test_the_emulated_device_takes_its_seed() -> None:
    device, notice = select_device("emulated:5")
    assert (device.kind, device.seed, notice) == ("emulated", 5, None)
    assert discovery.KINDS[0] == "auto"


def test_a_cpu_of_fewer_threads_gives_them_to_the_algorithm_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = threads()
    found: list[int] = []
    kruskal = find_algorithm("mst", "kruskal", "cpu")

    def run(state: Any, clock: Any) -> Any:
        found.append(threads())
        return kruskal.run(state, clock)

    monkeypatch.setitem(REGISTERED, ("mst", "kruskal", "cpu"), replace(kruskal, run=run))
    record = run_cell(Cell("mst", "grid:9x9", "kruskal", "cpu/1", repeat=2))
    assert set(found) == {1}
    assert threads() == whole
    assert (record.data["device"]["kind"], record.data["device"]["threads"]) == ("cpu", 1)
    assert record.status == "passed"


def test_a_cpu_has_no_more_threads_than_there_are() -> None:
    with pytest.raises(InputError, match=r"threads, not 5000 .*ask for 1 to"):
        select_device("cpu/5000")
