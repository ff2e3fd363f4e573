"""A graph resident on a device: set up once, queried many times.

>>> with gpugraph.on(graph, device="cpu") as g:
...     forest = g.mst()
...     paths = g.sssp(17)
...     length, way = g.path(17, 25)

No record is made and nothing runs for trial.  The first answer of each algorithm and type is certified, unless that is
asked for otherwise.
"""

import math
from collections.abc import Callable, Hashable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property, wraps
from numbers import Real
from typing import Any, Literal, NoReturn, SupportsIndex, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.clock import NullClock
from gpugraph.base.errors import InputError, OutOfMemory, VerificationFailed, expect, shown, unknown_name
from gpugraph.base.host import ForkLock
from gpugraph.devices import discovery
from gpugraph.devices.base import Array, Device
from gpugraph.devices.kernel_file import index_dtype
from gpugraph.ext.components.labels import Components
from gpugraph.ext.python import call_profile
from gpugraph.ext.python.certified import Firsts, certify_search, check_way
from gpugraph.ext.python.inputs import input_positions, opened
from gpugraph.ext.python.searches import Rows, plain_cutoff, search
from gpugraph.ext.python.sources import Vertices, is_several, one_of, refuse_missing, source_list
from gpugraph.ext.python.terms import in_python_terms
from gpugraph.graph.convertible import Shown
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.registry import find_algorithm, load_problem
from gpugraph.problems.sources import resolve_sources
from gpugraph.problems.sssp import BATCHED
from gpugraph.problems.sssp.arcs import Arcs, distance_dtype, unreached
from gpugraph.problems.sssp.distances import DistanceMatrix, Distances

_Found = TypeVar("_Found", Distances, DistanceMatrix)
_Result = TypeVar("_Result", bound=Forest | Components | Distances | DistanceMatrix)
_Method = TypeVar("_Method", bound=Callable[..., Any])

_WORDS_AT_ONCE, _LEAST_BLOCK = 2**28, 64
"""Distances from many sources are found so many at a time, but of so many sources at least."""

_ARRAYS = {"mst": "edges", "components": "labels", "sssp": "raw"}
"""What of an answer is left on a device."""

_TOGETHER = 10
"""Sources from which on a GPU searches from all together."""
_SMALL = 64 << 10
"""Bytes of a result whose way back is no phase worth a wait of its own."""


@dataclass(frozen=True, eq=False)
class _PreparedAlgorithm:
    """An algorithm set up on a graph: the graph as its problem takes it, what lies on the device, the state.

    ``guard`` tells whether a user's own algorithm wrote into its input; None for ours.
    """

    algorithm: Algorithm
    graph: CSRGraph
    subject: Any
    state: Any
    guard: Any


def _by_one_thread(method: _Method) -> _Method:
    """Refuse a call while another thread's call is under way: calls on one graph share their arrays."""

    @wraps(method)
    def alone(held: Any, /, *arguments: object, **named: Any) -> Any:
        if not held._in_use.acquire(blocking=False):
            remedy = "hold the graph once for each thread, or use a lock"
            raise InputError("another thread is using this graph", where="gpugraph.on", remedy=remedy)
        try:
            return method(held, *arguments, **named)
        finally:
            held._in_use.release()

    return cast(_Method, in_python_terms(alone))


def _limit(cutoff: float | None) -> float | None:
    """Return how far a search goes, None for no limit."""
    try:
        if cutoff is None or (isinstance(cutoff, Real) and not math.isnan(cutoff)):
            return plain_cutoff(cutoff)
    except OverflowError:  # an integer beyond all floats
        pass
    raise InputError(f"cutoff is {shown(cutoff)}", remedy="give a number that a float holds")


