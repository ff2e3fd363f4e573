"""Every kernel of the project under AddressSanitizer and UBSan."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpugraph.base.errors import DeviceUnavailable
from gpugraph.devices.kernel_source import load_source
from tests.devices.compile_matrix import kernel_files
from tests.emulator.compiler import needs_compiler
from tests.emulator.sanitized import run_sanitized
from tests.tiers import extended

ROOT = Path(__file__).resolve().parents[2]


@needs_compiler
@extended
@pytest.mark.long
@pytest.mark.parametrize("words", [[], pytest.param(["all"], marks=pytest.mark.thorough)], ids=["", "all"])
def test_no_kernel_reads_or_writes_outside_its_arrays(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    try:
        run = run_sanitized([str(Path(__file__).with_name("sanitized_script.py")), *words], timeout=900)
    except DeviceUnavailable as error:
        pytest.skip(str(error))
    assert (run.returncode, run.faults) == (0, ()), run.output
    every = {name for file in kernel_files() for name in load_source(file).kernels}
    assert every - set(run.output.split()) == set()
