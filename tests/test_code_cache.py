"""The cache of compiled code: what is damaged is absent, and where nothing can be kept all goes on."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gpugraph.base import code_cache
from gpugraph.base.errors import DeviceUnavailable, GpuGraphWarning
from tests.measure.fakes import FakeTime

Damage = Callable[[bytes], bytes]
DAMAGES: dict[str, Damage] = {
    "empty": lambda content: b"",
    "cut off": lambda content: content[: len(content) // 2],
    "one bit": lambda content: content[:-3] + bytes([content[-3] ^ 4]) + content[-2:],
    "garbage": lambda content: b"\xff\x00garbage" * 40,
    "other JSON": lambda content: b'{"facts": 3}',
    "deep JSON": lambda content: b"[" * 100_000,
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def refusing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder that cannot be made, in a process that has not yet spoken of it or made one of its own."""
    (tmp_path / "taken").write_text("a file, no folder")
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", str(tmp_path / "taken"))
    monkeypatch.setattr(code_cache, "_OWN", [])
    code_cache._warn_once.cache_clear()
    return tmp_path / "taken"


def test_what_is_kept_is_found_with_its_facts(folder: Path) -> None:
    path = code_cache.keep("cubins", "a.cubin", b"code", {"log": "fine"})
    found = code_cache.find("cubins", "a.cubin")
    assert found == code_cache.Entry(path, b"code", {"log": "fine"})
    assert path == folder / "cubins" / "a.cubin"
    assert code_cache.find("numba", "a.cubin") is None
    assert sorted(os.listdir(path.parent)) == ["a.cubin", "a.json"]


