"""Graphviz ``.dot``: ``graph { a -- b [weight=2]; }`` undirected, ``digraph { a -> b; }`` directed.

Chains (``a -- b -- c``), defaults (``edge [weight=3]``), quoted names, texts in ``<…>``, ports, comments and subgraphs
are read; ``a -> {b c}`` is an edge to each vertex of the subgraph.  A second graph is refused.

Source: The DOT Language, https://graphviz.org/doc/info/lang.html.
"""

import re
from collections.abc import Collection, Iterator
from itertools import pairwise, product

from gpugraph.base.errors import InputError
from gpugraph.base.quantities import counted
from gpugraph.ext.formats.attributes import Edges, is_number, text_of
from gpugraph.ext.formats.base import Format
from gpugraph.graph.build import ArcList
from gpugraph.graph.input_file import Source

_GAP = rb"(?>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)*+"  # possessive: a long comment is not tried in every other division
_HEAD = re.compile(_GAP + rb'(?:strict\s+)?(?:di)?graph\b(?:\s+(?:"[^"]*"|[\w.-]+))?\s*\{', re.I | re.S | re.M)
_TOKEN = re.compile(
    r'(?P<gap>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<name>-?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][+-]?\d+)?|[^\W\d]\w*)'
    r"|(?P<mark>--|->|[{}\[\]=;,:])|(?P<html><)",
    re.S | re.M,
)
_ANGLE = re.compile("[<>]")
_ESCAPE = re.compile(r'\\(")|\\\r?\n')
_DEEPEST = 100
_EDGE_BYTES = 100
"""About the memory that an edge takes while it waits."""
_WAITING = 1 << 16
"""Edges that are collected before they are taken together."""


def read(source: Source) -> ArcList:
    """Read a graph; vertices are numbered in the ascending order of their names, which stay."""
    return _Reader(source).arcs()


