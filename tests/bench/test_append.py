from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys

import pytest

from gpugraph.base.errors import InputError
from gpugraph.bench.store import append_record
from gpugraph.records.record import Record
from tests.report.canned import mst_record, sssp_record
from tests.stored import read_records


def test_records_are_appended_a_line_each(tmp_path):
    path = tmp_path / "r.jsonl"
    append_record(Record(mst_record()), path)
    append_record(Record(sssp_record()), path)
    problems = [json.loads(line)["problem"] for line in path.read_text().splitlines()]
    assert problems == ["mst", "sssp"]
    assert path.read_text().endswith("\n")


def test_infinities_are_text_and_integers_are_exact(tmp_path):
    path = tmp_path / "r.jsonl"
    append_record(Record(mst_record(result={"total_weight": 2**70, "distance_max": float("inf")})), path)
    result = json.loads(path.read_text())["result"]
    assert result == {"total_weight": 2**70, "distance_max": "inf"}


def test_a_record_that_does_not_fit_on_the_disk_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "r.jsonl"
    append_record(Record(mst_record()), path)
    before = path.read_bytes()

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="no space left on device"):
        append_record(Record(mst_record()), path)
    assert path.read_bytes() == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_device_is_refused_in_words():
    with pytest.raises(InputError, match="/dev/full: the record cannot be appended"):
        append_record(Record(mst_record()), "/dev/full")


@pytest.mark.parametrize("begun", [b'{"schema": 1, "pro', b'{"schema":1,"problem":"mst","outc'])
def test_a_torn_last_line_is_cut_off_and_a_whole_one_gets_its_line_feed(tmp_path, begun):
    path = tmp_path / "r.jsonl"
    assert append_record(Record(mst_record()), path) is False
    path.write_bytes(path.read_bytes() + begun)
    assert append_record(Record(sssp_record()), path) is True
    path.write_bytes(path.read_bytes()[:-1])
    assert append_record(Record(mst_record()), path) is False
    assert [record["problem"] for record in read_records(path)] == ["mst", "sssp", "mst"]


@pytest.mark.parametrize("begun", [b'{"schema": 1, "pro', b'{"schema":1,"problem":"mst","outc'])
def test_a_file_of_one_torn_record_is_one_of_records(tmp_path, begun):
    path = tmp_path / "r.jsonl"
    path.write_bytes(begun)
    assert append_record(Record(mst_record()), path) is True
    assert [record["problem"] for record in read_records(path)] == ["mst"]
    assert b": " not in path.read_bytes().split(b'"command"')[0]


@pytest.mark.parametrize("content", [b"notes\n", b"notes", b'{"a": 1}\n', b"u,v,weight\n0,1,2\n", bytes(9) + b"x"])
def test_a_file_that_is_none_of_records_is_not_touched(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"notes\.txt line 1: is no record"):
        append_record(Record(mst_record()), path)
    assert path.read_bytes() == content


def test_nothing_is_appended_to_a_compressed_file(tmp_path):
    path = tmp_path / "r.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(mst_record()).encode()))
    with pytest.raises(InputError, match="is compressed by gzip"):
        append_record(Record(mst_record()), path)


def test_many_processes_append_to_one_file(tmp_path):
    path, text = tmp_path / "r.jsonl", json.dumps(mst_record())
    program = (
        "import json, sys; from gpugraph.bench.store import append_record; from gpugraph.records.record import Record\n"
        "for _ in range(10): append_record(Record(json.loads(sys.argv[2])), sys.argv[1])"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, path, text]) for _ in range(3)]
    assert [process.wait() for process in running] == [0] * 3
    assert len(read_records(path)) == 30


def test_a_name_that_is_no_utf_8_is_saved_as_it_is_shown(tmp_path):
    path = tmp_path / "r.jsonl"
    append_record(Record(mst_record(graph={"name": "caf\udce9"})), path)
    assert read_records(path)[0]["graph"]["name"] == "caf\\udce9"
