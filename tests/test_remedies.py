"""The commands in remedies install where gpugraph runs: by pip, uv, uv tool or pipx."""

from __future__ import annotations

import importlib.util
import io
import sys
from pathlib import Path

import pytest

import gpugraph
from gpugraph.base import errors
from gpugraph.cli.live import Lines
from gpugraph.ext.python.inputs import device_kind

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


def test_a_remedy_in_python_fits_its_installation_and_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "uv-receipt.toml").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(errors, "_installed_from", lambda: "gpugraph")
    away = errors.DeviceUnavailable("no driver", remedy="take --device cpu, or pip install 'gpugraph[cuda13]'")
    monkeypatch.setattr("gpugraph.ext.python.inputs.select_device", lambda name: (_ for _ in ()).throw(away))
    with pytest.raises(errors.DeviceUnavailable, match=r"take device='cpu', or uv tool install 'gpugraph\[cuda13\]'$"):
        device_kind("a device of SciPy's or NetworkX's")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(errors.InputError, match=r"not installed — uv tool install gpugraph --with pandas$") as raised:
        gpugraph.generate("path:3").to_pandas()
    assert errors.installable_here(str(raised.value)) == str(raised.value)
    with pytest.raises(errors.InputError, match=r"name it \.jsonl$"):
        gpugraph.Records([]).save("records.jsonl.gz")
    (tmp_path / "own.py").write_text("def driver(view, clock): return 1 / 0\n")
    with pytest.raises(errors.InputError, match=r"an error of the user's own algorithm$"):
        gpugraph.mst("path:3", algo=f"{tmp_path}/own.py", device="cpu")
    assert errors.installable_here("uv pip install pandas") == "uv pip install pandas"


def test_a_line_of_progress_has_the_remedy_of_its_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpugraph.cli.live.installable_here", lambda text: f"{text}, here")
    stream = io.StringIO()
    Lines(1, quiet=False, stream=stream)._tell("pip install networkx")
    assert stream.getvalue() == "gpugraph: pip install networkx, here\n"
