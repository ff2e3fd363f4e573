"""One look at every arc on a GPU: what ``tight_arcs.py`` sees on the host, for a graph that lies on the device.

The kernels and why they suffice are in ``cuda_kernels/verify_distances.cu``.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.devices.base import Defines, Device, Kernel
from gpugraph.devices.kernel_file import UNSIGNED, Arrays, KernelFile, index_types, product, unsigned
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.device_rows import DeviceRows
from gpugraph.graph.view import ResidentView
from gpugraph.problems.sssp.arcs import distance_dtype, sums_of

WEIGHTS = ("uint32", "uint64", "float32", "float64")
FILE = KernelFile(
    "verify_distances.cu",
    [
        *product(INDEX_BITS=(32, 64), WEIGHT=WEIGHTS),
        *product(INDEX_BITS=(32, 64), WEIGHT=("float32",), DISTANCE=("float32",)),
        UNSIGNED,
    ],
)
NO_ARC = np.uint64(2**64 - 1)  # −1 as a signed number
NO_VERTEX = np.uint32(2**32 - 1)


class TightArcs(Arrays):
    """The tight arcs that distances leave, and the predecessors by them (shapes and meaning: verify_distances.cu).

    The view is of a graph without preparations, or of a rank's rows of it; the source is its own predecessor. Takes 16
    bytes for each vertex, 12 for distances in float32; where only level arcs reach vertices, 8 more for each of them
    and for every 1024 arcs.  Raises OutOfMemory if the device has no room for it.
    """

    def __init__(self, view: ResidentView | DeviceRows, device: Device, distance: NDArray[Any], source: int):
        super().__init__(device, {})
        self.view, self.source = view, source
        device.require(distance.nbytes + 8 * view.vertices)
        self.distance = device.upload(np.ascontiguousarray(distance))
        self.hold = device.full(view.vertices, np.uint64(FILE["NOTHING"]), np.uint64)
        self.kernels = load_kernels(view, device, distance.dtype)
        device.fill(self.hold[source : source + 1], np.uint64(source))

    def check_arcs(self) -> tuple[int, int]:
        """Look at every arc; return the first relaxable one and the first whose sum is no distance, or −1."""
        first = self.device.full(2, NO_ARC, np.uint64)
        self.launch("check_arcs", self._tiles(), *self._graph(), self.hold, first[:1], first[1:])
        relaxable, wraps = self.device.download(first).view(np.int64)
        return int(relaxable), int(wraps)

    def follow_levels(self) -> int | None:
        """Use level arcs for vertices that have no others; return the first without a predecessor, or None."""
        count, first = self.find_loose()
        if not count:
            return None
        items = count + self.view.arcs // FILE["TILE"]
        self.device.require(8 * items)
        rows = self.device.empty(items, np.uint64)
        found = self.device.full(3, 0, np.uint32)
        self.launch("begin_levels", self._tiles(), *self._graph(), self.hold, rows, found)
        follow = self.kernels["follow_levels"]
        grid = min(-(-items * FILE["WARP"] // self.block), follow.resident_blocks(self.block))
        barrier = self.device.full(3, 0, np.uint32)
        follow(grid, self.block, (*self._graph(), self.hold, rows, found, barrier), stop=barrier[2:])
        count, first = self.find_loose()
        return first if count else None

    def predecessors(self) -> NDArray[np.int64]:
        """Return (n,) int64 every vertex's predecessor, −1 for the source and where there is none; call it last."""
        n = np.int32(self.view.vertices)
        self.launch("name_tails", self.view.vertices, n, np.int32(self.source), self.hold)
        return self.device.download(self.hold).view(np.int64)

    def ground(self) -> None:
        """Put every vertex that has a predecessor at level 0, so that others can be reached from it."""
        n = np.int32(self.view.vertices)
        self.launch("name_tails", self.view.vertices, n, np.int32(-1), self.hold)

    def find_loose(self) -> tuple[int, int]:
        """Return how many reached vertices have no predecessor, and the first of them."""
        loose = self.device.full(2, NO_VERTEX, np.uint32)
        self.device.fill(loose[:1], 0)
        n = np.int32(self.view.vertices)
        self.launch("find_loose", self.view.vertices, n, self.distance, self.hold, loose)
        count, first = self.device.download(loose)
        return int(count), int(first)

    def _graph(self) -> tuple[Any, ...]:
        view = self.view
        sizes = (np.int32(view.vertices), view.index_dtype.type(view.arcs))
        return (*sizes, view.offsets, view.targets, view.weights, self.distance)

    def _tiles(self) -> int:
        """Return the threads that take a tile of arcs a warp."""
        return -(-self.view.arcs // FILE["TILE"]) * FILE["WARP"]


def suits(view: ResidentView, graph: CSRGraph, distance: NDArray[Any]) -> bool:
    """Tell whether the view holds the very graph that distances belong to, and they are of its size and type."""
    whole = view.host.graph is graph and not view.host.preparations
    dtype = distance_dtype(graph.weight_dtype, sums_of(distance.dtype))
    return whole and distance.shape == (graph.vertices,) and distance.dtype == dtype


def load_kernels(view: ResidentView | DeviceRows, device: Device, distance: np.dtype[Any]) -> dict[str, Kernel]:
    """Return all that ``TightArcs`` launches on distances of a dtype, compiled if need be, before anything is timed."""
    rounded = {"DISTANCE": "float32"} if distance == np.float32 else {}
    defines: Defines = {**index_types(view.index_dtype), "WEIGHT": unsigned(view.weights.dtype), **rounded}
    return FILE.kernels(device, defines, cooperative=("follow_levels",))


def canonical_predecessors(
    view: ResidentView, device: Device, distance: NDArray[Any], source: int
) -> NDArray[np.int64]:
    """Return canonical predecessors (n,) int64, −1 for the source and where unreached; OutOfMemory without room."""
    tight = TightArcs(view, device, distance, source)
    tight.check_arcs()
    tight.follow_levels()
    return tight.predecessors()
