"""The registry of data sets: the file behind ``snap:roadNet-CA``, where to fetch it, and what is known of it.

``registry.toml`` beside this file is the list; ``$GPUGRAPH_DATASETS`` names a user's own, of the same form, whose
collections and graphs go before those.  A collection lists its graphs, or takes any name of a pattern; its ``urls``
are tried in their order, with ``{name}``, ``{last}`` (behind the last slash) and ``{family}`` (before the last point).
"""

import difflib
import os
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from gpugraph.base.errors import InputError, check_name, errors_at, unknown_name
from gpugraph.base.files import parse_toml, read_text
from gpugraph.graph.read_options import OWN

_PREFIX = re.compile(r"[a-z][a-z0-9]+")
_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*(/[A-Za-z0-9][\w.+-]*)*")
SHIPPED = Path(__file__).with_name("shipped")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_ROW: dict[str, Any] = {
    **dict.fromkeys(("vertices", "lines", "bytes", "about_bytes"), int),
    **dict.fromkeys(("sha256", "digest", "format", "member"), str),
    "directed": bool,
    "urls": list,
}
_REMEDY = "mend it; docs/datasets.md shows the form"
_COLLECTION: dict[str, Any] = {
    **dict.fromkeys(
        ("title", "home", "licence", "citation", "form", "names", "format", "member", "gone", "shipped"), str
    ),
    "urls": list,
    "graphs": dict,
    "twins": dict,
}


@dataclass(frozen=True)
class Dataset:
    """One data set.

    Attributes:
        collection: the part before the colon.
        name: the part behind it.
        title, licence, citation: of the collection.
        urls: where it may be fetched, tried in this order.
        shipped: the name of a file that is part of gpugraph, in ``SHIPPED``; it is not fetched, and has no ``urls``.
        member: of an archive, the name of the file to read, folders aside; empty where the file is the graph.
        format: of that file, where neither its content nor its name tells.
        directed: where the file does not say it.
        vertices, lines: as its source tells them; a line is an arc, or an edge where these are listed once.
        bytes: of the file as it is served; ``rounded``: about so many.
        sha256: of that file, where it was seen.
        digest: of the graph, where the content of the file was seen.
    """

    collection: str
    name: str
    title: str = ""
    licence: str = ""
    citation: str = ""
    urls: tuple[str, ...] = ()
    shipped: str = ""
    member: str = ""
    format: str | None = None
    directed: bool | None = None
    vertices: int | None = None
    lines: int | None = None
    bytes: int | None = None
    rounded: bool = False
    sha256: str | None = None
    digest: str | None = None

    def __str__(self) -> str:
        return f"{self.collection}:{self.name}"

    @property
    def last(self) -> str:
        """The name without a group before it."""
        return self.name.rpartition("/")[2]

    @property
    def file(self) -> str:
        """What the file is called where it is served, and in the cache."""
        return self.shipped or self.urls[0].rpartition("/")[2]


@dataclass(frozen=True)
class Collection:
    """Data sets of one origin: its prefix and table in the registry, the file that says so, and the graphs' tables."""

    prefix: str
    table: dict[str, Any]
    origin: str
    graphs: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def gone(self) -> str:
        """Why nothing can be fetched any more; empty where it can."""
        return str(self.table.get("gone", ""))

    def dataset(self, name: str) -> Dataset:
        """Return the data set of a name, listed or of the collection's pattern.  Raises InputError if there is none."""
        row = self.graphs.get(name)
        pattern = self.table.get("names")
        if row is None and not (pattern and re.fullmatch(pattern, name)):
            if pattern:
                what = f"no data set of {self.prefix} is called '{name}'"
                raise InputError(what, remedy=f"give {self.table.get('form', pattern)}")
            raise unknown_name(f"data set of {self.prefix}", name, self.graphs)
        row = row or {}
        known: dict[str, Any] = {key: row.get(key) for key in ("directed", "vertices", "lines", "sha256", "digest")}
        words = {"name": name, "last": name.rpartition("/")[2], "family": name.rpartition(".")[0]}
        table = self.table | row
        size = row.get("bytes", row.get("about_bytes"))
        return Dataset(
            self.prefix,
            name,
            **{key: table.get(key, "") for key in ("title", "licence", "citation")},
            urls=tuple(url.format(**words) for url in table.get("urls", ())),
            shipped=table.get("shipped", "").format(**words),
            member=table.get("member", "").format(**words),
            format=table.get("format"),
            bytes=size,
            rounded="bytes" not in row,
            **known,
        )

    def no_longer(self, name: str) -> InputError:
        """Return the error for a name of a collection that is gone, with its twin elsewhere."""
        twins: dict[str, str] = self.table.get("twins", {})
        near = difflib.get_close_matches(name, twins, n=1, cutoff=0.6)
        listed = [f"{other.prefix}:{known}" for other in registry().values() for known in other.graphs]
        alike = difflib.get_close_matches(name, [one.partition(":")[2] for one in listed], n=1, cutoff=0.6)
        if near:
            remedy = f"the same network is {twins[near[0]]}"
        elif alike:
            remedy = f"perhaps {next(one for one in listed if one.partition(':')[2] == alike[0])} will do"
        else:
            remedy = "many of its networks are in snap: and in suitesparse:; see gpugraph datasets"
        return InputError(self.gone, where=f"{self.prefix}:{name}", remedy=remedy)


