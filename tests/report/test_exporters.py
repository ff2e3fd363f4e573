"""One table of exporters: a file of the folder is a format wherever results are written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpugraph.base.errors import InputError
from gpugraph.records.record import Record
from gpugraph.report.exporters import EXPORTERS, Results, contents, endings, exporter, exporter_of
from tests.report.canned import mst_record

ROOT = Path(__file__).resolve().parent.parent.parent

SHOUT = """
from gpugraph.report.exporters import Exporter

def _load():
    return lambda results: "LOUD: " + ", ".join(one.algorithm.upper() for one in results.records)

EXPORTER = Exporter((".loud",), "loud words", _load)
"""

COMMANDS = """
import json, sys
from click.testing import CliRunner
from gpugraph.cli.group import cli
found = [CliRunner().invoke(cli, words) for words in json.loads(sys.argv[1])]
print(json.dumps([[one.exit_code, one.stdout, one.stderr] for one in found]))
"""

CELL = ("grid:4x4", "--device", "cpu", "--algo", "kruskal", "--repeat", "1")


@pytest.fixture(scope="module")
def with_one_file_more(tmp_path_factory):
    """Return a function that runs commands of a gpugraph whose folder of exporters has one file more."""
    folder = tmp_path_factory.mktemp("project")

    def linked(path: str, inner: str | None = None) -> None:
        (folder / path).mkdir()
        for one in (ROOT / path).iterdir():
            if one.name not in (inner, "__pycache__"):
                (folder / path / one.name).symlink_to(one)

    for name in ("configs", "cuda_kernels", "docs"):
        (folder / name).symlink_to(ROOT / name)
    linked("gpugraph", "report")
    linked("gpugraph/report", "exporters")
    linked("gpugraph/report/exporters")
    (folder / "gpugraph/report/exporters/shout.py").write_text(SHOUT)

    def run(*commands: tuple[str, ...]) -> list[tuple[int, str, str]]:
        words = [sys.executable, "-c", COMMANDS, json.dumps(commands)]
        done = subprocess.run(
            words,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    run.folder = folder
    return run


def test_a_new_format_is_one_new_file(with_one_file_more):
    folder = with_one_file_more.folder
    record, several = folder / "r.jsonl", ("bench", "grid:4x4", "--device", "cpu", "--algo", "kruskal,boruvka")
    outcomes = with_one_file_more(
        ("mst", *CELL, "--format", "shout", "--save", str(record)),
        ("mst", "grid:4x4", "--device", "cpu", "--algo", "kruskal,boruvka", "--repeat", "2", "--format", "shout"),
        (*several, "--max-seconds", "0.1", "--save", str(folder / "b.jsonl"), "--export", str(folder / "b.loud")),
        ("report", str(record), "-o", str(folder / "r.loud")),
        ("report", str(record), "--format", "shout"),
        ("mst", "--help"),
        ("bench", "--help"),
        ("report", "--help"),
    )
    assert [code for code, _, _ in outcomes] == [0] * 8, outcomes
    printed, ranked, _, _, reported, *helps = (out for _, out, _ in outcomes)
    assert printed == reported == "LOUD: KRUSKAL\n"
    assert sorted(ranked.removeprefix("LOUD: ").strip().split(", ")) == ["BORUVKA", "KRUSKAL"]
    assert "KRUSKAL" in (folder / "b.loud").read_text()
    assert (folder / "r.loud").read_text() == "LOUD: KRUSKAL\n"
    of_mst, of_bench, of_report = (" ".join(text.split()) for text in helps)
    assert "|shout|" in of_mst
    assert "|shout|" in of_report
    assert all("loud words to .loud" in text for text in (of_mst, of_bench))
    assert ".loud" in of_report


@pytest.mark.parametrize("name", sorted(EXPORTERS))
def test_every_exporter_writes_records_that_are_compared_and_records_that_are_not(name):
    records = [Record.of(mst_record(algorithm=algorithm)) for algorithm in ("kruskal", "boruvka")]
    write = exporter(name).load()
    for results in (Results(records), Results(records, Results(records).ranked()), Results(records[:1])):
        text = write(results)
        assert "kruskal" in text
        assert not text.endswith("\n\n")


def test_the_ending_of_a_file_names_its_exporter_and_no_two_share_one():
    assert endings() == {
        ".csv": "csv", ".htm": "html", ".html": "html", ".json": "json", ".md": "markdown", ".tex": "latex"
    }  # fmt: skip
    assert sum(len(exporter(name).endings) for name in EXPORTERS) == len(endings())
    assert exporter_of("x/Y.TEX") is exporter("latex")
    with pytest.raises(InputError, match=r"unknown ending of an export '\.yaml'"):
        exporter_of("r.yaml")
    assert "a sorted table to .md" in contents()
    assert "a table of graphs and algorithms to .tex" in contents()


def test_help_lists_the_formats_without_loading_what_writes_them():
    listed = "from gpugraph.report.exporters import contents; contents(); import sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", listed], timeout=300, check=False).returncode == 0
