"""An external command as an ``Algorithm``: its own times are the kernel's, what it prints or writes the answer."""

import contextlib
import hashlib
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import GpuGraphWarning, InputError
from gpugraph.base.host import available_memory
from gpugraph.base.quantities import counted, in_units
from gpugraph.ext.peers.adapter import Figure, PrintedFigure, load_peered
from gpugraph.ext.peers.command import CommandPeer, filled, placeholders
from gpugraph.ext.peers.graph_files import ResultFile, altered_files, graph_file, most_result_bytes, result_path
from gpugraph.ext.peers.peer import (
    PeerRefused,
    PeerThrew,
    PeerTimedOut,
    judge,
    known_truth,
    read_number,
    threads_of,
    truth_of,
)
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView, ResidentView
from gpugraph.problems.algorithm import Algorithm, Option
from gpugraph.problems.contract import Verdict, worst

# ------------------------------------------------------------------ one run of a command
# To its end or to its time limit, in a process group of its own; what it printed is kept.

MOST_OUTPUT = 8 << 20
"""Bytes kept of each output, of its end: enough for any program that prints times, and no threat to memory."""

MOST_WRITTEN = 1 << 30
"""Bytes of a file that a command writes, or prints, besides its answer."""

MOST_MEMORY = 0.9
"""The share of the memory that is free at its start that each process of a command may take for its data."""

MOST_CAPTURED = 100
"""Characters of a number that a pattern finds: no time and no total is longer."""

MATCHING_S = 10.0
"""Seconds after which a pattern that still looks for its match is given up: some never end."""

_SHORTEST_S, _LONGEST_S = 1e-12, 1e12
"""Seconds of the times that a program may print: of others no rate could be computed, or recorded."""

_MOST_OF_WHOLE = 2.0
"""A program's own times add up to no more than this multiple of the wall clock of its process."""

MOST_FOUND = 1 << 20
"""Numbers that a pattern may find in one output: more than the times of the most runs that a table can ask for."""

_LONGEST_WAIT_S = 1e6
"""No selector waits for longer than some weeks."""

_ENDING_S = 10.0
"""Seconds that the supervisor has for killing what a command has left behind."""

MOST_LINES, MOST_WORDS = 3, 400
"""Lines and characters of an error that a message repeats: an exception and where it came from."""

_SUPERVISOR = str(Path(__file__).with_name("supervise.py"))
_MATCHER = str(Path(__file__).with_name("matching.py"))


def find_program(name: str, where: str) -> str:
    """Return the path of a program; raise PeerRefused if there is none of that name."""
    found = shutil.which(name)
    if found is None:
        kind = "file" if os.sep in name else "program on PATH"
        raise PeerRefused(f"there is no {kind} '{name}' to run", where=where, remedy="install it or give its full path")
    return found


@dataclass(frozen=True)
class Printed:
    """What a command printed, its standard output and its standard error; the seconds from its start to its end.

    ``held_bytes`` is the memory that its largest process held at most.
    """

    output: str
    errors: str
    seconds: float
    held_bytes: int = 0

    @property
    def text(self) -> str:
        """Both, one after the other, for patterns to look through."""
        return f"{self.output}\n{self.errors}"

    @property
    def last_words(self) -> str:
        """The end of what it printed as an error, else of its output; or that there was nothing."""
        for text in (self.errors, self.output):
            lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
            if lines:
                said = " | ".join(lines[-MOST_LINES:])
                return said if len(said) <= MOST_WORDS else f"…{said[-MOST_WORDS:]}"
        return ""


