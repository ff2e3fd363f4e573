"""NetworkX's and SciPy's own tests pass on gpugraph, none of them skipped over for its sake."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.tiers import extended

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return an environment in which pyproject.toml's entry points are found, whatever is installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    place = tmp_path_factory.mktemp("installed")
    about = place / "gpugraph-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: gpugraph\nVersion: 0.1.0\n")
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {where}\n" for name, where in points.items())
        for group, points in project["entry-points"].items()
    )
    (about / "entry_points.txt").write_text("\n".join(groups))
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(place), str(ROOT)))}


def run_pytest(environment: dict[str, str], folder: Path, *arguments: str) -> str:
    quick = ("--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest")
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, *quick, *arguments]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    return done.stdout


@extended
def test_networkx_s_tests_of_trees_paths_and_components_pass_and_run_here(environment, tmp_path):
    environment = {**environment, "NETWORKX_TEST_BACKEND": "gpugraph", "NETWORKX_FALLBACK_TO_NX": "True"}
    folders = ("tree.tests.test_mst", "shortest_paths", "components")
    packages = [f"networkx.algorithms.{folder}" for folder in folders]
    told = run_pytest(environment, tmp_path, "-p", "tests.adapters.networkx_calls", "--pyargs", *packages)
    assert "failed" not in told
    assert "xfailed" not in told
    counts = {file: (int(ran), int(of)) for file, ran, of in re.findall(r"(\S+): (\d+) of (\d+) calls ran", told)}
    assert counts.keys() == {"test_mst.py", "test_weighted.py"}
    for ran, of in counts.values():
        assert of > 40
        assert ran >= 0.9 * of, told


@extended
def test_scipy_s_tests_of_trees_paths_and_components_pass(environment, tmp_path):
    files = ("shortest_path", "spanning_tree", "connected_components")
    modules = [f"scipy.sparse.csgraph.tests.test_{file}" for file in files]
    told = run_pytest(environment, tmp_path, "-p", "tests.adapters.in_scipys_place", "--pyargs", *modules)
    assert "failed" not in told
    called = dict(re.findall(r"(\w+) (\d+)", told.split("calls of gpugraph.csgraph: ")[1].splitlines()[0]))
    assert called.keys() == {"connected_components", "dijkstra", "minimum_spanning_tree", "shortest_path"}


def test_networkx_finds_the_backend_and_says_why_it_leaves_a_call(environment, tmp_path):
    program = """
import logging, io, networkx as nx
text = io.StringIO()
logging.getLogger("networkx").addHandler(logging.StreamHandler(text))
logging.getLogger("networkx").setLevel(logging.DEBUG)
G = nx.Graph()
G.add_edge("a", "b", weight=2.5, colour="red")
tree = nx.minimum_spanning_tree(G, backend="gpugraph")
assert type(tree) is nx.Graph and tree["a"]["b"] == {"weight": 2.5, "colour": "red"}
import gpugraph
assert gpugraph.last_call().function == "networkx.minimum_spanning_tree"
assert nx.config.backends.gpugraph.device == "auto"
with nx.config(backend_priority=["gpugraph"]):
    nx.minimum_spanning_tree(nx.path_graph(5))
assert "4 edges: NetworkX takes about" in text.getvalue(), text.getvalue()
G.add_edge("b", "c", weight=None)
try:
    nx.minimum_spanning_tree(G, backend="gpugraph")
except NotImplementedError:
    assert "an edge's weight is a NoneType" in text.getvalue(), text.getvalue()
else:
    raise AssertionError("None is no weight")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


def test_networkx_learns_of_the_backend_without_loading_it(environment, tmp_path):
    program = "import sys; from gpugraph.ext.networkx.info import get_info; get_info(); " + (
        "print([name for name in ('networkx', 'numpy', 'numba') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
