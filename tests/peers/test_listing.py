"""``gpugraph algos --peers`` lists what can be run and how to install the rest."""

from __future__ import annotations

import json

from gpugraph.ext.peers import LIBRARIES
from gpugraph.ext.peers.adapter import peered_problems
from tests.cli.runner import succeed


def test_every_library_is_listed_with_its_version_or_the_way_to_get_it() -> None:
    listed = {peer["name"]: peer for peer in json.loads(succeed("algos", "--peers", "--format", "json").out)}
    assert set(listed) == {f"peer:{name}" for name in LIBRARIES}
    shown = succeed("algos", "--peers").out
    for name in LIBRARIES:
        peer = listed[f"peer:{name}"]
        assert peer["version"] == LIBRARIES[name].version()
        assert (peer["version"] or peer["install"].split()[0]) in shown
        assert f"peer:{name}" in shown


def test_the_list_is_a_table_in_markdown() -> None:
    lines = succeed("algos", "--peers", "--format", "markdown", "--problem", "mst").out.splitlines()
    assert len(lines) == 2 + sum("mst" in peer.adapters for peer in LIBRARIES.values())
    assert all(line.startswith("| ") for line in lines)
    assert "connected_components" not in "".join(lines), "what is called for another problem"


def test_listing_imports_no_library() -> None:
    import subprocess
    import sys
    from pathlib import Path

    program = """
import sys
from gpugraph.ext.peers import describe_peers
describe_peers()
print(sorted({'networkx', 'igraph', 'networkit', 'rustworkx', 'pylibcugraph'} & set(sys.modules)))
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3]
    )
    assert ran.stdout.strip() == "[]"


def test_problems_are_solved_by_libraries_that_are_known_and_by_each_of_those() -> None:
    solved = {name for problem in peered_problems().values() for name in problem.peers}
    assert solved == LIBRARIES.keys()
