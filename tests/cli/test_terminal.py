"""What a terminal expects of a command besides: a short help, -V, colours on demand, standard output by its name."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gpugraph
from tests import manpage
from tests.cli.runner import refuse, run, succeed


def test_the_help_takes_the_width_of_the_terminal_and_60_lines_at_80() -> None:
    command = [sys.executable, "-m", "gpugraph", "mst", "-h"]
    for width in (80, 120):
        environment = {**os.environ, "COLUMNS": str(width)}
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
        lines = done.stdout.splitlines()
        assert width - 20 < max(map(len, lines)) <= width
        assert len(lines) <= 60


@pytest.mark.parametrize("stated", ["60", "80", "", "0", "many", "9" * 5000])
def test_a_table_in_a_pipe_is_as_wide_as_the_variable_columns_states(
    stated: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", stated)
    shown = succeed("bench", "grid:4x4", "path:9", "--algo", "kruskal,prim", "--device", "cpu", "--list").out
    assert (max(map(len, shown.splitlines())) <= 60) == (stated == "60")
    assert ("problem mst, device cpu\n" in shown) == (stated == "60")  # what all rows have in common is said once
    assert "  1.63 KiB" in shown


def test_the_help_of_a_problem_fits_a_screen_and_names_what_it_leaves_out() -> None:
    shown = succeed("mst", "--help").out
    assert len(shown.splitlines()) <= 60
    whole = succeed("mst", "--help-all").out
    left_out = (
        shown.split("--help-all describes ")[1]
        .removesuffix(" too.\n")
        .replace("-\n", "-")
        .replace("\n", " ")
        .split(", ")
    )
    assert {"--switch-after", "--energy", "--peer-command"} <= set(left_out)
    for name in left_out:
        assert f"\n  {name}" in whole
        assert f"\n  {name}" not in shown


def test_the_version_has_a_short_option() -> None:
    assert succeed("-V").out == succeed("--version").out
    assert succeed("-V").out.startswith(f"gpugraph {gpugraph.__version__}")


@pytest.mark.parametrize(
    ("variable", "value", "coloured"), [("FORCE_COLOR", "1", True), ("CLICOLOR_FORCE", "0", False)]
)
def test_colours_in_a_pipe_are_for_those_who_ask(
    variable: str, value: str, coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert ("\x1b[" in succeed("devices").out) is coloured


def test_a_graph_goes_down_a_pipe_by_the_ending_of_its_format() -> None:
    command = [sys.executable, "-m", "gpugraph", "generate", "grid:3x3", "-o", "-", "--output-format", "gr", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0
    assert done.stdout.startswith("p sp 9 24\n")
    back = [sys.executable, "-m", "gpugraph", "info", "-", "--format", "json"]
    assert '"edges": 12' in subprocess.run(back, input=done.stdout, capture_output=True, text=True, timeout=300).stdout
    assert "--output-format csr" in refuse(2, "generate", "grid:3x3", "-o", "-")


@pytest.mark.parametrize("output", ["-", "/dev/stdout"])
def test_an_answer_goes_down_a_pipe_alone(output: str) -> None:
    words = ["mst", "path:4", "-o", output, "--device", "cpu", "--repeat", "1"]
    done = subprocess.run([sys.executable, "-m", "gpugraph", *words], capture_output=True, text=True, timeout=300)
    assert [line.count(",") for line in done.stdout.splitlines()] == [2] * 4
    assert done.stdout.startswith("u,v,weight\n")
    assert "verdict" in done.stderr


@pytest.mark.parametrize("words", [("--timeout", "2m"), ("--max-seconds", "50ms"), ("--target", "50")])
def test_times_have_units_and_a_bare_target_is_in_per_cent(words: tuple[str, str]) -> None:
    succeed("mst", "path:4", "--device", "cpu", *words, "--repeat", "2")


@pytest.mark.parametrize("text", ["0", "-1", "soon", "1y"])
def test_a_length_of_time_that_is_none_is_refused(text: str) -> None:
    assert f"--max-seconds: '{text}' is no length of time" in refuse(2, "mst", "path:4", "--max-seconds", text)


def test_a_command_without_a_graph_says_what_to_give() -> None:
    assert "give a file, a spec or a data set" in run("mst", "--device", "cpu", "--repeat", "1").err


@pytest.mark.parametrize("stated", ["0", "000", "9" * 5000])
def test_in_colour_nothing_is_lost_where_the_variable_columns_states_no_width(
    stated: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", stated)
    assert "4 vertices" in succeed("info", "path:4").out


def test_a_pager_that_is_no_command_is_one_line() -> None:
    main, child = pty.openpty()
    command = [sys.executable, "-m", "gpugraph", "help", "config"]
    environment = {**os.environ, "TERM": "xterm", "PAGER": "cat 'open"}
    done = subprocess.run(
        command, stdout=child, stdin=child, stderr=subprocess.PIPE, text=True, env=environment, timeout=300
    )
    os.close(child)
    os.close(main)
    said = "gpugraph: error: $PAGER: no command: no closing quotation — correct or unset the variable\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_a_page_of_help_on_a_terminal_shows_no_escape_codes(tmp_path: Path) -> None:
    main, child = pty.openpty()
    (tmp_path / "less").write_text('#!/bin/sh\necho "LESS=$LESS" >&2\nexec cat\n')
    (tmp_path / "less").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "TERM": "xterm", "PAGER": "less"}
    environment.pop("LESS", None)
    command = [sys.executable, "-m", "gpugraph", "help", "config"]
    done = subprocess.run(
        command, stdout=child, stdin=child, stderr=subprocess.PIPE, text=True, env=environment, timeout=300
    )
    os.close(child)
    os.close(main)
    assert "LESS=-RFX" in done.stderr


def test_the_manual_has_every_command_and_option() -> None:
    installed, made = (
        set(re.findall(r"^\.SH .+|(?<=\n  )\\-[^ ,]+", text, re.MULTILINE))
        for text in (manpage.PAGE.read_text("utf-8"), manpage.text())
    )
    assert len(made) > 80
    assert installed == made, "run: python -m tests.manpage"
