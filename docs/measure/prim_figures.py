"""Measure the three versions of Prim:

    python docs/measure/prim_figures.py [SET...] [--device cuda] [--save records.jsonl]

    sparse   the papers' graphs: 2^7 to 2^14 vertices, 2 and 10 edges a vertex, weights 1 to 1000; all versions
    dense    dense graphs, prim-persistent beside heap Prim on the CPU
    blocks   the papers' choice of block and grid, and layout, on one of their graphs
    shapes   what prim-persistent takes with other blocks, threads, on-chip memory, and without prefetching
    large    prim-persistent beyond what one block holds on chip

Prints a Markdown table per set; µs a step is the kernel time over n - 1.  Every record is verified.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import gpugraph
from gpugraph.bench.store import append_record
from gpugraph.errors import GpuGraphError
from gpugraph.graph.csr import CSRGraph
from gpugraph.measure.cell import Cell
from gpugraph.measure.record import Record
from gpugraph.measure.run_cell import run_cell

Job = tuple[str, list[dict[str, Any]]]

GPU = "gpu"
HEAP: dict[str, Any] = {"algorithm": "prim", "device": "cpu", "repeat": 3}
DENSE = "dense:n=16384,density=0.5,w=1..1000"


def on_gpu(algorithm: str, repeat: int = 3, **options: Any) -> dict[str, Any]:
    """Return the cell of an algorithm on the GPU."""
    return {"algorithm": algorithm, "device": GPU, "repeat": repeat, "options": options}


def sparse() -> Iterator[Job]:
    """All versions on the papers' graphs."""
    for degree in (2, 10):
        for k in range(7, 15):
            cells = [HEAP, on_gpu("prim-persistent", 9), on_gpu("prim"), on_gpu("prim", layout="int2")]
            yield f"random:n={1 << k},m={degree << k},w=1..1000", [*cells, on_gpu("prim-naive", 1 if k > 12 else 3)]


def dense() -> Iterator[Job]:
    """prim-persistent and prim on dense graphs, beside heap Prim."""
    for n, density in ((1024, 0.5), (4096, 0.5), (16384, 0.1)):
        yield f"dense:n={n},density={density},w=1..1000", [HEAP, on_gpu("prim-persistent", 5)]
    yield DENSE, [HEAP, on_gpu("prim-persistent", 9), on_gpu("prim", 1)]


def blocks() -> Iterator[Job]:
    """Most threads and most blocks of `prim`, from 32 to 256, and its layouts."""
    shapes = [(t, b) for t in (32, 64, 128, 256) for b in (32, 64, 128, 256)]
    cells = [on_gpu("prim", 2, threads=t, blocks=b) for t, b in shapes]
    yield "random:n=8192,m=81920,w=1..1000", [*cells, on_gpu("prim", 2, layout="int2")]


def shapes() -> Iterator[Job]:
    """prim-persistent dealt in other ways."""
    ways = [{"threads": t} for t in (32, 64, 128, 256)] + [{"on_chip": "candidates"}, {"on_chip": "nothing"}]
    ways += [{"blocks": b} for b in (2, 4, 8)]
    yield "random:n=16384,m=163840,w=1..1000", [on_gpu("prim-persistent", 5, **way) for way in ways]
    several: list[dict[str, Any]] = [{"blocks": b, "threads": t} for b in (4, 8, 16, 32, 64) for t in (128, 256, 512)]
    several += [{"prefetch": False}, {"on_chip": "candidates"}]
    yield DENSE, [on_gpu("prim-persistent", 3, **way) for way in several]


def large() -> Iterator[Job]:
    """Candidates of more vertices than one block holds."""
    for k in (15, 16, 18, 20):
        alone = on_gpu("prim-persistent", 1, blocks=1, on_chip="nothing" if k == 20 else "winners")
        yield f"random:n={1 << k},m={8 << k}", [on_gpu("prim-persistent", 1), alone, HEAP]


SETS = {"sparse": sparse, "dense": dense, "blocks": blocks, "shapes": shapes, "large": large}

HEAD = "| graph | arcs | algorithm | options | device | kernel ms | µs a step | verdict |\n|" + "---|" * 8


def row(record: Record, options: dict[str, Any]) -> str:
    """Return the record as a line of the table."""
    data = record.data
    kernel, n = data["phases_s"]["kernel"], data["graph"]["vertices"]
    values = [
        data["graph"]["name"],
        str(data["graph"]["arcs"]),
        data["algorithm"],
        " ".join(f"{name}={value}" for name, value in options.items()),
        data["device"]["kind"],
        f"{kernel * 1e3:.3f}",
        f"{kernel / max(n - 1, 1) * 1e6:.2f}",
        data["verification"]["status"],
    ]
    return "| " + " | ".join(values) + " |"


@click.command()
@click.argument("sets", nargs=-1, type=click.Choice(list(SETS)))
@click.option("--device", default="cuda", help="What 'gpu' stands for: cuda, or emulated to try the script itself.")
@click.option("--save", type=click.Path(path_type=Path), help="Append every record to this file, one JSON line each.")
@click.option("--only", default="", help="Run only graphs whose spec contains this text.")
def main(sets: tuple[str, ...], device: str, save: Path | None, only: str) -> None:
    """Measure SETS and print Markdown tables."""
    for name in sets or SETS:
        print(f"\n{name}\n\n{HEAD}", flush=True)
        for spec, cells in SETS[name]():
            if only not in spec:
                continue
            start = time.perf_counter()
            graph = gpugraph.load(spec)
            print(f"{spec}: generated in {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
            for cell in cells:
                measure(graph, {**cell, "device": device if cell["device"] == GPU else cell["device"]}, save)


def measure(graph: CSRGraph, cell: dict[str, Any], save: Path | None) -> None:
    """Run one cell, print its line and keep its record; one that cannot run says why."""
    options = cell.get("options", {})
    try:
        record = run_cell(Cell("mst", graph, warmup=1, phases=False, **cell))
    except GpuGraphError as error:
        print(f"| {graph.name} | | {cell['algorithm']} | {options} | {cell['device']} | {error} | | |", flush=True)
        return
    print(row(record, options), flush=True)
    if save is not None:
        append_record(record, save)


if __name__ == "__main__":
    main()
