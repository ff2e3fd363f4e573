from __future__ import annotations

import doctest
import inspect
import subprocess
import sys

import networkx
import numpy as np
import pytest
from scipy import sparse

import gpugraph
from gpugraph.base.errors import InputError, VerificationFailed
from gpugraph.ext.results.files import write_result
from tests.zoo import zoo

EDGES = [(0, 1, 4), (1, 2, 8), (0, 2, 7), (3, 4, 1)]


def matrix() -> sparse.csr_array:
    u, v, w = np.array(EDGES).T
    upper = sparse.coo_array((w, (u, v)), (5, 5))
    return (upper + upper.T).tocsr()


def nx_graph() -> networkx.Graph:
    graph = networkx.Graph()
    graph.add_weighted_edges_from(EDGES)
    return graph


def arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    m = matrix()
    return m.indptr, m.indices, m.data


SOURCES = {"matrix": matrix, "matrix in COO": lambda: matrix().tocoo(), "networkx": nx_graph, "arrays": arrays}


@pytest.mark.parametrize("kind", SOURCES)
def test_a_graph_may_come_from_python(kind):
    forest = gpugraph.mst(SOURCES[kind](), device="cpu")
    assert (forest.total_weight, forest.components) == (12, 2)
    assert [e.tolist() for e in forest.endpoints()] == [[0, 0, 3], [1, 2, 4]]
    paths = gpugraph.sssp(SOURCES[kind](), source=1, device="cpu", predecessors=True)
    assert paths.distance[:3].tolist() == [4, 0, 8]
    assert paths.reached.tolist() == [True, True, True, False, False]
    assert paths.predecessor.tolist() == [1, -1, 1, -1, -1]


def test_results_become_networkx_graphs():
    forest = gpugraph.to_networkx(gpugraph.mst(nx_graph(), device="cpu"))
    right = networkx.minimum_spanning_tree(nx_graph())
    assert networkx.utils.graphs_equal(networkx.Graph(forest), networkx.Graph(right)) or (
        {frozenset(e) for e in forest.edges} == {frozenset(e) for e in right.edges}
    )
    assert forest.graph["total_weight"] == 12
    assert forest[0][1]["weight"] == 4
    tree = gpugraph.to_networkx(gpugraph.sssp(nx_graph(), source=1, device="cpu"))
    assert set(tree.edges) == {(1, 0), (1, 2)}
    assert tree.nodes[2] == {"distance": 8}
    assert tree.nodes[3] == {}
    assert tree[1][2]["weight"] == 8


def test_names_come_back_as_nodes():
    graph = networkx.relabel_nodes(nx_graph(), dict(enumerate("abcde")))
    forest = gpugraph.to_networkx(gpugraph.mst(graph, device="cpu"))
    assert {frozenset(e) for e in forest.edges} == {frozenset("ab"), frozenset("ac"), frozenset("de")}
    paths = gpugraph.sssp(graph, source="name:b", device="cpu")
    assert paths.source == 1


def test_the_same_graph_from_everywhere_has_one_digest():
    digests = {gpugraph.load(make()).digest for make in SOURCES.values()}
    assert len(digests) <= 2  # the weights of a SciPy matrix keep their width


def test_options_reach_the_algorithm():
    paths = gpugraph.sssp(zoo("grid"), 3, algo="delta-stepping", device="cpu", delta=100.0)
    assert paths.distance[3] == 0
    with pytest.raises(InputError, match="did you mean 'delta'"):
        gpugraph.sssp(zoo("grid"), 3, algo="delta-stepping", device="cpu", dleta=1.0)


def test_a_result_is_verified_against_its_graph(tmp_path):
    forest = gpugraph.mst(zoo("random"), device="cpu")
    assert gpugraph.verify(zoo("random"), forest).passed
    assert not gpugraph.verify(zoo("random-ties"), forest).passed
    write_result(forest, tmp_path / "f.npz")
    assert gpugraph.verify(zoo("random"), tmp_path / "f.npz", method="both").passed


def test_a_scan_is_verified_against_its_array():
    values = np.arange(1, 100, dtype=np.uint32)
    sums = gpugraph.scan(values, device="cpu", exclusive=True)
    for method in ("auto", "reference", "certificate", "both"):
        assert gpugraph.verify(values, sums, method=method).passed
    assert "element 1 is" in gpugraph.verify(values + np.uint32(1), sums).detail
    assert "99 elements" in gpugraph.verify(values[:-1], sums).detail
    heads = (np.arange(99) % 7 == 0).astype(np.uint8)
    assert gpugraph.verify(values, gpugraph.scan(values, device="cpu", heads=heads)).passed
    spec = "array:n=50,segments=5"
    assert gpugraph.verify(spec, gpugraph.scan(spec, device="cpu")).passed
    with pytest.raises(InputError, match="did you mean 'reference'"):
        gpugraph.verify(values, sums, method="refrence")


