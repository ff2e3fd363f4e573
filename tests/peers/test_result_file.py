"""The file with a program's whole answer: every edge and every distance is checked."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpugraph.ext.components.verify import reference_labels
from gpugraph.ext.peers import PeerThrew, register_commands
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.sssp.verify import reference_distances
from gpugraph.records.record import Record
from tests.peers.helpers import forest_edges, measured, script
from tests.zoo import zoo


@pytest.fixture(autouse=True, params=["with Arrow", "without Arrow"])
def _arrow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read every file by both readers: the base installation has no Arrow."""
    if request.param == "without Arrow":
        for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
            monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.setitem(sys.modules, "pyarrow", None)


def answer(
    folder: Path, content: str | bytes, graph: CSRGraph, problem: str, printed: str = "", **table: Any
) -> Record:
    """Measure a program that writes this as its result."""
    (folder / "answer").write_bytes(content if isinstance(content, bytes) else content.encode())
    body = f"import shutil, sys; shutil.copy({str(folder / 'answer')!r}, sys.argv[2]); print('took 1e-3\\n{printed}')"
    command = f"{script(folder, body)} {{graph.wel}} {{result}}" + (" {source}" if problem == "sssp" else "")
    register_commands({"mine": {"command": command, "time": "took (.+)", "problem": problem, **table}})
    same = {"source": "5"} if problem == "sssp" else {}
    return measured(graph, "peer:mine", problem, **same)


def test_a_forest_is_checked_edge_for_edge(tmp_path: Path) -> None:
    graph = zoo("random")
    lines = [f"{v} {u} 7" for u, v in forest_edges(graph)]
    record = answer(tmp_path, "# mine\nu v w\n" + "\n".join(lines), graph, "mst")
    assert record.status == "passed"
    assert "the same" in record.data["verification"]["detail"]
    assert answer(tmp_path, "\n".join(lines[1:]), graph, "mst").status == "failed"
    shifted = "\n".join(f"{u + 1},{v + 1}" for u, v in forest_edges(graph))
    assert answer(tmp_path, shifted, graph, "mst", first_vertex=1).status == "passed"


def test_distances_are_checked_vertex_by_vertex(tmp_path: Path) -> None:
    graph = zoo("two-components")
    distance, _ = reference_distances(graph, 5)
    told = ["INT_MAX" if d > 2**63 else str(d) for d in distance]
    assert answer(tmp_path, "\n".join(told), graph, "sssp", unreached="int_max").status == "passed"
    pairs = "\n".join(f"{v}: {d}" for v, d in enumerate(told) if d != "INT_MAX")
    assert answer(tmp_path, f"vertex distance\n{pairs}", graph, "sssp").status == "passed"
    assert answer(tmp_path, pairs.replace("7: ", "7: 1"), graph, "sssp").status == "failed"
    assert answer(tmp_path, "\n".join(pairs.splitlines()[:-1]), graph, "sssp").status == "failed"


def test_reals_that_are_printed_short_prove_nothing_either_way(tmp_path: Path) -> None:
    graph = zoo("float64")
    distance, _ = reference_distances(graph, 5)
    assert answer(tmp_path, "\n".join(map(repr, distance.tolist())), graph, "sssp").status == "passed"
    record = answer(tmp_path, "\n".join(f"{d:.6g}" for d in distance), graph, "sssp")
    assert (record.status, record.outcome) == ("skipped", "ok")
    assert "no proof" in record.data["verification"]["detail"]
    assert answer(tmp_path, "\n".join(f"{d * 1.001}" for d in distance), graph, "sssp").status == "failed"


def test_a_byte_order_mark_is_no_part_of_the_answer(tmp_path: Path) -> None:
    graph = zoo("random")
    assert (
        answer(tmp_path, "\ufeff" + "\n".join(f"{u} {v}" for u, v in forest_edges(graph)), graph, "mst").status
        == "passed"
    )


def test_a_printed_total_must_be_that_of_the_file(tmp_path: Path) -> None:
    graph = zoo("random")
    text = "\n".join(f"{u} {v}" for u, v in forest_edges(graph))
    record = answer(tmp_path, text, graph, "mst", "weight 3", weight="weight (.+)")
    assert record.status == "failed"
    assert "it printed the total weight 3, and its result file has" in record.data["verification"]["detail"]


def test_components_are_checked_and_their_printed_number_must_be_that_of_the_file(tmp_path: Path) -> None:
    graph = zoo("two-components")
    labels = reference_labels(graph).tolist()
    text = "\n".join(map(str, labels))
    assert answer(tmp_path, text, graph, "components").status == "passed"
    given = {"components": "components (.+)"}
    assert answer(tmp_path, text, graph, "components", f"components {len(set(labels))}", **given).status == "passed"
    with pytest.raises(PeerThrew, match="number of components 1"):
        answer(tmp_path, text, graph, "components", "components 1", **given)


