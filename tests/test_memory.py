from __future__ import annotations

from pathlib import Path

import pytest

from gpugraph import memory
from gpugraph.errors import OutOfMemory


def test_available_memory_is_a_sensible_figure():
    assert 2**26 < memory.available_memory() < 2**50


def test_work_that_needs_more_is_out_of_memory(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2**20)
    memory.require_memory(2**20, "this")
    with pytest.raises(OutOfMemory, match=r"that: needs about 2.0 MiB of memory and 1.0 MiB are available — buy some"):
        memory.require_memory(2**21, "that", "buy some")


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(memory, "_GROUPS", tmp_path)
    monkeypatch.setattr(memory, "_OWN_GROUP", tmp_path / "own")
    return tmp_path


def write_group(folder: Path, limit: str, used: int, cache: int, version: int = 2) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    names = ("memory.max", "memory.current") if version == 2 else ("memory.limit_in_bytes", "memory.usage_in_bytes")
    (folder / names[0]).write_text(f"{limit}\n")
    (folder / names[1]).write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 5\n{'' if version == 2 else 'total_'}inactive_file {cache}\n")


def test_the_narrowest_control_group_on_the_way_up_counts_and_page_cache_is_free(groups):
    (groups / "own").write_text("0::/a/b\n")
    write_group(groups / "a" / "b", "max", 10, 0)
    write_group(groups / "a", "1000", 700, 100)
    write_group(groups, "5000", 4000, 0)
    assert memory._control_groups() == 400


def test_a_group_that_lies_outside_the_container_leaves_the_root_to_count(groups):
    (groups / "own").write_text("0::/kubepods/elsewhere\n")
    write_group(groups, "5000", 4000, 0)
    assert memory._control_groups() == 1000


def test_groups_of_the_first_version_count(groups):
    (groups / "own").write_text("7:cpu:/x\n9:memory:/a\n")
    write_group(groups / "memory" / "a", "1000", 400, 50, version=1)
    assert memory._control_groups() == 650


def test_without_groups_nothing_is_known(groups):
    assert memory._control_groups() is None
