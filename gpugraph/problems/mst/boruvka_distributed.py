"""Borůvka's algorithm over ranks; the rounds and their source are in ``problems/contraction.py``.

On a GPU each rank first finds the forest of its own share by filter-Borůvka: what that leaves out is in no forest of
the whole graph.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.clock import Clock, NullClock
from gpugraph.devices.kernel_file import needs
from gpugraph.graph.digest import set_digest
from gpugraph.graph.view import make_resident
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contraction import (
    FILE,
    DeviceEdges,
    Edges,
    arrays,
    contract,
    expected_index_bits,
    index_bits_of,
    load_kernels,
    local_view,
    part_behind,
)
from gpugraph.problems.contraction_cpu import HostEdges
from gpugraph.problems.mst import gpu_filter_boruvka
from gpugraph.problems.mst.forest import Forest, edge_endpoints, edge_ids
from gpugraph.problems.mst.gpu_forest import forest_bytes
from gpugraph.problems.mst.on_ranks import gathered_forest
from gpugraph.problems.registry import register
from gpugraph.ranks.part import require_on_devices


def compile_(subject: Any, device: Any) -> None:
    """Compile the kernels, outside of any timing."""
    if device.kind != "cpu":
        part = part_behind(subject)
        sizes: Any = SimpleNamespace(
            index_bits=expected_index_bits(subject, part), weights=np.empty(0, part.weight_dtype)
        )
        load_kernels(part, device, sizes.index_bits, weighted=True)
        gpu_filter_boruvka.load_kernel(sizes, device)


def prepare(subject: Any, device: Any) -> Edges:
    """Return this rank's share of the edges."""
    part = part_behind(subject)
    if device.kind == "cpu":
        return HostEdges(part, weighted=True, labelled=False)
    view = local_view(part, index_bits_of(subject))
    needed = view.nbytes + gpu_filter_boruvka.state_bytes(view) + needs(arrays(part, weighted=True, labelled=False))
    require_on_devices(part.comm, device, needed, part.name)
    resident = make_resident(view, device)[0]
    local = gpu_filter_boruvka.State(resident, device)

    def reduce(edges: DeviceEdges) -> int:
        """List the forest of this rank's own share."""
        forest = gpu_filter_boruvka.run(local, NullClock())
        count = int(device.read(local.forest_edges))
        weights = (resident.weights, FILE.weight_kind(resident.weights))
        graph = (np.int32(part.vertices), resident.offsets, resident.targets, *weights)
        edges.launch("list_forest", count, np.uint32(count), forest, *graph, *edges.lists[0])
        return count

    return DeviceEdges(part, resident, device, reduce, weighted=True, labelled=False)


def run(state: Edges, clock: Clock) -> None:
    """Grow the forest."""
    contract(state, clock)


def fetch(state: Any, handle: None) -> NDArray[Any]:
    """Copy what names the forest's edges that were won on this rank to the host, ascending."""
    if isinstance(state, HostEdges):
        chosen = state.chosen[: int(state.chosen_count[0])]
    else:
        chosen = state.device.download(state.chosen[: int(state.device.read(state.chosen_count))])
    return np.sort(chosen.astype(np.int64))


def finish(state: Any, chosen: NDArray[np.int64]) -> Forest:
    """Return the forest; a collective."""
    part = state.part
    if isinstance(state, HostEdges):
        u, v, weight = state.tails[chosen], state.heads[chosen], state.weights[chosen]
    else:
        local = state.view.host.graph
        (u, v), weight = edge_endpoints(local, chosen), local.weights[chosen]
    if part.graph is not None:
        return Forest.of(part.graph, edge_ids(part.graph, u, v))
    return gathered_forest(part, u, v, weight)


register(
    Algorithm(
        problem="mst",
        name="boruvka-distributed",
        devices=("cpu", "cuda", "emulated"),
        summary="the forest of each rank's share, merged by rounds in which all agree on each tree's least edge",
        authors="Borůvka; Chung, Condon",
        year=1996,
        section="Parallel implementation of Borůvka's minimum spanning tree algorithm, section 4",
        prepare=prepare,
        run=run,
        fetch=fetch,
        finish=finish,
        digest=set_digest,
        compile=compile_,
        minimum_bytes=forest_bytes,
        resident=False,
        ranks=True,
    )
)
