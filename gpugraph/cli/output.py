"""Standard output and standard error, the progress of commands, and where files can be written."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING

from gpugraph.base.compression import codec_of_name
from gpugraph.base.errors import InputError, in_short_words, installable_here, printable, reason_of, warnings_to
from gpugraph.base.files import atomic_write, check_writable, ending_of, is_same_file
from gpugraph.cli.process import Command
from gpugraph.report.exporters import drawing
from gpugraph.report.terminal import Line, plain, print_rich

if TYPE_CHECKING:
    from gpugraph.records.record_shape import CounterExampleShape


def show(text: str) -> None:
    """Print ``text``; stop in silence where its reader has seen enough; raise InputError where the output is full."""
    with _shown():
        print(printable(text.rstrip("\n")), flush=True)


def show_json(data: object) -> None:
    """Print plain data as JSON, infinities and NaN as text."""
    from gpugraph.records.json_text import json_text

    show(json_text(data))


def show_lines(lines: Sequence[Line]) -> None:
    """Print styled lines: in colour on a terminal, plain anywhere else."""
    if not (sys.stdout.isatty() or _is_colour_forced()):
        show(plain(lines))
        return
    with _shown():
        print_rich(lines)


def _is_colour_forced() -> bool:
    """Tell whether the variables by which other programs are told so ask for colours in a pipe too."""
    return any(os.environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE"))


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
            what = f"cannot write to standard output: {reason_of(error)}"
            raise InputError(what, remedy="free some space, or write to another place") from None


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


def warnings_as_notices(*, quiet: bool = False) -> contextlib.AbstractContextManager[None]:
    """Print gpugraph's own warnings as notices while the block runs; others stay as they are."""
    return warnings_to(lambda text: tell([text], quiet=quiet))


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
    if append and (path == "-" or codec_of_name(path)):
        what = f"records are appended to a file{'' if path == '-' else ', and a compressed one cannot grow'}"
        raise InputError(what, where=path, remedy="name it .jsonl; --format json prints records")
    if is_same_file(path, "/dev/fd/1") or is_same_file(path, "/dev/fd/2"):
        raise InputError("is the file that the shell sends output to", where=path, remedy="name another file")
    if not (append and os.path.isfile(path)):
        check_writable(path)
    elif not os.access(path, os.W_OK):
        raise InputError("cannot be written: no permission", where=path, remedy="choose a file that you may write to")


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

        name, console = TextColumn("{task.description}", markup=False), Console(file=self.stream)
        with Bars(SpinnerColumn(), name, BarColumn(), TimeElapsedColumn(), console=console, transient=True) as bars:
            task = bars.add_task(self.what, total=None)
            while not self._done.wait(0.1):
                total, done = (None, 0.0) if self.fraction is None else (1.0, self.fraction)
                bars.update(task, description=self.what, total=total, completed=done)
