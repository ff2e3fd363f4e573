"""The translation of a .cu file: dynamic shared memory, and the list of kernels."""

from __future__ import annotations

import pytest

from gpugraph.ext.emulator.toolchain import find_kernels, rewrite_dynamic_shared, translation_unit


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        (
            "void f() { extern __shared__ int x[]; }",
            "void f() { int* const x = static_cast<int*>(simt_dynamic_shared()); }",
        ),
        (
            "void f() { if (a) { extern __shared__ __align__(16) unsigned long long keys[ ]; } }",
            "void f() { if (a) { unsigned long long* const keys = "
            "static_cast<unsigned long long*>(simt_dynamic_shared()); } }",
        ),
        ("extern __shared__ float x[];", "static const simt::DynamicShared<float> x;"),
        ('extern "C" { extern __shared__ T x[]; }', 'extern "C" { static const simt::DynamicShared<T> x; }'),
        (
            "namespace a { extern __shared__ pair<int, int> x[]; }",
            "namespace a { static const simt::DynamicShared<pair<int, int>> x; }",
        ),
        ("// extern __shared__ int x[];", "// extern __shared__ int x[];"),
        ("__shared__ int x[4];", "__shared__ int x[4];"),
    ],
)
def test_dynamic_shared_memory_becomes_a_pointer(text: str, rewritten: str) -> None:
    assert rewrite_dynamic_shared(text) == rewritten


def test_rewriting_keeps_the_number_of_lines() -> None:
    text = "void f() {\n extern __shared__\n   int\n x[];\n}\n"
    assert rewrite_dynamic_shared(text).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("text", "kernels"),
    [
        ('extern "C" __global__ void a(int n) {}', {"a": "0"}),
        ('extern "C" __global__ void __launch_bounds__(256) a(int* x) {}', {"a": "256"}),
        ('extern "C" __global__ __launch_bounds__(f(2, 3), 2) void a() {}', {"a": "f(2, 3)"}),
        ('extern "C" __launch_bounds__(64) __global__ void a();', {"a": "64"}),
        ('extern "C" { __global__ void a() { x(); } __global__ void b() {} }', {"a": "0", "b": "0"}),
        ("__global__ void a(); __global__ void a() {}", {"a": "0"}),
        ("template <typename T> __global__ void a(T x) {}", {}),
        ("template <typename T> void h() {} __global__ void a() {}", {"a": "0"}),
        ("void host() {} int global_x;", {}),
    ],
)
def test_kernels_are_found_with_their_launch_bounds(text: str, kernels: dict[str, str]) -> None:
    assert find_kernels(text) == kernels


def test_the_unit_lists_every_kernel_behind_the_source() -> None:
    unit = translation_unit("SOURCE", {"a": "64", "b<int, 2>": "0"})
    assert unit.startswith('#include "device_code.h"\nSOURCE\n')
    assert 'simt::Entry<&a>::describe_as("a", static_cast<uint32_t>(64))' in unit
    assert 'simt::Entry<&b<int, 2>>::describe_as("b<int, 2>", static_cast<uint32_t>(0))' in unit
    assert "simt_kernel_count = 2;" in unit
