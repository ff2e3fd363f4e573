"""A TOML file whose errors name the file, the line and the key."""

from __future__ import annotations

import contextlib
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gpugraph.errors import InputError, placed, unknown_name
from gpugraph.files import check_ends

_HEADER = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?")
_LINE_OF_ERROR = re.compile(r"\(at line (\d+), column \d+\)")


class Document:
    """The tables of a TOML file, and the line of each key.

    Attributes:
        path: the file, as the user is to see it; ``"command line"`` where there is none.
        tables: its content.
        overridden: names of axes, or ``TABLE.KEY``, whose values the command line has given since.
        words: axis → the word of the command line that gave it, where that is not ``--set``.
    """

    def __init__(self, path: str | os.PathLike[str], tables: dict[str, Any] | None = None):
        """Read a file, or take the tables made of the command line.

        Raises:
            InputError: it cannot be read, or is no TOML; the message names the line.
        """
        self.path = os.fspath(path)
        self.overridden: frozenset[str] = frozenset()
        self.words: dict[str, str] = {}
        if tables is not None:
            self._text, self.tables = "", tables
            return
        check_ends(path)
        try:
            self._text = Path(path).read_text("utf-8")
        except OSError as error:
            raise InputError(f"cannot be read: {(error.strerror or str(error)).lower()}", where=path) from None
        except UnicodeDecodeError:
            raise InputError("is no text in UTF-8", where=path, remedy="a sweep is a TOML file") from None
        try:
            self.tables = tomllib.loads(self._text)
        except tomllib.TOMLDecodeError as error:
            line = _LINE_OF_ERROR.search(str(error))
            what = _LINE_OF_ERROR.sub("", str(error)).removesuffix("(at end of document)").strip().rstrip(".")
            number = line[1] if line else len(self._text.splitlines())
            place = f"{self.path} line {number}"
            raise InputError(f"is no TOML: {what}", where=place, remedy="correct that line") from None

    def where(self, *keys: str, turn: int = 0) -> str:
        """Return the place of a key for a message: ``--set``, or the file, the line if found, and the dotted name.

        Args:
            keys: the names of the tables, then of the key.
            turn: which of several tables of that name, ``[[skip]]`` for instance, counted from 0.
        """
        name = ".".join(keys[-2:]).removeprefix("axes.")
        if name in self.words:
            return self.words[name]
        if name in self.overridden:
            return f"--set {name}"
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

    def table(self, table: Mapping[str, Any], *keys: str, turn: int = 0) -> Mapping[str, Any]:
        """Return the table of a table that the last of ``keys`` names, empty where there is none.

        Raises:
            InputError: it is something else.
        """
        value = table.get(keys[-1], {})
        if not isinstance(value, dict):
            where = self.where(*keys, turn=turn)
            raise InputError("is no table", where=where, remedy=f"write [{'.'.join(keys)}]")
        return value

    def list_of_tables(self, table: Mapping[str, Any], *keys: str, turn: int = 0, remedy: str = "") -> list[Any]:
        """Return the tables in a list that the last of ``keys`` names, none where there is none.

        Raises:
            InputError: it is something else.
        """
        value = table.get(keys[-1], [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            where = self.where(*keys, turn=turn)
            raise InputError("is no list of tables", where=where, remedy=remedy or f"write [[{'.'.join(keys)}]]")
        return value

    def check_keys(self, table: Mapping[str, Any], known: Iterable[str], *keys: str, turn: int = 0) -> None:
        """Refuse a key that is not known, with the nearest that is.

        Raises:
            InputError: there is one.
        """
        names = list(known)
        for key in table:
            if key not in names:
                with self.at(*keys, key, turn=turn):
                    raise unknown_name("key", key, names)