def test_an_edge_that_is_not_there_is_reported_whatever_was_printed(tmp_path: Path) -> None:
    record = answer(tmp_path, "0 7\n1 99", zoo("path"), "mst", "weight 3", weight="weight (.+)")
    assert record.status == "failed"
    assert "it returned the edge (0, 7), which the graph does not have" in record.data["verification"]["detail"]


@pytest.mark.parametrize(
    ("text", "problem", "message"),
    [
        ("1 2\n3", "mst", "cannot be read"),
        ("1\n2", "mst", "an edge is 'u v'"),
        ("1 x", "mst", "holds no numbers"),
        ("no\x00text \x7f", "mst", "holds no numbers|an edge is|cannot be read"),
        ("0 1\n0 2", "sssp", "two distances for one vertex"),
        ("99 1", "sssp", "a distance for vertex 99"),
        ("0 near", "sssp", "holds no numbers"),
    ],
)
def test_a_file_that_says_nothing_useful_threw(tmp_path: Path, text: str, problem: str, message: str) -> None:
    with pytest.raises(PeerThrew, match=message):
        answer(tmp_path, text, zoo("two-components"), problem)


def npy(values: Any, dtype: Any = None, *, pickled: bool = False) -> bytes:
    """Return the file of NumPy's, ``.npy``, with these numbers."""
    stream = io.BytesIO()
    np.save(stream, np.array(values, dtype), allow_pickle=pickled)
    return stream.getvalue()


def test_a_forest_may_be_an_array_and_is_checked_edge_for_edge(tmp_path: Path) -> None:
    graph = zoo("random")
    edges = np.array(forest_edges(graph))
    for content in (npy(edges, "<i4"), npy(edges, ">u8"), npy(np.asfortranarray(np.c_[edges, edges[:, 0]]), "i8")):
        assert answer(tmp_path, content, graph, "mst").status == "passed"
    assert answer(tmp_path, npy(edges + 1, "u1"), graph, "mst", first_vertex=1).status == "passed"
    assert answer(tmp_path, npy(edges[1:], "i4"), graph, "mst").status == "failed"
    assert answer(tmp_path, npy(np.empty((0, 2)), "i4"), zoo("one-vertex"), "mst").status == "passed"


@pytest.mark.parametrize("name", ["two-components", "float64", "float32"])
def test_distances_may_be_an_array_and_a_wrong_one_is_found(tmp_path: Path, name: str) -> None:
    graph = zoo(name)
    distance, _ = reference_distances(graph, 5)
    real = np.where(distance.astype(float) > 2**62, np.inf, distance.astype(float))
    assert answer(tmp_path, npy(real), graph, "sssp").status == "passed"
    assert answer(tmp_path, npy(real, ">f8"), graph, "sssp").status == "passed"
    marked = np.where(np.isinf(real), np.finfo(float).max, real)
    unreached = {"unreached": repr(np.finfo(float).max.item())}
    assert answer(tmp_path, npy(marked), graph, "sssp", **unreached).status == "passed"
    real[7] = 0.5 * real[3] + 1 if name == "float64" else 12345
    assert answer(tmp_path, npy(real), graph, "sssp").status == "failed"


def test_distances_of_integers_may_have_a_mark_where_there_is_no_path(tmp_path: Path) -> None:
    graph = zoo("two-components")
    distance, _ = reference_distances(graph, 5)
    near = np.where(distance > 2**62, 0, distance).astype("i8")
    assert np.any(distance > 2**62)
    for mark, dtype in ((-1, "i4"), (2**31 - 1, "i4"), (2**64 - 1, "u8")):
        marked = np.where(distance > 2**62, np.array(mark, dtype), near.astype(dtype))
        assert answer(tmp_path, npy(marked), graph, "sssp", unreached=str(mark)).status == "passed"
    assert answer(tmp_path, npy(np.where(distance > 2**62, -2, near)), graph, "sssp").status == "failed"


@pytest.mark.parametrize("mark", ["1e30", "3.4028235e38", "nan"])
def test_a_mark_is_rounded_as_the_array_rounds_it(tmp_path: Path, mark: str) -> None:
    graph = zoo("two-components")
    distance, _ = reference_distances(graph, 5)
    marked = np.where(distance > 2**62, float(mark), distance.astype(float)).astype("f4")
    assert answer(tmp_path, npy(marked), graph, "sssp", unreached=mark).status == "passed"


@pytest.mark.parametrize(("name", "wrong"), [("two-components", "7ff4000000000001"), ("float32", "7e37e43c8800759c")])
@pytest.mark.filterwarnings("error")
def test_a_number_that_no_distance_can_be_is_wrong_without_a_warning(tmp_path: Path, name: str, wrong: str) -> None:
    graph = zoo(name)
    values = np.zeros(graph.vertices, "u8")
    values[3] = int(wrong, 16)  # a signalling NaN, 1e300
    assert answer(tmp_path, npy(values.view("f8")), graph, "sssp").status == "failed"


