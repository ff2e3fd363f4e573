"""The top of a list of edges: comments that say what the graph is, names of columns, and the first rows.

KONECT's first line, ``% bip weighted``, says whether lines are edges, and whether they join two sides that are numbered
apart; a second, ``% edges left right``, counts them.  Source: Kunegis 2013, Handbook of Network Analysis: The KONECT
Project, section 9.  SNAP's comments say ``# Undirected graph`` and ``# Nodes: n Edges: m``.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import GraphFormatError
from gpugraph.ext.formats.text.fields import is_named, records
from gpugraph.graph.build import ArcList
from gpugraph.graph.input_file import HEAD_BYTES, Source

_SAMPLE = 100
"""Rows that are looked at to tell words from numbers."""
_LOOKED_AT = 1 << 13
"""Bytes that are looked at, if a row begins there."""
_COMMENTS = re.compile(rb"(?:[ \t]*[#%][^\n]*\n|[ \t\r]*\n)*")
_KONECT = re.compile(
    rb"\s*%[ \t]*(sym|asym|bip)\b[ \t]*(\w*)[^\n]*(?:\n%[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*\n)?"
)
_SNAP = re.compile(rb"(?m)^[#%][^\n]*?\bNodes:\s*(\d{1,18})\s+Edges:\s*(\d{1,18})")
_KIND = re.compile(
    rb"(?mi)^[ \t]*[#%][ \t]*(?:(?:this is )?an? |(?:the )?(?:graph|network) is (?:an? )?"
    rb"|(?:graph |network )?type[ \t]*[:=][ \t]*|graph[ \t]*[:=][ \t]*)?"
    rb"((?:(?:un)?weighted,?[ \t]+)?(un)?directed(?:,?[ \t]+(?:un)?weighted)?(?:[ \t]+(?:graph|network)\b"
    rb"|[ \t]*[:= \t][ \t]*(?:(?:true|yes|1)|(false|no|0))(?=[ \t]*\r?$)|(?=[ \t.]*\r?$)))([^\n]*)"
)
"""A comment that is, or begins with, the kind of the graph, or says of it yes or no."""
_SEPARATOR = re.compile(r'"?sep=(.)"?\s*')
_OPEN = re.compile(r'(?:^|[\t;,|])\s*"')
"""A field in quotes that goes on in the next line."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:inf|infinity|nan)", re.ASCII | re.IGNORECASE)


def words_of(*lines: str) -> frozenset[str]:
    """Return the words of some lines."""
    return frozenset(" ".join(lines).split())


# Names of columns, in small letters and digits.
_TAILS = words_of(
    "source src from tail start u node1 id1 vertex1 v1 nodea origin sourceid srcid fromid startid fromnode sourcenode",
    "fromnodeid sourcenodeid sourcename fromname",
)
_HEADS = words_of(
    "target dst to head end v node2 id2 vertex2 v2 nodeb destination targetid dstid toid endid tonode targetnode",
    "tonodeid targetnodeid targetname toname dest",
)
_INDEX = re.compile(r"Unnamed: 0(\.\d+)?|__index_level_\d+__")
"""What pandas calls an index that it reads from a CSV, again and again, or writes to Parquet."""
_NUMBERED = re.compile(r"([^\W\d]+)\d+")
_YEAR = re.compile(r"(?:19|20)\d\d", re.ASCII)
_SECONDS = re.compile(r"1\d{9}", re.ASCII)
"""Seconds since 1970, of the years 2001 to 2033."""


@dataclass(frozen=True)
class Statement:
    """What the comments on top of a list say; all of it may be missing.

    Attributes:
        directed: whether its lines are arcs.
        why: the words that say so, for a message.
        two_sides: the two columns number their vertices apart.
        konect: its first line is KONECT's.
        unweighted: a third column is no weight.
        vertices: how many there are; with two sides, how many on each.
        edges: how many lines there are.
    """

    directed: bool | None = None
    why: str = ""
    two_sides: bool = False
    konect: bool = False
    unweighted: bool = False
    vertices: tuple[int, ...] = ()
    edges: int | None = None


