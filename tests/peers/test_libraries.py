"""Every library that is installed gives answers that the verifier accepts, on everything."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpugraph.base.clock import NullClock
from gpugraph.base.errors import InputError
from gpugraph.devices.cpu import CpuDevice
from gpugraph.ext.peers import LIBRARIES, PeerRefused, load_peer
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView
from gpugraph.measure import environment
from gpugraph.measure.check import check
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contract import Verdict
from gpugraph.problems.mst.problem import PROBLEM as MST
from gpugraph.problems.sssp.problem import PROBLEM as SSSP
from tests.peers.helpers import INSTALLED, measured, needs
from tests.zoo import ZOO, has_negative_weights, undirected, zoo

CPU = [needs(name) for name, peer in LIBRARIES.items() if name != "cugraph" and "mst" in peer.adapters]
METHODS = [
    (name, method)
    for name in INSTALLED
    if (adapter := LIBRARIES[name].adapters.get("mst"))
    for method in adapter.methods or ("",)
]


def answered(algorithm: Algorithm, graph: CSRGraph, *query: int, **options: str) -> Verdict:
    state = algorithm.prepare(GraphView.of(graph), CpuDevice(), **options)
    result = algorithm.finish(state, algorithm.fetch(state, algorithm.run(state, NullClock(), *query)), *query)
    return check(MST if not query else SSSP, graph, query, result, "both")


@pytest.mark.parametrize(("peer", "method"), METHODS)
def test_forests_of_the_zoo_are_right_or_refused(peer: str, method: str) -> None:
    algorithm = load_peer(peer, "mst", "cpu")
    takes = {
        ("scipy", ""): lambda weights: (weights != 0).all(),
        ("networkit", "prim"): lambda weights: np.isfinite(weights).all(),
        ("networkx", "boruvka"): lambda weights: np.isfinite(weights).all(),
    }.get((peer, method), lambda weights: True)
    for name in ZOO:
        graph = MST.admit(zoo(name))
        options = {"method": method} if method else {}
        if takes(graph.weights):
            verdict = answered(algorithm, graph, **options)
            assert verdict.passed, f"{name}: {verdict.detail}"
        else:
            with pytest.raises(PeerRefused):
                answered(algorithm, graph, **options)


@pytest.mark.parametrize("peer", CPU)
def test_distances_of_the_zoo_are_right(peer: str) -> None:
    algorithm = load_peer(peer, "sssp", "cpu")
    for name in ZOO:
        graph = zoo(name)
        if has_negative_weights(graph) or not graph.vertices:
            continue
        for source in {0, graph.vertices // 2}:
            verdict = answered(algorithm, graph, source)
            assert verdict.passed, f"{name} from {source}: {verdict.detail}"


@pytest.mark.parametrize("peer", CPU)
@pytest.mark.parametrize("problem", ["mst", "sssp"])
def test_a_peer_is_a_cell_like_any_other(peer: str, problem: str) -> None:
    record = measured(zoo("random"), f"peer:{peer}", problem, source="0" if problem == "sssp" else None)
    assert record.status == "passed"
    assert record.data["algorithm"] == f"peer:{peer}"
    assert len(record.data["samples_s"]["kernel"]) == 2
    assert record.data["mteps"]["kernel"] > 0
    assert record.data["phases_s"]["prepare"] > 0


@pytest.mark.parametrize("peer", CPU)
def test_the_record_names_the_library_its_version_and_the_function_called(peer: str) -> None:
    algorithm = load_peer(f"peer:{peer}", "mst", "cpu")
    described = LIBRARIES[peer]
    assert str(described.version()) in algorithm.section
    assert described.adapters["mst"].does in algorithm.section


def test_the_environment_of_a_record_has_the_package_of_every_library() -> None:
    packages = {package for peer in LIBRARIES.values() for package in peer.distributions or (peer.name,)}
    assert packages <= set(environment._PACKAGES)


@pytest.mark.parametrize("peer", [needs(n) for n in ("scipy", "igraph", "networkit", "rustworkx")])
def test_a_weight_that_float64_does_not_hold_is_refused(peer: str) -> None:
    heavy = undirected(3, [(0, 1, 3), (1, 2, 7)], "uint64")
    heavy = replace(heavy, weights=heavy.weights + np.uint64(2**60))
    with pytest.raises(PeerRefused, match=f"{2**60 + 3} exactly"):
        answered(load_peer(peer, "mst", "cpu"), heavy)


@pytest.mark.parametrize("peer", [needs("networkx")])
def test_networkx_is_exact_beyond_float64(peer: str) -> None:
    heavy = undirected(3, [(0, 1, 3), (1, 2, 7)], "uint64")
    heavy = replace(heavy, weights=heavy.weights + np.uint64(2**60))
    assert answered(load_peer(peer, "mst", "cpu"), heavy).passed
    assert answered(load_peer(peer, "sssp", "cpu"), heavy, 0).passed


@pytest.mark.parametrize("peer", [needs(n) for n in ("scipy", "igraph", "networkit", "rustworkx")])
def test_distances_that_float64_rounds_are_refused_and_not_called_wrong(peer: str) -> None:
    far = undirected(4, [(0, 1, 1), (1, 2, 1), (2, 3, 1)], "uint64")
    weights = np.array([2**53, 2**53, 1, 1, 2**53, 2**53], np.uint64)
    far = replace(far, weights=weights)
    with pytest.raises(PeerRefused, match="exact up to 2\\^53"):
        answered(load_peer(peer, "sssp", "cpu"), far, 0)


@pytest.mark.parametrize("peer", [needs(n) for n in ("scipy", "igraph", "networkit", "rustworkx")])
def test_large_distances_that_float64_does_hold_are_right(peer: str) -> None:
    far = undirected(3, [(0, 1, 2**54), (1, 2, 2**54)], "uint64")
    assert answered(load_peer(peer, "sssp", "cpu"), far, 0).passed


@pytest.mark.parametrize("peer", CPU)
def test_float32_weights_are_compared_with_sums_in_float64_bit_for_bit(peer: str) -> None:
    verdict = answered(load_peer(peer, "sssp", "cpu"), zoo("float32"), 0)
    assert verdict.passed
    assert verdict.sums_error is None


@pytest.mark.parametrize("peer", [needs("logtwothirds")])
@pytest.mark.parametrize("method", ["dijkstra", "bmssp-fast"])
def test_a_library_for_paths_alone_is_right_on_the_whole_zoo(peer: str, method: str) -> None:
    for name in ZOO:
        graph = zoo(name)
        if graph.vertices and not has_negative_weights(graph):
            try:
                assert answered(load_peer(peer, "sssp", "cpu"), graph, 0, method=method).passed, name
            except PeerRefused:
                assert method != "dijkstra"
                assert np.isinf(graph.weights).any()


@pytest.mark.parametrize("peer", CPU)
def test_predecessors_are_canonical_whatever_the_peer(peer: str) -> None:
    record = measured(zoo("directed-random"), f"peer:{peer}", "sssp", source="0", predecessors=True)
    own = measured(zoo("directed-random"), "dijkstra", "sssp", source="0", predecessors=True)
    assert np.array_equal(record.result.predecessor, own.result.predecessor)


def test_a_library_that_is_not_installed_is_refused_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tests.peers.helpers import made_up

    made_up(monkeypatch, module="no_such_module_anywhere", mst=LIBRARIES["scipy"].adapters["mst"])
    with pytest.raises(PeerRefused, match="Fake is not installed — pip install fake") as caught:
        load_peer("peer:fake", "mst", "cpu")
    assert caught.value.outcome == "refused"


def test_an_unknown_peer_suggests_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown peer 'netwrokx' — did you mean 'networkx'"):
        load_peer("peer:netwrokx", "mst", "cpu")


def test_a_peer_for_another_device_says_which() -> None:
    with pytest.raises(InputError, match="--device cpu"):
        load_peer("peer:scipy", "mst", "cuda")
    with pytest.raises(InputError, match="--device cuda"):
        load_peer("peer:cugraph", "mst", "cpu")
