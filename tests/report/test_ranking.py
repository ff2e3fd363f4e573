from __future__ import annotations

import csv
import io
import json
import re

import pytest

from gpugraph.ext.comparing.claims import Claim
from gpugraph.ext.comparing.paper_table import escape
from gpugraph.ext.comparing.ranked import ranking_sheet, with_interval
from gpugraph.ext.comparing.ranking import Ranking, rank
from gpugraph.report.exporters import Results, exporter
from gpugraph.report.terminal import columns, plain
from tests.measure.test_ranking import row, samples
from tests.report.canned import mst_record


def exported(records, rankings, name):
    """Return records and how they rank in a format."""
    return exporter(name).load()(Results(records, rankings))


def shown(*rows, width: int = 80) -> str:
    (ranking,), _ = rank(rows)
    return plain(ranking_sheet(ranking, width=width).lines(width, width))


def in_one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (1.4193, 1.3661, 1.4725, "1.42 ± 0.05"),
        (1.4193, 1.4054, 1.4332, "1.419 ± 0.014"),
        (2.00003, 2.00002, 2.00004, "2.000 ± 0.001"),
        (3.81, 1.61, 6.01, "3.8 ± 2.2"),
        (583.2, 562.2, 604.2, "580 ± 20"),
        (12.34, 11.36, 13.32, "12.3 ± 1.0"),
        (5.0, 5.0, 5.0, "5.000"),
        (2.8769, 2.7151, 3.0611, "2.88 (2.72 to 3.06)"),
        (2.7151, 2.7151, 3.0611, "2.72 (2.72 to 3.06)"),
        (2.02, 1.104, 3.32, "2.0 (1.1 to 3.3)"),
        (1523.0, 1.01, 29_912.0, "1,523 (1 to 29,912)"),
        (583.2, 566.2, 611.2, "580 (570 to 610)"),
        (1.2, 0.31, 89.0, "1.2 (0.3 to 89.0)"),
        (0.5, 0.004, 4.0, "0.500 (0.004 to 4.000)"),
        (0.5, 1e-9, 4.0, "0.500 (0.000 to 4.000)"),
    ],
)
def test_a_ratio_is_shown_to_the_digits_that_its_interval_allows_and_by_its_ends_if_lopsided(value, low, high, text):
    assert with_interval(value, low, high) == text


def test_a_ranking_is_a_sorted_table_a_chart_and_sentences():
    text = shown(row("kruskal", 1.42, seed=3), row("boruvka", 1, seed=4), row("peer:igraph", 1.42, seed=5))
    lines = text.splitlines()
    assert lines[0].startswith("mst on rmat:16: 65,536 vertices, 909,957 edges")
    assert [line.split()[0] for line in lines[2:6]] == ["algorithm", "boruvka", *sorted_names(lines)]
    assert any("█" in line and line.startswith("boruvka ") and line.endswith(" 1") for line in lines)
    assert "boruvka is 1.4" in text
    assert "times as fast as kruskal" in text
    assert "is not clearly faster than" in text
    assert "peer:" not in text


def sorted_names(lines: list[str]) -> list[str]:
    return [line.split()[0] for line in lines[4:6]]


def test_a_wide_interval_is_shown_by_its_ends_for_it_is_lopsided():
    fast, slow = row("fast", 1), row("slow", 2)
    ranking = Ranking([fast, slow], [], [Claim(fast, slow, 2.02, (1.104, 3.32), 0.0)], [])
    text = plain(ranking_sheet(ranking).lines(80))
    assert "fast is 2.0 (1.1 to 3.3) times as fast as slow" in text
    ranking = Ranking([fast, slow], [], [Claim(fast, slow, 1523.0, (1.01, 29_912.0), 0.0)], [])
    assert "fast is 1,523 (1 to 29,912) times as fast as slow" in plain(ranking_sheet(ranking).lines(80))


def test_a_warning_says_what_is_wrong_with_the_samples_and_what_to_do():
    noisy = row("noisy", 1, noise=0.5)
    wide = {**noisy.data, "confidence_s": {"kernel": [0.9e-3, 1.2e-3]}}
    first = samples(2.0)
    first[0] = 9e-3
    late = {**row("late", 2).data, "sampling": {"outliers": [0]}, "samples_s": {"kernel": first}}
    few = {**row("few", 3, number=2).data, "sampling": {"min_samples": 10}}
    hot = {**row("hot", 4).data, "sampling": {"throttled_repeated": 3}}
    records = [type(noisy).of(data) for data in (wide, late, few, hot)]
    page = shown(*records)
    marks = {line.split()[0]: line.split()[-1] for line in page.splitlines() if " verified " in line}
    assert marks == {"noisy": "noisy", "late": "cold", "few": "few", "hot": "hot"}
    text = in_one_line(page)
    assert "note few: too few samples, take more: -n or --max-seconds; cold: the first run was slow: " in text
    assert " --warmup 3 (bench: --axis sampling.warmup=3); hot: " in text
    assert "hot: the GPU was held down, let it cool; noisy: the times scatter: --target 2%" in text
    assert len(page.split("\nnote  ")[1].splitlines()) <= 4