def run_command(
    words: Sequence[str],
    timeout_s: float,
    where: str,
    env: Mapping[str, str] | None = None,
    most_bytes: int = MOST_WRITTEN,
) -> Printed:
    """Return what a command printed; no shell reads its words, and ``env`` is added to its environment.

    What it leaves behind is killed at its end, no file that it writes grows beyond ``most_bytes``, and none of its
    processes takes more than ``MOST_MEMORY``.  Raises PeerTimedOut after ``timeout_s`` seconds, and PeerThrew for
    another exit code than 0, with what it printed as an error.
    """
    most_memory = int(MOST_MEMORY * available_memory())
    reading, writing = os.pipe()
    with (
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
        open(reading, "rb") as report,
        selectors.DefaultSelector() as ended,
    ):
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", _SUPERVISOR, *map(str, (writing, most_bytes, most_memory)), *words],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=errors,
                env={**os.environ, **(env or {})},
                pass_fds=[writing],
                start_new_session=True,
            )
        finally:
            os.close(writing)
        ended.register(report, selectors.EVENT_READ)
        try:
            if not ended.select(min(timeout_s, _LONGEST_WAIT_S)):  # Popen.wait would sleep for up to 50 ms too long
                what = f"it still ran after {timeout_s:g} s and was killed"
                raise PeerTimedOut(what, where=where, remedy="raise its timeout, or take a smaller graph")
        finally:
            _end(process)
        reported = report.read().split() or (process.returncode, "nan", 0)  # who kills the group kills it too
        code, seconds, held = int(reported[0]), float(reported[1]), int(reported[2])
        printed = Printed(_end_of(output), _end_of(errors), seconds, held)
    if code != 0:
        said = f": {printed.last_words}" if printed.last_words else ", and printed nothing"
        what = f"it ended {_manner(code, most_bytes)}{_memory(code, printed, most_memory)}{said}"
        raise PeerThrew(what, where=where)
    return printed


def _end_of(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - MOST_OUTPUT))
    return file.read().decode("utf-8", "replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let the supervisor end all that runs, then kill what is left of its process group."""
    assert process.stdin is not None
    process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_ENDING_S)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _manner(code: int, most_bytes: int = MOST_WRITTEN) -> str:
    """Return how a command ended: by a signal, with what may be the reason, or with its exit code."""
    if code >= 0:
        return f"with exit code {code}"
    if -code == signal.SIGXFSZ:
        return f"by SIGXFSZ: a file that it wrote grew beyond {in_units(most_bytes)}"
    with suppress(ValueError):  # of signals without a name
        return f"by {signal.Signals(-code).name}"
    return f"by signal {-code}"


_NO_MEMORY = re.compile(r"bad_?alloc|memory ?error|out of memory|cannot allocate|alloc\w* failed", re.IGNORECASE)
"""What programs print when they get no more memory."""


def _memory(code: int, printed: Printed, most: int) -> str:
    """Return what a command that failed held of memory and might hold, where that may be why; else nothing."""
    held = printed.held_bytes
    if held and (-code == signal.SIGKILL or 2 * held > most or _NO_MEMORY.search(printed.errors)):
        return f", having held {in_units(held)} of memory, of which it may take {in_units(most)}"
    return ""


_MOST_ZEROS = 30

_PRINTED_VERSION = re.compile(
    r'^version: (.{1,200})$|^\{"schema": .{1,99}"algorithm": "([\w-]+)".*"sources_sha256": "(\w{64})"', re.MULTILINE
)
"""How a program names itself in its output (``docs/examples/gpugraph_peer.h``); gpugraph does it in its record."""


_LAST_RUN = [""]
"""The command that ran last, which has changed a file that is found changed."""


