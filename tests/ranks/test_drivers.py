"""Drivers on ranks: what they find together is what one process finds, bit for bit, on every graph, for every P."""

from __future__ import annotations

import pytest

from tests.ranks.runs import mpi_ranks, needs_mpi, own_ranks
from tests.tiers import also

CASES = "tests.ranks.on_zoo"
EVERY_PATH = (
    *("no-vertex", "one-vertex", "two-components", "random-dense", "directed-random", "huge-weights"),
    *("negative-int32", "int64", "uint64", "float32", "float-tiny-and-huge"),
)
"""Graphs on which three emulated ranks run every line of drivers and every form of a kernel that the zoo does."""
DENSE = ("rmat:8,w=1..255", "rmat:8,w=0.0..1.0", "rmat:8,w=1..4294967295", "regular:n=200,in=20,w=1..1000")
"""Graphs much of which lies beyond the horizon of a search."""
FEW = ("no-vertex", "one-edge", "random-ties", "grid-equal", "many-tiny", "zero-weights", "star")


def tried(output: str) -> int:
    """Return how many cases were tried; fail where one was wrong."""
    last = output.strip().rsplit("\n", 1)[-1]
    assert last.endswith("wrong 0"), output
    return int(last.split()[1].rstrip(","))


@pytest.mark.thorough
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5])
def test_processors_find_on_the_whole_zoo_what_one_process_finds(ranks: int) -> None:
    run = own_ranks(ranks, "cpu", CASES, "cpu")
    assert run.returncode == 0, run.stderr
    assert tried(run.stdout) > 100


@pytest.mark.thorough
@pytest.mark.parametrize("ranks", [2, 3])
def test_emulated_devices_find_on_the_whole_zoo_what_one_process_finds(ranks: int) -> None:
    run = own_ranks(ranks, "emulated", CASES, "emulated")
    assert run.returncode == 0, run.stderr
    assert tried(run.stdout) > 100


@pytest.mark.parametrize(
    ("names", "least"), [(("random-ties", "two-components", "star"), 10), also((*EVERY_PATH, *DENSE[1:3]), 30)]
)
def test_emulated_devices_find_what_one_process_finds(names: tuple[str, ...], least: int) -> None:
    run = own_ranks(3, "emulated", CASES, "emulated", *names)
    assert run.returncode == 0, run.stderr
    assert tried(run.stdout) > least


@needs_mpi
@pytest.mark.parametrize(
    ("ranks", "device"),
    [
        *((3, "cpu"), also(1, "cpu"), also(2, "emulated")),
        *(pytest.param(n, device, marks=pytest.mark.thorough) for n in (4, 8) for device in ("cpu", "emulated")),
    ],
)
def test_ranks_of_an_mpi_find_what_one_process_finds(ranks: int, device: str) -> None:
    run = mpi_ranks(ranks, CASES, device, *FEW)
    assert run.returncode == 0, run.stderr
    assert tried(run.stdout) > 10
