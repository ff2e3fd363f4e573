"""The pages: what they tell a reader to type works, the notebook runs, and the site has them all.

A block of commands (```sh) is run, all blocks of a page one after the other in one folder.  Its first line may say
``exit=0,4`` (how it may end), ``compiler`` (what it needs), or ``parsed: …`` and why it is not run.  A block
```toml NAME is a file in that folder.  Every command, in a block or in the text, must be one that the command line
understands.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

import gpugraph
from gpugraph.base.code_cache import users_folder
from gpugraph.base.errors import GpuGraphError
from gpugraph.bench.axes import parse_settings
from gpugraph.bench.sweep_file import read_sweep
from gpugraph.cli.group import COMMANDS, cli
from tests.notebook import SVG, TEXT, executed
from tests.tiers import extended, only

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(DOCS.glob("*.md")),
    *sorted(DOCS.glob("performance/*.md")),
    *sorted(DOCS.glob("decisions/*.md")),
]
OWN_TESTS = {"README.md": "test_readme.py", "your_algorithm.md": "test_your_algorithm.py"}
"""Pages whose commands other tests run."""

FENCED = re.compile(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text_of(page: Path) -> str:
    return page.read_text("utf-8")


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return (what its first line says, commands) of every block of commands."""
    return [(how, lines) for language, how, lines in FENCED.findall(text_of(page)) if language == "sh"]


RUN = [page for page in PAGES if page.name not in OWN_TESTS and any("parsed:" not in how for how, _ in blocks(page))]


DEAR = ("peers", "report", "python", "tutorial")
"""Pages whose commands take many seconds."""


