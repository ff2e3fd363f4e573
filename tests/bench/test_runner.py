from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpugraph.base.errors import DeviceUnavailable, VerificationFailed
from gpugraph.bench import local_workers, plan
from gpugraph.bench.bench import judge
from gpugraph.bench.estimate import Budget, Prices
from gpugraph.bench.local_workers import Limits
from gpugraph.bench.plan import Planned
from gpugraph.bench.run import Totals
from gpugraph.ext.resuming import Finished, is_cut_short
from gpugraph.graph.generate import generate
from gpugraph.graph.view import GraphView
from gpugraph.measure.cell import Cell
from gpugraph.measure.sampling import Sampling
from gpugraph.problems.mst import gpu_filter_boruvka
from gpugraph.problems.on_graphs import size_of
from gpugraph.records.record import Record
from tests.bench.plans import Bench, planned
from tests.report.canned import mst_record
from tests.stored import read_records
from tests.tiers import first

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(local_workers, "GRACE_S", 300.0)
    return Bench(tmp_path)


def outcomes(bench: Bench) -> dict[str, str]:
    return {f"{r['algorithm']} {r['graph']['name']}": r["outcome"] for r in read_records(bench.path)}


def test_cells_of_one_graph_go_together_and_each_is_stored_with_its_place_in_the_sweep(bench):
    bench.run(planned("known"), planned("b"), planned("a", "path:10"))
    assert bench.requests == ["known b", "a"]
    first = read_records(bench.path)[0]["cell"]
    assert first["id"] == "id of path:9"
    assert first["axes"] == {"graph": "path:9", "algorithm": "known"}
    assert (first["sweep"], first["series"]) == ("t", "known path:{n}")


def test_a_cell_that_hangs_is_killed_and_the_others_of_its_graph_are_measured_without_it(bench, monkeypatch):
    monkeypatch.setattr(local_workers, "GRACE_S", 0.2)
    bench.run(planned("a"), planned("hang", time_s=0.3), planned("b"), planned("c", "path:10"))
    assert outcomes(bench) == {"a path:9": "ok", "hang path:9": "timeout", "b path:9": "ok", "c path:10": "ok"}
    assert bench.requests == ["a hang b", "b", "c"]
    hung = next(r for r in read_records(bench.path) if r["outcome"] == "timeout")
    assert hung["message"] == "took more than 0.3 s of its own"
    assert hung["mteps"]["kernel"] is None


@pytest.mark.parametrize(("act", "how"), [("die", "ended by SIGSEGV"), ("leave", "code 7; the last it wrote: cannot")])
def test_a_worker_that_dies_is_reported_with_its_last_words_and_replaced(bench, act, how):
    bench.run(planned(act), planned("a"))
    assert outcomes(bench) == {f"{act} path:9": "died", "a path:9": "ok"}
    assert how in read_records(bench.path)[0]["message"]


def test_a_graph_that_cannot_be_opened_in_time_ends_all_its_cells(bench):
    bench.run(planned("a", load_s=0.3), planned("never-opens", load_s=0.3), planned("c", "path:10"))
    assert outcomes(bench) == {"a path:9": "timeout", "never-opens path:9": "timeout", "c path:10": "ok"}


def test_a_worker_that_grows_beyond_the_limit_is_ended(bench):
    bench.run(planned("fat", memory_bytes=200_000_000))
    assert outcomes(bench) == {"fat path:9": "out of memory"}
    assert "the limit is 191 MiB" in read_records(bench.path)[0]["message"]


def test_a_lost_gpu_costs_the_cell_that_lost_it_and_a_new_worker_goes_on(bench):
    bench.run(planned("lose"), planned("a"))
    assert outcomes(bench) == {"lose path:9": "failed", "a path:9": "ok"}
    assert bench.requests == ["lose a", "a"]


