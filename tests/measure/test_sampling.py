from __future__ import annotations

import json
from typing import Any

import pytest

from gpugraph.base.errors import InputError
from gpugraph.measure.sampling import Sampling
from tests.cli.runner import refuse, succeed


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_samples": 0},
        {"max_samples": 3, "min_samples": 4},
        {"warmup": -1},
        {"target": -0.1},
        {"target": float("nan")},
        {"time_limit_s": 0.0},
        {"time_limit_s": float("nan")},
    ],
)
def test_sampling_that_makes_no_sense_is_refused(wrong: dict[str, Any]):
    with pytest.raises(InputError):
        Sampling(**wrong)


def test_a_fixed_number_of_samples_is_not_adaptive():
    assert not Sampling.fixed(5, 1).adaptive
    assert Sampling().adaptive


def sampled(*words: object) -> tuple[dict[str, Any], int]:
    record = json.loads(succeed("mst", "grid:9x9", "--device", "cpu", "--format", "json", *words).out)
    return record["sampling"], len(record["samples_s"]["kernel"])


def test_the_command_line_samples_as_often_as_told_or_until_the_target_is_met():
    fixed, count = sampled("--repeat", 4)
    assert (fixed["target"], fixed["stopped_by"], count) == (None, "count", 4)
    adaptive, count = sampled("--target", "80%", "--repeat", 6)
    assert (adaptive["target"], adaptive["stopped_by"]) == (0.8, "target")
    assert count >= 6
    limited, count = sampled("--target", "0", "--max-seconds", 1e-9)
    assert (limited["stopped_by"], count) == ("time", 1)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--target", "little"), "--target 'little' is no share — give e.g. 0.02 or 2%"),
        (("--target", "-1"), "no relative half width"),
        (("--max-seconds", "0"), "is no length of time"),
        (("--repeat", "-1"), "--repeat -1 is no number of samples"),
        (("--repeat", str(2**63)), "give 1 to 2^63 - 1"),
        (("--target", "1e305"), "is no relative half width"),
        (("--price", "1e305"), "an hour is none"),
        (("--price", "1e-320"), "an hour is none"),
        (("--cold",), "cold samples need a GPU"),
    ],
)
def test_switches_that_make_no_sense_exit_2(words: tuple[str, ...], reason: str):
    assert reason in refuse(2, "mst", "grid:9x9", "--device", "cpu", *words)
