"""What a driver chooses fits the constants of its kernels, where one does not follow from the other."""

from __future__ import annotations

import pytest

import gpugraph.problems.mst.gpu_boruvka as boruvka
import gpugraph.problems.mst.gpu_boruvka_hybrid as boruvka_rows
import gpugraph.problems.mst.gpu_prim as prim
import gpugraph.problems.sssp.gpu_delta_stepping as delta_stepping
from gpugraph.devices.kernel_file import load_source


def test_the_cpus_rows_find_no_tree_where_the_kernels_see_none() -> None:
    assert boruvka.FILE["NO_TREE"] == boruvka_rows._NO_TREE


def test_prims_blocks_fit_its_shared_memory() -> None:
    assert max(prim.BLOCK_SIZES) == prim.FILE["MAX_THREADS"]


@pytest.mark.parametrize("bits", [32, 64])
def test_delta_stepping_has_a_thread_for_each_bin(bits: int) -> None:
    assert delta_stepping.FILE.constant("BINS", {"DISTANCE_BITS": bits}) <= delta_stepping.FILE["BLOCK"]


def test_delta_stepping_deals_out_no_more_than_a_block_holds() -> None:
    """As many near entries as local steps relax, and as many that are due."""
    most = delta_stepping.FILE["LOCAL_LIMIT_FACTOR"] * delta_stepping.LOCAL_SHARE
    assert delta_stepping.FILE["LOCAL_ROOM"] >= 2 * most
    assert delta_stepping.FILE["BLOCK"] >= most


def test_delta_steppings_lists_of_hubs_hold_every_hub_of_a_round() -> None:
    """There are at most arcs / LOCAL_ROW rows of LOCAL_ROW arcs; a wide round puts only longer rows aside."""
    assert delta_stepping.FILE["HUB_ROW"] >= delta_stepping.FILE["LOCAL_ROW"]
    assert "static_cast<uint64>(graph.arcs / LOCAL_ROW + 1)" in load_source("delta_stepping.cu").text


def test_every_counter_that_delta_stepping_tells_is_a_word_of_its_own() -> None:
    words = delta_stepping.FILE.enumerators("Control")
    assert {"rounds", "buckets"} <= set(delta_stepping.COUNTERS)
    assert words["CONTROL_WORDS"] == max(words.values())
