from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from gpugraph import __version__
from gpugraph.cli.group import COMMANDS, SECTIONS, cli
from gpugraph.graph.families import FAMILIES, find_family
from tests.cli.runner import run, succeed

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("numpy", "scipy", "numba", "pyarrow", "rich", "cupy")


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def example(name: str) -> str:
    (line,) = re.findall(r"^Example:\n  (gpugraph .*)$", command(name).help or "", re.MULTILINE)
    return line


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_every_option_has_help_and_every_command_an_example(name):
    assert example(name).startswith(f"gpugraph {name} ") or example(name) == f"gpugraph {name}"
    for parameter in command(name).params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.name} has no help"
    shown = succeed(name, "--help").out
    assert f"  {example(name)}\n" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_every_command_is_in_one_section_of_the_help():
    assert sorted(" ".join(SECTIONS.values()).split()) == sorted(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_on_the_page_of_the_installation(name):
    assert f"gpugraph {name}" in (ROOT / "docs" / "install.md").read_text("utf-8")


def test_the_examples_of_the_help_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("generate", "convert", "info", "mst", "sssp", "verify", "algos", "devices"):
        succeed(*shlex.split(example(name))[1:])
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {"rmat12.csr", "rmat12.gr.gz", "forest.npz", "distances.csv"}


def test_help_imports_nothing_heavy():
    program = f"""
import sys
from gpugraph.cli.group import COMMANDS, cli
for words in [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)]:
    try:
        cli.main(words)
    except SystemExit as ending:
        assert ending.code == 0, words
print([name for name in {HEAVY} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_help_of_generate_has_an_example_of_every_family():
    shown = " ".join(run("generate", "--help").out.split())
    for family in map(find_family, FAMILIES):
        assert family.example in shown


def test_no_arguments_show_the_help():
    assert run().out == run("--help").out
    assert run().code == 0
    assert all(f"  {name} " in run().out for name in COMMANDS)
    assert "...\n" not in run().out.partition("Solve")[2]
    assert re.search(r"^  compare +Compare two files of records, cell by cell$", run().out, re.MULTILINE)


def test_the_version_is_shown():
    assert re.fullmatch(rf"gpugraph {__version__}( \(commit [0-9a-f]{{12}}\+?\))?\n", succeed("--version").out)


def test_python_minus_m_is_the_same_program():
    done = subprocess.run(
        [sys.executable, "-m", "gpugraph", "--version"], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.startswith(f"gpugraph {__version__}")
