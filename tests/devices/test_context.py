"""A GPU's context is ended before the command's phase timer ends, and nothing that is left asks anything of it."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpugraph.devices import context
from tests.tiers import first


class _Driver:
    """What ``end_contexts`` asks of the driver, noted."""

    def __init__(self) -> None:
        self.reset: list[int] = []

    def cuDeviceGet(self, device: object, index: int) -> int:
        device._obj.value = index + 40  # type: ignore[attr-defined]
        return 0

    def cuDevicePrimaryCtxReset_v2(self, device: ctypes.c_int) -> int:
        self.reset.append(device.value)
        return 0


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[int, threading.Thread]]:
    """The contexts that were begun; what is ended is put right again."""
    threads: dict[int, threading.Thread] = {}
    monkeypatch.setattr(context, "_BEGUN", threads)
    monkeypatch.setattr(context, "_KEPT", [])
    yield threads
    gc.enable()


def _begun_thread() -> threading.Thread:
    thread = threading.Thread(target=lambda: None)
    thread.start()
    return thread


def test_contexts_are_reset_and_only_the_drivers_files_are_closed(
    begun: dict[int, threading.Thread], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    begun.update({0: _begun_thread(), 3: _begun_thread()})
    driver = _Driver()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: driver)
    held, other = (os.open(tmp_path / name, os.O_CREAT | os.O_RDWR) for name in ("held", "other"))
    told = os.readlink
    monkeypatch.setattr(
        os, "readlink", lambda path: "/dev/nvidia-uvm" if str(path) == f"/proc/self/fd/{held}" else told(path)
    )
    kept = object()
    context.end_contexts(kept)
    assert driver.reset == [40, 43]
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(held)
    os.fstat(other)
    os.close(other)
    assert kept in context._KEPT
    assert not gc.isenabled()


def test_where_no_context_was_begun_nothing_is_ended(
    begun: dict[int, threading.Thread], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: pytest.fail("the driver was asked for"))
    context.end_contexts(object())
    assert gc.isenabled()
    assert not context._KEPT


def test_without_a_driver_the_way_out_is_open(
    begun: dict[int, threading.Thread], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun[0] = _begun_thread()

    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    context.end_contexts(object())


ENDED = """
import gc, sys, weakref
from gpugraph import cli
from gpugraph.devices import context, discovery

def watch(keep):
    gc.disable()
    kept.append(keep)
    for held in gc.get_objects():
        if str(type(held).__module__).startswith(("gpugraph.devices", "gpugraph.ext.emulator")):
            try:
                weakref.finalize(held, died.append, type(held).__name__).atexit = False
                watched.append(type(held).__name__)
            except TypeError:
                pass

def told(code):
    print(died, len(watched), file=sys.stderr)
    raise SystemExit(code)

kept, died, watched = [], [], []
context.end_contexts, discovery.expect_device = watch, lambda device: True  # as where there is a GPU
cli.end = told
cli.main()
"""


@pytest.mark.parametrize("command", first(1, ["mst rmat:6", "sssp rmat:6", "components rmat:6", "scan array:n=1000"]))
def test_nothing_of_a_device_dies_between_the_end_of_its_context_and_that_of_the_process(
    command: str, tmp_path: Path
) -> None:
    result = tmp_path / ("x.npy" if "array" in command else "x.npz")
    done = subprocess.run(
        [sys.executable, "-c", ENDED, *command.split(), "--device", "emulated", "--quiet", "-o", str(result)],
        capture_output=True,
        text=True,
        check=True,
    )
    died, watched = done.stderr.splitlines()[-1].rsplit(" ", 1)
    assert died == "[]"
    assert int(watched) > 0


@pytest.mark.gpu
@pytest.mark.parametrize("command", ["mst", "sssp", "components"])
def test_the_account_of_a_command_has_the_end_of_its_context(command: str) -> None:
    before = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "gpugraph", command, "rmat:10", "--device", "cuda", "--quiet", "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
    )
    whole = time.perf_counter() - before
    record = json.loads(done.stdout)
    assert done.stderr == ""
    assert 0 < record["phases_s"]["close"] < record["phases_s"]["total"] < whole
