"""A text is the same in parts of any length as in one."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpugraph.base import host
from gpugraph.base.errors import GraphFormatError, InputError, OutOfMemory
from gpugraph.ext.formats.text import number_lines, plain_text
from gpugraph.ext.formats.text.number_lines import Rows
from gpugraph.ext.formats.text.plain_text import PlainText
from gpugraph.ext.formats.text.rows import read_rows
from gpugraph.graph.input_file import Source
from gpugraph.graph.load import load_file


def text_of(content: bytes) -> PlainText:
    return PlainText("a", None, content, len(content), lambda needed: None)


@settings(deadline=None)
@given(st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\n\n", b"\r\n", b"x" * 40])), st.integers(1, 9))
@example([b"\n"], 1)
@example([b"x" * 40], 3)
def test_every_line_is_in_the_one_part_in_which_it_begins(words: list[bytes], size: int) -> None:
    content = b"".join(words)
    found, room = b"", bytearray()
    text = text_of(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_text, "PART", size)
        patch.setattr(plain_text, "_TAIL", 2)
        for start, stop in text.parts(0):
            letters, first, room = text.lines(start, stop, room)
            assert not len(letters) or start <= first < stop
            assert not len(letters) or content[first:].startswith(letters.tobytes().removesuffix(b"\n"))
            found += letters.tobytes()
    assert found == content + b"\n" * (bool(content) and not content.endswith(b"\n"))
    for line, whole in enumerate(content.splitlines(keepends=True)):
        assert text.ends(0, text.behind(line)) == line
        assert content[text.behind(line) :].startswith(whole)
    assert text.behind(len(words) + 41) == len(content)


def test_a_mark_of_byte_order_is_no_part_of_the_first_line() -> None:
    text = text_of(b"\xef\xbb\xbf1 2\n3 4")
    assert text.first == text.behind(0) == 3
    assert text.lines(3, 11, bytearray())[0].tobytes() == b"1 2\n3 4\n"


@pytest.fixture
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_text, "PART", 50)
    monkeypatch.setattr(plain_text, "_TAIL", 3)
    monkeypatch.setattr(number_lines, "_SLAB", 60)


@pytest.mark.usefixtures("short_parts")
@pytest.mark.parametrize("odd", ["0 , 1 5", "5000000000 1 2", "1 2 0.25", "1 2 -7", "", "# no arc"])
def test_parts_that_are_read_in_another_way_keep_their_place(tmp_path: Path, odd: str) -> None:
    lines = [f"{i} {i * 7 % 100} {i + 1}" for i in range(100)]
    lines[60] = odd
    (tmp_path / "a.wel").write_text("\n".join(lines))
    with Source(tmp_path / "a.wel") as source:
        columns = read_rows(source, Rows(weighted=True))
    weights, (tails, heads) = columns.all_weights(), columns.ids()
    fields = [line.replace(",", "").split() for line in lines if line and line[0] != "#"]
    assert [tails.tolist(), heads.tolist()] == [[int(words[i]) for words in fields] for i in (0, 1)]
    assert weights.tolist() == [float(words[2]) for words in fields]
    assert weights.dtype == {"1 2 0.25": np.float64, "1 2 -7": np.int32}.get(odd, np.uint32)


@pytest.mark.usefixtures("short_parts")
def test_the_first_bad_line_is_named_wherever_it_is(tmp_path: Path) -> None:
    lines = [f"{i} {i + 1} , 1" if i % 9 == 0 else f"{i} {i + 1} 1" for i in range(300)]
    lines[203], lines[280] = "203 x 1", "280"
    (tmp_path / "a.wel").write_text("# on top\n" + "\n".join(lines) + "\n")
    with pytest.raises(GraphFormatError, match=r"a.wel line 205: the vertex id 'x' is not an integer"):
        load_file(tmp_path / "a.wel")


@pytest.mark.usefixtures("short_parts")
def test_a_file_that_was_cut_short_meanwhile_ends_early(tmp_path: Path) -> None:
    path = tmp_path / "a.mtx"
    head = "%%MatrixMarket matrix coordinate integer general\n9 9 99\n"
    path.write_text(head + "1 2 3\n" * 99)
    with Source(path) as source:
        os.truncate(path, len(head) + 60)
        with pytest.raises(GraphFormatError, match=r"promises 99 entries, the file lists 10"):
            load_file(path)
        assert read_rows(source, Rows(weighted=True, comments=b"%"), 2).count == 10


def test_a_file_that_cannot_be_read_any_more_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise OSError(5, "Input/output error")

    (tmp_path / "a.wel").write_text("1 2 3\n")
    with Source(tmp_path / "a.wel") as source:
        monkeypatch.setattr(os, "preadv", fail)
        with pytest.raises(InputError, match=r"a.wel: cannot be read: input/output error"):
            read_rows(source, Rows(weighted=True))


@pytest.mark.usefixtures("short_parts")
def test_a_line_longer_than_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.wel").write_text("1" * 2**20)
    monkeypatch.setattr(host, "available_memory", lambda: 2**20)
    with (
        pytest.raises(OutOfMemory, match=r"a.wel: needs about"),
        Source(tmp_path / "a.wel") as source,
    ):
        read_rows(source, Rows(weighted=True))
