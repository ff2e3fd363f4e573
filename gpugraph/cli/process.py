"""The process of a command: when it began, signals that interrupt it, and how it ends."""

import atexit
import contextlib
import os
import signal
import sys
import time

from gpugraph.base.ranks import expected_world_size


def known_signals(*names: str) -> tuple[signal.Signals, ...]:
    """Return the signals of these names that the system has: Windows lacks some."""
    return tuple(getattr(signal, name) for name in names if hasattr(signal, name))


_ALARM = getattr(signal, "SIGALRM", None)
_SIGNALS = known_signals("SIGINT", "SIGTERM", "SIGHUP", "SIGXCPU", "SIGALRM")

BEGAN = "GPUGRAPH_BEGAN"
"""Environment variable by which a rank learns when the command that started it began; one clock serves a machine."""

_IMPORTED = time.perf_counter()


class Command:
    """The command that this process was started for.

    Attributes:
        began: when, on the clock of ``time.perf_counter``; None where a program calls the command line itself.  What a
            process did before Python began is not the command's: a shell may have waited, or built a package.
        interpreter_s: processor time that this process took before that: the start of Python.
    """

    began: float | None = None
    interpreter_s: float | None = None

    @classmethod
    def begin(cls, began: float | None, interpreter_s: float | None) -> None:
        """Note when the command began: as given, or now; of a rank that was started by another command, with that."""
        cls.began = time.perf_counter() if began is None else began
        cls.interpreter_s = interpreter_s
        with contextlib.suppress(KeyError, ValueError):
            cls.began = min(cls.began, float(os.environ.pop(BEGAN)))

    @classmethod
    def seconds(cls) -> float:
        """Return the seconds since the command began."""
        return time.perf_counter() - (_IMPORTED if cls.began is None else cls.began)


class Interruption(KeyboardInterrupt):
    """A signal asked the process to end: all that is under way is unwound, and nothing half-written stays.

    A class of its own, for the interpreter ends itself by signal 2 once a plain KeyboardInterrupt has passed through
    a library that runs Python code, whoever caught it.
    """

    latest: "Interruption | None" = None
    """The last one raised; a library may have made another exception of it, or none."""


def end(code: object) -> None:
    """End the process: what was registered for its end runs, and nothing is taken apart that goes with it anyway.

    A rank of an MPI that succeeded ends as other programs do: MPICH signs off from mpiexec in a handler of the C
    library's ``exit``, and mpiexec kills the other ranks if one ends without that.
    """
    if is_watched() or (not code and expected_world_size(os.environ) > 1):
        sys.exit(code)  # type: ignore[arg-type]
    atexit._run_exitfuncs()  # of it the interpreter's own end would be the next to know
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # closed, full, or not there: the error boundary has reported it
            continue
    os._exit(code if isinstance(code, int) else int(code is not None))


def is_watched() -> bool:
    """Tell whether a profiler or a debugger runs the process, and has something to say after its end."""
    watchers: list[object] = [sys.getprofile(), sys.gettrace()]
    monitoring = getattr(sys, "monitoring", None)  # from Python 3.12 on
    if monitoring is not None:
        watchers += map(monitoring.get_tool, (monitoring.DEBUGGER_ID, monitoring.PROFILER_ID))
    return any(watchers)


def take_signals() -> None:
    """Let SIGTERM, SIGHUP and SIGXCPU do what Ctrl-C does, unless the starter had them ignored, as nohup does."""
    last = float("-inf")

    def interrupt(number: int, frame: object) -> None:
        # A closed terminal sends several signals; the second must not tear what the first is tidying up.
        nonlocal last
        if time.monotonic() - last < 1:
            return
        last = time.monotonic()
        how = () if number == signal.SIGINT else (f"by {signal.Signals(number).name}",)
        Interruption.latest = Interruption(*how)
        raise Interruption.latest

    def unheard(what: "sys.UnraisableHookArgs") -> None:
        # Raised where the interpreter lets no error out, in a destructor for instance: again in a moment.
        if _ALARM is not None and what.exc_value is Interruption.latest is not None:
            signal.setitimer(signal.ITIMER_REAL, 0.01)
        else:
            sys.__unraisablehook__(what)

    def again(number: int, frame: object) -> None:
        raise Interruption.latest or Interruption

    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, again if number == _ALARM else interrupt)
    sys.unraisablehook = unheard


def ignore_signals() -> None:
    """Let no signal disturb the way out: what was to be said and written has been."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
