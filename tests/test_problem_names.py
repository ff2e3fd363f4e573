"""No room but ``problems`` knows one problem from another: what differs between them is asked of ``Problem``."""

from __future__ import annotations

import ast
from pathlib import Path

from gpugraph.problems.contract import PROBLEMS

PACKAGE = Path(__file__).resolve().parent.parent / "gpugraph"
ROOMS = ("bench", "cli", "devices", "graph", "measure", "records", "report", "ext/charts", "ext/engines", "ext/plugins")

OF_EACH = "ext/plugins/returned/"
"""A file for each problem, found by its name, as those in the problems' own folders."""

WORDS = {("ext/graph_files/figures.py", "components")}
"""(file, text): a property of a graph, or a field of a result, that is called as a problem is."""


def naming(file: Path) -> list[tuple[int, str]]:
    """Return (line, what) wherever a file names a problem: a text that is its name, or an import from its folder."""
    found = []
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and node.value in PROBLEMS:
            found.append((node.lineno, str(node.value)))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            room = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                module = f"{room}{alias.name}"
                if any(f"{module}.".startswith(f"{package}.") for package in PROBLEMS.values()):
                    found.append((node.lineno, module))
    return found


def test_only_the_folder_of_a_problem_and_the_registry_name_it() -> None:
    places = {file.relative_to(PACKAGE).as_posix(): file for room in ROOMS for file in (PACKAGE / room).rglob("*.py")}
    named = [
        f"{name}:{line}: {what}"
        for name, file in sorted(places.items())
        for line, what in naming(file)
        if (name, what) not in WORDS and not name.startswith(OF_EACH)
    ]
    assert not named, f"ask load_problem(name) instead: {', '.join(named)}"


def test_names_and_imports_are_found(tmp_path: Path) -> None:
    file = tmp_path / "example.py"
    lines = ["from gpugraph.problems import mst", "import gpugraph.ext.scan.array", "x = {'sssp': 'a scan of'}"]
    file.write_text("\n".join(lines))
    assert naming(file) == [(1, "gpugraph.problems.mst"), (2, "gpugraph.ext.scan.array"), (3, "sssp")]
