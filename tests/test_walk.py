"""The walk of one cell: how many files and functions a graph, a cell and a record pass through."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from gpugraph.ext.formats.files import save_file
from tests.zoo import zoo

ROOT = Path(__file__).resolve().parent.parent

WALK = """
import functools, importlib, json, sys
from pathlib import Path

import gpugraph
from gpugraph.cli.group import cli
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.view import GraphView
from gpugraph.measure.cell import Cell
from gpugraph.records.record import Record

PACKAGE = str(Path(gpugraph.__file__).parent) + "/"
CARRIED = (CSRGraph, GraphView, Cell, Record)
passed, frames = set(), []


def holds(value):
    among = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
    return any(isinstance(one, CARRIED) for one in among)


def follow(frame, event, value):
    code = frame.f_code
    if not code.co_filename.startswith(PACKAGE) or event not in ("call", "return"):
        return
    file = code.co_filename.removeprefix(PACKAGE)
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    taken = code.co_varnames[:count]
    if holds(value) if event == "return" else any(holds(frame.f_locals.get(name)) for name in taken):
        passed.add((file, code.co_qualname))
    if event == "call" and not frames and file == "ext/tuned/mst/cpu_boruvka.py" and code.co_name == "run":
        while frame is not None:
            frames.append(frame.f_code.co_filename.startswith(PACKAGE))
            frame = frame.f_back


def looks_up(file, name):
    found = importlib.import_module("gpugraph." + file.removesuffix(".py").replace("/", "."))
    for part in name.split("."):
        found = vars(found).get(part)
        if found is None:
            return False
    return isinstance(found, property | functools.cached_property)


sys.setprofile(follow)
try:
    cli.main(["mst", sys.argv[1], "--algo", "boruvka", "--device", "cpu", "--repeat", "2"])
except SystemExit as end:
    assert not end.code
sys.setprofile(None)
walked = sorted((file, name) for file, name in passed if not looks_up(file, name))
print(json.dumps({"walked": walked, "frames": sum(frames)}))
"""
"""Counts what takes or returns one of the four; a property is a look at one of them, and no stay."""


def test_a_cell_walks_through_no_more_than_the_page_says(tmp_path):
    save_file(zoo("random"), tmp_path / "graph.csr")
    command = [sys.executable, "-c", WALK, str(tmp_path / "graph.csr")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    told = json.loads(done.stdout.splitlines()[-1])
    walked = [(file, name) for file, name in told["walked"]]
    files = sorted({file for file, _ in walked})
    page = " ".join((ROOT / "docs" / "architecture.md").read_text("utf-8").split())
    said = re.search(r"passes through (\d+) files and (\d+) functions, (\d+) frames deep before the driver", page)
    assert said is not None
    most_files, most_functions, most_frames = map(int, said.groups())
    assert len(files) <= most_files, files
    assert len(walked) <= most_functions, walked
    assert 0 < told["frames"] <= most_frames
    assert {"cli/measure.py", "measure/run_cell.py", "ext/tuned/mst/cpu_boruvka.py", "report/table.py"} <= set(files)