def test_whether_the_target_was_reached_is_said_with_the_reason():
    def sampled(name, low, high, stopped_by):
        sampling = {"target": 0.02, "stopped_by": stopped_by, "time_limit_s": 15.0}
        return type(good).of({**row(name, 1).data, "confidence_s": {"kernel": [low, high]}, "sampling": sampling})

    good = row("good", 1)
    reached = sampled("good", 0.99e-3, 1.01e-3, "target")
    missed = sampled("bad", 0.9e-3, 1.1e-3, "time")
    assert "target ± 2 % reached by all" in in_one_line(shown(reached, sampled("fine", 0.99e-3, 1.01e-3, "target")))
    text = in_one_line(shown(reached, missed))
    assert "target ± 2 % not reached by bad; give more time: --max-seconds" in text
    text = in_one_line(shown(reached, missed, sampled("worse", 0.8e-3, 1.2e-3, "time")))
    assert "target ± 2 % not reached by 2 of 3 rows; give more time: --max-seconds" in text
    assert "target" not in shown(good, row("other", 2))
    unverified = type(good).of({**missed.data, "verification": {"status": "skipped"}})
    assert "target ± 2 % not reached by bad; " in in_one_line(shown(reached, unverified)), "its time is in the table"


def test_differences_of_a_few_per_cent_in_one_process_are_not_to_be_relied_on():
    text = in_one_line(shown(row("a", 1, noise=0.001), row("b", 1.05, noise=0.001, seed=2)))
    assert "a is 1.05" in text
    assert "small differences vary by process: gpugraph bench --processes 5" in text


def test_beside_a_gpu_the_device_is_named_and_the_transfers_counted():
    gpu = type(row("a", 1)).of({**mst_record(algorithm="g"), "samples_s": {"kernel": samples(0.641)}})
    text = in_one_line(shown(gpu, row("c", 10, seed=2)))
    assert "g on NVIDIA H200 is 15" in text
    assert "times as fast as c on CPU in the kernel, 4.61 times including transfers" in text
    assert "with transfers" in text


def test_an_export_to_json_holds_every_sample_and_one_to_csv_a_row_for_each_cell():
    rows = [row("a", 1), row("b", 2, seed=2)]
    rankings, _ = rank(rows)
    content = json.loads(exported(rows, rankings, "json"))
    assert [len(one["samples_s"]["kernel"]) for one in content["records"]] == [40, 40]
    assert content["rankings"][0]["order"] == ["a", "b"]
    assert content["rankings"][0]["claims"][0]["told_apart"] is True
    lines = list(csv.DictReader(io.StringIO(exported(rows, rankings, "csv"))))
    assert [line["algorithm"] for line in lines] == ["a", "b"]


def test_an_export_to_markdown_is_one_small_sorted_table_under_its_sentence():
    rows = [row("peer:b_c", 2, seed=2), row("a", 1)]
    rankings, _ = rank(rows)
    heading, _, sentence, _, header, _, first, second = exported(rows, rankings, "markdown").splitlines()
    assert heading.startswith("**mst on ")
    assert re.match(r"- a is (1\.9|2\.0)", sentence)
    assert sentence.endswith(" times as fast as b_c")
    assert header.startswith("| algorithm | ")
    assert (first.split()[1], second.split()[1]) == ("a", "b_c")


def test_an_export_to_latex_is_one_table_of_graphs_and_algorithms_with_geometric_means():
    rows = [row("a", 1), row("b_c", 2, seed=2)]
    other = [type(one).of(one.changed({"graph": {"name": "h", "digest": "0" * 32}}, without="").data) for one in rows]
    last = [
        type(one).of(one.changed({"graph": {"name": "k", "digest": "1" * 32}}, without="").data) for one in rows[:1]
    ]
    text = exported([*rows, *other, *last], rank([*rows, *other, *last])[0], "latex")
    table = text.partition(r"\begin{table}")[2]
    assert text.count(r"\begin{table}") == 1
    assert r"\begin{tabular}{lSS}" in table
    assert r"\label{tab:mst}" in table
    assert r"graph & {a} & {b\_c} \\" in table
    assert re.search(r"^h & 1\.\d+ & 2\.\d+ \\\\$", table, re.M)
    assert re.search(r"^k & 1\.\d+ & \{--\} \\\\$", table, re.M)
    first, second = map(float, re.search(r"geometric mean of 2 & ([\d.]+) & ([\d.]+)", table).groups())
    assert (first, second) == pytest.approx([1e3 * one.kernel_s for one in rows], rel=0.01)
    assert re.search(r"^% h: a is .* times as fast as b_c$", text, re.M)


