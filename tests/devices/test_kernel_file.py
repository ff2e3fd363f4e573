"""KernelFile: constants and kernel names as the compiler would see them, define sets, and what arrays need."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpugraph.base.errors import OutOfMemory
from gpugraph.devices.kernel_file import Arrays, KernelFile, needs, product, unsigned
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.papers.mst import gpu_boruvka
from gpugraph.graph.canonical import weight_keys, weight_words
from tests.devices.compile_matrix import declared, kernel_files
from tests.emulator.compiler import needs_compiler

SOURCE = """
#include "common.cuh"
#ifndef LANES
#define LANES 32
#endif
constexpr int BLOCK = 256;
constexpr int HALF = BLOCK / 2 + 1;  // BLOCK = 7
constexpr uint64 NOTHING = ~0ull;
constexpr uint32 MASK = 0xffu << 2;
constexpr int32 NONE = static_cast<int32>(-1);
/* constexpr int BLOCK = 8; */
constexpr int WIDE = LANES * 2;
#if LANES == 32
constexpr int ROOM = 1;
#else
constexpr int ROOM = 2;
#endif
enum { LONE, OTHER };
enum Phase { FIRST, SECOND, LAST };
enum Control : uint32 {
    ARRIVALS,              // of blocks, = 9
    LISTED = ARRIVALS + 2,
    LIVE,
    CONTROL_WORDS = LIVE + 2 * BLOCK
};
extern "C" __global__ void two_words_double(float32* values, int32 n) {
    for (int64 i = grid_thread(); i < n; i += grid_threads()) values[i] *= 2;
}
extern "C" __global__ void two_words_add(float32* values, int32 n) {
    for (int64 i = grid_thread(); i < n; i += grid_threads()) values[i] += LANES;
}
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelFile:
    monkeypatch.setattr(KernelFile, "declared", {})
    path = tmp_path / "two_words.cu"
    path.write_text(SOURCE)
    return KernelFile(str(path), product(LANES=(8, 32)))


@pytest.mark.parametrize(
    ("name", "value"),
    [("BLOCK", 256), ("HALF", 129), ("NOTHING", 2**64 - 1), ("MASK", 1020), ("NONE", -1), ("WARP", 32), ("OTHER", 1)],
)
def test_a_constant_has_the_value_that_the_compiler_gives_it(file: KernelFile, name: str, value: int) -> None:
    assert file[name] == value


def test_enumerators_count_on_from_the_one_before(file: KernelFile) -> None:
    assert file.enumerators("Control") == {"ARRIVALS": 0, "LISTED": 2, "LIVE": 3, "CONTROL_WORDS": 515}
    assert file["LIVE"] == 3
    assert file.phases == ("first", "second", "last")


def test_a_constant_of_a_define_needs_the_define(file: KernelFile) -> None:
    assert file.constant("WIDE", {"LANES": 8}) == 16
    with pytest.raises(KeyError, match="LANES"):
        file["WIDE"]


@pytest.mark.parametrize(("name", "count"), [("ROOM", 2), ("BLOCKS", 0)])
def test_a_name_that_means_nothing_or_two_things_is_refused(file: KernelFile, name: str, count: int) -> None:
    with pytest.raises(KeyError, match=f"{count} constants {name}"):
        file[name]


def test_weights_tell_their_kind_as_the_kernels_do() -> None:
    file, kinds = gpu_boruvka.FILE, ("uint32", "int64", "float32")
    told = [file.weight_kind(np.zeros(1, kind)) for kind in kinds]
    assert told == [file["UNSIGNED"], file["SIGNED"], file["REAL"]]
    assert [unsigned(np.dtype(kind)) for kind in kinds] == ["uint32", "uint64", "float32"]


def test_define_sets_are_collected_once_each_without_what_the_file_says_itself(file: KernelFile) -> None:
    file.declare([{"LANES": 32}, {"LANES": 8}, {"LANES": "4"}])
    assert file.define_sets == [{"LANES": 8}, {}, {"LANES": "4"}]
    assert KernelFile.declared == {file.name: file}


