"""Run a command with a user's algorithm or a time limit in a forked child, and report how the child ended.

The child is a fork made before anything is imported, in a session of its own.  It ends without running what the plugin
left to be run at exit, and takes with it what the plugin started.  At the time limit it is killed: no kernel that
hangs on a GPU and no compiled code that holds the interpreter can be stopped from within their process.
"""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from gpugraph.base.errors import DeviceUnavailable, InputError, printable
from gpugraph.base.files import remove_unfinished
from gpugraph.base.host import end_with, ended_by
from gpugraph.base.quantities import parse_seconds
from gpugraph.base.ranks import is_own_rank
from gpugraph.cli.process import known_signals
from gpugraph.problems.foreign import is_foreign, name_and_device, programs

GRACE_S = 5.0
"""Seconds that the child has to end after a signal, before it is killed."""

_SIGNALS = known_signals("SIGINT", "SIGTERM", "SIGHUP")


def supervise_if_needed(command: Callable[[], None], words: Sequence[str]) -> None:
    """Supervise a command that runs a user's own algorithm or has a time limit; return where it does neither."""
    plugin, limit_s = plugin_in(words), limit_in(words)
    if plugin is not None or limit_s is not None:
        supervise(command, plugin, limit_s)


def plugin_in(words: Sequence[str]) -> str | None:
    """Return the user's own algorithm that a command runs by itself, in a file or of a package, or None."""
    given = _names(words, "--algo")
    if len(given) != 1 or compete(words):
        return None
    named = name_and_device(given[0])[0]
    return named if is_foreign(named) and not named.startswith("peer:") else None


def limit_in(words: Sequence[str]) -> float | None:
    """Return the seconds that ``--timeout`` gives a command, None where it gives none or the command limits itself."""
    given = _given(words, "--timeout")
    if not given or compete(words) or is_own_rank():
        return None
    try:
        seconds = parse_seconds(given[-1])
    except InputError:
        return None  # the option says so
    return seconds if seconds < threading.TIMEOUT_MAX else None


def compete(words: Sequence[str]) -> bool:
    """Tell whether several algorithms compete, each in a worker of a bench."""
    names, tables = _names(words, "--algo"), _given(words, "--peer-command")
    if len(names) > 1 or _names(words, "--peer") or next((word for word in words if word[:1] != "-"), "") == "bench":
        return True
    try:
        return len(names) + len(programs(tables, names)) > 1
    except InputError:
        return False  # the option says so


def _names(words: Sequence[str], option: str) -> list[str]:
    """Return the names between commas of all values of an option, each once, as the command takes them."""
    given = [name.strip() for value in _given(words, option) for name in value.split(",")]
    return list(dict.fromkeys(filter(None, given)))


def _given(words: Sequence[str], option: str) -> list[str]:
    """Return the values of an option."""
    values = []
    for word, following in zip(words, [*words[1:], ""], strict=False):
        if word == option or word.startswith(f"{option}="):
            values.append(following if word == option else word.removeprefix(f"{option}="))
    return values


def supervise(command: Callable[[], None], plugin: str | None, limit_s: float | None = None) -> NoReturn:
    """Run a command that ends by SystemExit, and exit as it does; a child that died is reported in one line.

    The user's own algorithm, ``plugin``, is to blame for that.  After ``limit_s`` seconds the child is killed.
    """
    reader, writer = os.pipe()
    parent = os.getpid()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        os.close(reader)
        _be_child(command, writer, parent)
    os.close(writer)
    sent = _forward_signals(child)
    if limit_s is not None:
        signal.setitimer(signal.ITIMER_REAL, limit_s)
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    _, status = os.waitpid(child, 0)
    for number in (*_SIGNALS, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)  # what the plugin started and left behind
    os.set_blocking(reader, False)
    try:
        byte = os.read(reader, 1)
    except BlockingIOError:  # somebody that it started still holds the other end
        byte = b""
    if byte:
        os._exit(byte[0])
    if sys.stderr is not None and sys.stderr.isatty():
        _write("\x1b[?25h\r\x1b[K")  # the cursor that the child's progress hid, and its line
    place = f"{plugin}: " if plugin else ""
    if sent[-1:] == [signal.SIGALRM]:
        what = f"did not end within {limit_s:g} s and was killed"
        _tell(f"error: {place}{what} — raise --timeout, or take a smaller graph")
        os._exit(DeviceUnavailable.exit_code)
    if sent:
        _tell("interrupted" if sent[-1] == signal.SIGINT else f"interrupted by {signal.Signals(sent[-1]).name}")
        os._exit(130)
    blame = "this is an error of the user's own algorithm" if plugin else "take a smaller graph if memory ran out"
    _tell(f"error: {place}{_manner(status)} — {blame}")
    os._exit((InputError if plugin else DeviceUnavailable).exit_code)


def _be_child(command: Callable[[], None], writer: int, parent: int) -> NoReturn:
    """Run the command, tell its exit code, and end at once, whatever threads and hooks there are."""
    code: Any = 70
    try:
        os.setsid()

        end_with(parent)
        command()
    except SystemExit as ending:
        code = ending.code or 0
    except KeyboardInterrupt as interrupt:
        _tell(" ".join(["interrupted", *map(str, interrupt.args)]))
        code = 130
    finally:
        remove_unfinished()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
        if isinstance(code, int):
            os.write(writer, bytes([code & 255]))
        os._exit(1)


def _forward_signals(child: int) -> list[int]:
    """Send the child what this process is sent, and kill it if it does not end; return the list of these signals.

    It ends with SIGALRM where the child was killed at its time limit.
    """
    sent: list[int] = []

    def forward(number: int, frame: object) -> None:
        sent.append(number)
        signal.setitimer(signal.ITIMER_REAL, GRACE_S)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, number)

    def kill(number: int, frame: object) -> None:
        if not sent:  # it is not the grace that is over, but the time limit
            sent.append(number)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)

    signal.signal(signal.SIGALRM, kill)
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup wants it
            signal.signal(number, forward)
    return sent


def _manner(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        return f"its process was {ended_by(-code)}"
    return f"it ended its process with code {code}"


def _tell(line: str) -> None:
    _write(f"gpugraph: {printable(line)}\n")


def _write(text: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(text, end="", file=sys.stderr, flush=True)
