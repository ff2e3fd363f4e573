"""Problems that other people's programs solve: how libraries do, and the number that a printed answer must have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import InputError
from gpugraph.problems.contract import Result
from gpugraph.problems.oracle_sums import reference_sum
from gpugraph.problems.registry import load_problem

if TYPE_CHECKING:
    from gpugraph.graph.csr import CSRGraph


@dataclass(frozen=True)
class Adapter:
    """How one library solves one problem.

    Attributes:
        does: the function called, for the record.
        prepare: ``prepare(graph, threads, method) -> structure``; converts the graph.  Not timed as kernel.
        run: ``run(structure, *query) -> handle``; calls the library, and nothing else.  Timed.
        answer: ``answer(structure, raw)``: what the problem's ``answer`` makes a result of.  Not timed.
        fetch: ``fetch(structure, handle) -> raw``; copies from a GPU.
        methods: what the library lets one choose from; the first is what it does by itself.
    """

    does: str
    prepare: Callable[[CSRGraph, int, str], Any]
    run: Callable[..., Any]
    answer: Callable[[Any, Any], Any]
    fetch: Callable[[Any, Any], Any] = lambda structure, handle: handle
    methods: tuple[str, ...] = ()


@dataclass(frozen=True)
class PrintedFigure:
    """The one figure of an answer that programs print.

    Attributes:
        key: of a table ``[peer.NAME]``, whose pattern finds it: ``"weight"``.
        what: what it is, in words: ``"total weight"``.
        field: its name in the ``result`` object of a record.
    """

    key: str
    what: str
    field: str


@dataclass(frozen=True, eq=False)
class Figure:
    """The figure of the right answer to one query.

    Attributes:
        value: the total weight, or the sum of the distances.
        slack: by how much the order of additions may change it; 0 for integers.
        by: what computed it.
        reached: (n,) bool, the vertices reached, where the work counted depends on them.
    """

    value: int | float
    slack: float
    by: str
    reached: NDArray[np.bool_] | None = None

    @classmethod
    def sum_of(
        cls,
        terms: NDArray[Any],
        by: str,
        reached: NDArray[np.bool_] | None = None,
        summed_in: np.dtype[Any] | None = None,
    ) -> Figure:
        """Return the exact sum; the slack is that of adding reals up in any order in a type, their own if None."""
        slack = 0.0
        if terms.dtype.kind == "f" and len(terms):
            finite = terms[np.isfinite(terms)]
            eps = np.finfo(terms.dtype if summed_in is None else summed_in).eps
            slack = float(len(terms) * eps * np.abs(finite, dtype=np.float64).sum())
        return cls(reference_sum(terms), slack, by, reached)


class SolvedByPeers(Protocol):
    """How other people's programs solve a problem."""

    peers: Mapping[str, Adapter]
    """Library → how it solves the problem."""
    printed: PrintedFigure
    """The figure of an answer that commands print."""

    def answer(self, graph: CSRGraph, raw: Any, query: tuple[Any, ...], by: str, first: list[Any]) -> Result:
        """Return what the peer ``by`` returned, as its ``Adapter.answer`` gave it, as a result, right where it may be.

        The answers of one run share the list ``first``, for the first of them.  Raises PeerRefused if the right answer
        is beyond what the peer can hold.
        """

    def listed(self, file: Any, graph: CSRGraph, query: tuple[Any, ...], first: list[Any]) -> Result:
        """Return the answer in a ``graph_files.ResultFile``; raise PeerThrew if there is none."""

    def truth(self, graph: CSRGraph, query: tuple[Any, ...], method: str) -> Figure:
        """Return the figure of the right answer by the oracle (reference), or by an answer of our own, certified."""


_SOLVED = {name: f"gpugraph.ext.peers.{name}" for name in ("mst", "sssp", "components")}
"""Problem → the module whose ``BY_PEERS`` tells how programs solve it."""


def peered_problems() -> dict[str, SolvedByPeers]:
    """Return by name the problems that other people's programs solve."""
    return {name: load_peered(name) for name in _SOLVED}


def load_peered(name: str) -> SolvedByPeers:
    """Return how programs solve a problem; raise InputError if none does, or there is no such problem."""
    if load_problem(name).name not in _SOLVED:
        raise InputError(f"no peer solves {name}", remedy="leave --peer out")
    solved: SolvedByPeers = import_module(_SOLVED[name]).BY_PEERS
    return solved
