"""Graphs that lead delta-stepping on a GPU down each of its paths, and a search that tells which it took."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import gpugraph.problems.sssp.gpu_delta_stepping as delta_stepping
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.generate import generate
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.problems.sssp.distances import Distances
from tests.problems.gpu_cases import expected
from tests.zoo import Edge, directed, undirected


@dataclass(frozen=True)
class Search:
    """What a search gave: the distances, its counters, and the seconds of each phase."""

    found: Distances
    counters: dict[str, int]
    seconds: dict[str, float]

    def ran(self, *phases: str) -> bool:
        """True if time was spent in each of these phases."""
        return all(self.seconds[phase] > 0 for phase in phases)


def search(
    graph: CSRGraph, source: int = 0, *, seed: int = 0, index_bits: int | None = None, device: Any = None
) -> Search:
    """Search on a device that also tells its phases; the distances are those of the CPU, bit for bit."""
    device = device or EmulatedDevice(seed=seed)
    view, _, _ = make_resident(GraphView.of(graph, (), index_bits), device)
    state, clock = delta_stepping.State(view, device), device.phase_clock()
    raw = state.device.download(delta_stepping.run(state, clock, source))
    found = delta_stepping.finish(state, raw, source)
    assert_same(found, expected("sssp", graph, (source,)), graph.name)
    return Search(found, dict(clock.counters), dict(clock.seconds))


def assert_same(found: Distances, reference: Distances, name: str) -> None:
    """Check that two searches found the same, bit for bit."""
    np.testing.assert_array_equal(found.raw, reference.raw, err_msg=name)
    assert found.raw.dtype == reference.raw.dtype
    assert found.fingerprint() == reference.fingerprint()


def edges_at_random(n: int, m: int, low: int, high: int, seed: int = 1) -> list[Edge]:
    rng = np.random.default_rng(seed)
    ends, weights = rng.integers(0, n, (m, 2)), rng.integers(low, high + 1, m)
    return [*zip(*ends.T.tolist(), weights.tolist(), strict=True)]


def both_ways(edges: list[Edge]) -> list[Edge]:
    """Return both arcs of every edge, the lightest of parallel ones."""
    lightest: dict[tuple[int, int], float] = {}
    for u, v, w in edges:
        for arc in ((u, v), (v, u)):
            lightest[arc] = min(w, lightest.get(arc, w))
    return [(u, v, w) for (u, v), w in lightest.items()]


# ------------------------------------------------------------------ graphs, one for each path


def path(n: int = 1500) -> CSRGraph:
    """Return a path: small frontiers."""
    return undirected(n, [(i, i + 1, i * 7919 % 100 + 1) for i in range(n - 1)], name="path")


def sparse(n: int = 3000) -> CSRGraph:
    """Return a random graph of 10 arcs a vertex: large frontiers, and a horizon only once many vertices wait."""
    return undirected(n, edges_at_random(n, 5 * n, 1, 100), name="sparse")


def star(n: int = 3000) -> CSRGraph:
    """Return a star: half of its leaves lie beyond the first threshold, more than the far list holds.

    Vertices without edges make the arcs a vertex too few for a horizon from the start.
    """
    return undirected(n + n // 2, [(0, i, i * 7919 % 1000 + 1) for i in range(1, n)], name="star")


def far_star(n: int = 20_000) -> CSRGraph:
    """Return a star three tenths of whose leaves lead on, so far away that the far list overflows at two thresholds."""
    far = [i for i in range(1, n) if i % 10 < 3]
    near = [(0, i, 1) for i in range(1, n) if i % 10 >= 3]
    tails = [(i, n + k, 1) for k, i in enumerate(far)]
    return undirected(n + len(far), [*near, *((0, i, 1000 + i * 7919 % 9000) for i in far), *tails], name="far star")


def far_leaves(chain: int, leaves: int, n: int = 12_000) -> CSRGraph:
    """Return a chain with far leaves, each of which leads on: one block finds all of them far."""
    first, tail = chain, chain * (leaves + 1)
    rows = [(i, i + 1, 1) for i in range(chain - 1)]
    rows += [(i, first + leaves * i + j, 1000) for i in range(chain) for j in range(leaves)]
    rows += [(first + k, tail + k, 1 + k % 7) for k in range(chain * leaves)]
    return directed(n, rows, name="far leaves")


def dense(n: int = 400) -> list[Edge]:
    """Return the edges of a random graph of 24 arcs a vertex without a hub."""
    return edges_at_random(n, 12 * n, 1, 10_000)


HUBS = 12
"""The first vertices of a graph of hubs, each of which has an edge to every other vertex."""


def of_hubs(n: int = 500, within: int | None = None) -> list[Edge]:
    """Return the edges of a graph most of whose arcs lead to hubs, so that it has a horizon from the start.

    The source is one of the hubs, and none has more arcs.  Only the first ``within`` vertices have other edges.
    """
    inner = (within or n) - HUBS
    edges = [(u + HUBS, v + HUBS, w) for u, v, w in edges_at_random(inner, 4 * inner, 1, 10_000)]
    return edges + [(u, v, 1 + (u * 7919 + v * 104_729) % 10_000) for u in range(HUBS) for v in range(u + 1, n)]


def settled_by_light_edges(edges: list[Edge], near: int) -> list[Edge]:
    """Return the edges, heavy beyond the first ``near`` vertices, and light ones from the source to those.

    In a graph of hubs that settles those within the horizon; the others pull, and then push to each other.
    """
    weights = (lambda w: w, lambda w: 1000 * w + 10**6, lambda w: w + 20_000)  # by the number of ends beyond
    rows = [(u, v, weights[(u >= near) + (v >= near)](w)) for u, v, w in edges]
    return rows + [(0, v, 1 + v % 3) for v in range(1, near)]


def outsiders() -> list[Edge]:
    """Return the edges of a graph most of whose vertices lie within the horizon."""
    return settled_by_light_edges(of_hubs(), 300)


def outsiders_with_long_rows() -> list[Edge]:
    """Return the same with rows beyond the horizon that all warps of the grid share."""
    within, beyond = 600, 30
    rows = [
        (u, v, 1 + (u * 7919 + v * 104_729) % 1000) for v in range(within, within + beyond) for u in range(HUBS, 320)
    ]
    return settled_by_light_edges(of_hubs(within + beyond) + rows, within)


def far_crowd(within: int = 2000, beyond: int = 3000) -> CSRGraph:
    """Return a graph of hubs and a crowd beyond its horizon, each of which comes nearer through one of them.

    Those that fall so are more than the far list holds.
    """
    n, first = within + beyond, within + 1  # the one that all others of the crowd have a light edge to
    edges = settled_by_light_edges(of_hubs(n, within), within)
    edges += [(0, within, 30_000)] + [(within, v, 1 + v % 3) for v in range(first, n)]
    return undirected(n, edges, name="far crowd")


def lone_outsiders(within: int = 400, beyond: int = 200) -> CSRGraph:
    """Return a graph of hubs and vertices beyond its horizon that have nothing to offer each other."""
    edges = [(u, v, w if v < within else 30_000 + v) for u, v, w in of_hubs(within + beyond, within)]
    edges += [(0, v, 1 + v % 3) for v in range(1, within)]
    edges += [(v - 1, v, 10**6) for v in range(within + 1, within + beyond)]
    return undirected(within + beyond, edges, name="lone outsiders")


def late_hub(n: int = 3000) -> CSRGraph:
    """Return a sparse graph with two hubs, one reached at once and one from beyond the horizon that is set late."""
    edges = [*edges_at_random(n, 4 * n, 1, 100), (0, n, 900)]
    spokes = [(n + (v > 300), v, 300 + v % 7) for v in range(1, 600)]
    return undirected(n + 2, edges + spokes, name="late hub")


def late_chain(near: int = 200, far: int = 3000, chain: int = 300) -> CSRGraph:
    """Return a star with a chain at a near leaf, and a far leaf that is reached best from the end of that chain.

    So many leaves are far that a horizon is set late, and when most blocks have nothing left the chain is still near:
    then it must not be set yet, for the last arc would lead beyond it.
    """
    leaves = [(0, v, 1 if v <= near else 10_000 + v) for v in range(1, 1 + near + far)]
    hops = [(near + far + k if k else 1, 1 + near + far + k, 1) for k in range(chain)]
    end = 1 + near + far
    return undirected(end + chain, [*leaves, *hops, (end + chain - 1, near + far, 12_860)], name="late chain")


def few_within(near: int = 700, n: int = 3500) -> CSRGraph:
    """Return a star, trees of which hang far from a few leaves: a horizon that is set late leaves those beyond it.

    Vertices without edges make the arcs a vertex too few for a horizon from the start.
    """
    leaves = [(0, v, 1 + v * 7919 % 2000) for v in range(1, near)]
    roots = [(1 + k, near + k, 5000) for k in range(50)]
    rest = [(near + k // 60, near + k, 1) for k in range(50, n - near)]
    return undirected(n + 1200, leaves + roots + rest, name="few within")


def fan(middle: int = 30, leaves: int = 120, n: int = 700) -> CSRGraph:
    """Return a graph in which every middle vertex lowers every leaf again: more entries than the queue holds."""
    rows = [(0, 1 + i, 1) for i in range(middle)]
    rows += [(1 + i, 1 + middle + j, 1000 - 2 * i) for i in range(middle) for j in range(leaves)]
    heavy = [(i, i + 1, 10**6) for i in range(1 + middle + leaves, n - 1)]  # so that all of it is near
    return directed(n, rows + heavy, name="fan")


def bursts_along_paths(degree: int, children: int, paths: int = 24, apart: int = 20) -> CSRGraph:
    """Return paths from the source, all weights 0, each with a vertex from which a tree of two levels is found at once.

    That vertex is ``apart`` steps farther on each path than on the one before, so that one block after the other has
    much more to do than the others.  Every leaf of a tree leads to the ``degree`` leaves behind it.
    """
    length, leaves = paths * apart, children * children
    rows = [(0, 1 + length * k, 0) for k in range(paths)]
    rows += [(1 + length * k + i, 2 + length * k + i, 0) for k in range(paths) for i in range(length - 1)]
    first = 1 + length * paths
    for k in range(paths):
        leaf = first + children
        rows += [(1 + (length + apart) * k, first + i, 0) for i in range(children)]
        rows += [(first + i // children, leaf + i, 0) for i in range(leaves)]
        rows += [(leaf + i, leaf + (i + 1 + j) % leaves, 0) for i in range(leaves) for j in range(degree)]
        first = leaf + leaves
    return directed(first, rows, name="bursts along paths")


def hub_at_the_end_of_a_chain(chain: int = 100, leaves: int = 70) -> CSRGraph:
    """Return a graph in which each vertex of a chain lowers a hub again: it is put aside in step after step."""
    hub = chain
    edges = [(i, i + 1, 1) for i in range(chain - 1)]
    edges += [(i, hub, 1000 - 3 * i) for i in range(chain)]
    edges += [(hub, hub + 1 + j, 10**5 + j) for j in range(leaves)]
    return directed(hub + 1 + leaves, edges, name="hub at the end of a chain")


def lost_hubs(dtype: str = "uint32", middle: int = 50) -> CSRGraph:
    """Return a path that lowers a hub at every vertex, more often than the list holds, with other hubs beside it.

    Their leaves are far.  The rows that follow are those of a cycle that cannot be reached.
    """
    chain, leaves, cycle = 121, range(122, 186), 1000
    first = leaves.stop + middle  # of the cycle
    rows = [(i, i + 1, 1) for i in range(chain - 1)]
    rows += [(i, chain, 250 - 2 * i) for i in range(chain)]
    rows += [(i + 1, leaves.stop + i, 1) for i in range(middle)]
    rows += [(v, leaf, 10**5) for v in (chain, *range(leaves.stop, first)) for leaf in leaves]
    rows += [(first + k, first + (k + 1) % cycle, 1) for k in range(cycle)]
    return directed(first + cycle, rows, dtype, name="lost hubs")


def caterpillar(n: int = 1200) -> CSRGraph:
    """Return a path with leaves: every 40th vertex has more arcs than a packed row holds, every 300th is a hub."""
    edges = [(i, i + 1, i * 7919 % 100 + 1) for i in range(n - 1)]
    leaf = n
    for i in range(0, n, 40):
        for _ in range(100 if i % 300 == 0 else 4):
            edges.append((i, leaf, leaf * 7919 % 300 + 1))
            leaf += 1
    return undirected(leaf, edges, name="caterpillar")


def far_hub() -> CSRGraph:
    """Return a hub whose arcs alone lead beyond 32 bits."""
    return directed(302, [(0, 1, 2**32 - 10), *((1, i, 100) for i in range(2, 302))], name="far hub")


SAMPLED = 2048
"""Arcs whose weights the search samples."""
HEAVY = 4696
"""Heavy arcs of ``layers``: so many that half of the sampled arcs are light."""


def wide_range(dtype: str, spread: int, n: int = 2500) -> CSRGraph:
    """Return a random graph whose weights lie between 2^-spread and 2^spread, for floats, or up to 2^spread."""
    rng = np.random.default_rng(3)
    exponents = rng.uniform(-spread if dtype.startswith("float") else 0, spread, 12_000)
    rows = zip(rng.integers(0, n, (12_000, 2)).tolist(), (2.0**exponents).tolist(), strict=True)
    return undirected(n, [(u, v, w) for (u, v), w in rows], dtype, name="wide range")


def layers(dtype: str = "float64", low: float = 0.1, high: float = 0.3) -> CSRGraph:
    """Return a hub of 40, each with 60 children, a matching below, and heavy arcs at random.

    The arcs that the search samples are light and heavy in equal parts: their mean, the first width of a bucket, is
    the distance of the second layer to the last bit or two, if ``high`` is three times ``low``.
    """
    hub, children = 40, 2400
    first, second = 1 + hub, 1 + hub + children
    light = [(0, i, low) for i in range(1, first)]
    light += [(1 + k % hub, first + k, low) for k in range(children)]
    light += [(first + k, second + k, low) for k in range(children)]
    ends = np.random.default_rng(1).integers(0, second + children, (HEAVY, 2))
    graph = directed(second + children, light + [(int(u), int(v), high) for u, v in ends], dtype, name="layers")
    sampled = np.arange(SAMPLED, dtype=np.uint64) * np.uint64(2654435761) % np.uint64(1 << 32)
    drawn = graph.weights[sampled * np.uint64(graph.arcs) >> np.uint64(32)]
    assert int((drawn == drawn.min()).sum()) == SAMPLED // 2
    return graph


PATHS: dict[str, tuple[Callable[[], CSRGraph], tuple[str, ...], tuple[str, ...]]] = {
    "local steps": (path, ("local",), ()),
    "wide rounds": (sparse, ("local", "wide", "buckets"), ("buckets",)),
    "pull across a late horizon": (sparse, ("wide", "pull"), ("scans",)),
    "hubs pull across a late horizon": (late_hub, ("wide", "pull"), ("scans",)),
    "a crowd that falls beyond the horizon": (far_crowd, ("pull", "buckets"), ("scans",)),
    "a chain before a late horizon": (late_chain, ("hubs", "pull"), ("scans",)),
    "push across a late horizon": (few_within, ("hubs", "pull"), ("scans",)),
    "hubs, and a far list that overflows": (star, ("hubs", "buckets"), ("scans",)),
    "a far list that overflows twice": (far_star, ("hubs", "buckets"), ("scans", "buckets")),
    "pull across the horizon": (lambda: undirected(500, outsiders(), name="outsiders"), ("pull",), ()),
    "push across the horizon": (lambda: directed(500, both_ways(of_hubs()), name="of hubs"), ("pull",), ()),
    "hubs pull": (lambda: undirected(630, outsiders_with_long_rows(), name="long rows"), ("hubs", "pull"), ()),
    "rows that have a warp": (lambda: generate("random:n=400,deg=30,w=1..255"), ("local", "pull"), ()),
    "rows longer than half a warp": (lambda: generate("knn:n=1000,k=14"), ("local",), ()),
    "more long rows than warps": (lambda: generate("ssca2:10,clique=60,w=1..100000"), ("local",), ("buckets",)),
    "a complete graph": (lambda: generate("complete:300"), ("wide", "pull"), ()),
    "a queue that overflows": (fan, ("local",), ("rescans",)),
    "hubs that find no room": (hub_at_the_end_of_a_chain, ("local", "hubs"), ("rescans",)),
    "rows too long to pack": (caterpillar, ("local", "hubs", "buckets"), ("buckets",)),
    "a restart": (lambda: undirected(400, [(i, i + 1, 2**31) for i in range(399)]), ("local",), ("restarts",)),
    "a restart at a hub": (far_hub, ("local", "hubs"), ("restarts",)),
}
"""Graph, the phases that it must lead through, and the counters that must not stay 0 under schedule 0."""


def thinning_star(near: int = 14_000, far: int = 6000, tails: int = 30) -> CSRGraph:
    """Return a star, few of whose near leaves lead on while others wait far away."""
    leaves = [(0, i, 1 if i <= near else 1000 + i) for i in range(1, 1 + near + far)]
    on = [(1 + k * (near // tails), 1 + near + far + k, 1) for k in range(tails)]
    return directed(1 + near + far + tails, leaves + on, name="thinning star")


def wide_star(n: int = 2**20 + 40) -> CSRGraph:
    """Return a star of many leaves; those left at last lead on, from lines that a survey of a part passes over."""
    leaf = np.arange(1, n)
    late = (leaf // 32 % 8 != 0) & (leaf % 4096 == 40)
    weights = np.where(late, 10**6, np.where(leaf % 10 == 0, 1, 2000))
    beyond = n + np.arange(late.sum())
    degree = np.concatenate([[n - 1], late, np.zeros(len(beyond))])
    return CSRGraph(
        offsets=np.concatenate([[0], np.cumsum(degree)]).astype(np.int32),
        targets=np.concatenate([leaf, beyond]).astype(np.int32),
        weights=np.concatenate([weights, np.ones(len(beyond))]).astype(np.uint32),
        directed=True,
        name="wide star",
    )
