from __future__ import annotations

import re

import numpy as np
import pytest

from gpugraph.base.errors import InputError
from gpugraph.ext.comparing.claims import has_regimes
from gpugraph.ext.comparing.cli import BY as OFFERED
from gpugraph.ext.comparing.ranked import rank as rank_with
from gpugraph.ext.comparing.ranked import ranking_sheet
from gpugraph.ext.comparing.ranking import BY, check_ranked, rank, with_transfers
from gpugraph.records.record import Record
from gpugraph.report.terminal import plain
from tests.measure.simulated import levels
from tests.measure.test_compare import timed
from tests.report.canned import emulated, failed, mst_record, sssp_record

CPU = {"kind": "cpu", "name": "a processor", "threads": 2}


def samples(
    median_ms: float, *, noise: float = 0.02, number: int = 40, seed: int = 1, drift: float = 0.0
) -> list[float]:
    """Return times in seconds that scatter around a median, and grow by ``drift`` from the first to the last."""
    deviates = np.random.default_rng(seed).standard_normal(number)
    return list(1e-3 * median_ms * np.exp(noise * deviates) * np.linspace(1, 1 + drift, number))


def row(algorithm: str, median_ms: float, *, seed: int = 1, noise: float = 0.02, number: int = 40, **changes) -> Record:
    drift = changes.pop("drift", 0.0)
    times = samples(median_ms, noise=noise, number=number, seed=seed, drift=drift)
    made = {"device": CPU, "parameters": {}, **changes}
    return Record.of(timed(mst_record(algorithm=algorithm, **made), times))


TWO_ALIKE = {"a": 1.0, "b": 1.0, "c": 1.1}


def graph(**changes):
    return {**mst_record()["graph"], **changes}


def test_records_of_the_same_work_are_ranked_by_their_medians_and_compared_with_the_fastest():
    (ranking,), alone = rank([row("slow", 3, seed=1), row("fast", 1, seed=2), row("middle", 2, seed=3)])
    assert [one.algorithm for one in ranking.rows] == ["fast", "middle", "slow"]
    assert not alone
    second, third = ranking.against_best
    assert (second.proven, third.proven) == (True, True)
    assert second.ratio == pytest.approx(2, rel=0.03)
    assert second.interval[0] < 2 < second.interval[1]
    assert third.ratio == pytest.approx(3, rel=0.03)
    assert [(one.first.algorithm, one.second.algorithm) for one in ranking.neighbours] == [("middle", "slow")]


def test_rows_are_compared_with_a_row_of_reference_in_the_place_of_the_fastest():
    rows = [row("slow", 4, seed=1), row("fast", 1, seed=2), row("peer:middle", 2, seed=3)]
    (ranking,), _ = rank_with(rows, reference="middle")
    pairs = [(one.first.algorithm, one.second.algorithm) for one in ranking.against_best]
    assert pairs == [("fast", "peer:middle"), ("peer:middle", "slow")]
    assert [one.ratio for one in ranking.against_best] == pytest.approx([2, 2], rel=0.03)
    shown = ranking_sheet(ranking).markdown()
    text = plain(ranking_sheet(ranking).lines(80))
    assert re.search(
        r"times middle's\nfast +█+\S* +0\.50\d* ± 0\.\d+\nmiddle +█+\S* +1\nslow +█+\S* +(2\.0|1\.9)", text
    ), text
    assert "fast is" in shown
    assert "slow is not" not in shown
    with pytest.raises(InputError, match="unknown row for --reference 'midle' — did you mean 'middle'"):
        rank_with(rows, reference="midle")


def test_a_graph_without_the_row_of_reference_is_compared_with_its_fastest():
    other = {**graph(), "name": "other", "digest": "9" * 32}
    rows = [row("fast", 1), row("slow", 2), row("slow", 3, graph=other), row("last", 9, graph=other)]
    first, second = rank_with(rows, reference="fast")[0]
    assert first.reference is first.rows[0]
    assert second.reference is None
    assert "times the fastest's" in plain(ranking_sheet(second).lines(80))


@pytest.mark.parametrize("drift", [0.0, 0.3])
def test_equal_records_are_never_told_apart_and_a_tenth_is(drift):
    for seed in range(30):
        rows = [row(name, time, seed=100 * i + seed, drift=drift) for i, (name, time) in enumerate(TWO_ALIKE.items())]
        (ranking,), _ = rank(rows)
        first, second = ranking.against_best
        assert not first.proven
        assert second.proven


