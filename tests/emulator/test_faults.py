"""What goes wrong inside a kernel becomes a report, and the process goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.emulator.module import KernelFault
from tests.emulator.compiler import needs_compiler

pytestmark = needs_compiler

FILE = str(Path(__file__).parent / "faults.cu")


def _works(device: EmulatedDevice) -> bool:
    out = device.empty(64, np.int32)
    device.kernel(FILE, "bounded")(1, 64, (out,))
    return np.array_equal(device.download(out), np.arange(64))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("kernel", "args", "report"),
    [
        (
            "null_pointer",
            [np.int64(1 << 44)],
            r"(access to memory that does not exist|out of bounds: write of 4 bytes) at faults.cu:4, block \(0,0,0\)",
        ),
        ("divide", [np.arange(32, dtype=np.int32) - 7], r"integer division by zero .*faults.cu:5, block \(0,0,0\)"),
        ("check", [], r"assertion failed: values\[threadIdx.x\] < 5 \(faults.cu:6\), block \(0,0,0\) thread \(5,0,0\)"),
        ("assume", [], r"assumption does not hold: .*\(faults.cu:7\).* thread \(5,0,0\)"),
        ("trap", None, r"__trap\(\) \(faults.cu:8\), block \(0,0,0\) thread \(0,0,0\)"),
    ],
)
def test_a_fault_names_line_block_and_thread(kernel: str, args: list[Any] | None, report: str, threads: int) -> None:
    device = EmulatedDevice(threads=threads)
    arrays = [device.upload(np.arange(32, dtype=np.int32))] if kernel != "divide" else []
    given = [device.upload(a) if isinstance(a, np.ndarray) else a for a in args or []]
    rest = [device.empty(32, np.int32)] if kernel == "divide" else []
    call = () if args is None else (*given, *rest) if kernel == "divide" else (*arrays, *given)
    with pytest.raises(KernelFault, match=f"kernel {kernel}: {report}"):
        device.kernel(FILE, kernel)(1, 32, call)
    assert _works(device)


@pytest.mark.parametrize("access", ["*(int*)nullptr = n", "x[0] = *(volatile int*)nullptr"])
def test_an_access_to_a_constant_null_is_reported_though_compilers_may_drop_it(tmp_path: Path, access: str) -> None:
    file = tmp_path / "null.cu"
    file.write_text(f'extern "C" __global__ void k(int n, int* x) {{\n  if (n > 0) {access};\n}}\n')
    device = EmulatedDevice(races=True)
    with pytest.raises(KernelFault, match=r"out of bounds: (write|read) of 4 bytes at null.cu:2"):
        device.kernel(str(file), "k")(1, 1, (np.int32(1), device.empty(1, np.int32)))


def test_a_fault_beyond_a_kernel_is_none_of_the_emulators() -> None:
    import signal

    before = signal.getsignal(signal.SIGSEGV)
    assert _works(EmulatedDevice())
    assert signal.getsignal(signal.SIGSEGV) == before


def test_a_kernel_may_use_most_of_its_stack() -> None:
    device = EmulatedDevice()
    out = device.empty(32, np.int32)
    device.kernel(FILE, "deep")(1, 32, (out,))
    assert out.tolist() == [1] * 32


def test_a_kernel_that_uses_more_than_its_stack_is_reported() -> None:
    device = EmulatedDevice()
    with pytest.raises(KernelFault, match="a thread used more than 64 KiB of stack"):
        device.kernel(FILE, "too_deep")(1, 1, (device.empty(1, np.int32), np.int32(66000)))
    assert _works(device)


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize("races", [False, True])
def test_a_spin_lock_without_a_pause_makes_progress(seed: int, races: bool) -> None:
    device = EmulatedDevice(seed=seed, races=races)
    lock, counter = device.full(1, 0, np.uint32), device.full(1, 0, np.int32)
    device.kernel(FILE, "lock")(4, 32, (lock, counter))
    assert counter[0] == 128
    assert not races or device.races() == []


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_the_last_block_sees_what_the_others_wrote_before_their_fence(seed: int) -> None:
    device = EmulatedDevice(seed=seed, races=True)
    values = np.arange(256, dtype=np.int32)
    parts, arrived, total = device.empty(8, np.int32), device.full(1, 0, np.uint32), device.empty(1, np.int32)
    device.kernel(FILE, "last_block")(8, 32, (device.upload(values), parts, arrived, total))
    assert total[0] == values.sum()
    assert device.races() == []


def test_neighbouring_bytes_do_not_race() -> None:
    device = EmulatedDevice(races=True)
    device.kernel(FILE, "bytes")(1, 64, (device.full(64, 0, np.uint8),))
    assert device.races() == []


def test_a_race_is_allowed_by_a_reason_on_its_line_or_above_it() -> None:
    device = EmulatedDevice(races=True)
    device.kernel(FILE, "allowed")(1, 32, (device.full(1, 0, np.int32), device.full(2, 0, np.int32)))
    reasons = {race.allowed for race in device.races(allowed=True)}
    assert reasons == {"every writer writes 1", "on a line of its own", None}
    (unexplained,) = device.races()
    assert "write at faults.cu:54 by block 0 thread" in str(unexplained)
    assert "global memory" in str(unexplained)


def _order(device: EmulatedDevice) -> list[int]:
    ticket, order = device.full(1, 0, np.uint32), device.empty(512, np.uint32)
    device.kernel(FILE, "schedule")(8, 64, (ticket, order))
    return device.download(order).tolist()


def test_a_seed_gives_the_same_schedule_every_time_and_another_seed_another() -> None:
    assert _order(EmulatedDevice()) == list(range(512))
    assert _order(EmulatedDevice(seed=4)) == _order(EmulatedDevice(seed=4))
    assert sorted(_order(EmulatedDevice(seed=4))) == list(range(512))
    assert _order(EmulatedDevice(seed=4)) != _order(EmulatedDevice(seed=5))
    device = EmulatedDevice(seed=4)
    assert _order(device) != _order(device)
