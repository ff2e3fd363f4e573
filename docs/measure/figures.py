"""Measure the figures of docs/results.md: python docs/measure/figures.py SET [--device cuda] [--save records.jsonl].

A set names graphs and, for each, the cells to run on it; the graph is made once and all algorithms of a row see
the same arrays in the same process.  Prints a Markdown table.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click

import gpugraph
from gpugraph.bench.store import append_record
from gpugraph.errors import GpuGraphError
from gpugraph.graph.csr import CSRGraph
from gpugraph.measure.cell import Cell
from gpugraph.measure.record import Record
from gpugraph.measure.run_cell import run_cell

PEER_MST = {
    "rmat:20": 26.1,
    "rmat:22": 75.2,
    "rmat:24": 267.0,
    "random:n=4194304,m=33554432": 59.5,
    "grid:2048x2048": None,
    "knn:n=4194304,k=8": 49.6,
    "road:4096x4096": None,
}
"""The seven graphs and what RAFT (inside cuGraph) takes on an H200, ms; None where it is wrong or throws."""

PEER_SSSP = {
    "rmat:20,w=1..255": 10.7,
    "rmat:22,w=1..255": 30.4,
    "rmat:24,w=1..255": 65.1,
    "random:n=4194304,m=14680064,w=1..10": 2.48,
    "knn:n=2097152,k=8": 11.5,
    "road:2048x2048,w=1..1000": 34.2,
    "road:4096x4096,w=1..1000": 97.2,
}
"""The seven graphs and what the best published system takes on an H200, ms (docs/results.md names it)."""

Job = tuple[str, str, list[dict[str, object]]]


def boruvka() -> Iterator[Job]:
    """`boruvka` on the seven graphs, beside the CPU."""
    for spec in PEER_MST:
        cells: list[dict[str, object]] = [{"algorithm": "boruvka", "device": "gpu", "repeat": 9}]
        if spec == "rmat:20":
            cells += [
                {"algorithm": "boruvka", "device": "gpu", "repeat": 9, "preparations": (p,)}
                for p in ("sort-adjacency", "renumber", "rank-weights")
            ]
        yield "mst", spec, [*cells, {"algorithm": "boruvka", "device": "cpu", "repeat": 3}]


def dijkstra() -> Iterator[Job]:
    """`dijkstra` on the paper's regular graphs and on two of today's, beside the CPU."""
    specs = [f"regular:n={k << 20},in=7,w=1..10" for k in (1, 2, 4, 6, 8, 11)]
    specs += ["rmat:22,w=1..255", "random:n=4194304,m=14680064,w=1..10"]
    for spec in specs:
        cells: list[dict[str, object]] = [{"algorithm": "dijkstra", "device": "gpu", "repeat": 9}]
        cells += [{"algorithm": a, "device": "cpu", "repeat": 1} for a in ("dijkstra", "delta-stepping")]
        for cell in cells:
            cell["source"] = "max-degree" if "rmat" in spec else "0"
        yield "sssp", spec, cells


def prim() -> Iterator[Job]:
    """`prim` on the papers' sparse graphs and on dense ones, beside heap Prim."""
    sparse = [f"random:n={1 << k},m={d << k},w=1..1000" for d in (2, 10) for k in range(7, 15)]
    dense = [f"dense:n={1 << k},density=0.5,w=1..1000" for k in (10, 12, 13)]
    for spec in sparse + dense:
        yield (
            "mst",
            spec,
            [
                {"algorithm": "prim", "device": "gpu", "repeat": 3},
                {"algorithm": "prim", "device": "gpu", "repeat": 3, "options": {"layout": "int2"}},
                {"algorithm": "prim", "device": "cpu", "repeat": 3},
            ],
        )


def filter_boruvka() -> Iterator[Job]:
    """`filter-boruvka` on the seven graphs and on two small ones."""
    for spec in (*PEER_MST, "rmat:16"):
        yield "mst", spec, [{"algorithm": "filter-boruvka", "device": "gpu", "repeat": 15}]


def scale() -> Iterator[Job]:
    """`filter-boruvka` as the graph grows: to 2^31 arcs and beyond, where arc indices take 64 bits."""
    for k in (20, 22, 24, 26, 27):
        yield "mst", f"rmat:{k}", [{"algorithm": "filter-boruvka", "device": "gpu", "repeat": 9}]


SCALED = "2^10 * "
"""Before a spec: its graph with every weight multiplied by 2^10."""


def graph_of(spec: str) -> CSRGraph:
    """Return the graph of a spec that may begin with SCALED."""
    graph = gpugraph.load(spec.removeprefix(SCALED))
    return graph.renamed(name=spec, weights=graph.weights * 2**10) if spec.startswith(SCALED) else graph