def test_an_interval_of_interleaved_runs_holds_the_true_ratio_nine_times_in_ten_even_where_each_run_hangs_together():
    rng, held = np.random.default_rng(3), 0
    for _ in range(100):
        pair = []
        for name, ratio in (("a", 1.0), ("b", 1.1)):
            deviates = rng.standard_normal(60)
            for i in range(1, 60):
                deviates[i] = 0.5 * deviates[i - 1] + 0.75**0.5 * deviates[i]
            record = mst_record(algorithm=name, device=CPU, parameters={})
            pair.append(Record.of(timed(record, 1e-3 * ratio * np.exp(0.03 * deviates))))
        (ranking,), _ = rank(pair)
        (claim,) = ranking.against_best
        held += claim.interval[0] <= 1.1 <= claim.interval[1]
    assert held >= 90


@pytest.mark.parametrize(("number", "proven"), [(3, False), (12, True)])
def test_few_samples_prove_nothing_however_far_apart_they_are(number, proven):
    (ranking,), _ = rank([row("a", 1, number=number), row("b", 9, number=number, seed=2)])
    (claim,) = ranking.against_best
    assert claim.proven is proven
    assert ("too few samples: 3 and 3" in claim.doubt) is not proven


def test_a_drift_that_both_share_does_not_hide_which_is_faster_where_they_took_turns_and_does_between_files():
    drifting = [row("a", 1, drift=0.3), row("b", 1.1, drift=0.3, seed=2)]
    (ranking,), _ = rank(drifting)
    (claim,) = ranking.against_best
    assert claim.proven
    assert claim.ratio == pytest.approx(1.1, rel=0.02)
    assert claim.interval[1] - claim.interval[0] < 0.1
    elsewhere = [drifting[0], Record.of(drifting[1].data, file="b.jsonl")]
    (ranking,), _ = rank(elsewhere)
    assert not ranking.against_best[0].proven


def test_what_failed_is_unverified_or_emulated_has_no_place_and_a_reason():
    unverified = row("u", 1, verification={"status": "skipped", "method": "none", "detail": "not asked for"})
    (ranking,), _ = rank([row("a", 1), Record.of({**failed(), "device": CPU}), Record.of(emulated()), unverified])
    assert [one.algorithm for one in ranking.rows] == ["a"]
    reasons = {why for _, why in ranking.others}
    assert "not verified, so that nothing is said of its speed" in reasons
    assert "times on the emulated device are not performance" in reasons
    assert any(why.startswith("failed: ") for why in reasons)
    assert not ranking.against_best


def test_on_devices_of_two_kinds_the_ratio_with_transfers_is_beside_that_of_the_kernel():
    gpu = Record.of(timed(mst_record(algorithm="g"), samples(1)))
    (ranking,), _ = rank([gpu, row("c", 10, seed=2)])
    (claim,) = ranking.against_best
    assert claim.ratio == pytest.approx(10, rel=0.05)
    assert with_transfers(claim) == pytest.approx(10 / (1 + 1.1 + 0.412 + 0.0214), rel=0.05)
    (ranking,), _ = rank([row("a", 1), row("c", 10, seed=2)])
    assert with_transfers(ranking.against_best[0]) is None


def test_by_algorithm_the_device_is_the_same_and_by_device_the_algorithm():
    gpu = {"kind": "cuda", "name": "NVIDIA H200"}
    rows = [row("a", 1), row("b", 2), row("a", 0.1, device=gpu)]
    (ranking,), alone = rank(rows, "algorithm")
    assert [one.algorithm for one in ranking.rows] == ["a", "b"]
    assert [why.partition(" (")[0] for _, why in alone] == ["another device: cuda, NVIDIA H200 and cpu, a processor, 2"]
    (ranking,), alone = rank(rows, "device")
    assert [one.device_kind for one in ranking.rows] == ["cuda", "cpu"]
    assert [one.algorithm for one, _ in alone] == ["b"]


