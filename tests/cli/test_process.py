"""What only a process of its own can show: signals, pipes, a full standard output."""

from __future__ import annotations

import json
import marshal
import os
import pstats
import resource
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tiers import also, extended, first

ROOT = Path(__file__).resolve().parents[2]

WEL = ("--output-format", "edgelist")

# Work that a signal strikes looks up often, as the program's own does: one that comes between two instructions of a
# single long sleep is seen only when that ends.
WORK = "[__import__('time').sleep(0.05) for _ in range(600)]"

SLOW = """
import sys, time
import gpugraph.graph.generate as g
import gpugraph.base.files, gpugraph.graph.load as load
from gpugraph.cli import main

def slow(spec, progress=None):
    graph = real(spec, progress)
    {before}
    return graph

real, g.generate = g.generate, slow
main()
"""


def start(program: str, *words: str, **how: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *words],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **how,  # type: ignore[call-overload]
    )


def interrupt_when_ready(process: subprocess.Popen[str], *numbers: int) -> tuple[str, str]:
    assert process.stderr is not None
    assert process.stderr.readline() == "ready\n"
    for number in numbers or (signal.SIGINT,):
        process.send_signal(number)
    return process.communicate(timeout=300)


SIGNALS = {
    "interrupted": (signal.SIGINT,),
    "interrupted by SIGTERM": (signal.SIGTERM,),
    "interrupted by SIGHUP": (signal.SIGHUP,),
    "interrupted by SIGXCPU": (signal.SIGXCPU,),
}


@pytest.mark.parametrize("said", first(1, SIGNALS))
def test_a_signal_while_generating_exits_130_and_leaves_nothing(tmp_path, said):
    program = SLOW.format(before=f"print('ready', file=sys.stderr, flush=True); {WORK}")
    process = start(program, "generate", "grid:9x9", "-o", str(tmp_path / "g.csr"), "-q")
    _, err = interrupt_when_ready(process, *SIGNALS[said])
    assert process.returncode == 130
    assert err == f"gpugraph: {said}\n"
    assert list(tmp_path.iterdir()) == []


def test_what_the_starter_had_ignored_stays_ignored(tmp_path):
    program = SLOW.format(before="print('ready', file=sys.stderr, flush=True); time.sleep(0.5)")
    program = f"import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n{program}"
    process = start(program, "generate", "grid:9x9", "-o", str(tmp_path / "g.csr"), "-q")
    interrupt_when_ready(process, signal.SIGHUP)
    assert process.returncode == 0
    assert (tmp_path / "g.csr").exists()


SWALLOWED = """
import ctypes, sys
from gpugraph.cli import main
import gpugraph.graph.generate as g

class Destroyed:
    def __del__(self):
        print("ready", file=sys.stderr, flush=True)
        {work}

def generate(spec, progress=None):
    {body}

run = ctypes.pythonapi.PyRun_String
run.restype, run.argtypes = ctypes.py_object, [ctypes.c_char_p, ctypes.c_int, ctypes.py_object, ctypes.py_object]
g.generate = generate
main()
"""

BODIES = {
    "in a destructor": f"Destroyed(); {WORK}",
    "and made another error": "try: Destroyed.__del__(None)\n    except KeyboardInterrupt: raise RuntimeError('no')",
    "in code that a library runs": "run(b'Destroyed.__del__(None)', 257, globals(), globals())",
}


@pytest.mark.parametrize("where", first(1, BODIES))
def test_an_interruption_stays_one_wherever_it_strikes(tmp_path, where):
    # As a module, like the command itself: there the interpreter looks at its exit whether an interruption got lost.
    (tmp_path / "swallowed.py").write_text(SWALLOWED.format(work=WORK, body=BODIES[where]))
    words = [sys.executable, "-m", "swallowed", "generate", "grid:9x9", "-o", str(tmp_path / "g.csr"), "-q"]
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    process = subprocess.Popen(words, env={**os.environ, "PYTHONPATH": paths}, stderr=subprocess.PIPE, text=True)
    _, err = interrupt_when_ready(process)
    assert (process.returncode, err) == (130, "gpugraph: interrupted\n")


WRITING = f"""
import sys, time
from gpugraph.ext.formats import csr, known
from dataclasses import replace
from gpugraph.cli import main
import gpugraph.graph.load as load

def write(graph, stream, extension):
    stream.write(b"half")
    stream.flush()
    print("ready", file=sys.stderr, flush=True)
    {WORK}

known.for_output = lambda name, ending: replace(csr.FORMAT, write=write)
main()
"""