@needs_compiler
def test_kernels_go_by_their_names_without_what_all_begin_with(file: KernelFile) -> None:
    device = EmulatedDevice()
    values = device.full(3, 5, np.float32)
    for defines in ({"LANES": 8}, {"LANES": 32}):
        kernels = file.kernels(device, defines)
        assert list(kernels) == ["double", "add"]
        kernels["add"](1, 32, (values, np.int32(3)))
    file.kernel(device, None, "double")(1, 32, (values, np.int32(3)))
    assert device.download(values).tolist() == [90, 90, 90]
    assert list(file.kernels(device, only=("add",))) == list(file.kernels(device, without=("double",))) == ["add"]


@needs_compiler
def test_a_table_gives_the_arrays_and_what_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    device = EmulatedDevice()
    table = {"label": (100, np.int32), "pairs": ((2, 1000), np.uint64), "none": (0, np.uint8)}
    assert needs(table) == 512 + 16384
    arrays = Arrays(device, table)
    assert (arrays.label.dtype, arrays.pairs.shape, arrays.none.size) == (np.int32, (2, 1000), 0)
    assert device.peak_bytes() <= needs(table)


@needs_compiler
def test_nothing_is_allocated_where_not_all_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    def require(self: EmulatedDevice, needed: int) -> None:
        raise OutOfMemory(f"needs {needed}")

    monkeypatch.setattr(EmulatedDevice, "require", require)
    monkeypatch.setattr(EmulatedDevice, "empty", lambda *shape: made.append(shape))
    with pytest.raises(OutOfMemory, match="needs 512"):
        Arrays(EmulatedDevice(), {"label": (100, np.int32)})
    assert made == []


def test_every_kernel_file_but_the_devices_own_is_declared_by_a_driver() -> None:
    assert set(declared()) == set(kernel_files()) - {"fill.cu", "probe.cu"}


KEYS = """
#include "common.cuh"
extern "C" __global__ void keys_by_kind(int32 n, const weight_key_t* words, int32 kind, weight_key_t* keys) {
    const KeyMap key_of(kind);
    for (int64 i = grid_thread(); i < n; i += grid_threads()) keys[i] = key_of(words[i]);
}
extern "C" __global__ void keys_by_type(int32 n, const weight_t* weights, weight_key_t* keys) {
    for (int64 i = grid_thread(); i < n; i += grid_threads()) keys[i] = order_key(weights[i]);
}
"""


@needs_compiler
@pytest.mark.parametrize("dtype", ["uint32", "int32", "float32", "uint64", "int64", "float64"])
def test_weights_as_words_get_the_keys_of_their_type_and_of_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dtype: str
) -> None:
    monkeypatch.setattr(KernelFile, "declared", {})
    (tmp_path / "keys.cu").write_text(KEYS)
    file, device, kind = KernelFile(str(tmp_path / "keys.cu")), EmulatedDevice(), np.dtype(dtype)
    bits = np.random.default_rng(1).integers(0, 2**63, 500, np.uint64) * 3
    weights = np.append(bits.astype(f"u{kind.itemsize}"), [0, 1]).view(kind)
    weights = weights[weights == weights]  # what is no number is no weight
    given, n = device.upload(weights), np.int32(len(weights))
    by_kind, by_type = (device.empty(len(weights), f"u{kind.itemsize}") for _ in range(2))
    word = {"WEIGHT": f"uint{8 * kind.itemsize}"}
    file.kernel(device, word, "by_kind")(1, 64, (n, given, file.weight_kind(weights), by_kind))
    file.kernel(device, {"WEIGHT": dtype}, "by_type")(1, 64, (n, given, by_type))
    np.testing.assert_array_equal(by_kind, by_type)
    np.testing.assert_array_equal(by_kind, weight_keys(*weight_words(weights)))
    order = np.argsort(by_kind, kind="stable")
    assert (weights[order][:-1] <= weights[order][1:]).all()