def test_larger_graphs_of_a_series_are_skipped_once_memory_runs_out_and_the_sweep_goes_on(bench):
    cells = [planned(act, graph) for graph in ("path:9", "path:10", "path:11") for act in ("oom", "a")]
    bench.run(*cells)
    told = outcomes(bench)
    assert [told[f"oom path:{n}"] for n in (9, 10, 11)] == ["out of memory", "skipped", "skipped"]
    assert [told[f"a path:{n}"] for n in (9, 10, 11)] == ["ok", "ok", "ok"]
    skipped = next(r for r in read_records(bench.path) if r["outcome"] == "skipped")
    assert skipped["message"] == "out of memory at path:9, which is no larger"


def test_a_graph_of_equal_size_is_not_tried_once_memory_runs_out(bench):
    bench.run(planned("oom", "grid:2x3"), planned("oom", "grid:3x2"))
    assert list(outcomes(bench).values()) == ["out of memory", "skipped"]


def test_cells_beyond_the_budget_are_skipped_with_the_reason(bench):
    bench.budget_s = 0.03
    bench.run(*(planned("a", f"path:{n}") for n in range(9, 30)))
    told = list(outcomes(bench).values())
    assert told[0] == "ok"
    assert told[-1] == "skipped"
    assert "budget" in read_records(bench.path)[-1]["message"]


def test_a_graph_that_does_not_fit_sets_no_seconds_aside(bench, monkeypatch):
    expected = []
    monkeypatch.setattr(Budget, "expect", lambda self, cells: expected.extend(cells))
    bench.run(planned("a", "rmat:34"))
    assert expected == []


def test_a_cell_that_a_worker_gave_up_for_want_of_time_is_skipped(bench, monkeypatch):
    bench.budget_s, bench.by_clock = 600.0, True
    spent = iter([600.0, 600.0, 0.0])
    monkeypatch.setattr(Budget, "_left_s", lambda self, device: next(spent, 0.0))
    bench.run(planned("a"), planned("late"))
    assert outcomes(bench) == {"a path:9": "ok", "late path:9": "skipped"}
    assert read_records(bench.path)[-1]["message"] == "the budget of 10.0 min is spent"
    assert bench.requests == ["a late"]


def test_what_can_never_fit_is_not_tried(bench):
    bench.run(planned("a"), planned("a", "rmat:34"), planned("a", "path:5000", memory_bytes=1000))
    told = outcomes(bench)
    assert (told["a rmat:34"], told["a path:5000"]) == ("skipped", "skipped")
    assert bench.requests == ["a"]


def test_a_resumed_sweep_measures_only_what_is_not_finished_and_keeps_one_record_a_cell(bench):
    cells = [planned("a"), planned("oom"), planned("oom", "path:10"), planned("b", "path:10")]
    bench.run(*cells[:3])
    (bench.folder / "log").unlink()
    ids = [r["cell"]["id"] for r in read_records(bench.path)]
    assert len(set(ids)) == 3
    assert bench.run(*cells, resume=True).resumed == 2
    assert bench.requests == ["b"]
    names = [r["cell"]["name"] for r in read_records(bench.path)]
    assert len(names) == len(set(names)) == 4


def leave_few(bench: Bench, **sampling: object) -> None:
    """Make the records of the file such that they have 7 samples of 9."""
    few = {"min_samples": 9, "processes": [7], **sampling}
    lines = [json.dumps({**record, "sampling": few}) for record in read_records(bench.path)]
    bench.path.write_text("".join(f"{line}\n" for line in lines))


def few_of(bench: Bench) -> list[str]:
    return [r["algorithm"] for r in read_records(bench.path) if (r.get("sampling") or {}).get("processes") == [7]]


@pytest.mark.parametrize(
    ("algorithm", "sampling", "again"),
    [
        ("a", {"stopped_by": "budget"}, True),
        ("wrong", {"stopped_by": "budget"}, True),
        ("a", {"stopped_by": "time", "spent_s": 14.9}, True),  # as older records have it
        ("a", {"stopped_by": "time", "spent_s": 15.1}, False),
        ("a", {"stopped_by": "time", "spent_s": 14.9, "min_samples": 7}, False),
        ("a", {"stopped_by": "time"}, False),
        ("wrong", {"stopped_by": "count", "spent_s": 1.0}, False),
        ("oom", {}, False),
    ],
)
def test_a_resumed_sweep_measures_again_what_a_budget_cut_short_and_not_what_used_its_own_time(
    bench, algorithm, sampling, again
):
    bench.run(planned(algorithm))
    leave_few(bench, **sampling)
    (bench.folder / "log").unlink()
    totals = bench.run(planned(algorithm), resume=True)
    assert (totals.again, totals.resumed) == (again, not again)
    assert bench.requests == ([algorithm] if again else [])
    assert len(read_records(bench.path)) == 1
    assert few_of(bench) == ([] if again else [algorithm])


