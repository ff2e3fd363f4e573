"""Distances, the result of the single-source shortest paths problem, and DistanceMatrix, a row of them for each source.

Distances are unique, and so are the canonical predecessors (``tight_arcs.py``): whatever computed them, two right
results are equal bit for bit.  A float distance is the least, over all paths, of the sum taken from the source
on in float64, or in float32 where that was requested of float32 weights: then ``raw`` is float32.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import InputError, OutOfMemory
from gpugraph.base.exact import exact_sum
from gpugraph.base.host import available_memory
from gpugraph.base.quantities import counted, in_units
from gpugraph.graph.chunks import even_ranges, in_order, in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.algorithm import InputSizes
from gpugraph.problems.answer import GraphAnswer
from gpugraph.problems.contract import Verdict
from gpugraph.problems.sssp.arcs import FLOAT64, distance_dtype, sums_of, unreached

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpugraph.devices.base import Device
    from gpugraph.graph.view import ResidentView


_PIECE = 1 << 18
"""Distances that threads widen at a time, while those before are hashed."""


class AsDistances(GraphAnswer):
    """How words of ``raw``, of one source or a row for each of several, are seen as distances."""

    graph: CSRGraph
    raw: NDArray[Any]

    @cached_property
    def distance(self) -> Any:
        """Shaped as ``raw``, the distances: reals, infinity where not reached; of integers a view that masks it.

        A masked distance prints as ``--``, is None in a list, and is left out of sums, maxima and comparisons;
        ``filled()`` gives it the largest integer.
        """
        if self.raw.dtype.kind == "f":
            return self.raw
        return np.ma.masked_array(self.raw, ~self.reached, copy=False, fill_value=unreached(self.raw.dtype))

    @cached_property
    def reached(self) -> NDArray[np.bool_]:
        """Shaped as ``raw``, bool: which vertices a path of finite length leads to; a source is one."""
        mask: NDArray[np.bool_] = self.raw != unreached(self.raw.dtype)
        return mask

    def _summary(self, parts: Sequence[Sequence[Any]]) -> dict[str, Any]:
        """Return figures of a record, of parts that together are all: how many are reached, their sum, the largest."""
        real = self.raw.dtype.kind == "f"
        return {
            "reached": sum(part[0] for part in parts),
            "distance_sum": exact_sum(self.raw[self.reached]) if real else sum(part[1] for part in parts),
            "distance_max": max((part[2] for part in parts), default=self.raw.dtype.type(0).item()),
        }

    def _sums(self) -> dict[str, Any]:
        """Return ``sums`` of a record's ``result``, where sums were rounded to float32."""
        return {"sums": sums_of(self.raw.dtype)} if self.raw.dtype == np.float32 else {}

    def _title(self) -> str:
        return f"Distances of {self.graph.name}"

    def _values(self) -> tuple[str, NDArray[Any]]:
        return "distances", self.raw[self.reached]


