"""DistanceMatrix: the result of shortest paths from many sources, a row for each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.errors import OutOfMemory
from gpugraph.exact import exact_sum
from gpugraph.graph.chunks import in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.host import available_memory
from gpugraph.problems.contract import Verdict
from gpugraph.problems.sssp.arcs import distance_dtype
from gpugraph.problems.sssp.distances import AsDistances, Distances, read_words, widened
from gpugraph.problems.sssp.tight_arcs import refuse_wrapped
from gpugraph.quantities import in_units

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpugraph.devices.base import Device
    from gpugraph.graph.view import ResidentView


@dataclass(frozen=True, eq=False, repr=False)
class DistanceMatrix(AsDistances):
    """Shortest distances from many sources.

    ``matrix[i]`` are the ``Distances`` from the i-th source, and a loop goes through all.

    Attributes:
        graph: the graph.
        sources: (k,) int64, 0-based vertices, in the order asked for.
        raw: (k, n), a row for each source; see ``Distances.raw``.
        predecessor: (k, n) int64, or None where not asked for; see ``Distances.predecessor``.
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
        told = f"{int(np.count_nonzero(self.reached)):,} of {self.raw.size:,}"
        farthest = self.raw.max(initial=0, where=self.reached).item()
        return [("sources", len(self)), ("reached", told), ("farthest", farthest)]

    def summary(self) -> dict[str, Any]:
        """Return the ``result`` object of a record: what ``Distances.summary`` has, of all sources together.

        ``source`` is the first of ``sources``, the number of them; the digest is over those of the rows, 32 bytes each.
        """

        def tell(start: int, stop: int) -> tuple[int, int | float, Any, bytes]:
            (row,) = self.raw[start:stop]
            wide, *told = widened(row)
            return (*told, hashlib.sha256(wide.data).digest())

        rows = in_threads(tell, [(i, i + 1) for i in range(len(self))])
        counts, sums, maxima, digests = zip(*rows, strict=True) if rows else ((), (), (0,), ())
        real = self.raw.dtype.kind == "f"
        return {
            "source": int(self.sources[0]),
            "sources": len(self),
            "reached": sum(counts),
            "distance_sum": exact_sum(self.raw[self.reached]) if real else sum(sums),
            "distance_max": max(maxima),
            "distances_sha256": hashlib.sha256(b"".join(digests)).hexdigest(),
        }

    def fingerprint(self) -> str:
        """Return a digest that equals another result's exactly if sources, distances and predecessors do."""
        return hashlib.sha256("".join(row.fingerprint() for row in self).encode()).hexdigest()


def require_room(graph: CSRGraph, count: int) -> None:
    """Check that the host has room for the distances from ``count`` sources.

    Raises:
        OutOfMemory: it has not; the message has both figures.
    """
    needed = count * graph.vertices * distance_dtype(graph.weight_dtype).itemsize
    if needed > (free := available_memory()):
        what = f"distances from {count} sources take {in_units(needed)}, and {in_units(free)} are free"
        raise OutOfMemory(what, where=graph.name, remedy="ask for fewer sources at a time")


def matrix_from_words(
    graph: CSRGraph, sources: Sequence[int], words: NDArray[Any], overflowed: bool = False
) -> DistanceMatrix:
    """Return the distances that (k, n) words stand for; see ``distances_from_words``."""
    raw = read_words(words, distance_dtype(graph.weight_dtype))
    if overflowed and raw.dtype.kind != "f":
        for source, row in zip(sources, raw, strict=True):
            refuse_wrapped(graph, source, row)
    return DistanceMatrix(graph, np.array(sources, np.int64), raw)


def check_each(
    matrix: DistanceMatrix, sources: Sequence[int], check: Callable[[Distances], Verdict | None]
) -> Verdict | None:
    """Return the verdict on a matrix: every row is checked as if it had come alone.

    Args:
        matrix: the distances.
        sources: those asked for.
        check: the check of one row; None where it cannot be made there.

    Returns:
        The first that fails, named by its source, or how many passed; None where a check could not be made.
    """
    verdict = Verdict("failed", "certificate", f"the result is for {len(matrix)} sources, not {len(sources)}")
    if matrix.sources.tolist() != list(sources):
        return verdict
    for row in matrix:
        found = check(row)
        if found is None:
            return None
        verdict = found
        if verdict.status == "failed":
            named = f"from source {matrix.graph.name_of(row.source)}: {verdict.detail}"
            return Verdict("failed", verdict.method, named, verdict.counter_example)
    told = f"each of {len(matrix)} sources: {verdict.detail}" if len(matrix) > 1 else verdict.detail
    return Verdict(verdict.status, verdict.method, told)