@dataclass
class _State:
    graph: CSRGraph
    peer: CommandPeer
    values: dict[str, str]
    program: str
    first: list[Any] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class CommandAnswer:
    """What a command said of one query.

    Attributes:
        texts: the different figures that its runs printed; empty where no pattern looks for one.
        first: the answer of the first sample, shared by all samples of a state.
    """

    graph: CSRGraph
    problem: str
    query: tuple[Any, ...]
    texts: tuple[str, ...]
    first: "list[CommandAnswer]" = field(default_factory=list)

    @property
    def _printed(self) -> PrintedFigure:
        return load_peered(self.problem).printed

    @property
    def truth_is_known(self) -> bool:
        """Whether the figure to compare with has been computed already."""
        return known_truth(self.graph, self.problem, self.query) is not None

    @property
    def reached(self) -> NDArray[np.bool_]:
        """(n,) bool: the vertices that shortest paths lead to, which a right answer covers."""
        truth = known_truth(self.graph, self.problem, self.query) or truth_of(self.graph, self.problem, self.query)
        assert truth.reached is not None
        return truth.reached

    def judge(self, query: tuple[Any, ...], method: str) -> Verdict:
        """Return the verdict on the printed figures; without one there is nothing to check."""
        if not self.texts:
            return Verdict("skipped", "none", "the command prints no answer that a pattern looks for")
        methods = ("certificate", "reference") if method == "both" else (method,)
        truths = [truth_of(self.graph, self.problem, self.query, one) for one in methods]
        verdicts = [judge(truth, text, self._printed.what) for truth in truths for text in self.texts]
        return replace(worst(verdicts), method=method)

    def summary(self) -> dict[str, Any]:
        """Return the ``result`` object of a record: only what the command said."""
        said: dict[str, Any] = {"source": self.query[0]} if self.query else {}
        if self.texts:
            said[self._printed.field] = _plain(self.texts[-1])
        return said

    def fingerprint(self) -> str:
        """Return the first sample's figures for all figures as right as those, else the answer's own."""
        if not self.first:
            self.first.append(self)
        first, truth = self.first[0], known_truth(self.graph, self.problem, self.query)
        if truth is not None and self._status(truth) == first._status(truth):
            return str(first.texts)
        return str(self.texts)

    def _status(self, truth: Figure) -> set[str]:
        return {judge(truth, text, self._printed.what).status for text in self.texts}

    def with_predecessors(self) -> NoReturn:
        """Refuse: a command prints figures, no paths."""
        raise InputError("an external command gives no predecessors", remedy="leave them out")


def command_algorithm(peer: CommandPeer, problem: str, device_kind: str) -> Algorithm:
    """Return a command as an algorithm; InputError if it is not for this problem or device, PeerRefused without it."""
    label = f"peer:{peer.name}"
    if problem != peer.problem:
        remedy = f"name a peer for {problem}; see: gpugraph algos --peers"
        raise InputError(f"it solves {peer.problem}, not {problem}", where=label, remedy=remedy)
    if device_kind != peer.device:
        remedy = f'use --device {peer.device}, or write device = "{device_kind}" in its table'
        raise InputError(f"its table says that it runs on '{peer.device}'", where=label, remedy=remedy)
    solves = load_peered(problem)
    figure = solves.printed
    kinds = [peer] if peer.reals is None else [peer, peer.reals]
    programs = {kind.words[0]: find_program(kind.words[0], label) for kind in kinds}
    mains, versions = {id(kind): _wrapped(kind.words) or kind.words[0] for kind in kinds}, dict[str, str]()
    for main in mains.values():
        find_program(main, label)

    def prepare(view: GraphView | ResidentView, device: object, **options: object) -> _State:
        graph = view.host.graph
        if several := next((name for name in peer.scanned if options[name] is None), None):
            remedy = f"choose one with --set {several}=…, or compare all of them: --peer {peer.name}"
            raise InputError(f"its table has several values of {several}", where=label, remedy=remedy)
        used = peer.reals or peer if graph.weights.dtype.kind == "f" else peer
        values = {f"graph.{name}": str(graph_file(graph, name, label)) for name in used.formats()}
        values |= {
            "threads": str(threads_of(device)),
            "runs": str(peer.runs),
            **{name: str(value) for name, value in options.items()},
        }
        state = _State(graph, used, values, programs[used.words[0]])
        values["result"] = str(result_path(graph, id(state)))  # the command before may name it, too
        return state

    def run(state: _State, clock: object, *query: int) -> tuple[tuple[float, ...], tuple[str, ...]]:
        """Return the seconds of each run that the process says it made, and the different figures that it printed."""
        peer, values = state.peer, {**state.values, "source": str(query[0]) if query else ""}
        result_path(state.graph, id(state))  # removes what an earlier run wrote
        words, env = [state.program, *filled(peer.words, values)[1:]], peer.environment(values)
        if files := altered_files(state.graph):
            what = f"{_LAST_RUN[0]} has changed {', '.join(files)}, which it was given to read; it is written anew"
            warnings.warn(what, GpuGraphWarning, stacklevel=2)
        _LAST_RUN[0] = label
        if peer.before:
            before = f"{label}, its command before"
            first, *rest = filled(peer.before, values)
            run_command([find_program(first, before), *rest], peer.timeout_s, before, env)
        most_bytes = MOST_WRITTEN + most_result_bytes(state.graph)
        printed = run_command(words, peer.timeout_s, label, env, most_bytes)
        if files := altered_files(state.graph):
            what = f"it has changed {', '.join(files)}, which it was given to read; it is written anew for others"
            raise PeerThrew(what, where=label, remedy="let it work on a copy")
        if (version := _PRINTED_VERSION.search(printed.text)) is not None:
            versions[os.path.basename(mains[id(peer)])] = " ".join(filter(None, version.groups()))
        patterns = {what: one for what, one in (("time", peer.time), (figure.what, peer.answer)) if one is not None}
        captured = _captured(patterns, printed, label) if patterns else {}
        seconds = _own_seconds(peer, captured["time"], label) if "time" in captured else (printed.seconds,)
        if sum(seconds) > _MOST_OF_WHOLE * printed.seconds:
            what = "the times that it printed add up to far more than its process took: is the unit in its table right?"
            warnings.warn(f"{label}: {what}", GpuGraphWarning, stacklevel=2)
        return seconds, tuple(dict.fromkeys(captured.get(figure.what, ())))

    def lengthen(state: _State, more: int) -> int:
        state.values["runs"] = str(peer.runs + more)
        return peer.runs

    def finish(state: _State, raw: tuple[object, tuple[str, ...]], *query: int) -> object:
        (_, answers), peer = raw, state.peer
        if not peer.writes_result:
            return CommandAnswer(state.graph, problem, query, answers, state.first)
        path, most_bytes = Path(state.values["result"]), most_result_bytes(state.graph)
        file = ResultFile(path, peer.first_vertex, peer.unreached, label, most_bytes)
        return _with_figures(solves.listed(file, state.graph, query, state.first), answers, figure, label)

    return Algorithm(
        problem=problem,
        name=label,
        devices=(peer.device,),
        summary=f"the command {peer.shown}",
        authors="external command",
        year=0,
        section=peer.shown,
        prepare=prepare,
        run=run,
        fetch=lambda state, handle: handle,
        finish=finish,
        options=tuple(
            Option(name, type(v), None if name in peer.scanned else v, "as its table says")
            for name, v in peer.options.items()
        ),
        own_seconds=lambda state, handle: handle[0],
        warms_itself=peer.time is not None,
        lengthen=lengthen if "runs" in placeholders((*peer.words, *peer.env.values())) else None,
        version=_version(peer),
        programs=lambda: [
            {"name": name, "sha256": digest, **({"version": versions[name]} if name in versions else {})}
            for name, digest in _programs(peer)
        ],
    )


