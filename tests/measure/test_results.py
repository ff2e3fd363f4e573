from __future__ import annotations

import gzip
import re

import numpy as np
import pytest

import gpugraph
from gpugraph.base.errors import GraphFormatError, InputError
from gpugraph.ext.peers.command_peer import CommandAnswer
from gpugraph.ext.results.files import check_result, check_result_name, read_claim, write_result
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.symmetrize import symmetrize
from gpugraph.problems.mst.forest import Forest, edge_ids
from gpugraph.problems.registry import load_problem
from gpugraph.problems.sssp.distances import Distances
from tests.zoo import ZOO, has_negative_weights, undirected, zoo


def named_graph() -> CSRGraph:
    names = np.array(["Ann", 'B "quoted"', "C, comma", "D"])
    return undirected(4, [(0, 1, 5), (1, 2, 3), (0, 2, 9)]).renamed(vertex_names=names)


def forest_of(graph: CSRGraph) -> Forest:
    """Kruskal in a few lines: independent of what is being tested here."""
    graph = symmetrize(graph)
    tails = np.repeat(np.arange(graph.vertices), graph.degrees)
    upper = np.flatnonzero(tails < graph.targets)
    order = upper[np.argsort(graph.weights[upper], kind="stable")]
    root = list(range(graph.vertices))

    def find(v: int) -> int:
        while root[v] != v:
            v = root[v]
        return v

    chosen = []
    for arc in order.tolist():
        u, v = find(int(tails[arc])), find(int(graph.targets[arc]))
        if u != v:
            root[u] = v
            chosen.append(arc)
    return Forest.of(graph, np.array(chosen, np.int64))


def distances_of(graph: CSRGraph, source: int = 0) -> Distances:
    """Bellman-Ford in a few lines."""
    from gpugraph.problems.sssp.arcs import distance_dtype, unreached

    dtype = distance_dtype(graph.weights.dtype)
    distance = np.full(graph.vertices, unreached(dtype), dtype)
    distance[source] = 0
    tails = np.repeat(np.arange(graph.vertices), graph.degrees)
    for _ in range(graph.vertices):
        alive = distance[tails] != unreached(dtype)
        sums = distance[tails[alive]] + graph.weights[alive].astype(dtype)
        before = distance.copy()
        np.minimum.at(distance, graph.targets[alive], sums)
        if np.array_equal(before, distance):
            break
    return Distances(graph, source, distance).with_predecessors()


FORESTS = [name for name in ZOO if name != "float-infinite"]
PATHS = [name for name in ZOO if zoo(name).vertices and not has_negative_weights(zoo(name)) and name != "uint64"]


@pytest.mark.parametrize("ending", [".npz", ".csv", ".mtx", ".csv.gz", ".npz.gz", ".npz.bz2", ".npz.xz", ".mtx.zst"])
@pytest.mark.parametrize("name", ["two-components", "no-vertex", "isolated-vertices", "huge-weights", "float32"])
def test_a_forest_survives_the_way_through_a_file(tmp_path, name, ending):
    path = tmp_path / f"forest{ending}"
    write_result(forest_of(zoo(name)), path)
    verdict = check_result(zoo(name), path, "both")
    assert verdict.passed, verdict


@pytest.mark.parametrize("ending", [".npz", ".csv"])
@pytest.mark.parametrize("name", FORESTS)
def test_every_forest_of_the_zoo_is_accepted_from_a_file(tmp_path, name, ending):
    path = tmp_path / f"forest{ending}"
    forest = forest_of(zoo(name))
    write_result(forest, path)
    _, stored = read_claim(path)
    ids = edge_ids(forest.graph, stored.u, stored.v)
    assert np.array_equal(ids, forest.edges)
    assert check_result(zoo(name), path, "certificate").passed


@pytest.mark.parametrize("ending", [".npz", ".csv"])
@pytest.mark.parametrize("predecessors", [True, False])
@pytest.mark.parametrize("name", PATHS)
def test_distances_survive_the_way_through_a_file(tmp_path, name, ending, predecessors):
    path = tmp_path / f"distances{ending}"
    result = distances_of(zoo(name))
    if not predecessors:
        result = Distances(result.graph, result.source, result.raw)
    write_result(result, path)
    zeros = int((result.raw == 0).sum())
    if ending == ".csv" and not predecessors and zoo(name).directed and zeros > 1:
        with pytest.raises(InputError, match="does not tell its source"):
            check_result(zoo(name), path, "certificate")
    else:
        verdict = check_result(zoo(name), path, "certificate")
        assert verdict.passed, verdict


