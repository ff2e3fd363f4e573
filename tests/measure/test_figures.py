"""Every figure that a screen, a table or a record prints, by value: a measurement whose seconds are scripted.

One clock, which moves only when the script says so, is the host's and that of the GPU's events.
"""

from __future__ import annotations

import io
import json
import math
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpugraph.base import clock as clocks
from gpugraph.base.clock import NullClock, PhaseTimer
from gpugraph.cli.process import BEGAN, Command
from gpugraph.devices import bandwidth, nvml
from gpugraph.devices.cpu import CpuDevice
from gpugraph.devices.cuda import CudaDevice
from gpugraph.ext.charts.page_text import details
from gpugraph.ext.charts.times import answers, shares, transfers
from gpugraph.ext.check_record.plausibility import findings
from gpugraph.ext.check_record.plausible_figures import CACHED, CORE_BYTES_PER_S, GPUS, least_bytes
from gpugraph.ext.comparing.cells import mteps_interval
from gpugraph.ext.comparing.claims import Claim, claims, difference_of
from gpugraph.ext.comparing.compare import Compared, Comparison
from gpugraph.ext.comparing.comparison import comparison_json, comparison_sheet
from gpugraph.ext.comparing.paper_table import latex
from gpugraph.ext.comparing.ranked import Named, ranking_json, ranking_sheet, sentences
from gpugraph.ext.comparing.ranking import Ranking
from gpugraph.ext.graph500 import benchmark
from gpugraph.ext.graph500.record import record_of
from gpugraph.ext.reports import render
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.digest import set_digest
from gpugraph.graph.load import load_file
from gpugraph.measure import assemble, measurement
from gpugraph.measure.cell import Cell
from gpugraph.measure.environment import git_commit
from gpugraph.measure.instruments import load, phases
from gpugraph.measure.run_cell import run_cell
from gpugraph.measure.sampling import Sampling
from gpugraph.problems.on_graphs import OnGraphs
from gpugraph.problems.registry import load_problem
from gpugraph.records.columns import Labelled
from gpugraph.records.fields import VALUES
from gpugraph.records.record import PHASES, Record
from gpugraph.records.statistics import estimate, estimate_of_processes, spread_interval
from gpugraph.report.table import table
from gpugraph.report.terminal import plain
from tests.devices.fake_cupy import FakeCupy
from tests.measure.fakes import FakeNvml, FakeTime, Puppet, enlist
from tests.measure.mutants import MUTANTS, ROOT, Mutant, place
from tests.problems.mutants import ANSWERS
from tests.zoo import undirected

GRAPH = undirected(4, [(0, 1, 4), (1, 2, 3), (2, 3, 2), (3, 0, 1), (0, 2, 9)])
KERNEL = [2.5, 2.0, 2.25, 3.5, 2.0, 2.75]
D2H = [0.5, 0.25, 0.75, 0.5, 0.5, 1.0]
KERNEL_S, D2H_S, TRANSFER_S = 2.375, 0.5, 0.375  # their medians: neither the least nor the mean
WARM_UP_S, ENERGY_S, FINISH_S = 40.0, 0.5, 0.03125
INNER = [1.5, 2.5, 2.0, 4.0, 1.0]
CALL = [4.0, 3.0]  # the first is untimed; the second is longer than these runs may be
SAMPLING = Sampling(0.0, 6, 6, math.inf, warmup=1, energy=True, transfers=3)
MTEPS = 5 / KERNEL_S / 1e6
"""Of a graph of 5 edges."""


