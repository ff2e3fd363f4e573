from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpugraph.base.errors import InputError
from gpugraph.base.files import resource_dir
from gpugraph.devices import kernel_source
from gpugraph.devices.kernel_source import find_source, load_source


def write(directory: Path, **files: str) -> Path:
    for name, text in files.items():
        (directory / name.replace("_", ".")).write_text(text)
    return directory


def test_an_included_file_counts_once_and_keeps_its_own_line_numbers(tmp_path: Path) -> None:
    write(
        tmp_path, k_cu='#include "a.cuh"\n#include "b.cuh"\nint k;\n', a_cuh='#pragma once\n#include "b.cuh"\nint a;\n'
    )
    write(tmp_path, b_cuh="int b;\n")
    lines = load_source(tmp_path / "k.cu").text.split("\n")
    assert lines[0] == f'#line 1 "{tmp_path}/k.cu"'
    assert lines[lines.index("int a;") - 1] == f'#line 3 "{tmp_path}/a.cuh"'
    assert lines[lines.index("int k;") - 1] == f'#line 3 "{tmp_path}/k.cu"'
    guards = [line for line in lines if line.startswith("#ifndef GPUGRAPH_INCLUDED_")]
    assert len(guards) == 3
    assert len(set(guards)) == 2  # b.cuh stands twice, behind one guard
    assert not any("#pragma once" in line or "#include" in line for line in lines)


def test_a_file_that_includes_itself_through_another_ends(tmp_path: Path) -> None:
    write(tmp_path, k_cu='#include "a.cuh"\n', a_cuh='#include "b.cuh"\nint a;\n', b_cuh='#include "a.cuh"\nint b;\n')
    assert load_source(tmp_path / "k.cu").text.count("int a;") == 1


def test_includes_and_kernels_in_comments_are_none(tmp_path: Path) -> None:
    text = '/*\n#include "gone.cuh"\nextern "C" __global__ void ghost(int x)\n*/\n'
    text += 'extern "C" __global__ void real(const char* s /* "//" */)\n// extern "C" __global__ void other()\n'
    source = load_source(write(tmp_path, k_cu=text) / "k.cu")
    assert source.kernels == ("real",)
    assert "gone.cuh" in source.text


@pytest.mark.parametrize(
    "head",
    [
        'extern "C" __global__ void',
        'extern "C" __global__ __launch_bounds__(256) void',
        'extern "C" __global__ void __launch_bounds__(f(BLOCK), 2)',
        'extern "C"\n__global__\nvoid',
    ],
)
def test_kernels_are_found_whatever_their_launch_bounds(tmp_path: Path, head: str) -> None:
    assert load_source(write(tmp_path, k_cu=f"{head} my_kernel(int x) {{}}\n") / "k.cu").kernels == ("my_kernel",)


def test_a_users_file_may_include_the_headers_of_gpugraph(tmp_path: Path) -> None:
    source = load_source(write(tmp_path, k_cu='#include "common.cuh"\n') / "k.cu")
    assert not source.ours
    assert "GPUGRAPH_COMMON_CUH" in source.text
    assert '#line 1 "cuda_kernels/common.cuh"' in source.text


def test_a_file_is_read_again_once_it_or_what_it_includes_has_changed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kernel_source, "_home", lambda: tmp_path)
    write(tmp_path, k_cu='#include "a.cuh"\n', a_cuh="int a;\n")
    first = load_source(tmp_path / "k.cu")
    assert first.ours
    assert load_source(tmp_path / "k.cu") is first
    write(tmp_path, a_cuh="int other;\n")
    assert "int other;" in load_source(tmp_path / "k.cu").text


def test_a_kernel_of_gpugraph_is_named_without_its_place_on_this_machine() -> None:
    source = load_source("probe.cu")
    assert source.ours
    assert source.name == "cuda_kernels/probe.cu"
    assert str(find_source("probe.cu").parent) not in source.text


def test_a_missing_include_is_refused_with_file_and_line(tmp_path: Path) -> None:
    write(tmp_path, k_cu='#include "a.cuh"\n', a_cuh='\n#include "gone.cuh"\n')
    with pytest.raises(InputError, match=r'a\.cuh line 2: #include "gone\.cuh" was not found'):
        load_source(tmp_path / "k.cu")


def test_an_unknown_kernel_file_suggests_the_nearest() -> None:
    with pytest.raises(InputError, match=r"did you mean 'probe\.cu'"):
        load_source("prob.cu")


def test_a_missing_file_of_a_users_own_is_refused_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"mine\.cu: no such kernel file"):
        load_source(tmp_path / "mine.cu")


def test_a_kernel_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"k\.cu: cannot read the kernel file"):
        load_source(tmp_path / "k.cu")


def test_no_line_of_a_kernel_is_longer_than_120_characters() -> None:
    root = resource_dir("cuda_kernels")
    files = sorted([*root.rglob("*.cu"), *root.rglob("*.cuh")])
    assert files
    too_long = [
        f"{path.relative_to(root.parent)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if len(line) > 120
    ]
    assert not too_long, "longer than 120 characters:\n" + "\n".join(too_long)


_STRIDED = re.compile(r"for \((?:int|int32|int16|short) (\w+) = [^;]*;([^;]*); *\1 \+= *([^)]*)\)")
_SMALL = re.compile(r"\s*\w+ <=? *([A-Z0-9_/*+ -]+|size|.*\bblocks|.*\bgridDim.x\)?)")
"""What a loop may count to in 32 bits: constants, the size of a tile, and blocks, of which there are few."""


def test_no_loop_in_strides_of_threads_counts_in_32_bits_up_to_a_size_of_the_input() -> None:
    """Behind the last of nearly 2^31 vertices a step of a block or a grid would wrap to a negative one."""
    wraps = [
        f"{path.name}: {loop[0]}"
        for path in sorted(resource_dir("cuda_kernels").rglob("*.cu*"))
        for loop in _STRIDED.finditer(path.read_text())
        if re.search(r"Dim|BLOCK|grid_threads", loop[3]) and not _SMALL.fullmatch(loop[2])
    ]
    assert wraps == []


@pytest.mark.parametrize("path", sorted(resource_dir("cuda_kernels").rglob("*.cu*")), ids=lambda path: path.name)
def test_no_lambda_of_a_kernel_has_a_parameter_of_type_auto(path: Path) -> None:
    """NVRTC 13.0 and before take such a lambda for a function of the host; later ones do not tell."""
    code = kernel_source.without_comments(path.read_text("utf-8"))
    assert not re.search(r"\]\s*\([^)]*\bauto\b", code)
