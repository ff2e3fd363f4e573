from __future__ import annotations

import json
import random
import shutil
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpugraph.base.errors import GpuGraphWarning
from gpugraph.devices import kernels, prebuilt
from gpugraph.devices.cuda import CudaDevice
from gpugraph.devices.kernels import CompiledModule, compile_kernels
from gpugraph.devices.nvrtc import compiler
from gpugraph.devices.prebuilt import prebuilt_kernels
from gpugraph.ext.builds.kernels import build, main, units
from gpugraph.ext.emulator.device import EmulatedDevice
from tests.cli.runner import succeed
from tests.devices.compile_matrix import declared
from tests.devices.fake_cupy import FakeCupy
from tests.mutate import MUTATORS


@pytest.fixture
def archive(tmp_path: Path, cache: Path) -> Path:
    """An archive with fill.cu, made with a cache that is empty again."""
    path = tmp_path / "prebuilt.zip"
    build(path, [("fill.cu", {}, "sm_90")], workers=1)
    for file in cache.iterdir():
        file.unlink()
    return path


def newest() -> int:
    return compiler().version[0]


def test_a_prebuilt_kernel_is_the_compiled_one(archive: Path, cache: Path) -> None:
    found = prebuilt_kernels("fill.cu", {}, "sm_90", newest(), archive)
    assert found is not None
    assert not found.cached
    assert prebuilt_kernels("fill.cu", {}, "sm_90", newest(), archive) is None, "it is in the cache now"
    again = compile_kernels("fill.cu", {}, "sm_90")
    assert again.cached
    assert again.cubin_path == found.cubin_path
    assert again.kernels == found.kernels
    assert min(usage.registers for usage in found.kernels.values()) > 0


def test_other_defines_architectures_sources_and_older_drivers_find_nothing(
    archive: Path, cache: Path, tmp_path: Path
) -> None:
    other = tmp_path / "fill.cu"
    other.write_text('extern "C" __global__ void fill_1_bytes() {}\n')
    assert prebuilt_kernels("fill.cu", {"X": 1}, "sm_90", newest(), archive) is None
    assert prebuilt_kernels("fill.cu", {}, "sm_80", newest(), archive) is None
    assert prebuilt_kernels(other, {}, "sm_90", newest(), archive) is None
    assert prebuilt_kernels("fill.cu", {}, "sm_90", newest() - 1, archive) is None
    assert prebuilt_kernels("fill.cu", {}, "sm_90", newest(), tmp_path / "none.zip") is None


@pytest.mark.filterwarnings("ignore:.*is damaged:gpugraph.base.errors.GpuGraphWarning")
def test_a_damaged_archive_is_passed_over(archive: Path, cache: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.zip"
    with zipfile.ZipFile(archive) as whole, zipfile.ZipFile(broken, "w") as copy:
        for name in whole.namelist():
            copy.writestr(name, b"[]" if name.endswith(".json") else b"")
    assert prebuilt_kernels("fill.cu", {}, "sm_90", newest(), broken) is None
    broken.write_bytes(b"no archive")
    prebuilt._contents.cache_clear()
    assert prebuilt_kernels("fill.cu", {}, "sm_90", newest(), broken) is None


@pytest.fixture
def without_nvrtc(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive with what may be a cubin, for which no compiler is needed."""
    monkeypatch.setattr(kernels, "compiler", lambda: SimpleNamespace(version=(13, 0)))
    path, unit = tmp_path / "prebuilt.zip", kernels.Unit.of("fill.cu", {}, "sm_90")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as opened:
        opened.writestr(f"{unit.key}.cubin", random.Random(1).randbytes(3000))
        opened.writestr(f"{unit.key}.json", json.dumps({"compiler": [13, 0], "kernels": {}}))
    return path


@pytest.mark.filterwarnings("ignore:.*is damaged:gpugraph.base.errors.GpuGraphWarning")
def test_whatever_is_wrong_with_an_archive_it_is_compiled_instead(
    without_nvrtc: Path, cache: Path, tmp_path: Path
) -> None:
    whole, hurt, draw = without_nvrtc.read_bytes(), tmp_path / "hurt.zip", random.Random(60)
    taken = 0
    for _ in range(600):
        hurt.write_bytes(draw.choice(MUTATORS)(whole, draw))
        prebuilt._contents.cache_clear()
        shutil.rmtree(cache, ignore_errors=True)
        taken += prebuilt_kernels("fill.cu", {}, "sm_90", 13, hurt) is not None
    assert taken < 300
    assert prebuilt_kernels("fill.cu", {}, "sm_90", 13, without_nvrtc) is not None


def test_a_damaged_archive_is_told_of_once(without_nvrtc: Path, cache: Path) -> None:
    content = bytearray(without_nvrtc.read_bytes())
    content[len(content) // 3] ^= 1
    without_nvrtc.write_bytes(content)
    with pytest.warns(GpuGraphWarning, match=r"is damaged: .* compiled anew — reinstall gpugraph"):
        assert prebuilt_kernels("fill.cu", {}, "sm_90", 13, without_nvrtc) is None
    assert prebuilt_kernels("fill.cu", {}, "sm_90", 13, without_nvrtc) is None, "without another word"


def test_a_device_takes_a_prebuilt_kernel_and_compiles_none(
    archive: Path, cupy: FakeCupy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> CompiledModule:
        raise AssertionError("it compiles")

    device = CudaDevice()
    lookup = prebuilt_kernels
    monkeypatch.setattr("gpugraph.devices.cuda.prebuilt_kernels", lambda *asked: lookup(*asked, archive=archive))
    monkeypatch.setattr("gpugraph.devices.cuda.compile_kernels", never)
    monkeypatch.setattr(device, "arch", "sm_90")
    assert device.kernel("fill.cu", "fill_4_bytes").name == "fill_4_bytes"


def test_a_wheel_brings_define_sets_that_drivers_ask_for() -> None:
    files = declared()
    for file, defines, arch in units(["sm_90"]):
        sets = files[file].define_sets if file in files else [{}]
        assert files[file].without_defaults(defines) in sets if file in files else defines == {}
        assert arch == "sm_90"


def test_kernels_for_uint32_are_all_that_the_first_commands_load(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    brought: list[tuple[str, Any, str]] = []
    monkeypatch.setattr("gpugraph.ext.builds.kernels.build", lambda path, units, _: brought.extend(units))
    archive = tmp_path / "prebuilt.zip"
    archive.write_bytes(b"")
    assert main(["--uint32", "--arch", "sm_90", "--output", str(archive)]) == 0
    loaded, kernel = set(), EmulatedDevice.kernel

    def note(device: EmulatedDevice, file: str, name: str, defines: Any = None, **options: Any) -> Any:
        loaded.add((file, str(defines or {}), "sm_90"))
        return kernel(device, file, name, defines, **options)

    monkeypatch.setattr(EmulatedDevice, "kernel", note)
    for words in (["mst", "--algo", "filter-boruvka"], ["sssp", "--source", "0"], ["components"]):
        succeed(*words, "rmat:8", "--device", "emulated", "--repeat", "1")
    assert {"filter_boruvka.cu", "delta_stepping.cu", "components.cu"} <= {file for file, _, _ in loaded}
    assert loaded <= {(file, str(defines), arch) for file, defines, arch in brought}
