"""Time the certificate of distances and the predecessors on a GPU:

    python docs/measure/certificate_figures.py [SPEC ...]

The distances come from delta-stepping; a line for each part, the median of nine by the device's own stopwatch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
import numpy as np

import gpugraph
from gpugraph.clock import NullClock
from gpugraph.devices.discovery import select_device
from gpugraph.errors import GpuGraphError
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.problems.registry import find_algorithm, load_problem
from gpugraph.problems.sssp.gpu_tight_arcs import TightArcs, load_kernels
from gpugraph.problems.sssp.gpu_verify import certify

GRAPHS = ("rmat:24,w=1..255", "rmat:24,w=0..0", "rmat:26,w=1..255")
REPEAT = 9


def timed(device: Any, work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that some work took on the device, and what it returned."""
    watch = device.stopwatch()
    watch.start()
    returned = work()
    watch.stop()
    return watch.seconds, returned


def measure(spec: str, device: Any) -> None:
    """Solve a graph once, certify it, and time the parts."""
    graph = gpugraph.generate(spec)
    source = load_problem("sssp").queries(graph, {"source": "max-degree", "seed": 1})[0][0]
    view, _, _ = make_resident(GraphView.of(graph), device)
    algorithm = find_algorithm("sssp", "delta-stepping", device.kind)
    state = algorithm.prepare(view, device)
    result = algorithm.finish(state, algorithm.fetch(state, algorithm.run(state, NullClock(), source)), source)
    del state
    load_kernels(view, device)
    verdict = certify(view, device, source, result)
    click.echo(f"{spec}: {graph.vertices} vertices, {graph.arcs} arcs, {view.nbytes / 1e9:.2f} GB; {verdict.detail}")
    device.reset_peak()
    before = device.peak_bytes()
    parts: dict[str, list[float]] = {"upload": [], "check arcs": [], "follow levels": [], "predecessors, d2h": []}
    for _ in range(REPEAT):
        seconds, tight = timed(device, lambda: TightArcs(view, device, result.distance, source))
        parts["upload"].append(seconds)
        for name, part in zip(
            list(parts)[1:], (tight.check_arcs, tight.follow_levels, tight.predecessors), strict=True
        ):
            parts[name].append(timed(device, part)[0])
        del tight, part
    for name, samples in parts.items():
        middle = float(np.median(samples))
        click.echo(f"  {name:<18}{middle * 1e3:10.3f} ms {graph.arcs / middle / 1e9:8.1f} G arcs/s")
    click.echo(f"  peak {(device.peak_bytes() - before) / graph.vertices:.1f} bytes a vertex beside the graph")


@click.command()
@click.argument("specs", nargs=-1)
@click.option("--device", default="cuda", show_default=True)
def main(specs: tuple[str, ...], device: str) -> None:
    """Time the parts on SPECS, or on R-MAT graphs of scale 24 and 26."""
    try:
        opened, _ = select_device(device)
        for spec in specs or GRAPHS:
            measure(spec, opened)
    except GpuGraphError as error:
        raise click.ClickException(str(error)) from None


if __name__ == "__main__":
    main()
