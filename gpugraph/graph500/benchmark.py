"""Graph500's benchmark of shortest paths, phase by phase: edge list, kernel 1, 64 searches, each checked; its figures.

The statistics and their names are those of the reference code, so that results can be read side by side.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from gpugraph.errors import VerificationFailed
from gpugraph.graph500.checked import Machine
from gpugraph.graph500.generator import EDGE_FACTOR, Tuples, generate, load, root_candidates, save
from gpugraph.graph500.on_cpu import CpuMachine
from gpugraph.graph500.on_device import DeviceMachine, possible_widths
from gpugraph.ranks.comm import HostComm

ROOTS = 64
MOST_SCALE = 30
"""Labels are held in 31 bits."""
_WARM_SCALE = 5

Step = Callable[[str, float | None], None]


@dataclass(eq=False)
class Run:
    """One valid run of the benchmark.

    Attributes:
        scale: log2 of the number of labels.
        vertices: of the graph: the largest label and one.
        arcs: of the rows that kernel 1 made.
        generation_s: making the edge list, or reading it.
        construction_s: kernel 1.
        roots: of the searches.
        times_s, tuples, validation_s: of each search: kernel 3, the input's tuples in the root's component, the check.
        peak_bytes: the most device memory in use, or None.
        ranks: that ran it together.
        peer: the library whose kernels 1 and 3 these are, or None for ours.
    """

    scale: int
    generation_s: float = 0.0
    construction_s: float = 0.0
    vertices: int = 0
    arcs: int = 0
    roots: list[int] = field(default_factory=list)
    times_s: list[float] = field(default_factory=list)
    tuples: list[int] = field(default_factory=list)
    validation_s: list[float] = field(default_factory=list)
    peak_bytes: int | None = None
    ranks: int = 1
    peer: str | None = None

    def figures(self) -> dict[str, float | int]:
        """Return the results under the reference's names, with ``_`` for the blank in them, in its order."""
        seconds_per_tuple = [t / m for t, m in zip(self.times_s, self.tuples, strict=True)]
        slowness = statistics(seconds_per_tuple)
        mean, deviation = slowness["mean"], slowness["stddev"]
        reciprocal = {"min": "max", "firstquartile": "thirdquartile", "median": "median"}
        reciprocal |= {rate: slow for slow, rate in reciprocal.items()}
        order = ("min", "firstquartile", "median", "thirdquartile", "max")
        return {
            "SCALE": self.scale,
            "edgefactor": EDGE_FACTOR,
            "NBFS": len(self.roots),
            "graph_generation": self.generation_s,
            "num_mpi_processes": self.ranks,
            "construction_time": self.construction_s,
            **{f"sssp_{name}_time": value for name, value in statistics(self.times_s).items()},
            **{f"{name}_nedge": value for name, value in statistics(self.tuples).items()},
            **{f"sssp_{name}_TEPS": 1 / slowness[reciprocal[name]] for name in order},
            "sssp_harmonic_mean_TEPS": 1 / mean,
            "sssp_harmonic_stddev_TEPS": deviation / (mean * mean * math.sqrt(max(len(self.roots) - 1, 1))),
            **{f"sssp_{name}_validate": value for name, value in statistics(self.validation_s).items()},
        }

    def text(self, *, rates: bool = True) -> str:
        """Return the results as the reference prints them, a line each; without rates where times mean nothing."""
        lines = []
        for name, value in self.figures().items():
            if name.endswith("TEPS") and not rates:
                continue
            kernel, _, rest = name.partition("_")
            key = f"{kernel:<5}{rest}:" if kernel == "sssp" else f"{name}:"
            key = f"{key:<29}!" if "harmonic_mean" in key else key
            shown = f"{value:.11g}" if name.endswith("nedge") else f"{value:g}"
            lines.append(f"{key:<32}{shown}")
        return "\n".join(lines)