def test_a_mark_is_no_distance_near_it(tmp_path: Path) -> None:
    graph = zoo("two-components")
    distance, _ = reference_distances(graph, 5)
    near = np.where(distance > 2**62, 2**53 + 1, 2**53).astype("i8")
    record = answer(tmp_path, npy(near), graph, "sssp", unreached=str(2**53 + 1))
    assert "at distance 9007199254740992" in record.data["verification"]["detail"]


def test_the_label_of_a_vertex_is_the_number_behind_it(tmp_path: Path) -> None:
    graph = zoo("two-components")
    text = "\n".join(f"{v} {label} 7" for v, label in enumerate(reference_labels(graph).tolist()))
    assert answer(tmp_path, text, graph, "components").status == "passed"


def test_components_may_be_an_array_of_any_labels(tmp_path: Path) -> None:
    graph = zoo("two-components")
    labels = reference_labels(graph)
    assert answer(tmp_path, npy(labels + 7, "u4"), graph, "components").status == "passed"
    assert answer(tmp_path, npy(np.arange(len(labels))), graph, "components").status == "failed"


LONG = np.lib.format.MAGIC_PREFIX + b"\2\0" + (10**6).to_bytes(4, "little") + b" " * 10**6


@pytest.mark.parametrize(
    ("content", "problem", "message"),
    [
        (npy([1, 2]), "mst", "holds int64 of shape \\(2,\\), not numbers of shape \\(edges, 2\\)"),
        (npy([[1], [2]]), "mst", "of shape \\(2, 1\\), not numbers of shape"),
        (npy([[0] * 9]), "mst", "of shape \\(1, 9\\), not numbers of shape"),
        (npy([[0.0, 1.0]]), "mst", "holds float64 numbers, and not all of them are of int64"),
        (npy([[0, 2**63]], "u8"), "mst", "holds uint64 numbers, and not all of them are of int64"),
        (npy([0.0] * 7), "sssp", "holds float64 of shape \\(7,\\), not numbers of shape \\(NUMBER,\\)"),
        (npy([[0.0, 1.0]]), "sssp", "of shape \\(1, 2\\), not numbers of shape"),
        (npy([True] * 8), "sssp", "holds bool of shape"),
        (npy([1j] * 8), "sssp", "holds complex128 of shape"),
        (npy(["1"] * 8), "sssp", "holds <U1 of shape"),
        (npy([(1, 2)], [("a\nb", "i4"), ("c", "f8")]), "sssp", "of shape \\(1,\\), not numbers"),
        (npy([0.5] * 8), "components", "of shape \\(8,\\), not numbers|holds float64 numbers"),
        (npy([0.0] * 8)[:-1], "sssp", "is damaged: it promises 8 items, but holds 63 bytes"),
        (npy([0.0] * 8) + b"1", "sssp", "is damaged: it promises 8 items, but holds 65 bytes"),
        (npy([0.0] * 8)[:100], "sssp", "is damaged: EOF"),
        (npy([0.0] * 8)[:7], "sssp", "is damaged: EOF"),
        (npy([0.0] * 8).replace(b"(8,)", b"(-8,"), "sssp", "is damaged"),
        (npy([[0, 1]]).replace(b"(1, 2)", b"(-1,-2)"), "mst", "is damaged"),
        (npy([0, None], object, pickled=True), "sssp", "is damaged: it is no plain array of numbers"),
        (LONG, "sssp", "is damaged: Header info length"),
        (LONG.replace(b" " * 10**6, b"(" * 10**6), "sssp", "is damaged: Header info length"),
    ],
)
def test_an_array_of_another_kind_threw_in_one_line(tmp_path: Path, content: bytes, problem: str, message: str) -> None:
    graph = zoo("two-components")
    with pytest.raises(PeerThrew, match=message.replace("NUMBER", str(graph.vertices))) as caught:
        answer(tmp_path, content, graph, problem)
    assert "\n" not in str(caught.value)


def test_a_program_that_writes_no_file_threw_and_an_old_file_is_not_read(tmp_path: Path) -> None:
    body = f"import os, sys\nonce = {str(tmp_path / 'once')!r}\nprint('took 1')\n"
    body += "if not os.path.exists(once): open(once, 'w').close(); open(sys.argv[2], 'w').write('0 1')"
    command = f"{script(tmp_path, body)} {{graph.wel}} {{result}}"
    register_commands({"mine": {"command": command, "time": "whole"}})
    with pytest.raises(PeerThrew, match="it wrote no result file"):
        measured(zoo("random"), "peer:mine", warmup=1)


def test_an_empty_file_is_an_empty_answer(tmp_path: Path) -> None:
    assert answer(tmp_path, "", zoo("one-vertex"), "mst").status == "passed"
    assert answer(tmp_path, "", zoo("random"), "mst").status == "failed"
