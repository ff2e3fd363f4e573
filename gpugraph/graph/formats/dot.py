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

from gpugraph.errors import InputError, placed
from gpugraph.graph.build import ArcList
from gpugraph.graph.formats.base import Format, check_vertices
from gpugraph.graph.formats.input_file import Source
from gpugraph.graph.from_python import weights_by_name, weights_of

_GAP = rb"(?>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)*+"  # possessive: a long comment is not tried in every other division
_HEAD = re.compile(_GAP + rb'(?:strict\s+)?(?:di)?graph\b(?:\s+(?:"[^"]*"|[\w.-]+))?\s*\{', re.I | re.S | re.M)
_TOKEN = re.compile(
    r'(?P<gap>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<name>-?(?:\.\d+|\d+(?:\.\d*)?)|[^\W\d]\w*)'
    r"|(?P<mark>--|->|[{}\[\]=;,:])",
    re.S | re.M,
)


def read(source: Source) -> ArcList:
    """Read a graph; vertices are numbered in the ascending order of their names, which stay."""
    reader = _Reader(source)
    ends, attributes, names = reader.edges()
    whole = all(re.fullmatch(r"\d{1,18}", name) for name in names)
    ordered: list[Any] = sorted(names, key=int) if whole else sorted(names)
    number = {name: i for i, name in enumerate(ordered)}
    check_vertices(source, len(number))
    try:
        given = weights_by_name(lambda: attributes, source.weight)
        weights = weights_of([1] * len(ends) if given is None else given, lambda i: f"the weight of edge {i + 1}")
    except InputError as error:
        raise placed(error, source.path) from error
    columns = np.array([(number[u], number[v]) for u, v in ends], np.int64).reshape(-1, 2)
    called = np.array([int(name) for name in ordered], np.int64) if whole else np.array(ordered, str)
    plain = whole and np.array_equal(called, np.arange(len(called)))
    return ArcList(
        np.ascontiguousarray(columns[:, 0]),
        np.ascontiguousarray(columns[:, 1]),
        weights,
        len(number),
        directed=reader.directed,
        one_sided=not reader.directed,
        vertex_names=None if plain else called,
    )


class _Reader:
    """The tokens of a file, (kind, text, place), and where reading has come to."""

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

    def _name(self) -> str:
        kind, text, at = self._peek()
        if kind not in ("quoted", "name"):
            raise self._wrong(f"a name is expected, not '{text}'" if text else "ends before the graph does", at)
        return self._take()

    def _attributes(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self._is("["):
            self._take()
            while not self._is("]"):
                key = self._name()
                if self._is("="):
                    self._take()
                    found[key] = _value(self._name())
                while self._is(",", ";"):
                    self._take()
            self._take()
        return found

    def edges(self) -> tuple[list[tuple[str, str]], list[dict[str, Any]], dict[str, None]]:
        """Return the ends of each edge, its attributes, and the names of all vertices."""
        ends: list[tuple[str, str]] = []
        attributes: list[dict[str, Any]] = []
        names: dict[str, None] = {}
        defaults: list[dict[str, Any]] = [{}]
        if not self._is("{"):
            self._name()
        if not self._is("{"):
            raise self._wrong("a graph begins with graph { or digraph {", self._peek()[2])
        self._take()
        while True:
            kind, text, at = self._peek()
            if self._is(";", ","):
                self._take()
            elif self._is("{"):
                self._take()
                defaults.append(dict(defaults[-1]))
            elif self._is("}"):
                self._take()
                defaults.pop()
                if not defaults:
                    return ends, attributes, names
                if self._is("--", "->"):
                    raise self._wrong("an edge of a whole subgraph is not read", at)
            elif kind == "name" and text.lower() in ("graph", "node", "edge"):
                self._take()
                given = self._attributes()
                defaults[-1].update(given if text.lower() == "edge" else {})
            elif kind == "name" and text.lower() == "subgraph":
                self._take()
                if not self._is("{"):
                    self._name()
            else:
                chain = [self._vertex()]
                if self._is("="):
                    self._take()
                    self._name()
                    continue
                while self._is("--", "->"):
                    if (self._take() == "->") is not self.directed:
                        raise self._wrong(f"an edge of this graph is written {'->' if self.directed else '--'}", at)
                    chain.append(self._vertex())
                names.update(dict.fromkeys(chain))
                given = {**defaults[-1], **self._attributes()}
                ends += pairwise(chain)
                attributes += [given] * (len(chain) - 1)

    def _vertex(self) -> str:
        kind, text, at = self._peek()
        if self._is("{") or (kind == "name" and text.lower() == "subgraph"):
            raise self._wrong("an edge of a whole subgraph is not read", at)
        name = self._name()
        while self._is(":"):  # a port
            self._take()
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
