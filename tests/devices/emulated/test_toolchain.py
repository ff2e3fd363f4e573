"""Finding a compiler, compiling, and keeping what was compiled."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from gpugraph.devices.emulated import cache, toolchain
from gpugraph.devices.emulated.device import EmulatedDevice
from gpugraph.devices.emulated.library import Library
from gpugraph.devices.emulated.module import SimtModule
from gpugraph.devices.emulated.toolchain import find_compiler
from gpugraph.errors import DeviceUnavailable, GpuGraphError, InputError
from tests.devices.emulated.compiler import needs_compiler


@pytest.fixture
def fresh_search() -> Iterator[None]:
    """Let the search for a compiler run anew in a test, and again after it."""
    find_compiler.cache_clear()
    yield
    find_compiler.cache_clear()


@pytest.mark.usefixtures("fresh_search")
def test_without_a_compiler_the_device_is_unavailable_and_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(
        DeviceUnavailable, match=r"none of c\+\+, g\+\+ and clang\+\+ was found — install g\+\+"
    ) as caught:
        EmulatedDevice()
    assert caught.value.exit_code == 3


@pytest.mark.usefixtures("fresh_search")
def test_a_cxx_that_is_no_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler -O9")
    with pytest.raises(DeviceUnavailable, match=r"\$CXX \('no-such-compiler -O9'\) is none"):
        find_compiler()


@needs_compiler
@pytest.mark.usefixtures("fresh_search")
def test_cxx_may_carry_options(monkeypatch: pytest.MonkeyPatch) -> None:
    command = find_compiler().command
    find_compiler.cache_clear()
    monkeypatch.setenv("CXX", f"{command[0]} -DX=1")
    assert find_compiler().command == (command[0], "-DX=1")


def _write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


@needs_compiler
def test_a_source_that_does_not_compile_is_reported_by_file_and_line(tmp_path: Path) -> None:
    file = _write(tmp_path / "bad.cu", '\nextern "C" __global__ void k(int n) {\n    n = missing;\n}\n')
    with pytest.raises(GpuGraphError, match=r"bad.cu:3: does not compile: .*missing") as caught:
        EmulatedDevice().kernel(file, "k")
    assert caught.value.exit_code == 2


@needs_compiler
def test_a_file_without_kernels_and_an_unknown_kernel_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"empty.cu: holds no kernel"):
        EmulatedDevice().kernel(_write(tmp_path / "empty.cu", "int x;\n"), "k")
    file = _write(tmp_path / "one.cu", 'extern "C" __global__ void scale(int* x) { x[0] = 2; }\n')
    with pytest.raises(InputError, match=r"unknown kernel 'scala' — did you mean 'scale'\?"):
        EmulatedDevice().kernel(file, "scala")
    with pytest.raises(InputError, match=r"none.cu"):
        EmulatedDevice().kernel(str(tmp_path / "none.cu"), "k")


@needs_compiler
def test_defines_choose_what_is_compiled_and_stay_out_of_the_shim(tmp_path: Path) -> None:
    text = """
#ifndef T
#define T int
#endif
extern "C" __global__ void k(T* x) { x[0] = sizeof(T); }
#if EXTRA
extern "C" __global__ void extra(T* x) { x[0] = EXTRA; }
#endif
"""
    device, file = EmulatedDevice(), _write(tmp_path / "defines.cu", text)
    small, wide = device.full(1, 0, np.int32), device.full(1, 0, np.int64)
    device.kernel(file, "k")(1, 1, (small,))
    device.kernel(file, "k", {"T": "long long"})(1, 1, (wide,))
    device.kernel(file, "extra", {"EXTRA": 7})(1, 1, (small[:1],))
    assert (small[0], wide[0]) == (7, 8)
    with pytest.raises(InputError, match="unknown kernel 'extra'"):
        device.kernel(file, "extra")


@needs_compiler
def test_template_kernels_are_compiled_by_expression(tmp_path: Path) -> None:
    text = "template <typename T, int n> __global__ void fill(T* x) { if (threadIdx.x < n) x[threadIdx.x] = T(n); }\n"
    module = SimtModule(
        path=_write(tmp_path / "t.cu", text), name_expressions=("fill<float, 3>", "fill<short, 2>"), options=("-O3",)
    )
    x, y = np.zeros(4, np.float32), np.zeros(4, np.int16)
    module.get_function("fill<float, 3>")((1,), (32,), (x,))
    module.get_function("fill<short, 2>")((1,), (32,), (y,))
    assert (x.tolist(), y.tolist()) == ([3, 3, 3, 0], [2, 2, 0, 0])


@needs_compiler
def test_an_edit_of_an_included_header_is_seen(tmp_path: Path) -> None:
    file = _write(
        tmp_path / "user.cu", '#include "value.cuh"\nextern "C" __global__ void k(int* x) { x[0] = VALUE; }\n'
    )
    got = []
    for value in (1, 2):
        _write(tmp_path / "value.cuh", f"#pragma once\n#define VALUE {value}\n")
        device = EmulatedDevice()
        x = device.full(1, 0, np.int32)
        device.kernel(file, "k")(1, 1, (x,))
        got.append(int(x[0]))
    assert got == [1, 2]


@needs_compiler
def test_two_builds_of_one_file_do_not_share_their_variables(tmp_path: Path) -> None:
    text = """
template <int n> __device__ int* room() { __shared__ int x[4]; return x; }
__device__ int calls;
extern "C" __global__ void k(int* x) { room<0>()[0] = ++calls; x[0] = room<0>()[0]; }
"""
    device, file = EmulatedDevice(), _write(tmp_path / "shared.cu", text)
    x = device.full(1, 0, np.int32)
    seen = []
    for build in (1, 1, 2, 1):
        device.kernel(file, "k", {"BUILD": build})(1, 1, (x,))
        seen.append(int(x[0]))
    assert seen == [1, 2, 1, 3]


def test_a_library_that_cannot_be_loaded_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DeviceUnavailable, match=r"cannot be loaded: .*broken.so: .* — set GPUGRAPH_CACHE_DIR"):
        Library(Path(_write(tmp_path / "broken.so", "no library")))


def test_the_cache_makes_a_file_once_and_survives_a_race(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", str(tmp_path))
    made: list[Path] = []

    def make(target: Path) -> None:
        made.append(target)
        target.write_text("content")

    with ThreadPoolExecutor(8) as pool:
        paths = set(pool.map(lambda _: cache.cached("file.so", make), range(32)))
    assert paths == {tmp_path / "emulated" / "file.so"}
    assert (tmp_path / "emulated" / "file.so").read_text() == "content"
    assert os.listdir(tmp_path / "emulated") == ["file.so"]
    count = len(made)
    cache.cached("file.so", make)
    assert len(made) == count


def test_a_failed_making_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", str(tmp_path))

    def fail(target: Path) -> None:
        target.write_text("half")
        raise InputError("no")

    with pytest.raises(InputError):
        cache.cached("file.so", fail)
    assert os.listdir(tmp_path / "emulated") == []


def test_a_cache_that_cannot_be_written_is_replaced_by_one_of_the_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", str(tmp_path / "file"))
    assert cache.cache_dir().is_dir()
    assert tmp_path not in cache.cache_dir().parents


def test_the_shim_travels_with_the_package() -> None:
    assert {"device_code.h", "runtime.cpp"} <= {path.name for path in toolchain.SHIM.iterdir()}
