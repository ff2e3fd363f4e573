from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpugraph.devices import nvrtc
from tests.devices.fake_cupy import FakeCupy


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty kernel cache of the test's own."""
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "cubins"


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function that puts a module, or None for "not installed", in CuPy's place."""

    def put(module: Any) -> Any:
        monkeypatch.setitem(sys.modules, "cupy", module)
        return module

    return put


@pytest.fixture
def cupy(install: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> FakeCupy:
    """A fake CuPy with one GPU; kernels are compiled by the real compiler, and none runs, so the host makes graphs."""
    nvrtc.compiler()
    monkeypatch.setattr("gpugraph.graph.generate.can_generate", lambda spec: False)
    fake: FakeCupy = install(FakeCupy())
    return fake