class Script(FakeTime):
    """A GPU, what manages it, and one algorithm, ``scripted``, on one clock."""

    def __init__(self, patch: pytest.MonkeyPatch):
        super().__init__()
        self.cupy, self.nvml, self.puppet = FakeCupy(), FakeNvml(), Puppet("scripted", [])
        self.kernel = [WARM_UP_S - 8.0, *KERNEL, *INNER, *CALL, *[ENERGY_S] * 6]
        self.d2h, self.uploads = iter([8.0, *D2H]), iter([1 / 32] * 3 + [2 / 32] * 3 + [3 / 32] * 3)
        self.cupy.now_ms = lambda: self.now * 1e3
        self.cupy.cuda.runtime.deviceGetPCIBusId = lambda index: "0000:1B:00.0"
        git_commit()  # before its process is waited for by this clock
        patch.setattr(time, "perf_counter", self.perf_counter)
        patch.setattr(time, "sleep", self._idle)
        patch.setattr(clocks, "compile_seconds", lambda: 0.0)
        patch.setattr(PhaseTimer, "compiled", 0)  # by the script; earlier tests of this process have compiled
        patch.setattr(phases, "INNER_LIMIT_S", 1e3)
        patch.setitem(sys.modules, "cupy", self.cupy)
        patch.setattr(nvml, "_nvml", self.nvml.load)
        patch.setattr(bandwidth, "copy_bandwidth", lambda device: 1e3)
        self._slow(patch, bandwidth, "copy_bandwidth", 32.0)
        patch.setattr(load.OtherPrograms, "cores", lambda programs: 0.0)
        patch.setattr(OnGraphs, "open", lambda problem, input_, *how: self._open(input_.source, how[0]))
        self._slow(patch, measurement, "check", 16.0)
        self._slow(patch, assemble, "_blank", 64.0)
        self._slow(patch, CudaDevice, "stage", 0.0625)
        self._slow(patch, CudaDevice, "upload")
        self.enlist(patch)

    def enlist(self, patch: pytest.MonkeyPatch, **changes: Any) -> None:
        """Register the algorithm, with changes."""
        steps = {"compile": self._compile, "prepare": self._prepare, "run": self._run, "fetch": self._fetch}
        steps |= {"finish": self._finish, "devices": ("cuda",), "minimum_bytes": lambda view: 475}
        enlist(patch, self.puppet.algorithm(**steps | changes))

    def measure(self, sampling: Sampling = SAMPLING, **changes: Any) -> Record:
        """Measure it; the process began two seconds ago."""
        cell = replace(Cell("mst", GRAPH, "scripted", "cuda", verify="reference", source=None), **changes)
        return run_cell(cell, sampling=sampling, phase_timer=PhaseTimer("start", since=self.now - 2.0))

    def _slow(self, patch: pytest.MonkeyPatch, place: Any, name: str, seconds: float | None = None) -> None:
        real = getattr(place, name)

        def slow(*args: Any, **more: Any) -> Any:
            self.now += next(self.uploads) if seconds is None else seconds
            return real(*args, **more)

        patch.setattr(place, name, slow)

    def _idle(self, seconds: float) -> None:
        self.now += 1 / 32
        self.nvml.millijoules += 320

    def _open(self, graph: CSRGraph, timer: PhaseTimer) -> CSRGraph:
        for name, seconds in (("load", 4.0), ("build", 8.0), ("check", 0.5)):
            with timer.phase(name):
                self.now += seconds
        return graph

    def _compile(self, view: Any, device: Any, **options: Any) -> None:
        self.now += 128.0

    def _prepare(self, view: Any, device: Any) -> Any:
        self.now += 0.25
        return self.puppet.prepare(view.host, device)

    def _run(self, state: Any, clock: Any, *query: Any) -> Any:
        seconds = self.kernel.pop(0)
        with clock.phase("find"):
            self.now += seconds / 2
        with clock.phase("merge"):
            self.now += seconds / 4
        self.now += seconds / 4
        self.nvml.millijoules += 35_000
        clock.count("rounds", 3)
        return self.puppet.run(state, NullClock(), *query)

    def _fetch(self, state: Any, handle: Any) -> Any:
        self.now += next(self.d2h)
        return handle

    def _finish(self, state: Any, raw: Any, *query: Any) -> Any:
        self.now += FINISH_S
        return self.puppet.finish(state, raw, *query)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    return Script(monkeypatch)


REPEATED_S = (
    *(32.0, WARM_UP_S, sum(KERNEL) - KERNEL_S, sum(D2H) - D2H_S, 5 * FINISH_S),
    *(sum(INNER), sum(CALL), 6 * ENERGY_S, 66 / 32),  # energy: with work, and without before
    9 / 32 + 15 / 32,  # of three copies the median is the transfer
)
PHASE_S = {
    "start": 2.0,
    "load": 4.0,
    "build": 8.0,
    "check": 0.5,
    "compile": 128.0,
    "transfer": TRANSFER_S,
    "prepare": 0.25,
    "kernel": KERNEL_S,
    "d2h": D2H_S,
    "finish": FINISH_S,
    "verify": 16.0,
    "sampling": sum(REPEATED_S),
    "close": 64.0,
}


