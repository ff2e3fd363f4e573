"""Which hardware for a graph, before it is read: the memory and the time it will need, and when a GPU pays."""

import itertools
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpugraph.base.host import available_memory
from gpugraph.bench.estimate import Prices
from gpugraph.bench.local_workers import Limits
from gpugraph.bench.plan import Planned
from gpugraph.ext.formats.header_size import header_size
from gpugraph.ext.instruments.price import costs
from gpugraph.ext.machine.break_even import break_even
from gpugraph.ext.machine.data_sheets import Gpu, parse_gpus
from gpugraph.ext.machine.listing import found_devices
from gpugraph.graph.families import is_spec
from gpugraph.measure.cell import Cell, resolve_algorithm
from gpugraph.measure.run_cell import Session
from gpugraph.measure.sampling import Sampling
from gpugraph.problems.contract import PROBLEMS, InputSize
from gpugraph.problems.on_graphs import size_of
from gpugraph.problems.registry import command_of, load_problem
from gpugraph.records.record import Record

ROUGH = Sampling(min_samples=3, max_samples=10, time_limit_s=0.5, transfers=1)
"""An order of magnitude is enough."""

LARGEST_SCALE = {"cpu": 17, "cuda": 22}
"""Of the graphs that rates are measured on: they take seconds on a small machine.  These tell when a GPU pays."""


def advise(
    graph: str, progress: Callable[[str], None], price: float = 0.0, gpus: Sequence[Gpu] = ()
) -> dict[str, object]:
    """Return what is known of a graph that is not opened, as an object for JSON.

    Args:
        graph: a file or a spec.
        progress: called with a few words whenever something new begins.
        price: of an hour of a device, in any currency; 0: none is stated.
        gpus: those for which times are estimated by data sheet; the first is assumed where there is none here, or an
            H200.

    Returns:
        ``graph``, ``vertices``, ``arcs``, whether they are ``exact``, those of a file's ``header``, or ``drawn`` by a
        spec, before repeats are merged; ``cpu`` and ``gpu`` as ``found_devices`` lists them, with ``free_bytes``; by
        problem ``host_bytes`` and ``device_bytes`` at the peak, ``cpu_s`` and ``gpu_s`` of the kernel, and the edges
        from which a GPU is faster, by ``break_even``: ``pays_from`` in a command and ``pays_there_from`` where it has
        the graph; with a price ``cpu_cost`` and ``gpu_cost``, as ``costs`` gives them; ``gpus``, what ``estimate`` says
        of each.  What is not known, or never happens, is None.

    Raises:
        InputError: there is no such graph.
    """
    sampling = replace(ROUGH, price=price)
    solved = [name for name in PROBLEMS if command_of(name).on_graph]
    size, records = size_of(graph, "file"), list[Record]()
    devices = sorted(found_devices(), key=lambda one: not one["usable"])
    cpu, gpu = (next(one for one in devices if one["kind"] == kind) for kind in ("cpu", "cuda"))

    def failed(_: int, error: Exception) -> None:
        raise error

    session = Session()
    for device in (cpu, gpu) if gpu["usable"] else (cpu,):
        most = LARGEST_SCALE[device["kind"]]
        scale = min(max(round(math.log2(max(size.vertices, 1))), 8), most)
        for each, problem in itertools.product(sorted({scale, most}), solved):
            verify = "auto" if each == most else "none"
            cell = Cell(problem, f"rmat:{each}", device=device["device"], verify=verify, phases=False)
            session.measure([cell], sampling, progress, lambda _, record: records.append(record), failed)
    assumed = gpus[0] if gpus else parse_gpus(["H200"], price)[0]
    problems = {
        name: _problem(name, graph, size, [row for row in records if row.problem == name], price, assumed)
        for name in solved
    }
    stated = not size.exact and os.path.isfile(graph) and header_size(graph) is not None
    known = {"graph": graph, "vertices": size.vertices, "arcs": size.arcs, "exact": size.exact, "header": stated}
    known["drawn"] = size.exact and is_spec(graph) and not os.path.exists(graph)
    there = [estimate(one, size, {name: int(of["device_bytes"]) for name, of in problems.items()}) for one in gpus]
    return {**known, "cpu": {**cpu, "free_bytes": available_memory()}, "gpu": gpu, "problems": problems, "gpus": there}


def estimate(gpu: Gpu, size: InputSize, needs: Mapping[str, int]) -> dict[str, Any]:
    """Return a GPU's ``name``, ``memory_bytes``, ``bytes_per_s`` and by problem ``seconds``, ``fits`` and ``cost``.

    ``seconds`` are the least and the most, ``cost`` what a million answers cost in these; None where not known.
    """
    problems: dict[str, Any] = {}
    for problem, need in needs.items():
        seconds = gpu.seconds(problem, size.arcs)
        cost = [costs(gpu.price, one, None)["per_million_answers"] for one in seconds or ()] if gpu.price else None
        problems[problem] = {"seconds": seconds, "fits": need <= gpu.sheet.memory_bytes, "cost": cost}
    stated = {name: getattr(gpu.sheet, name) for name in ("memory_bytes", "bytes_per_s")}
    return {"name": gpu.name, **stated, "problems": problems}


def _problem(
    problem: str, graph: str, size: InputSize, rows: Sequence[Record], price: float, assumed: Gpu
) -> dict[str, Any]:
    records, largest = ({row.device_kind: row for row in by_size} for by_size in (rows[::-1], rows))
    prices = Prices(ROUGH, [*records.values()])
    on_gpu = resolve_algorithm(Cell(problem, graph), load_problem(problem), None, "cuda").name
    needs = {
        kind: prices.need(Planned(Cell(problem, graph, name, kind), kind, size, Limits()))
        for kind, name in (("cpu", records["cpu"].algorithm), ("cuda", on_gpu))
    }
    arc_s = {kind: (one.kernel_s or 0.0) / (one.shape.graph.arcs or 1) for kind, one in records.items()}
    seconds = {kind: arc_s[kind] * size.arcs for kind in arc_s if price and size.arcs}
    paid = {f"{kind}_cost": costs(price, s, 2 * s / size.arcs) for kind, s in seconds.items()}
    pays_from, pays_there_from = break_even(largest["cpu"], largest.get("cuda", assumed))
    return {
        **{name.replace("cuda", "gpu"): cost for name, cost in paid.items()},
        "host_bytes": needs["cpu"].host_bytes,
        "device_bytes": needs["cuda"].device_bytes,
        "cpu_s": arc_s["cpu"] * size.arcs,
        "gpu_s": arc_s["cuda"] * size.arcs if "cuda" in arc_s else None,
        "pays_from": pays_from,
        "pays_there_from": pays_there_from,
    }
