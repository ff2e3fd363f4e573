from __future__ import annotations

import sys
import threading
from pathlib import Path

import pyarrow.csv
import pytest

from gpugraph.ext.formats.text import fields
from gpugraph.ext.formats.text.lines import after, peek, tidy
from gpugraph.graph.input_file import Source
from gpugraph.graph.load import load_file


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_blocks_are_whole_lines_and_know_their_number(tmp_path: Path, size: int) -> None:
    lines = [b"one\n", b"\n", b"three\n", b"four"]
    (tmp_path / "a").write_bytes(b"".join(lines))
    with Source(tmp_path / "a") as source:
        blocks = list(source.blocks(size))
    assert [line for _, block in blocks for line in block.splitlines(keepends=True)] == lines
    for number, block in blocks:
        assert block.splitlines(keepends=True)[0] == lines[number - 1]


def test_an_abandoned_reading_leaves_no_thread(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"0 1\n")
    before = threading.active_count()
    with Source(tmp_path / "a") as source:
        assert next(source.blocks()) == (1, b"0 1\n")
        assert next(source.blocks()) == (1, b"0 1\n")
    assert threading.active_count() == before


def test_arrow_is_never_handed_an_object_of_pythons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Arrow's threads may let go of what they were handed after the interpreter has ended, which then kills the process.
    held = []
    read_csv = pyarrow.csv.read_csv

    def spy(source: pyarrow.BufferReader, *options: object, **more: object) -> pyarrow.Table:
        held.append(source)
        return read_csv(source, *options, **more)

    monkeypatch.setattr(pyarrow.csv, "read_csv", spy)
    blocks = []
    whole = Source.blocks

    def keep(self: Source, *size: int) -> object:
        for number, block in whole(self, *size):
            blocks.append(block)
            yield number, block

    monkeypatch.setattr(Source, "blocks", keep)
    monkeypatch.setattr(fields, "_LARGE", 0)
    for name, content in (("a.gr", "p sp 3 1\na 1 , 2 3\n"), ("a.csv", "u,v,w\na,b,1\n"), ("a.wel", "0 , 1 5\n")):
        (tmp_path / name).write_text(content)
        load_file(tmp_path / name)
    assert len(held) == 1  # a large list of words alone is read by Arrow
    # The readers are kept, and with them all that Arrow holds: no block has another owner than the list.
    alone = [bytes([1, 2, i]) for i in range(len(blocks))]
    assert [sys.getrefcount(block) for block in blocks] == [sys.getrefcount(one) for one in alone]


def test_looking_at_a_text_goes_past_what_is_blank_without_keeping_it() -> None:
    blocks = [(1, b"\n" * 50), (51, b"# c\n \t\n"), (53, b"\n % d\n 5 6\n\n7 8\n"), (58, b"9 10\n")]
    rest = iter(blocks)
    assert peek(rest, b"#%", 2) == [(55, [b"5", b"6"]), (57, [b"7", b"8"])]
    assert list(rest) == blocks[3:]
    assert list(after(iter(blocks[2:]), 55)) == [(56, b"\n7 8\n"), blocks[3]]
    assert list(after(iter(blocks), 57)) == [blocks[3]]
    assert list(after(iter([(1, b"1\n2")]), 1)) == [(2, b"2")]
    assert list(after(iter([(1, b"1\n2")]), 2)) == []


@pytest.mark.parametrize(
    ("block", "tidied"),
    [
        (b"#\n#\n", b""),
        (b" # a b\n1\t 2 \n", b"1 2\n"),
        (b"1 2\n\n%x\n\n3,4", b"1 2\n\n\n3 4"),
        (b"1 2 # 3\n", b"1 2 # 3\n"),
        (b"1 2\r\n3 4\r", b"1 2\n3 4"),
        (b"%", b""),
        (b"", b""),
    ],
)
def test_a_tidy_block_has_one_space_between_fields_and_no_comments(block: bytes, tidied: bytes) -> None:
    assert tidy(block, b"#%") == tidied
