"""NetworkX's list of edges with attributes, as ``write_edgelist`` writes it: ``u v {'weight': 3}``."""

import ast
import re
import warnings
from typing import Any

from gpugraph.ext.formats.attributes import Edges, is_number
from gpugraph.ext.formats.base import Format
from gpugraph.ext.formats.text.list_head import declared, statement
from gpugraph.graph.build import ArcList
from gpugraph.graph.input_file import Source

_LINE = re.compile(rb"([^\s\0]+)[ \t]+([^\s\0]+)[ \t]+(\{.*\})\s*")
_NAMED: dict[str, Any] = {"inf": float("inf"), "nan": float("nan"), "True_": True, "False_": False}
_BETWEEN = 1 << 16
"""Lines that wait before their edges are taken."""


def read(source: Source) -> ArcList:
    """Read the list; vertices are numbered in the ascending order of their ids."""
    waiting: list[int] = []
    edges = Edges(source, waiting.__getitem__)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a backslash that escapes nothing is read as itself
        for first, block in source.blocks():
            for line, row in enumerate(block.split(b"\n"), first):
                bare = row.strip()
                if bare and bare[:1] != b"#" and (bare[:1] != b"%" or _LINE.fullmatch(bare)):
                    _take(edges, source, bare, line)
                    waiting.append(line)
                    if len(waiting) == _BETWEEN:
                        edges.flush()
                        waiting.clear()
        edges.flush()
    return declared(edges.arcs(edges.numbers), statement(source))


def _take(edges: Edges, source: Source, bare: bytes, line: int) -> None:
    """Take one line."""
    found = _LINE.fullmatch(bare)
    if found is None:
        raise source.error("is no edge of the form u v {'weight': 3}", "mend that line", line=line)
    try:
        tail, head, text = (part.decode() for part in found.groups())
    except UnicodeDecodeError:
        raise source.error("is not UTF-8 text", "save it in UTF-8", line=line) from None
    try:
        try:
            attributes: Any = ast.literal_eval(text)
        except ValueError:
            attributes = ast.literal_eval(_Printed().visit(ast.parse(text, mode="eval")))
        if not isinstance(attributes, dict):
            raise ValueError
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise source.error(f"'{text[:50]}' are no attributes", "mend that line", line=line) from None
    weight = attributes.get(edges.attribute)
    edges.tails.append(edges.numbers.setdefault(tail, len(edges.numbers)))
    edges.heads.append(edges.numbers.setdefault(head, len(edges.numbers)))
    edges.texts.append(None if edges.attribute not in attributes else str(weight))
    for name, value in attributes.items() if weight is None else ():
        if not isinstance(value, bool) and is_number(str(value)):
            edges.numeric[str(name)] = None


class _Printed(ast.NodeTransformer):
    """Puts values in place of what Python and NumPy 2 print for them: ``inf``, ``np.True_``, ``np.float64(0.5)``."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(_NAMED[node.id]) if node.id in _NAMED else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        is_known = isinstance(node.value, ast.Name) and node.value.id == "np" and node.attr in _NAMED
        return ast.Constant(_NAMED[node.attr]) if is_known else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.value if isinstance(node.func, ast.Attribute) else None
        if isinstance(name, ast.Name) and name.id == "np" and len(node.args) == 1 and not node.keywords:
            return self.visit(node.args[0])  # type: ignore[no-any-return]
        return node


def _has_attributes(head: bytes) -> bool:
    """Tell whether the first line that is no comment reads ``u v {...}``."""
    line = next((line for line in head.split(b"\n") if line[:1] not in (b"#", b"%")), b"")
    ends, brace, rest = line.partition(b"{")
    first = re.match(rb"[^#%\x00-\x08][^ \t\x00-\x08]*[ \t]", ends)
    return bool(brace and first and not re.search(rb"[\x00-\x08]", ends) and rest.rstrip(b" \t\r").endswith(b"}"))


FORMAT = Format(
    name="networkx",
    title="NetworkX's edge list with attributes",
    extensions=(),
    read=read,
    named="attributes",
    ids="any",
    hint=rb"\{",
    sniff=_has_attributes,
)
