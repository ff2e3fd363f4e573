"""What works without pyarrow, which the base installation does not have."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

import gpugraph
from gpugraph.errors import InputError, installable_here
from gpugraph.graph.device_build import symmetrize
from gpugraph.graph.load import load_file, save_file
from gpugraph.problems.result_files import write_csv
from tests.cli.runner import run, succeed
from tests.zoo import zoo


@pytest.fixture
def no_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)

    class Missing:
        def find_spec(self, name: str, *_: object) -> None:
            if name.partition(".")[0] == "pyarrow":
                raise ModuleNotFoundError(f"No module named '{name}'", name=name)

    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])


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
def test_what_needs_it_names_the_extra_that_installs_it(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"pip install 'gpugraph\[tables\]'"):
        gpugraph.load(tmp_path / "t.parquet", columns="from,to,km")
    outcome = run("mst", tmp_path / "t.parquet", "--columns", "from,to,km", "--device", "cpu")
    assert outcome.code == 2
    assert installable_here("pip install 'gpugraph[tables]'") in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.usefixtures("no_arrow")
def test_a_run_and_its_result_need_none_of_it(tmp_path: Path) -> None:
    for name in ("f.csv", "f.npz"):
        succeed("mst", "grid:8x8", "--device", "cpu", "--repeat", 1, "-o", tmp_path / name)
        assert (tmp_path / name).stat().st_size
