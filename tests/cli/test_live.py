from __future__ import annotations

import io

from gpugraph.cli import live
from gpugraph.cli.live import Lines, LiveView, outcome_of
from gpugraph.records.record import Record
from gpugraph.report.sweep import result_lines
from gpugraph.report.terminal import plain
from tests.bench.plans import planned
from tests.report.canned import failed, mst_record


def scaled(scale: int, rate: float) -> dict[str, object]:
    record = mst_record(outcome="ok", confidence_s={"kernel": [0.00063, 0.00065]})
    record["graph"] = {**record["graph"], "name": f"rmat:{scale}", "arcs": 2**scale}
    record["mteps"] = {**record["mteps"], "kernel": rate}
    record["cell"] = {"series": "mst · boruvka · cuda · rmat:{scale}", "axes": {"scale": scale}}
    return record


def test_a_finished_cell_is_reported_with_its_interval_and_its_rate_and_a_failed_one_with_its_reason():
    assert outcome_of(Record.of(scaled(16, 1419.6))) == "641 µs ±1.56 %, 1,419.6 MTEPS"
    wrong = Record.of({**failed(), "outcome": "wrong", "message": "edge 3-9 is missing"})
    assert outcome_of(wrong) == "wrong: edge 3-9 is missing"
    unverified = mst_record(verification={"status": "skipped", "method": "none", "detail": "not asked for"})
    assert outcome_of(Record.of(unverified)) == "641 µs, not verified"


def test_lines_count_and_estimate_and_quiet_says_nothing():
    stream, silent = io.StringIO(), io.StringIO()
    for quiet, target in ((False, stream), (True, silent)):
        with Lines(3, quiet=quiet, stream=target) as lines:
            lines.ended(planned("kruskal"), Record.of(scaled(16, 1419.6)), 1, 42.0)
    assert stream.getvalue() == (
        "gpugraph: [1/3] mst kruskal on cpu, path:9: 641 µs ±1.56 %, 1,419.6 MTEPS · about 42 s left\n"
    )
    assert silent.getvalue() == ""


def test_of_cells_that_are_skipped_the_log_has_the_first_few():
    skipped = Record.of({**failed(), "outcome": "skipped", "message": "the budget of 8.0 s is spent"})
    logs = []
    for verbose in (False, True):
        stream = io.StringIO()
        with Lines(60, stream=stream, verbose=verbose) as lines:
            for done in range(1, 41):
                lines.ended(planned("kruskal"), skipped, done, 0.0)
            lines.ended(planned("kruskal"), Record.of(scaled(16, 1419.6)), 41, 0.0)
        logs.append(stream.getvalue().splitlines())
    assert [len(log) for log in logs] == [5, 41]
    assert "further cells that are skipped" in logs[0][3]
    assert logs[0][-1].startswith("gpugraph: [41/60] mst kruskal")


def test_without_a_terminal_a_long_silence_is_broken(monkeypatch):
    stream = io.StringIO()
    lines = Lines(3, stream=stream)
    lines.doing(planned("kruskal"), "sample 7")
    assert stream.getvalue() == ""
    monkeypatch.setattr(live, "SILENCE_S", 0.0)
    lines.doing(planned("kruskal"), "sample 8")
    assert stream.getvalue() == "gpugraph: mst kruskal on cpu, path:9: sample 8\n"


def test_the_live_view_shows_progress_the_cells_at_work_and_the_best_so_far():
    from rich.console import Console

    view = LiveView(3, "a sweep", stream=io.StringIO())
    view.ended(planned("kruskal"), Record.of(scaled(16, 1419.6)), 1, 42.0)
    view.ended(planned("prim"), Record.of(scaled(16, 9.0)), 2, 20.0)
    view.doing(planned("boruvka"), "sample 7")
    view.doing(planned("boruvka-scan"), "sample 3")
    view.doing(planned("boruvka"), "sample 8, 641 µs ± 2 % so far")
    screen = io.StringIO()
    Console(file=screen, width=120).print(view)
    for text in (
        "mst prim on cpu, path:9",
        "best mst on cpu: 1,419.6 MTEPS by kruskal, path:9",
        "mst boruvka on cpu, path:9       sample 8, 641 µs ± 2 % so far",
        "mst boruvka-scan on cpu, path:9  sample 3",
        "2/3",
        "about 20 s left",
    ):
        assert text in screen.getvalue()


def test_the_summary_shows_every_cell_a_chart_of_each_series_and_the_counts():
    records = [scaled(scale, rate) for scale, rate in ((18, 400.0), (16, 100.0), (17, 200.0))]
    records.append({**failed(), "outcome": "wrong", "message": "edge 3-9 is missing"})
    text = plain(result_lines([*map(Record.of, records)]))
    assert "mst · boruvka · cuda · rmat:{scale}" in text
    assert "▃▅█" in text
    assert "100.00 … 400.00" in text
    assert "wrong: edge 3-9 is missing" in text
    assert text.splitlines()[-1] == "4 cells: 3 verified, 1 wrong"


def test_cells_of_one_graph_that_differ_in_an_axis_alone_are_told_apart_in_the_table():
    cell = scaled(16, 100.0)
    cells = [{**cell, "cell": {**cell["cell"], "axes": {"weights": text}}} for text in ("unit", "hash:1..9")]
    text = plain(result_lines([*map(Record.of, cells)]))
    assert "weights=unit" in text
    assert "weights=hash:1..9" in text


def test_cells_that_were_skipped_for_one_reason_are_one_line():
    budget = [f"would take about {i} s, 0.4 s of the budget are left" for i in range(9)]
    memory = [f"needs about {i} GiB of host memory, 1{i} GiB are available" for i in range(5)]
    why = [*budget, *memory, *["timeout at rmat:9, which is no larger"] * 3]
    skipped = [{**failed(), "outcome": "skipped", "message": one} for one in why]
    text = plain(result_lines([*map(Record.of, [scaled(16, 100.0), *skipped])]))
    name = Record.of(failed()).algorithm
    assert text.count("the budget was too small") == 1
    assert f"--resume --budget TIME goes on: 9 of mst {name}" in " ".join(text.split())
    assert f"it needs more memory than there is: 5 of mst {name}" in " ".join(text.split())
    assert "GiB" not in text
    assert text.count("which is no larger") == 3
    assert text.splitlines()[-1] == "18 cells: 17 skipped, 1 verified"


def test_a_long_sweep_is_summed_up_but_what_did_not_go_well_is_still_shown():
    records = [scaled(1, float(i + 1)) for i in range(70)]
    records.append({**failed(), "outcome": "timeout", "message": "took too long"})
    text = plain(result_lines([*map(Record.of, records)]))
    assert "timeout: took too long" in text
    assert text.count("verified") == 1