def test_a_wrong_result_is_an_exception(monkeypatch):
    from gpugraph.problems.contract import Verdict
    from gpugraph.problems.mst.problem import MinimumSpanningForest

    wrong = Verdict("failed", "certificate", "edge 1-2 is missing")
    monkeypatch.setattr(MinimumSpanningForest, "certificate", lambda *_: wrong)
    with pytest.raises(VerificationFailed, match="edge 1-2 is missing"):
        gpugraph.mst(zoo("random"), device="cpu")
    assert gpugraph.mst(zoo("random"), device="cpu", verify="none").components


def test_an_int_is_a_node_where_there_are_nodes_and_a_vertex_number_elsewhere():
    labelled = networkx.Graph([(5, 1), (1, 3)])
    assert gpugraph.to_networkx(gpugraph.sssp(labelled, 1, device="cpu")).graph["source"] == 1
    assert gpugraph.sssp(labelled, np.int32(5), device="cpu").source == 2
    assert gpugraph.sssp(labelled, "index:1", device="cpu").source == 1
    assert gpugraph.sssp(labelled, "name:3", device="cpu").source == 1
    for source in (0, "1", 2**20000):
        with pytest.raises(InputError, match=r"Graph: .* is not a node of the graph — name:ID is the node printed so"):
            gpugraph.sssp(labelled, source, device="cpu")
    assert gpugraph.sssp(matrix(), 1, device="cpu").source == 1
    assert gpugraph.sssp(nx_graph(), 1, device="cpu").source == 1


def test_a_source_that_means_several_gives_a_list():
    several = gpugraph.sssp(nx_graph(), "random:3", device="cpu", predecessors=True)
    assert [type(result).__name__ for result in several] == ["Distances"] * 3
    assert all(result.predecessor[result.source] == -1 for result in several)
    assert len({result.source for result in several}) == 3
    (alone,) = gpugraph.sssp(nx_graph(), "random:1", device="cpu")
    assert alone.source == several[0].source
    with pytest.raises(InputError, match=r"a list is not a result — .* one at a time"):
        gpugraph.verify(nx_graph(), several)
    with pytest.raises(InputError, match="one by one"):
        gpugraph.to_networkx(several)
    called_so = networkx.Graph([("random:3", "max-degree"), ("max-degree", "name:random:3"), ("max-degree", "x")])
    for node in called_so:
        assert gpugraph.to_networkx(gpugraph.sssp(called_so, node, device="cpu")).graph["source"] == node


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize("name", ["input_format", "weights", "seed", "symmetrize"])
@pytest.mark.parametrize("value", [1.5, [1], b"unit", Unprintable(), 2**70])
def test_an_argument_of_load_that_is_of_another_kind_is_refused(name, value):
    with pytest.raises(InputError, match=f"{name} is "):
        gpugraph.load(nx_graph(), **{name: value})


