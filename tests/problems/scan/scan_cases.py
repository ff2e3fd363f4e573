"""What the tests of scans share: one run on a device, checked both ways."""

from __future__ import annotations

from typing import Any

from gpugraph.base.clock import NullClock
from gpugraph.ext.scan.array import open_array
from gpugraph.ext.scan.scanned import Scanned
from gpugraph.measure.check import check
from gpugraph.problems.contract import Verdict
from gpugraph.problems.registry import find_algorithm, load_problem

SUMS = (
    "reduce-then-scan",
    "reduce-then-scan-multilevel",
    "scan-then-propagate",
    "brent-kung",
    "sklansky",
    "kogge-stone",
    "look-back",
)
"""The algorithms for sums that run on every device with kernels."""
TYPES = ("uint32", "int32", "uint64", "int64", "float32", "float64")


def scanned_by(device: Any, name: str, source: Any, *, runs: int = 1, **options: Any) -> Scanned:
    """Return the result of the last of some runs on one state."""
    problem = load_problem("scan")
    array = open_array(source)
    algorithm = find_algorithm("scan", name, device.kind)
    subject = array if device.kind == "cpu" else problem.to_device(array, device)[0]
    state = algorithm.prepare(subject, device, **{**{o.name: o.default for o in algorithm.options}, **options})
    for _ in range(runs):
        raw = algorithm.fetch(state, algorithm.run(state, NullClock()))
    result = algorithm.finish(state, raw)
    assert isinstance(result, Scanned)
    return result


def scan_on(device: Any, name: str, source: Any, *, runs: int = 1, **options: Any) -> Verdict:
    """Return the verdict, by reference and certificate, on the result of the last of some runs on one state."""
    result = scanned_by(device, name, source, runs=runs, **options)
    return check(load_problem("scan"), result.graph, (), result, "both")
