"""Predecessors on request: found after the run, and timed apart from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpugraph.clock import working_seconds
from gpugraph.problems.sssp.distances import Distances

if TYPE_CHECKING:
    from gpugraph.measure.trial import Subject, Trial


def add_predecessors(subject: Subject, trial: Trial) -> float:
    """Give a trial's result its canonical predecessors; return the seconds that took, compilation left out.

    A GPU on which the graph lies finds them itself if it can.

    Raises:
        InputError: the algorithm's result has none.
    """
    result, view, device = trial.result, subject.resident, subject.device
    if view is not None and device.kind == "cuda" and isinstance(result, Distances):
        from gpugraph.problems.sssp.gpu_tight_arcs import load_kernels

        load_kernels(view, device)
        start = working_seconds()
        trial.result = result.with_predecessors(view, device)
    else:
        start = working_seconds()
        trial.result = result.with_predecessors()
    return working_seconds() - start
