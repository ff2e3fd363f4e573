"""What works without packages that the base installation does not have, and what is said where one is missing."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import gpugraph
from gpugraph.base.errors import GraphFormatError, InputError, installable_here
from gpugraph.ext.formats.files import save_file
from gpugraph.ext.results.text import Texts, parse_numbers, write_csv
from gpugraph.graph.load import load_file
from gpugraph.graph.symmetrize import symmetrize
from tests.cli.runner import run, succeed
from tests.hostile.graphs import SUFFIXES, pack, samples
from tests.zoo import zoo

OPTIONAL = (
    "pyarrow",
    "networkx",
    "pooch",
    "vl_convert",
    "mpi4py",
    "submitit",
    "distributed",
    "isal",
    "pandas",
    "igraph",
)
"""Packages of the extras, and isal, which has a substitute."""


def hide(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """Make Python find none of these packages."""
    for name in [name for name in sys.modules if name.partition(".")[0] in packages]:
        monkeypatch.delitem(sys.modules, name)

    class Missing:
        def find_spec(self, name: str, *_: object) -> None:
            if name.partition(".")[0] in packages:
                raise ModuleNotFoundError(f"No module named '{name}'", name=name)

    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])


@pytest.fixture
def no_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "pyarrow")


def loaded(path: Path) -> tuple[object, ...] | str:
    """Return what is read of a file, or why it is refused."""
    try:
        graph = load_file(path)
    except InputError as error:
        return str(error)
    names = None if graph.vertex_names is None else graph.vertex_names.tolist()
    return graph.digest, names, graph.notes


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, object]:
    """Return a file of every format, of some in each compression, with what is read of it where nothing is missing."""
    folder, found = tmp_path_factory.mktemp("files"), {}
    for name, data in samples():
        for suffix in SUFFIXES if name in ("named.csv", "weighted.graph") else ("",):
            path = folder / f"{name}{suffix}"
            path.write_bytes(pack(data, suffix))
            found[path] = loaded(path)
    return found


def test_all_formats_of_the_base_installation_are_read_with_nothing_else(
    files: dict[Path, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, *OPTIONAL)
    assert {path.name for path, content in files.items() if loaded(path) != content} == NEEDS_ARROW


NEEDS_ARROW = {"columns.parquet", "packed.parquet"}


@pytest.mark.parametrize("package", OPTIONAL)
def test_a_package_that_is_missing_is_never_reported_as_damage(
    files: dict[Path, object], package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, package)
    others = {path: now for path, content in files.items() if (now := loaded(path)) != content}
    assert {path.name for path in others} == (NEEDS_ARROW if package == "pyarrow" else set())
    assert all(f"the Python package '{package}' is missing" in str(now) for now in others.values())


@pytest.mark.parametrize("package", ["pyarrow", "networkx", "isal"])
def test_graphs_and_results_are_written_and_verified_whatever_is_missing(
    tmp_path: Path, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, package)
    graph = tmp_path / "g.wel.zst"
    save_file(zoo("random"), graph)
    for problem, ending in (("mst", ".csv"), ("mst", ".mtx.zst"), ("sssp", ".csv.zst"), ("components", ".csv")):
        result = tmp_path / f"{problem}{ending}"
        more = ["--source", "0"] if problem == "sssp" else []
        succeed(problem, graph, "--undirected", "--device", "cpu", "--repeat", 1, *more, "-o", result)
        succeed("verify", graph, result, "--undirected")
    for text in ("u,v,weight\n0,1,x\n", "u,v,weight\n0,1\n", "u,v,weight\n1.5,1,1\n"):
        (tmp_path / "r.csv").write_text(text)
        outcome = run("verify", graph, tmp_path / "r.csv", "--undirected")
        assert outcome.code in (1, 2)
        assert "missing" not in outcome.err
        assert "Traceback" not in outcome.err


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python has zstd itself")
def test_a_package_that_gpugraph_needs_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a.el.zst").write_bytes(pack(b"0 1\n", ".zst"))
    hide(monkeypatch, "backports")
    with pytest.raises(InputError, match=r"the Python package 'backports\.zstd' is missing"):
        load_file(tmp_path / "a.el.zst")


@pytest.mark.usefixtures("no_arrow")
@pytest.mark.parametrize(
    "name", ["g.gr", "g.mtx", "g.wel", "g.csv", "g.gr.gz", "g.csr", "g.npz", "g.wsg", "g.egr", "g.adj"]
)
def test_common_formats_are_written_and_read_without_it(name: str, tmp_path: Path) -> None:
    graph = zoo("random")
    save_file(graph, tmp_path / name)
    again = symmetrize(load_file(tmp_path / name))
    assert (again.offsets == graph.offsets).all()
    assert (again.targets == graph.targets).all()
    assert (again.weights == graph.weights).all()


@pytest.mark.usefixtures("no_arrow")
def test_reals_are_written_so_that_they_are_read_as_they_were(tmp_path: Path) -> None:
    weights = np.array([0.1, 3.0, 1e16, -2.5, 123456789.125, 0.0])
    graph = gpugraph.load((np.array([0, 6, *[6] * 6]), np.arange(1, 7), weights), directed=True)
    save_file(graph, tmp_path / "g.wel")
    assert load_file(tmp_path / "g.wel").weights.tolist() == graph.weights.tolist()


def columns() -> dict[str, np.ndarray]:
    return {
        "name": np.array(["a", 'with "quotes"', "a,b"]),
        "distance": np.ma.array([0.5, 7.0, 3.0], mask=[False, False, True]),
        "count": np.array([1, 2**63, 3], np.uint64),
    }


def test_results_are_the_same_lines_with_and_without_it(request: pytest.FixtureRequest) -> None:
    with_it, without = io.BytesIO(), io.BytesIO()
    write_csv(columns(), with_it)
    request.getfixturevalue("no_arrow")
    write_csv(columns(), without)
    assert without.getvalue() == with_it.getvalue()


@pytest.mark.usefixtures("no_arrow")
def test_numbers_of_a_result_are_taken_exactly_or_refused_with_their_line(tmp_path: Path) -> None:
    texts = Texts(["0", "-7", "9223372036854775807"])
    assert parse_numbers(texts, np.int64, "r.csv").tolist() == [0, -7, 2**63 - 1]
    assert parse_numbers(Texts(["0.1", "inf", "3"]), np.float64, "r.csv").tolist() == [0.1, float("inf"), 3.0]
    for text, dtype in (
        ("0.5", "int64"),
        ("1_0", "int64"),
        ("0x1", "float64"),
        ("-1", "uint32"),
        ("2147483648", "int32"),
    ):
        with pytest.raises(GraphFormatError, match=f"r.csv line 3: '{text}' is no {dtype} number"):
            parse_numbers(Texts(["1", text]), dtype, "r.csv")


@pytest.mark.usefixtures("no_arrow")
def test_results_with_names_are_verified_without_it(tmp_path: Path) -> None:
    (tmp_path / "g.dot").write_text(
        'graph { "a,b" -- "say ""x" [weight=3]; "say ""x" -- c [weight=0.1] }'.replace('""', '\\"')
    )
    for words in (("mst",), ("sssp", "--source", "name:c", "--predecessors")):
        result = tmp_path / "r.csv"
        succeed(*words, tmp_path / "g.dot", "--device", "cpu", "--repeat", 1, "-o", result)
        succeed("verify", tmp_path / "g.dot", result)
        result.write_text(result.read_text().replace("a,b", "a;b"))
        assert run("verify", tmp_path / "g.dot", result).code == 1


@pytest.mark.usefixtures("no_arrow")
def test_what_needs_it_names_the_extra_that_installs_it(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=re.escape(installable_here("pip install 'gpugraph[tables]'"))):
        gpugraph.load(tmp_path / "t.parquet", columns="from,to,km")
    outcome = run("mst", tmp_path / "t.parquet", "--columns", "from,to,km", "--device", "cpu")
    assert outcome.code == 2
    assert installable_here("pip install 'gpugraph[tables]'") in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.usefixtures("no_arrow")
def test_a_run_and_its_result_need_none_of_it(tmp_path: Path) -> None:
    for name in ("f.csv", "f.npz", "f.mtx"):
        succeed("mst", "grid:8x8", "--device", "cpu", "--repeat", 1, "-o", tmp_path / name)
        assert (tmp_path / name).stat().st_size
        assert "passed" in succeed("verify", "grid:8x8", tmp_path / name).out
    (tmp_path / "n.csv").write_text('from,to,km\nann,bob,2.5\nbob,"c, d",1\n')
    for problem in ("mst", "sssp", "components"):
        succeed(problem, tmp_path / "n.csv", "--device", "cpu", "--repeat", 1, "-o", tmp_path / "r.csv")
        assert "passed" in succeed("verify", tmp_path / "n.csv", tmp_path / "r.csv").out
    text = (tmp_path / "r.csv").read_text()
    (tmp_path / "r.csv").write_text(text.replace("0,", "x,", 1))
    assert "line 2: 'x' is no int64 number" in run("verify", tmp_path / "n.csv", tmp_path / "r.csv").err
