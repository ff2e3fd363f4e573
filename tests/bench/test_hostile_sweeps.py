"""Sweep files and tables of peers that are wrong in odd ways are refused in one line that names the file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.runner import refuse

GRAPH = 'axes.graph = "rmat:8"\n'
VARIANT = GRAPH + 'axes.algorithm = {name = "boruvka", %s}\n'
CASES = 'axes.graph = "rmat:{n},ef={m}"\n[[cases]]\nn = 8\nm = 4\n[[cases]]\nm = 5\n'
TABLE = GRAPH + '[[table]]\ntitle = "t"\n[table.columns]\nratio = "%s"\n'
PEER = GRAPH + '[peer.mine]\ncommand = "true {graph.wel}"\ntime = "t (.+)"\n%s\n'
DEEP = "[" * 5000 + "]" * 5000
HOSTILE = {
    "options that are a number": (VARIANT % 'options = "inf"', "line 2"),
    "a device that is a number": (VARIANT % "device = 3", "line 2"),
    "a case without its variable": (CASES, "line 2.*no value of 'n'"),
    "a formula of 3,000 terms": (TABLE % " + ".join(["kernel"] * 3000), "line.*2000"),
    "a formula of 100,000 signs": (TABLE % ("-" * 100_000 + "kernel"), "line.*2000"),
    "a formula of 900 signs": (TABLE % ("-" * 900 + "kernel"), "line"),
    "a formula of 150 terms": (TABLE % " + ".join(["kernel"] * 150), "line.*100 terms"),
    "a pattern that may mean another thing later": (PEER.replace("t (.+)", "[[a](.)") % "", "line.*nested set"),
    "a list 5,000 deep": (f"{GRAPH}x = {DEEP}", "line 2.*nested too deeply"),
    "a list 100 deep": (f"{GRAPH}x = {'[' * 100}{']' * 100}", "line 2.*nested too deeply"),
    "a pattern of 3,000 brackets": (PEER % f"weight = '{'(' * 3000}a{')' * 3000}'", "line 2.*weight"),
    "a pattern repeated without end": (PEER % "weight = '(a){99999999999}'", "line 2.*weight"),
    "a NUL in an environment": (PEER % 'env = {A = "a\\u0000"}', "line 2.*code 0"),
    "a variable with a sign in its name": (PEER % 'env = {"A=B" = "1"}', "line 2.*'A=B' is no name"),
    "an empty variable": (PEER % 'env = {"" = "1"}', "line 2.*is no name"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_sweep_is_refused_in_one_line_with_its_place(tmp_path: Path, name: str) -> None:
    text, wanted = HOSTILE[name]
    (tmp_path / "s.toml").write_text(text)
    line = refuse(2, "bench", "--list", "--sweep", tmp_path / "s.toml")
    assert re.search(f"s.toml.*{wanted}", line), line[:500]


def test_a_hostile_value_of_set_and_a_command_with_a_nul_are_refused() -> None:
    assert "nested too deeply" in refuse(2, "bench", "rmat:8", "--list", "--set", f"graph={DEEP}")
    for table, wanted in (
        ('x = {command = "true \\u0000 {graph.wel}", time = "(.)"}', "code 0"),
        (f"x = {DEEP}", "nested too deeply"),
    ):
        assert wanted in refuse(2, "mst", "path:9", "--algo", "peer:x", "--peer-command", table)
