"""External commands as peers: the tables ``[peer.NAME]`` of a sweep, read and checked.

::

    [peer.ecl-mst]
    command = "ecl-mst {graph.egr}"          # no shell reads it; quotes group words
    time = 'runtime: ([0-9.e+-]+)'           # one group: the time that the program measured itself
    unit = "s"                               # s, ms or us
    weight = 'total weight: ([0-9]+)'        # one group: the answer to check; or distances = '…', their sum
    problem = "mst"                          # mst or sssp; where left out, sssp if the command takes {source}
    device = "cpu"                           # or cuda: which device its rows name
    timeout = "10m"                          # then its process group is killed

Placeholders: ``{graph.EXT}`` is the graph in a file of that format, ``{source}`` the 0-based source vertex and
``{threads}`` the threads of the CPU.  Where a pattern matches several times, its last match counts.
"""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpugraph.bench.peers.libraries import LIBRARIES
from gpugraph.errors import InputError, unknown_name
from gpugraph.quantities import parse_seconds

UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
FORMATS = ("csr", "egr", "el", "gr", "mtx", "sg", "wel", "wsg")
"""What ``{graph.EXT}`` may ask for."""

KEYS = ("command", "time", "unit", "weight", "distances", "problem", "device", "timeout")
DEVICES = ("cpu", "cuda")
DEFAULT_TIMEOUT_S = 600.0

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w.]*)\}")
_ANSWERS = {"mst": "weight", "sssp": "distances"}


@dataclass(frozen=True)
class CommandPeer:
    """An external program as a peer.

    Attributes:
        name: what it is called after ``peer:``.
        words: the program and its arguments, placeholders and all.
        time: pattern whose one group is the time in the output.
        unit_s: what that number counts, in seconds.
        problem: what it solves.
        answer: pattern whose one group is the total weight or the sum of the distances, or None.
        device: the kind of device it runs on.
        timeout_s: seconds until it is killed.
    """

    name: str
    words: tuple[str, ...]
    time: re.Pattern[str]
    unit_s: float
    problem: str
    answer: re.Pattern[str] | None = None
    device: str = "cpu"
    timeout_s: float = DEFAULT_TIMEOUT_S

    def formats(self) -> list[str]:
        """Return the endings of the graph files it is given."""
        named = {name for word in self.words for name in _PLACEHOLDER.findall(word) if name.startswith("graph.")}
        return sorted(name.removeprefix("graph.") for name in named)

    def filled(self, values: Mapping[str, str]) -> list[str]:
        """Return its words with every placeholder replaced."""
        return [_PLACEHOLDER.sub(lambda match: values[match[1]], word) for word in self.words]

    def describe(self) -> dict[str, Any]:
        """Return the peer's line in a list of peers."""
        return {
            "name": f"peer:{self.name}",
            "title": self.name,
            "problems": [self.problem],
            "device": self.device,
            "version": shlex.join(self.words),
            "install": "",
            "calls": {self.problem: shlex.join(self.words)},
            "methods": {},
        }


def read_tables(text: str) -> dict[str, Any]:
    """Return the tables that ``--peer-command`` names: those of a TOML file's ``[peer.NAME]``, or one in one line.

    Args:
        text: a file's name, or ``NAME = {command = "…", time = '…'}``.

    Raises:
        InputError: no such file, no TOML, or a bad table.
    """
    tables, where = _tables_of(text)
    parse_commands(tables, where)
    return tables


def _tables_of(text: str) -> tuple[dict[str, Any], str]:
    where = text if text.endswith(".toml") else "--peer-command"
    try:
        if text.endswith(".toml"):
            with open(text, "rb") as file:
                tables = tomllib.load(file).get("peer", {})
        else:
            tables = tomllib.loads(text)
    except OSError as error:
        raise InputError(f"cannot be read: {(error.strerror or str(error)).lower()}", where=where) from None
    except ValueError as error:
        remedy = "write NAME = {command = \"…\", time = '…'}, or name a file that ends in .toml"
        raise InputError(f"is no TOML: {error}", where=where, remedy=remedy) from None
    if not isinstance(tables, dict) or not tables:
        raise InputError("names no peer", where=where, remedy="write a table [peer.NAME]")
    return tables, where