@pytest.mark.parametrize("numbers", first(1, [(signal.SIGHUP, signal.SIGHUP, signal.SIGTERM), *SIGNALS.values()]))
def test_a_signal_while_writing_leaves_the_old_file_and_nothing_else(tmp_path, numbers):
    (tmp_path / "g.csr").write_text("old")
    process = start(WRITING, "generate", "grid:9x9", "-o", str(tmp_path / "g.csr"), "-q")
    interrupt_when_ready(process, *numbers)
    assert process.returncode == 130
    assert [path.name for path in tmp_path.iterdir()] == ["g.csr"]
    assert (tmp_path / "g.csr").read_text() == "old"


def test_ctrl_c_before_the_command_line_is_there_is_one_line_too():
    program = """
import sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "gpugraph.cli.group":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
from gpugraph.cli import main
main()
"""
    process = start(program, "algos")
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (130, "gpugraph: interrupted\n")


def test_a_signal_among_the_first_imports_that_becomes_another_error_is_an_interruption():
    program = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "gpugraph.cli.group":
            try:
                os.kill(os.getpid(), signal.SIGTERM)
                __import__("time").sleep(1)
            except KeyboardInterrupt:
                raise ImportError("half-way") from None

sys.meta_path.insert(0, Interrupt())
from gpugraph.cli import main
main()
"""
    process = start(program, "algos")
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (130, "gpugraph: interrupted by SIGTERM\n")


INTERRUPTED = """
import sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "gpugraph.cli.process":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
import gpugraph.__main__
"""


def test_an_interruption_while_the_command_line_is_imported_is_one_line():
    process = start(INTERRUPTED, "algos")
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (130, "gpugraph: interrupted\n")


LIMITED = """
import resource, sys
sys.dont_write_bytecode = True  # Python would cut its own files off
import gpugraph.base.files as atomic
from gpugraph.cli import main

def limited(*words):
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
    return open_writer(*words)

open_writer, atomic.open_writer = atomic.open_writer, limited
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="the system's limit of file sizes")
def test_under_a_limit_of_file_sizes_no_code_of_ours_is_kept_that_is_cut_short(tmp_path):
    env = os.environ | {"PYTHONPYCACHEPREFIX": str(tmp_path)}
    subprocess.run([sys.executable, "-c", ""], env=env, check=True)  # the limit would end Python 3.14 as it starts
    done = subprocess.run(
        [sys.executable, "-m", "gpugraph", "algos"],
        env=env,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)),
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    for file in tmp_path.rglob("gpugraph/**/*.pyc"):
        marshal.loads(file.read_bytes()[16:])