@dataclass(frozen=True, eq=False, repr=False)
class Distances(AsDistances):
    """Shortest distances from one source.

    Attributes:
        source: 0-based source vertex.
        raw: (n,) uint64 for integer weights, float64 for real ones, or float32 with ``sums="float32"``;
            ``unreached(dtype)``, the largest integer or infinity, where there is no path of finite length.
        predecessor: (n,) int64, −1 for the source and unreached vertices, or None if not requested.
    """

    graph: CSRGraph
    source: int
    raw: NDArray[Any]
    predecessor: NDArray[np.int64] | None = None

    def with_predecessors(self, view: ResidentView | None = None, device: Device | None = None) -> Distances:
        """Return the same distances with their canonical predecessors, found where the view of the graph lies.

        Without a view the host finds them, and where the view holds another graph or there is no room.
        """
        if self.predecessor is not None:
            return self
        from gpugraph.problems.sssp import gpu_tight_arcs, tight_arcs

        before = None
        if view is not None and device is not None and gpu_tight_arcs.suits(view, self.graph, self.raw):
            with suppress(OutOfMemory):  # the host has room
                before = gpu_tight_arcs.canonical_predecessors(view, device, self.raw, self.source)
        if before is None:
            before = tight_arcs.canonical_predecessors(self.graph, self.raw, self.source)
        return replace(self, predecessor=before)

    def _facts(self) -> list[tuple[str, Any]]:
        finite = self.raw[self.reached]
        source, count = str(self.graph.name_of(self.source)), f"{len(finite):,} of {self.graph.vertices:,}"
        return [("source", source), ("reached", count), ("farthest", finite.max(initial=0).item())]

    def summary(self) -> dict[str, Any]:
        """Return the ``result`` object of a record.

        ``source_name`` is there where the file had its own ids.  ``distance_sum`` over the reached vertices is an
        exact int or the correctly rounded float; ``distances_sha256`` is over the distances in vertex order as
        little-endian float64, unreached = inf.  ``sums`` is there where they were summed in float32.
        """
        digest, totals = hashlib.sha256(), []
        ranges = even_ranges(len(self.raw), len(self.raw) // _PIECE + 1)
        for part, *of_part in in_order(lambda start, stop: widened(self.raw[start:stop]), ranges):
            digest.update(part.data)
            totals.append(of_part)
        name = {} if self.graph.vertex_names is None else {"source_name": self.graph.name_of(self.source)}
        name |= self._sums()
        return {"source": self.source, **name, **self._summary(totals), "distances_sha256": digest.hexdigest()}

    def fingerprint(self) -> str:
        """Return a digest that equals another result's exactly if source, distances and predecessors do."""
        digest = hashlib.sha256(f"{self.source} {self.raw.dtype} {self.predecessor is not None}".encode())
        digest.update(np.ascontiguousarray(self.raw).data)
        if self.predecessor is not None:
            digest.update(np.ascontiguousarray(self.predecessor, np.int64).data)
        return digest.hexdigest()


def widened(distance: NDArray[Any]) -> tuple[NDArray[np.float64], int, int | float, Any]:
    """Return some distances (k,) as digests take them, and how many are reached, their sum and the largest.

    They are then little-endian float64, unreached = inf.  The sum is exact, 0 for reals, whose sum is to be rounded
    once; the largest is 0 if none is reached.
    """
    missing = distance == unreached(distance.dtype)
    wide, finite = distance.astype("<f8"), distance[~missing]
    wide[missing] = np.inf
    return wide, len(finite), 0 if finite.dtype.kind == "f" else exact_sum(finite), finite.max(initial=0).item()


def distance_bytes(sizes: InputSizes, sources: int = 1) -> int:
    """Return the least bytes of shortest paths: the graph once, of every source one distance as wide as a weight each.

    So distances of float32 weights, which take 8 bytes unless summed in float32, count half.  Rows of vertices that are
    not reached need not be read: where many are not, the figure is too high.
    """
    return sizes.nbytes + sources * sizes.weight_bytes * sizes.vertices


def read_words(words: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the distances, of ``dtype``, that words of 32 or 64 bits encode, of any shape."""
    most, none = ~words.dtype.type(0), unreached(dtype)
    flat = words.reshape(-1)
    distance = np.empty(words.shape, dtype)
    into = distance.reshape(-1)

    def read(start: int, stop: int) -> None:
        part = flat[start:stop]
        into[start:stop] = part.view(dtype) if dtype.kind == "f" else part
        into[start:stop][part == most] = none

    in_threads(read, even_ranges(len(flat)))
    return distance


def distances_from_words(graph: CSRGraph, source: int, words: NDArray[Any], overflowed: bool = False) -> Distances:
    """Return the distances of (n,) words; InputError if one needs more than 64 bits, where a sum has ``overflowed``."""
    return matrix_from_words(graph, [source], words[None], overflowed)[0]


def refuse_wrapped(graph: CSRGraph, source: int, distance: NDArray[Any]) -> None:
    """Raise InputError if a vertex is unreached only because its distance does not fit in 64 bits, and name it.

    ``distance`` (n,) is right where it is below 2^64−1; floats pass, for their sums become infinite: not reached.
    """
    if distance.dtype != np.uint64 or not graph.arcs:
        return
    none = unreached(distance.dtype)
    if graph.vertices * int(np.iinfo(graph.weight_dtype).max) < none:
        return
    farthest = int(np.max(distance, where=distance != none, initial=0))
    if farthest + int(np.iinfo(graph.weight_dtype).max) < none or farthest + int(graph.weights.max()) < none:
        return
    from gpugraph.problems.sssp.tight_arcs import survey

    wraps = survey(graph, distance, source).wraps
    if wraps >= 0:
        refuse_wide(graph.name, graph.label(source), graph.label(int(graph.targets[wraps])))


def refuse_wide(name: str, source: int | str, head: int | str) -> NoReturn:
    """Raise InputError for a distance in the graph called ``name`` that does not fit in 64 bits."""
    what = f"the distance from vertex {source} to vertex {head} does not fit in 64 bits"
    raise InputError(what, where=name, remedy="use smaller weights, or float64 ones")


@dataclass(frozen=True, eq=False, repr=False)
class DistanceMatrix(AsDistances):
    """Shortest distances from many sources: ``matrix[i]`` are the ``Distances`` from the i-th, a loop goes through all.

    Attributes:
        sources: (k,) int64, 0-based vertices, in the order of the request.
        raw: (k, n), a row for each source; see ``Distances.raw``.
        predecessor: (k, n) int64, or None if not requested; see ``Distances.predecessor``.
    """

    graph: CSRGraph
    sources: NDArray[np.int64]
    raw: NDArray[Any]
    predecessor: NDArray[np.int64] | None = None

    @classmethod
    def joined(cls, results: Sequence[Distances | DistanceMatrix]) -> DistanceMatrix:
        """Return the distances from several sources of one graph, at least one, as a matrix."""
        if len(results) == 1 and isinstance(results[0], DistanceMatrix):
            return results[0]
        rows = [row for result in results for row in (result if isinstance(result, DistanceMatrix) else (result,))]
        sources = np.array([row.source for row in rows], np.int64)
        before = [row.predecessor for row in rows if row.predecessor is not None]
        predecessor = np.stack(before) if len(before) == len(rows) else None
        return cls(rows[0].graph, sources, np.stack([row.raw for row in rows]), predecessor)

    def __len__(self) -> int:
        return len(self.sources)

    def __getitem__(self, i: int) -> Distances:
        before = None if self.predecessor is None else self.predecessor[i]
        return Distances(self.graph, int(self.sources[i]), self.raw[i], before)

    def __iter__(self) -> Iterator[Distances]:
        return (self[i] for i in range(len(self)))

    def with_predecessors(self, view: ResidentView | None = None, device: Device | None = None) -> DistanceMatrix:
        """Return the same distances with their canonical predecessors; see ``Distances.with_predecessors``."""
        if self.predecessor is not None:
            return self
        return DistanceMatrix.joined([row.with_predecessors(view, device) for row in self])

    def _facts(self) -> list[tuple[str, Any]]:
        count = f"{int(np.count_nonzero(self.reached)):,} of {self.raw.size:,}"
        farthest = self.raw.max(initial=0, where=self.reached).item()
        return [("sources", len(self)), ("reached", count), ("farthest", farthest)]

    def summary(self) -> dict[str, Any]:
        """Return the ``result`` object of a record: what ``Distances.summary`` has, of all sources together.

        ``source`` is the first of ``sources``, the number of them; the digest is over those of the rows, 32 bytes each.
        """

        def tell(start: int, stop: int) -> tuple[int, int | float, Any, bytes]:
            (row,) = self.raw[start:stop]
            wide, *totals = widened(row)
            return (*totals, hashlib.sha256(wide.data).digest())

        rows = in_threads(tell, [(i, i + 1) for i in range(len(self))])
        digest = hashlib.sha256(b"".join(row[3] for row in rows)).hexdigest()
        sources = {"source": int(self.sources[0]), "sources": len(self), **self._sums()}
        return {**sources, **self._summary(rows), "distances_sha256": digest}

    def fingerprint(self) -> str:
        """Return a digest that equals another result's exactly if sources, distances and predecessors do."""
        return hashlib.sha256("".join(row.fingerprint() for row in self).encode()).hexdigest()


def words_dtype(weight_dtype: np.dtype[Any], words: NDArray[Any]) -> np.dtype[Any]:
    """Return the dtype of the distances that words encode: of reals the floats of their width."""
    return np.dtype(f"f{words.dtype.itemsize}") if weight_dtype.kind == "f" else distance_dtype(weight_dtype)


def require_room(graph: CSRGraph, count: int, sums: str = FLOAT64) -> None:
    """Raise OutOfMemory, with both figures, if the host has no room for the distances from ``count`` sources."""
    needed = count * graph.vertices * distance_dtype(graph.weight_dtype, sums).itemsize
    if needed > (free := available_memory()):
        what = f"distances from {counted(count, 'source')} take {in_units(needed)}, and {in_units(free)} are free"
        raise OutOfMemory(what, where=graph.name, remedy="ask for fewer sources at a time")


def matrix_from_words(
    graph: CSRGraph, sources: Sequence[int], words: NDArray[Any], overflowed: bool = False
) -> DistanceMatrix:
    """Return the distances that (k, n) words encode; see ``distances_from_words``."""
    raw = read_words(words, words_dtype(graph.weight_dtype, words))
    if overflowed:
        for source, row in zip(sources, raw, strict=True):
            refuse_wrapped(graph, source, row)
    return DistanceMatrix(graph, np.array(sources, np.int64), raw)


Checked = TypeVar("Checked", Verdict, Verdict | None)


def check_each(matrix: DistanceMatrix, sources: Sequence[int], check: Callable[[Distances], Checked]) -> Checked:
    """Return the verdict on a matrix, given the sources asked for: every row is checked as if it had come alone.

    That is the first that fails, named by its source, or how many passed; None where a check could not be made.
    """
    verdict = Verdict(
        "failed", "certificate", f"the result is for {counted(len(matrix), 'source')}, not {len(sources)}"
    )
    if matrix.sources.tolist() != list(sources):
        return verdict
    for row in matrix:
        found = check(row)
        if found is None:
            return None
        if found.status == "failed":
            named = f"from source {matrix.graph.name_of(row.source)}: {found.detail}"
            return Verdict("failed", found.method, named, found.counter_example)
        if (found.sums_error or 0.0) >= (verdict.sums_error or 0.0):
            verdict = found
    detail = f"each of {len(matrix)} sources: {verdict.detail}" if len(matrix) > 1 else verdict.detail
    return Verdict(verdict.status, verdict.method, detail, sums_error=verdict.sums_error)