@pytest.mark.parametrize("name", ["algo", "device", "verify"])
@pytest.mark.parametrize("value", [None, 3, ["cpu"], Unprintable()])
def test_an_argument_of_another_kind_is_refused(name, value):
    arguments = {"device": "cpu", name: value}
    for call in (
        lambda: gpugraph.mst(nx_graph(), **arguments),
        lambda: gpugraph.sssp(nx_graph(), 0, **arguments),
        lambda: gpugraph.scan(np.arange(3), **arguments),
    ):
        with pytest.raises(InputError, match=f"{name} is .* — give a text"):
            call()


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: gpugraph.verify(nx_graph(), None), "a NoneType is not a result"),
        (lambda: gpugraph.verify(nx_graph(), "no-such.npz", method=None), "method is None"),
        (lambda: gpugraph.generate(None), "spec is None"),
        (lambda: gpugraph.load(nx_graph(), weights=None), "weights is None"),
        (lambda: gpugraph.load(nx_graph(), columns=None), "columns is None"),
        (lambda: gpugraph.to_networkx(None), "a NoneType is neither a graph nor an answer about one"),
        (lambda: gpugraph.load("a\0b"), "cannot be read: embedded null character in the path"),
        (lambda: gpugraph.load("\ud800"), "cannot be read"),
        (lambda: gpugraph.mst([[0, 1], [1, 0]], device="cpu"), "a list is not a graph"),
        (lambda: gpugraph.sssp(nx_graph(), 1.5, device="cpu"), "neither a node of the graph, nor a number"),
        (lambda: gpugraph.sssp(nx_graph(), [1], device="cpu"), "give several as sources=…"),
        (lambda: gpugraph.sssp(nx_graph(), [[1], [2, 3]], device="cpu"), "give several as sources=…"),
        (lambda: gpugraph.sssp(nx_graph(), True, device="cpu"), "neither a node of the graph, nor a number"),
        (lambda: gpugraph.sssp(nx_graph(), Unprintable(), device="cpu"), "neither a node of the graph"),
        (lambda: gpugraph.sssp(nx_graph(), 0, device="cpu", predecessors="no"), "predecessors is 'no'"),
        (lambda: gpugraph.sssp(nx_graph(), 0, device="cpu", delta=[1]), r"option 'delta' takes float, not \[1\]"),
        (lambda: gpugraph.scan(np.arange(3), exclusive="no"), "exclusive is 'no'"),
        (lambda: gpugraph.scan(np.arange(3), heads=["a", "b", "c"]), "heads are of type <U1"),
        (lambda: gpugraph.scan(np.arange(3), heads=[[1], [1, 2]]), "heads cannot be taken as an array"),
        (lambda: gpugraph.scan(np.ma.array([1, 2, 3], mask=[0, 1, 0])), "elements are masked in part"),
        (lambda: gpugraph.scan(np.arange(2), heads=np.ma.array([1, 0], mask=[0, 1])), "heads are masked in part"),
        (lambda: gpugraph.scan(np.arange(3), algo="segmented-min", device="cpu"), "none — give heads=…"),
        (lambda: gpugraph.scan(np.arange(3), heads=[1, 0, 0], algo="cpu", device="cpu"), "use algo='segmented-min'"),
        (lambda: gpugraph.mst(nx_graph(), device="cpu/9999"), "^device='cpu/9999': there are"),
    ],
)
def test_whatever_is_given_is_taken_or_refused_in_words(call, reason):
    with pytest.raises(InputError, match=reason):
        call()


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (7, "a int is not a graph"),
        (sparse.csr_array((2, 3)), "square"),
        ((np.array([0, 2]), np.array([0]), None), "offsets run from 0 to 2"),
        (
            (np.array([0, 2**62, -(2**63), -(2**62), 6]), np.array([1, 2, 0, 0, 3, 2]), None),
            "offsets fall from .* at vertex 1",
        ),
        ((np.array([0, 1]), np.array([1]), None), "outside"),
        ((np.array([0, 1, 1]), np.array([1]), np.array([np.nan])), "NaN"),
        ("no-such-file.gr", "no-such-file.gr"),
    ],
)
def test_what_is_no_graph_is_refused_in_words(source, reason):
    with pytest.raises(InputError, match=reason):
        gpugraph.load(source)


def test_importing_the_package_imports_nothing_heavy():
    program = "import sys, gpugraph; print([m for m in ('numpy', 'numba', 'scipy', 'click') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# ------------------------------------------------------------------ every name


FUNCTIONS = sorted(name for name in gpugraph._HOME if not isinstance(getattr(gpugraph, name), type))


@pytest.mark.parametrize("name", ["__doc__", "csgraph", *FUNCTIONS])
def test_every_name_has_an_example_that_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = gpugraph.__doc__ if name == "__doc__" else getattr(gpugraph, name).__doc__
    example = doctest.DocTestParser().get_doctest(text, {"gpugraph": gpugraph}, name, None, 0)
    assert example.examples
    told: list[str] = []
    assert doctest.DocTestRunner().run(example, out=told.append).failed == 0, "".join(told)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_says_the_types_of_all_that_it_takes_and_returns(name):
    function = getattr(gpugraph, name)
    said = function.__annotations__
    assert {"return", *inspect.signature(function).parameters} == said.keys()


def test_a_function_keeps_its_name_whatever_is_imported():
    import gpugraph.bench.store
    import gpugraph.ext.charts.page

    assert callable(gpugraph.bench)
    assert callable(gpugraph.report)
    assert sys.modules["gpugraph.report"].__path__


# ------------------------------------------------------------------ measured


def test_a_call_that_is_timed_gives_its_record():
    record = gpugraph.mst(nx_graph(), device="cpu", algo="kruskal", time=True)
    assert (record.algorithm, record.verdict) == ("kruskal", "verified")
    assert 1 <= len(record.samples) <= 100  # as many as a second has room for
    assert record.result.total_weight == 12
    several = gpugraph.sssp(nx_graph(), "random:2", device="cpu", time=True)
    assert len(several.results) == 2
    assert gpugraph.components(nx_graph(), device="cpu", time=True).result.components == 2
    assert gpugraph.scan(np.arange(4), device="cpu", time=True).result.array.tolist() == [0, 1, 3, 6]
    with pytest.raises(InputError, match="time is 3 — give True or False"):
        gpugraph.mst(nx_graph(), device="cpu", time=3)


