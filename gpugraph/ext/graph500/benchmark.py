"""Graph500's benchmark of shortest paths, phase by phase: edge list, kernel 1, 64 searches, each checked; its figures.

The statistics and their names are those of the reference code, so that results can be read side by side.
"""

import itertools
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import PhaseTimer
from gpugraph.base.errors import InputError, VerificationFailed
from gpugraph.base.files import atomic_write, check_writable, is_same_file
from gpugraph.devices.base import Device
from gpugraph.devices.cpu import CpuDevice
from gpugraph.ext.graph500.generator import EDGE_FACTOR, Tuples, both_files, generate, load, root_candidates, save
from gpugraph.ext.graph500.on_cpu import CpuMachine, RanksMachine
from gpugraph.ext.graph500.on_device import DeviceMachine, possible_positions
from gpugraph.ext.instruments.energy import alone, counter_of, measure_energy
from gpugraph.ext.ranks.comm import HostComm
from gpugraph.measure.open_device import OpenDevice

ROOTS = 64
MOST_SCALE = 30
"""Labels are held in 31 bits."""
_WARM_SCALE = 5

Step = Callable[[str, float | None], None]
Machine = CpuMachine | DeviceMachine


@dataclass(eq=False)
class Run:
    """One valid run of the benchmark.

    Attributes:
        scale: log2 of the number of labels; ``vertices`` is the largest label and one.
        arcs: of the rows that kernel 1 made.
        generation_s: making the edge list, or reading it; ``construction_s``: kernel 1.
        times_s, tuples, validation_s: of each search: kernel 3, the input's tuples in the root's component, the check.
        peak_bytes: the most device memory in use, or None.
        ranks: that ran it together.
        peer: the library whose kernels 1 and 3 these are, or None for ours.
        energy: of a search, as records have it.
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
    energy: dict[str, object] = field(default_factory=lambda: {"absent": "not asked for"})

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


@dataclass(frozen=True)
class Place:
    """Where the benchmark runs: on a device that ``select_device`` opened, or on the processors of ranks.

    With ``peer``, ``"cugraph"``, its kernels 1 and 3 run in place of ours, on a CUDA device.
    """

    device: Device | CpuDevice
    comm: HostComm | None = None
    peer: str | None = None

    @property
    def lists(self) -> Device | None:
        """The device that edge lists lie on, None for the host."""
        return None if isinstance(self.device, CpuDevice) else self.device

    @property
    def part(self) -> tuple[int, int]:
        """The rank's number, and that of all ranks."""
        return (0, 1) if self.comm is None else (self.comm.rank, self.comm.size)

    def machine(self, tuples: Tuples, index: np.dtype[Any] | None = None) -> Machine:
        """Return what runs the benchmark here."""
        if not isinstance(self.device, CpuDevice):
            if self.peer is not None:
                from gpugraph.ext.graph500.on_cugraph import CugraphMachine

                return CugraphMachine(tuples, self.device, index)
            return DeviceMachine(tuples, self.device, index)
        return (CpuMachine if self.comm is None else RanksMachine)(tuples, self.device, self.comm)

    def now(self) -> float:
        """Return the time when the device, and all ranks, have come here."""
        self.device.synchronize()
        if self.comm is not None:
            self.comm.barrier()
        return time.perf_counter()

    def warm_up(self, index: np.dtype[Any]) -> None:
        """Compile and load everything by a small run, which shares no data with the timed one."""
        small = self.machine(generate(_WARM_SCALE, self.lists, self.part), index)
        small.construct()
        for root in draw_roots(_WARM_SCALE, small, 1):
            small.search(root)
            small.validate(root)


@dataclass(frozen=True)
class Files:
    """The files of a run; an InputError where one could not be written after it.

    Attributes:
        reuse: an edge list to read in place of making one, as the reference's REUSEFILE.
        keep: where to write the edge list, as the reference's TMPFILE.
        results: a folder for the parents (int64) and distances (float32) of every search.
    """

    reuse: Path | None = None
    keep: Path | None = None
    results: Path | None = None

    def __post_init__(self) -> None:
        if self.keep is not None:
            if os.fspath(self.keep) == "-":
                raise InputError(
                    "an edge list is two files", where=self.keep, remedy="name the first, weights are beside"
                )
            for path in both_files(self.keep):
                if any(is_same_file(os.fspath(path), os.fspath(one)) for one in both_files(self.reuse)):
                    raise InputError("is given to be read and to be written", where=path, remedy="leave out --keep")
                check_writable(path)
        if self.results is not None and not os.path.isdir(self.results):
            raise InputError("is no folder", where=self.results, remedy="make it first, or name another one")
        if self.results is not None:
            check_writable(self.results / "0.parents")

    def save_result(self, root: int, parents: NDArray[np.int64], distances: NDArray[np.float32]) -> None:
        """Write what a search found into the folder of results; raises InputError as ``atomic_write``."""
        assert self.results is not None
        with atomic_write(self.results / f"{root}.parents") as first:
            first.write(parents.data)
            first.flush()
            with atomic_write(self.results / f"{root}.distances") as second:
                second.write(distances.data)


