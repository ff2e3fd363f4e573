import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from gpugraph.base import host
from gpugraph.base.errors import OutOfMemory
from gpugraph.graph import chunks
from gpugraph.graph.check import is_symmetric
from gpugraph.graph.families import FAMILIES
from gpugraph.graph.generate import generate
from gpugraph.graph.spec import parse_spec

MASK = 2**64 - 1

DIGESTS = {
    "rmat:10": "1d8041a5f39d7ddcbe1fa99d622f8f19",
    "rmat:9,ef=8,seed=7,w=1..255": "0f0e91ec904aa0fbeede297f825c9f50",
    "random:n=1000,m=3000": "0051f48963c2d51f41ec78304dade73a",
    "grid:30x41": "ee6ceb91761fae40ba7a9bbfa913cb96",
    "road:40x30,w=1..1000": "22344dbbb9ca42c882b783b696ded6d5",
    "knn:n=2000,k=8": "e6d8da049f0a9e16a8006e9feb8aaf88",
    "ssca2:10": "792b0230cfb51b813a59615babfa5aa0",
    "regular:n=500,in=7,w=1..10": "2afc424d6a2560b34b6d0d218cea2852",
    "regular:n=300,out=4": "0eb4e1225de9ec13e30067af5d173276",
    "complete:40": "9829afceb1629a7d38b27c919508dc15",
    "dense:n=60,density=0.5": "658ca9e96a21ec9d2f8b924cd96064f2",
    "path:50": "f2e36a328a01121577bdd940d54d1492",
    "star:50,w=0.0..1.0,dtype=float32": "cdc1191aacfab19a51130aa369145484",
    "counterexample": "85db36117d66738c01ca81d6a69fb59a",
    "counterexample:64,directed=no": "72778d95309c47a45d3ec7fe48d4b12d",
    "rmat:7,a=0.45,b=0.15,c=0.15,w=-9..9": "8af882cc0887f5545e9ffd6dfed99510",
    "rmat:7,w=0.5..2.5": "b8ab3bc6df85e05ec6878c28649acba0",
    "rmat:7,w=-2^40..2^40": "f54eb2e9b81f06e73cc90401b9cb8095",
}
"""Digests of small graphs: they must never change, on any device."""


SMALL = {
    "rmat": "rmat:5",
    "ssca2": "ssca2:5",
    "random": "random:n=12,deg=3",
    "regular": "regular:n=9,in=3",
    "grid": "grid:4x3",
    "road": "road:5x4",
    "knn": "knn:n=12,k=3",
    "complete": "complete:6",
    "dense": "dense:n=12,density=0.5",
    "path": "path:5",
    "ramp": "ramp:5",
    "caterpillar": "caterpillar:5",
    "star": "star:5",
    "counterexample": "counterexample:9",
    "lollipop": "lollipop:2x3,scale=3",
}


