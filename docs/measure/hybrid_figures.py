"""Measure compress, boruvka-hybrid and boruvka-streamed on a GPU:

    python docs/measure/hybrid_figures.py SET [--device cuda]

Sets: `compress` (factor reached, and what it gains), `share` (the hybrid at several shares, and tuned), `limit` (the
hybrid within a memory limit: the paper's way past GPU memory), `stream` (ours: bytes over the bus, rate, and the same
graph resident), `chunks` (what its parameters do).
Prints Markdown tables.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import click

import gpugraph
from gpugraph.errors import GpuGraphError
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import run_cell

Job = tuple[str, str, tuple[str, ...], dict[str, str]]  # spec, algorithm, preparations, options

PAPER = ("renumber", "sort-adjacency", "rank-weights")


def compress(scale: int) -> Iterator[Job]:
    """The paper's graph, SSCA2, and RMAT, on which it does not use it."""
    for spec in (f"ssca2:{scale}", f"rmat:{scale}"):
        for preparations in ((), ("renumber",), ("renumber", "compress"), PAPER, (*PAPER, "compress")):
            yield spec, "boruvka", preparations, {}


def share(scale: int) -> Iterator[Job]:
    """The CPU's share from nothing to the paper's quarter, and tuned."""
    for spec, preparations in ((f"ssca2:{scale}", (*PAPER, "compress")), (f"rmat:{scale}", ("sort-adjacency",))):
        for cpu in ("0", "0.005", "0.01", "0.02", "0.05", "0.1", "0.2", "0.25", "auto"):
            yield spec, "boruvka-hybrid", preparations, {"cpu-share": cpu}


def limit(scale: int) -> Iterator[Job]:
    """The hybrid where the CPU owns what does not fit, beside streaming."""
    for spec in (f"ssca2:{scale}", f"rmat:{scale}"):
        for most in ("100%", "75%", "50%"):
            yield spec, "boruvka-hybrid", (), {"memory-limit": most}
            yield spec, "boruvka-streamed", (), {"memory-limit": most}


def stream(scale: int) -> Iterator[Job]:
    """A quarter of the graph and more; everything passing; everything resident; the same in one launch."""
    for spec in (f"rmat:{scale}", f"ssca2:{scale}", f"random:n={1 << scale},deg=32"):
        for most in ("25%", "30%", "50%", "75%"):
            yield spec, "boruvka-streamed", (), {"memory-limit": most}
        yield spec, "boruvka-streamed", (), {"stream": "all"}
        yield spec, "boruvka-streamed", (), {}
        yield spec, "filter-boruvka", (), {}


def chunks(scale: int) -> Iterator[Job]:
    """The size of a chunk and the number of light edges, everything passing."""
    for chunk in (1 << 18, 1 << 20, 1 << 21, 1 << 22, 1 << 23):
        yield f"rmat:{scale}", "boruvka-streamed", (), {"stream": "all", "chunk": str(chunk)}
    for light in ("0.5", "1", "1.5", "2", "3"):
        yield f"rmat:{scale}", "boruvka-streamed", (), {"stream": "all", "light": light}


SETS = {"compress": compress, "share": share, "limit": limit, "stream": stream, "chunks": chunks}
HEAD = (
    "| graph | edges | algorithm | options | kernel ms | prepare ms | MTEPS | rounds | peak / graph | factor | cpu % "
    "| passes | streamed GB | MB/s | of pinned | phases ms | verdict |\n|" + "---|" * 17
)


def pinned_rate(device: str) -> float | None:
    """Return the measured bytes per second of one copy from pinned memory, or None where there is no GPU."""
    from gpugraph.devices.discovery import select_device
    from gpugraph.devices.probes import run_probes

    opened, _ = select_device(device)
    try:
        return run_probes(opened).h2d_pinned if opened.kind == "cuda" else None
    finally:
        opened.close()


def row(spec: str, algorithm: str, graph_bytes: int, data: dict[str, object], pinned: float | None) -> str:
    """Return a record as a line of the table."""
    record: dict[str, dict[str, float]] = data  # type: ignore[assignment]
    counters, phases = record["counters"], record["kernel_phases_s"]
    asked = {
        k: v for k, v in record["parameters"].items() if k in ("cpu-share", "memory-limit", "stream", "chunk", "light")
    }
    preparations = "+".join(record["parameters"]["preparations"])  # type: ignore[arg-type]
    rate = counters.get("streamed_mb_per_s")
    values = [
        spec,
        record["graph"]["edges"],
        f"{algorithm} {preparations}".strip(),
        " ".join(f"{k}={v}" for k, v in asked.items() if v not in ("", 0, -1.0, "rest")),
        f"{record['phases_s']['kernel'] * 1e3:.2f}",
        f"{record['phases_s']['prepare'] * 1e3:.0f}",
        "–" if record["mteps"]["kernel"] is None else f"{record['mteps']['kernel']:.0f}",
        data["rounds"],
        f"{data['peak_device_bytes'] / graph_bytes:.3f}",  # type: ignore[operator]
        counters.get("compression_percent", "–"),
        counters.get("cpu_percent", "–"),
        counters.get("passes", "–"),
        f"{counters.get('streamed_bytes', 0) / 1e9:.3f}",
        rate or "–",
        f"{rate * 1e6 / pinned:.1%}" if rate and pinned else "–",
        " ".join(f"{name} {seconds * 1e3:.2f}" for name, seconds in phases.items()),
        record["verification"]["status"],
    ]
    return "| " + " | ".join(map(str, values)) + " |"


@click.command()
@click.argument("sets", nargs=-1, type=click.Choice(list(SETS)))
@click.option("--device", default="cuda", help="cuda, or emulated to try the script itself.")
@click.option("--scale", type=int, default=22, show_default=True, help="Vertices are 2 to this power.")
@click.option("--repeat", type=int, default=5, show_default=True)
@click.option("--only", default="", help="Run only graphs whose spec contains this text.")
def main(sets: tuple[str, ...], device: str, scale: int, repeat: int, only: str) -> None:
    """Measure SETS and print a Markdown table."""
    pinned = pinned_rate(device)
    print("pinned copies: " + ("–" if pinned is None else f"{pinned / 1e9:.1f} GB/s"))
    print(HEAD)
    graphs: dict[str, gpugraph.CSRGraph] = {}
    for spec, algorithm, preparations, options in (job for name in sets or SETS for job in SETS[name](scale)):
        if only not in spec:
            continue
        if spec not in graphs:
            graphs.clear()
            start = time.perf_counter()
            graphs[spec] = gpugraph.load(spec)
            print(f"{spec}: generated in {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
        graph = graphs[spec]
        graph_bytes = 4 * (graph.vertices + 1) + graph.arcs * (4 + graph.weights.itemsize)
        cell = Cell(
            "mst", graph, algorithm, device, preparations=preparations, options=options, repeat=repeat, warmup=2
        )
        try:
            record = run_cell(cell)
        except GpuGraphError as error:
            print(f"| {spec} | | {algorithm} | {options} | {error} |" + " |" * 12, flush=True)
            continue
        print(row(spec, algorithm, graph_bytes, record.data, pinned), flush=True)


if __name__ == "__main__":
    main()
