from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpugraph.base.errors import InputError
from gpugraph.bench import axes
from gpugraph.bench.axes import expand, expand_words, matches


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("16..20", [16, 17, 18, 19, 20]),
        ("16..21 step 2", [16, 18, 20]),
        ("1..64 x2", [1, 2, 4, 8, 16, 32, 64]),
        ("1..100x10", [1, 10, 100]),
        ("2^10..2^12 x2", [1024, 2048, 4096]),
        ("0.1..0.5 step 0.1", [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("-2..2 step 2", [-2, 0, 2]),
        ("7..7", [7]),
        ("rmat:16", ["rmat:16"]),
        ("ssca2:9,w=1..255", ["ssca2:9,w=1..255"]),
        ("rmat:{scale},w=1..2", ["rmat:{scale},w=1..2"]),
        (["1..255", "unit"], ["1..255", "unit"]),
        (5, [5]),
    ],
)
def test_a_range_is_its_members_and_a_list_is_itself(text, values):
    assert expand(text) == values


@pytest.mark.parametrize("text", ["20..16", "1..9 step 0", "0..64 x2", "1..64 x1", "1..1000000", "16..", "..16", []])
def test_a_range_that_makes_no_sense_is_refused_with_advice(text):
    with pytest.raises(InputError) as caught:
        expand(text)
    assert caught.value.remedy


@given(st.integers(-100, 100), st.integers(0, 100), st.integers(1, 7))
@settings(max_examples=30, deadline=None)
def test_a_range_is_what_python_calls_one(first, length, step):
    assert expand(f"{first}..{first + length} step {step}") == list(range(first, first + length + 1, step))


def test_words_of_the_command_line_may_mix_values_and_ranges():
    assert expand_words("10,12..14,boruvka,0.5") == [10, 12, 13, 14, "boruvka", 0.5]


@pytest.mark.parametrize(
    ("wanted", "value", "met"),
    [
        ("22..", 22, True),
        ("22..", 21, False),
        ("..10", 10, True),
        ("16..20", 18, True),
        ("0.2..", 0.2, True),
        ("rmat:*", "rmat:16", True),
        ("rmat:*", "grid:4x4", False),
        (["prim", "boruvka"], "prim", True),
        (8, 8, True),
        (8, 9, False),
        (False, False, True),
    ],
)
def test_a_rule_meets_values_ranges_and_patterns(wanted, value, met):
    assert matches(wanted, value) is met


def test_draws_are_numbers_hashed_from_the_commit_that_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(axes, "git_commit", lambda: "0123456789ab+")
    first = hashlib.sha256(b"0123456789ab 1").hexdigest()[:8]
    assert expand("commit:3") == expand_words("commit:3") == axes.draws_of("0123456789abcdef", 3)
    assert expand("commit:40")[0] == int(first, 16)
    assert len(set(expand("commit:40"))) == 40
    assert axes.draws_of("0123456789ac", 40) != expand("commit:40")
    monkeypatch.setattr(axes, "git_commit", lambda: None)
    with pytest.raises(InputError, match="no commit is known"):
        expand("commit:40")
