"""What a sweep's tables and expectations say of records."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpugraph.base.errors import InputError, Regression
from gpugraph.bench.bench import judge_findings
from gpugraph.bench.sweep_file import read_sweep
from gpugraph.ext.findings import Expectation, Table
from gpugraph.ext.findings.formula import NAMES, Formula, NotMeasured, beside
from gpugraph.records.fields import FIELDS, GAINS, VALUES
from gpugraph.records.record import Record
from gpugraph.records.statistics import estimate
from tests.report.canned import mst_record


def cell(algorithm="boruvka", seconds=1.0, graph="rmat:4", device="cuda", half=0.0, prepare=(), **more) -> Record:
    data = mst_record(algorithm=algorithm, phases_s={"kernel": seconds}, outcome="ok")
    data |= {"device": {"kind": device, "name": device}, "confidence_s": {}}
    data["graph"] = {"name": graph, "vertices": 16, "arcs": 64, "edges": 32}
    data["confidence_s"] = {"kernel": [seconds * (1 - half), seconds * (1 + half)]} if half else {}
    data["parameters"] = {"preparations": list(prepare), "repeat": 1, **more.pop("parameters", {})}
    data["cell"] = {"axes": more.pop("axes", {}), "sweep": "t"}
    return Record.of({**data, **more})


def expect(value="plain.kernel / kernel", **more) -> Expectation:
    named = {
        "each": {"prepare": "sort-adjacency"},
        "others": {"plain": {"prepare": "none"}},
        "text": "is so",
        "where": "",
    }
    named |= {key: more.pop(key) for key in list(more) if key in named}
    return Expectation(value=value, **named, **more)


SORTED = cell(prepare=("sort-adjacency",), seconds=1.0)


@given(a=st.integers(1, 99), b=st.integers(1, 99), c=st.integers(1, 99))
def test_a_formula_is_the_arithmetic_that_it_spells(a, b, c):
    record = cell(seconds=float(a), rounds=b, counters={"count": c})
    for text in ("kernel + rounds * counters.count", "(kernel - rounds) / counters.count", "-kernel * 2 - 1"):
        names = {"kernel": float(a), "rounds": b, "counters": type("C", (), {"count": c})}
        assert Formula(text).of(record, {}) == pytest.approx(eval(text, {}, names))


def test_a_table_with_intervals_says_how_exactly_what_comes_of_kernel_times_is_known():
    few = cell("peer:few", seconds=4.0, samples_s={"kernel": [3.9, 4.0, 4.3]})
    one = cell("peer:one", seconds=8.0, samples_s={"kernel": [8.0]})
    records = [cell(seconds=2.0, half=0.03), few, one]
    columns = {"graph": "graph", "ours": "kernel", "few": "few.kernel", "one": "one.kernel", "edges": "edges",
               "best/ours": "min(all.kernel) / kernel"}  # fmt: skip
    others = {"few": {"algorithm": "peer:few"}, "one": {"algorithm": "peer:one"}, "all": {"algorithm": "peer:*"}}
    asked = {"title": "t", "columns": columns, "others": others, "each": {"algorithm": "boruvka"}}
    assert Table(**asked).rows(records) == [["rmat:4", "2", "4", "8", "32", "2"]]
    exact = ["rmat:4", "2 ± 3 %", "4 ± 5 %", "8", "32", "2 ± 5.8 %"]
    assert Table(**asked, intervals=True).rows(records) == [exact]


def test_the_best_of_several_has_its_own_interval_widened_for_the_choice_and_not_capped_by_the_others():
    """Of three Δ the best is known to 20 %; t of its 4.738 degrees of freedom is 3.622 at 1 − 0.05/3, not 2.614."""
    samples = {"kernel": [1.0, 1.1, 1.0, 0.9, 1.0, 1.1, 0.9]}
    best = cell("peer:x", seconds=1.0, half=0.2, samples_s=samples, parameters={"delta": 1})
    others = [cell("peer:x", seconds=s, half=0.02, parameters={"delta": d}) for d, s in ((2, 1.05), (3, 1.1))]
    records = [cell(seconds=2.0), best, *others]
    columns = {"best": "min(all.kernel)", "ratio": "kernel / min(all.kernel)", "worst": "max(all.kernel)"}
    asked = {"title": "t", "columns": columns, "others": {"all": {"algorithm": "peer:x"}}}
    (row,) = Table(**asked, each={"algorithm": "boruvka"}, intervals=True).rows(records)
    assert estimate(samples["kernel"]).freedom == pytest.approx(4.738, abs=1e-3)
    assert row == ["1 ± 28 %", "2 ± 22 %", "1.1 ± 3.2 %"]
    asked = {"value": "kernel / min(all.kernel)", "each": {"algorithm": "boruvka"}, "others": asked["others"]}
    assert "± 21.7 %" in expect(**asked, least=1.5).find(records).ours


def test_the_range_of_the_best_of_several_is_its_own():
    best = cell("peer:x", seconds=1.0, half=0.98, samples_s={"kernel": [0.7, 1.0, 35.8]}, parameters={"delta": 1})
    other = cell("peer:x", seconds=1.1, samples_s={"kernel": [0.1, 1.1, 1.2]}, parameters={"delta": 2})
    asked = {"title": "t", "columns": {"best": "min(all.kernel)"}, "others": {"all": {"algorithm": "peer:x"}}}
    rows = Table(**asked, each={"algorithm": "boruvka"}, intervals=True).rows([cell(), best, other])
    assert rows == [["1 (0.7 to 35.8)"]]


def test_a_table_with_intervals_shows_the_range_of_what_is_not_known_to_half():
    other = cell("peer:other", seconds=4.0, half=0.6, samples_s={"kernel": [3.0, 4.0, 9.0]})
    records = [cell(seconds=2.0, samples_s={"kernel": [1.5, 2.0, 2.5]}), other]
    columns = {"ours": "kernel", "other": "other.kernel", "ratio": "other.kernel / kernel", "less": "-other.kernel"}
    asked = {"title": "t", "columns": columns, "others": {"other": {"algorithm": "peer:other"}}}
    rows = Table(**asked, each={"algorithm": "boruvka"}, intervals=True).rows(records)
    assert rows == [["2 ± 25 %", "4 (3 to 9)", "2 (1.2 to 6)", "-4 (-9 to -3)"]]


def test_a_formula_takes_several_cells_and_whole_tables_into_its_functions():
    groups = {"all": [cell(seconds=s) for s in (4.0, 2.0, 6.0)]}
    record = cell(kernel_phases_s={"find": 3.0, "merge": 1.0})
    told = {text: Formula(text, groups).of(record, groups) for text in ("min(all.kernel)", "mean(all.kernel)", "graph")}
    assert told == {"min(all.kernel)": 2.0, "mean(all.kernel)": 4.0, "graph": "rmat:4"}
    assert Formula("kernel_phases_s.find / sum(kernel_phases_s)").of(record, {}) == 0.75
    assert Formula("max(all.kernel, kernel * 9)", groups).of(record, groups) == 9.0


def test_a_cell_without_a_time_is_not_the_fastest_of_several_and_is_missed_elsewhere():
    lost = cell(seconds=1.0)
    lost = Record.of({**lost.data, "outcome": "timeout", "phases_s": {}})
    groups = {"all": [cell(seconds=4.0), lost, cell(seconds=2.0)]}
    assert Formula("min(all.kernel)", groups).of(cell(), groups) == 2.0
    for text, found in (("max(all.kernel)", groups), ("min(all.kernel)", {"all": [lost]})):
        with pytest.raises(NotMeasured, match="timeout"):
            Formula(text, groups).of(cell(), found)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("kernl * 2", "did you mean 'kernel'?"),
        ("medain(kernel)", "function"),
        ("plian.kernel / kernel", "did you mean 'plain'?"),
        ("kernel ** 2", "is no formula"),
        ("kernel if 1 else 2", "is no formula"),
        ("__import__('os')", "unknown function of a formula '__import__'"),
        ("kernel.__class__.__mro__ + ", "is no formula"),
        ("'text'", "is no formula"),
        ("True", "is no formula"),
    ],
)
def test_what_is_no_formula_is_refused(text, hint):
    with pytest.raises(InputError) as error:
        Formula(text, ["plain"])
    assert hint in str(error.value)


def test_what_records_do_not_hold_is_not_measured_and_says_why():
    for text, why in (
        ("counters.passes", "has no 'counters.passes'"),
        ("kernel / (arcs - 64)", "divides by 0"),
        ("1e308 * 1e308 * arcs", "out of range"),
        ("1e400 - 1e400 + kernel", "out of range"),
        ("sum(1e400 * kernel, -1e400 * kernel)", "out of range"),
        (f"arcs * 1{'0' * 400}", "out of range"),
        ("all.kernel * 2", "has 2 values"),
        ("none.kernel", "no cell for 'none'"),
        ("kernel * graph", "is no number"),
    ):
        with pytest.raises(NotMeasured, match=why):
            Formula(text, ["all", "none"]).of(cell(), {"all": [cell(), cell()], "none": []})
    with pytest.raises(NotMeasured, match="timeout: too long"):
        Formula("kernel").of(cell(outcome="timeout", message="too long"), {})


def test_a_cell_beside_is_like_the_other_but_for_what_is_named():
    one = cell("prim", parameters={"blocks": 2, "threads": 64})
    others = [
        one,
        cell("prim", parameters={"blocks": 4, "threads": 64}),
        cell("prim", parameters={"blocks": 4, "threads": 32}),
        cell("prim", device="cpu"),
        cell("prim", graph="rmat:5", parameters={"blocks": 2, "threads": 64}),
        cell("heap", device="cpu"),
    ]
    assert beside(one, {}, others) == [one]
    assert beside(one, {"blocks": 4}, others) == beside(one, {"parameters.blocks": 4}, others) == [others[1]]
    assert beside(one, {"blocks": "*", "threads": "*"}, others) == others[:3]
    assert beside(one, {"device": "cpu"}, others) == [others[3]]
    assert beside(one, {"algorithm": "heap"}, others) == [others[5]]
    assert beside(one, {"graph": "rmat:*"}, others) == [one, others[4]]
    assert beside(one, {"graph": "rmat:{scale}", "device": "cpu"}, others) == [others[3]]


@pytest.mark.parametrize(
    ("plain", "limits", "verdict"),
    [
        (2.0, {"least": 1}, "yes"),
        (1.01, {"least": 1}, "no, the same"),
        (0.5, {"least": 1}, "no"),
        (3.0, {"most": 2.5}, "no"),
        (3.0, {"least": 2, "most": 3}, "yes"),
        (2.4, {"stated": 2}, "yes"),
        (3.0, {"stated": 2}, "yes, more"),
        (1.2, {"stated": 2}, "less"),
        (0.9, {"stated": 2}, "no"),
    ],
)
def test_a_verdict_is_that_of_the_figure(plain, limits, verdict):
    assert expect(unit="times", **limits).find([SORTED, cell(seconds=plain)]).verdict == verdict


@pytest.mark.parametrize(("rounds", "verdict"), [(45, "yes"), (40, "yes"), (1000, "no"), (10, "no")])
def test_what_is_stated_is_a_factor_only_in_times(rounds, verdict):
    one = expect("rounds", others={}, each={}, stated=45)
    assert one.find([cell(rounds=rounds)]).verdict == verdict


@pytest.mark.parametrize(
    ("plain", "half", "verdict"),
    [(1.5, 0.9, "unclear"), (1.02, 0.037, "no, the same"), (0.993, 0.054, "no, the same"), (1.056, 0.11, "unclear"),
     (2.1, 0.1, "yes"), (2.6, 0.1, "yes, more"), (1.2, 0.05, "less"), (0.7, 0.1, "no"), (1.45, 0.1, "unclear")],
)  # fmt: skip
def test_intervals_apply_to_stated_factors_too(plain, half, verdict):
    found = expect(unit="times", stated=2).find([SORTED, cell(seconds=plain, half=half)])
    assert found.verdict == verdict


def test_a_cell_of_a_papers_claim_is_not_beside_itself():
    """With the cell among the others, a setting that was measured alone would be the best of all."""
    best = {"value": "kernel / min(all.kernel)", "each": {"blocks": 128}, "where": "3"}
    best["others"] = {"all": {"blocks": "*"}}
    chosen, other = (cell("prim", seconds=s, parameters={"blocks": b}) for s, b in ((1.2, 128), (1.0, 64)))
    alone = expect(**best, most=1.02).find([chosen])
    assert (alone.verdict, alone.ours) == ("–", "not measured: no cell for 'all' of rmat:4")
    assert expect(**best, most=1.02).find([chosen, other]).verdict == "no"


def sized(seconds, vertices, graph="rmat", samples=5, **more):
    """Return a cell of a graph of so many vertices with so many samples."""
    one = cell(seconds=seconds, graph=f"{graph}:{vertices}", samples_s={"kernel": [seconds] * samples}, **more)
    return Record.of({**one.data, "graph": {**one.data["graph"], "vertices": vertices}})


def claim(value="kernel", **more):
    named = {"each": {"graph": "rmat:*"}, "others": {}, "where": "section 3", "at": "largest", "samples": 5}
    return expect(value, **{**named, **more})


def test_a_claim_is_judged_at_the_largest_graph_that_has_all_it_needs():
    records = [sized(1.0, 16), sized(3.0, 64), sized(9.0, 256, samples=2), sized(27.0, 1024, samples=1)]
    found = claim(most=2).find(records)
    assert (found.verdict, found.ours) == ("no", "rmat:64: 3")
    assert claim(most=4).find([*records[:2], sized(5.0, 256)]).verdict == "no"
    lost = Record.of({**records[1].data, "outcome": "timeout", "phases_s": {}, "samples_s": {"kernel": []}})
    assert claim(most=2).find([records[0], lost]).ours == "rmat:16: 1"


def test_a_few_samples_are_no_verdict():
    for taken in (1, 2, 4):
        found = claim(most=2).find([sized(1.0, 16, samples=taken)])
        samples = f"{taken} sample{'s' if taken > 1 else ''}"
        assert (found.verdict, found.ours) == ("too few samples", f"boruvka on rmat:16 has {samples} of 5")
    plain = sized(2.0, 16, samples=1, prepare=("sort-adjacency",))
    both = claim("plain.kernel / kernel", others={"plain": {"prepare": "sort-adjacency"}}, least=1)
    assert both.find([sized(1.0, 16), plain]).verdict == "too few samples"


def test_what_is_counted_needs_one_sample():
    one = Record.of({**sized(1.0, 16, samples=1).data, "rounds": 7})
    assert claim("rounds", least=7, most=8).find([one]).verdict == "yes"


def test_a_claim_on_several_graphs_is_judged_for_each():
    both = claim("rounds", each={"graph": ["rmat:*", "ssca2:*"]}, least=7, most=8)
    records = [Record.of({**sized(1.0, 16, g).data, "rounds": r}) for g, r in (("rmat", 6), ("ssca2", 8))]
    assert [(one.text, one.verdict) for one in both.findings(records)] == [
        ("RMAT: is so", "no"),
        ("SSCA2: is so", "yes"),
    ]
    half = both.findings(records[1:])
    assert [one.verdict for one in half] == ["–", "yes"]
    assert half[0].ours == "not measured: no such cell"


def test_of_several_graphs_of_the_largest_size_none_may_be_missing():
    least = {"value": "kernel", "most": 2}
    records = [sized(1.0, 64, f"rmat:{i}") for i in range(3)] + [sized(1.0, 16)]
    assert claim(**least).find(records).ours == "1 in each of 3 cells"
    few = [*records[:2], sized(1.0, 64, "rmat:2", samples=1), records[3]]
    assert claim(**least).find(few).ours == "rmat:16: 1"


def test_an_algorithm_that_is_wrong_on_purpose_gives_its_time_to_claims_alone():
    fault = {"status": "failed", "method": "certificate", "detail": "the arc 1 -> 2 can be relaxed"}
    right, racing = sized(2.0, 16, prepare=("rank-weights",)), sized(1.0, 16).data
    wrong = {**racing, "outcome": "wrong", "verification": fault}
    faster = claim(
        "plain.kernel / kernel", each={"prepare": "none"}, others={"plain": {"prepare": "rank-weights"}}, least=1
    )
    assert faster.find([right, Record.of(wrong)]).verdict == "–"
    meant = Record.of({**wrong, "verification": {**fault, "wrong_on_purpose": True}})
    found = faster.find([right, meant])
    assert (found.verdict, found.ours) == ("yes", "rmat:16: 2 (plain 2.000 s, 1.000 s)")
    assert meant.kernel_s is meant.mteps is None
    scattered = Record.of({**meant.data, "samples_s": {"kernel": [1.0] * 7}, "confidence_s": {"kernel": [0.4, 1.6]}})
    assert faster.find([sized(1.5, 16, prepare=("rank-weights",)), scattered]).verdict == "unclear"


def test_kinds_of_claims_are_told_and_a_device_that_nobody_has_is_named():
    assert claim(most=2).find([sized(1.0, 16)]).kind == "paper"
    assert claim(most=2, kind="open").find([sized(1.0, 16)]).kind == "open"
    amd = claim("", kind="no such device", each={}, says="82.7 times").find([])
    assert (amd.verdict, amd.stated, amd.failed) == ("no such device", "82.7 times", False)
    size = claim("12 * 16777216 * 32 / 1000000000", kind="computed", each={}, stated=6.3, unit="GB")
    assert (size.find([cell()]).verdict, size.find([cell()]).ours) == ("yes", "6.442 GB")


def test_a_bound_within_the_interval_is_unclear():
    noisy = cell(seconds=2.0, half=0.3)
    assert expect(least=2.2).find([SORTED, noisy]).verdict == "unclear"
    assert expect(least=1.2).find([SORTED, noisy]).verdict == "yes"
    assert "± 30 %" in expect(least=1.2).find([SORTED, noisy]).ours


def test_of_several_cells_the_worst_decides_and_the_ends_are_reported():
    times = {"rmat:4": 2.0, "rmat:5": 0.5, "rmat:6": 3.0, "rmat:7": 1.5}
    records = [cell(prepare=("sort-adjacency",), graph=graph) for graph in times]
    records += [cell(seconds=seconds, graph=graph) for graph, seconds in times.items()]
    finding = expect(least=1, unit="times").find(records)
    assert finding.verdict == "no"
    assert finding.ours == "from rmat:5: 0.5 times (plain 500 ms, 1.000 s) to rmat:6: 3 times (plain 3.000 s, 1.000 s)"
    alike = [*records[:4], *(cell(seconds=2.0, graph=graph) for graph in times)]
    assert expect(least=1, unit="times").find(alike).ours == "2 times in each of 4 cells"


def test_what_was_not_measured_has_no_verdict_and_times_of_the_emulated_device_are_none():
    assert expect(least=1).find([]).verdict == "–"
    assert "no cell for 'plain'" in expect(least=1).find([SORTED]).ours
    emulated = cell(prepare=("sort-adjacency",), device="emulated")
    for name in ("kernel", "phases_s.kernel", "kernel_phases_s.find_min"):
        assert f"has no '{name}'" in expect(name, least=1, others={}).find([emulated]).ours


def test_only_an_expectation_that_is_no_papers_claim_ends_a_bench_with_an_error():
    sweep = type("Sweep", (), {"expectations": [expect(least=1, where="section 3")]})
    judge_findings(sweep, [SORTED, cell(seconds=0.5)])
    sweep.expectations.append(expect(least=1))
    with pytest.raises(Regression, match=r"is so: 0\.5 .*at least 1 was expected"):
        judge_findings(sweep, [SORTED, cell(seconds=0.5)])


def test_a_bound_of_zero_is_printed_like_any_other() -> None:
    assert expect(least=0).find([SORTED, cell(seconds=0.5)]).stated == "at least 0"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[[expect]]\ntext = 'a'\nvalue = 'kernl'\nleast = 1",
            "line 3, expect.text: unknown name in a formula 'kernl'",
        ),
        ("[[expect]]\ntext = 'a'\nvalue = 'kernel'", "line 3, expect.text: it says nothing of the figure"),
        ("[[expect]]\ntext = 'a'\nvalue = 'kernel'\nleast = nan", "no figure is compared with what is infinite"),
        ("[[expect]]\ntext = 'a'\nvalue = 'kernel'\nleast = 5\nmost = 1", "no figure is at least 5 and at most 1"),
        ("[[expect]]\nvalue = 'kernel'\nleast = 1", "lacks 'text'"),
        ("[[expect]]\ntext = 'a'\nvalue = 'kernel'\nleast = 'x'", "its least 'x' is no number"),
        (
            "[[expect]]\ntext = 'a'\nvlaue = 'kernel'\nleast = 1",
            "line 4, expect.vlaue: unknown key 'vlaue' — did you mean",
        ),
        (
            "[[expect]]\ntext = 'a'\nvalue = 'kernel'\nleast = 1\neach = { algoritm = 'x' }",
            "line 6, expect.each: unknown condition 'algoritm' — did you mean 'algorithm'?",
        ),
        (
            "[[expect]]\ntext = 'a'\nvalue = 'kernel'\nleast = 1\n"
            "[[expect]]\ntext = 'b'\nvalue = 'b.kernel'\nleast = 1\nwith.b = { layuot = 'csr' }",
            "line 10, expect.with: unknown condition 'layuot' — did you mean 'layout'?",
        ),
        ("[[table]]\ntitle = 'a'\ncolumns = {}", "its columns are no table"),
        ("[[table]]\ntitle = 'a'\ncolumns = { a = 'graph' }\nwith.b = { graph = 'x:{scal}' }", "did you mean 'scale'?"),
        ("[[table]]\ntitle = 'a'\ncolumns = { a = 'graph' }\neach = 3", "line 5, table.each: is no table"),
    ],
)
def test_a_file_that_asks_for_nonsense_is_refused_with_its_place(tmp_path, text, said):
    path = tmp_path / "s.toml"
    path.write_text(f"axes.graph = 'path:4'\n{text}\n")
    with pytest.raises(InputError) as error:
        read_sweep(str(path))
    assert str(path) in str(error.value)
    assert said in str(error.value)


def test_a_formula_knows_every_value_that_a_figure_draws():
    drawn = {name for name, field in FIELDS.items() if field.title}
    assert drawn - {*GAINS} <= NAMES.keys()
    assert [*VALUES] == [name.replace("_", "-") for name in FIELDS if name in drawn]
    (one,) = [cell()]
    for name in drawn - {*GAINS}:
        value, found = FIELDS[name].of(one), FIELDS[name].read(one)
        assert value is found is None or value == pytest.approx(Formula(name).of(one, {}) * FIELDS[name].factor)
