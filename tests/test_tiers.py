"""``make test`` and ``make test-rest`` together run what ``make test-all`` runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tiers import FULL, LEAST, by_width, drawn, first, only

MAKEFILE = (Path(__file__).resolve().parents[1] / "Makefile").read_text("utf-8")


def marker_of(target: str) -> str:
    """Return which tests a target of the Makefile runs, as an expression of Python."""
    (recipe,) = re.findall(rf"^{target}:.*\n\t(.*)$", MAKEFILE, re.MULTILINE)
    (common,) = re.findall(r"^TESTED = (.*)$", MAKEFILE, re.MULTILINE)
    words = shlex.split(recipe.replace("$(TESTED)", common))
    return words[words.index("-m", words.index("pytest")) + 1]


@pytest.mark.parametrize(
    "marks", [set(), {"extended"}, {"drawn"}, {"extended", "drawn"}, {"gpu"}, {"thorough", "drawn"}]
)
def test_a_test_that_test_all_runs_in_full_is_run_in_full_by_test_or_by_test_rest(marks: set[str]) -> None:
    names = {name: name in marks for name in ("gpu", "thorough", "extended", "drawn")}
    runs = {target: eval(marker_of(target), names.copy()) for target in ("test", "test-rest", "test-all")}
    in_full = runs["test-rest"] or (runs["test"] and "drawn" not in marks)
    assert in_full == runs["test-all"]


def test_values_that_are_left_out_are_marked_and_none_is_lost() -> None:
    for values in (first(2, "abc"), only("ab", "abc")):
        assert values[:2] == ["a", "b"]
        assert values[2].values == ("c",)
        assert [mark.name for mark in values[2].marks] == ["extended"]
    assert len(by_width(["grid", "uint64"])) == 4


@pytest.mark.parametrize(("samples", "few"), [(10, 10), (60, LEAST), (600, 120)])
def test_a_property_draws_fewer_samples_unless_all_tests_run(samples: int, few: int) -> None:
    tried: list[int] = []

    @drawn(samples)
    @given(st.integers())
    def a_property(value: int) -> None:
        tried.append(value)

    a_property()
    assert len(tried) == (samples if FULL else few)
