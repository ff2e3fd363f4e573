from __future__ import annotations

import json
import os
import resource
import sys
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpugraph.base.errors import InputError
from gpugraph.bench.store import Store, dated_name, latest_name
from gpugraph.records.record import Record
from tests.stored import read_records


def record(number: int) -> Record:
    data = {"schema": 1, "problem": "mst", "algorithm": "a", "outcome": "ok", "number": number, "text": "ü\n"}
    return Record.of(data)


def numbers(path: Path) -> list[int]:
    return [r["number"] for r in read_records(path)]


def test_each_record_is_a_line_that_is_there_at_once(tmp_path):
    path = tmp_path / "r.jsonl"
    with Store(path) as store:
        for number in range(3):
            store.append(record(number))
            assert numbers(path) == list(range(number + 1))
    assert path.read_bytes().count(b"\n") == 3


@given(st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_wherever_a_line_is_torn_the_whole_ones_before_it_stay(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("torn") / "r.jsonl"
    with Store(path) as store:
        for number in range(4):
            store.append(record(number))
    content = path.read_bytes()
    cut %= len(content) + 1
    path.write_bytes(content[:cut])
    whole = content[: cut + 1].count(b"\n")  # a record that lacks its line feed alone is whole
    assert numbers(path) == list(range(whole))
    with Store(path, resume=True) as store:
        assert [r.data["number"] for r in store.records] == list(range(whole))
        assert store.cut == max(cut - (content[: cut + 1].rfind(b"\n") + 1), 0)
        store.append(record(whole))
    assert numbers(path) == list(range(whole + 1))


def test_a_last_line_of_zeros_that_a_power_cut_left_is_cut_off(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_bytes(json.dumps(record(0).data).encode() + b"\n" + bytes(100) + b"\n")
    with Store(path, resume=True) as store:
        assert (len(store.records), store.cut) == (1, 101)


def test_a_broken_line_in_the_middle_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text(f"{json.dumps(record(0).data)}\nhello\n{json.dumps(record(1).data)}\n")
    with pytest.raises(InputError, match=r"r\.jsonl line 2: is no record"):
        read_records(path)


def test_a_file_that_holds_results_is_only_gone_on_with_when_asked_for(tmp_path):
    path = tmp_path / "r.jsonl"
    with Store(path) as store:
        store.append(record(0))
    with pytest.raises(InputError, match="--resume goes on"):
        Store(path)


def test_two_benches_do_not_write_one_file(tmp_path):
    path = tmp_path / "r.jsonl"
    with Store(path), pytest.raises(InputError, match="another process is writing it"):
        Store(path, resume=True)


def test_dropping_replaces_the_file_and_what_follows_is_appended_to_the_new_one(tmp_path):
    path = tmp_path / "r.jsonl"
    with Store(path) as store:
        for number in range(4):
            store.append(record(number))
        assert store.drop(lambda r: r.data["number"] in (1, 2)) == 2
        with pytest.raises(InputError, match="another process"):
            Store(path, resume=True)
        store.append(record(9))
    assert numbers(path) == [0, 3, 9]
    assert list(tmp_path.iterdir()) == [path]


def test_a_record_takes_the_place_of_another_in_one_step_so_that_no_kill_and_no_full_disk_costs_both(
    tmp_path, monkeypatch
):
    path = tmp_path / "r.jsonl"
    with Store(path) as store:
        for number in range(3):
            store.append(record(number))
        monkeypatch.setattr(os, "write", None)  # a second step would need it
        assert store.drop(lambda r: r.data["number"] == 1, record(7)) == 1
        assert [r.data["number"] for r in store.records] == numbers(path) == [0, 2, 7]
        monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(InputError, match="no space left"):
            store.drop(lambda r: r.data["number"] == 2, record(8))
        monkeypatch.undo()
        store.append(record(9))
    assert numbers(path) == [0, 2, 7, 9]


def test_a_file_in_which_nothing_was_written_goes_away(tmp_path):
    with Store(tmp_path / "r.jsonl"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_whole_lines_and_says_how_to_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python would cut its own files off, and use them
    path = tmp_path / "r.jsonl"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Store(path) as store:
        store.append(record(0))
        whole = path.stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (whole + 10, hard))
        try:
            with pytest.raises(InputError, match="free some space; a bench goes on with --resume"):
                store.append(record(1))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.stat().st_size == whole


def test_names_are_dated_never_taken_twice_and_the_newest_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    now = datetime(2026, 1, 31, 14, 5)
    assert latest_name("papers/wang2011") is None
    first = dated_name("papers/wang2011", now)
    assert first == "papers-wang2011-2026-01-31-1405.jsonl"
    Path(first).write_text("")
    second = dated_name("papers/wang2011", now)
    assert second == "papers-wang2011-2026-01-31-1405-1.jsonl"
    Path(second).write_text("")
    assert latest_name("papers/wang2011") == second
    assert latest_name("papers/wang") is None


def test_a_file_with_nothing_but_a_torn_record_is_gone_on_with(tmp_path):
    path = tmp_path / "r.jsonl"
    for torn in (b"{", b'{"schema": 1, "problem": "mst", "al', bytes(40)):
        path.write_bytes(torn)
        with Store(path, resume=True) as store:
            assert (store.records, store.cut) == ([], len(torn))
            store.append(record(0))
        assert numbers(path) == [0]


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize("content", ["notes", "notes\n", "[]\n", '{"name": "mst"', "RECORD\nnotes", "RECORD\n[1]\n"])
def test_a_file_that_is_no_store_is_refused_and_stays_as_it_is(tmp_path, content, resume):
    path = tmp_path / "notes.txt"
    path.write_text(content.replace("RECORD", json.dumps(record(0).data)))
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"notes\.txt line \d: is no record"):
        Store(path, resume=resume)
    assert path.read_bytes() == before


def test_a_file_that_was_there_empty_stays(tmp_path):
    path = tmp_path / "r.jsonl"
    path.touch()
    with Store(path):
        pass
    assert path.exists()


def test_nobody_else_gets_a_file_while_it_is_replaced(tmp_path, monkeypatch):
    path = tmp_path / "r.jsonl"
    replace = os.replace

    def beaten(source, target):
        replace(source, target)
        with pytest.raises(InputError, match="another process is writing it"):
            Store(path, resume=True)

    with Store(path) as store:
        for number in range(3):
            store.append(record(number))
        monkeypatch.setattr(os, "replace", beaten)
        store.drop(lambda r: r.data["number"] == 1)
        store.append(record(7))
    assert numbers(path) == [0, 2, 7]
