from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from resource import RLIMIT_AS, setrlimit
from xml.etree import ElementTree

import pytest

from gpugraph.base.errors import InputError, installable_here
from gpugraph.bench.store import append_record
from gpugraph.records.record_file import parse_record
from tests.cli.runner import refuse, run, succeed
from tests.report.sweep import cell, sweep, write
from tests.tiers import first

REAL = Path(__file__).resolve().parents[1] / "report" / "real.jsonl"
"""Records of the CPU's algorithms on rmat:8 to rmat:10, as the tool wrote them."""


@pytest.fixture
def results(tmp_path):
    return write(sweep(), tmp_path / "results.jsonl")


def test_a_summary_comes_without_asking(results):
    shown = succeed("report", results, REAL).out
    for text in ("Minimum spanning forest, rmat: MTEPS over scale", "out of memory", "GPU over CPU", "verified"):
        assert text in shown
    assert all(len(line) <= 80 and line == line.rstrip() for line in shown.splitlines())


def test_real_records_make_every_kind_of_report(tmp_path):
    for name in ("r.html", "r.md", "r.csv", "r.txt", "r.html.gz"):
        outcome = succeed("report", REAL, "-o", tmp_path / name, *(("--format", "html") if name.endswith("gz") else ()))
        assert outcome.out.startswith(f"{tmp_path / name}: ")
        assert (tmp_path / name).stat().st_size > 500
    assert (tmp_path / "r.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert (tmp_path / "r.html.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_a_file_that_has_no_record_is_not_called_one_with_a_bad_line(tmp_path):
    for name in ("r.csv", "r.json"):
        succeed("report", REAL, "-o", tmp_path / name)
        line = refuse(2, "report", tmp_path / name)
        assert line.endswith("— take the line out, or give a file that --save or `gpugraph bench` wrote")


def test_csv_and_markdown_have_a_line_for_every_cell_failed_ones_too(results):
    rows = list(csv.DictReader(io.StringIO(succeed("report", results, "--format", "csv").out)))
    assert len(rows) == len(sweep())
    lost = next(row for row in rows if row["outcome"] == "out of memory")
    assert (lost["mteps.kernel"], lost["phases_s.kernel"], lost["cell.axes.scale"]) == ("", "", "23")
    assert float(rows[0]["confidence_s.kernel.low"]) < float(rows[0]["phases_s.kernel"])
    assert rows[0]["energy.nanojoules_per_edge"]
    lines = [line for line in succeed("report", results, "--format", "markdown").out.splitlines() if line[:1] == "|"]
    table, stated = lines[: len(sweep()) + 2], lines[len(sweep()) + 2 :]
    assert {line.replace("\\|", "").count("|") for line in table} == {12}  # nJ/edge among them
    assert [line.count("|") for line in stated] == [7] * (2 + 3)
    assert any("out of memory: needs 151 GB" in line for line in lines)


def test_the_tables_of_a_sweep_are_shown_and_written(results, tmp_path):
    shown = succeed("report", results, "--sweep", "scales").out
    assert "forests on a GPU\ngraph" in shown
    assert succeed("report", results, "--sweep", "scales", "-o", tmp_path / "t.txt").out.startswith(str(tmp_path))
    assert (tmp_path / "t.txt").read_text("utf-8").strip() == shown.strip()
    marked = succeed("report", results, "--sweep", "scales", "--format", "markdown").out
    assert "**forests on a GPU**\n\n| graph | algorithm |" in marked
    assert (
        "| claim, its place | stated | ours | holds? |"
        in succeed("report", results, "--sweep", "figures/mst", "--format", "markdown").out
    )


def test_a_sweep_that_none_of_the_records_belongs_to_is_reported():
    for style in ("text", "markdown"):
        shown = succeed("report", REAL, "--sweep", "scales", "--format", style).out
        assert shown.startswith("no record of these files fits a table of scales")


def test_a_template_is_filled_and_written(results, tmp_path):
    (tmp_path / "p.j2").write_text('# Forests\n\n{{ table("scales", "forests on a GPU", records="results") }}\n')
    shown = succeed("report", results, "--template", tmp_path / "p.j2").out
    assert shown.startswith("# Forests\n\n| graph | algorithm |")
    succeed("report", results, "--template", tmp_path / "p.j2", "-o", tmp_path / "p.md")
    assert (tmp_path / "p.md").read_text("utf-8") == shown


def test_a_plot_without_a_file_is_drawn_here(results):
    shown = succeed("plot", results, "--where", "problem=mst", "--by", "algorithm,device", "--title", "Forests").out
    assert shown.startswith("Forests\nmillion edges per second (MTEPS) over ")
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_the_page_has_its_title_and_the_names_of_its_files(results, tmp_path):
    succeed("report", results, "-o", tmp_path / "r.html", "--title", "Night run")
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "<title>Night run</title>" in page
    assert "from results.jsonl" in page


@pytest.mark.parametrize("ending", first(2, [".svg", ".json", ".pdf", ".png"]))
def test_a_figure_is_written_in_every_format(results, tmp_path, ending):
    path = tmp_path / f"figure{ending}"
    words = ("plot", results, REAL, "-o", path, "--where", "problem=mst", "--by", "algorithm,device", "--dark")
    assert "mteps, 169 mm wide" in succeed(*words).out
    assert path.stat().st_size > 1000
    if ending == ".json":
        assert "vega-lite" in json.loads(path.read_text())["$schema"]
        assert json.loads(path.read_text("utf-8"))["width"] == 640


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["report", "r.jsonl", "--format", "htm"], "did you mean 'html'?"),
        (["report", "r.jsonl", "-o", "r.hmtl"], "did you mean '.html'?"),
        (["report", "r.jsonl", "-o", "none/r.html"], "make the folder first"),
        (["report", "r.jsonl", "-o", "r.jsonl", "--format", "csv"], "would be overwritten"),
        (["report", "none.jsonl"], "none.jsonl"),
        (["report"], "RESULTS"),
        (["report", "r.jsonl", "--sweep", "scals"], "did you mean 'scales'?"),
        (["report", "r.jsonl", "--sweep", "smoke"], "has neither [[table]] nor [[expect]]"),
        (["report", "r.jsonl", "--sweep", "scales", "--format", "csv"], "text or Markdown, not csv"),
        (["report", "r.jsonl", "--sweep", "scales", "-o", "r.html"], "text or Markdown, not html"),
        (["report", "r.jsonl", "--template", "p.j2", "--format", "csv"], "--template says all that is shown"),
        (["report", "r.jsonl", "--template", "none.md.j2"], "error: none.md.j2: cannot be read: no such file"),
        (["report", "folder"], "folder"),
        (["report", "r.jsonl", "-o", ".html"], "unknown ending of a report '.html'"),
        (["plot", "r.jsonl", "-o", "f.gif"], "ending of a figure"),
        (["plot", "r.jsonl", "-o", "f.svg", "--x", "scael"], "did you mean 'scale'?"),
        (["plot", "r.jsonl", "-o", "f.svg", "--y", "mtesp"], "did you mean 'mteps'?"),
        (["plot", "r.jsonl", "-o", "f.svg", "--width", "5"], "50 to 10000"),
        (["plot", "r.jsonl", "-o", "f.svg", "--width", "84 yards"], "say 84mm"),
        (["plot", "r.jsonl", "-o", "f.svg", "--where", "problem=flow"], "problem is mst, sssp; a repeated --where"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_one_line_and_nothing_is_written(words, hint, results, monkeypatch):
    monkeypatch.chdir(results.parent)
    results.rename("r.jsonl")
    Path("folder").mkdir()
    before = {path: path.read_bytes() for path in Path().glob("*.*")}
    assert hint in refuse(2, *words)
    assert {path: path.read_bytes() for path in Path().glob("*.*")} == before


def test_a_report_and_a_figure_go_to_standard_output_by_a_dash(results):
    assert succeed("report", results, "-o", "-").out == succeed("report", results).out
    assert (
        succeed("report", results, "-o", "-", "--format", "csv").out
        == succeed("report", results, "--format", "csv").out
    )
    words = [sys.executable, "-m", "gpugraph", "plot", str(results), "-o", "-", "--where", "problem=mst"]
    done = subprocess.run(words, capture_output=True, timeout=600, check=True)
    assert ElementTree.fromstring(done.stdout).tag.endswith("svg")
    assert b"mm wide" in done.stderr


def test_without_the_extra_a_page_and_an_svg_are_plain_and_a_pdf_names_the_remedy(results, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    succeed("report", results, "-o", tmp_path / "r.html")
    succeed("plot", results, "-o", tmp_path / "f.svg", "--where", "problem=mst")
    ElementTree.parse(tmp_path / "f.svg")
    assert "<svg" in (tmp_path / "r.html").read_text("utf-8")
    assert installable_here("pip install 'gpugraph[report]'") in refuse(2, "plot", results, "-o", tmp_path / "f.pdf")
    assert not (tmp_path / "f.pdf").exists()
    for style in ("text", "markdown", "csv"):
        succeed("report", results, "--format", style)


def test_a_cut_off_line_is_reported_and_left_out(results):
    results.write_text(results.read_text("utf-8")[:-40], "utf-8")
    outcome = run("report", results)
    assert outcome.code == 0
    assert "is cut off and left out" in outcome.err


def test_control_characters_are_drawn_as_letters(tmp_path):
    records = [
        cell("mst", "kruskal", "cpu", 16) | {"algorithm": name, "cell": {}}
        for name in ("a\x1b[2J", "b\x00", "c" * 100_000)
    ]
    path = write(records, tmp_path / "r.jsonl")
    succeed("plot", path, "-o", tmp_path / "f.svg", "--x", "algorithm", "--title", "\x08")
    assert "\\u001b[2J" in (tmp_path / "f.svg").read_text("utf-8")
    assert "\x1b" not in succeed("report", path).out


def test_a_drawing_library_that_ends_its_process_is_one_line(tmp_path: Path) -> None:
    """Its engine asks for gigabytes of address space, and ends by SIGTRAP without them."""
    words = (sys.executable, "-m", "gpugraph", "plot", REAL, "--x", "algorithm", "-o", tmp_path / "figure.svg", "-q")
    limit = (3 << 29, 3 << 29)
    ran = subprocess.run(words, capture_output=True, text=True, preexec_fn=lambda: setrlimit(RLIMIT_AS, limit))
    assert ran.returncode == 3, ran.stderr
    assert "the drawing library was ended by" in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_record_with_a_bad_field_is_named_with_its_line_and_the_others_are_shown(results):
    lines, bad = results.read_text("utf-8").splitlines(), '{"problem": "mst", "algorithm": "a", "environment": 5}'
    whole = succeed("report", results)
    results.write_text("\n".join([lines[0], bad, *lines[1:], ""]))
    shown = succeed("report", results)
    assert "line 2 is left out: it is no record: 'environment': expected 'object', got 'int'" in shown.err
    assert shown.out == whole.out
    results.write_text(bad)
    assert "line 1: is no record: 'environment'" in refuse(2, "report", results)
    results.write_text("\n".join([lines[0], "nonsense", *lines[1:], ""]))
    assert "line 2 is left out: it is no record" in succeed("report", results).err


def test_a_last_line_of_a_wrong_type_is_not_taken_for_a_torn_one(results):
    content = results.read_bytes()
    bad = json.dumps(json.loads(content.splitlines()[0]) | {"environment": 5}).encode()
    results.write_bytes(content + bad)
    assert "'environment': expected 'object'" in succeed("report", results).err
    with pytest.raises(InputError, match="'environment': expected"):
        append_record(parse_record(content.splitlines()[0]), results)
    assert results.read_bytes() == content + bad