def test_names_of_the_file_are_in_the_result(tmp_path):
    graph = named_graph()
    write_result(forest_of(graph), tmp_path / "f.csv")
    assert (tmp_path / "f.csv").read_text() == (
        'u,v,weight,u_name,v_name\n0,1,5,Ann,"B ""quoted"""\n1,2,3,"B ""quoted""","C, comma"\n'
    )
    write_result(distances_of(graph, 1), tmp_path / "d.csv")
    assert (tmp_path / "d.csv").read_text() == (
        'vertex,distance,predecessor,name\n0,5,1,Ann\n1,0,-1,"B ""quoted"""\n2,3,1,"C, comma"\n3,inf,-1,D\n'
    )
    for name in ("f.csv", "d.csv"):
        assert check_result(graph, tmp_path / name, "both").passed
    write_result(forest_of(graph), tmp_path / "f.npz")
    with np.load(tmp_path / "f.npz") as file:
        assert file["names"].tolist() == graph.vertex_names.tolist()
        assert (str(file["problem"]), str(file["total_weight"]), int(file["components"])) == ("mst", "8", 2)


def test_a_matrix_market_forest_is_one_that_scipy_reads(tmp_path):
    from scipy.io import mmread

    forest = forest_of(zoo("random"))
    write_result(forest, tmp_path / "f.mtx")
    matrix = mmread(tmp_path / "f.mtx")
    assert matrix.shape == (100, 100)
    assert matrix.sum() == 2 * forest.total_weight


@pytest.mark.parametrize(
    ("name", "problem", "message"),
    [
        ("a.txt", "mst", "unknown ending"),
        ("a", "mst", "unknown ending"),
        ("a.nzp", "mst", "did you mean '.npz'"),
        ("d.mtx", "sssp", "holds a forest, not distances — write .npz or .csv"),
        ("s.csv", "scan", "not a scan — write .npy or .npz"),
    ],
)
def test_a_name_that_no_format_has_is_refused(name, problem, message):
    with pytest.raises(InputError, match=message):
        check_result_name(name, load_problem(problem))


def test_what_a_program_printed_is_no_result_to_write(tmp_path):
    with pytest.raises(InputError, match=r"f\.npz: .*is no result that a file could hold — leave out -o"):
        write_result(CommandAnswer(zoo("path"), "mst", (), ("7",)), tmp_path / "f.npz")
    assert not list(tmp_path.iterdir())


def test_a_problem_is_known_by_the_columns_that_are_most_its_own(tmp_path):
    for text, name in (("vertex,distance\n0,0\n", "sssp"), ("weight,v,u\n1,1,0\n", "mst")):
        (tmp_path / "r.csv").write_text(text)
        assert read_claim(tmp_path / "r.csv")[0].name == name


UNCHECKABLE = {
    "vertex,distance,Predecessor\n0,0,99\n1,7,99\n": "unknown column 'Predecessor' — did you mean 'predecessor'?",
    "vertex,distance,note\n0,0,a\n1,7,b\n": "unknown column 'note'",
    "vertex,distance,distance\n0,0,5\n1,7,5\n": "holds the column 'distance' twice",
    "vertx,distance\n0,0\n1,7\n": "unknown column 'vertx' — did you mean 'vertex'?",
    "u,v\n0,1\n": "lacks the column 'weight'",
    "u,v,weight,u_nam\n0,1,7,x\n": "did you mean 'u_name'?",
    "%%MatrixMarket matrix coordinate integer symmetric\n2 3 1\n2 1 7\n": "line 2: a matrix of 2 rows and 3 columns",
    "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n2 1 7\n": "line 2: 1 entry where 2 are promised",
    "%%MatrixMarket matrix coordinate integer general\n2 2 1\n2 1 7\n": "no symmetric matrix",
    "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1 7\n": "no symmetric matrix",
}


