"""Measure the variants of the compound frontier: python docs/measure/dijkstra_figures.py [SET ...] [--device cuda].

Each set takes the graphs of one figure of Martín, Torres and Gavilanes 2009 and runs every variant on the same arrays,
beside the Fibonacci heap that their factors refer to.  Prints a Markdown table, then which of the paper's claims hold.
The whole sweep, with every size, is ``gpugraph bench --sweep papers/martin2009``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import click

import gpugraph
from gpugraph.bench.store import append_record
from gpugraph.errors import GpuGraphError
from gpugraph.measure.cell import Cell
from gpugraph.measure.record import Record
from gpugraph.measure.run_cell import run_cell

Claim = tuple[str, str, str, float, float]
"""What the paper says, two algorithms, and between which bounds the first's time over the second's must lie."""

ON_LISTS = (
    "u-hybrid-1",
    "u-hybrid-2",
    "u-hybrid-3",
    "u-gpu",
    "u-gpu-2min",
    "u-gpu-plus",
    "f-gpu-no-atomic",
    "dijkstra",
)
ON_MATRICES = ("matrix-u-gpu", "matrix-f-gpu", "matrix-f-gpu-no-atomic", "dijkstra")
CPU_LISTS, CPU_MATRICES = (
    ("u-cpu", "f-cpu", "dijkstra-fibonacci"),
    ("matrix-u-cpu", "matrix-f-cpu", "dijkstra-fibonacci"),
)

LIST_CLAIMS: tuple[Claim, ...] = (
    *((f"U-GPU is faster than {name}", name, "u-gpu", 1.0, 1e9) for name in ON_LISTS[:3]),
    ("U-GPU and U-GPU+2min take the same time", "u-gpu-2min", "u-gpu", 0.9, 1.1),
    ("U-GPU-PLUS is slightly faster than U-GPU", "u-gpu", "u-gpu-plus", 1.0, 1e9),
    ("U-GPU-PLUS is near 10 times as fast as FH", "dijkstra-fibonacci", "u-gpu-plus", 10, 1e9),
    ("F-GPU is faster than U-GPU", "u-gpu", "dijkstra", 1.0, 1e9),
    ("F-GPU is around 60 times as fast as FH", "dijkstra-fibonacci", "dijkstra", 60, 1e9),
    ("F-GPU-no-atomic takes as long as F-GPU", "f-gpu-no-atomic", "dijkstra", 0.9, 1.1),
)
MATRIX_CLAIMS: tuple[Claim, ...] = (
    ("matrices: U-GPU is faster than F-GPU", "matrix-f-gpu", "matrix-u-gpu", 1.0, 1e9),
    ("matrices: U-GPU is 32 times as fast as FH", "dijkstra-fibonacci", "matrix-u-gpu", 32, 1e9),
    ("matrices: F-GPU-no-atomic is faster than F-GPU", "matrix-f-gpu", "matrix-f-gpu-no-atomic", 1.0, 1e9),
)


def _regular(vertices: int, degree: int) -> str:
    return f"regular:n={vertices},in={degree},w=1..10"


SETS: dict[str, tuple[list[str], tuple[str, ...], tuple[str, ...], tuple[Claim, ...]]] = {
    "lists": ([_regular(k << 20, 7) for k in (1, 4)], ON_LISTS, CPU_LISTS, LIST_CLAIMS),
    "largest-lists": ([_regular(11 << 20, 7)], ON_LISTS[2:], ("dijkstra-fibonacci",), LIST_CLAIMS),
    "matrices": ([_regular(k << 10, (k << 10) // 5) for k in (1, 4, 15)], ON_MATRICES, CPU_MATRICES, MATRIX_CLAIMS),
    "today": (["rmat:20,w=1..255"], ON_LISTS[2:], (), ()),
}
"""Graphs, algorithms on the GPU, on the CPU, and the claims about them."""

HEAD = "| graph | algorithm | device | kernel ms | rounds | phases ms | MB copied | verdict |\n|" + "---|" * 8


def row(record: Record) -> str:
    """Return the record as a line of the table."""
    data = record.data
    phases = " ".join(f"{name} {seconds * 1e3:.2f}" for name, seconds in data["kernel_phases_s"].items())
    copied = sum(count for name, count in data["counters"].items() if name.startswith("bytes_to"))
    values = (
        data["graph"]["name"],
        data["algorithm"],
        data["device"]["kind"],
        f"{data['phases_s']['kernel'] * 1e3:.3f}",
        str(data["rounds"]),
        phases,
        f"{copied / 1e6:.1f}" if copied else "",
        data["verification"]["status"],
    )
    return "| " + " | ".join(values) + " |"


def judged(claims: tuple[Claim, ...], seconds: dict[str, float]) -> list[str]:
    """Return a line for each claim whose two times were measured."""
    lines = []
    for text, slower, faster, least, most in claims:
        if slower in seconds and faster in seconds:
            factor = seconds[slower] / seconds[faster]
            lines.append(f"- {'holds' if least <= factor <= most else 'does not hold'}: {text} (factor {factor:.2f})")
    return lines


@click.command()
@click.argument("sets", nargs=-1, type=click.Choice([*SETS, "race"]))
@click.option("--device", default="cuda", help="cuda, or emulated to try the script itself.")
@click.option("--save", type=click.Path(path_type=Path), help="Append every record to this file, one JSON line each.")
@click.option("--skip-cpu", is_flag=True, help="Leave the CPU algorithms out.")
@click.option("--repeat", default=9, help="Samples of each algorithm on the GPU; the CPU takes one.")
def main(sets: tuple[str, ...], device: str, save: Path | None, skip_cpu: bool, repeat: int) -> None:
    """Measure SETS, or all of them."""
    for name in sets or (*SETS, "race"):
        print(f"\n## {name}\n", flush=True)
        if name == "race":
            words = [sys.executable, "-m", "gpugraph", "demo", "race", "--device", device, "--format", "json"]
            shown = json.loads(subprocess.run(words, capture_output=True, text=True, check=False).stdout)
            for case in shown["cases"]:
                told = f"{case['wrong']} of {case['runs']} wrong, {case['answers']}"
                print(f"- {case['algorithm']} on {case['graph']}: {told}")
            continue
        specs, on_gpu, on_cpu, claims = SETS[name]
        for spec in specs:
            start = time.perf_counter()
            graph = gpugraph.load(spec)
            print(f"{spec}: generated in {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
            print(HEAD)
            seconds: dict[str, float] = {}
            for algorithm in (*on_gpu, *(() if skip_cpu else on_cpu)):
                here = "cpu" if algorithm in on_cpu else device
                times = {"repeat": repeat, "warmup": 1} if here != "cpu" else {"repeat": 1, "warmup": 0}
                try:
                    record = run_cell(Cell("sssp", graph, algorithm, here, source="0", **times))  # type: ignore[arg-type]
                except GpuGraphError as error:
                    print(f"| {spec} | {algorithm} | {here} | {error} |" + " |" * 4, flush=True)
                    continue
                seconds[algorithm] = record.data["phases_s"]["kernel"]
                print(row(record), flush=True)
                if save is not None:
                    append_record(record, save)
            print("\n" + "\n".join(judged(claims, seconds)) + "\n", flush=True)


if __name__ == "__main__":
    main()
