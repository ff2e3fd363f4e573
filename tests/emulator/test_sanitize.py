"""Memory faults by file and line, from a process with AddressSanitizer under it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpugraph.base.errors import DeviceUnavailable
from gpugraph.ext.emulator.sanitize import EXIT_FAULT, sanitized_environment
from tests.emulator.compiler import needs_compiler
from tests.emulator.sanitized import SanitizedRun, find_faults, run_sanitized
from tests.tiers import also, first

ROOT = Path(__file__).parents[3]
SCRIPT = str(Path(__file__).parent / "sanitized_script.py")


@pytest.fixture(autouse=True)
def _find_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))


def _run(kernel: str) -> SanitizedRun:
    try:
        return run_sanitized([SCRIPT, kernel])
    except DeviceUnavailable as error:
        pytest.skip(str(error))


@needs_compiler
@pytest.mark.parametrize(
    ("kernel", "line", "what"),
    [
        ("off_by_one_broken", "off_by_one.cu:5", "heap-buffer-overflow"),
        also("shared_off_by_one_broken", "shared_off_by_one.cu:8", "index 64 out of bounds"),
        also("past_dynamic_shared", "sanitized.cu:8", "heap-buffer-overflow"),
    ],
)
def test_an_access_out_of_bounds_ends_the_process_with_its_line(kernel: str, line: str, what: str) -> None:
    run = _run(kernel)
    assert run.returncode == EXIT_FAULT, run.output
    assert str(run.faults[0]).startswith(f"{line}: {what}")


@needs_compiler
@pytest.mark.parametrize("kernel", first(1, ["off_by_one_fixed", "shared_off_by_one_fixed"]))
def test_a_correct_kernel_passes(kernel: str) -> None:
    run = _run(kernel)
    assert (run.returncode, run.faults) == (0, ()), run.output
    assert f"done {kernel}" in run.output


@needs_compiler
def test_the_command_line_runs_a_script_and_returns_its_exit_code() -> None:
    try:
        sanitized_environment()
    except DeviceUnavailable as error:
        pytest.skip(str(error))
    command = [sys.executable, "-m", "gpugraph.ext.emulator.sanitize"]
    done = subprocess.run([*command, "-c", "raise SystemExit(7)"], capture_output=True, text=True, check=False)
    assert done.returncode == 7
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ")


def test_faults_are_read_from_the_reports_of_both_sanitisers() -> None:
    output = """
/a/k.cu:8:47: runtime error: index 64 out of bounds for type 'int [64]'
==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2
READ of size 4 at 0x1 thread T0
    #0 0x3 in __interceptor_memcpy ../src/asan.cpp:9
    #1 0x4 in f(int*) /a/helper.cuh:12:3
    #2 0x5 in k /a/k.cu:20
"""
    assert [str(fault) for fault in find_faults(output)] == [
        "k.cu:8: index 64 out of bounds for type 'int [64]'",
        "helper.cuh:12: heap-buffer-overflow",
    ]
