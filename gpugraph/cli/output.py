"""Standard output and standard error, the progress of commands and benches, and where files can be written."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

from gpugraph.base.errors import GpuGraphWarning, InputError, in_short_words, installable_here, printable
from gpugraph.base.files import atomic_write, check_writable, ending_of
from gpugraph.base.quantities import in_seconds, rate
from gpugraph.cli.process import Command
from gpugraph.report.exporters import drawing
from gpugraph.report.terminal import Line, plain, print_rich

if TYPE_CHECKING:
    from gpugraph.bench.plan import Planned
    from gpugraph.records.record import Record
    from gpugraph.records.record_shape import CounterExampleShape


def show(text: str) -> None:
    """Print ``text``; stop in silence where its reader has seen enough; raise InputError where the output is full."""
    with _shown():
        print(printable(text.rstrip("\n")), flush=True)


def show_json(data: object) -> None:
    """Print plain data as JSON."""
    import json

    show(json.dumps(data, ensure_ascii=False))


def show_lines(lines: Sequence[Line]) -> None:
    """Print styled lines: in colour on a terminal, plain anywhere else."""
    if not sys.stdout.isatty():
        show(plain(lines))
        return
    with _shown():
        print_rich(lines)


def show_as(style: str, data: object, lines: Callable[[], Sequence[Line]]) -> None:
    """Print plain data as JSON if ``style`` is ``"json"``, else the lines that people read."""
    if style == "json":
        show_json(data)
    else:
        show_lines(lines())


@contextlib.contextmanager
def _shown() -> Iterator[None]:
    """Take care of a standard output that takes no more, without which what else is to be done would be left undone."""
    try:
        yield
    except OSError as error:
        silence(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            reason = (error.strerror or str(error)).lower()
            remedy = "free some space, or write to another place"
            raise InputError(f"cannot write to standard output: {reason}", remedy=remedy) from None


def tell(notices: Iterable[str], *, quiet: bool = False) -> None:
    """Print notices on standard error, a line each; where that takes none, the work goes on without."""
    try:
        for notice in () if quiet else notices:
            line = printable(installable_here(" ".join(notice.split())))
            print(f"gpugraph: {line}", file=sys.stderr, flush=True)
    except OSError:
        silence(sys.stderr)


def log_decisions(verbose: bool) -> None:
    """Print on standard error what is decided from now on, and why, where ``-v`` asks for it; else nothing any more."""
    if not verbose and "logging" not in sys.modules:
        return
    import logging

    class Printed(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            tell([f"{Command.seconds():7.3f} s  {record.getMessage()}"])

    log = logging.getLogger("gpugraph")
    log.setLevel(logging.INFO if verbose else logging.WARNING)
    log.handlers = [Printed()] if verbose else []


@contextlib.contextmanager
def warnings_as_notices(*, quiet: bool = False) -> Iterator[None]:
    """Print gpugraph's own warnings as notices while the block runs; others stay as they are."""
    with warnings.catch_warnings():
        others = warnings.showwarning

        def show_warning(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, GpuGraphWarning):
                tell([str(message)], quiet=quiet)
            else:
                others(message, category, *place, **more)

        warnings.showwarning = show_warning
        yield


def show_written(path: str, content: str) -> None:
    """Say what a written file holds; on standard error where it is no regular file, for that may be the output."""
    line = f"{path}: {content}"
    if os.path.isfile(path):
        show(line)
    else:
        tell([line])


@contextlib.contextmanager
def diverted() -> Iterator[None]:
    """Lead standard output, the file descriptor itself, to standard error while foreign code runs that may print."""
    import ctypes

    stream, copy = sys.stdout, None
    with contextlib.suppress(OSError, ValueError):
        stream.flush()
    with contextlib.suppress(OSError):  # either may be closed
        copy = os.dup(1)
        os.dup2(2, 1)
    sys.stdout = sys.stderr
    try:
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):
            stream.flush()  # what was written behind our back
        with contextlib.suppress(OSError, AttributeError, TypeError):
            ctypes.CDLL(None).fflush(None)  # what compiled code has printed and the C library still holds
        if copy is not None:
            os.dup2(copy, 1)
            os.close(copy)
        sys.stdout = open(os.dup(1), "w") if stream.closed else stream  # noqa: SIM115


