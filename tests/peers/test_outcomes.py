"""A peer that lies is wrong, one that fails threw, one that cannot is refused; none of them ends the sweep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpugraph.base.errors import InputError
from gpugraph.ext.peers import PeerError, PeerRefused, PeerThrew
from gpugraph.ext.peers.adapter import Adapter
from gpugraph.ext.peers.peer import guarded
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.mst.forest import edge_endpoints
from gpugraph.problems.mst.verify import reference_forest
from tests.cli.runner import refuse
from tests.peers.helpers import made_up, measured
from tests.zoo import zoo


def forest_adapter(answer: Callable[[CSRGraph], Any]) -> Adapter:
    """Return an adapter whose library is a function from the graph to the ends of edges."""
    return Adapter("lies", lambda graph, threads, method: graph, answer, lambda graph, raw: raw)


def raising(error: BaseException) -> Callable[[CSRGraph], Any]:
    def run(graph: CSRGraph) -> Any:
        raise error

    return run


def test_a_peer_that_tells_the_truth_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    made_up(monkeypatch, mst=forest_adapter(lambda graph: edge_endpoints(graph, reference_forest(graph))))
    assert measured(zoo("random"), "peer:fake").status == "passed"


def test_a_peer_that_lies_is_wrong_and_gets_no_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    def lie(graph: CSRGraph) -> Any:
        u, v = edge_endpoints(graph, reference_forest(graph))
        return u[1:], v[1:]

    made_up(monkeypatch, mst=forest_adapter(lie))
    record = measured(zoo("random"), "peer:fake")
    assert record.status == "failed"
    assert record.data["mteps"]["kernel"] is None


def test_a_peer_that_lies_in_the_second_sample_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[int] = []

    def lie_later(graph: CSRGraph) -> Any:
        turns.append(1)
        u, v = edge_endpoints(graph, reference_forest(graph))
        return (u, v) if len(turns) == 1 else (u[1:], v[1:])

    made_up(monkeypatch, mst=forest_adapter(lie_later))
    record = measured(zoo("random"), "peer:fake")
    assert record.status == "failed"
    assert "sample 2 differs from sample 1" in record.data["verification"]["detail"]


def test_distances_too_short_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    lie = Adapter("lies", lambda g, t, m: g, lambda g, source: np.zeros(g.vertices), lambda g, raw: raw)
    made_up(monkeypatch, sssp=lie)
    assert measured(zoo("random"), "peer:fake", "sssp", source="0").status == "failed"


def test_what_a_peer_raises_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    made_up(monkeypatch, mst=forest_adapter(raising(RuntimeError("super vertices\nnot decremented"))))
    with pytest.raises(PeerThrew) as caught:
        measured(zoo("random"), "peer:fake")
    assert str(caught.value) == "peer:fake: RuntimeError: super vertices not decremented"
    assert caught.value.outcome == "threw"


@pytest.mark.parametrize(
    "error",
    [
        ValueError("the graph is disconnected"),
        ValueError("input graph must be connected"),
        RuntimeError("float64 weights are not supported"),
        NotImplementedError("forests"),
        ImportError("libcugraph.so is missing"),
    ],
)
def test_a_peer_that_says_it_cannot_is_refused(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    made_up(monkeypatch, mst=forest_adapter(raising(error)))
    with pytest.raises(PeerRefused) as caught:
        measured(zoo("two-components"), "peer:fake")
    assert caught.value.outcome == "refused"
    assert str(error) in str(caught.value)


def test_a_rust_panic_is_an_error_and_ctrl_c_is_not() -> None:
    panic = type("PanicException", (BaseException,), {})
    with pytest.raises(PeerThrew, match="index out of bounds"):
        guarded(raising(panic("index out of bounds")), "peer:fake")(None)
    with pytest.raises(KeyboardInterrupt):
        guarded(raising(KeyboardInterrupt()), "peer:fake")(None)
    with pytest.raises(MemoryError):
        guarded(raising(MemoryError()), "peer:fake")(None)
    with pytest.raises(PeerThrew, match="SystemExit"):
        guarded(raising(SystemExit(3)), "peer:fake")(None)


def test_a_peer_without_the_problem_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made_up(monkeypatch, mst=forest_adapter(lambda graph: None))
    with pytest.raises(PeerRefused, match="no function for sssp"):
        measured(zoo("random"), "peer:fake", "sssp", source="0")


def test_an_option_that_a_peer_does_not_have_is_an_input_error() -> None:
    with pytest.raises(InputError, match="has no options"):
        measured(zoo("random"), "peer:scipy", options={"method": "prim"})


def test_every_outcome_has_a_word_of_its_own() -> None:
    kinds = [PeerError, *PeerError.__subclasses__(), *PeerThrew.__subclasses__()]
    assert {kind.__name__: kind.outcome for kind in kinds} == {
        "PeerError": "threw",
        "PeerRefused": "refused",
        "PeerThrew": "threw",
        "PeerTimedOut": "timeout",
    }


def test_the_command_line_ends_with_one_line_and_an_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    made_up(monkeypatch, mst=forest_adapter(raising(RuntimeError("boom"))))
    assert "peer:fake: RuntimeError: boom" in refuse(1, "mst", "path:9", "--algo", "peer:fake", "--device", "cpu")
    made_up(monkeypatch, module="no_such_module_anywhere", mst=forest_adapter(lambda graph: None))
    assert "pip install fake" in refuse(2, "mst", "path:9", "--algo", "peer:fake", "--device", "cpu")
