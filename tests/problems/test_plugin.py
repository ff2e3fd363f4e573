"""A user's own algorithm is a first-class plugin, and whatever is wrong with one is told in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import gpugraph
from gpugraph.base.errors import InputError
from gpugraph.ext.plugins.plugin import as_algorithm, load_plugin
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.registry import find_algorithm
from tests.cli.runner import refuse, run, succeed
from tests.emulator.compiler import needs_compiler

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "sssp_cuda.py"
GRID = "grid:5x5"

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a plugin's file and returns its path."""

    def put(text: str, name: str = "mine.py") -> str:
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return put


# ------------------------------------------------------------------ the example


@needs_compiler
@pytest.mark.parametrize("graph", [GRID, "rmat:7"])
def test_the_example_runs_on_the_emulated_device_and_is_verified_and_measured(graph: str) -> None:
    told = succeed("sssp", graph, "--algo", f"{EXAMPLE}:driver", "--device", "emulated", "--format", "json").out
    record = json.loads(told)
    assert record["verification"]["status"] == "passed"
    assert record["algorithm"] == "sssp_cuda:driver"
    assert record["rounds"] >= 2
    assert record["kernel_phases_s"]["relax"] > 0
    assert record["peak_device_bytes"] > 0


def test_the_example_takes_at_most_forty_lines_and_the_readme_leads_to_it() -> None:
    for part in (EXAMPLE, EXAMPLE.with_suffix(".cu")):
        assert len(part.read_text().splitlines()) <= 40
    assert "docs/examples/sssp_cuda.py" in (ROOT / "README.md").read_text()


# ------------------------------------------------------------------ what a plugin may be

KRUSKAL = '''
"""Kruskal's algorithm in plain Python."""
import numpy as np

def kruskal(view, clock):
    """Sort, then join."""
    tails = np.repeat(np.arange(view.vertices), np.diff(view.offsets))
    parent = list(range(view.vertices))
    def root(v):
        while parent[v] != v:
            v = parent[v]
        return v
    chosen = []
    with clock.phase("sort"):
        order = np.lexsort((np.arange(view.arcs), view.weights))
    for arc in order:
        u, v = root(tails[arc]), root(view.targets[arc])
        if tails[arc] < view.targets[arc] and u != v:
            parent[u] = v
            chosen.append(arc)
    return np.array(chosen, np.int64)

driver = kruskal

class Kruskal:
    devices = "cpu"
    problem = "mst"
    def prepare(self, view, device):
        return view
    def run(self, state, clock):
        return kruskal(state, clock)
'''


@pytest.mark.parametrize("name", ["", ":driver", ":kruskal", ":Kruskal"])
@pytest.mark.parametrize("graph", [GRID, "rmat:6"])
def test_a_function_or_a_class_over_numpy_arrays_runs_on_the_cpu(write: Write, name: str, graph: str) -> None:
    told = succeed("mst", graph, "--device", "cpu", "--algo", write(KRUSKAL) + name, "--format", "json").out
    record = json.loads(told)
    assert record["verification"]["status"] == "passed"
    assert record["kernel_phases_s"].keys() == {"sort"}
    assert record["mteps"]["kernel"] > 0


def test_a_plain_function_may_return_a_result_of_its_own(write: Write) -> None:
    text = (
        "import numpy as np\n"
        "from gpugraph.problems.sssp.distances import Distances\n"
        "def driver(view, clock, source):\n"
        "    d = [abs(v // 3 - source // 3) + abs(v % 3 - source % 3) for v in range(9)]\n"
        "    return Distances(view.graph, source, np.array(d, np.uint64))\n"
    )
    succeed("sssp", "grid:3x3,w=unit", "--source", "1", "--device", "cpu", "--algo", write(text))


@pytest.mark.parametrize("far", [2**53 + 1, 2**63 + 1, 2**64 - 2])
def test_whole_distances_beside_infinity_are_taken_exactly(write: Write, far: int) -> None:
    graph = gpugraph.from_edges([0], [1], [far], vertices=3)
    own = write(f"def driver(view, clock, source):\n    return [0, {far}, float('inf')]\n")
    found = gpugraph.sssp(graph, 0, algo=own, device="cpu")
    assert found.distance.tolist() == [0, far, None]


def test_a_wrong_plugin_is_caught_by_the_verification(write: Write) -> None:
    for text in ("range(4)", "[10**6]", "[-1]", "[]"):
        path = write(f"import numpy as np\ndef driver(view, clock): return np.array({text}, np.int64)\n")
        assert "mst by mine:driver" in refuse(1, "mst", GRID, "--device", "cpu", "--algo", path)