def test_a_record_has_the_median_of_every_phase_and_they_add_up_to_the_clock(script: Script) -> None:
    data = script.measure().data
    assert data["phases_s"] == PHASE_S | {"total": script.now + 2.0}
    assert sum(PHASE_S.values()) == script.now + 2.0
    assert data["samples_s"] == {"kernel": KERNEL, "h2d": [3 / 32, 6 / 32, 9 / 32], "d2h": D2H}
    assert data["peak_device_bytes"] == 100  # offsets, targets and weights, 4 bytes each
    assert (data["rounds"], data["sampling"]["processes"], data["sampling"]["stopped_by"]) == (3, [6], "count")
    assert data["kernel_phases_s"] == {"find": 1.0, "merge": 0.5}  # of the run of median length
    assert (data["kernel_phases_run_s"], data["kernel_phases_runs"]) == (2.0, 5)
    assert data["call"] == {"samples_s": [3.0], "wall_s": [3.0]}
    assert data["kernel_phases_shares"] == {"find": [0.5] * 3, "merge": [0.25] * 3, "other": [0.25] * 3}
    # sampling ended by the count; the check of the first result counts for nothing
    assert data["sampling"]["spent_s"] == WARM_UP_S + sum(KERNEL) + sum(D2H) + 5 * FINISH_S


def test_rates_energy_and_traffic_are_those_of_the_median_run(script: Script) -> None:
    record = script.measure()
    assert record.data["mteps"]["count"] == 5
    assert record.mteps == record.data["mteps"]["kernel"] == pytest.approx(MTEPS, rel=1e-12)
    end_to_end = 5 / (TRANSFER_S + KERNEL_S + D2H_S) / 1e6
    assert record.end_to_end == record.data["mteps"]["end_to_end"] == pytest.approx(end_to_end, rel=1e-12)
    assert record.data["energy"] == {
        "joules_per_run": pytest.approx(35.0),
        "net_joules_per_run": pytest.approx(35.0 - 10.24 * ENERGY_S),
        "nanojoules_per_edge": pytest.approx(35.0 / 5 * 1e9),
        "mean_w": pytest.approx(35.0 / ENERGY_S),
        "idle_w": pytest.approx(10.24),
        "window_s": 5 * ENERGY_S,
        "runs": 5,
        "per": "run",
    }
    assert record.data["traffic"] == {"minimum_bytes": 475, "copy_bytes_per_s": 1e3, "share": 475 / KERNEL_S / 1e3}


def test_the_interval_encloses_the_median_by_order_statistics_stretched_by_the_autocorrelation(script: Script) -> None:
    """Worked out by hand: of six samples the least and the greatest, with n − 1 = 5 degrees of freedom."""
    record = script.measure()
    low, high = record.data["confidence_s"]["kernel"]
    assert (low, high) == pytest.approx((2.0, 3.5), rel=1e-9)  # no autocorrelation is left
    assert record.interval_s == (low, high)
    assert record.half_width == record.data["sampling"]["reached"] == pytest.approx(0.75 / KERNEL_S)
    assert mteps_interval(record) == pytest.approx((5 / 3.5 / 1e6, 5 / 2.0 / 1e6))
    assert record.answer_s == sum(PHASE_S.values()) - PHASE_S["sampling"]
    assert record.transfer_s == TRANSFER_S + D2H_S


def test_the_screen_prints_the_figures_of_the_record(script: Script) -> None:
    lines = plain(table(script.measure(), width=80))
    shown = {line.split()[0]: line.split("  ")[-1].strip() for line in lines.splitlines() if line}
    phases = lines[lines.index("start") : lines.index("6 samples")]
    times = {line[:20].strip(): " ".join(line[20:30].split()) for line in phases.splitlines()}
    expected = {
        "start": "2.000 s",
        "load compiled code": "2 min 8 s",
        "transfer": "375 ms",
        "kernel": "2.375 s",
        "d2h": "500 ms",
    }
    expected |= {"finish": "31.2 ms", "verify": "16.000 s", "sampling": "111.594 s", "close": "64.000 s"}
    assert {name: times[name] for name in expected} == expected
    assert times["total"] == "5 min 38 s"
    assert "6 samples of the kernel, 2.000 s to 3.500 s, median 2.000 s to 3.500 s (95 %)" in " ".join(lines.split())
    assert shown["MTEPS"] == "2.105e-06 (1.429e-06 to 2.5e-06)"  # 5 edges in 2.375, 3.5 and 2 s
    assert "end to end  1.538e-06" in lines
    for inner, share in (("find", "50%"), ("merge", "25%"), ("other", "25%")):
        assert f"  {inner:<28}{share:>7}  {share} to {share} of the kernel" in lines
    said = " ".join(lines.split())
    assert "rounds of scripted: 3; its phases are the medians of 5 more runs" in said
    assert "time to answer 3 min 46 s: without sampling" in lines
    assert "memory      100 B at most" in lines
    assert "35 J a run (7e+09 nJ an edge), 70 W on average, 10 W idle" in said


