from __future__ import annotations

import csv as std_csv
import io
from dataclasses import replace

import pytest

from gpugraph.ext.charts.page import page
from gpugraph.ext.comparing.compare import compare
from gpugraph.problems import BENCH, CSV, MARKDOWN, PAGE, TABLE, Column, mst
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.registry import command_of
from gpugraph.records import columns
from gpugraph.records.columns import COLUMNS, Labelled, columns_of
from gpugraph.report.markdown_csv import csv, markdown
from gpugraph.report.table import table
from gpugraph.report.terminal import plain
from tests.report.canned import mst_record, records, sssp_record


def test_a_column_added_to_the_list_is_in_every_report(monkeypatch):
    shown = (CSV, MARKDOWN, PAGE, TABLE)
    seconds = Column("sampling.spent_s", "spent", text="{:.1f} s".format, number=True, shown=shown)
    monkeypatch.setattr(columns, "COLUMNS", (*COLUMNS, seconds))
    made = records(mst_record(sampling={"spent_s": 2.5}), mst_record())
    first, second = std_csv.DictReader(io.StringIO(csv(made)))
    assert (first["sampling.spent_s"], second["sampling.spent_s"]) == ("2.5", "")
    header, rule, one, other, *_ = markdown(made).split("\n")
    assert header.endswith("| spent |")
    assert rule.endswith("| ---: |")
    assert one.endswith("| 2.5 s |")
    assert other.endswith("| - |")
    html = page(made)
    assert '<button type="button" class="sort">Spent</button>' in html
    assert 'data-title="Spent" data-key="2.5">2.5 s</td>' in html
    assert "spent       2.5 s" in plain(table(made[0]))


def test_a_problems_own_column_is_in_the_reports_of_its_records_alone(monkeypatch):
    parts = Column("result.components", "trees", number=True)
    monkeypatch.setattr(mst, "COMMAND", replace(mst.COMMAND, columns=(*mst.COMMAND.columns, parts)))
    assert "| trees |" in markdown(records(mst_record()))
    assert "trees" not in markdown(records(sssp_record()))
    assert "trees" not in markdown(records({"problem": "other", "algorithm": "a"}))


@pytest.mark.parametrize("renderer", [CSV, MARKDOWN, PAGE, BENCH, TABLE])
def test_no_renderer_has_two_columns_of_one_name(renderer):
    cells = [Labelled.alone(record) for record in records(mst_record(), sssp_record())]
    names = [column.name for column in columns_of(renderer, cells)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_every_problem_names_the_fields_of_its_results(problem):
    assert any(column.name.startswith("result.") for column in command_of(problem).columns)


def test_a_comparison_tells_results_apart_by_the_columns_that_identify_them():
    base, new = records(mst_record(), mst_record(result={**mst_record()["result"], "edges_sha256": "00"}))
    (cell,) = compare([base], [new]).cells
    assert (cell.verdict, cell.reason) == ("different result", "edges_sha256 differs on the same graph")
    (cell,) = compare([base], records(mst_record(result={**mst_record()["result"], "components": 1}))).cells
    assert cell.verdict != "different result"