def parse_commands(tables: Mapping[str, Any], where: str = "") -> dict[str, CommandPeer]:
    """Return the commands of the tables ``[peer.NAME]``.

    Args:
        tables: name → table, as TOML gives them.
        where: the file, for messages.

    Raises:
        InputError: a key is unknown, missing or not what it should be; the message names the table and the key.
    """
    return {name: _Table(name, table, where).command() for name, table in tables.items()}


class _Table:
    """One table while it is read."""

    def __init__(self, name: str, table: Any, where: str):
        self.name = name
        self.where = f"{where} [peer.{name}]".strip()
        if not isinstance(table, Mapping):
            raise InputError("is no table", where=self.where, remedy=f"write [peer.{name}]")
        self.table = table

    def command(self) -> CommandPeer:
        if self.name in LIBRARIES:
            raise InputError(f"'{self.name}' is a library's name", where=self.where, remedy="call it otherwise")
        if not _NAME.fullmatch(self.name):
            raise InputError("is no name", where=self.where, remedy="take letters, digits, dots and dashes")
        for key in self.table:
            if key not in KEYS:
                raise self._told(unknown_name("key", key, KEYS))
        words = self._words()
        problem = self._one_of("problem", tuple(_ANSWERS), "sssp" if any("{source}" in w for w in words) else "mst")
        self._check_placeholders(words, problem)
        pattern = self._pattern("time")
        if pattern is None:
            what = "lacks time, the pattern that finds the program's own time in its output"
            raise InputError(what, where=self.where, remedy="for example time = 'runtime: ([0-9.]+)'")
        for key in _ANSWERS.values():
            if key in self.table and key != _ANSWERS[problem]:
                raise InputError(
                    f"has {key}, but solves {problem}", where=self.where, remedy=f"use {_ANSWERS[problem]}"
                )
        return CommandPeer(
            self.name,
            words,
            pattern,
            UNITS[self._one_of("unit", tuple(UNITS), "s")],
            problem,
            self._pattern(_ANSWERS[problem]),
            self._one_of("device", DEVICES, "cpu"),
            self._seconds("timeout"),
        )

    def _told(self, error: InputError) -> InputError:
        return InputError(error.what, where=self.where, remedy=error.remedy)

    def _words(self) -> tuple[str, ...]:
        value = self.table.get("command")
        if isinstance(value, str):
            try:
                value = shlex.split(value)
            except ValueError as error:
                raise InputError(f"command: {str(error).lower()}", where=self.where, remedy="close the quote") from None
        if not isinstance(value, list) or not value or not all(isinstance(word, str) and word for word in value):
            remedy = f'for example command = "{self.name} {{graph.egr}}"'
            raise InputError("lacks command, the program and its arguments", where=self.where, remedy=remedy)
        return (os.path.expanduser(value[0]), *value[1:])

    def _check_placeholders(self, words: tuple[str, ...], problem: str) -> None:
        known = [f"graph.{ending}" for ending in FORMATS] + ["threads"] + ["source"] * (problem == "sssp")
        found = [name for word in words for name in _PLACEHOLDER.findall(word)]
        for name in found:
            if name not in known:
                raise self._told(unknown_name("placeholder", name, known))
        if not any(name.startswith("graph.") for name in found):
            what = "command never names the graph"
            raise InputError(what, where=self.where, remedy="put {graph.egr} or another format where the file belongs")

    def _pattern(self, key: str) -> re.Pattern[str] | None:
        value = self.table.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            raise InputError(f"{key} is {value!r}, no pattern", where=self.where, remedy=f"{key} = 'words: ([0-9.]+)'")
        try:
            pattern = re.compile(value, re.MULTILINE)
        except re.error as error:
            remedy = "correct the regular expression"
            raise InputError(f"{key}: {error}", where=self.where, remedy=remedy) from None
        if pattern.groups != 1:
            what = f"{key} has {pattern.groups} groups, not one"
            raise InputError(what, where=self.where, remedy="put the number alone in (…), other groups in (?:…)")
        return pattern

    def _one_of(self, key: str, names: tuple[str, ...], default: str) -> str:
        value = self.table.get(key, default)
        if value not in names:
            raise self._told(unknown_name(key, str(value), names))
        return str(value)

    def _seconds(self, key: str) -> float:
        if key not in self.table:
            return DEFAULT_TIMEOUT_S
        try:
            return parse_seconds(self.table[key])
        except InputError as error:
            raise InputError(f"{key}: {error.what}", where=self.where, remedy=error.remedy) from None
