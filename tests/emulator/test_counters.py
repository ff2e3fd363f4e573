"""Work counted on the emulated device: against counts by hand, and the same in every process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpugraph.base.clock import add_stamps
from gpugraph.base.errors import GpuGraphError, InputError
from gpugraph.ext.counters.count import COUNTERS, CountingClock, Counts, count_run, total_of
from gpugraph.ext.counters.table import WORDS, lines
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import run_cell
from gpugraph.measure.sampling import Sampling
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.registry import algorithms, find_algorithm
from gpugraph.records.record import Record
from gpugraph.report.terminal import plain
from tests.cli.runner import refuse, run, succeed
from tests.emulator.compiler import needs_compiler
from tests.report.canned import mst_record
from tests.tiers import only

pytestmark = needs_compiler

ROOT = Path(__file__).resolve().parents[2]
COUNTED = str(Path(__file__).parent / "counted.cu")
BLOCK, GRID = 64, 4
THREADS, WARPS = BLOCK * GRID, BLOCK * GRID // 32


def counted(
    name: str, *arrays: tuple[int, Any], seed: int = 0, skip: int = 0, cooperative: bool = False
) -> dict[str, int]:
    """Return the counters of one launch on arrays, given by size and type; the first begins ``skip`` elements later."""
    device = EmulatedDevice(seed=seed)
    device.count_into(None)
    made = [device.full(size, 0, dtype) for size, dtype in arrays]
    made[0] = made[0][skip:]
    kernel = device.kernel(COUNTED, name, cooperative=cooperative)
    counts = count_run(device, lambda counts: kernel(GRID, BLOCK, tuple(made)))
    return counts.by_kernel()[name]


def some(counters: dict[str, int], *names: str) -> tuple[int, ...]:
    return tuple(counters[name] for name in names)


IN = (THREADS + 1, np.uint32)
OUT = (THREADS, np.uint32)
ACCESSES = ("loads", "load_bytes", "load_sectors", "stores", "store_bytes", "store_sectors")


def test_a_copy_moves_four_sectors_for_each_access_of_a_warp() -> None:
    found = counted("copy", IN, OUT)
    assert some(found, *ACCESSES) == (WARPS, 4 * THREADS, 4 * WARPS, WARPS, 4 * THREADS, 4 * WARPS)
    assert some(found, "sectors", "lanes", "launches") == (8 * WARPS, 2 * THREADS, 1)
    assert not any(some(found, "atomics", "block_barriers", "grid_barriers", "collectives", "polls"))


def test_a_copy_that_begins_amid_a_sector_moves_one_more() -> None:
    assert some(counted("copy", IN, OUT, skip=1), "loads", "load_sectors", "store_sectors") == (
        WARPS,
        5 * WARPS,
        4 * WARPS,
    )


def test_a_strided_copy_reads_a_sector_for_each_lane() -> None:
    found = counted("strided", (8 * THREADS, np.uint32), OUT)
    assert some(found, *ACCESSES) == (WARPS, 4 * THREADS, 32 * WARPS, WARPS, 4 * THREADS, 4 * WARPS)


def test_a_broadcast_reads_one_sector_for_a_warp() -> None:
    assert some(counted("broadcast", IN, OUT), "loads", "load_sectors", "load_bytes") == (WARPS, WARPS, 4 * THREADS)


def test_an_access_of_16_bytes_a_lane_is_one_of_16_sectors() -> None:
    found = counted("quads", (4 * THREADS, np.uint32), (4 * THREADS, np.uint32))
    assert some(found, *ACCESSES) == (WARPS, 16 * THREADS, 16 * WARPS, WARPS, 16 * THREADS, 16 * WARPS)


def test_atomics_of_a_histogram_conflict_where_lanes_share_a_bin() -> None:
    found = counted("histogram", (4, np.uint32))
    assert some(found, "atomics", "atomicAdd", "atomic_sectors") == (THREADS, THREADS, WARPS)
    assert found["atomic_conflicts"] == 28 * WARPS
    assert not any(some(found, "loads", "stores", "shared_atomics"))


def test_atomics_on_shared_memory_touch_no_sector() -> None:
    found = counted("histogram_in_blocks", (4, np.uint32))
    assert some(found, "shared_atomics", "shared_atomicAdd", "shared_conflicts") == (THREADS, THREADS, 28 * WARPS)
    assert some(found, "atomics", "atomicMax", "atomic_conflicts", "sectors") == (4 * GRID, 4 * GRID, 0, GRID)
    assert some(found, "block_barriers", "loads", "stores") == (2 * GRID, 0, 0)


def test_lanes_that_take_a_loop_longer_go_on_without_the_others() -> None:
    found = counted("diverging", (8 * 32 * 4, np.uint32), OUT)
    assert some(found, "loads", "load_bytes") == (4 * WARPS, 4 * WARPS * (32 + 24 + 16 + 8))
    assert found["load_sectors"] == WARPS * (32 + 24 + 16 + 8)


def test_accesses_that_a_meeting_of_lanes_parts_are_two() -> None:
    assert some(counted("parted", (1, np.uint32)), "stores", "store_sectors", "collectives") == (
        2 * WARPS,
        2 * WARPS,
        WARPS,
    )


def test_grid_barriers_are_counted_and_their_polling_is_apart() -> None:
    found = counted("waiting", (1, np.uint32), IN, OUT, cooperative=True)
    assert some(found, "grid_barriers", "block_barriers", "atomicAdd") == (3, 6 * GRID, 3 * GRID)
    assert some(found, "loads", "load_sectors", "stores") == (3 * WARPS, 12 * WARPS, 3 * WARPS)
    assert found["polls"] >= 3 * GRID


@pytest.mark.parametrize(("counter", "expected"), [("sectors", 17), ("block_barriers", 2)])
def test_a_kernel_that_notes_the_time_notes_the_work_of_its_phases(counter: str, expected: int) -> None:
    device = EmulatedDevice()
    device.count_into(None)
    arrays = device.full(BLOCK, 0, np.uint32), device.empty(BLOCK, np.uint32), device.full(2, 0, np.uint64)
    kernel = device.kernel(COUNTED, "timed")
    clocks: list[CountingClock] = []

    def launch(counts: Counts) -> None:
        clocks.append(CountingClock(counts, counter))
        with clocks[-1].phase("all"):
            kernel(1, BLOCK, arrays)
        add_stamps(clocks[-1], ("inner", "end"), arrays[2])

    totals = count_run(device, launch, counter).totals
    assert clocks[0].phases["inner"] == expected  # a note is a store too
    assert clocks[0].phases["all"] == totals[counter] >= expected


@pytest.mark.parametrize("seed", [0, 7])
def test_a_schedule_gives_the_same_counters_again(seed: int) -> None:
    arrays = (1, np.uint32), IN, OUT
    first, second = (counted("waiting", *arrays, seed=seed, cooperative=True) for _ in range(2))
    assert first == second
    assert some(first, "grid_barriers", "load_sectors") == (3, 12 * WARPS)


def test_all_kernels_have_all_counters_and_the_total_adds_them_up() -> None:
    found = {name: counted(name, IN, OUT) for name in ("copy", "broadcast")}
    assert [list(of)[: len(COUNTERS)] for of in found.values()] == [list(COUNTERS)] * 2
    assert total_of(found)["load_sectors"] == 5 * WARPS


def test_counters_are_explained_in_a_line_each_where_all_is_shown() -> None:
    total = {
        "sectors": 100,
        "lanes": 250,
        "atomics": 50,
        "atomic_conflicts": 7,
        "block_barriers": 3,
        "grid_barriers": 2,
    }
    total |= {"launches": 1, "loads": 10, "stores": 15, "load_bytes": 600, "store_bytes": 400, "load_sectors": 60}
    work = {"total": {**total, "store_sectors": 40}, "kernels": {"k": {"sectors": 100}}}
    record = Record.of({**mst_record(), "device": {"kind": "emulated"}, "work": work})
    brief = plain([*lines(record, 80)])
    assert "10 bytes used of a sector; -v explains the counters" in " ".join(brief.split())
    explained = plain([*lines(record, 80, explained=True)]).splitlines()[-len(WORDS) :]
    assert [line.split()[:2] for line in explained] == [
        ["sectors", "100:"], ["used", "10:"], ["lanes", "8:"], ["atomics", "50:"], ["conflicts", "7:"],
        ["barriers", "3:"], ["grid", "2:"], ["launches", "1:"],
    ]  # fmt: skip


def test_a_kernel_loaded_before_counting_is_refused_and_so_are_builds_that_cannot_count() -> None:
    device = EmulatedDevice()
    kernel = device.kernel(COUNTED, "broadcast")
    arrays = device.full(1, 0, np.uint32), device.empty(THREADS, np.uint32)
    with pytest.raises(GpuGraphError, match="kernel broadcast: was loaded before its work was to be counted"):
        count_run(device, lambda counts: kernel(GRID, BLOCK, arrays))
    with pytest.raises(InputError, match="the build 'races' of the emulated device counts no work"):
        EmulatedDevice(races=True).count_into(None)


# ------------------------------------------------------------------ records

RUN = ("mst", "rmat:6", "--algo", "filter-boruvka", "--device", "emulated", "--counters", "--repeat", "1")


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The record of a run whose work was counted in a process of its own, on one core."""
    path = tmp_path_factory.mktemp("counted") / "own.jsonl"
    core = str(min(os.sched_getaffinity(0)))
    words = [sys.executable, "-m", "gpugraph", *RUN, "--save", str(path), "-q"]
    pinned = ["taskset", "-c", core] if sys.platform == "linux" else []
    subprocess.run([*pinned, *words], check=True, capture_output=True, timeout=300)
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_two_processes_on_one_core_and_on_all_count_the_same(record: dict[str, Any], tmp_path: Path) -> None:
    shown = succeed(*RUN, "--save", tmp_path / "here.jsonl").out
    here = json.loads((tmp_path / "here.jsonl").read_text(encoding="utf-8"))
    assert here["work"] == record["work"]
    assert here["counters"] == record["counters"]
    assert here["work"]["kernels"]["filter_boruvka"]["grid_barriers"] > 0
    assert set(here["counters"]) >= {"pages", "entries", "finals"}
    phases = sum(phase["sectors"] for phase in here["work"]["phases"].values())
    assert 0 < phases <= 1.1 * here["work"]["total"]["sectors"]
    assert f"{here['work']['total']['sectors']:,}" in shown
    assert "MTEPS" not in shown


