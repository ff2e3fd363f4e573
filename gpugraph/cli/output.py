"""What goes to standard output, what to standard error, and whether a file can be written at all."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence

from gpugraph.atomic import check_writable
from gpugraph.cli.boundary import silence
from gpugraph.errors import InputError
from gpugraph.report.lines import Line, plain, print_rich


def show(text: str) -> None:
    """Print ``text`` on standard output; nothing more where its reader, ``head`` for instance, has seen enough.

    Raises:
        InputError: the output is full.
    """
    with _shown():
        print(text.rstrip("\n"), flush=True)


def show_lines(lines: Sequence[Line]) -> None:
    """Print styled lines: in colour on a terminal, plain anywhere else."""
    if not sys.stdout.isatty():
        show(plain(lines))
        return
    with _shown():
        print_rich(lines)


@contextlib.contextmanager
def _shown() -> Iterator[None]:
    """Take care of a standard output that takes no more, without which what else is to be done would be left undone."""
    try:
        yield
    except OSError as error:
        silence(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            reason = (error.strerror or str(error)).lower()
            raise InputError(f"cannot write to standard output: {reason}") from None


def tell(notices: Iterable[str], *, quiet: bool = False) -> None:
    """Print notices on standard error, a line each; where that takes none, the work goes on without."""
    try:
        for notice in () if quiet else notices:
            print(f"gpugraph: {' '.join(notice.split())}", file=sys.stderr, flush=True)
    except OSError:
        silence(sys.stderr)


def show_written(path: str, content: str) -> None:
    """Say what a written file holds; on standard error where it is no regular file, for that may be the output."""
    line = f"{path}: {content}"
    if os.path.isfile(path):
        show(line)
    else:
        tell([line])


def check_destination(path: str, *, append: bool = False) -> None:
    """Check that ``path`` can be written, before work is done whose fruit would be lost.

    Args:
        path: the file.
        append: to its end, if it is there.

    Raises:
        InputError: it is a folder, has an impossible name, or its folder is missing or may not be written to.
    """
    if append and os.path.isfile(path):
        if not os.access(path, os.W_OK):
            raise InputError(
                "cannot be written: no permission", where=path, remedy="choose a file that you may write to"
            )
    else:
        check_writable(path)
