"""On ranks too, a word that stands for nothing is no value that an answer may have."""

from __future__ import annotations

from tests.ranks.runs import own_ranks
from tests.ranks.test_drivers import tried
from tests.tiers import extended


@extended
def test_ranks_take_the_greatest_weight_and_vertex_0_for_what_they_are() -> None:
    run = own_ranks(2, "emulated", "tests.ranks.on_sentinels")
    assert run.returncode == 0, run.stderr
    assert tried(run.stdout) == 13
