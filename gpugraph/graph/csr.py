"""CSRGraph: the compressed sparse rows of a graph, on the host or on a device.

An undirected graph stores both arcs of each edge with equal weight.  Rows are sorted by target; there are
no self loops and no parallel arcs (``build.py`` drops and merges, and says how many).

Canonical order
    Edges compare by (weight, smaller endpoint, larger endpoint).  An edge's *id* is the position of its arc
    u→v with u < v, so that inside a row the canonical order of equal weights is row order, and a reverse arc
    finds the id by binary search.  Ties therefore never depend on algorithm, device, schedule or run.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import GraphFormatError, shown
from gpugraph.graph.chunks import even_ranges, in_threads
from gpugraph.graph.convertible import Convertible
from gpugraph.graph.digest import graph_digest

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from gpugraph.graph.device_rows import DeviceRows

WEIGHT_DTYPES = ("uint32", "int32", "uint64", "int64", "float32", "float64")

ASSUMED = "the file does not say whether its lines are arcs or edges: taken as arcs; --undirected takes them as edges"
"""The note on a directed graph whose format holds both kinds; symmetrizing removes it."""


def target_dtype(vertices: int) -> np.dtype[Any]:
    """Return the dtype of vertex ids: int32, or int64 from 2^31 vertices on."""
    return np.dtype(np.int32 if vertices < 2**31 else np.int64)


def printed(label: object, how: Callable[[object], str] = str) -> str:
    """Return a vertex name as text that can be printed and stored, whatever it is."""
    try:
        text = how(label)
    except Exception:  # an integer too long for text, or a class of the user's that cannot print itself
        text = shown(label)
    return text.encode("utf-8", "backslashreplace").decode()


def freeze(holder: DataclassInstance) -> None:
    """Make a frozen dataclass's arrays read-only views, so that compiled code sees one type of array from there on."""
    for name in holder.__dataclass_fields__:
        array = getattr(holder, name)
        if isinstance(array, np.ndarray) and array.flags.writeable:
            view = array.view()
            view.flags.writeable = False
            object.__setattr__(holder, name, view)


def described(graph: Any) -> dict[str, Any]:
    """Return the ``graph`` object of a record, for a graph or an array."""
    return {
        "name": graph.name,
        "source": graph.source,
        "vertices": graph.vertices,
        "arcs": graph.arcs,
        "edges": graph.edges,
        "directed": graph.directed,
        "weight_dtype": str(graph.weight_dtype),
        "digest": graph.digest,
    }


def notices_of(graph: Any) -> tuple[str, ...]:
    """Return how a graph's file was taken, if it came from one, and those of its notes that this does not contain."""
    reading, notes = getattr(graph, "reading", ""), tuple(getattr(graph, "notes", ()))
    return (reading, *(note for note in notes if note not in reading)) if reading else notes


@dataclass(frozen=True)
class Answer:
    """A result published with a graph: the file that has it, ``ID VALUE`` a line, and the id of its start, or None."""

    path: Path
    start: int | None = None


@dataclass(frozen=True)
class MappedFile:
    """A file, as it was when mapped, whose pages are a graph's arrays: reading beyond a shortened one's end kills."""

    path: str
    state: os.stat_result

    def check(self) -> None:
        """Raise GraphFormatError if somebody has written into it; one replaced by renaming keeps its pages."""
        try:
            now, then = os.stat(self.path), self.state
        except OSError:
            return
        if os.path.samestat(now, then) and (now.st_mtime_ns, now.st_size) != (then.st_mtime_ns, then.st_size):
            remedy = "load it again, and replace a file that is in use by renaming another to its name"
            raise GraphFormatError("was written to while it was in use", path=self.path, remedy=remedy)