class ResidentGraph(Shown):
    """A graph on a device; use it as a context manager, or call ``close``.

    For one thread at a time: a call is refused while another thread's call is under way.

    Attributes:
        graph: the graph as rows.
        device: the device (``gpugraph.devices.base.Device``, or the CPU).
    """

    def __init__(self, source: object, device: str = "auto", verify: str = "first"):
        self._in_use = ForkLock()
        expect(str, device=device)
        self.verify, self._firsts = check_way(verify), Firsts()
        self.device, self.note = discovery.select_device(device)
        with call_profile.call("on", self.device.kind), call_profile.phase("convert"):
            self.graph, self._arcs = opened(source, self.device)
        self._admitted: dict[str, CSRGraph] = {}
        self._placed: dict[tuple[int, bool, bool, str], Any] = {}
        self._prepared_algorithms: dict[Hashable, _PreparedAlgorithm] = {}
        self._closed = False

    def _title(self) -> str:
        return f"{self.graph.name} on {self.device.kind}" + (", given back" if self._closed else "")

    def _facts(self) -> list[tuple[str, Any]]:
        return self.graph._facts()

    def __reduce__(self) -> NoReturn:
        remedy = "pickle the graph itself, and hold it anew in the other process"
        raise InputError("a graph held on a device cannot be pickled or copied", where="gpugraph.on", remedy=remedy)

    def __enter__(self) -> "ResidentGraph":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @_by_one_thread
    def close(self) -> None:
        """Free the memory on the device; results on the host stay."""
        self._give_back()

    def _give_back(self) -> None:
        if not self._closed:
            self._closed = True
            self._prepared_algorithms.clear()
            self._placed.clear()
            self.device.close()

    # ------------------------------------------------------------------ questions

    @overload
    def mst(self, *, on_device: Literal[True], **options: Any) -> Any: ...

    @overload
    def mst(self, **options: Any) -> Forest: ...

    @_by_one_thread
    def mst(self, *, algo: str = "auto", verify: str | None = None, on_device: bool = False, **options: Any) -> Any:
        """Return the minimum spanning forest; of a directed graph the lighter arc of a pair counts.

        Args:
            algo: a name from ``gpugraph algos``.
            verify: ``"first"``: the first answer of each algorithm is certified; ``"all"``: every one; ``"none"``; or
                a method of ``gpugraph.mst`` for this one.  None: as ``gpugraph.on`` was told, ``"first"`` by default.
            on_device: return the device's own array instead of a ``Forest``: (tree_edges,) positions of arcs in the
                rows of the undirected graph, one of each edge, in any order; the caller's to keep.
            options: of the algorithm.

        Raises:
            VerificationFailed, InputError, OutOfMemory: as for ``gpugraph.mst``.
        """
        expect(bool, on_device=on_device)
        ready = self._prepared("mst", algo, options)
        method, passed = self._due(verify, ready)
        with call_profile.call("mst", self.device.kind):
            if on_device and self.device.kind != "cpu":
                if method != "none":
                    passed(self._verified(self._answer(ready), method, ready))
                return self._left_there(ready)
            forest: Forest = self._answer(ready)
        passed(self._verified(forest, method, ready))
        return forest.edges if on_device else forest

    @overload
    def components(self, *, on_device: Literal[True], **options: Any) -> Any: ...

    @overload
    def components(self, **options: Any) -> Components: ...

    @_by_one_thread
    def components(
        self, *, algo: str = "auto", verify: str | None = None, on_device: bool = False, **options: Any
    ) -> Any:
        """Return the connected components; of a directed graph the weakly connected ones.

        The arguments are those of ``mst``; with ``on_device`` it returns the (n,) labels as an array of the device.
        """
        expect(bool, on_device=on_device)
        ready = self._prepared("components", algo, options)
        method, passed = self._due(verify, ready)
        with call_profile.call("components", self.device.kind):
            if on_device and self.device.kind != "cpu":
                if method != "none":
                    passed(self._verified(self._answer(ready), method, ready))
                return self._left_there(ready)
            found: Components = self._answer(ready)
        passed(self._verified(found, method, ready))
        return found.labels if on_device else found

    @overload
    def sssp(self, source: None = ..., *, sources: object, **options: Any) -> DistanceMatrix: ...

    @overload
    def sssp(self, source: object = ..., *, on_device: Literal[True], **options: Any) -> Any: ...

    @overload
    def sssp(self, source: SupportsIndex | None = ..., **options: Any) -> Distances: ...

    @overload
    def sssp(self, source: list[Any] | tuple[Any, ...] | NDArray[Any], **options: Any) -> list[Distances]: ...

    @overload
    def sssp(self, source: object, **options: Any) -> Distances | list[Distances]: ...

    @_by_one_thread
    def sssp(
        self,
        source: Any = None,
        *,
        sources: object = None,
        target: object = None,
        cutoff: float | None = None,
        predecessors: bool = False,
        algo: str = "auto",
        verify: str | None = None,
        on_device: bool = False,
        **options: Any,
    ) -> Any:
        """Return the shortest distances from a source, or a list of them for a list of sources.

        With ``sources`` they are searched together, and the result is a ``DistanceMatrix``.

        Args:
            source: as for ``gpugraph.sssp``: a vertex, a node of a NetworkX graph, ``"name:17"``, …; or a list of them.
            sources: several, as for ``gpugraph.sssp``: a list, ``"random:K"``, or ``"all"``.
            target: a vertex; those farther from the source than this one count as not reached.
            cutoff: those farther than this count as not reached.
            predecessors: also return the canonical predecessors.
            algo: a name from ``gpugraph algos``.
            verify: as for ``mst``; of several ``sources`` ``"first"`` certifies the distances from the first.  Methods
                not together with ``target`` or ``cutoff``.
            on_device: return the device's own array instead of ``Distances``: (n,) distances in float64, or float32
                if summed in that, infinite where not reached, or words of 32 or 64 bits, of which the largest means
                that.  The caller's to keep.  Not of several ``sources``.
            options: of the algorithm; ``sums="float32"`` rounds sums of float32 weights to float32.

        Raises:
            VerificationFailed, InputError, OutOfMemory: as for ``gpugraph.sssp``.
        """
        expect(bool, predecessors=predecessors, on_device=on_device)
        cutoff = _limit(cutoff)
        limited = target is not None or cutoff is not None
        way = self.verify if verify is None else check_way(verify)
        if limited and (on_device or verify not in (None, "first", "all", "none")):
            raise InputError("a search that ends early is neither verified by a method nor left on the device")
        goal = None if target is None else self._vertex(target)
        there = on_device and self.device.kind != "cpu"
        if on_device and predecessors:
            raise InputError("predecessors are not left on the device", remedy="leave on_device or predecessors out")
        if sources is not None:
            one_of(source, sources)
            if on_device:
                raise InputError("distances from several sources are not left on the device", remedy="ask one by one")
            return self._matrix(sources, goal, cutoff, predecessors, algo, way, options)
        listed = isinstance(source, list | tuple) or (isinstance(source, np.ndarray) and source.ndim > 0)
        many = listed and not self._is_node(source)
        if many:
            refuse_missing(*source)
        vertices = [vertex for one in (source if many else [source]) for vertex in self._vertices(one)]
        if len(vertices) >= _TOGETHER and self.device.kind != "cpu" and algo == "auto" and not (limited or on_device):
            with suppress(OutOfMemory):  # one by one they take less
                return list(self._matrix(Vertices(vertices), None, None, predecessors, algo, way, options))
        if limited and self.device.kind == "cpu" and algo == "auto" and not options:
            found = [self._until(vertex, goal, cutoff) for vertex in vertices]
            kind: object = "search"
        else:
            ready = self._prepared("sssp", algo, options)
            kind = ready
            for vertex in vertices if there else ():
                if self._firsts.method(way, (kind, False, False)) != "none":
                    self._certify(kind, way, self._distances(ready, vertex))
            found = [self._distances(ready, vertex, goal, cutoff, on_device) for vertex in vertices]
        if predecessors:
            found = [self._with_predecessors(one) for one in found]
        for one in found if not there else ():
            self._certify(kind, way, one, goal, cutoff, predecessors)
        answers = [one.raw for one in found] if on_device and not there else found
        return answers if many or is_several(self.graph, source) else answers[0]

    @_by_one_thread
    def path(self, source: object, target: object) -> tuple[int | float, list[Any]]:
        """Return the length of a shortest path and its vertices, by the names that they have in the input.

        The search ends at the target.

        Raises:
            InputError: no such vertex, or no path.
        """
        self._refuse_closed()
        refuse_missing(source, target)
        start, goal = self._vertex(source), self._vertex(target)
        self._admit("sssp")
        with call_profile.call("path", self.device.kind):
            found = self._path(start, goal)
        if found is None:
            raise InputError(f"no path leads from {self.graph.label(start)} to {self.graph.label(goal)}")
        length, vertices = found
        names = self.graph.vertex_names
        return length, vertices if names is None else names[vertices].tolist()

    @_by_one_thread
    def input_positions(self, forest: Forest) -> NDArray[np.int64]:
        """Return (tree_edges,) int64: the position in the input of each edge of a forest of ``mst``.

        That is the position in the arrays of a matrix or of rows, or in ``list(G.edges)``: attributes that are kept
        beside the input are taken from there.  Of an edge that the input has in both directions it is the lighter arc,
        of equal ones the first.

        Raises:
            InputError: the forest is one of another graph.
        """
        graph = self._admit("mst")
        if not isinstance(forest, Forest):
            raise InputError(f"forest is {shown(forest)}", remedy="give a forest that mst of this graph returned")
        if forest.graph is not graph and forest.graph.digest != graph.digest:
            raise InputError("the forest is one of another graph", remedy="give one that mst of this graph returned")
        return self._positions[forest.edges]

    @cached_property
    def _positions(self) -> NDArray[np.int64]:
        """(arcs,) int64: where each arc of the undirected graph is in the input."""
        return input_positions(self._arcs(), self._admit("mst"))

    # ------------------------------------------------------------------ how

    def _admit(self, problem: str) -> CSRGraph:
        """Return the graph as a problem takes it; raise InputError where it cannot."""
        if problem not in self._admitted:
            undirected = next((g for g in self._admitted.values() if not g.directed and problem != "sssp"), None)
            self._admitted[problem] = undirected or load_problem(problem).admit(self.graph)
        return self._admitted[problem]

    def _due(self, verify: str | None, kind: object) -> tuple[str, Callable[[object], None]]:
        """Return by what method an answer of a kind is checked now, and what to call once it has passed."""
        method = self._firsts.method(self.verify if verify is None else check_way(verify), kind)
        return method, lambda result: self._firsts.passed(kind) if method != "none" else None

    def _verified(self, result: _Result, method: str, kind: object) -> _Result:
        ready = kind if isinstance(kind, _PreparedAlgorithm) else None
        if method != "none":
            self._check_input(ready)
        there = ready is not None and ready.algorithm.resident and self.device.kind != "cpu"
        return verified(result, method, ready=ready, on_gpu=self.device if there else None)

    def _check_input(self, ready: _PreparedAlgorithm | None) -> None:
        """Raise WroteIntoInput where a user's own algorithm changed the graph; nobody searches in that one again."""
        if ready is None or ready.guard is None:
            return
        from gpugraph.measure.instruments import SpoiledGraph, WroteIntoInput

        try:
            with ready.guard:
                ready.guard.check_input(ready.subject, self.device)
        except SpoiledGraph:  # the host's own arrays, of which there is no other copy
            self._give_back()
            raise
        except WroteIntoInput:
            kept = self._prepared_algorithms.items()
            self._prepared_algorithms = {key: one for key, one in kept if one.subject is not ready.subject}
            self._placed = {key: subject for key, subject in self._placed.items() if subject is not ready.subject}
            raise

    def _certify(
        self,
        by: object,
        way: str,
        found: Distances,
        goal: int | None = None,
        cutoff: float | None = None,
        predecessors: bool = False,
    ) -> None:
        """Check distances if it is their turn: those of a search that ended early as far as it went."""
        kind = by, goal is not None or cutoff is not None, predecessors
        method = self._firsts.method(way, kind)
        if method == "none":
            return
        if goal is None and cutoff is None:
            self._verified(found, method, by)
        else:
            self._check_input(by if isinstance(by, _PreparedAlgorithm) else None)
            arcs, reached = Arcs.of(found.graph), np.asarray(found.reached)
            ends = [] if cutoff is None else [cutoff]
            if goal is not None and reached[goal]:
                ends.append(found.raw[goal].item())
            if cutoff is None or cutoff >= 0:
                end = min(ends, default=None)
                real = found.raw.dtype.kind == "f"
                beyond = None if end is None else math.nextafter(end, math.inf) if real else math.floor(end) + 1
                certify_search(arcs, found.raw, reached, [found.source], beyond)
        self._firsts.passed(kind)

    def _prepared(self, problem: str, algo: str, options: dict[str, object]) -> _PreparedAlgorithm:
        """Return an algorithm set up on the graph, as it was left by the first call that needed it."""
        self._refuse_closed()
        expect(str, algo=algo)
        key = (problem, algo, tuple(sorted((name, repr(value)) for name, value in options.items())))
        if key not in self._prepared_algorithms:
            self._prepared_algorithms[key] = self._prepare(problem, algo, options)  # counts for the call that needs it
        return self._prepared_algorithms[key]

    def _refuse_closed(self) -> None:
        if self._closed:
            raise InputError("the graph was given back", remedy="ask inside the with statement")

    def _prepare(self, problem: str, algo: str, options: dict[str, object]) -> _PreparedAlgorithm:
        with call_profile.phase("convert"):
            graph = self._admit(problem)
        name = load_problem(problem).auto(graph, self.device.kind) if algo == "auto" else algo
        algorithm = find_algorithm(problem, name, self.device.kind)
        known = {option.name: option for option in algorithm.options}
        for option in options.keys() - known.keys():
            raise unknown_name(f"option of '{name}'", option, known)
        chosen = {n: option.parse(options[n]) if n in options else option.default for n, option in known.items()}
        unsigned = index_dtype(graph.arcs, unsigned=algorithm.unsigned).kind == "u"
        place = (id(graph), algorithm.resident, unsigned, name if algorithm.foreign else "")  # a copy of its own
        if place not in self._placed:
            view = GraphView.of(graph, unsigned=unsigned)
            on_host = self.device.kind == "cpu" or not algorithm.resident
            with call_profile.phase("copy"):
                self._placed[place] = view if on_host else load_problem(problem).to_device(view, self.device)[0]
        subject = self._placed[place]
        guard = _guard(algorithm.name, self.graph, graph, subject) if algorithm.foreign else None
        if algorithm.compile is not None:
            with call_profile.phase("compile"):
                algorithm.compile(subject, self.device, **chosen)
        with call_profile.phase("copy"):  # room for what is computed
            state = algorithm.prepare(subject, self.device, **chosen)
        return _PreparedAlgorithm(algorithm, graph, subject, state, guard)

    def _run(self, ready: _PreparedAlgorithm, *query: object) -> Array:
        if self.graph.mapped is not None:
            self.graph.mapped.check()
        with call_profile.phase("kernel"):
            handle = ready.algorithm.run(ready.state, NullClock(), *query)
            self.device.synchronize()
        return handle

    def _answer(self, ready: _PreparedAlgorithm, *query: object, limits: tuple[object, ...] = ()) -> Any:
        """Return a result on the host; for a small one the host waits once, for the kernel and the copy behind it.

        Args:
            ready: what answers.
            query: the source, or nothing.
            limits: what else ``run`` takes: where it may end.
        """
        algorithm, raw = ready.algorithm, None
        if self.graph.mapped is not None:
            self.graph.mapped.check()
        with call_profile.phase("kernel"):
            handle = algorithm.run(ready.state, NullClock(), *query, *limits)
            if getattr(handle, "nbytes", _SMALL + 1) <= _SMALL:
                raw = algorithm.fetch(ready.state, handle)
            else:
                self.device.synchronize()
        with call_profile.phase("back"):
            if raw is None:
                raw = algorithm.fetch(ready.state, handle)
            return algorithm.finish(ready.state, raw, *query)

    def _distances(
        self,
        ready: _PreparedAlgorithm,
        source: int,
        goal: int | None = None,
        cutoff: float | None = None,
        on_device: bool = False,
    ) -> Any:
        """Return the distances of the vertices up to a goal or a cutoff, where an algorithm that can may end."""
        with call_profile.call("sssp", self.device.kind):
            if ready.algorithm.batched:
                if on_device:
                    raise InputError("distances of a batch are not left on the device", remedy="name another algorithm")
                return _within(self._answer(ready, (source,))[0], goal, cutoff)
            if on_device and self.device.kind != "cpu":
                return self._left_there(ready, source)
            limits = (goal, cutoff) if ready.algorithm.ends_early else ()
            found = self._answer(ready, source, limits=limits)
            return _within(found, goal, cutoff)

    def _matrix(
        self,
        sources: object,
        goal: int | None,
        cutoff: float | None,
        predecessors: bool,
        algo: str,
        way: str,
        options: dict[str, object],
    ) -> DistanceMatrix:
        """Return the distances from several sources, block by block where their distances fill the device."""
        if isinstance(sources, Vertices):
            vertices = list(sources)
        else:
            vertices = resolve_sources(self.graph, {"source": source_list(sources)})
        ready = self._prepared("sssp", BATCHED if algo == "auto" else algo, options)
        with call_profile.call("sssp", self.device.kind):
            if ready.algorithm.batched:
                step = max(_LEAST_BLOCK, _WORDS_AT_ONCE // self.graph.vertices)
                blocks = [tuple(vertices[first : first + step]) for first in range(0, len(vertices), step)]
                found = DistanceMatrix.joined([self._answer(ready, one) for one in blocks])
            else:
                found = DistanceMatrix.joined([self._distances(ready, vertex) for vertex in vertices])
            if goal is not None or cutoff is not None:
                found = DistanceMatrix.joined([_within(row, goal, cutoff) for row in found])
        if predecessors:
            found = self._with_predecessors(found)
        for row in [found[0]] if way == "first" and len(found) else found if way != "none" else ():
            self._certify(ready, way, row, goal, cutoff, predecessors)
        return found

    def _left_there(self, ready: _PreparedAlgorithm, *query: object) -> Array:
        """Return an answer as an array on the device: a copy of the algorithm's own, else one that is sent there.

        Not every algorithm leaves what is promised, and whole distances of 64 bits are looked at for sums that wrapped.
        """
        algorithm, handle = ready.algorithm, self._run(ready, *query)
        real = algorithm.problem == "sssp" and ready.graph.weights.dtype.kind == "f"
        own = algorithm.resident and not (algorithm.ranks or algorithm.foreign) and hasattr(handle, "dtype")
        if not own or (algorithm.problem == "sssp" and not real and handle.dtype.itemsize == 8):
            answer = algorithm.finish(ready.state, algorithm.fetch(ready.state, handle), *query)
            sent = self.device.upload(getattr(answer, _ARRAYS[algorithm.problem]))
            self.device.synchronize()
            return sent
        if algorithm.problem == "mst":
            handle = handle[: int(self.device.read(ready.state.forest_edges))]
        kept = self.device.empty(handle.shape, handle.dtype)  # the next call writes over the algorithm's own
        self.device.copy(kept, handle)
        if real:
            kept, there = kept.view(f"f{handle.dtype.itemsize}"), cast(Any, self.device)
            if there.kind == "cuda":
                there.cupy.cuda.runtime.setDevice(there.index)
            with getattr(there, "stream", nullcontext()):
                kept[kept != kept] = np.inf  # all bits of a word set: not reached
        self.device.synchronize()
        return kept

    @cached_property
    def _rows(self) -> tuple[Rows, np.dtype[Any]]:
        """Return the graph as rows that a search takes whose sums are certain to fit, and the dtype of distances."""
        graph = self._admit("sssp")
        weights, dtype = graph.weights, distance_dtype(graph.weights.dtype)
        if dtype.kind == "u":
            if graph.arcs and int(weights.max()) * graph.vertices >= 2**63:
                raise InputError("distances may need more than 63 bits", remedy="search without target and cutoff")
            weights = weights.astype(np.int64, copy=False)
        return Rows(graph.offsets, graph.targets, weights), dtype

    def _path(self, start: int, goal: int) -> tuple[int | float, list[int]] | None:
        """Return the length and the vertices of a shortest path, or None."""
        if self.device.kind == "cpu":
            rows, dtype = self._rows
            with call_profile.phase("kernel"):
                found = search(rows, [start], goal)
            reached = (found.place >= 0) & np.isfinite(found.distance)
            if self._firsts.method(self.verify, "path") != "none":
                end = found.distance[goal] if reached[goal] else None
                certify_search((rows.offsets, rows.targets, rows.weights), found.distance, reached, [start], end)
                self._firsts.passed("path")
            if not reached[goal]:
                return None
            return found.distance[goal].astype(dtype).item(), found.path_to(goal)
        ready = self._prepared("sssp", "auto", {})
        distances: Distances = self._distances(ready, start, goal)
        self._certify(ready, self.verify, distances, goal)
        paths = self._with_predecessors(distances)
        assert paths.predecessor is not None
        if not paths.reached[goal]:
            return None
        vertices = [goal]
        while vertices[-1] != start:
            vertices.append(int(paths.predecessor[vertices[-1]]))
        return paths.raw[goal].item(), vertices[::-1]

    def _until(self, source: int, goal: int | None, cutoff: float | None) -> Distances:
        """Return the distances of the vertices up to a goal or a cutoff, by a search that ends there."""
        self._refuse_closed()
        with call_profile.call("sssp"):
            with call_profile.phase("kernel"):
                rows, dtype = self._rows
                found = search(rows, [source], goal, cutoff, ties=True)
            with call_profile.phase("back"):
                distance = np.full(rows.vertices, unreached(dtype), dtype)
                order = found.order if cutoff is None or cutoff >= 0 else found.order[:0]
                distance[order] = found.distance[order]
                return Distances(self._admit("sssp"), source, distance)

    def _with_predecessors(self, distances: _Found) -> _Found:
        for ready in self._prepared_algorithms.values():
            if self.device.kind == "cuda" and ready.algorithm.problem == "sssp" and ready.algorithm.resident:
                return distances.with_predecessors(ready.subject, self.device)
        return distances.with_predecessors()

    # ------------------------------------------------------------------ vertices

    def _is_node(self, source: object) -> bool:
        names = self.graph.vertex_names
        if names is None or names.dtype != object:
            return False
        try:
            return source in self.graph.numbers
        except TypeError:
            return False

    def _vertices(self, source: object) -> list[int]:
        if type(source) is int and self.graph.vertex_names is None and 0 <= source < self.graph.vertices:
            return [source]
        return resolve_sources(self.graph, {"source": source})

    def _vertex(self, source: object) -> int:
        vertices = self._vertices(source)
        if len(vertices) > 1:
            raise InputError(f"{shown(source)} means {len(vertices)} vertices", remedy="name one")
        return vertices[0]


def _guard(name: str, *holders: Any) -> Any:
    """Return what tells whether foreign code wrote into graphs and views; imported where there is such code."""
    from gpugraph.ext.plugins.isolation import ForeignCodeGuard

    return ForeignCodeGuard(name, *(getattr(holder, "host", holder) for holder in holders))


def verified(
    result: _Result,
    method: str,
    where: str = "gpugraph.on",
    ready: _PreparedAlgorithm | None = None,
    on_gpu: Device | None = None,
) -> _Result:
    """Return a result that has passed a check by ``method``, or raise VerificationFailed.

    ``ready`` is the algorithm that gave it, and ``on_gpu`` the device, where the graph lies on one.
    """
    if method == "none":
        return result
    from gpugraph.ext.results.files import check_result
    from gpugraph.measure.check import check

    if ready is None:
        verdict = check_result(result.graph, result, method)
    else:  # a GPU that holds the graph checks there
        problem, resident = load_problem(ready.algorithm.problem), ready.subject if on_gpu else None
        verdict = check(problem, ready.graph, problem.query_of(result), result, method, resident, on_gpu)
    if not verdict.passed:
        raise VerificationFailed(verdict.detail, where=where)
    return result


def _within(distances: Distances, goal: int | None, cutoff: float | None) -> Distances:
    """Return distances with all that lies beyond a goal or a cutoff not reached."""
    if goal is None and cutoff is None:
        return distances
    distance = distances.raw.copy()
    none = unreached(distance.dtype)
    if goal is not None:
        distance[distance > distance[goal]] = none
    if cutoff is not None:
        real = distance.dtype.kind == "f"
        distance[distance.astype(np.float64) > cutoff if real else distance > math.floor(cutoff)] = none
    return Distances(distances.graph, distances.source, distance)


@in_python_terms
def on(graph: object, device: str = "auto", *, verify: str = "first") -> ResidentGraph:
    """Return a graph that stays on a device for many calls.

    >>> import gpugraph
    >>> with gpugraph.on("grid:8x8", device="cpu") as g:
    ...     length, way = g.path(0, 63)
    >>> length, len(way)
    (4778101, 15)

    Args:
        graph: anything ``gpugraph.load`` takes; shared arrays must not change meanwhile.
        device: ``"auto"``, ``"cuda[:i]"``, ``"cpu"`` or ``"emulated"``.
        verify: ``"first"``: the first answer of each algorithm and type is certified; ``"all"``: every one; ``"none"``;
            or a method of ``gpugraph.mst`` for all.  A call can override it.

    Raises:
        InputError, DeviceUnavailable, OutOfMemory: the graph cannot be kept there.
    """
    return ResidentGraph(graph, device, verify)