def hash64(z):
    z = (z + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


def shuffle_by_the_formula(x, key, bits):
    k1, k2 = hash64((3 * key + 1) & MASK) | 1, hash64((3 * key + 2) & MASK) | 1
    for k in (k1, k2, k1):
        x = (x * k) % 2**bits
        x ^= x >> (bits + 1) // 2
    return x


def nth_distinct_by_the_formula(key, j, size):
    bits = (size - 1).bit_length()
    k2 = hash64((3 * key + 2) & MASK) | 1
    while True:
        j = shuffle_by_the_formula((j + (k2 >> 32)) % 2**bits, key, bits)
        if j < size:
            return j


def weight_by_the_formula(u, v, seed, low, high):
    h = hash64(hash64(seed + 99) ^ (min(u, v) << 32 ^ max(u, v)))
    return low + (h * (high - low + 1) >> 64)


def arcs_of(graph):
    tails = np.repeat(np.arange(graph.vertices), graph.degrees)
    return set(zip(tails.tolist(), graph.targets.tolist(), strict=True))


def both(edges):
    return {pair for u, v in edges if u != v for pair in ((u, v), (v, u))}


@pytest.mark.parametrize("spec", DIGESTS)
def test_a_spec_gives_the_same_graph_for_ever(spec):
    assert generate(spec).digest == DIGESTS[spec]


@pytest.mark.parametrize("spec", DIGESTS)
def test_a_generated_graph_is_well_formed_and_as_large_as_foreseen(spec):
    graph, foreseen = generate(spec), parse_spec(spec)
    assert graph.vertices == foreseen.vertices
    assert graph.arcs <= foreseen.arcs
    assert graph.weights.dtype == foreseen.weights.dtype
    assert graph.name == graph.source == str(foreseen)
    if not graph.directed:
        assert is_symmetric(graph)


def test_the_graph_does_not_depend_on_threads_and_chunks(monkeypatch):
    specs = ["rmat:10", "ssca2:10", "regular:n=500,in=7", "road:40x50", "knn:n=700", "dense:n=60,density=0.5"]
    whole = [generate(spec).digest for spec in specs]
    monkeypatch.setattr(chunks, "_LEAST", 256)
    for name in ("ssca2", "uniform", "structured"):
        monkeypatch.setattr(f"gpugraph.ext.generators.{name}.CHUNK", 300)
    monkeypatch.setattr("gpugraph.ext.generators.knn._CHUNK", 100)
    monkeypatch.setattr(chunks.Runner.__call__, "__defaults__", (300,))
    assert [generate(spec).digest for spec in specs] == whole


def test_rmat_is_what_its_docstring_says():
    scale, seed, mixed = 6, 3, []
    for i in range(16 << scale):
        state = hash64(seed) ^ hash64(i + 77)
        u = v = 0
        for level in range(scale):
            if level % 4 == 0:
                bits = hash64(state)
                state = (state + 0x9E3779B97F4A7C15) & MASK
            x, bits = bits & 0xFFFF, bits >> 16
            quadrant = sum(x >= limit for limit in (37356, 49807, 62259))
            u, v = 2 * u + quadrant // 2, 2 * v + quadrant % 2
        mixed.append((shuffle_by_the_formula(u, seed, scale), shuffle_by_the_formula(v, seed, scale)))
    assert arcs_of(generate("rmat:6,seed=3")) == both(mixed)


def test_weights_are_a_hash_of_the_edge():
    graph = generate("complete:20,seed=5,w=-3..9")
    tails = np.repeat(np.arange(20), graph.degrees).tolist()
    expected = [weight_by_the_formula(u, v, 5, -3, 9) for u, v in zip(tails, graph.targets.tolist(), strict=True)]
    assert graph.weights.tolist() == expected
    assert set(expected) == set(range(-3, 10))
    for dtype in ("int64", "float32", "float64"):
        other = generate(f"complete:20,seed=5,w=-3..9,dtype={dtype}")
        assert other.weights.dtype == dtype
        assert other.weights.tolist() == expected


def test_weights_may_be_real_unit_or_sixty_four_bits_wide():
    real = generate("path:2000,w=-1.5..2,dtype=float32").weights
    assert real.dtype == np.float32
    assert -1.5 <= real.min() < -1.49
    assert 1.99 < real.max() <= 2
    assert (generate("star:50,w=unit,dtype=float64").weights == 1).all()
    wide = generate("path:500,w=2^63..18446744073709551615").weights
    assert wide.dtype == np.uint64
    assert wide.min() >= 2**63
    assert wide.max() > 2**63 + 2**62
    full = generate("path:500,w=-2^63..9223372036854775807").weights
    assert full.dtype == np.int64
    assert full.min() < -(2**62)
    assert full.max() > 2**62


def test_random_is_what_its_docstring_says():
    base = hash64(4)
    draws = [hash64((base + i) & MASK) for i in range(90)]
    edges = [(r * 50 >> 64, hash64(r ^ 0x1234567) * 50 >> 64) for r in draws]
    assert arcs_of(generate("random:n=50,m=90,seed=4")) == both(edges)
    assert generate("random:n=50,deg=3.6,seed=4").digest == generate("random:n=50,ef=1.8,seed=4").digest


@pytest.mark.parametrize(("n", "degree"), [(2, 1), (8, 7), (100, 7), (1000, 3)])
def test_every_vertex_of_a_regular_graph_has_exactly_its_degree(n, degree):
    graph = generate(f"regular:n={n},in={degree},w=1..10")
    assert graph.directed
    assert (np.bincount(graph.targets, minlength=n) == degree).all()
    assert graph.notes == ()
    assert (generate(f"regular:n={n},out={degree}").degrees == degree).all()


def test_regular_is_what_its_docstring_says():
    arcs = set()
    for v in range(30):
        key = hash64((hash64(1 + 31) + v) & MASK)
        for j in range(4):
            x = nth_distinct_by_the_formula(key, j, 29)
            arcs.add((x + (x >= v), v))
    assert arcs_of(generate("regular:n=30,in=4")) == arcs


def test_grid_joins_neighbours_and_road_is_a_connected_part_of_it():
    at = {(x, y): y * 5 + x for x in range(5) for y in range(4)}
    edges = [(i, at[near]) for (x, y), i in at.items() for near in ((x + 1, y), (x, y + 1)) if near in at]
    assert arcs_of(generate("grid:5x4")) == both(edges)
    road, grid = generate("road:60x50"), generate("grid:60x50")
    assert arcs_of(road) < arcs_of(grid)
    assert 2.3 < road.arcs / road.vertices < 2.7
    assert generate("road:1x9").arcs == generate("path:9").arcs == 16
    assert generate("grid:9x1").digest == generate("path:9").digest


def components(graph):
    from scipy.sparse import csr_array

    matrix = csr_array((np.ones(graph.arcs), graph.targets, graph.offsets), (graph.vertices, graph.vertices))
    return connected_components(matrix)[0]


def test_dense_is_connected_and_exact_in_its_number_of_edges():
    for n, density, edges in [(1, 0, 0), (2, 1, 1), (3, 0, 2), (40, "0.5", 390), (40, 1, 780), (40, "0.001", 39)]:
        graph = generate(f"dense:n={n},density={density}")
        assert graph.edges == edges
        assert components(graph) == 1
    assert arcs_of(generate("dense:n=12,density=1")) == arcs_of(generate("complete:12"))


def test_dense_is_what_its_docstring_says():
    n, edges = 20, {(i, i + 1) for i in range(19)}
    for k in range(95 - 19):
        p = nth_distinct_by_the_formula(hash64(1 + 21), k, 19 * 18 // 2)
        r = max(r for r in range(n) if r * (r + 1) // 2 <= p)
        edges.add((p - r * (r + 1) // 2, r + 2))
    assert arcs_of(generate("dense:n=20,density=0.5")) == both(edges)


def ssca2_by_the_formula(scale, largest, p, seed):
    n, starts = 2**scale, [0]
    while starts[-1] < n:
        draw = hash64((hash64(seed + 11) + len(starts) - 1) & MASK)
        starts.append(min(n, starts[-1] + 1 + (draw * largest >> 64)))
    clique = {i: c for c, first in enumerate(starts[:-1]) for i in range(first, starts[c + 1])}
    edges = [(i, j) for i in range(n) for j in range(i + 1, starts[clique[i] + 1])]
    for i in range(n):
        for t in range(1, scale):
            x = hash64((hash64(seed + 12) + 64 * i + t) & MASK)
            j = (i + 2**t + ((x % 2**32) * 2 ** (t - 1) >> 32)) % n
            if x >> 32 < int(p * 2**32) >> (t - 1) and clique[i] != clique[j]:
                edges.append((i, j))
    return [tuple(shuffle_by_the_formula(end, seed, scale) for end in edge) for edge in edges]


def test_ssca2_is_what_its_docstring_says():
    assert arcs_of(generate("ssca2:8,clique=9,inter=0.5,seed=2")) == both(ssca2_by_the_formula(8, 9, 0.5, 2))


def test_ssca2_has_about_the_average_degree_of_the_paper():
    graph = generate("ssca2:14")
    assert 30 < graph.arcs / graph.vertices < 35
    assert generate("ssca2:0").arcs == 0


def test_knn_joins_every_point_to_its_nearest():
    graph = generate("knn:n=400,k=3")
    assert graph.degrees.min() >= 3
    assert generate("knn:n=5,k=8").edges == 10
    # The nearest neighbour of a vertex is joined to it: its lightest edge weighs the least distance there is.
    base = hash64(1)
    points = np.array([[hash64((base + 2 * i + axis) & MASK) >> 11 for axis in (0, 1)] for i in range(400)])
    points = (points * 2.0**-53).astype(np.float32)
    gaps = (points[:, None, :] - points[None, :, :]).astype(np.float64)
    apart = np.sqrt((gaps**2).sum(axis=2)) * 20 * 1e6
    np.fill_diagonal(apart, np.inf)
    nearest = 1 + np.floor(apart.min(axis=1))
    assert sorted(np.minimum.reduceat(graph.weights, graph.offsets[:-1])) == sorted(nearest)


def edges_of(graph):
    """Return the edges of a graph with their weights."""
    tails = np.repeat(np.arange(graph.vertices), graph.degrees)
    listed = zip(tails.tolist(), graph.targets.tolist(), graph.weights.tolist(), strict=True)
    return {(u, v): w for u, v, w in listed if u < v}


def test_hard_inputs_are_of_the_shape_that_their_names_say():
    assert edges_of(generate("ramp:4")) == {(0, 1): 1, (1, 2): 2, (2, 3): 3}
    assert edges_of(generate("ramp:4,falling=yes")) == {(0, 1): 3, (1, 2): 2, (2, 3): 1}
    assert edges_of(generate("caterpillar:5,w=unit")).keys() == {(0, 1), (1, 2), (0, 3), (1, 4)}
    assert edges_of(generate("star:4,hub=2")).keys() == {(0, 2), (1, 2), (2, 3)}
    hub = generate("random:n=64,m=100,hub=yes")
    assert hub.degrees[0] == 63
    assert generate("random:n=64,m=100,among=8").degrees[8:].max() == 0


def test_a_lollipop_is_a_grid_that_leads_into_a_core():
    stick, core = edges_of(generate("grid:2x3,w=unit")).keys(), edges_of(generate("rmat:5,w=unit")).keys()
    found = edges_of(generate("lollipop:2x3,scale=5,w=unit")).keys()
    joint = found - stick - {(u + 6, v + 6) for u, v in core}
    assert len(found) == len(stick) + len(core) + 1
    ((before, behind),) = joint
    assert before == 5
    assert behind - 6 in {v for edge in core for v in edge}
    clique = edges_of(generate("lollipop:1x3,clique=4,w=unit")).keys()
    assert clique == {(0, 1), (1, 2), (2, 3), *((u, v) for u in range(3, 7) for v in range(u + 1, 7))}


def test_a_shuffled_path_is_a_path_that_begins_at_vertex_0():
    for spec in ("path:1000,shuffled=yes", "ramp:1000,shuffled=yes"):
        graph = generate(spec)
        assert sorted(graph.degrees)[:3] == [1, 1, 2]
        assert graph.degrees[0] == 1
        assert graph.edges == 999
    edges, place, seen, weights = edges_of(graph), 0, {0}, []
    while len(seen) < 1000:  # from vertex 0 on the ramp's weights are 1, 2, 3, …
        row = graph.targets[graph.offsets[place] : graph.offsets[place + 1]].tolist()
        (following,) = [other for other in row if other not in seen]
        weights.append(edges[min(place, following), max(place, following)])
        place = following
        seen.add(place)
    assert weights == list(range(1, 1000))


@pytest.mark.parametrize("dtype", ["uint32", "uint64", "int64", "float64"])
def test_weights_may_be_one_of_two(dtype):
    graph = generate(f"random:n=2000,deg=8,w=1/2147483648,dtype={dtype}")
    values, counts = np.unique(graph.weights, return_counts=True)
    assert values.tolist() == [1, 2**31]
    assert 0.45 < counts[0] / counts.sum() < 0.55
    assert parse_spec(graph.name).text == graph.name


def test_the_counterexample_offers_different_sums_to_its_last_vertex():
    graph = generate("counterexample")
    assert (graph.vertices, graph.arcs, graph.directed) == (1024, 2044, True)
    assert list(graph.degrees[:3]) == [1022, 1, 1]
    assert (graph.weights[:1022] == 1).all()
    assert graph.targets[1022:].tolist() == [1023] * 1022
    assert sorted(graph.weights[1022:]) == list(range(1, 1023))
    undirected = generate("counterexample:1024,directed=no")
    assert not undirected.directed
    assert undirected.edges == 2044


def test_a_spec_that_does_not_fit_is_refused_before_anything_is_allocated(monkeypatch):
    monkeypatch.setattr(host, "available_memory", lambda: 2**30)
    with pytest.raises(OutOfMemory, match=r"rmat:24: needs about 13.* GiB of memory and 1 GiB are available"):
        generate("rmat:24")
    assert generate("rmat:4").vertices == 16


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_takes_any_seed(family):
    spec = SMALL[family]
    assert {generate(f"{spec},seed={seed}").vertices for seed in (0, 12, 2**63 - 1, 2**63, 2**64 - 1)} == {
        parse_spec(spec).vertices
    }


def test_progress_rises_from_nothing_to_one(monkeypatch):
    monkeypatch.setattr(chunks, "_SECONDS_BETWEEN_REPORTS", 0)
    monkeypatch.setattr(chunks.Runner.__call__, "__defaults__", (256,))
    told = []
    generate("rmat:8", lambda fraction, what: told.append((fraction, what)))
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert 0 < fractions[0] < 0.1
    assert told[-1] == (1.0, "built")
    assert {"drawing edges", "weighing edges"} <= {what for _, what in told}


def test_an_interrupt_stops_between_chunks(monkeypatch):
    monkeypatch.setattr(chunks, "_SECONDS_BETWEEN_REPORTS", 0)
    monkeypatch.setattr(chunks.Runner.__call__, "__defaults__", (256,))

    def interrupt(fraction, what):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate("rmat:10", interrupt)
