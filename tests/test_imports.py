"""What a command imports: nothing that it does not use."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gpugraph.ext.formats.files import save_file
from tests.emulator.compiler import needs_compiler
from tests.tiers import also, first
from tests.zoo import zoo

SLOW = {
    *("numba", "llvmlite", "scipy.sparse", "scipy.linalg", "scipy.special", "pyarrow", "pandas"),
    *("networkx", "rich", "jinja2", "cupy", "tomlkit"),
}


def loaded_by(program: str) -> set[str]:
    """Return which of the slow packages are there at the end of a program."""
    program += "\nimport json, sys\nsys.stderr.write(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return SLOW & set(json.loads(done.stderr.splitlines()[-1]))


def command(*words: object) -> str:
    """Return a program that runs a command."""
    given = ", ".join(repr(str(word)) for word in words)
    return f"""
from gpugraph.cli.group import cli
try:
    cli.main([{given}])
except SystemExit as end:
    assert not end.code
"""


def test_problems_algorithms_and_what_measures_them_import_no_compiler_and_no_library() -> None:
    program = """
import gpugraph.measure.run_cell, gpugraph.report.table
from gpugraph.problems.registry import algorithms
algorithms()
"""
    assert loaded_by(program) == set()


COUNTED = """
own = {name: m.__file__ for name, m in sys.modules.items() if name.split(".")[0] == "gpugraph"}
print(json.dumps(sorted(file for file in own.values() if file)))
"""
ALONE = ("--device", "cpu", "--quiet")
UNNAMED = {"ranks", "peers", "plugins", "papers", "batched", "components", "scan", "engines"}
"""Extensions that a command imports only if a device, an algorithm or a problem of theirs is named."""


@pytest.mark.parametrize(
    ("words", "most_modules", "most_lines"),
    [
        (("mst", "{graph}", *ALONE), 90, 15_000),
        (("sssp", "{graph}", "--source", 0, "--device", "emulated", "--repeat", 1, "--quiet"), 95, 16_000),
        (("bench", "{graph}", "--algo", "kruskal", *ALONE, "--save", "{folder}/r.jsonl"), 72, 9_850),
    ],
    ids=["mst", "sssp", "bench"],
)
@needs_compiler
def test_a_command_loads_few_modules(
    words: tuple[object, ...], most_modules: int, most_lines: int, tmp_path: Path
) -> None:
    save_file(zoo("random"), tmp_path / "g.csr")
    given = [str(word).format(graph=tmp_path / "g.csr", folder=tmp_path) for word in words]
    program = f"import json, sys{command(*given)}{COUNTED}"
    for _ in range(2):  # the first run may find nothing compiled, and what compiles imports more than what is compiled
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        files = json.loads(done.stdout.splitlines()[-1])
        lines = sum(len(Path(file).read_text("utf-8").splitlines()) for file in files)
        if len(files) <= most_modules and lines <= most_lines:
            break
    modules = [re.findall(r"/gpugraph/ext/(\w+)/", file) for file in files if not file.endswith("__init__.py")]
    assert not UNNAMED & {name for names in modules for name in names}
    assert (len(files) <= most_modules, lines <= most_lines) == (True, True), (len(files), lines)


def test_each_algorithm_is_found_without_the_others() -> None:
    """The module that registers it is one of those that its name leads to."""
    program = """
import sys
from gpugraph.problems import registry
add, origins = registry.add_algorithm, []

def noting(problem, name, **fields):
    frame = sys._getframe(1)
    while frame.f_code.co_name != "<module>":
        frame = frame.f_back
    made = add(problem, name, **fields)
    origins.extend((problem, name, kind, frame.f_globals["__name__"]) for kind in made.devices)
    return made

registry.add_algorithm = noting
registry.algorithms()
import json
missed = [
    origin for origin in origins
    if origin[3] not in registry.homes_of(*origin[:2], "cpu_" if origin[2] == "cpu" else "gpu_")
]
print(json.dumps([len(origins), missed]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    found, missed = json.loads(done.stdout)
    assert found > 50
    assert missed == [], "name the file after the algorithm, or list it in FILES of its package"


@pytest.mark.parametrize("words", [("--help",), ("mst", "--help"), ("bench", "--help")])
def test_help_imports_nothing_slow(words: tuple[str, ...]) -> None:
    assert loaded_by(command(*words)) == set()


@pytest.mark.parametrize("source", first(1, ["rmat:6", "file"]))
def test_a_run_on_a_cpu_imports_what_it_compiles_with_and_nothing_else(source: str, tmp_path: Path) -> None:
    if source == "file":
        source = str(tmp_path / "g.csr")
        save_file(zoo("random"), source)
    program = command("mst", source, "--device", "cpu", "--repeat", 10, "--quiet")
    loaded_by(program)  # what compiles imports more than what is compiled
    assert loaded_by(program) == {"numba", "llvmlite"}


def test_compiled_code_is_loaded_without_what_numba_imports_beside_it() -> None:
    words = ("-X", "importtime", "-m", "gpugraph", "mst", "rmat:6", "--device", "cpu", "--repeat", "10", "--quiet")
    for _ in range(2):  # what compiles imports more than what is compiled
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "numba" in imported
    assert not imported & {"scipy.version", "numpy.ma", "importlib.metadata", "multiprocessing", "yaml.parser"}


@needs_compiler
@pytest.mark.parametrize("problem", ["mst", "sssp", "components"])
@pytest.mark.parametrize("source", first(1, ["rmat:6", "file"]))
def test_a_run_on_a_device_imports_no_compiler_and_no_library(problem: str, source: str, tmp_path: Path) -> None:
    if source == "file":
        source = str(tmp_path / "g.csr")
        save_file(zoo("random"), source)
    # Its graph is made or checked, searched and its result finished on the device; a GPU also makes the certificate.
    words = (problem, source, "--device", "emulated", "--repeat", 1, "--verify", "none", "--quiet")
    assert loaded_by(command(*words)) == set()


@pytest.mark.parametrize(
    ("device", "begun"), [((), [0]), also(("--device", "cuda:1"), [1]), also(("--device", "cpu"), [])]
)
def test_a_gpu_gets_ready_while_libraries_are_imported(device: tuple[str, ...], begun: list[int]) -> None:
    program = f"""
import sys
from gpugraph.devices import context, discovery

def begin(index):
    begun.append(index)
    assert "numpy" not in sys.modules
    context.begin_context = begin_context

begun, begin_context = [], context.begin_context
context.begin_context = begin
discovery.check_installed = lambda: None
from gpugraph.cli.group import cli
try:
    cli.main(["mst", "grid:4x4", "--algo", "kruskal", "--quiet", *{device}])
except SystemExit:
    print(begun)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == str(begun), done.stderr


@pytest.mark.parametrize(("told", "seen"), [(None, "1"), also("4", "4")])
def test_numpys_blas_starts_no_threads_unless_the_user_wants_them(told: str | None, seen: str) -> None:
    program = """
import os, sys

class Watcher:
    def find_spec(self, name, *_):
        if name == "numpy":
            seen.append(os.environ.get("OPENBLAS_NUM_THREADS"))

seen = []
sys.meta_path.insert(0, Watcher())
from gpugraph.cli.group import cli
try:
    cli.main(["mst", "grid:4x4", "--device", "cpu", "--quiet"])
except SystemExit:
    print(*seen, os.environ.get("OPENBLAS_NUM_THREADS"))
"""
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    environment |= {} if told is None else {"OPENBLAS_NUM_THREADS": told}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.splitlines()[-1] == f"{seen} {told}", done.stderr