def test_a_resumed_sweep_measures_again_what_lacks_the_energy_or_the_counters_asked_for_now(bench):
    bench.run(planned("a"))
    [data] = read_records(bench.path)
    for kind, asked, absent, again in (
        ("cpu", {"energy": True}, "not asked for", True),
        ("cpu", {"energy": True}, "no counter", False),
        ("cpu", {"counters": True}, "not asked for", False),  # they are counted on the emulated device alone
        ("emulated", {"counters": True}, "not asked for", True),
        ("emulated", {}, "not asked for", False),
    ):
        data["device"]["kind"], data["energy"], data["work"] = kind, {"absent": absent}, {"absent": absent}
        assert (not Finished([Record.of(data)], asked).by_id) == again, (kind, asked, absent)


def test_of_a_cell_spread_over_processes_a_budget_may_leave_some_of_them(bench):
    bench.run(planned("a"))
    leave_few(bench, stopped_by="target", spent_s=1.0)
    records = [Record.of(record) for record in read_records(bench.path)]
    assert [is_cut_short(records[0], Sampling(processes=n)) for n in (1, 2)] == [False, True]
    for spent_s, left in ((3.1, False), (2.9, True)):  # of 15 s for five processes
        leave_few(bench, stopped_by="time", spent_s=spent_s, processes=[2, 2, 1, 1, 1])
        records = [Record.of(record) for record in read_records(bench.path)]
        assert [is_cut_short(records[0], Sampling(processes=n)) for n in (1, 5)] == [left, left]


def test_the_few_samples_of_a_cell_stay_where_the_budget_ends_before_it_again(bench, monkeypatch):
    cells = [planned("a"), planned("b"), planned("c")]
    bench.run(*cells[:2])
    leave_few(bench, stopped_by="budget")
    monkeypatch.setattr(Budget, "obstacle", lambda self, planned, begun, first: None if first else "too late")
    monkeypatch.setattr(plan, "TOGETHER", 1)
    totals = bench.run(*cells, resume=True)
    assert outcomes(bench) == {"a path:9": "ok", "b path:9": "ok", "c path:9": "skipped"}
    assert (totals.again, totals.resumed) == (1, 0)
    assert few_of(bench) == ["b"]
    assert bench.run(*cells, resume=True).again == 1
    assert few_of(bench) == []


def test_the_few_samples_of_a_cell_stay_where_it_comes_to_nothing_the_next_time(bench):
    bench.run(planned("oom"))
    leave_few(bench, stopped_by="budget")
    bench.path.write_text(bench.path.read_text().replace('"outcome": "out of memory"', '"outcome": "ok"'))
    assert bench.run(planned("oom"), resume=True).again == 0
    assert bench.told == ["oom path:9 out of memory"] * 2
    assert (outcomes(bench), few_of(bench)) == ({"oom path:9": "ok"}, ["oom"])


def test_the_samples_of_a_cell_stay_where_the_budget_leaves_it_fewer_the_next_time(bench):
    bench.run(planned("a"))
    leave_few(bench, stopped_by="budget")
    (old,) = read_records(bench.path)
    few = {**old, "samples_s": {**old["samples_s"], "kernel": [1e-3]}}
    finished = Finished([Record.of(old)], {})
    kept = [finished.keeps(Record.of(new)) for new in (few, {**few, "sampling": {"stopped_by": "target"}}, old)]
    assert kept == [True, False, False]


