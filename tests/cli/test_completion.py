from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from gpugraph.cli.group import COMMANDS, cli
from gpugraph.cli.options import VARIABLE
from gpugraph.ext.settings.completion import SHELLS
from tests.cli.runner import refuse, run, succeed

ROOT = Path(__file__).resolve().parents[2]
PAGES = {page.stem: page for page in sorted((ROOT / "docs").glob("*.md"))}


def offered(*words: str) -> list[str]:
    """Return what completes the last word; a type in the place of files."""
    found = BashComplete(cli, {}, "gpugraph", VARIABLE).get_completions(list(words[:-1]), words[-1])
    return [item.value if item.type == "plain" else f"<{item.type}>" for item in found]


@pytest.mark.parametrize(
    ("words", "some"),
    [
        (("ms",), ["mst"]),
        (("mst", "--algo", "bor"), ["boruvka", "boruvka-scan"]),
        (("sssp", "--algo", "delta"), ["delta-stepping"]),
        (("mst", "--algo", "./my"), ["<file>"]),
        (("mst", "rm"), ["rmat:", "<file>"]),
        (("mst", "--verify", "c"), ["certificate"]),
        (("mst", "--devi"), ["--device"]),
        (("mst", "--device", "em"), ["emulated"]),
        (("mst", "-o", "f"), ["<file>"]),
        (("bench", "--sweep", "sc"), ["scales"]),
        (("bench", "--peer", "scipy,ig"), ["scipy,igraph"]),
        (("convert", "gr"), ["grid:", "<file>"]),
        (("sssp", "--source", "max"), ["max-degree"]),
        (("report", "a"), ["<file>"]),
        (("help", "form"), ["formats"]),
        (("completion", "z"), ["zsh"]),
        (("info", "--input-format", "met"), ["metis"]),
        (("explain", "krus"), ["kruskal"]),
        (("info", "--gpu", "L4,H1"), ["L4,H100"]),
        (("sssp", "--set", "del"), ["delta="]),
        (("plot", "--y", "ker"), ["kernel"]),
    ],
)
def test_names_and_files_are_offered(words: tuple[str, ...], some: list[str]):
    assert set(some) <= set(offered(*words))


def test_only_what_can_be_explained_is_offered_for_that():
    assert offered("explain", "au") == []
    assert "auto" in offered("mst", "--algo", "au")


@pytest.mark.parametrize("line", ["gpugraph nosuch ", "gpugraph mst snap:", "gpugraph datasets "])
def test_a_line_that_cannot_be_completed_is_answered_without_a_word(line: str, tmp_path: Path):
    (tmp_path / "lists.toml").write_text("x = = 3\n")
    asked = {VARIABLE: "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    environment = {**os.environ, **asked, "GPUGRAPH_DATASETS": str(tmp_path / "lists.toml")}
    done = subprocess.run([sys.executable, "-m", "gpugraph"], env=environment, capture_output=True, text=True)
    assert done.stderr == ""


def test_algorithms_are_those_of_the_commands_problem():
    assert "boruvka" not in offered("sssp", "--algo", "")
    assert "delta-stepping" not in offered("mst", "--algo", "")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell_is_printed_and_asks_the_program(shell: str, monkeypatch: pytest.MonkeyPatch):
    script = succeed("completion", shell).out
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    assert succeed("completion").out == script
    assert f"{VARIABLE}={shell}_complete" in script
    assert "unknown shell" in refuse(2, "completion", "tcsh")


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_takes_the_script_and_is_answered(tmp_path: Path):
    program = tmp_path / "gpugraph"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m gpugraph "$@"\n')
    program.chmod(0o755)
    script = tmp_path / "script"
    script.write_text(succeed("completion", "bash").out)
    asked = "COMP_WORDS=(gpugraph bench --sweep smo); COMP_CWORD=3; _gpugraph_completion gpugraph"
    ask = f"source {script}; {asked}; echo ${{COMPREPLY[@]}}"
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", ask], capture_output=True, text=True, env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    )
    assert done.stdout.split() == ["smoke"], done.stderr


# ------------------------------------------------------------------ help


def test_topics_are_listed_and_shown_and_travel_with_the_wheel():
    listed = succeed("help").out
    wheel = (ROOT / "pyproject.toml").read_text()
    for topic, page in PAGES.items():
        title = page.read_text("utf-8").splitlines()[0].lstrip("# ")
        assert f"{topic:<16} {title}" in listed
        assert succeed("help", topic).out.rstrip() == page.read_text("utf-8").rstrip()
        assert f'"docs/{topic}.md" = "gpugraph/docs/{topic}.md"' in wheel
    assert succeed("help", "docs/your-algorithm.md").out == succeed("help", "your_algorithm").out


def test_help_of_a_command_is_its_help():
    for name in (name for name in COMMANDS if name not in PAGES):
        assert (
            succeed("help", name).out.split("Usage:")[1].split() == run(name, "--help").out.split("Usage:")[1].split()
        )
    assert "did you mean 'formats'?" in refuse(2, "help", "fromats")


def test_help_is_laid_out_in_groups_with_an_example_first():
    lines = run("mst", "--help").out.splitlines()
    at = {title: lines.index(f"{title}:") for title in ("Example", "Graph", "Algorithm", "Measurement", "Output")}
    assert list(at.values()) == sorted(at.values())
    assert "--algo" in "\n".join(lines[at["Algorithm"] : at["Measurement"]])
    assert all(len(line) <= 80 for line in (*lines, *run("--help").out.splitlines()))
