"""Graph specs: the text that names a generated graph wherever a file is accepted.

    FAMILY[:ARGUMENT][,KEY=VALUE]...     rmat:20   rmat:20,ef=8,seed=7,w=1..255   random:n=16384,deg=10
                                         grid:1024x1024   regular:n=2^20,in=7     counterexample

Every family takes, besides its own parameters (``families.py``),

    seed=N        the seed of every draw, 1 unless given
    w=LO..HI      weights uniform in LO..HI: whole numbers, both ends included, or reals where an end has a
                  decimal point; 1..1048576 unless given
    w=LO/HI       one of the two, half of the weights each
    w=unit        every weight 1
    dtype=NAME    uint32, int32, uint64, int64, float32 or float64; the narrowest that fits unless given
    order=NAME    vertices as the family makes them (made), shuffled, or by degree, the greatest first (degree)

except that ``knn``, ``ramp`` and ``counterexample`` have weights of their own.  Whole numbers may be written ``2^20``.
``drawn:N[,least=VERTICES][,most=VERTICES]`` is the spec that the number N draws.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from gpugraph.base.errors import InputError, check_name, unknown_name
from gpugraph.graph.csr import WEIGHT_DTYPES, target_dtype
from gpugraph.graph.families import FAMILIES, ORDERS, RESPELLED, find_family
from gpugraph.graph.generators.family import MOST, Family, Parameter, Size

_INTEGER = re.compile(r"[+-]?\d{1,20}")
_POWER = re.compile(r"([+-]?)2\^(\d{1,2})")
_DECIMAL = re.compile(r"[+-]?(\d{1,20}(\.\d{0,20})?|\.\d{1,20})(e[+-]?\d{1,2})?", re.IGNORECASE)
_GREATEST = {"float32": np.finfo(np.float32).max.item(), "float64": np.finfo(np.float64).max.item()}
_SEED = Parameter("seed", "seed", default=1, low=0, high=2**64 - 1)


@dataclass(frozen=True)
class WeightRange:
    """Where the weights of a spec lie.

    Attributes:
        low, high: both ends; exact.
        whole: whole numbers, else reals.
        dtype: one of ``WEIGHT_DTYPES``.
        ends: nothing between the two.
    """

    low: Fraction
    high: Fraction
    whole: bool
    dtype: str
    ends: bool = False


@dataclass(frozen=True)
class Spec:
    """A parsed graph spec.

    Attributes:
        family: a name from ``FAMILIES``.
        values: the family's parameters, (key, value) in the family's order, defaults filled in.
        seed: the seed of every draw.
        weights: where the weights lie.
        text: the canonical text: defaults left out, everything else in a fixed order.
        size: vertices (exact) and arcs (an upper bound, or nearly).
        order: how the vertices are numbered, one of ``ORDERS``.
    """

    family: str
    values: tuple[tuple[str, Any], ...]
    seed: int
    weights: WeightRange
    text: str
    size: Size
    order: str = ORDERS[0]

    def __str__(self) -> str:
        return self.text

    @property
    def vertices(self) -> int:
        """Number of vertices, exact."""
        return self.size.vertices

    @property
    def arcs(self) -> int:
        """Number of arcs: at most, or about as many where it is random."""
        return self.size.arcs

    def estimate_bytes(self) -> int:
        """Return about how many bytes of host memory making the graph takes at its peak."""
        index, word = target_dtype(self.vertices).itemsize, np.dtype(self.weights.dtype).itemsize
        samples, arcs = self.size.samples, self.size.arcs
        return (
            samples * (2 * index + word)  # as drawn
            + arcs * (8 + word)  # keys and words while they are sorted
            + arcs * (index + word)  # the graph
            + 8 * (self.vertices + 1)
            + self.size.scratch_bytes
            + (0 if self.order == ORDERS[0] else samples * 2 * index + 24 * self.vertices)
        )


def parse_spec(text: str) -> Spec:
    """Return the spec that ``text`` names.

    Raises InputError for an unknown family or key, a malformed value, or more than 2^40 vertices or arcs.
    """
    head, separator, tail = text.strip().partition(":")
    if not separator:
        head, _, tail = head.partition(",")
    if head not in RESPELLED:
        check_name("graph family", head, FAMILIES)
    try:
        return _parse(find_family(head), tail)
    except InputError as error:
        raise InputError(error.what, where=f"spec '{text}'", remedy=error.remedy) from None


def _parse(family: Family, text: str) -> Spec:
    given = _split(family, text)
    values: dict[str, Any] = {}
    for parameter in family.parameters:
        written = given.pop(parameter.key, None)
        if written is None and parameter.required:
            needed = f"{parameter.key} ({parameter.help})"
            raise InputError(f"'{family.name}' needs {needed}", remedy=f"e.g. {family.example}")
        values[parameter.key] = parameter.default if written is None else _value(parameter, written)
    if family.respell is not None:
        if given:
            raise unknown_name(f"key of '{family.name}'", next(iter(given)), list(values))
        return parse_spec(family.respell(values))
    seed = _value(_SEED, given.pop("seed", "1"))
    order = given.pop("order", ORDERS[0])
    check_name("order", order, ORDERS)
    weights = _weights(family, given.pop("w", None), given.pop("dtype", None))
    if given:
        known = [*values, "seed", "order", "dtype", *["w"] * family.weighted]
        raise unknown_name(f"key of '{family.name}'", next(iter(given)), known)
    size = family.size(values)
    if max(size.vertices, size.samples, size.arcs) > MOST:
        what = f"{size.vertices} vertices and {size.arcs} arcs are more than 2^40"
        raise InputError(what, remedy="ask for a smaller graph")
    text = _canonical(family, values, seed, weights, order)
    return Spec(family.name, tuple(values.items()), seed, weights, text, size, order)


def _split(family: Family, text: str) -> dict[str, str]:
    """Return what is written, by key; the first argument may be positional."""
    given: dict[str, str] = {}
    for place, part in enumerate(text.split(",") if text else []):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if equals:
            pairs = [(key, value)]
        elif place == 0 and family.positional:
            pieces = key.lower().split("x") if len(family.positional) == 2 else [key]
            if len(pieces) != len(family.positional):
                raise InputError(f"expected WIDTHxHEIGHT, got '{key}'", remedy=f"e.g. {family.example}")
            pairs = list(zip(family.positional, pieces, strict=True))
        else:
            is_flag = any(one.key == key and one.kind == "flag" for one in family.parameters)
            shown = f"write {key}=yes" if is_flag else f"e.g. {family.example}"
            raise InputError(f"expected KEY=VALUE, got '{key}'", remedy=shown)
        for name, written in pairs:
            if name in given:
                raise InputError(f"{name} is given twice", remedy="leave one of them out")
            given[name] = written
    return given


def _whole(text: str) -> int | None:
    power = _POWER.fullmatch(text)
    if power:
        return int(2 ** int(power[2])) * (-1 if power[1] == "-" else 1)
    return int(text) if _INTEGER.fullmatch(text) else None


def _decimal(text: str) -> Fraction | None:
    """Return the number exactly; None for one with more digits than a float64 tells apart."""
    value = Fraction(text) if _DECIMAL.fullmatch(text) else None
    return value if value is not None and Fraction(repr(float(value))) == value else None


def _value(parameter: Parameter, text: str) -> Any:
    key, flags = parameter.key, {"yes": True, "1": True, "true": True, "no": False, "0": False, "false": False}
    if parameter.kind == "flag":
        if text.lower() not in flags:
            raise InputError(f"{key} takes yes or no, not '{text}'", remedy=f"write {key}=yes or {key}=no")
        return flags[text.lower()]
    value: Any = _decimal(text) if parameter.kind == "decimal" else _whole(text)
    if value is None:
        noun = "a number" if parameter.kind == "decimal" else "a whole number"
        raise InputError(f"{key} takes {noun}, not '{text}'", remedy="see the examples of: gpugraph generate --help")
    if not parameter.low <= value <= parameter.high:
        what = f"{key} lies in {parameter.low}..{parameter.high}, not '{text}'"
        raise InputError(what, remedy="choose one in that range")
    return value


def _weights(family: Family, text: str | None, dtype: str | None) -> WeightRange:
    if dtype is not None and dtype not in WEIGHT_DTYPES:
        raise unknown_name("dtype", dtype, WEIGHT_DTYPES)
    if text is not None and not family.weighted:
        raise InputError(f"'{family.name}' has weights of its own", remedy="leave out w=")
    if not family.weighted:
        return WeightRange(Fraction(1), Fraction(2**31 - 1), True, dtype or "uint32")
    ends_only = "/" in (text or "")
    low_text, dots, high_text = ("1..1048576" if text is None else text).partition("/" if ends_only else "..")
    if text == "unit":
        low_text, dots, high_text = "1", "..", "1"
    ends = [_decimal(end) if re.search("[.eE]", end) else _whole(end) for end in (low_text, high_text)]
    if not dots or ends[0] is None or ends[1] is None:
        raise InputError(f"w takes LO..HI, LO/HI or unit, not '{text}'", remedy="e.g. w=1..255")
    low, high = Fraction(ends[0]), Fraction(ends[1])
    if low > high:
        raise InputError(f"the weights {text} end before they begin", remedy=f"write w={high_text}{dots}{low_text}")
    whole = not re.search(r"[.e]", low_text + high_text, re.IGNORECASE)
    if whole and not (low >= -(2**63) and high < (2**63 if low < 0 else 2**64)):
        raise InputError(f"the weights {text} need more than 64 bits", remedy="choose a smaller range")
    return WeightRange(low, high, whole, _fitting(low, high, whole, dtype), ends_only and low < high)


def _fitting(low: Fraction, high: Fraction, whole: bool, dtype: str | None) -> str:
    """Return the dtype asked for, or the narrowest that holds the range."""
    if dtype is None and not whole:
        return "float64"
    for name in ("uint32", "int32", "int64", "uint64") if dtype is None else (dtype,):
        kind = np.dtype(name)
        if name in _GREATEST and max(abs(low), abs(high)) <= _GREATEST[name]:
            return name
        if whole and kind.kind != "f" and np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return name
    raise InputError(f"weights in {_written(low)}..{_written(high)} do not fit in {dtype}", remedy="use another dtype")


def _canonical(family: Family, values: dict[str, Any], seed: int, weights: WeightRange, order: str) -> str:
    said = {p.key: _written(values[p.key]) for p in family.parameters if p.required or p.default != values[p.key]}
    head = "x".join(said.pop(key) for key in family.positional if key in said)
    parts = ([head] if head else []) + [f"{key}={value}" for key, value in said.items()]
    if seed != 1:
        parts.append(f"seed={seed}")
    if order != ORDERS[0]:
        parts.append(f"order={order}")
    usual = _weights(family, None, None)
    if (weights.low, weights.high, weights.whole, weights.ends) != (usual.low, usual.high, usual.whole, False):
        ends = (_written(end) if weights.whole else repr(float(end)) for end in (weights.low, weights.high))
        unit = weights.low == weights.high == 1 and weights.whole
        parts.append("w=unit" if unit else f"w={('/' if weights.ends else '..').join(ends)}")
    fitting = _fitting(weights.low, weights.high, weights.whole, None) if family.weighted else "uint32"
    if weights.dtype != fitting:
        parts.append(f"dtype={weights.dtype}")
    return f"{family.name}:{','.join(parts)}" if parts else family.name


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Fraction):
        return str(value.numerator) if value.denominator == 1 else repr(float(value))
    return str(value)
