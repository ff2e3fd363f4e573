"""Constants that a driver repeats from its kernel file are the same in both."""

from __future__ import annotations

import re
from itertools import count

import pytest

import gpugraph.problems.mst.gpu_boruvka as boruvka
import gpugraph.problems.mst.gpu_boruvka_streamed as boruvka_streamed
import gpugraph.problems.mst.gpu_filter_boruvka as filter_boruvka
import gpugraph.problems.mst.gpu_prim as prim
import gpugraph.problems.mst.gpu_verify as verify
import gpugraph.problems.mst.hybrid_rows as boruvka_rows
import gpugraph.problems.sssp.gpu_delta_stepping as delta_stepping
import gpugraph.problems.sssp.gpu_tight_arcs as tight
from gpugraph.devices.cuda_source import load_source


def text_of(file: str) -> str:
    """Return a kernel file and all it includes, without comments."""
    return re.sub(r"//.*", "", load_source(file).text)


def constant(file: str, name: str) -> int:
    """Return the value of ``constexpr TYPE NAME = VALUE;``."""
    (found,) = set(re.findall(rf"constexpr \w+ {name} = (\w+);", text_of(file)))
    return int(found, 0)


def enumerators(file: str, name: str) -> dict[str, int]:
    """Return the values of an enum; an expression may use constants of the file and enumerators before it."""
    (body,) = set(re.findall(rf"enum {name} \{{(.*?)\}}", text_of(file), re.DOTALL))
    values: dict[str, int] = {}
    following = count()
    for entry in filter(None, map(str.strip, body.split(","))):
        key, _, expression = map(str.strip, entry.partition("="))
        if expression:
            words = set(re.findall(r"[A-Z_]+", expression)) - values.keys()
            following = count(eval(expression, {}, values | {word: constant(file, word) for word in words}))
        values[key] = next(following)
    return values


@pytest.mark.parametrize("name", ["BLOCK", "TILE"])
def test_filter_boruvka_launches_what_its_kernel_expects(name: str) -> None:
    assert getattr(filter_boruvka, name) == constant("filter_boruvka.cu", name)


def test_filter_boruvka_reads_the_words_that_its_kernel_writes() -> None:
    control = enumerators("filter_boruvka.cu", "Control")
    assert control["CONTROL_WORDS"] == filter_boruvka.CONTROL_WORDS
    assert (control["FOREST"], control["ROUNDS"]) == (filter_boruvka.FOREST, filter_boruvka.ROUNDS)
    phases = enumerators("filter_boruvka.cu", "Phase")
    assert tuple(name.lower() for name in phases) == filter_boruvka.PHASES
    assert list(phases.values()) == list(range(len(phases)))


@pytest.mark.parametrize("name", ["BLOCK", "SEGMENT_ARCS", "JUMPS"])
def test_boruvka_repeats_its_kernels_constants(name: str) -> None:
    assert getattr(boruvka, name) == constant("boruvka.cu", name)


def test_the_cpus_rows_find_no_tree_where_the_kernels_see_none() -> None:
    assert "constexpr int32 NO_TREE = -1;" in text_of("boruvka.cu")
    assert boruvka_rows._NO_TREE == -1


@pytest.mark.parametrize("name", ["BLOCK", "JUMPS"])
def test_streamed_boruvka_repeats_its_kernels_constants(name: str) -> None:
    assert getattr(boruvka_streamed, name) == constant("boruvka_streamed.cu", name)


def test_streamed_boruvka_reads_the_words_that_its_kernels_write() -> None:
    control = enumerators("boruvka_streamed.cu", "Control")
    assert control == {name: getattr(boruvka_streamed, name) for name in control}


def test_the_certificate_repeats_its_kernels_constants() -> None:
    assert constant("verify_forest.cu", "JUMPS") == verify.JUMPS
    assert constant("verify_forest.cu", "TILE") == verify.TILE_ARCS_PER_THREAD * constant("verify_forest.cu", "WARP")


def test_prims_blocks_fit_its_shared_memory() -> None:
    assert max(prim.BLOCK_SIZES) == constant("prim.cu", "MAX_THREADS")


@pytest.mark.parametrize("name", ["BLOCK", "LOCAL_ROW"])
def test_delta_stepping_repeats_its_kernels_constants(name: str) -> None:
    assert getattr(delta_stepping, name) == constant("delta_stepping.cu", name)


def test_delta_stepping_reads_the_words_that_its_kernel_writes() -> None:
    control = enumerators("delta_stepping.cu", "Control")
    assert (control["CONTROL_WORDS"], control["OVERFLOW"]) == (delta_stepping.CONTROL_WORDS, delta_stepping.OVERFLOW)
    assert enumerators("delta_stepping.cu", "WideControl")["WIDE_CONTROL_WORDS"] == delta_stepping.WIDE_CONTROL_WORDS
    words = {"buckets": "BUCKETS_DONE"}
    assert {name: control[words.get(name, name.upper())] for name in delta_stepping.COUNTERS} == delta_stepping.COUNTERS
    phases = enumerators("delta_stepping.cu", "Phase")
    assert tuple(name.lower() for name in phases if name != "PHASES") == delta_stepping.PHASES
    assert phases["PHASES"] == len(delta_stepping.PHASES)


def test_delta_stepping_deals_out_no_more_than_a_block_holds_and_a_bin_for_each_thread() -> None:
    text = text_of("delta_stepping.cu")
    assert f"constexpr int BINS = DISTANCE_BITS * {delta_stepping.BINS_PER_BIT};" in text
    assert 64 * delta_stepping.BINS_PER_BIT <= delta_stepping.BLOCK
    assert "constexpr int LOCAL_ROOM = BUFFER * WARPS / 2;" in text
    warps = delta_stepping.BLOCK // constant("delta_stepping.cu", "WARP")
    assert constant("delta_stepping.cu", "BUFFER") * warps // 2 >= delta_stepping.LOCAL_SHARE


def test_delta_steppings_lists_of_hubs_hold_every_hub_of_a_round() -> None:
    """There are at most arcs / LOCAL_ROW rows of LOCAL_ROW arcs; a wide round puts only longer rows aside."""
    assert constant("delta_stepping.cu", "HUB_ROW") >= delta_stepping.LOCAL_ROW
    assert "static_cast<uint64>(arcs / LOCAL_ROW + 1)" in text_of("delta_stepping.cu")


def test_the_certificate_of_distances_repeats_its_kernels_constants() -> None:
    assert constant("verify_distances.cu", "TILE") == tight.TILE
    assert constant("verify_distances.cu", "WARP") == tight.WARP
