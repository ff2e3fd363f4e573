"""A library as a peer: what each must offer, how that becomes an ``Algorithm``, and the errors that one may end in.

Each class of them names the outcome that the bench records.  A peer that gives a wrong result raises nothing: its
record's verification has failed, outcome ``"wrong"``.
"""

from __future__ import annotations

import importlib.util
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module, metadata
from typing import Any

from gpugraph.errors import GpuGraphError, InputError, in_one_line
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.algorithm import Adapter, Algorithm, Option
from gpugraph.problems.contract import PROBLEMS, problem_called
from gpugraph.problems.registry import load_peered, load_problem

_REFUSAL = re.compile(
    r"disconnected|(not|be) connected|not (yet |currently )?(supported|implemented|available)|unsupported",
    re.IGNORECASE,
)


class PeerError(GpuGraphError):
    """Base of what a peer can end in; ``outcome`` is the word for its row."""

    outcome = "threw"
    exit_code = 1


class PeerRefused(PeerError):
    """The peer cannot do this: it is not installed, lacks the feature, or does not take such a graph."""

    outcome = "refused"
    exit_code = 2


class PeerThrew(PeerError):
    """The peer failed of itself: an exception, a non-zero exit, or output that says nothing."""


class PeerTimedOut(PeerThrew):
    """The peer still ran at its time limit and was killed."""

    outcome = "timeout"


def guarded(function: Callable[..., Any], peer: str) -> Callable[..., Any]:
    """Return ``function`` with whatever a peer raises told as PeerRefused or PeerThrew, in one line."""

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (GpuGraphError, MemoryError):
            raise
        except (ImportError, NotImplementedError) as error:
            raise PeerRefused(in_one_line(error), where=peer) from error
        except (Exception, SystemExit) as error:
            raise _told(error, peer) from error
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # what Rust code raises is no Exception
                raise
            raise _told(error, peer) from error

    return call


def _told(error: BaseException, peer: str) -> PeerError:
    text = in_one_line(error)
    return (PeerRefused if _REFUSAL.search(text) else PeerThrew)(text, where=peer)


# ------------------------------------------------------------------ what becomes of a peer


@dataclass(frozen=True)
class Peer:
    """A library that may be installed.

    Attributes:
        name: what ``--peer`` calls it.
        title: what people call it.
        module: what is imported.
        distributions: the packages it may come in.
        install: the command that installs it.
        authors, year: of the paper to cite.
        device: the kind of device it runs on.
    """

    name: str
    title: str
    module: str
    distributions: tuple[str, ...]
    install: str
    authors: str
    year: int
    device: str = "cpu"

    @property
    def adapters(self) -> dict[str, Adapter]:
        """Problem → how the library solves it."""
        solved = {name: problem_called(name).peers for name in PROBLEMS}
        return {name: peers[self.name] for name, peers in solved.items() if self.name in peers}

    def version(self) -> str | None:
        """Return the version installed, or None where it is not; nothing is imported."""
        for distribution in self.distributions:
            try:
                return metadata.version(distribution)
            except metadata.PackageNotFoundError:
                continue
        try:
            return "unknown version" if importlib.util.find_spec(self.module) is not None else None
        except (ImportError, ValueError):
            return None

    def describe(self) -> dict[str, Any]:
        """Return the peer's line in ``gpugraph algos --peers``."""
        adapters = self.adapters
        return {
            "name": f"peer:{self.name}",
            "title": self.title,
            "problems": sorted(adapters),
            "device": self.device,
            "version": self.version(),
            "install": self.install,
            "calls": {problem: adapter.does for problem, adapter in sorted(adapters.items())},
            "methods": {problem: list(a.methods) for problem, a in sorted(adapters.items()) if a.methods},
        }


@dataclass
class _State:
    graph: CSRGraph
    structure: Any
    first: list[Any] = field(default_factory=list)


def library_algorithm(peer: Peer, problem: str, device_kind: str) -> Algorithm:
    """Return a library as an algorithm.

    Raises:
        PeerRefused: it does not solve the problem, or is not installed.
        InputError: it runs on another kind of device.
    """
    label = f"peer:{peer.name}"
    adapter = load_problem(problem).peers.get(peer.name)
    if adapter is None:
        raise PeerRefused(
            f"{peer.title} has no function for {problem}",
            where=label,
            remedy="see what it solves: gpugraph algos --peers",
        )
    if device_kind != peer.device:
        remedy = f"use --device {peer.device}"
        raise InputError(f"{peer.title} does not run on device '{device_kind}'", where=label, remedy=remedy)
    version = peer.version()
    if version is None:
        raise PeerRefused(f"{peer.title} is not installed", where=label, remedy=peer.install)

    solves, methods = load_peered(problem), adapter.methods
    default = methods[0] if methods else ""
    options = (Option("method", str, default, "the library's algorithm", methods),) if methods else ()

    def compile_(view: Any, device: Any, **options: Any) -> None:
        import_module(peer.module)

    def prepare(view: Any, device: Any, method: str = default) -> _State:
        graph = getattr(view, "host", view).graph
        return _State(graph, adapter.prepare(graph, threads_of(device), method))

    def finish(state: _State, raw: Any, *query: Any) -> Any:
        return solves.answer(state.graph, adapter.answer(state.structure, raw), query, label, state.first)

    return Algorithm(
        problem=problem,
        name=label,
        devices=(peer.device,),
        summary=f"{peer.title}'s {adapter.does}",
        authors=peer.authors,
        year=peer.year,
        section=f"{peer.title} {version}, {adapter.does}",
        prepare=guarded(prepare, label),
        run=guarded(lambda state, clock, *query: adapter.run(state.structure, *query), label),
        fetch=guarded(lambda state, handle: adapter.fetch(state.structure, handle), label),
        finish=guarded(finish, label),
        compile=guarded(compile_, label),
        options=options,
        version=zlib.crc32(f"{peer.title} {version} {adapter.does}".encode()),
        foreign=True,
    )


def threads_of(device: Any) -> int:
    """Return the threads that a program on the CPU may take."""
    from gpugraph.host import usable_cores

    return int(getattr(device, "threads", 0)) or usable_cores()