class _Reader:
    """What a file says, read token by token, (kind, text, place).

    Attributes:
        directed: it begins with ``digraph``.
        edges: those so far.
    """

    def __init__(self, source: Source):
        self._source = source
        self._text, self._notes = text_of(source)
        self._tokens = self._lexed()
        self._next = next(self._tokens)
        kind = self._take().lower()
        self._strict = kind == "strict"
        self._known: dict[tuple[int, int], int] = {}  # of a strict graph, the place of each edge in the lists
        self._repeated = 0
        self.directed = (self._take() if self._strict else kind).lower() == "digraph"
        self.edges = Edges(source, lambda i: self._line(self._places[i]), directed=self.directed)
        self._places: list[int] = []  # of the edges that wait
        self._defaults: list[dict[str, str]] = [{}]  # of edges, by the depth of the subgraph
        self._members: list[dict[str, None]] = [{}]  # vertices, likewise
        self._subgraphs: dict[str, dict[str, None]] = {}
        if not self._is("{"):
            self._name()
        if not self._taken("{"):
            raise self._wrong("a graph begins with graph { or digraph {", self._peek()[2])
        self._body()
        if self._peek()[0] != "end":
            raise self._wrong("the file goes on behind the graph: one graph is read", self._peek()[2])

    def _lexed(self) -> Iterator[tuple[str, str, int]]:
        """Yield the tokens one by one, for a list of them takes a hundred times what the text does; last, the end."""
        at = ended = 0
        while at < len(self._text):
            found = _TOKEN.match(self._text, at)
            if found is None:
                raise self._wrong(f"'{self._text[at]}' is not understood", at)
            kind, end = str(found.lastgroup), found.end()
            if kind == "name":
                if 0 < at == ended:
                    raise self._wrong(f"a name goes on with '{self._text[at]}': such a name needs quotes", at)
                ended = end
            if kind == "html":
                end = self._end_of_html(at)
                yield "quoted", self._text[at:end], at
            elif kind != "gap":
                # Of all that a backslash stands before, only a quotation mark and a line end lose it.
                yield kind, _ESCAPE.sub(r"\1", found[kind]), at
            at = end
        yield "end", "", len(self._text)

    def arcs(self) -> ArcList:
        """Return all edges."""
        if self._repeated:
            repeated = counted(self._repeated, "repeated edge")
            self._notes.append(f"took {repeated} of a strict graph for one each, with the last attributes")
        return self.edges.arcs(
            self.edges.numbers, self._notes, f"it begins with {'digraph' if self.directed else 'graph'}"
        )

    def _end_of_html(self, at: int) -> int:
        """Return the place behind a text in angle brackets, which may hold more of them."""
        depth = 0
        for found in _ANGLE.finditer(self._text, at):
            depth += 1 if found[0] == "<" else -1
            if not depth:
                return found.end()
        raise self._wrong("a text in < > does not end", at)

    def _line(self, at: int) -> int:
        return self._text.count("\n", 0, at) + 1

    def _wrong(self, what: str, at: int) -> InputError:
        return self._source.error(what, "mend that line", line=self._line(at))

    def _peek(self) -> tuple[str, str, int]:
        return self._next

    def _take(self) -> str:
        text = self._next[1]
        self._next = next(self._tokens, self._next)
        return text

    def _is(self, *marks: str) -> bool:
        kind, text, _ = self._peek()
        return kind == "mark" and text in marks

    def _taken(self, *marks: str) -> bool:
        """Take a mark if it is one of these; tell whether it was."""
        if found := self._is(*marks):
            self._take()
        return found

    def _name(self) -> str:
        kind, text, at = self._peek()
        if kind not in ("quoted", "name"):
            raise self._wrong(f"a name is expected, not '{text}'" if text else "ends before the graph does", at)
        return self._take()

    def _attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self._taken("["):
            while not self._taken("]"):
                key = self._name()
                at = self._peek()[2]
                found[key] = self._name() if self._taken("=") else "true"
                if found[key] == "true" and is_number(key):
                    raise self._wrong(f"the number {key} is no attribute: decimals have a point", at)
                while self._taken(",", ";"):
                    continue
        return found

    def _body(self) -> dict[str, None]:
        """Read the statements up to the closing brace; return the vertices that they name."""
        if len(self._members) > _DEEPEST:
            raise self._wrong(f"has more than {_DEEPEST} subgraphs inside of each other", self._peek()[2])
        self._defaults.append(dict(self._defaults[-1]))
        self._members.append({})
        while not self._taken("}"):
            self._statement()
        self._defaults.pop()
        members = self._members.pop()
        self._members[-1].update(members)
        return members

    def _statement(self) -> None:
        kind, text, at = self._peek()
        word = text.lower() if kind == "name" else ""
        if self._taken(";", ","):
            return
        if word in ("graph", "node", "edge"):
            self._take()
            given = self._attributes()
            self._defaults[-1].update(given if word == "edge" else {})
        else:
            self._edges(at)

    def _edges(self, at: int) -> None:
        """Read a vertex or a chain of edges that begins at a place, or a setting, ``name = value``."""
        is_name = self._peek()[0] in ("quoted", "name")
        first = self._vertices()
        if is_name and self._taken("="):
            self._name()
            return
        chain = [self._numbered(first)]
        while self._is("--", "->"):
            if (self._take() == "->") is not self.directed:
                raise self._wrong(f"an edge of this graph is written {'->' if self.directed else '--'}", at)
            chain.append(self._numbered(self._vertices()))
        edges, own = self.edges, self._attributes()
        given = {**self._defaults[-1], **own}
        sizes = (1 if isinstance(end, int) else len(end) for end in chain)
        self._source.require(_EDGE_BYTES * sum(a * b for a, b in pairwise(sizes)))
        ends = ([end] if isinstance(end, int) else end for end in chain)
        for pair in (pair for groups in pairwise(ends) for pair in product(*groups)):
            if self._strict and self._is_repeated(*pair, own):
                continue
            edges.tails.append(pair[0])
            edges.heads.append(pair[1])
            edges.texts.append(given.get(edges.attribute))
            self._places.append(at)
            if len(edges.tails) > _WAITING and not self._strict:
                del self._places[: edges.flush()]
        if len(chain) > 1 and edges.attribute not in given:
            edges.numeric.update(dict.fromkeys(name for name, text in given.items() if is_number(text)))

    def _numbered(self, names: Collection[str]) -> int | list[int]:
        """Return the numbers of vertices, of which the subgraph now has these; a bare one is a bare number."""
        numbers = [self.edges.numbers.setdefault(name, len(self.edges.numbers)) for name in names]
        self._members[-1].update(dict.fromkeys(names))
        return numbers[0] if len(numbers) == 1 else numbers

    def _is_repeated(self, tail: int, head: int, own: dict[str, str]) -> bool:
        """Tell whether a strict graph has an edge already; it then takes the attributes that are given again."""
        edges, pair = self.edges, (tail, head) if self.directed else (min(tail, head), max(tail, head))
        place = self._known.setdefault(pair, len(edges.tails))
        if place == len(edges.tails):
            return False
        self._repeated += 1
        edges.texts[place] = own.get(edges.attribute, edges.texts[place])
        return True

    def _vertices(self) -> Collection[str]:
        """Take an end of edges: a vertex, or a subgraph, given here or by its name, which means each vertex of it."""
        kind, text, _ = self._peek()
        called = ""
        if kind == "name" and text.lower() == "subgraph":
            self._take()
            called = "" if self._is("{") else self._name()
            if not self._is("{"):
                return self._subgraphs.get(called, {})
        if self._taken("{"):
            members = self._body()
            self._subgraphs.setdefault(called, {}).update(members if called else {})
            return members
        name = self._name()
        while self._taken(":"):  # a port
            self._name()
        return [name]


FORMAT = Format(
    name="dot",
    title="Graphviz .dot",
    extensions=(".dot", ".gv"),
    read=read,
    named="attributes",
    hint=rb"(?i)graph",
    sniff=lambda head: _HEAD.match(head) is not None,
    ids="any",
)