def check_destination(path: str, *, append: bool = False) -> None:
    """Raise InputError if ``path`` cannot be written, or appended to, before work is done that would be lost."""
    if append and os.path.isfile(path):
        if not os.access(path, os.W_OK):
            remedy = "choose a file that you may write to"
            raise InputError("cannot be written: no permission", where=path, remedy=remedy)
    else:
        check_writable(path)


def check_drawing(path: str | None) -> None:
    """Raise InputError if the drawing of a counter-example could not be written where one is asked for."""
    if path is not None:
        ending_of(path, "a drawing", [".svg"])
        check_destination(path)


def draw_counter_example(path: str | None, shape: CounterExampleShape | None, *, quiet: bool = False) -> None:
    """Write a counter-example, if a drawing is asked for, or say that there is none."""
    if path is None:
        return
    if shape is None:
        tell([f"{path} is not written: there is no counter-example to draw"], quiet=quiet)
        return
    with atomic_write(path, "w") as stream:
        stream.write(drawing().svg(shape) + "\n")
    tell([f"{path}: the counter-example"], quiet=quiet)


def silence(stream: IO[str]) -> None:
    """Send what is still buffered and all that follows nowhere, so that nobody complains again on the way out."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


# ------------------------------------------------------------------ progress
# A sign of life on standard error for work that takes over two seconds.
# On a terminal it is a bar or a spinner that goes away at the end; elsewhere it is a line every five seconds.
# A thread of its own shows it, so that the work itself only ever sets two attributes.

FIRST_S = 2.0
"""Seconds of silence: work shorter than that needs no sign of life."""

EVERY_S = 5.0
"""Seconds between two lines where standard error is no terminal."""


class Progress:
    """Shows what is going on while the block runs; called with a few words and perhaps the fraction done.

    ``verbose``: a line for each step, with the time since the command began, and nothing else.
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
        self.what, self.fraction = printable(in_short_words(what)), fraction
        step = what.partition(" sample ")[0]
        if self._verbose and step not in self._steps:
            self._steps.add(step)
            with contextlib.suppress(OSError, ValueError):
                print(f"gpugraph: {Command.seconds():7.3f} s  {self.what}", file=self.stream, flush=True)

    def step(self, fraction: float, what: str) -> None:
        """Say how far the work is; the form in which generators report."""
        self(what, fraction)

    def __enter__(self) -> Progress:
        self._start = time.monotonic()
        if not self._quiet:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
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

        columns: tuple[Any, ...] = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
        )
        with Bars(*columns, console=Console(file=self.stream), transient=True) as bars:
            task = bars.add_task(self.what, total=None)
            while not self._done.wait(0.1):
                total, done = (None, 0.0) if self.fraction is None else (1.0, self.fraction)
                bars.update(task, description=self.what, total=total, completed=done)


SILENCE_S = 5.0
"""Without a terminal: after so many seconds without a finished cell a line says what is going on."""

SHOWN = 8
"""Finished cells that the live view keeps in sight."""

RUNNING = 16
"""Cells at work that it shows: more do not compete."""


