"""What most tests need is compiled before the first: workers share it, and none waits for the lock of another."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial

from gpugraph.base.errors import DeviceUnavailable
from gpugraph.devices.cpu import CpuDevice
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.emulator.toolchain import BUILDS, build_runtime, find_compiler
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.registry import algorithms, load_problem
from tests.problems.gpu_cases import Variant, registered, result_of
from tests.zoo import zoo


def jobs() -> list[Callable[[], object]]:
    """Return what compiles a runtime of the emulated device, or what an algorithm needs for weights of uint32."""
    runtimes = [partial(_make_runtime, name) for name in ("plain", "races")]
    on_cpu = [
        one for problem in PROBLEMS if problem != "scan" for one in algorithms(problem) if one.devices == ("cpu",)
    ]
    searches = [partial(_run, CpuDevice(), (one.problem, one.name, (), {})) for one in on_cpu]
    kernels = [partial(_run, EmulatedDevice(), variant) for variant in registered()]
    races = [partial(_run, EmulatedDevice(races=True), variant) for variant in registered()]
    return [*runtimes, *searches, *kernels, *races]


def compile_share(worker: int, workers: int) -> None:
    """Compile one worker's share of all."""
    with contextlib.suppress(DeviceUnavailable):  # there is no compiler: tests that need one are skipped
        for job in jobs()[worker::workers]:
            job()


def _make_runtime(build: str) -> None:
    build_runtime(find_compiler(), BUILDS[build], static_shared=False)


def _run(device: CpuDevice | EmulatedDevice, variant: Variant) -> None:
    graph = load_problem(variant[0]).admit(zoo("random-ties"))
    result_of(device, variant, graph, (0,) if variant[0] == "sssp" else ())
