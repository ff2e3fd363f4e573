"""GPUs by their data sheets: how long kernels may take on one that is not here, by its memory bandwidth."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpugraph.base.errors import InputError, check_name
from gpugraph.ext.check_record.plausible_figures import GPUS, Hardware
from gpugraph.records.record import Record

NAMES = {
    "L4": "NVIDIA L4",
    "L40S": "NVIDIA L40S",
    "T4": "Tesla T4",
    "V100": "Tesla V100-SXM2-32GB",
    "A100": "NVIDIA A100-SXM4-80GB",
    "RTX3090": "NVIDIA GeForce RTX 3090",
    "RTX4090": "NVIDIA GeForce RTX 4090",
    "H100": "NVIDIA H100 80GB HBM3",
    "H200": "NVIDIA H200",
    "B200": "NVIDIA B200",
}
"""What ``--gpu`` takes → the name that the driver gives."""

MEASURED = NAMES["H200"]
"""The rates below are those of this GPU."""

RATES = {"mst": (2.65e10, 1.88e11), "sssp": (2.77e9, 1.145e11), "components": (7.60e10, 1.13e12)}
"""Arcs that its kernel does in a second: a tenth of the graphs in docs/records, without those made to be hard
(``cliffs-*``), are below the first, a tenth above the second."""

LEAST_ARCS = 10_000_000
"""Of those graphs; on smaller ones launches and barriers take the time, so that only the most is known."""

OF_ESTIMATE = {"mst": (0.83, 0.99), "sssp": (0.61, 0.94), "components": (0.71, 1.90)}
"""What an H100's measured times are of those of the same graphs on an H200, scaled by bandwidth: least and most."""

ALGORITHMS = {"mst": "filter-boruvka", "sssp": "delta-stepping", "components": "hook"}


@dataclass(frozen=True)
class Gpu:
    """A GPU by its name in ``NAMES``: its data sheet, and the price of an hour of it, 0 where none is known."""

    name: str
    sheet: Hardware
    price: float

    @property
    def scale(self) -> float:
        """Its bandwidth as a share of that of the GPU that was measured."""
        return self.sheet.bytes_per_s / GPUS[MEASURED].bytes_per_s

    def seconds(self, problem: str, arcs: int) -> tuple[float, float] | None:
        """Return between which times a graph of so many arcs may take; None for a problem without rates."""
        if problem not in RATES:
            return None
        slow, fast = RATES[problem]
        least_s = arcs / (fast * self.scale) if arcs >= LEAST_ARCS else 0.0
        return least_s, max(arcs, LEAST_ARCS) / (slow * self.scale)


def parse_gpus(texts: Iterable[str], price: float) -> list[Gpu]:
    """Return the GPUs of ``NAME,NAME=RATE``; raise InputError for an unknown one, or for a rate that is no price."""
    found = []
    for text in texts:
        for word in filter(None, text.split(",")):
            name, equals, rate = word.partition("=")
            check_name("GPU", name, NAMES)
            try:
                own = float(rate) if equals else price
            except ValueError:
                own = -1.0
            if not 0 <= own < float("inf"):
                raise InputError(f"--gpu {word}: '{rate}' is no price", remedy=f"write {name}=2.5")
            found.append(Gpu(name, GPUS[NAMES[name]], own))
    return found


def best_rates(records: Sequence[Record]) -> dict[tuple[str, str], dict[str, float]]:
    """Return arcs in a second by problem and GPU, and by digest, of the default algorithms, ``LEAST_ARCS`` or more."""
    found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for row in records:
        arcs, digest = row.shape.graph.arcs or 0, str(row.shape.graph.digest)
        if row.ok and row.device in GPUS and row.algorithm == ALGORITHMS.get(row.problem) and arcs >= LEAST_ARCS:
            of = found[row.problem, row.device]
            of[digest] = max(of.get(digest, 0.0), arcs / (row.kernel_s or float("inf")))
    return found


def shares_of_estimate(records: Sequence[Record], name: str) -> dict[str, list[float]]:
    """Return by problem the measured times of a GPU as shares of those of the same graphs on ``MEASURED``, scaled.

    Records of no sweep are left out: they were measured with later kernels than the sweeps of both GPUs.
    """
    (gpu,), found = parse_gpus([name], 0.0), dict[str, list[float]]()
    rates = best_rates([row for row in records if row.shape.cell.sweep])
    for problem in RATES:
        known, own = rates[problem, MEASURED], rates[problem, NAMES[name]]
        found[problem] = sorted(gpu.scale * known[one] / own[one] for one in known.keys() & own.keys())
    return found
