"""What a record says of the code that ran."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import types
from dataclasses import replace
from pathlib import Path

import pytest

from gpugraph.base import code_cache
from gpugraph.measure import environment as module
from gpugraph.measure import provenance as provenance_module
from gpugraph.measure.cell import Cell
from gpugraph.measure.provenance import provenance, sources_digest
from gpugraph.measure.run_cell import run_cell
from gpugraph.problems.registry import algorithms, find_algorithm


def test_a_record_names_commit_and_sources_of_the_algorithm_and_the_load_of_the_machine():
    data = run_cell(Cell("mst", "path:9", "kruskal", "cpu", repeat=1)).data
    known = data["provenance"]
    assert known.keys() == {"commit", "clean", "sources_sha256"}
    assert len(known["sources_sha256"]) == 64
    assert known["sources_sha256"] == sources_digest(find_algorithm("mst", "kruskal", "cpu"))
    assert len(data["sampling"]["load"]) == 2


def test_algorithms_of_other_sources_have_other_digests_and_a_peer_has_none():
    algorithms = [find_algorithm("mst", name, kind) for name in ("boruvka", "prim") for kind in ("cpu", "cuda")]
    assert len({sources_digest(one) for one in algorithms}) == 4
    assert provenance(replace(algorithms[0], name="peer:igraph"))["sources_sha256"] is None


def test_the_digest_covers_the_kernels_and_not_the_comments(monkeypatch):
    boruvka = find_algorithm("mst", "boruvka", "cuda")
    parts, files = provenance_module._parts(frozenset(["gpugraph.ext.papers.mst.gpu_boruvka"]))
    assert any(name.endswith("boruvka.cu") for name in parts)
    assert {"boruvka.cu", "common.cuh", "gpu_boruvka.py"} <= {file.name for file in files}
    assert not any("race-allowed" in part for part in parts.values())
    assert sources_digest(boruvka) is not None


def test_the_digest_is_the_same_on_every_version_of_python():
    """Nothing of Python's own library is digested, nor the empty texts that Python 3.12.0 ends some f-strings in."""
    for one in algorithms():
        steps = (one.prepare, one.run, one.fetch, one.finish, one.compile)
        names = set[str]().union(*map(provenance_module.modules_of, steps))
        assert names
        assert not {name.partition(".")[0] for name in names} & sys.stdlib_module_names, one.name
    tree = ast.parse("f'{x:>{w}}'")
    plain = str(provenance_module._plain(tree))
    text = next(node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) and len(node.values) == 2)
    text.values.append(ast.Constant(""))
    assert str(provenance_module._plain(tree)) == plain
    text.values.append(ast.Constant("x"))
    assert str(provenance_module._plain(tree)) != plain


def test_a_module_of_a_users_own_counts_though_one_of_python_has_its_name(monkeypatch, tmp_path: Path):
    for name in ("graphlib", "queue"):
        module = types.ModuleType(name)
        module.__file__ = str(tmp_path / f"{name}.py")
        exec("def driver(): pass", vars(module))
        monkeypatch.setitem(sys.modules, name, module)
        assert provenance_module.modules_of(module.driver) == {name}
    assert provenance_module.modules_of(shutil.copy) == set()


@pytest.mark.parametrize(
    ("change", "same"), [("# a comment\n", True), ("\n\n\n", True), ("import os\n", True), ("NEW = 1\n", False)]
)
def test_only_a_change_of_the_code_changes_the_digest(tmp_path, monkeypatch, change, same):
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    driver = tmp_path / "driver.py"
    driver.write_text('"""Text."""\n\n\ndef run():\n    """Return one."""\n    return 1\n')

    def digest() -> str | None:
        provenance_module._digest.cache_clear()
        monkeypatch.setitem(provenance_module.sys.modules, "a_driver", type("M", (), {"__file__": str(driver)}))
        return provenance_module._digest(frozenset(["a_driver"]))

    said: list[str] = []
    with code_cache.reporting_compilations_to(said.append):
        before = digest()
    assert said == []  # a digest is not compiled
    driver.write_text(driver.read_text().replace("Return one", "Return 1") + change)
    assert (digest() == before) is same
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)
    assert Path(driver).exists()


def test_saved_records_leave_a_checkout_clean_and_any_other_file_does_not(tmp_path, monkeypatch, request):
    request.addfinalizer(module.git_commit.cache_clear)

    def git(*words: str) -> str:
        mine = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c"]
        return subprocess.run([*mine, *words], capture_output=True, text=True, timeout=300, check=True).stdout

    def asked() -> str | None:
        module.git_commit.cache_clear()
        return module.git_commit()

    git("init", "-q")
    source, records = tmp_path / "gpugraph" / "measure" / "provenance.py", tmp_path / "first \u00fcber run.jsonl"
    source.parent.mkdir(parents=True)
    source.write_text("A = 1\n")
    monkeypatch.setattr(module, "__file__", str(source))
    assert asked() is None
    git("add", ".")
    git("commit", "-q", "-m", "one")
    commit = git("rev-parse", "HEAD")[:12]
    records.write_text("{}\n")
    assert asked() == commit
    (tmp_path / "numpy.py").write_text("")
    assert asked() == commit + "+"
    (tmp_path / "numpy.py").unlink()
    git("add", records.name)
    assert asked() == commit + "+"
    git("reset", "-q")
    source.write_text("A = 2\n")
    assert asked() == commit + "+"


def test_the_digest_does_not_depend_on_what_else_is_loaded(tmp_path: Path) -> None:
    program = """
import sys
from gpugraph.measure.provenance import sources_digest
from gpugraph.problems.registry import algorithms, find_algorithm
if sys.argv[1] == "all":
    algorithms()
print(sources_digest(find_algorithm("sssp", "delta-stepping", "cuda")))
"""
    found = [
        subprocess.run(
            [sys.executable, "-c", program, loaded],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "GPUGRAPH_CACHE_DIR": str(tmp_path / loaded)},
        ).stdout
        for loaded in ("one", "all")
    ]
    assert len(found[0].strip()) == 64
    assert found[0] == found[1]