@dataclass(frozen=True, eq=False, repr=False)
class CSRGraph(Convertible):
    """A weighted graph as compressed sparse rows; its arrays are read-only.

    A graph that was made on a device is there; each of its arrays is copied to the host when it is needed.

    Attributes:
        offsets: (n+1,) int64; the arcs of v are positions [offsets[v], offsets[v+1]).
        targets: (arcs,) int32 (int64 from 2^31 vertices on); ascending inside a row.
        weights: (arcs,) one of ``WEIGHT_DTYPES``; never NaN; −0.0 is stored as +0.0.
        directed: False when both arcs of every edge are present with equal weight.
        name: short name for tables, e.g. ``"USA-road-d.NY"`` or ``"rmat:20"``.
        source: its origin: a path or the full spec.
        vertex_names: (n,) what the source calls its vertices, or None where that is their number: a file's own ids
            (int64 or str), ascending, or (object) the nodes of a NetworkX graph themselves, of any types, sorted
            where they can be.
        notes: changes made by loading, one sentence each.
        reading: how the file was read, in a sentence: format, direction and reason, weights; "" without a file.
        stored_digest: the digest the file carries, or None; ``digest`` is always computed.
        negative_loop: the first vertex whose self loop of negative weight was dropped, or None: a forest does not miss
            it, but no path through it is shortest.
        answers: results that were published with the graph as it is, by the name of the algorithm there.
        mapped: the file that the arrays are a mapping of, which is checked before each run, or None.
        on_device: the same arrays on a device that holds them too, or None.
    """

    offsets: NDArray[np.int64]
    targets: NDArray[np.signedinteger[Any]]
    weights: NDArray[Any]
    directed: bool
    name: str = "graph"
    source: str = ""
    vertex_names: NDArray[Any] | None = None
    notes: tuple[str, ...] = field(default=())
    reading: str = ""
    stored_digest: str | None = None
    negative_loop: int | None = None
    answers: Mapping[str, Answer] = field(default_factory=dict)
    mapped: MappedFile | None = None
    on_device: DeviceRows | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        freeze(self)

    @classmethod
    def lying_on(cls, rows: DeviceRows, **attributes: Any) -> CSRGraph:
        """Return the graph of arrays on a device, none copied to the host yet; others by name, ``directed`` too."""
        graph = object.__new__(cls)
        defaults = {f.name: f.default for f in fields(cls) if f.default is not MISSING}
        graph.__dict__.update({"answers": {}} | defaults | attributes | {"on_device": rows})
        return graph

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return an array that is not on the host yet; called only for what an instance lacks."""
            rows = self.__dict__.get("on_device")
            if rows is None or name not in ("offsets", "targets", "weights"):
                raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
            array = rows.on_host(name).view()
            array.flags.writeable = False
            return self.__dict__.setdefault(name, array)

    @property
    def vertices(self) -> int:
        """Number of vertices, n."""
        return len(self.offsets) - 1 if self.on_device is None else self.on_device.vertices

    @property
    def arcs(self) -> int:
        """Number of stored arcs (twice the edges of an undirected graph)."""
        return len(self.targets) if self.on_device is None else self.on_device.arcs

    @property
    def weight_dtype(self) -> np.dtype[Any]:
        """The dtype of the weights; asking for it copies nothing."""
        return self.weights.dtype if self.on_device is None else np.dtype(self.on_device.weights.dtype)

    @property
    def edges(self) -> int:
        """Number of undirected edges; of a directed graph, its number of arcs."""
        return self.arcs if self.directed else self.arcs // 2

    @cached_property
    def has_negative_weight(self) -> bool:
        """Whether a weight is below zero."""
        if self.weight_dtype.kind == "u" or not self.arcs:
            return False
        if self.on_device is not None and self.on_device.usable:
            return self.on_device.has_negative_weight()
        return bool(self.weights.min() < 0)

    @property
    def nbytes(self) -> int:
        """Bytes of the three arrays on the host, if they are all there."""
        word = target_dtype(self.vertices).itemsize + self.weight_dtype.itemsize
        return 8 * (self.vertices + 1) + self.arcs * word

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """(n,) int64 out-degrees."""
        degrees, offsets = np.empty(self.vertices, np.int64), self.offsets

        def differences(start: int, stop: int) -> None:
            np.subtract(offsets[start + 1 : stop + 1], offsets[start:stop], out=degrees[start:stop])

        in_threads(differences, even_ranges(self.vertices))
        degrees.flags.writeable = False
        return degrees

    @cached_property
    def digest(self) -> str:
        """Order-free fingerprint of the graph's arcs, weights and kind (see ``digest.py``)."""
        if self.on_device is not None and self.on_device.usable:
            digest = self.on_device.digest(self.digest_code)
            if digest is None:
                raise self.changed_while_read()
            return digest
        return graph_digest(self.offsets, self.targets, self.weights, self.digest_code)

    def changed_while_read(self) -> GraphFormatError:
        """Return the error that the copy on a device is not what the file holds."""
        what = "damaged: it was changed while it was read, or its copy on the device was"
        return GraphFormatError(what, path=self.source or self.name, remedy="read it again when nothing writes to it")

    @property
    def digest_code(self) -> int:
        """The kind of graph as its digest has it."""
        return 2 * WEIGHT_DTYPES.index(self.weight_dtype.name) + int(self.directed)

    @cached_property
    def numbers(self) -> dict[Any, int]:
        """Vertex name → vertex, where there are names."""
        return {} if self.vertex_names is None else {name: v for v, name in enumerate(self.vertex_names.tolist())}

    def name_of(self, vertex: int) -> int | str:
        """Return a vertex for a message or a record: its name as an int or text, its number where it has none."""
        name = vertex if self.vertex_names is None else self.vertex_names[vertex : vertex + 1].tolist()[0]
        return name if type(name) is int and name.bit_length() < 65 else printed(name)

    @cached_property
    def printed_names(self) -> NDArray[Any] | None:
        """(n,) int64 or str: the vertex names as files hold them, no two alike; None where there are none."""
        names = self.vertex_names
        if names is None or names.dtype != object:
            return names
        labels = names.tolist()
        if all(type(label) is int and -(2**63) <= label < 2**63 for label in labels):
            return names.astype(np.int64)
        texts = [printed(label) for label in labels]
        # NumPy's text loses NULs at its end.  Where labels read alike, as 1 and "1" do, their reprs differ.
        times = Counter(text.rstrip("\0") for text in texts)
        alike = [times[text.rstrip("\0")] > 1 or text.endswith("\0") for text in texts]
        return np.array([printed(labels[i], repr) if alike[i] else text for i, text in enumerate(texts)])

    def label(self, vertex: int) -> str:
        """Return a vertex for a message: its number, and its name where the source had one."""
        return f"{vertex}" if self.vertex_names is None else f"{vertex} (named {self.name_of(vertex)})"

    def renamed(self, **changes: Any) -> CSRGraph:
        """Return the same arrays with other ``name``, ``source``, ``notes`` or ``vertex_names``."""
        if self.on_device is None:
            return replace(self, **changes)
        graph = object.__new__(type(self))
        kept = {name: value for name, value in self.__dict__.items() if name not in ("numbers", "printed_names")}
        graph.__dict__.update(kept | changes)
        return graph

    describe = described

    def _title(self) -> str:
        return f"CSRGraph {self.name}"

    def _facts(self) -> list[tuple[str, Any]]:
        edges = "arcs" if self.directed else "edges"
        return [("vertices", self.vertices), (edges, self.edges), ("weights", self.weight_dtype.name)]
