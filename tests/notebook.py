"""Notebooks of docs/: run cell by cell, as a kernel would, and written with what they show.

``python -m tests.notebook docs/notebook.ipynb`` runs one anew and stores its outputs.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TEXT, HTML, SVG = "text/plain", "text/html", "image/svg+xml"


def outputs(code: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Run the code of a cell among the names of those before it; return its outputs as a notebook stores them."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())})
    if value is not None:
        data = {mime: text if isinstance(text, dict) else _lines(text) for mime, text in _shown(value).items()}
        found.append({"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data})
    return found


def _shown(value: Any) -> dict[str, Any]:
    if hasattr(value, "_repr_mimebundle_"):
        bundle: dict[str, Any] = value._repr_mimebundle_()
        return {mime: bundle[mime] for mime in (TEXT, SVG) if mime in bundle}
    html = {HTML: value._repr_html_()} if hasattr(value, "_repr_html_") else {}
    return {TEXT: repr(value), **html}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def executed(notebook: dict[str, Any]) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield each cell of code with its outputs."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            yield cell, outputs("".join(cell["source"]), names)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    content = json.loads(path.read_text("utf-8"))
    for cell, found in executed(content):
        cell["outputs"] = found
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")
