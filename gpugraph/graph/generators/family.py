"""Families of graphs: their parameters, how large a graph they give, and the functions that draw its arcs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from gpugraph.graph.chunks import Runner

Values = Mapping[str, Any]
Drawn = tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]
"""Tails, heads, and weights or None for hashed ones, as the spec says."""

MOST = 2**40
"""More vertices or arcs than this are refused whatever the machine."""


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
        launch: adds to ``ext/device_graphs/launches.py`` the kernels that draw the same on a device; None: none can.
        respell: of a family that only stands for another's specs, from the parameters to the text of that spec.
        places: the first so many parameters make the first argument: one, or two written ``WIDTHxHEIGHT``.
        weighted: the option ``w`` applies.
    """

    name: str
    summary: str
    example: str
    parameters: tuple[Parameter, ...]
    size: Callable[[Values], Size]
    arcs: Callable[[Values, int, Runner], Drawn]
    launch: Callable[[Any], None] | None = None
    respell: Callable[[Values], str] | None = None
    places: int = 0
    directed: bool = False
    weighted: bool = True

    @property
    def positional(self) -> tuple[str, ...]:
        """The keys of the first argument."""
        return tuple(parameter.key for parameter in self.parameters[: self.places])
