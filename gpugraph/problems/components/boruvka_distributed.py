"""Connected components over ranks.

On GPUs, and on the emulated device, each rank finds the components of its own rows, and then one rank hands its labels
to another, which joins them with its own, until one has those of all:

    hook trees along the own arcs
    for step = 1, 2, 4, …: rank r + step, for r a multiple of 2 step, sends its labels to r, which joins them
    the first rank finds the roots and tells all others

Processors take Borůvka's rounds with edges that are all equal (``problems/contraction.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.clock import Clock, NullClock
from gpugraph.devices.base import Device
from gpugraph.devices.kernel_file import Arrays, ArrayTable, KernelFile, needs
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.components import gpu_hook
from gpugraph.problems.components.labels import Components
from gpugraph.problems.contraction import HostEdges, contract, part_behind
from gpugraph.problems.mst.gpu_forest import merge_launches
from gpugraph.problems.registry import register
from gpugraph.ranks.comm import comm_for, to_lower_ranks
from gpugraph.ranks.part import GraphPart, require_on_devices

FILE = KernelFile("merge_labels.cu")


class LabelsOnDevices(Arrays):
    """What one rank knows of the components (arrays and kernels: merge_labels.cu, components.cu)."""

    def __init__(self, part: GraphPart, device: Device):
        n, table = part.vertices, {"changed": (merge_launches(part.vertices, FILE["JUMPS"]), np.uint32)}
        self._require(part, device, table)
        super().__init__(device, table)
        self.part, self.comm, self.block = part, comm_for(part.comm, device), FILE["BLOCK"]
        self.local = gpu_hook.State(part.rows_on(device), device, whole=part.comm.size == 1)
        self.kernels, self.label, self.vertices = FILE.kernels(device), self.local.parent, np.int32(n)

    @staticmethod
    def _require(part: GraphPart, device: Device, table: ArrayTable) -> None:
        labels = 4 * part.vertices * (4 if part.comm.size > 1 else 3)
        require_on_devices(part.comm, device, part.bytes_to_place(device) + labels + needs(table), part.name)

    def hook(self) -> None:
        """Find the components of the own arcs."""
        gpu_hook.run(self.local, NullClock())

    def merge(self) -> None:
        """Join what the arcs of all ranks join, on the first rank."""
        for others in to_lower_ranks(self.comm, self.label):
            self.launch("join", self.part.vertices, self.vertices, others, self.label)

    def settle(self) -> None:
        """Find the roots, and let all ranks know them."""
        n = self.part.vertices
        if self.comm.size > 1 and n:
            self.device.fill(self.changed, 0)
            for step in range(merge_launches(n, FILE["JUMPS"])):
                self.launch("follow", n, np.int32(step), self.vertices, self.label, self.changed)
            self.comm.spread(self.label, [0] + [n] * self.comm.size)


def compile_(subject: Any, device: Any) -> None:
    """Compile the kernels, outside of any timing."""
    if device.kind != "cpu":
        part = part_behind(subject)
        gpu_hook.load_kernel(part, device)
        FILE.kernels(device)


def prepare(subject: Any, device: Any) -> HostEdges | LabelsOnDevices:
    """Return what this rank knows of the components."""
    part = part_behind(subject)
    if device.kind == "cpu":
        return HostEdges(part, weighted=False, labelled=True)
    return LabelsOnDevices(part, device)


def run(state: HostEdges | LabelsOnDevices, clock: Clock) -> None:
    """Find the components."""
    if isinstance(state, HostEdges):
        contract(state, clock)
    else:
        with clock.phase("hook"):
            state.hook()
        with clock.phase("merge"):
            state.merge()
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
        summary="components of each rank's rows by hooking, whose labels are joined rank by rank",
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
