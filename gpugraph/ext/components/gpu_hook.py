"""Connected components on a GPU in one cooperative launch: hook, and read only what the giant leaves open.

How it works, its arrays and invariants are in ``cuda_kernels/components.cu``.

Source: see the kernel's docblock.
"""

import numpy as np

from gpugraph.base.clock import Clock, add_stamps
from gpugraph.devices.base import Array, Device, InTurns, Kernel, Launch
from gpugraph.devices.kernel_file import INDICES, Arrays, ArrayTable, KernelFile, index_types, needs
from gpugraph.ext.components.labels import Components, label_bytes
from gpugraph.ext.ranks.part import GraphPart
from gpugraph.graph.device_rows import DeviceRows
from gpugraph.graph.digest import array_digest
from gpugraph.graph.view import ResidentView
from gpugraph.problems.algorithm import InputSizes
from gpugraph.problems.registry import add_algorithm

FILE = KernelFile("components.cu", INDICES)


def arrays(sizes: InputSizes | DeviceRows) -> ArrayTable:
    """Return the arrays of a run (meaning: components.cu)."""
    n = sizes.vertices
    return {
        **dict.fromkeys(("parent", "hubs"), (n, np.int32)),
        **dict.fromkeys(("control_0", "control_1"), (FILE["CONTROL_WORDS"], np.uint32)),
        "timeline": (len(FILE.phases), np.uint64),
    }


class State(Arrays):
    """The arrays of one run on a graph, or on a rank's rows of it.  Raises OutOfMemory if there is no room for them."""

    giant = True
    """Rows of the giant component are skipped."""

    def __init__(self, view: ResidentView | DeviceRows, device: Device):
        super().__init__(device, arrays(view))
        self.view, self.block = view, FILE["BLOCK"]
        self.kernel = load_kernel(view, device)
        self.grid = max(1, min(-(-view.vertices // self.block), self.kernel.resident_blocks(self.block)))
        self.start = InTurns(device, (self.control_0, self.control_1), self.prepared)

    def prepared(self, control: Array, next_control: Array) -> Launch:
        """Return the launch on one set of control words, which clears the next."""
        view = self.view
        made = self.parent, self.hubs, control, next_control, self.timeline
        arguments = (np.int32(view.vertices), view.offsets, view.targets, *made)
        return self.kernel.prepared(self.grid, self.block, arguments)

    @property
    def control(self) -> Array:
        """The control words of the last run."""
        return self.start.own


def load_kernel(view: ResidentView | DeviceRows | GraphPart, device: Device) -> Kernel:
    """Return the kernel that fits the rows, compiled if need be."""
    return FILE.kernel(device, index_types(view.index_dtype), cooperative=True)


def run(state: State, clock: Clock) -> Array:
    """Find the components; returns the device array of labels, ``state.parent``."""
    device = state.device
    if state.view.vertices == 0:
        return state.parent
    if clock.timing:
        device.fill(state.timeline, 0)
    skips = "READ_ALL" if not state.giant else "WHOLE" if isinstance(state.view, ResidentView) else "SKIP"
    state.start(np.int32(FILE[skips]))
    if clock.timing:
        add_stamps(clock, FILE.phases, device.download(state.timeline))
    return state.parent


add_algorithm(
    "components",
    "hook",
    summary="one cooperative launch: hook trees by the first arcs of rows, then the rows outside of the giant",
    authors="gpugraph; after Sutton, Ben-Nun, Barak; Jaiganesh, Burtscher",
    year=2018,
    section="IPDPS'18, section IV; HPDC'18, section 3",
    prepare=State,
    run=run,
    finish=lambda state, labels: Components.of(state.view.host.graph, labels),
    digest=array_digest,
    compile=load_kernel,
    minimum_bytes=label_bytes,
    state_bytes=lambda sizes: needs(arrays(sizes)),
    unsigned=True,
)
