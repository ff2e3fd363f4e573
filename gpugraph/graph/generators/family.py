"""Families of graphs: their parameters, how large a graph they give, and the functions that draw its arcs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.devices.base import Array, Device
from gpugraph.devices.kernel_file import KernelFile
from gpugraph.graph.chunks import Runner
from gpugraph.graph.device_rows import ARCS_PER_THREAD, INDICES, Rows, index_bits_of

Values = Mapping[str, Any]
Drawn = tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]
"""Tails, heads, and weights or None for hashed ones, as the spec says."""

MOST = 2**40
"""More vertices or arcs than this are refused whatever the machine."""

FILE = KernelFile("generate.cu", INDICES)


@dataclass(frozen=True)
class Parameter:
    """One parameter of a family, ``"int"``, ``"decimal"`` (exact, a Fraction) or ``"flag"``, between two bounds.

    The default is the value when it is left out, which a ``required`` one cannot be; None: it has none.
    """

    key: str
    help: str
    kind: str = "int"
    default: int | Fraction | bool | None = None
    required: bool = False
    low: int | Fraction = 1
    high: int | Fraction = MOST


N = Parameter("n", "vertices", required=True)
SCALE = Parameter("scale", "log2 of the vertices", required=True, low=0, high=40)


def probability(key: str, default: str) -> Parameter:
    """Return a parameter in 0..1."""
    return Parameter(key, "probability", "decimal", Fraction(default), low=Fraction(0), high=Fraction(1))


@dataclass(frozen=True)
class Size:
    """How large a graph is before it is made: n, exact; edges or arcs drawn; arcs stored, at most or about.

    ``scratch_bytes`` is what the generator holds besides the arcs.
    """

    vertices: int
    samples: int
    arcs: int
    scratch_bytes: int = 0


def edges(vertices: int, count: int, scratch_bytes: int = 0) -> Size:
    """Return the size of a graph whose edges are drawn once and stored as two arcs each."""
    return Size(vertices, count, 2 * count, scratch_bytes)


@dataclass(frozen=True)
class Family:
    """A family of graphs.

    Attributes:
        example: a spec of the family.
        size: from the parameters to the size; raises InputError where they contradict each other.
        arcs: ``arcs(values, seed, run)`` draws the arcs on the host, of an undirected family each edge once.
        launch: adds to ``Launches`` the kernels that draw the same on a device; None: the host alone can.
        places: the first so many parameters make the first argument: one, or two written ``WIDTHxHEIGHT``.
        weighted: the option ``w`` applies.
    """

    name: str
    summary: str
    example: str
    parameters: tuple[Parameter, ...]
    size: Callable[[Values], Size]
    arcs: Callable[[Values, int, Runner], Drawn]
    launch: Callable[[Launches], None] | None = None
    places: int = 0
    directed: bool = False
    weighted: bool = True

    @property
    def positional(self) -> tuple[str, ...]:
        """The keys of the first argument."""
        return tuple(parameter.key for parameter in self.parameters[: self.places])


class Launches:
    """The launches of kernels that draw the edges of a graph on a device.

    ``rule``, (11,) uint64, is the ``WeightRule`` of generate.cu; ``exact``: nearly every item gives an edge; ``weigh``
    makes the (arcs,) weights of rows where the family has its own, else it is None, and ``hashes`` does it.
    """

    def __init__(self, device: Device, values: Values, seed: int, rule: NDArray[np.uint64], dtype: str):
        self.device, self.values, self.seed = device, values, np.uint64(seed)
        self.rule, self.dtype = device.upload(rule), dtype
        self.exact = True
        self.weigh: Callable[[Rows], Array] | None = None  # None: by hashes; a bound method would hold this object
        self._launches: list[tuple[KernelFile, str, int, tuple[Any, ...]]] = []

    @property
    def items(self) -> int:
        """Numbers to be drawn, of all launches."""
        return sum(items for _, _, items, _ in self._launches)

    def add(self, name: str, items: int, *args: Any, file: KernelFile = FILE) -> None:
        """Add a kernel that draws so many items."""
        if items:
            self._launches.append((file, name, items, args))

    def emit(self, sink: tuple[Any, ...], first: int = 0, last: int | None = None) -> None:
        """Draw the edges of the items [first, last), counted through all launches; of all if no range is given."""
        before = 0
        for file, name, items, args in self._launches:
            low, high = max(first - before, 0), items if last is None else min(last - before, items)
            if low < high:
                file.launch(self.device, name, high - low, np.int64(high), np.int64(low), *sink, *args)
            before += items

    def hashes(self, rows: Rows) -> Array:
        """Return the weights that the edges hash to, (arcs,) of the dtype, by rows."""
        arcs, device = int(rows.targets.size), self.device
        weights = device.empty(arcs, self.dtype)
        if arcs:
            args = np.int32(rows.offsets.size - 1), np.int64(arcs), rows.offsets, rows.targets, self.rule, weights
            FILE.launch(device, "weights", -(-arcs // ARCS_PER_THREAD), *args, defines=index_bits_of(rows.offsets))
        return weights
