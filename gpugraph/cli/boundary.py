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

import click

from gpugraph.errors import EXIT_DEFECT, EXIT_INTERRUPTED, EXIT_OK, GpuGraphError, InputError, OutOfMemory, unknown_name


def guard(run: Callable[[], None], *, debug: bool = False) -> int:
    """Call ``run`` and return the exit code, having said in one line what went wrong; ``debug`` adds the trace."""
    try:
        run()
        sys.stdout.flush()
    except click.exceptions.Exit as ending:
        return int(ending.exit_code)
    except BrokenPipeError:
        _silence_stdout()  # the reader, `head` for instance, has seen enough
        return EXIT_OK
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            traceback.print_exc()
        code, line = explain(error)
        with contextlib.suppress(OSError):
            print(f"gpugraph: {line}", file=sys.stderr, flush=True)
        _flush_quietly()
        return code
    return EXIT_OK


def explain(error: BaseException) -> tuple[int, str]:
    """Return the exit code of an exception and the line that tells it."""
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return EXIT_INTERRUPTED, "interrupted"
    if isinstance(error, click.UsageError):
        error = _usage_error(error)
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        detail = f" ({error})" if str(error) else ""
        error = OutOfMemory(f"the machine's memory does not suffice{detail}", remedy="take a smaller graph")
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


def _flush_quietly() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        _silence_stdout()


def _silence_stdout() -> None:
    """Send what is still buffered nowhere, so that the interpreter does not complain on its way out."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
