from __future__ import annotations

import contextlib
import gzip
import json
import math
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpugraph.base.errors import InputError
from gpugraph.records import record_file
from gpugraph.records.json_text import encodable, json_text
from gpugraph.records.record_file import parse_record, read_record_file, read_records
from gpugraph.records.record_shape import shape_of
from tests.hostile_records import COMMANDS, ended, feed, hostile_lines, whole
from tests.report.canned import mst_record
from tests.report.sweep import sweep

REAL = Path(__file__).resolve().parents[1] / "report" / "real.jsonl"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"graph": 3}, "'graph': expected 'object'"),
        ({"graph": {"vertices": 1.5}}, "'graph.vertices': expected 'int | null'"),
        ({"phases_s": {"kernel": True}}, r"'phases_s\[...\]': True is no number"),
        ({"phases_s": {"kernel": "soon"}}, "'soon' is no number"),
        ({"samples_s": {"kernel": 3}}, "'samples_s.kernel': expected 'array | null'"),
        ({"samples_s": {"kernel": [1, "inf"]}}, r"'samples_s.kernel\[1\]': 'inf' is no number"),
        ({"samples_s": {"kernel": [-1]}}, "-1 is below 0"),
        ({"samples_s": {"kernel": [5e-324]}}, "5e-324 is out of range"),
        ({"confidence_s": {"kernel": [1]}}, "expected 'array' of length 2"),
        ({"mteps": {"kernel": 1, "count": "many"}}, "'mteps.count'"),
        ({"problem": None}, "missing required field 'problem'"),
        ({"outcome": "fine"}, "'outcome': unknown value 'fine'"),
        ({"schema": 2}, "its schema is 2, this gpugraph reads 1"),
        ({"environment": 5}, "'environment': expected 'object'"),
        ({"paper": 3}, "'paper': expected"),
        ({"paper": {"points": [{"scale": -1}]}}, r"'paper.points\[0\].scale': -1 is no number above 0"),
        ({"paper": {"speedup": math.inf}}, "inf is out of range"),
    ],
)
def test_a_field_of_the_wrong_type_is_named(change, reason):
    with pytest.raises(ValueError, match=reason):
        shape_of(mst_record(**change))


def test_whatever_gpugraph_wrote_is_read():
    assert len(read_record_file(REAL).records) == len(REAL.read_text("utf-8").splitlines())
    for record in (*sweep(), whole()):
        assert parse_record(json.dumps(record).encode()).data == json.loads(json.dumps(record))


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_can_be_stored_and_is_read_as_it_is_shown(text):
    line = json_text(mst_record(message=text)).encode()
    assert parse_record(line).data["message"] == encodable(text)


def test_what_damages_a_compressed_file_is_reported_in_one_line(tmp_path):
    packed = gzip.compress(REAL.read_bytes())
    for damaged in (packed[:-9], packed[:200] + b"x" * 40 + packed[240:]):
        (tmp_path / "r.gz").write_bytes(damaged)
        with pytest.raises(InputError, match=r"r\.gz"):
            read_record_file(tmp_path / "r.gz")


@pytest.mark.parametrize("alone", [False, True])
def test_hostile_records_are_taken_or_refused_with_their_line(tmp_path, alone):
    commands = [command for command in COMMANDS if command != "report html"]
    for number, (_, line) in enumerate(hostile_lines(60, seed=2 + alone)):
        for command in (commands[number % len(commands)], "resume"):
            ended(feed(line, tmp_path, command, alone=alone), "line 1" if alone else "line 2")


WORDS = ['"a"', '"b"', r'"\u0061"', r'"\":"', '":"']
MEMBERS = [
    f"{name}{gap}:{value}"
    for name in WORDS
    for gap in ("", " ", "\t", "\r")
    for value in ("7", *WORDS, '{"a": 1}', '[{"a" :1, "b":2}]', '[{"a":1,"a":2}]')
]


@given(st.lists(st.sampled_from(MEMBERS), max_size=4).map(lambda members: f"{{{','.join(members)}}}"))
def test_a_name_that_is_given_twice_is_found_however_it_is_written(text: str) -> None:
    line, data = text.encode(), json.loads(text)
    with contextlib.suppress(ValueError):
        json.loads(text, object_pairs_hook=record_file._once)
        return
    assert not record_file._is_once(line, record_file._names(data, 99))


def test_a_record_of_ours_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    line = REAL.read_bytes().split(b"\n")[0]
    monkeypatch.setattr(record_file.json, "loads", None)
    parse_record(line)
    with pytest.raises(TypeError):
        parse_record(line.replace(b'"problem":', b'"problem" :', 1))


@pytest.mark.parametrize("again", [b'"schema": 1, ', b'"schema" : 1, ', rb'"\u0073chema": 1, "x": "\":", '])
def test_a_record_with_a_field_twice_is_none(again: bytes) -> None:
    line = REAL.read_bytes().split(b"\n")[0]
    with pytest.raises(ValueError, match="'schema' is given twice"):
        parse_record(b"{" + again + line[1:])


def test_a_file_that_is_named_twice_is_read_once() -> None:
    assert len(read_records([REAL, str(REAL)])[0]) == len(read_records([REAL])[0])


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_records_come_through_a_pipe_as_from_their_file(packed) -> None:
    reading, writing = os.pipe()
    with open(writing, "wb") as stream:
        stream.write(packed(json.dumps(mst_record()).encode() + b"\n"))
    stored = read_record_file(f"/dev/fd/{reading}")
    os.close(reading)
    assert [record.data for record in stored.records] == [json.loads(json.dumps(mst_record()))]
