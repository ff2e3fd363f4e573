"""``OnGraphs``, the common part of problems on graphs: the size of their input, opening it, copying it to a device."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gpugraph.base.errors import InputError, OutOfMemory
from gpugraph.problems.contract import Input, InputSize, Verdict, ViewSize

if TYPE_CHECKING:
    from gpugraph.base.clock import HostClock
    from gpugraph.devices.base import Device
    from gpugraph.graph.csr import CSRGraph
    from gpugraph.graph.view import GraphView, ResidentView

LISTED_BYTES = 16
"""Of host memory that a line takes at the peak while text is read: ids and a weight of 32 bits, and a column again."""

STATE_BYTES_PER_VERTEX = 48
STATE_BYTES_PER_ARC = 8
"""What GPU algorithms take besides the graph, where nothing tells."""


class OneQuery:
    """The part of a ``Problem`` that is the same for every problem with one query for an input."""

    query_fields: tuple[str, ...] = ()
    counter_examples = ""

    def queries(self, graph: Any, parameters: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        """Return the one run there is to make; the input says which."""
        return [()]

    def batch(self, queries: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
        """Return the one query that there is."""
        (query,) = queries
        return query

    def query_of(self, result: Any) -> tuple[Any, ...]:
        """Return the one query that there is."""
        return ()

    def add_optional_outputs(self, result: Any, *_of_the_run: Any) -> Any:
        """Return None: no option adds anything to the result."""

    def figures(self, graph: Any, phases: Mapping[str, float]) -> dict[str, Any]:
        """Return nothing: its records hold what all do."""
        return {}


@lru_cache(maxsize=4096)
def size_of(graph: str, weights: str = "file") -> InputSize:
    """Return the size of what a file or a spec will give; raise InputError for none, or a damaged .csr."""
    from gpugraph.graph.families import is_spec
    from gpugraph.graph.sources import data_sets, is_dataset, other_files

    if not is_dataset(graph) and not os.path.exists(graph) and is_spec(graph):
        import numpy as np

        from gpugraph.graph.generate import can_generate
        from gpugraph.graph.spec import parse_spec

        spec = parse_spec(graph)
        sizes = spec.vertices, spec.arcs, 4 if weights == "unit" else np.dtype(spec.weights.dtype).itemsize
        return _graph_size(sizes, True, spec.estimate_bytes(), 0 if can_generate(spec) else None)
    from gpugraph.graph.load import is_graph_file, load_file

    if is_dataset(graph):
        if counts := data_sets().size_before_fetching(graph):
            arcs = 2 * counts[1]
            return _graph_size((counts[0], arcs, 8), False, arcs * 32)
        graph = os.fspath(data_sets().local_csr(graph))
    if not os.path.isfile(graph):
        what = "there is no such file" if is_graph_file(graph) else "is neither a file nor a graph spec"
        what = "is no file that can be read again and again" if graph == "-" or os.path.exists(graph) else what
        raise InputError(what, where=graph, remedy="name a file or a spec such as rmat:20")
    if graph.endswith(".csr"):
        csr = load_file(graph, check=False)  # only mapped
        arrays = csr.offsets.nbytes + csr.targets.nbytes + csr.weights.nbytes
        return _graph_size((csr.vertices, csr.arcs, csr.weights.itemsize), True, arrays, 0)
    lines, arcs, vertices = other_files().lines_and_arcs(graph)
    vertices = max(arcs // 16, 1) if vertices is None else vertices
    return _graph_size((vertices, arcs, 4), False, arcs * 32, LISTED_BYTES * lines)


def _graph_size(shape: tuple[int, int, int], exact: bool, making_bytes: int, fed_bytes: int | None = None) -> InputSize:
    vertices, arcs, weight_bytes = shape
    nbytes = 8 * (vertices + 1) + arcs * ((4 if vertices < 2**31 else 8) + weight_bytes)
    state_bytes = STATE_BYTES_PER_VERTEX * vertices + STATE_BYTES_PER_ARC * arcs
    return InputSize(*shape, exact, making_bytes, nbytes, state_bytes, fed_bytes=fed_bytes)


@lru_cache(maxsize=4096)
def series_of(graph: str) -> str:
    """Return the graph with what makes it large left open: ``rmat:{scale},ef=8``; a file's path, or what is no spec."""
    from gpugraph.graph.families import find_family, is_spec
    from gpugraph.graph.sources import is_dataset

    if is_dataset(graph) or os.path.exists(graph) or not is_spec(graph):
        return graph
    from gpugraph.graph.spec import parse_spec

    try:
        text = parse_spec(graph).text
    except InputError:  # the name of a file that begins like one
        return graph
    family = find_family(text.partition(":")[0])
    if family.positional:
        open_ = "x".join(f"{{{key}}}" for key in family.positional)
        head, _, tail = text.partition(":")
        first, comma, rest = tail.partition(",")
        kept = f"{comma}{rest}" if "=" not in first else f",{tail}"
        return f"{head}:{open_}{kept}"
    return re.sub(r"(?<=[:,])n=\d+", "n={n}", text)


