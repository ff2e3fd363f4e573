"""The kernels of drivers on ranks: no race beyond those that they explain, and one result under shuffled schedules."""

from __future__ import annotations

import re

import pytest

from gpugraph.files import resource_dir
from gpugraph.problems import contraction
from gpugraph.problems.sssp import delta_stepping_distributed
from tests.ranks.runs import own_ranks
from tests.ranks.test_drivers import tried

NAMES = ("random-ties", "grid-equal", "two-components", "star", "zero-weights", "one-edge-and-isolated")


def test_they_race_only_where_they_say_so() -> None:
    run = own_ranks(2, "emulated", "tests.ranks.on_zoo", "races", *NAMES)
    assert run.returncode == 0, run.stderr
    assert tried(run.stdout) > 10


@pytest.mark.parametrize("seed", range(1, 4))
def test_shuffled_schedules_give_one_result(seed: int) -> None:
    run = own_ranks(3, "emulated", "tests.ranks.on_zoo", f"emulated:{seed}", *NAMES)
    assert run.returncode == 0, run.stderr
    assert tried(run.stdout) > 10


def constants(file: str) -> dict[str, int]:
    source = (resource_dir("cuda_kernels") / file).read_text()
    return {name: int(value) for name, value in re.findall(r"\b([A-Z_]+) = (\d+)[,;]", source)}


@pytest.mark.parametrize("name", ["BLOCK", "TREES", "JUMPS"])
def test_contraction_repeats_its_kernels_constants(name: str) -> None:
    assert getattr(contraction, name) == constants(contraction.FILE)[name]


def test_delta_stepping_reads_the_counts_where_its_kernels_write_them() -> None:
    theirs = constants(delta_stepping_distributed.FILE)
    ours = delta_stepping_distributed
    assert [theirs[name] for name in ("NEXT_COUNT", "FAR_COUNT", "OUT_COUNT", "OVERFLOWED", "BY_OWNER")] == [
        ours.NEXT,
        ours.FAR,
        ours.OUT,
        ours.OVERFLOWED,
        ours.BY_OWNER,
    ]