def test_an_uncertainty_in_latex_has_two_digits_of_the_last_places():
    known = row("a", 1).changed(
        {"phases_s": {"kernel": 0.0144}, "confidence_s": {"kernel": [0.01428, 0.01452]}}, without=""
    )
    assert re.search(r"^rmat:16 & 14\.40\(12\) \\\\$", exported([known], rank([known])[0], "latex"), re.M)


def test_nothing_in_latex_is_a_command_by_mistake():
    assert escape("2 ± 1 % µs <x> {y}") == r"2 $\pm$ 1 \% \textmu{}s \textless{}x\textgreater{} \{y\}"
    rows = [row("a", 1), row("b_c", 2, seed=2)]
    table = exported(rows, rank(rows)[0], "latex").partition(r"\begin{table}")[2]
    assert not re.search(r"(?<!\\)[%_]", table)


def test_no_name_of_a_graph_ends_a_comment_of_latex_or_belongs_to_the_line_break_before_it():
    rows = [row("a", 1), row("b", 2, seed=2)]
    rows = [one.changed({"graph": {"name": "[1]x\n\\input{y}"}}, without="") for one in rows]
    table = exported(rows, rank(rows)[0], "latex").splitlines()
    assert [line for line in table if "input" in line and not line.startswith(("%", "{[}1]x "))] == []
    assert escape("*a") == "{*}a"


def test_records_that_rank_nowhere_are_still_in_the_markdown():
    from tests.report.canned import failed

    assert "failed" in exported([type(row("a", 1)).of(failed())], [], "markdown")


TABLE = (
    ["algorithm", "graph", "kernel", "outcome"],
    [
        ["boruvka(delta=1234567)", "rmat:20,ef=16", "12,345.6 ms ± 0.52 %", "verified"],
        ["prim", "rmat:20", "1.2 ms", "refused: the weights of rmat:20 are of float64, which it does not take"],
    ],
)


@pytest.mark.parametrize("width", [None, 120, 80, 60, 40])
def test_a_table_never_breaks_inside_a_number_and_keeps_to_its_width(width):
    text = plain(columns(*TABLE, right=(2,), width=width))
    lines = text.splitlines()
    if width is not None:
        assert max(map(len, lines)) <= width
    for whole in ("delta=1234567", "12,345.6 ms ± 0.52 %", "1.2 ms", "ef=16", "float64"):
        pieces = [whole] if width is None or width >= 60 else whole.replace("=", "= ").split()
        assert all(piece in text for piece in pieces), (whole, text)
    if width is None:
        assert len(lines) == 3


def test_what_all_rows_of_a_wide_table_share_goes_to_a_line_above_it():
    rows = [["mst", name, "AMD EPYC", "1.2 ms"] for name in ("boruvka", "kruskal")]
    text = plain(columns(["problem", "algorithm", "device", "kernel"], rows, right=(3,), width=30))
    assert text.splitlines() == [
        "problem mst, device AMD EPYC",
        "algorithm  kernel",
        "boruvka    1.2 ms",
        "kruskal    1.2 ms",
    ]


def test_what_rows_in_turn_share_becomes_a_heading_where_a_table_is_too_wide():
    rows = [[problem, name, "12.3 ms"] for problem in ("components", "mst") for name in ("boruvka", "prim-naive")]
    text = plain(columns(["problem", "algorithm", "kernel"], rows, right=(2,), width=22))
    assert text.splitlines() == [
        "algorithm    kernel",
        "components",
        "boruvka     12.3 ms",
        "prim-naive  12.3 ms",
        "",
        "mst",
        "boruvka     12.3 ms",
        "prim-naive  12.3 ms",
    ]


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (26, ["      kernel         MTEPS", " 12,345.6 ms   1,234,567.8", "    ± 0.52 %         ± 3 %"]),
        (20, ["kernel  12,345.6 ms", "        ± 0.52 %", "MTEPS   1,234,567.8", "        ± 3 %"]),
    ],
)
def test_a_table_too_wide_for_a_terminal_has_cells_of_several_lines_or_titles_and_values(width, lines):
    made = columns(["kernel", "MTEPS"], [["12,345.6 ms ± 0.52 %", "1,234,567.8 ± 3 %"]], right=(0, 1), width=width)
    assert plain(made).splitlines() == lines


def test_of_single_samples_no_factor_is_given() -> None:
    def factors(number: int) -> list[str]:
        text = shown(row("a", 1.0, noise=0.0, number=number), row("b", 2.0, noise=0.0, number=number))
        return [line.split()[-1] for line in text.splitlines() if "█" in line or "#" in line]

    assert (factors(1)[1], factors(2)[1]) == ("-", "2")
