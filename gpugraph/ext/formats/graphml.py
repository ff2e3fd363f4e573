"""GraphML, read as a stream by expat.

``<default>`` of a key, parallel edges, nested graphs (their vertices and edges belong to the whole), undirected edges
beside directed ones, and weights written as text are read.  Hyperedges, ports, locators, declared entities and a second
``<graph>`` are refused.  What other programs keep inside ``<data>`` is passed over.

Source: Brandes, Eiglsperger, Lerner & Pich 2013, Graph Markup Language (GraphML), in: Handbook of Graph Drawing.
"""

import re
import secrets
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from xml.parsers import expat

from gpugraph.base.errors import GraphFormatError, InputError, shown
from gpugraph.base.quantities import counted
from gpugraph.ext.formats.attributes import UNIT, Edges, is_number
from gpugraph.ext.formats.base import Format
from gpugraph.graph.build import ArcList
from gpugraph.graph.input_file import Source

_CHUNK = 1 << 18
_ROOT = re.compile(rb"<(?:[A-Za-z_][\w.-]*:)?graphml[\s>]")
_EDGE = {"id", "source", "target"}
_PARENTS = {
    "graph": ("graphml", "node"),
    "node": ("graph",),
    "edge": ("graph",),
    "key": ("graphml",),
    "default": ("key",),
    "data": ("graphml", "graph", "node", "edge"),
}
"""Where an element means what GraphML says."""
_UNREAD = ("hyperedge", "port", "endpoint", "locator")
_SENSES = {"directed": True, "undirected": False, "true": True, "false": False}
_REALS = {"float", "double"}
_COUNTED = ("node", "edge", "graph")
"""Elements whose number in the file is compared with what was read."""
_LONGEST_TAG = 100
_SAMPLES = 20
"""Values of an attribute that are looked at to tell whether it is a number."""
_MOST_PIECES = 1000
_LONG_RUN = 1 << 12
"""Bytes of edges from which they are taken together."""
_TEXT = r'[^"<>&\x00-\x1f]*'
_RUN = rf'''<edge (?:id="{_TEXT}" )?source="OPEN{_TEXT})" target="OPEN{_TEXT})"(?: id="{_TEXT}")?\s*+'''
_RUN += rf"""(?:/>|>\s*+(?:<data key="OPENKEYS)">OPEN{_TEXT})</data>\s*+)?</edge>)\s*+"""
"""An edge as nearly all programs write it, with at most the attribute that weighs."""
_DEEPEST = 500


@dataclass
class _Key:
    """An attribute: its name, its type, whether edges without it have its default, and values looked at."""

    name: str
    kind: str = "string"
    of_edges: bool = True
    looked_at: int = 0


def read(source: Source) -> ArcList:
    """Read a graph; vertices are numbered in the ascending order of their ids, which stay their names."""
    return _Reader(source).read()


