"""External commands as peers: the tables ``[peer.NAME]`` of a sweep, read and checked.

::

    [peer.gap]
    command = "sssp -f {graph.wsg} -r {source} -n {runs} -d {delta}"   # no shell reads it; quotes group words
    time = 'Trial Time: +([0-9.e+-]+)'       # one group: the time that the program measured itself, of each of its runs
                                             # "whole": the wall clock, from its start to its end
    runs = 6                                 # how many runs it is asked for; --energy asks for more
    warmup = 1                               # its first times that do not count, of each process
    unit = "s"                               # s, ms or us
    distances = 'sum: ([0-9]+)'              # one group: the answer to check; or weight = '…', of a forest
    options = { delta = 16 }                 # parameters for --set, each with its placeholder; "1..8" tries all of them
    before = "sync"                          # a command that is run before each start, outside of all timing
    reals = "sssp-double {graph.csr} {result}"   # the command in its place where the graph's weights are reals
    env = { OMP_NUM_THREADS = "{threads}" }  # the environment that it gets besides
    problem = "sssp"                         # or another; where left out, sssp if the command takes {source}
    device = "cpu"                           # or cuda: which device its rows name
    timeout = "10m"                          # then its process group is killed

Placeholders: ``{graph.NAME}`` is the graph in a file of that format, ``{source}`` the 0-based source vertex,
``{threads}`` the threads of the CPU, ``{runs}`` the runs that a process makes, ``{result}`` a file that the program
writes its whole answer to (``graph_files.py``).
"""

import os
import re
import shlex
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpugraph.base.errors import InputError, check_name, errors_at
from gpugraph.base.files import parse_toml, read_text, resource_dir
from gpugraph.base.quantities import counted, parse_seconds
from gpugraph.bench.axes import expand
from gpugraph.ext.peers.adapter import peered_problems
from gpugraph.ext.peers.libraries import LIBRARIES
from gpugraph.problems.contract import problem_called

WHOLE = "whole"
"""In place of a pattern for a time: the wall clock of the command."""

UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
FORMATS = ("adj", "csr", "egr", "el", "galois", "gr", "mtx", "sg", "wel", "wsg")
"""What ``{graph.NAME}`` may ask for."""

KEYS = (
    "command", "reals", "before", "time", "runs", "warmup", "unit", "first_vertex", "unreached", "options", "env",
    "problem", "device", "timeout",
)  # fmt: skip
"""What every table may have; besides, of each problem the key of the figure that is printed."""
DEVICES = ("cpu", "cuda")
DEFAULT_TIMEOUT_S = 600.0
DEFAULT_RUNS = 5

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w.-]*)\}")
_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_OPTION = re.compile(r"[A-Za-z_][\w-]*")
_OWN = ("source", "threads", "result", "runs", "graph")


