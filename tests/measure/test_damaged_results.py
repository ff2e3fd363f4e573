"""Damaged result files: each is refused in one line or fails, unless it still says the same."""

from __future__ import annotations

import io
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from gpugraph.base.compression import codec_of_content, open_reader
from gpugraph.base.errors import InputError
from gpugraph.ext.results.files import check_result, write_result
from gpugraph.graph.csr import CSRGraph
from tests.measure.test_results import distances_of, forest_of, named_graph
from tests.mutate import inner_mutants, mutants
from tests.tiers import first
from tests.zoo import zoo

FORESTS = (".npz", ".csv", ".mtx", ".csv.gz", ".npz.bz2", ".mtx.xz", ".csv.zst")
RESULTS = [("forest", ending) for ending in FORESTS] + [
    ("distances", ending) for ending in FORESTS if "mtx" not in ending
]


def content(data: bytes) -> object:
    """Return what a result file says, read by other means: arrays, or words of lines in any order, without comments."""
    text = open_reader(io.BytesIO(data), codec_of_content(data[:16])).read()
    if text.startswith(b"PK"):
        with np.load(io.BytesIO(text)) as file:
            return sorted((name, str(file[name].dtype), file[name].tobytes()) for name in file.files)
    lines = [line for line in text.splitlines() if line.strip() and (line[:1] != b"%" or line[:2] == b"%%")]
    return sorted([_word(word) for word in re.split(rb"[,\s]+", line.strip())] for line in lines)


def _word(word: bytes) -> str:
    """Return a number in one way of all in which it may be written, anything else as it is."""
    try:
        return str(float(word.removeprefix(b'""')) + 0.0)
    except ValueError:
        return word.decode("utf-8", "replace")


def verdict_on(graph: CSRGraph, path: Path) -> tuple[str, str]:
    """Return passed, failed or refused, and why."""
    try:
        verdict = check_result(graph, path, "certificate")
    except InputError as refusal:
        return "refused", str(refusal)
    return verdict.status, verdict.detail


@pytest.mark.parametrize(("what", "ending"), RESULTS)
@pytest.mark.parametrize("name", first(1, ["named", "random"]))
def test_a_damaged_result_is_refused_or_fails_unless_it_says_the_same(
    tmp_path: Path, name: str, what: str, ending: str
) -> None:
    graph = named_graph() if name == "named" else zoo(name)
    path = tmp_path / f"result{ending}"
    write_result(forest_of(graph) if what == "forest" else distances_of(graph), path)
    whole = path.read_bytes()
    outcomes = set()
    for done, damaged in [*mutants(whole, 1, 60), *inner_mutants(whole, 2, 60)]:
        path.write_bytes(damaged)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            status, said = verdict_on(graph, path)
        if status == "passed":
            assert content(damaged) == content(whole), done
        elif status == "refused":
            assert said.startswith(str(path)), done
            assert " — " in said, said
            assert "\n" not in said, said
        outcomes.add(status)
    assert "refused" in outcomes


def test_a_mark_of_byte_order_is_no_part_of_a_number(tmp_path: Path) -> None:
    graph, path = zoo("random"), tmp_path / "result.csv"
    write_result(forest_of(graph), path)
    head, rest = path.read_bytes().split(b"\n", 1)
    path.write_bytes(head + b"\n\xef\xbb\xbf" + rest)
    status, said = verdict_on(graph, path)
    assert status == "refused"
    assert said.startswith(f"{path} line 2: "), said


def test_the_same_seed_gives_the_same_damage() -> None:
    data = bytes(range(256)) + b"1 2 3\n4 5 6\n"
    first = list(mutants(data, 7, 300))
    assert first == list(mutants(data, 7, 300))
    assert first != list(mutants(data, 8, 300))
    assert all(mutant != data for _, mutant in first)
    assert len({mutant for _, mutant in first}) > 200
