"""An input's identity: what is read alike is one input, and a file that has changed is another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpugraph.graph.read_options import ReadOptions
from gpugraph.measure.cell import Cell
from gpugraph.problems.registry import load_problem


def test_cells_that_differ_in_anything_but_their_input_share_it():
    one = Cell("mst", "path:9", "prim", seed=1)
    assert one.input == Cell("mst", "path:9", "kruskal", "cpu", seed=2, verify="none").input
    assert hash(one.input) == hash(Cell("mst", Path("path:9")).input)


@pytest.mark.parametrize(
    "changes",
    [
        {"graph": "path:8"},
        {"problem": "sssp"},
        {"read": ReadOptions(weights="unit")},
        {"read": ReadOptions(keep_ids=True)},
        {"read": ReadOptions(symmetrize=True)},
    ],
)
def test_an_input_read_otherwise_is_another(changes):
    fields = {"problem": "mst", "graph": "path:9", **changes}
    assert Cell(**fields).input != Cell("mst", "path:9").input


def test_a_seed_tells_inputs_apart_where_their_weights_are_random():
    first, second = (
        Cell("mst", "path:9", read=ReadOptions(weights="uniform:1..9"), seed=seed).input for seed in (1, 2)
    )
    assert first != second


def test_of_arrays_at_hand_the_object_is_the_identity():
    array = np.arange(4)
    assert Cell("scan", array).input == Cell("scan", array).input
    assert Cell("scan", array).input != Cell("scan", np.arange(4)).input


def test_a_file_that_has_changed_is_described_otherwise(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text("0 1\n")
    input_ = Cell("mst", str(path)).input
    before = input_.describe()
    path.write_text("0 1\n1 2\n")
    assert input_.describe() != before


@pytest.mark.parametrize(
    ("problem", "text", "accepted"),
    [("mst", "rmat:9", True), ("sssp", "a.npy", False), ("scan", "a.npy", True), ("scan", "rmat:9", False)],
)
def test_a_problem_says_whether_a_text_may_name_its_input(problem, text, accepted):
    assert load_problem(problem).command.accepts(text) is accepted
