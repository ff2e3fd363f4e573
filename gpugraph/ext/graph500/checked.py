"""Results of Graph500's shortest paths, wherever they ran: one search, and what its check found."""

from collections.abc import Callable
from dataclasses import dataclass

from gpugraph.base.errors import InputError
from gpugraph.devices.base import Device
from gpugraph.ext.graph500.generator import Tuples

RULES = ("RANGE", "UNLIKE", "ROOT", "CYCLE", "SPLIT", "TOO_FAR", "UNCONFIRMED")
"""The rules in the order in which they are checked."""

OF_TUPLES = ("SPLIT", "TOO_FAR")
"""A counter-example to these is a tuple of the input, to the others a vertex."""


@dataclass(frozen=True)
class Found:
    """What the validation of one search found.

    Attributes:
        tuples: the input's tuples in the root's component, loops and duplicates counted; of no meaning with a fault.
        fault: the first counter-example in words, or None where every rule holds.
    """

    tuples: int
    fault: str | None


def fault_in_words(
    firsts: dict[str, int | None],
    root: int,
    vertex: Callable[[int], tuple[int, float]],
    tuples: Tuples,
    device: Device | None = None,
) -> str | None:
    """Return the first rule that is broken, with its counter-example, or None.

    ``firsts`` has by rule the first vertex or tuple that breaks it, ``vertex`` gives a vertex's parent and distance.
    ``tuples`` are the input, or the share of a rank, on the device if one is given.
    """
    rule = next((name for name in RULES if firsts.get(name) is not None), None)
    if rule is None:
        return None
    at = firsts[rule]
    assert at is not None
    if rule in OF_TUPLES:
        u, v, w = tuples.line(at, device)
        ends = " and ".join(f"vertex {x} at distance {vertex(x)[1]:.9g}" for x in (u, v))
        what = f"of weight {w:.9g} joins {ends}, which differ by more"
        if rule == "SPLIT":
            what = f"joins {ends}, of which one is reached and one is not"
        return f"tuple {tuples.first + at} {what}"
    parent, distance = vertex(at)
    reasons = {
        "RANGE": "one of which is out of range",
        "UNLIKE": "which do not agree on whether it is reached",
        "ROOT": f"but is the root {root}",
        "CYCLE": "and its parents lead round a cycle, not to the root",
        "UNCONFIRMED": "which no tuple of the input confirms",
    }
    return f"vertex {at} has parent {parent} and distance {distance:.9g}, {reasons[rule]}"


def refused(fault: str) -> InputError:
    """Return the error about a tuple that no generator makes."""
    return InputError(fault, where="the edge list", remedy="give the edge list of a Graph500 generator")


def bad_tuple(at: int, line: tuple[int, int, float]) -> str:
    """Return in words what is wrong with a tuple that kernel 1 refused."""
    u, v, w = line
    return f"tuple {at} joins {u} and {v} with weight {w:.9g}: labels have to be below 2^31 - 2, weights in [0, 1]"
