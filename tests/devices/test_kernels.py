from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpugraph.base.errors import DeviceUnavailable, InputError
from gpugraph.devices import kernels, nvrtc
from gpugraph.devices.base import KernelCompileError
from gpugraph.devices.kernel_source import define_lines
from gpugraph.devices.kernels import architecture_for, compile_kernels, parse_usage
from gpugraph.devices.nvrtc import parameter_sizes
from gpugraph.ext.builds import usage

HEADER = "#pragma once\ntypedef NUMBER number;\n"
KERNEL = """#include "types.cuh"
extern "C" __global__ void scale(number* cells, short factor, double offset, long long n) {
    for (long long i = threadIdx.x; i < n; i += blockDim.x) cells[i] = cells[i] * factor + (number)offset;
}
extern "C" __global__ void nothing() {}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "types.cuh").write_text(HEADER)
    (tmp_path / "mine.cu").write_text(KERNEL)
    return tmp_path / "mine.cu"


def test_the_second_compilation_comes_from_the_cache(cache: Path, file: Path) -> None:
    first = compile_kernels(file, {"NUMBER": "float"}, "sm_90")
    second = compile_kernels(file, {"NUMBER": "float"}, "sm_90")
    assert not first.cached
    assert second.cached
    assert second.kernels == first.kernels
    assert second.cubin_path == first.cubin_path
    assert first.cubin_path.parent == cache
    assert set(first.kernels) == {"scale", "nothing"}
    assert first.kernels["scale"].registers > first.kernels["nothing"].registers
    assert sorted(path.suffix for path in cache.iterdir()) == [".cubin", ".json"]


def test_defines_architecture_source_and_header_each_change_the_key(cache: Path, file: Path) -> None:
    def cubin() -> Path:
        return compile_kernels(file, {"NUMBER": "float"}, "sm_90").cubin_path

    paths = [cubin(), compile_kernels(file, {"NUMBER": "int"}, "sm_90").cubin_path]
    paths.append(compile_kernels(file, {"NUMBER": "float"}, "sm_80").cubin_path)
    (file.parent / "types.cuh").write_text(HEADER + "// changed\n")
    paths.append(cubin())
    file.write_text(KERNEL + "// changed\n")
    paths.append(cubin())
    assert len(set(paths)) == 5


def test_the_order_of_defines_does_not_change_the_key(cache: Path, file: Path) -> None:
    a = compile_kernels(file, {"NUMBER": "float", "X": 1}, "sm_90").cubin_path
    assert compile_kernels(file, {"X": 1, "NUMBER": "float"}, "sm_90").cubin_path == a


@pytest.mark.parametrize("suffix", [".cubin", ".json"])
@pytest.mark.parametrize("content", [b"", b"broken"])
def test_a_damaged_cache_entry_is_made_anew(cache: Path, file: Path, suffix: str, content: bytes) -> None:
    first = compile_kernels(file, {"NUMBER": "float"}, "sm_90")
    good = first.cubin_path.read_bytes()
    first.cubin_path.with_suffix(suffix).write_bytes(content)
    again = compile_kernels(file, {"NUMBER": "float"}, "sm_90")
    assert not again.cached
    assert again.cubin_path.read_bytes() == good


def test_processes_that_compile_the_same_at_once_all_get_it(cache: Path, file: Path) -> None:
    command = [sys.executable, "-m", "gpugraph.ext.builds.usage", str(file), "-D", "NUMBER=float"]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) for _ in range(3)]
    outputs = [run.communicate(timeout=300)[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0]
    assert outputs[0] == outputs[1] == outputs[2]
    assert len(list(cache.iterdir())) == 2


@pytest.mark.filterwarnings("ignore::gpugraph.base.errors.GpuGraphWarning")
def test_a_cache_that_cannot_be_written_is_replaced_for_the_process(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken").write_text("a file, no directory")
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", str(tmp_path / "taken"))
    module = compile_kernels(file, {"NUMBER": "float"}, "sm_90")
    assert module.cubin_path.is_file()
    assert tmp_path / "taken" not in module.cubin_path.parents


def test_a_compile_error_names_the_header_and_its_line(cache: Path, file: Path) -> None:
    (file.parent / "types.cuh").write_text("#pragma once\n\ntypedef unheard_of number;\n")
    with pytest.raises(
        KernelCompileError, match=r'types\.cuh line 3: does not compile for sm_90: .*"unheard_of"'
    ) as caught:
        compile_kernels(file, None, "sm_90")
    assert caught.value.exit_code == 2
    assert caught.value.log.count("error:") >= 1
    assert not list(cache.glob("*.cubin"))


def test_a_compile_error_in_a_kernel_of_gpugraph_is_a_defect(cache: Path) -> None:
    with pytest.raises(KernelCompileError, match=r"cuda_kernels/common\.cuh line \d+") as caught:
        compile_kernels("probe.cu", {"WEIGHT": "no_type"}, "sm_90")
    assert caught.value.exit_code == 70


def test_a_define_may_use_a_name_of_the_compilers_own_headers(cache: Path, file: Path) -> None:
    file.write_text("#define NUMBER T\n" + KERNEL)
    assert "scale" in compile_kernels(file, {"T": "unsigned long long"}, "sm_90").kernels


@pytest.mark.parametrize(("name", "value"), [("1X", 1), ("X Y", 1), ("X", "1\n#include <x>"), ("", 1)])
def test_a_define_that_is_none_is_refused(name: str, value: str | int) -> None:
    with pytest.raises(InputError, match="is no preprocessor define"):
        define_lines({name: value})


def test_defines_are_written_as_numbers_and_text() -> None:
    assert define_lines({"B": True, "A": 64, "C": "float"}) == "#define A 64\n#define B 1\n#define C float\n"


@pytest.mark.parametrize(
    ("arch", "remedy"), [("sm_70", r"gpugraph\[cuda12\]"), ("sm_999", "update the compiler"), ("x", "as sm_90")]
)
def test_an_architecture_unknown_to_the_compiler_is_refused(cache: Path, file: Path, arch: str, remedy: str) -> None:
    with pytest.raises(DeviceUnavailable, match=rf"cannot compile for {arch} .*{remedy}"):
        compile_kernels(file, {"NUMBER": "float"}, arch)


def test_a_gpu_newer_than_the_compiler_gets_the_nearest_below_of_its_major_number() -> None:
    assert architecture_for(90) == "sm_90"
    assert architecture_for(129) == f"sm_{max(a for a in nvrtc.compiler().architectures if a // 10 == 12)}"
    with pytest.raises(DeviceUnavailable, match="cannot compile for sm_70"):
        architecture_for(70)


def test_a_missing_compiler_is_reported_with_what_to_install(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    nvrtc.compiler.cache_clear()
    try:
        for name in ("cupy", "cupy.cuda", "cuda.bindings.nvrtc"):
            monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(DeviceUnavailable, match=r"NVRTC is missing.*pip install 'gpugraph\[cuda13\]'"):
            compile_kernels(file, {"NUMBER": "float"}, "sm_90")
    finally:
        nvrtc.compiler.cache_clear()


def test_usage_is_read_from_the_assemblers_log() -> None:
    log = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'a' for 'sm_90'
ptxas info    : Function properties for a
ptxas         .     16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 512 bytes smem
ptxas info    : Compiling entry function 'b' for 'sm_90'
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 0 barriers"""
    usage = parse_usage(log)
    assert usage["a"] == kernels.KernelUsage(255, 8, 4, 16, 512)
    assert usage["b"] == kernels.KernelUsage(10, 0, 0, 0, 0)


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_the_cubin_tells_the_width_of_every_parameter(cache: Path, file: Path, arch: str) -> None:
    module = compile_kernels(file, {"NUMBER": "float"}, arch)
    assert parameter_sizes(module.cubin_path.read_bytes()) == {"scale": (8, 2, 8, 8), "nothing": ()}


@pytest.mark.parametrize("junk", [b"", b"\x7fELF\x02\x01", b"\x7fELF\x02\x01" + bytes(200), b"text"])
def test_a_cubin_that_is_none_tells_nothing(junk: bytes) -> None:
    assert parameter_sizes(junk) == {}


def test_the_command_prints_registers_and_spills(cache: Path, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert usage.main([str(file), "-D", "NUMBER=float", "--arch", "sm_80", "--arch", "sm_90"]) == 0
    out = capsys.readouterr().out
    assert out.count("registers") == 2
    assert out.count("scale") == 2


def test_the_command_prints_every_diagnostic_of_a_failure(
    cache: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert usage.main([str(file), "-D", "NUMBER=nope"]) == 2
    assert "types.cuh(2): error" in capsys.readouterr().err


def test_kernels_are_found_though_the_assembler_says_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", str(tmp_path))
    told = compile_kernels("probe.cu", {"UNUSED": 1}, "sm_90").kernels
    monkeypatch.setattr("gpugraph.devices.kernels.parse_usage", lambda log: {})
    silent = compile_kernels("probe.cu", {"UNUSED": 2}, "sm_90").kernels
    assert silent.keys() == told.keys()
    assert not any(usage.registers for usage in silent.values())