def test_cells_that_a_budget_cut_short_together_get_their_samples_one_after_another(bench, monkeypatch):
    cells = [planned("a"), planned("b"), planned("c")]
    bench.run(*cells)
    assert bench.requests == ["a b c"]
    leave_few(bench, stopped_by="budget")
    monkeypatch.setattr(Budget, "_least_s", lambda self, planned, need: 1.0)
    monkeypatch.setattr(Budget, "_left_s", lambda self, device: 1.5)
    bench.run(*cells, resume=True)
    assert bench.requests[1:] == ["a", "b", "c"]
    leave_few(bench, stopped_by="budget")
    monkeypatch.setattr(Budget, "_left_s", lambda self, device: 9.0)
    bench.run(*cells, resume=True)
    assert bench.requests[4:] == ["a b c"]


def test_retry_tries_again_what_did_not_go_well(bench):
    bench.run(planned("oom"), planned("threw"), planned("oom", "path:10"))
    (bench.folder / "log").unlink()
    bench.run(planned("oom"), planned("threw"), planned("oom", "path:10"), retry=True)
    assert bench.requests == ["oom threw"]
    assert len(read_records(bench.path)) == 3


KILLED = """
import sys
from pathlib import Path
from tests.bench.plans import Bench, planned
from tests.report.canned import mst_record
bench = Bench(Path(sys.argv[1]))
print("ready", flush=True)
bench.run(*(planned(f"a{i % 4}", f"path:{9 + i // 4}") for i in range(400)), resume=True)
"""


@pytest.mark.parametrize("seed", first(1, range(3)))
def test_a_kill_at_any_moment_loses_only_the_running_cell(tmp_path, seed):
    chance, reported, path = random.Random(seed), 0, tmp_path / "r.jsonl"
    for _ in range(2):
        words = [sys.executable, "-c", KILLED, str(tmp_path)]
        process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        limit = time.monotonic() + 300
        while not path.exists() and time.monotonic() < limit:
            time.sleep(0.01)
        time.sleep(chance.uniform(0.05, 0.4))
        process.send_signal(signal.SIGKILL)
        reported += len(process.stdout.read().splitlines())
        process.wait()
    stored = read_records(path)
    # What was told of is stored; at most one line was written and not yet told, each time.
    assert reported <= len(stored) <= reported + 2
    assert [f"{r['algorithm']} {r['graph']['name']}" for r in stored] == [
        f"a{i % 4} path:{9 + i // 4}" for i in range(len(stored))
    ]


def test_ctrl_c_stores_what_is_finished_and_ends_the_worker(tmp_path):
    bench = Bench(tmp_path)
    program = KILLED.replace("(planned(", "(planned('never-opens') if i == 30 else planned(")
    words = [sys.executable, "-c", program, str(tmp_path)]
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    while process.stdout.readline() != "a1 path:16\n":
        pass
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert "KeyboardInterrupt" in err
    assert len(read_records(bench.path)) == 30