def test_a_plugin_made_of_an_algorithm_of_ours_does_not_go_by_its_name(write: Write) -> None:
    text = (
        "from dataclasses import replace\n"
        "from gpugraph.problems.registry import find_algorithm\n"
        "driver = replace(find_algorithm('mst', 'kruskal', 'cpu'), summary='mine')\n"
    )
    told = succeed("mst", GRID, "--device", "cpu", "--algo", write(text), "--format", "json").out
    assert json.loads(told)["algorithm"] == "mine:driver"


def test_a_plugin_that_is_an_algorithm_keeps_what_it_says_of_itself(write: Write) -> None:
    text = (
        "from dataclasses import replace\n"
        "from gpugraph.problems.registry import find_algorithm\n"
        "def fails(state, clock): raise ValueError('no luck')\n"
        "driver = replace(find_algorithm('mst', 'kruskal', 'cpu'), name='mine', run=fails)\n"
    )
    path = write(text)
    found = load_plugin(path, "mst", "cpu")
    assert (found.name, found.authors) == ("mine", find_algorithm("mst", "kruskal", "cpu").authors)
    assert f"{path} line 3: ValueError: no luck" in refuse(2, "mst", GRID, "--device", "cpu", "--algo", path)


# ------------------------------------------------------------------ what is refused

OBJECTS = """
class Driver:
    problem = "mst"
    def prepare(self, view, device):
        return 1
    def run(self, state, clock):
        raise KeyError("nowhere")
driver = Driver()
number = 7
class Half:
    prepare = print
class Needy(Driver):
    def __init__(self, what):
        pass
class CudaOnly(Driver):
    devices = ("cuda",)
class NoDevice(Driver):
    devices = ("gpu",)
class NoProblem(Driver):
    problem = "tsp"
def on_gpu(view, clock):
    pass
on_gpu.devices = ("emulated",)
class Paths(Driver):
    problem = "sssp"
"""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing", "there is no 'nothing' in it"),
        ("number", "neither a function nor has prepare and run"),
        ("Half", "it has prepare but no run"),
        ("Needy", "missing 1 required positional argument: 'what'"),
        ("CudaOnly", "does not run on device 'cpu' — use --device cuda"),
        ("driver", "does not run on device 'cpu' — use --device cuda or emulated"),
        ("NoDevice", "unknown device of 'mine:NoDevice' 'gpu' — did you mean 'cuda'?"),
        ("NoProblem", "unknown problem of 'mine:NoProblem' 'tsp'"),
        ("on_gpu", "a plain function runs on the CPU alone"),
        ("Paths", "'Paths' solves sssp, not mst"),
    ],
)
def test_an_object_that_is_no_plugin_is_refused(write: Write, name: str, said: str) -> None:
    assert said in refuse(2, "mst", GRID, "--device", "cpu", "--algo", f"{write(OBJECTS)}:{name}")


def test_a_function_is_not_run_on_a_gpu(write: Write) -> None:
    path = write("def driver(view, clock): pass\n")
    assert "use --device cpu" in refuse(2, "mst", GRID, "--device", "emulated", "--algo", path)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    assert "names no Python file" in refuse(2, "mst", GRID, "--algo", "none:driver", "--device", "cpu")
    for name in ("none.py", "none.py:driver"):
        assert "none.py: there is no such file" in refuse(2, "mst", GRID, "--algo", tmp_path / name, "--device", "cpu")
    (tmp_path / "folder.py").mkdir()
    assert "no such file" in refuse(2, "mst", GRID, "--algo", tmp_path / "folder.py", "--device", "cpu")


def test_options_and_preparations_it_does_not_have_are_refused(write: Write) -> None:
    own = ["mst", GRID, "--device", "cpu", "--algo", write(KRUSKAL)]
    assert "has no options" in refuse(2, *own, "--set", "x=1")
    assert "it takes: none" in refuse(2, *own, "--prepare", "renumber")


# ------------------------------------------------------------------ errors inside a plugin


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\ndef driver(view, clock:\n", " line 2: "),
        ("import nosuchmodule\n", " line 1: ModuleNotFoundError: No module named 'nosuchmodule'"),
        ("\n1 / 0\n", " line 2: ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit(0)\n", " line 2: SystemExit: 0"),
        ("def driver(view, clock):\n    raise ValueError('two\\nlines')\n", " line 2: ValueError: two lines"),
        ("import numpy as np\ndef driver(view, clock):\n    np.stack([])\n", " line 3: ValueError: need at least one"),
        ("def driver(view):\n    pass\n", "takes 1 positional argument but 2 were given"),
        ("def driver(view, clock):\n    pass\n", "mine:driver: run returned a NoneType, not the edges of a forest"),
        (
            "def driver(view, clock):\n    return view.weights / 2\n",
            "run returned float64 of shape (80,), not the edges",
        ),
    ],
)
def test_an_error_in_a_plugin_is_one_line_with_file_and_line(write: Write, text: str, said: str) -> None:
    path = write(text)
    told = refuse(2, "mst", GRID, "--device", "cpu", "--algo", path)
    assert said in told
    if " line " in said:
        assert path in told


