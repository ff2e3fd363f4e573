"""Numba's machine code in the cache: found again, made anew when damaged or when anything it holds has changed."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from gpugraph.base import code_cache, numba_cache
from gpugraph.base.errors import GpuGraphWarning
from tests.tiers import first

HELPER = "from gpugraph.base.compiled import njit\n@njit\ndef twice(x):\n    return 2 * x\n"
CALLER = """
from gpugraph.base.compiled import njit, parallel_njit, prange
from {helper} import twice
STEP = 1
@njit
def forward(x):
    return twice(x) + STEP
@parallel_njit
def spread(array):
    for i in prange(len(array)):
        array[i] = i
"""


class Sources:
    """Two modules of compiled functions, of which one calls the other; each ``load`` is as a new process's."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.helper, self.caller = HELPER, CALLER

    def load(self) -> ModuleType:
        numba_cache._file_digest.cache_clear()
        self._import("compiled_helper", self.helper)
        return self._import("compiled_caller", self.caller.format(helper="compiled_helper"))

    def _import(self, name: str, text: str) -> ModuleType:
        path = self.folder / f"{name}.py"
        path.write_text(text)
        module = sys.modules[name] = ModuleType(name)
        exec(compile(text, str(path), "exec"), module.__dict__)
        return module


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sources:
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("compiled_helper", "compiled_caller"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    return Sources(tmp_path)


def hits(function: object) -> int:
    return sum(function.stats.cache_hits.values())  # type: ignore[attr-defined]


def test_a_second_process_finds_what_the_first_compiled(sources: Sources) -> None:
    first = sources.load()
    assert (first.forward(3), hits(first.forward)) == (7, 0)
    second = sources.load()
    assert (second.forward(3), hits(second.forward)) == (7, 1)
    assert (second.forward(0.5), hits(second.forward)) == (2.0, 1)


def test_a_function_is_compiled_with_a_called_one_that_the_cache_held(sources: Sources) -> None:
    sources.load()
    assert sys.modules["compiled_helper"].twice(3) == 6
    second = sources.load()
    called = sys.modules["compiled_helper"].twice
    assert (called(3), hits(called)) == (6, 1)
    assert (second.forward(3), hits(second.forward)) == (7, 0)
    assert (called(4), second.forward(4), sources.load().forward(5)) == (8, 9, 11)


RECURSIVE = """
from gpugraph.base.compiled import njit
@njit
def is_even(n):
    return n == 0 or not is_even(n - 1)
@njit
def both(n):
    return is_even(n), is_even(n + 1)
"""


def test_threads_that_call_a_function_for_the_first_time_at_once_find_all_that_it_calls(sources: Sources) -> None:
    for _ in range(3):
        module = sources._import("compiled_caller", RECURSIVE)
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(module.both, [6] * 16)) == [(True, False)] * 16


def test_a_parallel_function_is_found_again(sources: Sources) -> None:
    import numpy as np

    for count in (0, 1):
        module, array = sources.load(), np.zeros(100)
        module.spread(array)
        assert array.tolist() == list(range(100))
        assert hits(module.spread) == count


def test_a_change_of_a_called_function_or_of_a_constant_is_seen(sources: Sources) -> None:
    assert sources.load().forward(3) == 7
    sources.helper = HELPER.replace("2 * x", "3 * x")
    assert sources.load().forward(3) == 10
    sources.caller = CALLER.replace("STEP = 1", "from compiled_helper import STEP")
    sources.helper += "STEP = 5\n"
    assert sources.load().forward(3) == 14
    sources.helper = sources.helper.replace("STEP = 5", "STEP = 6")
    assert sources.load().forward(3) == 15


def test_what_another_process_compiled_meanwhile_is_taken_from_the_cache(
    sources: Sources, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources.load().forward(3)
    sources.caller = CALLER.replace("STEP = 1", "STEP = 2")
    monkeypatch.setattr(code_cache, "find", lambda kind, name: None)  # it is not there yet
    module = sources.load()
    monkeypatch.setattr(module.twice.dispatcher._cache, "_compile", None)  # nor compiled here
    assert module.forward(3) == 8
    assert sources.load().twice(4) == 8


@pytest.mark.parametrize("size", [0, 10, 1000])
def test_a_file_that_was_cut_off_is_compiled_anew(sources: Sources, tmp_path: Path, size: int) -> None:
    sources.load().forward(3)
    for path in (tmp_path / "cache" / "numba").iterdir():
        os.truncate(path, size)
    module = sources.load()
    assert (module.forward(3), hits(module.forward)) == (7, 0)
    module = sources.load()
    assert (module.forward(3), hits(module.forward)) == (7, 1)


def test_where_nothing_can_be_kept_compiled_code_still_runs(
    sources: Sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken").touch()
    monkeypatch.setenv("GPUGRAPH_CACHE_DIR", str(tmp_path / "taken"))
    code_cache._warn_once.cache_clear()
    with pytest.warns(GpuGraphWarning, match="cannot be kept") as told:
        assert sources.load().forward(3) == 7
    assert len(told) == 1


@pytest.mark.parametrize("problem", ["mst", "sssp", "components"])
def test_a_run_that_needs_the_compiler_is_refused_where_numba_is_switched_off(problem: str) -> None:
    words = [sys.executable, "-m", "gpugraph", problem, "rmat:6", "--device", "cpu", "-q"]
    done = subprocess.run(words, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True)
    assert done.returncode == 2
    assert "NUMBA_DISABLE_JIT is set" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("text", ["disable_jit: 1\n", "a: [\n", "- x\n", "num_threads: many\n"])
def test_a_file_of_numba_in_the_folder_that_cannot_be_used_is_named(tmp_path: Path, text: str) -> None:
    pytest.importorskip("yaml")  # without it Numba reads no such file
    (tmp_path / ".numba_config.yaml").write_text(text)
    words = [sys.executable, "-m", "gpugraph", "mst", "rmat:6", "--device", "cpu", "-q"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("gpugraph: error: ")
    assert "run in another folder" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("variable", ["NUMBA_OPT", "NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER"])
@pytest.mark.parametrize("value", first(1, ["wrong", ""]))
def test_a_variable_that_numba_cannot_use_is_named_in_one_line(variable: str, value: str) -> None:
    words = [sys.executable, "-m", "gpugraph", "mst", "grid:5x5", "--device", "cpu", "-q"]
    done = subprocess.run(words, env={**os.environ, variable: value}, capture_output=True, text=True)
    assert done.returncode == 2
    assert variable in done.stderr
    assert len(done.stderr.splitlines()) == 1