@pytest.mark.parametrize("page", only([page for page in RUN if page.stem not in DEAR], RUN), ids=lambda page: page.stem)
def test_the_commands_of_a_page_run_one_after_the_other(page: Path, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "gpugraph"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gpugraph "$@"\n')
    program.chmod(0o755)
    folder = tmp_path / "work"
    folder.mkdir()
    paths = {"PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "HOME": str(folder)}
    paths["GPUGRAPH_CACHE_DIR"] = str(users_folder())  # code that is compiled already, though the home is another
    for language, name, text in FENCED.findall(text_of(page)):
        if language == "toml" and name:
            (folder / name).write_text(text, "utf-8")
    for how, lines in blocks(page):
        if how.startswith("parsed:"):
            continue
        lines = sampled_briefly(lines)
        codes = [int(code) for code in how.removeprefix("exit=").split(",")] if how.startswith("exit=") else [0]
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", lines],
            env={**os.environ, **paths}, cwd=folder, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert done.returncode in codes, done.stderr


def sampled_briefly(commands: str) -> str:
    """Return commands that take samples for a tenth of a second: no test is about how well a median is known."""
    return re.sub(r"(--max-seconds) [\d.]+", r"\1 0.1", commands)


def commands(page: Path) -> list[str]:
    """Return every command of gpugraph that a page names: in a block, in a line of code, or in a row of a table.

    Commands of other machines and programs are in blocks of a console; those that make an image name no command.
    """
    text = text_of(page)
    found = [line for how, lines in blocks(page) for line in lines.replace("\\\n", " ").splitlines()]
    typed = [
        line for language, _, lines in FENCED.findall(text) if language == "console" for line in lines.splitlines()
    ]
    found += [line[2:] for line in typed if re.match(r"\$ (?!docker (build|save))", line)]
    found += [" ".join(code.split()) for code in re.findall(r"`(gpugraph [^`]+)`", FENCED.sub("", text))]
    return [match[1] for line in found if (match := re.search(r"(?:^|\s|\()(gpugraph .*)", line))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_on_a_page_is_one_that_the_command_line_understands(page: Path) -> None:
    above = click.Context(cli, info_name="gpugraph", **cli.context_settings)
    for line in commands(page):
        for words in words_of(line):
            if words[:1] != ["gpugraph"] or len(words) < 2 or "…" in line or words[1].isupper():
                continue
            command = cli.get_command(above, words[1])
            assert command is not None, line
            if "--help" in words:
                continue
            try:
                context = command.make_context(words[1], words[2:], parent=above, resilient_parsing=len(words) == 2)
            except (click.ClickException, GpuGraphError) as error:
                pytest.fail(f"{line}: {error}")
            if words[1] == "bench":
                check_sweep(context.params, line)


def words_of(line: str) -> list[list[str]]:
    """Return the words of each command of a line, without where its output goes."""
    quoted = line.count("'") % 2 or line.count('"') % 2
    parser = shlex.shlex(line.split(")")[0] if quoted else line, posix=True, punctuation_chars=True)
    parser.whitespace_split = True
    found: list[list[str]] = [[]]
    for word in parser:
        if set(word) <= set(";|&<>()"):
            found.append([])
        else:
            found[-1].append(word)
    return found


def check_sweep(given: dict[str, object], line: str) -> None:
    """Check that a sweep that the command names is there, and takes what is set."""
    name = str(given["sweep"] or "smoke")
    if name.endswith((".toml", "NAME")) or given["graphs"] or given["algos"]:
        return
    try:
        read_sweep(name, parse_settings(given["settings"]))  # type: ignore[arg-type]
    except GpuGraphError as error:
        pytest.fail(f"{line}: {error}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_stand_in_blocks_that_say_so(page: Path) -> None:
    outside = FENCED.sub("", text_of(page))
    assert not re.findall(r"^ {4,}(?:gpugraph|pip|mpiexec|make) .*", outside, re.MULTILINE)
    for how, _ in blocks(page):
        assert re.fullmatch(r"(parsed: \w.*|exit=\d+(,\d+)*|compiler)?", how), how


def test_every_block_of_commands_runs_here_or_in_a_test_of_its_page() -> None:
    for page in PAGES:
        if any(not how.startswith("parsed: ") for how, _ in blocks(page)) and page not in RUN:
            own = ROOT / "tests" / OWN_TESTS[page.name]
            assert page.name in own.read_text("utf-8")


def test_what_stored_records_show_is_not_measured_again() -> None:
    assert [how for how, _ in blocks(DOCS / "results.md") if not how.startswith("parsed: ")] == []


@extended
def test_the_notebook_runs_and_shows_what_is_stored_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(text_of(DOCS / "notebook.ipynb"))
    kinds = []
    for cell, found in executed(notebook):
        stored = [sorted(output.get("data", {TEXT: ""})) for output in cell["outputs"]]
        assert [sorted(output.get("data", {TEXT: ""})) for output in found] == stored, "".join(cell["source"])
        kinds += [kind for output in found for kind in output.get("data", ())]
    assert {SVG, "text/html"} <= set(kinds)
    assert "Forests in a notebook" in (tmp_path / "report.html").read_text("utf-8")


def test_every_page_is_in_the_site() -> None:
    listed = set(re.findall(r"^   ([\w/-]+)$", (DOCS / "index.rst").read_text("utf-8"), re.MULTILINE))
    pages = {page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES if page.is_relative_to(DOCS)}
    logs = {page for page in pages if "/" in page and not page.endswith("/index")}  # their folder's index lists them
    linked = {"performance/index"}  # from a page, and in no sidebar
    assert listed - {"reference/cli", "reference/python", "reference/notebook"} == pages - logs - linked
    assert "(performance/index.md)" in (DOCS / "architecture.md").read_text("utf-8")
    for page in logs:
        assert f"({Path(page).name}.md)" in text_of((DOCS / page).with_name("index.md")), page


def test_the_generated_pages_have_every_command_and_every_name() -> None:
    pytest.importorskip("docutils")  # which the extra docs brings
    pages = runpy.run_path(str(DOCS / "conf.py"))
    reference = pages["command_line"]()
    for name in COMMANDS:
        assert f"\n## gpugraph {name}\n" in reference
    for name in set(gpugraph.__all__) - {"__version__", "csgraph"}:
        lines = [f"autofunction:: gpugraph::{name}\n", f".{name}\n"]
        assert any(line in pages["python"]() for line in lines), name
    assert pages["notebook"]().count("```{raw} html") >= 5
