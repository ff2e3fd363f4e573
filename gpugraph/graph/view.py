"""GraphView and ResidentView: the arrays an algorithm gets, on the host and on a device, after its preparations.

A view holds the arrays after the chosen preparations (``ext/changes/preparations.py``); ``canonical_edges`` leads from
its arcs to the edges of the CSRGraph.  Ties are broken by the original edge id whatever the preparations did.
"""

from __future__ import annotations

import time
from dataclasses import MISSING, dataclass, fields, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import check_name
from gpugraph.devices.base import Array, Device
from gpugraph.devices.kernel_file import index_dtype
from gpugraph.graph.canonical import ids_at
from gpugraph.graph.csr import CSRGraph, freeze, target_dtype
from gpugraph.graph.read_options import PREPARATIONS

PREPARED_BY = "gpugraph.ext.changes.preparations"
"""The extension that prepares views, imported where a preparation is wanted."""


@dataclass(frozen=True, eq=False)
class GraphView:
    """The arrays an algorithm works on; they are read-only.

    Attributes:
        graph: the CSRGraph behind the view.
        offsets: (n+1,) int32, uint32 or int64 — the arc index type of the device code.
        targets: (arcs,) int32 or int64, in the view's vertex numbers.
        weights: (arcs,) the graph's dtype, or uint32 ranks after ``rank-weights``.
        preparations: the preparations applied, in order.
        arc_origin: (arcs,) position in the CSRGraph of each arc of the view, of the offsets' dtype, or None for
            the identity.
        vertex_origin: (n,) original vertex of each vertex of the view, of the targets' dtype, or None for the
            identity.
        edge_ids: (arcs,) canonical edge id of each arc, of the offsets' dtype, or None where row order *is*
            canonical order and a reverse arc finds its id by binary search in the sorted row.
        compressed: after ``compress`` the ``CompressedTargets`` that a device gets instead of ``targets``, else None.
    """

    graph: CSRGraph
    offsets: NDArray[Any]
    targets: NDArray[Any]
    weights: NDArray[Any]
    preparations: tuple[str, ...] = ()
    arc_origin: NDArray[Any] | None = None
    vertex_origin: NDArray[Any] | None = None
    edge_ids: NDArray[Any] | None = None
    compressed: Any = None
    _index: np.dtype[Any] | None = None

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def host(self) -> GraphView:
        """The view itself: it is on the host."""
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return an array of a plain view; called only for what an instance lacks."""
            if "graph" not in self.__dict__ or name not in ("offsets", "targets", "weights"):
                raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
            array = getattr(self.graph, name)
            if name == "offsets":
                array = array.astype(self._index, copy=False).view()
                array.flags.writeable = False
            return self.__dict__.setdefault(name, array)

    @property
    def vertices(self) -> int:
        """Number of vertices, n."""
        return len(self.offsets) - 1 if self._index is None else self.graph.vertices

    @property
    def arcs(self) -> int:
        """Number of arcs."""
        return len(self.targets) if self._index is None else self.graph.arcs

    @property
    def index_dtype(self) -> np.dtype[Any]:
        """The dtype of an arc index in device code; asking for it copies nothing."""
        return self.offsets.dtype if self._index is None else self._index

    @property
    def weight_dtype(self) -> np.dtype[Any]:
        """The dtype of the weights; asking for it copies nothing."""
        return self.weights.dtype if self._index is None else self.graph.weight_dtype

    @property
    def index_bits(self) -> int:
        """Width of an arc index in device code: 32 or 64."""
        return self.index_dtype.itemsize * 8

    @property
    def weight_bytes(self) -> int:
        """Bytes of one weight."""
        return self.weight_dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays that a device needs: offsets, targets, weights and edge ids where there are some."""
        ids = 0 if self.edge_ids is None else self.edge_ids.nbytes
        word = target_dtype(self.vertices).itemsize
        targets = self.arcs * word if self.compressed is None else self.compressed.nbytes
        return self.index_dtype.itemsize * (self.vertices + 1) + targets + self.arcs * self.weight_bytes + ids

    @classmethod
    def of(
        cls,
        graph: CSRGraph,
        preparations: tuple[str, ...] = (),
        index_bits: int | None = None,
        *,
        unsigned: bool = False,
    ) -> GraphView:
        """Return the view of ``graph`` after ``preparations``; arc indices of 32 bits where they fit, unless asked.

        They have no sign where that makes them fit, if ``unsigned`` and nothing is prepared.

        Raises:
            InputError: an unknown preparation, a width other than 32 and 64, 32 bits asked for too many arcs,
                more than 2^32 distinct weights to rank, or vertex numbers of 64 bits to compress.
        """
        chosen = tuple(dict.fromkeys(preparations))
        for name in chosen:
            check_name("preparation", name, PREPARATIONS)
        index = index_dtype(graph.arcs, index_bits, unsigned=unsigned and not chosen)
        if not chosen:  # as the graph is; arrays that lie on a device come to the host when asked for
            view = object.__new__(cls)
            view.__dict__.update({f.name: f.default for f in fields(cls) if f.default is not MISSING})
            view.__dict__.update(graph=graph, _index=index)
            return view
        prepared: GraphView = import_module(PREPARED_BY).prepared(graph, chosen, index)
        return prepared

    def canonical_edges(self, arc_positions: NDArray[Any]) -> NDArray[np.int64]:
        """Return (k,) int64 canonical edge ids, in the CSRGraph, of arcs of the view; either arc of an edge will do."""
        if self.edge_ids is not None:
            return np.asarray(self.edge_ids[arc_positions], np.int64)
        graph = self.graph
        if graph.directed:
            return np.array(arc_positions, np.int64)
        if graph.on_device is not None and graph.on_device.usable:
            return graph.on_device.canonical_ids(np.ascontiguousarray(arc_positions))
        return ids_at(graph.offsets, graph.targets, np.ascontiguousarray(arc_positions, np.int64))

    def bring_to_host(self, leave: Device | None = None) -> None:
        """Copy to the host what is not there; the graph's copy on the device ``leave`` is given up for other work."""
        for holder in (self.graph, self):
            for name in ("offsets", "targets", "weights"):
                getattr(holder, name)
        if self.graph.on_device is not None and self.graph.on_device.device is leave:
            object.__setattr__(self.graph, "on_device", None)

    def tiny(self) -> GraphView:
        """Return a view of the path 0–1–2 with the dtypes of this one, to compile for."""
        path = CSRGraph(
            offsets=np.array([0, 1, 3, 4], self.graph.offsets.dtype),
            targets=np.array([1, 0, 2, 1], self.graph.targets.dtype),
            weights=np.array([1, 1, 2, 2], self.graph.weight_dtype),
            directed=False,
            name=self.graph.name,
        )
        return GraphView.of(path, index_bits=self.index_bits)


