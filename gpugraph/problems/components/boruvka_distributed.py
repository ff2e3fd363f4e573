"""Connected components over ranks: Borůvka's rounds with edges that are all equal (``problems/contraction.py``).

On a GPU each rank first finds the components of its own share: an edge from every vertex to the smallest of its
component there joins as much as the share does.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.clock import Clock, NullClock
from gpugraph.devices.kernel_file import needs
from gpugraph.graph.view import make_resident
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.components import gpu_hook
from gpugraph.problems.components.labels import Components
from gpugraph.problems.contraction import (
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
from gpugraph.problems.registry import register
from gpugraph.ranks.part import require_on_devices


def compile_(subject: Any, device: Any) -> None:
    """Compile the kernels, outside of any timing."""
    if device.kind != "cpu":
        part = part_behind(subject)
        sizes: Any = SimpleNamespace(index_bits=expected_index_bits(subject, part))
        load_kernels(part, device, sizes.index_bits, weighted=False)
        gpu_hook.load_kernel(sizes, device)


def prepare(subject: Any, device: Any) -> Edges:
    """Return this rank's share of the edges."""
    part = part_behind(subject)
    if device.kind == "cpu":
        return HostEdges(part, weighted=False, labelled=True)
    view = local_view(part, index_bits_of(subject))
    needed = view.nbytes + needs(gpu_hook.arrays(view)) + needs(arrays(part, weighted=False, labelled=True))
    require_on_devices(part.comm, device, needed, part.name)
    resident = make_resident(view, device)[0]
    local = gpu_hook.State(resident, device)

    def reduce(edges: DeviceEdges) -> int:
        """List an edge for every vertex that hangs on another by this rank's own share."""
        labels = gpu_hook.run(local, NullClock())
        n = part.vertices
        edges.launch("list_labels", n, np.int32(n), labels, *edges.lists[0], edges.edge_count)
        return int(device.read(edges.edge_count))

    return DeviceEdges(part, resident, device, reduce, weighted=False, labelled=True)


def run(state: Any, clock: Clock) -> None:
    """Find the components."""
    contract(state, clock)
    with clock.phase("label"):
        state.settle()


def fetch(state: Any, handle: None) -> NDArray[Any]:
    """Copy the labels, which all ranks have, to the host."""
    labels: NDArray[Any] = state.label if isinstance(state, HostEdges) else state.device.download(state.label)
    return labels


def finish(state: Any, labels: NDArray[np.int32]) -> Components:
    """Return the components of the labels."""
    return Components.of(state.part.graph or state.part, labels)


register(
    Algorithm(
        problem="components",
        name="boruvka-distributed",
        devices=("cpu", "cuda", "emulated"),
        summary="components of each rank's share by hooking, merged by Borůvka's rounds over ranks",
        authors="Borůvka; Chung, Condon",
        year=1996,
        section="Parallel implementation of Borůvka's minimum spanning tree algorithm, section 4",
        prepare=prepare,
        run=run,
        fetch=fetch,
        finish=finish,
        compile=compile_,
        resident=False,
        ranks=True,
    )
)
