"""No room but ``problems`` knows one problem from another: what differs between them is asked of ``Problem``."""

from __future__ import annotations

import ast
from pathlib import Path

from gpugraph.problems.contract import PROBLEMS

PACKAGE = Path(__file__).resolve().parent.parent / "gpugraph"
ROOMS = ("bench", "cli", "devices", "emulator", "graph", "measure", "peers", "report")


def naming(file: Path) -> list[str]:
    """Return where a file names a problem, as ``line: what``: a text that is its name, or an import from its folder."""
    found = []
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and node.value in PROBLEMS:
            found.append(f"{node.lineno}: {node.value!r}")
        found += [
            f"{node.lineno}: import {module}"
            for module in modules
            if module.startswith(tuple(f"gpugraph.problems.{name}" for name in PROBLEMS))
            and module.split(".")[2] in PROBLEMS
        ]
    return found


def test_only_the_folder_of_a_problem_and_the_registry_name_it() -> None:
    files = [file for room in ROOMS for file in sorted((PACKAGE / room).rglob("*.py"))]
    named = {file.relative_to(PACKAGE).as_posix(): where for file in files if (where := naming(file))}
    assert not named, f"ask load_problem(name) instead: {named}"


def test_names_and_imports_are_found(tmp_path: Path) -> None:
    file = tmp_path / "example.py"
    file.write_text(
        "from gpugraph.problems import mst\nimport gpugraph.problems.scan.array\nx = {'sssp': 'a scan of'}\n"
    )
    assert [where.partition(":")[0] for where in naming(file)] == ["1", "2", "3"]
