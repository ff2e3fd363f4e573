"""Where the time of a call went: convert, copy, kernel, back.

A call is one of an adapter's functions: ``gpugraph.on(…)`` and what is asked of it, a function of ``gpugraph.csgraph``,
or one that NetworkX sends here.  What one thread calls is its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

PHASES = ("convert", "copy", "kernel", "back")
"""The caller's graph becomes arrays; these go to the device; it computes; the result becomes the caller's kind."""


@dataclass
class Call:
    """One call.

    Attributes:
        function: what was called, e.g. ``"networkx.minimum_spanning_tree"``.
        device: the kind of device that computed, ``"cpu"``, ``"cuda"`` or ``"emulated"``.
        seconds: of each phase of ``PHASES``, 0 where there was nothing to do.
    """

    function: str
    device: str = "cpu"
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PHASES, 0.0))

    def __str__(self) -> str:
        parts = ", ".join(f"{phase} {1e3 * seconds:.3f} ms" for phase, seconds in self.seconds.items())
        return f"{self.function} on {self.device}: {parts}"


class _Thread(threading.local):
    """The calls of one thread: the one under way, and how deep it is."""

    def __init__(self) -> None:
        self.call: Call | None = None
        self.depth = 0
        self.converted = 0.0
        self.inside = 0.0  # seconds of the phases inside the one under way


_thread = _Thread()


@contextmanager
def call(function: str, device: str = "cpu") -> Iterator[Call]:
    """Count what follows as one call; inside another one it is a part of that."""
    if _thread.depth and _thread.call is not None:
        yield _thread.call
        return
    _thread.call = Call(function, device)
    _thread.call.seconds["convert"], _thread.converted = _thread.converted, 0.0
    _thread.depth = 1
    try:
        yield _thread.call
    finally:
        _thread.depth = 0


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Add the time of what follows to a phase of the call under way; what precedes the call is its ``convert``.

    The time of a phase inside is that phase's alone.
    """
    outside, _thread.inside = _thread.inside, 0.0
    start = time.perf_counter()
    try:
        yield
    finally:
        whole = time.perf_counter() - start
        own, _thread.inside = whole - _thread.inside, outside + whole
        if _thread.depth and _thread.call is not None:
            _thread.call.seconds[name] += own
        else:
            _thread.converted += own


def last_call() -> Call | None:
    """Return this thread's last call, or None where there was none."""
    return _thread.call
