"""A sign of life on standard error for work that takes over two seconds.

On a terminal it is a bar or a spinner that goes away at the end; elsewhere it is a line every five seconds.
A thread of its own shows it, so that the work itself only ever sets two attributes.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from types import TracebackType
from typing import IO, Any

from gpugraph.clock import process_began

FIRST_S = 2.0
"""Seconds of silence: work shorter than that needs no sign of life."""

EVERY_S = 5.0
"""Seconds between two lines where standard error is no terminal."""


class Progress:
    """Shows what is going on while the block runs; called with a few words and perhaps the fraction done.

    Args:
        quiet: show nothing.
        verbose: a line for each step, with the time since the process began, and nothing else.
        stream: where to show it; standard error if not given.
    """

    def __init__(self, *, quiet: bool = False, verbose: bool = False, stream: IO[str] | None = None):
        self.stream = stream if stream is not None else sys.stderr
        self.what = "starting"
        self.fraction: float | None = None
        self._quiet, self._verbose = quiet or verbose, verbose
        self._steps = set[str]()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._start = time.monotonic()

    def __call__(self, what: str, fraction: float | None = None) -> None:
        """Say what is being done from now on."""
        self.what, self.fraction = what, fraction
        step = what.partition(" sample ")[0]
        if self._verbose and step not in self._steps:
            self._steps.add(step)
            with contextlib.suppress(OSError, ValueError):
                at = time.perf_counter() - process_began()
                print(f"gpugraph: {at:7.3f} s  {what}", file=self.stream, flush=True)

    def step(self, fraction: float, what: str) -> None:
        """Say how far the work is; the form in which generators report."""
        self(what, fraction)

    def __enter__(self) -> Progress:
        self._start = time.monotonic()
        if not self._quiet:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        if self._done.wait(FIRST_S):
            return
        with contextlib.suppress(OSError, ValueError):  # a closed standard error must not stop the work
            if self.stream.isatty():
                self._draw()
            else:
                self._tell()

    def _tell(self) -> None:
        while True:
            elapsed = time.monotonic() - self._start
            done = f" {self.fraction:.0%}" if self.fraction is not None else ""
            print(f"gpugraph: {self.what}{done} ({elapsed:.0f} s)", file=self.stream, flush=True)
            if self._done.wait(EVERY_S):
                return

    def _draw(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars

        columns: tuple[Any, ...] = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        with Bars(*columns, console=Console(file=self.stream), transient=True) as bars:
            task = bars.add_task(self.what, total=None)
            while not self._done.wait(0.1):
                total, done = (None, 0.0) if self.fraction is None else (1.0, self.fraction)
                bars.update(task, description=self.what, total=total, completed=done)
