"""CPU code that a wheel brings: found under its name in the cache, and of no harm where it is of no use."""

from __future__ import annotations

import io
import lzma
import os
import random
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core.codegen import get_host_cpu_features

from gpugraph.base import numba_cache, numba_prebuilt
from gpugraph.base.errors import GpuGraphWarning
from gpugraph.base.host import environment_with_package
from gpugraph.ext.builds import ahead, cpu_code
from tests.mutate import MUTATORS
from tests.tiers import extended

NATIVE = ("x86_64-unknown-linux-gnu", "znver5", ",".join(sorted((*numba_prebuilt.NEEDED, "+avx512f", "+sse2"))))


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give the path of the archive of a package that brings code, an archive with nothing in it yet."""
    monkeypatch.setattr(numba_prebuilt, "FOLDER", tmp_path / "prebuilt")
    numba_prebuilt.contents.cache_clear()
    monkeypatch.setattr(numba.config, "CPU_NAME", None)
    monkeypatch.setattr(numba.config, "CPU_FEATURES", None)
    path = numba_prebuilt.archive()
    path.parent.mkdir()
    path.touch()
    yield path
    numba_prebuilt.contents.cache_clear()


@extended
def test_a_command_compiles_nothing_that_the_package_brings(package: Path, tmp_path: Path) -> None:
    features = get_host_cpu_features().split(",")
    if not set(features) >= numba_prebuilt.NEEDED:
        pytest.skip("this processor cannot run what wheels bring")
    command = ("generate", "grid:4x4", "-o", "grid.csr")
    count = cpu_code.build([command])
    brought = numba_prebuilt.contents()
    assert len(brought) == count > 0
    script = "import sys; from pathlib import Path; from gpugraph import cli\n"
    script += "from gpugraph.base import numba_prebuilt; numba_prebuilt.FOLDER = Path(sys.argv.pop(1)); cli.main()"
    environment = environment_with_package() | {"GPUGRAPH_CACHE_DIR": str(tmp_path / "cache")}
    for name in ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"):
        environment.pop(name, None)
    words = [sys.executable, "-P", "-c", script, package.parent, *command]
    subprocess.run(words, cwd=tmp_path, env=environment, check=True, timeout=300)
    kept = {file.name: file.read_bytes() for file in (tmp_path / "cache" / "numba").glob("*.code")}
    assert kept, "callers bring the code of what they call; each that is called from outside is there"
    assert kept.items() <= brought.items(), "what is compiled has another name"


def test_code_of_the_package_is_for_most_processors_and_keeps_the_triple(package: Path) -> None:
    assert numba_cache._target_of_package(NATIVE) == (NATIVE[0], "x86-64-v3", "")


def test_the_package_is_of_no_use_to_a_processor_that_lacks_an_instruction(package: Path) -> None:
    triple, cpu, features = NATIVE
    without = (triple, cpu, features.replace("+avx2", "-avx2"))
    assert numba_cache._target_of_package(without) == without


def test_who_names_a_processor_for_numba_gets_code_for_it(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CPU_NAME", "generic")
    assert numba_cache._target_of_package(NATIVE) == NATIVE


def test_a_package_without_archives_brings_nothing(package: Path) -> None:
    package.unlink()
    assert numba_cache._target_of_package(NATIVE) == NATIVE
    assert numba_prebuilt.contents() == {}
    package.parent.rmdir()
    assert not numba_prebuilt.is_there()


def test_a_damaged_archive_brings_nothing(package: Path) -> None:
    for content in (b"", b"no archive"):
        package.write_bytes(content)
        numba_prebuilt.contents.cache_clear()
        assert numba_prebuilt.contents() == {}


def test_nothing_is_compiled_ahead_that_the_package_brings(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(ahead, "usable_cores", lambda: 2)
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: started.append(command))
    ahead.begin("mst", "rmat:16", "auto")
    assert started == []
    package.unlink()
    ahead.begin("mst", "rmat:16", "auto")
    assert len(started) == 1


def test_a_build_that_fails_leaves_the_archive_as_it_was(package: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="exit code 2"):
        cpu_code.build([("mst", "no such graph")])
    assert os.listdir(package.parent) == [package.name]
    assert package.read_bytes() == b""


@pytest.mark.filterwarnings("ignore:.*is damaged:gpugraph.base.errors.GpuGraphWarning")
def test_whatever_is_wrong_with_an_archive_all_is_compiled_as_ever(package: Path) -> None:
    inside, draw = io.BytesIO(), random.Random(60)
    with zipfile.ZipFile(inside, "w") as opened:
        for i in range(5):
            opened.writestr(f"f-{i}.code", draw.randbytes(300))
    whole, empty = inside.getvalue(), 0
    for i in range(600):
        hurt = draw.choice(MUTATORS)(whole if i % 2 else lzma.compress(whole), draw)
        package.write_bytes(lzma.compress(hurt, preset=0) if i % 2 else hurt)
        numba_prebuilt.contents.cache_clear()
        empty += not numba_prebuilt.contents()
    assert empty > 300


def test_a_damaged_archive_is_told_of_once(package: Path) -> None:
    package.write_bytes(b"no archive")
    with pytest.warns(GpuGraphWarning, match="is damaged: .* compiled anew"):
        assert numba_prebuilt.contents() == {}
    numba_prebuilt.contents.cache_clear()
    assert numba_prebuilt.contents() == {}, "without another word"


@extended
def test_the_runtime_that_is_kept_serves_what_is_compiled_later(tmp_path: Path) -> None:
    """And what is loaded needs none of the modules of Numba that it was inlined from."""
    script = "import sys; from gpugraph.cli.group import cli\n"
    script += "try: cli.main(['generate', 'grid:4x4', '-o', sys.argv[1]])\n"
    script += "except SystemExit as end: print(end.code, 'numba.np.arrayobj' in sys.modules)"
    environment = environment_with_package() | {"GPUGRAPH_CACHE_DIR": str(tmp_path / "cache")}

    def outcome(name: str) -> str:
        words = [sys.executable, "-c", script, name]
        done = subprocess.run(words, cwd=tmp_path, env=environment, check=True, timeout=300, capture_output=True)
        return done.stdout.decode().splitlines()[-1]

    assert outcome("first.csr") == "0 True"
    codes = {file.name.partition("-")[0]: file for file in (tmp_path / "cache" / "numba").glob("*.code")}
    codes.pop("runtime")
    for file in codes.values():
        file.unlink()
    assert outcome("later.csr") == "0 True"
    assert outcome("loaded.csr") == "0 False"
    assert len({(tmp_path / f"{name}.csr").read_bytes() for name in ("first", "later", "loaded")}) == 1
