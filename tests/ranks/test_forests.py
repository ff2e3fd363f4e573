"""Forests that devices find together where links cross all ranks, weights are tied, or a list has no room."""

from __future__ import annotations

import pytest

from tests.ranks.runs import own_ranks
from tests.ranks.test_drivers import tried
from tests.tiers import also


@pytest.mark.parametrize("ranks", [pytest.param(2, marks=pytest.mark.thorough), also(4)])
def test_chains_ties_and_short_lists_leave_the_forest_of_one_process(ranks: int) -> None:
    run = own_ranks(ranks, "emulated", "tests.ranks.on_forests")
    assert run.returncode == 0, run.stderr
    assert tried(run.stdout) == 18