def test_the_tables_print_the_figures_of_the_record(script: Script) -> None:
    record = script.measure()
    (line,) = [one for one in render([record], "markdown").splitlines() if one.startswith("| mst ")]
    assert line == (
        "| mst | graph | 4 | 5 | scripted | Fake H200 | 2.375 s ± 31.6 % | 2.105e-06 | 1.538e-06 | 3 min 46 s | "
        "7e+09 | 70 | passed (reference) |"
    )
    names, values = (one.split(",") for one in render([record], "csv").splitlines())
    row = dict(zip(names, values, strict=True))
    for name, seconds in PHASE_S.items():
        assert float(row[f"phases_s.{name}"]) == seconds
    figures = {"confidence_s.kernel.low": 2.0, "confidence_s.kernel.high": 3.5, "samples": 6, "mteps.kernel": MTEPS}
    figures |= {"mteps.end_to_end": 5 / 3.25 / 1e6, "energy.joules_per_run": 35, "traffic.share": 0.2}
    figures |= {"energy.nanojoules_per_edge": 7e9, "peak_device_bytes": 100}
    assert {name: float(row[name]) for name in figures} == pytest.approx(figures)
    assert "graph & {scripted} \\\\\n\\midrule\ngraph & 2375(750) \\\\" in render([record], "latex")
    text = render([record], "text")
    assert "2.105e-06 MTEPS kernel alone, 2.375 s; 3 min 46 s time to answer" in " ".join(text.split())


def test_figures_and_the_page_show_the_figures_of_the_record(script: Script) -> None:
    record = script.measure()
    expected = {"mteps": MTEPS, "end-to-end": 5 / 3.25 / 1e6, "kernel": 2375.0, "transfer": 875.0}
    expected |= {"answer": sum(PHASE_S.values()) - PHASE_S["sampling"], "roof": 0.2, "energy": 7e9}
    expected |= {"memory": 100 / 2**20}
    assert {name: VALUES[name].of(record) for name in expected} == pytest.approx(expected)
    cells = [Labelled.alone(record)]
    ((_, *values),) = [(chart.title, *chart.rows) for chart in answers(cells)]
    assert {(part, shown) for _, part, shown, _ in values} == {
        *{("start", "2 min 10 s"), ("input", "12.500 s"), ("transfer", "375 ms"), ("prepare", "250 ms")},
        *{("kernel", "2.375 s"), ("d2h", "500 ms"), ("result", "16.031 s"), ("close", "64.000 s")},
    }
    (chart,) = shares(cells)
    assert {row[1]: row[3] for row in chart.rows} == {
        "transfer": "10.7 %",
        "prepare": "7.14 %",
        "kernel": "67.9 %",
        "d2h": "14.3 %",
    }
    (chart,) = transfers(cells)
    assert [part for row in chart.rows for part in row if part.endswith(("s", "ms"))][-2:] == ["2.375 s", "875 ms"]
    blocks = {title: dict(map(tuple, facts)) for title, facts in details(cells[0])}
    assert blocks["Energy and traffic"]["energy"] == "35 J a run, 7e+09 nJ an edge"
    assert blocks["Energy and traffic"]["share of the roof"] == "20 %"
    assert blocks["From the command to the answer"]["kernel"] == "2.375 s"
    inner = "Inside the kernel: median share of its time (least to greatest)"
    assert blocks[inner]["merge"] == "25 % (25 % to 25 %)"