@dataclass(frozen=True, eq=False)
class ResidentView:
    """What a GPU algorithm gets: the view, and its arrays on the device, as in GraphView.

    Attributes:
        host: the GraphView the arrays were copied from.
        compressed: the arrays of ``host.compressed``, if it is, and ``targets`` is then ``kept``; else None.
    """

    host: GraphView
    offsets: Array
    targets: Array
    weights: Array
    edge_ids: Array | None
    compressed: tuple[Array, ...] | None = None

    @property
    def vertices(self) -> int:
        """Number of vertices, n."""
        return self.host.vertices

    @property
    def arcs(self) -> int:
        """Number of arcs."""
        return self.host.arcs

    @property
    def index_bits(self) -> int:
        """Width of an arc index in device code: 32 or 64."""
        return self.host.index_bits

    @property
    def weight_bytes(self) -> int:
        """Bytes of one weight."""
        return self.host.weight_bytes

    @property
    def index_dtype(self) -> np.dtype[Any]:
        """The dtype of an arc index in device code."""
        return self.host.index_dtype

    @property
    def nbytes(self) -> int:
        """Bytes the view takes on the device."""
        return self.host.nbytes

    def own(self, device: Device) -> ResidentView:
        """Return the view with arrays of its own, for whom one does not trust with those that others work on."""

        def copied(array: Array) -> Array:
            made = device.empty(array.shape, array.dtype)
            device.copy(made, array)
            return made

        arrays = {name: getattr(self, name) for name in ("offsets", "targets", "weights")}
        return replace(self, **{name: copied(array) for name, array in arrays.items()})


def make_resident(view: GraphView, device: Device) -> tuple[ResidentView, float, float]:
    """Copy a view to a device, or take the arrays that lie there already; OutOfMemory, with nothing allocated.

    Returns the resident view, the seconds of staging (the copy into pinned memory) and of the transfer.
    """
    rows = view.graph.on_device
    if rows is not None and rows.device is device and rows.usable and not view.preparations:
        wide = rows.index_dtype == view.index_dtype
        offsets = rows.offsets if wide else device.upload(view.offsets)
        return ResidentView(view, offsets, rows.targets, rows.weights, None), 0.0, 0.0
    device.require(view.nbytes)
    start = time.perf_counter()
    ids = [] if view.edge_ids is None else [view.edge_ids]
    targets = [view.targets] if view.compressed is None else list(view.compressed.arrays)
    arrays = [view.offsets, view.weights, *ids, *targets]
    staged = [device.stage(array) for array in arrays]
    stage_s = time.perf_counter() - start
    watch = device.stopwatch()
    watch.start()
    offsets, weights, *others = [device.upload(array) for array in staged]
    watch.stop()
    transfer_s = watch.seconds
    edge_ids = others.pop(0) if ids else None
    if view.compressed is None:
        return ResidentView(view, offsets, others[0], weights, edge_ids), stage_s, transfer_s
    return ResidentView(view, offsets, others[3], weights, edge_ids, tuple(others)), stage_s, transfer_s