@dataclass(frozen=True)
class CommandPeer:
    """An external program as a peer.

    Attributes:
        name: what it is called after ``peer:``.
        words: the program and its arguments, placeholders and all.
        time: pattern whose one group is the time of a run in the output, or None for that of the whole command.
        unit_s: what that number counts, in seconds.
        answer: pattern whose one group is the total weight or the sum of the distances, or None.
        timeout_s: seconds until it is killed.
        runs: how many runs a process is asked for, by ``{runs}``.
        warmup: the first so many times of a process do not count.
        first_vertex: the number of the first vertex in the result file, 0 or 1.
        unreached: what the result file has for a vertex without a path, besides ``inf`` and ``-1``.
        options: parameter → its default.
        scanned: parameter → the values that a sweep tries, of those whose table has several.
        before: a command that is run before each start of the program, placeholders and all.
        env: variables of its environment, placeholders and all.
        reals: the peer in its place where the weights of the graph are reals, if there is one.
    """

    name: str
    words: tuple[str, ...]
    time: re.Pattern[str] | None
    unit_s: float
    problem: str
    answer: re.Pattern[str] | None = None
    device: str = "cpu"
    timeout_s: float = DEFAULT_TIMEOUT_S
    runs: int = DEFAULT_RUNS
    warmup: int = 0
    first_vertex: int = 0
    unreached: str = ""
    options: Mapping[str, int | float | str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    scanned: Mapping[str, list[int | float | str]] = field(default_factory=dict, repr=False)
    before: tuple[str, ...] = field(default=(), repr=False)
    reals: "CommandPeer | None" = field(default=None, repr=False)

    @property
    def shown(self) -> str:
        """Its command, and that for real weights if it has one."""
        return shlex.join(self.words) + (f"; of real weights {self.reals.shown}" if self.reals else "")

    @property
    def writes_result(self) -> bool:
        """Whether it writes its whole answer to a file."""
        return "result" in placeholders((*self.words, *self.env.values()))

    def formats(self) -> list[str]:
        """Return the formats of the graph files it is given."""
        words = (*self.words, *self.before, *self.env.values())
        named = {name for name in placeholders(words) if name.startswith("graph.")}
        return sorted(name.removeprefix("graph.") for name in named)

    def environment(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return the variables that its environment gets, with every placeholder replaced."""
        return dict(zip(self.env, filled(self.env.values(), values), strict=True))

    def describe(self) -> dict[str, Any]:
        """Return the peer's line in a list of peers."""
        return {
            "name": f"peer:{self.name}",
            "title": self.name,
            "problems": [self.problem],
            "device": self.device,
            "version": self.shown,
            "install": "",
            "calls": {self.problem: self.shown},
            "methods": {},
            "scanned": self.scanned,
        }


def placeholders(words: Iterable[str]) -> list[str]:
    """Return the names of the placeholders in some words, in order."""
    return [name for word in words for name in _PLACEHOLDER.findall(word)]


def filled(words: Iterable[str], values: Mapping[str, str]) -> list[str]:
    """Return words with every placeholder replaced."""
    return [_PLACEHOLDER.sub(lambda match: values[match[1]], word) for word in words]


def read_tables(text: str) -> dict[str, Any]:
    """Return the tables ``[peer.NAME]`` of a TOML file, or the one in the text; raise InputError for a bad one.

    The file ``peers.toml`` is that of ``configs/`` where there is none here.
    """
    is_file = text.endswith(".toml")
    if text == "peers.toml" and not os.path.exists(text):
        text = str(resource_dir("configs") / text)
    where, content = (text, read_text(text)) if is_file else ("--peer-command", text)
    try:
        tables: Any = parse_toml(content)
    except ValueError as error:
        remedy = "write NAME = {command = \"…\", time = '…'}, or name a file that ends in .toml"
        line, what = re.search(r"at line (\d+)", str(error)), re.sub(r" *\(at .*\)", "", str(error))
        place = f"{where} line {line[1] if line else len(content.splitlines())}" if is_file else where
        raise InputError(f"is no TOML: {what}", where=place, remedy=remedy) from None
    tables = tables.get("peer") if is_file else tables
    if not isinstance(tables, dict) or not tables:
        raise InputError("names no peer", where=where, remedy="write a table [peer.NAME]")
    parse_commands(tables, where, content if is_file else "")
    return tables


def parse_commands(tables: Mapping[str, Any], where: str = "", text: str = "") -> dict[str, CommandPeer]:
    """Return the commands of tables ``[peer.NAME]``; raise InputError for a bad one.

    It names ``where``, the line in the file's ``text`` in which the table begins, the table and the key.
    """
    found = {}
    for name, table in tables.items():
        with errors_at(f"{where}{_line(name, text)} [peer.{name}]".strip()):
            found[name] = _command(name, table)
    return found


def _line(name: str, text: str) -> str:
    """Return where a table begins in a file, as it goes behind the file's name; nothing where that is not found."""
    own = rf"[\"']?{re.escape(name)}[\"']?\s*"
    begin = re.compile(rf"\s*(\[\s*)?(peer\s*\.\s*)?{own}[].=]")
    return next((f" line {i}" for i, line in enumerate(text.splitlines(), 1) if begin.match(line)), "")


def _command(name: str, table: object) -> CommandPeer:
    """Return the command of one table."""
    if not isinstance(table, Mapping):
        raise InputError("is no table", remedy=f"write [peer.{name}]")
    for key, value in table.items():
        if any("\0" in text for text in _texts(value)):
            raise InputError(f"{key} holds the character of code 0", remedy="no program can be given it: leave it out")
    if name in LIBRARIES:
        raise InputError(f"'{name}' is a library's name", remedy="call it otherwise")
    if not _NAME.fullmatch(name):
        raise InputError("is no name", remedy="take letters, digits, dots and dashes")
    problems = peered_problems()
    queries = {solved: problem_called(solved).query_fields for solved in problems}
    answers = {solved: problem.printed.key for solved, problem in problems.items()}
    for key in table:
        check_name("key", key, (*KEYS, *answers.values()))
    words = _words(table.get("command"), name)
    before = _words(table["before"], name, "before") if "before" in table else ()
    env, scanned = _env(table.get("env", {})), _options(table.get("options", {}))
    options = {option: values[0] for option, values in scanned.items()}
    names = placeholders((*words, *env.values()))
    fits = max(problems, key=lambda solved: len({*queries[solved]} & {*names}))  # the first of equals
    given = {
        "problem": fits,
        "unit": "s",
        "device": "cpu",
        "runs": DEFAULT_RUNS,
        "warmup": 0,
        "first_vertex": 0,
        **table,
    }
    for key, known in (("problem", problems), ("unit", UNITS), ("device", DEVICES)):
        check_name(key, str(given[key]), known)
    problem = given["problem"]
    _check_placeholders(names, placeholders(before), queries[problem], options)
    pattern = _time_pattern(table)
    others = {*answers.values()} - {answers[problem]}
    for key in table:
        if key in others:
            raise InputError(f"has {key}, but solves {problem}", remedy=f"use {answers[problem]}")
    for key, least, most in (("runs", 1, 1_000_000), ("warmup", 0, 1000), ("first_vertex", 0, 1)):
        if type(given[key]) is not int or not least <= given[key] <= most:
            raise InputError(f"{key} is {given[key]!r}", remedy=f"give a whole number from {least} to {most}")
    mark = table.get("unreached", "")
    if type(mark) not in (str, int, float) or re.search(r"[\s,;:]", str(mark)):
        raise InputError(f"unreached is {mark!r}", remedy="give the one word or number that the {result} file has")
    if "runs" in names and table.get("time") == WHOLE:
        raise InputError("has {runs}, but times the whole command", remedy="write 1 there, or a pattern for time")
    if "runs" in table and "runs" not in names:
        raise InputError("runs is nowhere in the command", remedy="put {runs} where it belongs")
    with errors_at("timeout"):
        timeout_s = parse_seconds(table["timeout"]) if "timeout" in table else DEFAULT_TIMEOUT_S
    return CommandPeer(
        name,
        words,
        pattern,
        UNITS[given["unit"]],
        problem,
        answer=_pattern(answers[problem], table.get(answers[problem])),
        timeout_s=timeout_s,
        unreached=str(mark),
        options=options,
        scanned={option: values for option, values in scanned.items() if len(values) > 1},
        before=before,
        env=env,
        reals=_of_reals(name, {**table, "problem": problem}, answers[problem], {*names} & {*queries[problem]}),
        **{key: given[key] for key in ("device", "runs", "warmup", "first_vertex")},
    )


def _of_reals(name: str, table: Mapping[str, Any], answer: str, query: Iterable[str]) -> CommandPeer | None:
    """Return the peer that a table has for real weights; a file that it writes is all of its answer.

    ``query`` are the placeholders of the table's command that name a query, as ``{source}`` does; this one needs them.
    """
    if "reals" not in table:
        return None
    words = _words(table["reals"], name, "reals")
    dropped = {"reals", answer} if "result" in placeholders(words) else {"reals"}
    with errors_at("reals"):
        for lacking in {*query} - {*placeholders((*words, *_env(table.get("env", {})).values()))}:
            raise InputError(f"the command lacks {{{lacking}}}", remedy=f"put {{{lacking}}} where it belongs")
        return _command(name, {**{key: table[key] for key in table if key not in dropped}, "command": [*words]})


def _texts(value: object) -> Iterable[str]:
    """Yield every text of a value of a table."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | Mapping):
        for part in (*value, *value.values()) if isinstance(value, Mapping) else value:
            yield from _texts(part)


def _time_pattern(table: Mapping[str, Any]) -> re.Pattern[str] | None:
    """Return the pattern that finds the program's own time, None where the whole command is timed."""
    if table.get("time") != WHOLE:
        pattern = _pattern("time", table.get("time"))
        if pattern is None:
            what = "lacks time, the pattern that finds the program's own time in its output"
            raise InputError(what, remedy="for example time = 'runtime: ([0-9.]+)'")
        return pattern
    for key in ("unit", "runs", "warmup"):
        if key in table:
            what = f"has {key}, which is for times that the program prints"
            raise InputError(what, remedy=f"leave {key} out, or time")
    return None


def _words(value: object, name: str, key: str = "command") -> tuple[str, ...]:
    if isinstance(value, str):
        try:
            value = shlex.split(value)
        except ValueError as error:
            raise InputError(f"{key}: {str(error).lower()}", remedy="close the quote") from None
    if not isinstance(value, list) or not value or not all(isinstance(word, str) and word for word in value):
        remedy = f'for example {key} = "{name} {{graph.egr}}"'
        raise InputError(f"lacks {key}, a program and its arguments", remedy=remedy)
    return (os.path.expanduser(value[0]), *value[1:])


def _env(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(v, str | int) for v in value.values()):
        raise InputError("env is no table of texts", remedy='for example env = { OMP_NUM_THREADS = "{threads}" }')
    for name in value:
        if not _VARIABLE.fullmatch(name):
            what = f"env: '{name}' is no name of a variable"
            raise InputError(what, remedy="take letters, digits and underscores, no digit first")
    return {name: str(text) for name, text in value.items()}


def _options(value: object) -> dict[str, list[Any]]:
    """Return the values of each parameter: one, or those of a list or a range as an axis has them."""
    found: dict[str, list[Any]] = {}
    for name, given in value.items() if isinstance(value, Mapping) else ():
        with errors_at(f"options.{name}"):
            found[name] = expand(given)
    if not isinstance(value, Mapping) or not all(isinstance(v, int | float | str) for vs in found.values() for v in vs):
        what = "options is no table of parameters with their defaults"
        raise InputError(what, remedy='for example options = { delta = 16 }, or { delta = "4..64 x2" } to try several')
    for name in value:
        if not _OPTION.fullmatch(name) or name in _OWN:
            what = f"the option '{name}' cannot be called so"
            raise InputError(what, remedy="take letters, digits and dashes, and none of ours")
    return found


def _check_placeholders(found: list[str], before: list[str], asked: Iterable[str], options: Iterable[str]) -> None:
    known = [f"graph.{name}" for name in FORMATS] + ["threads", "result", "runs", *options, *asked]
    for name in (*found, *before):
        check_name("placeholder", name, known)
    for name in options:
        if name not in (*found, *before):
            what = f"the option '{name}' is nowhere in the command"
            raise InputError(what, remedy=f"put {{{name}}} where its value belongs")
    if not any(name.startswith("graph.") for name in found):
        remedy = "put {graph.egr} or another format where the file belongs"
        raise InputError("command never names the graph", remedy=remedy)


def _pattern(key: str, value: object) -> re.Pattern[str] | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise InputError(f"{key} is {value!r}, no pattern", remedy=f"{key} = 'words: ([0-9.]+)'")
    try:
        with warnings.catch_warnings(action="error"):  # what may mean another thing in a later Python
            pattern = re.compile(value, re.MULTILINE)
    except (re.error, RecursionError, OverflowError, Warning) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"{key}: {why}", remedy="correct the regular expression") from None
    if pattern.groups != 1:
        what = f"{key} has {counted(pattern.groups, 'group')}, not one"
        raise InputError(what, remedy="put the number alone in (…), other groups in (?:…)")
    return pattern
