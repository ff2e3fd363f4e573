"""How a bench goes, cell by cell: lines for a log, or a table that is drawn again and again on a terminal."""

import contextlib
import sys
import time
from typing import IO, Any

from gpugraph.base.errors import installable_here, printable
from gpugraph.base.quantities import in_seconds, rate
from gpugraph.bench.plan import Planned
from gpugraph.records.columns import short_time
from gpugraph.records.record import Record
from gpugraph.report.sweep import MOST_SKIPPED

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
        self._told, self._skipped = time.monotonic(), 0

    def __exit__(self, *_: object) -> None:
        pass

    def doing(self, planned: Planned, what: str) -> None:
        """Say what goes on where nothing has been said for long."""
        step = planned.label, what.partition(" sample ")[0]
        if time.monotonic() - self._told > SILENCE_S or (self._verbose and step not in self._steps):
            self._steps.add(step)
            self._tell(f"{planned.label}: {what}")

    def ended(self, planned: Planned, record: Record, done: int, left_s: float) -> None:
        """Say how a cell ended; of those that are skipped the first few, unless ``verbose``."""
        if record.outcome == "skipped" and not self._verbose:
            self._skipped += 1
            if self._skipped > MOST_SKIPPED:
                if self._skipped == MOST_SKIPPED + 1:
                    self._tell("the table at the end counts further cells that are skipped")
                return
        left = f" · about {in_seconds(left_s)} left" if done < self._total and left_s >= 1 else ""
        self._tell(f"[{done}/{self._total}] {planned.label}: {outcome_of(record)}{left}")

    def _tell(self, text: str) -> None:
        self._told = time.monotonic()
        if not self._quiet:
            with contextlib.suppress(OSError, ValueError):  # a closed standard error must not stop the bench
                print(f"gpugraph: {printable(installable_here(text))}", file=self._stream, flush=True)


class LiveView:
    """A table that is drawn again and again: the last cells, those at work with their medians so far, the best."""

    def __init__(self, total: int, title: str, *, stream: IO[str] | None = None):
        from rich.console import Console
        from rich.live import Live
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        name, left = TextColumn("{task.description}", markup=False), TextColumn("{task.fields[left]}")
        self._bar = Progress(name, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), left)
        self._task = self._bar.add_task(printable(title), total=total, left="")
        self._running: dict[str, str] = {}
        self._last: list[tuple[str, str]] = []
        self._best: dict[str, tuple[float, str]] = {}
        console = Console(file=stream or sys.stderr, highlight=False)
        self._live = Live(self, console=console, refresh_per_second=8, transient=True)

    def __enter__(self) -> "LiveView":
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
    if not row.ok:
        return f"{row.outcome}: {row.message or row.shape.verification.detail}"
    speed = f", {rate(row.mteps)} MTEPS" if row.mteps is not None else ""
    checked = "" if row.status == "passed" else ", not verified"
    return f"{'-' if row.kernel_s is None else short_time(row)}{speed}{checked}"
