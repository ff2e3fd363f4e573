"""Connected components over ranks.

On GPUs, and on the emulated device, each rank finds the components of its own rows, and joins them with those of the
others:

    hook trees along the own arcs
    for step = 1, 2, 4, … below P: each rank sends its labels to the rank `step` after it, which joins them with its own
    each finds the roots, which are the same everywhere

Each rank skips the rows inside of its own giant component, as one device does.  An arc of which neither end was looked
at then joins the giants of two ranks; should they not have become one component, all rows are read after all.

Processors take Borůvka's rounds with edges that are all equal (``ext/ranks/contraction.py``).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import Clock, NullClock
from gpugraph.devices.base import Device
from gpugraph.devices.kernel_file import Arrays, ArrayTable, KernelFile, needs
from gpugraph.ext.components import gpu_hook
from gpugraph.ext.components.labels import Components
from gpugraph.ext.papers.mst.weight_words import merge_launches
from gpugraph.ext.ranks.comm import from_all_ranks
from gpugraph.ext.ranks.contraction import HostEdges, Subject, part_behind
from gpugraph.ext.ranks.part import GraphPart, require_on_devices
from gpugraph.ext.ranks.transports import comm_for
from gpugraph.problems.registry import add_algorithm

FILE = KernelFile("merge_labels.cu")


class LabelsOnDevices(Arrays):
    """What one rank knows of the components (arrays and kernels: merge_labels.cu, components.cu)."""

    def __init__(self, part: GraphPart, device: Device):
        n, ranks = part.vertices, part.comm.size
        table: ArrayTable = {
            "others": (n if ranks > 1 else 0, np.int32),
            "changed": (merge_launches(n, FILE["JUMPS"]), np.uint32),
            "giants": (ranks, np.uint32),
            "apart": (1, np.uint32),
        }
        labels = needs(dict.fromkeys(("parent", "least", "hubs"), (n, np.int32)))
        require_on_devices(part.comm, device, part.bytes_to_place(device) + labels + needs(table) + 4096, part.name)
        super().__init__(device, table)
        self.part, self.comm, self.block = part, comm_for(part.comm, device), FILE["BLOCK"]
        self.local = gpu_hook.State(part.rows_on(device), device)
        self.kernels, self.label, self.vertices = FILE.kernels(device), self.local.parent, np.int32(n)

    def hook(self, *, giant: bool) -> None:
        """Find the components of the own arcs; ``giant``: but for arcs within the giant one."""
        self.local.giant = giant
        gpu_hook.run(self.local, NullClock())

    def merge(self) -> None:
        """Join what the arcs of all ranks join."""
        for others in from_all_ranks(self.comm, self.label, self.others):
            self.launch("join", self.part.vertices, self.vertices, others, self.label)

    def settle(self) -> None:
        """Find the roots."""
        n = self.part.vertices
        if self.comm.size > 1 and n:
            self.device.fill(self.changed, 0)
            for step in range(merge_launches(n, FILE["JUMPS"])):
                self.launch("follow", n, np.int32(step), self.vertices, self.label, self.changed)

    def giants_apart(self) -> bool:
        """Tell whether the giants of the ranks are several components still; a collective."""
        device, ranks, rank = self.device, self.comm.size, self.comm.rank
        if ranks == 1 or self.part.vertices == 0:
            return False
        giant = gpu_hook.FILE["GIANT_ROOT"]
        device.fill(self.giants, 0)
        device.copy(self.giants[rank : rank + 1], self.local.control[giant : giant + 1])
        self.comm.all_reduce(self.giants, "sum")
        self.launch("giants", 1, np.int32(ranks), self.giants, self.label, self.apart)
        self.comm.all_reduce(self.apart, "max")  # one that differed would wait in the next collective for ever
        return bool(device.read(self.apart))


def compile_(subject: Subject, device: Device) -> None:
    """Compile the kernels, outside of any timing."""
    if device.kind != "cpu":
        part = part_behind(subject)
        gpu_hook.load_kernel(part, device)
        FILE.kernels(device)


def prepare(subject: Subject, device: Device) -> HostEdges | LabelsOnDevices:
    """Return what this rank knows of the components."""
    part = part_behind(subject)
    if device.kind == "cpu":
        return HostEdges(part, weighted=False, labelled=True)
    return LabelsOnDevices(part, device)


def run(state: HostEdges | LabelsOnDevices, clock: Clock) -> None:
    """Find the components."""
    if isinstance(state, HostEdges):
        state.contract(clock)
    elif _find(state, clock, giant=True):
        _find(state, clock, giant=False)


def _find(state: LabelsOnDevices, clock: Clock, *, giant: bool) -> bool:
    """Find the components; returns whether that has to be done again, with all rows read."""
    with clock.phase("hook"):
        state.hook(giant=giant)
    with clock.phase("merge"):
        state.merge()
    with clock.phase("label"):
        state.settle()
        return giant and state.giants_apart()


def fetch(state: HostEdges | LabelsOnDevices, handle: None) -> NDArray[Any]:
    """Copy the labels, which all ranks have, to the host."""
    labels: NDArray[Any] = state.label if isinstance(state, HostEdges) else state.device.download(state.label)
    return labels


add_algorithm(
    "components",
    "boruvka-distributed",
    summary="components of each rank's rows by hooking, whose labels are joined rank by rank",
    authors="Borůvka; Chung, Condon",
    year=1996,
    section="Parallel implementation of Borůvka's minimum spanning tree algorithm, section 4",
    prepare=prepare,
    run=run,
    fetch=fetch,
    finish=lambda state, labels: Components.of(state.part.graph or state.part, labels),
    compile=compile_,
    ranks=True,
)
