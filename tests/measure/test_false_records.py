"""More than a hundred false records: nearly all are found out, and docs/submit.md names those that are not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpugraph.ext.check_record import plausibility
from gpugraph.ext.check_record.repository import knows_commits
from gpugraph.records.record import Record
from gpugraph.records.record_file import read_record_file
from gpugraph.records.statistics import interval_of, median, outliers, relative_half_width
from tests.cli.runner import run
from tests.measure.test_plausibility import DELETED, changed, of_clean_commit, on_gpu, stored

DOCS = Path(__file__).resolve().parents[2] / "docs"
H100, H200 = "NVIDIA H100 80GB HBM3", "NVIDIA H200"


def edited(record: Record, **fields: Any) -> Record:
    """Return the record with other values at paths whose dots are written ``__``."""
    for path, value in fields.items():
        record = changed(record, path.replace("__", "."), value)
    return record


def scaled(record: Record, factor: float) -> Record:
    """Return the record with all of its times divided, and its rates multiplied."""

    def divided(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: divided(part) for name, part in value.items()}
        if isinstance(value, list):
            return [divided(part) for part in value]
        return value / factor if isinstance(value, float) else value

    data = json.loads(record.to_json())
    for name in ("phases_s", "samples_s", "confidence_s", "kernel_phases_s", "kernel_phases_run_s"):
        data[name] = divided(data.get(name))
    data["sampling"]["spent_s"] = divided(data["sampling"]["spent_s"])
    for name in ("kernel", "end_to_end"):
        data["mteps"][name] *= factor
    if data["traffic"].get("share"):
        data["traffic"]["share"] *= factor
    return Record.of(data)


def renamed(record: Record, name: str, memory: int) -> Record:
    return edited(record, device__name=name, device__memory_bytes=memory, environment__gpu__name=name)


def samples(record: Record, change: Callable[[list[float]], Any]) -> Record:
    return edited(record, samples_s__kernel=change(list(record.samples)))


def with_text(record: Record, old: str, new: str) -> str:
    text = record.to_json()
    assert old in text, old
    return text.replace(old, new, 1)


PEER = ("figures-cpu-libraries-cpu2", "peer:scipy")
FALSE: dict[str, Callable[[Record, Record], Any]] = {
    # of a GPU's published record, and of a CPU's that was just measured
    "times of a GPU / 1.5": lambda gpu, cpu: scaled(gpu, 1.5),
    "times of a GPU / 2": lambda gpu, cpu: scaled(gpu, 2),
    "times of a GPU / 4": lambda gpu, cpu: scaled(gpu, 4),
    "times of a CPU / 10": lambda gpu, cpu: scaled(cpu, 10),
    "times of a CPU / 100": lambda gpu, cpu: scaled(cpu, 100),
    "kernel alone": lambda gpu, cpu: edited(gpu, phases_s__kernel=(gpu.kernel_s or 0) / 2),
    "kernel of no time": lambda gpu, cpu: edited(gpu, phases_s__kernel=0.0),
    "kernel below 0": lambda gpu, cpu: with_text(gpu, '"phases_s": {', '"phases_s": {"check": -1.0, '),
    "kernel that is a text": lambda gpu, cpu: with_text(
        cpu, '"samples_s": {"kernel": [', '"samples_s": {"kernel": ["fast", '
    ),
    "samples: slow half dropped": lambda gpu, cpu: samples(cpu, lambda s: sorted(s)[: len(s) // 2]),
    "samples: one times 100": lambda gpu, cpu: samples(cpu, lambda s: [*s[:-1], 100 * s[-1]]),
    "samples: sorted": lambda gpu, cpu: samples(cpu, sorted),
    "samples: none": lambda gpu, cpu: samples(cpu, lambda s: []),
    "samples: processes invented": lambda gpu, cpu: edited(cpu, sampling__processes=[6, 6]),
    "samples: interval of ± 0.1 %": lambda gpu, cpu: edited(
        cpu, confidence_s__kernel=[0.999 * (cpu.kernel_s or 0), 1.001 * (cpu.kernel_s or 0)], sampling__reached=0.001
    ),
    "device: H100 for H200": lambda gpu, cpu: renamed(gpu, H100, 85 * 10**9),
    "device: H200 for H100": lambda gpu, cpu: renamed(stored("figures-mst-h100", "filter-boruvka"), H200, 150 * 10**9),
    "device: another processor": lambda gpu, cpu: edited(
        cpu, device__name="Cray-1", environment__processor="Cray-1", environment__node="cray"
    ),
    "device: one thread": lambda gpu, cpu: edited(cpu, device__threads=1),
    "device: another UUID": lambda gpu, cpu: edited(gpu, device__uuid="GPU-00000000-0000-0000-0000-000000000000"),
    "device: GPU for CPU": lambda gpu, cpu: edited(cpu, device__name=H200, device__kind="cuda"),
    "commit: invented": lambda gpu, cpu: edited(
        cpu, environment__git_commit="deadbeef0123", provenance__commit="deadbeef0123"
    ),
    "commit: two": lambda gpu, cpu: edited(cpu, provenance__commit="deadbeef0123"),
    "commit: changed files": lambda gpu, cpu: edited(cpu, provenance__clean=False),
    "commit: another digest of sources": lambda gpu, cpu: edited(cpu, provenance__sources_sha256="0" * 64),
    "answer: digest": lambda gpu, cpu: edited(gpu, result__edges_sha256="0" * 64),
    "answer: weight": lambda gpu, cpu: edited(gpu, result__total_weight=gpu.shape.result["total_weight"] + 1),
    "answer: no digest": lambda gpu, cpu: edited(gpu, result__edges_sha256=DELETED),
    "answer: empty": lambda gpu, cpu: edited(gpu, result={}),
    "answer: digest null": lambda gpu, cpu: edited(gpu, result__edges_sha256=None),
    "answer: digest of a small graph": lambda gpu, cpu: edited(cpu, result__edges_sha256="0" * 64),
    "graph: another digest": lambda gpu, cpu: edited(gpu, graph__digest="0" * 32),
    "graph: another name": lambda gpu, cpu: edited(cpu, graph__name="rmat:20"),
    "graph: a larger one": lambda gpu, cpu: edited(cpu, graph__name="rmat:20", graph__source="rmat:20"),
    "graph: a file of any size": lambda gpu, cpu: edited(
        cpu,
        graph__name="usa.gr",
        graph__source="usa.gr",
        cell__input__graph="usa.gr",
        cell__axes={},
        graph__digest="0" * 32,
        environment__command=["python"],
    ),
    "peer: another version": lambda gpu, cpu: edited(
        stored(*PEER), algorithm_source={"authors": "x", "year": 2020, "section": "SciPy 0.1.0, csgraph"}
    ),
    "peer: ours as networkx": lambda gpu, cpu: edited(cpu, algorithm="peer:networkx"),
    "peer: an unknown algorithm": lambda gpu, cpu: edited(cpu, algorithm="magic"),
    "peer: a slow peer as ours": lambda gpu, cpu: edited(stored(*PEER), algorithm="kruskal"),
    "date: 2031": lambda gpu, cpu: edited(cpu, time="2031-01-01T00:00:00+00:00"),
    "date: none": lambda gpu, cpu: edited(cpu, time=""),
    "date: yesterday": lambda gpu, cpu: edited(cpu, time="yesterday"),
    "verdict: by no method": lambda gpu, cpu: edited(cpu, verification__method="none"),
    "verdict: no outcome": lambda gpu, cpu: edited(cpu, outcome=None),
    "verdict: skipped, with times": lambda gpu, cpu: edited(cpu, outcome="skipped"),
    "rate: end to end times 10": lambda gpu, cpu: edited(gpu, mteps__end_to_end=10 * (gpu.end_to_end or 0)),
    "rate: arcs for edges": lambda gpu, cpu: edited(cpu, mteps__counted="arcs"),
    "rate: share of 300 %": lambda gpu, cpu: edited(gpu, traffic__share=3.0),
    "rate: share of 300 %, traffic with it": lambda gpu, cpu: edited(
        gpu, traffic={"minimum_bytes": 3 * 4e12 * (gpu.kernel_s or 0), "copy_bytes_per_s": 4e12, "share": 3.0}
    ),
    "rate: energy of nothing": lambda gpu, cpu: edited(gpu, energy={"joules_per_run": 1e-12}),
    "rate: phases of no time": lambda gpu, cpu: edited(cpu, phases_s__start=0.0, phases_s__sampling=0.0),
    "rate: an hour in total": lambda gpu, cpu: edited(cpu, phases_s__total=3600.0),
    "rate: inner phases times 100": lambda gpu, cpu: edited(
        gpu, kernel_phases_s={name: 100 * (value or 0) for name, value in gpu.shape.kernel_phases_s.items()}
    ),
    "rate: load hidden": lambda gpu, cpu: edited(cpu, sampling__load=[0.0], sampling__other_cores=0.0),
    "rate: caches cold": lambda gpu, cpu: edited(cpu, sampling__cold=True),
    "rate: another command": lambda gpu, cpu: edited(cpu, environment__command=["gpugraph", "sssp", "rmat:10"]),
    "rate: another cell": lambda gpu, cpu: edited(cpu, cell__id="0" * 64),
    "rate: kernel alone": lambda gpu, cpu: edited(cpu, mteps__kernel=5000.0),
    "JSON: a key twice": lambda gpu, cpu: with_text(cpu, '"schema": 1', '"schema": 1, "schema": 1'),
    "JSON: a line twice": lambda gpu, cpu: f"{cpu.to_json()}\n{cpu.to_json()}",
    "JSON: a Cyrillic key": lambda gpu, cpu: with_text(cpu, '"problem"', '"рroblem": "sssp", "problem"'),
    "JSON: a note of a megabyte": lambda gpu, cpu: edited(cpu, note="x" * 10**6),
    "JSON: NaN": lambda gpu, cpu: with_text(cpu, '"samples_s": {"kernel": [', '"samples_s": {"kernel": [NaN, '),
    "JSON: 1e400": lambda gpu, cpu: with_text(cpu, '"samples_s": {"kernel": [', '"samples_s": {"kernel": [1e400, '),
    "JSON: 10^400": lambda gpu, cpu: with_text(cpu, '"schema": 1', f'"rounds2": 1{"0" * 400}, "schema": 1'),
    "JSON: a mark of byte order": lambda gpu, cpu: f"\ufeff{cpu.to_json()}",
    "JSON: deep": lambda gpu, cpu: with_text(cpu, '"schema": 1', f'"x": {"[" * 10**5}{"]" * 10**5}, "schema": 1'),
    "JSON: a key twice, otherwise": lambda gpu, cpu: with_text(
        cpu, '"problem": "mst"', '"problem": "sssp", "problem": "mst"'
    ),
    # of which each has a check of its own
    "samples: times / 3, in whole nanoseconds": lambda gpu, cpu: timed(cpu, [round(s / 3, 9) for s in cpu.samples]),
    "samples: the fast half, and all that follows": lambda gpu, cpu: timed(
        cpu, [s for s in cpu.samples if s <= (cpu.kernel_s or 0)]
    ),
    "samples: all are the least": lambda gpu, cpu: timed(cpu, [min(cpu.samples)] * 12),
    "samples: thrice the same, as three processes": lambda gpu, cpu: timed(cpu, [*cpu.samples] * 3, [12, 12, 12]),
    "samples: of another record, in another order": lambda gpu, cpu: timed(on_gpu(), list(on_gpu().samples)[::-1]),
    "samples: a process that took none": lambda gpu, cpu: edited(cpu, sampling__processes=[12, 0]),
    "samples: the wall clock of five": lambda gpu, cpu: edited(cpu, sampling__wall_s=[1.0] * 5),
    "samples: no wall clock": lambda gpu, cpu: edited(cpu, sampling__wall_s=DELETED),
    "samples: more processor time than threads": lambda gpu, cpu: edited(cpu, sampling__cpu_s=[1.0] * 12),
    "samples: fewest above most": lambda gpu, cpu: edited(cpu, sampling__min_samples=500),
    "samples: shares of phases above 1": lambda gpu, cpu: edited(cpu, kernel_phases_shares={"filter": [2.0, 3.0, 4.0]}),
    "samples: phases of a run ten times as long": lambda gpu, cpu: edited(
        cpu, kernel_phases_run_s=10 * (cpu.shape.kernel_phases_run_s or 0) + 1e-3
    ),
    "device: a processor named for a GPU": lambda gpu, cpu: edited(cpu, device__name=H200, environment__processor=H200),
    "device: a processor with a GPU's UUID": lambda gpu, cpu: edited(cpu, device__uuid="GPU-1"),
    "device: a byte of memory": lambda gpu, cpu: edited(cpu, device__memory_bytes=1, environment__memory_bytes=1),
    "device: no second-level cache": lambda gpu, cpu: edited(gpu, device__l2_bytes=0),
    "device: no package": lambda gpu, cpu: edited(cpu, environment__packages={}),
    "commit: another author of the algorithm": lambda gpu, cpu: edited(cpu, algorithm_source__authors="Me"),
    "peer: another library": lambda gpu, cpu: edited(stored(*PEER), algorithm="peer:igraph"),
    "peer: a file of code": lambda gpu, cpu: edited(cpu, algorithm="./mine.py:driver"),
    "verdict: a counter-example": lambda gpu, cpu: edited(cpu, verification__counter_example={"whole": True}),
    "verdict: a message": lambda gpu, cpu: edited(cpu, message="it did not end"),
    "verdict: no time": lambda gpu, cpu: edited(
        cpu,
        phases_s__verify=0.0,
        phases_s__total=(cpu.shape.phases_s["total"] or 0) - (cpu.shape.phases_s["verify"] or 0),
    ),
    "rate: a phase that there is not": lambda gpu, cpu: edited(cpu, phases_s__luck=0.0),
    "rate: energy without a window": lambda gpu, cpu: edited(cpu, energy={"joules_per_run": 0.02}),
    "rate: energy that its power does not give": lambda gpu, cpu: edited(
        gpu,
        energy={
            "joules_per_run": 400 * (gpu.kernel_s or 0),
            "net_joules_per_run": 300 * (gpu.kernel_s or 0),
            "mean_w": 40.0,
            "idle_w": 10.0,
            "window_s": 2.0,
            "runs": int(2 / (gpu.kernel_s or 1)),
            "per": "run",
        },
    ),
    "rate: a price that its time does not give": lambda gpu, cpu: edited(
        cpu, price={"per_hour": 1.0, "per_million_answers": 1e-6, "per_billion_edges": 1e-6}
    ),
    "rate: a roof that is lowered": lambda gpu, cpu: edited(
        gpu, traffic={"minimum_bytes": 1e6, "copy_bytes_per_s": 1e11, "share": 1e-5 / (gpu.kernel_s or 1)}
    ),
    "rate: calls of half the kernel": lambda gpu, cpu: edited(
        gpu, call={"samples_s": [(gpu.kernel_s or 0) / 4] * 7, "wall_s": [(gpu.kernel_s or 0)] * 7}
    ),
    "rate: figures of Graph500": lambda gpu, cpu: edited(cpu, graph500={"SCALE": 10.0}),
    "rate: a command with another algorithm": lambda gpu, cpu: edited(
        cpu, environment__command=["gpugraph", "mst", "rmat:10", "--algo=kruskal"]
    ),
    "rate: a command with another device": lambda gpu, cpu: edited(
        cpu, environment__command=["gpugraph", "mst", "rmat:10", "--device", "cuda"]
    ),
    "rate: indices of 7 bits": lambda gpu, cpu: edited(cpu, parameters__index_bits=7),
    "commit: an older one": lambda gpu, cpu: edited(
        cpu,
        **dict.fromkeys(
            ("environment__git_commit", "provenance__commit"),  # of which no record of this algorithm is stored
            stored("figures-beside-h100", "filter-boruvka").shape.environment["git_commit"],
        ),
        provenance__sources_sha256="0" * 64,
    ),
    "device: another machine": lambda gpu, cpu: edited(
        cpu, device__memory_bytes=2**42, environment__memory_bytes=2**42, environment__system="Plan 9"
    ),
    "rate: no compilation": lambda gpu, cpu: edited(
        cpu,
        phases_s__compile=0.0,
        phases_s__total=(cpu.shape.phases_s["total"] or 0) - (cpu.shape.phases_s["compile"] or 0),
    ),
}

UNNOTICED = {
    "device: another processor": "another name of the processor",
    "device: one thread": "fewer threads",
    "device: another UUID": "another UUID",
    "graph: a file of any size": "a file that nobody else has",
    "rate: load hidden": "the load of the machine",
    "rate: caches cold": "cold caches",
    "rate: another cell": "the id of a cell",
    "commit: an older one": "an older commit",
    "device: another machine": "another name of the processor",
    "rate: no compilation": "shorter phases",
}
"""False records that pass, and the words that docs/submit.md names each by."""


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Record, Record]:
    path = tmp_path_factory.mktemp("measured") / "run.jsonl"
    run("mst", "rmat:10", "--device", "cpu", "--repeat", 12, "--save", path)
    (record,) = read_record_file(path).records
    ticks = [second + 32e-9 for second in reversed(on_gpu().samples)]  # else it is a copy of a published one
    return timed(on_gpu(), ticks), of_clean_commit(steady(record))


IDLE_S = 0.000217777
"""About the kernel time of rmat:10 on an idle processor, in nanoseconds that neither 10 nor 100 divides."""


def timed(record: Record, times: list[float], processes: list[int] | None = None) -> Record:
    """Return the record with other samples and all that follows from them."""
    middle, phases, rates = median(times), record.shape.phases_s, record.shape.mteps
    assert isinstance(rates.count, int)
    traffic = record.shape.traffic
    of_traffic = {} if traffic.share is None else {"traffic__share": traffic.share * (record.kernel_s or 0) / middle}
    interval = interval_of([times], processes or [len(times)], middle)
    return edited(
        record,
        **of_traffic,
        samples_s__kernel=times,
        phases_s__kernel=middle,
        phases_s__total=(phases["total"] or 0) - (phases["kernel"] or 0) + middle,
        mteps__kernel=rates.count / middle / 1e6,
        mteps__end_to_end=rates.count / (middle + record.transfer_s) / 1e6,
        sampling__processes=processes or [len(times)],
        sampling__outliers=outliers(times),
        sampling__reached=None if interval is None else relative_half_width(interval, middle),
        confidence_s__kernel=interval,
        parameters__repeat=record.shape.parameters.repeat and len(times),
    )


def steady(record: Record) -> Record:
    """Return the record of a CPU with samples around ``IDLE_S`` in no order: a busy machine is slower, or has one."""
    twice_ns = round(2e9 * IDLE_S)
    step_ns = twice_ns // 500 * 2 + twice_ns % 2  # of the same parity: the clock counts whole nanoseconds
    times = [(twice_ns + (2 * (5 * i % 12) - 11) * step_ns) // 2 / 1e9 for i in range(12)]
    rounded_up = [round(1.01 * one, 9) for one in times]
    return edited(
        timed(record, times),
        kernel_phases_s={},
        kernel_phases_run_s=IDLE_S,
        sampling__wall_s=rounded_up,
        sampling__cpu_s=rounded_up,
        sampling__switches=[0] * 12,
        sampling__spent_s=max(record.shape.sampling.spent_s or 0, 1.1 * sum(rounded_up)),
    )


def passes(made: Any, path: Path) -> bool:
    path.write_text(made if isinstance(made, str) else made.to_json(), "utf-8")
    return run("check-record", "--edges", 2**17, path).code == 0


def test_at_most_one_in_ten_false_records_passes_and_the_page_names_each(
    bases: tuple[Record, Record], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = bases[1].shape.environment["git_commit"]
    monkeypatch.setattr(plausibility, "git_commit", lambda: commit)
    assert all(passes(base, tmp_path / "true.jsonl") for base in bases)
    assert len(FALSE) == 104
    passed = {name for name, make in FALSE.items() if passes(make(*bases), tmp_path / "false.jsonl")}
    assert passed - (set() if knows_commits() else {"commit: invented"}) == set(UNNOTICED)
    assert len(passed) <= 10
    page = (DOCS / "submit.md").read_text("utf-8")
    assert [words for words in UNNOTICED.values() if words not in page] == []


def test_a_file_that_cannot_be_read_does_not_end_the_check_of_the_others(
    bases: tuple[Record, Record], tmp_path: Path
) -> None:
    (tmp_path / "cut.jsonl.gz").write_bytes(b"\x1f\x8b\x08")
    (tmp_path / "false.jsonl").write_text(edited(bases[1], time="").to_json(), "utf-8")
    ended = run("check-record", "--edges", 0, tmp_path / "cut.jsonl.gz", tmp_path / "none", tmp_path / "false.jsonl")
    assert ended.code == 2
    assert f"{tmp_path}/false.jsonl line 1: date: " in ended.out
    assert all(f"{tmp_path}/{name}: cannot be read: " in ended.out for name in ("cut.jsonl.gz", "none"))
    assert "1 record checked, 1 with findings" in ended.out
