"""What a driver chooses fits the constants of its kernels, where one does not follow from the other."""

from __future__ import annotations

from pathlib import Path

import pytest

import gpugraph.ext.papers.mst.gpu_boruvka as boruvka
import gpugraph.ext.papers.mst.gpu_boruvka_hybrid as boruvka_rows
import gpugraph.ext.papers.mst.gpu_prim as prim
import gpugraph.problems.sssp.gpu_delta_stepping as delta_stepping
from gpugraph.devices.kernel_source import load_source
from tests.devices.compile_matrix import read_budget


def test_the_cpus_rows_find_no_tree_where_the_kernels_see_none() -> None:
    assert boruvka.FILE["NO_TREE"] == boruvka_rows._NO_TREE


def test_prims_blocks_fit_its_shared_memory() -> None:
    assert max(prim.BLOCK_SIZES) == prim.FILE["MAX_THREADS"]


BLOCKS = {block: delta_stepping.FILE[block] for block in ("MOST_BLOCK", "AMPERE_BLOCK", "MIXED_BLOCK")}


@pytest.mark.parametrize(("block", "bits"), [("MOST_BLOCK", 32), ("MOST_BLOCK", 64), ("AMPERE_BLOCK", 32)])
def test_delta_stepping_has_a_thread_for_each_bin(block: str, bits: int) -> None:
    assert delta_stepping.FILE.constant("MOST_BINS", {"DISTANCE_BITS": bits}) <= BLOCKS[block]


@pytest.mark.parametrize("block", BLOCKS.values())
def test_delta_stepping_distributes_no_more_than_a_block_holds(block: int) -> None:
    """As many near entries as local steps relax, and as many that are due."""
    share = delta_stepping.LOCAL_SHARE * block // BLOCKS["MOST_BLOCK"]
    most = delta_stepping.FILE["LOCAL_LIMIT_FACTOR"] * share
    assert delta_stepping.FILE.constant("LOCAL_ROOM", {"BLOCK": block}) >= 2 * most
    assert share <= delta_stepping.FILE.constant("MOST_LOCAL", {"BLOCK": block})
    assert block >= most
    repeated = delta_stepping.FILE["REPEATED_LIMIT_FACTOR"] * share
    assert delta_stepping.FILE.constant("LOCAL_ROOM", {"BLOCK": block}) >= repeated


def test_delta_stepping_has_24_warps_on_a_multiprocessor_of_ampere_and_ada() -> None:
    """Two blocks fit its 65,536 registers, of which a thread takes the budget."""
    assert 2 * BLOCKS["AMPERE_BLOCK"] // 32 >= 24
    budget = read_budget(Path(__file__).parents[1] / "devices" / "register_budget.json")
    for types in ("", " WEIGHT=float32"):
        registers = budget[f"delta_stepping.cu{types}"]["delta_stepping"]["sm_80"]
        assert 2 * BLOCKS["AMPERE_BLOCK"] * registers <= 65536


def test_delta_steppings_lists_of_hubs_hold_every_hub_of_a_round() -> None:
    """There are at most arcs / LOCAL_ROW rows of LOCAL_ROW arcs; a wide round puts only longer rows aside."""
    assert delta_stepping.FILE["HUB_ROW"] >= delta_stepping.FILE["LOCAL_ROW"]
    assert "static_cast<uint64>(graph.arcs / LOCAL_ROW + 1)" in load_source("delta_stepping.cu").text


def test_every_counter_that_delta_stepping_tells_is_a_word_of_its_own() -> None:
    words = delta_stepping.FILE.enumerators("Control")
    assert {"rounds", "buckets"} <= set(delta_stepping.COUNTERS)
    assert words["CONTROL_WORDS"] == max(words.values())