def test_of_several_sources_the_kernel_is_the_median_of_all_and_the_rate_the_harmonic_mean(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record of three sources that take 1, 2 and 4 seconds for as many edges."""
    monkeypatch.setattr(type(load_problem("mst")), "queries", lambda problem, graph, how: [(), (), ()])
    script.kernel = [0.5, 1.5, 3.0] + [1.0, 2.0, 4.0] * 5  # the least of each is not its median
    script.kernel += [1.0, 1.5, 1.0, 2.5, 1.0, 4.5]  # of each a call, after one untimed
    script.d2h = iter([0.5] * 18)
    record = script.measure(replace(SAMPLING, warmup=0, energy=False), phases=False)
    assert record.kernel_s == 2.0
    assert [one["kernel_s"] for one in record.data["per_source"]] == [1.0, 2.0, 4.0]
    assert record.data["call"]["samples_s"] == [1.5, 2.5, 4.5]
    rates = [5 / seconds / 1e6 for seconds in (1, 2, 4)]
    assert record.mteps == pytest.approx(3 / sum(1 / rate for rate in rates)) == pytest.approx(5e-6 * 3 / 7)
    ends = [seconds + 0.5 + TRANSFER_S for seconds in (1, 2, 4)]
    assert record.end_to_end == pytest.approx(5e-6 * 3 / sum(ends))


def test_processes_scatter_with_their_own_freedom() -> None:
    """Of 0 and 1 the deviation is √½ with ddof 1, that of their mean ½; t of one degree of freedom is 12.706."""
    found = estimate_of_processes([1.0, math.e])
    assert (found.value, found.below, found.above, found.freedom) == pytest.approx((0.5, 0.5, 0.5, 1))
    low, high = found.interval()
    assert (low, high) == pytest.approx((0.5 - 12.7062047 / 2, 0.5 + 12.7062047 / 2))
    assert spread_interval([1.0, math.e]) == pytest.approx((math.exp(low), math.exp(high)))


def test_a_record_of_several_processes_is_known_as_well_as_they_agree(script: Script) -> None:
    each = [[2.0, 2.5], [2.0, 3.0], [3.0, 3.5]]
    script.kernel, script.d2h = [s for part in (*each, CALL) for s in part], iter([0.5] * 6)
    script.uploads = iter([1 / 32] * 27)
    sampling = Sampling(0.0, 6, 6, math.inf, warmup=0, processes=3)
    record = _in_processes(script, sampling, 3)
    logs = np.log([2.25, 2.5, 3.25])
    half = 4.30265273 * np.std(logs, ddof=1) / math.sqrt(3)  # Student's t of two degrees of freedom
    assert record.kernel_s == 2.75
    assert record.interval_s == pytest.approx((math.exp(logs.mean() - half), math.exp(logs.mean() + half)))
    assert record.data["sampling"]["processes"] == [2, 2, 2]


def _in_processes(script: Script, sampling: Sampling, count: int) -> Record:
    """Measure a cell in so many sessions, one after another, as a bench does in processes."""
    from gpugraph.measure.run_cell import Session

    found: list[Record] = []
    for _ in range(count):
        with Session() as session:
            cell = Cell("mst", GRAPH, "scripted", "cuda", verify="reference", phases=False)
            earlier = {0: found[-1].data} if found else {}
            session.measure([cell], sampling, lambda what: None, lambda i, r: found.append(r), _fail, earlier=earlier)
    return found[-1]


def _fail(index: int, error: Exception) -> None:
    raise error


# ------------------------------------------------------------------ every sample is the same result


def test_a_digest_of_a_set_sees_two_edges_exchanged_for_two_others_and_no_order() -> None:
    edges = np.array([3, 8, 20, 41], np.int32)
    assert set_digest(edges) == set_digest(edges[::-1])
    for other in ([3, 8, 20, 42], [3, 9, 19, 41], [8, 8, 20, 36], [3, 8, 20]):
        assert set_digest(np.array(other, np.int32)) != set_digest(edges)


def test_a_third_sample_with_two_other_edges_fails(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many edges of as much weight in all; the digest of what came from the device is all that is looked at."""
    answers = iter([[0, 1, 2]] * 3 + [[0, 1, 3]] + [[0, 1, 2]] * 9)  # a warm-up, two samples, the third
    fetched: list[Any] = []

    def fetch(state: Any, handle: Any) -> Any:
        fetched.append(script._fetch(state, handle))
        return np.array(next(answers), np.int32)

    def finish(state: Any, raw: Any) -> Any:
        return script._finish(state, fetched[-1])

    script.enlist(monkeypatch, fetch=fetch, finish=finish, digest=set_digest)
    record = script.measure()
    assert record.status == "failed"
    assert record.data["verification"]["detail"] == "sample 3 differs from sample 1"
    assert record.data["mteps"]["kernel"] is None


# ------------------------------------------------------------------ comparisons


def _timed(kernel: list[float], name: str = "one", **environment: Any) -> Record:
    from tests.report.canned import mst_record

    middle = float(np.median(kernel))
    phases = {**mst_record()["phases_s"], "kernel": middle}
    samples = {"kernel": kernel, "h2d": [], "d2h": []}
    data = mst_record(algorithm=name, phases_s=phases, samples_s=samples, environment=environment, outcome="ok")
    return Record.of(data | {"parameters": {}, "confidence_s": {}})


def test_two_that_took_turns_are_compared_round_by_round_with_the_interval_of_that_estimate() -> None:
    """The machine slows down by half: nine rounds of ten are 1.25 times as long, but the medians 1.5 times."""
    first = [1.0] * 5 + [2.0] * 5
    second = [1.25] * 4 + [2.0] + [2.5] * 5
    (claim,) = claims([(_timed(first, "a"), _timed(second, "b"))], one_run=True)
    assert np.median(second) / np.median(first) == 1.5
    assert claim.together
    assert (claim.ratio, claim.interval) == (pytest.approx(1.25), pytest.approx((1.25, 1.25)))


def test_the_interval_of_a_ratio_is_never_stretched_to_hold_another_ratio() -> None:
    """The recorded case: medians 2.715 times apart, and rounds 2.88 times, known to [2.715, 3.061] before."""
    rng = np.random.default_rng(5)
    for seed in range(20):
        noise = np.random.default_rng(seed).standard_normal((2, 12))
        first, second = (1 + 0.4 * np.abs(noise[0])), 2.9 * (1 + 0.4 * np.abs(noise[1]))
        (claim,) = claims([(_timed([*first], "a"), _timed([*second], "b"))], one_run=True)
        found = estimate(np.log(second) - np.log(first))
        assert claim.ratio == pytest.approx(math.exp(found.value))
        assert claim.interval == pytest.approx(tuple(map(math.exp, found.interval())))
    independent = claims([(_timed([*first], "a"), _timed([*rng.permutation(second)], "b"))], one_run=False)[0]
    apart = difference_of(estimate(np.log(independent.second.samples)), estimate(np.log(first)))
    assert independent.ratio == pytest.approx(math.exp(apart.value))
    assert independent.interval == pytest.approx(tuple(map(math.exp, apart.interval())))


def test_every_place_prints_the_ratio_and_the_ends_of_its_own_interval_to_the_same_digits() -> None:
    fast, slow = _timed([1.0] * 8, "fast"), _timed([2.0] * 8, "slow")
    claim = Claim(fast, slow, 2.8769, (2.7151, 3.0611), 0.0, together=True)
    ranking = Ranking([fast, slow], [], [claim], [])
    for text in (
        plain(ranking_sheet(ranking).lines(120)),
        ranking_sheet(ranking).markdown(),
        latex([ranking]),
        "\n".join(sentences(Named(ranking))),
    ):
        assert "fast is 2.88 (2.72 to 3.06) times as fast as slow" in text
    (shown,) = ranking_json(ranking)["claims"]  # type: ignore[misc]
    assert (shown["ratio"], shown["interval"]) == (2.8769, (2.7151, 3.0611))
    found = Comparison([Compared(claim, "slower")], [], 0.05, 2.8769, (2.7151, 3.0611))
    assert "2.877 (2.715..3.061)" in comparison_sheet(found).markdown()
    assert comparison_json(found)["cells"][0]["interval"] == [2.7151, 3.0611]  # type: ignore[index]


# ------------------------------------------------------------------ what a time is called


def test_loading_is_not_called_compiling_and_the_start_of_python_is_shown_apart() -> None:
    from tests.report.canned import mst_record

    for compiled, name in ((0, "load compiled code"), (3, "compile"), (None, "compile")):
        phases = {**mst_record()["phases_s"], "compile": 0.345, "total": 0.8}
        record = Record.of(mst_record(phases_s=phases, compiled=compiled, interpreter_s=0.021, predecessors_s=0.5))
        lines = plain(table(record)).splitlines()
        assert [line[:30] for line in lines if "345 ms" in line] == [f"{name:<20}{'345 ms':>10}"]
        assert f"{'interpreter':<20}{'21.0 ms':>10}         before start, not in total" in lines
        assert f"{'predecessors':<20}{'500 ms':>10}         after the run, a part of finish" in lines
        blocks = {title: dict(map(tuple, facts)) for title, facts in details(Labelled.alone(record))}
        assert blocks["From the command to the answer"][name] == "345 ms"
    timer = PhaseTimer("start", since=0.0)
    after = record.with_phases(timer, 0.5).data
    assert (after["interpreter_s"], after["compiled"]) == (0.5, clocks.COMPILING.made)


def test_whatever_the_cache_does_not_have_counts_as_compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from gpugraph.base import code_cache

    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", str(tmp_path))
    timer = PhaseTimer()
    for made in (1, 1):  # the second time it is found
        with code_cache.sole_maker("numba", "one.code") as entry:
            if entry is None:
                code_cache.keep("numba", "one.code", b"code")
        assert timer.compiled == made


def test_the_wait_for_a_pipe_is_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    fake, content = FakeTime(), [b"0 1 5\n1 2 7\n"]

    class Pipe(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            fake.now += 6.0
            return content.pop() if content else b""

    monkeypatch.setattr(clocks, "time", fake)
    monkeypatch.setattr(clocks, "compile_seconds", lambda: 0.0)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Pipe()))
    timer = PhaseTimer("start", since=0.0)
    assert load_file("-", clock=timer).edges == 2
    assert timer.until_now() == {"start": 0.0, "load": 12.0, "build": 0.0, "check": 0.0}