def saved(record: dict[str, Any], path: Path, **changed: int) -> Path:
    work = {**record["work"], "total": {**record["work"]["total"], **changed}}
    path.write_text(json.dumps({**record, "work": work}) + "\n", encoding="utf-8")
    return path


def test_compare_prints_each_change_of_work_and_exits_4_beyond_the_threshold(
    record: dict[str, Any], tmp_path: Path
) -> None:
    base, sectors = saved(record, tmp_path / "base.jsonl"), record["work"]["total"]["sectors"]
    assert "1 cell: 1 same work" in succeed("compare", base, base).out
    more = saved(record, tmp_path / "more.jsonl", sectors=sectors * 11 // 10)
    line = refuse(4, "compare", base, more)
    assert "more work" in line
    assert f"sectors {sectors:,} → {sectors * 11 // 10:,} (+" in line
    assert "1 same work" in succeed("compare", base, more, "--threshold", "20%").out
    assert "1 less work" in succeed("compare", more, base).out
    assert f"sectors {sectors:,} →" in run("compare", base, saved(record, more, sectors=sectors + 1)).out.replace(
        "\n", " "
    )
    assert refuse(4, "compare", base, more, "--threshold", "0.000001%")


@pytest.mark.parametrize("counter", ["sectors", "atomics", "grid_barriers", "launches", "load_bytes"])
def test_compare_judges_every_counter(record: dict[str, Any], tmp_path: Path, counter: str) -> None:
    base = saved(record, tmp_path / "base.jsonl")
    assert "more work" in refuse(4, "compare", base, saved(record, tmp_path / "b.jsonl", **{counter: 1 << 40}))


def test_work_counted_by_another_compiler_schedule_or_device_is_not_compared(
    record: dict[str, Any], tmp_path: Path
) -> None:
    base = saved(record, tmp_path / "base.jsonl")
    for name, value, why in (
        ("name", "SIMT emulator, clang 18", "compiled by"),
        ("seed", 3, "scheduled by the seed"),
        ("multiprocessors", 2, "on multiprocessors: 4 in BASE, 2 in NEW"),
    ):
        other = {**record, "device": {**record["device"], name: value}}
        shown = succeed("compare", base, saved(other, tmp_path / "other.jsonl", sectors=1 << 40)).out
        assert "1 not compared" in shown
        assert why in shown


def test_counters_of_a_device_that_counts_nothing_are_refused() -> None:
    line = refuse(2, "mst", "rmat:6", "--device", "cpu", "--counters")
    assert "work is counted on the emulated device, not on 'cpu'" in line
    assert "--device emulated" in line


def test_work_is_a_column_and_can_be_plotted(record: dict[str, Any], tmp_path: Path) -> None:
    path = saved(record, tmp_path / "one.jsonl")
    rows = succeed("report", path, "--format", "csv").out.splitlines()
    assert "work.total.sectors" in rows[0].split(",")
    shown = succeed("plot", path, "--y", "sectors").out
    assert "sectors of 32 bytes" in shown


def test_the_recipe_for_a_workflow_fails_a_kernel_that_does_more_work(tmp_path: Path) -> None:
    recipe = (ROOT / "docs" / "ci" / "counters.yml").read_text(encoding="utf-8")
    count, compare = (textwrap.dedent(step.removeprefix("|\n")) for step in recipe.split("- run: ")[2:])
    for side in ("base", "new"):
        (tmp_path / side).mkdir()
        succeed("new", "algorithm", tmp_path / side / "kernel.py", "--problem", "sssp", "--kind", "cuda")
    kernel = tmp_path / "base" / "kernel.cu"
    text = kernel.read_text(encoding="utf-8")
    kernel.write_text(
        text.replace("atomicExch(changed, 1u);", "*changed = 1;"),
        encoding="utf-8",
    )
    assert kernel.read_text(encoding="utf-8") != text
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for words, code in ((count, 0), (compare, 4)):
        done = subprocess.run(
            ["bash", "-e", "-c", words],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == code, done.stderr
    assert "atomicExch 0 →" in done.stderr


EMULATED = [(p, a.name) for p in PROBLEMS for a in algorithms(p) if "emulated" in a.devices]
INPUTS = {"scan": "array:n=1000", "mst": "rmat:5", "sssp": "rmat:5", "components": "rmat:5"}


@pytest.mark.parametrize("case", only({("components", "hook"), ("sssp", "dijkstra")}, EMULATED), ids=" ".join)
def test_every_algorithm_has_counters_that_are_those_of_its_kernels(case: tuple[str, str]) -> None:
    problem, name = case
    graph = INPUTS[problem] + (",segments=7" if name == "segmented-min" else "")
    source = "random:2" if find_algorithm(problem, name, "emulated").batched else None
    options = {"cpu-share": "0.2"} if name == "boruvka-hybrid" else {}  # else moved by measured times
    cell = Cell(problem, graph, name, device="emulated", source=source, options=options)
    work = run_cell(cell, sampling=replace(Sampling.fixed(1, 0), counters=True)).shape.work
    assert work.absent is None
    assert work.total["sectors"] > 0 < work.total["launches"]
    assert work.total == total_of(work.kernels)
    assert sum(of["sectors"] for of in work.phases.values()) <= 1.2 * work.total["sectors"]
