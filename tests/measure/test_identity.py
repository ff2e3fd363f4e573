from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpugraph.graph.read_options import ReadOptions
from gpugraph.measure.cell import Cell, cell_id
from gpugraph.measure.run_cell import Session, run_cell
from gpugraph.measure.sampling import Sampling
from gpugraph.problems.registry import find_algorithm

CELL = Cell("sssp", "rmat:7", "delta-stepping", "cpu", source="random:2", repeat=2)
DEVICE = {"kind": "cpu", "name": "Epyc", "threads": 2, "memory_bytes": 9}
DELTA = find_algorithm("sssp", "delta-stepping", "cpu")


def identity(cell: Cell = CELL, algorithm: Any = DELTA, options: Any = None, **more: Any) -> str:
    return cell_id(cell, algorithm, options or {"delta": 4.0}, **{"graph_digest": "d", "device": DEVICE, **more})


def test_whatever_can_change_the_time_changes_the_id():
    changed = [
        identity(),
        identity(replace(CELL, problem="mst")),
        identity(replace(CELL, source="random:3")),
        identity(replace(CELL, seed=2)),
        identity(replace(CELL, read=ReadOptions(weights="unit"))),
        identity(replace(CELL, preparations=("renumber",))),
        identity(replace(CELL, index_bits=64)),
        identity(algorithm=replace(DELTA, version=DELTA.version + 1)),
        identity(algorithm=replace(DELTA, name="other")),
        identity(options={"delta": 5.0}),
        identity(graph_digest="e"),
        identity(device={**DEVICE, "name": "Xeon"}),
        identity(device={**DEVICE, "threads": 1}),
        identity(cold=True),
    ]
    assert len(set(changed)) == len(changed)
    assert all(len(digest) == 64 for digest in changed)


def test_what_cannot_change_it_does_not():
    same = [
        replace(CELL, repeat=9, warmup=3, verify="both", phases=False, graph="rmat:7,seed=1"),
        replace(CELL, axes={"scale": 7}, sweep="smoke", series="rmat"),
    ]
    assert {identity(cell) for cell in same} == {identity()} == {identity(device={**DEVICE, "memory_bytes": 1})}
    assert identity(replace(CELL, source="7", seed=1)) == identity(replace(CELL, source="7", seed=2))
    assert identity(options={"a": 1, "b": 2}) == identity(options={"b": 2, "a": 1})


def test_the_id_foretold_is_the_id_of_the_record():
    with Session() as session:
        for cell in (CELL, replace(CELL, options={"delta": "8"}), replace(CELL, algorithm="auto", source=None)):
            assert session.identify(cell, Sampling()) == run_cell(cell).data["cell"]["id"]


def test_a_kernel_beside_the_file_of_a_user_changes_the_id(tmp_path):
    cell = replace(CELL, algorithm=f"{tmp_path / 'mine.py'}:driver")
    (tmp_path / "mine.py").write_text("")
    found = [identity(cell)]
    for name, text in (("mine.cu", "// one"), ("mine.cu", "// two"), ("parts.cuh", "// three")):
        (tmp_path / name).write_text(text)
        found.append(identity(cell))
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("name", ["{}:driver", "{}"])
def test_a_users_file_enters_with_its_content(tmp_path, name):
    path = tmp_path / "mine.py"
    ids = []
    for text in ("a = 1\n", "a = 2\n"):
        path.write_text(text)
        ids.append(identity(replace(CELL, algorithm=name.format(path))))
    path.unlink()
    ids.append(identity(replace(CELL, algorithm=name.format(path))))
    assert len(set(ids)) == 3
