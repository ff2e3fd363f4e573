"""The commands in remedies install where gpugraph runs: by pip, uv, uv tool or pipx."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from gpugraph.base import errors

MESSAGE = "pyarrow is missing: pip install 'gpugraph[tables]', or pip install networkx (or '{}[report]')"


@pytest.mark.parametrize(
    ("receipt", "has_pip", "own", "other"),
    [
        ("", True, "pip install 'gpugraph[tables]'", "pip install networkx"),
        ("", False, "uv pip install 'gpugraph[tables]'", "uv pip install networkx"),
        ("uv-receipt.toml", False, "uv tool install 'gpugraph[tables]'", "uv tool install gpugraph --with networkx"),
        ("pipx_metadata.json", True, "pipx install --force 'gpugraph[tables]'", "pipx inject gpugraph networkx"),
    ],
)
def test_a_remedy_installs_where_gpugraph_runs(
    receipt: str, has_pip: bool, own: str, other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if receipt:
        (tmp_path / receipt).touch()
    find = importlib.util.find_spec
    pip = find("os") if has_pip else None
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: pip if name == "pip" else find(name))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(errors, "_installed_from", lambda: "gpugraph")
    shown = errors.installable_here(MESSAGE.format("gpugraph"))
    assert f"missing: {own}, or {other} (" in shown
    monkeypatch.setattr(errors, "_installed_from", lambda: "/src/gpugraph")
    shown = errors.installable_here(MESSAGE.format("gpugraph"))
    assert own.replace("'gpugraph[", "'/src/gpugraph[") in shown
    assert "'/src/gpugraph[report]'" in shown
