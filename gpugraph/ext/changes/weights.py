"""Other weights for a graph: ``--reweight unit|file|abs|hash:LO..HI|uniform:LO..HI``."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit
from gpugraph.base.errors import InputError, nearest
from gpugraph.graph.build import narrow_weights
from gpugraph.graph.check import ensure_checked
from gpugraph.graph.chunks import balanced_ranges, in_threads
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.digest import mix

KINDS = ("unit", "file", "abs", "hash", "uniform")

_INTEGERS = re.compile(r"([+-]?\d{1,20})\.\.([+-]?\d{1,20})\Z")
_REALS = re.compile(r"([+-]?[\d.]+(?:e[+-]?\d+)?)\.\.([+-]?[\d.]+(?:e[+-]?\d+)?)\Z", re.IGNORECASE)


def transform_weights(graph: CSRGraph, text: str, seed: int = 1) -> CSRGraph:
    """Return the graph with other weights; both arcs of an undirected edge get the same.

    ==================  =======================================================================
    ``file``            as they are
    ``unit``            1
    ``abs``             their absolute values
    ``hash:LO..HI``     integers LO..HI that depend on the edge {u, v} alone
    ``uniform:LO..HI``  random integers LO..HI; reals in [LO, HI) where a bound has a point
    ==================  =======================================================================

    The same seed of ``uniform`` gives the same weights on every machine.  Raises InputError if ``text`` is none of
    these, or a range that makes no sense.
    """
    kind, _, bounds = text.partition(":")
    if kind not in KINDS:
        known = sorted(KINDS)
        remedy = f"an attribute of a file's edges is named by --weight {kind}; --reweight takes {', '.join(known)}"
        meant = nearest(kind, known)
        raise InputError(f"'{kind}' is no kind of weights", remedy=f"did you mean '{meant}'?" if meant else remedy)
    if kind == "uniform" and abs(seed) >= 2**64:
        raise InputError(f"the seed {str(seed)[:30]} has more than 64 bits", remedy="choose one below 2^64")
    if kind not in ("hash", "uniform") and bounds:
        raise InputError(f"--reweight {kind} takes no range", remedy=f"write --reweight {kind}")
    if kind == "file":
        return graph
    ensure_checked(graph)
    if kind == "unit":
        weights = np.ones(graph.arcs, np.uint32)
    elif kind == "abs":
        weights = _absolute(graph.weights)
    elif kind == "hash":
        low, high = _integer_range(text, bounds)
        weights = _into_range(_edge_words(graph, None), low, high)
    else:
        weights = _uniform(graph, text, bounds, seed)
    note = f"weights replaced: {text}" + (f", seed {seed}" if kind == "uniform" else "")
    return replace(graph, weights=weights, stored_digest=None, negative_loop=None, notes=(*graph.notes, note))


def _absolute(weights: NDArray[Any]) -> NDArray[Any]:
    if weights.dtype.kind == "u":
        return weights
    if weights.dtype.kind == "f":
        reals: NDArray[Any] = np.abs(weights)
        return reals
    # The least integer has no counterpart in its own type; as unsigned words, its absolute value is right.
    return narrow_weights(np.abs(weights.astype(np.int64)).view(np.uint64))


def _uniform(graph: CSRGraph, text: str, bounds: str, seed: int) -> NDArray[Any]:
    words = _edge_words(graph, seed)
    if _INTEGERS.match(bounds):
        return _into_range(words, *_integer_range(text, bounds))
    if (match := _REALS.match(bounds)) is None:
        raise _bad_range(text)
    try:
        low, high = float(match[1]), float(match[2])
    except ValueError:
        raise _bad_range(text) from None
    if not low < high or not np.isfinite(high - low):
        raise _bad_range(text)
    unit = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    # Rounding must reach neither HI nor −0.0.
    weights: NDArray[np.float64] = np.minimum(low + (high - low) * unit, np.nextafter(high, low)) + 0.0
    return weights


def _integer_range(text: str, bounds: str) -> tuple[int, int]:
    if (match := _INTEGERS.match(bounds)) is None:
        raise _bad_range(text)
    low, high = int(match[1]), int(match[2])
    if low > high or low < -(2**63) or high >= (2**63 if low < 0 else 2**64):
        raise _bad_range(text)
    return low, high


def _bad_range(text: str) -> InputError:
    kind = text.partition(":")[0]
    return InputError(f"--reweight {text} is no range", remedy=f"write e.g. --reweight {kind}:1..1000")


def _into_range(words: NDArray[np.uint64], low: int, high: int) -> NDArray[Any]:
    """Return LO + word % (HI − LO + 1), in the narrowest dtype that holds the whole range."""
    ends = np.array([low, high], np.int64 if low < 0 else np.uint64)
    dtype = narrow_weights(ends).dtype
    span = high - low + 1
    steps = words % np.uint64(span) if span < 2**64 else words
    # Two's complement: adding the bits of a negative LO wraps round to the right integer.
    with np.errstate(over="ignore"):
        return (steps + np.uint64(low % 2**64)).astype(dtype)


def _edge_words(graph: CSRGraph, seed: int | None) -> NDArray[np.uint64]:
    """Return (arcs,) uint64, a word for every arc: a hash of the undirected edge alone, or drawn by a seed."""
    out, offsets, targets = np.empty(graph.arcs, np.uint64), graph.offsets, graph.targets
    rule = seed is not None, np.uint64((seed or 0) % 2**64), graph.directed and seed is not None
    in_threads(lambda lo, hi: _fill_words(offsets, targets, rule, lo, hi, out), balanced_ranges(offsets))
    return out


@njit
def _fill_words(offsets: Any, targets: Any, rule: Any, first: int, last: int, out: Any) -> None:
    """Write the words of the rows [first, last); one that is drawn has for its counter the seed and its two ends."""
    drawn, key, directed = rule
    for u in range(first, last):
        for i in range(offsets[u], offsets[u + 1]):
            v = targets[i]
            a = np.uint64(u if directed else min(u, v))
            b = np.uint64(v if directed else max(u, v))
            if drawn:
                out[i] = mix(mix(mix(key + np.uint64(0x9E3779B97F4A7C15)) + a) + b)
            else:
                x = a * np.uint64(0x9E3779B97F4A7C15) + b * np.uint64(0xC2B2AE3D27D4EB4F)
                x ^= x >> np.uint64(32)
                x *= np.uint64(0xD6E8FEB86659FD93)
                out[i] = x ^ (x >> np.uint64(32))
