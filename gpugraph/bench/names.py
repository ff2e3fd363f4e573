"""Refuse the names of a sweep that nothing stands behind, each with its place in the file; fill templates."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from gpugraph.bench.choices import PEER, Choices
from gpugraph.bench.sweep import AXES, Block, Sweep
from gpugraph.errors import InputError, placed, unknown_name
from gpugraph.problems.contract import PROBLEMS

TEMPLATES = ("graph", "weights", "source", "prepare")
"""Axes whose values may hold variables; those of options may too."""

_VARIABLE = re.compile(r"\{(\w+)\}")


def variables_in(template: Any) -> list[str]:
    """Return the names of the variables in a template."""
    return _VARIABLE.findall(template) if isinstance(template, str) else []


def filled(template: Any, bound: Mapping[str, Any]) -> Any:
    """Return a template with the values of its variables."""
    return _VARIABLE.sub(lambda match: str(bound[match[1]]), template) if isinstance(template, str) else template


def check_names(sweep: Sweep, block: Block, choices: Choices) -> None:
    """Refuse what no cell of a block could use, and variables that no template does.

    Raises:
        InputError: the first of them; the nearest right name is suggested.
    """
    with _at(sweep, block, "axes", "problem"):
        for problem in block.axes["problem"]:
            if problem not in PROBLEMS:
                raise unknown_name("problem", problem, PROBLEMS)
    with _at(sweep, block, "axes", "algorithm"):
        for problem, variants in block.algorithms.items():
            for variant in variants:
                problems = [problem] if problem else block.axes["problem"]
                choices.check(variant.name, problems)
                choices.check_device(variant.device or "auto")
                choices.check_preparation(variant.prepare or "none")
                for option, value in variant.options.items():
                    choices.check_option(variant.name, problems, option, value)
    with _at(sweep, block, "axes", "device"):
        for device in block.axes["device"]:
            choices.check_device(device)
    with _at(sweep, block, "axes", "prepare"):
        for prepare in block.axes["prepare"]:
            choices.check_preparation(prepare)
    _check_options(sweep, block, choices)
    used, variables = _variables(block)
    for name in sorted(used.keys() - variables):
        with _at(sweep, block, "axes", used[name]):
            raise unknown_name("variable in a template", name, variables or ["axes of your own, such as scale"])


def check_variables_used(sweep: Sweep) -> None:
    """Refuse an axis that no template uses: a slip of the pen, unless ``--set`` gave other templates.

    Raises:
        InputError: there is one.
    """
    if any(axis in sweep.settings for axis in TEMPLATES):
        return
    found = [(block, *_variables(block)) for block in sweep.blocks]
    used = {name for _, names, _ in found for name in names}
    for block, _, variables in found:
        for name in sorted(variables - used):
            with _at(sweep, block, "axes", name):
                raise unknown_name("axis", name, [*AXES, *used])


def _check_options(sweep: Sweep, block: Block, choices: Choices) -> None:
    named = {variant.name for variants in block.algorithms.values() for variant in variants}
    for algorithm, options in block.options.items():
        for option, values in options.items():
            with _at(sweep, block, "options", algorithm, option):
                if algorithm.startswith(PEER):
                    choices.check(algorithm, [])  # --peer may name it
                elif algorithm not in named:
                    raise unknown_name("algorithm of this sweep", algorithm, named)
                for value in values:
                    choices.check_option(algorithm, block.axes["problem"], option, value)


def variables_of_options(block: Block) -> set[str]:
    """Return the variables that the options of a block's algorithms use."""
    variants = [variant for group in block.algorithms.values() for variant in group]
    values = [value for variant in variants for value in variant.options.values()]
    values += [value for options in block.options.values() for group in options.values() for value in group]
    return {name for value in values for name in variables_in(value)}


def _variables(block: Block) -> tuple[dict[str, str], set[str]]:
    """Return the variables that templates use, with an axis where each is used; and the variables there are."""
    values = [(axis, value) for axis in TEMPLATES for value in block.axes[axis]]
    used = {name: axis for axis, value in values for name in variables_in(value)}
    used |= dict.fromkeys(variables_of_options(block), "algorithm")
    return used, {name for name in block.axis_names() if name not in AXES}


@contextlib.contextmanager
def _at(sweep: Sweep, block: Block, *keys: str) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise placed(error, sweep.where(block, *keys)) from None
