"""Small files that unpack to gigabytes: one line, before they fill the memory; large graphs that pack well are read."""

from __future__ import annotations

import bz2
import gc
import gzip
import io
import json
import lzma
import os
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from gpugraph.base.compression import open_writer
from gpugraph.ext.formats import dot
from gpugraph.ext.formats.files import save_file
from gpugraph.graph import input_file
from gpugraph.graph.load import load_file
from gpugraph.graph.open import open_graph
from gpugraph.graph.read_options import ReadOptions
from gpugraph.records.record_file import read_record_file
from tests.cli.runner import refuse, succeed
from tests.memory import with_peak
from tests.tiers import extended, first

ALWAYS = 1 << 24
"""In place of what comes of any file: 64 MB would take long to make."""
SIZE = 2 * ALWAYS
RECORD = (Path(__file__).parents[1] / "report" / "real.jsonl").read_bytes().split(b"\n")[0] + b"\n"
CONTENTS = {
    "zeros": b"\0",
    "blanks": b" ",
    "line feeds": b"\n",
    "letters": b"a",
    "digits": b"7",
    "brackets": b"[",
    "objects": b'{"schema": 1, ',
}
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, 1),
    ".bz2": lambda data: bz2.compress(data, 9),
    ".xz": lambda data: lzma.compress(data, preset=0),
    ".zst": lambda data: _zst(data),
}
MOST = 10 * ALWAYS
"""Bytes that a refusal may take at most; the files below would take gigabytes if they were as long as they may be."""


@pytest.fixture(autouse=True)
def _little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpugraph.base.compression.ALWAYS_UNPACKED", ALWAYS)
    monkeypatch.setattr(input_file, "LONGEST_LINE", ALWAYS)


def _zst(data: bytes) -> bytes:
    packed = io.BytesIO()
    stream = open_writer(packed, "zstd")
    stream.write(data)
    stream.close()
    return packed.getvalue()


def _of(content: str) -> bytes:
    return (CONTENTS[content] * SIZE)[:SIZE]


def _refused(*words: object) -> str:
    line, peak = with_peak(lambda: refuse(2, *words))
    gc.collect()
    assert peak < MOST
    return line


@pytest.mark.parametrize("content", first(1, [*CONTENTS][::-1]))
def test_no_command_unpacks_a_bomb(tmp_path: Path, content: str) -> None:
    packed = gzip.compress(_of(content), 1)
    for command, name in (("info", "z.txt.gz"), ("report", "r.jsonl.gz"), ("check-record", "r.jsonl.gz")):
        (tmp_path / name).write_bytes(packed)
        assert str(tmp_path / name) in _refused(command, tmp_path / name)
    (tmp_path / "r.csv.gz").write_bytes(packed)
    assert "times its size" in _refused("verify", "grid:3x3", tmp_path / "r.csv.gz")


@pytest.mark.parametrize("ending", first(1, PACKERS))
@pytest.mark.parametrize("name", first(1, ["z.txt", "z.csr", "z.mtx", "z.graphml", "r.jsonl"]))
def test_no_codec_hides_one(tmp_path: Path, ending: str, name: str) -> None:
    path = tmp_path / f"{name}{ending}"
    path.write_bytes(PACKERS[ending](_of("zeros")))
    assert str(path) in _refused("report" if name == "r.jsonl" else "info", path)


