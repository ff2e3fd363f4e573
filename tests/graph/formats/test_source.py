from __future__ import annotations

import threading
from pathlib import Path

import pytest

from gpugraph.graph.formats.source import Source


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_blocks_are_whole_lines_and_know_their_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    lines = [b"one\n", b"\n", b"three\n", b"four"]
    (tmp_path / "a").write_bytes(b"".join(lines))
    whole = Source.chunks
    monkeypatch.setattr(Source, "chunks", lambda self: whole(self, size))
    with Source(tmp_path / "a") as source:
        blocks = list(source.blocks())
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
