"""What goes to standard output, what to standard error, and whether a file can be written at all."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gpugraph.errors import GpuGraphWarning, InputError
from gpugraph.report.lines import Line, plain, print_rich


def show(text: str) -> None:
    """Print ``text`` on standard output.

    Raises:
        InputError: the output is full; BrokenPipeError: nobody reads it any more.
    """
    try:
        print(text.rstrip("\n"), flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        _refuse_stdout(error)


def show_lines(lines: Sequence[Line]) -> None:
    """Print styled lines: in colour on a terminal, plain anywhere else."""
    if not sys.stdout.isatty():
        show(plain(lines))
        return
    try:
        print_rich(lines)
    except BrokenPipeError:
        raise
    except OSError as error:
        _refuse_stdout(error)


def _refuse_stdout(error: OSError) -> None:
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115  what is still buffered would fail again at exit
    raise InputError(f"cannot write to standard output: {(error.strerror or str(error)).lower()}") from None


def tell(notices: Iterable[str], *, quiet: bool = False) -> None:
    """Print notices on standard error, a line each."""
    if not quiet:
        for notice in notices:
            print(f"gpugraph: {' '.join(notice.split())}", file=sys.stderr, flush=True)


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
    """Lead standard output to standard error while code runs that may print: a user's algorithm, a library.

    The file descriptor itself is led there, so that compiled code is caught too.
    """
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
        _flush_compiled_code()
        if copy is not None:
            os.dup2(copy, 1)
            os.close(copy)
        sys.stdout = open(os.dup(1), "w") if stream.closed else stream  # noqa: SIM115


def _flush_compiled_code() -> None:
    """Write what compiled code has printed and the C library still holds."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).fflush(None)


def check_destination(path: str) -> None:
    """Check that ``path`` can be written, before work is done whose fruit would be lost.

    Raises:
        InputError: it is a folder, or its folder is missing or may not be written to.
    """
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise InputError("cannot be written: it is a folder", where=path, remedy="name a file inside the folder")
    if os.path.exists(path) and not os.path.isfile(path):
        writable = os.access(path, os.W_OK)
    elif not os.path.isdir(folder):
        raise InputError("cannot be written: its folder does not exist", where=path, remedy="make the folder first")
    else:
        writable = os.access(folder, os.W_OK)
    if not writable:
        raise InputError("cannot be written: no permission", where=path, remedy="choose a folder that you may write to")
