"""Profile of a call from Python: seconds of convert, copy, compile, kernel, back; progress of a call that takes long.

A call is one of an adapter's functions: ``gpugraph.on(…)`` and what is asked of it, a function of ``gpugraph.csgraph``,
or one that NetworkX sends here.  What one thread calls is its own.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from gpugraph.base.clock import COMPILING
from gpugraph.ext.python.html import card

PHASES = ("convert", "copy", "compile", "kernel", "back")
"""The caller's graph becomes arrays; these go to the device, which makes room for what it computes; what is missing is
compiled, or loaded if it was compiled before; the device computes; the result becomes the caller's kind.

Compiling counts as that wherever it happens.  A small result is waited for together with the kernel, and counts as
that."""


@dataclass
class Call:
    """One call: its function, the kind of device that computed, and the seconds of each phase of ``PHASES``."""

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
        self.before = dict.fromkeys(PHASES, 0.0)  # seconds of phases that no call has had yet
        self.inside = 0.0, 0.0  # seconds of the phases inside the one under way, and of compiling in them


_thread = _Thread()


class call:  # noqa: N801  # read as a function; a generator would cost a call as much as some kernels take
    """Count what follows as one call of a function on a kind of device; inside another one it is a part of that."""

    __slots__ = ("_device", "_function", "_outermost")

    def __init__(self, function: str, device: str = "cpu"):
        self._function, self._device, self._outermost = function, device, False

    def __enter__(self) -> Call:
        thread = _thread.__dict__
        under_way: Call | None = thread["call"]
        if thread["depth"] and under_way is not None:
            return under_way
        begun = thread["call"] = Call(self._function, self._device)
        begun.seconds, thread["before"] = thread["before"], dict.fromkeys(PHASES, 0.0)
        thread["depth"], self._outermost = 1, True
        return begun

    def __exit__(self, *_: object) -> None:
        if self._outermost:
            _thread.depth = 0


class phase:  # noqa: N801
    """Add the time of what follows to a phase of the call under way; what precedes a call belongs to it.

    The time of a phase inside is that phase's alone.
    """

    __slots__ = ("_compiled", "_name", "_outside", "_start")

    def __init__(self, name: str):
        self._name = name

    def __enter__(self) -> None:
        thread = _thread.__dict__
        self._outside, thread["inside"] = thread["inside"], (0.0, 0.0)
        self._start, self._compiled = time.perf_counter(), COMPILING.seconds

    def __exit__(self, *_: object) -> None:
        whole = time.perf_counter() - self._start
        compiled = min(COMPILING.seconds - self._compiled, whole)
        thread = _thread.__dict__
        within, compiled_within = thread["inside"]
        thread["inside"] = self._outside[0] + whole, self._outside[1] + compiled
        under_way = thread["depth"] and thread["call"] is not None
        seconds = thread["call"].seconds if under_way else thread["before"]
        own, compiling = whole - within, max(compiled - compiled_within, 0.0)
        seconds[self._name] += max(own - compiling, 0.0)
        seconds["compile"] += compiling


def last_call() -> Call | None:
    """Return this thread's last call, or None.

    >>> import gpugraph
    >>> with gpugraph.on("grid:8x8", device="cpu") as g:
    ...     forest = g.mst()
    >>> call = gpugraph.last_call()
    >>> call.function, sorted(call.seconds)
    ('mst', ['back', 'compile', 'convert', 'copy', 'kernel'])
    """
    return _thread.call


# ------------------------------------------------------------------ signs of life


@contextmanager
def showing(progress: bool | None = None) -> Iterator[Callable[[str], None]]:
    """Show what goes on for more than two seconds, by default (None) in a notebook or on a terminal."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    notebook = hasattr(shell, "kernel")
    wanted = (notebook or sys.stderr.isatty()) if progress is None else progress
    stream: Any = _Beneath() if notebook and wanted else None
    from gpugraph.cli.output import Progress

    with Progress(quiet=not wanted, stream=stream) as tell:
        try:
            yield tell
        finally:
            if stream is not None:
                stream.clear()


class _Beneath:
    """A stream whose last line is shown beneath the cell of a notebook, until it is cleared."""

    def __init__(self) -> None:
        self._handle: Any = None

    def isatty(self) -> bool:
        """Return that it is no terminal: whole lines are written."""
        return False

    def write(self, text: str) -> int:
        """Show a line in the place of the one before."""
        from IPython.display import HTML, display  # type: ignore[import-not-found]

        if text.strip() and self._handle is None:
            self._handle = display(HTML(card(text.strip(), [])), display_id=True)
        elif text.strip():
            self._handle.update(HTML(card(text.strip(), [])))
        return len(text)

    def flush(self) -> None:
        """Do nothing: every line is shown at once."""

    def clear(self) -> None:
        """Take the line away."""
        if self._handle is not None:
            from IPython.display import HTML

            self._handle.update(HTML(""))