@pytest.mark.parametrize("text", UNCHECKABLE)
def test_what_would_not_be_checked_is_refused(tmp_path, text):
    (tmp_path / "result").write_text(text)
    with pytest.raises(InputError, match=re.escape(UNCHECKABLE[text])):
        check_result(zoo("one-edge"), tmp_path / "result")


def test_an_encrypted_archive_is_refused(tmp_path):
    write_result(forest_of(zoo("path")), tmp_path / "f.npz")
    data = bytearray((tmp_path / "f.npz").read_bytes())
    for at in [m.start() + 6 for m in re.finditer(b"PK\x03\x04", data)] + [
        m.start() + 8 for m in re.finditer(b"PK\x01\x02", data)
    ]:
        data[at] |= 1
    (tmp_path / "f.npz").write_bytes(data)
    with pytest.raises(GraphFormatError, match=r"is damaged: .*encrypted"):
        read_claim(tmp_path / "f.npz")


def test_a_name_of_the_graph_that_no_text_may_hold_is_written_as_what_it_can_be(tmp_path):
    graph = zoo("path").renamed(name="roads\n\udcff")
    write_result(forest_of(graph), tmp_path / "f.mtx")
    assert check_result(graph, tmp_path / "f.mtx").passed
    assert (tmp_path / "f.mtx").read_text().splitlines()[1].startswith("% minimum spanning forest of roads??, total")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "f.csv"
    path.write_text("old")

    def fail(*_args: object, **_kw: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gpugraph.ext.results.text.write_csv", fail)
    with pytest.raises(InputError, match="no space left"):
        write_result(forest_of(zoo("random")), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


DAMAGED = {
    "no result": "hello\n",
    "empty": "",
    "cell is no number": "u,v,weight\n0,1,4\n1,x,8\n",
    "short row": "u,v,weight\n0,1,4\n1,2\n",
    "fraction for a vertex": "vertex,distance\n0.5,3\n",
    "vertex beyond 64 bits": "vertex,distance\n99999999999999999999,3\n",
    "matrix without sizes": "%%MatrixMarket matrix coordinate integer symmetric\n",
    "matrix with a short row": "%%MatrixMarket matrix coordinate integer symmetric\n3 3 1\n2 1\n",
    "matrix with too few rows": "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 7\n",
}


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_text_file_is_refused_with_its_name(tmp_path, what):
    path = tmp_path / "damaged"
    path.write_text(DAMAGED[what])
    with pytest.raises(GraphFormatError, match="damaged"):
        read_claim(path)


def test_the_line_of_a_bad_number_is_named(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("vertex,distance\n0,0\n1,far\n")
    with pytest.raises(GraphFormatError, match=r"d\.csv line 3: 'far' is no uint64 number"):
        check_result(zoo("one-edge"), path)


@pytest.mark.parametrize("length", [0, 3, 4, 30, 100, 300, 700])
def test_a_truncated_npz_is_refused(tmp_path, length):
    path = tmp_path / "f.npz"
    write_result(forest_of(zoo("path")), path)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(InputError):
        read_claim(path)


FOREST = {
    "problem": "mst",
    "vertices": 2,
    "graph_digest": "",
    "u": np.zeros(1, int),
    "v": np.ones(1, int),
    "weight": np.ones(1),
    "total_weight": "1",
    "components": 1,
}


def test_an_npz_of_something_else_is_refused(tmp_path):
    for name, arrays in {
        "lacks": {"a": np.zeros(3)},
        "not known": {"problem": "tsp"},
        "lacks the array 'v'": {"problem": "mst", "vertices": 2, "graph_digest": "", "u": np.zeros(2)},
        "of integers": FOREST | {"u": np.zeros(1)},
        "differ in length": FOREST | {"u": np.zeros(2, int)},
        "did you mean 'names'": FOREST | {"name": np.zeros(2)},
        "2 names for 9": FOREST | {"vertices": 9, "names": np.zeros(2)},
        "one number": FOREST | {"components": np.zeros(1, int)},
        "no plain array": {"problem": np.array([{}], object)},
    }.items():
        np.savez(tmp_path / "x.npz", **arrays)
        with pytest.raises(InputError, match=name):
            read_claim(tmp_path / "x.npz")


@pytest.mark.parametrize("solve", [gpugraph.mst, gpugraph.sssp, gpugraph.components])
def test_arrays_of_the_other_byte_order_hold_the_same_result(solve, tmp_path):
    graph = gpugraph.from_edges(["a", "b"], ["b", "c"], [2.5, 7.0])
    gpugraph.save(solve(graph, device="cpu"), tmp_path / "x.npz")
    arrays = {name: array.astype(array.dtype.newbyteorder(">")) for name, array in np.load(tmp_path / "x.npz").items()}
    np.savez(tmp_path / "x.npz", **arrays)
    assert gpugraph.verify(graph, tmp_path / "x.npz").passed


def test_a_truncated_gzip_result_is_refused(tmp_path):
    path = tmp_path / "f.csv.gz"
    path.write_bytes(gzip.compress(b"u,v,weight\n" + b"0,1,4\n" * 100)[:-9])
    with pytest.raises(InputError, match=r"f\.csv\.gz"):
        read_claim(path)


@pytest.mark.parametrize("ending", ["csv", "npz"])
def test_nodes_of_any_kind_are_written_as_text_that_tells_them_apart(tmp_path, ending):
    nodes = np.fromiter([1, "1", (2, "x"), "a\0"], object, 4)
    graph = undirected(4, [(0, 1, 5), (1, 2, 3), (0, 2, 9)]).renamed(vertex_names=nodes)
    printed = ["1", "'1'", "(2, 'x')", "'a\\x00'"]
    for result in (forest_of(graph), distances_of(graph)):
        path = tmp_path / f"result.{ending}"
        write_result(result, path)
        assert check_result(graph, path).passed
        if ending == "npz":
            with np.load(path) as file:
                assert file["names"].tolist() == printed
    if ending == "csv":
        assert path.read_text().splitlines()[1:] == ["0,0,-1,1", "1,5,0,'1'", "2,8,1,\"(2, 'x')\"", "3,inf,-1,'a\\x00'"]


def test_nodes_that_are_all_integers_are_written_as_such(tmp_path):
    graph = undirected(3, [(0, 1, 5)]).renamed(vertex_names=np.fromiter([10, 20, 30], object, 3))
    write_result(distances_of(graph), tmp_path / "d.npz")
    with np.load(tmp_path / "d.npz") as file:
        assert file["names"].tolist() == [10, 20, 30]
        assert file["names"].dtype == np.int64


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "u,v,weight\n0,0x1,5\n1,2,3\n"),
        ("a.csv", "u,v,weight\n0,1,0X5\n1,2,3\n"),
        ("a.mtx", '%%MatrixMarket matrix coordinate integer symmetric\n4 4 2\n2 ""1 5\n3 2 3\n'),
        ("a.mtx", "%%MatrixMarket# matrix coordinate integer symmetric\n4 4 2\n2 1 5\n3 2 3\n"),
    ],
)
def test_what_a_lenient_parser_takes_for_a_number_or_a_banner_is_refused(tmp_path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(GraphFormatError):
        check_result(named_graph(), tmp_path / name)


@pytest.mark.parametrize("name", ["two\nlines", "tab\tand\rreturn", "no\udcff text"])
def test_a_name_of_any_letters_stays_one_line_of_comment(tmp_path, name):
    forest = forest_of(undirected(3, [(0, 1, 5), (1, 2, 3)]).renamed(name=name))
    write_result(forest, tmp_path / "forest.mtx")
    lines = (tmp_path / "forest.mtx").read_text("utf-8").split("\n")
    assert lines[1].startswith("% minimum spanning forest of ")
    assert lines[2] == "3 3 2"
    assert check_result(forest.graph, tmp_path / "forest.mtx").status == "passed"


@pytest.mark.filterwarnings("error")
def test_a_table_of_distances_beyond_float32_is_checked_without_a_warning(tmp_path):
    graph = undirected(3, [(0, 1, 1e300), (1, 2, 1.5)], np.float64)
    write_result(distances_of(graph), tmp_path / "far.csv")
    assert check_result(graph, tmp_path / "far.csv").passed
