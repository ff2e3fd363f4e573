"""The record of a run of Graph500: one of shortest paths, with the reference's figures beside ours."""

import datetime
from typing import Any

from gpugraph.base.clock import PhaseTimer
from gpugraph.ext.graph500.benchmark import Run
from gpugraph.ext.graph500.generator import EDGE_FACTOR
from gpugraph.ext.peers import load_peer
from gpugraph.measure.environment import environment
from gpugraph.measure.provenance import provenance
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.registry import find_algorithm
from gpugraph.records.json_text import jsonable
from gpugraph.records.record import Record, ordered
from gpugraph.records.record_shape import SCHEMA
from gpugraph.records.statistics import harmonic_mean, median, mteps

COUNTED = "tuples of the input"
DEFINITION = (
    "Graph500: tuples of the input in the root's component, loops and duplicates counted, over the time of kernel 3 "
    "with parents; harmonic mean over the roots"
)


def check_peer(peer: str, device_kind: str) -> Algorithm:
    """Return the algorithm of a peer on a device.  Raises InputError or DeviceUnavailable if it does not run there."""
    return load_peer(peer, "sssp", device_kind)


def record_of(run: Run, device: dict[str, Any], phase_timer: PhaseTimer) -> Record:
    """Return the record of a valid run on a device, described as in records; on the emulated one it has no rates.

    ``phase_timer`` has timed the run and what came before; the searches beyond their median are ``sampling``.
    """
    name = "delta-stepping-distributed" if run.ranks > 1 else "delta-stepping"
    algorithm = check_peer(run.peer, "cuda") if run.peer else find_algorithm("sssp", name, device["kind"])
    emulated = device["kind"] == "emulated"
    figures = {name: value for name, value in run.figures().items() if not (emulated and name.endswith("TEPS"))}
    rates = [mteps(tuples, seconds) for tuples, seconds in zip(run.tuples, run.times_s, strict=True)]
    phase_timer.until_now()
    phase_timer.move("sampling", "kernel", median(run.times_s))
    phases = ordered({**phase_timer.seconds, "kernel": median(run.times_s)})
    name = f"graph500:{run.scale}"
    sizes = {"vertices": run.vertices, "arcs": run.arcs, "edges": run.arcs // 2}
    searches = zip(run.roots, run.times_s, run.tuples, run.validation_s, strict=True)
    data = {
        "schema": SCHEMA,
        "problem": "sssp",
        "outcome": "ok",
        "algorithm": algorithm.name,
        "algorithm_source": {"authors": algorithm.authors, "year": algorithm.year, "section": algorithm.section},
        "device": device,
        "graph": {"name": name, "source": name, **sizes, "directed": False, "weight_dtype": "float32", "digest": None},
        "parameters": {"scale": run.scale, "edgefactor": EDGE_FACTOR, "preparations": [], "repeat": 1, "warmup": 1},
        "phases_s": phases,
        "compiled": phase_timer.compiled,
        "samples_s": {"kernel": run.times_s, "h2d": [], "d2h": []},
        "peak_device_bytes": run.peak_bytes,
        "mteps": {
            "kernel": None if emulated else harmonic_mean(rates),
            "end_to_end": None,
            "counted": COUNTED,
            "count": run.tuples,
            "definition": DEFINITION,
        },
        "result": {"source": run.roots[0], "sources": len(run.roots)},
        "per_source": [
            {"source": root, "kernel_s": seconds, "tuples": tuples, "validation_s": check}
            for root, seconds, tuples, check in searches
        ],
        "verification": {
            "status": "passed",
            "method": "certificate",
            "detail": f"distances and parents of {len(run.roots)} searches keep all rules of Graph500",
        },
        "energy": run.energy,
        "graph500": figures,
        "provenance": provenance(algorithm),
        "environment": environment(),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
    return Record.of(jsonable(data))