def test_prices_learn_from_stored_results():
    cell = planned("a", "rmat:10")
    before = Prices(Sampling()).need(cell)
    assert before.basis == "rates"
    record = mst_record(algorithm="a", device={"kind": "cpu"}, graph={"arcs": cell.size.arcs // 2})
    record["phases_s"]["kernel"] = 0.05
    after = Prices(Sampling(), [Record.of(record)]).need(cell)
    assert after.basis == "results"
    assert before.seconds < 30 * 0.1 < after.seconds < 4


def test_the_memory_of_a_cell_is_what_its_algorithm_declares():
    sizes = size_of("grid:9x9")
    cell = Cell("mst", "grid:9x9", "filter-boruvka", "cuda")
    view = GraphView.of(generate("grid:9x9"))
    need = Prices(Sampling()).need(Planned(cell, "cuda", sizes, Limits()))
    assert need.device_bytes == view.nbytes + gpu_filter_boruvka.state_bytes(view)
    thumb = Cell("mst", "grid:9x9", "boruvka", "cuda")  # which asks for degrees
    assert Prices(Sampling()).need(Planned(thumb, "cuda", sizes, Limits())).device_bytes > sizes.nbytes


def test_the_price_of_a_peer_counts_starting_it_and_what_its_samples_really_took():
    own, library, command = (Prices(Sampling()).need(planned(n)).seconds for n in ("a", "peer:scipy", "peer:mine"))
    assert own < library + 1e-3 < command - 5
    cell = planned("peer:mine", "rmat:10")
    record = mst_record(algorithm="peer:mine", device={"kind": "cpu"}, graph={"arcs": cell.size.arcs})
    record |= {"samples_s": {"kernel": [0.001] * 5}, "sampling": {"spent_s": 1.5}}
    record["phases_s"]["kernel"] = 0.001
    assert 30 * 0.3 <= Prices(Sampling(), [Record.of(record)]).need(cell).seconds < 12


def test_the_price_of_an_external_program_has_three_processes_within_ten_times_the_limit():
    def seconds(limit_s: float) -> float:
        cell = planned("peer:mine", "rmat:10")
        record = mst_record(algorithm="peer:mine", device={"kind": "cpu"}, graph={"arcs": cell.size.arcs})
        record |= {"samples_s": {"kernel": [0.001]}, "sampling": {"spent_s": 20.0}}
        return Prices(Sampling(time_limit_s=limit_s), [Record.of(record)]).need(cell).seconds

    once = seconds(0.001)
    assert seconds(1.0) == pytest.approx(once + 10, abs=0.1)
    assert seconds(7.0) == pytest.approx(once + 60, abs=0.1)


def test_what_is_left_follows_what_peers_really_took(tmp_path):
    bench, left = Bench(tmp_path), []
    bench.ended = lambda planned, record, done, left_s: left.append(left_s)
    bench.run(*(planned("peer:mine", f"path:{n}") for n in (9, 10, 11)))
    assert left[0] < 2 * 6  # the first took milliseconds; before it, each was priced at six seconds
    assert left[-1] == 0


def spread(bench, processes):
    """Let a bench spread every cell over some processes."""
    (bench.folder / "s.toml").write_text(f'[axes]\ngraph = "path:9"\n[sampling]\nprocesses = {processes}\n')
    return bench


def test_the_samples_of_a_cell_are_spread_over_processes_and_make_one_record(tmp_path):
    bench = spread(Bench(tmp_path), 3)
    started = []
    start, bench.start = bench.start, lambda: started.append(start()) or started[-1]
    bench.run(planned("a"), planned("b"))
    assert bench.requests == ["a b"] * 3
    assert len({worker.pid for worker in started}) == 3
    assert sorted(bench.told) == ["a path:9 ok", "b path:9 ok"]
    assert len(read_records(bench.path)) == 2


def test_a_cell_that_fails_in_any_of_its_processes_has_failed_and_the_others_go_on(tmp_path):
    bench = spread(Bench(tmp_path), 2)
    bench.run(planned("a"), planned("die"), planned("wrong"))
    assert sorted(bench.told) == ["a path:9 ok", "die path:9 died", "wrong path:9 wrong"]


def test_a_budget_that_ends_between_two_processes_leaves_what_the_first_took(tmp_path):
    bench = spread(Bench(tmp_path, budget_s=1e-6), 2)
    bench.run(planned("a"))
    assert bench.told == ["a path:9 ok"]
    assert bench.requests == ["a"]


def test_a_bench_that_skipped_every_cell_does_not_end_well() -> None:
    case, why = planned("ok"), "needs about 2 GiB of memory, the limit of a cell is 1 GiB"
    ours, skipped = mst_record(outcome="ok"), mst_record(outcome="skipped", message=why)
    judge(Totals([(case, Record.of(ours)), (case, Record.of(skipped))]))
    judge(Totals([(case, Record.of(skipped))], resumed=1))
    with pytest.raises(DeviceUnavailable, match=f"skipped: {why}"):
        judge(Totals([(case, Record.of(skipped))]))


def test_a_bench_whose_peer_died_does_not_end_well() -> None:
    case = planned("ok")
    ours, peer = mst_record(outcome="ok"), mst_record(algorithm="peer:igraph", outcome="died", message="signal SIGSEGV")
    judge(Totals([(case, Record.of(ours))]))
    with pytest.raises(VerificationFailed, match=r"peer:igraph on .*: died: signal SIGSEGV"):
        judge(Totals([(case, Record.of(ours)), (case, Record.of(peer))]))
