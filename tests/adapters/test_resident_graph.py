"""A graph held ready: right answers, in the input's own terms, however often it is asked."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import gpugraph
from gpugraph.base.errors import InputError, VerificationFailed
from gpugraph.devices import discovery
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.python import certified, inputs, resident_graph
from gpugraph.graph.build import ArcList
from tests.emulator.compiler import needs_compiler
from tests.tiers import only
from tests.zoo import COMMON, ZOO, directed, has_negative_weights, undirected, zoo

DEVICES = ("cpu", "emulated")


@pytest.mark.parametrize("name", only(COMMON, ZOO))
def test_it_gives_what_the_single_calls_give(name):
    graph = zoo(name)
    with gpugraph.on(graph, "cpu") as g:
        for _ in range(2):
            assert g.mst(verify="both").fingerprint() == gpugraph.mst(graph, device="cpu").fingerprint()
            assert g.components(verify="both").components == g.mst().components
        if graph.vertices and not has_negative_weights(graph):
            for source in (0, graph.vertices - 1):
                expected = gpugraph.sssp(graph, source, device="cpu", predecessors=True)
                found = g.sssp(source, predecessors=True, verify="certificate")
                assert found.fingerprint() == expected.fingerprint()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["grid", "random", "two-components", "directed-random", "float64"])
def test_a_search_that_ends_early_knows_all_up_to_its_end(name, device):
    graph = zoo(name) if name in ZOO else zoo("triangle")
    with gpugraph.on(graph, device) as g:
        whole = g.sssp(0)
        far = np.sort(whole.distance[whole.reached])
        limit = far[len(far) // 2].item()
        target = int(np.flatnonzero(whole.distance == limit)[0])
        for found in (g.sssp(0, cutoff=limit), g.sssp(0, target=target), g.sssp(0, cutoff=limit, algo="dijkstra")):
            near = whole.distance <= limit
            np.testing.assert_array_equal(found.reached, near & whole.reached)
            np.testing.assert_array_equal(found.distance[found.reached], whole.distance[found.reached])
            assert found.summary()["distance_max"] == limit
        assert g.sssp(0, cutoff=-1).reached.sum() == 0
        assert g.sssp(0, cutoff=float("inf")).fingerprint() == whole.fingerprint()
        with pytest.raises(InputError, match="cutoff"):
            g.sssp(0, cutoff=float("nan"))
        length, way = g.path(0, target)
        assert length == limit
        assert (way[0], way[-1]) == (0, target)
        steps = pairwise(way)
        weights = {(u, int(v)): w for u in way for v, w in _row(graph, u)}
        assert sum(weights[u, v] for u, v in steps) == pytest.approx(length)


@pytest.mark.parametrize("w", ["0..9", "0.0..9.0"])
@pytest.mark.parametrize("options", [{}, {"algo": "dijkstra"}, {"target": 35}])
@pytest.mark.parametrize(
    "cutoff", [Fraction(17, 3), np.float32(5.5), np.longdouble(5.5), np.uint64(2**64 - 1), 2**64, -np.inf, -(10**30)]
)
def test_a_cutoff_is_any_real_number(cutoff, options, w):
    with gpugraph.on(f"grid:6x6,w={w}", "cpu", verify="all") as g:
        distance = g.sssp(0).distance
        end = min(cutoff, distance[35]) if "target" in options else cutoff
        np.testing.assert_array_equal(g.sssp(0, cutoff=cutoff, **options).reached, [d <= end for d in distance])


def test_zero_weights_along_a_long_path_are_certified_in_one_search(monkeypatch):
    n, searches = 3000, []
    whole = certified._along
    monkeypatch.setattr(certified, "_along", lambda *arcs: searches.append(arcs) or whole(*arcs))
    rows = np.minimum(np.arange(n + 1), n - 1), np.arange(1, n, dtype=np.int32), np.zeros(n - 1, np.uint32)
    with gpugraph.on(rows, "cpu") as g:
        assert g.path(0, n - 1) == (0, list(range(n)))
    assert len(searches) == 1


def test_zero_weights_that_lead_round_in_a_circle_certify_nothing():
    rows = np.array([0, 1, 2, 3]), np.array([1, 2, 1]), np.array([5, 0, 0])
    distance, reached = np.array([0, 4, 4]), np.ones(3, bool)
    with pytest.raises(VerificationFailed, match="vertex 1 has distance 4"):
        certified.certify_search(rows, distance, reached, [0])
    certified.certify_search(rows, np.array([0, 5, 5]), reached, [0])


@pytest.mark.parametrize("weights", [[1e308, 1e308], [np.inf, 1.0]])
def test_a_path_longer_than_every_float_is_none(weights):
    with gpugraph.on((np.array([0, 1, 2, 2]), np.array([1, 2], np.int32), np.array(weights)), "cpu") as g:
        assert not g.sssp(0, target=2).reached[2]
        with pytest.raises(InputError, match="no path"):
            g.path(0, 2)


@pytest.mark.parametrize(
    "change",
    [
        {"targets": np.array([1, 10**9], np.int32)},
        {"targets": np.array([1, -1], np.int32)},
        {"targets": np.array([1, 0], np.float64)},
        {"offsets": np.array([0, 10**8, 2 * 10**8])},
        {"offsets": [0, 1, 2]},
        {"offsets": np.array([0, 2, 2])},
        {"weights": np.ones(1, np.uint32)},
        {"weights": np.ones(2, np.int8)},
        {"weights": np.array([1.0, np.nan])},
        {"weights": np.array([1, 2], np.uint32)},
    ],
)
def test_a_graph_put_together_by_hand_is_checked_at_every_door(change):
    graph = replace(gpugraph.load("path:2"), **change)
    for door in (gpugraph.mst, gpugraph.components, gpugraph.on, lambda graph, device: gpugraph.mst_many([graph])):
        with pytest.raises(InputError, match="which checks and sorts them"):
            door(graph, device="cpu")
    whole = replace(graph, **{name: getattr(gpugraph.load("path:2"), name) for name in change})
    assert gpugraph.mst(whole, device="cpu").components == 1


def _row(graph, u):
    arcs = slice(graph.offsets[u], graph.offsets[u + 1])
    return zip(graph.targets[arcs].tolist(), graph.weights[arcs].tolist(), strict=True)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["grid", "float64", "all-zero", "directed-random"])
def test_the_path_of_a_pair_is_as_long_as_the_distance(name, device):
    graph = zoo(name)
    with gpugraph.on(graph, device) as g:
        for source in (0, graph.vertices // 2):
            whole = gpugraph.sssp(graph, source, device="cpu")
            for target in np.flatnonzero(whole.reached)[:: max(1, graph.vertices // 6)].tolist():
                length, way = g.path(source, target)
                assert length == whole.distance[target]
                assert (way[0], way[-1]) == (source, target)
                weights = {(u, int(v)): w for u in way for v, w in _row(graph, u)}
                assert sum(weights[step] for step in pairwise(way)) == pytest.approx(length)


def test_another_thread_is_refused_while_a_call_is_under_way(monkeypatch):
    with gpugraph.on(zoo("grid"), "cpu") as g, ThreadPoolExecutor(1) as other:
        run = resident_graph.ResidentGraph._answer

        def answer(self, *arguments, **named):
            with pytest.raises(InputError, match="another thread is using this graph"):
                other.submit(g.components).result(timeout=300)
            return run(self, *arguments, **named)

        monkeypatch.setattr(resident_graph.ResidentGraph, "_answer", answer)
        assert g.mst().components == 1
        monkeypatch.undo()
        assert other.submit(g.components).result(timeout=300).components == 1


@pytest.mark.parametrize(
    ("problem", "given"),
    [
        ("sssp", {"cutoff": "x"}),
        ("sssp", {"cutoff": 10**400}),
        ("sssp", {"cutoff": [1]}),
        ("sssp", {"algo": "delta-stepping", "delta": [1]}),
        ("mst", {"algo": 3}),
        ("mst", {"verify": 3}),
    ],
)
def test_an_odd_argument_is_refused_by_name(problem, given):
    with gpugraph.on(zoo("grid"), "cpu") as g, pytest.raises(InputError):
        getattr(g, problem)(**given)


def test_an_odd_device_and_pickling_are_refused():
    with pytest.raises(InputError, match="device is 3"):
        gpugraph.on(zoo("grid"), 3)
    with gpugraph.on(zoo("grid"), "cpu") as g:
        for copied in (pickle.dumps, copy.deepcopy):
            with pytest.raises(InputError, match="cannot be pickled"):
                copied(g)


def test_what_is_no_forest_has_no_positions():
    with gpugraph.on(zoo("grid"), "cpu") as g, pytest.raises(InputError, match="forest is None"):
        g.input_positions(None)


def test_the_forest_of_another_graph_has_no_positions_in_this_one():
    with gpugraph.on(zoo("grid"), "cpu") as g, gpugraph.on(zoo("random"), "cpu") as other:
        with pytest.raises(InputError, match="another graph"):
            g.input_positions(other.mst())
        again = gpugraph.mst(zoo("grid"), device="cpu")
        np.testing.assert_array_equal(g.input_positions(again), g.input_positions(g.mst()))


def test_a_masked_distance_is_filled_with_the_largest_number():
    with gpugraph.on(undirected(3, [(0, 1, 999999999)]), "cpu") as g:
        assert g.sssp(0).distance.filled().tolist() == [0, 999999999, 2**64 - 1]
        assert g.sssp(sources=[2]).distance.filled().tolist() == [[2**64 - 1, 2**64 - 1, 0]]


def test_no_path_and_no_vertex_are_said():
    with gpugraph.on(undirected(3, [(0, 1, 5)]), "cpu") as g:
        with pytest.raises(InputError, match="no path leads from 0 to 2"):
            g.path(0, 2)
        with pytest.raises(InputError, match="source 7 is not a vertex"):
            g.sssp(7)
        assert not g.sssp(0, target=2).reached[2]
        with pytest.raises(InputError, match="tree"):
            g.mst(tree=1)
        for several in ("random:2", "wide:2", "all"):
            with pytest.raises(InputError, match=r"means [23] vertices"):
                g.path(0, several)
        with pytest.raises(InputError, match="predecessors are not left on the device"):
            g.sssp(0, on_device=True, predecessors=True)
        with pytest.raises(InputError, match="neither a node of the graph, nor a number"):
            g.sssp(np.array(0))
    for end in (lambda: g.path(0, 1), lambda: g.sssp(0, cutoff=9), lambda: g.sssp(0, target=1)):
        with pytest.raises(InputError, match="given back"):
            end()
    with pytest.raises(InputError, match="given back"):
        g.mst()


@pytest.mark.parametrize("device", DEVICES)
def test_a_node_that_is_called_like_a_number_of_a_vertex_is_not_taken_for_another(device):
    G = nx.Graph()
    G.add_weighted_edges_from([("a", "b", 1), ("b", "index:0", 2), ("index:0", "index:1", 10), ("index:1", "z", 1)])
    nodes = sorted(G) * 2
    with gpugraph.on(G, device) as g:
        assert g.path("a", "b") == (1, ["a", "b"])
        assert g.path("b", "z") == (13, ["b", "index:0", "index:1", "z"])
        assert [g.graph.vertex_names[one.source] for one in g.sssp(nodes)] == nodes


def test_several_sources_are_not_the_node_that_is_a_tuple_of_them():
    G = nx.Graph()
    G.add_weighted_edges_from([("a", "b", 1), ("b", ("a", "b"), 5), (("a",), "a", 3)])
    for sources in (["a", "b"], ["a"], [("a", "b"), ("a",)]):
        with gpugraph.on(G, "cpu") as g:
            found = g.sssp(sources=sources)
            assert [g.graph.vertex_names[one] for one in found.sources] == sources
        assert gpugraph.sssp(G, sources=sources, device="cpu") == found


def test_a_vertex_that_is_missing_is_not_the_one_of_greatest_degree():
    masked = np.ma.array([0, 1], mask=[False, True])
    with gpugraph.on(zoo("triangle"), "cpu") as g:
        for ask in (
            lambda: g.sssp([0, None]),
            lambda: g.sssp(masked),
            lambda: g.sssp(sources=[None]),
            lambda: g.sssp(sources=masked),
            lambda: g.path(None, 1),
            lambda: g.path(1, None),
            lambda: gpugraph.sssp(g.graph, sources=masked, device="cpu"),
        ):
            with pytest.raises(InputError, match="a vertex is missing"):
                ask()


def test_flags_are_true_or_false_as_in_the_functions():
    with gpugraph.on(zoo("triangle"), "cpu") as g:
        for flag in ("predecessors", "on_device"):
            with pytest.raises(InputError, match=f"{flag} is 'no'"):
                g.sssp(0, **{flag: "no"})
        for solve in (g.mst, g.components):
            with pytest.raises(InputError, match="on_device is 1"):
                solve(on_device=1)


def test_several_sources_give_a_list_and_a_node_that_is_a_tuple_does_not():
    G = nx.Graph([((0, 1), (0, 2), {"weight": 4}), ((0, 2), "end", {"weight": 1})])
    with gpugraph.on(G, "cpu") as g:
        assert g.sssp((0, 1)).distance.max() == 5
        several = g.sssp([(0, 1), "end"])
        assert [one.distance.max() for one in several] == [5, 5]
        assert g.path((0, 1), "end") == (5, [(0, 1), (0, 2), "end"])


@pytest.mark.parametrize("device", DEVICES)
def test_arrays_stay_on_the_device_where_that_is_asked_for(device):
    graph = zoo("triangle")
    with gpugraph.on(graph, device) as g:
        words = g.sssp(0, on_device=True)
        again = g.sssp(1, on_device=True)
        assert np.from_dlpack(words).tolist() == g.sssp(0).distance.tolist()
        assert np.from_dlpack(again).tolist() == g.sssp(1).distance.tolist()
        assert np.from_dlpack(g.components(on_device=True)).tolist() == g.components().labels.tolist()
        arcs = np.from_dlpack(g.mst(on_device=True))
        assert sorted(graph.weights[arcs].tolist()) == sorted(graph.weights[g.mst().edges].tolist())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("dtype", "sums"), [(np.float64, "float64"), (np.float32, "float64"), (np.float32, "float32")])
def test_a_real_distance_on_the_device_is_infinite_where_nothing_is_reached(device, dtype, sums):
    graph = gpugraph.from_edges([0, 1], [1, 2], np.array([0.5, 0.25], dtype), vertices=4)
    with gpugraph.on(graph, device) as g:
        found = np.from_dlpack(g.sssp(0, sums=sums, on_device=True))
        assert found.tolist() == [0, 0.5, 0.75, np.inf]
        assert found.dtype == np.dtype(sums)


@needs_compiler
@pytest.mark.parametrize(
    ("problem", "algo"),
    [
        ("mst", "boruvka-streamed"),
        ("mst", "boruvka-distributed"),
        ("components", "boruvka-distributed"),
        ("sssp", "delta-stepping-distributed"),
        ("sssp", "u-gpu"),
    ],
)
def test_what_an_algorithm_leaves_elsewhere_is_sent_to_the_device(problem, algo):
    with gpugraph.on(zoo("random"), "emulated") as g:
        source = (0,) if problem == "sssp" else ()
        found = getattr(g, problem)(*source, algo=algo)
        expected = {"mst": "edges", "components": "labels", "sssp": "raw"}[problem]
        left = np.from_dlpack(getattr(g, problem)(*source, algo=algo, on_device=True))
        assert np.sort(left).tolist() == np.sort(getattr(found, expected)).tolist()


def test_a_sum_that_wraps_is_not_left_on_the_device_as_not_reached():
    graph = gpugraph.from_edges([0, 1], [1, 2], [2**63, 2**63])
    for device in DEVICES:
        with gpugraph.on(graph, device, verify="none") as g, pytest.raises(InputError, match="does not fit in 64 bits"):
            g.sssp(0, on_device=True)


@pytest.mark.parametrize("device", DEVICES)
def test_edges_lead_back_to_the_input(device):
    rng = np.random.default_rng(5)
    tails, heads, weights = rng.integers(0, 12, 60), rng.integers(0, 12, 60), rng.integers(1, 5, 60).astype(np.uint32)
    for is_directed, one_sided in ((True, False), (False, True)):
        with gpugraph.on(ArcList(tails, heads, weights, 12, is_directed, one_sided), device) as g:
            forest = g.mst()
            at = g.input_positions(forest)
            u, v = forest.endpoints()
            np.testing.assert_array_equal(np.minimum(tails[at], heads[at]), u)
            np.testing.assert_array_equal(np.maximum(tails[at], heads[at]), v)
            np.testing.assert_array_equal(weights[at], forest.graph.weights[forest.edges])
            assert len(set(at.tolist())) == len(at)
    G = nx.Graph()
    G.add_weighted_edges_from([("d", "a", 3), ("a", "b", 1), ("b", "d", 2)])
    with gpugraph.on(G, device) as g:
        edges = list(G.edges(data="weight"))
        assert {edges[i] for i in g.input_positions(g.mst())} == {("a", "b", 1), ("d", "b", 2)}


def test_arrays_that_are_rows_already_are_shared():
    graph = zoo("equal-triangle")
    rows = (graph.offsets, graph.targets.copy(), graph.weights.astype(np.float64))
    with gpugraph.on(rows, "cpu") as g:
        assert np.shares_memory(g.graph.targets, rows[1])
        assert np.shares_memory(g.graph.weights, rows[2])
        assert not g.graph.directed
    matrix = sparse.csr_array((rows[2], rows[1], graph.offsets.astype(np.int32)), shape=(3, 3))
    with gpugraph.on(matrix, "cpu") as g:
        assert np.shares_memory(g.graph.weights, matrix.data)
        assert g.mst().total_weight == gpugraph.mst(matrix, device="cpu").total_weight


def test_arrays_of_other_libraries_are_taken_through_dlpack():
    class Foreign:
        """An array of which only DLPack is known."""

        def __init__(self, array: np.ndarray):
            self.array = array

        def __dlpack__(self, **named):
            return self.array.__dlpack__(**named)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    class OnGpu(Foreign):
        """An array on a GPU, as CuPy has it."""

        __cuda_array_interface__ = property(lambda self: {})

        def get(self):
            return self.array.copy()

    graph = zoo("equal-triangle")
    for kind in (Foreign, OnGpu):
        rows = tuple(map(kind, (graph.offsets.copy(), graph.targets.copy(), graph.weights.copy())))
        with gpugraph.on(rows, "cpu") as g:
            assert np.shares_memory(g.graph.targets, rows[1].array) == (kind is Foreign)
            assert g.mst().total_weight == 10


@pytest.mark.parametrize(
    "rows",
    [
        ([0, 2, 3, 4], [2, 1, 0, 0], [1, 1, 1, 1]),  # a row that does not ascend
        ([0, 2, 3, 4], [0, 1, 0, 0], [1, 1, 1, 1]),  # a loop
        ([0, 2, 2, 2], [1, 1], [3, 2]),  # a repeat
        ([0, 1, 1, 1], [1], [-0.0]),
    ],
)
def test_rows_that_are_none_yet_are_mended_in_a_copy(rows):
    offsets, targets, weights = np.array(rows[0]), np.array(rows[1], np.int32), np.array(rows[2])
    before = targets.copy()
    with gpugraph.on((offsets, targets, weights), "cpu") as g:
        assert not np.shares_memory(g.graph.targets, targets)
        np.testing.assert_array_equal(targets, before)
        assert (
            g.mst(verify="both").fingerprint() == gpugraph.mst((offsets, targets, weights), device="cpu").fingerprint()
        )


def test_a_directed_graph_is_searched_along_its_arcs_and_spanned_without_them():
    with gpugraph.on(directed(3, [(0, 1, 4), (1, 0, 2), (1, 2, 9)]), "cpu") as g:
        assert g.sssp(0).distance.tolist() == [0, 4, 13]
        assert not g.sssp(2).reached[0]
        assert g.mst().total_weight == 11
        assert g.components().components == 1


def test_a_wrong_result_is_reported(monkeypatch):
    from gpugraph.problems.mst.forest import Forest

    with gpugraph.on(zoo("triangle"), "cpu") as g:
        ready = g._prepared("mst", "auto", {})
        wrong = Forest.of(ready.graph, np.array([0]))
        monkeypatch.setattr(g, "_answer", lambda *_: wrong)
        for way in ("certificate", "first", "all", None):
            with pytest.raises(VerificationFailed):
                g.mst(verify=way)
        assert g.mst(verify="none") is wrong


@pytest.mark.parametrize("device", DEVICES)
def test_wrong_distances_that_stay_on_the_device_are_reported(device, monkeypatch):
    with gpugraph.on(zoo("triangle"), device) as g:
        right = g._answer

        def answer(ready, source, limits=()):
            found = right(ready, source, limits=limits)
            return replace(found, raw=found.raw + found.raw.dtype.type(source == 1))

        monkeypatch.setattr(g, "_answer", answer)
        assert len(g.sssp([0, 1], on_device=True)) == 2
        for way in ("all", "certificate"):
            with pytest.raises(VerificationFailed):
                g.sssp([0, 1], on_device=True, verify=way)
        assert len(g.sssp([0, 1], on_device=True, verify="none")) == 2
        with gpugraph.on(zoo("triangle"), device) as other, monkeypatch.context() as patched:
            patched.setattr(other, "_answer", answer)
            with pytest.raises(VerificationFailed):
                other.sssp(1, on_device=True)


@needs_compiler
def test_the_host_waits_once_for_a_small_result_and_for_the_kernel_of_a_large_one(monkeypatch):
    waits = []
    with gpugraph.on(zoo("random"), "emulated") as g:
        monkeypatch.setattr(g.device, "synchronize", lambda: waits.append("kernel"))
        asked = (g.mst, g.components, lambda: g.sssp(0))
        small = [ask().fingerprint() for ask in asked]
        assert waits == []
        monkeypatch.setattr(resident_graph, "_SMALL", 0)
        assert [ask().fingerprint() for ask in asked] == small
        assert waits == ["kernel"] * 3


def test_the_phases_of_the_last_call_are_reported():
    with gpugraph.on(zoo("triangle"), "emulated") as g:
        g.sssp(0)
        assert gpugraph.last_call().seconds["copy"] > 0  # room for the distances
        g.sssp(0)
        call = gpugraph.last_call()
        assert (call.function, call.device) == ("sssp", "emulated")
        assert list(call.seconds) == ["convert", "copy", "compile", "kernel", "back"]
        assert call.seconds["kernel"] > 0
        assert call.seconds["copy"] == 0  # it lay there already
        assert str(call).startswith("sssp on emulated: convert 0.000 ms, copy 0.000 ms, compile 0.000 ms, kernel ")


class There:
    """An array on a GPU, as PyTorch has it, whose memory is the emulated device's."""

    __cuda_array_interface__ = property(lambda self: {})

    def __init__(self, array: np.ndarray):
        self.array, self.copies = array, 0

    def get(self):
        self.copies += 1
        return np.array(self.array)


