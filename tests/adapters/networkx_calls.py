"""A plugin for pytest: counts which calls of NetworkX's tests run in gpugraph, by the file that makes them.

Run as ``pytest -p tests.adapters.networkx_calls --pyargs networkx.algorithms.tree.tests.test_mst`` with
``NETWORKX_TEST_BACKEND=gpugraph``.  A call is one that a test makes itself of a function of the module it tests; what
NetworkX's own functions call in turn is not counted, nor are functions that the backend leaves to NetworkX.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from networkx.utils import backends

from gpugraph.ext.networkx import backend
from gpugraph.ext.networkx.info import FUNCTIONS

MODULES = {
    "test_mst.py": "networkx.algorithms.tree.mst",
    "test_weighted.py": "networkx.algorithms.shortest_paths.weighted",
}
ASKED: Counter[tuple[str, str]] = Counter()
RAN: Counter[tuple[str, str]] = Counter()


class _Now:
    file = ""
    depth = 0
    here = False


def pytest_configure() -> None:
    dispatch = backends._dispatchable._convert_and_call_for_tests

    def counted(self: Any, *arguments: Any, **named: Any) -> Any:
        outer = _Now.depth == 0 and self.orig_func is not None
        mine = outer and self.orig_func.__module__ == MODULES.get(_Now.file)
        _Now.depth += 1
        _Now.here = False
        try:
            return dispatch(self, *arguments, **named)
        finally:
            _Now.depth -= 1
            if mine and self.name in FUNCTIONS:
                ASKED[_Now.file, self.name] += 1
                RAN[_Now.file, self.name] += _Now.here

    backends._dispatchable._convert_and_call_for_tests = counted
    for name in FUNCTIONS:
        setattr(backend, name, _noted(getattr(backend, name)))


def _noted(function: Any) -> Any:
    def run(*arguments: Any, **named: Any) -> Any:
        try:
            outcome = function(*arguments, **named)
        except NotImplementedError:
            raise  # declined: NetworkX goes on
        except Exception:
            _Now.here = True
            raise
        _Now.here = True
        return outcome

    return run


def pytest_runtest_setup(item: Any) -> None:
    _Now.file = item.path.name


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for file in MODULES:
        asked = sum(count for (where, _), count in ASKED.items() if where == file)
        ran = sum(count for (where, _), count in RAN.items() if where == file)
        left = {name: count - RAN[where, name] for (where, name), count in ASKED.items() if where == file}
        rest = ", ".join(f"{name} {count}" for name, count in sorted(left.items()) if count)
        terminalreporter.write_line(f"{file}: {ran} of {asked} calls ran in gpugraph; not: {rest or 'none'}")