def test_what_is_not_reached_is_masked_among_integers_and_infinite_among_reals():
    rows = [0, 1, 2, 2], [1, 0], [7, 7]
    whole = gpugraph.sssp(rows, 0, device="cpu")
    assert whole.distance.tolist() == [0, 7, None]
    assert whole.distance.max() == 7
    assert str(2**64 - 1) not in f"{whole.distance} {whole!r} {whole._repr_html_()}"
    real = gpugraph.sssp((*rows[:2], [7.5, 7.5]), 0, device="cpu")
    assert real.distance.tolist() == [0, 7.5, np.inf]
    assert np.shares_memory(whole.distance.data, whole.raw)


def test_results_and_graphs_show_themselves_in_a_line():
    matrix_ = matrix()
    assert repr(gpugraph.load(matrix_)) == "<CSRGraph csr_array: vertices 5, edges 4, weights int64>"
    assert repr(gpugraph.mst(matrix_, device="cpu")) == (
        "<Forest of csr_array: tree edges 3, total weight 12, components 2>"
    )
    paths = gpugraph.sssp(matrix_, 1, device="cpu")
    assert repr(paths) == "<Distances of csr_array: source 1, reached 3 of 5, farthest 8>"
    assert "vertices of the largest 3" in repr(gpugraph.components(matrix_, device="cpu"))
    assert repr(gpugraph.scan(np.arange(4), device="cpu")).endswith("elements 4, dtype int64, last 6>")
    with gpugraph.on(matrix_, device="cpu") as held:
        assert repr(held).startswith("<csr_array on cpu: vertices 5")
    assert "given back" in repr(held)


def test_a_notebook_shows_a_result_as_a_table_with_a_chart_and_nothing_in_it_is_taken_for_html():
    graph = networkx.Graph()
    graph.add_weighted_edges_from([("<b>", "y", 3), ("y", "z", 5)])
    shown = gpugraph.sssp(graph, "<b>", device="cpu")._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    assert "<svg" in shown
    assert "distances: 3 values from 0 to 8" in shown
    assert "<svg" not in gpugraph.mst(([0, 0], [], []), device="cpu")._repr_html_()
    for far in ([1e17, 1e17 + 16], [-1.7e308, 1.7e308]):
        assert "<svg" in gpugraph.mst(gpugraph.from_edges([0, 1], [1, 2], far), device="cpu")._repr_html_()


def test_dir_shows_the_public_names_and_nothing_else() -> None:
    shown = [name for name in dir(gpugraph) if not name.startswith("__")]
    assert shown == sorted(name for name in gpugraph.__all__ if not name.startswith("__"))
    assert all(hasattr(gpugraph, name) for name in shown)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: gpugraph.load("no-such-file.gr"), ValueError),
        (lambda: gpugraph.mst("path:4", device="cuda:97"), RuntimeError),
        (lambda: gpugraph.generate("path:2^39"), MemoryError),
    ],
)
def test_an_error_is_one_of_pythons_kinds_and_of_the_public_family(call, kind):
    with pytest.raises(gpugraph.GpuGraphError) as caught:
        call()
    assert isinstance(caught.value, kind)
    assert type(caught.value).__name__ in gpugraph.__all__
    assert caught.value.what in str(caught.value)


def test_an_error_inside_of_reading_keeps_its_words(tmp_path):
    with pytest.raises(ValueError, match=r"is a folder — name the graph file inside it"):
        gpugraph.load(tmp_path / "")
    (tmp_path / "a.graphml").write_text("<graphml><graph><node/></graph></graphml>")
    with pytest.raises(gpugraph.GraphFormatError) as caught:
        gpugraph.load(tmp_path / "a.graphml")
    assert "encoding" not in str(caught.value)


def test_every_public_class_has_its_name_in_the_package():
    for answer in (
        gpugraph.mst("path:4", device="cpu"),
        gpugraph.sssp("path:4", 0, device="cpu"),
        gpugraph.sssp("path:4", sources=[0, 1], device="cpu"),
        gpugraph.components("path:4", device="cpu"),
        gpugraph.scan(np.arange(4), device="cpu"),
        gpugraph.generate("path:4"),
        gpugraph.mst("path:4", device="cpu", time=True),
        gpugraph.verify("path:4", gpugraph.mst("path:4", device="cpu")),
        gpugraph.mst_many(["path:4"], device="cpu"),
    ):
        assert getattr(gpugraph, type(answer).__name__) is type(answer)


def test_algorithm_as_a_keyword_names_algo() -> None:
    with pytest.raises(gpugraph.InputError, match="write algo='kruskal'"):
        gpugraph.mst("grid:3x3", algorithm="kruskal")
