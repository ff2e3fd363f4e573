"""The one place where an exception becomes a line on standard error and an exit code.

The codes are those of ``gpugraph.errors``.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import traceback
from collections.abc import Callable
from typing import IO

import click

from gpugraph.cli import Interruption
from gpugraph.errors import EXIT_DEFECT, EXIT_INTERRUPTED, EXIT_OK, GpuGraphError, InputError, OutOfMemory, unknown_name

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""A disk that is full is no defect of ours, wherever it is met."""


def guard(run: Callable[[], None], *, debug: bool = False) -> int:
    """Call ``run`` and return the exit code, having said in one line what went wrong; ``debug`` adds the trace."""
    try:
        run()
        sys.stdout.flush()
    except click.exceptions.Exit as ending:
        return int(ending.exit_code)
    except BrokenPipeError:
        silence(sys.stdout)  # the reader, `head` for instance, has seen enough
        return EXIT_OK
    except (Exception, KeyboardInterrupt) as thrown:
        error = Interruption.latest or thrown  # a library may have made another error of the interruption
        if debug:
            traceback.print_exc()
        code, line = explain(error)
        try:
            print(f"gpugraph: {line}", file=sys.stderr, flush=True)
        except (OSError, ValueError):
            silence(sys.stderr)
        try:
            sys.stdout.flush()
        except (OSError, ValueError):
            silence(sys.stdout)
        return code
    return EXIT_OK


def silence(stream: IO[str]) -> None:
    """Send what is still buffered and all that follows nowhere, so that nobody complains again on the way out."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def explain(error: BaseException) -> tuple[int, str]:
    """Return the exit code of an exception and the line that tells it."""
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return EXIT_INTERRUPTED, " ".join(["interrupted", *map(str, error.args)])
    if isinstance(error, click.UsageError):
        error = _usage_error(error)
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        detail = f" ({error})" if str(error) else ""
        error = OutOfMemory(f"the machine's memory does not suffice{detail}", remedy="take a smaller graph")
    if isinstance(error, OSError) and error.errno in _FULL:
        reason = (error.strerror or str(error)).lower()
        error = InputError(
            f"cannot write: {reason}", where=error.filename, remedy="free some space, or write elsewhere"
        )
    if isinstance(error, GpuGraphError):
        return error.exit_code, f"error: {error}"
    what = " ".join(f"{type(error).__name__}: {error}".split())
    remedy = "please report it with what --debug shows"
    return EXIT_DEFECT, f"error: a defect of gpugraph ({what}) — {remedy}"


def _usage_error(error: click.UsageError) -> InputError:
    """Return click's complaint in the form of all the others, with the nearest name or the way to the help."""
    if isinstance(error, click.NoSuchOption) and error.possibilities:
        return unknown_name("option", error.option_name, error.possibilities)
    message = " ".join(error.format_message().split()).rstrip(".")
    command = error.ctx.command_path if error.ctx is not None else "gpugraph"
    return InputError(message[:1].lower() + message[1:], remedy=f"see '{command} --help'")