def test_by_peer_each_program_enters_with_its_fastest_record_and_work_without_a_peer_is_left_out():
    rows = [row("a", 2), row("b", 1), row("peer:igraph", 5), row("a", 1, graph=graph(name="grid", digest="77" * 16))]
    (ranking,), alone = rank(rows, "peer")
    assert [one.algorithm for one in ranking.rows] == ["b", "peer:igraph"]
    assert [(one.graph_name, why) for one, why in alone] == [("grid", "no peer ran on the same work")]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"graph": graph(digest="11" * 16)}, "another graph of that name: digest 00ff00ff00ff and 111111111111"),
        ({"graph": graph(digest="11" * 16, name="rmat:12")}, "another graph: rmat:16 and rmat:12"),
        ({"graph": graph(digest="11" * 16, weight_dtype="float32")}, "weights of another type: uint32 and float32"),
        (
            {"graph": graph(digest="11" * 16), "cell": {"input": {"weights": "unit"}}},
            "other weights: file and unit",
        ),
        ({"sampling": {"cold": True}}, "another state of the caches: warm and cold"),
        ({"device": {**CPU, "threads": 64}}, "another device: cpu, a processor, 2 and cpu, a processor, 64"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_what_it_differs_in(change, reason):
    rankings, alone = rank([row("a", 1), row("b", 2, **change)], "algorithm")
    with pytest.raises(InputError, match="nothing can be compared by algorithm") as refused:
        check_ranked(rankings, alone, "algorithm")
    assert reason in str(refused.value)


def test_another_problem_and_another_source_are_refused_too():
    def cause(*rows):
        rankings, alone = rank(rows, "algorithm")
        assert not rankings
        return alone[0][1]

    paths = Record.of({**sssp_record(), "device": CPU})
    assert cause(row("a", 1), paths) == "another problem: mst and sssp"
    moved = Record.of({**sssp_record(), "device": CPU, "per_source": [], "result": {"source": 99}})
    assert cause(paths, moved).startswith("another source: ")


def test_there_is_nothing_else_to_compare_by():
    assert OFFERED == BY
    with pytest.raises(InputError, match="did you mean 'device'"):
        rank([row("a", 1)], "devise")


def test_a_batch_of_sources_and_single_searches_from_them_are_ranked_by_the_time_of_one():
    def of(name: str, times: list[float], result: dict, each: list[dict]) -> Record:
        changed = {"device": CPU, "algorithm": name, "parameters": {}, "per_source": each}
        made = timed({**sssp_record(), **changed}, times)
        return Record.of({**made, "result": {**made["result"], **result}})

    steps = np.random.default_rng(1).permutation(np.linspace(0.99, 1.01, 20)).tolist()  # in order they would drift
    each = [{"source": s, "reached": 9, "distance_sum": 10 * s, "kernel_s": 1e-3 * s} for s in (1, 2, 3)]
    alone = [2e-3 * s * t for s in (1, 2, 3) for t in steps]
    batch = {"source": 1, "sources": 3, "reached": 27, "distance_sum": 60}
    single, together = (
        of("single", alone, {}, each),
        of("batch", [2.9e-3 + 1e-2 * (step - 0.99) for step in steps], batch, []),
    )
    (ranking,), _ = rank([single, together])
    assert [row.algorithm for row in ranking.rows] == ["batch", "single"]
    assert [row.kernel_s for row in ranking.rows] == pytest.approx([1e-3, 4e-3])
    assert ranking.against_best[0].ratio == pytest.approx(4, rel=1e-4)
    assert ranking.against_best[0].proven
    assert "from 3 sources, the time of one" in ranking_sheet(ranking).markdown()
    other = of("batch", [3e-3] * 20, {**batch, "distance_sum": 61}, [])
    assert len(rank([single, other])[0]) == 2  # other sources: each stays as it is
    assert [row.samples for row in rank([single])[0][0].rows] == [single.samples]
    endless = of("endless", alone, {}, [{**one, "distance_sum": "inf"} for one in each])  # as JSON says it
    assert len(rank([single, endless])) == 2


@pytest.mark.parametrize("busy", ["fast", "slow"])
def test_nothing_is_ranked_where_the_machine_was_busy_on_either_side(busy: str) -> None:
    starved = {"wall_s": [0.3] * 40, "cpu_s": [0.1] * 40}
    made = [
        row(name, 1 + i, seed=i, **({"sampling": starved} if name == busy else {}))
        for i, name in enumerate(("fast", "slow"))
    ]
    (ranking,), _ = rank(made)
    (claim,) = ranking.against_best
    assert not claim.proven
    assert claim.doubt == "the machine was busy: its runs had a processor for 33.3 % of their time"


def test_levels_that_last_are_called_unstable_and_independent_noise_never_is() -> None:
    caught = sum(has_regimes(levels(20, np.random.default_rng(seed), 100)) for seed in range(100))
    assert caught > 65
    for seed in range(100):
        rng = np.random.default_rng(seed)
        normal = rng.standard_normal(100)
        for series in (
            np.exp(0.02 * normal),
            np.exp(0.5 * normal),
            np.exp(0.02 * normal) * np.where(rng.random(100) < 0.3, 1.2, 1.0),
            np.exp(0.02 * normal) * np.where(rng.random(100) < 0.15, 1 + rng.pareto(1.5, 100), 1.0),
        ):
            assert not has_regimes(series)


def test_records_whose_times_have_regimes_are_not_ranked() -> None:
    drawn = (levels(20, np.random.default_rng(seed), 40) for seed in range(100))
    times = next(filter(has_regimes, drawn))
    unstable = Record.of(timed(mst_record(algorithm="slow", device=CPU, parameters={}), times))
    (ranking,), _ = rank([row("fast", 0.1), unstable])
    (claim,) = ranking.against_best
    assert not claim.proven
    assert claim.doubt.startswith("unstable: the times of a run stay at one of two levels, ")
