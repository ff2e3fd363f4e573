"""Every kernel file, every define set, every architecture, against the checked-in budget of registers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpugraph.devices.kernel_source import load_source
from gpugraph.devices.kernels import CompiledModule, KernelUsage, compile_kernels
from tests.devices import compile_matrix as matrix
from tests.tiers import extended

BUDGET = matrix.read_budget(Path(__file__).with_name("register_budget.json"))
ENTRIES = list(matrix.entries(architectures=matrix.ARCHITECTURES[:1]))


def sample() -> list[tuple[matrix.Entry, str]]:
    """Return of each file the first define set and every twelfth after it, for sm_90 and other architectures in turn.

    ``make matrix`` compiles all of them for all.
    """
    files = {entry.file: [other for other in ENTRIES if other.file == entry.file] for entry in ENTRIES}
    chosen = [entry for entries in files.values() for entry in entries[::12]]
    others = [arch for arch in matrix.known_architectures() if arch != "sm_90"]
    return [(entry, others[turn // 2 % len(others)] if turn % 2 else "sm_90") for turn, entry in enumerate(chosen)]


SMALL = ("arcs_at.cu", "check.cu", "fill.cu", "probe.cu")
"""Files that take the compiler a second together."""


def tiered(entry: matrix.Entry, arch: str) -> Any:
    """Return a compilation of the sample; ``make test`` makes those of small files."""
    return pytest.param(entry, arch, id=f"{entry.key}-{arch}", marks=() if entry.file in SMALL else extended)


@pytest.mark.parametrize(("entry", "arch"), [tiered(*one) for one in sample()])
def test_it_compiles_within_its_budget(entry: matrix.Entry, arch: str) -> None:
    module = compile_kernels(entry.file, entry.defines, arch)
    assert module.kernels
    assert set(module.kernels) <= set(load_source(entry.file).kernels)
    assert matrix.complaints(matrix.Entry(entry.file, entry.defines, arch), module, BUDGET) == []


def test_the_budget_names_nothing_that_is_gone() -> None:
    assert set(BUDGET) <= {entry.key for entry in ENTRIES}


def test_the_budget_has_a_limit_for_every_architecture_that_is_promised() -> None:
    limits = [limits for kernels in BUDGET.values() for limits in kernels.values()]
    assert all(tuple(known) == matrix.ARCHITECTURES for known in limits)


def test_architectures_that_the_compiler_does_not_know_keep_their_budget(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "budget.json"
    path.write_text('{"fill.cu": {"fill_2_bytes": {"sm_70": 16}, "gone": {"sm_70": 8}}, "probe.cu": {}}')
    monkeypatch.setattr(matrix, "known_architectures", lambda: ["sm_80", "sm_90"])
    assert matrix.main(["fill.cu", "--budget", str(path), "--write"]) == 0
    budget = matrix.read_budget(path)
    assert budget.keys() == {"fill.cu", "probe.cu"}
    assert "gone" not in budget["fill.cu"]
    assert budget["fill.cu"]["fill_2_bytes"]["sm_70"] == 16
    assert list(budget["fill.cu"]["fill_2_bytes"]) == ["sm_70", "sm_80", "sm_90"]
    assert list(budget["fill.cu"]["fill_8_bytes"]) == ["sm_80", "sm_90"]


def test_what_drivers_declare_stays_a_matter_of_minutes() -> None:
    """At most 223: 170 of one device's kernels, and the least that those need which came after.

    These are of ranks 6 of forests (types of weights), 1 of components and 5 of delta-stepping's (weights by distance
    words), 12 of delta-stepping from many sources (the same and narrow words, by arc indices) and 2 of the same side by
    side, 2 of Graph500's (arc indices), 13 of float32 weights that are summed in float64 (one of each file that had
    float32, by arc indices), and 12 of arc indices without a sign (one of each file that takes them).
    """
    assert len({entry.key for entry in ENTRIES}) == len(ENTRIES) <= 223


def test_spills_more_registers_and_unknown_kernels_are_complained_of() -> None:
    entry = matrix.Entry("a.cu", {"X": 1}, "sm_90")
    kernels = {
        "fine": KernelUsage(32, 0, 0, 0, 0),
        "greedy": KernelUsage(33, 0, 0, 0, 0),
        "new": KernelUsage(1, 0, 0, 0, 0),
        "spilling": KernelUsage(8, 4, 8, 0, 0),
    }
    limits = {name: {"sm_90": 32} for name in ("fine", "greedy", "spilling")}
    found = matrix.complaints(entry, CompiledModule(Path("x"), "sm_90", kernels, "", False), {"a.cu X=1": limits})
    assert len(found) == 3
    assert found[0] == "a.cu X=1 sm_90: greedy takes 33 registers, its budget is 32"
    assert "new has no budget" in found[1]
    assert found[2].endswith("spilling spills 12 bytes")


def test_a_budget_that_was_written_is_read_back_and_holds(
    cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "budget.json"
    path.write_text("{}")
    assert matrix.main(["fill.cu", "--budget", str(path)]) == 1
    assert matrix.main(["fill.cu", "--budget", str(path), "--write"]) == 0
    assert matrix.main(["fill.cu", "--budget", str(path)]) == 0
    assert all(limit % 8 == 0 for kernel in matrix.read_budget(path)["fill.cu"].values() for limit in kernel.values())
    known = matrix.known_architectures()
    assert f"{len(known)} compilations are within their budget ({', '.join(known)})" in capsys.readouterr().out


def test_a_missing_budget_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert matrix.main(["fill.cu", "--budget", str(tmp_path / "gone.json")]) == 2
    assert "make one with --write" in capsys.readouterr().err
