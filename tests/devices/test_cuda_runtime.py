from __future__ import annotations

import pytest

from gpugraph.base.errors import DeviceUnavailable, GpuGraphError, OutOfMemory
from gpugraph.base.quantities import exactly
from gpugraph.devices.cuda_runtime import does_not_fit, translate, translated
from tests.devices.fake_cupy import CUDARuntimeError


class OutOfMemoryError(MemoryError):
    """As CuPy's allocator raises it."""


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (2, OutOfMemory, "use a smaller graph"),
        (35, DeviceUnavailable, "driver is missing, or older"),
        (100, DeviceUnavailable, "no NVIDIA GPU was found"),
        (101, DeviceUnavailable, "no GPU of that index"),
        (700, GpuGraphError, "read or wrote outside its arrays"),
        (719, GpuGraphError, "failed while it ran"),
        (720, GpuGraphError, "cooperative launch"),
        (12345, GpuGraphError, "CUDA failed"),
    ],
)
def test_every_status_becomes_an_error_of_ours_with_place_and_remedy(status: int, kind: type, said: str) -> None:
    ours = translate(CUDARuntimeError(status), device="cuda:0", doing="after find_min")
    assert type(ours) is kind
    assert str(ours).startswith("cuda:0 (after find_min): ")
    assert said in str(ours)
    assert ours.remedy


def test_cupys_own_out_of_memory_is_out_of_memory() -> None:
    ours = translate(OutOfMemoryError("Out of memory allocating 9 bytes"), device="cuda:0", doing="x")
    assert isinstance(ours, OutOfMemory)
    assert "allocating 9 bytes" in str(ours)


def test_a_driver_library_that_is_not_there_is_a_missing_driver() -> None:
    ours = translate(RuntimeError("CuPy failed to load libcuda.so.1: OSError"), device="cuda", doing="x")
    assert isinstance(ours, DeviceUnavailable)
    assert "the NVIDIA driver is missing" in str(ours)


def test_what_is_not_cudas_passes_unchanged() -> None:
    assert translate(ValueError("x"), device="cuda:0", doing="x") is None
    with pytest.raises(ZeroDivisionError), translated("cuda:0", "x"):
        raise ZeroDivisionError
    ours = DeviceUnavailable("y")
    with pytest.raises(DeviceUnavailable) as caught, translated("cuda:0", "x"):
        raise ours
    assert caught.value is ours


def test_what_does_not_fit_is_reported_with_need_free_and_total() -> None:
    error = does_not_fit(3 << 30, 5 << 20, 2 << 30, "cuda:1")
    assert error.exit_code == 3
    assert "needs 3,221,225,472 bytes (3 GiB)" in str(error)
    assert "5,242,880 bytes (5 MiB) of 2,147,483,648 bytes (2 GiB) are free" in str(error)
    assert exactly(12) == "12 bytes"
