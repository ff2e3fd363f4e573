from dataclasses import replace

import numpy as np
import pytest

from gpugraph.graph import chunks
from gpugraph.graph.csr import WEIGHT_DTYPES
from gpugraph.graph.digest import finish
from tests.zoo import ZOO, directed, undirected, zoo

MASK = 2**64 - 1


def mix(z):
    z &= MASK
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


def digest_by_the_formula(graph):
    """The digest as the module's docstring words it, in plain Python."""
    sums = [0, 0]
    bits = graph.weights.view(f"u{graph.weights.dtype.itemsize}").tolist()
    tails = np.repeat(np.arange(graph.vertices), graph.degrees).tolist()
    for t, h, w in zip(tails, graph.targets.tolist(), bits, strict=True):
        p = mix(((t << 32) | (t >> 32)) + h + 0x9E3779B97F4A7C15)
        sums[0] += mix(p + w * 0xC2B2AE3D27D4EB4F)
        sums[1] += mix(p ^ ((w * 0xD6E8FEB86659FD93 + 0xA0761D6478BD642F) & MASK))
    code = 2 * WEIGHT_DTYPES.index(str(graph.weights.dtype)) + graph.directed
    n, arcs = graph.vertices, graph.arcs
    lane0 = mix(mix(mix(sums[0] + n) + arcs) + code)
    lane1 = mix(mix(mix((sums[1] & MASK) ^ 0x8EBC6AF09C88C6E3 ^ n) ^ arcs) ^ code)
    return f"{lane0:016x}{lane1:016x}"


@pytest.mark.parametrize("name", ZOO)
def test_the_digest_is_what_the_docstring_says(name):
    assert zoo(name).digest == digest_by_the_formula(zoo(name))


def test_no_two_graphs_of_the_zoo_share_a_digest():
    assert len({zoo(name).digest for name in ZOO}) == len(ZOO)


def test_the_digest_does_not_depend_on_how_the_rows_are_shared_out(monkeypatch):
    graph = zoo("random-dense")
    monkeypatch.setattr(chunks, "_LEAST", 64)
    assert replace(graph).digest == digest_by_the_formula(graph)


def test_the_digest_tells_apart_kind_weights_types_and_isolated_vertices():
    edges = [(0, 1, 4), (1, 2, 6)]
    both = edges + [(v, u, w) for u, v, w in edges]
    digests = [
        undirected(3, edges).digest,
        directed(3, both).digest,
        undirected(4, edges).digest,
        undirected(3, edges, "int32").digest,
        undirected(3, edges, "float32").digest,
        undirected(3, [(0, 1, 6), (1, 2, 4)]).digest,
        undirected(3, [(0, 1, 4), (0, 2, 6)]).digest,
    ]
    assert len(set(digests)) == len(digests)


def test_names_and_notes_do_not_enter():
    graph = zoo("random")
    assert graph.renamed(name="other", source="elsewhere", notes=("said",)).digest == graph.digest


def test_sums_from_elsewhere_are_finished_to_the_same_digest():
    code = 2 * WEIGHT_DTYPES.index("float64") + 1
    assert code == 2 * WEIGHT_DTYPES.index("float64") + 1
    assert finish(5 + 2**64, 7 - 2**64, 3, 4, code) == finish(5, 7, 3, 4, code)
