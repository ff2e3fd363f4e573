"""What only a process of its own can show: signals, pipes, a full standard output."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

WEL = ("--output-format", "edgelist")

SLOW = """
import sys, time
import gpugraph.graph.generate as g
import gpugraph.atomic, gpugraph.graph.load as load
from gpugraph.cli.group import cli

def slow(spec, progress=None):
    graph = real(spec, progress)
    {before}
    return graph

real, g.generate = g.generate, slow
cli.main(sys.argv[1:])
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


def interrupt_when_ready(process: subprocess.Popen[str]) -> tuple[str, str]:
    assert process.stderr is not None
    assert process.stderr.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=30)


def test_ctrl_c_while_generating_exits_130_and_leaves_nothing(tmp_path):
    program = SLOW.format(before="print('ready', file=sys.stderr, flush=True); time.sleep(30)")
    process = start(program, "generate", "grid:9x9", "-o", str(tmp_path / "g.csr"))
    _, err = interrupt_when_ready(process)
    assert process.returncode == 130
    assert err == "gpugraph: interrupted\n"
    assert list(tmp_path.iterdir()) == []


WRITING = """
import sys, time
from gpugraph.graph.formats import native
from gpugraph.graph import formats
from dataclasses import replace
from gpugraph.cli.group import cli
import gpugraph.graph.load as load

def write(graph, stream, extension):
    stream.write(b"half")
    stream.flush()
    print("ready", file=sys.stderr, flush=True)
    time.sleep(30)

load.formats.for_output = lambda name: replace(native.FORMAT, write=write)
cli.main(sys.argv[1:])
"""


def test_ctrl_c_while_writing_leaves_the_old_file_and_nothing_else(tmp_path):
    (tmp_path / "g.csr").write_text("old")
    process = start(WRITING, "generate", "grid:9x9", "-o", str(tmp_path / "g.csr"))
    interrupt_when_ready(process)
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
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "gpugraph: interrupted\n")


@pytest.mark.skipif(os.name != "posix", reason="the shell's way to close a stream")
@pytest.mark.parametrize(("closed", "out"), [(">&-", ""), ("2>&-", "{")])
def test_a_closed_stream_is_no_error_and_no_other_takes_its_place(closed, out):
    command = f"{shlex.quote(sys.executable)} -m gpugraph mst path:9 --device cpu --format json {closed}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout[:1] == out
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout here")
def test_a_graph_goes_through_a_pipe_alone():
    process = start("from gpugraph.cli import main; main()", "generate", "path:3,w=unit", "-o", "/dev/stdout", *WEL)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert [line.split()[:2] for line in out.splitlines()] == [["0", "1"], ["1", "0"], ["1", "2"], ["2", "1"]]
    assert "3 vertices" in err


def test_a_reader_that_stops_early_is_no_error():
    process = start("from gpugraph.cli import main; main()", "algos")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait(30) == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_standard_output_is_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gpugraph", "algos"], stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT
        )
    assert done.returncode == 2
    assert done.stderr == "gpugraph: error: cannot write to standard output: no space left on device\n"


def test_a_locale_without_our_letters_is_no_error():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "gpugraph", "algos"], capture_output=True, env=environment, cwd=ROOT, check=True
    )
    assert b"Bor?vka" in done.stdout
    assert done.stderr == b""


def test_that_compiled_code_cannot_be_kept_is_told_once_and_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file, no folder")
    environment = {**os.environ, "GPUGRAPH_CACHE_DIR": str(tmp_path / "taken")}
    command = [sys.executable, "-m", "gpugraph", "info", "path:5"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    (told,) = [line for line in done.stderr.splitlines() if "cannot be kept" in line]
    assert told.startswith(f"gpugraph: compiled code cannot be kept in {tmp_path / 'taken'}: not a directory; ")
    assert "Warning" not in done.stderr
