"""A command that runs a user's own algorithm does so in a child: whatever that does to its process, this one tells.

The child is a fork made before anything is imported, in a session of its own.  It ends without running what the guest
left to be run at exit, and takes with it what the guest started.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

GRACE_S = 5.0
"""Seconds that the child has to end after a signal, before it is killed."""

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


def guest_in(words: Sequence[str]) -> str | None:
    """Return the user's own algorithm that a command line names, in a file or of an installed package, or None.

    Several that compete run in workers of a bench in any case, and so does what stands beside a peer.
    """
    given = []
    for word, following in zip(words, [*words[1:], ""], strict=False):
        if word == "--algo" or word.startswith("--algo="):
            given.append(following if word == "--algo" else word.removeprefix("--algo="))
    compared = any(word == "--peer" or word.startswith("--peer=") for word in words) or words[:1] == ["bench"]
    if len(given) != 1 or "," in given[0] or compared:
        return None
    named = given[0].partition("@")[0]
    from gpugraph.problems.registry import NAMES

    own = NAMES.get(words[0], "").split()
    if named in ("", "auto", *own) or named.startswith("peer:"):
        return None
    from gpugraph.problems.guest import installed, is_file

    return named if is_file(named) or named in installed() else None


def supervise(command: Callable[[], None], guest: str) -> NoReturn:
    """Run a command that ends by SystemExit, and exit as it does; a child that died is told of in one line.

    Args:
        command: the command.
        guest: the algorithm to blame.
    """
    reader, writer = os.pipe()
    parent = os.getpid()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [getattr(signal, name) for name in _SIGNALS])
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        os.close(reader)
        _be_child(command, writer, parent)
    os.close(writer)
    sent = _forward_signals(child)
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    _, status = os.waitpid(child, 0)
    for name in (*_SIGNALS, "SIGALRM"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)  # what the guest started and left behind
    os.set_blocking(reader, False)
    try:
        told = os.read(reader, 1)
    except BlockingIOError:  # somebody that it started still holds the other end
        told = b""
    if told:
        os._exit(told[0])
    if sent:
        _tell("interrupted" if sent[-1] == signal.SIGINT else f"interrupted by {signal.Signals(sent[-1]).name}")
        os._exit(130)
    _tell(f"error: {guest}: {_manner(status)} — this is an error of the user's own algorithm")
    os._exit(2)


def _be_child(command: Callable[[], None], writer: int, parent: int) -> NoReturn:
    """Run the command, tell its exit code, and end at once, whatever threads and hooks there are."""
    code: Any = 70
    try:
        os.setsid()
        from gpugraph.bench.worker import end_with

        end_with(parent)
        command()
    except SystemExit as ending:
        code = ending.code or 0
    except KeyboardInterrupt as interrupt:
        _tell(" ".join(["interrupted", *map(str, interrupt.args)]))
        code = 130
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
        if isinstance(code, int):
            os.write(writer, bytes([code & 255]))
        os._exit(1)


def _forward_signals(child: int) -> list[int]:
    """Send the child what this process is sent, and kill it if it does not end; return the list of what was sent."""
    sent: list[int] = []

    def forward(number: int, frame: Any) -> None:
        sent.append(number)
        signal.setitimer(signal.ITIMER_REAL, GRACE_S)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, number)

    def kill(number: int, frame: Any) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)

    signal.signal(signal.SIGALRM, kill)
    for name in _SIGNALS:
        if signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN:  # as nohup wants it
            signal.signal(getattr(signal, name), forward)
    return sent


def _manner(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        name = next((one.name for one in signal.Signals if one == -code), f"signal {-code}")
        why = ", as the system does when memory runs out" if name == "SIGKILL" else ""
        return f"its process was ended by {name}{why}"
    return f"it ended its process with code {code}"


def _tell(line: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(f"gpugraph: {line}", file=sys.stderr, flush=True)
