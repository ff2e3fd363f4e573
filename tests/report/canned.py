"""Records as a measurement gives them, for renderers to render."""

from __future__ import annotations

from typing import Any

from gpugraph.records.record import PHASES, Record


def mst_record(**changes: Any) -> dict[str, Any]:
    """Return a verified record of a forest found on a GPU, with top-level fields changed."""
    record: dict[str, Any] = {
        "schema": 1,
        "problem": "mst",
        "algorithm": "boruvka",
        "device": {"kind": "cuda", "name": "NVIDIA H200"},
        "graph": {
            "name": "rmat:16",
            "source": "rmat:16",
            "vertices": 65536,
            "arcs": 1819914,
            "edges": 909957,
            "directed": False,
            "weight_dtype": "uint32",
            "digest": "00ff" * 8,
        },
        "parameters": {"preparations": ["rank-weights"], "share": 0.25, "repeat": 3, "warmup": 1, "index_bits": 32},
        "phases_s": {
            **dict.fromkeys(PHASES, 0.0),
            "build": 0.25,
            "stage": 0.0011,
            "h2d": 0.000412,
            "prepare": 0.00102,
            "kernel": 0.000641,
            "d2h": 0.0000214,
            "verify": 0.118,
        },
        "samples_s": {
            "kernel": [0.00064, 0.000641, 0.000641] * 2 + [0.0007],
            "h2d": [0.000412],
            "d2h": [0.0000214] * 7,
        },
        "kernel_phases_s": {"find_min": 0.0004, "merge": 0.0001},
        "kernel_phases_run_s": 0.0005,
        "kernel_phases_runs": 5,
        "kernel_phases_shares": {"find_min": [0.78, 0.8, 0.85], "merge": [0.15, 0.2, 0.22], "other": [0, 0, 0.01]},
        "rounds": 7,
        "counters": {},
        "peak_device_bytes": 21_400_000,
        "mteps": {
            "kernel": 1419.6,
            "end_to_end": 438.2,
            "counted": "undirected edges",
            "count": 909957,
            "definition": "MTEPS = undirected edges of the graph / kernel time, in millions per second",
        },
        "result": {
            "total_weight": 2618234,
            "tree_edges": 60000,
            "components": 5536,
            "edges_sha256": "ab" * 32,
        },
        "verification": {"status": "passed", "method": "reference", "detail": "all 60000 edges equal SciPy's"},
        "environment": {},
        "time": "2026-01-01T00:00:00+00:00",
    }
    return {**record, **changes}


def failed() -> dict[str, Any]:
    """Return a record whose verification failed."""
    return mst_record(
        verification={"status": "failed", "method": "reference", "detail": "edge 3-9 is missing"},
        mteps={"kernel": None, "end_to_end": None, "counted": "undirected edges", "count": None},
    )


def emulated() -> dict[str, Any]:
    """Return a verified record from the emulated device, rates and all."""
    return mst_record(device={"kind": "emulated", "name": "emulated"})


def sssp_record(sources: int = 1) -> dict[str, Any]:
    """Return a verified record of shortest paths."""
    result = {
        "source": 17,
        "reached": 60001,
        "distance_sum": 186686642878,
        "distance_max": 99,
        "distances_sha256": "c" * 64,
    }
    runs = [{**result, "source": 17 + i, "kernel_s": 0.0021, "rounds": 40} for i in range(sources)]
    definition = "MTEPS = undirected edges with an endpoint in the reached set / kernel time / 10^6"
    rates = {**mst_record()["mteps"], "definition": definition}
    return mst_record(
        problem="sssp",
        algorithm="dijkstra",
        result=result,
        mteps=rates,
        **({"per_source": runs} if sources > 1 else {}),
    )


def records(*objects: dict[str, Any]) -> list[Record]:
    """Return the records of JSON objects."""
    return [Record.of(one) for one in objects]
