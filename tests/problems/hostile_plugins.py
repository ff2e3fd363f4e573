"""Users' own algorithms that misbehave, as data: what each does, and how a command that runs it must end.

Whatever it does, ``gpugraph PROBLEM GRAPH --device cpu --algo FILE.py`` ends with the ``code`` given here, without a
trace, and what it says on standard error holds ``said``; where the code is 0, standard output is one line of JSON.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

GRAPHS = {"mst": "grid:5x5", "sssp": "grid:5x5", "scan": "array:n=100"}

PRELUDE = """\
import atexit, ctypes, gc, io, os, random, signal, subprocess, sys, threading, time, warnings
from dataclasses import replace
import numpy as np
from gpugraph.base.errors import GpuGraphError, InputError, VerificationFailed
from gpugraph.problems.contract import Verdict
from gpugraph.problems.mst.cpu_kruskal import kruskal
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.registry import find_algorithm
from gpugraph.ext.scan.scanned import Scanned
from gpugraph.problems.sssp.distances import Distances
from gpugraph.problems.sssp.verify import reference_distances
KRUSKAL = find_algorithm("mst", "kruskal", "cpu")
def right(view, clock): return kruskal(view, clock)
def shortest(view, source): return reference_distances(view.graph, source)[0]
driver = right
"""
PRELUDE_LINES = PRELUDE.count("\n")

READ_ONLY = "the input is read-only: let the algorithm work on a copy"


@dataclass(frozen=True)
class HostilePlugin:
    """A plugin that misbehaves.

    Attributes:
        name: what it does, in a word or two.
        source: of its file, behind ``PRELUDE``.
        code: the exit code of a command that runs it.
        outcome: of its cell in a bench.
        said: what standard error holds.
        problem: what it claims to solve.
        alone: it may end, hang or fork its process, so that it is run in one of its own.
    """

    name: str
    source: str
    code: int
    outcome: str
    said: str = ""
    problem: str = "mst"
    alone: bool = False

    @property
    def text(self) -> str:
        """The text of its file."""
        return PRELUDE + textwrap.dedent(self.source).strip("\n") + "\n"


def _fine(name: str, source: str, *, problem: str = "mst", alone: bool = False) -> HostilePlugin:
    return HostilePlugin(name, source, 0, "ok", "", problem, alone)


def _threw(name: str, source: str, said: str, *, problem: str = "mst", alone: bool = False) -> HostilePlugin:
    return HostilePlugin(name, source, 2, "threw", said, problem, alone)


def _refused(name: str, source: str, said: str, *, problem: str = "mst") -> HostilePlugin:
    return HostilePlugin(name, source, 2, "refused", said, problem)


def _wrong(name: str, source: str, said: str, *, problem: str = "mst") -> HostilePlugin:
    return HostilePlugin(name, source, 1, "wrong", said, problem)


def _died(name: str, source: str, said: str) -> HostilePlugin:
    return HostilePlugin(name, source, 2, "died", said, alone=True)


def _returns(name: str, value: str, said: str, *, problem: str = "mst") -> HostilePlugin:
    query = ", source" if problem == "sssp" else ""
    return _refused(name, f"def driver(view, clock{query}): return {value}", said, problem=problem)


def _does(name: str, statement: str, *, alone: bool = False) -> HostilePlugin:
    """Return a plugin that gives the right forest and does something besides."""
    body = textwrap.indent(textwrap.dedent(statement).strip(), "    ")
    return _fine(name, f"def driver(view, clock):\n{body}\n    return right(view, clock)", alone=alone)


def _raises(name: str, error: str, said: str) -> HostilePlugin:
    return _threw(name, f"def driver(view, clock): raise {error}", said)


WRITE_ANYWAY = "for array in (view.weights, view.targets, view.graph.offsets):\n        array.base[:] = 0"

PLUGINS = [
    # ------------------------------------------------------------------ it writes into its input
    _threw("writes weights", "def driver(view, clock): view.weights[:] = 0", READ_ONLY),
    _threw("writes the graph", "def driver(view, clock): view.graph.targets[0] = 1", READ_ONLY),
    _threw("writes degrees", "def driver(view, clock): view.graph.degrees[0] = 1", READ_ONLY),
    _threw("sorts in place", "def driver(view, clock): view.weights.sort()", READ_ONLY),
    _threw("writes an array to be scanned", "def driver(view, clock): view.values[0] = 1", READ_ONLY, problem="scan"),
    _threw(
        "writes through the base",
        f"def driver(view, clock):\n    {WRITE_ANYWAY}\n    return right(view, clock)",
        READ_ONLY,
    ),
    _threw(
        "makes it writeable",
        """
        def driver(view, clock):
            weights = view.weights.base if view.weights.base is not None else view.weights
            weights.flags.writeable = True
            weights[:] = 0
            return right(view, clock)
        """,
        READ_ONLY,
    ),
    _threw(
        "writes by address",
        """
        def driver(view, clock):
            found = right(view, clock)
            ctypes.memset(view.weights.ctypes.data, 0, view.weights.nbytes)
            return found
        """,
        READ_ONLY,
    ),
    _threw(
        "puts another array there",
        """
        def driver(view, clock):
            object.__setattr__(view.graph, "weights", np.zeros_like(view.weights))
            return right(view, clock)
        """,
        READ_ONLY,
    ),
    _threw(
        "writes while it prepares",
        """
        class driver:
            devices = "cpu"
            def prepare(self, view, device):
                ctypes.memset(view.targets.ctypes.data, 0, 8)
                return view
            def run(self, state, clock): return right(state, clock)
        """,
        READ_ONLY,
    ),
    _threw(
        "writes while it finishes",
        """
        class driver:
            devices = "cpu"
            def prepare(self, view, device): return view
            def run(self, state, clock): return right(state, clock)
            def finish(self, state, raw):
                ctypes.memset(state.weights.ctypes.data, 0, 8)
                return raw
        """,
        READ_ONLY,
    ),
    _threw(
        "writes and raises",
        """
        def driver(view, clock):
            ctypes.memset(view.weights.ctypes.data, 0, 8)
            raise ValueError("look over there")
        """,
        READ_ONLY,
    ),
    # ------------------------------------------------------------------ what it returns
    _returns("returns nothing", "None", "run returned a NoneType, not the edges of a forest"),
    _returns("returns infinite ids", "np.full(24, np.inf)", "run returned float64 of shape (24,)"),
    _returns("returns objects", "np.array([[], {}, view], object)", "run returned object of shape (3,)"),
    _returns("returns a matrix", "np.zeros((4, 6), np.int64)", "run returned int64 of shape (4, 6)"),
    _returns("returns a list", "['a', 'b']", "run returned a list"),
    _returns("returns dates", "np.zeros(24, 'M8[s]')", "run returned datetime64[s] of shape (24,)"),
    _returns("returns a mask", "np.ones(24, bool)", "run returned bool of shape (24,)"),
    _returns("returns a scalar", "np.int64(4)", "run returned a int64"),
    _returns("returns the view", "view", "run returned a GraphView"),
    _returns("a generator", "(i for i in range(3))", "run returned a generator"),
    _wrong(
        "ids beyond int64", "def driver(view, clock): return np.full(24, 2**64 - 1, np.uint64)", "outside the graph"
    ),
    _wrong("every id twice", "def driver(view, clock): return np.repeat(right(view, clock).edges, 2)", "grid:5x5"),
    _wrong(
        "another answer every time",
        """
        runs = []
        def driver(view, clock):
            runs.append(0)
            edges = right(view, clock).edges
            return edges[: len(edges) - (len(runs) > 2)]
        """,
        "sample 2 differs from sample 1",
    ),
    _wrong(
        "a result that judges itself",
        """
        class Judge(Forest):
            def judge(self, query, method): return Verdict("passed", method, "believe me")
            def fingerprint(self): return "the same"
        def driver(view, clock):
            return Judge(view.graph, view.graph.targets[:0].astype(np.int64), 0, 1)
        """,
        "grid:5x5",
    ),
    _wrong(
        "a digest that calls everything equal",
        """
        runs = []
        def run(state, clock):
            runs.append(0)
            found = KRUSKAL.run(state, clock)
            return found if len(runs) < 3 else Forest.of(found.graph, found.edges[:3])
        driver = replace(KRUSKAL, run=run, digest=lambda raw: "the same")
        """,
        "sample 2 differs from sample 1",
    ),
    _fine(
        "a total that is a lie",
        "def driver(view, clock): return replace(right(view, clock), total_weight='nothing', components=-1)",
    ),
    _fine("ids of another byte order", "def driver(view, clock): return right(view, clock).edges.astype('>i8')"),
    _fine(
        "one buffer for every run",
        """
        buffer = np.zeros(24, np.int64)
        def driver(view, clock):
            buffer[:] = right(view, clock).edges
            return buffer
        """,
    ),
    _threw(
        "times that are none",
        "driver = replace(KRUSKAL, own_seconds=lambda state, handle: float('nan'))",
        "own_seconds returned nan, which is no time",
    ),
    _returns("too few distances", "np.zeros(24, np.uint64)", "not the 25 distances", problem="sssp"),
    _returns("distances as floats", "np.full(25, np.nan)", "the distance nan of vertex 0", problem="sssp"),
    _returns(
        "a Distances of the wrong type",
        "Distances(view.graph, source, np.zeros(25))",
        "run returned float64 of shape (25,), not the 25 distances as uint64",
        problem="sssp",
    ),
    _wrong("zeros", "def driver(view, clock, source): return np.zeros(25, np.uint64)", "by tight arcs", problem="sssp"),
    _fine(
        "distances of another byte order",
        "def driver(view, clock, source): return shortest(view, source).astype('>u8')",
        problem="sssp",
    ),
    _returns("half a scan", "view.values[:50]", "run returned uint32 of shape (50,), not the scan", problem="scan"),
    _returns("a scan in floats", "np.zeros(100)", "run returned float64 of shape (100,)", problem="scan"),
    _wrong(
        "a scan that bounds its own error",
        "def driver(view, clock): return Scanned(view, np.zeros(100, np.uint32), depth=10**30)",
        "element",
        problem="scan",
    ),
    _fine(
        "a scan by NumPy",
        "def driver(view, clock): return np.cumsum(view.values, dtype=view.values.dtype)",
        problem="scan",
    ),
    # ------------------------------------------------------------------ what it raises
    _raises("GeneratorExit", "GeneratorExit", "GeneratorExit"),
    _raises("SystemExit", "SystemExit(0)", "SystemExit: 0"),
    _raises("a BaseException", "type('Mine', (BaseException,), {})('mine')", "Mine: mine"),
    _raises("StopIteration", "StopIteration", "StopIteration"),
    _raises("a group", "BaseExceptionGroup('many', [ValueError(1), KeyboardInterrupt()])", "many (2 sub-exceptions)"),
    _raises("a defect of ours", "GpuGraphError('no fault of mine')", "GpuGraphError: no fault of mine"),
    _raises("a failed check of ours", "VerificationFailed('yours')", "VerificationFailed: yours"),
    _raises(
        "a message that raises",
        "type('Mute', (Exception,), {'__str__': lambda self: 1 / 0})()",
        "Mute, whose message cannot be shown: it raises ZeroDivisionError",
    ),
    _raises("a message that is none", "type('Odd', (Exception,), {'__str__': lambda self: 7})()", "Odd, whose message"),
    _raises(
        "a message that exits",
        "type('Exit', (BaseException,), {'__str__': lambda self: sys.exit(0)})()",
        "Exit, whose message cannot be shown: it raises SystemExit",
    ),
    _raises("a message of megabytes", "ValueError('word ' * 10**6)", "ValueError: word word"),
    _raises("a message of lines", "ValueError('two\\nlines\\r\\n\\tand a tab')", "ValueError: two lines and a tab"),
    _threw(
        "an input error of its own",
        """
        class Sly(InputError):
            exit_code = 0
        def driver(view, clock): raise Sly("all is well")
        """,
        "Sly: all is well",
    ),
    _threw("endless recursion", "def driver(view, clock): return driver(view, clock)", "RecursionError"),
    HostilePlugin(
        "no memory", "def driver(view, clock): raise MemoryError", 3, "out of memory", "memory does not suffice"
    ),
    HostilePlugin("a false Ctrl-C", "def driver(view, clock): raise KeyboardInterrupt", 130, "threw", "interrupted"),
    # ------------------------------------------------------------------ what it says of itself
    _refused("devices are a number", "def driver(view, clock): pass\ndriver.devices = 5", "TypeError"),
    _refused("a problem is a list", "def driver(view, clock): pass\ndriver.problem = ['mst']", "unknown problem"),
    _refused("options are numbers", "def driver(view, clock): pass\ndriver.options = (1, 2)", "options are no Option"),
    _refused("a summary is bytes", "def driver(view, clock): pass\ndriver.summary = b'x'", "its summary is no text"),
    _refused("a year is a word", "def driver(view, clock): pass\ndriver.year = 'x'", "its year is no whole number"),
    _refused("no device", "driver = replace(KRUSKAL, devices=())", "unknown device"),
    _threw(
        "attributes that raise",
        """
        class Trap:
            def __getattr__(self, name): raise RuntimeError(f"hands off {name}")
        driver = Trap()
        """,
        "RuntimeError: hands off",
    ),
    _threw("a module that raises", "del driver\ndef __getattr__(name): raise OSError(name)", "OSError: driver"),
    _threw("exits while it is imported", "sys.exit(0)", f"line {PRELUDE_LINES + 1}: SystemExit: 0"),
    _refused("no Python", "def driver(view, clock:", f"line {PRELUDE_LINES + 1}"),
    # ------------------------------------------------------------------ what it does to the process
    _does("NumPy raises", "np.seterr(all='raise'); np.seterrcall(lambda *_: 1 / 0)"),
    _does("seeds", "np.random.seed(1); random.seed(1)"),
    _does("goes elsewhere", "os.chdir('/')"),
    _does("one thread", "import numba; numba.set_num_threads(1)"),
    _does("no collector", "gc.disable(); gc.set_threshold(0)"),
    _does("a low recursion limit", "sys.setrecursionlimit(200)"),
    _does("traces", "sys.settrace(lambda *_: None); sys.setprofile(lambda *_: None)"),
    _does("warnings are errors", "warnings.simplefilter('error')"),
    _does("no file may be read", "os.umask(0o777)"),
    _does("no Ctrl-C", "signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN)"),
    _does("an alarm", "signal.setitimer(signal.ITIMER_REAL, 0.2); signal.signal(signal.SIGALRM, signal.SIG_DFL)"),
    _does("prints", "print('{\"outcome\": \"ok\"}'); sys.__stdout__.write('more')", alone=True),
    _does("prints in C", "ctypes.CDLL(None).printf(b'no newline, not flushed'); os.write(1, b'raw')", alone=True),
    _does("a child prints", "subprocess.run(['echo', 'from a child'])", alone=True),
    _does("closes its output", "sys.stdout.close(); sys.__stdout__.close()", alone=True),
    _does("closes everything", "os.closerange(0, 3)", alone=True),
    _does("no output", "sys.stdout = sys.stderr = None"),
    _does("threads that never end", "threading.Thread(target=time.sleep, args=(1000,)).start()", alone=True),
    _does("children that never end", "subprocess.Popen(['sleep', '1000'])", alone=True),
    _does("hooks that never end", "atexit.register(time.sleep, 1000)", alone=True),
    _does("hooks that print", "atexit.register(print, 'good bye')", alone=True),
    _does("forks", "os.fork()", alone=True),
    # ------------------------------------------------------------------ how it ends the process
    _died("leaves", "def driver(view, clock): os._exit(0)", "it ended its process with code 0"),
    _died("leaves with a code", "def driver(view, clock): os._exit(70)", "it ended its process with code 70"),
    _died("leaves while it is imported", "os._exit(7)", "it ended its process with code 7"),
    _died("reads address 0", "def driver(view, clock): ctypes.string_at(0)", "was ended by SIGSEGV"),
    _died("aborts", "def driver(view, clock): os.abort()", "was ended by SIGABRT"),
    _died("kills itself", "def driver(view, clock): os.kill(os.getpid(), signal.SIGKILL)", "was ended by SIGKILL"),
]
"""What misbehaves; ``alone`` ones in a process of their own."""

IMPORTS_FOREVER = HostilePlugin("sleeps while it is imported", "time.sleep(1000)", 2, "timeout", alone=True)
"""The one that never ends by itself: to be tried with a limit of time, in a bench."""
