from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from gpugraph.base.errors import InputError
from gpugraph.cli.options import read_defaults, users_file
from tests.cli.runner import succeed
from tests.tiers import extended, first

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "configs" / "default.toml"
PAGE = (ROOT / "docs" / "config.md").read_text("utf-8")


def gpugraph(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the program in a process of its own, which reads the user's file."""
    kept = {name: value for name, value in os.environ.items() if name not in ("GPUGRAPH_CONFIG", "XDG_CONFIG_HOME")}
    return subprocess.run(
        [sys.executable, "-m", "gpugraph", *words], capture_output=True, text=True, cwd=ROOT, env=kept | variables
    )


def test_every_default_is_shown_with_its_file():
    shown = json.loads(succeed("config", "--format", "json").out)
    shipped = tomllib.loads(SHIPPED.read_text())
    assert {name: one["value"] for name, one in shown.items()} == {
        f"{table}.{key}": value for table, keys in shipped.items() for key, value in keys.items()
    }
    assert {one["origin"] for one in shown.values()} == {"configs/default.toml"}
    assert re.search(r"^measure.repeat +0 +configs/default.toml$", succeed("config").out, re.MULTILINE)


def test_the_users_file_goes_before_the_installations(tmp_path: Path):
    own = tmp_path / "gpugraph" / "config.toml"
    own.parent.mkdir()
    own.write_text('[default]\ngraph = "path:9"\ndevice = "cpu"\n[measure]\nrepeat = 3\n')
    shown = gpugraph("config", XDG_CONFIG_HOME=str(tmp_path))
    assert re.search(rf'^default.graph +"path:9" +{own}$', shown.stdout, re.MULTILINE)
    assert re.search(r"^measure.warmup +1 +configs/default.toml$", shown.stdout, re.MULTILINE)
    solved = gpugraph("mst", "--format", "json", XDG_CONFIG_HOME=str(tmp_path))
    record = json.loads(solved.stdout)
    assert (record["graph"]["vertices"], len(record["samples_s"]["kernel"])) == (9, 3)
    assert f"taking path:9, the default of {own}" in solved.stderr
    solved = gpugraph(
        "mst", "--repeat", "0", "--format", "json", XDG_CONFIG_HOME=str(tmp_path), GPUGRAPH_DEVICE="cpu/1"
    )
    record = json.loads(solved.stdout)
    assert (record["parameters"]["repeat"], record["device"]["threads"]) == (None, 1)
    shown = gpugraph("config", XDG_CONFIG_HOME=str(tmp_path), GPUGRAPH_DEVICE="cpu/1")
    assert re.search(r'^default.device +"cpu/1" +\$GPUGRAPH_DEVICE$', shown.stdout, re.MULTILINE)
    assert gpugraph("config", "--path", GPUGRAPH_CONFIG="/elsewhere.toml").stdout == "/elsewhere.toml\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[measure]\nrepaet = 3\n", "unknown key in [measure] 'repaet' — did you mean 'repeat'?"),
        ("[mesure]\nrepeat = 3\n", "did you mean 'measure'?"),
        ("[measure]\nrepeat = '3'\n", "measure.repeat is '3' — give a whole number"),
        ("[measure]\nrepeat = -3\n", "measure.repeat is -3 — give a whole number, 0 or more"),
        ("[measure]\nprice = -2.0\n", "measure.price is -2.0"),
        ("[measure]\nverify = 'certifcate'\n", "did you mean 'certificate'?"),
        ("[measure\n", "cannot be read"),
    ],
)
def test_a_mistake_in_it_is_reported_with_the_file(text: str, says: str, tmp_path: Path):
    own = tmp_path / "mine.toml"
    own.write_text(text)
    with pytest.raises(InputError) as refused:
        read_defaults(SHIPPED, own)
    assert str(refused.value).startswith(str(own))
    assert says in str(refused.value)


def test_where_the_users_file_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert users_file() is None  # as the tests have it
    monkeypatch.delenv("GPUGRAPH_CONFIG")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", "not/absolute")
    assert users_file() == tmp_path / ".config" / "gpugraph" / "config.toml"


def test_the_example_of_the_page_is_one(tmp_path: Path):
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "mine.toml").write_text(text)
    found = read_defaults(SHIPPED, tmp_path / "mine.toml")
    assert set(found.origins.values()) == {str(tmp_path / "mine.toml")}


@pytest.mark.parametrize(
    "text", first(2, ['[default]\ngrph = "x"\n', "[default\n", "default = 3\n", "[measure]\nwarmup = true\n"])
)
def test_a_mistake_in_the_users_file_is_one_line_and_the_version_is_printed_all_the_same(
    text: str, tmp_path: Path
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    done = gpugraph("mst", "grid:4x4", "--device", "cpu", GPUGRAPH_CONFIG=str(file))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"gpugraph: error: {file}")
    assert gpugraph("--version", GPUGRAPH_CONFIG=str(file)).returncode == 0
    assert gpugraph("config", "--path", GPUGRAPH_CONFIG=str(file)).stdout.strip() == str(file)


def test_a_default_device_that_is_none_is_reported_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[default]\ndevice = "gpu"\n')
    done = gpugraph("mst", "grid:4x4", GPUGRAPH_CONFIG=str(file))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"{file}: the default device is 'gpu' — give auto, cuda, cpu or emulated" in done.stderr
    assert "$GPUGRAPH_DEVICE: the default device is 'tpu'" in gpugraph("config", GPUGRAPH_DEVICE="tpu").stderr


def test_the_users_file_must_be_a_regular_file() -> None:
    done = gpugraph("mst", "grid:4x4", GPUGRAPH_CONFIG="/dev/zero")
    assert done.returncode == 2
    assert "not a regular file" in done.stderr


@extended
def test_the_default_device_may_be_several_ranks(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[default]\ndevice = "cpu*2"\n')
    done = gpugraph("mst", "grid:4x4", "--format", "json", GPUGRAPH_CONFIG=str(file))
    assert json.loads(done.stdout)["device"]["ranks"] == 2
