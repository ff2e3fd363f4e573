"""The command line: ``gpugraph COMMAND``; commands, each imported only when it is asked for."""

import gc
import sys
from importlib import import_module

from gpugraph.base.ranks import is_own_rank, is_rank
from gpugraph.cli.process import Command, Interruption, end, ignore_signals, take_signals

_YOUNG = 500_000
"""New objects that Python looks over for cycles at once: about those of a short command.  Of what is imported, which
stays, it takes 700 at a time, and all of it now and then, a twentieth of the command."""


def main(began: float | None = None, interpreter_s: float | None = None) -> None:
    """Run the command line and exit with its code; one with a user's own algorithm or a time limit in a child.

    It ``began`` then, on the clock of ``time.perf_counter``, or now; ``interpreter_s`` is processor time before that.
    """
    code: object = 130
    Command.begin(began, interpreter_s)
    try:
        take_signals()
        if is_rank():
            import_module("gpugraph.ext.ranks.world").enter()
        if sys.platform == "linux" and any(word.startswith(("--algo", "--timeout")) for word in sys.argv):
            import_module("gpugraph.ext.plugins.supervised").supervise_if_needed(_main, sys.argv[1:])
        gc.set_threshold(_YOUNG)
        _main()
    except SystemExit as exit_:
        code = exit_.code
        if isinstance(code, int) and is_rank():
            code = import_module("gpugraph.ext.ranks.world").leave(code)
    except KeyboardInterrupt as interrupt:  # at once: the error boundary is not there yet
        if not is_own_rank():  # whose starter speaks for all
            print(" ".join(["gpugraph: interrupted", *interrupt.args]), file=sys.stderr)
    except Exception as error:
        if Interruption.latest is None:
            from gpugraph.base.errors import missing_package, printable, used_up

            missing = missing_package(error) or used_up(error)  # before the error boundary is there
            if missing is None:
                raise
            print(f"gpugraph: error: {printable(str(missing))}", file=sys.stderr)
            sys.exit(missing.exit_code)
        if not is_own_rank():
            print(" ".join(["gpugraph: interrupted", *Interruption.latest.args]), file=sys.stderr)
    ignore_signals()
    end(code)


def _main() -> None:
    from gpugraph.cli.group import cli

    cli.main(prog_name="gpugraph")
