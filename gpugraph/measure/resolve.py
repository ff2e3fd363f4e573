"""From the names in a cell to the algorithm, its options, and the refusal of what cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpugraph.errors import InputError, unknown_name
from gpugraph.measure.record import Cell
from gpugraph.measure.strangers import kept
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contract import METHODS_OF_A_RUN, Problem
from gpugraph.problems.guest_sources import is_file, load_guest
from gpugraph.problems.registry import find_algorithm


def check_counts(cell: Cell) -> None:
    """Refuse a cell that takes no sample, or asks for a check that does not exist.

    Raises:
        InputError: it does.
    """
    if cell.repeat < 1:
        raise InputError(f"--repeat {cell.repeat} takes no sample", remedy="give 1 or more")
    if cell.warmup < 0:
        raise InputError(f"--warmup {cell.warmup} is negative", remedy="give 0 or more")
    if cell.verify not in METHODS_OF_A_RUN:
        raise unknown_name("verification method", cell.verify, METHODS_OF_A_RUN)


def resolve_algorithm(cell: Cell, problem: Problem, graph: Any, device_kind: str) -> Algorithm:
    """Return the algorithm a cell names: registered, chosen by ``auto``, a peer, or a user's own file."""
    name = cell.algorithm
    if name.startswith("peer:"):
        from gpugraph.peers import load_peer

        return load_peer(name, problem.name, device_kind)
    with kept():  # where it is a user's own, its code is imported here
        if is_file(name):
            return load_guest(name, problem.name, device_kind)
        chosen = problem.auto(graph, device_kind) if name == "auto" else name
        return find_algorithm(problem.name, chosen, device_kind)


def parse_options(algorithm: Algorithm, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the algorithm's parameters: defaults, overridden by what was given.

    Raises:
        InputError: a name the algorithm does not have, or a value it does not take.
    """
    known = {option.name: option for option in algorithm.options}
    values = {name: option.default for name, option in known.items()}
    for name, value in given.items():
        if name not in known:
            if not known:
                raise InputError(f"algorithm '{algorithm.name}' has no options, so '{name}' cannot be set")
            raise unknown_name(f"option of '{algorithm.name}'", name, known)
        values[name] = known[name].parse(value)
    return values


def check_preparations(cell: Cell, algorithm: Algorithm) -> None:
    """Refuse preparations that the algorithm cannot work with.

    Raises:
        InputError: there is one.
    """
    for name in cell.preparations:
        if name not in algorithm.preparations:
            able = ", ".join(algorithm.preparations) or "none"
            raise InputError(
                f"algorithm '{algorithm.name}' cannot work with the preparation '{name}'",
                remedy=f"it takes: {able}",
            )
