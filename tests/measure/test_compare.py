from __future__ import annotations

import numpy as np
import pytest

from gpugraph.base.errors import InputError
from gpugraph.ext.comparing.claims import holm
from gpugraph.ext.comparing.compare import compare
from gpugraph.records.record import Record
from tests.report.canned import emulated, mst_record, sssp_record

CELLS = 12


def timed(record, times):
    times = [float(t) for t in times]
    phases = {**record["phases_s"], "kernel": float(np.median(times))}
    return {**record, "phases_s": phases, "samples_s": {"kernel": times}}


def a_run(rng, *, samples=20, noise=0.02, drift=0.0, correlation=0.0, slower=None):
    """Return the rows of a run of many cells; ``slower`` maps a cell's number to a factor of its times."""
    rows = []
    for cell in range(CELLS):
        deviates = rng.standard_normal(samples)
        for i in range(1, samples):
            deviates[i] = correlation * deviates[i - 1] + (1 - correlation**2) ** 0.5 * deviates[i]
        times = 1e-3 * (1 + cell) * np.exp(noise * deviates + drift * rng.standard_normal())
        times *= 1 + 0.3 * (rng.random(samples) > 0.98)
        times *= (slower or {}).get(cell, 1.0)
        rows.append(Record.of(timed(mst_record(algorithm=f"a{cell}"), times)))
    return rows


def verdicts(comparison):
    return {cell.new.algorithm: cell.verdict for cell in comparison.cells}


@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"drift": 0.01},
        {"noise": 0.1},
        {"samples": 60, "correlation": 0.8},
        {"samples": 5, "noise": 0.05},
    ],
)
def test_a_run_against_itself_has_no_regression_in_twenty_tries(kind):
    rng = np.random.default_rng(7)
    assert sum(len(compare(a_run(rng, **kind), a_run(rng, **kind)).regressions) for _ in range(20)) == 0


@pytest.mark.parametrize("kind", [{}, {"drift": 0.005}, {"samples": 60, "drift": 0.005}])
def test_a_planted_slow_down_of_a_tenth_is_found_and_nothing_else(kind):
    rng = np.random.default_rng(11)
    for _ in range(5):
        comparison = compare(a_run(rng, **kind), a_run(rng, **kind, slower={3: 1.1, 9: 0.85}))
        assert [cell.new.algorithm for cell in comparison.regressions] == ["a3"]
        assert verdicts(comparison)["a9"] == "faster"
        assert comparison.geometric_mean == pytest.approx((1.1 * 0.85) ** (1 / CELLS), rel=0.01)
        low, high = comparison.mean_interval
        assert low < comparison.geometric_mean < high


def test_a_machine_that_does_not_repeat_itself_shows_hardly_a_regression():
    rng = np.random.default_rng(7)
    kind = {"drift": 0.1}
    assert sum(bool(compare(a_run(rng, **kind), a_run(rng, **kind)).regressions) for _ in range(20)) <= 1


@pytest.mark.parametrize("cells", [range(CELLS), range(0, CELLS, 2)])
def test_a_slow_down_of_many_cells_is_found_in_each(cells):
    rng = np.random.default_rng(13)
    comparison = compare(a_run(rng, samples=40), a_run(rng, samples=40, slower=dict.fromkeys(cells, 1.15)))
    assert [cell.new.algorithm for cell in comparison.regressions] == [f"a{i}" for i in cells]


def test_a_slow_down_is_found_among_cells_that_became_faster():
    rng = np.random.default_rng(17)
    comparison = compare(a_run(rng), a_run(rng, slower={i: 1.15 if i == 4 else 0.7 for i in range(CELLS)}))
    assert [cell.new.algorithm for cell in comparison.regressions] == ["a4"]


def test_where_all_cells_scatter_one_must_stand_out():
    rng = np.random.default_rng(19)
    drifts = dict(enumerate([1.2, 0.85, 1.1, 0.9, 1.25, 0.8, 1.15, 0.95, 1.05, 0.88, 1.12, 0.84]))
    comparison = compare(a_run(rng), a_run(rng, slower=drifts))
    assert comparison.regressions == []
    assert comparison.cells[0].reason == "other cells scatter as much between the runs"
    assert [c.new.algorithm for c in compare(a_run(rng), a_run(rng, slower={**drifts, 3: 3.0})).regressions] == ["a3"]


def test_a_change_within_the_threshold_is_the_same_however_significant():
    rng = np.random.default_rng(3)
    comparison = compare(a_run(rng, noise=0.001), a_run(rng, noise=0.001, slower={3: 1.03}))
    assert set(verdicts(comparison).values()) == {"same"}
    tight = compare(a_run(rng, noise=0.001), a_run(rng, noise=0.001, slower={3: 1.03}), threshold=0.02)
    assert verdicts(tight)["a3"] == "slower"