def test_a_command_begins_with_its_first_line_and_not_with_its_process(tmp_path: Path) -> None:
    """The shell sleeps, notes the time and becomes gpugraph, which cannot have taken longer than until now."""
    words = "-m gpugraph mst path:3 --device cpu --repeat 1 --format json --no-phases"
    program = f"sleep 1; cat /proc/uptime > {tmp_path}/began; exec {sys.executable} {words}"
    done = subprocess.run(["sh", "-c", program], capture_output=True, text=True, check=True, timeout=300)
    now, began = (float(Path(path).read_text().split()[0]) for path in ("/proc/uptime", tmp_path / "began"))
    record = json.loads(done.stdout)
    assert record["phases_s"]["total"] <= now - began + 0.02  # uptime is known to 10 ms
    assert 0 < record["interpreter_s"] < now - began + 0.02
    assert sum(s for name, s in record["phases_s"].items() if name != "total") == pytest.approx(
        record["phases_s"]["total"]
    )


def test_a_rank_began_when_the_command_that_started_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Command, "began", None)
    monkeypatch.setattr(Command, "interpreter_s", None)
    for inherited, began in (("3.5", 3.5), ("9.5", 7.0), ("None", 7.0), (None, 7.0)):
        if inherited is not None:
            monkeypatch.setenv(BEGAN, inherited)
        Command.begin(7.0, 0.25)
        assert (Command.began, Command.interpreter_s, BEGAN in os.environ) == (began, 0.25, False)