@pytest.mark.parametrize("suffix", [".so", ".json"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_absent_until_it_is_kept_again(folder: Path, suffix: str, damage: Damage) -> None:
    path = code_cache.keep("emulated", "a.so", b"compiled code", {"log": "fine"})
    hurt = path.with_suffix(suffix)
    hurt.write_bytes(damage(hurt.read_bytes()))
    assert code_cache.find("emulated", "a.so") is None
    code_cache.keep("emulated", "a.so", b"compiled code", {"log": "fine"})
    found = code_cache.find("emulated", "a.so")
    assert found is not None
    assert found.content == b"compiled code"


def test_two_files_that_changed_places_with_their_facts_are_absent_both(folder: Path) -> None:
    paths = [code_cache.keep("emulated", name, name.encode()) for name in ("a.so", "b.so")]
    for ending in (".so", ".json"):
        one, other = (path.with_suffix(ending) for path in paths)
        mine = one.read_bytes()
        one.write_bytes(other.read_bytes())
        other.write_bytes(mine)
    assert [code_cache.find("emulated", path.name) for path in paths] == [None, None]


@pytest.mark.parametrize("suffix", [".so", ".json"])
def test_a_pipe_in_place_of_a_file_is_not_waited_for_but_replaced(folder: Path, suffix: str) -> None:
    path = code_cache.keep("emulated", "a.so", b"compiled code")
    path.with_suffix(suffix).unlink()
    os.mkfifo(path.with_suffix(suffix), 0o600)
    assert code_cache.find("emulated", "a.so") is None
    code_cache.keep("emulated", "a.so", b"compiled code")
    assert code_cache.find("emulated", "a.so") is not None


@pytest.mark.parametrize("suffix", [".so", ".json"])
def test_a_link_in_place_of_a_file_is_replaced_and_not_what_it_leads_to(
    folder: Path, tmp_path: Path, suffix: str
) -> None:
    path = code_cache.keep("emulated", "a.so", b"compiled code")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("another program's")
    path.with_suffix(suffix).unlink()
    path.with_suffix(suffix).symlink_to(elsewhere)
    assert code_cache.find("emulated", "a.so") is None
    code_cache.keep("emulated", "a.so", b"compiled code")
    assert code_cache.find("emulated", "a.so") is not None
    assert elsewhere.read_text() == "another program's"


def test_a_file_whose_facts_were_never_written_is_absent(folder: Path) -> None:
    code_cache.keep("emulated", "a.so", b"code").with_suffix(".json").unlink()
    assert code_cache.find("emulated", "a.so") is None


def test_many_at_once_leave_one_whole_file_and_nothing_else(folder: Path) -> None:
    def work(number: int) -> bytes | None:
        code_cache.keep("numba", "f.code", bytes([number]) * 100_000)
        found = code_cache.find("numba", "f.code")
        return found and found.content

    with ThreadPoolExecutor(8) as pool:
        contents = list(pool.map(work, range(64)))
    assert all(content is None or (len(content) == 100_000 and len(set(content)) == 1) for content in contents)
    assert sorted(os.listdir(folder / "numba")) == ["f.code", "f.json"]


def test_without_a_folder_the_process_keeps_its_own_and_warns_once(refusing: Path) -> None:
    with pytest.warns(GpuGraphWarning, match=r"cannot be kept in .*taken: not a directory.* — set GPUGRAPH_CACHE_DIR"):
        path = code_cache.keep("emulated", "a.so", b"code")
    assert refusing not in path.parents
    found = code_cache.find("emulated", "a.so")
    assert found is not None
    assert found.path == path
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert code_cache.keep_if_possible("numba", "f.code", b"code") is None


def test_a_full_disk_leaves_nothing_half_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code_cache._warn_once.cache_clear()
    monkeypatch.setattr(os, "fsync", _no_space)
    with pytest.warns(GpuGraphWarning, match="no space left on device"):
        assert code_cache.keep_if_possible("numba", "f.code", b"code") is None
    assert os.listdir(folder / "numba") == []


@pytest.mark.usefixtures("refusing")
@pytest.mark.filterwarnings("ignore::gpugraph.base.errors.GpuGraphWarning")
def test_no_room_anywhere_is_reported_with_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", _no_space)
    with pytest.raises(DeviceUnavailable, match=r"no space left on device — .*GPUGRAPH_CACHE_DIR and TMPDIR"):
        code_cache.keep("emulated", "a.so", b"code")


def test_a_user_without_a_home_has_no_cache_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("GPUGRAPH_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert code_cache.keep_if_possible("numba", "f.code", b"code") is None
    assert code_cache.keep("emulated", "homeless.so", b"code").read_bytes() == b"code"


def test_a_relative_folder_stays_where_it_was_when_the_process_goes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", f"here-{tmp_path.name}")
    code_cache.keep("numba", "f.code", b"code")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert code_cache.find("numba", "f.code") is not None


def _no_space(file: int) -> None:
    raise OSError(28, "No space left on device")


def test_writers_of_one_file_at_once_leave_it_vouched_for(folder: Path) -> None:
    """Two compilations of one thing need not agree to the byte."""
    contents = [bytes([i]) * 1000 for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            list(pool.map(lambda content: code_cache.keep("numba", "f.code", content), contents))
            found = code_cache.find("numba", "f.code")
            assert found is not None
            assert found.content in contents


def test_what_is_not_there_and_so_will_be_compiled_is_named(folder: Path) -> None:
    told: list[str] = []
    code_cache.keep("numba", "here-0123456789abcdef.code", b"x")
    with code_cache.reporting_compilations_to(told.append):
        code_cache.find("numba", "here-0123456789abcdef.code")
        code_cache.find("numba", "gpugraph.graph.build._rows-0123456789abcdef.code")
        code_cache.find("cubins", "arcs_at-sm_100-2a38440ae91b554c45e7e462deb491ea.cubin")
    code_cache.find("cubins", "later-0123456789abcdef.cubin")
    later = ", for this and later runs"
    assert told == [f"compiling gpugraph.graph.build._rows{later}", f"compiling arcs_at-sm_100{later}"]


def test_of_many_that_miss_a_file_at_once_one_makes_it(folder: Path) -> None:
    made: list[str] = []

    def work(name: str) -> bytes:
        with code_cache.sole_maker("emulated", name) as found:
            if found is None:
                made.append(name)
                time.sleep(0.01)
                code_cache.keep("emulated", name, name.encode())
                return name.encode()
            return found.content

    names = [f"{letter}.so" for letter in "abcdef"]
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(work, names * 8)) == [name.encode() for name in names] * 8
    assert sorted(made) == names
    assert not [name for name in os.listdir(folder / "emulated") if name.endswith(".lock")]


HOLDER = """
import sys, time
from gpugraph.base import code_cache
with code_cache.sole_maker("emulated", "a.so"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_maker_that_was_killed_is_waited_for_no_longer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = [sys.executable, "-c", HOLDER]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        holder.send_signal(signal.SIGKILL)
    assert os.listdir(folder / "emulated") == ["a.so.lock"]

    def waits(_: float) -> None:
        raise AssertionError("waited for who has ended")

    monkeypatch.setattr(time, "sleep", waits)
    with code_cache.sole_maker("emulated", "a.so") as found:
        assert found is None
    assert os.listdir(folder / "emulated") == []


def test_who_waits_says_for_what_and_not_for_ever(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_cache, "time", FakeTime())
    told: list[str] = []
    name = "boruvka-plain-0123456789abcdef0123.so"
    with code_cache.reporting_compilations_to(told.append), code_cache.sole_maker("emulated", name):
        with code_cache.sole_maker("emulated", "other.so"):
            assert told == []
        with code_cache.sole_maker("emulated", name) as found:
            assert found is None
        assert os.listdir(folder / "emulated") == [f"{name}.lock"]
    assert told == ["waiting for another process that compiles boruvka-plain"]


@pytest.mark.parametrize("call", ["fcntl.flock", "os.open", "os.mkdir"])
def test_where_nothing_can_be_locked_all_go_on_side_by_side(
    folder: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(call, refused)
    with code_cache.sole_maker("numba", "f.code") as first, code_cache.sole_maker("numba", "f.code") as second:
        assert first is None
        assert second is None


def test_code_from_a_folder_or_a_file_that_others_may_write_to_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", str(tmp_path))
    path = code_cache.keep_if_possible("cubins", "a.cubin", b"code")
    assert code_cache.find("cubins", "a.cubin").content == b"code"
    path.chmod(0o666)
    assert code_cache.find("cubins", "a.cubin") is None
    path.chmod(0o644)
    for folder in (path.parent, tmp_path):
        folder.chmod(0o777)
        code_cache._warn_once.cache_clear()
        with pytest.warns(GpuGraphWarning, match="others may write to"):
            assert code_cache.find("cubins", "a.cubin") is None
        assert code_cache.keep_if_possible("cubins", "b.cubin", b"code") is None
        folder.chmod(0o755)
    assert code_cache.find("cubins", "a.cubin").content == b"code"


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077, 0o777])
def test_whatever_the_umask_the_cache_is_the_users_alone_and_a_second_run_finds_all_of_it(tmp_path, monkeypatch, umask):
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", str(tmp_path / "made" / "cache"))
    before, told = os.umask(umask), []
    try:
        with warnings.catch_warnings(), code_cache.reporting_compilations_to(told.append):
            warnings.simplefilter("error")
            with code_cache.sole_maker("numba", "f.code") as found:
                assert found is None
                lock = tmp_path / "made/cache/numba/f.code.lock"
                assert umask == 0o777 or lock.stat().st_mode & 0o777 == 0o600
                code_cache.keep("numba", "f.code", b"code", {"log": "fine"})
            assert code_cache.find("numba", "f.code").content == b"code"
    finally:
        os.umask(before)
    assert told == []
    modes = {path.relative_to(tmp_path): path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert set(modes.values()) == {0o700, 0o600}
    assert all((mode == 0o700) == (tmp_path / path).is_dir() for path, mode in modes.items())


def test_a_folder_of_the_users_that_a_group_may_write_to_is_put_right(folder, recwarn):
    code_cache.keep("numba", "f.code", b"code")
    for path in (folder, folder / "numba"):
        path.chmod(0o775)
    assert code_cache.find("numba", "f.code").content == b"code"
    assert [path.stat().st_mode & 0o777 for path in (folder, folder / "numba")] == [0o700, 0o700]
    assert not recwarn


@pytest.mark.parametrize(("mode", "other"), [(0o777, None), (0o1777, None), (0o775, "reports")])
def test_a_folder_for_everybody_or_for_more_than_compiled_code_is_refused_and_left_as_it_is(folder, mode, other):
    folder.mkdir()
    if other:
        (folder / other).mkdir()
    folder.chmod(mode)
    code_cache._warn_once.cache_clear()
    with pytest.warns(GpuGraphWarning, match="others may write to"):
        assert code_cache.keep_if_possible("numba", "f.code", b"code") is None
    assert folder.stat().st_mode & 0o7777 == mode
    assert not (folder / "numba").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_folders_and_files_of_somebody_else_are_refused(folder):
    path = code_cache.keep("numba", "f.code", b"code")
    for one in (path, path.with_suffix(".json"), path.parent, folder):
        os.chown(one, 4321, 4321)
        code_cache._warn_once.cache_clear()
        if one.is_dir():
            with pytest.warns(GpuGraphWarning, match="own it"):
                assert code_cache.find("numba", "f.code") is None
        else:
            assert code_cache.find("numba", "f.code") is None
        os.chown(one, 0, 0)
    assert code_cache.find("numba", "f.code").content == b"code"


def test_a_lock_that_somebody_holds_in_a_folder_for_everybody_stops_nobody(folder, monkeypatch):
    (folder / "numba").mkdir(parents=True)
    (folder / "numba").chmod(0o777)
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it waits"))
    code_cache._warn_once.cache_clear()
    with open(folder / "numba" / "f.code.lock", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.warns(GpuGraphWarning, match="others may write"), code_cache.sole_maker("numba", "f.code") as found:
            assert found is None


def test_a_link_in_place_of_a_lock_makes_no_file_elsewhere(folder, tmp_path):
    (folder / "numba").mkdir(parents=True)
    (folder / "numba" / "f.code.lock").symlink_to(tmp_path / "elsewhere")
    with code_cache.sole_maker("numba", "f.code") as found:
        assert found is None
    assert not (tmp_path / "elsewhere").exists()


def test_who_holds_the_folder_itself_is_waited_for_briefly(folder, monkeypatch):
    monkeypatch.setattr(code_cache, "_UNTOLD_WAIT", 0.05)
    code_cache.keep("numba", "f.code", b"code")
    held = os.open(folder / "numba", os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        code_cache.keep("numba", "g.code", b"other")
    finally:
        os.close(held)
    assert code_cache.find("numba", "g.code").content == b"other"