def test_too_few_samples_are_said_to_prove_nothing():
    rng = np.random.default_rng(3)
    comparison = compare(a_run(rng, samples=3, noise=0.001), a_run(rng, samples=3, noise=0.001, slower={3: 1.5}))
    cell = comparison.cells[3]
    assert (cell.verdict, cell.reason) == ("unclear", "too few samples: 3 and 3 prove nothing")


def test_what_five_samples_prove_of_one_cell_they_do_not_prove_among_many():
    rng = np.random.default_rng(3)
    base, new = (a_run(rng, samples=5, noise=0.0145, slower=slower) for slower in ({}, {3: 1.5}))
    alone, among = compare(base[3:4], new[3:4]).cells[0], compare(base, new).cells[3]
    assert (alone.verdict, among.verdict) == ("slower", "unclear")
    assert among.claim.p_value == pytest.approx(CELLS * alone.claim.p_value)
    assert among.reason == "the samples scatter or drift as much"


def test_a_difference_below_the_tick_of_the_clock_is_none():
    base, new = (timed(mst_record(), [t * 1e-6] * 30) for t in (4.0, 4.5))
    assert compare([Record.of(base)], [Record.of(new)]).cells[0].verdict == "same"


def test_a_run_that_drifts_is_not_taken_for_one_that_changed():
    base = [1.0] * 15 + [1.2] * 15
    cell = compare([Record.of(timed(mst_record(), base))], [Record.of(timed(mst_record(), [1.21] * 30))]).cells[0]
    assert cell.verdict == "unclear"


def test_sources_of_different_length_do_not_hide_a_slow_down():
    rng = np.random.default_rng(5)
    work = np.repeat([1.0, 10.0, 100.0, 1000.0], 12)
    base = timed(sssp_record(sources=4), work * (1 + 0.01 * rng.standard_normal(48)))
    new = timed(sssp_record(sources=4), 1.5 * work * (1 + 0.01 * rng.standard_normal(48)))
    assert compare([Record.of(base)], [Record.of(new)]).cells[0].verdict == "slower"
    assert compare([Record.of(base)], [Record.of(base)]).cells[0].verdict == "same"


def failing(outcome="timeout", **changes):
    return mst_record(outcome=outcome, message="stopped", phases_s={}, samples_s={"kernel": []}, mteps=None, **changes)


@pytest.mark.parametrize(
    ("base", "new", "verdict", "regression"),
    [
        (mst_record(), failing(), "broken", True),
        (mst_record(), failing("out of memory"), "broken", True),
        (failing(), mst_record(), "repaired", False),
        (failing(), failing("died"), "not compared", False),
        (mst_record(), failing("skipped"), "not compared", False),
        (mst_record(), mst_record(result={"edges_sha256": "00"}), "different result", True),
        (emulated(), emulated(), "not compared", False),
        (mst_record(), mst_record(samples_s={"kernel": []}), "not compared", False),
    ],
)
def test_a_cell_without_times_on_both_sides_has_a_verdict_of_its_own(base, new, verdict, regression):
    comparison = compare([Record.of(base)], [Record.of(new)])
    assert comparison.cells[0].verdict == verdict
    assert bool(comparison.regressions) == regression
    assert comparison.geometric_mean is None


def placed(name, **changes):
    return mst_record(cell={"id": name, "sweep": "scales", "axes": {"scale": 16}}, **changes)


def test_cells_pair_by_id_then_by_their_place_in_the_sweep_then_by_what_was_run():
    for base, new in (
        (placed("x"), placed("x", algorithm="other")),
        (placed("x"), placed("y", outcome="timeout", message="", graph={"name": "rmat:16"})),
        (mst_record(), mst_record(cell={"id": "new"})),
    ):
        comparison = compare([Record.of(base)], [Record.of(new)])
        assert (len(comparison.cells), comparison.unpaired) == (1, [])


def test_what_is_not_paired_is_said_with_the_reason():
    graph = mst_record()["graph"]
    base = [mst_record(), mst_record(algorithm="prim"), sssp_record(), mst_record(algorithm="twice")]
    new = [mst_record(), sssp_record(), mst_record(algorithm="twice"), mst_record(algorithm="twice")]
    new[1] = {**new[1], "graph": {**graph, "digest": "ff" * 16}}
    comparison = compare([Record.of(r) for r in base], [Record.of(r) for r in new])
    reasons = {(one.side, one.record.algorithm): one.reason for one in comparison.unpaired}
    assert len(comparison.cells) == 1
    assert reasons["base", "prim"] == "not in NEW"
    assert "digest 00ff00ff00ff in BASE, ffffffffffff in NEW" in reasons["both", "dijkstra"]
    assert "several cells are alike" in reasons["new", "twice"]


def test_another_gpu_is_reported():
    comparison = compare(
        [Record.of(mst_record())], [Record.of(mst_record(device={"kind": "cuda", "name": "NVIDIA L4"}))]
    )
    assert comparison.notices == ["the device is not the same: NVIDIA H200 in BASE, NVIDIA L4 in NEW"]