def test_what_one_cell_of_a_sweep_pays_for_all_is_no_part_of_its_time_to_answer() -> None:
    from tests.report.canned import mst_record

    phases = {**dict.fromkeys(PHASES, 0.0), "start": 1.0, "fetch": 64.0, "compile": 2.0, "load": 4.0, "kernel": 8.0}
    phases |= {"sampling": 16.0, "total": 95.0}
    alone, cell = (
        Record.of(mst_record(phases_s=phases, cell={"axes": axes}, outcome="ok")) for axes in ({}, {"algorithm": "a"})
    )
    assert (alone.answer_s, cell.answer_s) == (79.0, 12.0)
    (chart,) = answers([Labelled.alone(cell)])
    assert {row[1]: row[2] for row in chart.rows} == {"input": "4.000 s", "kernel": "8.000 s"}


def test_graph500_divides_its_clock_into_the_phases_of_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    fake, compiled = FakeTime(), [0.0]
    monkeypatch.setattr(clocks, "time", fake)
    monkeypatch.setattr(clocks, "compile_seconds", lambda: compiled[0])
    monkeypatch.setattr(benchmark, "time", fake)
    monkeypatch.setattr(benchmark, "root_candidates", lambda scale: iter(range(99)))
    monkeypatch.setattr(benchmark, "generate", lambda *what: fake.lasting(8.0)(0))
    searches = iter([16.0, 1.0, 2.0, 4.0])  # that which warms up, and three

    class Machine:
        vertices, arcs, peak_bytes = 32, 64, staticmethod(lambda: None)

        def construct(self) -> None:
            fake.now += 4.0

        def search(self, root: int) -> None:
            fake.now += next(searches)

        def degree(self, vertex: int) -> int:
            fake.now += 0.25
            return 1

        def validate(self, root: int) -> Any:
            fake.now += 32.0
            return SimpleNamespace(tuples=10, fault=None)

    def warm_up(place: Any, index_bits: int) -> None:
        fake.now += 7.0
        compiled[0] += 5.0

    monkeypatch.setattr(benchmark.Place, "warm_up", warm_up)
    monkeypatch.setattr(benchmark.Place, "machine", lambda place, tuples: Machine())
    timer = PhaseTimer("start", since=-2.0)
    timer._compiled = 0.0
    done = benchmark.run(5, benchmark.Place(CpuDevice()), roots=3, phase_timer=timer)
    data = record_of(done, CpuDevice().describe(), timer).data
    seconds = {"start": 2.0, "build": 8.0 + 4.0, "compile": 5.0, "prepare": 3 * 0.25, "kernel": 2.0, "verify": 96.0}
    seconds |= {"sampling": 2.0 + 16.0 + 1.0 + 4.0, "total": fake.now + 2.0}
    assert {name: s for name, s in data["phases_s"].items() if s} == seconds
    assert data["mteps"]["kernel"] == pytest.approx(3 / (1 / 10 + 2 / 10 + 4 / 10) / 1e6)
    assert data["graph500"]["construction_time"] == 4.0


