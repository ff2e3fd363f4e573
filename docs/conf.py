"""The site of the documentation: Sphinx, MyST and furo; `make docs` builds it.

The pages are those that GitHub and `gpugraph help` show.  Three are generated when the site is built, into
`docs/reference/`: the command line's from its own help, the Python interface's by autodoc, and the notebook's.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

import click  # noqa: E402
from docutils import nodes  # noqa: E402

import gpugraph  # noqa: E402
from gpugraph.cli.group import COMMANDS, cli  # noqa: E402
from gpugraph.cli.options import ALL  # noqa: E402

project = "gpugraph"
copyright = "the gpugraph founders"
version = release = gpugraph.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["*.j2"]
html_theme = "furo"
html_static_path = ["site"]
html_css_files = ["site.css"]
html_title = f"gpugraph {release}"
html_show_sourcelink = False
html_copy_source = False
myst_heading_anchors = 3
autodoc_typehints = "description"
autodoc_member_order = "bysource"
highlight_language = "none"


def setup(app: Any) -> None:
    """Write the generated pages before Sphinx looks for pages."""
    app.connect("doctree-resolved", fit_tables)
    app.connect("source-read", list_folder)
    out = DOCS / "reference"
    out.mkdir(exist_ok=True)
    for name, text in (("cli.md", command_line()), ("python.rst", python()), ("notebook.md", notebook())):
        page = out / name
        if not page.exists() or page.read_text("utf-8") != text:  # one that stays as it is need not be read again
            page.write_text(text, "utf-8")


def list_folder(_app: Any, page: str, source: list[str]) -> None:
    """List the other pages of a folder below its ``index``: decisions are one entry of the sidebar, logs are none."""
    if page == "performance/index":
        source[0] = f"---\norphan: true\n---\n{source[0]}"
    if page.endswith("/index"):
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"


def fit_tables(_app: Any, doctree: nodes.document, _page: str) -> None:
    """Let long words in tables break after a comma, and set tables of many columns smaller: none scrolls sideways."""
    for table in doctree.findall(nodes.table):
        columns = len(list(table.findall(nodes.colspec)))
        if columns > 7:
            table["classes"].append("many-columns" if columns < 13 else "too-many-columns")
        for text in list(table.findall(nodes.Text)):
            parts = re.split(r"(?<=[,=:/_])(?=\w)", text.astext())
            if len(parts) > 1 and max(len(word) for word in text.astext().split()) > 12:
                broken: list[nodes.Node] = [nodes.Text(parts[0])]
                for part in parts[1:]:
                    broken += [nodes.raw("", "<wbr>", format="html"), nodes.Text(part)]
                text.parent.replace(text, broken)


def command_line() -> str:
    """Return the page of the command line: the help of every command."""
    above = click.Context(cli, info_name="gpugraph", **cli.context_settings)
    parts = ["# Command line", "```text", cli.get_help(above), "```"]
    for name in COMMANDS:
        command = cli.get_command(above, name)
        assert command is not None
        context = click.Context(command, above, info_name=name, max_content_width=100)
        context.meta[ALL] = True
        parts += [f"\n## gpugraph {name}", "```text", command.get_help(context), "```"]
    return "\n".join(parts) + "\n"


def python() -> str:
    """Return the page of the Python interface: every name of ``gpugraph.__all__``, and what they return."""
    public = {name: getattr(gpugraph, name) for name in gpugraph.__all__ if name not in ("__version__", "csgraph")}
    functions = [name for name, thing in public.items() if not isinstance(thing, type)]
    classes = [f"{thing.__module__}.{name}" for name, thing in public.items() if isinstance(thing, type)]
    errors = [one for one in classes if one.startswith("gpugraph.base.errors.")]
    parts = [_titled("Python interface", "="), ".. automodule:: gpugraph", _titled("Functions", "-")]
    parts += [f".. autofunction:: gpugraph::{name}" for name in functions]
    parts.append(_titled("What they take and return", "-"))
    parts += [f".. autoclass:: {name}\n   :members:\n   :inherited-members:" for name in classes if name not in errors]
    parts += [_titled("Errors", "-"), *(f".. autoexception:: {name}" for name in errors)]
    parts += [_titled("In the place of SciPy", "-"), ".. automodule:: gpugraph.ext.csgraph\n   :members:"]
    return "\n\n".join(parts) + "\n"


def _titled(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}"


def notebook() -> str:
    """Return docs/notebook.ipynb as a page, with the outputs that are stored in it."""
    cells = json.loads((DOCS / "notebook.ipynb").read_text("utf-8"))["cells"]
    parts = []
    for cell in cells:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        for output in cell.get("outputs", []):
            data = output.get("data", {"text/plain": output.get("text", "")})
            drawn = data.get("image/svg+xml") or data.get("text/html")
            if drawn:
                flat = re.sub(r"\s*\n\s*", " ", "".join(drawn))
                parts.append(f'```{{raw}} html\n<div style="overflow-x:auto">{flat}</div>\n```')
            else:
                parts.append(f"```text\n{''.join(data['text/plain'])}\n```")
    return "\n\n".join(parts) + "\n"
