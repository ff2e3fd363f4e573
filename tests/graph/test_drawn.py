"""Graphs drawn from a number."""

import numpy as np

from gpugraph.graph.generate import draw_arcs, generate
from gpugraph.graph.spec import parse_spec


def test_a_number_draws_the_same_spec_each_time_within_the_bounds():
    for number in range(1, 41):
        spec = parse_spec(f"drawn:{number}")
        assert parse_spec(spec.text) == spec
        assert 2**16 <= spec.vertices <= 2**24
        assert spec.arcs <= 2**28 * 1.3


def test_small_drawn_graphs_are_made():
    for number in range(1, 9):
        graph = generate(f"drawn:{number},least=2^6,most=2^8")
        assert graph.arcs > 0


def test_an_order_renumbers_the_vertices_and_keeps_the_weights():
    made = generate("rmat:8,w=1..99")
    for order in ("shuffled", "degree"):
        other = generate(f"rmat:8,w=1..99,order={order}")
        assert np.array_equal(np.sort(other.degrees), np.sort(made.degrees))
        assert other.weights.sum() == made.weights.sum()


def test_parts_are_numbered_like_the_whole():
    spec = parse_spec("random:n=100,m=500,order=degree")
    parts = [draw_arcs(spec, part=(i, 2)) for i in range(2)]
    assert np.array_equal(np.concatenate([part.tails for part in parts]), draw_arcs(spec).tails)