class Lines(contextlib.AbstractContextManager["Lines"]):
    """Tells of each finished cell in a line, and with ``verbose`` of each step as it begins."""

    def __init__(self, total: int, *, quiet: bool = False, verbose: bool = False, stream: IO[str] | None = None):
        self._total, self._quiet, self._stream = total, quiet, stream or sys.stderr
        self._verbose, self._steps = verbose, set[tuple[str, str]]()
        self._told = time.monotonic()

    def __exit__(self, *_: object) -> None:
        pass

    def doing(self, planned: Planned, what: str) -> None:
        """Say what goes on where nothing has been said for long."""
        step = planned.label, what.partition(" sample ")[0]
        if time.monotonic() - self._told > SILENCE_S or (self._verbose and step not in self._steps):
            self._steps.add(step)
            self._tell(f"{planned.label}: {what}")

    def ended(self, planned: Planned, record: Record, done: int, left_s: float) -> None:
        """Say how a cell ended."""
        left = f" · about {in_seconds(left_s)} left" if done < self._total and left_s >= 1 else ""
        self._tell(f"[{done}/{self._total}] {planned.label}: {outcome_of(record)}{left}")

    def _tell(self, text: str) -> None:
        self._told = time.monotonic()
        if not self._quiet:
            with contextlib.suppress(OSError, ValueError):  # a closed standard error must not stop the bench
                print(f"gpugraph: {printable(text)}", file=self._stream, flush=True)


class LiveView:
    """A table that is drawn again and again: the last cells, those at work with their medians so far, the best."""

    def __init__(self, total: int, title: str, *, stream: IO[str] | None = None):
        from rich.console import Console
        from rich.live import Live
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        self._bar = Progress(*columns, TextColumn("{task.fields[left]}"))
        self._task = self._bar.add_task(printable(title), total=total, left="")
        self._running: dict[str, str] = {}
        self._last: list[tuple[str, str]] = []
        self._best: dict[str, tuple[float, str]] = {}
        console = Console(file=stream or sys.stderr, highlight=False)
        self._live = Live(self, console=console, refresh_per_second=8, transient=True)

    def __enter__(self) -> LiveView:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __rich__(self) -> Any:
        """Return what to draw."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        rows = Table.grid(padding=(0, 2))
        for label, how in self._last[-SHOWN:]:
            rows.add_row(Text(label, "dim"), Text(how))
        for label, what in list(self._running.items())[-RUNNING:]:
            rows.add_row(Text(label, "cyan"), Text(what, "cyan", no_wrap=True, overflow="ellipsis"))
        best = [Text(f"best {kind}: {rate(most)} MTEPS by {who}") for kind, (most, who) in sorted(self._best.items())]
        return Group(rows, *best, self._bar)

    def doing(self, planned: Planned, what: str) -> None:
        """Show what a cell is doing; those that compete are shown together."""
        self._running[printable(planned.label)] = printable(what)

    def ended(self, planned: Planned, record: Record, done: int, left_s: float) -> None:
        """Show how a cell ended."""
        label = printable(planned.label)
        self._running.pop(label, None)
        self._last = [*self._last[-SHOWN:], (label, printable(outcome_of(record)))]
        kind, figure = printable(f"{planned.cell.problem} on {planned.cell.device}"), record.mteps
        if figure is not None and figure > self._best.get(kind, (0.0, ""))[0]:
            self._best[kind] = (figure, printable(f"{planned.cell.algorithm}, {planned.cell.graph}"))
        self._bar.update(self._task, completed=done, left=f"about {in_seconds(left_s)} left" if left_s >= 1 else "")


def watcher_for(total: int, title: str, *, quiet: bool, verbose: bool = False) -> Lines | LiveView:
    """Return the live view where standard error is a terminal that can draw it, else lines, as a log needs them."""
    if quiet or verbose or not sys.stderr.isatty():
        return Lines(total, quiet=quiet, verbose=verbose)
    return LiveView(total, title)


def outcome_of(row: Record) -> str:
    """Return how a cell ended, in a few words: its median with half the interval and its rate, or why there is none."""
    from gpugraph.records.columns import short_time

    if not row.ok:
        return f"{row.outcome}: {row.message or row.shape.verification.detail}"
    speed = f", {rate(row.mteps)} MTEPS" if row.mteps is not None else ""
    checked = "" if row.status == "passed" else ", not verified"
    return f"{'-' if row.kernel_s is None else short_time(row)}{speed}{checked}"
