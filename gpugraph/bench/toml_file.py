"""A TOML file whose errors name the file, the line and the key."""

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar, get_args

import msgspec

from gpugraph.base.errors import InputError, placed, unknown_name
from gpugraph.base.files import parse_toml, read_text

Kind = TypeVar("Kind")

_HEADER = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?")
_LINE_OF_ERROR = re.compile(r"\(at line (\d+), column \d+\)")


class Document:
    """The tables of a TOML file, and the line of each key.

    Attributes:
        path: the file, as the user is to see it; ``"command line"`` where there is none.
        overridden: names of axes, or ``TABLE.KEY``, whose values the command line has given since.
        words: axis → the word of the command line that gave it, where that is not ``--axis``.
    """

    def __init__(
        self, path: str | os.PathLike[str], tables: dict[str, Any] | None = None, words: Mapping[str, str] | None = None
    ):
        """Read a file, or take the tables of the command line; an InputError names the line that is no TOML."""
        self.path = os.fspath(path)
        self.overridden: frozenset[str] = frozenset()
        self.words = words or {}
        if tables is not None:
            self._text, self.tables = "", tables
            return
        self._text = read_text(path)
        try:
            self.tables = parse_toml(self._text)
        except ValueError as error:
            line = _LINE_OF_ERROR.search(str(error))
            what = _LINE_OF_ERROR.sub("", str(error)).removesuffix("(at end of document)").strip().rstrip(".")
            number = line[1] if line else len(self._text.splitlines())
            place = f"{self.path} line {number}"
            raise InputError(f"is no TOML: {what}", where=place, remedy="correct that line") from None

    def where(self, *keys: str, turn: int = 0) -> str:
        """Return the place of a key for a message: ``--axis``, or the file, the line if found, and the dotted name.

        ``turn`` counts tables of one name, ``[[skip]]`` for instance, from 0.
        """
        name = ".".join(keys[-2:]).removeprefix("axes.")
        if name in self.words:
            return self.words[name]
        if name in self.overridden:
            return f"--{'axis' if name.partition('.')[0] in ('limits', 'sampling', name) else 'set'} {name}"
        line = self._line(keys, turn)
        return f"{self.path}{f' line {line}' if line else ''}, {'.'.join(keys)}"

    def _line(self, keys: tuple[str, ...], turn: int) -> int | None:
        table, seen = "", -1 if len(keys) > 1 else 0
        wanted, key = ".".join(keys[:-1]), keys[-1]
        for number, line in enumerate(self._text.splitlines(), 1):
            if header := _HEADER.fullmatch(line):
                table = header[1].replace('"', "").replace(" ", "")
                seen += table == wanted
                if table == ".".join(keys):
                    return number
            elif table == wanted and seen == turn and re.match(rf"\s*\"?{re.escape(key)}\"?\s*[=.]", line):
                return number
            elif not table and turn == 0 and re.match(rf"\s*{re.escape('.'.join(keys))}\s*[=.]", line):
                return number  # written with dots, before any header
        return None

    def holds(self, *keys: str, turn: int = 0) -> bool:
        """Tell whether the line of a key is found."""
        return self._line(keys, turn) is not None

    @contextlib.contextmanager
    def at(self, *keys: str, turn: int = 0) -> Iterator[None]:
        """Give errors of the block the place of a key."""
        try:
            yield
        except InputError as error:
            if error.where is not None and error.where.startswith((self.path, "--")):
                raise
            raise placed(error, self.where(*keys, turn=turn)) from None

    def read_as(self, kind: type[Kind]) -> Kind:
        """Return the tables as a ``msgspec.Struct``; an InputError names file, line and key of what does not fit."""
        try:
            return msgspec.convert(self.tables, kind)
        except msgspec.ValidationError as error:
            what, _, path = str(error).partition(" - at `$")
        keys, turns = re.findall(r"\.(\w+)", path), re.findall(r"\[(\d+)\]", path)
        turn = int(turns[0]) if turns else 0
        named = "".join(what.split("`")[1:2]).removesuffix(" | null")
        if what.startswith("Object contains unknown field"):
            raise placed(unknown_name("key", named, _fields(kind, keys)), self.where(*keys, named, turn=turn))
        if what.startswith("Object missing required field"):
            what = f"lacks '{named}'"
        elif named == "float":
            value: Any = self.tables
            for key, number in re.findall(r"\.(\w+)|\[(\d+)\]", path):
                value = value[key or int(number)]
            what = f"its {keys[-1]} {value!r} is no number"
        elif not named:  # it is none of the words that may stand there
            what = f"its {keys[-1]} is an {what[0].lower()}{what[1:]}"
        else:
            what = f"is no {_NOUNS.get(named, named)}"
        raise InputError(what, where=self.where(*keys, turn=turn), remedy="see docs/bench.md")


_NOUNS = {"object": "table", "array": "list", "str": "text"}


def _fields(kind: Any, keys: Sequence[str]) -> list[str]:
    """Return the keys that the table at the end of a path may have."""
    while not hasattr(kind, "__struct_fields__"):  # of a list or an optional table the one that it is of
        kind = next(one for one in get_args(kind) if one is not type(None))
    known = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    return _fields(known[keys[0]], keys[1:]) if keys else list(known)
