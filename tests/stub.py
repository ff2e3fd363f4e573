"""``python -m tests.stub`` writes ``gpugraph/__init__.pyi``: the public names, and what a solver returns."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import gpugraph

PACKAGE = Path(gpugraph.__file__).parent
STUB = PACKAGE / "__init__.pyi"
CASES = {
    "sssp": [
        ({"source": "SupportsIndex | None = ...", "sources": "None = ..."}, "Distances"),
        ({"sources": "None = ..."}, "Distances | list[Distances]"),
        ({"source": "None = ...", "sources": "Any"}, "DistanceMatrix"),
    ]
}
"""Solver → the arguments, as a stub has them, that decide what a call returns which is not timed."""


def text() -> str:
    """Return the stub that the functions call for."""
    tree = ast.parse((PACKAGE / "ext" / "python" / "calls.py").read_text("utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    solvers = [node for node in functions if "time" in {arg.arg for arg in node.args.kwonlyargs}]
    returned = "\n".join(ast.unparse(node.returns) for node in solvers if node.returns)
    types = [
        f"from {node.module} import {alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in returned and alias.name not in gpugraph._HOME
    ]
    own = {node.name for node in solvers}
    names = [f"from {home} import {name} as {name}" for name, home in gpugraph._HOME.items() if name not in own]
    head = [
        "from typing import Any, Literal, SupportsIndex, overload",
        "",
        "from gpugraph import csgraph as csgraph",
        *names,
        *types,
    ]
    lines = ["# Made by python -m tests.stub; what each function does is said where it is.", "", *head, ""]
    lines += ["__version__: str", f"__all__ = {gpugraph.__all__!r}"]
    for node in solvers:
        plain = ast.unparse(node.returns).removesuffix(" | Measured") if node.returns else ""
        either = [({"time": "Literal[True]"}, "Measured"), ({"time": "bool"}, f"{plain} | Measured")]
        for given, result in [*CASES.get(node.name, [({}, plain)]), *either]:
            lines += ["@overload", _overload(node, given, result)]
    return "\n".join(lines) + "\n"


def _overload(node: ast.FunctionDef, given: dict[str, str], result: str) -> str:
    given = {"time": "Literal[False] = ...", **given}
    args, only = node.args.args, node.args.kwonlyargs
    plain = len(args) - len(node.args.defaults)

    def written(arg: ast.arg, default: bool) -> str:
        kind = ast.unparse(arg.annotation) if arg.annotation else "Any"
        return f"{arg.arg}: {given.get(arg.arg, kind + ' = ...' * default)}"

    parts = [written(arg, i >= plain) for i, arg in enumerate(args)]
    parts += ["*", *(written(arg, True) for arg in only), "**options: Any"]
    return f"def {node.name}({', '.join(parts)}) -> {result}: ..."


def formatted() -> str:
    """Return the stub as ruff writes it."""
    command = [sys.executable, "-m", "ruff", "--isolated"]
    sort = [*command, "check", "--select", "I", "--fix", "-q", "--stdin-filename", "__init__.pyi", "-"]
    made = subprocess.run(sort, input=text(), capture_output=True, text=True, check=True).stdout
    layout = [*command, "format", "--line-length", "120", "--stdin-filename", "__init__.pyi", "-"]
    return subprocess.run(layout, input=made, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    STUB.write_text(formatted(), "utf-8")