def registry() -> dict[str, Collection]:
    """Return the collections by prefix, a user's own laid over them.  Raises InputError if the user's list is bad."""
    return _merged(os.environ.get(OWN, ""))


@lru_cache(maxsize=8)
def _merged(own: str) -> dict[str, Collection]:
    shipped = Path(__file__).with_name("registry.toml")
    collections = _read(shipped)
    for prefix, more in _read(Path(own).expanduser()).items() if own else ():
        base = collections.get(prefix)
        table = {**(base.table if base else {}), **more.table}
        graphs = {**(base.graphs if base else {}), **more.graphs}
        if not table.get("gone") and not table.get("urls") and any("urls" not in row for row in graphs.values()):
            raise InputError(f"[{prefix}] has no urls", where=more.origin, remedy="see docs/datasets.md for the form")
        collections[prefix] = Collection(prefix, table, more.origin, graphs)
    return collections


def _read(path: Path) -> dict[str, Collection]:
    """Return the collections that a list has, its keys and their types checked."""
    try:
        tables = parse_toml(read_text(path))
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"the list of data sets cannot be read: {error}", where=path, remedy=_REMEDY) from None
    collections = {}
    with errors_at(path):
        for prefix, table in tables.items():
            _require(_PREFIX.fullmatch(prefix), f"[{prefix}] is no name of a collection")
            _check(f"[{prefix}]", table, _COLLECTION)
            graphs = table.pop("graphs", {})
            for name, row in graphs.items():
                _check(f"[{prefix}.graphs] {name}", row, _ROW)
                _require(_NAME.fullmatch(name), f"[{prefix}.graphs]: '{name}' is no name")
            collections[prefix] = Collection(prefix, table, os.fspath(path), graphs)
    return collections


def _require(met: object, what: str) -> None:
    if not met:
        raise InputError(what, remedy=_REMEDY)


def _check(where: str, table: Any, keys: dict[str, Any]) -> None:
    """Refuse a table that has other keys, or values of other types."""
    _require(isinstance(table, dict), f"{where} is no table")
    for key, value in table.items():
        check_name(f"key of {where}", key, keys)
        kind = keys[key]
        right = type(value) is kind and (kind is not int or value >= 0)
        right = right and (kind is not list or all(isinstance(url, str) for url in value))
        _require(right, f"{where}, {key} is {value!r}, no {kind.__name__}")
    _require(_SHA256.fullmatch(table.get("sha256", "0" * 64)), f"{where}, sha256 is not of 64 hexadecimal digits")
    for url in table.get("urls", ()):
        _require(re.match(r"https?://[^/]+/.*[^/]$", url), f"{where}: {url!r} is no URL of a file")
    for text in (*table.get("urls", ()), table.get("member", ""), table.get("shipped", "")):
        try:
            text.format(name="", last="", family="")
        except (LookupError, ValueError, AttributeError):
            _require(False, f"{where}: of the words in braces, {text!r} may have {{name}}, {{last}} and {{family}}")
    try:
        re.compile(table.get("names", ""))
    except re.error as error:
        _require(False, f"{where}, names is no regular expression: {error}")


def find(text: str) -> Dataset:
    """Return the data set that ``COLLECTION:NAME`` names.  Raises InputError if there is none, or it is gone."""
    prefix, _, name = text.partition(":")
    collection = registry().get(prefix)
    if collection is None:
        raise unknown_name("collection of data sets", prefix, registry())
    if collection.gone:
        raise collection.no_longer(name)
    if not _NAME.fullmatch(name):
        form = collection.table.get("form", f"{prefix}:NAME; gpugraph datasets lists them")
        raise InputError(f"'{name}' is no name of a data set", where=text, remedy=f"give {form}")
    return collection.dataset(name)


def listed() -> list[Dataset]:
    """Return the data sets that the lists name, in their order."""
    return [one.dataset(name) for one in registry().values() if not one.gone for name in one.graphs]
