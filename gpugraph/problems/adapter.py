"""``Adapter``, how a library solves a problem, and ``Figure``, the number that a program's printed answer must have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.problems.oracle_sums import reference_sum

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