def test_another_gpu_of_the_same_model_and_another_machine_are_reported():
    def run(*places):
        made = []
        for turn, (uuid, node) in enumerate(places):
            device = {"kind": "cuda", "name": "NVIDIA H200", "uuid": uuid}
            made.append(Record.of(mst_record(algorithm=f"a{turn}", device=device, environment={"node": node})))
        return made

    base, new = run(("GPU-a", "n1"), ("GPU-b", "n1")), run(("GPU-b", "n1"), ("GPU-b", "n2"))
    assert compare(base, new).notices == [
        "NEW ran 1 of 2 cells on another GPU: GPU-b in the place of GPU-a",
        "NEW ran 1 of 2 cells on another machine: n2 in the place of n1",
    ]
    assert compare(base, base).notices == []


def test_runs_without_a_common_cell_and_senseless_thresholds_are_refused():
    with pytest.raises(InputError, match="no cell in common"):
        compare([Record.of(mst_record())], [Record.of(sssp_record())])
    with pytest.raises(InputError, match="threshold"):
        compare([Record.of(mst_record())], [Record.of(mst_record())], threshold=0.0)


def spread_run(rng, *, between, processes=4, each=8, slower=None):
    """Return the rows of a run whose cells were spread over processes that scatter by ``between``."""
    rows = []
    for cell in range(CELLS):
        own = np.repeat(np.exp(between * rng.standard_normal(processes)), each)
        times = 1e-3 * own * np.exp(0.002 * rng.standard_normal(processes * each)) * (slower or {}).get(cell, 1.0)
        record = timed(mst_record(algorithm=f"a{cell}"), times)
        rows.append(Record.of({**record, "sampling": {"processes": [each] * processes}}))
    return rows


def test_what_differs_between_processes_is_not_taken_for_change():
    rng = np.random.default_rng(23)
    found = [compare(spread_run(rng, between=0.08), spread_run(rng, between=0.08)) for _ in range(20)]
    assert sum(len(comparison.regressions) for comparison in found) == 0
    assert sum(list(verdicts(comparison).values()).count("faster") for comparison in found) == 0
    assert np.mean([low < 1 < high for c in found for low, high in [cell.claim.interval for cell in c.cells]]) > 0.92


def test_a_slow_down_beyond_the_scatter_of_processes_is_found():
    rng = np.random.default_rng(29)
    for _ in range(5):
        comparison = compare(spread_run(rng, between=0.01), spread_run(rng, between=0.01, slower={3: 1.25}))
        assert [cell.new.algorithm for cell in comparison.regressions] == ["a3"]
        assert comparison.notices == []


def test_processes_without_any_scatter_prove_a_change_and_none():
    base = [timed(mst_record(), [t] * 6) | {"sampling": {"processes": [2, 2, 2]}} for t in (1e-3, 1e-3, 1.2e-3)]
    (same,), (slower,) = (compare([Record.of(base[0])], [Record.of(new)]).cells for new in base[1:])
    assert (same.verdict, same.claim.p_value, slower.verdict, slower.claim.p_value) == ("same", 1.0, "slower", 0.0)


def test_a_change_that_one_process_tells_is_doubted_in_a_notice():
    rng = np.random.default_rng(31)
    (notice,) = compare(a_run(rng), a_run(rng, slower={3: 1.3})).notices
    assert notice.startswith("1 cell faster or slower in samples of one process")


def test_runs_that_were_sampled_otherwise_have_no_change():
    rng = np.random.default_rng(37)
    wanted = {"target": 0.02, "min_samples": 10, "max_samples": 50, "warmup": 1, "cold": False}
    base, new = (
        [timed(mst_record(algorithm=f"a{i}"), f * np.exp(0.01 * rng.standard_normal(30))) for i in range(CELLS)]
        for f in (1.0, 1.3)
    )
    old = [Record.of(record | {"sampling": wanted}) for record in base]
    for change, words in (
        ({"max_samples": 5}, "max_samples 50 in BASE, 5 in NEW"),
        ({"warmup": 0}, "warmup 1 in BASE"),
    ):
        comparison = compare(old, [Record.of(record | {"sampling": wanted | change}) for record in new])
        assert set(verdicts(comparison).values()) == {"unclear"}
        assert comparison.cells[0].reason.startswith(f"slower, but sampled differently: {words}")
        assert f"{CELLS} cells of NEW sampled differently than in BASE" in comparison.notices[0]
    cold = compare(old, [Record.of(record | {"sampling": wanted | {"cold": True}}) for record in new])
    assert set(verdicts(cold).values()) == {"not compared"}
    assert cold.cells[0].reason == "only NEW flushed the caches before every sample"
    for told in (wanted, {}):  # a record older than these settings says nothing of them
        alike = compare(old, [Record.of(record | {"sampling": told}) for record in new])
        assert set(verdicts(alike).values()) == {"slower"}


def test_p_values_are_corrected_for_their_number():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []
