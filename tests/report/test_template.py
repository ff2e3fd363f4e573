"""Pages of documentation made of records, those of our own among them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpugraph.base.errors import InputError
from gpugraph.ext.charts.template import fill
from gpugraph.ext.comparing import versions
from gpugraph.ext.comparing.cells import APART, of_several_runs
from gpugraph.ext.findings import half_width_among
from gpugraph.ext.reports import against_others
from gpugraph.measure.provenance import sources_digest
from gpugraph.problems.registry import find_algorithm
from gpugraph.records.record import Record
from gpugraph.records.record_file import read_record_file, read_records
from gpugraph.records.statistics import interval_of, median, spread_interval
from tests.tiers import extended, only

DOCS = Path(__file__).resolve().parents[2] / "docs"
SAMPLE = next(
    data
    for line in (DOCS / "records" / "figures-cpu-cpu2.jsonl").read_text("utf-8").splitlines()
    if (data := json.loads(line))["problem"] == "mst" and data["outcome"] == "ok"
)
STORED = sorted(str(path) for path in (DOCS / "records").glob("*"))


TEMPLATES = sorted(DOCS.rglob("*.md.j2"))
OF_THE_README = [path for path in TEMPLATES if path.name not in ("measurements.md.j2", "papers.md.j2")]
"""The others have tables of many files of records, and take seconds."""


@pytest.mark.parametrize("template", only(OF_THE_README, TEMPLATES), ids=lambda path: path.name)
def test_a_page_is_what_its_template_makes_of_the_stored_records(template):
    page = template.with_suffix("").read_text("utf-8")
    name = template.relative_to(DOCS.parent)
    command = f"gpugraph report docs/records/* --template {name} -o {name.with_suffix('')}"
    assert fill(str(template), read_records(STORED)[0]) + "\n" == page, f"they differ; run {command}"
    assert command in " ".join(page.split())


def test_the_command_of_a_file_is_the_one_in_its_records(tmp_path):
    (tmp_path / "p.j2").write_text("{{ command('figures-cpu-cpu16') }}; {{ origin('figures-cpu-cpu16') }}")
    told = fill(str(tmp_path / "p.j2"), read_records([str(DOCS / "records" / "figures-cpu-cpu16.jsonl")])[0])
    assert told.startswith("gpugraph bench --sweep figures/cpu --max-seconds 3")
    assert told.endswith("; 84 cells, Intel(R) Xeon(R) Processor, 16 threads, 2026-12-01")


def test_no_stored_command_names_a_folder_of_the_machine_on_which_it_ran():
    for record in read_records(STORED)[0]:
        for word in record.data.get("environment", {}).get("command") or ():
            assert not word.rpartition("=")[2].startswith("/"), f"{record.file}, line {record.line}: {word}"


def test_no_stored_record_holds_a_path_of_the_machine_on_which_it_was_made():
    for path in STORED:
        for record in read_record_file(path).records:
            found = re.search(r"[^ \"]*/(home|root|tmp|work)/[^ \"]*", json.dumps(record.data))
            assert found is None, f"{path}: {found[0]}"


def test_a_file_measured_with_several_numbers_of_threads_names_its_processor_once(tmp_path):
    asked = ("figures-cpu-threads-cpu16", "figures-cpu-libraries-cpu1")
    (tmp_path / "p.j2").write_text("; ".join(f"{{{{ origin('{one}') }}}}" for one in asked))
    several, one = fill(str(tmp_path / "p.j2"), read_records(STORED)[0]).split("; ")
    assert several == "30 cells, Intel(R) Xeon(R) Processor, 1/2/4/8/16 threads, 2026-11-30"
    assert ", 1 thread, " in one
    (tmp_path / "p.j2").write_text("{{ origin('one') }}")
    assert fill(str(tmp_path / "p.j2"), [replace(read_records(STORED)[0][0], file="one.jsonl")]).startswith("1 cell, ")


def test_a_template_can_ask_whether_there_are_records_of_a_sweep_on_a_kind_of_device(tmp_path):
    asked = ("measured('scales')", "measured('scales', 'cuda')", "measured('scales', 'cpu')")
    (tmp_path / "p.j2").write_text(" ".join(f"{{{{ {one} }}}}" for one in asked))
    records = read_records([str(DOCS / "records" / "scales-h200.jsonl")])[0]
    assert fill(str(tmp_path / "p.j2"), records) == "True True False"


def test_ours_is_compared_with_the_fastest_verified_peer_of_each_graph(tmp_path):
    measured = [
        ("grid:4x4", "kruskal", 1), ("grid:4x4", "peer:a", 2), ("grid:4x4", "peer:b", 4),
        ("grid:5x5", "kruskal", 1), ("grid:5x5", "peer:b", 8),
        ("grid:6x6", "kruskal", 1),
    ]  # fmt: skip
    lines = []
    for number, (graph, algorithm, seconds) in enumerate(measured):
        record = json.loads(json.dumps(SAMPLE)) | {"algorithm": algorithm}
        record["cell"]["id"] = str(number)
        record["graph"] |= {"name": graph, "source": graph}
        record["samples_s"]["kernel"] = [seconds] * 9
        record["phases_s"]["kernel"] = seconds
        lines.append(json.dumps(record))
    stored = tmp_path / "r.jsonl"
    stored.write_text("\n".join(lines) + "\n")
    template = tmp_path / "p.md.j2"
    template.write_text(
        "{% set one = lead('r', 'mst', 'kruskal') %}"
        "{{ one.mean|round(9) }} {{ one.least }} {{ one.most }} {{ one.count }} {{ one.worst }} "
        "{{ one.peers|join('+') }}"
    )
    filled = fill(str(template), read_records([str(stored)])[0])
    assert filled == "4.0 2.0 8.0 2 grid:4x4 a+b"


def of_run(algorithm: str, seconds: float, graph: str = "grid:4x4", **run: Any) -> Record:
    """Return a record of a GPU by command, commit and UUID; with an ``outcome``, of a failure."""
    record = json.loads(json.dumps(SAMPLE)) | {"algorithm": algorithm, "outcome": run.get("outcome", "ok")}
    record["message"] = run.get("message", "")
    record["cell"]["id"] = f"{algorithm} {graph}"
    record["graph"] |= {"name": graph, "source": graph}
    record["phases_s"]["kernel"] = seconds
    record["device"] |= {"uuid": run.get("uuid", "GPU-1")}
    record["sampling"]["processes"] = [len(record["samples_s"]["kernel"])]
    record["algorithm_source"] = {}
    command = run.get("command", ["gpugraph", "b"])
    record["environment"] |= {"git_commit": run.get("commit", "a" * 12), "command": command}
    return Record.of(record, file=run.get("file", "r.jsonl"), line=1)


@pytest.mark.parametrize("other", [{"uuid": "GPU-2"}, {"commit": "b" * 12}, {"command": ["gpugraph", "c"]}])
def test_programs_of_several_commands_commits_or_gpus_are_marked_and_make_no_headline(
    other: dict[str, Any], tmp_path: Path
) -> None:
    template = tmp_path / "p.md.j2"
    template.write_text("{% set one = lead('r', 'mst', 'kruskal') %}{{ one.mean }} {{ one.apart }} {{ one.day }}")
    ours, near, far = of_run("kruskal", 1), of_run("peer:a", 2), of_run("peer:b", 9)
    together = fill(str(template), [ours, near, far])
    apart = fill(str(template), [ours, near, of_run("peer:b", 9, **other)])
    assert together.startswith("2.0 False")
    assert "‡" not in together
    assert apart.startswith("2.0 True")
    assert "‡" in apart
    assert of_several_runs([ours, of_run("peer:a", 1, **other)])
    assert not of_several_runs([ours, near, far])


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_every_file_whose_cells_a_page_shows_is_marked_where_its_algorithms_have_changed(template: Path) -> None:
    text = template.read_text("utf-8")
    for file in set(re.findall(r"cells\(\"([\w-]+)\"\)", text)):
        assert re.search(rf'cells\("{file}"\)[^\0]*?\bmarks\(', text), f"{template.name} shows {file}"


def test_cells_and_their_note_tell_what_has_changed(tmp_path: Path) -> None:
    template = tmp_path / "p.md.j2"
    template.write_text("{% for one in cells('r') %}{{ one.algorithm }}{{ marks(one) }}{% endfor %} {{ note('r') }}")
    today = sources_digest(find_algorithm("mst", "boruvka", "cpu"))
    assert fill(str(template), [with_sources(today)]).strip() == "boruvka"
    assert fill(str(template), [with_sources("0" * 64)]) == (
        "boruvka † *† Measured with an earlier version of `boruvka`.*"
    )


def with_sources(digest: str | None, algorithm: str = "boruvka") -> Record:
    return Record.of(
        SAMPLE | {"algorithm": algorithm, "provenance": {"sources_sha256": digest}}, file="r.jsonl", line=1
    )


def test_a_table_names_the_algorithms_that_have_changed_since_they_were_measured(tmp_path):
    today = sources_digest(find_algorithm("mst", "boruvka", "cpu"))
    for record, said in (
        (with_sources(today), ""),
        (with_sources("0" * 64), "*† Measured with an earlier version of `boruvka`.*"),
        (with_sources(None), "*† Measured with an unrecorded version of `boruvka`.*"),
        (with_sources("0" * 64, "long-gone"), "*† Measured with an earlier version of `long-gone`.*"),
        (with_sources(None, "peer:pbbs"), ""),
    ):
        (tmp_path / "p.md.j2").write_text("{{ hardware({'here': ['r']}) }}")
        filled = fill(str(tmp_path / "p.md.j2"), [record])
        assert filled.partition("\n\n")[2] == said


def test_a_cell_that_was_not_measured_is_no_earlier_version(tmp_path):
    path = tmp_path / "papers-kolganov2015-h200.jsonl"
    stored = read_record_file(DOCS / "records" / f"{path.name}.gz").records
    lines = [record.data for record in stored]
    cut = {"outcome": "skipped", "message": "the budget of 3 min is spent", "samples_s": {}, "throughput": {}}
    path.write_text(
        "\n".join(json.dumps(one | cut if one["algorithm"] == "look-back" else one) for one in lines) + "\n"
    )
    records = read_records([str(path)])[0]
    assert any(one.outcome == "skipped" for one in records)
    (tmp_path / "p.md.j2").write_text("{{ verdicts('papers/kolganov2015', 'papers-kolganov2015-h200') }}")
    filled = fill(str(tmp_path / "p.md.j2"), records)
    assert "skipped: the budget" in filled
    assert "unrecorded" not in filled


@extended
def test_every_table_of_a_page_says_that_its_algorithm_has_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(versions, "_digest_of", lambda *which: "another")
    records, alone, tried = read_records(STORED)[0], tmp_path / "p.md.j2", 0
    for template in DOCS.rglob("*.md.j2"):
        text = template.read_text("utf-8")
        names = "".join(re.findall(r'{% set \w+ = "[^"]*" %}', text))
        for call in re.findall(r"\{\{ ((?:table|hardware|sources)\(.*?\)) \}\}", text, re.DOTALL):
            alone.write_text(f"{names}{{{{ {call} }}}}")
            if "figures/commands-gpu" not in call:  # not measured yet
                shown = fill(str(alone), records)
                assert re.search(r" †.*\|\n\n\*† Measured with an .*\.\*(\n\n\*[‡§] .*)*$", shown), call
                tried += 1
        days = re.findall(r"\d{4}-\d\d-\d\d †(?: ‡)?(?: §)? \|", fill(str(template), records))
        assert len(days) == len(re.findall(r"\blead\(.*", text))
    assert tried > 30


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ table('scales', 'forests on a GPV') }}", "did you mean 'forests on a GPU'?"),
        ("{{ table('scals', 'x') }}", "did you mean 'scales'?"),
        ("{{ origin('scales-h20') }}", "unknown file of records 'scales-h20'"),
        ("{{ table('cliffs/mst', 'sparse') }}", "no record is in the table 'sparse'"),
        ("\n{% if %}", "p.md.j2 line 2"),
        ("{{ tabel('scales') }}", "'tabel' is undefined"),
        ("{{ table('scales') }}", "missing 1 required positional argument"),
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{{ estimates(1e400) }}", "name 'inf' is not defined"),
        ("{{ hardware([]) }}", "'list' object has no attribute 'items'"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ range(10 ** 9) }}", "Range too big"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "recursion"),
        ("{{ lead('scales-h200', 'mst', 'boruvka') }}", "a graph that both 'boruvka' and a peer have solved"),
    ],
)
def test_a_template_that_asks_for_what_is_not_there_is_refused(tmp_path, text, said):
    template = tmp_path / "p.md.j2"
    template.write_text(text)
    with pytest.raises(InputError) as error:
        fill(str(template), read_records([str(DOCS / "records" / "scales-h200.jsonl")])[0])
    assert said in str(error.value)
    assert "p.md.j2" in str(error.value)


def test_only_the_row_of_several_runs_is_marked(tmp_path: Path) -> None:
    sweep, template = tmp_path / "s.toml", tmp_path / "p.md.j2"
    sweep.write_text(
        '[axes]\nproblem = "mst"\ngraph = "grid:4x4"\nalgorithm = "kruskal"\n'
        '[[table]]\ntitle = "t"\nintervals = true\n'
        'each = { algorithm = "kruskal" }\nwith.other = { algorithm = "peer:*" }\n[table.columns]\ngraph = "graph"\n'
        'ratio = "min(other.kernel) / kernel"\n'
    )
    template.write_text(f"{{{{ table('{sweep}', 't', 'r') }}}}")
    rows = [of_run(name, 2, graph) for graph in ("grid:4x4", "grid:5x5") for name in ("kruskal", "peer:a")]
    together = fill(str(template), rows)
    apart = fill(str(template), [*rows[:3], of_run("peer:a", 2, "grid:5x5", uuid="GPU-2")])
    assert "‡" not in together
    assert "§" not in apart
    assert "| grid:4x4 † | 1 (1 process) |" in apart
    assert "| grid:5x5 † ‡ | 1 (1 process) |" in apart
    assert apart.endswith(f"*{APART}*")


def test_a_note_below_a_table_that_a_page_writes_itself_explains_both_marks_of_comparisons(tmp_path: Path) -> None:
    template = tmp_path / "p.md.j2"
    template.write_text("{{ note('r', apart=true) }}")
    filled = fill(str(template), [of_run("kruskal", 1)])
    assert f"*{APART}*" in filled
    assert f"*{against_others.CLOCKS}*" in filled


def of_starts(*starts: list[float]) -> Record:
    """Return the record of a command that was started so often, and printed these times."""
    samples = [second for start in starts for second in start]
    data = of_run("peer:a", median(samples)).data | {"algorithm_source": {"authors": "external command"}}
    interval = interval_of([samples], [len(samples)], median(samples))
    return Record.of(
        data
        | {"samples_s": {"kernel": samples, "h2d": [], "d2h": [0.0] * len(starts)}}
        | {"confidence_s": {"kernel": interval}, "sampling": data["sampling"] | {"processes": [len(samples)]}},
        file="r.jsonl",
        line=1,
    )


def test_the_times_that_one_start_of_a_command_prints_count_as_one_where_precision_is_told(tmp_path: Path) -> None:
    starts = [[1.0, 1.01, 1.02], [1.1, 1.11, 1.12], [1.2, 1.21, 1.22]]
    low, high = spread_interval([1.01, 1.11, 1.21])
    assert half_width_among(of_starts(*starts), 1) == pytest.approx((high - low) / 2 / 1.11)
    each_one = of_starts(*([second] for start in starts for second in start))
    assert half_width_among(each_one, 1) == each_one.half_width
    assert half_width_among(of_starts(*starts), 1) != of_starts(*starts).half_width
    sweep, template = tmp_path / "s.toml", tmp_path / "p.md.j2"
    sweep.write_text(
        '[axes]\nproblem = "mst"\ngraph = "grid:4x4"\nalgorithm = "peer:a"\n'
        '[[table]]\ntitle = "t"\nintervals = "processes"\neach = {}\n[table.columns]\nkernel = "kernel"\n'
    )
    template.write_text(f"{{{{ table('{sweep}', 't', 'r') }}}}")
    assert "1.02 (1 process)" in fill(str(template), [of_starts([1.0, 1.01, 1.02, 1.03, 1.04])])
    assert "(1 process)" not in fill(str(template), [of_starts(*starts)])


def test_a_lead_names_failures_and_the_programs_that_were_not_run() -> None:
    rows = [of_run("kruskal", 1), of_run("peer:ecl-mst", 2), of_run("peer:adds-x8", 1, outcome="timeout")]
    rows += [of_run("kruskal", 1, "grid:5x5"), of_run("peer:ecl-mst", 8, "grid:5x5")]
    elsewhere = of_run("peer:raft-pr3118", 1, "grid:9x9", file="other.jsonl")
    wrong = of_run("kruskal", 0.1, "grid:5x5", outcome="wrong")
    found = against_others.lead([*rows, wrong], {"mst": "kruskal"}, known=[*rows, elsewhere])
    assert (found["mean"], found["without"], found["sound"]) == (pytest.approx(4.0), pytest.approx(8.0), 1)
    assert (found["peers"], found["missing"], found["commits"]) == (
        ["ECL-MST"],
        ["ADDS on 1 of 2", "RAFT"],
        ["a" * 7],
    )
    assert against_others.ratio(found) == "**4** (2.00 to 8.00); 8 on the 1 without a failure"
    hung = of_run("peer:adds", 1, "grid:5x5", outcome="timeout")
    found = against_others.lead([*rows, hung], {"mst": "kruskal"}, known=[*rows, hung, elsewhere])
    assert against_others.ratio(found) == "**4** (2.00 to 8.00); a program failed on each graph"
    assert against_others.failures(rows) == [["ADDS", "mst", "hang", "1", "`grid:4x4`"]]
    whole = [of_run("peer:gpugraph-csr", 2), of_run("peer:gpugraph-egr", 1), of_run("peer:ecl-mst", 1)]
    assert against_others.lead(whole, {"mst": "peer:gpugraph-csr"})["mean"] == pytest.approx(0.5)


def test_a_program_that_is_right_in_one_setting_has_not_failed() -> None:
    rows = [of_run("kruskal", 1), of_run("peer:doublegraph-mst", 1, outcome="wrong")]
    rows += [of_run("peer:doublegraph-double-mst", 3), of_run("peer:adds", 1, outcome="timeout")]
    other = [of_run("kruskal", 1, "grid:5x5"), of_run("peer:doublegraph-mst", 1, "grid:5x5", outcome="wrong")]
    other += [of_run("peer:adds-x8", 5, "grid:5x5")]
    assert [row[:2] for row in against_others.failures(rows)] == [["ADDS", "mst"]]
    assert [row[:3] for row in against_others.failures([*rows, *other])] == [
        ["ADDS", "mst", "hang"],
        ["doubleGraph", "mst", "wrong"],
    ]
    assert against_others.lead(rows[:-1], {"mst": "kruskal"})["without"] is None
    assert against_others.lead([*rows[:-1], *other], {"mst": "kruskal"})["without"] == pytest.approx(3)


def test_a_program_that_was_run_on_some_graphs_alone_is_named_with_their_number() -> None:
    rows = [of_run(name, 1, f"grid:{n}x{n}") for n in (4, 5, 6) for name in ("kruskal", "peer:ecl-mst")]
    rows += [of_run("peer:raft", 1, "grid:4x4"), of_run("peer:raft", 1, "grid:5x5", outcome="skipped")]
    assert against_others.lead(rows, {"mst": "kruskal"}, known=rows)["missing"] == ["RAFT on 2 of 3"]


def test_a_failure_is_called_by_its_name_and_what_the_budget_skipped_is_none() -> None:
    outcomes = {
        "timeout": "hang",
        "wrong": "wrong",
        "died": "crash",
        "out of memory": "out of memory",
        "failed": "failed",
    }
    rows = [of_run(f"peer:{at}", 1, outcome=outcome) for at, outcome in enumerate([*outcomes, "skipped"])]
    assert [row[2] for row in against_others.failures(rows)] == list(outcomes.values())
    both = [of_run("kruskal", 1), of_run("peer:ecl-mst", 2)]
    assert against_others.lead([*both, rows[-1]], {"mst": "kruskal"})["without"] is None


def test_a_graph_that_was_skipped_after_a_failure_on_another_counts_as_failed_however_its_spec_is_ordered() -> None:
    rows = [of_run(name, 1, "grid:9x9,seed=3,w=1..5") for name in ("kruskal", "peer:ecl-mst")]
    message = "timeout at grid:4x4, which is no larger"
    skipped = of_run("peer:raft", 1, "grid:9x9,w=1..5,seed=3", outcome="skipped", message=message)
    (row,) = against_others.failures([*rows, skipped])
    assert row == ["RAFT", "mst", "not tried after a failure", "1", "`grid:9x9,w=1..5,seed=3`"]
    found = against_others.lead([*rows, skipped], {"mst": "kruskal"})
    assert (found["without"], found["sound"]) == (None, 0)


def test_of_a_graph_that_a_program_refused_the_reason_is_listed() -> None:
    message = "peer:adds: ECL .egr holds integer weights only, not float32 — write a .csr"
    rows = [of_run("peer:adds", 1, graph, outcome="refused", message=message) for graph in ("grid:4x4", "grid:5x5")]
    reason = "ECL .egr holds integer weights only, not float32"
    assert against_others.failures(rows) == [["ADDS", "mst", "refused", "2", reason]]


def test_the_table_of_failures_covers_all_files_of_the_results_first_table() -> None:
    text = (DOCS / "results.md.j2").read_text("utf-8")
    quoted = [
        set(re.findall(r'"([a-z0-9]+-[a-z0-9-]+)"', " ".join(re.findall(call, text, re.DOTALL))))
        for call in (r"lead\(.*?\)\)", r"failures\(.*?\)")
    ]
    led = {name for name in quoted[0] if any((DOCS / "records").glob(f"{name}.jsonl*"))}
    assert len(led) > 10
    assert led <= quoted[1]


def test_cugraph_which_has_no_column_among_paths_is_nowhere_the_fastest() -> None:
    (path,) = (DOCS / "records").glob("figures-beside-h200.jsonl*")
    fastest: dict[str, Record] = {}
    for row in read_records([str(path)])[0]:
        if row.ok and row.problem == "sssp" and row.algorithm.startswith("peer:"):
            fastest[row.graph_name] = min(row, fastest.get(row.graph_name, row), key=lambda one: one.kernel_s or 1e9)
    assert len(fastest) == 9
    assert "peer:cugraph" not in {row.algorithm for row in fastest.values()}


def test_a_ratio_of_single_samples_is_no_headline() -> None:
    rows = [of_run("kruskal", 1), of_run("peer:ecl-mst", 2)]
    one = Record.of({**rows[1].data, "samples_s": {"kernel": [2.0]}, "confidence_s": {}}, file="r.jsonl")
    assert against_others.ratio(against_others.lead(rows, {"mst": "kruskal"})) == "**2**"
    assert against_others.ratio(against_others.lead([rows[0], one], {"mst": "kruskal"})) == "2; one sample on 1"


def test_what_is_not_verified_emulated_of_another_kind_of_device_or_of_another_graph_is_not_compared() -> None:
    ours, others = of_run("kruskal", 2), of_run("peer:ecl-mst", 4)
    changed: list[dict[str, Any]] = [
        {"verification": {"status": "skipped", "method": "none"}},
        {"device": {"kind": "emulated", "name": "emulated"}},
        {"device": {"kind": "cuda", "name": "NVIDIA H200", "uuid": "GPU-9"}},
        {"graph": {**others.data["graph"], "digest": "1" * 64}},
    ]
    for change in changed:
        apart = [Record.of({**row.data, **change}, file="r.jsonl") for row in (of_run("kruskal", 1), others)]
        assert against_others.lead([ours, others, apart[1]], {"mst": "kruskal"})["mean"] == pytest.approx(2.0)
        with pytest.raises(InputError, match="both 'kruskal' and a peer have solved"):
            against_others.lead([ours, apart[1]], {"mst": "kruskal"})
        with pytest.raises(InputError, match="both 'kruskal' and a peer have solved"):
            against_others.lead([apart[0], others], {"mst": "kruskal"})


@pytest.mark.parametrize("how", [{"commit": ""}, {"clean": False}, {"clean": None}])
def test_records_of_no_known_commit_are_no_headline(how: dict[str, Any]) -> None:
    rows = [of_run("kruskal", 1), of_run("peer:ecl-mst", 2)]
    for at in (0, 1):
        data = rows[at].data
        if "commit" in how:
            changed = {**data, "environment": {**data["environment"], "git_commit": None}}
        else:
            changed = {**data, "provenance": {**data.get("provenance", {}), **how}}
        mixed = [Record.of(changed, file="r.jsonl") if i == at else row for i, row in enumerate(rows)]
        assert against_others.ratio(against_others.lead(mixed, {"mst": "kruskal"})) == "2 ‡"


def test_a_lead_of_several_problems_is_one_mean() -> None:
    rows = [of_run("kruskal", 1), of_run("peer:ecl-mst", 2), of_run("kruskal", 1, "grid:5x5", commit="b" * 12)]
    rows.append(of_run("peer:ecl-mst", 8, "grid:5x5", commit="b" * 12))
    paths = [Record.of({**row.data, "problem": "sssp"}, file="r.jsonl", line=1) for row in rows[:2]]
    found = against_others.lead([*rows, *paths], {"mst": "kruskal", "sssp": "kruskal"})
    assert (found["count"], found["mean"], found["apart"]) == (3, pytest.approx((2 * 8 * 2) ** (1 / 3)), False)
    other = of_run("peer:ecl-mst", 2, uuid="GPU-2")
    assert against_others.lead([rows[0], other, *rows[2:]], {"mst": "kruskal"})["apart"]


def test_other_programs_are_compared_by_the_call_where_it_was_measured() -> None:
    gpu = {"device": {"kind": "cuda", "name": "NVIDIA H200", "uuid": "GPU-1"}}
    kernel, others = (Record.of({**of_run(name, s).data, **gpu}) for name, s in (("kruskal", 1), ("peer:ecl-mst", 6)))
    call = Record.of({**kernel.data, "call": {"samples_s": [2.0, 2.0, 9.0], "wall_s": [2.5, 2.5, 9.5]}})
    old, new = (against_others.lead([ours, others], {"mst": "kruskal"}) for ours in (kernel, call))
    assert (old["mean"], "§" in old["marks"]) == (pytest.approx(6.0), True)
    assert (new["mean"], "§" in new["marks"]) == (pytest.approx(3.0), False)
    assert [against_others.marks([ours, others])[-2:] for ours in (kernel, call)] == [" §", " †"]
    assert (kernel.call_s, call.call_s) == (1.0, 2.0)
