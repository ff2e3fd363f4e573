"""A second process that compiles an algorithm's CPU code while this one makes or reads the graph.

Nearly all of a user's first command is compilation, half of it for the graph and half for the algorithm and the check
of its result.  Numba compiles one function at a time in a process, so the second half gets a process of its own; its
code goes through the cache of compiled code, where this process finds it or waits for it.
"""

import contextlib
import os
import sys

from gpugraph.base import code_cache
from gpugraph.base.host import environment_with_package, usable_cores
from gpugraph.problems.contract import PROBLEMS


def begin(problem: str, graph: str, algorithm: str) -> None:
    """Start the process if neither cache nor package holds code of the problem, and a processor is free for it.

    The weights of a spec decide what is compiled; those of any other ``graph`` are taken for uint32.
    """
    folder = code_cache.users_folder()
    if folder is None or usable_cores() < 2:
        return
    with contextlib.suppress(OSError), os.scandir(folder / "numba") as kept:  # may be thousands
        if any(file.name.startswith(f"{PROBLEMS[problem]}.") for file in kept):
            return
    from gpugraph.base import numba_prebuilt  # what it imports takes longer than many a run's search in the cache

    if numba_prebuilt.is_there():
        return
    import subprocess

    command = [sys.executable, "-P", "-m", "gpugraph.ext.builds.ahead", problem, graph, algorithm, str(os.getpid())]
    nowhere = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    with contextlib.suppress(OSError):
        subprocess.Popen(command, env=environment_with_package(), **nowhere)  # type: ignore[call-overload]
