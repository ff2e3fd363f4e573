from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpugraph.errors import InputError
from gpugraph.problems.algorithm import Option
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.registry import NAMES, algorithms


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        (bool, "Yes", True),
        (bool, "off", False),
        (bool, np.True_, True),
        (int, "7", 7),
        (int, np.int8(7), 7),
        (float, "1e3", 1000.0),
        (float, 3, 3.0),
        (float, np.float32(0.5), 0.5),
        (str, "x", "x"),
    ],
)
def test_an_option_takes_text_and_values_of_its_own_kind(kind: type, given: Any, value: Any) -> None:
    taken = Option("o", kind, None, "").parse(given)
    assert (taken, type(taken)) == (value, kind)


@pytest.mark.parametrize(
    ("kind", "given"),
    [(bool, "ture"), (bool, 1), (int, "x"), (int, 1.5), (int, None), (float, [1.0]), (float, 2**2000), (str, 5)],
)
def test_an_option_refuses_everything_else_in_words(kind: type, given: Any) -> None:
    with pytest.raises(InputError, match=f"option 'o' takes {kind.__name__}, not "):
        Option("o", kind, None, "").parse(given)


def test_a_value_of_python_has_to_be_among_the_choices_too() -> None:
    with pytest.raises(InputError, match="unknown value of option 'threads' '100'"):
        Option("threads", int, 128, "", (64, 128)).parse(100)


def test_what_the_algorithms_are_called_is_told_without_them() -> None:
    loaded = {problem: {algorithm.name for algorithm in algorithms(problem)} for problem in PROBLEMS}
    assert {problem: set(names.split()) for problem, names in NAMES.items()} == loaded
