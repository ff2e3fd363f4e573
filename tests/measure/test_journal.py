from __future__ import annotations

import json
import os

import pytest

from gpugraph.errors import InputError
from gpugraph.measure.journal import append_record
from gpugraph.measure.record import Record
from tests.report.canned import mst_record, sssp_record


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
