"""Which part of a test runs in ``make test``, and which in ``make test-all`` alone.

``make test`` tries each algorithm as it is by default, on few samples, in minutes with empty caches.  ``make test-all``
adds the tests marked ``extended``, and runs those marked ``drawn`` once more with all of their samples.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable
from typing import Any, TypeVar

import pytest
from hypothesis import settings

from tests.zoo import COMMON

FULL = os.environ.get("GPUGRAPH_TESTS") == "all"
"""True in ``make test-all``, where tests take all of their samples."""

LEAST = 30
"""Samples that a property is tried on at least."""

extended = pytest.mark.extended
"""A test that only ``make test-all`` runs."""

Test = TypeVar("Test", bound=Callable[..., Any])


def drawn(samples: int, **options: Any) -> Callable[[Test], Test]:
    """Return what decorates a property: Hypothesis draws ``samples`` in ``make test-all``, a fifth in ``make test``."""
    count = samples if FULL else min(samples, max(samples // 5, LEAST))
    return lambda test: pytest.mark.drawn(settings(max_examples=count, deadline=None, **options)(test))


def first(count: int, values: Iterable[Any]) -> list[Any]:
    """Return the values of a parameter, those behind the first ``count`` marked ``extended``."""
    every = list(values)
    return [*every[:count], *(also(value) for value in every[count:])]


def only(chosen: Container[Any], values: Iterable[Any]) -> list[Any]:
    """Return the values of a parameter, those that are not among the chosen marked ``extended``."""
    return [value if value in chosen else also(value) for value in values]


def by_width(names: Iterable[str]) -> list[Any]:
    """Return (name of a graph, bits of an index): common graphs with 32, and the graph of random ties with 64 as well.

    Numba takes seconds for each pair of a type of weights and a width.
    """
    pairs = [(name, bits) for name in names for bits in (32, 64)]
    return [(n, b) if (b == 32 and n in COMMON) or n == "random-ties" else also(n, b) for n, b in pairs]


def also(*values: Any) -> Any:
    """Return the value of a parameter, or of several together, that only ``make test-all`` tries."""
    return pytest.param(*values, marks=extended)