def source_of(spec: str) -> str:
    """Return the source: the vertex of the highest degree where degrees differ much, else vertex 0."""
    return "max-degree" if "rmat" in spec else "0"


def delta_stepping() -> Iterator[Job]:
    """`delta-stepping` on the seven graphs."""
    for spec in PEER_SSSP:
        yield "sssp", spec, [{"algorithm": "delta-stepping", "device": "gpu", "repeat": 15, "source": source_of(spec)}]


def sssp_scale() -> Iterator[Job]:
    """`delta-stepping` as the graph grows."""
    for k in (20, 22, 24, 26):
        spec = f"rmat:{k},w=1..255"
        yield "sssp", spec, [{"algorithm": "delta-stepping", "device": "gpu", "repeat": 9, "source": source_of(spec)}]


def sssp_types() -> Iterator[Job]:
    """`delta-stepping` with other weights: scaled by 2^10, wider, floats, 64 bits; and over 64 sources."""
    for spec in (
        "rmat:22,w=1..255",
        SCALED + "rmat:22,w=1..255",
        "road:1024x1024,w=1..1000",
        SCALED + "road:1024x1024,w=1..1000",
        "rmat:22,w=1..261120",
        "rmat:22,w=1..255,dtype=float32",
        "rmat:22,w=1..255,dtype=int64",
        "rmat:22,w=1..255,dtype=float64",
        "road:2048x2048,w=1..1000,dtype=float32",
        "road:2048x2048,w=1..1000,dtype=float64",
    ):
        yield "sssp", spec, [{"algorithm": "delta-stepping", "device": "gpu", "repeat": 9, "source": source_of(spec)}]
    sources = {"algorithm": "delta-stepping", "device": "gpu", "repeat": 3, "source": "random:64"}
    yield "sssp", "rmat:20,w=1..255", [sources]


SETS = {"boruvka": boruvka, "filter-boruvka": filter_boruvka, "scale": scale, "dijkstra": dijkstra, "prim": prim}
SETS |= {"delta-stepping": delta_stepping, "sssp-scale": sssp_scale, "sssp-types": sssp_types}

HEAD = (
    "| graph | vertices | edges | algorithm | device | kernel ms | stage ms | h2d ms | d2h ms | prepare ms | rounds "
    "| MTEPS | phases % | verdict |\n|" + "---|" * 14
)


def row(record: Record) -> str:
    """Return the record as a line of the table."""
    data = record.data
    graph, phase, inner = data["graph"], data["phases_s"], data["kernel_phases_s"]
    total = sum(inner.values()) or 1.0
    shares = " ".join(f"{name} {seconds / total:.0%}" for name, seconds in inner.items())
    kernel = data["mteps"]["kernel"]
    asked = data["parameters"]
    layout = [asked["layout"]] if asked.get("layout", "csr") != "csr" else []
    variant = " ".join([*asked["preparations"], *layout])
    values = [
        graph["name"],
        str(graph["vertices"]),
        str(graph["edges"]),
        f"{data['algorithm']} {variant}".strip(),
        data["device"]["kind"],
        *(f"{phase[name] * 1e3:.2f}" for name in ("kernel", "stage", "h2d", "d2h", "prepare")),
        str(data["rounds"]),
        "–" if kernel is None else f"{kernel:.0f}",
        shares,
        data["verification"]["status"],
    ]
    return "| " + " | ".join(values) + " |"


@click.command()
@click.argument("sets", nargs=-1, type=click.Choice(list(SETS)))
@click.option("--device", default="cuda", help="What 'gpu' stands for: cuda, or emulated to try the script itself.")
@click.option("--save", type=click.Path(path_type=Path), help="Append every record to this file, one JSON line each.")
@click.option("--only", default="", help="Run only graphs whose spec contains this text.")
@click.option("--skip-cpu", is_flag=True, help="Leave the CPU algorithms out.")
def main(sets: tuple[str, ...], device: str, save: Path | None, only: str, skip_cpu: bool) -> None:
    """Measure SETS and print a Markdown table."""
    print(HEAD)
    for problem, spec, cells in (job for name in sets or SETS for job in SETS[name]()):
        if only not in spec:
            continue
        start = time.perf_counter()
        graph = graph_of(spec)
        print(f"{spec}: generated in {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
        for cell in cells:
            chosen = {**cell, "device": device if cell["device"] == "gpu" else cell["device"]}
            if skip_cpu and chosen["device"] == "cpu":
                continue
            try:
                record = run_cell(Cell(problem, graph, warmup=2, transfers="separate", **chosen))  # type: ignore[arg-type]
            except GpuGraphError as error:
                print(f"| {spec} | | | {cell['algorithm']} | {chosen['device']} | {error} |" + " |" * 8, flush=True)
                continue
            print(row(record), flush=True)
            if save is not None:
                append_record(record, save)


if __name__ == "__main__":
    main()