class OnGraphs(OneQuery):
    """The part of a ``Problem`` that is the same for every problem whose input is a graph."""

    cheaper_check = "certificate"
    counted = "undirected edges"
    definition = "MTEPS = undirected edges of the graph / kernel time / 10^6"
    certifier = ""
    """The module whose ``certify(view, device, *query, result)`` checks a result on a GPU, or raises OutOfMemory."""
    size = staticmethod(size_of)
    series = staticmethod(series_of)

    def view_size(self, size: InputSize, preparations: Sequence[str], index_bits: int | None) -> ViewSize:
        """Return the sizes that a graph's view will have; ``compress`` is not foreseen to save anything."""
        from gpugraph.devices.kernel_file import index_dtype

        index_bits = index_bits or 8 * index_dtype(size.arcs).itemsize
        weight_bytes = 4 if "rank-weights" in preparations else size.weight_bytes
        id_bytes = index_bits // 8 if {"sort-adjacency", "renumber"} & set(preparations) else 0
        arc_bytes = (4 if size.vertices < 2**31 else 8) + weight_bytes + id_bytes
        nbytes = index_bits // 8 * (size.vertices + 1) + size.arcs * arc_bytes
        return ViewSize(size.vertices, size.arcs, index_bits, weight_bytes, nbytes)

    def open(
        self, input_: Input, clock: HostClock, progress: Callable[[str], None], device: Device | None = None
    ) -> CSRGraph:
        """Return the graph, timed by ``clock``, made by ``device`` if it can; InputError for none, or a damaged one."""
        from gpugraph.graph.open import open_graph

        return open_graph(input_.source, options=input_.read, clock=clock, progress=progress, device=device)

    def view(
        self, graph: CSRGraph, preparations: Sequence[str], index_bits: int | None, unsigned: bool = False
    ) -> GraphView:
        """Return the graph after the preparations."""
        from gpugraph.graph.view import GraphView

        return GraphView.of(graph, tuple(preparations), index_bits, unsigned=unsigned)

    def work(self, graph: CSRGraph, result: Any) -> int:
        """Return the number of undirected edges of the graph."""
        return graph.edges

    def to_device(self, view: GraphView, device: Device) -> tuple[ResidentView, float, float]:
        """Return the view's arrays on a device, and the seconds of ``stage`` and ``h2d``."""
        from gpugraph.graph.view import make_resident

        return make_resident(view, device)

    def certificate_on_device(
        self, view: ResidentView, device: Device, query: tuple[Any, ...], result: Any
    ) -> Verdict | None:
        """Check a result on the device; None if the view has preparations that matter, or there is no room."""
        if not self.certifier or not self.suits(view):
            return None
        try:
            verdict: Verdict = import_module(self.certifier).certify(view, device, *query, result)
            return verdict
        except OutOfMemory:
            return None

    def suits(self, view: ResidentView) -> bool:
        """Tell whether ``certifier`` can check results on a view."""
        return not view.host.preparations
