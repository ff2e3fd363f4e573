"""GML: ``graph [ directed 1 node [ id 1 label "a" ] node [ id 2 ] edge [ source 1 target 2 weight 0.5 ] ]``.

Vertices go by their labels (igraph's ``name``) where each has one of its own, else by their ids.  Parallel edges are
read with and without ``multigraph 1``, weights also as text, and keywords also in capitals.  Text is UTF-8, else
Latin-1, with entities.

Source: Himsolt 1997, GML: A portable Graph File Format, University of Passau.
"""

import html
import itertools
import re

from gpugraph.base.errors import GraphFormatError
from gpugraph.base.quantities import counted
from gpugraph.ext.formats.attributes import Edges, is_number, text_of
from gpugraph.ext.formats.base import Format
from gpugraph.graph.build import ArcList
from gpugraph.graph.input_file import Source

_STRING = r'"[^"]*+"'
_WORD = r'[^\s\[\]"]+'
_BODY = rf'\s*+\[[^\[\]"#]*+(?:{_STRING}[^\[\]"#]*+)*+\]'
_TOKEN = re.compile(
    rf'(?m:^[ \t]*\#[^\n]*)|\b(?:edge{_BODY}\s*+)++|\b(?:node{_BODY}\s*+)++|{_STRING}|[\[\]]|{_WORD}|"', re.ASCII
)
"""A comment, a run of whole edges or vertices without lists inside, a text, a bracket, a word, an unending text."""
_RECORD = re.compile(rf"(?:node|edge){_BODY}", re.ASCII)
_PART = re.compile(rf"{_STRING}|{_WORD}")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_HEAD = re.compile(rb"(?:\s|#[^\n]*\n|[A-Za-z]\w*\s+(?:\"[^\"]*\"|[\d.]+)\s)*+(?i:graph)\s*\[")
_CAPITALS = re.compile(rf"(?m:^[ \t]*\#[^\n]*)|{_STRING}|\b((?:graph|node|edge)\s*+\[)", re.ASCII | re.IGNORECASE)
_WINDOW = 1 << 20
_NAMES = ("label", "name")
"""Attributes that name vertices, the first that does."""
_DEEPEST = 500
_SAMPLES = 100
"""Edges that are looked at to tell which other attributes are numbers."""
_LONG_RUN = 1 << 14
"""Letters of edges from which they are taken together."""


def read(source: Source) -> ArcList:
    """Read a graph; vertices are numbered in the ascending order of their names."""
    return _Reader(source).read()