# ------------------------------------------------------------------ the GPU's stopwatch


def test_a_gpu_stopwatch_times_from_its_start_to_its_last_stop(script: Script) -> None:
    device = CudaDevice(0)
    watch = device.stopwatch()
    for start, stop in ((1.0, 3.5), (4.0, 4.25)):  # its events are used again
        script.now = start
        watch.start()
        script.now = stop
        watch.stop()
        script.now += 8.0
        assert watch.seconds == stop - start
    device.close()


# ------------------------------------------------------------------ what check-record believes


def _claimed(kind: str, seconds: float) -> Record:
    """Return a record of 10^9 edges of 4 bytes on 10^6 vertices, beyond any cache, that took so long."""
    device = {"kind": kind, "name": "NVIDIA H200"} if kind == "cuda" else {"kind": kind, "name": "x", "threads": 2}
    record = _timed([seconds])
    graph = {**record.data["graph"], "edges": 10**9, "arcs": 2 * 10**9, "vertices": 10**6}
    rates = {**record.data["mteps"], "count": 10**9, "kernel": 1e3 / seconds}
    environment = {"git_commit": "0123456789ab", "cores": 2, "processor": "x"}
    result = {**record.data["result"], "tree_edges": 10**6 - 1, "components": 1}
    changes = {"device": device, "graph": graph, "mteps": rates, "environment": environment, "result": result}
    return Record.of(record.data | changes | {"phases_s": {"kernel": seconds, "total": seconds}})


@pytest.mark.parametrize(
    ("kind", "bytes_per_s"), [("cuda", GPUS["NVIDIA H200"].bytes_per_s), ("cpu", 2 * CORE_BYTES_PER_S)]
)
def test_check_record_believes_the_bandwidth_of_the_device_and_nothing_faster(kind: str, bytes_per_s: float) -> None:
    least = (4 * 10**9 + 4 * 10**6) / bytes_per_s
    assert least_bytes(_claimed(kind, 1.0)) == 4 * 10**9 + 4 * 10**6
    assert _too_short(_claimed(kind, least * 1.001)) == []
    (found,) = _too_short(_claimed(kind, least * 0.999))
    assert found.startswith(f"{least * 0.999:.4g} s is too short to move 4004000000 bytes")


def _too_short(record: Record) -> list[str]:
    return [one.what for one in findings(record) if one.kind == "time" and "too short to move" in one.what]


def test_what_fits_a_cache_may_be_four_times_as_fast() -> None:
    record = _timed([1.0])
    bytes_per_s = GPUS["NVIDIA H200"].bytes_per_s * CACHED
    assert CACHED == 4.0
    for seconds, believed in ((1.001, True), (0.999, False)):
        least = seconds * least_bytes(record) / bytes_per_s
        assert bool(_too_short(_timed([least]))) != believed


@pytest.mark.parametrize(("factor", "proven"), [(1.3, False), (1.35, True)])
def test_two_processes_may_differ_by_32_percent_without_any_change(factor: float, proven: bool) -> None:
    """However narrow the interval of each is: they were not measured in turns."""
    first = np.random.default_rng(3).normal(1e-3, 1e-6, 100)
    (claim,) = claims([(_timed([*first], "a"), _timed([*(first[::-1] * factor)], "b"))], one_run=False)
    assert claim.significant
    assert claim.interval is not None
    assert claim.interval[0] > 1.09
    assert (claim.stands_out, claim.proven) == (proven, proven)


# ------------------------------------------------------------------ what these tests are worth


@pytest.mark.parametrize("mutant", [*MUTANTS, *ANSWERS], ids=lambda one: f"{one.file}: {one.old[:30]}")
def test_a_mutant_still_has_its_place(mutant: Mutant) -> None:
    """``python -m tests.measure.mutants`` says whether the tests notice it."""
    assert place(mutant).read_text("utf-8").count(mutant.old) == 1
    assert (ROOT / mutant.tests).exists()
