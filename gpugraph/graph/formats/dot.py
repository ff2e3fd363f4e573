"""Graphviz ``.dot``: ``graph { a -- b [weight=2]; }`` undirected, ``digraph { a -> b; }`` directed.

Chains (``a -- b -- c``), defaults (``edge [weight=3]``), quoted names, ports, comments and subgraphs are read; an edge
to a whole subgraph is refused.  An edge without the attribute that weighs edges weighs 1.

Source: The DOT Language, https://graphviz.org/doc/info/lang.html.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np

from gpugraph.errors import InputError, errors_at
from gpugraph.graph.build import ArcList
from gpugraph.graph.formats.base import Format, check_vertices
from gpugraph.graph.formats.input_file import Source
from gpugraph.graph.from_python import weights_by_name

_GAP = rb"(?>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)*+"  # possessive: a long comment is not tried in every other division
_HEAD = re.compile(_GAP + rb'(?:strict\s+)?(?:di)?graph\b(?:\s+(?:"[^"]*"|[\w.-]+))?\s*\{', re.I | re.S | re.M)
_TOKEN = re.compile(
    r'(?P<gap>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<name>-?(?:\.\d+|\d+(?:\.\d*)?)|[^\W\d]\w*)'
    r"|(?P<mark>--|->|[{}\[\]=;,:])",
    re.S | re.M,
)


def read(source: Source) -> ArcList:
    """Read a graph; vertices are numbered in the ascending order of their names, which stay."""
    graph = _Reader(source)
    whole = all(re.fullmatch(r"\d{1,18}", name) for name in graph.names)
    ordered: list[Any] = sorted(graph.names, key=int) if whole else sorted(graph.names)
    number = {name: i for i, name in enumerate(ordered)}
    check_vertices(source, len(number))
    with errors_at(source.path):
        weights = weights_by_name(graph.attributes, source.weight, lambda i: f"the weight of edge {i + 1}")
    columns = np.array([(number[u], number[v]) for u, v in graph.ends], np.int64).reshape(-1, 2)
    called = np.array([int(name) for name in ordered], np.int64) if whole else np.array(ordered, str)
    plain = whole and np.array_equal(called, np.arange(len(called)))
    return ArcList(
        np.ascontiguousarray(columns[:, 0]),
        np.ascontiguousarray(columns[:, 1]),
        weights,
        len(number),
        directed=graph.directed,
        one_sided=not graph.directed,
        vertex_names=None if plain else called,
    )


class _Reader:
    """What a file says, read token by token, (kind, text, place).

    Attributes:
        directed: it begins with ``digraph``.
        names: of all vertices.
        ends: (tail, head) of each edge, by name.
        attributes: of each edge.
    """

    def __init__(self, source: Source):
        self._source, self._text = source, source.data.tobytes().decode("utf-8", "replace").removeprefix("\ufeff")
        self._tokens: list[tuple[str, str, int]] = []
        at = 0
        while at < len(self._text):
            found = _TOKEN.match(self._text, at)
            if found is None:
                raise self._wrong(f"'{self._text[at]}' is not understood", at)
            if found.lastgroup != "gap":
                kind = str(found.lastgroup)
                self._tokens.append((kind, re.sub(r"\\(.)", r"\1", found[kind], flags=re.S), at))
            at = found.end()
        self._at = 0
        kind = self._take().lower()
        self.directed = (self._take() if kind == "strict" else kind).lower() == "digraph"
        self.names: dict[str, None] = {}
        self.ends: list[tuple[str, str]] = []
        self.attributes: list[dict[str, Any]] = []
        self._defaults: list[dict[str, Any]] = [{}]  # of edges, by the depth of the subgraph
        if not self._is("{"):
            self._name()
        if not self._taken("{"):
            raise self._wrong("a graph begins with graph { or digraph {", self._peek()[2])
        while self._defaults:
            self._statement()

    def _wrong(self, what: str, at: int) -> InputError:
        return self._source.error(what, "mend that line", line=self._text.count("\n", 0, at) + 1)

    def _peek(self) -> tuple[str, str, int]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "", len(self._text))

    def _take(self) -> str:
        text = self._peek()[1]
        self._at += 1
        return text

    def _is(self, *marks: str) -> bool:
        kind, text, _ = self._peek()
        return kind == "mark" and text in marks

    def _taken(self, *marks: str) -> bool:
        """Take a mark if it is one of these; tell whether it was."""
        found = self._is(*marks)
        self._at += found
        return found

    def _name(self) -> str:
        kind, text, at = self._peek()
        if kind not in ("quoted", "name"):
            raise self._wrong(f"a name is expected, not '{text}'" if text else "ends before the graph does", at)
        return self._take()

    def _attributes(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self._taken("["):
            while not self._taken("]"):
                key = self._name()
                if self._taken("="):
                    found[key] = _value(self._name())
                while self._taken(",", ";"):
                    continue
        return found

    def _statement(self) -> None:
        kind, text, at = self._peek()
        word = text.lower() if kind == "name" else ""
        if self._taken(";", ","):
            return
        if self._taken("{"):
            self._defaults.append(dict(self._defaults[-1]))
        elif self._taken("}"):
            self._defaults.pop()
            if self._defaults and self._is("--", "->"):
                raise self._wrong("an edge of a whole subgraph is not read", at)
        elif word in ("graph", "node", "edge"):
            self._take()
            given = self._attributes()
            self._defaults[-1].update(given if word == "edge" else {})
        elif word == "subgraph":
            self._take()
            if not self._is("{"):
                self._name()
        else:
            self._edges(at)

    def _edges(self, at: int) -> None:
        """Read a vertex or a chain of edges that begins at a place, or a setting, ``name = value``."""
        chain = [self._vertex()]
        if self._taken("="):
            self._name()
            return
        while self._is("--", "->"):
            if (self._take() == "->") is not self.directed:
                raise self._wrong(f"an edge of this graph is written {'->' if self.directed else '--'}", at)
            chain.append(self._vertex())
        self.names.update(dict.fromkeys(chain))
        given = {**self._defaults[-1], **self._attributes()}
        self.ends += pairwise(chain)
        self.attributes += [given] * (len(chain) - 1)

    def _vertex(self) -> str:
        kind, text, at = self._peek()
        if self._is("{") or (kind == "name" and text.lower() == "subgraph"):
            raise self._wrong("an edge of a whole subgraph is not read", at)
        name = self._name()
        while self._taken(":"):  # a port
            self._name()
        return name


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


FORMAT = Format(
    name="dot",
    title="Graphviz .dot",
    extensions=(".dot", ".gv"),
    read=read,
    sniff=lambda head: _HEAD.match(head) is not None,
    ids="any",
)
