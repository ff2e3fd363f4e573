"""Graph500 on several ranks: shares of the edge list, and what runs on ranks of their own (``on_ranks.py``)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpugraph.ext.graph500.generator import generate, load, save
from tests.ranks.runs import own_ranks, together
from tests.tiers import extended


def test_shares_of_the_edge_list_are_that_list_in_memory_and_in_files(tmp_path: Path) -> None:
    whole, file = generate(7, None), tmp_path / "edges"
    shares = [generate(7, None, (rank, 3)) for rank in range(3)]
    save(whole, file, None)
    for name in ("edges", "weights"):
        np.testing.assert_array_equal(np.concatenate([getattr(share, name) for share in shares]), getattr(whole, name))
        np.testing.assert_array_equal(getattr(load(7, file, None), name), getattr(whole, name))
        np.testing.assert_array_equal(getattr(load(7, file, None, (1, 3)), name), getattr(shares[1], name))
    assert load(7, file, None, (2, 3)).first == shares[2].first == len(whole) * 2 // 3


@extended
def test_ranks_find_what_one_processor_finds_and_agree_on_what_is_wrong(tmp_path: Path) -> None:
    run = own_ranks(3, "cpu", "tests.graph500.on_ranks", str(tmp_path))
    assert run.returncode == 0, run.stderr
    np.testing.assert_array_equal(load(6, tmp_path / "edges", None).edges, generate(6, None).edges)
    assert len(list(tmp_path.glob("*.parents"))) == 2


@extended
def test_the_command_runs_on_processors_and_refuses_other_ranks(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    (ran,) = together("cpu", 2, ("graph500", "--scale", "6", "--roots", "2", "-q", "--save", str(file)))
    assert ran.code == 0, ran.err
    assert "num_mpi_processes:              2" in ran.out
    assert len(file.read_text().splitlines()) == 1
    (refused,) = together("emulated", 2, ("graph500", "--scale", "6", "-q"))
    assert refused.code == 2
    assert "several ranks run Graph500 on processors alone" in refused.err