@extended
def test_a_record_is_no_line_of_a_hundred_megabytes(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    file.write_bytes(RECORD + b'{"schema": 1, "x": [' + b"0," * (1 << 24) + b"0]}\n" + RECORD)
    assert f"{file} line 2 is left out: it is no record: it has " in succeed("report", file).err
    file.write_bytes(RECORD + b"x\n" * (1 << 20))
    assert f"{file} line 2: is no record" in _refused("report", file)


def test_a_line_of_holes_is_no_text(tmp_path: Path) -> None:
    with open(tmp_path / "z.wel", "wb") as file:
        file.write(b"1 2 3\n1 2 ")
        file.truncate(1 << 28)
    assert "line 2: holds a zero byte" in _refused("info", tmp_path / "z.wel")


def test_a_hole_is_no_record_no_result_and_no_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpugraph.records.record_file.LONGEST", ALWAYS // 4)
    monkeypatch.setattr("gpugraph.base.files.LONGEST_TEXT", ALWAYS)
    for name, begin in (("r.jsonl", RECORD), ("s.toml", b""), ("r.csv", b"u,v,weight\n")):
        (tmp_path / name).write_bytes(begin)
        os.truncate(tmp_path / name, 1 << 40)
    for command in ("report", "check-record"):
        assert "has a line of more than" in _refused(command, tmp_path / "r.jsonl")
    assert "has more than" in _refused("bench", "--sweep", tmp_path / "s.toml")
    table = ("--algo", "peer:x", "--peer-command", tmp_path / "s.toml")
    assert "has more than" in _refused("mst", "grid:3x3", *table)
    assert "needs about" in refuse(3, "verify", "grid:3x3", tmp_path / "r.csv")


def test_a_zip_of_zeros_is_no_graph_and_no_result(tmp_path: Path) -> None:
    for name, members in (("m.npz", ("data", "indices", "indptr")), ("r.npz", ("problem", "parent"))):
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
            for member in members:
                with archive.open(f"{member}.npy", "w", force_zip64=True) as stream:
                    np.lib.format.write_array(stream, np.zeros(SIZE // 8))
    assert "unpacks to more than" in _refused("info", tmp_path / "m.npz")
    assert "unpacks to more than" in _refused("verify", "grid:3x3", tmp_path / "r.npz")


@pytest.mark.parametrize("edge", first(1, [b"{a b}->a;", b"a->b\n", b"a->b->"]))
def test_a_graph_of_graphviz_is_not_held_token_by_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edge: bytes
) -> None:
    monkeypatch.setattr(dot, "_WAITING", 1 << 10)
    (tmp_path / "g.dot").write_bytes(b"digraph {" + edge * ((1 << 17) // len(edge)) + b"a }")
    load_file(tmp_path / "g.dot")  # what is imported and compiled
    gc.collect()
    graph, peak = with_peak(lambda: load_file(tmp_path / "g.dot"))
    assert graph.vertices == 2
    assert peak < 30 << 17


@pytest.mark.parametrize("words", [False, True])
def test_a_table_of_equal_rows_is_no_graph(tmp_path: Path, words: bool) -> None:
    rows, ids = SIZE // 16, pa.array(["a"])
    column = pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), ids) if words else np.zeros(rows)
    parquet.write_table(pa.table({"src": column, "dst": column}), tmp_path / "t.parquet")
    assert "unpacks to more than" in _refused("info", tmp_path / "t.parquet")


def test_a_long_text_that_many_rows_of_a_table_share_is_held_once(tmp_path: Path) -> None:
    rows, long = 50_000, ["a" * 10**6, "b" * 10**6]
    one = pa.DictionaryArray.from_arrays(np.arange(rows, dtype=np.int32) % 2, pa.array(long))
    other = pa.DictionaryArray.from_arrays(np.arange(rows, dtype=np.int32) // 2 % 2, pa.array(long))
    parquet.write_table(pa.table({"src": one, "dst": other}), tmp_path / "t.parquet", row_group_size=20_000)
    before = pa.total_allocated_bytes()
    graph = load_file(tmp_path / "t.parquet", options=ReadOptions(directed=True))
    assert (graph.vertices, graph.arcs) == (2, 2)
    assert list(graph.vertex_names) == long
    assert pa.default_memory_pool().max_memory() - before < MOST


@pytest.mark.parametrize("name", ["g.csr.xz", "g.wel.xz", "g.gr.zst", "g.npz"])
@pytest.mark.parametrize("spec", first(1, ["path:100000,w=1..1", "star:100000,w=1..1", "grid:300x300,w=1..1"]))
def test_a_large_graph_that_packs_well_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec, name) -> None:
    monkeypatch.setattr("gpugraph.base.compression.ALWAYS_UNPACKED", 1 << 16)
    monkeypatch.setattr(input_file, "LONGEST_LINE", 1 << 16)
    graph = open_graph(spec)
    save_file(graph, tmp_path / name)
    assert load_file(tmp_path / name).digest == graph.digest


def test_records_that_pack_well_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpugraph.base.compression.ALWAYS_UNPACKED", 1 << 16)
    draw = random.Random(60)
    records = [json.loads(RECORD) | {"measured": [draw.random() for _ in range(20)]} for _ in range(150)]
    text = "".join(json.dumps(record) + "\n" for record in records).encode()
    (tmp_path / "r.jsonl.xz").write_bytes(lzma.compress(text))
    assert len(read_record_file(tmp_path / "r.jsonl.xz").records) == 150