def statistics(values: list[float] | list[int]) -> dict[str, float]:
    """Return the reference's seven statistics; quartiles lie midway between neighbours, one value deviates by 0."""
    x, n = sorted(float(value) for value in values), len(values)
    mean = math.fsum(x) / n
    return {
        "min": x[0],
        "firstquartile": (x[(n - 1) // 4] + x[n // 4]) / 2,
        "median": (x[(n - 1) // 2] + x[n // 2]) / 2,
        "thirdquartile": (x[n - 1 - (n - 1) // 4] + x[n - 1 - n // 4]) / 2,
        "max": x[-1],
        "mean": mean,
        "stddev": math.sqrt(math.fsum((value - mean) ** 2 for value in x) / max(n - 1, 1)),
    }


def machine_for(
    tuples: Tuples,
    device: Any,
    index_bits: int | None = None,
    comm: HostComm | None = None,
    peer: str | None = None,
) -> Machine:
    """Return what runs the benchmark on a device that ``select_device`` opened, or on the processors of ranks."""
    if peer is not None:
        from gpugraph.graph500.on_cugraph import CugraphMachine

        return CugraphMachine(tuples, device, index_bits)
    if comm is not None:
        from gpugraph.graph500.on_ranks import RanksMachine

        return RanksMachine(tuples, device, comm)
    return CpuMachine(tuples, device) if device.kind == "cpu" else DeviceMachine(tuples, device, index_bits)


def run(
    scale: int,
    device: Any,
    *,
    roots: int = ROOTS,
    reuse: Path | None = None,
    keep: Path | None = None,
    results: Path | None = None,
    comm: HostComm | None = None,
    peer: str | None = None,
    report: Step = lambda what, fraction: None,
) -> Run:
    """Run the benchmark by Graph500's rules, every search checked; a collective, where there are ranks.

    Args:
        scale: log2 of the number of labels, at most ``MOST_SCALE``.
        device: what ``select_device`` opened.
        roots: searches to make; 64 by the rules.
        reuse: an edge list to read in place of making one, as the reference's REUSEFILE.
        keep: where to write the edge list, as the reference's TMPFILE.
        results: a folder for the parents and distances of every search.
        comm: the ranks, each of which has a processor, or None for one device.
        peer: ``"cugraph"`` to run its kernels 1 and 3 in place of ours, on a CUDA device.
        report: called with what is being done and the fraction done.

    Raises:
        InputError: the edge list cannot be read, or holds what no edge list does.
        OutOfMemory: the device has no room for the edge list or the rows.
        VerificationFailed: a search broke a rule; the message has the first counter-example.
    """
    lists = None if device.kind == "cpu" else device
    part = (0, 1) if comm is None else (comm.rank, comm.size)
    done = Run(scale, ranks=part[1], peer=peer)

    def now() -> float:
        """Return the time when the device, and all ranks, have come here."""
        device.synchronize()
        if comm is not None:
            comm.barrier()
        return time.perf_counter()

    report("compiling", None)
    for index_bits in possible_widths(EDGE_FACTOR << scale):
        _warm_up(device, index_bits, comm, peer)
    report("making the edge list" if reuse is None else f"reading {reuse}", None)
    start = now()
    tuples = generate(scale, lists, part) if reuse is None else load(scale, reuse, lists, part)
    done.generation_s = now() - start
    if keep is not None:
        report(f"writing {keep}", None)
        for rank in range(part[1]):
            if rank == part[0]:
                save(tuples, keep, lists)
            now()
    machine = machine_for(tuples, device, comm=comm, peer=peer)
    report("kernel 1: making the rows", None)
    start = now()
    machine.construct()
    done.construction_s = now() - start
    done.vertices, done.arcs = machine.vertices, machine.arcs
    done.roots = draw_roots(scale, machine, roots)
    if not done.roots:
        raise VerificationFailed("no vertex has an edge to another one", where="the edge list")
    machine.search(done.roots[0])  # the reference warms up by this search, too
    for i, root in enumerate(done.roots):
        report(f"search {i + 1} of {len(done.roots)}", i / len(done.roots))
        start = now()
        machine.search(root)
        middle = now()
        found = machine.validate(root)
        done.times_s.append(middle - start)
        done.validation_s.append(now() - middle)
        done.tuples.append(found.tuples)
        if found.fault is not None:
            remedy = "no results are printed for an invalid run"
            raise VerificationFailed(found.fault, where=f"search {i + 1}, from root {root}", remedy=remedy)
        if results is not None and part[0] == 0:
            _write_result(machine, results, root)
    done.peak_bytes = machine.peak_bytes()
    return done


def draw_roots(scale: int, machine: Machine, count: int) -> list[int]:
    """Return so many different roots in the reference's order, all with an edge to another vertex; fewer if need be."""
    seen: set[int] = set()

    def fitting(candidate: int) -> bool:
        if candidate in seen or not machine.degree(candidate):
            return False
        seen.add(candidate)
        return True

    return list(islice(filter(fitting, root_candidates(scale)), count))


def _warm_up(device: Any, index_bits: int, comm: HostComm | None, peer: str | None) -> None:
    """Compile and load everything by a small run, which shares no data with the timed one."""
    lists, part = None if device.kind == "cpu" else device, (0, 1) if comm is None else (comm.rank, comm.size)
    small = machine_for(generate(_WARM_SCALE, lists, part), device, index_bits, comm, peer)
    small.construct()
    for root in draw_roots(_WARM_SCALE, small, 1):
        small.search(root)
        small.validate(root)


def _write_result(machine: Machine, folder: Path, root: int) -> None:
    """Write the parents (int64) and distances (float32) of a search, as the reference holds them."""
    parents, distances = machine.result()
    parents.astype(np.int64).tofile(folder / f"{root}.parents")
    distances.tofile(folder / f"{root}.distances")
