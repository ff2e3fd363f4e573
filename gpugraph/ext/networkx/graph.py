"""A NetworkX graph as arrays: arcs in the order of its adjacency, weights read when a function asks for them.

Vertices are numbered as ``list(G)`` has them, and edges as ``list(G.edges)``, so that what comes first there comes
first here.  What has no exact value in 64 bits is declined, and NetworkX computes it.
"""

import gc
import inspect
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import chain, compress
from operator import itemgetter, methodcaller
from typing import Any, TypeVar

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import plain_njit
from gpugraph.base.host import ForkLock
from gpugraph.ext.python import call_profile
from gpugraph.ext.python.certified import Firsts, check_way
from gpugraph.ext.python.inputs import device_kind
from gpugraph.ext.python.searches import Rows
from gpugraph.graph.csr import target_dtype
from gpugraph.graph.sort_arcs import row_starts

T = TypeVar("T")
Attributes = dict[Any, Any]


class Declined(NotImplementedError):
    """What gpugraph cannot hold exactly; NetworkX tries the next backend, or computes it itself."""


class ConvertedGraph:
    """A NetworkX graph in arrays.

    Attributes:
        original: the graph, for its attributes.
        nodes: its nodes, in its order.
        offsets: (n+1,) int64.
        targets: (arcs,) int32 or int64; an undirected edge is two arcs, parallel edges are one.
        data: (edges,) what the adjacency holds of each that ``list(G.edges)`` shows, parallel ones counted once: its
            attributes, of a multigraph those of each key.
        in_turns: held by who uses something that is ``kept``: threads take turns.
    """

    __networkx_backend__ = "gpugraph"

    def __init__(self, graph: nx.Graph):
        self.original = graph
        self.directed, self.multigraph = bool(graph.is_directed()), bool(graph.is_multigraph())
        adjacency = graph._adj if type(graph._adj) is dict else _seen_through(graph)
        self.nodes: list[Hashable] = list(adjacency)
        rows = list(adjacency.values())
        n = len(rows)
        self.offsets = np.zeros(n + 1, np.int64)
        np.cumsum(np.fromiter(map(len, rows), np.int64, n), out=self.offsets[1:])
        heads: Iterator[Any] = chain.from_iterable(rows)
        if not self.plain:
            heads = map(self.number.__getitem__, heads)
        self.targets: NDArray[Any] = np.fromiter(heads, target_dtype(n), int(self.offsets[-1]))
        held = chain.from_iterable(map(methodcaller("values"), rows))
        # Both arcs of an edge have one and the same dictionary, which is slow to come by for the second time.
        self.data: list[Any] = list(held if self.directed else compress(held, self._forward.tobytes()))
        self._weights: dict[Hashable, NDArray[Any]] = {}
        self._scalars: set[Hashable] = set()
        self._kept: dict[Any, Any] = {}
        self.firsts = Firsts()
        self.in_turns = ForkLock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_kept", "in_turns")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _kept={}, in_turns=ForkLock())

    @cached_property
    def plain(self) -> bool:
        """True where the nodes are the numbers 0, 1, 2, … in that order."""
        return set(map(type, self.nodes)) <= {int} and self.nodes == list(range(len(self.nodes)))

    @cached_property
    def number(self) -> dict[Hashable, int]:
        """Node → vertex."""
        return {node: i for i, node in enumerate(self.nodes)}

    @cached_property
    def tails(self) -> NDArray[Any]:
        """(arcs,) the vertex of each arc's row."""
        return np.repeat(np.arange(len(self.nodes), dtype=self.targets.dtype), np.diff(self.offsets))

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.number
        except TypeError:
            return False

    def __len__(self) -> int:
        return len(self.nodes)

    def is_directed(self) -> bool:
        """Tell whether arcs lead one way, as NetworkX asks."""
        return self.directed

    def is_multigraph(self) -> bool:
        """Tell whether edges have keys, as NetworkX asks."""
        return self.multigraph

    # ------------------------------------------------------------------ weights

    def rows(self, weight: Hashable) -> Rows:
        """Return the arcs with their weights, or raise Declined if one is no number of 64 bits.

        ``weight`` is an edge attribute, which counts 1 where it is missing, or a function of two nodes and the
        attributes, which hides an edge by returning None.
        """
        with call_profile.phase("convert"):
            try:
                if callable(weight):
                    return self._by_function(weight)
                weights = self.weights(weight)
            except (LookupError, TypeError) as error:  # perhaps of an edge that no path comes to
                raise Declined(f"an edge has no weight: {error!r}") from error
            return Rows(self.offsets, self.targets, weights, weight in self._scalars)

    def weights(self, name: Hashable) -> NDArray[Any]:
        """Return (arcs,) int64 or float64: an attribute of every arc, of parallel edges the least."""
        if name not in self._weights:
            if self.multigraph:
                values = [min([attributes.get(name, 1) for attributes in keyed.values()]) for keyed in self.data]
            else:
                values = attribute(self.data, name)
            if _are_scalars(values):
                self._scalars.add(name)
            each = summable(numbers(values, float), len(self.nodes))
            self._weights[name] = each if self.directed else each[self._edge_of_arc]
        return self._weights[name]

    def _by_function(self, weight: Callable[[Hashable, Hashable, Attributes], object]) -> Rows:
        tails, heads = (named(self.nodes, ends) for ends in (self.tails, self.targets))
        data = self.data if self.directed else map(self.data.__getitem__, self._edge_of_arc.tolist())
        values = list(map(weight, tails, heads, data))
        shown = np.fromiter((value is not None for value in values), bool, len(values))
        before = np.concatenate((np.zeros(1, np.int64), np.cumsum(shown)))
        kept = [value for value in values if value is not None]
        weights = summable(numbers(kept, float), len(self.nodes))
        return Rows(before[self.offsets], self.targets[shown], weights, _are_scalars(kept))

    # ------------------------------------------------------------------ edges

    @cached_property
    def _forward(self) -> NDArray[np.bool_]:
        """(arcs,) the arc of each edge that ``list(G.edges)`` shows."""
        return np.ones(len(self.targets), bool) if self.directed else self.targets >= self.tails

    @cached_property
    def _edge_of_arc(self) -> NDArray[np.int64]:
        """(arcs,) where ``data`` has the edge of each arc of an undirected graph."""
        n, edge = len(self.nodes), np.empty(len(self.targets), np.int64)
        starts = row_starts(self.targets[self.targets > self.tails], n)
        tails, ids = np.empty(int(starts[-1]), self.targets.dtype), np.empty(int(starts[-1]), np.int64)
        room = starts, tails, ids, np.empty(n, np.int64), np.full(n, -1, np.int64)
        paired = np.count_nonzero(self._forward) + len(ids) == len(edge)
        if not paired or not _find_edges(self.offsets, self.targets, edge, room):
            raise Declined("an edge of the undirected graph is in one of its two rows alone")
        return edge

    @cached_property
    def edge_ends(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Tails and heads of the edges, parallel ones counted once."""
        return self.tails[self._forward], self.targets[self._forward]

    @cached_property
    def edges(self) -> tuple[NDArray[Any], NDArray[Any], list[Hashable] | None, list[Attributes]]:
        """Tails, heads, keys (None where there are none) and attributes of each edge, as ``list(G.edges)`` has them."""
        tails, heads = self.edge_ends
        data = self.data
        if not self.multigraph:
            return tails, heads, None, data
        counts = np.fromiter(map(len, data), np.int64, len(data))
        keys = list(chain.from_iterable(data))
        attributes = list(chain.from_iterable(keyed.values() for keyed in data))
        return np.repeat(tails, counts), np.repeat(heads, counts), keys, attributes

    def edge_weights(self, name: Hashable) -> NDArray[Any]:
        """Return (edges,) int64 or float64: an attribute of each edge; it may be NaN."""
        return numbers(attribute(self.edges[3], name), (float, np.float16, np.float32))

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what ``make`` returned when it was first asked for under a key, on the device of today."""
        key = (key, device(), way_to_verify())
        if key not in self._kept:
            with call_profile.phase("convert"):
                self._kept[key] = make()
        held: T = self._kept[key]
        return held

    @property
    def device_kind(self) -> str:
        """The kind of the device that computes."""
        return device_kind(device())


@plain_njit
def _find_edges(offsets: Any, targets: Any, edge: Any, room: Any) -> bool:
    """Number the arcs to no smaller vertex in their order, and give those to a smaller one the number of their twin.

    ``edge``, (arcs,), gets the numbers.  There are as many arcs to a smaller vertex as to a greater one, which
    ``starts`` counts by their heads; ``seen_from`` is −1, the others are room.  Returns False if an arc has no twin.
    """
    starts, tails, ids, last, seen_from = room
    n, count = len(offsets) - 1, 0
    for v in range(n):
        for arc in range(offsets[v], offsets[v + 1]):
            head = targets[arc]
            if head >= v:
                edge[arc] = count
                if head > v:
                    tails[starts[head]], ids[starts[head]] = v, count
                    starts[head] += 1
                count += 1
    first = 0
    for v in range(n):
        for place in range(first, starts[v]):
            last[tails[place]], seen_from[tails[place]] = ids[place], v
        first = starts[v]
        for arc in range(offsets[v], offsets[v + 1]):
            head = targets[arc]
            if head < v:
                if seen_from[head] != v:
                    return False
                edge[arc] = last[head]
    return True


def _seen_through(graph: nx.Graph) -> dict[Hashable, dict[Hashable, Any]]:
    """Return the adjacency of a view, whose parts filter what they show each time they are asked."""
    shown = {node: dict(row.items()) for node, row in graph.adjacency()}
    if graph.is_multigraph():
        for row in shown.values():
            row.update({head: dict(keyed.items()) for head, keyed in row.items()})
    return shown


def by_name(function: Any) -> Callable[..., dict[str, Any]]:
    """Return what gives the arguments of a call by the names that a function of NetworkX's has, defaults filled in."""
    signature = inspect.signature(function.orig_func)

    def arguments_of(*arguments: object, **named: object) -> dict[str, Any]:
        given = signature.bind(*arguments, **named)
        given.apply_defaults()
        return given.arguments

    return arguments_of


@contextmanager
def uncollected() -> Iterator[None]:
    """Make many objects without the garbage collector going through all of a large graph again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def device() -> str:
    """Return the device that ``networkx.config.backends.gpugraph.device`` names."""
    import networkx

    return str(getattr(networkx.config.backends.get("gpugraph"), "device", "auto"))


def way_to_verify() -> str:
    """Return what ``networkx.config.backends.gpugraph.verify`` says: certify the first answers, all, or none."""
    import networkx

    return check_way(getattr(networkx.config.backends.get("gpugraph"), "verify", "first"))


def attribute(data: list[Attributes], name: Hashable) -> list[Any]:
    """Return an attribute of every edge, 1 where it is missing."""
    try:
        return list(map(itemgetter(name), data))
    except KeyError:
        return [attributes.get(name, 1) for attributes in data]


def numbers(values: list[Any], reals: type | tuple[type, ...]) -> NDArray[Any]:
    """Return numbers exactly as int64 or float64, or raise Declined.

    ``reals`` are the types to take: sums of narrower ones than float64 are rounded differently.
    """
    kinds = set(map(type, values))
    whole = {kind for kind in kinds - {np.timedelta64} if issubclass(kind, int | np.integer | np.bool_)}
    if strange := {kind for kind in kinds - whole if not issubclass(kind, reals)}:
        raise Declined(f"an edge's weight is a {next(iter(strange)).__name__}")
    try:
        if whole == kinds:
            return np.fromiter(values, np.int64, len(values))
        real = np.fromiter(values, np.float64, len(values))
    except OverflowError:
        raise Declined("an edge's weight needs more than 64 bits") from None
    if whole and (np.abs(real[np.isfinite(real)]) >= 2.0**53).any():
        raise Declined("integers beside floats are beyond what floats hold exactly")
    return real


def _are_scalars(values: list[Any]) -> bool:
    """Tell whether sums of values are scalars of NumPy, of the very type that they are returned in."""
    kinds = set(map(type, values))
    return bool(kinds) and (kinds <= {np.int64, np.bool_} or kinds == {np.float64})


def summable(weights: NDArray[Any], vertices: int) -> NDArray[Any]:
    """Return weights all of whose sums along paths fit; raise Declined for others, and for NaN and infinity."""
    if not len(weights):
        return weights
    if weights.dtype.kind == "f":
        if not np.isfinite(weights).all():
            raise Declined("an edge's weight is infinite or not a number")
    elif max(abs(int(weights.min())), int(weights.max())) * (vertices + 1) >= 2**62:
        raise Declined("lengths of paths may need more than 64 bits")
    return weights


def named(nodes: list[Hashable], vertices: NDArray[Any]) -> Iterator[Any]:
    """Return the nodes of vertices."""
    return map(nodes.__getitem__, vertices.tolist())
