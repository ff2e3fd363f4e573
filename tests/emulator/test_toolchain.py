"""Finding a compiler, compiling, and keeping what was compiled."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpugraph.base import code_cache
from gpugraph.base.errors import DeviceUnavailable, GpuGraphError, InputError, OutOfMemory
from gpugraph.devices.base import KernelCompileError
from gpugraph.devices.kernel_source import load_source
from gpugraph.ext.emulator import toolchain
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.emulator.module import Library
from gpugraph.ext.emulator.toolchain import BUILDS, Build, build_library, build_runtime, find_compiler
from tests.emulator.compiler import needs_compiler
from tests.tiers import also, extended


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
@pytest.mark.parametrize("include", ["#include <value.cuh>", '#define FILE "value.cuh"\n#include FILE'])
def test_a_header_that_the_compiler_alone_would_find_is_refused_for_its_edits_would_go_unseen(
    tmp_path: Path, include: str
) -> None:
    _write(tmp_path / "value.cuh", "#define VALUE 1\n")
    file = _write(tmp_path / "user.cu", f'{include}\nextern "C" __global__ void k(int* x) {{ x[0] = VALUE; }}\n')
    with pytest.raises(KernelCompileError, match=r"value.cuh: No such file|'value.cuh' file not found"):
        EmulatedDevice().kernel(file, "k")


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


QUICK = replace(BUILDS["plain"], runtime=("-O0", "-g0"))
"""A build whose runtime is compiled in a third of the time."""
QUICK_RACES = replace(BUILDS["races"], runtime=("-O0", "-g0", "-DSIMT_RACES"))
"""The like, of the build that the emulated device chooses for a kernel which is not the project's own."""


def _runtime(build: Build = BUILDS["plain"]) -> Path:
    return build_runtime(find_compiler(), build, static_shared=False)


def _copied(tmp_path: Path, *compiled: Path) -> Path:
    """Copy compiled files into a cache of the test's own; return the folder where they lie."""
    folder = tmp_path / "cache" / "emulated"
    folder.mkdir(parents=True)
    for path in compiled:
        for name in (path, path.with_suffix(".json")):
            shutil.copy(name, folder)
    return folder


COUNTER = 'extern "C" __global__ void k(int* x) { x[0] = 5; }\n'
DAMAGES: list[Callable[[bytes], bytes]] = [
    lambda code: b"",
    lambda code: b"garbage",
    lambda code: code[: len(code) // 2],
]


@needs_compiler
@pytest.mark.parametrize(("damage", "suffix"), [(DAMAGES[0], ".so"), also(DAMAGES[1], ".o"), also(DAMAGES[2], ".json")])
def test_a_damaged_compiled_kernel_or_runtime_is_made_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, suffix: str, damage: Callable[[bytes], bytes]
) -> None:
    source = load_source(_write(tmp_path / "five.cu", COUNTER))
    folder = _copied(tmp_path, _runtime(QUICK), build_library(source, {}, QUICK))
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    hurt = [path for path in folder.iterdir() if path.suffix == suffix]
    for path in hurt:
        path.write_bytes(damage(path.read_bytes()))
    Library(build_library(source, {}, QUICK)).describe("k")
    assert hurt
    assert all(len(path.read_bytes()) > 10 for path in hurt)


@needs_compiler
@extended
def test_a_failed_compilation_leaves_nothing_in_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(BUILDS, "races", QUICK_RACES)
    folder = _copied(tmp_path, _runtime(QUICK_RACES))
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.raises(GpuGraphError, match="does not compile"):
        EmulatedDevice().kernel(_write(tmp_path / "bad.cu", COUNTER.replace("5", "five")), "k")
    left = {path.name.partition("-")[0] for path in folder.iterdir()}
    assert left - {"header"} == {"runtime"}


