"""The drawing library in a process of its own: where address space is short it does not fail, it ends its process.

``python -m gpugraph.ext.charts.engine PARENT FUNCTION``: the arguments come as JSON on standard input, the result
goes to standard output, and what the library finds wrong with a figure to standard error, with exit code 2.
"""

import json
import os
import subprocess
import sys

from gpugraph.base.errors import DeviceUnavailable
from gpugraph.base.host import end_with, ended_by, environment_with_package

_REFUSED = 2


def called(function: str, *given: object, **options: object) -> bytes:
    """Return what a function of vl-convert gives, a text as UTF-8.

    Raises:
        ValueError: the library cannot draw this, and says why.
        DeviceUnavailable: the library has ended its process.
    """
    command = [sys.executable, "-P", "-m", __name__, str(os.getpid()), function]
    sent = json.dumps([given, options]).encode()
    done = subprocess.run(command, input=sent, capture_output=True, env=environment_with_package())
    if done.returncode == _REFUSED:
        raise ValueError(done.stderr.decode("utf-8", "replace").strip())
    if done.returncode:
        how = ended_by(-done.returncode) if done.returncode < 0 else f"ended with code {done.returncode}"
        remedy = "it needs gigabytes of address space: raise the limit (ulimit -v), or write the figure as .json"
        raise DeviceUnavailable(f"the drawing library was {how}", where="vl-convert", remedy=remedy)
    return done.stdout


def main(parent: str, function: str) -> int:
    """Call a function of vl-convert, as the module says; return the exit code."""
    end_with(int(parent))
    import vl_convert

    given, options = json.load(sys.stdin.buffer)
    try:
        result: str | bytes = getattr(vl_convert, function)(*given, **options)
    except ValueError as error:
        sys.stderr.write(str(error) or "it cannot be drawn")
        return _REFUSED
    sys.stdout.buffer.write(result.encode() if isinstance(result, str) else bytes(result))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