class _Reader:
    """One reading; ``lines`` keeps those of the edges that wait.

    Elements that begin come to one function, which is fast for edges; those that end are taken off ``path`` by the
    list itself, unless their text is collected.
    """

    def __init__(self, source: Source, lines: list[int] | None = None):
        self.source, self.lines = source, lines
        self.edges = Edges(source, self._line)
        self.path: list[str] = []  # names of the open elements, the innermost first
        self._keys: dict[str, _Key] = {}
        self._key = _Key("")  # the last that began
        self._wanted: set[str] = set()  # ids of keys: of the attribute that weighs, and of those that tell no more
        self._ignored: set[str] = set()
        self._default: str | None = None
        self._prefix = ""  # of GraphML's own elements
        self._graphs = 0
        self._senses: list[bool | None] = []  # of the open graphs
        self._unlike = False  # the innermost is not directed as the first is
        self._promised: dict[str, int] = {}
        self._strange: dict[str, None] = {}
        self._pieces: list[str] = []
        self._skipped = 0  # depth inside of what is passed over
        self._is_utf8 = True
        self._aside: dict[str, str] = {}  # runs of edges that expat does not see, by the marks in their places
        self._aside_bytes = 0
        self._run: re.Pattern[str] | None = None
        self._mark = f"run-{secrets.token_hex(8)}"
        self._parser = parser = expat.ParserCreate()
        parser.XmlDeclHandler = self._declared
        parser.ProcessingInstructionHandler = self._take_run
        parser.buffer_text = True
        parser.StartElementHandler = self._root
        self._closing: Callable[[str], None] = self.path.remove
        parser.EndElementHandler = self._closing
        parser.EntityDeclHandler = parser.SkippedEntityHandler = self._refuse_entity

    def _line(self, edge: int) -> int | None:
        """Return the line of an edge that waits; the first reading keeps none, so a second one raises the error."""
        if self.lines is None:
            _Reader(self.source, []).read()
        return self.lines[edge] if self.lines else None

    def _wrong(self, what: str, remedy: str = "mend that line") -> GraphFormatError:
        return self.source.error(what, remedy, line=self._parser.CurrentLineNumber)

    def _refuse_entity(self, name: str, *_: object) -> None:
        raise self._wrong(f"has an entity of its own, {shown(name)}, which is not expanded", "write its text instead")

    def read(self) -> ArcList:
        """Read everything."""
        fed, end = 0, b""
        tags: Counter[str] = Counter()
        for chunk in self.source.chunks(_CHUNK):
            plain = self._put_aside(chunk)
            fed += len(plain)
            self._parse(plain)
            self.source.require(4 * (fed - self._parser.CurrentByteIndex + self._aside_bytes))
            if len(self._pieces) > _MOST_PIECES:
                raise self._wrong("a value of an attribute is longer than any number")
            taken = self.edges.flush(kept=int(f"{self._prefix}edge" in self.path))  # one may go on in the next chunk
            if self.lines is not None:
                del self.lines[:taken]
            joined = end + chunk
            for name in (*_COUNTED, "graphml"):
                tag = f"<{self._prefix}{name}".encode()
                tags[name] += joined.count(tag) - end.count(tag)
            end = joined[-_LONGEST_TAG:]
        self._parse(b"", last=True)
        return self._arcs(tags)

    # -------------------------------------------------------------- many edges at once
    # Long runs of plain edges are cut out, and a mark that no file can know stands in their place.  Where it comes to
    # expat's notice the run is taken; inside a comment it never does.

    def _declared(self, version: str, encoding: str | None, standalone: int) -> None:
        if (encoding or "utf-8").lower() not in ("utf-8", "us-ascii"):
            self._is_utf8 = False

    def _put_aside(self, chunk: bytes) -> bytes:
        """Return a part of the file with marks in place of its runs of edges."""
        if not self._graphs or not self._is_utf8 or self.lines is not None or self._prefix:
            return chunk
        if self._run is None:
            keys = "|".join(map(re.escape, self._wanted)) or "(?!)"
            self._run, runs = (re.compile(_RUN.replace("OPEN", begin).replace("KEYS", keys)) for begin in ("(", "(?:"))
            self._runs = re.compile(f"(?:{runs.pattern})++".encode())

        def cut(found: re.Match[bytes]) -> bytes:
            if len(found[0]) < _LONG_RUN:
                return found[0]
            try:
                run = found[0].decode()
            except UnicodeDecodeError:  # which expat is to refuse
                return found[0]
            mark = str(len(self._aside))
            self._aside[mark] = run
            self._aside_bytes += len(run)
            return b"\n" * found[0].count(b"\n") + f"<?{self._mark} {mark}?>".encode()

        return self._runs.sub(cut, chunk)

    def _take_run(self, target: str, mark: str) -> None:
        """Take the edges that a mark stands for."""
        if target != self._mark or self._skipped or self.path[0] == "data":
            return
        if self.path[0] != "graph":
            raise self._wrong(f"<edge> inside of <{self.path[0]}>")
        run, edges = self._aside[mark], self.edges
        self._aside[mark] = ""
        self._aside_bytes -= len(run)
        assert self._run is not None
        tails, heads, keys, texts = zip(*self._run.findall(run), strict=True)
        try:
            ends = [[*map(edges.numbers.__getitem__, names)] for names in (tails, heads)]
        except KeyError:  # a vertex follows, or is missing
            ends = self._ends_of_run(run, tails, heads)
        if self._unlike:
            edges.against += range(edges.count, edges.count + len(tails))
        edges.tails += ends[0]
        edges.heads += ends[1]
        edges.texts += [text if key else self._default for key, text in zip(keys, texts, strict=True)]

    def _ends_of_run(self, run: str, *names: tuple[str, ...]) -> list[list[int]]:
        """Return the numbers of the ends of edges, of which vertices may follow."""
        assert self._run is not None
        line, before = self._parser.CurrentLineNumber - run.count("\n"), 0
        ends: tuple[list[int], list[int]] = ([], [])
        for found, *pair in zip(self._run.finditer(run), *names, strict=True):
            line, before = line + run.count("\n", before, found.start()), found.start()
            if not all(pair):
                what = f"an edge without {'a target' if pair[0] else 'a source'}"
                raise self.source.error(what, "mend that line", line=line)
            for side, name in zip(ends, pair, strict=True):
                side.append(self.edges.number(name, line))
        return [*ends]

    def _parse(self, chunk: bytes, *, last: bool = False) -> None:
        try:
            self._parser.Parse(chunk, last)
        except expat.ExpatError as error:
            what = f"is no well-formed XML: {expat.ErrorString(error.code)}"
            raise self.source.error(what, "mend that line, or fetch the file again", line=error.lineno) from None
        except (LookupError, ValueError) as error:
            if self.path or isinstance(error, InputError):
                raise
            raise self.source.error(f"its encoding is not read: {error}", "save it in UTF-8") from None

    def _arcs(self, tags: Counter[str]) -> ArcList:
        """Return all edges; ``tags`` counts the elements that begin in the file, read or not."""
        edges, notes = self.edges, []
        if edges.unknown:
            name, line = next(iter(edges.unknown.items()))
            raise self.source.error(f"an edge ends at {shown(name)}, which is no <node>", "declare it", line=line)
        if not self._graphs:
            raise self.source.error("holds no <graph>")
        if self._graphs > 1:
            notes.append(f"holds {counted(self._graphs - 1, 'nested <graph>')}: their vertices and edges are taken too")
        if self._strange:
            names = ", ".join(map(shown, self._strange))
            notes.append(f"passed over attributes of <edge> that GraphML does not know: {names}")
        tags["graph"] -= tags["graphml"]
        for name, read in zip(_COUNTED, (len(edges.numbers), edges.count, self._graphs), strict=True):
            if tags[name] > read:
                notes.append(f"passed over {tags[name] - read} <{name}> in comments or inside of <data>")
        for noun, read in (("nodes", len(edges.numbers)), ("edges", edges.count)):
            if self._promised.get(noun, read) != read:
                notes.append(f"parse.{noun} promises {self._promised[noun]}, the file has {read}")
        default = "directed" if edges.directed else "undirected"
        why = f"edgedefault is {default}" if edges.directed is not None else ""
        if edges.against:
            why += f", and {len(edges.against)} of {counted(edges.count, 'edge')} differ from it"
        return edges.arcs(edges.numbers, notes, why)

    # -------------------------------------------------------------- elements

    def _root(self, name: str, _: object) -> None:
        self._prefix = name[: -len("graphml")]
        if not name.endswith("graphml") or self._prefix[-1:] not in ("", ":"):
            raise self._wrong(f"begins with <{name}>, not with <graphml>", "name its format with --input-format")
        self.path.append(name)
        self._begin = self._parser.StartElementHandler = self._beginner(self._prefix)

    def _beginner(self, prefix: str) -> Callable[[str, dict[str, str]], None]:
        """Return the function that takes elements that begin."""
        parents = {prefix + name: tuple(prefix + one for one in given) for name, given in _PARENTS.items()}
        (edge,), (data,), (graph,), (node,) = ([prefix + name] for name in ("edge", "data", "graph", "node"))
        others = {
            prefix + "graph": self._graph,
            prefix + "key": self._key_begins,
            prefix + "default": self._default_begins,
        }
        path, push, parser, lines = self.path, self.path.insert, self._parser, self.lines
        edges, ignored, wanted, pieces = self.edges, self._ignored, self._wanted, self._pieces
        numbers, texts = edges.numbers, edges.texts
        add_tail, add_head, add_text = edges.tails.append, edges.heads.append, edges.texts.append

        def begin(name: str, given: dict[str, str]) -> None:
            parent = path[0]
            if name == edge and parent == graph:
                try:
                    tail, head = numbers[given["source"]], numbers[given["target"]]
                except KeyError:
                    tail, head = self._ends(given)
                if self._unlike or (len(given) > 2 and not given.keys() <= _EDGE):
                    self._more_of_edge(given)
                add_tail(tail)
                add_head(head)
                add_text(self._default)
                if lines is not None:
                    lines.append(parser.CurrentLineNumber)
                push(0, name)
            elif name == data and parent == edge:
                push(0, name)
                if (key := given.get("key", "")) in wanted:
                    parser.CharacterDataHandler = pieces.append
                    parser.EndElementHandler = weight_ends
                elif key not in ignored:
                    self._value(key)
            elif parent not in parents.get(name, ()):
                self._other(name.removeprefix(prefix), parent.removeprefix(prefix))
            else:
                push(0, name)
                if name == node:
                    self._node(given)
                elif name != data:
                    others[name](given)

        def weight_ends(name: str) -> None:
            parser.CharacterDataHandler = None
            parser.EndElementHandler = self._closing
            self._closing(name)
            if texts[-1] is not self._default:
                raise self._wrong(f"an edge has {shown(edges.attribute)} twice")
            texts[-1] = pieces[0] if len(pieces) == 1 else "".join(pieces)
            pieces.clear()

        self._weight_ends = weight_ends
        return begin

    def _node(self, given: dict[str, str]) -> None:
        if fault := self.edges.declare(given.get("id", "")):
            raise self._wrong(fault)

    def _ends(self, given: dict[str, str]) -> list[int]:
        """Return the numbers of an edge's ends, of which a vertex may follow."""
        names = [given.get(end, "") for end in ("source", "target")]
        if not all(names):
            raise self._wrong(f"an edge without {'a target' if names[0] else 'a source'}")
        return [self.edges.number(name, self._parser.CurrentLineNumber) for name in names]

    def _more_of_edge(self, given: dict[str, str]) -> None:
        """Take an edge's own direction, and remember attributes that no edge has."""
        sense = self._senses[-1]
        if "directed" in given:
            sense = _SENSES.get(given["directed"])
            if sense is None or self.edges.directed is None:
                raise self._wrong("directed of an edge is true or false, and the <graph> has an edgedefault")
        if sense is not self.edges.directed:
            self.edges.against.append(self.edges.count)
        if "sourceport" in given or "targetport" in given:
            raise self._wrong("ports are not read", "leave the ports out")
        self._strange.update(dict.fromkeys(x for x in given.keys() - _EDGE - {"directed"} if ":" not in x))

    def _graph(self, given: dict[str, str]) -> None:
        nested = self.path[1] != self._prefix + "graphml"
        if self._graphs and not nested:
            raise self._wrong("begins a second <graph>", "keep one of them in the file")
        if len(self._senses) > _DEEPEST:
            raise self._wrong(f"has more than {_DEEPEST} graphs inside of each other")
        default = given.get("edgedefault")
        if default not in (None, "directed", "undirected"):
            raise self._wrong(f"edgedefault is {shown(default)}", "directed and undirected are known")
        sense = _SENSES[default] if default else self._senses[-1] if nested else None
        if not nested:
            self.edges.directed = sense
            self.edges.real = {self._keys[name].kind for name in self._wanted} <= _REALS
            counts = {noun: given.get(f"parse.{noun}", "") for noun in ("nodes", "edges")}
            self._promised = {noun: int(text) for noun, text in counts.items() if re.fullmatch(r"[0-9]{1,18}", text)}
        self._graphs += 1
        self._senses.append(sense)
        self._unlike = sense is not self.edges.directed
        if nested:
            self._parser.EndElementHandler = self._closing = self._close

    def _close(self, name: str) -> None:
        """Take an element off the path, inside of a nested graph."""
        self.path.remove(name)
        if name == self._prefix + "graph":
            self._senses.pop()
            self._unlike = self._senses[-1] is not self.edges.directed
            if len(self._senses) == 1:
                self._parser.EndElementHandler = self._closing = self.path.remove

    def _other(self, name: str, parent: str) -> None:
        """Pass over an element of another program, or refuse one of GraphML's that is not read or has lost its way."""
        if parent not in ("data", "default", "desc"):
            if name in _UNREAD:
                raise self._wrong(f"<{name}> is not read", "convert the file, or leave them out")
            if name in _PARENTS:
                raise self._wrong(f"<{name}> inside of <{parent}>")
        end, parser = self._parser.EndElementHandler, self._parser
        if end in (self._weight_ends, self._default_ends):
            raise self._wrong(f"<{name}> inside of a weight")

        def begins(*_: object) -> None:
            self._skipped += 1

        def ends(_: str) -> None:
            self._skipped -= 1
            if not self._skipped:
                parser.StartElementHandler, parser.EndElementHandler = self._begin, end

        self._skipped = 1
        parser.StartElementHandler, parser.EndElementHandler = begins, ends

    # -------------------------------------------------------------- attributes

    def _key_begins(self, given: dict[str, str]) -> None:
        """Take a key; where one of edges and one of vertices have the same id, as rustworkx writes, that of edges."""
        name, of_edges = given.get("id", ""), given.get("for", "all") in ("edge", "all")
        self._key = key = _Key(given.get("attr.name", name), given.get("attr.type", "string"), of_edges)
        other = self._keys.get(name)
        if not name or (other and other.of_edges and of_edges):
            raise self._wrong(f"two keys have the id {shown(name)}" if name else "a <key> without an id")
        if other and not of_edges:
            return
        self._keys[name] = key
        self._wanted.discard(name)
        if key.name == self.edges.attribute:
            if self._graphs:
                raise self._wrong(f"the <key> of {shown(key.name)} comes after the <graph>", "put it before")
            if key.kind != "boolean":
                self._wanted.add(name)

    def _default_begins(self, _: object) -> None:
        if self._key.of_edges and self._key.name == self.edges.attribute:
            self._collect(self._default_ends)

    def _default_ends(self, name: str) -> None:
        text = self._collected(name)
        if self._default not in (None, text):
            raise self._wrong(f"two keys of {shown(self.edges.attribute)} have different defaults")
        self._default = text

    def _value(self, name: str) -> None:
        """Take the value of an edge's attribute that begins, by the id of its key."""
        key = self._keys.setdefault(name, _Key(name))
        if key.name == self.edges.attribute:
            if key.kind == "boolean":
                raise self._wrong(f"{shown(key.name)} is true or false, no weight", f"name another, or {UNIT}")
            self._wanted.add(name)  # of no <key>: its id is its name
            self._collect(self._weight_ends)
            return
        key.looked_at += 1
        if key.kind in ("int", "long", *_REALS):
            self.edges.numeric[key.name] = None
        elif key.kind != "boolean" and key.looked_at <= _SAMPLES:
            self._key = key
            self._collect(self._sample_ends)
            return
        self._ignored.add(name)

    def _sample_ends(self, name: str) -> None:
        if is_number(self._collected(name)):
            self.edges.numeric[self._key.name] = None

    def _collect(self, ends: Callable[[str], None]) -> None:
        """Collect the text of the element that has begun."""
        self._pieces.clear()
        self._parser.CharacterDataHandler = self._pieces.append
        self._parser.EndElementHandler = ends

    def _collected(self, name: str) -> str:
        """Return the text of an element that ends."""
        self._parser.CharacterDataHandler = None
        self._parser.EndElementHandler = self._closing
        self._closing(name)
        text = "".join(self._pieces)
        self._pieces.clear()
        return text


FORMAT = Format(
    name="graphml",
    title="GraphML",
    extensions=(".graphml",),
    read=read,
    hint=rb"graphml",
    sniff=lambda head: _ROOT.search(head[:2048]) is not None,
    ids="any",
    named="attributes",
)
