"""Damaged result files into ``verify``: each is refused in words, fails, or still says what was true."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import warnings
from functools import cache
from typing import Any

import numpy as np
import pyarrow

from gpugraph.base.errors import InputError, OutOfMemory
from gpugraph.ext.results.files import check_result, write_result
from gpugraph.graph.csr import CSRGraph
from tests.hostile.graphs import little_memory, pack
from tests.hostile.trials import Part, Trial, refused, work_folder
from tests.measure.test_results import distances_of, forest_of, named_graph
from tests.mutate import inner_mutants, mutants
from tests.zoo import undirected, zoo

SUFFIXES = ("", "", "", ".gz", ".bz2", ".xz", ".zst")
GRAPHS = {
    "named": named_graph(),
    "path": zoo("path"),
    "apart": zoo("one-edge-and-isolated"),
    "reals": undirected(6, [(0, 1, 0.1), (1, 2, 1e300), (2, 3, 7.5), (0, 3, 2.25), (4, 5, 2.5)], "float64"),
}
"""Graphs with one forest each, and one shortest path to every vertex."""


@cache
def samples() -> tuple[tuple[CSRGraph, str, bytes], ...]:
    """Return whole result files with the graphs that they belong to and their names."""
    made = []
    with work_folder() as folder:
        for name, graph in GRAPHS.items():
            for result, endings in (
                (forest_of(graph), (".npz", ".csv", ".mtx")),
                (distances_of(graph), (".npz", ".csv")),
            ):
                for ending in endings:
                    path = folder / f"{name}-{type(result).__name__}{ending}"
                    write_result(result, path)
                    made.append((graph, path.name, path.read_bytes()))
    return tuple(made)


def try_result(trial: Trial) -> str:
    """Verify a damaged file; raises unless the verdict is right or it is refused in words."""
    draw = trial.draw
    graph, name, data = draw.choice(samples())
    suffix, seed = draw.choice(SUFFIXES), draw.getrandbits(60)
    if suffix and draw.random() < 0.5:
        made = next(mutants(pack(data, suffix), seed, 1))[1]
    else:
        inner = name.endswith(".npz") and draw.random() < 0.7
        made = pack(next(inner_mutants(data, seed, 1) if inner else mutants(data, seed, 1))[1], suffix)
    path = trial.folder / (name + suffix * (draw.random() < 0.9))
    path.write_bytes(made)
    with little_memory():
        try:
            verdict = check_result(graph, path, draw.choice(("auto", "certificate")))
        except OutOfMemory:
            return "too large"
        except InputError as error:
            return refused(error, path)
    if not verdict.passed:
        assert verdict.detail
        return "failed"
    assert claims(name, unpacked(made)) == claims(name, data), (
        f"passed, though it says something else: {verdict.detail}"
    )
    return "passed, nothing lost"


def unpacked(data: bytes) -> bytes:
    """Return what a compressed file holds, by its first bytes."""
    for start, unpack in ((b"\x1f\x8b", gzip.decompress), (b"BZh", bz2.decompress), (b"\xfd7zXZ", lzma.decompress)):
        if data.startswith(start):
            return unpack(data)
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        return bytes(pyarrow.CompressedInputStream(pyarrow.BufferReader(data), "zstd").read())
    return data


def claims(name: str, data: bytes) -> object:
    """Return all that a result file says, in a form that equals where the same is said otherwise; no code of ours."""
    if name.endswith(".npz"):
        with warnings.catch_warnings(action="ignore"), np.load(io.BytesIO(data), allow_pickle=False) as file:
            return {key: file[key].tolist() for key in file.files}
    text = data.decode(errors="replace")
    if name.endswith(".mtx"):
        lines = text.split("\n")
        lines = [lines[0], *(line for line in lines[1:] if line.strip() and not line.startswith("%"))]
        return lines[0].split(), sorted(_ordered([_value(word) for word in line.split()]) for line in lines[1:])
    first, _, rest = text.partition("\n")
    head, rows = first.strip().split(","), csv.reader(io.StringIO(rest, newline=""))
    named = [
        [_value(cell) if "name" not in title else cell for title, cell in zip(head, row, strict=True)]
        for row in rows
        if row
    ]
    if "u" not in head:
        return sorted(str(sorted(zip(head, row, strict=True), key=str)) for row in named)
    ends = dict(zip(head, zip(*named, strict=True), strict=True))
    sides = [list(zip(*(ends[title] for title in ends if title.startswith(side)), strict=True)) for side in "uv"]
    return sorted(str((sorted((a, b), key=str), w)) for a, b, w in zip(*sides, ends["weight"], strict=True))


def _ordered(row: list[Any]) -> list[Any]:
    return [*sorted(row[:2]), *row[2:]]


def _value(word: str) -> int | float:
    """Return a number, the same in whatever way it is written."""
    try:
        return int(word)
    except ValueError:
        value = float(word)
        return int(value) if value.is_integer() else value


PART = Part("results", "damaged results of every format into verify", 80_000, try_result, 500, 60.0)
