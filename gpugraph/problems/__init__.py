"""The problems: a folder for each, and what all of them share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
"""What ``click.option`` and ``click.argument`` return."""


def _as_they_are(options: dict[str, Any]) -> dict[str, Any]:
    return options


@dataclass(frozen=True)
class Command:
    """What the command that solves a problem has beside the options that all of them share.

    It is ``gpugraph.problems.<name>.COMMAND``, in a file that imports nothing heavy, so that help is instant.

    Attributes:
        help: a docstring: one line, what is to be known, and an example.
        on_graph: its input is GRAPH, with the options that say how a graph is read.
        options: parameters of its own, above those that say how to run.
        settings: name → (metavar, help) of parameters of algorithms that are worth an option: ``--name VALUE`` is
            ``--set name=VALUE``.
        arrange: from the values of all options by name to those that ``gpugraph.cli.measure.measure`` takes: fields of
            ``Cell``, ``graph`` the text of the input.
    """

    help: str
    on_graph: bool = True
    options: tuple[Decorator, ...] = ()
    settings: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    arrange: Callable[[dict[str, Any]], dict[str, Any]] = _as_they_are
