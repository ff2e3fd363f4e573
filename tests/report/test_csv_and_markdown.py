from __future__ import annotations

import csv as std_csv
import io

from gpugraph.ext.catalogue.catalogue import catalogue, catalogue_markdown
from gpugraph.report.markdown_csv import csv, markdown
from gpugraph.report.terminal import plain
from tests.report.canned import emulated, failed, mst_record, records, sssp_record

ALGORITHM = {
    "problem": "mst",
    "name": "boruvka",
    "devices": ["cuda", "emulated"],
    "summary": "find-min, merge | renumber",
    "authors": "O. Borůvka",
    "year": 1926,
    "section": "§1",
    "preparations": ["rank-weights"],
    "options": [{"name": "threads", "type": "int", "default": 128, "choices": [64, 128], "help": "of a block"}],
    "trusted": False,
}


def rows(text):
    return list(std_csv.DictReader(io.StringIO(text)))


def test_csv_columns_are_named_as_the_json_fields():
    (row,) = rows(csv(records(mst_record())))
    assert row["graph.edges"] == "909957"
    assert row["phases_s.kernel"] == "0.000641"
    assert row["mteps.kernel"] == "1419.6"
    assert row["result.total_weight"] == "2618234"
    assert row["verification.status"] == "passed"


def test_csv_of_two_problems_has_the_columns_of_both():
    first, second = rows(csv(records(mst_record(), sssp_record())))
    assert (first["result.components"], first["result.reached"]) == ("5536", "")
    assert (second["result.components"], second["result.reached"]) == ("", "60001")


def test_csv_has_the_time_of_predecessors_where_a_record_has_it():
    first, second = rows(csv(records(sssp_record() | {"predecessors_s": 0.25}, mst_record())))
    assert (first["predecessors_s"], second["predecessors_s"]) == ("0.25", "")
    assert "predecessors_s" not in rows(csv(records(mst_record())))[0]


def test_csv_and_markdown_give_no_rate_for_a_failed_or_an_emulated_run():
    for record in (failed(), emulated()):
        (row,) = rows(csv(records(record)))
        assert row["mteps.kernel"] == row["mteps.end_to_end"] == ""
        assert "1,419" not in markdown(records(record))


def test_markdown_ends_with_what_a_paper_states_and_claims():
    point = {"kernel_s": 1.9, "vertices": 65536, "label": "CLPP"}
    paper = {"name": "P", "hardware": "GTX", "where": "figure 5", "points": [point], "claims": ["a | b"], "year": 2011}
    text = markdown(records(mst_record(paper=paper)))
    assert "**P.** 2011; GTX" in text
    assert "| CLPP | rmat:16 | figure 5 | GTX | 1.900 s | 641 µs, boruvka on NVIDIA H200 |" in text
    assert text.endswith("- a \\| b")
    odd = {"name": "Q", "note": {"a": 1}, "authors": ["x"]}
    assert "**Q.** " in markdown(records(mst_record(paper=odd)))


def test_markdown_is_a_table_with_the_definition_beneath():
    text = markdown(records(mst_record(), failed()))
    header, rule, first, second, *rest = text.split("\n")
    assert header.count("|") == rule.count("|") == first.count("|") == second.count("|") == 11
    assert "| 641 µs | 1,419.6 | 438.20 | passed (reference) |" in first
    assert second.endswith("| - | - | - | failed: edge 3-9 is missing |")
    assert "MTEPS = undirected edges of the graph / kernel time, in millions per second." in rest


def test_a_bar_in_a_name_does_not_break_the_markdown():
    graph = {**mst_record()["graph"], "name": "a|b"}
    assert "| a\\|b |" in markdown(records(mst_record(graph=graph)))
    assert "merge \\| renumber" in catalogue_markdown([ALGORITHM])


def test_rows_of_markdown_that_differ_in_an_option_alone_name_it():
    parameters = mst_record()["parameters"]
    made = [mst_record(parameters=parameters | {"share": share}) for share in (0.25, 0.5)]
    text = markdown(records(*made))
    assert ["boruvka, share=0.25" in text, "boruvka, share=0.5" in text, "share" in markdown(records(made[0]))] == [
        True, True, False
    ]  # fmt: skip


def test_the_catalogue_names_source_options_and_preparations():
    text = plain(catalogue([ALGORITHM]))
    assert "boruvka  on cuda, emulated" in text
    assert "O. Borůvka, 1926, §1" in text
    assert "--set threads=64|128  of a block [default: 128]" in text
    assert "--prepare rank-weights" in text
    assert "wrong on purpose" in text
