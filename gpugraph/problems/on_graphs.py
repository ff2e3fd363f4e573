"""What problems on graphs share: how their input is opened, viewed and copied to a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpugraph.devices.base import Device
    from gpugraph.devices.resident import ResidentView
    from gpugraph.graph.csr import CSRGraph
    from gpugraph.graph.view import GraphView
    from gpugraph.measure.record import Cell


class OnGraphs:
    """The part of a ``Problem`` that is the same for every problem whose input is a graph."""

    def open(self, cell: Cell, phases: dict[str, float], progress: Callable[[str], None]) -> CSRGraph:
        """Return the graph that a cell names, and add the seconds of ``load`` and ``build`` to ``phases``."""
        from gpugraph.graph.sources import open_graph

        return open_graph(
            cell.graph,
            input_format=cell.input_format,
            weights=cell.weights,
            seed=cell.seed,
            symmetrize=cell.symmetrize,
            keep_ids=cell.keep_ids,
            phases=phases,
            progress=progress,
        )

    def view(self, graph: CSRGraph, preparations: Sequence[str], index_bits: int | None) -> GraphView:
        """Return the graph after the preparations."""
        from gpugraph.graph.view import GraphView

        return GraphView.of(graph, tuple(preparations), index_bits)

    def complete(self, result: Any, *_of_the_run: Any) -> Any:
        """Return None: no option adds anything to the result."""

    def to_device(self, view: GraphView, device: Device) -> tuple[ResidentView, float, float]:
        """Return the view's arrays on a device, and the seconds of ``stage`` and ``h2d``."""
        from gpugraph.devices.resident import make_resident

        return make_resident(view, device)