@pytest.fixture
def adopting(monkeypatch):
    """Return a device on which arrays of others may lie, and take every graph for a large one."""
    monkeypatch.setattr(inputs, "_SMALL", 1)
    monkeypatch.setattr(inputs, "adopted", lambda _, array: array.array if isinstance(array, There) else None)
    device = EmulatedDevice()
    choose = discovery.select_device
    monkeypatch.setattr(
        discovery, "select_device", lambda text, **more: (device, None) if text == "cuda" else choose(text, **more)
    )
    return device


@needs_compiler
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("offsets", [np.int32, np.int64])
def test_rows_that_lie_on_the_device_are_shared_there(adopting, offsets, directed):
    graph = zoo("directed-cycle" if directed else "random")
    arrays = (graph.offsets.astype(offsets), graph.targets, graph.weights)
    rows = [There(adopting.upload(array)) for array in arrays]
    with gpugraph.on(
        tuple(rows), "cuda", verify="none"
    ) as g:  # an emulated device has its answers certified on the host
        assert g.graph.on_device.targets is rows[1].array
        assert g.graph.on_device.weights is rows[2].array
        assert (g.graph.directed, g.graph.digest) == (graph.directed, graph.digest)
        own = gpugraph.sssp(graph, source=0, device="cpu").raw
        assert np.array_equal(g.sssp(0).raw, own)
        assert g.mst().total_weight == gpugraph.mst(graph, device="cpu").total_weight
        assert [row.copies for row in rows] == [0, 0, 0]
        last = g.graph
    assert np.array_equal(last.targets, graph.targets)  # the device is closed
    assert [row.copies for row in rows] == [1, 1, 1]