def statement(source: Source) -> Statement:
    """Return what the comments on top say.  Raises GraphFormatError if edges come and go, as in a dynamic network."""
    top = _COMMENTS.match(source.head)
    comments = top[0] if top else b""
    if found := _KONECT.match(comments):
        kind, weights = found[1].decode(), found[2].decode()
        if weights == "dynamic":
            raise source.error("its edges come and go ('dynamic')", "write the edges of one moment", line=1)
        counts = [int(count) for count in found.groups()[2:] if count]
        vertices = tuple(counts[1:]) if kind == "bip" else tuple(counts[1:] and [max(counts[1:])])
        why = f"its first line says '{kind}'"
        edges = next(iter(counts), None)
        return Statement(kind == "asym", why, kind == "bip", True, weights == "unweighted", vertices, edges)
    snap, matches = _SNAP.search(source.head), _KIND.finditer(comments)
    kinds = {(match[2] is None) is (match[3] is None): match for match in matches}
    vertices, edges = ((int(snap[1]),), int(snap[2])) if snap else ((), None)
    if len(kinds) != 1:
        return Statement(vertices=vertices, edges=edges)
    ((directed, match),) = kinds.items()
    once = b"each unordered pair" in match[4]
    why = f"its comment says '{match[1].decode('ascii', 'replace')}'"
    if directed and once:
        return Statement(None, f"{why} and 'each unordered pair … once'", vertices=vertices, edges=edges)
    return Statement(directed, why, vertices=vertices, edges=edges)


@dataclass(frozen=True)
class ListHead:
    """The first rows of a list.

    Attributes:
        delimiter: what separates its fields, a space where gaps do.
        titles: the names of its columns, or none.
        behind: the line that is the last above its first row.
        rows: the first rows, as fields.
        line: the line of the first of them.
        whole: there are no more.
        quoted: there are quotes among them.
        named: one has a word among its fields.
        commented: a line below the titles that is taken for a comment, though it may be a row; 0 if there is none.
    """

    delimiter: str
    titles: tuple[str, ...]
    behind: int
    rows: list[list[str]]
    line: int
    whole: bool
    quoted: bool
    named: bool = False
    commented: int = 0

    @property
    def width(self) -> int:
        """Fields of a row."""
        return len(self.titles or (self.rows[0] if self.rows else ()))


