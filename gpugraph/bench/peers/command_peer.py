"""An external command as an ``Algorithm``: its own time is the kernel's, its printed figure the answer to check."""

from __future__ import annotations

import math
import os
import re
import shlex
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.bench.peers.command import CommandPeer
from gpugraph.bench.peers.errors import PeerThrew
from gpugraph.bench.peers.graph_files import graph_file
from gpugraph.bench.peers.peer import threads_of
from gpugraph.bench.peers.process import find_program, run_command
from gpugraph.bench.peers.truth import truth_of
from gpugraph.errors import InputError
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contract import Verdict

_WHAT = {"mst": "total weight", "sssp": "sum of the distances"}
_FIELD = {"mst": "total_weight", "sssp": "distance_sum"}


@dataclass
class _State:
    graph: CSRGraph
    values: dict[str, str]
    program: str
    first: list[CommandAnswer] = field(default_factory=list)


@dataclass(frozen=True)
class _Finished:
    """One run: the seconds it says it took, and the figure it printed."""

    seconds: float
    answer: str | None


@dataclass(frozen=True, eq=False)
class CommandAnswer:
    """What a command said of one query.

    Attributes:
        text: the figure as it was printed, or None where no pattern looks for one.
        first: the answer of the first sample, shared by all samples of a state.
    """

    graph: CSRGraph
    problem: str
    query: tuple[Any, ...]
    text: str | None
    first: list[CommandAnswer] = field(default_factory=list)

    @property
    def reached(self) -> NDArray[np.bool_]:
        """(n,) bool: the vertices that shortest paths lead to, which a right answer stands for."""
        reached = truth_of(self.graph, self.problem, self.query).reached
        assert reached is not None
        return reached

    def judge(self, query: tuple[Any, ...], method: str) -> Verdict:
        """Return the verdict on the printed figure; without one there is nothing to check."""
        if self.text is None:
            return Verdict("skipped", "none", "the command prints no answer that a pattern looks for")
        return truth_of(self.graph, self.problem, self.query).judge(self.text, _WHAT[self.problem])

    def summary(self) -> dict[str, Any]:
        """Return the ``result`` object of a record: only what the command said."""
        said: dict[str, Any] = {"source": self.query[0]} if self.query else {}
        if self.text is not None:
            said[_FIELD[self.problem]] = _plain(self.text)
        return said

    def fingerprint(self) -> str:
        """Return the first sample's figure for every figure as right as that, else the answer's own."""
        if not self.first:
            self.first.append(self)
        first = self.first[0]
        if self.text == first.text or self.judge((), "").status == first.judge((), "").status:
            return str(first.text)
        return str(self.text)

    def with_predecessors(self) -> CommandAnswer:
        """Refuse: a command prints figures, no paths.

        Raises:
            InputError: always.
        """
        raise InputError("an external command gives no predecessors", remedy="leave them out")


def command_algorithm(peer: CommandPeer, problem: str, device_kind: str) -> Algorithm:
    """Return an external command as an algorithm.

    Raises:
        InputError: it solves another problem, or its table names another device.
        PeerRefused: its program is not there.
    """
    label = f"peer:{peer.name}"
    if problem != peer.problem:
        raise InputError(f"it solves {peer.problem}, not {problem}", where=label)
    if device_kind != peer.device:
        remedy = f'use --device {peer.device}, or write device = "{device_kind}" in its table'
        raise InputError(f"its table says that it runs on '{peer.device}'", where=label, remedy=remedy)
    program = find_program(peer.words[0], label)

    def prepare(view: Any, device: Any) -> _State:
        graph = getattr(view, "host", view).graph
        files = {f"graph.{ending}": str(graph_file(graph, ending, label)) for ending in peer.formats()}
        return _State(graph, {**files, "threads": str(threads_of(device))}, program)

    def run(state: _State, clock: Any, *query: Any) -> _Finished:
        values = {**state.values, "source": str(query[0]) if query else ""}
        words = [state.program, *peer.filled(values)[1:]]
        output = run_command(words, peer.timeout_s, label)
        seconds = peer.unit_s * _time(_last(peer.time, output, "time", label), label)
        answer = _last(peer.answer, output, _WHAT[problem], label) if peer.answer is not None else None
        return _Finished(seconds, answer)

    def finish(state: _State, raw: _Finished, *query: Any) -> CommandAnswer:
        return CommandAnswer(state.graph, problem, query, raw.answer, state.first)

    shown = shlex.join(peer.words)
    return Algorithm(
        problem=problem,
        name=label,
        devices=(peer.device,),
        summary=f"the command {shown}",
        authors="external command",
        year=0,
        section=shown,
        prepare=prepare,
        run=run,
        fetch=lambda state, handle: handle,
        finish=finish,
        own_seconds=lambda state, handle: float(handle.seconds),
        version=_version(peer, program),
    )


def _version(peer: CommandPeer, program: str) -> int:
    """Return a number that changes with the table and with the program's file."""
    state = os.stat(program)
    told = f"{peer.words} {peer.time.pattern} {peer.unit_s} {peer.answer} {state.st_size} {state.st_mtime_ns}"
    return zlib.crc32(told.encode())


def _last(pattern: re.Pattern[str], output: str, what: str, where: str) -> str:
    """Return the group of a pattern's last match.

    Raises:
        PeerThrew: there is none.
    """
    found = None
    for match in pattern.finditer(output):
        found = match[1]
    if found is None:
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        said = f"; its last line is: {lines[-1][:200]}" if lines else "; it printed nothing"
        raise PeerThrew(f"it printed no {what} that '{pattern.pattern}' matches{said}", where=where)
    return found


def _time(text: str, where: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise PeerThrew(f"it printed the time '{text}', which is no time to rate", where=where)
    return number


def _plain(text: str) -> int | float | str:
    """Return a printed figure as a number where it is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