def _own_seconds(peer: CommandPeer, times: Sequence[str], label: str) -> tuple[float, ...]:
    """Return the seconds of each run that a program measured itself, of the times that it printed."""
    if len(times) <= peer.warmup:
        what = f"it printed {counted(len(times), 'time')}, and the first {peer.warmup} are its warm-up"
        raise PeerThrew(what, where=label, remedy="let it make more runs, or lower warmup in its table")
    return tuple(_time(text, peer.unit_s, label) for text in times[peer.warmup :])


def _with_figures(result: Any, texts: tuple[str, ...], figure: PrintedFigure, label: str) -> Any:
    """Return what a result file holds; at fault where the program printed another total than that of its file."""
    if getattr(result, "fault", None) is not None or not texts:
        return result
    total = result.summary()[figure.field]
    own = Figure(total, 1e-5 * abs(total) if isinstance(total, float) else 0.0, "its result file")
    wrong = next((text for text in texts if judge(own, text, figure.what).status == "failed"), None)
    if wrong is None:
        return result
    what = f"it printed the {figure.what} {wrong}, and its result file has {total}"
    if not hasattr(result, "fault"):
        raise PeerThrew(what, where=label)
    return replace(result, fault=what)


def _wrapped(words: Sequence[str]) -> str:
    """Return the program that ``env NAME=VALUE … PROGRAM`` starts, or nothing."""
    if os.path.basename(words[0]) != "env":
        return ""
    return next((word for word in words[1:] if "=" not in word and not word.startswith(("-", "{"))), "")