@needs_compiler
def test_rows_on_the_device_that_are_none_of_a_graph_are_mended_on_the_host(adopting):
    offsets, targets, weights = np.array([0, 2, 3, 4]), np.array([2, 1, 0, 0], np.int32), np.array([5, 3, 3, 5])
    rows = tuple(There(adopting.upload(array)) for array in (offsets, targets, weights))
    with gpugraph.on(rows, "cuda") as g:
        assert g.graph.on_device is None
        assert g.graph.targets.tolist() == [1, 2, 0, 0]
        assert g.mst().total_weight == 8


@pytest.mark.parametrize("source", ["random:1", "random:2", "wide:1", "wide:2", "all", "max-degree", "index:1"])
def test_a_text_that_may_mean_several_sources_has_a_list_of_answers_everywhere(source):
    graph = zoo("triangle")
    single = source in ("max-degree", "index:1")
    count = 3 if source == "all" else 1 if single else int(source[-1])
    for algo in ("auto", "delta-stepping-batched"):
        with gpugraph.on(graph, "cpu") as g:
            held = g.sssp(source, algo=algo)
        alone = gpugraph.sssp(graph, source, algo=algo, device="cpu")
        assert held == alone
        assert isinstance(alone, gpugraph.Distances) if single else len(alone) == count