NO_FILES = Files()


def run(
    scale: int,
    place: Place,
    *,
    roots: int = ROOTS,
    files: Files = NO_FILES,
    report: Step = lambda what, fraction: None,
    phase_timer: PhaseTimer | None = None,
    energy: bool = False,
) -> Run:
    """Run the benchmark by Graph500's rules, every search checked; a collective, where there are ranks.

    ``scale`` is log2 of the number of labels, at most ``MOST_SCALE``; the rules ask for 64 ``roots``.  ``report`` is
    called with what is being done and the fraction done; ``phase_timer`` gives the seconds to the phases of a record.
    With ``energy`` that of a search is measured in turns from all roots, after the run.

    Raises:
        InputError: the edge list cannot be read, has no edge, or holds what no edge list does.
        OutOfMemory: the device has no room for the edge list or the rows.
        VerificationFailed: a search broke a rule; the message has the first counter-example.
    """
    done, phase = Run(scale, ranks=place.part[1], peer=place.peer), (phase_timer or PhaseTimer()).phase
    report("compiling", None)
    with phase("sampling"):  # the small runs; what compiles in them is ``compile``
        for index in possible_positions(EDGE_FACTOR << scale):
            place.warm_up(index)
    report("making the edge list" if files.reuse is None else f"reading {files.reuse}", None)
    with phase("build" if files.reuse is None else "load"):
        start, where = place.now(), (place.lists, place.part)
        tuples = generate(scale, *where) if files.reuse is None else load(scale, files.reuse, *where)
        done.generation_s = place.now() - start
    if files.keep is not None:
        report(f"writing {files.keep}", None)
        with phase("close"):
            save(tuples, files.keep, place.lists, place.comm)
    machine = place.machine(tuples)
    report("kernel 1: making the rows", None)
    with phase("build"):
        start = place.now()
        machine.construct()
        done.construction_s = place.now() - start
    done.vertices, done.arcs = machine.vertices, machine.arcs
    with phase("prepare"):
        done.roots = draw_roots(scale, machine, roots)
    if not done.roots:
        remedy = "give the edge list of a Graph500 generator"
        raise InputError("no vertex has an edge to another one", where="the edge list", remedy=remedy)
    with phase("sampling"):
        machine.search(done.roots[0])  # the reference warms up by this search, too
        place.device.synchronize()
    for i, root in enumerate(done.roots):
        report(f"search {i + 1} of {len(done.roots)}", i / len(done.roots))
        with phase("sampling"):
            start = place.now()
            machine.search(root)
            middle = place.now()
        with phase("verify"):
            found = machine.validate(root)
            done.validation_s.append(place.now() - middle)
        done.times_s.append(middle - start)
        done.tuples.append(found.tuples)
        if found.fault is not None:
            search = f"search {i + 1}, from root {root}"
            raise VerificationFailed(found.fault, where=search, remedy="no results are printed for an invalid run")
        if files.results is not None and place.part[0] == 0:
            with phase("close"):
                parents, distances = machine.result()
                files.save_result(root, parents.astype(np.int64), distances)
    if energy:
        report("measuring the energy of searches", None)
        turns = itertools.cycle(done.roots)

        def search_next() -> None:
            machine.search(next(turns))
            place.now()

        with phase("sampling"):
            opened: Any = place.device
            counter, tuples_each = counter_of(OpenDevice(opened, None)), sum(done.tuples) / len(done.roots)
            gather = alone if place.comm is None else place.comm.all_gather_object
            done.energy = measure_energy(search_next, counter, edges=tuples_each, gather=gather)
    done.peak_bytes = machine.peak_bytes()
    return done


def draw_roots(scale: int, machine: Machine, count: int) -> list[int]:
    """Return so many different roots in the reference's order, all with an edge to another vertex; fewer if need be."""
    roots: dict[int, None] = {}
    for candidate in root_candidates(scale):
        if len(roots) == count:
            break
        if candidate not in roots and machine.degree(candidate):
            roots[candidate] = None
    return list(roots)
