from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpugraph.base.errors import InputError
from gpugraph.ext.changes.weights import transform_weights
from gpugraph.graph.check import check_structure
from gpugraph.graph.csr import CSRGraph
from tests.graph.formats.samples import arcs
from tests.zoo import ZOO, directed, undirected, zoo

MASK = 2**64 - 1


def _hash(u: int, v: int) -> int:
    a, b = min(u, v), max(u, v)
    x = (a * 0x9E3779B97F4A7C15 + b * 0xC2B2AE3D27D4EB4F) & MASK
    x ^= x >> 32
    x = x * 0xD6E8FEB86659FD93 & MASK
    return x ^ x >> 32


@pytest.mark.parametrize(
    ("low", "high"), [(1, 1000), (0, 0), (-5, 5), (0, 2**64 - 1), (-(2**63), 2**63 - 1), (7, 2**40)]
)
def test_hash_is_a_function_of_the_undirected_edge(low: int, high: int) -> None:
    for name in ("random", "directed-unequal"):
        graph = transform_weights(zoo(name), f"hash:{low}..{high}")
        assert arcs(graph) == [(u, v, low + _hash(u, v) % (high - low + 1)) for u, v, _ in arcs(zoo(name))]


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("hash:1..1000", "uint32"),
        ("hash:-1..1", "int32"),
        ("hash:0..4294967296", "int64"),
        ("hash:0..18446744073709551615", "uint64"),
        ("uniform:1..9", "uint32"),
        ("uniform:0.0..1.0", "float64"),
        ("unit", "uint32"),
    ],
)
def test_the_range_not_the_values_decides_the_type(text: str, dtype: str) -> None:
    assert str(transform_weights(zoo("triangle"), text).weights.dtype) == dtype


@pytest.mark.parametrize("text", ["unit", "file", "abs", "hash:1..9", "uniform:1..9", "uniform:-1e3..1e3"])
@pytest.mark.parametrize("name", ZOO)
def test_every_graph_of_the_zoo_stays_sound(name: str, text: str) -> None:
    graph = transform_weights(zoo(name), text)
    check_structure(graph)
    assert graph.targets is zoo(name).targets
    assert graph.directed == zoo(name).directed


def test_uniform_weights_follow_the_seed_alone() -> None:
    first = transform_weights(zoo("random"), "uniform:1..1000000")
    assert first.weights.tolist() == transform_weights(zoo("random"), "uniform:1..1000000").weights.tolist()
    assert first.weights.tolist() != transform_weights(zoo("random"), "uniform:1..1000000", seed=2).weights.tolist()
    assert first.notes[-1] == "weights replaced: uniform:1..1000000, seed 1"


def test_uniform_weights_fill_their_range_evenly() -> None:
    n = 20_001
    graph = undirected(n, [(i, i + 1, 1) for i in range(n - 1)])
    counts = np.bincount(transform_weights(graph, "uniform:0..9").weights) / 2
    assert len(counts) == 10
    assert abs(counts - 2000).max() < 250
    reals = transform_weights(graph, "uniform:-1.0..3.0").weights
    assert -1 <= reals.min() < -0.99
    assert 2.99 < reals.max() < 3
    assert abs(reals.mean() - 1) < 0.05


def test_the_two_arcs_of_a_directed_graph_draw_apart() -> None:
    graph = transform_weights(directed(2, [(0, 1, 1), (1, 0, 2)]), "uniform:1..1000000000")
    assert graph.weights[0] != graph.weights[1]


@pytest.mark.parametrize(
    ("dtype", "weight", "expected", "becomes"),
    [
        ("int32", -(2**31), 2**31, "uint32"),
        ("int64", -(2**63), 2**63, "uint64"),
        ("int64", -5, 5, "uint32"),
        ("float64", -0.5, 0.5, "float64"),
        ("float32", -0.5, 0.5, "float32"),
        ("uint64", 2**63, 2**63, "uint64"),
    ],
)
def test_absolute_values_are_exact(dtype: str, weight: float, expected: float, becomes: str) -> None:
    weights = np.array([weight], dtype)
    graph = CSRGraph(np.array([0, 1, 1]), np.array([1], np.int32), weights, True)
    changed = transform_weights(graph, "abs").weights
    assert changed.tolist() == [expected]
    assert str(changed.dtype) == becomes


def test_a_changed_graph_forgets_the_digest_of_its_file() -> None:
    graph = replace(zoo("triangle"), stored_digest=zoo("triangle").digest)
    assert transform_weights(graph, "unit").stored_digest is None
    assert transform_weights(graph, "file") is graph


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hsah:1..9", "did you mean 'hash'"),
        ("unit:3", "takes no range"),
        ("hash", "--reweight hash:1..1000"),
        ("hash:1", "no range"),
        ("hash:9..1", "no range"),
        ("hash:0.5..1", "no range"),
        ("hash:-1..9223372036854775808", "no range"),
        ("hash:0..18446744073709551616", "no range"),
        ("uniform:1.0..1.0", "no range"),
        ("uniform:1.0..1.2.3", "no range"),
        ("uniform:0..1e999", "no range"),
        ("uniform:a..b", "no range"),
    ],
)
def test_bad_weights_are_refused(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        transform_weights(zoo("triangle"), text)