class _Reader:
    """One reading.

    Attributes:
        lists: the keys of the lists that are open.
        ids: of the vertices, in the order of their numbers.
        called: what each vertex is called, by the attribute that does.
    """

    def __init__(self, source: Source):
        self.source = source
        self.text, self.notes = text_of(source)
        if any(word in self.text for key in ("graph", "node", "edge") for word in (key.title(), key.upper())):
            self.text = _CAPITALS.sub(lambda found: found[0].lower() if found[1] else found[0], self.text)
        self.edges = Edges(source, lambda i: self._line(*(self._at[i] if self._at else (self._run, i))))
        self.lists: list[str] = []
        self.called: dict[str, dict[str, str]] = {name: {} for name in _NAMES}
        self._key = ""
        self._record: dict[str, str] = {}
        self._known: set[str] = set()
        self._start = 0  # of the window
        self._at: list[tuple[int, int]] = []  # of each edge that waits, its token there and its place in that
        self._run = 0  # the token whose edges all wait
        self._graphs = self._others = 0
        self._directed = ""

    def _line(self, token: int, record: int = 0, start: int | None = None) -> int:
        """Return the line of a token by its position in a window, or of a record in that token."""
        found = next(itertools.islice(_TOKEN.finditer(self.text, self._start if start is None else start), token, None))
        inner = next(itertools.islice(_RECORD.finditer(found[0]), record, None), None)
        return self.text.count("\n", 0, found.start() + (inner.start() if inner else 0)) + 1

    def _wrong(self, what: str, token: int, record: int = 0, *, remedy: str = "mend that line") -> GraphFormatError:
        return self.source.error(what, remedy, line=self._line(token, record))

    def read(self) -> ArcList:
        """Read everything."""
        text, size = self.text, _WINDOW
        while self._start < len(text):
            stop = text.find("\n", self._start + size) + 1 or len(text)
            tokens = _TOKEN.findall(text, self._start, stop)
            if '"' in tokens:  # a text goes on behind the window
                if stop == len(text):
                    raise self._wrong("a text in quotes does not end", tokens.index('"'))
                size *= 2
                continue
            self._take(tokens)
            self._flush()
            self._start, size = stop, _WINDOW
        return self._arcs()

    def _arcs(self) -> ArcList:
        edges = self.edges
        if self.lists or self._key:
            raise self.source.error("ends before its graph does", "fetch the file again, or close its lists with ]")
        if not self._graphs:
            raise self.source.error("holds no graph [ … ]", "write a graph into it, or fetch the file again")
        if edges.unknown:
            name, place = next(iter(edges.unknown.items()))
            raise self.source.error(f"an edge ends at {name}, which is no node", "declare it", line=self._line(*place))
        if self._others:
            self.notes.append(f"passed over {counted(self._others, 'element')} outside of the graph, nodes or edges")
        edges.directed = self._directed == "1"
        why = f"it says 'directed {self._directed}'" if self._directed else "it does not say 'directed 1'"
        return edges.arcs(self._names(), self.notes, why)

    def _names(self) -> list[str]:
        """Return what the vertices are called: by an attribute that names each differently, else their ids."""
        ids = self.edges.numbers
        for called in self.called.values():
            if len(called) == len(ids) and len(set(called.values())) == len(ids) and all(called.values()):
                return [called[one] for one in ids]
        if given := [name for name, called in self.called.items() if called]:
            self.notes.append(f"vertices go by their ids: not each has a {given[0]} of its own")
        return list(ids)

    def _flush(self) -> None:
        self.edges.flush()
        self._at.clear()

    def _take(self, tokens: list[str]) -> None:
        """Take the tokens of a window."""
        for i, token in enumerate(tokens):
            if token[0] in "en" and "[" in token:
                if self._key:
                    raise self._wrong(f"{self._key} has no value", i)
                if self.lists != ["graph"]:
                    self._others += 0 if self.lists else len(_RECORD.findall(token))
                elif len(token) < _LONG_RUN or not (self._nodes(token) if token[0] == "n" else self._edges(token, i)):
                    self._records(token, i)
            elif token.lstrip(" \t")[:1] != "#" or self._key:
                self._word(token, i)

    def _columns(self, token: str) -> dict[str, list[str]]:
        """Return the values in a run of vertices or edges by name; none unless all have the same, in the same order."""
        parts = _PART.findall(token) if '"' in token else token.replace("[", " ").replace("]", " ").split()
        period = parts.index(parts[0], 1) if parts[0] in parts[1:50] else 0
        number = len(parts) // max(period, 1)
        keys = parts[1:period:2]
        if not period % 2 or number * period != len(parts) or len(set(keys)) < len(keys):
            return {}
        if any(parts[at::period].count(parts[at]) < number for at in (0, *range(1, period, 2))):
            return {}
        alike = all(map(_NAME.fullmatch, keys))
        return {key: parts[2 + 2 * at :: period] for at, key in enumerate(keys)} if alike else {}

    def _nodes(self, token: str) -> bool:
        """Take a run of vertices that all have the same attributes; tell whether they have, and ids of their own."""
        columns, numbers = self._columns(token), self.edges.numbers
        ids = columns.get("id", [])
        plain = "".join(ids)
        if not plain.isascii() or not plain.isdigit() or any(one[0] == "0" != one for one in ids):
            return False
        if self.edges.unknown or len(set(ids)) < len(ids) or not numbers.keys().isdisjoint(ids):
            return False
        numbers.update(zip(ids, range(len(numbers), len(numbers) + len(ids)), strict=True))
        for attribute, called in self.called.items():
            if attribute in columns:
                called.update(zip(ids, map(_unquoted, columns[attribute]), strict=True))
        return True

    def _edges(self, token: str, i: int) -> bool:
        """Take a run of edges that all have the same attributes, in the same order; tell whether they have."""
        edges, columns = self.edges, self._columns(token)
        try:
            tails, heads = ([*map(edges.numbers.__getitem__, columns[end])] for end in ("source", "target"))
        except KeyError:  # an end is missing, or its vertex follows
            return False
        self._flush()
        self._run = i
        texts: list[str] | list[None] = columns.get(edges.attribute, [None] * len(tails))
        edges.tails += tails
        edges.heads += heads
        edges.texts += [text.strip('"') for text in texts] if texts[0] is not None else texts
        if not edges.columns.count:
            self._look({key: column[0] for key, column in columns.items()})
        self._flush()
        return True

    def _records(self, token: str, i: int) -> None:
        """Take a run of vertices or edges one by one."""
        take = self._node if token[0] == "n" else self._edge
        for place, found in enumerate(_RECORD.findall(token)):
            body = found[found.index("[") + 1 : -1]
            parts = _PART.findall(body) if '"' in body else body.split()
            record = dict(zip(parts[::2], parts[1::2], strict=False))
            if not record.keys() <= self._known or 2 * len(record) != len(parts):
                self._check(record, parts, i, place)
            take(record, i, place)

    def _check(self, record: dict[str, str], parts: list[str], token: int, place: int) -> None:
        """Refuse keys that are none, or have no value, or two where one is needed."""
        if odd := [key for key in record if not _NAME.fullmatch(key)]:
            raise self._wrong(f"a name is expected, not {odd[0][:32]}", token, place)
        if len(parts) % 2:
            raise self._wrong(f"{parts[-1]} has no value", token, place)
        keys = [key if key.lower() in record else key.lower() for key in parts[::2]]
        for key in ("id", "source", "target", self.edges.attribute):
            if keys.count(key) > 1:
                raise self._wrong(f"{key} is there twice", token, place)
        self._known.update(record)

    def _word(self, token: str, i: int) -> None:
        """Take a bracket, a key or a value."""
        lists = self.lists
        if token == "]":
            if not lists or self._key:
                raise self._wrong(f"{self._key} has no value" if self._key else "a ] without its [", i)
            name = lists.pop()
            if lists == ["graph"] and name in ("node", "edge"):
                (self._node if name == "node" else self._edge)(self._record, i)
            return
        key, self._key = self._key, ""
        if token == "[" and key:
            self._list(key, i)
        elif not key:
            if not _NAME.fullmatch(token):
                raise self._wrong(f"a name is expected, not {token[:32]}", i)
            self._key = token
        elif lists == ["graph"] and key.lower() == "directed":
            if token not in ("0", "1"):
                raise self._wrong(f"directed is {token[:32]}, neither 0 nor 1", i)
            if self._directed:
                raise self._wrong("directed is there twice", i)
            self._directed = token
        elif lists in (["graph", "node"], ["graph", "edge"]):
            self._set(key, token, i)

    def _list(self, key: str, i: int) -> None:
        """Begin a list."""
        lists = self.lists
        if key == "graph" and not lists:
            self._graphs += 1
            if self._graphs > 1:
                raise self._wrong("begins a second graph", i, remedy="keep one of them in the file")
        elif key == "graph" and lists[0] == "graph" and len(lists) < 3:
            raise self._wrong("a graph inside of a graph is not read", i, remedy="take it out")
        elif key in ("node", "edge") and not lists:
            self._others += 1
        elif lists in (["graph", "node"], ["graph", "edge"]):
            self._set(key, "[", i)
        if lists == ["graph"] and key in ("node", "edge"):
            self._record = {}
        if len(lists) > _DEEPEST:
            raise self._wrong(f"has more than {_DEEPEST} lists inside of each other", i)
        lists.append(key)

    def _set(self, key: str, value: str, i: int) -> None:
        """Take an attribute of a vertex or an edge that has lists inside."""
        if key in self._record and key.lower() in ("id", "source", "target", self.edges.attribute):
            raise self._wrong(f"{key} is there twice", i)
        self._record[key] = value

    def _node(self, record: dict[str, str], i: int, place: int = 0) -> None:
        if "id" not in record:
            record = _in_small(record, "id", *_NAMES)
        name = _id(record.get("id", ""))
        if not name:
            raise self._wrong("a node without an id", i, place)
        if fault := self.edges.declare(name):
            raise self._wrong(fault, i, place)
        for attribute, called in self.called.items():
            if attribute in record:
                called[name] = _unquoted(record[attribute])

    def _edge(self, record: dict[str, str], i: int, place: int = 0) -> None:
        edges = self.edges
        if not record.keys() >= {"source", "target"}:
            record = _in_small(record, "source", "target")
        source, target = record.get("source", ""), record.get("target", "")
        tail, head = edges.numbers.get(source), edges.numbers.get(target)
        if tail is None or head is None:
            tail, head = self._ends(source, target, i, place)
        text = record.get(edges.attribute)
        edges.tails.append(tail)
        edges.heads.append(head)
        edges.texts.append(text and text.strip('"'))
        self._at.append((i, place))
        if edges.count <= _SAMPLES:
            self._look(record)

    def _ends(self, source: str, target: str, i: int, place: int) -> list[int]:
        """Return the numbers of an edge's ends, of which a node may follow."""
        names = [_id(source), _id(target)]
        if not all(names):
            raise self._wrong(f"an edge without a {'target' if names[0] else 'source'}", i, place)
        return [self.edges.number(name, (i, place, self._start)) for name in names]

    def _look(self, record: dict[str, str]) -> None:
        """Remember which other attributes of an edge are numbers."""
        for key, value in record.items():
            if key not in ("source", "target", "id", self.edges.attribute) and is_number(_unquoted(value)):
                self.edges.numeric[key] = None


def _in_small(record: dict[str, str], *keys: str) -> dict[str, str]:
    """Return a record with these keys in small letters where it has them in capitals alone."""
    small = {key: key.lower() for key in record if key.lower() in keys and key.lower() not in record}
    return {small.get(key, key): value for key, value in record.items()}


def _id(token: str) -> str:
    """Return an id as all spell it, ``"7"`` of 07 and "7"."""
    text = _unquoted(token)
    try:
        return str(int(text)) if text is token else text
    except ValueError:
        return text


def _unquoted(token: str) -> str:
    """Return the text of a token, with its entities replaced."""
    text = token[1:-1] if token[:1] == '"' else token
    return html.unescape(text) if "&" in text else text


FORMAT = Format(
    name="gml",
    title="GML",
    extensions=(".gml",),
    read=read,
    named="attributes",
    hint=rb"(?i)graph",
    sniff=lambda head: _HEAD.match(head) is not None,
)
