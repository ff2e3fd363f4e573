"""A sweep as the bench would store it, made up: two devices, two problems, failures, and a paper's own numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.report.canned import mst_record, sssp_record

GPU = {"kind": "cuda", "name": "NVIDIA H200", "driver": "580.82", "runtime": "13.0", "memory_bytes": 150_000_000_000}
CPU = {"kind": "cpu", "name": "AMD EPYC 9575F 64-Core Processor", "threads": 16}
COPY = 4.1e12

SPEEDS = {  # nanoseconds an edge and microseconds to begin
    ("mst", "filter-boruvka", "cuda"): (0.05, 120),
    ("mst", "boruvka", "cuda"): (0.11, 300),
    ("mst", "kruskal", "cpu"): (5.0, 40),
    ("sssp", "delta-stepping", "cuda"): (0.21, 900),
    ("sssp", "dijkstra", "cpu"): (14.0, 60),
}
ENVIRONMENT = {
    "gpugraph": "0.1.0",
    "python": "3.12.3",
    "system": "Linux-6.8.0-x86_64-with-glibc2.39",
    "processor": CPU["name"],
    "cores": 16,
    "packages": {"numpy": "2.3.1", "cupy-cuda13x": "13.6.0"},
    "git_commit": "0123456789ab",
    "command": ["gpugraph", "bench", "--sweep", "scales"],
}
PAPER = {
    "name": "Kolganov 2015",
    "hardware": "NVIDIA GTX Titan",
    "where": "figure 6",
    "points": [{"scale": 16, "mteps": 310.0}, {"scale": 18, "mteps": 640.0}, {"vertices": 2**20, "mteps": 910.0}],
}


def cell(problem: str, algorithm: str, kind: str, scale: int, *, samples: int = 20, **changes: Any) -> dict[str, Any]:
    """Return the record of one finished cell on rmat:SCALE, its times drawn with a fixed seed."""
    edges = 14 * 2**scale
    slope, start = SPEEDS[problem, algorithm, kind]
    middle = edges * slope * 1e-9 + start * 1e-6
    rng = np.random.default_rng([scale, len(algorithm), len(kind)])
    times = (middle * (1 + 0.01 * rng.standard_normal(samples) + 0.02 * (rng.random(samples) > 0.9))).tolist()
    kernel = float(np.median(times))
    gpu = kind == "cuda"
    phases = {
        "load": 0.0,
        "build": edges * 4e-9,
        "stage": edges * 1.1e-9 * gpu,
        "h2d": edges * 0.16e-9 * gpu,
        "prepare": edges * 0.02e-9 + 1e-4,
        "kernel": kernel,
        "d2h": 2**scale * 0.2e-9 + 2e-5,
        "verify": edges * 9e-9,
    }
    total = kernel + phases["stage"] + phases["h2d"] + phases["d2h"]
    minimum = edges * 22.0
    made = mst_record if problem == "mst" else sssp_record
    record = made()
    record |= {
        "algorithm": algorithm,
        "outcome": "ok",
        "device": GPU if gpu else CPU,
        "graph": {
            **record["graph"],
            "name": f"rmat:{scale}",
            "source": f"rmat:{scale}",
            "vertices": 2**scale,
            "arcs": 2 * edges,
            "edges": edges,
            "digest": f"{scale:032x}",
        },
        "parameters": {"preparations": [], "repeat": samples, "warmup": 1, "index_bits": 32},
        "phases_s": phases,
        "samples_s": {"kernel": times, "h2d": [phases["h2d"]], "d2h": [phases["d2h"]]},
        "confidence_s": {"kernel": [kernel * 0.996, kernel * 1.005]},
        "sampling": {"target": 0.02, "reached": 0.0045, "stopped_by": "target", "cold": False, "outliers": []},
        "kernel_phases_s": {"find_min": kernel * 0.55, "merge": kernel * 0.25, "renumber": kernel * 0.2} if gpu else {},
        "kernel_phases_runs": 5 if gpu else None,
        "kernel_phases_shares": {"find_min": [0.55] * 3, "merge": [0.25] * 3, "renumber": [0.2] * 3} if gpu else {},
        "peak_device_bytes": edges * 20,
        "mteps": {
            **record["mteps"],
            "kernel": edges / kernel / 1e6,
            "end_to_end": edges / total / 1e6,
            "count": edges,
        },
        "energy": (
            {"joules_per_run": kernel * 480, "nanojoules_per_edge": kernel * 480 / edges * 1e9}
            if gpu
            else {"absent": "only NVIDIA GPUs tell their energy"}
        ),
        "traffic": (
            {"minimum_bytes": minimum, "copy_bytes_per_s": COPY, "share": minimum / COPY / kernel}
            if gpu
            else {"absent": "measured on GPUs only"}
        ),
        "environment": ENVIRONMENT,
        "cell": {
            "id": f"{problem}-{algorithm}-{kind}-{scale}",
            "series": f"{problem}-{algorithm}-{kind}",
            "sweep": "scales",
            "axes": {"scale": scale, "algorithm": algorithm, "device": kind},
        },
        "time": f"2026-01-01T00:{scale:02}:00+00:00",
    }
    return {**record, **changes}


def unfinished(
    problem: str, algorithm: str, kind: str, scale: int, outcome: str, message: str, **changes: Any
) -> dict[str, Any]:
    """Return the record of a cell that gave no number: no more than what was known before it ran."""
    whole = cell(problem, algorithm, kind, scale)
    kept = {name: whole[name] for name in ("schema", "problem", "algorithm", "cell", "time", "environment")}
    kept["graph"] = {**dict.fromkeys(whole["graph"]), "name": f"rmat:{scale}", "source": f"rmat:{scale}"}
    kept["device"] = {"kind": kind, "name": None}
    return {**kept, "outcome": outcome, "message": message, **changes}


def sweep(scales: range = range(16, 23), samples: int = 20) -> list[dict[str, Any]]:
    """Return the records of a whole sweep."""
    records = [
        cell(problem, algorithm, kind, scale, samples=samples)
        for problem, algorithm, kind in SPEEDS
        for scale in scales
        if kind == "cuda" or scale < scales.stop - 2
    ]
    for record in records:
        if record["algorithm"] == "boruvka":
            record["paper"] = PAPER
    top = scales.stop
    records += [
        unfinished("mst", "boruvka", "cuda", top, "out of memory", "needs 151 GB, the device has 150 GB free"),
        unfinished("mst", "boruvka", "cuda", top + 1, "skipped", f"rmat:{top} of this series ran out of memory"),
        unfinished("sssp", "dijkstra", "cpu", top - 2, "timeout", "stopped after 60 s, the limit of a cell"),
        cell("mst", "boruvka", "cuda", top - 3)
        | {
            "algorithm": "mine.py:driver",
            "outcome": "wrong",
            "message": "edge 3-9 is missing </script><b>&amp;",
            "mteps": None,
            "cell": {"id": "plugin", "axes": {"scale": top - 3}},
        },
    ]
    for family in ("grid:1024x1024", "roads.gr"):
        for algorithm, kind in (("filter-boruvka", "cuda"), ("kruskal", "cpu")):
            record = cell("mst", algorithm, kind, 20, samples=samples)
            record["graph"] = {**record["graph"], "name": family, "digest": family}
            record["cell"] = {"id": f"{family}-{algorithm}", "axes": {"graph": family}}
            records.append(record)
    return records


def write(records: list[dict[str, Any]], path: Path) -> Path:
    """Write records as the bench does, and return the path."""
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), "utf-8")
    return path
