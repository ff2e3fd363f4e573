"""Measure the figures of docs/scan.md: python docs/measure/scan_figures.py SET [--device cuda] [--save records.jsonl].

The array or graph is made once and every cell of a set sees it.  Prints a Markdown table.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

import gpugraph
from gpugraph.bench.store import append_record
from gpugraph.errors import GpuGraphError
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import run_cell

Job = tuple[str, str, list[dict[str, Any]]]

SUMS = (
    "reduce-then-scan",
    "reduce-then-scan-multilevel",
    "scan-then-propagate",
    "brent-kung",
    "sklansky",
    "kogge-stone",
    "look-back",
    "cub",
)


def _cells(names: tuple[str, ...], **more: Any) -> list[dict[str, Any]]:
    return [{"algorithm": name, "device": "gpu", "repeat": 9, **more} for name in names]


def headline() -> Iterator[Job]:
    """512 MiB of uint32 by every algorithm, in place and out of place, beside one thread."""
    one_thread = {"algorithm": "cpu", "device": "cpu", "repeat": 3}
    two = _cells(("reduce-then-scan", "look-back"), options={"buffers": 2})
    yield "scan", "array:size=512MiB,exclusive=yes", [*_cells(SUMS), *two, one_thread]


def tune() -> Iterator[Job]:
    """Sizes of tiles for 512 MiB of uint32 and uint64."""
    for dtype in ("uint32", "uint64"):
        cells: list[dict[str, Any]] = []
        for threads, vectors in ((128, 4), (128, 8), (256, 2), (256, 4), (256, 8), (512, 2), (512, 4)):
            tile = {"threads": threads, "vectors": vectors}
            cells += _cells(("reduce-then-scan", "look-back"), options=tile)
        yield "scan", f"array:size=512MiB,dtype={dtype}", cells


def sizes() -> Iterator[Job]:
    """From 1 MiB to 2 GiB, as in the paper's figures 5 to 8 and beyond."""
    for size in ("1MiB", "8MiB", "32MiB", "64MiB", "128MiB", "256MiB", "512MiB", "2GiB"):
        yield "scan", f"array:size={size}", _cells(("reduce-then-scan", "scan-then-propagate", "look-back", "cub"))


def types() -> Iterator[Job]:
    """Every type, 512 MiB."""
    for dtype in ("uint32", "int32", "uint64", "int64", "float32", "float64"):
        yield "scan", f"array:size=512MiB,dtype={dtype}", _cells(("reduce-then-scan", "look-back", "cub"))


def segments() -> Iterator[Job]:
    """Segmented minima of 512 MiB, flags as bytes and in the top bit; long segments and short ones."""
    for dtype in ("uint32", "uint64"):
        for length in (2, 16, 1024, 10**6):
            cells = []
            for vectors in (1, 2, 4):
                for flags in ("bytes", "top-bit"):
                    cells += _cells(("segmented-min",), options={"flags": flags, "vectors": vectors})
            cells.append({"algorithm": "segmented-min", "device": "cpu", "repeat": 3})
            yield "scan", f"array:size=512MiB,dtype={dtype},segments={length}", cells


def forests() -> Iterator[Job]:
    """The paper's dense and sparse graphs of equal edge counts, and two of today's: where should Prim begin?"""
    for spec in ("complete:4096", "random:n=2097152,m=8386560", "rmat:20", "grid:1024x1024"):
        cells = _cells(("boruvka", "boruvka-scan", "filter-boruvka"), repeat=5)
        for rounds in (-1, 0, 1, 2, 3, 4, 5, 6, 8):
            if rounds in (0, 1) and "complete" not in spec:
                continue  # a step for each of a million trees
            cells += _cells(("boruvka-prim",), options={"switch-after": rounds}, repeat=3)
        cells.append({"algorithm": "prim", "device": "cpu", "repeat": 1})
        cells.append({"algorithm": "boruvka", "device": "cpu", "repeat": 1})
        yield "mst", spec, cells


SETS = {
    "headline": headline,
    "tune": tune,
    "sizes": sizes,
    "types": types,
    "segments": segments,
    "forests": forests,
}

HEAD = (
    "| input | algorithm | options | device | kernel ms | of the roof | stage ms | h2d GB/s | d2h GB/s | total ms "
    "| transfers | phases | verdict |\n|" + "---|" * 13
)


def row(data: Mapping[str, Any]) -> str:
    """Return a record as a line of the table."""
    phase, inner, told = data["phases_s"], data["kernel_phases_s"], data.get("throughput", {})
    hidden = ("preparations", "repeat", "warmup", "index_bits")
    options = " ".join(f"{name}={value}" for name, value in data["parameters"].items() if name not in hidden)
    share = data.get("traffic", {}).get("share")
    total = told.get("total_s")
    values = [
        data["graph"]["name"],
        data["algorithm"],
        options,
        data["device"]["kind"],
        f"{phase['kernel'] * 1e3:.3f}",
        "–" if share is None else f"{share:.1%}",
        f"{phase['stage'] * 1e3:.1f}",
        *("–" if told.get(f"{way}_gb_s") is None else f"{told[f'{way}_gb_s']:.1f}" for way in ("h2d", "d2h")),
        "–" if total is None else f"{total * 1e3:.1f}",
        "–" if told.get("transfers_share") is None else f"{told['transfers_share']:.0%}",
        " ".join(f"{name} {seconds * 1e3:.3f}" for name, seconds in inner.items()),
        data["verification"]["status"],
    ]
    return "| " + " | ".join(values) + " |"


@click.command()
@click.argument("sets", nargs=-1, type=click.Choice(list(SETS)))
@click.option("--device", default="cuda", help="What 'gpu' stands for: cuda, or emulated to try the script itself.")
@click.option("--save", type=click.Path(path_type=Path), help="Append every record to this file, one JSON line each.")
@click.option("--size", help="Scan arrays of this size instead, e.g. 64KiB to try the script.")
@click.option("--only", default="", help="Run only inputs whose spec contains this text.")
def main(sets: tuple[str, ...], device: str, save: Path | None, size: str | None, only: str) -> None:
    """Measure SETS and print a Markdown table."""
    print(HEAD)
    for problem, named, cells in (job for name in sets or SETS for job in SETS[name]()):
        spec = named
        if only not in spec:
            continue
        if size is not None and problem == "scan":
            spec = ",".join(f"size={size}" if key.startswith("size=") else key for key in named[6:].split(","))
            spec = f"array:{spec}"
        graph: Any = spec
        if problem == "scan":
            from gpugraph.problems.scan.array import open_array

            graph = open_array(spec)
        else:
            graph = gpugraph.load(spec)
        print(f"{spec}: made", file=sys.stderr, flush=True)
        for cell in cells:
            chosen = {**cell, "device": device if cell["device"] == "gpu" else cell["device"]}
            try:
                record = run_cell(Cell(problem, graph, warmup=1, verify="certificate", transfers="separate", **chosen))
            except GpuGraphError as error:
                print(f"| {spec} | {cell['algorithm']} | | {chosen['device']} | {error} |" + " |" * 8, flush=True)
                continue
            print(row(record.data), flush=True)
            if save is not None:
                append_record(record, save)


if __name__ == "__main__":
    main()