def _header_after(value: int) -> tuple[Path, list[str]]:
    """Compile a kernel, another for each value; return the header read ahead, and if GCC took it: ! or x."""
    told: list[str] = []
    run = toolchain.subprocess.run

    def noted(*words: Any, **more: Any) -> Any:
        done = run(*words, **more)
        told.extend(re.findall(r"^([!x]) \S*device_code\.h\.gch$", done.stderr, re.MULTILINE))
        return done

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(toolchain.subprocess, "run", noted)
        device = EmulatedDevice()
        x = device.full(1, 0, np.uint32)
        device.kernel("fill.cu", "fill_4_bytes", {"VALUE": value})(1, 1, (x, np.uint32(value), np.int64(1)))
    assert x[0] == value
    (header,) = (Path(os.environ["GPUGRAPH_CACHE_DIR"]) / "emulated").glob("header-*.gch")
    return header, told


@pytest.fixture
def listing_headers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fresh_search: None) -> str:
    """Let GCC list what it includes and start with a cache of no header; return the compiler's command."""
    compiler = find_compiler()
    if compiler.is_clang:
        pytest.skip("clang reads no header ahead")
    runtime = _runtime()
    monkeypatch.setattr(toolchain, "build_runtime", lambda *_, **__: runtime)
    find_compiler.cache_clear()
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("CXX", f"{compiler.command[0]} -H")
    return compiler.command[0]


@needs_compiler
@pytest.mark.usefixtures("listing_headers")
def test_the_header_is_read_once_for_all_kernels_and_again_where_what_was_kept_is_of_no_use() -> None:
    header, told = _header_after(5)
    assert told == ["!"]
    half = header.read_bytes()[: header.stat().st_size // 2]
    code_cache.keep("emulated", header.name, half)
    assert _header_after(6)[0].read_bytes() == half


@needs_compiler
def test_a_compiler_that_reads_no_header_ahead_is_asked_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, listing_headers: str
) -> None:
    asked = tmp_path / "asked"
    text = f'#!/bin/sh\ncase "$*" in *c++-header*) echo once >>{asked}; exit 1;; esac\nexec {listing_headers} "$@"\n'
    script = Path(_write(tmp_path / "compiler", text))
    script.chmod(0o755)
    monkeypatch.setenv("CXX", f"{script} -H")
    for value in (5, 6):
        header, told = _header_after(value)
        assert header.stat().st_size == 0
        assert "!" not in told
    assert asked.read_text() == "once\n"


@needs_compiler
@pytest.mark.filterwarnings("ignore::gpugraph.base.errors.GpuGraphWarning")
@extended
def test_kernels_run_though_the_cache_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(BUILDS, "races", QUICK_RACES)
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", _write(tmp_path / "taken", "a file, no folder"))
    device = EmulatedDevice()
    x = device.full(1, 0, np.int32)
    device.kernel(_write(tmp_path / "five.cu", COUNTER), "k")(1, 1, (x,))
    assert x[0] == 5


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("x.cpp:1: fatal error: error writing to /tmp/c.s: No space left on device", "no space left on device"),
        ("internal compiler error: File size limit exceeded signal terminated program cc1plus", "file too large"),
        ("x.cpp:1: fatal error: error writing to /tmp/c.s: Disk quota exceeded", "disk quota exceeded"),
    ],
)
def test_a_compiler_that_has_no_room_to_write_is_no_defect_of_ours(
    monkeypatch: pytest.MonkeyPatch, said: str, reason: str
) -> None:
    full = subprocess.CompletedProcess([], 1, "", said)
    monkeypatch.setattr(toolchain.subprocess, "run", lambda *a, **k: full)
    with pytest.raises(DeviceUnavailable, match=f"compiled code cannot be written: {reason}"):
        toolchain._run(["c++"], None)


def test_a_compiler_that_may_start_no_process_is_no_defect_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "c++: fatal error: cannot execute 'cc1plus': vfork: Resource temporarily unavailable"
    full = subprocess.CompletedProcess([], 1, "", said)
    monkeypatch.setattr(toolchain.subprocess, "run", lambda *a, **k: full)
    with pytest.raises(OutOfMemory, match="no other thread or process can be started — raise the limits"):
        toolchain._run(["c++"], None)


def test_the_shim_travels_with_the_package() -> None:
    assert {"device_code.h", "runtime.cpp"} <= {path.name for path in toolchain.SHIM.iterdir()}
