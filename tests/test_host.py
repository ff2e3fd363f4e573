"""What the machine offers: memory within the limits of control groups, and processors."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpugraph.base import host
from gpugraph.base.errors import OutOfMemory
from gpugraph.devices.cpu import CpuDevice

GIB = 1 << 30


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of 64 GiB, 32 of them available, whose control groups a test writes."""
    monkeypatch.setattr(host, "_GROUPS", tmp_path / "groups")
    monkeypatch.setattr(host, "_OWN_GROUP", tmp_path / "own")
    monkeypatch.setattr(host, "_physical", lambda: 64 * GIB)
    monkeypatch.setattr(host, "_available", lambda: 32 * GIB)
    return tmp_path / "groups"


def limit(group: Path, most: str, used: int, cached: int = 0, *, version: int = 2) -> None:
    names = ("memory.max", "memory.current", "inactive_file")
    if version == 1:
        names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    group.mkdir(parents=True, exist_ok=True)
    (group / names[0]).write_text(f"{most}\n")
    (group / names[1]).write_text(f"{used}\n")
    (group / "memory.stat").write_text(f"anon 5\n{names[2]} {cached}\n")


def test_without_limits_the_machine_itself_counts(groups: Path) -> None:
    assert (host.available_memory(), host.total_memory()) == (32 * GIB, 64 * GIB)


def test_the_least_of_all_groups_above_counts_and_page_cache_gives_way(groups: Path, tmp_path: Path) -> None:
    (tmp_path / "own").write_text("0::/slice/job\n")
    limit(groups / "slice" / "job", "max", GIB)
    limit(groups / "slice", str(8 * GIB), 5 * GIB, 2 * GIB)
    limit(groups, str(40 * GIB), 39 * GIB, 30 * GIB)
    assert (host.available_memory(), host.total_memory()) == (5 * GIB, 8 * GIB)


def test_a_path_of_the_hosts_leads_a_container_to_the_root_of_its_own_groups(groups: Path, tmp_path: Path) -> None:
    (tmp_path / "own").write_text("12:cpuset:/docker/x\n9:memory:/docker/x\n")
    limit(groups / "memory", str(2 * GIB), GIB, version=1)
    assert (host.available_memory(), host.total_memory()) == (GIB, 2 * GIB)


def test_a_group_over_its_limit_leaves_nothing_and_a_damaged_one_says_nothing(groups: Path, tmp_path: Path) -> None:
    (tmp_path / "own").write_text("0::/job\n")
    limit(groups / "job", "many", GIB)
    assert host.available_memory() == 32 * GIB
    limit(groups / "job", str(GIB), 2 * GIB)
    assert host.available_memory() == 0


def test_work_that_needs_more_is_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "available_memory", lambda: 2**20)
    host.require_memory(2**20, "this")
    with pytest.raises(OutOfMemory, match=r"that: needs about 2 MiB of memory and 1 MiB are available — buy some"):
        host.require_memory(2**21, "that", "buy some")


@pytest.mark.parametrize(
    ("own", "files", "cores"),
    [
        ("0::/slice/job\n", {"slice/job/cpu.max": "max 100000", "slice/cpu.max": "250000 100000"}, 3),
        ("0::/\n", {"cpu.max": "50000 100000"}, 1),
        ("4:cpuacct,cpu:/x\n", {"cpu/cpu.cfs_quota_us": "200000", "cpu/cpu.cfs_period_us": "100000"}, 2),
        ("4:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 8),
        ("4:cpu:/\n", {"cpu/cpu.cfs_quota_us": "many", "cpu/cpu.cfs_period_us": "100000"}, 8),
        ("", {}, 8),
    ],
)
def test_a_quota_on_time_leaves_so_many_processors(
    groups: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str, files: dict[str, str], cores: int
) -> None:
    monkeypatch.setattr(host.os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    (tmp_path / "own").write_text(own)
    for name, content in files.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(f"{content}\n")
    host._quota.cache_clear()
    try:
        assert host.usable_cores() == cores
    finally:
        host._quota.cache_clear()


def test_this_machine_has_sensible_figures() -> None:
    assert 1 << 26 < host.available_memory() <= host.total_memory() < 1 << 50
    assert host.usable_cores() >= 1
    assert host.processor_name()


def test_the_cpu_says_what_it_lacks_without_a_word_of_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "available_memory", lambda: GIB)
    with pytest.raises(OutOfMemory) as caught:
        CpuDevice().require(2 * GIB)
    assert str(caught.value).startswith("cpu: needs about 2 GiB of memory and 1 GiB are available — ")
    assert "device" not in str(caught.value)
    CpuDevice().require(GIB)