@pytest.mark.skipif(os.name != "posix", reason="the system's limit of file sizes")
@pytest.mark.parametrize("name", first(2, ["g.csr", "g.npz.xz", "g.gr", "g.wel.gz", "g.wel.zst", "g.npz", "g.mtx.bz2"]))
def test_a_disk_that_fills_while_a_graph_is_written_leaves_nothing(tmp_path, name):
    process = start(LIMITED, "generate", "rmat:12", "-o", str(tmp_path / name), "-q")
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (2, "")
    assert err == f"gpugraph: error: {tmp_path / name}: cannot be written: file too large — " + (
        "write elsewhere: the file system or a limit of the shell forbids so large a file\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_result_that_does_not_fit_takes_neither_record_nor_table_with_it(tmp_path):
    words = ["mst", "grid:64x64", "--device", "cpu", "--repeat", "1", "--format", "json", "-q"]
    process = start(LIMITED, *words, "-o", str(tmp_path / "f.npz"), "--save", str(tmp_path / "r.jsonl"))
    out, err = process.communicate(timeout=300)
    assert process.returncode == 2
    assert "f.npz: cannot be written: file too large" in err
    assert out.startswith("{")
    assert [path.name for path in tmp_path.iterdir()] == ["r.jsonl"]


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text elsewhere")
def test_a_file_name_that_is_no_utf_8_is_a_name_like_any_other(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.wel"
    with open(path, "w") as file:
        file.write("0 1 5\n1 2 7\n")
    words = ["mst", path, "--device", "cpu", "--repeat", "1", "-q", "-o", tmp_path / "f.mtx", "--format", "json"]
    done = subprocess.run([sys.executable, "-m", "gpugraph", *words], capture_output=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["graph"]["source"].endswith(r"/\udcff.wel")
    assert b"forest of ?, total weight 12" in (tmp_path / "f.mtx").read_bytes()


def test_notices_that_nobody_reads_do_not_stop_the_work(tmp_path):
    (tmp_path / "g.wel").write_text("0 1 5\n1 1 7\n")  # the self loop is told
    read, write = os.pipe()
    os.close(read)
    words = ["mst", str(tmp_path / "g.wel"), "--device", "cpu", "-o", str(tmp_path / "f.npz")]
    words += ["--save", str(tmp_path / "r.jsonl")]
    done = subprocess.run([sys.executable, "-m", "gpugraph", *words], stdout=subprocess.PIPE, stderr=write, cwd=ROOT)
    os.close(write)
    assert done.returncode == 0
    assert done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"g.wel", "f.npz", "r.jsonl"}


@pytest.mark.skipif(os.name != "posix", reason="the shell's way to close a stream")
def test_a_graph_from_a_closed_standard_input_is_one_line():
    command = f"{shlex.quote(sys.executable)} -m gpugraph mst - --device cpu -q <&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2
    assert done.stderr.startswith("gpugraph: error: standard input: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="the shell's way to close a stream")
@pytest.mark.parametrize(
    ("closed", "out"), [("<&- >&- 2>&-", ""), also(">&-", ""), also("2>&-", "{"), also("<&-", "{")]
)
def test_a_closed_stream_is_no_error_and_no_other_takes_its_place(closed, out):
    command = f"{shlex.quote(sys.executable)} -m gpugraph mst path:9 --device cpu --format json {closed}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout[:1] == out
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout here")
def test_a_graph_goes_through_a_pipe_alone():
    process = start("from gpugraph.cli import main; main()", "generate", "path:3,w=unit", "-o", "/dev/stdout", *WEL)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert [line.split()[:2] for line in out.splitlines()] == [["0", "1"], ["1", "0"], ["1", "2"], ["2", "1"]]
    assert "3 vertices" in err


@pytest.mark.skipif(not os.path.exists("/dev/fd/1"), reason="no /dev/fd here")
@pytest.mark.parametrize(
    "words",
    [
        "mst path:3 --save out",
        "mst path:3 --save /dev/stdout",
        "mst path:3 -o out.csv",
        "mst path:3 --save err",
        "graph500 --scale 5 --keep out",
    ],
)
def test_no_output_goes_into_the_file_that_the_shell_sends_the_table_or_the_notices_to(tmp_path, words):
    command = [sys.executable, "-m", "gpugraph", *words.split(), "--device", "cpu"]
    name = "out.csv" if "csv" in words else "out"
    with open(tmp_path / name, "w") as out, open(tmp_path / "err", "w") as err:
        done = subprocess.run(
            command, stdout=out, stderr=err, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
    assert done.returncode == 2
    assert (tmp_path / name).read_text() == ""
    said = f"{words.split()[-1]}: is the file that the shell sends output to — name another file"
    assert (tmp_path / "err").read_text() == f"gpugraph: error: {said}\n"


def test_a_reader_that_stops_early_is_no_error():
    process = start("from gpugraph.cli import main; main()", "algos")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait(300) == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_standard_output_is_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gpugraph", "algos"], stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT
        )
    assert done.returncode == 2
    said = "cannot write to standard output: no space left on device — free some space, or write to another place"
    assert done.stderr == f"gpugraph: error: {said}\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("word", first(1, ["--help", "--version"]))
def test_a_full_standard_output_is_one_line_for_what_click_prints_too(word):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gpugraph", word], stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT
        )
    assert done.returncode == 2
    assert done.stderr.startswith("gpugraph: error: cannot write: no space left on device")
    assert done.stderr.count("\n") == 1


def test_a_locale_without_our_letters_is_no_error():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "gpugraph", "algos"], capture_output=True, env=environment, cwd=ROOT, check=True
    )
    assert b"Bor?vka" in done.stdout
    assert done.stderr == b""


@extended
def test_that_compiled_code_cannot_be_kept_is_reported_once_and_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file, no folder")
    environment = {**os.environ, "GPUGRAPH_CACHE_DIR": str(tmp_path / "taken")}
    command = [sys.executable, "-m", "gpugraph", "info", "path:5"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0
    (told,) = [line for line in done.stderr.splitlines() if "cannot be kept" in line]
    assert told.startswith(f"gpugraph: compiled code cannot be kept in {tmp_path / 'taken'}: not a directory; ")
    assert "Warning" not in done.stderr


@extended
def test_a_profiler_has_its_say_after_the_end(tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    words = ("-m", "cProfile", "-o", str(profile), "-m", "gpugraph", "info", "grid:3x3", "--quiet")
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "grid:3x3" in done.stdout
    assert "main" in {function for _, _, function in pstats.Stats(str(profile)).stats}  # type: ignore[attr-defined]