WHOLE = re.compile(r"0|[1-9]\d{0,18}", re.ASCII)
_FORM = re.compile(
    r"""(?P<whole>0|[1-9]\d{0,18})
    |(?P<pointed>(?:0|[1-9]\d{0,15})\.0+)
    |(?P<negative>-0*[1-9]\d*)
    |(?P<digits>[+-]\d+|0\d+)
    |(?P<long>\d+)
    |(?P<missing>nan|na|n/a|null|none|<na>|)
    |(?P<real>[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[+-]?inf(?:inity)?)""",
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
"""Forms of ids: plain whole numbers, written as floats, below zero, with signs or leading zeros, long, none, reals."""


def form_of(word: str) -> str:
    """Return the form of an id; a ``word`` is any other text."""
    found = _FORM.fullmatch(word)
    form = "word" if found is None else found.lastgroup or "word"
    return "long" if form == "whole" and int(word) >= 2**63 else form


def is_word(word: str) -> bool:
    """Tell whether a field is a name, and not numbers between other gaps or line ends than those of the first row."""
    letters = re.search(r"[^\W\d_]", word) is not None
    return form_of(word) == "word" and "\ufeff" not in word and (letters or re.search(r"[\s↵]", word) is None)


def is_number(word: str) -> bool:
    """Tell whether a word is a number, infinite ones and NaN among them."""
    return _NUMBER.fullmatch(word) is not None


def is_numbers(field: str) -> bool:
    """Tell whether a field is a number, or several with gaps between them."""
    words = field.split()
    return bool(words) and all(map(is_number, words))


def look(source: Source) -> ListHead:
    """Return the first rows of a list of edges.  Raises GraphFormatError for a zero byte, or unmatched quotes."""
    if source.top is None:
        if (at := source.head.find(b"\0")) >= 0:
            remedy = "name its format with --input-format, or fetch it again"
            raise source.error("holds a zero byte, as no text does", remedy, line=source.head.count(b"\n", 0, at) + 1)
        tops = (_look(source, size) for size in (_LOOKED_AT, HEAD_BYTES))
        source.top = next((top for top in tops if top.rows), None) or _look(source, HEAD_BYTES)
    top: ListHead = source.top
    return top


def _look(source: Source, size: int) -> ListHead:
    """Return the rows that begin in the first bytes."""
    if b"\n" not in source.head and re.search(rb"\r[^\r]", source.head):
        remedy = f"convert it: tr '\\r' '\\n' < {source.path} > lines{source.extension}"
        raise source.error("its lines end in carriage returns alone (old Mac)", remedy, line=1)
    text, whole = source.head[:size].decode("utf-8", "replace"), len(source.head) < size
    lines = list(enumerate(text.split("\n"), 1))
    if not whole and len(lines) > 1:
        lines.pop()  # which may be cut
    behind, delimiter = 0, ""
    if found := _SEPARATOR.fullmatch(lines[0][1].rstrip("\r")):
        behind, delimiter = 1, found[1]
    if not delimiter:
        begun = next((i for i, (_, line) in enumerate(lines) if line.strip(" \t\r,;")[:1] not in ("", "#", "%")), 0)
        first = lines[begun][1]
        while _OPEN.search(re.sub(r'"[^"]*"', "", first)) and begun + 1 < len(lines):
            begun += 1
            first += lines[begun][1]
        bare = re.sub(r'"[^"]*"', "", first)
        delimiter = next((mark for mark in "\t;,|" if mark in bare.strip(" ")), " ")
        joint = set(re.findall(r"(.)\t", bare))
        if delimiter == "\t" and len(joint) == 1 and joint < set(",;|"):  # and tabs are gaps
            delimiter = joint.pop()
        mixed = any(len(field.split()) > 1 and is_numbers(field) for field in bare.split("\t"))
        if delimiter == "\t" and mixed and source.extension != ".tsv":  # as in 'u v<tab>weight'
            delimiter = " "
    found_rows = list(islice(records(source, lines[behind:], delimiter), _SAMPLE + 1))
    numbers, rows = [number for number, _ in found_rows], [row for _, row in found_rows]
    titles: tuple[str, ...] = ()
    if rows and _is_titles(source, rows[0], rows[1:], delimiter, numbers[0]):
        titles, rows = tuple(rows[0]), rows[1:]
        top = lines[numbers[0] - 1][1]
        behind, numbers = _end_of_row(lines, numbers[0], delimiter), numbers[1:]
        shifted = bool(rows) and all(len(row) == len(titles) + 1 for row in rows)
        shifted = shifted and (len(rows) > 1 or top.lstrip()[:1] == '"')
        if shifted and _counts(rows, 0):  # R's write.table, which leaves the rows' names untitled
            titles = ("", *titles)
    elif rows and (found_names := _commented_titles(lines, numbers[0], len(rows[0]))):
        behind, titles = found_names
    quoted = any('"' in line for _, line in lines if line.lstrip()[:1] not in ("#", "%"))
    whole = whole and len(found_rows) <= _SAMPLE
    named, commented = any(map(is_word, (word for row in rows for word in row))), 0
    if named:
        width = len(titles or rows[0])
        behind, commented = (behind, 0) if titles else _above_a_named_row(lines, numbers[0], delimiter, width)
        rows = [row for _, row in islice(records(source, lines[behind:], delimiter, width), _SAMPLE + 1)]
    elif titles:
        commented = _row_in_a_comment(lines[behind:], delimiter, len(titles))
    return ListHead(delimiter, titles, behind, rows, next(iter(numbers), behind + 1), whole, quoted, named, commented)


def _end_of_row(lines: list[tuple[int, str]], line: int, delimiter: str) -> int:
    """Return the last line of the row that begins in one: quotes may hold line ends."""
    texts = (text.replace("\r", "") + "\n" for _, text in lines[line - 1 :])
    reader = csv.reader(texts, delimiter=delimiter, skipinitialspace=True)
    next(reader)
    return line + reader.line_num - 1


def _above_a_named_row(lines: list[tuple[int, str]], first: int, delimiter: str, width: int) -> tuple[int, int]:
    """Return the line above the first row, which may be a line ``#a,b,3`` above line ``first``, and a doubtful comment.

    Without a weight such a line may as well have the names of columns: it is a comment, whose number is returned.
    """
    above = [(at, line) for at, line in lines if at < first and line.lstrip()[:1] in ("#", "%")]
    above = [(at, line.replace("\r", "")) for at, line in above if is_named(line, delimiter, width)]
    rows = csv.reader([line for _, line in above], delimiter=delimiter, skipinitialspace=True)
    weighed = [at for (at, _), row in zip(above, rows, strict=False) if len(row) > 2 and is_number(row[2].strip())]
    doubtful = [at for at, _ in above if at < min(weighed, default=first)]
    return min(weighed, default=first) - 1, next(iter(doubtful), 0)


def _row_in_a_comment(lines: list[tuple[int, str]], delimiter: str, width: int) -> int:
    """Return the number of the first comment that could as well be a row whose first vertex is called ``#…``, or 0."""
    comments = ((number, line) for number, line in lines if line.lstrip()[:1] in ("#", "%"))
    return next((number for number, line in comments if is_named(line, delimiter, width)), 0)


def _commented_titles(lines: list[tuple[int, str]], first: int, width: int) -> tuple[int, tuple[str, ...]] | None:
    """Return the line and the names of columns in the last comment above the first row, if they are the usual ones."""
    number, above = next(((at, line) for at, line in lines[::-1] if at < first and line.strip()), (0, ""))
    names = tuple(re.split(r"[\s,;|]+", above.strip().lstrip("#% \t")))
    is_comment = above.lstrip()[:1] in ("#", "%")
    return (number, names) if is_comment and len(names) == width and all(usual_ends(names)) else None


def _is_titles(source: Source, first: list[str], rest: list[list[str]], delimiter: str, line: int) -> bool:
    """Tell whether the first row has the names of the columns."""
    wanted = [name.strip() for name in source.columns.split(",")] if source.columns else []
    if wanted and not all(name.isdecimal() for name in wanted):
        return True
    if all(usual_ends(first)):
        doubtful = _may_be_vertices(first[:2], rest)
        weighs = any(is_number(word.replace(",", ".")) for word in first[2:])
        if weighs and (doubtful or (len(first) == 3 and not _YEAR.fullmatch(first[2]))):
            return False  # no weight is called 0.5
        if len(first) > 2 or not doubtful:
            return True
        if wanted:
            return False
        raise _edge_or_names(source, first, line)
    if any(is_numbers(word) for word in first[:3]) or len(first) < 2:
        return False
    numbers = bool(rest) and all(is_number(word) for row in rest for word in row[:2])
    separated = delimiter != " " or source.extension in (".csv", ".tsv")
    if numbers and separated:
        return True
    if len(first) == 3 and not first[2]:
        what = f"'{delimiter.join(first)}' may be an edge without its weight, or the names of the columns"
        raise source.error(what, "fill in its third field, or leave that line out", line=line)
    at = [int(name) - 1 for name in wanted if 0 < int(name) <= len(first)]
    if len(at) == len(wanted) == 3:
        return _may_be_title(first[at[2]])
    if len(first) == 3 and not _may_be_title(first[2]):
        return False
    if any(is_number(word) and not _YEAR.fullmatch(word) for word in first[3:]):
        return False
    if len(first) > 2:
        return delimiter != " " or all(len(row) > 2 and is_number(row[2]) for row in rest)
    if (
        len(first) == 2
        and not wanted
        and (source.extension in (".csv", ".tsv") or (delimiter != " " and not source.extension))
    ):
        if len({all(is_number(row[i]) for row in rest if len(row) == 2) for i in (0, 1)}) == 2:
            return True  # of one column of words and one of numbers, which are no ends of edges
        raise _edge_or_names(source, first, line)
    return False


def _may_be_title(word: str) -> bool:
    """Tell whether a field above weights may be their title, and no weight that is missing or cannot be read."""
    begins = re.search(r"[^\W_]", word)
    return not word or (begins is not None and not begins[0].isdigit() and form_of(word) != "missing")


def _may_be_vertices(first: list[str], rest: list[list[str]]) -> bool:
    """Tell whether usual names of columns may be vertices, as others are called alike: v3 beside v1, or u once more."""
    words = {word for row in rest for word in row[:2]}
    alike = {found[1] for word in words if (found := _NUMBERED.fullmatch(word))}
    numbered = [found[1] for word in first if (found := _NUMBERED.fullmatch(word))]
    return any(word in words for word in first if len(word) == 1) or not alike.isdisjoint(numbered)


def _edge_or_names(source: Source, first: list[str], line: int) -> GraphFormatError:
    """Return the error for a first row of two words that may be an edge as well as names of columns."""
    names = ",".join(first)
    remedy = f"say which: --columns 1,2 if it is an edge, --columns {names} if not"
    return source.error(f"'{names}' may be an edge, or the names of the columns", remedy, line=line)


def no_edges(source: Source, titled: bool) -> GraphFormatError:
    """Return the error for a list without edges, under names of columns or not."""
    if titled:
        return source.error("has names of columns, but no row", "write an edge a line below them")
    return source.error("lists no edges", "give the number of vertices on the first line if that is meant")


def title(head: ListHead, column: int) -> str:
    """Return what messages call a column: its title in quotes, or its number where there are fewer titles."""
    return f"'{head.titles[column]}'" if column < len(head.titles) else str(column + 1)


def on_titles(head: ListHead) -> tuple[str, ...]:
    """Return sentences on a line that is taken for unusual names of columns, and on a comment that may be a row."""
    notes = []
    if head.titles and not all(usual_ends(head.titles)):
        names = ", ".join(map(repr, head.titles))
        notes.append(f"line {head.behind} is taken for the names of the columns: {names}")
    if head.commented:
        notes.append(
            f"line {head.commented} has as many fields as a row, and is taken for a comment, as others like it"
        )
    return tuple(notes)


def on_times(head: ListHead, column: int | None) -> tuple[str, ...]:
    """Return a sentence on a column without a usual title that weighs and has nothing but times."""
    words = [row[column] for row in head.rows if len(row) > column] if column is not None else []
    if not words or all(usual_ends(head.titles)) or not all(map(_SECONDS.fullmatch, words)):
        return ()
    return (f"column {title(head, column or 0)} weighs, and looks like times, as {words[0]}: --columns leaves it out",)


def plain_title(name: str) -> str:
    """Return a name of a column in small letters and digits, without Neo4j's additions, ``:float`` or ``(Person)``."""
    parts = [part for part in re.sub(r"\(.*?\)", "", name).split(":") if part]
    return re.sub(r"[\W_]+", "", parts[0].lower()) if parts else ""


def usual_ends(names: Sequence[str]) -> tuple[str, str]:
    """Return the columns of tails and heads by their usual names, "" where there is none."""
    plain = [plain_title(name) for name in names]
    tail, head = (next((names[i] for i, name in enumerate(plain) if name in known), "") for known in (_TAILS, _HEADS))
    return tail, head


def is_index(name: str, rows: Sequence[Sequence[str]], column: int) -> bool:
    """Tell whether a column is pandas' index, or R's names of rows: untitled, and the first one, or counting."""
    if _INDEX.fullmatch(name):
        return True
    return not name and (column == 0 or _counts(rows, column))


def _counts(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Tell whether a column counts its rows, from 0 or 1."""
    numbers = [row[column] for row in rows]
    return bool(rows) and numbers in ([str(i) for i in range(k, k + len(rows))] for k in (0, 1))


def is_list(head: ListHead) -> bool:
    """Tell whether a text whose name does not say so is a list: of three fields, or under names of columns."""
    alike = bool(head.rows) and head.width > 1 and all(len(row) == head.width for row in head.rows)
    return alike and (
        all(usual_ends(head.titles)) or (head.delimiter != " " and (head.width == 3 or bool(head.titles)))
    )


def declared(arcs: ArcList, said: Statement) -> ArcList:
    """Return arcs with the direction that the comments on top of their list declare, and why."""
    if not said.why:
        return arcs
    undirected = said.directed is False
    return replace(arcs, directed=said.directed, one_sided=undirected, why=said.why)


def broken_promises(said: Statement, edges: int, vertices: int) -> tuple[str, ...]:
    """Return a sentence on each number that the comments on top give and that is not the file's."""
    pairs = (("edges", said.edges, edges, "lists"), ("vertices", sum(said.vertices) or None, vertices, "names"))
    return tuple(
        f"the comment on top gives {given} {noun}, the file {verb} {found}"
        for noun, given, found, verb in pairs
        if given not in (None, found)
    )


def numbered_apart(tails: NDArray[Any], heads: NDArray[Any], said: Statement) -> tuple[Any, Any, str]:
    """Return ids of two sides such that no id is on both, and a sentence on it: those of the heads are raised."""
    left = max([int(tails.max(initial=0)), *said.vertices[:1]])
    step = left + int(min(tails.min(initial=1), heads.min(initial=1)) == 0)
    note = f"{said.why}: the ids of column 2 are of another side, and are raised by {step}"
    return tails.astype(np.int64), heads.astype(np.int64) + step, note