def test_a_file_that_is_no_text_is_reported(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_bytes(b"\xff\xfe\0\0")
    assert str(tmp_path / "mine.py") in refuse(2, "mst", GRID, "--device", "cpu", "--algo", tmp_path / "mine.py")


def test_memory_that_does_not_suffice_stays_that(write: Write) -> None:
    path = write("def driver(view, clock):\n    raise MemoryError\n")
    assert "memory does not suffice" in refuse(3, "mst", GRID, "--device", "cpu", "--algo", path)


def test_debug_shows_the_trace_of_a_plugin(write: Write) -> None:
    path = write("def driver(view, clock):\n    fails_here()\n")
    outcome = run("--debug", "mst", GRID, "--device", "cpu", "--algo", path)
    assert outcome.code == 2
    assert "in driver" in outcome.err


@pytest.mark.parametrize(
    "returned",
    ["np.zeros(24, np.uint32)", "np.zeros((25, 2))", "np.zeros(25, np.uint16)", "np.zeros(25, bool)", "None"],
)
def test_distances_that_are_no_numbers_are_refused(write: Write, returned: str) -> None:
    path = write(f"import numpy as np\ndef driver(view, clock, source):\n    return {returned}\n")
    told = refuse(2, "sssp", GRID, "--device", "cpu", "--algo", path)
    assert "not the 25 distances as" in told


@needs_compiler
def test_errors_on_a_device_with_kernels_name_the_line_of_either_file(write: Write) -> None:
    kernel = write('extern "C" __global__ void k(int* a) {\n    a[0] = b;\n}\n', "mine.cu")
    text = f"""
class Driver:
    problem = "mst"
    def prepare(self, view, device):
        return device.kernel({kernel!r}, "k")
    def run(self, state, clock):
        return state
driver = Driver()
"""
    own = ["mst", GRID, "--device", "emulated", "--algo"]
    assert f"{kernel}:2: does not compile" in refuse(2, *own, write(text))
    Path(kernel).write_text('extern "C" __global__ void k(int* a) { a[0] = 1; }\n')
    assert "mine:driver: run returned" in refuse(2, *own, write(text))
    assert "unknown kernel 'q'" in refuse(2, *own, write(text.replace('"k"', '"q"')))
    assert "line 7: KeyError: 'nowhere'" in refuse(2, *own, write(OBJECTS))


def test_an_algorithm_passes_as_it_is() -> None:
    kruskal = find_algorithm("mst", "kruskal", "cpu")
    assert isinstance(as_algorithm(kruskal, None, "x"), Algorithm)
    with pytest.raises(InputError, match="does not say which problem"):
        as_algorithm(print, None, "x")


# ------------------------------------------------------------------ a scan

SCAN = """
import numpy as np
class Sums:
    problem = "scan"
    devices = ("emulated",)
    def prepare(self, view, device):
        return view, device
    def run(self, state, clock):
        view, device = state
        values = device.download(view.values)
        if view.heads is None:
            return device.upload(np.cumsum(values, dtype=values.dtype))
        index = np.arange(len(values))
        for i in np.flatnonzero(device.download(view.heads) == 0):
            if i and values[i - 1] <= values[i]:
                values[i], index[i] = values[i - 1], index[i - 1]
        return device.upload(values), device.upload(index)
"""


@needs_compiler
@pytest.mark.parametrize("array", ["array:n=50", "array:n=50,dtype=float64", "array:n=50,segments=4"])
def test_a_plugin_may_scan_on_a_device(write: Write, array: str) -> None:
    told = succeed("scan", array, "--device", "emulated", "--algo", write(SCAN) + ":Sums", "--format", "json").out
    assert json.loads(told)["verification"]["status"] == "passed"


def test_a_segmented_scan_takes_a_pair(write: Write) -> None:
    path = write("def driver(view, clock): return view.values\n")
    told = refuse(2, "scan", "array:n=50,segments=4", "--device", "cpu", "--algo", path)
    assert "run returned no pair of minima and their positions — return (minima, positions)" in told