def _version(peer: CommandPeer) -> int:
    """Return a number that changes with the table and with what every program and file holds that the command names.

    A copy of a program on another machine is the same program: a sweep that goes on there keeps what it has.
    """
    patterns = [pattern and pattern.pattern for pattern in (peer.time, peer.answer)]
    besides = " ".join(peer.before) + (str(peer.reals) if peer.reals else "")
    return zlib.crc32(f"{peer} {patterns} {[digest for _, digest in _programs(peer)]}{besides}".encode())


def _programs(peer: CommandPeer) -> list[tuple[str, str]]:
    """Return the programs and files that a command names: of each its name and the SHA-256 of its content."""
    words = (*peer.words, *(peer.reals.words if peer.reals else ()))
    files = dict.fromkeys(shutil.which(word) or word for word in words if "{" not in word)
    return [
        (os.path.basename(file), _sha256(file, os.stat(file).st_mtime_ns)) for file in files if os.path.isfile(file)
    ]


@lru_cache(maxsize=256)
def _sha256(file: str, changed_ns: int) -> str:
    """Return the SHA-256 of a file, which has changed at that time; nothing of one that cannot be read."""
    with contextlib.suppress(OSError), open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
    return ""


def _captured(patterns: Mapping[str, re.Pattern[str]], printed: Printed, where: str) -> dict[str, list[str]]:
    """Return by what it finds the groups of each pattern's matches.

    They are found in a process of their own, for a pattern may take for ever.  Raises PeerThrew for one that does, that
    finds nothing, or too much.
    """
    wanted = [pattern.pattern for pattern in patterns.values()]
    ask = json.dumps([wanted, printed.text, MOST_CAPTURED + 1, MOST_FOUND + 1]).encode()
    words = [sys.executable, "-I", "-S", _MATCHER]
    why = f"did not get through its output in {MATCHING_S:g} s"
    try:
        ended = subprocess.run(words, input=ask, capture_output=True, timeout=MATCHING_S)
        answer, why = ended.stdout, f"was not matched: the process that does it ended {_manner(ended.returncode)}"
    except subprocess.TimeoutExpired as late:
        answer = late.stdout or b""
    lines, captured = answer.split(b"\n")[:-1], dict[str, list[str]]()
    for i, (what, pattern) in enumerate(patterns.items()):
        if i == len(lines):
            text, remedy = f"the pattern '{pattern.pattern}' {why}", "write one without one repetition inside another"
            raise PeerThrew(text, where=where, remedy=remedy)
        found, whole = json.loads(lines[i])
        captured[what] = found
        remedy = "adjust the pattern in its table to its output"
        if len(found) > MOST_FOUND:
            raise PeerThrew(f"'{pattern.pattern}' matches more than {MOST_FOUND:,} times", where=where, remedy=remedy)
        if any(len(text) > MOST_CAPTURED for text in found):
            raise PeerThrew(f"it printed a {what} of more than {MOST_CAPTURED} characters", where=where, remedy=remedy)
        if whole:
            text = f"'{pattern.pattern}' captures a part of the number {whole[:MOST_CAPTURED]}"
            raise PeerThrew(text, where=where, remedy="let its group match the whole number: ([0-9.e+-]+)")
        if not found:
            said = f"; it ends in: {printed.last_words}" if printed.last_words else "; it printed nothing"
            raise PeerThrew(f"it printed no {what} that '{pattern.pattern}' matches{said}", where=where, remedy=remedy)
    return captured


def _time(text: str, unit_s: float, where: str) -> float:
    """Return a printed time in seconds; ``1,234`` is none, for the comma may be the point of another language."""
    value = None if re.fullmatch(r"\d+,\d+", text.strip()) else read_number(text)
    if value is None or not _SHORTEST_S <= (seconds := unit_s * float(value)) <= _LONGEST_S:
        remedy = "adjust the pattern in its table to its output"
        raise PeerThrew(f"it printed the time '{text}', which is no time to rate", where=where, remedy=remedy)
    return seconds


def _plain(text: str) -> int | float | str:
    """Return a printed figure as a number where it is one."""
    value = read_number(text)
    if value is None:
        return text
    exponent = value.as_tuple().exponent
    return int(value) if isinstance(exponent, int) and 0 <= exponent < _MOST_ZEROS else float(value)
